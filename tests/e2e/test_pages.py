"""The examples of README.md and of the pages in docs/ are run as they stand there."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import click
import pytest

from gitrag.cli.root import root
from tests.support.command import program, user_environment
from tests.support.repository import create_repository

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINE = re.compile(r"(?m)^ {4}(?:\$ )?((?:[A-Z_]+=\S+ )?(?:gitrag|git|echo|vim|uvx|pipx|pip|claude) .*)$")
ELSEWHERE = re.compile(r"\b(?:pipx?|uvx|claude)\b|--git-url|--dep|gitrag (?:hub|web|ui|mcp)\b|GITRAG_HUB")
"""Needs a network, a server or a terminal, or serves until it is ended: held to the options there are."""
SESSION = '''"""Sessions."""

MAX_RETRIES = 3


class Session:
    """Sends requests, with retries and backoff."""

    def send(self, request, retry_count=MAX_RETRIES):
        """Send a request; parse the config, check the token."""
        for _ in range(retry_count):
            return request()
        raise ConnectionError("too many redirects for this session")
'''
FILES = {
    "sessions.py": SESSION + "\n# padding\n" * 60,
    "src/app.py": "from sessions import Session\n\n\ndef main():\n    return Session().send(print)\n",
    "src/auth.py": 'def check_token(token):\n    """Tell whether a token is right."""\n'
    + "    token += 1\n" * 60,
    "src/net/io.py": "def read(timeout):\n    return timeout\n",
    "docs/adr/0001-grpc.md": "# Use REST\n\n## Status\n\naccepted\n\n## Decision\n\nREST, not gRPC.\n",
    "CLAUDE.md": "Be brief.\n",
    "report.md": f"Sessions fail\n\n{'It fails. ' * 15}\nToo many redirects for this session\n",
}


def examples(page: Path) -> list[str]:
    return [line.split(" | …")[0] for line in LINE.findall(page.read_text("utf-8"))]


@pytest.fixture(scope="module")
def shell(tmp_path_factory, model_dir):
    """Run a line in a repository ``shop`` on a branch, beside ``api`` and ``api-x``, all indexed."""
    place = tmp_path_factory.mktemp("pages")
    programs = place / "bin"
    programs.mkdir()
    (place / "home" / ".cursor").mkdir(parents=True)
    environment = user_environment(place / "home", model_dir)
    environment |= {"PATH": f"{programs}:{environment['PATH']}", "VISUAL": "true"}
    for name, script in {"gitrag": f'exec {program(environment)} "$@"', "vim": 'cat "$2"'}.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)

    def run(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line], cwd=cwd, env=environment, capture_output=True, text=True, check=False
        )

    for name in ("api", "api-x", "shop"):
        git = create_repository(place / name, environment, FILES)
        assert run("gitrag index update --no-embed && gitrag repos add .", git.path).returncode == 0
    git.git("clone", "--quiet", "--bare", ".", str(place / "origin.git"))
    git.git("remote", "add", "origin", str(place / "origin.git"))
    git.git("switch", "--quiet", "--create", "feature")
    git.commit({"src/app.py": FILES["src/app.py"] + "\n\ndef again():\n    return main()\n"})
    return lambda line: run(line, git.path)


def test_the_pages_have_examples():
    assert sum(len(examples(page)) for page in PAGES) > 80


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.stem)
def test_the_examples_of(page, shell):
    for line in examples(page):
        if ELSEWHERE.search(line):
            assert_there_is(line)
            continue
        done = shell(line)
        assert done.returncode in {0, 1}, (line, done.stderr)
        assert "Traceback" not in done.stderr, line


def assert_there_is(line: str) -> None:
    """Hold a command line of gitrag to the commands and options that there are."""
    words = shlex.split(line, comments=True)
    if "gitrag" not in words or "install" in words:
        return
    context, rest = None, words[len(words) - words[::-1].index("gitrag") :]
    command: click.Command = root
    while isinstance(command, click.Group):
        name, command, rest = command.resolve_command(click.Context(command), rest)
        context = click.Context(command, parent=context, info_name=name)
        if not isinstance(command, click.Group):
            command.parse_args(context, rest)
