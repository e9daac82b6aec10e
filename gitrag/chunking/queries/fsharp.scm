(function_or_value_defn
  (function_declaration_left . (identifier) @name) body: (_) @body) @definition.function
(module_defn (identifier) @name) @definition.class
(type_definition (_ (type_name type_name: (_) @name))) @definition.class
(member_defn (method_or_prop_defn name: (property_or_ident (identifier) @name .))) @definition.method

(declaration_expression) @wrapper
(line_comment) @comment
(block_comment) @comment
