"""The steps of a code search, and reading the lines that they give."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from gitrag.actions.hit_lines import tokens
from gitrag.actions.lines import read_range
from gitrag.actions.search_code import FALLBACK, Via, search_code
from gitrag.errors import RepositoryError, UsageError
from gitrag.git.grep import grep
from gitrag.model import place_id
from gitrag.store import schema
from gitrag.workspace import Workspace
from tests.support.indexes import open_app
from tests.support.node import program
from tests.support.repository import GitRepository, Link, made_once

CLIENT = '''"""Calls other services."""


def retry_with_backoff(call, attempts=3):
    """Call again after a failure, waiting longer each time."""
    for attempt in range(attempts):
        try:
            return call()
        except ConnectionError:
            sleep(2 ** attempt)


def send_invoice(order):
    """Send the bill of an order by mail."""
    return mail(order.address, render("invoice", order))
'''

FILES = {
    "client.py": CLIENT,
    "billing/jobs.py": "def send_monthly_bills(orders):\n    for order in orders: send_invoice(order)\n",
    "settings.toml": 'magic_token = "xq7-plover"\n',
    "odd name-e.txt": "-e --files plover\n",
    ".gitignore": "secret.txt\n",
}


@pytest.fixture
def repository(make_repository, git_environment, tmp_path) -> GitRepository:
    def make() -> GitRepository:
        made = make_repository(FILES)
        open_app(made).update()
        return made

    return made_once("search code", tmp_path / "project", git_environment, make)


@pytest.fixture
def workspace(repository, git_environment, model_dir) -> Workspace:
    opened = Workspace.open(repository.path, environ=git_environment | {"GITRAG_MODEL_DIR": str(model_dir)})
    opened.update()
    return opened


def ranges(found) -> list[tuple[str, int, int]]:
    return [(each.path, each.line_start, each.line_end) for each in found.snippets]


def test_enough_from_the_engine_stops_the_cascade(workspace):
    """Further steps would only add noise."""
    found = search_code(workspace, "sending bills")
    assert found.sufficient
    assert {each.via for each in found.snippets} <= {Via.SEMANTIC, Via.LEXICAL}
    assert {each.path for each in found.snippets[:2]} == {"client.py", "billing/jobs.py"}
    assert found.answer is not None
    assert all(each.score is not None and 0 <= each.score <= 1 for each in found.snippets)


def test_a_snippet_says_what_it_is_word_for_word(workspace):
    found = search_code(workspace, "call again after a failure").snippets[0]
    lines = CLIENT.splitlines()
    assert (found.path, found.line_start, found.line_end) == ("client.py", 1, 10)
    assert found.text == "\n".join(lines[:10])
    assert (found.name, found.kind, found.language) == ("retry_with_backoff", "function", "python")
    assert found.id.startswith("client.py:1-10#")


def test_exact_matches_are_added_where_the_engine_has_too_little(workspace, repository):
    repository.write({"notes.txt": "see xq7-plover\n"})
    found = search_code(workspace, "xq7-plover")
    assert found.sufficient
    assert {each.path for each in found.snippets} >= {"settings.toml", "notes.txt"}
    assert len(set(ranges(found))) == len(found.snippets), "nothing is given twice"


@pytest.mark.parametrize("max_tokens", [1, 60, 120, 2_000])
def test_a_budget_is_filled_with_the_passages_that_answer_best(workspace, max_tokens):
    """And never exceeded but by the heading of the first."""
    found = search_code(workspace, "send invoices", max_tokens=max_tokens).snippets
    lines = {path: text.split("\n") for path, text in FILES.items()}
    heading = tokens(found[0].path, "")
    assert sum(tokens(each.path, each.text) for each in found) <= max(max_tokens, heading)
    assert found[0].name in {"send_invoice", "send_monthly_bills"}
    assert all(
        "\n".join(lines[each.path][each.line_start - 1 : each.line_end]).startswith(each.text)
        for each in found
    )
    if max_tokens == 2_000:
        assert {each.name for each in found} >= {"send_invoice", "send_monthly_bills", "retry_with_backoff"}
        assert len({(each.path, each.line_start) for each in found}) == len(found)


def test_within_a_budget_exact_matches_take_half_of_it_at_most(workspace, repository):
    repository.write({"notes.txt": "see xq7-plover\n", "long.txt": "xq7-plover\n" + "word " * 400})
    found = search_code(workspace, "xq7-plover", max_tokens=100).snippets
    assert "notes.txt" in {each.path for each in found}
    assert sum(tokens(each.path, each.text) for each in found) <= 100


def test_what_is_nowhere_is_not_sufficient(workspace):
    found = search_code(workspace, "kubernetes zebra autoscaling")
    assert (found.snippets, found.sufficient) == ((), False)


def test_ignored_files_are_not_searched(workspace, repository):
    repository.write({"secret.txt": "zx81-password\n"})
    assert search_code(workspace, "zx81-password").snippets == ()


@pytest.mark.parametrize(
    "query", ["-e", "--files", "$(touch x)", "'; touch x", "a\0b", "\ud800", "[", "\\", "-f/etc/passwd"]
)
def test_a_query_is_only_a_text(workspace, repository, query: str):
    found = search_code(workspace, query)
    assert not (repository.path / "x").exists()
    assert all(each.path in FILES for each in found.snippets)


def test_without_an_index_exact_matches_answer(repository, git_environment):
    """An agent gets an answer, and is told what is wrong."""
    workspace = Workspace.open(repository.path, environ=git_environment)
    workspace.store.remove()
    found = search_code(workspace, "retry_with_backoff")
    assert found.notes[0] == FALLBACK
    assert found.notes[0] == (
        "RAG search unavailable, fell back to grep — consider checking MCP server status"
    )
    assert [each.via for each in found.snippets] == [Via.GREP]
    assert found.snippets[0].line_start <= 4 <= found.snippets[0].line_end


def test_with_an_index_that_cannot_be_read_exact_matches_answer(workspace):
    """As with no index; nothing asks it again."""
    with workspace.store.write("a newer gitrag") as db:
        schema.put(db, "schema", str(schema.SCHEMA_VERSION + 1))
    found = search_code(workspace, "retry_with_backoff")
    assert found.notes[0] == FALLBACK
    assert "gitrag knows up to" in found.notes[1]
    assert {each.via for each in found.snippets} == {Via.GREP}


def test_a_directory_that_is_gone_is_told(workspace, repository):
    shutil.rmtree(repository.path)
    with pytest.raises(RepositoryError, match="does not exist"):
        search_code(workspace, "retry_with_backoff")


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_refused(workspace, query: str):
    with pytest.raises(UsageError):
        search_code(workspace, query)


def test_a_long_definition_is_shown_in_part(workspace, repository):
    """Never whole files."""
    body = "".join(f"    step_{i} = prepare(step_{i - 1})\n" for i in range(1, 200))
    repository.commit({"long.py": f"def assemble_engine(step_0):\n{body}    return ignition_of(step_199)\n"})
    found = search_code(workspace, "assemble engine")
    assert all(each.line_end - each.line_start < 60 for each in found.snippets)
    for each in found.snippets:
        assert read_range(workspace, each.id).text == each.text


def test_what_git_and_ripgrep_print_is_read(workspace, repository, tmp_path, monkeypatch):
    """A stand-in prints as ripgrep does."""
    repository.write({"new file.txt": "plover\r\n", "sub/x.txt": "PLOVER\n"})
    found = grep(workspace.repo, ["plover"])[0]
    assert [(each.path, each.number, each.text) for each in found] == [
        ("new file.txt", 1, "plover"),
        ("odd name-e.txt", 1, "-e --files plover"),
        ("settings.toml", 1, 'magic_token = "xq7-plover"'),
        ("sub/x.txt", 1, "PLOVER"),
    ]
    stand_in = tmp_path / "bin" / "rg"
    stand_in.parent.mkdir()
    stand_in.write_text("#!/bin/sh\nprintf './a b.txt\\0007:x: plover\\n./c:d.txt\\00012:plover\\n'\n")
    stand_in.chmod(0o755)
    monkeypatch.setitem(workspace.repo.environment, "PATH", f"{stand_in.parent}:{os.environ['PATH']}")
    assert [(each.path, each.number, each.text) for each in grep(workspace.repo, ["plover"])[0]] == [
        ("a b.txt", 7, "x: plover"),
        ("c:d.txt", 12, "plover"),
    ]


RIPGREP = program("rg", "@vscode/ripgrep-*/bin/rg")


@pytest.mark.parametrize("tool", ["git", "rg"])
def test_git_and_ripgrep_find_the_same(workspace, repository, tool: str, tmp_path, monkeypatch):
    """The real programs, on a working tree with unusual files."""
    path = tmp_path / "bin"
    path.mkdir()
    for name in ("git", "rg"):
        if name in ("git", tool):
            if (program := RIPGREP if name == "rg" else shutil.which(name)) is None:
                pytest.skip("ripgrep is not here (scripts/test installs it)")
            (path / name).symlink_to(program)
    monkeypatch.setitem(workspace.repo.environment, "PATH", str(path))
    repository.write(
        {
            ".hidden/x.txt": "plover\n",
            ".ignore": "kept.txt\n",  # ripgrep's own, not git's
            "kept.txt": "plover: yes\n",
            "secret.txt": "plover\n",  # ignored
            "crlf.txt": "one\r\nPLOVER two\r\n",
            "no end.txt": "plover",
            "bin.dat": b"plover\0plover\n",
            "latin1.txt": "caf\xe9 plover\n".encode("latin-1"),
            b"\xff.txt": "plover\n",
            "a:1:b.txt": "plover\n",
            "link.txt": Link("kept.txt"),
            "deep/.gitignore": "*.log\n",
            "deep/a.log": "plover\n",
            "many.txt": "plover\n" * 100,
        }
    )
    found, is_whole = grep(workspace.repo, ["plover"])
    assert not is_whole  # of one file
    assert grep(workspace.repo, ["plover: yes"])[1]
    named = grep(workspace.repo, ["PLOVER", "plove"], names=True)[0]
    assert [(each.path, each.number) for each in named] == [("crlf.txt", 2)]
    assert [(each.path, each.number, each.text) for each in found if each.path != "many.txt"] == [
        (".hidden/x.txt", 1, "plover"),
        ("a:1:b.txt", 1, "plover"),
        ("crlf.txt", 2, "PLOVER two"),
        ("kept.txt", 1, "plover: yes"),
        ("latin1.txt", 1, "caf\ufffd plover"),
        ("no end.txt", 1, "plover"),
        ("odd name-e.txt", 1, "-e --files plover"),
        ("settings.toml", 1, 'magic_token = "xq7-plover"'),
        ("\udcff.txt", 1, "plover"),
    ]
    assert [each.number for each in found if each.path == "many.txt"] == list(range(1, 41))
    for text in ("-e", "--files", "[", "\\", "(?i)plover", "$(x)"):
        assert {each.path for each in grep(workspace.repo, [text])[0]} <= {"odd name-e.txt"}


def test_grep_ends_in_time(workspace, tmp_path, monkeypatch):
    slow = tmp_path / "bin" / "rg"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nprintf './a.txt\\0001:plover\\n'\nexec sleep 1000\n")
    slow.chmod(0o755)
    monkeypatch.setitem(workspace.repo.environment, "PATH", f"{slow.parent}:{os.environ['PATH']}")
    found, is_whole = grep(workspace.repo, ["plover"], timeout_s=0.5)
    assert ([each.path for each in found], is_whole) == (["a.txt"], False)


# ranges


def test_lines_are_read_as_they_are_now(workspace, repository):
    repository.write({"client.py": CLIENT.replace("attempts=3", "attempts=5")})
    found = read_range(workspace, "client.py:4-5")
    assert found.text.splitlines()[0] == "def retry_with_backoff(call, attempts=5):"
    assert (found.line_start, found.line_end, found.lines_in_file) == (4, 5, 15)
    assert read_range(workspace, "client.py:4").text == found.text.splitlines()[0]
    assert read_range(workspace, "client.py").line_end == 15
    assert read_range(workspace, "client.py:14-99").line_end == 15


def test_a_hit_that_has_moved_is_found_again(workspace, repository):
    hit = search_code(workspace, "call again after a failure").snippets[0]
    repository.write({"client.py": "# one\n# two\n" + CLIENT})
    found = read_range(workspace, hit.id)
    assert (found.text, found.line_start, found.moved) == (hit.text, 3, "moved from 1-10")
    repository.write({"client.py": CLIENT.replace("ConnectionError", "OSError")})
    assert read_range(workspace, hit.id).moved == "changed since it was found"


def test_names_with_colons_and_hashes_can_be_read(workspace, repository):
    repository.write({"a:1-2#x": "odd\n", "b#00000000": "odd\n"})
    for path in ("a:1-2#x", "b#00000000"):
        assert read_range(workspace, place_id(path, 1, 1, "odd")).text == "odd"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none.py", "There is no text file none.py in the repository."),
        ("billing", "Cannot read 'billing': Is a directory."),
        ("large.txt", "'large.txt' is larger than 8,388,608 bytes."),
    ],
)
def test_a_file_that_is_there_is_not_called_missing(workspace, repository, path, said):
    repository.write({"large.txt": "x" * (8 << 20) + "\n"})
    with pytest.raises(UsageError) as caught:
        read_range(workspace, path)
    assert str(caught.value) == said


def test_nothing_outside_the_working_tree_is_read(workspace, repository, tmp_path: Path):
    (tmp_path / "outside.txt").write_text("secret")
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "x.txt").write_text("secret")
    repository.write(
        {"link.txt": Link("../outside.txt"), "dirlink": Link("../dir"), "abs": Link("/etc/passwd")}
    )
    for path in (
        "../outside.txt",
        "link.txt",
        "dirlink/x.txt",
        "abs",
        "/etc/passwd",
        f"{tmp_path}/outside.txt",
        "sub/../../outside.txt",
        ".git/config",
        ".GIT/config",
        "billing/../.git/HEAD",
        "none.py",
        "billing",
        ".",
        "",
        "client.py:0",
        "client.py:99",
        "client.py:5-4",
    ):
        with pytest.raises(UsageError):
            read_range(workspace, path)


def test_a_pipe_is_not_waited_for(workspace, repository):
    os.mkfifo(repository.path / "pipe")
    with pytest.raises(UsageError):
        read_range(workspace, "pipe")


def test_links_inside_the_working_tree_are_followed(workspace, repository):
    repository.write({"alias.py": Link("client.py")})
    assert read_range(workspace, "alias.py:1").text == '"""Calls other services."""'
