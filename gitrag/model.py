"""The frozen data types that every layer shares.

Lines are 1-based and inclusive. Object ids are lower-case hex strings. Paths are relative to the repository's
top level, with ``/``, decoded from git's bytes with ``surrogateescape``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct

DIMENSIONS: Final = 384
"""Components of a vector: those of the model, and of a draft of its vector."""


class Kind(StrEnum):
    """What a chunk is."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"  # also struct, trait, interface, enum, impl, contract, module
    MODULE = "module"  # code outside definitions, or a piece of a file without a grammar
    SECTION = "section"  # a heading's part of a prose document


DEFINITIONS = (Kind.FUNCTION, Kind.METHOD, Kind.CLASS)


class Chunk(Struct, frozen=True):
    """A contiguous piece of a file.

    Attributes:
        kind: What it is.
        name: The defined name, or the heading; empty for module chunks.
        qualified_name: The name with its enclosing definitions, joined by ``.`` (``Session.send``),
            or the heading path joined by `` > ``; empty for module chunks.
        signature: The definition up to its body, white space collapsed to one line; empty if none.
        docstring: The docstring, or the comment right before the definition, without comment marks.
        text: The exact lines ``line_start..line_end`` without the final line end. Only a single line that is
            longer than a chunk may be is split, into several chunks with the same line range.
        line_start: First line, 1-based.
        line_end: Last line, inclusive.
        continued: Whether its definition, or its heading's section, begins in a chunk before; not stored.
        words_only: Whether it is found by its words only, without a vector; not stored as such.
    """

    kind: Kind
    name: str
    qualified_name: str
    signature: str
    docstring: str
    text: str
    line_start: int
    line_end: int
    continued: bool = False
    words_only: bool = False


class ChunkOfFile:
    """What is known of a chunk of a file, by its ``path`` and ``chunk``."""

    __slots__ = ()
    path: str
    chunk: Chunk

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line of the chunk, 1-based, inclusive."""
        return self.chunk.line_start, self.chunk.line_end

    @property
    def name(self) -> str:
        """The definition's qualified name, or the headings joined by `` > ``; may be empty."""
        return self.chunk.qualified_name

    @property
    def kind(self) -> str:
        """``function``, ``method``, ``class``, ``module`` or ``section``."""
        return self.chunk.kind.value

    @property
    def text(self) -> str:
        """The chunk's lines."""
        return self.chunk.text

    @property
    def id(self) -> str:
        """What `gitrag.Workspace.get` finds the lines again by, moved or not."""
        return place_id(self.path, self.chunk.line_start, self.chunk.line_end, self.chunk.text)


def place_id(path: str, line_start: int, line_end: int, text: str) -> str:
    """Return a place of a file, with a digest of its text to find it again when it has moved."""
    return f"{path}:{line_start}-{line_end}#{digest(text)}"


def digest(text: str) -> str:
    """Return the digest of a text in an id: eight hex digits."""
    from hashlib import blake2b

    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


class Skip(StrEnum):
    """Why a path of a tree is not indexed."""

    BINARY = "binary"
    TOO_LARGE = "too large"
    OUTLINED = "outline only"  # too large, but its head and its definitions are indexed
    LFS = "LFS pointer"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    GENERATED = "generated"
    VENDORED = "vendored"
    IGNORED = "ignored"  # .gitragignore, -gitrag, or the configuration
    MINIFIED = "minified"
    LOCK_FILE = "lock file"
    ABSENT = "not in this clone"  # a partial one, which has not fetched it
    UNREADABLE = "unreadable"  # its object is missing or damaged, or the file cannot be opened


class TreeEntry(Struct, frozen=True):
    """A leaf of a git tree, or a file of the working tree.

    Attributes:
        blob: Object id of its content as git stores it; for a submodule, of its commit.
        mode: Git's file mode (0o100644, 0o100755, 0o120000 symlink, 0o160000 submodule).
    """

    path: str
    blob: str
    mode: int


class CallGraph(Struct, frozen=True):
    """A call graph, drawn, or why there is none.

    Attributes:
        filter: The pattern that chose its nodes; None when everything was drawn.
        mermaid: A mermaid block's text; None when there is none.
        error: Why there is none, for the user; None when there is one.
        nodes: How many nodes it has, including those not drawn.
        notes: Further remarks for the user, one line each.
        calls: The edges drawn, as path, caller and callees, for readers without Mermaid.
    """

    filter: str | None
    mermaid: str | None
    error: str | None
    nodes: int = 0
    notes: tuple[str, ...] = ()
    calls: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    left_out: int = 0


class Head(Struct, frozen=True):
    """Where HEAD of a worktree stands.

    Attributes:
        commit: Its commit, or None on an unborn branch.
        tree: That commit's tree; the empty tree's id on an unborn branch.
        branch: Short branch name, or None when detached.
    """

    commit: str | None
    tree: str
    branch: str | None
