"""Words in texts, names and paths: terms, stems, path traits, bounded YAML."""
