"""Inline marks of hostile text take no time."""

from __future__ import annotations

import pytest

from gitrag.chunking import languages, prose
from gitrag.corpus import documents

pytestmark = pytest.mark.timeout(60)  # unbounded, a megabyte takes forty minutes


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [documents._MARKS, prose._INLINE_MARKS])
@pytest.mark.parametrize("hostile", ["[", "<", "[a](", "`a", "*", "![" * 2, "<a"])
def test_a_megabyte_of_opening_marks_is_read_in_time(pattern, hostile: str):
    text = hostile * (1_000_000 // len(hostile))
    assert pattern.sub("", text) is not None


@pytest.mark.parametrize("pattern", [documents._HEADING, prose._ATX])
@pytest.mark.parametrize("filler", [" ", " #", "#", "\t", "# "])
def test_a_heading_of_a_megabyte_is_read_in_time(pattern, filler: str):
    assert pattern.match("# a" + filler * (1_000_000 // len(filler)) + "x")


def test_a_shebang_of_a_megabyte_is_read_in_time():
    assert languages._VERSION.sub("", "x" + "." * 1_000_000 + "x").startswith("x.")


def test_marks_are_taken_off():
    assert documents.plain("The [name](https://x.org/y) of `a` <b>thing</b>") == "The name of a thing"
