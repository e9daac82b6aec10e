; A declarator's depth is that of its pointers: int **f(void).
(function_definition
  declarator: [
    (function_declarator declarator: (_) @name)
    (pointer_declarator declarator: (function_declarator declarator: (_) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name)))]
  body: (_) @body) @definition.function

; Prototypes; what is all capitals is a macro that annotates one.
(declaration declarator: [
    (function_declarator declarator: (identifier) @name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))]
  (#not-match? @name "^[A-Z0-9_]+$")) @minor.function @stub

(struct_specifier name: (_) @name body: (_) @body) @definition.class
(union_specifier name: (_) @name body: (_) @body) @definition.class
(enum_specifier name: (_) @name body: (_) @body) @definition.class
(type_definition
  type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body) (enum_specifier body: (_) @body)]
  declarator: (type_identifier) @name) @definition.class

(preproc_function_def name: (_) @name) @minor.function

(comment) @comment
