(model_block (identifier) @name) @definition.class
(enum_block (identifier) @name) @definition.class

(document_comment) @comment
