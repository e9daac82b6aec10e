; Lambdas are not definitions: they are one line, and that line is their statement's.
(function_definition
  name: (identifier) @name
  body: (block . [(string) (concatenated_string)]? @doc) @body) @definition.function

(class_definition
  name: (identifier) @name
  body: (block . [(string) (concatenated_string)]? @doc) @body) @definition.class

(decorator) @lead
(comment) @comment
