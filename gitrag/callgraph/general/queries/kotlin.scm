(call_expression . (_) @call)
(delegation_specifier (constructor_invocation (user_type) @base))
(delegation_specifier (user_type) @base)
(parameter (simple_identifier) @var [(user_type) (nullable_type)] @type)
(class_parameter (simple_identifier) @field [(user_type) (nullable_type)] @type)
(property_declaration (variable_declaration (simple_identifier) @var [(user_type) (nullable_type)] @type))
(property_declaration (variable_declaration (simple_identifier) @var) (call_expression . (_) @made))
(class_body (property_declaration
  (variable_declaration (simple_identifier) @field [(user_type) (nullable_type)] @type)))
(class_body (property_declaration (variable_declaration (simple_identifier) @field) (call_expression . (_) @made)))
(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @returns)

; What hides a variable around, of which nothing is certain then.
(lambda_parameters (variable_declaration . (simple_identifier) @var @hiding .))
(for_statement (variable_declaration . (simple_identifier) @var @hiding .) . (_) @_after)
