(new_expression type: (_) @call)
(base_class_clause (type_identifier) @base)
(base_class_clause (template_type) @base)
(base_class_clause (qualified_identifier) @base)
(declaration type: (_) @type declarator: [
  (identifier) @var
  (pointer_declarator (identifier) @var)
  (reference_declarator (identifier) @var)
  (init_declarator declarator: (identifier) @var)
  (init_declarator declarator: (pointer_declarator (identifier) @var))])
(parameter_declaration type: (_) @type declarator: [
  (identifier) @var (pointer_declarator (identifier) @var) (reference_declarator (identifier) @var)])
(field_declaration type: (_) @type declarator: [
  (field_identifier) @field (pointer_declarator (field_identifier) @field)])
(function_definition declarator: (function_declarator parameters: (_) @parameters))
(function_definition declarator: (_ (function_declarator parameters: (_) @parameters)))
(declaration type: (placeholder_type_specifier)
  declarator: (init_declarator declarator: [
    (identifier) @var (pointer_declarator (identifier) @var) (reference_declarator (identifier) @var)]
    value: (call_expression function: (_) @made)))
(declaration type: (placeholder_type_specifier)
  declarator: (init_declarator declarator: [
    (identifier) @var (pointer_declarator (identifier) @var) (reference_declarator (identifier) @var)]
    value: (new_expression type: (_) @type)))
(for_range_loop type: (_) @type declarator: [(identifier) @var (reference_declarator (identifier) @var)])
(field_declaration type: (_) @type declarator: (reference_declarator (field_identifier) @field))
(field_initializer . (_) @call)
(declaration type: (_) @type declarator: (function_declarator declarator: (identifier) @var))
(for_range_loop type: (placeholder_type_specifier)
  declarator: [(identifier) @var (reference_declarator (identifier) @var) (pointer_declarator (identifier) @var)]
  right: (_) @ranged)

; Names that are bound to something.
(parameter_declaration declarator: (reference_declarator (identifier) @bound))
(optional_parameter_declaration declarator: (identifier) @bound)
(structured_binding_declarator (identifier) @bound)
(init_declarator declarator: (reference_declarator (identifier) @bound))
(for_range_loop declarator: [(identifier) @bound (reference_declarator (identifier) @bound)])
