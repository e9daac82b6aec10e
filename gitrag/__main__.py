"""``python -m gitrag``."""

from gitrag.cli import main

if __name__ == "__main__":
    main()
