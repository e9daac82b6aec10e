(message (message_name) @name (message_body) @body) @definition.class
(enum (enum_name) @name (enum_body) @body) @definition.class
(service (service_name) @name) @definition.class
(rpc (rpc_name) @name) @minor.method

(comment) @comment
