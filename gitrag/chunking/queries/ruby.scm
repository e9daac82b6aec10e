(class name: (_) @name body: (_)? @body) @definition.class
(module name: (_) @name body: (_)? @body) @definition.class
(method name: (_) @name body: (_)? @body) @definition.function
(singleton_method name: (_) @name body: (_)? @body) @definition.method

; Foo = Struct.new(:a) do … end
(assignment left: (constant) @name right: (call block: (_) @body)) @minor.class

; describe Thing do it "does this" do … end end
(call
  method: (identifier) @_suite
  arguments: (argument_list . [(string) @name (constant) @name (scope_resolution) @name])
  block: (_) @body
  (#any-of? @_suite "describe" "context" "feature")) @minor.class
(call
  method: (identifier) @_example
  arguments: (argument_list . (string) @name)
  block: (_) @body
  (#any-of? @_example "it" "specify" "scenario" "test" "should")) @minor.function

(comment) @comment
