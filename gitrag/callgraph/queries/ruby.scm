(call receiver: (_)? @receiver method: (_) @name)
(superclass (_) @base)
(assignment left: (identifier) @var right: (call receiver: (_) @type method: (_) @_new) (#eq? @_new "new"))
(assignment
  left: (instance_variable) @field right: (call receiver: (_) @type method: (_) @_new) (#eq? @_new "new"))
