(call_expression function: (_) @call)
(struct_expression name: (_) @call)
(macro_invocation (token_tree) @tokens)
(arguments [(identifier) (scoped_identifier)] @handed)
(field_initializer value: [(identifier) (scoped_identifier)] @handed)
(use_declaration (visibility_modifier)? @import.public argument: (_) @import.use)
(extern_crate_declaration (visibility_modifier)? @import.public name: (_) @import.use alias: (_) @import.alias)
(extern_crate_declaration (visibility_modifier)? @import.public name: (_) @import.use !alias)
(source_file (type_item type: (_) @base))
(mod_item body: (declaration_list (type_item type: (_) @base)))
(mod_item name: (identifier) @import.inner body: (_))
(let_declaration pattern: (identifier) @var type: (_) @type)
(let_declaration pattern: (identifier) @var value: (struct_expression name: (_) @type))
(let_declaration pattern: (identifier) @var value: (call_expression function: (_) @made))
(parameter pattern: (identifier) @var type: (_) @type)
(field_declaration name: (field_identifier) @field type: (_) @type)
(impl_item trait: (_) @base)
(function_item return_type: (_) @returns)
(let_declaration pattern: (identifier) @var value: (try_expression (call_expression function: (_) @made)))
(let_declaration pattern: (identifier) @var value: (await_expression (call_expression function: (_) @made)))
(let_declaration pattern: (identifier) @var
  value: (try_expression (await_expression (call_expression function: (_) @made))))
(let_declaration pattern: (identifier) @var value: (reference_expression value: (struct_expression name: (_) @type)))
(static_item name: (identifier) @var type: (_) @type)
(const_item name: (identifier) @var type: (_) @type)

(trait_item body: (declaration_list (function_signature_item name: (_) @needed return_type: (_)? @type)))

; Names that are bound to something.
(parameter pattern: (identifier) @bound)
(let_declaration pattern: (identifier) @bound)
(closure_parameters (identifier) @bound)
(closure_parameters (parameter pattern: (identifier) @bound))
(tuple_pattern (identifier) @bound)
(tuple_struct_pattern type: (_) (identifier) @bound)
(field_pattern name: (shorthand_field_identifier) @bound)
(field_pattern pattern: (identifier) @bound)
(slice_pattern (identifier) @bound)
(captured_pattern . (identifier) @bound)
(ref_pattern (identifier) @bound)
(mut_pattern (identifier) @bound)
(reference_pattern (identifier) @bound)
(match_pattern . (identifier) @bound)
(let_condition pattern: (identifier) @bound)
(for_expression pattern: (identifier) @bound value: (_) @_after)
(let_declaration pattern: (identifier) @var value: [(identifier) (field_expression)] @same)
(let_declaration pattern: (identifier) @var value: (reference_expression value: [(identifier) (field_expression)] @same))
(let_condition pattern: (tuple_struct_pattern type: (identifier) @_some . (identifier) @var .) value: [
  (identifier) (field_expression) (reference_expression) (self)] @same (#any-of? @_some "Some" "Ok"))
(let_condition pattern: (tuple_struct_pattern type: (identifier) @_some . (identifier) @var .)
  value: (call_expression function: (_) @made) (#any-of? @_some "Some" "Ok"))
(type_parameter name: (type_identifier) @var bounds: (trait_bounds . (_) @type))
(where_predicate left: (type_identifier) @var bounds: (trait_bounds . (_) @type))
(attribute_item (attribute (identifier) @_case arguments: (token_tree) @tokens) (#any-of? @_case "case" "values"))
(match_expression value: [(identifier) (field_expression) (reference_expression) (self)] @same body: (match_block (match_arm
  pattern: (match_pattern (tuple_struct_pattern type: (identifier) @_some . (identifier) @var .)))) (#any-of? @_some "Some" "Ok"))
(match_expression value: (call_expression function: (_) @made) body: (match_block (match_arm
  pattern: (match_pattern (tuple_struct_pattern type: (identifier) @_some . (identifier) @var .)))) (#any-of? @_some "Some" "Ok"))
(enum_variant) @variant
(tuple_struct_pattern type: (scoped_identifier)) @payload
(struct_pattern type: (scoped_type_identifier)) @payload

; What a loop or a closure is given: one of many, or what an option holds.
(for_expression pattern: [(identifier) @var (tuple_pattern (identifier) @var .)] value: (_) @ranged)
(call_expression
  function: (field_expression value: (_) @ranged field: (_) @_each)
  arguments: (arguments (closure_expression parameters: (closure_parameters . [
    (identifier) @var (reference_pattern (identifier) @var) (tuple_pattern (identifier) @var .)] .)))
  (#any-of? @_each "map" "all" "any" "filter" "for_each" "find" "find_map" "flat_map" "filter_map" "position" "take_while" "skip_while" "inspect" "is_some_and" "and_then" "map_or" "map_or_else" "partition" "max_by_key" "min_by_key" "sort_by_key" "retain" "is_none_or"))
