"""``python -m gitrag``."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current directory, which `-m` has put there

    from gitrag.cli import main

    main()
