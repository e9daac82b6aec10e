"""What is kept between questions."""

from __future__ import annotations

import numpy as np

from gitrag.store.memo import Memo, Recent


def column(many: int) -> dict[str, np.ndarray]:
    return {"tf": np.zeros(many, dtype=np.uint8)}


def test_columns_are_kept_up_to_a_size_the_least_recently_used_dropped():
    recent = Recent(100)
    for key in ("a", "b"):
        recent.put(key, column(40))
    assert recent.get("a") is not None
    recent.put("c", column(40))
    assert [key for key in "abc" if recent.get(key) is not None] == ["a", "c"]


def test_columns_larger_than_all_that_may_be_kept_are_not():
    recent = Recent(100)
    recent.put("a", column(101))
    assert recent.get("a") is None
    recent.put("b", column(100))
    assert recent.get("b") is not None


def test_columns_put_twice_count_once():
    recent = Recent(100)
    for _ in range(5):
        recent.put("a", column(40))
    recent.put("b", column(60))
    assert [len(found["tf"]) for key in "ab" if (found := recent.get(key))] == [40, 60]
    recent.put("a", column(10))
    recent.put("c", column(30))
    assert [key for key in "abc" if recent.get(key) is not None] == ["a", "b", "c"]


def test_what_was_asked_for_is_counted_by_key():
    memo = Memo(lasting=True)
    assert [memo.count("names"), memo.count("names"), memo.count("terms")] == [1, 2, 1]
