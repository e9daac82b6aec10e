(value_specification (value_name) @name) @minor.function
(module_definition (module_binding (module_name) @name)) @definition.class
(module_type_definition (module_type_name) @name body: (_)? @body) @definition.class
(type_definition . (type_binding name: (_) @name body: (_)? @body)) @minor.class
(external (value_name) @name) @minor.function

(comment) @comment
