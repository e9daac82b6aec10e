(proc_declaration name: [(identifier) @name (exported_symbol (identifier) @name)] (documentation_comment)? @doc body: (_)? @body) @definition.function
(func_declaration name: [(identifier) @name (exported_symbol (identifier) @name)] body: (_)? @body) @definition.function
(method_declaration name: [(identifier) @name (exported_symbol (identifier) @name)] body: (_)? @body) @definition.function
(iterator_declaration name: [(identifier) @name (exported_symbol (identifier) @name)] body: (_)? @body) @definition.function
(template_declaration name: [(identifier) @name (exported_symbol (identifier) @name)] body: (_)? @body) @definition.function
(macro_declaration name: [(identifier) @name (exported_symbol (identifier) @name)] body: (_)? @body) @definition.function
(converter_declaration name: [(identifier) @name (exported_symbol (identifier) @name)] body: (_)? @body) @definition.function
(type_declaration (type_symbol_declaration
  name: [(identifier) @name (exported_symbol (identifier) @name)])) @minor.class

(comment) @comment
(documentation_comment) @comment
