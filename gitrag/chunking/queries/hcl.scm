; resource "aws_instance" "web": the last label is the name, the one before it the owner.
(block (identifier) . (string_lit (template_literal) @owner) . (string_lit (template_literal) @name)
  (block_start) @body) @definition.class
(block (identifier) . (string_lit (template_literal) @name) . (block_start) @body) @minor.class
(config_file (body (block . (identifier) @name . (block_start) @body) @minor.class))

(comment) @comment
