"""Settings: the table of keys, the rules of their values, the team's file, and what holds in a repository."""
