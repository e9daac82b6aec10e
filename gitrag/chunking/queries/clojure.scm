(list_lit
  . value: (sym_lit name: (sym_name) @_word)
  . value: (sym_lit name: (sym_name) @name)
  . value: (str_lit)? @doc
  (#any-of? @_word "defn" "defn-" "defmacro" "defmulti" "defmethod" "deftest" "defspec" "definline" "s/defn"))
  @definition.function
(list_lit
  . value: (sym_lit name: (sym_name) @_word)
  . value: (sym_lit name: (sym_name) @name)
  (#any-of? @_word "defprotocol" "defrecord" "deftype" "definterface" "defstruct")) @definition.class
(list_lit
  . value: (sym_lit name: (sym_name) @_word)
  . value: (sym_lit name: (sym_name) @name)
  (#any-of? @_word "def" "defonce" "s/def")) @minor.function

(comment) @comment
