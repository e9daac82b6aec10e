(value_definition (let_binding pattern: (value_name) @name (parameter) body: (_) @body) @definition.function)
(value_definition (let_binding
  pattern: (value_name) @name
  body: [(fun_expression) (function_expression)] @body) @definition.function)
(module_definition (module_binding (module_name) @name body: (_)? @body)) @definition.class
(module_type_definition (module_type_name) @name body: (_)? @body) @definition.class
(type_definition . (type_binding name: (_) @name body: (_)? @body)) @minor.class
(class_definition (class_binding (class_name) @name body: (_) @body)) @definition.class
(method_definition (method_name) @name body: (_) @body) @definition.method
(external (value_name) @name) @minor.function

(value_definition) @wrapper
(comment) @comment
