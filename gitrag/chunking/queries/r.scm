(binary_operator
  lhs: [(identifier) (string) (extract_operator)] @name
  rhs: (function_definition body: (_) @body)) @definition.function
(program (binary_operator
  lhs: (identifier) @name
  rhs: (call function: (identifier) @_call arguments: (_) @body
    (#any-of? @_call "R6Class" "setRefClass" "setClass" "proto" "ggproto"))) @definition.class)
(program (call
  function: (identifier) @_call
  arguments: (arguments . (argument value: (string) @name)) @body
  (#any-of? @_call "setClass" "setGeneric" "setMethod" "setRefClass" "test_that")) @definition.function)
(argument name: (identifier) @name value: (function_definition body: (_) @body)) @minor.method

(comment) @comment
