"""The installed command: what it loads, what its help holds, how errors come out, and its small commands."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from gitrag import __version__
from gitrag.cli.root import COMMANDS, root
from tests.support.command import Gitrag

HEAVY = [
    "_duckdb", "duckdb", "httpx2", "numpy", "onnxruntime", "pygit2", "rich", "tokenizers", "tree_sitter",
    "tree_sitter_language_pack", "yaml",
]  # fmt: skip
COMMANDS_PAGE = Path(__file__).parents[3] / "docs" / "commands.md"


def gitrag(*args, cwd, env, stdin=None):
    done = Gitrag(cwd, env)(*args, stdin=(stdin or "").encode())
    return subprocess.CompletedProcess(args, done.status, done.out, done.err)


@pytest.fixture
def project(make_repository):
    return make_repository({"a.py": "a = 1\n"})


@pytest.fixture
def call(project):
    def call(*args, env=None, cwd=None):
        return gitrag(*args, cwd=cwd or project.path, env=project.environment | (env or {}))

    return call


def every_command():
    """Yield (path, command) of every command that help shows, groups and what is in them."""
    context = click.Context(root, info_name="gitrag")
    waiting = [("gitrag", root)]
    while waiting:
        path, command = waiting.pop()
        yield path, command
        if isinstance(command, click.Group):
            names = command.list_commands(context)
            waiting += [(f"{path} {name}", command.get_command(context, name)) for name in names]


# what is loaded


@pytest.mark.parametrize(
    "args",
    [
        ["--version"],
        ["--help"],
        ["hook", "run", "post-checkout", "a", "b", "0"],
        ["hook", "run", "post-rewrite", "amend"],
        ["-C", os.sep, "hook", "run", "post-commit"],
    ],
    ids=" ".join,
)
def test_what_must_be_quick_imports_nothing_heavy(git_environment, tmp_path, args):
    code = (
        "import sys\nfrom gitrag.cli import main\n"
        "try: main()\nexcept SystemExit as end: status = end.code\n"
        f"sys.exit(status or ' '.join(set({HEAVY!r}) & set(sys.modules)) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args],
        cwd=tmp_path,
        env=git_environment | {"GIT_CEILING_DIRECTORIES": os.sep},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["agents", "doctor", "hooks", "mcp", "repos"])
def test_help_of_a_command_reads_no_settings(tmp_path, name):
    code = (
        "import sys\nfrom gitrag.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "sys.exit(' '.join({'gitrag.config', 'gitrag.git', 'subprocess'} & set(sys.modules)) or None)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, name, "--help"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_help_of_the_whole_loads_no_command(git_environment, tmp_path):
    code = (
        "import sys\nfrom gitrag.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith('gitrag.cli.')], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--help"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    places = {entry.place.partition(":")[0] for entry in COMMANDS.values()}
    assert not [place for place in places if place in done.stderr]


@pytest.mark.skipif(sys.platform != "linux" or os.cpu_count() == 1, reason="needs /proc and two cores")
@pytest.mark.parametrize(
    ("chosen", "threads"),
    [({}, 1), ({"OPENBLAS_NUM_THREADS": "2"}, 2), ({"OMP_NUM_THREADS": "2"}, 2)],
    ids=["nothing", "for numpy", "for all"],
)
def test_numpy_has_one_thread_unless_the_user_says_how_many(git_environment, tmp_path, chosen, threads):
    code = (
        "import os\nfrom gitrag.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "import numpy\nprint(len(os.listdir('/proc/self/task')))"
    )
    kept = {name: value for name, value in git_environment.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "--version"],
        cwd=tmp_path,
        env=kept | chosen,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == str(threads)


# help


@pytest.mark.parametrize(("path", "command"), [pytest.param(*each, id=each[0]) for each in every_command()])
def test_every_command_shows_an_example(path, command):
    text = command.get_help(click.Context(command, info_name=path))
    examples = text.partition("Examples:\n")[2]
    assert "gitrag" in examples or path.split()[-1] in examples


@pytest.mark.parametrize("name", [name for name, entry in COMMANDS.items() if not entry.hidden])
def test_the_tables_help_is_the_commands_own(name):
    command = COMMANDS[name].load()
    assert command.name == name
    assert command.get_short_help_str(200) == COMMANDS[name].help


@pytest.mark.parametrize("name", [name for name, entry in COMMANDS.items() if not entry.hidden])
def test_every_command_is_on_its_page(name):
    assert f"| `gitrag {name}" in COMMANDS_PAGE.read_text("utf-8")


def test_without_a_command_help_is_shown_as_a_usage_error(call):
    done = call()
    assert (done.returncode, done.stdout) == (2, "")
    assert "Commands:\n" in done.stderr


def test_version(call):
    assert call("--version").stdout == f"gitrag {__version__}\n"


# errors


@pytest.mark.parametrize(
    ("args", "message", "hint"),
    [
        (["xyzzy"], 'There is no command "xyzzy".', "gitrag --help"),
        (["hoks"], 'There is no command "hoks". Did you mean "hooks"?', "gitrag --help"),
        (["hooks", "statsu"], 'There is no command "statsu". Did you mean "status"?', "gitrag hooks --help"),
        (
            ["config", "a", "b"],
            "config takes one setting, or set KEY VALUE, or unset KEY.",
            "gitrag config --help",
        ),
        (["config", "pre_posh"], 'There is no setting "pre_posh".', 'Did you mean "pre_push"?'),
        (
            ["-C", "nowhere", "config"],
            "-C nowhere: there is no such directory.",
            "Give an existing directory.",
        ),
    ],
)
def test_a_usage_error_says_what_is_wrong_and_where_to_read(call, args, message, hint):
    done = call(*args)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [message, f"hint: {hint}"]


def test_an_error_of_gitrags_has_its_own_exit_code_and_hint(call, tmp_path):
    done = call("hooks", "status", cwd=tmp_path, env={"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    message, hint = done.stderr.splitlines()
    assert done.returncode == 78
    assert hint.startswith("hint: ")
    assert "hint" not in message


RAISER = """
import os, sys
from collections import ChainMap
from gitrag.cli import boundary, root
from gitrag.cli.frame import LazyCommand as Entry
import click

@click.command()
def broken():
    {body}

class Broken:
    def load(self):
        return broken

root.root.entries = {{"broken": Broken()}}
sys.exit(boundary.run(["broken"], os.environ))
"""


def broken(project, body, **settings):
    code = RAISER.format(body=body)
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=settings.pop("cwd", project.path),
        env=project.environment | settings.pop("env", {}),
        capture_output=True,
        text=True,
        check=False,
        **settings,
    )


def test_a_bug_is_logged_in_the_repository_and_its_place_printed(project):
    done = broken(project, "raise ZeroDivisionError('by\\x1b zero')")
    log = project.path / ".git" / "gitrag" / "log"
    assert done.returncode == 70
    assert done.stderr.splitlines() == [
        "gitrag hit a bug: ZeroDivisionError: by\\x1b zero",
        f"hint: the traceback is in {log}; please report it",
    ]
    assert "Traceback" in log.read_text()


def test_outside_a_repository_a_bug_is_logged_in_the_users_state_directory(project, tmp_path):
    place = tmp_path / "elsewhere"
    place.mkdir()
    env = {"XDG_STATE_HOME": str(tmp_path / "state"), "GIT_CEILING_DIRECTORIES": str(tmp_path)}
    done = broken(project, "raise ZeroDivisionError", cwd=place, env=env)
    assert done.returncode == 70
    [log] = [Path(word.rstrip(";")) for word in done.stderr.split() if word.endswith("log;")]
    assert "Traceback" in log.read_text()


def test_an_interrupt_is_quiet(project):
    done = broken(project, "raise KeyboardInterrupt")
    assert (done.returncode, done.stderr.strip()) == (130, "")


def test_a_reader_that_goes_away_is_no_error(project):
    body = "sys.stdout.write('x' * 10_000_000)"
    script = f'{sys.executable} -c "$CODE" | head -c 1 >&2; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=project.path,
        env=project.environment | {"CODE": RAISER.format(body=body), "PYTHONUNBUFFERED": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("141\n", "x")


def test_a_name_that_is_no_text_is_no_encoding_error(project):
    done = broken(project, "print('caf\\udce9 \\u6f22')", env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert (done.returncode, done.stdout) == (0, "caf\\udce9 \\u6f22\n")


# config


def test_config_lists_every_setting_with_its_origin(call, project):
    project.git("config", "gitrag.prePush", "block")
    project.write({".gitrag.yaml": "limit: 3\npre_push: off\n"})
    done = call("config", env={"GITRAG_THREADS": "2", "GITRAG_LIMITS": "3"})
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "pre_push block (git config gitrag.prePush)" in lines
    assert "limit 3 (.gitrag.yaml)" in lines
    assert "threads 2 (GITRAG_THREADS)" in lines
    assert "min_score unset" in lines
    assert [line.partition(":")[0] for line in done.stderr.splitlines()] == ["warning", "warning"]
    assert (done.returncode, "\x1b" in done.stdout) == (0, False)


def test_config_as_json(call):
    rows = json.loads(call("config", "--json", env={"GITRAG_MODEL_DIR": "/m"}).stdout)
    row = next(row for row in rows if row["key"] == "model_dir")
    assert (row["value"], row["origin"], row["git_config"], row["team"]) == (
        "/m",
        "GITRAG_MODEL_DIR",
        "gitrag.modelDir",
        False,
    )


def test_config_of_one_key_prints_its_value(call):
    assert call("config", "gitrag.prePush").stdout == "warn\n"


def test_config_outside_a_repository_reads_what_holds_everywhere(call, project, tmp_path):
    project.git("config", "--global", "gitrag.limit", "4")
    done = call("config", "limit", cwd=tmp_path, env={"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    assert (done.returncode, done.stdout) == (0, "4\n")


def test_the_model_lies_where_the_user_says_outside_a_repository_too(call, project, tmp_path):
    project.git("config", "--global", "gitrag.modelDir", str(tmp_path / "model"))
    outside = {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    for cwd in (project.path, tmp_path):
        done = call("model", "status", "--json", cwd=cwd, env=outside)
        assert (json.loads(done.stdout)["path"], done.stderr) == (str(tmp_path / "model"), "")


def test_config_with_a_wrong_value_says_which(call):
    done = call("config", env={"GITRAG_LIMIT": "none"})
    assert done.returncode == 2
    assert done.stderr.startswith(
        'limit is "none" (GITRAG_LIMIT): it must be a whole number from 1 to 1000.\n'
    )


def test_another_repository_is_looked_at_by_its_path(call, project, tmp_path):
    project.git("config", "gitrag.limit", "4")
    assert call("-C", str(project.path), "config", "limit", cwd=tmp_path).stdout == "4\n"


def test_colour_on_request(call):
    assert "\x1b[" in call("--color", "always", "config").stdout


# hooks


def test_hooks_are_installed_looked_at_and_removed(call, project):
    assert call("hooks", "status").returncode == 1
    done = call("hooks", "install")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        [name, "installed"]
        for name in ("post-commit", "post-merge", "post-checkout", "post-rewrite", "pre-push")
    ]
    rows = json.loads(call("hooks", "status", "--json").stdout)
    assert {row["state"] for row in rows} == {"installed"}
    done = call("hooks", "uninstall")
    assert done.stdout.splitlines()[0] == "post-commit    removed"
    assert list((project.path / ".git" / "hooks").iterdir()) == []


def test_what_is_to_be_added_by_hand_is_printed_exactly(call, project):
    project.git("config", "core.hooksPath", "team")
    done = call("hooks", "install")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    at = lines.index(f"    to install it, add to {project.path / 'team' / 'post-commit'}:")
    added = '(gitrag hook run post-commit "$@" </dev/null >/dev/null 2>&1 &)'
    assert lines[at + 1 : at + 3] == ["#!/bin/sh", added]  # as it is to be pasted: not indented


# completion


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_is_one_the_shell_reads(call, shell):
    done = call("completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.stdout, text=True, check=True)


def test_commands_and_options_are_completed(call):
    env = {"_GITRAG_COMPLETE": "bash_complete", "COMP_WORDS": "gitrag ho", "COMP_CWORD": "1"}
    assert call(env=env).stdout == "plain,hooks\n"
    env |= {"COMP_WORDS": "gitrag hooks st", "COMP_CWORD": "2"}
    assert call(env=env).stdout == "plain,status\n"


# the hidden one


def test_a_hook_of_a_broken_index_fails_silently_into_the_log(project):
    """Whatever the worker meets, git's terminal shows nothing and git goes on."""
    (project.path / ".gitrag.yaml").write_text("limit: nonsense\n")
    done = gitrag("hook", "run", "post-commit", cwd=project.path, env=project.environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert 'limit is "nonsense"' in (project.path / ".git" / "gitrag" / "log").read_text()
