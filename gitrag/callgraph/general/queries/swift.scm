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

; Names that are bound to something.
(parameter name: (simple_identifier) @bound)
(lambda_parameter name: (simple_identifier) @bound)
(lambda_parameter name: (simple_identifier) @var [(user_type) (optional_type)] @type)
(pattern bound_identifier: (simple_identifier) @bound)
(pattern (pattern (simple_identifier) @bound))
(while_statement (pattern (simple_identifier) @bound))
(if_statement (pattern (simple_identifier) @bound))
(guard_statement (pattern (simple_identifier) @bound))
(for_statement item: (pattern bound_identifier: (simple_identifier) @bound) collection: (_) @_after)
(_ condition: (value_binding_pattern) . bound_identifier: (simple_identifier) @bound)
(_ condition: (value_binding_pattern) . bound_identifier: (simple_identifier) @var . "=" .
  [(simple_identifier) (navigation_expression)] @same)
(_ condition: (value_binding_pattern) . bound_identifier: (simple_identifier) @var . "=" .
  (call_expression . (_) @made))
(_ condition: (value_binding_pattern) . bound_identifier: (simple_identifier) @var . "=" .
  (as_expression (user_type) @type))
(property_declaration
  name: (pattern (simple_identifier) @var) value: (as_expression (user_type) @type))
(property_declaration
  name: (pattern (simple_identifier) @var) value: [(simple_identifier) (navigation_expression)] @same)

; What runs where its name is read.
[(navigation_expression) (prefix_expression target: (simple_identifier))] @read
(property_declaration computed_value: (_)) @property
(type_parameter . (type_identifier) @var (user_type) @type)
(for_statement item: (pattern bound_identifier: (simple_identifier) @var) collection: (_) @ranged)
(call_suffix (lambda_literal type: (lambda_function_type
  (lambda_function_type_parameters . (lambda_parameter name: (simple_identifier) @var .) .)))) @lent
(class_declaration "extension") @static
(value_argument value: [(simple_identifier) (navigation_expression (self_expression))] @handed)
(selector_expression [(simple_identifier) (navigation_expression)] @handed)
(selector_expression (call_expression . (_) @handed))
(simple_identifier) @alone
(property_declaration name: (pattern (simple_identifier) @var)
  value: [(try_expression (call_expression . (_) @made)) (await_expression (call_expression . (_) @made))
    (try_expression (await_expression (call_expression . (_) @made)))])
(_ condition: (value_binding_pattern) . bound_identifier: (simple_identifier) @var . "=" .
  [(try_expression (call_expression . (_) @made)) (await_expression (call_expression . (_) @made))
    (try_expression (await_expression (call_expression . (_) @made)))])
[(function_declaration) (init_declaration)] @parameters

(function_declaration "class" "func") @static
([(function_declaration (modifiers (property_modifier) @_own)) (property_declaration (modifiers (property_modifier) @_own))]
  @static (#eq? @_own "static"))
