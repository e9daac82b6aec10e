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
(interface_type (type_elem . [(type_identifier) (qualified_type)] @base .))

; Functions as values.
(argument_list [(identifier) (selector_expression)] @handed)
(keyed_element (literal_element [(identifier) (selector_expression)] @handed) .)
(literal_value (literal_element [(identifier) (selector_expression)] @handed))
(assignment_statement right: (expression_list [(identifier) (selector_expression)] @handed))
(short_var_declaration right: (expression_list [(identifier) (selector_expression)] @handed))
(var_spec value: (expression_list [(identifier) (selector_expression)] @handed))
(return_statement (expression_list [(identifier) (selector_expression)] @handed))
(short_var_declaration left: (expression_list (identifier) @local))
(range_clause left: (expression_list (identifier) @local))
(parameter_declaration name: (identifier) @local)
(var_spec name: (identifier) @local)

(range_clause left: (expression_list (_) . (identifier) @var .) right: (_) @ranged)
(variadic_parameter_declaration name: (identifier) @var type: (_) @each)

; A named list: what it has many of.
(type_spec type: (slice_type element: (_) @elements))
(type_spec type: (array_type element: (_) @elements))
(type_spec type: (map_type value: (_) @elements))
