(class_declaration (type_identifier) @name [(class_body) (enum_class_body)] @body) @definition.class
(class_declaration (type_identifier) @name) @definition.class
(object_declaration (type_identifier) @name (class_body)? @body) @definition.class
(companion_object (class_body) @body (#set! name "Companion")) @definition.class
(type_alias (type_identifier) @name) @minor.class

(function_declaration
  receiver: (receiver_type [(user_type (type_identifier) @owner) (nullable_type (user_type (type_identifier) @owner))])
  (simple_identifier) @name
  (function_body)? @body) @definition.function
(function_declaration (simple_identifier) @name (function_body) @body) @definition.function
(function_declaration (simple_identifier) @name) @minor.function
(secondary_constructor (#set! name "constructor")) @definition.method

(annotation) @decorator
(line_comment) @comment
(multiline_comment) @comment
