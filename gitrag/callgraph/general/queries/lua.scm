(function_call name: [(identifier) (dot_index_expression) (method_index_expression)] @call)
(variable_declaration (assignment_statement
  (variable_list . name: (identifier) @import.module)
  (expression_list . value: (function_call name: (identifier) @_require arguments: (arguments (string) @import.from)) .))
  (#eq? @_require "require"))
(variable_declaration (assignment_statement
  (variable_list . name: (identifier) @import.alias)
  (expression_list . value: (dot_index_expression
    table: (function_call name: (identifier) @_require arguments: (arguments (string) @import.from))
    field: (identifier) @import.name) .))
  (#eq? @_require "require"))
(chunk (return_statement (expression_list . (identifier) @import.local .)))
(assignment_statement (variable_list . name: (identifier) @var .) (expression_list . value: (function_call name: (_) @made) .))

; Functions as values.
(arguments [(identifier) (dot_index_expression)] @handed)
(field value: [(identifier) (dot_index_expression)] @handed)
(assignment_statement (_) (expression_list value: (dot_index_expression) @handed))
(return_statement (expression_list (identifier) @handed))

; Names that are bound to something.
(parameters name: (identifier) @bound)
(for_numeric_clause name: (identifier) @bound)
(for_generic_clause (variable_list name: (identifier) @bound))
(block (variable_declaration (assignment_statement
  (variable_list . name: (identifier) @bound .) (expression_list . value: (identifier) .))))
