"""Texts, names and paths as words: terms, stems, traits of paths, bounded YAML."""
