(class_heritage (_) @base)
(field_definition property: (_) @field value: (new_expression constructor: (_) @type))

; Names that are bound to something.
(formal_parameters (identifier) @bound)
