"""Print what each distribution of an environment takes on disk, largest first.

    uvx --from gitrag python scripts/bench/installed_size.py     # what `uvx gitrag` installs
    VENV/bin/python scripts/bench/installed_size.py              # any other environment

MB are 10⁶ bytes of files, without bytecode, which is written as modules are imported.
"""

from importlib.metadata import Distribution, distributions


def main() -> None:
    """Print the table."""
    sizes = sorted(((size_bytes(each), each) for each in distributions()), key=lambda row: -row[0])
    for size, each in sizes:
        print(f"{size / 1e6:8.1f}  {each.name} {each.version}")
    print(f"{sum(size for size, _ in sizes) / 1e6:8.1f}  {len(sizes)} distributions")


def size_bytes(distribution: Distribution) -> int:
    """Add up the files that a distribution has installed."""
    paths = (path.locate() for path in distribution.files or () if path.suffix != ".pyc")
    return sum(path.stat().st_size for path in paths if path.is_file())


if __name__ == "__main__":
    main()
