"""``gitrag search --word`` and ``--regex``: every line that matches, as the files are now."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace

import pytest

from tests.support.command import Gitrag, Project, user_environment
from tests.support.repository import create_repository

LONG = "data = [" + ", ".join(f"value_{i}" for i in range(900)) + "]"
FILES = {
    "shop/client.py": """class Client:
    def retry(self, call):
        # retry once more
        return call() or self.retry_all(call)

    def retry_all(self, call):
        return [call() for _ in range(3)]
""",
    "shop/run.go": "package shop\n\nfunc Run() {\n\t\tretry(1)\n}\n",
    "notes.txt": "".join(f"note {i} says nothing of it\n" for i in range(200)) + "retry here\n",
    "data.py": LONG + "\n",
    "names\twith\ttabs.py": "retry = 0\n",
    "latin.txt": "caf\xe9 retry\n".encode("latin-1"),
    "crlf.txt": b"one\r\nretry two\r\n",
    "copy.py": "retry = 1\n",
    "same.py": "retry = 1\n",
    "poetry.lock": "retry\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory, model_dir) -> Project:
    directory = tmp_path_factory.mktemp("exact")
    environment = user_environment(directory / "home", model_dir)
    git = create_repository(directory / "project", environment, FILES)
    made = Project(git, Gitrag(git.path, environment))
    assert made.gitrag("index", "update", "--no-embed").status == 0
    return made


def matches(project: Project, *args: str) -> list[tuple[str, int]]:
    done = project.gitrag("search", *args, "--json")
    return [(each["path"], each["line"]) for each in json.loads(done.out)["matches"]]


def grepped(project: Project, *args: str) -> list[tuple[str, int]]:
    """Return what git finds, in the same files."""
    command = ["git", "grep", "--untracked", "-n", "-z", *args, "--", ".", ":!*.lock"]
    out = subprocess.run(command, cwd=project.path, capture_output=True, check=False).stdout.decode("latin-1")
    rows = (row.split("\0") for row in out.splitlines())
    return sorted((path, int(number)) for path, number, _text in rows)


@pytest.mark.parametrize(
    ("ours", "gits"),
    [
        (["--word", "retry"], ["-wF", "retry"]),
        (["--regex", "^ +def "], ["-E", "^ +def "]),
        (["--regex", r"\)$"], ["-E", r"\)$"]),
        (["--regex", r"\Aretry"], ["-E", "^retry"]),
        (["--regex", r"(?-i:^retry).*\z"], ["-E", "^retry"]),
        (["--regex", "(?i)RETRY"], ["-i", "retry"]),
        (["--regex", "retry|note 19[0-9]"], ["-E", "retry|note 19[0-9]"]),
        (["--regex", "value_8[0-9]+, value_8.*]$"], ["-E", "value_8[0-9]+, value_8.*]$"]),
        (["--word", "value_899"], ["-wF", "value_899"]),
    ],
)
def test_it_finds_what_git_grep_finds(shop, ours, gits):
    wanted = grepped(shop, *gits)
    assert wanted
    assert sorted(matches(shop, *ours)) == wanted


def test_uncommitted_changes_and_revisions_count(shop):
    new, changed = shop.path / "new.py", shop.path / "copy.py"
    new.write_text("# retry later\n")
    changed.write_text("attempts = 1\n")
    try:
        now = matches(shop, "--word", "retry")
        assert ("new.py", 1) in now
        assert ("copy.py", 1) not in now
        assert ("same.py", 1) in now
        committed = matches(shop, "--word", "retry", "--committed")
        assert ("copy.py", 1) in committed
        assert matches(shop, "--word", "retry", "--ref", "HEAD") == committed
    finally:
        new.unlink()
        changed.write_text("retry = 1\n")


def test_filters_narrow_it(shop):
    assert matches(shop, "--word", "retry", "--lang", "go") == [("shop/run.go", 4)]
    assert matches(shop, "--word", "retry", "--path", "shop/*.py") == [
        ("shop/client.py", 2),
        ("shop/client.py", 3),
    ]
    assert matches(shop, "--word", "call", "--kind", "method") == [
        ("shop/client.py", n) for n in (2, 4, 6, 7)
    ]
    assert matches(shop, "--regex", "Client", "--kind", "method") == []


def test_the_limit_is_said_with_the_number(shop):
    done = shop.gitrag("search", "--regex", "^note", "--limit", "5", "-o", "vimgrep")
    assert done.out.splitlines() == [f"notes.txt:{i + 1}:1:note {i} says nothing of it" for i in range(5)]
    assert done.said == [
        "The first 5 of 200 lines in 1 file: a limit of 200 returns all, path and language narrow it.",
        "Not searched: 1 text file left out of the index (`gitrag status` says why).",
    ]
    found = json.loads(shop.gitrag("search", "--regex", "^note", "--limit", "5", "--json").out)
    assert (found["lines"], found["files"], found["omitted"], found["left_out_files"]) == (200, 1, 195, 1)


def test_every_form_opens_from_where_one_stands(shop):
    here = replace(shop.gitrag, place=shop.path / "shop")
    ask = ("search", "--word", "retry", "--path", "shop/**")
    assert here(*ask, "-o", "paths").out.splitlines() == ["client.py", "run.go"]
    vimgrep = here(*ask, "-o", "vimgrep").out.splitlines()
    assert vimgrep[0] == "client.py:2:9:    def retry(self, call):"
    assert vimgrep[-1] == "run.go:4:3:\t\tretry(1)"  # a tab is one column
    assert here(*ask, "-o", "text").out == (
        "client.py\n  2      def retry(self, call):\n  3          # retry once more\n\n"
        "run.go\n     function Run\n  4          retry(1)\n"
    )
    assert here(*ask, "-o", "markdown").out.startswith(
        "## Exact matches: retry\n\n3 lines in 2 files.\n\n- **shop/client.py**\n"
        "  2 (Client.retry): `def retry(self, call):`\n"
    )
    around = here("search", "--word", "retry_all", "--context", "1", "-o", "text").out.splitlines()
    assert [line.split()[0] for line in around[1:] if line.split()[0].isdigit()] == ["3", "4", "5", "6", "7"]
    near = here("search", "--regex", "once more|for _ in", "--context", "2", "-o", "text").out.splitlines()
    assert [line.strip() for line in near if line.startswith("     ")] == ["method Client.retry"]
    whole = here("search", "--regex", "once more", "--full", "-o", "text").out
    assert "  4          return call() or self.retry_all(call)" in whole


def test_a_long_line_is_shown_around_what_matches(shop):
    shown = shop.gitrag("search", "--word", "value_899", "-o", "text").out.splitlines()[1]
    assert "value_899]" in shown
    assert len(shown) < 420
    found = json.loads(shop.gitrag("search", "--word", "value_899", "--json").out)["matches"][0]
    assert found["text"] == LONG
    assert LONG[found["column"] - 1 :] == "value_899]"


def test_matches_are_marked_on_a_terminal(shop):
    shown = shop.gitrag.on_terminal("search", "--word", "retry", "--path", "copy.py", "--no-pager").out
    assert "\x1b[1;31mretry\x1b[0m = 1" in shown
    assert "retry_all" not in shown


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--word", "zebra"], "No line has the word 'zebra': 9 files searched."),
        (["--regex", "zebra$", "--lang", "go"], "No line matches 'zebra$': 1 file searched."),
    ],
)
def test_nothing_found_says_what_was_searched(shop, args, said):
    for form in ("text", "vimgrep", "markdown"):
        done = shop.gitrag("search", *args, "-o", form)
        assert (done.status, done.out, done.said[0]) == (1, "", said)
    assert json.loads(shop.gitrag("search", *args, "--json").out)["matches"] == []


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--regex", "(?=x)"], "no regular expression that RE2 knows"),
        (["--regex", "(", "--lang", "cobol"], "no regular expression that RE2 knows"),
        (["--word", "x", "--regex"], "--word and --regex exclude each other."),
        (["--word", "x", "--explain"], "--explain is for questions, not for --word or --regex."),
        (["--word", "x", "--graph"], "--graph is for questions"),
        (["--word", ""], "An exact search needs a text of one line."),
        (["--word", "one\ntwo"], "An exact search needs a text of one line."),
        (["x", "-n", "5000"], "A question has 1,000 hits at most, not 5,000."),
    ],
)
def test_what_makes_no_sense_is_refused(shop, args, said):
    done = shop.gitrag("search", *args)
    assert done.status == 2
    assert said in done.err


def test_a_name_with_a_tab_is_one_line(shop):
    rows = shop.gitrag("search", "--regex", "retry = 0", "-o", "vimgrep").out.splitlines()
    assert rows == [r"names\twith\ttabs.py:1:1:retry = 0"]
