"""Exit codes that are needed before any error can be loaded."""

INTERRUPTED = 130
"""128 + SIGINT, as shells count."""

TRY_AGAIN = 75
"""As in `gitrag.errors`, which may be more than there is memory for."""
