"""What a store is asked: the statements that DuckDB runs, as they are run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gitrag.store.connection import Store

Statement = tuple[str, str, str]
"""SQL, its parameters, and the columns it reads from NumPy (``gitrag.store.columns``)."""


class _Watched:
    """A connection that notes what it executes."""

    def __init__(self, db: Any, noted: list[Statement]) -> None:
        self._db = db
        self._noted = noted

    def execute(self, sql: str, *parameters: Any) -> Any:
        columns = sys._getframe(1).f_locals.get("columns")  # DuckDB looks for it in the frame that calls it
        given = "" if columns is None else repr([column.tolist() for column in columns])
        self._noted.append((" ".join(sql.split()), repr(parameters), given))
        return self._db.execute(sql, *parameters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)


@contextmanager
def noted_statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Statement]]:
    """Note what every store is asked while the block runs."""
    noted: list[Statement] = []
    with monkeypatch.context() as patch:
        for name in ("read", "write"):
            patch.setattr(Store, name, _watching(getattr(Store, name), noted))
        yield noted


def _watching(opened: Any, noted: list[Statement]) -> Any:
    @contextmanager
    def watch(store: Store, *args: Any, **options: Any) -> Iterator[_Watched]:
        with opened(store, *args, **options) as db:
            yield _Watched(db, noted)

    return watch
