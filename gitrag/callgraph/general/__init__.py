"""Calls in all languages except Python, from queries, imports, names and declared types."""
