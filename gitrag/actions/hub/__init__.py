"""Actions on a hub: push to it, and search it."""
