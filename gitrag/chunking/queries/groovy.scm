; The grammar knows commands, not declarations.
(command
  (unit (identifier) @_word) . (unit (identifier) @name)
  (block) @body
  (#any-of? @_word "class" "interface" "trait" "enum")) @definition.class
(command (block . (unit (func . (identifier) @name))) @body) @minor.function

(line_comment) @comment
(block_comment) @comment
