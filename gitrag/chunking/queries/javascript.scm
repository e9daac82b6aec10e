; JavaScript, and what TypeScript shares with it.
(function_declaration name: (_) @name body: (_) @body) @definition.function
(generator_function_declaration name: (_) @name body: (_) @body) @definition.function

(class_declaration name: (_) @name body: (_) @body) @definition.class

(method_definition name: (_) @name body: (_) @body) @definition.method

; const f = () => …
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function body: (_) @body)
          (function_expression body: (_) @body)
          (generator_function body: (_) @body)]) @definition.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class

; const C = memo(() => …), module.exports = wrap(function () { … })
(variable_declarator
  name: (identifier) @name
  value: (call_expression arguments: (arguments
    [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))) @minor.function

; const routes = { list() { … }, show: () => … }
(variable_declarator
  name: (identifier) @name
  value: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body)
  @definition.class

; exports.f = …, F.prototype.m = …, app.use = …
(assignment_expression
  left: [(identifier) (member_expression)] @name
  right: [(arrow_function body: (_) @body)
          (function_expression body: (_) @body)
          (generator_function body: (_) @body)]) @definition.function
(assignment_expression
  left: [(identifier) (member_expression)] @name
  right: (class body: (_) @body)) @definition.class
(assignment_expression
  left: (member_expression) @name
  right: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @body)
  @definition.class

; { key: function () { … } }
(pair
  key: [(property_identifier) (string)] @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @minor.method

; describe('a thing', () => { it('does this', () => { … }) })
(call_expression
  function: [(identifier) @_suite (member_expression object: (identifier) @_suite)]
  arguments: (arguments
    . [(string) @name (template_string) @name]
    . [(arrow_function body: (_) @body) (function_expression body: (_) @body)])
  (#any-of? @_suite "describe" "context" "suite")) @minor.class
(call_expression
  function: [(identifier) @_test (member_expression object: (identifier) @_test)]
  arguments: (arguments
    . [(string) @name (template_string) @name]
    [(arrow_function body: (_) @body) (function_expression body: (_) @body)])
  (#any-of? @_test "it" "test" "specify" "QUnit")) @minor.function

(export_statement "default"
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]
  (#set! name "default")) @definition.function
(export_statement "default" value: (class body: (_) @body) (#set! name "default")) @definition.class
(export_statement "default"
  value: (object [(method_definition) (pair value: (object))]) @body
  (#set! name "default")) @definition.class

(export_statement) @wrapper
(decorator) @lead
(decorator) @decorator
(comment) @comment
