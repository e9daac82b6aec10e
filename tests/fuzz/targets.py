"""The targets, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

from tests.fuzz.target import Target


def _at(module: str, name: str) -> Callable[[Path], Target]:
    def make(space: Path) -> Target:
        made: Target = getattr(import_module(f"tests.fuzz.{module}"), name)(space)
        return made

    return make


TARGETS: Mapping[str, Callable[[Path], Target]] = {
    "contents": _at("contents", "Contents"),
    "repositories": _at("repositories", "Repositories"),
    "settings": _at("repositories", "Settings"),
    "rules": _at("repositories", "Rules"),
    "documents": _at("repositories", "Documents"),
    "trackers": _at("trackers", "Trackers"),
    "streams": _at("servers", "Streams"),
    "requests": _at("servers", "Requests"),
    "store": _at("stores", "Stores"),
    "walks": _at("sweeps", "Walks"),
    "kills": _at("sweeps", "Kills"),
}
"""Each is made in a directory of its own; its modules are loaded then."""
