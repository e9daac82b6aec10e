"""Rust's crates and modules: which file a path such as ``crate::a::b`` names, by the layout of the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

_ROOTS = ("lib.rs", "main.rs")
_SOURCE = frozenset({"src", "tests", "examples", "benches", "bin"})


class Crates:
    """The Rust modules of a view. A module is named by its file; those inside a file have no own.

    Args:
        paths: The view's Rust files.
        names: Names of crates by their directory, as their manifests say; others have their directory's.
    """

    def __init__(self, paths: Iterable[str], names: Mapping[str, str]) -> None:
        every = sorted(paths)
        roots = {path.rpartition("/")[0] for path in every if path.rpartition("/")[2] in _ROOTS}
        self._names = names
        self._at: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._modules: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        self._crates: dict[str, list[str]] = {}
        for path in every:
            place = self._place(path, roots)
            self._at[path] = place
            self._modules.setdefault(place, []).append(path)
            if path.rpartition("/")[2] == "lib.rs":
                self._crates.setdefault(self._name(path), []).append(path)

    def _place(self, path: str, roots: set[str]) -> tuple[str, tuple[str, ...]]:
        """Return a file's crate, named by a directory or a file, and its place in it."""
        folder, _, file = path.rpartition("/")
        stem = file.removesuffix(".rs")
        root: str | None = folder
        while root is not None and root not in roots:
            if root.rpartition("/")[2] in _SOURCE:
                # A test, an example or a binary of its own; the directories beside tests are theirs.
                beside = folder[len(root) :].strip("/").split("/")
                if root.rpartition("/")[2] != "tests":
                    return path, ()
                if not beside[0]:
                    return root, ()
                return root, tuple(beside if stem == "mod" else [*beside, stem])
            root = root.rpartition("/")[0] if "/" in root else ("" if root else None)
        if root is None:
            return path, ()
        inner = folder[len(root) :].strip("/").split("/") if folder != root else []
        if inner[:1] == ["bin"]:
            return path, ()
        if file in _ROOTS and not inner:
            return root, ()
        return root, tuple(inner if stem == "mod" else [*inner, stem])

    def _name(self, path: str) -> str:
        folder = path.rpartition("/")[0]
        outer = folder.removesuffix("/src") if folder != "src" else ""
        return self._names.get(outer) or outer.rpartition("/")[2].replace("-", "_")

    def named(self, parts: Sequence[str], importer: str) -> list[tuple[str, tuple[str, ...]]]:
        """Find the files that a path leads to, and what of it lies inside them, the likeliest first.

        Args:
            parts: The path's names; without the item in the end.
            importer: The file it stands in.
        """
        own = self._at.get(importer)
        found = self._named(parts, importer)  # a test's root is in the place of the other tests'
        library = self._crates.get(parts[0], ()) if parts else ()  # a program's is in its own place
        return [
            each
            for each in found
            if own is None or each[0] == importer or self._at[each[0]] != own or each[0] in library
        ]

    def _named(self, parts: Sequence[str], importer: str) -> list[tuple[str, tuple[str, ...]]]:
        root, own = self._at.get(importer, (importer, ()))
        rest = list(parts)
        starts: list[tuple[str, tuple[str, ...]]] = [(root, own)]
        if not rest or rest[0] in {"self", "super"}:
            # In a module inside the file, `super` is the file itself: that is looked at first.
            while rest and rest[0] in {"self", "super"}:
                if rest.pop(0) == "super":
                    starts += [(start, place[:-1]) for start, place in starts[-1:] if place]
        elif rest[0] in {"crate", "$crate"}:
            starts, rest = [(root, ())], rest[1:]
        else:
            starts += [(root, ())] if own else []
            found = [each for start in starts for each in self._down(start, rest, least=1)]
            for library in self._nearest(self._crates.get(rest[0], []), importer):
                found += self._down(self._at[library], rest[1:], least=0)
            inside = [(path, tuple(rest)) for path in self._modules.get((root, own), ())]
            return found + inside
        return [each for start in starts for each in self._down(start, rest, least=0)]

    def child(self, module: str, name: str) -> str | None:
        root, own = self._at.get(module, (module, ()))
        found = self._modules.get((root, (*own, name)), ())
        return found[0] if found else None

    def _nearest(self, libraries: list[str], importer: str) -> list[str]:
        """Choose among crates of one name: the one whose path shares most with the importer's."""
        return sorted(libraries, key=lambda path: -shared(path, importer))[:1]

    def _down(
        self, start: tuple[str, tuple[str, ...]], parts: Sequence[str], least: int
    ) -> list[tuple[str, tuple[str, ...]]]:
        """Follow names into files as far as they are modules; at least so many must be."""
        root, place = start
        for length in range(len(parts), least - 1, -1):
            found = self._modules.get((root, (*place, *parts[:length])))
            if found:
                return [(path, tuple(parts[length:])) for path in found]
        return []


def shared(one: str, other: str) -> int:
    """Return how many directories two paths have in common, from the top."""
    count = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        count += 1
    return count
