(function_definition
  name: (identifier) @name
  body: (block . (expression_statement (string))? @doc) @body) @definition.function

; A BUILD target: cc_library(name = "…")
(module (expression_statement
  (call arguments: (argument_list
    (keyword_argument name: (identifier) @_key value: (string) @name (#eq? @_key "name"))))) @minor.class)

(comment) @comment
