(class_heritage (_) @base)
(field_definition property: (_) @field value: (new_expression constructor: (_) @type))
(assignment_expression
  left: (member_expression object: (this) property: (_) @field)
  right: [(identifier) (member_expression) (subscript_expression)] @same)
(field_definition property: (_) @_key value: (object (pair value: (string) @method)) (#eq? @_key "events"))

; Names that are bound to something.
(formal_parameters (identifier) @bound)
(call_expression
  function: (member_expression object: (call_expression
    function: (import) arguments: (arguments . (string) @import.from)))
  arguments: (arguments . (arrow_function
    parameters: (formal_parameters (object_pattern (shorthand_property_identifier_pattern) @import.name)))))
