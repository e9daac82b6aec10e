(SuffixExpr . (IDENTIFIER) @call . (FnCallArguments))
(FieldOrFnCall function_call: (IDENTIFIER) @chained)
(VarDecl variable_type_function: (IDENTIFIER) @import.module (ErrorUnionExpr (SuffixExpr . (BUILTINIDENTIFIER) @_import
  . (FnCallArguments (ErrorUnionExpr (SuffixExpr (STRINGLITERALSINGLE) @import.from))) .)) (#eq? @_import "@import"))
(VarDecl variable_type_function: (IDENTIFIER) @import.alias (ErrorUnionExpr (SuffixExpr . (BUILTINIDENTIFIER) @_import
  . (FnCallArguments (ErrorUnionExpr (SuffixExpr (STRINGLITERALSINGLE) @import.from)))
  . (FieldOrFnCall field_access: (IDENTIFIER) @import.name) .)) (#eq? @_import "@import"))
(VarDecl variable_type_function: (IDENTIFIER) @import.alias (UnaryExpr (ErrorUnionExpr (SuffixExpr . (BUILTINIDENTIFIER) @_import
  . (FnCallArguments (ErrorUnionExpr (SuffixExpr (STRINGLITERALSINGLE) @import.from)))
  . (FieldOrFnCall field_access: (IDENTIFIER) @import.name) .))) (#eq? @_import "@import"))
(VarDecl variable_type_function: (IDENTIFIER) @import.inner
  (ErrorUnionExpr (SuffixExpr . (BUILTINIDENTIFIER) @_this)) (#eq? @_this "@This"))
(ParamDecl parameter: (IDENTIFIER) @var (ParamType (ErrorUnionExpr) @type))
(ContainerField field_member: (IDENTIFIER) @field (ErrorUnionExpr) @type)
(ContainerField field_member: (IDENTIFIER) @var (ErrorUnionExpr) @type)
(VarDecl variable_type_function: (IDENTIFIER) @var ":" (ErrorUnionExpr) @type "=")
(VarDecl variable_type_function: (IDENTIFIER) @var "=" (ErrorUnionExpr [
  (SuffixExpr (FieldOrFnCall function_call: (_)) .) (SuffixExpr . (IDENTIFIER) . (FnCallArguments) .)] @made))
(VarDecl variable_type_function: (IDENTIFIER) @var "=" (UnaryExpr (ErrorUnionExpr [
  (SuffixExpr (FieldOrFnCall function_call: (_)) .) (SuffixExpr . (IDENTIFIER) . (FnCallArguments) .)] @made)))
(FnProto function: (IDENTIFIER) (ErrorUnionExpr) @returns)

; Functions as values.
(FnCallArguments (ErrorUnionExpr (SuffixExpr . (IDENTIFIER) @handed .)))
(FieldInit field_member: (IDENTIFIER) (ErrorUnionExpr (SuffixExpr . (IDENTIFIER) @handed .)))

; Names that are bound to something.
(ParamDecl parameter: (IDENTIFIER) @bound)
