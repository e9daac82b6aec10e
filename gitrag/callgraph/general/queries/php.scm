(function_call_expression function: [(name) (qualified_name) (relative_name)] @call)
(member_call_expression object: (_) @receiver name: (_) @name)
(nullsafe_member_call_expression object: (_) @receiver name: (_) @name)
(scoped_call_expression scope: (_) @receiver name: (_) @name)
(object_creation_expression [(name) (qualified_name)] @call)
(base_clause (_) @base)
(class_interface_clause (_) @base)
(simple_parameter type: (_) @type name: (variable_name) @var)
(property_promotion_parameter type: (_) @type name: (variable_name) @field)
(assignment_expression
  left: (variable_name) @var @assigned right: (object_creation_expression [(name) (qualified_name)] @type))
(assignment_expression left: (variable_name) @var @assigned right: [
  (member_call_expression) (nullsafe_member_call_expression) (scoped_call_expression) (function_call_expression)] @made)
(assignment_expression left: (variable_name) @var @assigned)
(property_declaration type: (_) @type (property_element (variable_name) @field))
(property_declaration !type (visibility_modifier) @_seen (property_element (variable_name) @field) (#eq? @_seen "public"))
(method_declaration return_type: (_) @returns)
(function_definition return_type: (_) @returns)
(class_declaration body: (declaration_list (use_declaration (_) @base)))
(trait_declaration body: (declaration_list (use_declaration (_) @base)))

(reference_assignment_expression left: (variable_name) @var @assigned right: [
  (member_call_expression) (nullsafe_member_call_expression) (scoped_call_expression) (function_call_expression)] @made)
(return_statement [(object_creation_expression [(name) (qualified_name)] @returned) (variable_name) @returned])

; Names that are bound to something.
(simple_parameter name: (variable_name) @bound)
(variadic_parameter name: (variable_name) @bound)
(catch_clause name: (variable_name) @bound)
(catch_clause type: (type_list . (_) @type .) name: (variable_name) @var)
(list_literal (variable_name) @var @assigned)
(static_variable_declaration name: (variable_name) @bound)
(global_declaration (variable_name) @bound)
(foreach_statement . (_) @_after . (variable_name) @bound)
(foreach_statement . (_) @_after . (pair (_) (variable_name) @bound))
(assignment_expression left: (variable_name) @var @assigned right: (member_access_expression) @same)
(enum_case name: (name) @field @itself)
(foreach_statement . (_) @ranged . (variable_name) @var)
(foreach_statement . (_) @ranged . (pair (_) (variable_name) @var))
(array_creation_expression
  . (array_element_initializer [(variable_name) (class_constant_access_expression)] @on)
  . (array_element_initializer [(string) (encapsed_string)] @method) .)
(argument [(string) (encapsed_string)] @handed (#match? @handed "^.[A-Za-z0-9_\\\\]+(::?|@)[A-Za-z0-9_]+.$"))
(method_declaration name: (name) @_name body: (_ (return_statement (array_creation_expression (array_element_initializer
  (_) . [(string) (encapsed_string)] @method)))) (#eq? @_name "getSubscribedEvents"))
(method_declaration name: (name) @_name body: (_ (return_statement (array_creation_expression (array_element_initializer
  (_) . (array_creation_expression . (array_element_initializer . [(string) (encapsed_string)] @method .)))))) (#eq? @_name "getSubscribedEvents"))
(method_declaration name: (name) @_name body: (_ (return_statement (array_creation_expression (array_element_initializer
  (_) . (array_creation_expression (array_element_initializer . (array_creation_expression
    . (array_element_initializer . [(string) (encapsed_string)] @method .)) .)))))) (#eq? @_name "getSubscribedEvents"))

; What a test says of a variable holds in its branch; of a negated one that leaves, after it.
(_ condition: (parenthesized_expression [
  (binary_expression left: (variable_name) @var operator: "instanceof" right: [(name) (qualified_name)] @type)
  (binary_expression operator: "&&"
    (binary_expression left: (variable_name) @var operator: "instanceof" right: [(name) (qualified_name)] @type))])
  body: [(compound_statement) (colon_block) (expression_statement) (return_statement)])
(if_statement condition: (parenthesized_expression (unary_op_expression "!" argument: [
    (binary_expression left: (variable_name) @var operator: "instanceof" right: [(name) (qualified_name)] @type)
    (parenthesized_expression
      (binary_expression left: (variable_name) @var operator: "instanceof" right: [(name) (qualified_name)] @type))]))
  body: [(return_statement) (compound_statement [(return_statement) (throw_expression) (continue_statement)] .)
    (compound_statement (expression_statement (throw_expression)) .)] @_leaves)

; What comments declare.
(comment) @documented

(namespace_use_declaration (namespace_use_clause . (_) @import.path alias: (_)? @import.alias))
(namespace_use_declaration (namespace_name) @import.package
  body: (namespace_use_group (namespace_use_clause . (_) @import.path alias: (_)? @import.alias)))
(assignment_expression left: (variable_name) @var @assigned right: (binary_expression
  left: [(member_call_expression) (nullsafe_member_call_expression) (scoped_call_expression)
    (function_call_expression)] @made
  operator: "??"))
(function_call_expression function: (name) @_calls arguments: (arguments (argument (string) @handed))
  (#any-of? @_calls "array_map" "array_filter" "array_walk" "array_reduce" "usort" "uasort" "uksort"
    "call_user_func" "call_user_func_array" "preg_replace_callback" "spl_autoload_register" "is_callable"
    "set_error_handler" "set_exception_handler" "register_shutdown_function" "ob_start" "add_action"
    "add_filter" "add_shortcode")
  (#match? @handed "^.[A-Za-z_][A-Za-z0-9_]*.$"))
(namespace_definition name: (_) @import.inner)
(method_declaration (visibility_modifier) @_seen (#eq? @_seen "private")) @static

; What is registered under a name for templates and routes, and what names that, or a template.
(object_creation_expression [(name) (qualified_name)] @_kind
  (arguments . (argument [(string) (encapsed_string)] @registered) . (argument (_) @by))
  (#match? @_kind "Twig_?(Simple)?(Function|Filter|Test)$"))
(method_declaration attributes: (attribute_list (attribute_group (attribute [(name) (qualified_name)] @_kind
    parameters: (arguments . (argument . [(string) (encapsed_string)] @registered)))))
  name: (name) @_own (#match? @_kind "AsTwig(Function|Filter|Test)$"))
(method_declaration attributes: (attribute_list (attribute_group (attribute [(name) (qualified_name)] @_kind
    parameters: (arguments (argument name: (name) @_name [(string) (encapsed_string)] @registered)))))
  name: (name) @_own (#match? @_kind "(AsTwig(Function|Filter|Test)|Route)$") (#eq? @_name "name"))
(class_declaration attributes: (attribute_list (attribute_group (attribute [(name) (qualified_name)] @_kind
    parameters: (arguments (argument name: (name) @_name [(string) (encapsed_string)] @registered)))))
  (#match? @_kind "Route$") (#eq? @_name "name")) @group
(member_call_expression object: (_) @by name: (name) @_kind
  arguments: (arguments . (argument [(string) (encapsed_string)] @registered) .)
  (#any-of? @_kind "name" "setName"))
(scoped_call_expression name: (name) @_kind arguments: (arguments
    . (argument [(string) (encapsed_string)] @registered) . (argument (_) @by))
  (#any-of? @_kind "resource" "apiResource"))
(scoped_call_expression name: (name) @_kind arguments: (arguments (argument (anonymous_function)))
  (#eq? @_kind "group")) @group
(member_call_expression name: (name) @_kind arguments: (arguments (argument (anonymous_function)))
  (#eq? @_kind "group")) @group
(function_call_expression function: (name) @_kind arguments: (arguments) @naming
  (#any-of? @_kind "route" "to_route" "view" "ƒimport_from" "ƒinclude" "ƒextends" "ƒembed" "ƒuse" "ƒsource"
    "ƒform_theme" "ƒincludeIf" "ƒincludeWhen" "ƒincludeUnless" "ƒincludeFirst" "ƒextendsFirst" "ƒcomponent" "ƒeach"))
(member_call_expression name: (name) @_kind arguments: (arguments) @naming
  (#any-of? @_kind "render" "renderView" "renderForm" "renderBlock" "renderBlockView" "display" "view" "route"
    "redirectToRoute" "generateUrl"))
(scoped_call_expression scope: (name) @_on name: (name) @_kind arguments: (arguments) @naming
  (#eq? @_on "View") (#eq? @_kind "make"))
(scoped_call_expression scope: (name) @_on name: (name) @_kind arguments: (arguments) @naming
  (#any-of? @_on "Redirect" "URL") (#eq? @_kind "route"))
(attribute [(name) (qualified_name)] @_kind parameters: (arguments) @naming (#eq? @_kind "Template"))
