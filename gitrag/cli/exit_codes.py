"""Exit codes that are needed before the error classes are loaded."""

INTERRUPTED = 130
"""128 + SIGINT, as shells count."""

TRY_AGAIN = 75
"""As in `gitrag.errors`, for whose import there may be too little memory."""
