"""What commits say as draft vectors: their signs only, 48 bytes each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.late import np
from gitrag.model import DIMENSIONS
from gitrag.store import vectors
from gitrag.store.columns import integers, run

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


class Drafts(Struct, frozen=True):
    """The drafts of an index.

    Attributes:
        number: int32 (n,), the commits.
        signs: uint64 (n,), six columns.
    """

    number: NDArray[np.int32]
    signs: tuple[NDArray[np.uint64], ...]


def read(db: DuckDBPyConnection, added: int = 0) -> Drafts:
    """Read all drafts, with something added to the numbers of the commits."""
    rows = db.execute(f"SELECT commit_number, {', '.join(_SIGNS)} FROM commit_drafts").fetchnumpy()
    return Drafts(rows["commit_number"] + np.int32(added), tuple(rows[name] for name in _SIGNS))


def nearest(
    drafts: Sequence[Drafts], numbers: NDArray[np.int32], asked: NDArray[np.float32], most: int
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
    for each in drafts:
        ours = np.isin(each.number, numbers)
        own.append(each.number[ours])
        differing = np.zeros(len(own[-1]), dtype=np.int64)
        for column, bits in zip(each.signs, wanted, strict=True):
            differing += np.bitwise_count(column[ours] ^ bits)
        apart.append(differing)
    found = np.concatenate(own)
    order = np.lexsort((found, np.concatenate(apart)))[:most]
    return found[order], len(numbers) - len(found)
