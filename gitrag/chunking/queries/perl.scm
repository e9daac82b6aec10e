(subroutine_declaration_statement name: (_) @name body: (_) @body) @definition.function
(package_statement name: (_) @name (block) @body) @definition.class

(comment) @comment
(pod) @comment
