(proc_declaration name: (_) @name . (_)* (documentation_comment)? @doc body: (_)? @body) @definition.function
(func_declaration name: (_) @name body: (_)? @body) @definition.function
(method_declaration name: (_) @name body: (_)? @body) @definition.function
(iterator_declaration name: (_) @name body: (_)? @body) @definition.function
(template_declaration name: (_) @name body: (_)? @body) @definition.function
(macro_declaration name: (_) @name body: (_)? @body) @definition.function
(converter_declaration name: (_) @name body: (_)? @body) @definition.function
(type_declaration (type_symbol_declaration name: (_) @name)) @minor.class

(comment) @comment
(documentation_comment) @comment
