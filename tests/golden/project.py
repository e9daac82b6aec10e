"""A small project in three languages, to be searched."""

from __future__ import annotations

from pathlib import Path


def project() -> dict[str | bytes, str]:
    """Read the project's files: in ``project.txt`` a line ``=== path`` before each."""
    bundle = Path(__file__).with_name("project.txt").read_text("utf-8")
    parts = (part.partition("\n") for part in bundle.removeprefix("=== ").split("\n=== "))
    return {path: body.rstrip("\n") + "\n" for path, _, body in parts}
