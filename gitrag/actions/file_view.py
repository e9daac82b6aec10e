"""A file for a reader: its text now or at a revision, its outline, what git and the index say."""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct

from gitrag.actions.lines import definitions_of, file_lines
from gitrag.chunking import decode
from gitrag.chunking.languages import language_of
from gitrag.errors import UsageError
from gitrag.git.blame import unchanged_lines
from gitrag.git.conversion import as_stored
from gitrag.indexing.known import recorded
from gitrag.machine.files import read_regular
from gitrag.machine.programs import PrintedTooMuchError
from gitrag.model import Chunk
from gitrag.store.connection import StoreMissingError
from gitrag.words.encodings import is_binary
from gitrag.workspace import Workspace

_MOST_BYTES = 8 * 1024 * 1024


class IndexState(Struct, frozen=True):
    """What the index has of a file.

    Attributes:
        drafts: How many of their texts have a draft vector as yet, instead of the model's.
    """

    is_indexed: bool
    chunks: int = 0
    drafts: int = 0


class FileView(Struct, frozen=True):
    """A file.

    Attributes:
        commit: The commit, or tree, that it is read from; empty for the working tree.
        language: Its language; empty if unknown.
        uncommitted: Lines of the working tree that HEAD's commit does not have.
        index: What the index has of it; None at a revision, where that is not looked up.
    """

    path: str
    commit: str
    lines: tuple[str, ...]
    language: str
    uncommitted: frozenset[int]
    outline: tuple[Chunk, ...]
    index: IndexState | None


def view_file(workspace: Workspace, path: str, revision: str = "") -> FileView:
    """Read a file of the working tree, or of a revision.

    Args:
        revision: The revision; empty for the working tree.

    Raises:
        UsageError: There is no such text file, or no such revision.
    """
    commit = ""
    uncommitted: frozenset[int] = frozenset()
    if revision:
        commit, lines = _read_at(workspace, path, revision)
    else:
        lines = file_lines(workspace, path)
        uncommitted = _uncommitted(workspace, path, len(lines))
    language = language_of(path, "\n".join(lines)) or ""
    return FileView(
        path,
        commit,
        tuple(lines),
        language,
        uncommitted,
        tuple(definitions_of(lines, language or None)),
        None if revision else _index_state(workspace, path),
    )


def _read_at(workspace: Workspace, path: str, revision: str) -> tuple[str, list[str]]:
    """Return the commit, or tree, that a revision means, and the lines that a file has in it."""
    head = workspace.repo.resolve(revision)
    own = head.commit or head.tree
    try:
        done = workspace.repo.git("cat-file", "blob", f"{own}:{path}", most_bytes=_MOST_BYTES)
    except PrintedTooMuchError as error:
        raise UsageError(f"{path} is larger than 8 MiB.", "Only smaller files are shown.") from error
    if done.returncode:
        raise UsageError(f"There is no file {path} at {revision[:80]}.", "It may have had another name then.")
    if is_binary(done.stdout):
        raise UsageError(f"{path} is no text.", "Only text is shown.")
    lines = decode(done.stdout, language_of(path)).split("\n")
    return own, lines[:-1] if lines[-1] == "" else lines


def _uncommitted(workspace: Workspace, path: str, lines: int) -> frozenset[int]:
    """Return the lines of a file that HEAD's commit does not have."""
    everything = frozenset(range(1, lines + 1))
    root = workspace.repo.root
    commit = workspace.repo.head().commit
    if root is None or commit is None:
        return everything
    try:
        done = workspace.repo.git("cat-file", "blob", f"{commit}:{path}", most_bytes=_MOST_BYTES)
        now = as_stored(workspace.repo, path, read_regular(root / path, _MOST_BYTES))
    except (PrintedTooMuchError, OSError):
        return frozenset()
    then, now = (decode(data, language_of(path)).encode() for data in (done.stdout, now))
    return everything if done.returncode else everything - unchanged_lines(then, now).keys()


def _index_state(workspace: Workspace, path: str) -> IndexState:
    """Return what the index has of a file of the working tree, without bringing it up to date."""
    from gitrag.store import vectors, views

    now = workspace.snapshot()
    with suppress(StoreMissingError), workspace.store.read() as db:
        view = views.current(db, workspace.repo.worktree)
        if view is not None:
            held = views.look_up(db, view.view_id, recorded(db, now, view), [path])
            if held.get(path):
                return IndexState(True, *vectors.count_of_content(db, held[path]))
    return IndexState(is_indexed=False)
