(call_expression function: (_) @call)
(new_expression constructor: (_) @call)

(import_statement
  (import_clause (named_imports (import_specifier name: [(_) "default"] @import.name alias: (_)? @import.alias)))
  source: (string) @import.from)
(import_statement (import_clause (identifier) @import.default) source: (string) @import.from)
(import_statement (import_clause (namespace_import (identifier) @import.module)) source: (string) @import.from)
(export_statement
  (export_clause (export_specifier name: [(_) "default"] @import.name alias: [(_) "default"]? @import.alias))
  source: (string) @import.from)
(export_statement "*" source: (string) @import.all)
(variable_declarator
  name: (identifier) @import.module
  value: (call_expression function: (identifier) @_require arguments: (arguments . [
    (string) @import.from (template_string) @import.from (binary_expression left: (string) @import.from)]))
  (#eq? @_require "require"))
(variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @import.name)
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.from))
  (#eq? @_require "require"))

(variable_declarator name: (identifier) @var value: (new_expression constructor: (_) @type))
(variable_declarator name: (identifier) @var value: (call_expression function: (_) @made))
(assignment_expression
  left: (member_expression object: (this) property: (_) @field)
  right: (new_expression constructor: (_) @type))
(assignment_expression
  left: (member_expression object: (this) property: (_) @field)
  right: [(call_expression function: (_) @made) (await_expression (call_expression function: (_) @made))])
(variable_declarator name: (identifier) @var value: (await_expression (call_expression function: (_) @made)))
(variable_declarator name: (identifier) @var value: [
  (assignment_expression right: (new_expression constructor: (_) @type))
  (parenthesized_expression (assignment_expression right: (new_expression constructor: (_) @type)))])
(export_statement (namespace_export (identifier) @import.module) source: (string) @import.from)
(export_statement
  (export_clause (export_specifier name: (_) @import.local alias: [(_) "default"] @import.alias)) !source)
(export_statement "default" value: (identifier) @import.local)
(export_statement "default" declaration: (function_declaration name: (_) @import.local))
(export_statement "default" declaration: (class_declaration name: (_) @import.local))
(assignment_expression
  left: (member_expression) @_exports right: (identifier) @import.local (#eq? @_exports "module.exports"))

; export const parse = make(…): who calls it calls this.
(program (export_statement declaration: (_
  (variable_declarator
    name: (identifier) @value.name value: [(call_expression) (identifier) (member_expression)]) @value)))
(program (_ (variable_declarator
  name: (identifier) @value.name
  value: (call_expression arguments: (arguments [(arrow_function) (function_expression)]))) @value))

; Functions as values.
(arguments [(identifier) (member_expression)] @handed)
(pair value: [(identifier) (member_expression)] @handed)
(object (shorthand_property_identifier) @handed)
(array [(identifier) (member_expression)] @handed)
(assignment_expression left: (_) @_left right: [(identifier) (member_expression)] @handed
  (#not-match? @_left "^(module[.])?exports[.]"))
(variable_declarator value: [(identifier) (member_expression)] @handed)
(return_statement (identifier) @handed)
(ternary_expression consequence: [(identifier) (member_expression object: (this))] @handed)
(ternary_expression alternative: [(identifier) (member_expression object: (this))] @handed)
(binary_expression operator: ["||" "??"] right: [(identifier) (member_expression object: (this))] @handed)
(binary_expression operator: "&&" right: (member_expression object: (this)) @handed)

(variable_declarator
  name: (object_pattern (pair_pattern key: (_) @import.name value: (identifier) @import.alias))
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.from))
  (#eq? @_require "require"))
(variable_declarator
  name: (identifier) @import.alias
  value: (member_expression
    object: (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.from))
    property: (_) @import.name)
  (#eq? @_require "require"))

(for_in_statement left: (identifier) @var operator: "of" right: (_) @ranged)
(lexical_declaration kind: "const" (variable_declarator
  name: (object_pattern [(shorthand_property_identifier_pattern) @picked
    (pair_pattern key: (property_identifier) @picked.name value: (identifier) @picked)])
  value: [(this) (identifier) (member_expression) (call_expression)] @picked.of))
(lexical_declaration kind: "const" (variable_declarator
  name: (object_pattern [(shorthand_property_identifier_pattern) @picked
    (pair_pattern key: (property_identifier) @picked.name value: (identifier) @picked)])
  value: (await_expression (call_expression) @picked.of)))

; What a variable is given later.
(assignment_expression left: (identifier) @var @assigned right: (new_expression constructor: (_) @type))
(assignment_expression left: (identifier) @var @assigned right: (call_expression function: (_) @made))
(assignment_expression
  left: (identifier) @var @assigned right: (await_expression (call_expression function: (_) @made)))
(assignment_expression left: (identifier) @var @assigned)

; What a file exports by assignment, or as its main value.
(export_statement "default" @var value: (new_expression constructor: (_) @type))
(assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @var)
  right: (new_expression constructor: (_) @type)
  (#any-of? @_module "module" "exports"))
(assignment_expression
  left: (member_expression) @_exports
  right: (object (pair key: (_) @import.alias value: (identifier) @import.local))
  (#eq? @_exports "module.exports"))

(variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @import.name)
  value: (await_expression (call_expression function: (import) arguments: (arguments . (string) @import.from))))
(variable_declarator
  name: (object_pattern (pair_pattern key: (_) @import.name value: (identifier) @import.alias))
  value: (await_expression (call_expression function: (import) arguments: (arguments . (string) @import.from))))
(variable_declarator
  name: (identifier) @import.module
  value: (await_expression (call_expression
    function: (import) arguments: (arguments . [(string) (template_string)] @import.from))))
(member_expression object: (identifier) @_store (#match? @_store "[sS]tore$")) @read

; Names that are bound to something.
(variable_declarator name: (identifier) @bound)
(arrow_function parameter: (identifier) @bound)
(object_pattern (shorthand_property_identifier_pattern) @bound)
(object_assignment_pattern left: (_) @bound)
(pair_pattern value: (identifier) @bound)
(array_pattern (identifier) @bound)
(rest_pattern (identifier) @bound)
(assignment_pattern left: (identifier) @bound)
(for_in_statement left: (identifier) @bound)
(catch_clause parameter: (identifier) @bound)
(variable_declarator name: (identifier) @var value: (member_expression) @same)

; What runs where its name is read.
(method_definition "get") @property
(member_expression object: (this)) @read
(call_expression
  function: [(identifier) @_sends (member_expression property: (_) @_sends)] arguments: (arguments . (string) @method)
  (#any-of? @_sends "commit" "dispatch"))
(variable_declarator name: (identifier) @var value: (binary_expression
  left: [(call_expression function: (_) @made) (await_expression (call_expression function: (_) @made))
    (parenthesized_expression (await_expression (call_expression function: (_) @made)))]
  operator: ["??" "||"]))

; What Vue calls when what has its name changes.
(pair key: (property_identifier) @_key value: (object [
    (method_definition name: (_) @watcher) (pair key: (_) @watcher)]) (#eq? @_key "watch"))

; What a namespace is, that a function makes and returns at once: RED.view = (function () { return { … } })()
(assignment_expression
  left: (member_expression) @value.name
  right: (call_expression function: (parenthesized_expression
    (_ body: (statement_block (return_statement (object) @value))))))
(variable_declarator
  name: (identifier) @value.name
  value: [
    (call_expression function: (parenthesized_expression
      (_ body: (statement_block (return_statement (object) @value)))))
    (parenthesized_expression (call_expression
      function: (_ body: (statement_block (return_statement (object) @value)))))])
(return_statement (object (pair
  key: (property_identifier) @import.alias value: [(identifier) (member_expression)] @import.local)))
(return_statement (_) @returned)
(arrow_function body: [(new_expression) (parenthesized_expression (object))] @returned)

; What a file exports of others, and one by one.
(assignment_expression
  left: (member_expression) @_exports
  right: (object (pair key: (_) @import.alias value: (member_expression) @import.local))
  (#eq? @_exports "module.exports"))
(assignment_expression
  left: (member_expression object: (_) @_exports property: (_) @import.alias)
  right: [(identifier) (member_expression)] @import.local
  (#any-of? @_exports "exports" "module.exports"))

(variable_declarator name: (identifier) @var value: (this) @same)
(assignment_expression left: (identifier) @var @assigned right: (this) @same)
(variable_declarator name: (identifier) @var value: (binary_expression left: (this) @same operator: ["||" "??"]))
(variable_declarator
  name: (identifier) @var value: (assignment_expression left: (member_expression) @same))
(pair key: (property_identifier) @_key value: (object [
    (method_definition) @property
    (pair value: [(arrow_function) (function_expression)] @property)
    (pair value: (object [
      (method_definition name: (_) @_get) @property
      (pair key: (_) @_get value: [(arrow_function) (function_expression)] @property)] (#eq? @_get "get")))])
  (#any-of? @_key "computed" "getters"))
(variable_declarator name: (identifier) @_key value: (object [
    (method_definition) @property (pair value: [(arrow_function) (function_expression)] @property)])
  (#eq? @_key "getters"))
(pair key: (property_identifier) @_computed value: (object (pair key: (property_identifier) @value.name value: (object [
    (method_definition name: (_) @_is) @value
    (pair key: (_) @_is value: [(arrow_function) (function_expression)]) @value])))
  (#eq? @_computed "computed") (#any-of? @_is "get" "set"))

; An object that is a class: a component, a store, what extends another; and what it mixes in.
(arguments (object) @object)
(export_statement "default" @value.name value: (object (pair value: [(arrow_function) (function_expression)])) @value)
(member_expression object: (identifier) @handed property: (property_identifier) @_value (#eq? @_value "value"))
(assignment_expression left: (identifier) @value.name right: (object
    [(method_definition) (pair value: [(arrow_function) (function_expression)])]) @value)
(variable_declarator name: (identifier) @value.name value: (object
    (pair key: (property_identifier) @_key value: (object))) @value
  (#any-of? @_key "methods" "computed" "actions" "mutations" "getters" "watch"))
(pair key: (property_identifier) @_key value: [(array (identifier) @base) (identifier) @base]
  (#eq? @_key "extends"))
(pair key: (property_identifier) @_mixed value: [(array (identifier) @base) (identifier) @base]
  (#eq? @_mixed "mixins"))
(return_statement (class "class" @value.name) @value)
(arrow_function body: (class "class" @value.name) @value)
(arguments (class "class" @value.name) @value)

(export_statement "default" value: (object (spread_element (identifier) @import.spread)))
(assignment_expression
  left: (member_expression) @_exports right: (object (spread_element (identifier) @import.spread))
  (#eq? @_exports "module.exports"))

; What a component has of a store, is given, or names by strings.
(call_expression function: (identifier) @_maps arguments: (arguments) @mapped
  (#any-of? @_maps "mapActions" "mapMutations" "mapGetters" "mapState"))
(pair key: (property_identifier) @_maps value: (array) @mapped (#eq? @_maps "inject"))
(member_expression object: [
    (identifier) @_getters (member_expression property: (_) @_getters)]
  (#any-of? @_getters "getters" "rootGetters")) @read
(subscript_expression object: [(identifier) @_sends (member_expression property: (_) @_sends)] index: (string) @method
  (#any-of? @_sends "getters" "rootGetters"))
(pair key: (property_identifier) @_key value: (object (pair value: (string) @method))
  (#any-of? @_key "events" "watch"))
(pair key: (property_identifier) @_key value: (string) @method
  (#any-of? @_key "handler" "func" "fn" "method" "action" "callback"))
(method_definition name: (_) @_key body: (_ (return_statement (object (pair value: (string) @method))))
  (#eq? @_key "events"))
(return_statement (object (shorthand_property_identifier) @import.alias @import.local))
(call_expression
  function: (identifier) @_exposes
  arguments: (arguments (object (pair key: (property_identifier) @import.alias value: (identifier) @import.local)))
  (#eq? @_exposes "defineExpose"))
(export_statement "default" value: (object (shorthand_property_identifier) @import.alias @import.local))
(export_statement "default" value: (object (pair
  key: (property_identifier) @import.alias value: [(identifier) (member_expression)] @import.local)))
[(arrow_function) (function_expression) (function_declaration) (method_definition) (generator_function)
  (generator_function_declaration)] @function

; What is put into a list, or a map, one by one or where it is made.
(variable_declarator name: (identifier) @var value: (array . (new_expression)) @many)
(assignment_expression
  left: [(identifier) @var (member_expression object: (this) property: (_) @field)] right: (array . (new_expression)) @many)
(assignment_expression
  left: (subscript_expression object: [(identifier) @var (member_expression object: (this) property: (_) @field)])
  right: (new_expression) @many)
(call_expression
  function: (member_expression
    object: [(identifier) @var (member_expression object: (this) property: (_) @field)] property: (_) @_put)
  arguments: (arguments (new_expression)) @many
  (#any-of? @_put "push" "unshift" "add" "set"))
(call_expression
  function: (identifier) @_maps
  arguments: (arguments (object [(method_definition) @property
    (pair value: [(arrow_function) (function_expression)] @property)]))
  (#any-of? @_maps "mapState" "mapGetters"))

; What may be another function: what is spread after it has its name, or its prototype is given another.
(object (spread_element [(identifier) (member_expression)]) @spread)
(object (spread_element (call_expression function: (identifier) @_require)) @spread (#eq? @_require "require"))
(assignment_expression
  left: (member_expression
    object: (member_expression object: (_) @_of property: (_) @_prototype) property: (_) @replaced)
  right: [(identifier) (member_expression)]
  (#eq? @_prototype "prototype"))

; What a file exports of another whole: as its own, or with what others have.
(assignment_expression
  left: (member_expression) @import.public
  right: (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.all))
  (#eq? @import.public "module.exports") (#eq? @_require "require"))
(assignment_expression
  left: (member_expression) @_exports
  right: (object (spread_element
    (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.all))) @import.public)
  (#eq? @_exports "module.exports") (#eq? @_require "require"))

; What an object, a list or a map has, of which a computed key may give any.
(variable_declarator name: (identifier) @picked value: (subscript_expression) @picked.of)
(assignment_expression left: (identifier) @var @assigned right: (subscript_expression) @same)
(variable_declarator value: [(object) (array) (new_expression) (call_expression)]) @table
(assignment_expression left: [(member_expression) (subscript_expression)]) @table
(export_statement "default" value: (object)) @table
(call_expression
  function: (member_expression
    object: [(identifier) (member_expression object: [(this) (identifier)])] property: (_) @_put)
  arguments: (arguments [(identifier) (member_expression) (arrow_function) (function_expression)])
  (#any-of? @_put "set" "push" "add" "unshift")) @table
(export_statement declaration: (_) @exported)
(export_specifier) @exported
