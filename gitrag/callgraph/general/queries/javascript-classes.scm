(class_heritage (_) @base)
(field_definition property: (_) @field value: (new_expression constructor: (_) @type))
(assignment_expression
  left: (member_expression object: (this) property: (_) @field)
  right: [(identifier) (member_expression) (subscript_expression)])

; Names that are bound to something.
(formal_parameters (identifier) @bound)
