(function_definition (signature [
    (call_expression . (_) @name)
    (typed_expression . (call_expression . (_) @name))
    (where_expression . (call_expression . (_) @name))
    (where_expression . (typed_expression . (call_expression . (_) @name)))
    (identifier) @name])
  (block)? @body) @definition.function
(macro_definition (signature (call_expression . (_) @name)) (block)? @body) @definition.function
(assignment . [
    (call_expression . (_) @name)
    (typed_expression . (call_expression . (_) @name))
    (where_expression . (call_expression . (_) @name))]
  (operator) . (_) @body) @definition.function
(struct_definition (type_head [
    (identifier) @name
    (parametrized_type_expression . (_) @name)
    (binary_expression . (identifier) @name)
    (binary_expression . (parametrized_type_expression . (_) @name))])
  (block)? @body) @definition.class
(abstract_definition (type_head) @name) @minor.class

((string_literal) @comment . [(function_definition) (assignment) (struct_definition) (macro_definition) (abstract_definition)])
(line_comment) @comment
(block_comment) @comment
