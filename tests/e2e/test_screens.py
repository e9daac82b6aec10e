"""What a search looks like: on a terminal, in a pipe, for other programs, from a subdirectory."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from dataclasses import replace
from itertools import islice

import pytest

from gitrag import errors
from gitrag.cli import terminal
from gitrag.cli.terminal import folded
from gitrag.machine.locks import try_lock
from tests.support.command import PATIENCE_S, Project

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
BODY = "".join(f"    total = total + {i}\n" for i in range(120))
FILES = {
    "shop/client.py": '''"""Calls other services."""


class Client:
    """Calls a service."""

    def retry_with_backoff(self, call):
        """Call again after a failure, waiting longer each time."""
        for attempt in range(3):
            return call(attempt)

    def close(self):
        """Close the connection."""
        self.open = False
''',
    "shop/sums.py": f'def sum_of_invoices(total):\n    """Add invoices up."""\n{BODY}    return total\n',
    **{f"shop/jobs/job_{i}.py": f'def retry_job_{i}():\n    """Retry job {i}."""\n' for i in range(12)},
}
QUESTION = ("search", "retry_with_backoff")


@pytest.fixture(scope="module")
def shop(tmp_path_factory, model_dir) -> Project:
    from tests.support.command import Gitrag, user_environment
    from tests.support.repository import create_repository

    directory = tmp_path_factory.mktemp("shop")
    environment = user_environment(directory / "home", model_dir)
    git = create_repository(directory / "project", environment, FILES)
    made = Project(git, Gitrag(git.path, environment))
    assert made.gitrag("index", "update", "--no-embed").status == 0
    return made


def test_paths_and_vimgrep_open_from_a_subdirectory(shop):
    here = replace(shop.gitrag, place=shop.path / "shop" / "jobs")
    paths = here(*QUESTION, "-o", "paths").out.splitlines()
    assert paths[0] == "../client.py"
    assert [path for path in paths if not (here.place / path).is_file()] == []
    first = here(*QUESTION, "-o", "vimgrep").out.splitlines()[0]
    assert first == "../client.py:7:9:    def retry_with_backoff(self, call):"
    assert here(*QUESTION, "-o", "text").out.startswith("../client.py:7-10  method Client.retry_with_backoff")


def test_nothing_found_is_no_place(shop):
    done = shop.gitrag("search", "zebra crossing tariff", "--min-score", "0.99", "-o", "vimgrep")
    assert (done.status, done.out) == (1, "")
    assert "No relevant ADRs, specs, or code found for" in done.err


def test_a_graph_that_cannot_be_drawn_fails_no_search(shop):
    """Nothing here calls anything."""
    done = shop.gitrag(*QUESTION, "--unfiltered")
    said = (
        "> Generating unfiltered call graph — output may be large.\nNo call graph nodes matched the filter."
    )
    assert (done.status, said in done.out) == (0, True)


def test_context_shows_lines_around_and_full_the_definition(shop):
    lines = shop.gitrag(*QUESTION, "-o", "text", "-n", "1", "--context", "1").out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["6", "7", "8"]
    full = shop.gitrag("search", "sum_of_invoices", "-o", "text", "-n", "1", "--full").out
    assert full.startswith("shop/sums.py:1-123  function sum_of_invoices")
    assert "  123      return total" in full
    whole = shop.gitrag("search", "class Client", "-o", "text", "-n", "1", "--full", "--kind", "class").out
    assert whole.startswith("shop/client.py:1-14  class Client")
    both = shop.gitrag(*QUESTION, "--full", "--context", "2")
    assert both.err == "--context and --full exclude each other.\nhint: Give one of them.\n"
    assert "--budget and --full exclude each other" in shop.gitrag(*QUESTION, "--full", "--budget", "9").err


def test_a_budget_is_filled_with_whole_passages_and_the_last_is_cut(shop):
    """A long definition is cut at a line; of short ones there are as many as fit."""
    cut = shop.gitrag("search", "sum_of_invoices", "-o", "text", "--budget", "60").out
    text = FILES["shop/sums.py"].split("\n")
    assert cut.startswith("shop/sums.py:1-8  function sum_of_invoices")
    assert [line.split("  ", 2)[2] for line in cut.splitlines()[1:9]] == text[:8]
    few, more = (
        shop.gitrag("search", "retry a job", "-o", "text", "--budget", budget).out for budget in ("60", "200")
    )
    assert (few.count("shop/jobs/"), more.count("shop/jobs/")) == (2, 7)


def test_the_form_is_a_setting(shop):
    compact = shop.gitrag(*QUESTION, env={"GITRAG_OUTPUT": "text"})
    assert compact.out.startswith("shop/client.py:7-10  method")
    assert shop.gitrag(*QUESTION).out.startswith("## Search Results: ")
    assert shop.gitrag(*QUESTION, "-o", "markdown", env={"GITRAG_OUTPUT": "text"}).out.startswith("## ")


def test_a_pipe_gets_the_code_that_answers(shop):
    """An agent need not open the file."""
    assert "  10              return call(attempt)\n" in shop.gitrag(*QUESTION, "-o", "text").out


@pytest.mark.parametrize("columns", [80, 200])
def test_a_page_fits_the_screen_and_marks_the_questions_words(shop, columns):
    shown = shop.gitrag.on_terminal("search", "retry", "job", columns=columns)
    plain = COLOUR.sub("", shown.out).splitlines()
    assert len([line for line in plain if "  function retry_job_" in line]) == 8
    assert len(plain) < 24
    assert [line for line in plain if len(line) > columns] == []
    assert "\x1b[1;31mretry\x1b[0m" in shown.out


def test_a_long_answer_goes_through_the_users_pager_but_never_the_repositorys(shop, tmp_path):
    long = ("search", "sum_of_invoices", "-n", "1", "--full")
    marker = tmp_path / "ran"
    paged = shop.gitrag.on_terminal(*long, env={"PAGER": "sed 's/^/| /'"})
    assert "| shop/sums.py" in COLOUR.sub("", paged.out)
    assert "| " not in shop.gitrag.on_terminal(*long, "--no-pager", env={"PAGER": "sed 's/^/| /'"}).out
    shop.git.git("config", "core.pager", f"touch {marker}; cat >&2")
    try:
        done = shop.gitrag.on_terminal(*long, env={"PAGER": "sed 's/^/| /'"})
    finally:
        shop.git.git("config", "--unset", "core.pager")
    assert (marker.exists(), "| shop/sums.py" in COLOUR.sub("", done.out)) == (False, True)
    missing = shop.gitrag.on_terminal(*long, env={"PAGER": "no-such-pager"})
    assert "return total" in COLOUR.sub("", missing.out)
    assert "| " not in shop.gitrag(*long, "-o", "text", env={"PAGER": "sed 's/^/| /'"}).out


@pytest.mark.parametrize(
    ("name", "expected"),
    [("vim", "+7 {}"), ("emacs", "+7 {}"), ("nano", "+7 {}"), ("code", "--goto {}:7"), ("hx", "{}:7")],
)
def test_open_starts_the_editor_at_the_line(shop, tmp_path, name, expected):
    editor = tmp_path / name
    editor.write_text('#!/bin/sh\necho "$@" > "$0.said"\n')
    editor.chmod(0o755)
    done = shop.gitrag(*QUESTION, "--open", env={"VISUAL": f"'{editor}'", "EDITOR": "false"})
    assert (done.status, done.out, done.err) == (0, "", "")
    assert (tmp_path / f"{name}.said").read_text() == expected.format(shop.path / "shop/client.py") + "\n"


def test_open_without_an_editor_says_what_to_do(shop):
    done = shop.gitrag(*QUESTION, "--open", env={"VISUAL": "", "EDITOR": ""})
    assert done.status == 78
    assert f"No editor to open {shop.path}/shop/client.py:7 with: VISUAL and EDITOR are not set." in done.err
    failed = shop.gitrag(*QUESTION, "--open", env={"EDITOR": "no-such-editor --wait"})
    assert failed.status == 1
    assert 'The editor "no-such-editor" cannot be run: No such file or directory.' in failed.err


def test_screens_say_drafts_and_plurals(make_project):
    """One term for a vector that is not the model's yet; a first index knows nothing before."""
    own = make_project({"a.py": "def one():\n    return 1\n", "b.py": "def one():\n    return 1\n"})
    first = own.gitrag("index", "update", "--no-embed").out
    assert first.startswith("Indexed 1 chunk from 2 files in ")
    assert "known" not in first
    own.git.write({"c.py": "def two():\n    return 2\n"})
    own.git.commit()
    assert "  1 file new, 2 files known by content\n" in own.gitrag("index", "update", "--no-embed").out
    status = own.gitrag("status").out
    assert re.search(r"vectors +0 of \d texts refined \(0 %\), the others are drafts", status)
    listed = own.gitrag("index", "status").out
    assert listed.split("\n")[0].split() == ["collection", "documents", "chunks", "drafts", "updated"]
    assert "unembedded" not in status + listed
    config = own.gitrag("config").out
    assert re.search(r"(?m)^min_score +unset$", config)
    assert "(none)" not in config


def test_status_says_what_the_worker_does_now(make_project):
    """With the rate that was measured here; without one it does not guess how long."""
    own = make_project({"a.py": "def one():\n    return 1\n"})
    assert own.gitrag("index", "update", "--no-embed").status == 0
    directory = own.store

    def working(purpose: str) -> str:
        (directory / "worker.holder").write_text(json.dumps({"pid": 7, "purpose": purpose, "since": 0}))
        return re.search(r"(?m)^working +(.+)$", own.gitrag("status").out)[1]

    with (directory / "worker.lock").open("w") as lock:
        assert try_lock(lock)
        assert working("reading commits") == "reading commits in the background (process 7)"
        refining = "refining draft vectors in the background, 0 %"
        assert working("refining draft vectors") == f"{refining} (process 7)"
        (directory / "embed.rate").write_text("0.01\n")
        assert re.fullmatch(
            rf"{refining}, about \d+ min left \(process 7\)", working("refining draft vectors")
        )
    said = own.gitrag("status").out
    assert "failed      the last background worker: process 7 ended while refining draft vectors" in said


def test_status_follows_a_real_worker_and_tells_that_it_was_killed(make_project):
    functions = (f"def step_{i}(value):\n    return value + {i}\n" for i in range(3_000))
    own = make_project({f"m{i}.py": "".join(islice(functions, 300)) for i in range(10)})
    assert own.gitrag("index", "update", "--no-embed").status == 0
    own.gitrag("index", "embed")
    seen = []
    deadline = time.monotonic() + PATIENCE_S
    while not (seen and re.search(r"refining .*, [1-9]\d* %, about \d+ (s|min) left", seen[-1])):
        assert time.monotonic() < deadline, seen
        seen.append(re.search(r"(?m)^working +(.+)$", own.gitrag("status").out)[1])
        time.sleep(0.2)
    os.kill(json.loads(own.gitrag("status", "--json").out)["worker"]["pid"], signal.SIGKILL)
    while "working     nobody" not in (said := own.gitrag("status")).out:
        assert time.monotonic() < deadline, said.out
    assert re.search(r"failed +the last background worker: process \d+ ended while refining", said.out)
    assert said.err == "hint: gitrag index embed\n"


def test_help_lists_the_exit_codes(shop):
    said = shop.gitrag("--help").out
    assert "Exit status:\n" in said
    codes = {errors.OK, errors.NOTHING, errors.USAGE, errors.STALE, errors.BUG, errors.TRY_AGAIN}
    for code in {*codes, errors.NOT_SET_UP}:
        assert re.search(rf"(?m)^ +{code} +\S", said), code


def test_config_set_writes_git_config_and_refuses_what_no_source_takes(project):
    assert project.gitrag("config", "set", "pre_push", "block").status == 0
    assert project.git.git("config", "--local", "gitrag.prePush").strip() == "block"
    assert project.gitrag("config", "pre_push").out == "block\n"
    wrong = project.gitrag("config", "set", "pre_push", "perhaps")
    assert (wrong.status, "it must be one of warn, block, update, off" in wrong.err) == (2, True)
    assert project.gitrag("config", "unset", "pre_push").status == 0
    assert project.gitrag("config", "pre_push").out == "warn\n"
    again = project.gitrag("config", "unset", "pre_push")
    assert (again.status, again.said[0]) == (2, "pre_push is not set there.")
    own = project.gitrag("config", "set", "tracker_url", "https://example.org")
    assert (own.status, own.said[1]) == (
        2,
        "hint: gitrag config set --global tracker_url https://example.org",
    )
    assert project.gitrag("config", "set", "--global", "output", "text").status == 0
    assert project.gitrag("config", "output").out == "text\n"
    listed = project.gitrag("config").out
    assert project.gitrag("config", "set", "output", "json").said == []
    assert project.gitrag("config", "set", "--global", "output", "text").said == [
        "warning: git's local configuration has json, which wins here."
    ]
    project.git.write({".gitrag.yaml": "limit: 5\n"})
    overruled = project.gitrag("config", "set", "limit", "9")
    assert (overruled.status, overruled.said) == (0, ["warning: .gitrag.yaml has 5, which wins."])
    project.git.git("config", "gitrag.refineS", "soon")
    assert project.gitrag("config", "set", "pre_push", "warn").status == 0
    assert "Other" not in listed
    assert listed.index("What is indexed") < listed.index("max_file_bytes") < listed.index("Search\n")


@pytest.mark.parametrize(
    "command",
    [
        QUESTION,
        ("check", "shop/client.py"),
        ("prime",),
        ("related", "retries"),
        ("graph", "Client"),
        ("status",),
        ("config",),
    ],
    ids=lambda command: command[0],
)
def test_json_is_the_same_word_everywhere_and_one_document(shop, command):
    done = shop.gitrag(*command, "--json")
    json.loads(done.out)
    if command[0] not in {"graph", "status", "config"}:
        assert shop.gitrag(*command, "--output", "json").out == done.out
        assert not shop.gitrag(*command, "-o", "markdown").out.startswith(("{", "["))


def test_a_terminal_gets_whole_words_in_readable_colours():
    """Yellow, cyan and white cannot be read on white, blue not on black."""
    text = "  \x1b[1mname\x1b[0m \x1b[35mand some more\x1b[0m words to read\nshort\n" + "x" * 40 + " end"
    assert folded(text, 18) == (
        "  \x1b[1mname\x1b[0m \x1b[35mand some\n    more\x1b[0m words to\n    read\nshort\n"
        + "x" * 40
        + "\n  end"
    )
    assert folded("short", 3) == "short"
    assert all(len(line) <= 30 for line in folded("- " + "word " * 40, 30).split("\n"))
    assert set(terminal._STYLES.values()) <= {"1", "2", "4", "31", "32", "35"}


@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("command", [("prime",), ("check", "shop/client.py"), ("config",), ("status",)])
def test_what_is_told_fits_a_terminal(shop, command, columns):
    """A path alone may be longer than the line."""
    said = COLOUR.sub("", shop.gitrag.on_terminal(*command, columns=columns).out).splitlines()
    assert said
    for line in said:
        assert len(line) <= columns or " " not in line.strip(), line
