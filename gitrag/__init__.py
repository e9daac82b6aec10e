"""A search index that lives in a git repository and is always right about it."""

__version__ = "0.1.0"
