; A body is its signature's neighbour, not its child.
(class_definition name: (_) @name body: (_) @body) @definition.class
(mixin_declaration (identifier) @name (class_body) @body) @definition.class
(extension_declaration name: (_) @name body: (_) @body) @definition.class
(enum_declaration name: (_) @name body: (_) @body) @definition.class
(type_alias . (type_identifier) @name) @minor.class

((method_signature [
    (function_signature name: (_) @name)
    (getter_signature name: (_) @name)
    (setter_signature name: (_) @name)
    (constructor_signature name: (_) @name)
    (factory_constructor_signature (identifier) @name)]) @definition.method
  . (function_body) @body)
((method_signature (operator_signature) @name) @definition.method . (function_body) @body)
((function_signature name: (_) @name) @definition.function . (function_body) @body)
(program (getter_signature name: (_) @name) @definition.function . (function_body) @body)

(annotation) @lead
(documentation_comment) @comment
(comment) @comment
