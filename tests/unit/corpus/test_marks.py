"""Inline marks of hostile text take no time."""

from __future__ import annotations

import pytest

from gitrag.chunking import languages, prose
from gitrag.corpus import documents

pytestmark = pytest.mark.timeout(60)  # unbounded, a megabyte takes forty minutes, a third of it four

LONG = 300_000


@pytest.mark.sweep(keep=4)
@pytest.mark.slow
@pytest.mark.parametrize("pattern", [documents._MARKS, prose._INLINE_MARKS])
@pytest.mark.parametrize("hostile", ["[", "<", "[a](", "`a", "*", "![" * 2, "<a"])
def test_very_many_opening_marks_are_read_in_time(pattern, hostile: str):
    text = hostile * (LONG // len(hostile))
    assert pattern.sub("", text) is not None


@pytest.mark.parametrize("pattern", [documents._HEADING, prose._ATX])
@pytest.mark.parametrize("filler", [" ", " #", "#", "\t", "# "])
def test_a_very_long_heading_is_read_in_time(pattern, filler: str):
    assert pattern.match("# a" + filler * (LONG // len(filler)) + "x")


def test_a_very_long_shebang_is_read_in_time():
    assert languages._VERSION.sub("", "x" + "." * LONG + "x").startswith("x.")


def test_marks_are_taken_off():
    assert documents.plain("The [name](https://x.org/y) of `a` <b>thing</b>") == "The name of a thing"
