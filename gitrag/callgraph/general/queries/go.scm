(call_expression function: (_) @call)
(type_conversion_expression type: (generic_type type: (_) @call))
(import_spec name: (package_identifier)? @import.alias path: (_) @import.package)
(parameter_declaration name: (identifier) @var type: (_) @type)
(field_declaration name: (field_identifier) @field type: (_) @type)
(field_declaration !name type: (_) @base)
(var_spec name: (identifier) @var type: (_) @type)
(short_var_declaration
  left: (expression_list . (identifier) @var)
  right: (expression_list . [
    (composite_literal type: (_) @type)
    (unary_expression operand: (composite_literal type: (_) @type))
    (call_expression function: (_) @made)]))
(function_declaration result: (_) @returns)
(method_declaration result: (_) @returns)
(function_declaration result: (parameter_list . (parameter_declaration type: (_) @returns)))
(method_declaration result: (parameter_list . (parameter_declaration type: (_) @returns)))
(composite_literal type: [(type_identifier) (qualified_type) (generic_type)] @call)
(short_var_declaration
  left: (expression_list . (identifier) @var)
  right: (expression_list . (type_assertion_expression type: (_) @type)))
(var_spec name: (identifier) @var value: (expression_list . [
  (composite_literal type: (_) @type)
  (unary_expression operand: (composite_literal type: (_) @type))
  (call_expression function: (_) @made)]))
(interface_type (method_elem name: (_) @needed result: (_)? @type))
(type_spec type: (interface_type (method_elem name: (_) @value.name) @value))
(type_spec type: (interface_type (method_elem result: (_) @returns)))
(type_spec type: (interface_type (method_elem result: (parameter_list . (parameter_declaration type: (_) @returns)))))
(interface_type (type_elem . [(type_identifier) (qualified_type)] @base .))

; Functions as values.
(argument_list [(identifier) (selector_expression)] @handed)
(keyed_element (literal_element [(identifier) (selector_expression)] @handed) .)
(literal_value (literal_element [(identifier) (selector_expression)] @handed))
(assignment_statement right: (expression_list [(identifier) (selector_expression)] @handed))
(short_var_declaration right: (expression_list [(identifier) (selector_expression)] @handed))
(var_spec value: (expression_list [(identifier) (selector_expression)] @handed))
(return_statement (expression_list [(identifier) (selector_expression)] @handed))
(range_clause left: (expression_list (_) . (identifier) @var .) right: (_) @ranged)
(short_var_declaration left: (expression_list . (identifier) @var)
  right: (expression_list . (index_expression operand: (_) @ranged)))
(var_spec name: (identifier) @var value: (expression_list . (index_expression operand: (_) @ranged)))
(variadic_parameter_declaration name: (identifier) @var type: (_) @each)
(type_switch_statement alias: (expression_list (identifier) @var)
  (type_case "case" . type: (_) @type @where . ":"))

; A named list: what it has many of.
(type_spec type: (slice_type element: (_) @elements))
(type_spec type: (array_type element: (_) @elements))
(type_spec type: (map_type value: (_) @elements))

; Names that are bound to something.
(parameter_declaration name: (identifier) @bound)
(variadic_parameter_declaration name: (identifier) @bound)
(short_var_declaration left: (expression_list (identifier) @bound))
(range_clause left: (expression_list (identifier) @bound))
(receive_statement left: (expression_list (identifier) @bound))
(type_switch_statement alias: (expression_list (identifier) @bound))
(var_spec name: (identifier) @bound)
(const_spec name: (identifier) @bound)
(short_var_declaration left: (expression_list . (identifier) @var .)
  right: (expression_list . [(identifier) (selector_expression)] @same .))

; A type parameter is what bounds it.
(type_parameter_declaration name: (identifier) @var
  type: (type_constraint . [(type_identifier) (qualified_type) (generic_type)] @type .) @_bound)
(short_var_declaration
  left: (expression_list . (identifier) @var)
  right: (expression_list . (type_conversion_expression type: (generic_type) @made)))
(var_spec name: (identifier) @var
  value: (expression_list . (type_conversion_expression type: (generic_type) @made)))
(argument_list [(index_expression operand: [(identifier) (selector_expression)] @handed)
  (type_instantiation_expression type: (_) @handed)])
(short_var_declaration right: (expression_list (type_instantiation_expression type: (_) @handed)))
