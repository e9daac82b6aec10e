(function_item name: (_) @name body: (_) @body) @definition.function

(struct_item name: (_) @name body: (_)? @body) @definition.class
(enum_item name: (_) @name body: (_) @body) @definition.class
(union_item name: (_) @name body: (_) @body) @definition.class
(trait_item name: (_) @name body: (_) @body) @definition.class
(type_item name: (_) @name) @minor.class
(macro_definition name: (_) @name) @definition.function

(impl_item
  type: [
    (type_identifier) @name
    (generic_type type: [(type_identifier) (scoped_type_identifier)] @name)
    (scoped_type_identifier) @name
    (reference_type type: (type_identifier) @name)
    (reference_type type: (generic_type type: (type_identifier) @name))
    (primitive_type) @name
    (tuple_type) @name
    (array_type) @name
    (dynamic_type) @name
    (pointer_type) @name]
  body: (_) @body) @definition.class

(attribute_item) @lead
(line_comment) @comment
(block_comment) @comment
