"""Setting agents up: each client's own configuration, edited so that every other byte stays as it was."""
