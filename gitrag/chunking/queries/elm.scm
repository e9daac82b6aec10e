(file (value_declaration
  functionDeclarationLeft: (function_declaration_left . (lower_case_identifier) @name)
  body: (_) @body) @definition.function)
(type_declaration name: (_) @name) @definition.class
(type_alias_declaration name: (_) @name) @minor.class

(type_annotation) @lead
(block_comment) @comment
(line_comment) @comment
