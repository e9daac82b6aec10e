"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re

from gitrag.late import late_re


def test_a_late_re_finds_what_a_compiled_one_finds():
    given = r"(?P<first>\w)b|c", re.IGNORECASE
    late, compiled = late_re(*given), re.compile(*given)
    assert late.sub("-", "xAB, c") == compiled.sub("-", "xAB, c") == "x-, -"
    assert late.search("xAB")["first"] == "A"
    assert (late.pattern, late.flags) == (compiled.pattern, compiled.flags)
