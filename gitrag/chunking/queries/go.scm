(function_declaration name: (identifier) @name body: (block)? @body) @definition.function

(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (generic_type type: (type_identifier) @owner)
    (pointer_type (type_identifier) @owner)
    (pointer_type (generic_type type: (type_identifier) @owner))]))
  name: (field_identifier) @name
  body: (block)? @body) @definition.method

(type_declaration . (type_spec
  name: (type_identifier) @name
  type: [(struct_type (field_declaration_list) @body) (interface_type)]) @definition.class)
(type_declaration . (type_spec name: (type_identifier) @name) @minor.class)
(type_declaration (type_spec
  name: (type_identifier) @name type: [(struct_type (field_declaration_list) @body) (interface_type)]) @minor.class)

; var f = func() { … }
(var_spec name: (identifier) @name value: (expression_list . (func_literal body: (_) @body))) @minor.function

(comment) @comment
