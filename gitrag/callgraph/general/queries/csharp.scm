(method_declaration parameters: (parameter_list . (parameter (modifier) @_this)) (#eq? @_this "this")) @static
(invocation_expression function: (_) @call)
(object_creation_expression type: (_) @call)
(base_list (_) @base)
(parameter type: (_) @type name: (identifier) @var)
(local_declaration_statement
  (variable_declaration type: (_) @type (variable_declarator name: (identifier) @var)))
(local_declaration_statement
  (variable_declaration (variable_declarator
    name: (identifier) @var (object_creation_expression type: (_) @type))))
(field_declaration (variable_declaration type: (_) @type (variable_declarator name: (identifier) @field)))
(property_declaration type: (_) @type name: (identifier) @field)
(method_declaration parameters: (_) @parameters)
(constructor_declaration parameters: (_) @parameters)
(method_declaration returns: (_) @returns)
(local_declaration_statement (variable_declaration (variable_declarator
  name: (identifier) @var [
    (invocation_expression function: (_) @made)
    (await_expression (invocation_expression function: (_) @made))])))
(declaration_pattern type: (_) @type name: (identifier) @var)

; Names that are bound to something.
(implicit_parameter) @bound
(parameter name: (identifier) @bound)
(local_declaration_statement (variable_declaration (variable_declarator name: (identifier) @bound)))
(using_statement (variable_declaration (variable_declarator name: (identifier) @bound)))
(for_statement (variable_declaration (variable_declarator name: (identifier) @bound)))
(tuple_pattern name: (identifier) @bound)
(declaration_expression name: (identifier) @bound)
(declaration_pattern name: (identifier) @bound)
(var_pattern name: (identifier) @bound)
(recursive_pattern name: (identifier) @bound)
(catch_declaration name: (identifier) @bound)
(from_clause name: (identifier) @bound)
(let_clause . (identifier) @bound)
(foreach_statement left: (identifier) @bound right: (_) @_after)
(foreach_statement type: [(identifier) (qualified_name) (generic_name)] @type left: (identifier) @var)
(declaration_expression type: (_) @type name: (identifier) @var)
(recursive_pattern type: (_) @type name: (identifier) @var)
(catch_declaration type: (_) @type name: (identifier) @var)
(using_statement (variable_declaration type: (_) @type (variable_declarator name: (identifier) @var)))
(using_statement (variable_declaration
  (variable_declarator name: (identifier) @var (object_creation_expression type: (_) @type))))
(local_declaration_statement (variable_declaration (variable_declarator
  name: (identifier) @var . (as_expression right: (_) @type))))
(local_declaration_statement (variable_declaration (variable_declarator
  name: (identifier) @var . (cast_expression type: (_) @type))))
(local_declaration_statement (variable_declaration (variable_declarator
  name: (identifier) @var . [(identifier) (member_access_expression)] @same)))

; What runs where its name is read.
(member_access_expression) @read
(property_declaration) @property
(type_parameter_constraints_clause (identifier) @var (type_parameter_constraint type: (_) @type))
(foreach_statement type: (implicit_type) left: (identifier) @var right: (_) @ranged)
(argument_list . (argument (lambda_expression parameters: (implicit_parameter) @var))) @lent
(argument . (identifier) @handed .)
(argument . (member_access_expression expression: ["this" (identifier)]) @handed .)
(assignment_expression "+=" right: [(identifier) (member_access_expression)] @handed)
(constructor_initializer ["base" "this"] @call)
(object_creation_expression type: (_) @made
  initializer: (initializer_expression (assignment_expression left: (identifier) @read)))

; What a container of dependencies is told to make.
(generic_name (identifier) @_name (type_argument_list (_) @handed .)
  (#match? @_name "^(Try)?(Add|Use|Register)[A-Z]"))

; A constructor of the type that is expected.
(variable_declaration type: (_) @call (variable_declarator (implicit_object_creation_expression)))
(property_declaration type: (_) @call value: (implicit_object_creation_expression))
(method_declaration returns: (_) @call body: [(arrow_expression_clause (implicit_object_creation_expression))
  (block (return_statement (implicit_object_creation_expression)))])

; Properties of its own, or of a base.
([(binary_expression (identifier) @alone) (argument . (identifier) @alone .) (assignment_expression (identifier) @alone)
  (return_statement (identifier) @alone) (arrow_expression_clause (identifier) @alone)
  (if_statement condition: (identifier) @alone) (while_statement condition: (identifier) @alone)
  (prefix_unary_expression (identifier) @alone) (postfix_unary_expression (identifier) @alone)
  (parenthesized_expression (identifier) @alone) (interpolation (identifier) @alone)
  (conditional_expression (identifier) @alone) (await_expression (identifier) @alone)
  (variable_declarator name: (_) (identifier) @alone) (conditional_access_expression . (identifier) @alone)
  (switch_expression . (identifier) @alone) (switch_statement value: (identifier) @alone)
  (is_pattern_expression expression: (identifier) @alone) (element_access_expression expression: (identifier) @alone)
  (foreach_statement right: (identifier) @alone) (initializer_expression (identifier) @alone)
  (cast_expression value: (identifier) @alone) (lambda_expression body: (identifier) @alone)
  (member_access_expression expression: (identifier) @alone)]
  (#match? @alone "^[A-Z]"))

; What a host calls by name of the type that it is given.
(generic_name (identifier) @method (type_argument_list . (_) @on .)
  (#any-of? @method "UseStartup" "UseMiddleware" "AddHostedService"))
