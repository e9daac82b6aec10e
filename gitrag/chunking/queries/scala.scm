(class_definition name: (_) @name body: (_)? @body) @definition.class
(object_definition name: (_) @name body: (_)? @body) @definition.class
(trait_definition name: (_) @name body: (_)? @body) @definition.class
(enum_definition name: (_) @name body: (_) @body) @definition.class
(given_definition name: (_) @name body: (_) @body) @minor.class
(type_definition name: (_) @name) @minor.class
(function_definition name: (_) @name body: (_) @body) @definition.function
(function_declaration name: (_) @name) @minor.function

(annotation) @decorator
(comment) @comment
(block_comment) @comment
