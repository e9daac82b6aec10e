(call_expression . (_) @call)
(delegation_specifier (constructor_invocation (user_type) @base))
(delegation_specifier (user_type) @base)
(delegation_specifier (explicit_delegation . (user_type) @base))
(parameter (simple_identifier) @var [(user_type) (nullable_type)] @type)
(class_parameter (simple_identifier) @field [(user_type) (nullable_type)] @type)
(property_declaration (variable_declaration (simple_identifier) @var [(user_type) (nullable_type)] @type))
(property_declaration (variable_declaration (simple_identifier) @var) (call_expression . (_) @made))
(class_body (property_declaration
  (variable_declaration (simple_identifier) @field [(user_type) (nullable_type)] @type)))
(class_body (property_declaration (variable_declaration (simple_identifier) @field) (call_expression . (_) @made)))
(function_declaration (function_value_parameters) . [(user_type) (nullable_type)] @returns)

; Names that are bound to something.
(parameter . (simple_identifier) @bound)
(variable_declaration . (simple_identifier) @bound)
(for_statement (variable_declaration . (simple_identifier) @bound) . (_) @_after)
(catch_block . (simple_identifier) @bound)
(lambda_parameters (variable_declaration (simple_identifier) @var [(user_type) (nullable_type)] @type))
(for_statement (variable_declaration (simple_identifier) @var [(user_type) (nullable_type)] @type))
(property_declaration (variable_declaration . (simple_identifier) @var .)
  [(simple_identifier) (navigation_expression)] @same)
(property_declaration (variable_declaration . (simple_identifier) @var .)
  (as_expression (_) (_) @type))

(function_value_parameters (parameter (function_type receiver: (_)) @static))
(function_value_parameters (parameter (nullable_type (_ (function_type receiver: (_)) @static))))
(type_parameter (type_identifier) @var (user_type) @type)
(for_statement (variable_declaration . (simple_identifier) @var .) . (_) @ranged)
(call_suffix (annotated_lambda (lambda_literal
  (lambda_parameters . (variable_declaration . (simple_identifier) @var .) .)))) @lent
(callable_reference) @handed
(navigation_expression (navigation_suffix "::" (simple_identifier))) @handed
(infix_expression . (_) @receiver . (simple_identifier) @name)
(enum_entry . (simple_identifier) @field @itself)
(class_body (property_declaration (variable_declaration . (simple_identifier) @field .) (getter (function_body [
  (as_expression (_) (_) @type) (parenthesized_expression (as_expression (_) (_) @type))]))))

(assignment (directly_assignable_expression . (simple_identifier) @var @assigned .))

; What a test says of a variable holds in its branch; of a negated one that leaves, after it.
(if_expression condition: [
  (check_expression (simple_identifier) @var "is" (user_type) @type)
  (conjunction_expression (check_expression (simple_identifier) @var "is" (user_type) @type))])
(if_expression condition: (check_expression (simple_identifier) @var "!is" (user_type) @type)
  consequence: (control_structure_body [(jump_expression) (statements (jump_expression) .)]) @_leaves)
(when_expression (when_subject (simple_identifier) @var)
  (when_entry . (when_condition (type_test "is" (user_type) @type)) @where . (control_structure_body)))

[(function_declaration (function_value_parameters) @parameters) (secondary_constructor (function_value_parameters) @parameters)]
(class_body (function_declaration (simple_identifier) @needed) @_whole)
(function_declaration (modifiers (visibility_modifier "private") @private))
(type_alias) @static
(file_annotation (constructor_invocation (user_type) @_name
  (value_arguments . (value_argument (string_literal)) .)) @import.inner (#eq? @_name "JvmName"))

; An object without a name, a class of its own.
(object_literal "object" @value.name) @value @static
