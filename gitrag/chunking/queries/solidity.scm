(contract_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.class
(library_declaration name: (_) @name body: (_) @body) @definition.class
(struct_declaration name: (_) @name body: (_) @body) @minor.class
(enum_declaration name: (_) @name body: (_) @body) @minor.class

(function_definition name: (_) @name body: (_) @body) @definition.function
(function_definition name: (_) @name) @minor.function
(modifier_definition name: (_) @name body: (_) @body) @definition.function
(constructor_definition body: (_) @body (#set! name "constructor")) @definition.method
(fallback_receive_definition "receive" body: (_) @body (#set! name "receive")) @definition.method
(fallback_receive_definition "fallback" body: (_) @body (#set! name "fallback")) @definition.method

(comment) @comment
