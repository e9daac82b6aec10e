"""The installed scripts under real git: when they fire, with what, and that nobody feels it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gitrag.hooking import script_blocks


@pytest.fixture
def live(hooked):
    """The repository with its hooks installed."""
    hooked.install()
    return hooked


def run_git(live, *args, env=None):
    return subprocess.run(
        ["git", *args],
        cwd=live.git.path,
        env=live.git.environment | (env or {}),
        capture_output=True,
        check=False,
    )


def without_gitrag(live) -> str:
    """Return a PATH of the usual tools on which there is no gitrag."""
    directory = live.stand_in.path.parent.parent / "tools"
    directory.mkdir()
    for tool in ("git", "sh", "setsid", "nice", "cat"):
        (directory / tool).symlink_to(shutil.which(tool))
    return str(directory)


# when


def test_a_commit_fires_in_the_background_with_nothing_of_the_callers(live):
    live.git.commit({"a.py": "a = 2\n"})
    [event] = live.stand_in.wait_for(1)
    assert event["args"] == ["hook", "run", "post-commit"]
    assert event["cwd"] == str(live.git.path)
    assert (event["stdin"], event["own_session"]) == ("", True)
    assert event["nice"] >= min(19, os.nice(0) + 10)


def test_an_amended_commit_fires_once(live):
    live.git.git("commit", "--amend", "--message", "Better")
    live.git.git("commit", "--allow-empty", "--message", "Next")
    live.stand_in.wait_for(2)
    assert live.stand_in.calls() == ["hook run post-commit"] * 2


def test_a_switch_of_branches_fires_and_a_checkout_of_files_does_not(live):
    live.git.git("branch", "old")
    live.git.commit({"a.py": "a = 2\n"})
    old, new = live.git.git("rev-parse", "old"), live.git.git("rev-parse", "main")
    live.stand_in.wait_for(1)
    live.stand_in.forget()
    live.git.git("checkout", "old", "--", "a.py")
    live.git.git("reset", "--quiet", "--hard")
    live.git.git("switch", "--quiet", "--create", "same")
    live.git.git("switch", "--quiet", "old")
    live.stand_in.wait_for(1)
    assert live.stand_in.calls() == [f"hook run post-checkout {new} {old} 1"]


def test_a_merge_fires(live):
    live.git.git("switch", "--quiet", "--create", "side")
    live.git.commit({"b.py": "b = 1\n"})
    live.git.git("switch", "--quiet", "main")
    live.stand_in.wait_for(2)
    live.stand_in.forget()
    live.git.git("merge", "--quiet", "side")
    live.stand_in.wait_for(1)
    assert live.stand_in.calls() == ["hook run post-merge 0"]


@pytest.mark.parametrize("backend", ["--merge", "--apply"])
def test_a_rebase_fires_once_at_its_end(live, backend):
    live.git.git("branch", "side")
    live.git.commit({"b.py": "b = 1\n"})
    live.git.git("switch", "--quiet", "side")
    for n in range(3):
        live.git.commit({f"c{n}.py": "c = 1\n"})
    live.stand_in.wait_for(5)
    live.stand_in.forget()
    live.git.git("rebase", "--quiet", backend, "main")
    live.git.commit({"d.py": "d = 1\n"})
    expected = ["hook run post-commit", "hook run post-rewrite rebase"]
    live.stand_in.wait_for_calls(expected)
    # --apply checks its base out before it says that it is a rebase
    assert sorted(call for call in live.stand_in.calls() if "post-checkout" not in call) == expected


def test_a_bisection_fires_nothing(live):
    for n in range(4):
        live.git.commit({"a.py": f"a = {n + 2}\n"})
    live.stand_in.wait_for(4)
    live.stand_in.forget()
    live.git.git("bisect", "start", "HEAD", "HEAD~4")
    live.git.git("bisect", "good")
    live.git.git("bisect", "reset")
    live.git.commit({"d.py": "d = 1\n"})
    live.stand_in.wait_for(1)
    assert live.stand_in.calls() == ["hook run post-commit"]


def test_a_linked_worktrees_commit_fires_in_that_worktree(live, tmp_path):
    live.commit_in_linked_worktree(tmp_path / "linked tree")


# never felt


def test_gitrag_0_skips_the_hooks(live):
    live.git.git("commit", "--allow-empty", "--message", "Quiet", env={"GITRAG": "0"})
    live.git.git("commit", "--allow-empty", "--message", "Next")
    live.stand_in.wait_for(1)
    assert live.stand_in.calls() == ["hook run post-commit"]


def test_without_gitrag_git_is_silent_and_succeeds(live):
    tools = without_gitrag(live)
    live.stand_in.path.unlink()
    live.git.write({"a.py": "a = 2\n"})
    done = run_git(live, "commit", "--quiet", "--all", "--message", "Change", env={"PATH": tools})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    live.git.git("init", "--quiet", "--bare", "../remote.git")
    done = run_git(live, "push", "--quiet", "../remote.git", "main", env={"PATH": tools})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_when_the_installed_gitrag_is_gone_the_one_on_path_is_run(live):
    moved = live.stand_in.path.parent.parent / "other"
    live.stand_in.path.parent.rename(moved)
    found = type(live.stand_in)(moved / "gitrag")
    path = f"{moved}{os.pathsep}{os.environ['PATH']}"
    live.git.git("commit", "--allow-empty", "--message", "Change", env={"PATH": path})
    found.wait_for(1)
    assert found.calls() == ["hook run post-commit"]


def test_a_caller_that_captures_the_output_does_not_wait_for_the_background(live):
    """The commit has returned while the job it started is still alive: shown by order, not by time."""
    live.stand_in.hold()
    script = 'exec 9>lock; out=$(git commit --allow-empty --message Change 2>&1) && printf "%s" "$out"'
    done = subprocess.run(
        ["sh", "-c", script], cwd=live.git.path, env=live.git.environment, capture_output=True, check=True
    )
    assert b"Change" in done.stdout
    live.stand_in.wait_for_calls(["hook run post-commit"])
    assert ["done"] not in [event["args"] for event in live.stand_in.all_events()]
    live.stand_in.let_go()
    [event] = live.stand_in.wait_for(1)
    assert event["descriptor_9"] is False


def test_what_fails_in_the_background_is_never_seen(live):
    live.stand_in.exit_with(70)
    live.git.write({"a.py": "a = 2\n"})
    done = run_git(live, "commit", "--quiet", "--all", "--message", "Change")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    live.stand_in.wait_for(1)


# beside the user's own hook

SHELLS = [
    pytest.param(
        shebang, marks=pytest.mark.skipif(not shutil.which(shell), reason=f"no {shell} here"), id=name
    )
    for name, shell, shebang in [
        ("sh", "sh", "#!/bin/sh"),
        ("dash", "dash", "#!/usr/bin/env dash"),
        ("bash", "bash", "#!/usr/bin/env bash"),
        ("bash-strict", "bash", "#!/usr/bin/env -S bash -euo pipefail"),
        ("busybox", "busybox", "#!/usr/bin/env -S busybox sh"),
        ("ksh", "ksh", "#!/usr/bin/env ksh"),
        ("zsh", "zsh", "#!/usr/bin/env zsh"),
        ("none", "sh", ""),
    ]
]
BODIES = {
    "exit": "echo mine\nexit 3\n",
    "exec": "exec echo mine\n",
    "set -eu": 'set -eu\necho "mine $*"\nfalse\necho never\n',
    "reads stdin": 'n=0\nwhile read -r a b c d; do n=$((n + 1)); echo "$a $d"; done\necho "$n lines"\n',
    "exec reads stdin": "exec cat\n",
    "no newline": "echo mine; exit 4",
    "CR LF": "# mine\r\necho mine #\r\n",
    "own jobs": "sleep 0 & wait\necho waited\n",
    "arguments": 'for a in "$@"; do echo "<$a>"; done\n',
    "variables": 'echo "${gitrag-unset} ${gitrag_refs-unset} ${gitrag_found-unset} ${git_dir-unset} $#"\n',
    "nothing": "",
}
ARGUMENTS = {
    "post-commit": [],
    "post-merge": ["0"],
    "post-checkout": ["0" * 40, "1" * 40, "1"],
    "post-rewrite": ["rebase"],
    "pre-push": ["origin", "https://example.com/a b.git"],
}
STDIN = b"refs/heads/main " + b"1" * 40 + b" refs/heads/main " + b"0" * 40 + b"\n"


def run_hook(path: Path, live, name, stdin=STDIN, env=None):
    # As git does: no shebang, no exec format; git then asks sh.
    command = [path] if path.read_bytes().startswith(b"#!") else ["sh", path]
    done = subprocess.run(
        [*command, *ARGUMENTS[name]],
        cwd=live.git.path,
        env=live.git.environment | (env or {}),
        input=stdin,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.sweep(keep=5)
@pytest.mark.parametrize("shebang", SHELLS)
@pytest.mark.parametrize("name", ["post-checkout", "pre-push"])
def test_a_users_hook_does_what_it_did_before(hooked, name, shebang):
    """Same status, output and input for every shell and every way a script can go; and ours ran too."""
    first = f"{shebang}\n" if shebang else ""
    before = {}
    for body, text in BODIES.items():
        path = hooked.write_hook(name, first + text)
        before[body] = run_hook(path, hooked, name)
    after = {}
    for body, text in BODIES.items():
        path = hooked.write_hook(name, first + text)
        hooked.install()
        assert script_blocks.find(path.read_bytes())
        after[body] = run_hook(path, hooked, name)
    assert after == before
    events = hooked.stand_in.wait_for(len(BODIES))
    command = ["hook", "run", name] if name != "pre-push" else ["check", "--push"]
    assert [event["args"] for event in events] == [[*command, *ARGUMENTS[name]]] * len(BODIES)
    assert {event["stdin"] for event in events} == {"" if name != "pre-push" else STDIN.decode()}


def test_a_users_hook_under_git_still_decides_over_the_push(hooked):
    hooked.write_hook("pre-push", '#!/bin/sh\nread -r local rest\necho "mine $local" >&2\nexit 1\n')
    hooked.install()
    hooked.git.git("init", "--quiet", "--bare", "../remote.git")
    done = run_git(hooked, "push", "../remote.git", "main")
    assert done.returncode == 1
    assert b"mine refs/heads/main" in done.stderr
    assert hooked.git.git("ls-remote", "../remote.git") == ""


# before a push


@pytest.fixture
def remote(live):
    live.git.git("init", "--quiet", "--bare", "../remote.git")
    return "../remote.git"


def test_a_push_hands_its_references_to_the_check(live, remote):
    live.git.git("push", "--quiet", remote, "main")
    [event] = live.stand_in.wait_for(1)
    head = live.git.git("rev-parse", "HEAD")
    assert event["args"] == ["check", "--push", remote, remote]
    assert event["stdin"] == f"refs/heads/main {head} refs/heads/main {'0' * 40}\n"


def test_only_status_3_stops_a_push(live, remote):
    live.stand_in.exit_with(3)
    assert run_git(live, "push", "--quiet", remote, "main").returncode == 1
    assert live.git.git("ls-remote", remote) == ""
    for code in (1, 2, 70, 75, 78, 130):
        live.stand_in.exit_with(code)
        assert run_git(live, "push", "--quiet", remote, f"main:refs/heads/to-{code}").returncode == 0


@pytest.mark.parametrize("how", ["git config", "variable", "GITRAG=0"])
def test_a_check_that_is_off_is_not_started(live, remote, how):
    if how == "git config":
        live.git.git("config", "gitrag.prePush", "off")
    env = {"variable": {"GITRAG_PRE_PUSH": "off"}, "GITRAG=0": {"GITRAG": "0"}}.get(how)
    live.stand_in.exit_with(3)
    done = run_git(live, "push", "--quiet", remote, "main", env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert live.stand_in.events() == []


def test_a_push_of_nothing_and_a_push_of_very_much_reach_both(hooked):
    path = hooked.write_hook("pre-push", "#!/bin/sh\nwc -c\n")
    hooked.install()
    for stdin in (b"", STDIN * 5000):
        code, out, _ = run_hook(path, hooked, "pre-push", stdin)
        assert (code, int(out)) == (0, len(stdin))
    events = hooked.stand_in.wait_for(2)
    assert [len(event["stdin"].strip()) for event in events] == [0, len(STDIN) * 5000 - 1]
