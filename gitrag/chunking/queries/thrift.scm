(struct_definition . (identifier) @name) @definition.class
(union_definition . (identifier) @name) @definition.class
(exception_definition . (identifier) @name) @definition.class
(enum_definition . (identifier) @name) @definition.class
(service_definition . (identifier) @name) @definition.class

(comment) @comment
