"""Python's calls: facts of its files, and what its names and expressions may be."""
