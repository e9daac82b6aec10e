(jsx_self_closing_element name: (_) @call (#match? @call "^[A-Z]"))
(jsx_opening_element name: (_) @call (#match? @call "^[A-Z]"))
(jsx_expression (identifier) @handed)
(jsx_attribute (jsx_expression (member_expression) @handed))
