"""Python files: facts, and the calls among them."""
