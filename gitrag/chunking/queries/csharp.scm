(class_declaration name: (_) @name body: (_)? @body) @definition.class
(struct_declaration name: (_) @name body: (_)? @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.class
(record_declaration name: (_) @name body: (_)? @body) @definition.class
(enum_declaration name: (_) @name body: (_) @body) @definition.class
(delegate_declaration name: (_) @name) @minor.class

(method_declaration name: (_) @name body: (_) @body) @definition.method
(method_declaration name: (_) @name !body) @minor.method
(constructor_declaration name: (_) @name body: (_) @body) @definition.method
(destructor_declaration name: (_) @name body: (_) @body) @definition.method
(operator_declaration body: (_) @body (#set! name "operator")) @definition.method
(conversion_operator_declaration body: (_) @body (#set! name "operator")) @definition.method
(indexer_declaration (#set! name "this")) @minor.method
(property_declaration name: (_) @name [(accessor_list) (arrow_expression_clause)] @body) @minor.method
(local_function_statement name: (_) @name body: (_) @body) @definition.function

(attribute_list) @decorator
(comment) @comment
