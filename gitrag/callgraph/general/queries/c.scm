(call_expression function: (_) @call)
(function_definition type: (_) @returns)

; Names that are bound to something.
(parameter_declaration declarator: [(identifier) @bound (pointer_declarator declarator: (identifier) @bound)])
(parameter_declaration declarator: (function_declarator
  declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bound))))
(declaration declarator: [
  (identifier) @bound
  (init_declarator declarator: [(identifier) @bound (pointer_declarator declarator: (identifier) @bound)])
  (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bound)))
  (init_declarator declarator: (function_declarator
    declarator: (parenthesized_declarator (pointer_declarator declarator: (identifier) @bound))))])
