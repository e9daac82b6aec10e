(function_definition
  declarator: [
    (function_declarator declarator: (_) @name)
    (pointer_declarator declarator: (function_declarator declarator: (_) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name)))
    (reference_declarator (function_declarator declarator: (_) @name))
    (operator_cast) @name
    (qualified_identifier name: (operator_cast)) @name]
  body: (compound_statement) @body) @definition.function
(function_definition
  declarator: [
    (function_declarator declarator: (_) @name)
    (pointer_declarator declarator: (function_declarator declarator: (_) @name))
    (reference_declarator (function_declarator declarator: (_) @name))]
  (try_statement) @body) @definition.function

; Prototypes; what is all capitals is a macro that annotates one.
(declaration declarator: [
    (function_declarator declarator: (_) @name)
    (pointer_declarator declarator: (function_declarator declarator: (_) @name))
    (reference_declarator (function_declarator declarator: (_) @name))]
  (#not-match? @name "^[A-Z0-9_]+$")) @minor.function @stub

(class_specifier name: (_) @name body: (_) @body) @definition.class
(struct_specifier name: (_) @name body: (_) @body) @definition.class
(union_specifier name: (_) @name body: (_) @body) @definition.class
(enum_specifier name: (_) @name body: (_) @body) @definition.class
(concept_definition name: (_) @name) @minor.class
(alias_declaration name: (_) @name) @minor.class
(type_definition
  type: [(struct_specifier body: (_) @body) (union_specifier body: (_) @body) (enum_specifier body: (_) @body)]
  declarator: (type_identifier) @name) @definition.class

(preproc_function_def name: (_) @name) @minor.function

(template_declaration) @wrapper
(comment) @comment
