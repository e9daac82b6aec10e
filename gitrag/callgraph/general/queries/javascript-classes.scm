(class_heritage (_) @base)
(field_definition property: (_) @field value: (new_expression constructor: (_) @type))
(formal_parameters (identifier) @local)
(assignment_pattern left: (identifier) @local)

; What hides a variable around, of which nothing is certain then.
(formal_parameters (identifier) @var @hiding)
