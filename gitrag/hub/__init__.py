"""The organisation's search: an index of many repositories in PostgreSQL."""
