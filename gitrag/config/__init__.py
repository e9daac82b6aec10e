"""Settings: the table of keys, the rules for their values, the team's file, and a repository's settings."""
