(method_invocation object: (_)? @receiver name: (identifier) @name)
(object_creation_expression type: (_) @call)
(method_reference . (_) @receiver (identifier) @name)
(method_declaration parameters: (_) @parameters)
(constructor_declaration parameters: (_) @parameters)
(superclass (_) @base)
(super_interfaces (type_list (_) @base))
(extends_interfaces (type_list (_) @base))
(import_declaration (scoped_identifier) @import.path)
(import_declaration "static" (scoped_identifier) @import.path (asterisk) @import.name)
(instanceof_expression right: (_) @type name: (identifier) @var)
(type_pattern . (_) @type (identifier) @var)
(resource type: (_) @type name: (identifier) @var)
(enum_declaration name: (identifier) @name
  body: (enum_body (enum_constant arguments: (argument_list))))
(formal_parameter type: (_) @type name: (identifier) @var)
(local_variable_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @var))
(local_variable_declaration
  declarator: (variable_declarator name: (identifier) @var value: (object_creation_expression type: (_) @type)))
(local_variable_declaration
  declarator: (variable_declarator name: (identifier) @var value: (method_invocation) @made))
(enhanced_for_statement type: (_) @type name: (identifier) @var)
(field_declaration type: (_) @type declarator: (variable_declarator name: (identifier) @field))
(method_declaration type: (_) @returns)
(explicit_constructor_invocation constructor: (_) @call)

; What hides a variable around, of which nothing is certain then.
(lambda_expression parameters: (identifier) @var @hiding)
(inferred_parameters (identifier) @var @hiding)
(enhanced_for_statement
  type: (type_identifier) @_type name: (identifier) @var @hiding value: (_) @_after (#eq? @_type "var"))
