"""Send the state of a branch to a hub: in one transaction, so that it is there whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from gitrag.errors import BusyError, NotSetUpError, UsageError
from gitrag.git.identity import is_commit
from gitrag.hub import copying, history
from gitrag.hub.connection import NO_REPOSITORY
from gitrag.hub.hub import Hub
from gitrag.late import np

if TYPE_CHECKING:
    from gitrag.store.commit_evidence import BranchHistory
    from gitrag.store.export import ExportedChunk, ViewFile

CHUNK_COLUMNS: Final = (
    "blob, language, kind, name, name_key, qualified_name, signature, docstring, text, line_start, line_end,"
    " length, vector, signs, terms, frequencies, reexports"
)
ENTRY_COLUMNS: Final = (
    "place, path, written, traits, top, name_terms, vector, signs, words, blob, language, collection"
)
WORD_COLUMNS: Final = "term, found"


class Branch(Struct, frozen=True):
    """What a branch has at a commit.

    Attributes:
        left_out: How many files no question can find.
        files: The others, by ascending path id.
        history: What its commits say; None where that has not been read.
    """

    repository: str
    branch: str
    commit: str | None
    tree: str
    left_out: int
    files: Sequence[ViewFile]
    history: BranchHistory | None


class Pushed(Struct, frozen=True):
    """What a push sent.

    Attributes:
        files: Files of the branch.
        contents: Contents that the repository did not have yet in the hub.
        chunks: Their chunks.
        branch: The branch's name there.
        searched: The branch of the repository that is searched.
        replaced: The commit that it had there before; None for none.
        is_compared: Whether this clone can tell if that is a later one.
    """

    files: int
    contents: int
    chunks: int
    branch: str
    searched: str
    replaced: str | None
    is_compared: bool


def push(
    hub: Hub,
    branch: Branch,
    read: Callable[[Sequence[ViewFile]], Iterable[Sequence[ExportedChunk]]],
    advance: Callable[[int, int], None] = lambda _done, _total: None,
    *,
    compare: Callable[[str | None], bool],
) -> Pushed:
    """Send a branch: contents that its repository does not have there, and which path has which content.

    Args:
        read: Reads the chunks of files, one of each content, some at a time.
        compare: Called with the commit that the branch has there, which stays meanwhile: raises to end the
            push, or returns whether this clone can tell if that is a later one.
    """
    db = hub.db
    contents = {each.content_id: each for each in branch.files}
    keys = {content_id: (each.blob, each.language) for content_id, each in contents.items()}
    with db.transaction():
        known = set(_known(hub, branch.repository))
        # the same blob may be here as .h and as .hpp, and both C++
        missing = list({key: contents[own] for own, key in keys.items() if key not in known}.values())
        sent: set[int] = set()
        with db.cursor() as cursor:
            with cursor.copy(f"COPY gitrag.sent_chunks ({CHUNK_COLUMNS}) FROM STDIN (FORMAT BINARY)") as copy:
                copy.write(copying.HEADER)
                for some in read(missing):
                    copy.write(b"".join(_chunk(each, *keys[each.content_id]) for each in some))
                    sent.update(each.content_id for each in some)
                    advance(len(sent), len(missing))
                copy.write(copying.TRAILER)
            with cursor.copy(
                f"COPY gitrag.sent_entries ({ENTRY_COLUMNS}) FROM STDIN (FORMAT BINARY)"
            ) as copy:
                copy.write(copying.HEADER)
                copy.write(b"".join(_entry(place, file) for place, file in enumerate(branch.files)))
                copy.write(copying.TRAILER)
            if branch.history is not None:
                with cursor.copy(
                    f"COPY gitrag.sent_words ({WORD_COLUMNS}) FROM STDIN (FORMAT BINARY)"
                ) as copy:
                    copy.write(copying.HEADER)
                    rows = history.words(branch.history).items()
                    copy.write(b"".join(copying.row([copying.bigint(term), own]) for term, own in rows))
                    copy.write(copying.TRAILER)
        replaced, searched = db.execute(
            "SELECT commit_id, main FROM gitrag.held(%s, %s)", [branch.repository, branch.branch]
        ).fetchone() or (None, branch.branch)
        is_compared = compare(replaced)
        packed = None if branch.history is None else history.pack(branch.history)
        row = db.execute(
            "SELECT * FROM gitrag.push(%s, %s, %s, %s, %s, %s)",
            [branch.repository, branch.branch, branch.commit, branch.tree, branch.left_out, packed],
        ).fetchone()
    new, chunks = row or (0, 0)
    return Pushed(len(branch.files), new, chunks, branch.branch, searched, replaced, is_compared)


def take_name(hub: Hub, repository: str, origin: str, is_same: Callable[[str], bool]) -> None:
    """Say which repository has a name in the hub, unless it is another's.

    Args:
        is_same: Tells whether what was said of the one that has the name is said of this one, too.
    """
    with refused(hub, repository):
        row = hub.db.execute("SELECT gitrag.origin(%s)", [repository]).fetchone()
        there = str(row[0]) if row else ""
        if there == origin:
            return
        if there and not is_same(there):
            other = "another repository" if is_commit(there) else there
            raise UsageError(
                f"The hub has {other} under the name {repository}: nothing of this one was pushed.",
                "Push under another name: gitrag hub push --repository NAME. If it is that one, and has been"
                " moved: gitrag hub push --moved",
            )
        row = hub.db.execute("SELECT gitrag.take(%s, %s, %s)", [repository, there, origin]).fetchone()
    if not row or not row[0]:
        raise BusyError(f"Another repository takes the name {repository} in the hub.", "Try again.")


def _known(hub: Hub, repository: str) -> list[tuple[bytes, str]]:
    with refused(hub, repository):
        return hub.db.execute(
            "SELECT blob, language FROM gitrag.known(%s)", [repository], binary=True
        ).fetchall()


@contextmanager
def refused(hub: Hub, repository: str) -> Iterator[None]:
    """Say so where a repository is none that this role may push to."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        if error.sqlstate == NO_REPOSITORY:
            raise NotSetUpError(
                f'The hub at {hub.place} has no repository "{repository}" that this role may push to.',
                f"Who runs the hub may allow it: gitrag hub grant --push ROLE {repository}",
            ) from error
        raise


def _chunk(chunk: ExportedChunk, blob: bytes, language: str) -> bytes:
    return copying.row([
        blob,
        copying.text(language),
        copying.text(chunk.kind),
        copying.text(chunk.name),
        copying.text(chunk.name_key),
        copying.text(chunk.qualified_name),
        copying.text(chunk.signature),
        copying.text(chunk.docstring),
        copying.text(chunk.text),
        copying.integer(chunk.line_start),
        copying.integer(chunk.line_end),
        copying.integer(chunk.length),
        chunk.vector,
        None if chunk.vector is None else copying.bits(_signs(chunk.vector)),
        copying.numbers(chunk.terms, "int8"),
        copying.numbers(chunk.frequencies, "int4"),
        copying.texts(chunk.reexports),
    ])  # fmt: skip


def _entry(place: int, file: ViewFile) -> bytes:
    return copying.row([
        copying.integer(place),
        file.path,
        copying.text(file.written),
        copying.integer(file.traits),
        copying.bigint(file.top),
        copying.integer(file.name_terms),
        file.vector,
        None if file.vector is None else _signs(file.vector),
        copying.numbers(np.array(file.words, dtype=np.uint64), "int8"),
        file.blob,
        copying.text(file.language),
        copying.text(file.collection),
    ])  # fmt: skip


def _signs(vector: bytes) -> bytes:
    return np.packbits(np.frombuffer(vector, dtype=np.int8) > 0).tobytes()
