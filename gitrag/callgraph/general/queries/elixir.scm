(call target: (identifier) @name)
(call target: (dot left: (alias) @receiver right: (identifier) @name))
(call target: (dot left: (identifier) @receiver right: (identifier) @name) (#eq? @receiver "__MODULE__"))
(unary_operator operand: (binary_operator left: (identifier) @handed right: (integer)))
(unary_operator operand: (binary_operator left: (call target: (dot left: (alias))) @handed right: (integer)))
(call target: (identifier) @_word (arguments . (_) @import.use (keywords (pair value: (alias) @import.alias))?)
  (#eq? @_word "alias"))
(call target: (identifier) @_word (arguments . (alias) @import.all) (#eq? @_word "import"))
(call target: (identifier) @_word (arguments . [
    (identifier) @parameters
    (call (arguments) @parameters)
    (binary_operator left: (identifier) @parameters)
    (binary_operator left: (call (arguments) @parameters))])
  (#any-of? @_word "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defn" "defdelegate"))

; Functions by their names: of a pipeline of plugs, of a module.
(call target: (identifier) @_word (arguments . [(atom) @handed (binary_operator left: (atom) @handed)])
  (#eq? @_word "plug"))
(tuple . (alias) @on . (atom) @method)
(arguments . (alias) @on . (atom) @method)
(sigil (sigil_name) @_kind (quoted_content) @markup (#eq? @_kind "H"))
(call target: (identifier) @_word (arguments . [
    (call target: (identifier) @method)
    (identifier) @method] (keywords (pair key: (keyword) @_to value: (alias) @on) .))
  (#eq? @_word "defdelegate") (#match? @_to "^to:"))
(call target: (identifier) @_word (arguments . (_) (keywords
    (pair key: (keyword) @_to value: (alias) @on) (pair key: (keyword) @_as value: (atom) @method)))
  (#eq? @_word "defdelegate") (#match? @_to "^to:") (#match? @_as "^as:"))
