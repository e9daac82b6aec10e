(call_expression function: (_) @call)
(function_definition type: (_) @returns)
