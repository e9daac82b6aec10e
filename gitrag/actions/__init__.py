"""What a user or an agent can ask: one file each; no terminal, no protocol."""
