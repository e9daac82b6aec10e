(class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.class
(trait_declaration name: (_) @name body: (_) @body) @definition.class
(enum_declaration name: (_) @name body: (_) @body) @definition.class
(method_declaration name: (_) @name body: (_) @body) @definition.method
(method_declaration name: (_) @name !body) @minor.method
(function_definition name: (_) @name body: (_) @body) @definition.function
(assignment_expression
  left: (variable_name (name) @name)
  right: [(anonymous_function body: (_) @body) (arrow_function body: (_) @body)]) @minor.function

(attribute_list) @decorator
(comment) @comment
