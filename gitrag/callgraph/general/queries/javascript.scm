(call_expression function: (_) @call)
(new_expression constructor: (_) @call)

(import_statement
  (import_clause (named_imports (import_specifier name: (_) @import.name alias: (_)? @import.alias)))
  source: (string) @import.from)
(import_statement (import_clause (identifier) @import.default) source: (string) @import.from)
(import_statement (import_clause (namespace_import (identifier) @import.module)) source: (string) @import.from)
(export_statement
  (export_clause (export_specifier name: (_) @import.name alias: (_)? @import.alias))
  source: (string) @import.from)
(export_statement "*" source: (string) @import.all)
(variable_declarator
  name: (identifier) @import.module
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @import.from))
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
