(function_declaration name: (_) @name body: (_)? @body) @definition.function
(assignment_statement
  (variable_list . name: (_) @name)
  (expression_list . value: (function_definition body: (_)? @body))) @definition.function
(field name: (identifier) @name value: (function_definition body: (_)? @body)) @minor.method

(variable_declaration) @wrapper
(comment) @comment
