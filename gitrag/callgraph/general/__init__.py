"""Files in languages other than Python: facts by queries, and the calls among them."""
