(command name: (command_name (word) @name))
(command name: (command_name (word) @_source) . argument: (_) @import.all (#any-of? @_source "source" "."))

; Functions by their names: `trap cleanup EXIT`, `run build`.
(command name: (command_name (word) @_by) . argument: (word) @handed
  (#not-match? @_by "^(echo|printf|unset|cd|export|local|source|[.]|exit|return|declare)$"))
