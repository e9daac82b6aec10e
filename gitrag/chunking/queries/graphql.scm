(object_type_definition (name) @name (fields_definition)? @body) @definition.class
(interface_type_definition (name) @name (fields_definition)? @body) @definition.class
(input_object_type_definition (name) @name (input_fields_definition)? @body) @definition.class
(enum_type_definition (name) @name (enum_values_definition)? @body) @definition.class
(union_type_definition (name) @name) @minor.class
(object_type_extension (name) @name (fields_definition)? @body) @definition.class
(operation_definition (name) @name (selection_set) @body) @definition.function
(fragment_definition (fragment_name) @name (selection_set) @body) @definition.function

(description) @decorator
(comment) @comment
