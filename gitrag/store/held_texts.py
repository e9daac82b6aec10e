"""Which texts the files of a view need: of their chunks, and of their paths' words.

SQL would hash a row for each chunk; here a bit a text is set, 25 ms for 1.4 million chunks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitrag.late import np
from gitrag.store.columns import distinct, matches

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from gitrag.store.memo import Memo


_FEW_GROUPS = 8
"""So many groups are counted one by one: of half a million chunks each takes 5 ms, all at once 60 ms."""


def read_chunk_columns(db: DuckDBPyConnection, memo: Memo) -> dict[str, NDArray[np.int32]]:
    """Read all chunks' ids, ascending, contents, texts and lengths."""
    sql = "SELECT chunk_id, content_id, text_id, length FROM chunks ORDER BY chunk_id"
    return memo.get("chunks", lambda: db.execute(sql).fetchnumpy())


def _read_chunk_texts(db: DuckDBPyConnection, memo: Memo) -> dict[str, NDArray[np.int32]]:
    """Read contents and texts of all chunks in whatever order: in a third of the time."""
    sql = "SELECT content_id, text_id FROM chunks"
    return memo.known("chunks") or memo.get("texts of chunks", lambda: db.execute(sql).fetchnumpy())


def _read_path_texts(db: DuckDBPyConnection, memo: Memo) -> dict[str, NDArray[np.int32]]:
    sql = "SELECT path_id, text_id FROM paths"
    return memo.get("texts of paths", lambda: db.execute(sql).fetchnumpy())


def flags(ids: NDArray[Any], size: int) -> NDArray[np.bool_]:
    """Tell of each number below a size whether it is among some ids."""
    found = np.zeros(size, dtype=bool)
    found[ids[ids < size]] = True
    return found


def held_texts(
    db: DuckDBPyConnection, path_ids: NDArray[np.int32], content_ids: NDArray[np.int32], memo: Memo
) -> NDArray[np.bool_]:
    """Tell of each text id whether some paths or contents need it; 0 stands for no text."""
    chunks = _read_chunk_texts(db, memo)
    paths = _read_path_texts(db, memo)
    size = 1 + max(int(column.max(initial=0)) for column in (chunks["text_id"], paths["text_id"]))
    found = np.zeros(size, dtype=bool)
    for rows, key, ids in ((chunks, "content_id", content_ids), (paths, "path_id", path_ids)):
        own = flags(ids, 1 + int(rows[key].max(initial=0)))[rows[key]]
        found[rows["text_id"][own]] = True
    found[0] = False
    return found


def count_by_group(
    db: DuckDBPyConnection,
    path_ids: NDArray[np.int32],
    content_ids: NDArray[np.int32],
    groups: NDArray[np.intp],
    counted: NDArray[np.bool_],
    memo: Memo,
) -> NDArray[np.intp]:
    """Count the distinct texts that each group of files needs.

    Args:
        path_ids: The files' paths, int32 (n,).
        content_ids: Their contents, int32 (n,).
        groups: The number of each file's group, (n,).
        counted: By text id, whether it counts; ids beyond the end do.
    """
    number = int(groups.max(initial=-1)) + 1
    if number <= _FEW_GROUPS:
        own = (groups == each for each in range(number))
        every = (held_texts(db, path_ids[each], content_ids[each], memo) for each in own)
        end = len(counted)
        counts = [
            np.count_nonzero(each[:end] & counted[: len(each)]) + np.count_nonzero(each[end:])
            for each in every
        ]
        return np.array(counts, dtype=np.intp)
    chunks = _read_chunk_texts(db, memo)
    paths = _read_path_texts(db, memo)
    parts = []
    for rows, key, ids in ((chunks, "content_id", content_ids), (paths, "path_id", path_ids)):
        text = rows["text_id"]
        asked = (text > 0) & (counted[np.minimum(text, len(counted) - 1)] | (text >= len(counted)))
        order = np.argsort(ids, kind="stable")
        row, place = matches(ids[order], rows[key][asked])
        parts.append(groups[order[place]].astype(np.int64) << 32 | text[asked][row])
    pairs = distinct(np.concatenate(parts))
    return np.bincount(pairs >> 32, minlength=number)
