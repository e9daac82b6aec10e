"""``gitrag history``, as a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitrag.actions import catch_up
from gitrag.errors import NOT_SET_UP, NOTHING, OK, USAGE
from gitrag.indexing import history as newest_commits
from gitrag.indexing import older_commits
from tests.support.command import Gitrag, Project, user_environment
from tests.support.indexes import open_app
from tests.support.repository import create_repository

READ = (
    ", and none of those whose drafts are nearest to it is near in meaning;"
    " of each, the first 1,000 characters were looked at."
)

COMMITS = (
    (
        "net.py",
        "Ann",
        "Give up on a peer after three refusals\n\nIt asked for ever, because a peer may be gone.",
    ),
    ("disk.py", "Bea", "Write files in one step\n\nA crash left half a file."),
    ("lib/cache.py", "Ann", "Keep answers for a minute (#7)\n\nThe peer was asked fifty times a second."),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Project:
    """What ``own`` is copied from."""
    place = tmp_path_factory.mktemp("made")
    environment = user_environment(place / "home", model_dir)
    git = create_repository(place / "project", environment, {"README.md": "# Peers\n"})
    for path, author, message in COMMITS:
        git.environment["GIT_AUTHOR_NAME"] = author
        git.commit({path: f"# {path}\n"}, message)
    project = Project(git, Gitrag(git.path, environment))
    assert project.gitrag("index", "update", "--no-embed").status == OK
    return project


@pytest.fixture
def own(made: Project, tmp_path: Path, environment: dict[str, str]) -> Project:
    copied = made.copied(tmp_path / "project", environment)
    copied.git.environment["GIT_AUTHOR_NAME"] = COMMITS[-1][1]
    return copied


def found(project: Project, *args: str) -> list[dict[str, object]]:
    done = project.gitrag("history", *args, "--json")
    assert done.status in (OK, NOTHING)
    return json.loads(done.out)["commit_matches"]


def subjects(project: Project, *args: str) -> list[object]:
    return [each["subject"] for each in found(project, *args)]


def test_the_commit_that_says_it_comes_first(own):
    (first, *_) = found(own, "why are peers given up on")
    assert first == {
        "commit": own.git.git("rev-parse", "HEAD~2"),
        "date": "2023-11-14",
        "author": "Ann",
        "subject": "Give up on a peer after three refusals",
        "rank": 1,
        "paths": ["net.py"],
        "definitions": [],
        "snippet": "It asked for ever, because a peer may be gone.",
        "found_by": "words",
    }
    text = own.gitrag("history", "half a file after a crash", "-o", "text").out
    assert text.splitlines()[1:4] == ["  Write files in one step", "  A crash left half a file.", "  disk.py"]
    assert own.gitrag("history", "half a file").out.startswith("## History: half a file\n\n")


@pytest.mark.parametrize(
    ("options", "subjects_left"),
    [
        (("--author", "bea"), []),
        (("--author", "ANN"), [COMMITS[0], COMMITS[2]]),
        (("--path", "lib"), [COMMITS[2]]),
        (("--path", "lib/cache.py"), [COMMITS[2]]),
        (("--path", "*.py"), [COMMITS[0], COMMITS[2]]),
        (("--path", "li"), []),
        (("--since", "2023-11-14T22:16:30Z"), [COMMITS[2]]),
        (("--until", "2023-11-14T22:15:30Z"), [COMMITS[0]]),
        (("--until", "2023-11-14"), [COMMITS[0], COMMITS[2]]),
        (("--until", "2023-11-13"), []),
        (("--path", "./lib/../lib/"), [COMMITS[2]]),
        (("--path", "cache.py"), [COMMITS[2]]),
        (("--ref", "HEAD~1"), [COMMITS[0]]),
        (("-n", "1"), None),
    ],
)
def test_filters_leave_out_what_they_say(own, options, subjects_left):
    left = subjects(own, "peer", *options)
    if subjects_left is None:
        assert len(left) == 1
    else:
        assert set(left) == {message.partition("\n")[0] for _, _, message in subjects_left}


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("cache.py", [COMMITS[2]]),
        ("*.py", [COMMITS[2]]),
        (".", [COMMITS[2]]),
        ("../net.py", [COMMITS[0]]),
        ("net.py", [COMMITS[0]]),
    ],
)
def test_a_path_is_seen_from_where_one_stands(own, path, left):
    done = own.gitrag("-C", "lib", "history", "peer", "--path", path, "--json")
    subjects_left = {each["subject"] for each in json.loads(done.out)["commit_matches"]}
    assert subjects_left == {message.partition("\n")[0] for _, _, message in left}


def test_a_new_commit_counts_at_once_and_one_that_is_gone_does_not(own):
    own.git.commit({"net.py": "# 2\n"}, "Ask quicksilver peers first")
    assert subjects(own, "quicksilver") == ["Ask quicksilver peers first"]
    own.git.git("reset", "--quiet", "--hard", "HEAD~1")
    done = own.gitrag("history", "quicksilver", "-o", "text")
    assert (done.status, done.out) == (NOTHING, f"No message of 4 commits has a word of it{READ}\n")


def test_a_commit_of_another_branch_does_not_count(own):
    own.git.git("checkout", "--quiet", "-b", "other")
    own.git.commit({"net.py": "# 3\n"}, "Ask quicksilver peers first")
    assert subjects(own, "quicksilver") == ["Ask quicksilver peers first"]
    own.git.git("checkout", "--quiet", "main")
    assert subjects(own, "quicksilver") == []
    assert subjects(own, "quicksilver", "--ref", "other") == ["Ask quicksilver peers first"]


def test_commits_of_all_refs_count_where_they_are_asked(own):
    git = own.git.git
    for branch, word in (("one", "quicksilver"), ("two", "antimony")):
        git("checkout", "--quiet", "-b", branch, "main")
        own.git.commit({"net.py": f"# {word}\n"}, f"Ask {word} peers first")
    git("tag", "--annotate", "--message=done", "kept")
    git("update-ref", "refs/remotes/origin/three", "one~0")
    blob = git("rev-parse", "HEAD:net.py")
    git("tag", "of-a-file", blob)
    own.git.write({"net.py": "# stashed\n"})
    git("stash", "push", "--quiet", "--message=stash peers first")
    git("notes", "add", "--message=noted", "main")
    git(
        "update-ref", "refs/gitrag/vectors", git("commit-tree", "HEAD^{tree}", "-m", "vectors of peers first")
    )
    git("checkout", "--quiet", "main")
    git("branch", "--delete", "--force", "one", "two")

    assert subjects(own, "peers first") != []
    done = own.gitrag("history", "peers first", "--all", "--json")
    said = json.loads(done.out)
    assert {each["subject"] for each in said["commit_matches"][:2]} == {
        "Ask quicksilver peers first",
        "Ask antimony peers first",
    }
    assert (said["searched"], said["notes"]) == (6, [])
    git("update-ref", "-d", "refs/remotes/origin/three")
    assert subjects(own, "quicksilver", "--all") == []
    assert subjects(own, "antimony", "--all", "--path", "net.py") == ["Ask antimony peers first"]
    git("checkout", "--quiet", "--orphan", "unborn")
    assert subjects(own, "antimony", "--all") == ["Ask antimony peers first"]


def test_the_definitions_that_a_commit_touches_are_named(own):
    old = "class Peer:\n    def ask(self):\n        return 1\n\n    def drop(self):\n        return 2\n"
    test = "def test_ask():\n    assert True\n"
    own.git.commit({"peer.py": old, "net.py": "# 4\n"}, "Add antimony peers")
    new = old.replace("return 1", "return 3").replace("    def drop(self):\n        return 2\n", "")
    both = {"peer.py": new + "\n\ndef refuse():\n    return 4\n", "a_test.py": test, "test_a.py": test}
    own.git.commit(both, "Let antimony peers refuse")
    own.git.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    own.git.commit({"side.py": "def aside():\n    pass\n"}, "Ask antimony aside")
    own.git.git("checkout", "--quiet", "main")
    own.git.git("merge", "--quiet", "--no-ff", "-m", "Merge antimony aside", "side")
    own.git.commit({f"many{n}.py": f"def f{n}(): pass\n" for n in range(21)}, "Add many antimony files")

    touched = {each["subject"]: each["definitions"] for each in found(own, "antimony")}

    assert touched == {
        "Let antimony peers refuse": ["Peer.ask", "refuse", "Peer.drop", "test_ask"],
        "Add antimony peers": ["Peer", "Peer.ask", "Peer.drop"],
        "Merge antimony aside": ["aside"],
        "Ask antimony aside": ["aside"],
        "Add many antimony files": None,
    }
    text = own.gitrag("history", "peers refuse", "-n", "1", "-o", "text").out
    assert text.endswith("\n  touches Peer.ask, refuse, Peer.drop, test_ask\n")


def test_a_search_of_the_collection_history_is_the_same(own):
    said = own.gitrag("history", "why are peers given up on", "-n", "2", "--json")
    assert own.gitrag("search", "-c", "history", "why are peers given up on", "-n", "2", "--json") == said
    text = own.gitrag("history", "peers", "--path", "net.py").out
    assert own.gitrag("search", "-c", "history", "--path", "net.py", "peers").out == text
    assert own.gitrag("search", "-c", "history", "--ref", "HEAD~9", "peers").status == USAGE


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (("-c", "adrs"), "-c history and -c adrs cannot be searched together."),
        (("--lang", "python"), "--lang does not go with -c history."),
        (("--explain",), "--explain does not go with -c history."),
        (("-o", "vimgrep"), "--output vimgrep does not go with -c history."),
        (("--path", "a", "--path", "b"), "-c history takes one --path."),
        (("--everywhere",), "--everywhere does not go with -c history."),
        (("--hub",), "-c"),
    ],
)
def test_a_search_of_the_collection_history_refuses_what_it_does_not_take(own, args, problem):
    done = own.gitrag("search", "-c", "history", *args, "peers")
    assert (done.status, done.out) == (USAGE, "")
    assert problem in done.err


def test_refs_that_cannot_be_read_are_said(own):
    (own.git.path / ".git/refs/heads/gone").write_text("1" * 40 + "\n", "ascii")
    done = own.gitrag("history", "peers", "--all")
    assert (done.status, done.out) == (NOT_SET_UP, "")
    assert "The refs cannot all be read; look at: git fsck" in done.err


def test_json_says_what_was_looked_at(own):
    said = json.loads(own.gitrag("history", "quicksilver", "--json").out)
    assert said == {"query": "quicksilver", "commit_matches": [], "searched": 4, "notes": []}


def test_a_shallow_clone_says_so(own, tmp_path, make_project):
    clone = tmp_path / "clone"
    own.git.git("clone", "--quiet", "--depth=2", f"file://{own.git.path}", str(clone))
    assert own.gitrag("-C", str(clone), "index", "update", "--no-embed").status == OK
    done = own.gitrag("-C", str(clone), "history", "peer", "-o", "text")
    assert "The clone is shallow: older commits, and those at its end, were not looked at." in done.out


@pytest.mark.parametrize(
    ("args", "status", "problem"),
    [
        (("???",), USAGE, "There is no word to search for in '???'."),
        (("peer", "--since", "soon"), USAGE, '"soon" is no point in time.'),
        (("peer", "--ref", "nosuch"), USAGE, "The repository has no revision 'nosuch'."),
        (("peer", "--all", "--ref", "main"), USAGE, "--all and --ref do not go together."),
        (("peer", "--all", "--touches", "f"), USAGE, "--touches follows a definition from one revision"),
        (("peer", "-n", "0"), USAGE, "0 is not in the range"),
    ],
)
def test_what_cannot_be_asked_is_said(own, args, status, problem):
    done = own.gitrag("history", *args)
    assert (done.status, done.out) == (status, "")
    assert problem in done.err


def test_without_an_index_it_says_what_to_do(make_project):
    done = make_project({"a.py": "1\n"}).gitrag("history", "peer")
    assert done.status == NOT_SET_UP
    assert "hint: " in done.err


def test_before_the_first_commit_it_says_so(make_project):
    project = make_project({})
    project.git.git("update-ref", "-d", "HEAD")
    project.git.write({"a.py": "x = 1\n"})
    project.gitrag("index", "update", "--no-embed")
    done = project.gitrag("history", "peer")
    assert (done.status, done.out) == (NOT_SET_UP, "")
    assert "There is no commit yet." in done.err


SEND = "class Session:\n    def send(self):\n        return 1\n\n    def close(self):\n        return 0\n"


@pytest.fixture
def session(own) -> Project:
    """A definition that two of four commits change."""
    own.git.commit({"session.py": SEND}, "Add the session")
    own.git.commit({"session.py": "import sys\n\n\n" + SEND}, "Import sys for the session")
    own.git.commit({"session.py": "import sys\n\n\n" + SEND.replace("0", "2")}, "Close the session twice")
    changed = "import sys\n\n\n" + SEND.replace("0", "2").replace("1", "3")
    own.git.commit({"session.py": changed}, "Send thrice in a session")
    own.git.write({"session.py": "# uncommitted\n" + changed})
    assert own.gitrag("index", "update", "--no-embed").status == OK
    return own


def test_the_commits_that_touched_a_definition_are_found_by_its_name(session):
    sent = ["Send thrice in a session", "Add the session"]
    assert subjects(session, "--touches", "Session.send") == sent
    assert subjects(session, "--touches", "send", "-n", "1") == sent[:1]
    said = ["Add the session", "Close the session twice"]
    assert sorted(subjects(session, "session", "--touches", "close")) == said
    out = session.gitrag("history", "--touches", "send").out
    assert out.startswith("## History\n\n")
    done = session.gitrag("history", "quicksilver", "--touches", "send", "-o", "text")
    assert (done.status, done.out) == (NOTHING, f"No message of 2 commits has a word of it{READ}\n")


def test_a_definition_that_is_not_there_is_said(session):
    done = session.gitrag("history", "--touches", "nosuch")
    assert (done.status, done.out) == (USAGE, "")
    head = session.git.git("rev-parse", "--short=10", "HEAD")
    none = f"No definition is called 'nosuch' in {head}, and none of 8 commits was found to remove one"
    assert f"{none}: looked at were, merges apart, " in done.err
    assert session.gitrag("history").status == USAGE
    assert "'.' is no name of a definition." in session.gitrag("history", "--touches", ".").err


def test_a_definition_that_is_not_committed_yet_is_not_said_to_be_missing(session):
    session.git.write({"net.py": "def brand_new():\n    return 1\n"})
    head = session.git.git("rev-parse", "--short=10", "HEAD")
    err = session.gitrag("history", "--touches", "brand_new").err
    assert (
        f"No definition is called 'brand_new' in {head}, though one is in net.py as it is now, and none"
        in err
    )
    err = session.gitrag("history", "--touches", "BRAND_new").err
    assert f"No definition is called 'BRAND_new' in {head}, and none" in err


def test_a_definition_that_is_only_uncommittedly_gone_is_followed(session):
    session.git.write({"session.py": "import sys\n"})
    done = session.gitrag("history", "--touches", "Session.send", "--json")
    said = json.loads(done.out)
    sent = ["Send thrice in a session", "Add the session"]
    assert [each["subject"] for each in said["commit_matches"]] == sent
    assert said["notes"] == []


@pytest.fixture
def brought_back(own) -> Project:
    """A definition that was removed, brought back to another file, and removed again."""
    own.git.commit({"ping.py": "def ping():\n    return 1\n"}, "Add a ping")
    own.git.commit({"ping.py": "# none\n"}, "Drop the ping")
    own.git.commit({"again.py": "def ping():\n    return 2\n"}, "Bring the ping back")
    own.git.commit({"again.py": "# none\n"}, "Drop it for good")
    return own


def test_a_definition_is_looked_for_in_the_revision_that_is_asked(brought_back):
    there = brought_back.gitrag("history", "--touches", "ping", "--ref", "HEAD~1", "--json")
    said = json.loads(there.out)
    assert [each["subject"] for each in said["commit_matches"]] == ["Bring the ping back"]
    assert said["notes"] == []

    gone = brought_back.gitrag("history", "--touches", "ping", "--ref", "HEAD~2", "--json")
    said = json.loads(gone.out)
    assert [each["subject"] for each in said["commit_matches"]] == ["Drop the ping", "Add a ping"]
    removed = brought_back.git.git("rev-parse", "--short=10", "HEAD~2")
    none = f"No definition is called 'ping' in {removed}"
    assert said["notes"] == [f"{none}: {removed} removed it from ping.py."]


def test_a_definition_in_a_file_that_is_not_indexed_is_followed(own):
    own.git.commit({".gitragignore": "lib/\n", "lib/keep.py": "def keep():\n    return 1\n"}, "Keep it")
    said = json.loads(own.gitrag("history", "--touches", "keep", "--json").out)
    assert ([each["subject"] for each in said["commit_matches"]], said["notes"]) == (["Keep it"], [])


@pytest.mark.parametrize(
    "name", ["session.Session.send", "Session::send", "Session#send", "session.py::send"]
)
def test_a_definition_may_be_named_with_its_module(session, name):
    if name.startswith("session.py"):  # a path is no part of a name
        assert session.gitrag("history", "--touches", name).status == USAGE
        return
    assert subjects(session, "--touches", name) == ["Send thrice in a session", "Add the session"]


def test_a_definition_that_gave_way_to_another_of_its_name_is_not_said_to_be_in_no_commit(own):
    own.git.commit({"ping.py": "def ping():\n    return 1\n"}, "Add a ping")
    own.git.commit({"ping.py": "import lib\nping = lib.other(1)\n"}, "Take the ping of lib")
    err = own.gitrag("history", "--touches", "ping").err
    assert "was found to remove one: looked at were, merges apart, " in err
    assert "in which it changes how often 'ping' occurs." in err


def test_the_commits_that_touched_a_definition_that_is_gone_are_found(session):
    text = session.git.path.joinpath("session.py").read_text("utf-8").replace("# uncommitted\n", "")
    session.git.commit({"session.py": text.replace("def close(self)", "def end(self)")}, "Call it end")
    session.git.commit({"net.py": "# close\n"}, "Name close where it is not defined")
    done = session.gitrag("history", "--touches", "Session.close", "--json")
    said = json.loads(done.out)
    gone = ["Call it end", "Close the session twice", "Add the session"]
    assert [each["subject"] for each in said["commit_matches"]] == gone
    removed = session.git.git("rev-parse", "--short=10", "HEAD~1")
    head = session.git.git("rev-parse", "--short=10", "HEAD")
    none = f"No definition is called 'Session.close' in {head}"
    assert said["notes"] == [f"{none}: {removed} removed it from session.py."]
    assert subjects(session, "--touches", "end") == gone


def test_why_a_file_was_found_says_who_changed_it_last(session):
    head = session.git.git("rev-parse", "--short=10", "HEAD")
    out = session.gitrag("search", "session send", "--explain", "-o", "text").out
    told = f'Changed last by {head} of 2023-11-14, "Send thrice in a session"'
    expected = f"{told}; 4 commits of those read changed it."
    assert expected in out
    assert "Changed last" not in session.gitrag("search", "session send", "-o", "text").out


def test_a_commit_in_other_words_is_found_by_meaning_and_says_so(own):
    own.git.commit({"order.py": "# order\n"}, "Make ordering faster")
    (first,) = found(own, "accelerate sorting")
    assert (first["subject"], first["found_by"]) == ("Make ordering faster", "meaning")
    out = own.gitrag("history", "accelerate sorting", "-o", "text").out
    assert out.splitlines()[0].endswith("  no word of the question: found by meaning")
    assert subjects(own, "accelerate sorting", "--path", "net.py") == []
    (worded, *_) = found(own, "faster ordering of peers")
    assert (worded["subject"], worded["found_by"]) == ("Make ordering faster", "words")


def test_older_commits_are_removed_with_the_index(own, monkeypatch):
    for module in (newest_commits, older_commits):
        monkeypatch.setattr(module, "MOST_COMMITS", 2)
    own.git.commit({"net.py": "# 2\n"}, "Go on")
    catch_up.catch_up(open_app(own.git), lambda: False)
    (older,) = own.git.path.glob(".git/gitrag/older/index.duckdb")
    assert own.gitrag("index", "remove").status == OK
    assert not older.exists()
