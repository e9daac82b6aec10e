(call_expression function: (_) @call)
(instance_expression (_) @call)
(extends_clause type: (_) @base)
(parameter name: (_) @var type: (_) @type)
(class_parameter name: (_) @field @var type: (_) @type)
(val_definition pattern: (identifier) @var type: (_) @type)
(val_definition pattern: (identifier) @var value: (instance_expression (_) @type))

; Names that are bound to something.
(parameter name: (identifier) @bound)
(val_definition pattern: (identifier) @bound)
(case_clause pattern: (identifier) @bound)
(case_class_pattern pattern: (identifier) @bound)
(typed_pattern pattern: (identifier) @bound)
(tuple_pattern (identifier) @bound)
(infix_pattern (identifier) @bound)
(capture_pattern name: (identifier) @bound)
(typed_pattern pattern: (identifier) @var type: (_) @type)
(enumerator . (identifier) @bound)
(lambda_expression parameters: (identifier) @bound)
(binding name: (identifier) @bound)
(var_definition pattern: (identifier) @var type: (_) @type)
(var_definition pattern: (identifier) @var value: (instance_expression (_) @type))
(template_body (var_definition pattern: (identifier) @field type: (_) @type))
(template_body (var_definition pattern: (identifier) @field value: (instance_expression (_) @type)))
(val_definition pattern: (identifier) @var value: (call_expression function: (_) @made))
(val_definition pattern: (identifier) @var value: [(field_expression) (identifier)] @same)
(template_body [
  (val_definition pattern: (identifier) @field type: (_) @type)
  (val_declaration name: (identifier) @field @var type: (_) @type)])
(template_body (val_definition pattern: (identifier) @field value: (instance_expression (_) @type)))
(template_body (val_definition pattern: (identifier) @field value: (call_expression function: (_) @made)))
(function_definition return_type: (_) @returns)
(function_declaration name: (_) @needed return_type: (_)? @type)
(field_expression) @read
(function_definition !parameters) @property
[(arguments . (lambda_expression parameters: (identifier) @var))
  (block . (lambda_expression parameters: (identifier) @var))] @lent
(enumerator . (identifier) @var (_) @ranged .)
(function_definition name: (_) . parameters: (parameters) @_taken (#match? @_taken "^[(]implicit")) @property

(identifier) @alone
(generic_function function: (_) @call)
(infix_expression left: (_) @receiver operator: (identifier) @name)

; Functions as values.
(arguments [(identifier) (field_expression)] @handed)
