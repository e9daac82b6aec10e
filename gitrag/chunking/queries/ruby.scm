(class name: (_) @name body: (_)? @body) @definition.class
(module name: (_) @name body: (_)? @body) @definition.class
(method name: (_) @name body: (_)? @body) @definition.function
(singleton_method name: (_) @name body: (_)? @body) @definition.method

; Foo = Struct.new(:a) do … end
(assignment left: (constant) @name right: (call block: (_) @body)) @minor.class

; it "does this" do … end
(call
  method: (identifier) @_example
  arguments: (argument_list . (string (string_content) @name))
  block: (_) @body
  (#any-of? @_example "it" "specify" "scenario" "test" "should")) @minor.function

(comment) @comment
