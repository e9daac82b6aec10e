"""Calls in all languages but Python: by queries, imports, names and declared types."""
