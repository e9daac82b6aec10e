(class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.class
(enum_declaration name: (_) @name body: (_) @body) @definition.class
(record_declaration name: (_) @name body: (_) @body) @definition.class
(annotation_type_declaration name: (_) @name body: (_) @body) @definition.class

(method_declaration name: (_) @name body: (_) @body) @definition.method
(constructor_declaration name: (_) @name body: (_) @body) @definition.method
(compact_constructor_declaration name: (_) @name body: (_) @body) @definition.method
(interface_body (method_declaration name: (_) @name !body) @minor.method)

[(marker_annotation) (annotation)] @decorator
(line_comment) @comment
(block_comment) @comment
