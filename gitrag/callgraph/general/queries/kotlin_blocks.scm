; What decides about `this`: a block, the call that it is given to, and what ends the search.
[(lambda_literal) (function_declaration) (class_body) (call_expression)] @block
