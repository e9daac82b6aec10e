(function_definition name: (_) @name body: (_) @body) @definition.function
(constructor_definition body: (_) @body (#set! name "_init")) @definition.function
(class_definition name: (_) @name body: (_) @body) @definition.class
(enum_definition name: (_) @name body: (_) @body) @minor.class

(annotation) @lead
(comment) @comment
