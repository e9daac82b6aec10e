(call
  target: (identifier) @_word
  (arguments . [(alias) (identifier)] @name)
  (do_block) @body
  (#any-of? @_word "defmodule" "defprotocol" "defimpl")) @definition.class

(call
  target: (identifier) @_word
  (arguments . [(alias) (identifier)] @name)
  (do_block . (unary_operator
    operand: (call target: (identifier) @_doc (#eq? @_doc "moduledoc"))) @doc) @body
  (#any-of? @_word "defmodule" "defprotocol" "defimpl")) @definition.class

(call
  target: (identifier) @_word
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name))])
  (do_block)? @body
  (#any-of? @_word "def" "defp" "defmacro" "defmacrop" "defguard" "defguardp" "defn" "defdelegate"))
  @definition.function

; test "does this" do … end
(call
  target: (identifier) @_word
  (arguments . (string) @name)
  (do_block) @body
  (#any-of? @_word "test" "property")) @minor.function

(unary_operator
  operand: (call target: (identifier) @_word (#any-of? @_word "doc" "typedoc"))) @comment
(unary_operator
  operand: (call target: (identifier) @_word (#any-of? @_word "spec" "impl" "tag" "deprecated" "since"))) @lead
(comment) @comment
