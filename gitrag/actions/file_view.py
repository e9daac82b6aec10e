"""A file for a reader: its text now or at a revision, its outline, what git and the index say."""

from __future__ import annotations

from contextlib import suppress

from msgspec import Struct

from gitrag.actions.lines import definitions_of, file_lines
from gitrag.chunking import decode
from gitrag.chunking.languages import language_of
from gitrag.chunking.notebooks import NOTEBOOK
from gitrag.errors import UsageError
from gitrag.git.blame import blame, unchanged_lines
from gitrag.git.commits import Commit, read_commits
from gitrag.git.conversion import as_stored
from gitrag.indexing.known import recorded
from gitrag.machine.files import read_regular
from gitrag.machine.programs import PrintedTooMuchError
from gitrag.model import Chunk
from gitrag.store.connection import StoreMissingError
from gitrag.words.encodings import is_binary
from gitrag.workspace import Workspace

_MOST_BYTES = 8 * 1024 * 1024


class FileView(Struct, frozen=True):
    """A file.

    Attributes:
        commit: The commit, or tree, that it is read from; empty for the working tree.
        then: The number, in HEAD's commit or the revision, of each line that it has.
        indexed: How many chunks the index has of it, and of how many texts the vector is a draft; empty
            where it is not indexed, None at a revision, where that is not looked up.
    """

    path: str
    commit: str
    lines: tuple[str, ...]
    language: str
    then: dict[int, int]
    outline: tuple[Chunk, ...]
    indexed: tuple[int, ...] | None

    @property
    def uncommitted(self) -> frozenset[int]:
        """Lines of the working tree that HEAD's commit does not have."""
        return frozenset(range(1, len(self.lines) + 1)) - self.then.keys()


def view_file(workspace: Workspace, path: str, revision: str = "") -> FileView:
    """Read a file of the working tree, or of a revision.

    Args:
        revision: The revision; empty for the working tree.
    """
    commit = ""
    if revision:
        commit, lines = _read_at(workspace, path, revision)
        then = _as_they_are(len(lines))
    else:
        lines = file_lines(workspace, path)
        then = _then(workspace, path, len(lines))
    language = language_of(path, "\n".join(lines)) or ""
    return FileView(
        path,
        commit,
        tuple(lines),
        language,
        then,
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


def _as_they_are(lines: int) -> dict[int, int]:
    return {line: line for line in range(1, lines + 1)}


def _then(workspace: Workspace, path: str, lines: int) -> dict[int, int]:
    """Return the numbers in HEAD's commit of the lines of a file that it has."""
    root = workspace.repo.root
    commit = workspace.repo.head().commit
    if root is None or commit is None:
        return {}
    try:
        done = workspace.repo.git("cat-file", "blob", f"{commit}:{path}", most_bytes=_MOST_BYTES)
        now = as_stored(workspace.repo, path, read_regular(root / path, _MOST_BYTES))
    except (PrintedTooMuchError, OSError):
        return _as_they_are(lines)
    then, now = (decode(data, language_of(path)).encode() for data in (done.stdout, now))
    same = {} if done.returncode else unchanged_lines(then, now)
    return {line: number for line, number in same.items() if line <= lines}


def blame_view(workspace: Workspace, view: FileView) -> dict[int, tuple[Commit, str]]:
    """Return the commit that made each line what it is, and the file that it was in there.

    White space, moves and copies do not count as changes. What is not committed has no commit; nor has a
    notebook, of which several lines may be one of the file.
    """
    commit = view.commit or workspace.repo.head().commit
    if not commit or not view.then or view.language == NOTEBOOK:
        return {}
    found = blame(workspace.repo, commit, view.path, [(min(view.then.values()), max(view.then.values()))])
    origins = {line: (own, name) for line, own, name in found.origins}
    ids = list(dict.fromkeys(own for own, _ in origins.values()))
    commits = {each.id: each for batch in read_commits(workspace.repo, ids) for each in batch}
    return {
        line: (commits[origin[0]], origin[1])
        for line, number in view.then.items()
        if (origin := origins.get(number)) and origin[0] in commits
    }


def _index_state(workspace: Workspace, path: str) -> tuple[int, ...]:
    """Return what the index has of a file of the working tree, without bringing it up to date."""
    from gitrag.store import vectors, views

    now = workspace.snapshot()
    with suppress(StoreMissingError), workspace.store.read() as db:
        view = views.current(db, workspace.repo.worktree)
        if view is not None:
            held = views.look_up(db, view.view_id, recorded(db, now, view), [path])
            if held.get(path):
                return vectors.count_of_content(db, held[path])
    return ()
