"""Commits: each is stored once; a history says which of them are reachable from one, the newest ones.

A question is asked of one commit, and only commits in its history count, whatever else has been read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gitrag.store import commit_drafts, schema, vectors
from gitrag.store.candidates import SearchScope, read_postings, with_terms
from gitrag.store.columns import integers, next_id, objects, run
from gitrag.store.joins import matches, runs
from gitrag.store.memo import Memo
from gitrag.store.paths import decode_path, encode_path

if TYPE_CHECKING:
    import numpy as np
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

_BOUNDARY = "boundary of histories"

_SWEEPING = 50
"""A commit of more paths is a reformat or an import: its message tells nothing of a single one."""

_TELLING = f"changed BETWEEN 1 AND {_SWEEPING}"

FEW_PATHS = 12
"""Most paths of a commit whose subject counts by its meaning: of each of many it says less."""

_YEAR_S = 365 * 24 * 3600.0
_KEPT_BESIDE = 32
"""How many histories are kept beside those of views, for branches that are returned to."""

_OF_VIEWS = "lower(hex(id)) IN (SELECT commit_id FROM views WHERE commit_id IS NOT NULL)"
_KEPT = f"made >= to_timestamp(?) OR {_OF_VIEWS} OR lower(hex(id)) IN (SELECT unnest(?::VARCHAR[]))"


class CommitRecord(Struct, frozen=True):
    """A commit to be stored.

    Attributes:
        id: Its object id.
        parents: Number of its parents.
        authored: When it was written, Unix seconds.
        committed: When it was committed, Unix seconds.
        author: The author's name.
        message: Its message.
        changed: How many paths it changes.
        changes: Path, status and, where it was moved, the old path.
        terms: uint64, the distinct hashed terms of its message.
        frequencies: uint16, how often each occurs, weighted.
        length: Sum of the frequencies.
    """

    id: str
    parents: int
    authored: int
    committed: int
    author: str
    message: str
    changed: int
    changes: Sequence[tuple[str, str, str]]
    terms: NDArray[np.uint64]
    frequencies: NDArray[np.uint16]
    length: int


class Messages(Struct, frozen=True):
    """What the messages of a history say about the files of a scope: only of commits that change few paths.

    Attributes:
        term: int32 (q,), index of a term in the question.
        commit: int32 (q,), index of the commit whose message has it.
        frequency: int32 (q,), how often.
        age_s: int64 (c,), how much older each of these commits is than the one that was asked, at least 0.
        changed: int32 (c,), how many paths each changes.
        length: int32 (c,), length of each message in terms.
        first: int64 (c,), where each commit's files begin in ``file``.
        files: int64 (c,), how many there are.
        file: int32 (p,), numbers of the files in the scope.
        file_length: float32 (f,), length of all messages of each file, those of a commit of n paths counting
            1/√n.
        telling: How many commits of the history change few paths.
        mean_length: Mean length of their messages.
        meaning: float32 (m,), how near in meaning to the question a subject is, of a commit of at most
            `FEW_PATHS` paths and a file that it changed, with regard to the history's median; a cosine.
        meant: int32 (m,), the numbers of these files.
    """

    term: NDArray[np.int32]
    commit: NDArray[np.int32]
    frequency: NDArray[np.int32]
    age_s: NDArray[np.int64]
    changed: NDArray[np.int32]
    length: NDArray[np.int32]
    first: NDArray[np.int64]
    files: NDArray[np.int64]
    file: NDArray[np.int32]
    file_length: NDArray[np.float32]
    telling: int
    mean_length: float
    meaning: NDArray[np.float32]
    meant: NDArray[np.int32]


def numbers_of(db: DuckDBPyConnection, ids: Sequence[str]) -> dict[str, int]:
    """Return the numbers of those commits that are stored."""
    columns = [objects(map(bytes.fromhex, ids))]
    rows = run(
        db, columns, "SELECT id, commit_number FROM commits SEMI JOIN columns ON id = column0"
    ).fetchall()
    return {bytes(commit).hex(): number for commit, number in rows}


def has_history(db: DuckDBPyConnection, commit: str, boundary: str | None = None) -> bool:
    """Tell whether the history of a commit has been read; up to this boundary, unless it is None."""
    row = db.execute("SELECT 1 FROM histories WHERE id = ?", [bytes.fromhex(commit)]).fetchone()
    return row is not None and boundary in (None, schema.get(db, _BOUNDARY))


def size_of_history(db: DuckDBPyConnection, commit: str) -> int:
    """Return how many commits the history of a commit has, as far as it has been read."""
    history = _read_history(db, commit)
    return 0 if history is None else int(history.reached[:, 1].sum())


def leads_to(db: DuckDBPyConnection, commit: str, ids: Sequence[str]) -> list[str]:
    """Return those of some commits that are in the history of one, as far as it has been read."""
    history = _read_history(db, commit)
    known = numbers_of(db, ids)
    if history is None:
        return []
    own = _among(history.reached, integers(known.values()))
    return [each for each, is_own in zip(known, own.tolist(), strict=True) if is_own]


def set_boundary(db: DuckDBPyConnection, boundary: str) -> None:
    """Drop the histories that were read when the clone ended elsewhere.

    Args:
        db: An open connection, writing.
        boundary: Identifies where the clone ends; empty if it is whole.
    """
    if schema.get(db, _BOUNDARY) != boundary:
        db.execute("DELETE FROM histories")
        schema.put(db, _BOUNDARY, boundary)


def add(db: DuckDBPyConnection, records: Sequence[CommitRecord]) -> list[tuple[int, str]]:
    """Store commits, and return number and message of each; those that are stored already are left alone."""
    import numpy as np

    there = numbers_of(db, [record.id for record in records])
    new = list({record.id: record for record in records if record.id not in there}.values())
    if not new:
        return []
    first = next_id(db, "commits", "commit_number")
    numbers = np.arange(first, first + len(new), dtype=np.int32)
    added = list(zip(numbers.tolist(), (record.message for record in new), strict=True))
    columns: list[NDArray[Any]] = [
        numbers,
        objects(bytes.fromhex(record.id) for record in new),
        integers(min(record.parents, 65_535) for record in new),
        np.array([record.authored for record in new], dtype=np.int64),
        np.array([record.committed for record in new], dtype=np.int64),
        objects(record.author for record in new),
        objects(record.message for record in new),
        integers(record.changed for record in new),
        integers(record.length for record in new),
    ]
    run(db, columns, "INSERT INTO commits SELECT * FROM columns ORDER BY column0")
    sizes = [len(record.terms) for record in new]
    if any(sizes):
        columns = [
            np.concatenate([record.terms for record in new]),
            np.repeat(numbers, sizes),
            np.concatenate([record.frequencies for record in new]).astype(np.int32),
        ]
        run(db, columns, "INSERT INTO message_postings SELECT * FROM columns ORDER BY column0, column1")
    rows = [
        (number, encode_path(path), ord(status), encode_path(old))
        for number, record in zip(numbers.tolist(), new, strict=True)
        for path, status, old in record.changes
    ]
    if not rows:
        return added
    both = (path for _, new, _, old in rows for path in (new, old) if path)
    paths = _record_paths(db, list(dict.fromkeys(both)))
    columns = [
        integers(number for number, *_ in rows),
        integers(paths[path] for _, path, *_ in rows),
        integers(status for _, _, status, _ in rows),
        integers(paths.get(old, 0) for *_, old in rows),
    ]
    run(db, columns, "INSERT INTO commit_paths SELECT * FROM columns")
    return added


def _record_paths(db: DuckDBPyConnection, paths: Sequence[bytes]) -> dict[bytes, int]:
    """Return the numbers of changed paths, recording those that are new."""
    rows = run(
        db,
        [objects(paths)],
        "SELECT path, changed_path FROM changed_paths SEMI JOIN columns ON path = column0",
    ).fetchall()
    found = {bytes(path): number for path, number in rows}
    new = [path for path in paths if path not in found]
    if new:
        first = next_id(db, "changed_paths", "changed_path")
        columns = [integers(range(first, first + len(new))), objects(new)]
        run(
            db,
            columns,
            "INSERT INTO changed_paths SELECT column0, column1, coalesce(path_id, 0) FROM columns"
            " LEFT JOIN paths ON path = column1 ORDER BY column0",
        )
        found |= {path: first + place for place, path in enumerate(new)}
    return found


def records_of(db: DuckDBPyConnection, ids: Sequence[str]) -> list[CommitRecord]:
    """Return those commits that are stored, to be stored elsewhere; in the order of the ids."""
    import numpy as np

    known = numbers_of(db, ids)
    numbers = integers(known.values())
    changes: dict[int, list[tuple[str, str, str]]] = {}
    for number, path, status, old in run(
        db,
        [numbers],
        "SELECT commit_number, new.path, status, old.path FROM commit_paths"
        " SEMI JOIN columns ON commit_number = column0 JOIN changed_paths AS new USING (changed_path)"
        " LEFT JOIN changed_paths AS old ON old.changed_path = moved_from ORDER BY ALL",
    ).fetchall():
        change = (decode_path(path), chr(status), "" if old is None else decode_path(old))
        changes.setdefault(number, []).append(change)
    words = run(
        db,
        [numbers],
        "SELECT commit_number, term, tf FROM message_postings SEMI JOIN columns ON commit_number = column0"
        " ORDER BY commit_number, term",
    ).fetchnumpy()
    begin, end = (np.searchsorted(words["commit_number"], numbers, side) for side in ("left", "right"))
    of = dict(zip(numbers.tolist(), zip(begin.tolist(), end.tolist(), strict=True), strict=True))
    rows = run(
        db,
        [numbers],
        "SELECT commit_number, id, parents, authored, committed, author, message, changed, length"
        " FROM commits SEMI JOIN columns ON commit_number = column0",
    ).fetchall()
    found: dict[str, CommitRecord] = {}
    for number, own, parents, authored, committed, author, message, changed, length in rows:
        said = slice(*of[number])
        found[bytes(own).hex()] = CommitRecord(
            id=bytes(own).hex(),
            parents=parents,
            authored=authored,
            committed=committed,
            author=author,
            message=message,
            changed=changed,
            changes=changes.get(number, []),
            terms=words["term"][said],
            frequencies=words["tf"][said],
            length=length,
        )
    return [found[each] for each in ids if each in found]


def write_history(db: DuckDBPyConnection, commit: str, ids: Sequence[str]) -> None:
    """Store which commits are reachable from a commit, newest first, as far as they are stored."""
    import numpy as np

    known = numbers_of(db, ids)
    order = [known[each] for each in ids if each in known]
    moved = _moved(db, order)
    paths, lengths, telling, mean_length = _lengths(db, order)
    row = db.execute("SELECT committed FROM commits WHERE commit_number = ?", order[:1] or [0]).fetchone()
    latest = int(row[0]) if row else 0
    values = [
        bytes.fromhex(commit),
        runs_of(order),
        np.array(list(moved.items()), dtype="<i4").tobytes(),
        paths.astype("<i4").tobytes(),
        lengths.astype("<f4").tobytes(),
        telling,
        mean_length,
        latest,
    ]
    db.execute("DELETE FROM histories WHERE id = ?", [values[0]])
    db.execute("INSERT INTO histories VALUES (?, ?, ?, ?, ?, ?, ?, ?, now())", values)
    db.execute(
        f"DELETE FROM histories WHERE NOT ({_OF_VIEWS})"
        f" AND id NOT IN (SELECT id FROM histories ORDER BY made DESC, id LIMIT {_KEPT_BESIDE})"
    )


def runs_of(numbers: Sequence[int]) -> bytes:
    """Pack numbers as runs: the begin and the size of each, ascending."""
    import numpy as np

    ascending = np.unique(np.array(numbers, dtype=np.int32))
    begins = np.flatnonzero(np.diff(ascending, prepend=-1) != 1)
    sizes = np.diff(begins, append=len(ascending))
    return np.stack([ascending[begins], sizes], axis=1).astype("<i4").tobytes()


def _moved(db: DuckDBPyConnection, newest_first: Sequence[int]) -> dict[int, int]:
    """Return the last path that each old path was moved to."""
    rows = run(
        db,
        [integers(newest_first)],
        "SELECT commit_number, moved_from, changed_path FROM commit_paths"
        " SEMI JOIN columns ON commit_number = column0 WHERE moved_from <> 0",
    ).fetchall()
    place = {number: i for i, number in enumerate(newest_first)}
    moved: dict[int, int] = {}
    for _number, old, new in sorted(rows, key=lambda row: (place[row[0]], row[1:])):
        last = moved.get(new, new)
        if last != old:
            moved.setdefault(old, last)
    return moved


def _lengths(
    db: DuckDBPyConnection, numbers: Sequence[int]
) -> tuple[NDArray[np.int32], NDArray[np.float32], int, float]:
    """Return paths, the length of the messages about each, how many commits there are, their mean length."""
    columns = [integers(numbers)]
    of = f"FROM commits SEMI JOIN columns ON commit_number = column0 WHERE {_TELLING}"
    row = run(db, columns, f"SELECT count(*), coalesce(avg(length), 0) {of}").fetchone()
    found = run(
        db,
        columns,
        f"SELECT changed_path, sum(length / sqrt(changed)) AS length FROM (SELECT * {of})"
        " JOIN commit_paths USING (commit_number) GROUP BY changed_path ORDER BY changed_path",
    ).fetchnumpy()
    return found["changed_path"], found["length"], *(row or (0, 0.0))


def messages(
    db: DuckDBPyConnection,
    scope: SearchScope,
    commit: str,
    terms: Sequence[int],
    vector: NDArray[np.float32] | None = None,
    memo: Memo | None = None,
) -> Messages | None:
    """Find what the messages of a commit's history say about a question and a scope's files.

    Args:
        db: An open connection; reading is enough.
        scope: What the question may find.
        commit: The commit that is asked.
        terms: The question's hashed terms.
        vector: Its vector, float32 (384,), L2-normalised; None to go by words alone.
        memo: Cache for the next question.

    Returns:
        None where the history has not been read.
    """
    import numpy as np

    memo = memo or Memo()
    history = memo.get(("history", commit), lambda: _read_history(db, commit))
    if history is None:
        return None
    file_of = _files_of(db, scope, history, memo)
    found = with_terms(db, "message_postings", terms, memo)
    ours = _among(history.reached, found["commit_number"])
    every = memo.get("telling", lambda: _telling(db))
    numbers, which = every["commit_number"], found["commit_number"]
    row = np.minimum(np.searchsorted(numbers, which), max(len(numbers) - 1, 0))
    ours &= numbers[row] == which if len(numbers) else False
    rows, at = np.unique(row[ours], return_inverse=True)
    changes = memo.get("commit_paths", lambda: _changes(db))
    begin = np.searchsorted(changes["commit_number"], numbers[rows], "left")
    many = np.searchsorted(changes["commit_number"], numbers[rows], "right") - begin
    file = file_of[changes["changed_path"][runs(begin, many)]]
    files = np.bincount(np.repeat(np.arange(len(rows)), many)[file >= 0], minlength=len(rows))
    own = file_of[history.paths]
    meaning, meant = np.empty(0, np.float32), np.empty(0, np.int32)
    if vector is not None:
        signs, said, about = memo.get(("meaning", commit), lambda: _subjects(db, history, every, changes))
        meaning, meant = nearness(signs, vector, said, file_of[about])
    return Messages(
        term=found["place"][ours],
        commit=at.astype(np.int32),
        frequency=found["tf"][ours].astype(np.int32),
        age_s=np.maximum(history.latest - every["committed"][rows], 0),
        changed=every["changed"][rows],
        length=every["length"][rows],
        first=np.cumsum(files) - files,
        files=files,
        file=file[file >= 0].astype(np.int32),
        file_length=np.bincount(own[own >= 0], history.lengths[own >= 0], len(scope.files)).astype(
            np.float32
        ),
        telling=history.telling,
        mean_length=history.mean_length,
        meaning=meaning,
        meant=meant,
    )


def nearness(
    signs: NDArray[np.uint64], vector: NDArray[np.float32], said: NDArray[np.int32], file: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Return ``Messages.meaning`` and ``meant``.

    Args:
        signs: uint64 (6, n), the signs of the drafts of subjects.
        vector: The question's vector.
        said: int32 (m,), a subject and a file that its commit changed: which subject.
        file: int64 (m,), the number of the file; -1 for none.
    """
    import numpy as np

    near = vectors.estimated(signs, vectors.sign_sums(vector))
    there = file >= 0
    middle = np.float32(np.median(near) if len(near) else 0)
    return near[said[there]] - middle, file[there].astype(np.int32)


def _subjects(
    db: DuckDBPyConnection,
    history: _History,
    every: dict[str, NDArray[Any]],
    changes: dict[str, NDArray[Any]],
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32]]:
    """Read the drafts of a history's subjects, of commits that change few paths.

    Returns:
        Their signs, uint64 (6, n); and, a row for each path that one of them changes, which it is and the
        number of the path.
    """
    import numpy as np

    drafts = commit_drafts.read(db)
    few = every["commit_number"][every["changed"] <= FEW_PATHS]
    ours = np.flatnonzero(_among(history.reached, drafts.number) & np.isin(drafts.number, few))
    ours = ours[np.argsort(drafts.number[ours])]
    place, row = matches(drafts.number[ours], changes["commit_number"])
    signs = np.stack([column[ours] for column in drafts.signs])
    return signs, row.astype(np.int32), changes["changed_path"][place]


class Reachable(Struct, frozen=True):
    """The commits of a history, and which of them have terms of a question.

    Attributes:
        number: int32 (c,), ascending.
        committed: int64 (c,), Unix seconds.
        length: int32 (c,), length of each message in terms.
        term: int32 (q,), index of a term in the question.
        commit: int64 (q,), place of the commit whose message has it.
        frequency: int32 (q,), how often.
    """

    number: NDArray[np.int32]
    committed: NDArray[np.int64]
    length: NDArray[np.int32]
    term: NDArray[np.int32]
    commit: NDArray[np.int64]
    frequency: NDArray[np.int32]


def reachable(
    db: DuckDBPyConnection, memo: Memo, commit: str, terms: Sequence[int], ancestor: str | None = None
) -> Reachable | None:
    """Return the commits that a commit leads to, itself included; None where that has not been read.

    Args:
        db: An open connection; reading is enough.
        memo: What is cached of this state of the index: of one that is kept in memory, the postings.
        commit: The commit.
        terms: Hashed terms.
        ancestor: A commit that it leads to, whose history counts too as far as it has been read.
    """
    import numpy as np

    histories = [_read_history(db, each) for each in dict.fromkeys([commit, ancestor or commit])]
    reached = [history.reached for history in histories if history is not None]
    if histories[0] is None:
        return None

    def among(numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
        ours = [_among(each, numbers) for each in reached]
        return ours[0] | ours[-1]

    every = _by_commit(db.execute("SELECT commit_number, committed, length FROM commits").fetchnumpy())
    ours = among(every["commit_number"])
    number = every["commit_number"][ours]
    found = with_terms(db, "message_postings", terms, memo)
    own = among(found["commit_number"])
    return Reachable(
        number=number,
        committed=every["committed"][ours],
        length=every["length"][ours],
        term=found["place"][own],
        commit=np.searchsorted(number, found["commit_number"][own]),
        frequency=found["tf"][own].astype(np.int32),
    )


OLDER = 1 << 30
"""Added to the numbers of older commits, which are in an index of their own."""


def joined(newest: Reachable, older: Reachable) -> Reachable:
    """Return the commits of two indexes; those of the second have `OLDER` added to their numbers."""
    import numpy as np

    return Reachable(
        number=np.concatenate([newest.number, older.number + np.int32(OLDER)]),
        committed=np.concatenate([newest.committed, older.committed]),
        length=np.concatenate([newest.length, older.length]),
        term=np.concatenate([newest.term, older.term]),
        commit=np.concatenate([newest.commit, older.commit + len(newest.number)]),
        frequency=np.concatenate([newest.frequency, older.frequency]),
    )


class StoredCommit(Struct, frozen=True):
    """A commit as it is stored.

    Attributes:
        id: Its object id.
        author: The author's name.
        authored: When it was written, Unix seconds.
        message: Its message, cut.
        changed: How many paths it changes.
        paths: Those; of a commit of very many not all.
    """

    id: str
    author: str
    authored: int
    message: str
    changed: int
    paths: tuple[str, ...]


def read_stored(db: DuckDBPyConnection, numbers: Sequence[int]) -> dict[int, StoredCommit]:
    """Return commits by their numbers."""
    columns = [integers(numbers)]
    paths: dict[int, list[str]] = {}
    changed = run(
        db,
        columns,
        "SELECT commit_number, path FROM commit_paths SEMI JOIN columns ON commit_number = column0"
        " JOIN changed_paths USING (changed_path) ORDER BY ALL",
    ).fetchall()
    for number, path in changed:
        paths.setdefault(number, []).append(decode_path(path))
    rows = run(
        db,
        columns,
        "SELECT commit_number, id, author, authored, message, changed FROM commits"
        " SEMI JOIN columns ON commit_number = column0",
    ).fetchall()
    return {
        number: StoredCommit(bytes(own).hex(), who, wrote, text, many, tuple(paths.get(number, ())))
        for number, own, who, wrote, text, many in rows
    }


def by_author(db: DuckDBPyConnection, part: str) -> NDArray[np.int32]:
    """Return the numbers of the commits whose author's name has a part, in any case."""
    sql = "SELECT commit_number FROM commits WHERE contains(lower(author), lower(?))"
    found: NDArray[np.int32] = run(db, [], sql, [part]).fetchnumpy()["commit_number"]
    return found


def all_paths(db: DuckDBPyConnection) -> list[str]:
    """Return every path that a commit changes."""
    return [decode_path(path) for (path,) in db.execute("SELECT path FROM changed_paths").fetchall()]


def changing(db: DuckDBPyConnection, paths: Sequence[str]) -> NDArray[np.int32]:
    """Return the numbers of the commits that change one of some paths."""
    rows = run(
        db,
        [objects(encode_path(path) for path in paths)],
        "SELECT DISTINCT commit_number FROM changed_paths SEMI JOIN columns ON path = column0"
        " JOIN commit_paths USING (changed_path)",
    ).fetchnumpy()
    found: NDArray[np.int32] = rows["commit_number"]
    return found


def latest_changing(
    db: DuckDBPyConnection, commit: str, paths: Sequence[str]
) -> dict[str, tuple[int, StoredCommit]]:
    """Return for each of some paths how many commits of a history changed it, and the newest one.

    Merges do not count, nor does what a path was called before. A path is missing that none changed, or where
    the history has not been read.
    """
    import numpy as np

    history = _read_history(db, commit)
    if history is None:
        return {}
    rows = run(
        db,
        [objects(encode_path(path) for path in paths)],
        "SELECT path, commit_number, committed FROM changed_paths SEMI JOIN columns ON path = column0"
        " JOIN commit_paths USING (changed_path) JOIN commits USING (commit_number)"
        " WHERE parents < 2 ORDER BY committed DESC, commit_number",
    ).fetchall()
    ours = _among(history.reached, np.array([number for _, number, _ in rows], dtype=np.int32))
    found: dict[str, list[int]] = {}
    for path, number, _ in (row for row, own in zip(rows, ours.tolist(), strict=True) if own):
        found.setdefault(decode_path(path), []).append(number)
    stored = read_stored(db, [numbers[0] for numbers in found.values()])
    return {path: (len(numbers), stored[numbers[0]]) for path, numbers in found.items()}


class PastChanges(Struct, frozen=True):
    """The commits that changed some paths, and what else they changed; a row for each commit and path.

    Attributes:
        age: int64 (r,), how many commits of the history are newer than the row's; ascending.
        path: int32 (r,), place of the path in ``paths``.
        paths: The paths.
        searched: How many commits of the history there are.
    """

    age: NDArray[np.int64]
    path: NDArray[np.int32]
    paths: Sequence[str]
    searched: int


def changes_with(
    db: DuckDBPyConnection, commit: str, paths: Sequence[str], without: Sequence[str] = ()
) -> PastChanges | None:
    """Return the commits of a history that changed some paths, and what else they changed.

    Merges do not count, since what they bring has commits of its own; nor do commits of very many paths. A
    path that was moved has its last name.

    Args:
        db: An open connection; reading is enough.
        commit: The commit whose history it is.
        paths: The paths.
        without: Commits of it that do not count.

    Returns:
        None where the history has not been read.
    """
    import numpy as np

    history = _read_history(db, commit)
    if history is None:
        return None
    every = db.execute(
        f"SELECT commit_number, committed FROM commits WHERE parents < 2 AND {_TELLING}"
    ).fetchnumpy()
    number = every["commit_number"]
    left_out = list(numbers_of(db, without).values())
    ours = _among(history.reached, number) & ~np.isin(number, left_out)
    newest_first = np.lexsort((-number[ours], -every["committed"][ours]))
    number = number[ours][newest_first]
    known = run(
        db,
        [objects(encode_path(path) for path in paths)],
        "SELECT changed_path FROM changed_paths SEMI JOIN columns ON path = column0",
    ).fetchnumpy()["changed_path"]
    old, new = history.moved.T
    seeds = np.union1d(known, old[np.isin(new, known)])
    rows = run(
        db,
        [seeds.astype(np.int32)],
        "SELECT commit_number, changed_path FROM commit_paths WHERE commit_number IN"
        " (SELECT commit_number FROM commit_paths SEMI JOIN columns ON changed_path = column0)",
    ).fetchnumpy()
    order = np.argsort(number)
    at = np.minimum(np.searchsorted(number, rows["commit_number"], sorter=order), max(len(number) - 1, 0))
    kept = number[order[at]] == rows["commit_number"] if len(number) else np.zeros(len(at), dtype=bool)
    moved = ~np.isin(old, known)  # what was moved away and is there again is a path of its own
    age, path = order[at[kept]], _last_names(rows["changed_path"][kept], old[moved], new[moved])
    once = np.unique(np.stack([age, path]), axis=1)
    names, place = np.unique(once[1], return_inverse=True)
    texts = dict(
        run(
            db,
            [names.astype(np.int32)],
            "SELECT changed_path, path FROM changed_paths SEMI JOIN columns ON changed_path = column0",
        ).fetchall()
    )
    return PastChanges(
        age=once[0].astype(np.int64),
        path=place.reshape(-1).astype(np.int32),
        paths=[decode_path(texts[name]) for name in names.tolist()],
        searched=len(number),
    )


def _last_names(
    paths: NDArray[np.int32], old: NDArray[np.int32], new: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the number of the path that each was moved to; its own where it was not."""
    import numpy as np

    if not len(old):
        return paths
    order = np.argsort(old)
    place = np.minimum(np.searchsorted(old, paths, sorter=order), len(old) - 1)
    return np.where(old[order[place]] == paths, new[order[place]], paths)


def activity(db: DuckDBPyConnection, scope: SearchScope, commit: str, files: Sequence[int]) -> list[float]:
    """Return how many commits changed each of some files, one a year old counting half; 0 without history.

    Args:
        db: An open connection; reading is enough.
        scope: The scope that has the files.
        commit: The commit that is asked.
        files: Numbers of the files.
    """
    import numpy as np

    history = _read_history(db, commit)
    if history is None:
        return [0.0] * len(files)
    rows = run(
        db,
        [integers(scope.files.path_id[list(files)].tolist())],
        "SELECT path_id, commit_number, committed FROM changed_paths SEMI JOIN columns ON path_id = column0"
        f" JOIN commit_paths USING (changed_path) JOIN commits USING (commit_number) WHERE {_TELLING}",
    ).fetchnumpy()
    age_s = np.maximum(history.latest - rows["committed"], 0)
    counts = np.exp2(-age_s / _YEAR_S) * _among(history.reached, rows["commit_number"])
    return [float(counts[rows["path_id"] == scope.files.path_id[file]].sum()) for file in files]


class _History(Struct, frozen=True):
    """A row of ``histories``."""

    reached: NDArray[np.int32]
    moved: NDArray[np.int32]
    paths: NDArray[np.int32]
    lengths: NDArray[np.float32]
    telling: int
    mean_length: float
    latest: int


def _read_history(db: DuckDBPyConnection, commit: str) -> _History | None:
    import numpy as np

    row = db.execute(
        "SELECT commits, moved, paths, lengths, telling, mean_length, latest FROM histories WHERE id = ?",
        [bytes.fromhex(commit)],
    ).fetchone()
    if row is None:
        return None
    return _History(
        np.frombuffer(row[0], dtype="<i4").reshape(-1, 2),
        np.frombuffer(row[1], dtype="<i4").reshape(-1, 2),
        np.frombuffer(row[2], dtype="<i4"),
        np.frombuffer(row[3], dtype="<f4"),
        *row[4:],
    )


def _files_of(db: DuckDBPyConnection, scope: SearchScope, history: _History, memo: Memo) -> NDArray[np.int64]:
    """Return the file of each changed path in a scope, by its number; -1 for none.

    A path that was moved has the file that it is now, unless it is one itself again.
    """
    import numpy as np

    known = memo.get(
        "changed_paths",
        lambda: db.execute(
            "SELECT changed_path, path_id FROM changed_paths ORDER BY changed_path"
        ).fetchnumpy(),
    )
    own, wanted = scope.files.path_id, known["path_id"]
    file_of = np.full(1 + int(known["changed_path"].max(initial=0)), -1)
    place = np.minimum(np.searchsorted(own, wanted), len(own) - 1)
    file_of[known["changed_path"]] = np.where(own[place] == wanted, place, -1)
    old, new = history.moved.T
    file_of[old] = np.where(file_of[old] < 0, file_of[new], file_of[old])
    return file_of


def _telling(db: DuckDBPyConnection) -> dict[str, NDArray[Any]]:
    """Read all commits that tell of single paths, by number."""
    columns = "commit_number, committed, changed, length"
    return _by_commit(db.execute(f"SELECT {columns} FROM commits WHERE {_TELLING}").fetchnumpy())


def _changes(db: DuckDBPyConnection) -> dict[str, NDArray[Any]]:
    """Read which paths commits change, by commit."""
    return _by_commit(db.execute("SELECT commit_number, changed_path FROM commit_paths").fetchnumpy())


def _by_commit(rows: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Sort rows by commit, as they nearly always are: a millisecond less than where the database does it."""
    import numpy as np

    number = rows["commit_number"]
    if (number[1:] >= number[:-1]).all():
        return rows
    order = np.argsort(number, kind="stable")
    return {name: column[order] for name, column in rows.items()}


def _among(reached: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell which numbers are in runs, given the begin and the size of each, ascending."""
    import numpy as np

    if not len(reached):
        return np.zeros(len(numbers), dtype=bool)
    place = np.searchsorted(reached[:, 0], numbers, "right") - 1
    found: NDArray[np.bool_] = (place >= 0) & (numbers < reached[place].sum(axis=1))
    return found


def kept_histories(db: DuckDBPyConnection, since_s: float) -> list[str]:
    """Return the commits whose histories ``drop_unneeded`` keeps."""
    rows = db.execute(f"SELECT id FROM histories WHERE {_KEPT}", [since_s, []]).fetchall()
    return [bytes(own).hex() for (own,) in rows]


def count_unneeded(db: DuckDBPyConnection, since_s: float, kept: Sequence[str] = ()) -> int:
    """Count the commits that ``drop_unneeded`` would drop."""
    return int((~_needed(db, since_s, kept)[1]).sum())


def drop_unneeded(db: DuckDBPyConnection, since_s: float, kept: Sequence[str] = ()) -> None:
    """Drop the histories that no view has, unless read since then, and the commits in none.

    Args:
        db: An open connection, writing.
        since_s: Unix seconds.
        kept: Commits whose histories stay too.
    """
    numbers, needed = _needed(db, since_s, kept)
    db.execute(f"DELETE FROM histories WHERE NOT ({_KEPT})", [since_s, list(kept)])
    if needed.all():
        return
    columns = [numbers[~needed]]
    for table in ("commits", "message_postings", "commit_paths", "commit_drafts"):
        run(db, columns, f"DELETE FROM {table} WHERE commit_number IN (SELECT column0 FROM columns)")
    db.execute(
        "DELETE FROM changed_paths WHERE changed_path NOT IN"
        " (SELECT changed_path FROM commit_paths UNION ALL SELECT moved_from FROM commit_paths)"
    )


def _needed(
    db: DuckDBPyConnection, since_s: float, kept: Sequence[str]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Read the numbers of all commits, and tell which of them a history has that is kept."""
    import numpy as np

    rows = db.execute("SELECT commit_number FROM commits ORDER BY commit_number").fetchnumpy()
    numbers = rows["commit_number"]
    needed = np.zeros(len(numbers), dtype=bool)
    sql = f"SELECT commits FROM histories WHERE {_KEPT}"
    for (reached,) in db.execute(sql, [since_s, list(kept)]).fetchall():
        needed |= _among(np.frombuffer(reached, dtype="<i4").reshape(-1, 2), numbers)
    return numbers, needed


class BranchHistory(Struct, frozen=True):
    """What the commits of a history say about the files of a view: only commits that change few paths.

    Attributes:
        latest: Time of the commit whose history it is, Unix seconds.
        telling: How many of these commits there are.
        mean_length: Mean length of their messages.
        committed, changed, length: int64, int32, int32 (c,), of each: its time, paths changed, terms.
        signs: uint64 (c, 6), those of the draft of its subject; 0 where there is none.
        commit, place: int32 (p,), by commit: which of them changes which of the files.
        as_named: bool (p,), whether under the path that the file has now.
        file_length: float64 (f,), length of all messages of each file, of a commit of n paths 1/√n of it.
        term: uint64 (q,), hashed terms of messages.
        word_commit: int32 (q,), the commit whose message has it.
        word_frequency: int32 (q,), how often.
    """

    latest: int
    telling: int
    mean_length: float
    committed: NDArray[np.int64]
    changed: NDArray[np.int32]
    length: NDArray[np.int32]
    signs: NDArray[np.uint64]
    commit: NDArray[np.int32]
    place: NDArray[np.int32]
    as_named: NDArray[np.bool_]
    file_length: NDArray[np.float64]
    term: NDArray[np.uint64]
    word_commit: NDArray[np.int32]
    word_frequency: NDArray[np.int32]


def branch_history(
    db: DuckDBPyConnection, memo: Memo, scope: SearchScope, commit: str, place_of: NDArray[np.int64]
) -> BranchHistory | None:
    """Read a commit's history for somewhere else; None where it has not been read.

    Args:
        db: An open connection; reading is enough.
        memo: What is cached of this state of the index: of one that is kept in memory, the postings.
        scope: All files of the view.
        commit: The commit.
        place_of: int64 (f,), the place of each of the scope's files there.
    """
    import numpy as np

    history = _read_history(db, commit)
    if history is None:
        return None
    file_of = _files_of(db, scope, history, memo)
    place = np.where(file_of >= 0, place_of[file_of], -1)
    every = _telling(db)
    ours = _among(history.reached, every["commit_number"])
    number = every["commit_number"][ours]
    changes = _changes(db)
    at = np.minimum(np.searchsorted(number, changes["commit_number"]), max(len(number) - 1, 0))
    kept = place[changes["changed_path"]] >= 0
    kept &= number[at] == changes["commit_number"] if len(number) else False
    known = db.execute("SELECT changed_path, path_id FROM changed_paths").fetchnumpy()
    path_of = np.zeros(len(file_of), dtype=np.int64)
    path_of[known["changed_path"]] = known["path_id"]
    changed_path = changes["changed_path"][kept]
    every_word = memo.get("message_postings", lambda: read_postings(db, "message_postings"))
    order = np.lexsort((every_word["term"], every_word["commit_number"]))
    words = {name: column[order] for name, column in every_word.items()}
    own = np.minimum(np.searchsorted(number, words["commit_number"]), max(len(number) - 1, 0))
    said = number[own] == words["commit_number"] if len(number) else np.zeros(len(own), dtype=bool)
    of_path = place[history.paths]
    drafts = commit_drafts.read(db)
    row, drafted = matches(number, drafts.number)
    signs = np.zeros((len(number), len(drafts.signs)), dtype=np.uint64)
    signs[drafted] = np.stack(drafts.signs, axis=1)[row]
    return BranchHistory(
        latest=history.latest,
        telling=history.telling,
        mean_length=history.mean_length,
        committed=every["committed"][ours],
        changed=every["changed"][ours],
        length=every["length"][ours],
        signs=signs,
        commit=at[kept].astype(np.int32),
        place=place[changed_path].astype(np.int32),
        as_named=scope.files.path_id[file_of[changed_path]] == path_of[changed_path],
        file_length=np.bincount(of_path[of_path >= 0], history.lengths[of_path >= 0], len(place_of)).astype(
            np.float64
        ),
        term=words["term"][said],
        word_commit=own[said].astype(np.int32),
        word_frequency=words["tf"][said].astype(np.int32),
    )
