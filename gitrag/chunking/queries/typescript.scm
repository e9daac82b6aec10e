; On top of javascript.scm.
(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.class
(enum_declaration name: (_) @name body: (_) @body) @definition.class
(type_alias_declaration name: (_) @name value: (_) @body) @minor.class
(function_signature name: (_) @name) @minor.function @stub
(public_field_definition
  name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(variable_declarator
  name: (identifier) @name
  value: [(as_expression (object) @body) (satisfies_expression (object) @body)]) @minor.class
