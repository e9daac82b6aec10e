"""``gitrag history``, ``why`` and ``impact`` on histories that nobody would make, but for harm."""

from __future__ import annotations

import json
import os

import pytest

from gitrag.errors import NOT_SET_UP, NOTHING, OK, USAGE
from tests.support.command import Project

MILLION = 1_000_000
ESCAPES = "Eve \x1b]0;owned\x07\x1b[31m"

ASKED = {
    "history": ("history", "peers"),
    "why": ("why", "net.py"),
    "impact": ("impact", "HEAD~1..HEAD"),
}


@pytest.fixture
def own(make_project) -> Project:
    return make_project({"net.py": "def ask_peers(first):\n    return first\n"})


def indexed(project: Project) -> Project:
    assert project.gitrag("index", "update", "--no-embed").status == OK
    return project


def said(project: Project, name: str, form: str = "json") -> str:
    """What a command prints on stdout, which it must without a traceback."""
    done = project.gitrag(*ASKED[name], "-o", form)
    assert done.status in {OK, NOTHING}, (name, done)
    assert "Traceback" not in done.err
    assert "\x1b" not in done.out + done.err
    if form == "json":
        json.loads(done.out)
    return done.out


def committed(project: Project, raw: bytes) -> None:
    """Make a raw object HEAD's commit."""
    made = project.git.git("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=raw)
    project.git.git("update-ref", "HEAD", made)


def raw_commit(project: Project, message: bytes, who: bytes = b"A <a@b> 1700000000 +0000", more: bytes = b""):
    """A commit on HEAD with its tree."""
    tree, parent = project.git.git("rev-parse", "HEAD^{tree}", "HEAD").split()
    head = f"tree {tree}\nparent {parent}\n".encode()
    return head + b"author " + who + b"\ncommitter " + who + b"\n" + more + b"\n" + message


def test_a_commit_of_a_million_lines(own):
    own.git.commit(
        {"big.py": "x = 1\n" * MILLION, "net.py": "def ask_peers(two):\n    return 2\n"}, "Ask peers"
    )
    indexed(own)
    out = {name: said(own, name) for name in ASKED}
    assert "1 file of code could not be compared" in out["impact"]


def test_a_message_of_three_megabytes(own):
    own.git.write({"net.py": "def ask_peers(two):\n    return 2\n"})
    own.git.git("add", "-A")
    own.git.git("commit", "-q", "-F", "-", stdin=b"Ask peers\n\nbecause " + b"of #7 " * 500_000)
    indexed(own)
    assert all(len(said(own, name)) < 20_000 for name in ASKED)


def test_a_merge_with_sixty_parents(own):
    tree, first = own.git.git("rev-parse", "HEAD^{tree}", "HEAD").split()
    parents = [
        own.git.git("commit-tree", tree, "-p", first, "-m", f"Ask peers {number}") for number in range(60)
    ]
    named = [part for each in parents for part in ("-p", each)]
    own.git.git("update-ref", "HEAD", own.git.git("commit-tree", tree, *named, "-m", "Merge peers"))
    indexed(own)
    for name in ASKED:
        said(own, name)


@pytest.mark.sweep(keep=4)
@pytest.mark.parametrize(
    ("message", "who", "more"),
    [
        (b"Ask peers \xff\xfe\n\nbecause \xe9\n", b"J\xf6rg <j@x> 1700000000 +0000", b""),
        (b"Ask peers \x83\n", b"A <a@b> 1700000000 +0000", b"encoding Shift_JIS\n"),
        (b"Ask peers\n", b"A <a@b> 1700000000 +0000", b"encoding no-such-encoding\n"),
        (b"Ask peers\n", ESCAPES.encode() + b" <e@x> 1700000000 +0000", b""),
        (b"Ask peers \x1b[2J\n\nbecause \x1b]8;;http://evil\x07\n", b"A <a@b> 1700000000 +0000", b""),
        (b"Ask peers\n", b"A <a@b> 0 +0000", b""),
        (b"Ask peers\n", b"A <a@b> 4102444800 +0000", b""),
        (b"Ask peers\n", b"A <a@b> 99999999999999999999 +9999", b""),
        (b"Ask peers\n", b"A <a@b> -5 +0000", b""),
        (b"Ask peers\n", b"nobody", b""),
    ],
)
def test_a_commit_with_strange_words_people_and_clocks(own, message, who, more):
    own.git.commit({"net.py": "def ask_peers(two):\n    return 2\n"}, "Two")
    strange = raw_commit(own, message, who, more).replace(
        f"parent {own.git.git('rev-parse', 'HEAD')}".encode(),
        f"parent {own.git.git('rev-parse', 'HEAD~1')}".encode(),
    )
    committed(own, strange)
    indexed(own)
    for name in ASKED:
        said(own, name)
    for form in ("text", "markdown"):
        said(own, "history", form)


def test_a_replaced_commit_is_told_of_as_it_was_made(own):
    wrong = own.git.commit({"net.py": "def ask_peers(two):\n    return 2\n"}, "Ask peers twice")
    committed(own, raw_commit(own, b"Ask nobody, which is a lie\n"))
    lie = own.git.git("rev-parse", "HEAD")
    own.git.git("update-ref", "HEAD", wrong)
    own.git.git("replace", "--force", wrong, lie)
    indexed(own)
    for name in ASKED:
        assert "lie" not in said(own, name), name


def test_grafts_do_not_change_what_is_said(own):
    own.git.commit({"net.py": "def ask_peers(two):\n    return 2\n"}, "Ask peers twice")
    indexed(own)
    before = {name: said(own, name) for name in ("history", "why")}
    head = own.git.git("rev-parse", "HEAD")
    own.git.write({".git/info/grafts": f"{head}\n"})
    assert {name: said(own, name) for name in ("history", "why")} == before
    done = own.gitrag(*ASKED["impact"])  # a range is what git takes it for
    assert (done.status, done.out) == (USAGE, "")
    assert "bad revision 'HEAD~1..HEAD'" in done.err


@pytest.mark.parametrize(("name", "status"), [("history", NOT_SET_UP), ("why", OK), ("impact", USAGE)])
def test_before_the_first_commit(make_project, name, status):
    project = make_project({})
    project.git.git("update-ref", "-d", "HEAD")
    project.git.write({"net.py": "x = 1\n"})
    project.gitrag("index", "update", "--no-embed")
    done = project.gitrag(*ASKED[name])
    assert done.status == status
    assert "Traceback" not in done.err


def test_a_file_name_that_is_no_text(own):
    own.git.commit({b"p\xff`\x1b[31m\npeers.py": "def ask_peers(x):\n    return x\n"}, "Ask peers")
    indexed(own)
    for name in ASKED:
        for form in ("json", "text", "markdown"):
            said(own, name, form)
    done = own.gitrag("why", os.fsdecode(b"p\xff`\x1b[31m\npeers.py"))
    assert done.status == OK
