(call_expression function: (_) @call)
(inheritance_specifier ancestor: (_) @base)
(parameter type: (_) @type name: (identifier) @var)
(state_variable_declaration type: (_) @type name: (identifier) @field)
