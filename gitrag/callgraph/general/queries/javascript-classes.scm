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

; What a function is given an object of, by their names.
(formal_parameters [
  (object_pattern [(shorthand_property_identifier_pattern) @picked
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @picked)
    (pair_pattern key: (property_identifier) @picked.name value: (identifier) @picked)])
  (assignment_pattern left: (object_pattern [(shorthand_property_identifier_pattern) @picked
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @picked)
    (pair_pattern key: (property_identifier) @picked.name value: (identifier) @picked)]))])
(field_definition property: (_) @field value: (array . (new_expression)) @many)

; What is done with each of a list.
(arguments . [
  (arrow_function parameter: (identifier) @var)
  (_ parameters: (formal_parameters . (identifier) @var))]) @lent
(field_definition value: [(object) (array) (new_expression)]) @table
(if_statement condition: (parenthesized_expression (binary_expression
  left: (identifier) @var operator: "instanceof" right: (identifier) @type)))
