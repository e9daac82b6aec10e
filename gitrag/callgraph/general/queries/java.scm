(method_invocation object: (_)? @receiver name: (identifier) @name)
(object_creation_expression type: (_) @call)
(method_reference . (_) @receiver (identifier) @name)
(method_reference . (_) @call "new" .)
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

; Names that are bound to something.
(lambda_expression parameters: (identifier) @bound)
(inferred_parameters (identifier) @bound)
(formal_parameter name: (identifier) @bound)
(local_variable_declaration declarator: (variable_declarator name: (identifier) @bound))
(catch_formal_parameter name: (identifier) @bound)
(record_pattern_component (identifier) @bound .)
(record_pattern_component . (type_identifier) @type . (identifier) @var)
(enhanced_for_statement name: (identifier) @bound value: (_) @_after)
(local_variable_declaration declarator: (variable_declarator
  name: (identifier) @var value: [(identifier) (field_access)] @same))
(local_variable_declaration declarator: (variable_declarator
  name: (identifier) @var value: (cast_expression type: (_) @type)))
(catch_formal_parameter (catch_type . (_) @type .) name: (identifier) @var)
(type_parameter (type_identifier) @var (type_bound . (_) @type))
(record_declaration parameters: (formal_parameters (formal_parameter type: (_) @type name: (identifier) @field)))
(enhanced_for_statement
  type: (type_identifier) @_type name: (identifier) @var value: (_) @ranged (#eq? @_type "var"))
(argument_list . (lambda_expression parameters: (identifier) @var)) @lent
(enum_constant name: (identifier) @field @itself)
(method_declaration (modifiers ["private" "static"])) @static
