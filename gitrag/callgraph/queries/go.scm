(call_expression function: (_) @call)
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
