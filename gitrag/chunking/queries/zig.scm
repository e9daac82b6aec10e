(Decl (FnProto function: (IDENTIFIER) @name) (Block) @body) @definition.function
(Decl (VarDecl
  variable_type_function: (IDENTIFIER) @name
  (ErrorUnionExpr (SuffixExpr (ContainerDecl) @body)))) @definition.class
(TestDecl (STRINGLITERALSINGLE) @name (Block) @body) @definition.function

(doc_comment) @comment
(line_comment) @comment
