(method_declaration parameters: (parameter_list . (parameter (modifier) @_this)) (#eq? @_this "this")) @static
(invocation_expression function: (_) @call)
(object_creation_expression type: (_) @call)
(base_list (_) @base)
(parameter type: (_) @type name: (identifier) @var)
(local_declaration_statement
  (variable_declaration type: (_) @type (variable_declarator name: (identifier) @var)))
(local_declaration_statement
  (variable_declaration (variable_declarator
    name: (identifier) @var (object_creation_expression type: (_) @type))))
(field_declaration (variable_declaration type: (_) @type (variable_declarator name: (identifier) @field)))
(property_declaration type: (_) @type name: (identifier) @field)
(method_declaration parameters: (_) @parameters)
(constructor_declaration parameters: (_) @parameters)
(method_declaration returns: (_) @returns)
(local_declaration_statement (variable_declaration (variable_declarator
  name: (identifier) @var [
    (invocation_expression function: (_) @made)
    (await_expression (invocation_expression function: (_) @made))])))
(declaration_pattern type: (_) @type name: (identifier) @var)

; What hides a variable around, of which nothing is certain then.
(implicit_parameter) @var @hiding
(lambda_expression parameters: (parameter_list (parameter !type name: (identifier) @var @hiding)))
(foreach_statement left: (identifier) @var @hiding right: (_) @_after)
