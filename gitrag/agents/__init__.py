"""Set up agents: edit each client's own configuration and leave every other byte as it was."""
