from __future__ import annotations

import pytest

from gitrag.git import Change, Rules
from gitrag.indexing.difference import decide as decide_changes
from gitrag.model import Skip, TreeEntry
from gitrag.store.views import EntryRecord

BLOB = "a" * 40
FILE, SYMLINK, SUBMODULE = 0o100644, 0o120000, 0o160000
NO_RULES = Rules.build({})


def present(path: str, mode: int = FILE, skip: Skip | None = None) -> Change:
    return Change(path, TreeEntry(path, BLOB, mode), skip)


def decide(*changes: Change, rules: Rules = NO_RULES, first_line: str = "", too_large: bool = False):
    return decide_changes(changes, rules, lambda _entry: first_line, lambda _entry, _most: too_large)


def test_what_is_gone_is_removed_and_what_is_there_is_added():
    found = decide(Change("old.py", None), present("new.py"), present("doc.md"))
    assert found.removed == ("old.py",)
    assert found.added == (EntryRecord("new.py", BLOB, "python"), EntryRecord("doc.md", BLOB, "markdown"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (present("link.py", SYMLINK), Skip.SYMLINK),
        (present("module", SUBMODULE), Skip.SUBMODULE),
        (present("poetry.lock"), Skip.LOCK_FILE),
        (present("kept/out.py"), Skip.IGNORED),
        (present("big.py", skip=Skip.TOO_LARGE), Skip.TOO_LARGE),
        (present("locked.py", skip=Skip.UNREADABLE), Skip.UNREADABLE),
    ],
    ids=lambda value: str(value) if isinstance(value, Skip) else "",
)
def test_what_is_left_out_is_recorded_with_its_reason(change: Change, why: Skip):
    found = decide(change, rules=Rules.build({".gitragignore": b"kept/\n"}))
    assert found.added == (EntryRecord(change.path, BLOB, None, why.value),)


def test_a_large_file_is_left_out_by_its_path():
    assert decide(present("a.py"), too_large=True).added == (
        EntryRecord("a.py", BLOB, None, Skip.TOO_LARGE.value),
    )


def test_a_file_without_a_suffix_is_known_by_its_first_line():
    found = decide(present("bin/run"), present("a.go"), first_line="#!/usr/bin/env python3")
    assert [entry.language for entry in found.added] == ["python", "go"]


@pytest.mark.parametrize(
    ("path", "said", "language"),
    [
        ("a.dat", "Perl", "perl"),
        ("a.py", "Ruby", "ruby"),
        ("a.sql", "PLpgSQL", ".sql"),
        ("tsconfig.json", "JSON-with-Comments", ".json"),
        ("a.odd", "Odd", None),
        ("a.ipynb", "Python", "notebook"),
        ("a.ipynb", "Jupyter-Notebook", "notebook"),
    ],
)
def test_the_attribute_says_the_language_where_we_know_it_and_never_that_of_a_notebook(path, said, language):
    rules = Rules.build({".gitattributes": f"{path} linguist-language={said}\n".encode()})
    assert [entry.language for entry in decide(present(path), rules=rules).added] == [language]


def test_only_what_must_be_is_read():
    def refuse(entry: TreeEntry) -> str:
        raise AssertionError(f"{entry.path} was read")

    changes = [present("a.py"), present("go.sum"), present("link", SYMLINK), Change("run", None)]
    assert len(decide_changes(changes, NO_RULES, refuse, lambda _entry, _wanted: False).added) == 3


def test_the_same_changes_give_the_same_plan():
    changes = (present("b.py"), Change("a.py", None), present("a.go"))
    assert decide(*changes) == decide(*changes)
