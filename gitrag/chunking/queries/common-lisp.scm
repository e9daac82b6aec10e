(list_lit (defun (defun_header function_name: (_) @name))) @definition.function
(list_lit . value: (sym_lit) @_word . value: (sym_lit) @name
  (#any-of? @_word "defclass" "defstruct" "define-condition" "deftype" "defpackage")) @definition.class

(comment) @comment
(block_comment) @comment
