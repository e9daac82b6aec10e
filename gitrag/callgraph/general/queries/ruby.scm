(call) @sent
(superclass (_) @base)
(assignment
  left: (identifier) @var @assigned right: (call receiver: (_) @type method: (_) @_new) (#eq? @_new "new"))
(assignment left: (identifier) @var @assigned)
(assignment
  left: (instance_variable) @field right: (call receiver: (_) @type method: (_) @_new) (#eq? @_new "new"))

(identifier) @bare
(method name: (identifier) @taken)
(singleton_method name: (identifier) @taken)
(alias (identifier) @taken)
(undef (identifier) @taken)
(assignment left: (identifier) @local)
(operator_assignment left: (identifier) @local)
(left_assignment_list (identifier) @local)
(rest_assignment (identifier) @local)
(method_parameters (identifier) @local)
(block_parameters (identifier) @local)
(lambda_parameters (identifier) @local)
(destructured_parameter (identifier) @local)
(optional_parameter name: (identifier) @local)
(keyword_parameter name: (identifier) @local)
(splat_parameter name: (identifier) @local)
(hash_splat_parameter name: (identifier) @local)
(block_parameter name: (identifier) @local)
(exception_variable (identifier) @local)
(for pattern: (identifier) @local)

(singleton_method) @static
(singleton_class body: (_ (method) @static))

; What hides a variable around, of which nothing is certain then.
(block_parameters (identifier) @var @hiding)
