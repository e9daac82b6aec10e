"""A small project in three languages, to be searched."""

from __future__ import annotations

from pathlib import Path


def project() -> dict[str | bytes, str]:
    """Read the project's files: in ``project.txt`` a line ``=== path`` before each."""
    return _files("project.txt")


def decided_project() -> dict[str | bytes, str]:
    """Read the project with all its decisions and specifications."""
    return _files("project.txt") | _files("decisions.txt")


def _files(name: str) -> dict[str | bytes, str]:
    bundle = (Path(__file__).parents[1] / "golden" / name).read_text("utf-8")
    parts = (part.partition("\n") for part in bundle.removeprefix("=== ").split("\n=== "))
    return {path: body.rstrip("\n") + "\n" for path, _, body in parts}
