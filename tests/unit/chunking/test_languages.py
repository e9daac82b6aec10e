"""Paths and first lines to languages."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gitrag.chunking import language_of, needs_first_line
from gitrag.chunking.languages import LANGUAGES


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"),
        ("App/Localizable.xcstrings", "json"),
        ("i18n/messages.de.xlf", "xml"),
        ("de.lproj/Localizable.stringsdict", "xml"),
        ("a/B.PY", "python"),
        ("a.d.ts", "typescript"),
        ("a.test.tsx", "tsx"),
        ("src/Makefile", "make"),
        ("Makefile.am", "make"),
        ("CMakeLists.txt", "cmake"),
        ("Dockerfile.dev", "dockerfile"),
        (".gitignore", "gitignore"),
        (".bashrc", "bash"),
        ("README", "text"),
        ("docs/intro.txt", "text"),
        ("build.gradle", "groovy"),
        ("a.unheard-of", None),
        ("bin/tool", None),
        ("a.py/tool", None),
    ],
)
def test_language_of_path(path, language):
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("#!/usr/bin/python3.11", "python"),
        ("#!/usr/bin/env python3", "python"),
        ("#! /usr/bin/env -S node --no-warnings", "javascript"),
        ("#!/usr/bin/env FOO=1 bash", "bash"),
        ("#!/bin/sh -e", "bash"),
        ("#!/usr/bin/env", None),
        ("#!", None),
        ("import os", None),
    ],
)
def test_language_of_first_line(line, language):
    assert language_of("bin/tool", line) == language


def test_a_suffix_beats_the_first_line():
    assert language_of("a.rb", "#!/usr/bin/env python3") == "ruby"


def test_only_a_name_that_says_nothing_needs_the_first_line():
    assert all(map(needs_first_line, ("bin/tool", ".tool")))
    assert not any(map(needs_first_line, ("a.py", "Makefile", "README", "a.foo", ".bashrc")))


def test_names_are_unique_and_suffixes_have_one_owner():
    names = [row.name for row in LANGUAGES]
    assert len(names) == len(set(names))
    for attribute in ("suffixes", "files", "interpreters"):
        words = [word for row in LANGUAGES for word in getattr(row, attribute).split()]
        assert sorted(words) == sorted(set(words))


def test_importing_the_room_loads_no_parser():
    code = "import sys, gitrag.chunking as c; c.language_of('a.py'); print('tree_sitter' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
