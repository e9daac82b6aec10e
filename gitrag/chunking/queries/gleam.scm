(function name: (_) @name body: (_) @body) @definition.function
(type_definition (type_name name: (_) @name) (data_constructors)? @body) @definition.class
(type_alias (type_name name: (_) @name)) @minor.class

(attribute) @lead
(statement_comment) @comment
(comment) @comment
