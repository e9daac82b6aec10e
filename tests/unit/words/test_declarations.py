"""Which files only declare, and what implements them."""

from __future__ import annotations

import pytest

from gitrag.words.declarations import implementations


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("include/panel.h", "panel.c"),
        ("include/sinks/file.h", "file-inl.h"),
        ("include/cli/App.hpp", "App_inl.hpp"),
        ("src/ranges.pyi", "ranges.py"),
        ("types/client.d.ts", "client.ts"),
        ("lib/set.mli", "set.ml"),
    ],
)
def test_a_declaration_has_implementations(path, name):
    assert name in implementations(path)


@pytest.mark.parametrize(
    "path", ["panel.c", "file-inl.h", "impl/App_inl.hpp", "ranges.py", "client.ts", ".h", "d.ts", "README"]
)
def test_an_implementation_has_none(path):
    assert not implementations(path)
