"""A terminal, and what is none: form, colour, progress, Ctrl-C."""

from __future__ import annotations

import json
import re

import pytest

QUESTION = ("search", "retry", "with", "backoff")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def test_text_on_a_terminal_and_markdown_elsewhere(indexed):
    shown = indexed.gitrag.on_terminal(*QUESTION)
    first = COLOUR.sub("", shown.out).partition("\n")[0]
    assert (shown.status, re.sub(r"\d+-\d+", "…", first)) == (
        0,
        "client.py:…  function retry_with_backoff  0.97",
    )
    done = indexed.gitrag(*QUESTION)
    assert done.out.startswith("## Search Results: retry with backoff\n")


@pytest.mark.parametrize(
    ("env", "args", "coloured"),
    [
        ({}, (), True),
        ({"NO_COLOR": "1"}, (), False),
        ({"TERM": "dumb"}, (), False),
        ({"NO_COLOR": "1"}, ("--color", "always"), True),
        ({"FORCE_COLOR": "1"}, ("--color", "never"), False),
    ],
    ids=str,
)
def test_colour_on_a_terminal(indexed, env, args, coloured):
    assert bool(COLOUR.search(indexed.gitrag.on_terminal(*args, "config", env=env).out)) is coloured


@pytest.mark.parametrize(("env", "coloured"), [({}, False), ({"FORCE_COLOR": "1"}, True)], ids=str)
def test_colour_elsewhere(indexed, env, coloured):
    assert bool(COLOUR.search(indexed.gitrag("config", env=env).out)) is coloured


@pytest.mark.parametrize("command", [(), ("search",), ("index",), ("init",), ("check",)], ids=str)
def test_help_fits_a_terminal_and_has_examples(indexed, command):
    done = indexed.gitrag.on_terminal(*command, "--help", columns=80)
    assert done.status == 0
    assert "Examples:\n  gitrag " in done.out
    assert [line for line in done.out.splitlines() if len(line) > 80] == []


@pytest.fixture
def long_work(make_project):
    """A repository whose indexing takes some seconds, on several processes: of more than 3 MiB."""
    lines = "    total = total * 31 + 7  # and so on, and so forth\n" * 20
    body = "".join(f"def function_{i}(total):\n{lines}    return total\n\n\n" for i in range(46))
    empty = (" " * 99 + "\n") * 400
    return make_project({f"module_{i}.py": f"number = {i}\n{body}{empty}" for i in range(40)})


def test_ctrl_c_while_indexing_is_quiet_and_the_next_command_works(long_work):
    """All processes of the command's group get it."""
    done = long_work.gitrag.on_terminal(
        "index", "update", "--no-embed", interrupt_after=".git/gitrag/index.duckdb"
    )
    assert done.status == 130
    assert "Error" not in done.out
    done = long_work.gitrag("search", "function_17", "--path", "module_1.py", "--output", "json")
    assert (done.status, json.loads(done.out)["code_snippets"][0]["path"]) == (0, "module_1.py")
    assert "\x1b" not in done.out + done.err, "progress is shown on a terminal only"
    done = long_work.gitrag("index", "update", "--no-embed")
    assert done.status == 0
    assert re.match(r"Indexed [\d,]+ chunks from 40 files in [\d.]+ s\n", done.out)


INTERRUPT = """
import os, signal, sys

class Interrupts:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupts)
"""


@pytest.mark.parametrize("module", ["gitrag.cli.boundary", "gitrag.workspace", "_duckdb", "onnxruntime"])
def test_ctrl_c_at_any_time_leaves_no_traceback(indexed, tmp_path, module):
    """Pressed when a module is about to be loaded."""
    (tmp_path / "sitecustomize.py").write_text(INTERRUPT.format(module=module))
    done = indexed.gitrag(*QUESTION, env={"PYTHONPATH": str(tmp_path)})
    assert (done.status, done.out, done.err.strip()) == (130, "", "")


def test_progress_is_shown_on_a_terminal(long_work):
    shown = long_work.gitrag.on_terminal("index", "update", "--no-embed", env={"GITRAG_THREADS": "1"})
    assert shown.status == 0
    assert "/40" in shown.out
