(call) @sent
(superclass (_) @base)
(assignment
  left: (identifier) @var @assigned right: (call receiver: (_) @type method: (_) @_new) (#eq? @_new "new"))
(assignment left: (identifier) @var @assigned)
(assignment left: (instance_variable) @ivar right: (_) @given)
(operator_assignment left: (instance_variable) @ivar right: (_) @given)
[(left_assignment_list (instance_variable) @ivar) (rest_assignment (instance_variable) @ivar)
  (exception_variable (instance_variable) @ivar) (for pattern: (instance_variable) @ivar)]
(call method: (identifier) @_set arguments: (argument_list (simple_symbol) @ivar)
  (#any-of? @_set "attr_accessor" "attr_writer" "instance_variable_set"))
[(method) (singleton_method)] @gives

(identifier) @bare
(method name: (identifier) @taken)
(singleton_method name: (identifier) @taken)
(alias (identifier) @taken)
(undef (identifier) @taken)
(setter (identifier) @taken)

(singleton_method) @static

; Methods that a call makes, and classes that are opened again by one.
(call method: (identifier) @_makes arguments: (argument_list . [(simple_symbol) (string)] @value.name)
  (#any-of? @_makes "scope" "define_method" "define_singleton_method")) @value
(call method: (identifier) @_scope arguments: (argument_list . (simple_symbol))
  (#any-of? @_scope "scope" "define_singleton_method")) @static
(call receiver: [(constant) (scope_resolution)] @value.name method: (identifier) @_opens block: (_)
  (#any-of? @_opens "class_eval" "class_exec" "module_eval")) @value @static
(singleton_class value: [(constant) (scope_resolution)] @value.name) @value @static
(singleton_class body: (_ (method) @static))

; Names that are bound to something.
(assignment left: (identifier) @bound)
(operator_assignment left: (identifier) @bound)
(left_assignment_list (identifier) @bound)
(rest_assignment (identifier) @bound)
(method_parameters (identifier) @bound)
(block_parameters (identifier) @bound)
(block_parameters locals: (identifier) @bound)
(lambda_parameters (identifier) @bound)
(destructured_parameter (identifier) @bound)
(optional_parameter name: (identifier) @bound)
(keyword_parameter name: (identifier) @bound)
(splat_parameter name: (identifier) @bound)
(hash_splat_parameter name: (identifier) @bound)
(block_parameter name: (identifier) @bound)
(exception_variable (identifier) @bound)
(for pattern: (identifier) @bound)
(as_pattern name: (identifier) @bound)
(array_pattern (identifier) @bound)
(match_pattern pattern: (identifier) @bound)
(in_clause pattern: (identifier) @bound)
