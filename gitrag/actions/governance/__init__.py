"""Earlier decisions, documents and code that bear on the work at hand: check, related, review."""
