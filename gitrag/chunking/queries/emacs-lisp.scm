(function_definition name: (_) @name docstring: (_)? @doc) @definition.function
(macro_definition name: (_) @name docstring: (_)? @doc) @definition.function
(list . (symbol) @_word . (symbol) @name
  (#any-of? @_word "cl-defun" "cl-defmethod" "cl-defgeneric" "cl-defmacro" "define-minor-mode" "ert-deftest"
    "define-derived-mode" "cl-defsubst")) @definition.function
(list . (symbol) @_word . (symbol) @name (#any-of? @_word "defcustom" "defface" "defgroup")) @minor.class

(comment) @comment
