(class_declaration name: (_) @name body: (_) @body) @definition.class
(protocol_declaration name: (_) @name body: (_) @body) @definition.class
(typealias_declaration name: (type_identifier) @name) @minor.class
(function_declaration "func" . name: _ @name body: (_) @body) @definition.function
(protocol_function_declaration name: (simple_identifier) @name) @minor.method
(init_declaration body: (_) @body (#set! name "init")) @definition.method
(deinit_declaration body: (_) @body (#set! name "deinit")) @definition.method
(subscript_declaration (#set! name "subscript")) @definition.method
(property_declaration
  name: (pattern bound_identifier: (simple_identifier) @name)
  computed_value: (_) @body) @minor.method

(attribute) @decorator
(comment) @comment
(multiline_comment) @comment
