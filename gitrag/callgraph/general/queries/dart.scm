; What is called stands before its arguments, beside them.
(selector (argument_part)) @chained
(cascade_section (cascade_selector) . (argument_part) @chained)
(new_expression (type_identifier) @call)
(const_object_expression (type_identifier) @call)
(initializer_list_entry . (super) @call . (arguments))
(selector (unconditional_assignable_selector)) @read
(selector (conditional_assignable_selector)) @read
(getter_signature) @property
(extension_declaration) @static

(import_specification . (configurable_uri (uri (string_literal) @import.all)) .)
(import_specification . (configurable_uri (uri (string_literal) @import.all)) . (combinator))
(import_specification (configurable_uri (uri (string_literal) @import.from)) . (identifier) @import.module)
(library_export (configurable_uri (uri (string_literal) @import.all))) @import.public
(part_directive (uri (string_literal) @import.all))
(part_of_directive (uri (string_literal) @import.path @import.all))

(superclass (type_identifier) @base)
(mixins (type_identifier) @base)
(interfaces (type_identifier) @base)
(formal_parameter (type_identifier) @type name: (identifier) @var)
(initialized_variable_definition (type_identifier) @type name: (identifier) @var)
(initialized_variable_definition name: (identifier) @var value: (identifier) @made . (selector))
(initialized_variable_definition name: (identifier) @var value: (unary_expression (await_expression . (_) @made . (selector))))
(declaration (type_identifier) @type (initialized_identifier_list (initialized_identifier . (identifier) @field)))
(declaration (type_identifier) @type (static_final_declaration_list (static_final_declaration . (identifier) @field)))
(static_final_declaration . (identifier) @var . (identifier) @made . (selector))
(static_final_declaration . (identifier) @field . (identifier) @made . (selector))
(function_signature . (type_identifier) @returns)
(getter_signature . (type_identifier) @returns)

; Functions as values.
(argument . (identifier) @handed .)
(named_argument (label) . (identifier) @handed .)
(assignment_expression right: (identifier) @handed)
(cascade_section (cascade_selector) (identifier) @handed .)

; Names that are bound to something.
(formal_parameter name: (identifier) @bound)
(initialized_variable_definition name: (identifier) @bound)
