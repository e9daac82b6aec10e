"""Contents, names and questions that nobody expects."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from tests.support.command import Gitrag, Project, as_plain_user, user_environment
from tests.support.repository import Link, create_repository

ESCAPES = "\x1b]0;title\x07 \x1b[2J\x1b[31m \x9b31m \u202e"

FILES = {
    b"caf\xe9 latin.py": b"def latin_coffee():\n    return 'caf\xe9'\n",
    "not_utf8.py": b"def broken_bytes():\n    return '\xff\xfe\xfd'\n",
    "wide.py": "def sixteen_bits(): pass\n".encode("utf-16"),
    "one_line.js": "var giant_statement = '" + "word " * 200_000 + "';",
    "one_line.txt": "haystackword " + "x" * 999_000,
    "empty.py": "",
    "newlines.py": "\n\n\n",
    "deep.py": "def deeply_nested():\n    return " + "(" * 20_000 + ")" * 20_000 + "\n",
    "deep.js": "function deeply_scripted(){" * 5_000 + "}" * 5_000,
    "deep.json": "[" * 100_000 + "]" * 100_000,
    f"esc{ESCAPES}.py": f"def escaping_sequences():\n    '''Escaping {ESCAPES} sequences.'''\n",
    "new\nline.py": "def newline_in_name(): pass\n",
    "中文.py": "def 查询数据():\n    '''如何查询数据库'''\n",
    "returns.py": b"def carriage_returns():\r\r\n    overwritten = 'a\rb'\r\n",
    "nul.py": b"def nul_byte(): pass\0\n",
    "link.py": Link("/etc/passwd"),
    "loop.py": Link("loop.py"),
}


@pytest.fixture(scope="module")
def odd(tmp_path_factory, model_dir) -> Project:
    directory = tmp_path_factory.mktemp("odd")
    environment = user_environment(directory / "home", model_dir)
    git = create_repository(directory / "project", environment, FILES)
    os.mkfifo(git.path / "pipe.py")
    project = Project(git, Gitrag(git.path, environment))
    done = project.gitrag("index", "update", "--no-embed")
    assert (done.status, done.err) == (0, "")
    assert done.out.endswith("  left out: 2 minified, 2 symlink, 1 binary\n"), done
    assert project.gitrag("index", "embed", "--foreground").status == 0
    return project


def unsafe(text):
    """Return what a terminal might obey."""
    return [each for each in text if each != "\n" and not each.isprintable()]


@pytest.mark.sweep(keep=4)
@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("latin coffee", r"caf\xe9 latin.py"),
        ("broken bytes", "not_utf8.py"),
        ("sixteen bits", "wide.py"),
        ("haystackword", "one_line.txt"),
        ("deeply_nested", "deep.py"),
        ("escaping sequences", r"esc\x1b]0;title\x07 \x1b[2J\x1b[31m \x9b31m \u202e.py"),
        ("newline in name", r"new\nline.py"),
        ("如何查询数据库", "中文.py"),
        ("查询数据", "中文.py"),
        ("carriage returns", "returns.py"),
    ],
)
def test_what_is_odd_is_found_and_shown_safely(odd, question, path):
    done = odd.gitrag("search", question, "--output", "text", "--limit", "1", "--explain")
    assert (done.status, done.err) == (0, "")
    assert path in done.out
    assert unsafe(done.out) == []


@pytest.mark.parametrize(
    ("question", "output", "path"),
    [("latin coffee", "markdown", r"caf\xe9 latin.py"), ("查询数据", "text", r"\u4e2d\u6587.py")],
)
def test_a_terminal_that_is_not_utf_8_is_shown_what_it_can_show(odd, question, output, path):
    ascii_only = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0"}
    own = replace(odd.gitrag, forks=False)
    done = own("search", question, "--output", output, "--limit", "1", env=ascii_only)
    assert (done.status, done.err, path in done.out, done.out.isascii()) == (0, "", True, True)


def test_markdown_too_shows_safely(odd):
    done = odd.gitrag("search", "escaping sequences in a newline name", "--output", "markdown")
    assert (done.status, done.err) == (0, "")
    assert r"- **new\nline.py** (score: " in done.out
    assert r"Escaping \x1b]0;title\x07" in done.out
    assert unsafe(done.out) == []


def test_json_says_everything_and_a_terminal_obeys_nothing_of_it(odd):
    done = odd.gitrag("search", "escaping sequences", "--output", "json", "--limit", "1")
    [hit] = json.loads(done.out)["code_snippets"]
    assert hit["path"] == f"esc{ESCAPES}.py"
    assert ESCAPES in hit["snippet"]
    assert unsafe(done.out) == []


def test_where_a_repository_lies_is_shown_safely_too(make_project, tmp_path):
    project = make_project({"a.py": "a = 1\n"}, name="evil\x1b]0;title\x07\ndirectory")
    evil = r"evil\x1b]0;title\x07\ndirectory"
    model = {"GITRAG_MODEL_DIR": str(tmp_path / "\x1b[2Jmodel")}
    said = ""
    for command in (
        ["init", "--skip-embed"],
        ["status"],
        ["doctor"],
        ["hooks", "status"],
        ["model", "status"],
    ):
        done = project.gitrag(*command, env=model)
        said += done.out + done.err
    project.store.chmod(0o500)
    (project.store / "index.duckdb").write_bytes(b"")
    done = project.gitrag("index", "update", wrapper=as_plain_user())
    assert done.status == 78
    assert evil in said
    assert evil in done.err
    assert unsafe(said + done.err) == []


def test_names_are_read_alike_whatever_the_locale(project):
    """Names in git are bytes, UTF-8 mostly; Python would read them as the terminal speaks."""
    elsewhere = {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    project.git.commit({"café.py": "def serve_coffee(): pass\n", b"th\xe9.py": "def serve_tea(): pass\n"})
    assert project.gitrag("index", "update", "--no-embed", env=elsewhere).status == 0
    project.git.write({"café.py": "def serve_espresso(): pass\n", "中文.py": "def 查询数据(): pass\n"})
    question = "serve espresso 😀, serve tea, 查询数据"
    for env in (elsewhere, {}):
        done = project.gitrag("search", question, "--output", "json", env=env)
        assert (done.status, done.err) == (0, ""), done
        answer = json.loads(done.out)
        paths = {each["path"] for each in answer["code_snippets"]}
        assert (answer["query"], paths >= {"café.py", "th\ufffd.py", "中文.py"}) == (question, True), paths


def test_long_lines_are_cut_at_the_terminals_width(odd):
    done = odd.gitrag.on_terminal("search", "haystackword", "-n", "1", env={"NO_COLOR": "1"}, columns=60)
    assert done.status == 0
    assert [len(line) for line in done.out.splitlines() if "xxxx" in line] == [60]
    done = odd.gitrag.on_terminal("search", "如何查询数据库", "-n", "1", env={"NO_COLOR": "1"}, columns=24)
    [line] = [line for line in done.out.splitlines() if "'''" in line]
    assert line == "  2      '''如何查询数…"


@pytest.mark.parametrize("question", ["", " ", "...", "!?", "-- ---", "\n"])
def test_a_question_without_words_is_a_usage_error(odd, question):
    done = odd.gitrag("search", "--", question)
    assert (done.status, done.out) == (2, "")
    assert done.said[0].startswith("There is no word to search for in ")
    assert done.said[1] == 'hint: Ask in words, for example: gitrag search "where are retries implemented"'


@pytest.mark.parametrize(
    "question", ["a", "查", "q" * 10_000, "word " * 2_000, "\x1b[31m red", "(" * 10_000 + "a"]
)
def test_a_question_of_any_length_gets_an_answer(odd, question):
    done = odd.gitrag("search", question, "--output", "json")
    assert done.status in {0, 1}
    answer = json.loads(done.out)
    assert (done.status == 0) == bool(answer["code_snippets"])
    assert all(0 < hit["score"] <= 1 for hit in answer["code_snippets"])
    assert all(len(line) < 200 and line.isprintable() for line in done.said)


def test_nothing_found_is_said_and_is_status_1(odd):
    done = odd.gitrag("search", "zzyzx", "quetzal", "--output", "markdown")
    assert done.status == 1
    assert done.out == (
        "No relevant ADRs, specs, or code found for 'zzyzx quetzal'. Try a broader search term.\n"
    )
    assert done.said[0] == 'No indexed file contains "zzyzx" or "quetzal".'
    assert done.said[1].startswith("Looked at ")


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize(
    "text",
    [
        b"The haystack never ends\n\n```python\nfor _ in range(10):\n    zzyzx(3)\n```\n",
        b"The haystack f\xe4ils\nsecond line " + b"of zzyzx " * 20,
        bytes(range(256)) * 10,
        b"<!-- the haystack\n" + b"and zzyzx about it " * 10 + b"\n-->\n",
    ],
)
def test_any_text_is_read_from_stdin(odd, text):
    done = odd.gitrag("search", "-", "--output", "json", stdin=text)
    assert done.status in {0, 1, 2}
    if done.status == 2:
        assert done.said[0].startswith("There is no word to search for")
    else:
        assert json.loads(done.out.encode("utf-8"))["query"]


def test_a_bug_report_is_read_from_stdin_and_not_repeated(odd):
    text = "The haystack is never searched\n\nWhat was printed:\n\x1b[31m" + "very red words\n" * 40
    done = odd.gitrag("search", "-", "--output", "markdown", stdin=text.encode())
    assert done.status == 0
    [heading] = [line for line in done.out.splitlines() if "The haystack is never searched" in line][:1]
    assert len(heading) < 300
    assert heading.isprintable()
    told = json.loads(odd.gitrag("search", "-", "--output", "json", stdin=text.encode()).out)
    assert told["query"] == " ".join(text.split())
