; Equations of one function are neighbours of the same name; its signature is another.
(declarations (function name: (_) @name) @definition.function)
(declarations (bind name: (_) @name) @minor.function)
(declarations (signature name: (_) @name) @definition.function)
(data_type name: (_) @name) @definition.class
(newtype name: (_) @name) @definition.class
(type_synomym name: (_) @name) @minor.class
(class name: (_) @name declarations: (_)? @body) @definition.class
(instance name: (_) @name declarations: (_)? @body) @definition.class
(instance_declarations (function name: (_) @name) @minor.method)

(haddock) @comment
(comment) @comment
(pragma) @lead
