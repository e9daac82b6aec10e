(call_expression . (_) @call)
(inheritance_specifier inherits_from: (_) @base)
(parameter name: (simple_identifier) @var [(user_type) (optional_type)] @type)
(property_declaration name: (pattern (simple_identifier) @var) (type_annotation (_) @type))
(property_declaration name: (pattern (simple_identifier) @var) value: (call_expression . (_) @made))
(protocol_function_declaration name: (simple_identifier) @needed)
(class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @field) (type_annotation (_) @type)))
(class_body (property_declaration
  name: (pattern bound_identifier: (simple_identifier) @field) value: (call_expression . (_) @made)))
(function_declaration name: [(user_type) (optional_type)] @returns)
(protocol_function_declaration name: [(user_type) (optional_type)] @returns)

; What hides a variable around, of which nothing is certain then.
(for_statement item: (pattern bound_identifier: (simple_identifier) @var @hiding) collection: (_) @_after)
(lambda_parameter . name: (simple_identifier) @var @hiding .)
