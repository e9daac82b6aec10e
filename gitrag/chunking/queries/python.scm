; Lambdas are not definitions: they are one line, and that line is their statement's.
(function_definition
  name: (identifier) @name
  body: (block . [(string) (concatenated_string)]? @doc) @body) @definition.function

(class_definition
  name: (identifier) @name
  body: (block . [(string) (concatenated_string)]? @doc) @body) @definition.class

(decorated_definition
  (decorator [(identifier) @_mark (attribute attribute: (identifier) @_mark)])
  definition: (function_definition name: (identifier) @name) @definition.function @stub
  (#eq? @_mark "overload"))

(decorator) @lead
(comment) @comment
