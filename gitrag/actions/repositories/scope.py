"""Which repositories somebody asks for. Imports nothing: every search reads it."""

from __future__ import annotations

from msgspec import Struct


class Scope(Struct, frozen=True):
    """Which repositories somebody asks for, in place of the one that he stands in.

    Attributes:
        everywhere: All that gitrag knows.
        names: By name, glob or path.
        groups: By the groups that they are in.
        nested: The one that he stands in, with the submodules and clones inside of it.
        urls: Of these remotes, fetched now.
        dependencies: Of these installed dependencies of the project.
    """

    everywhere: bool = False
    names: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    nested: bool = False
    urls: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Tell whether anything but the repository around is asked for."""
        return self.is_known or bool(self.urls) or bool(self.dependencies)

    @property
    def is_known(self) -> bool:
        """Whether repositories are asked for that are on this machine already."""
        return self.everywhere or bool(self.names) or bool(self.groups) or self.nested
