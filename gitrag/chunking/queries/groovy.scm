; The grammar knows commands, not declarations: "class A extends B {" and "class A {" differ in where A is.
(command
  (unit (identifier) @_word) . (unit (identifier) @name)
  (block)
  (#any-of? @_word "class" "interface" "trait" "enum")) @definition.class
(command
  (unit (identifier) @_word)
  . (block . (unit (identifier) @name))
  (#any-of? @_word "class" "interface" "trait" "enum")) @definition.class
(command (block . (unit (func . (identifier) @name)))) @minor.function

(line_comment) @comment
(block_comment) @comment
