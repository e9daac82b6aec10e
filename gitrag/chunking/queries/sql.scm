(statement (create_table (object_reference name: (_) @name) (column_definitions)? @body)) @definition.class
(statement (create_view (object_reference name: (_) @name))) @definition.class
(statement (create_materialized_view (object_reference name: (_) @name))) @definition.class
(statement (create_type (object_reference name: (_) @name))) @minor.class
(statement (create_function . (_)* . (object_reference name: (_) @name) (function_body)? @body)) @definition.function
(statement (create_trigger . (_)* . (object_reference name: (_) @name))) @definition.function

(comment) @comment
(marginalia) @comment
