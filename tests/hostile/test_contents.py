"""A repository cloned from a stranger: its files, names and settings are data, whatever they try.

Each of its tricks would leave a trace: a file that a command made, a connection, a secret in an answer, a
change outside, a terminal's escape, minutes of a processor or gigabytes of memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import socket
import subprocess
import threading
from collections.abc import Iterator

import pytest

from tests.support.command import GITRAG, Done, Gitrag, Project, everything_in, user_environment
from tests.support.repository import Link, create_repository

SECRET = "hunter2secret"  # noqa: S105 - of a file outside
EVIL = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\u202e"
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
)
EMPTY_INDEX = b"DIRC\0\0\0\2\0\0\0\0"
DEEP = "[" * 30_000 + "]" * 30_000
CANARY = "from pathlib import Path; Path({0!r}).touch()\n"
MOST_CPU_S, MOST_BYTES = 300, 2 << 30
"""Of a command; a trick that works takes hours, or all there is."""

ONLY_THE_USERS = {
    "model_dir": "/etc",
    "pre_push": "block",
    "auto_index": "on",
    "index_place": "cache",
    "threads": "1000",
    "catch_up_s": "100000",
    "refine_s": "100000",
    "lock_timeout_s": "100000",
    "gc_keep": "0s",
    "tracker_credentials": "git",
    "share_push": "on",
    "hub": "postgresql://stranger@localhost/code",
}


@pytest.fixture(scope="module")
def listener() -> Iterator[tuple[str, list[object]]]:
    """A server of the stranger's, and who has called it."""
    called: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, address = server.accept()
                except OSError:
                    return
                called.append(address)
                connection.close()

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", called
        server.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, model_dir, listener) -> Project:
    place = tmp_path_factory.mktemp("hostile")
    outside, traces = place / "outside", place / "traces"
    traces.mkdir()
    for name in ("secret.md", "adr/ADR-0001-secret.md", "issues/1.md", "specs/one/spec.md"):
        path = outside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {SECRET}\n\nThe {SECRET} retry.\n")
    url = listener[0]
    settings = "".join(f"{key}: {value}\n" for key, value in ONLY_THE_USERS.items())
    modules = {
        module: CANARY.format(str(traces / f"import {module}"))
        for module in ("gitrag", "_duckdb", "yaml", "numpy", "pygit2", "sitecustomize", "click", "json")
    }
    command = f"touch '{traces}/command'"
    files = {
        **{f"{name}.py": text for name, text in modules.items()},
        "client.py": f"def retry_with_backoff():\n    '''Retry {EVIL} with backoff.'''\n",
        f"esc{EVIL}.py": "def retry_escaped(): pass\n",
        ".gitrag.yaml": settings
        + f"command: {command}\nmodel_url: {url}\ntracker_url: {url}\ntracker: gitlab\n"
        + f"index_url: {url}\nhooks: {{post-commit: {command}}}\n"
        + "adrs: ['../outside/**', '/etc/**', 'docs/adr/*.md']\nspecs: ['../../**']\n"
        + "modules: ['../outside', '/etc']\n"
        + f"exclude: ['{'**/' * 300}x', '{'*a' * 300}', '{'[' * 200}', '{'{a,' * 100}']\n"
        + "search_strategy: {mode: hybrid, rag: {mcp_tool: rm_rf}}\n",
        "package.json": json.dumps({"workspaces": ["../../*", "/etc/*", "*" * 500, "{a,b}" * 200]}),
        "pnpm-workspace.yaml": BOMB,
        "go.work": "use ../../outside\n" * 2000,
        "Cargo.toml": f"[workspace]\nmembers = [{'../outside,' * 5}'{'*/' * 400}']\n",
        "pyproject.toml": "a" + ".a" * 3000 + " = 1\n",
        "docs/adr/ADR-0002-bomb.md": f"---\n{BOMB}---\n# Retry bomb\n\nRetry.\n",
        "docs/adr/ADR-0003-deep.md": f"---\nstatus: {DEEP}\n---\n# Retry deep\n\nRetry.\n",
        "docs/adr/ADR-0004-code.md": f"---\nstatus: !!python/object/apply:os.system ['{command}']\n---\n",
        "docs/specs/one/spec.md": f"---\nrequires: {DEEP}\n---\n# SPEC-0001: Retry\n\n## Requirements\n",
        "docs/adr/linked": Link("../../../outside/adr"),
        "docs/decisions": Link("../../outside/adr"),
        "specs": Link("../outside/specs"),
        "linked.md": Link("../outside/secret.md"),
        ".sdd": Link("../outside"),
        ".beads/issues.jsonl": DEEP + "\n",
        "deep.py": "x = " + "(" * 30_000 + ")" * 30_000,
        "deep.ts": "a<" * 20_000,
        "deep.md": ">" * 50_000 + " retry\n" + "- " * 50_000,
        "table.md": "|" * 200_000 + "\n" + "|-" * 100_000,
        "long.py": "def f(" + ", ".join(f"a{n}=a{n}" for n in range(20_000)) + "): pass\n",
        # A repository without worktree, in the tree: git takes its configuration where it is entered.
        "evil/HEAD": "ref: refs/heads/main\n",
        "evil/objects/x": "",
        "evil/refs/heads/x": "",
        "evil/index": EMPTY_INDEX + hashlib.sha1(EMPTY_INDEX).digest(),  # noqa: S324 - git's
        "evil/config": "[core]\n\tbare = false\n\tworktree = .\n\thooksPath = hooks\n"
        f"\tfsmonitor = {command}\n"
        f'\tsshCommand = {command}\n[diff]\n\texternal = {command}\n[filter "evil"]\n\tclean = {command}\n'
        f"\tsmudge = {command}\n\tprocess = {command}\n"
        f'[hook "evil"]\n\tevent = post-index-change\n\tcommand = {command}\n',
        "evil/hooks/post-index-change": f"#!/bin/sh\n{command}\n",
        ".gitattributes": "* filter=evil diff=evil ident\nutf.py working-tree-encoding=UTF-32-EVIL\n",
        ".gitmodules": f'[submodule "m"]\n\tpath = m\n\turl = ext::{command}\n\tupdate = !{command}\n',
        "AGENTS.md": Link("../outside/secret.md"),
    }
    environment = user_environment(place / "home", model_dir)
    git = create_repository(place / "project", environment, files)
    for hook in (git.path / "evil" / "hooks").iterdir():
        hook.chmod(0o755)
    return Project(git, Gitrag(git.path, environment))


def bounded() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))


def started(project: Project, *command: str) -> Done:
    done = subprocess.run(
        [GITRAG, *command],
        cwd=project.path,
        env=dict(project.gitrag.environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        preexec_fn=bounded,
    )
    return Done(done.returncode, os.fsdecode(done.stdout), os.fsdecode(done.stderr))


COMMANDS = (
    ("index", "update", "--no-embed"),
    ("status",),
    ("search", "retry", "--output", "text"),
    ("search", "retry", "--output", "markdown"),
    ("search", SECRET, "--output", "json"),
    ("search", "retry", "--ref", "HEAD", "--output", "text"),
    ("check", "client.py"),
    ("check", "linked.md"),
    ("related", "retry with backoff"),
    ("prime",),
    ("prime", "retry"),
    ("core", "suggest"),
    ("issues", "status"),
    ("issues", "sync"),
    ("issues", "list"),
    ("init", "--agents", "--skip-embed"),
    ("config",),
    ("hooks", "status"),
    ("doctor",),
    ("gc",),
    ("hook", "run", "worker"),
)


BOUNDED = {"index", "search", "prime", "doctor"}
"""Those that are started, with a bound on what they take, once each: what they read, the others read too."""


def unsafe(text: str) -> set[str]:
    return {each for each in text if each != "\n" and not each.isprintable()}


@pytest.mark.timeout(900)
def test_nothing_that_a_repository_tries_comes_to_anything(hostile, listener):
    outside, traces = hostile.path.parent / "outside", hostile.path.parent / "traces"
    before = everything_in(outside)
    to_bound = set(BOUNDED)
    for command in COMMANDS:
        if command[0] in to_bound:
            to_bound.remove(command[0])
            done = started(hostile, *command)
        else:
            done = hostile.gitrag(*command)
        said = done.out + done.err
        assert done.status in {0, 1, 2, 3, 75, 78}, (command, said[-3000:])
        assert "Traceback" not in said, (command, said[-3000:])
        assert unsafe(said) == set(), (command, unsafe(said))
        if SECRET not in command:
            assert SECRET not in said, (command, said[-3000:])
        else:
            assert not json.loads(done.out or '{"code_snippets": []}')["code_snippets"], said
        assert list(traces.iterdir()) == [], command
        assert listener[1] == [], command
        assert everything_in(outside) == before, command
    found = hostile.gitrag("search", "retry", "with", "backoff", "--output", "json")
    assert json.loads(found.out)["code_snippets"][0]["path"] == "client.py", "what is honest is found"
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    assert most < MOST_BYTES, most


def test_what_only_the_user_may_set_stays_as_it_is(hostile):
    for key, value in ONLY_THE_USERS.items():
        done = hostile.gitrag("config", key)
        assert done.status == 0, done
        assert done.out.strip() != value, key
        assert f".gitrag.yaml sets {key}, which only you may set: ignored." in done.err


@pytest.mark.parametrize("place", ["evil", "evil/refs", "evil/hooks"])
def test_a_repository_in_the_tree_is_not_entered(hostile, place):
    """git itself would read its configuration, and run what that names."""
    traces = hostile.path.parent / "traces"
    for command in (("status",), ("search", "retry", "--output", "text"), ("index", "update", "--no-embed")):
        done = Gitrag(hostile.path / place, hostile.gitrag.environment)(*command)
        evil = f"{hostile.path}/evil looks like a git repository"
        assert (done.status, done.said[0]) == (78, f"{evil}, and lies in another: {hostile.path}.")
        assert list(traces.iterdir()) == [], command
    assert not (hostile.path / "evil" / "gitrag").exists()
