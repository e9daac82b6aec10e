"""Command lines and settings that make no sense: what is wrong, and where to read on."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from gitrag.config.keys import KEYS
from tests.support.repository import Link


@pytest.mark.parametrize(
    ("args", "message", "hint"),
    [
        (["serch"], 'There is no command "serch". Did you mean "search"?', "gitrag --help"),
        (["--colour", "never"], "No such option '--colour'.", "gitrag --help"),
        (["search", "--outptu", "json", "x"], "No such option '--outptu'.", "gitrag search --help"),
        (["related", "--diff"], "Option '--diff' requires an argument.", "gitrag related --help"),
        (["search", "-o", "xml", "x"], "Invalid value for '-o' / '--output': 'xml' is not one of", ""),
        (["search", "-n", "0", "x"], "Invalid value for '-n' / '--limit': 0 is not in the range", ""),
        (["search", "-n", "many", "x"], "Invalid value for '-n' / '--limit': 'many' is not a valid", ""),
        (["search", "--min-score", "2", "x"], "Invalid value for '--min-score': 2.0 is not in the", ""),
        (["search", "--min-score", "nan", "x"], "Invalid value for '--min-score': 'nan' is not a", ""),
        (["search", "--lang", "pyton", "x"], 'There is no language "pyton".', 'Did you mean "python"?'),
        (["search", "--lang", "xyzzy", "x"], 'There is no language "xyzzy".', "`gitrag status` lists"),
        (["search", "--kind", "verb", "x"], "Invalid value for '--kind': 'verb' is not one of", ""),
        (["index", "remov"], 'There is no command "remov". Did you mean "remove"?', "gitrag index --help"),
        (["index", "embed", "--for", "-1"], "Invalid value for '--for': -1.0 is not in the range", ""),
        (["check"], "check takes one file or directory.", "For example: gitrag check"),
        (["completion", "tcsh"], "Invalid value for '{bash|zsh|fish}': 'tcsh' is not one of", ""),
        (["-C", "nowhere", "status"], "-C nowhere: there is no such directory.", ""),
        (["config", "limt"], 'There is no setting "limt".', 'Did you mean "limit"?'),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_line_that_makes_no_sense(indexed, args, message, hint):
    done = indexed.gitrag(*args)
    assert (done.status, done.out) == (2, "")
    assert done.said[0].startswith(message)
    assert done.said[1].startswith(f"hint: {hint}")


def test_a_language_is_given_by_its_name_or_its_suffix(indexed):
    for language in ("python", "Python", "py"):
        done = indexed.gitrag("search", "retry_with_backoff", "--lang", language, "-o", "text")
        assert done.out.startswith("client.py:")
    assert indexed.gitrag("search", "retry_with_backoff", "--lang", "rust").status == 1


def test_no_question_shows_the_help_of_search(indexed):
    """With examples, on stderr, and the exit code of a usage error."""
    done = indexed.gitrag("search")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("Usage: gitrag search [OPTIONS] [QUERY]...\n")
    assert done.err.count("\n  gitrag search ") >= 2


def test_a_word_of_any_bytes_and_any_length_is_taken_for_what_it_is(indexed, some):
    """Bytes that are not UTF-8 are in no text; a name that is too long is of no file."""
    for args in some(
        [
            command
            for given in (b"re\xfftry", b"\xed\xa0\xbd", b"a" * 500)
            for command in (
                ("search", given),
                ("search", "--word", given),
                ("search", "--regex", given),
                ("search", "--path", given, "retry"),
                ("similar", given),
                ("similar", given + b".py:1"),
                ("history", "--author", given, "retry"),
                ("history", "--touches", given, "retry"),
                ("why", given),
                ("graph", given),
                ("repos", "add", given),
                ("-C", given, "status"),
            )
        ],
        keep=12,
    ):
        done = indexed.gitrag(*args)
        assert done.status in {0, 1, 2, 78}, (args, done)


def test_a_variable_that_gitrag_names_is_none_that_it_warns_of(indexed):
    """Whatever a message, a document or the agents' files tell somebody to set."""
    root = Path(__file__).parents[2]
    told = {
        name
        for path in (root / "README.md", *root.glob("docs/*.md"), *root.glob("gitrag/**/*.py"))
        for name in re.findall(r"(?<!\w)GITRAG_[A-Z_]+(?!\w)", path.read_text())
    }
    done = indexed.gitrag("config", env=dict.fromkeys(told - {key.variable for key in KEYS}, "9"))
    assert {"GITRAG_HOME", "GITRAG_GIT_TIMEOUT_S"} <= told
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize(
    ("env", "message", "hint"),
    [
        (
            {"GITRAG_LIMIT": "x"},
            'limit is "x" (GITRAG_LIMIT): it must be',
            "`unset GITRAG_LIMIT` removes it.",
        ),
        ({"GITRAG_MODEL_DIR": "here"}, 'model_dir is "here" (GITRAG_MODEL_DIR): it must be an absolute', ""),
        ({"GITRAG_MIN_SCORE": "nan"}, 'min_score is "nan" (GITRAG_MIN_SCORE): it must be a number', ""),
        (
            {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "gitrag.prePush", "GIT_CONFIG_VALUE_0": "maybe"},
            'pre_push is "maybe" (git config gitrag.prePush): it must be one of warn, block, update, off.',
            "`git config --unset gitrag.prePush` removes it.",
        ),
    ],
    ids=str,
)
def test_a_setting_that_makes_no_sense(indexed, env, message, hint):
    done = indexed.gitrag("status", env=env)
    assert (done.status, done.out) == (2, "")
    assert done.said[0].startswith(message)
    assert done.said[1].startswith(f"hint: {hint}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("limit: none\n", ".gitrag.yaml): it must be a whole number from 1 to 1000."),
        ("limit: 3\nlimit: 4\n", ".gitrag.yaml, line 2, column 1: 'limit' is set twice."),
        ("limit: [3\n", ".gitrag.yaml, line 2, column 1: expected"),
        ("- limit\n", ".gitrag.yaml, line 1, column 1: it must hold lines of the form `key: value`."),
        ("a: &x [1]\nexclude: *x\n", ".gitrag.yaml, line 2, column 10: aliases are not allowed"),
        ("exclude: !!python/name:os.system\n", ".gitrag.yaml, line 1, column 10: tags are not allowed"),
        (b"limit: \xff\xfe\n", ".gitrag.yaml is not UTF-8 text."),
        ("#" * 70_000, ".gitrag.yaml is larger than 65536 bytes."),
        (Link("/etc/passwd"), ".gitrag.yaml cannot be read: "),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_team_file_that_makes_no_sense(project, content, message):
    project.git.write({".gitrag.yaml": content})
    done = project.gitrag("search", "retry")
    assert (done.status, done.out) == (2, "")
    assert message in done.said[0]
    assert done.said[1].startswith("hint: ")


def test_a_pipe_in_the_team_files_place_holds_nobody_up(project):
    os.mkfifo(project.path / ".gitrag.yaml")
    done = project.gitrag("status")
    assert (done.status, done.said[0]) == (2, ".gitrag.yaml is not a regular file.")


def test_what_a_team_file_may_not_set_is_told_and_ignored(project):
    project.git.write({".gitrag.yaml": "model_dir: /elsewhere\nlimt: 3\n"})
    done = project.gitrag("config", "model_dir")
    assert (done.status, done.out) == (0, project.git.environment["GITRAG_MODEL_DIR"] + "\n")
    assert [line.partition(":")[0] for line in done.said] == ["warning", "warning"]
    assert done.said[0].startswith("warning: .gitrag.yaml sets model_dir, which only you may set: ignored.")
