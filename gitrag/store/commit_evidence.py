"""What the commits of a history say of the files that a question may find."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gitrag.late import np
from gitrag.model import DIMENSIONS
from gitrag.store import vectors
from gitrag.store.candidates import read_postings, with_terms
from gitrag.store.columns import integers, matches, run, runs
from gitrag.store.histories import TELLING, History, among, by_commit, read_history
from gitrag.store.memo import Memo
from gitrag.store.scopes import SearchScope

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

_SIGNS = tuple(f"b{i}" for i in range(DIMENSIONS // 64))
_UNDRAFTED = "FROM commits ANTI JOIN commit_drafts USING (commit_number)"


def count_undrafted(db: DuckDBPyConnection) -> int:
    row = db.execute(f"SELECT count(*) {_UNDRAFTED}").fetchone()
    return int(row[0]) if row else 0


def undrafted(db: DuckDBPyConnection, most: int) -> list[tuple[int, str]]:
    """Return number and message of commits without a draft."""
    sql = f"SELECT commit_number, message {_UNDRAFTED} ORDER BY commit_number LIMIT ?"
    return db.execute(sql, [most]).fetchall()


def write(db: DuckDBPyConnection, numbers: Sequence[int], drafts: NDArray[np.float32]) -> None:
    """Store the drafts, float32 (n, 384), of commits that are still there and have none."""
    run(
        db,
        [integers(numbers), *vectors.signs(drafts).T.copy()],
        "INSERT INTO commit_drafts SELECT * FROM columns ANTI JOIN commit_drafts ON commit_number = column0"
        " SEMI JOIN commits ON commits.commit_number = column0",
    )


_Drafts = tuple["NDArray[np.int32]", "tuple[NDArray[np.uint64], ...]"]
"""The drafts of an index: of which commits, int32 (n,), and their signs, six columns uint64 (n,)."""


def read(db: DuckDBPyConnection, added: int = 0) -> _Drafts:
    """Read all drafts, with something added to the numbers of the commits."""
    rows = db.execute(f"SELECT commit_number, {', '.join(_SIGNS)} FROM commit_drafts").fetchnumpy()
    return rows["commit_number"] + np.int32(added), tuple(rows[name] for name in _SIGNS)


def nearest(
    drafts: Sequence[_Drafts], numbers: NDArray[np.int32], asked: NDArray[np.float32], most: int
) -> tuple[NDArray[np.int32], int]:
    """Return the commits whose drafts have the most signs in common with a question's vector.

    Args:
        numbers: int32 (n,), ascending: the commits that may be found.
        asked: float32 (384,).

    Returns:
        Their numbers, the nearest first; and how many of those that may be found have no draft.
    """
    wanted = vectors.signs(asked.reshape(1, -1))[0]
    own: list[NDArray[np.int32]] = []
    apart: list[NDArray[np.int64]] = []
    for commits, signs in drafts:
        ours = np.isin(commits, numbers)
        own.append(commits[ours])
        differing = np.zeros(len(own[-1]), dtype=np.int64)
        for column, bits in zip(signs, wanted, strict=True):
            differing += np.bitwise_count(column[ours] ^ bits)
        apart.append(differing)
    found = np.concatenate(own)
    order = np.lexsort((found, np.concatenate(apart)))[:most]
    return found[order], len(numbers) - len(found)


FEW_PATHS = 12
"""Most paths of a commit whose subject counts by its meaning: of each of many it says less."""

_YEAR_S = 365 * 24 * 3600.0


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
        vector: Its vector, float32 (384,), L2-normalised; None to go by words alone.

    Returns:
        None where the history has not been read.
    """
    memo = memo or Memo()
    history = memo.get(("history", commit), lambda: read_history(db, commit))
    if history is None:
        return None
    file_of = _files_of(db, scope, history, memo)
    found = with_terms(db, "message_postings", terms, memo)
    ours = among(history.reached, found["commit_number"])
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
        said: int32 (m,), a subject and a file that its commit changed: which subject.
        file: int64 (m,), the number of the file; -1 for none.
    """
    near = vectors.estimated(signs, vectors.sign_sums(vector))
    there = file >= 0
    middle = np.float32(np.median(near) if len(near) else 0)
    return near[said[there]] - middle, file[there].astype(np.int32)


def _subjects(
    db: DuckDBPyConnection,
    history: History,
    every: dict[str, NDArray[Any]],
    changes: dict[str, NDArray[Any]],
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32]]:
    """Read the drafts of a history's subjects, of commits that change few paths.

    Returns:
        Their signs, uint64 (6, n); and, a row for each path that one of them changes, which it is and the
        number of the path.
    """
    drafted, signs = read(db)
    few = every["commit_number"][every["changed"] <= FEW_PATHS]
    ours = np.flatnonzero(among(history.reached, drafted) & np.isin(drafted, few))
    ours = ours[np.argsort(drafted[ours])]
    place, row = matches(drafted[ours], changes["commit_number"])
    return np.stack([column[ours] for column in signs]), row.astype(np.int32), changes["changed_path"][place]


def activity(db: DuckDBPyConnection, scope: SearchScope, commit: str, files: Sequence[int]) -> list[float]:
    """Return how many commits changed each of some files, one a year old counting half; 0 without history."""
    history = read_history(db, commit)
    if history is None:
        return [0.0] * len(files)
    rows = run(
        db,
        [integers(scope.files.path_id[list(files)].tolist())],
        "SELECT path_id, commit_number, committed FROM changed_paths SEMI JOIN columns ON path_id = column0"
        f" JOIN commit_paths USING (changed_path) JOIN commits USING (commit_number) WHERE {TELLING}",
    ).fetchnumpy()
    age_s = np.maximum(history.latest - rows["committed"], 0)
    counts = np.exp2(-age_s / _YEAR_S) * among(history.reached, rows["commit_number"])
    return [float(counts[rows["path_id"] == scope.files.path_id[file]].sum()) for file in files]


def _files_of(db: DuckDBPyConnection, scope: SearchScope, history: History, memo: Memo) -> NDArray[np.int64]:
    """Return the file of each changed path in a scope, by its number; -1 for none.

    A path that was moved has the file that it is now, unless it is one itself again.
    """
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
    return by_commit(db.execute(f"SELECT {columns} FROM commits WHERE {TELLING}").fetchnumpy())


def _changes(db: DuckDBPyConnection) -> dict[str, NDArray[Any]]:
    """Read which paths commits change, by commit."""
    return by_commit(db.execute("SELECT commit_number, changed_path FROM commit_paths").fetchnumpy())


class BranchHistory(Struct, frozen=True):
    """What the commits of a history say about the files of a view: only commits that change few paths.

    Attributes:
        latest: Time of the commit whose history it is, Unix seconds.
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
        place_of: int64 (f,), the place of each of the scope's files there.
    """
    history = read_history(db, commit)
    if history is None:
        return None
    file_of = _files_of(db, scope, history, memo)
    place = np.where(file_of >= 0, place_of[file_of], -1)
    every = _telling(db)
    ours = among(history.reached, every["commit_number"])
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
    commits, columns = read(db)
    row, drafted = matches(number, commits)
    signs = np.zeros((len(number), len(columns)), dtype=np.uint64)
    signs[drafted] = np.stack(columns, axis=1)[row]
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
