(extends_clause value: (_) @base)
(implements_clause (_) @base)
(extends_type_clause (_) @base)
(required_parameter pattern: (identifier) @var type: (type_annotation (_) @type))
(required_parameter (accessibility_modifier) pattern: (identifier) @field type: (type_annotation (_) @type))
(optional_parameter pattern: (identifier) @var type: (type_annotation (_) @type))
(variable_declarator name: (identifier) @var type: (type_annotation (_) @type))
(public_field_definition name: (_) @field type: (type_annotation (_) @type))
(public_field_definition name: (_) @field value: (new_expression constructor: (_) @type))
(public_field_definition name: (_) @field value: (array . (new_expression)) @many)
(function_declaration return_type: (type_annotation (_) @returns))
(method_definition return_type: (type_annotation (_) @returns))
(method_signature return_type: (type_annotation (_) @returns))
(variable_declarator name: (_) @_of value: (arrow_function return_type: (type_annotation (_) @returns)))
(public_field_definition name: (_) @_of value: (arrow_function return_type: (type_annotation (_) @returns)))
(pair key: (_) @_of value: (arrow_function return_type: (type_annotation (_) @returns)))
(property_signature name: (_) @field type: (type_annotation (_) @type))
(interface_declaration body: (_ (method_signature name: (_) @needed return_type: (type_annotation (_) @type))))
(export_statement "default" declaration: (abstract_class_declaration name: (_) @import.local))

; Names that are bound to something.
(required_parameter pattern: (identifier) @bound)
(optional_parameter pattern: (identifier) @bound)
(variable_declarator name: (identifier) @var value: (as_expression (_) . (_) @type))
(type_parameter name: (type_identifier) @var constraint: (constraint (_) @type))
(type_parameter name: (type_identifier) @var @_any !constraint)
(if_statement condition: (parenthesized_expression (binary_expression
  left: (identifier) @var operator: "instanceof" right: (identifier) @type)))
(required_parameter pattern: (object_pattern [(shorthand_property_identifier_pattern) @picked
  (object_assignment_pattern left: (shorthand_property_identifier_pattern) @picked)
  (pair_pattern key: (property_identifier) @picked.name value: (identifier) @picked)]))

; Its names are known in it without it, and outside by it.
(internal_module name: (_) @value.name) @value @static
(module name: (_) @value.name) @value @static

; What is done with each of a list.
(arguments . [
  (arrow_function parameter: (identifier) @var)
  (arrow_function parameters: (formal_parameters . (required_parameter pattern: (identifier) @var !type)))]) @lent
(public_field_definition value: [(object) (array) (new_expression) (as_expression) (satisfies_expression)]) @table
(variable_declarator value: [(as_expression) (satisfies_expression)]) @table
