"""Sources made to be costly are cut into windows, like any that does not parse."""

from __future__ import annotations

import pytest

from gitrag.chunking.chunker import chunk
from gitrag.chunking.languages import BY_NAME
from gitrag.chunking.parsing import MAX_ERROR_CHILDREN, GrammarError, matches, parse
from gitrag.model import Kind

WIDE = b"* & * & \n" * (MAX_ERROR_CHILDREN // 4 + 1)
"""In C all tokens of it are children of one error: a query takes the square of their number."""


def test_a_tree_that_is_one_wide_error_is_not_queried():
    language = BY_NAME["c"]
    with pytest.raises(GrammarError, match="did not parse"):
        matches(parse(WIDE, language), language)


def test_a_source_that_is_one_wide_error_is_cut_into_windows():
    found = chunk(WIDE, "c")
    assert {(each.kind, each.name) for each in found} == {(Kind.MODULE, "")}
    assert found[-1].line_end == len(WIDE.splitlines())


def test_a_long_table_is_no_error():
    table = b"int table[] = {\n" + b"1, 2, 3,\n" * MAX_ERROR_CHILDREN + b"};\nint after(void) { return 1; }\n"
    assert "after" in {each.name for each in chunk(table, "c")}
