(fun_decl clause: (function_clause name: (_) @name body: (_) @body)) @definition.function
(record_decl name: (_) @name) @minor.class
(type_alias name: (type_name name: (_) @name)) @minor.class
(opaque name: (type_name name: (_) @name)) @minor.class

(spec) @lead
(comment) @comment
