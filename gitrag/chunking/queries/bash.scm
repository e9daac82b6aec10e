(function_definition name: (word) @name body: (_) @body) @definition.function

(comment) @comment
