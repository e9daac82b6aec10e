"""Gitrag configured beside a hook file that is somebody else's, under real git 2.54 or later."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from gitrag.errors import NotSetUpError
from gitrag.git import Repository
from gitrag.hooking import config_hooks
from gitrag.hooking.install import install
from gitrag.hooking.status import HookState
from gitrag.hooking.table import HOOKS
from tests.support.gitversion import GIT_VERSION, needs_git
from tests.support.hooked import Hooked, runs_configured
from tests.support.repository import GitRepository

NAMES = [hook.name for hook in HOOKS]
POST_COMMIT = "hook run post-commit"
THEIRS = "#!/usr/bin/env python3\nimport sys\nprint('theirs', *sys.argv[1:], file=sys.stderr)\n"
BY_HAND = "(gitrag hook run post-commit </dev/null >/dev/null 2>&1 &)"


@pytest.fixture
def beside(hooked):
    """A repository whose hooks are all Python's, with gitrag installed beside them."""
    for name in NAMES:
        hooked.write_hook(name, THEIRS)
    reports = hooked.install()
    assert {report.state for report in reports.values()} == {HookState.INSTALLED}
    return hooked


def run_git(hooked: Hooked, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *args],
        cwd=hooked.git.path,
        env=hooked.git.environment,
        capture_output=True,
        text=True,
        check=False,
    )


def commit(hooked: Hooked) -> str:
    """Commit; return what was said beside git's own words."""
    done = run_git(hooked, "commit", "--quiet", "--allow-empty", "--message", "Change")
    assert (done.returncode, done.stdout) == (0, "")
    return done.stderr


def config_of(hooked: Hooked) -> bytes:
    return (hooked.git.path / ".git" / "config").read_bytes()


def on_path(hooked: Hooked) -> None:
    """Let the recorder be the gitrag on PATH."""
    directory = hooked.git.path.parent / "on path"
    directory.mkdir()
    (directory / "gitrag").write_text('#!/bin/sh\nexec "$RECORDER" "$@"\n')
    (directory / "gitrag").chmod(0o755)
    hooked.git.environment["RECORDER"] = str(hooked.stand_in.path)
    hooked.git.environment["PATH"] = f"{directory}:{hooked.git.environment['PATH']}"


def states(reports) -> dict[str, HookState]:
    return {name: report.state for name, report in reports.items()}


# what git's configuration says


def entries(hooked: Hooked) -> dict[str, list[tuple[str, str, str]]]:
    found = config_hooks.read(hooked.repository)
    return {event: [(each.name, each.scope, each.off) for each in found[event]] for event in found}


def test_what_runs_gitrag_is_found_in_every_scope(hooked):
    git = hooked.git.git
    git("config", "--global", "hook.mine.command", BY_HAND)
    git("config", "--global", "--add", "hook.mine.event", "post-commit")
    git("config", "--global", "--add", "hook.mine.event", "post-merge")
    git("config", "--global", "hook.lint.command", "make lint")
    git("config", "--global", "hook.lint.event", "post-commit")
    git("config", "--global", "hook.jobs", "2")
    git("config", "hook.Dotted.Name.command", "gitrag check --push")
    git("config", "hook.Dotted.Name.event", "pre-push")
    assert entries(hooked) == {
        "post-commit": [("mine", "global", "")],
        "post-merge": [("mine", "global", "")],
        "post-checkout": [],
        "post-rewrite": [],
        "pre-push": [("Dotted.Name", "local", "")],
    }


def test_what_is_taken_back_or_switched_off_is_known(hooked):
    git = hooked.git.git
    git("config", "--global", "hook.mine.command", BY_HAND)
    git("config", "--global", "--add", "hook.mine.event", "post-commit")
    git("config", "--global", "--add", "hook.mine.event", "post-merge")
    git("config", "hook.mine.enabled", "Off")
    assert entries(hooked)["post-merge"] == [("mine", "global", "hook.mine.enabled")]
    git("config", "hook.mine.enabled", "true")
    git("config", "hook.post-merge.enabled", "false")
    assert entries(hooked)["post-merge"] == [("mine", "global", "hook.post-merge.enabled")]
    git("config", "hook.mine.event", "")
    git("config", "--add", "hook.mine.event", "post-commit")
    assert entries(hooked)["post-commit"] == [("mine", "global", "")]
    assert entries(hooked)["post-merge"] == []


def test_a_command_replaced_by_another_is_not_gitrag(hooked):
    hooked.git.git("config", "--global", "hook.mine.command", BY_HAND)
    hooked.git.git("config", "--global", "hook.mine.event", "post-commit")
    hooked.git.git("config", "hook.mine.command", "true")
    assert entries(hooked)["post-commit"] == []


CONFIGURATIONS = {
    "as git makes it": b"",
    "CR LF": b"[user]\r\n\tname = a\r\n",
    "odd": b'[alias]\n  x = "!echo \\"a;b\\"" ; why\n[Hook "theirs"]\n event=post-commit\n command=true\n',
}


@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize("before", CONFIGURATIONS)
@pytest.mark.parametrize("after", [b"", b'[remote "o"]\n\turl = x # mine\n'])
def test_what_is_put_into_the_configuration_comes_out_without_a_trace(hooked, before, after):
    path = hooked.git.path / ".git" / "config"
    path.write_bytes(path.read_bytes() + CONFIGURATIONS[before])
    text = path.read_bytes()
    for hook in HOOKS:
        assert config_hooks.put_in(hooked.repository, hook) is True
        assert config_hooks.put_in(hooked.repository, hook) is False
    path.write_bytes(path.read_bytes() + after)
    for hook in HOOKS:
        config_hooks.take_out(hooked.repository, hook)
    assert path.read_bytes() == text + after


def test_a_comment_beside_a_section_outlives_it(hooked):
    path = hooked.git.path / ".git" / "config"
    config_hooks.put_in(hooked.repository, HOOKS[0])
    path.write_bytes(path.read_bytes() + b'# my remote\n[remote "o"]\n\turl = x\n')
    config_hooks.take_out(hooked.repository, HOOKS[0])
    assert path.read_bytes().endswith(b'# my remote\n[remote "o"]\n\turl = x\n')
    assert entries(hooked)["post-commit"] == []


def test_a_configuration_that_cannot_be_written_is_one_clear_error(hooked):
    (hooked.git.path / ".git" / "config.lock").touch()
    with pytest.raises(NotSetUpError) as caught:
        config_hooks.put_in(hooked.repository, HOOKS[0])
    assert "could not lock" in str(caught.value)
    assert "config.lock" in caught.value.hint


@pytest.mark.skipif(GIT_VERSION >= config_hooks.SINCE, reason="this git runs configured hooks")
def test_under_an_earlier_git_the_lines_to_add_are_said_and_nothing_is_configured(hooked):
    hooked.write_hook("post-commit", THEIRS)
    before = config_of(hooked)
    report = hooked.install()["post-commit"]
    assert (report.state, report.commands != "", report.configured) == (HookState.FOREIGN, True, "")
    assert config_of(hooked) == before
    config_hooks.put_in(hooked.repository, HOOKS[0])  # as a later git's gitrag did
    assert hooked.status()["post-commit"].state is HookState.FOREIGN
    hooked.uninstall()
    assert config_of(hooked) == before


# when, and with what


@runs_configured
def test_beside_a_hook_in_another_language_both_run(beside):
    assert commit(beside) == "theirs\n"
    [event] = beside.stand_in.wait_for(1)
    assert event["args"] == ["hook", "run", "post-commit"]
    assert event["cwd"] == str(beside.git.path)
    assert (event["stdin"], event["own_session"]) == ("", True)
    assert event["nice"] >= min(19, os.nice(0) + 10)
    report = beside.status()["post-commit"]
    assert report.configured == "hook.gitrag-post-commit"
    assert (
        report.detail == "configured as hook.gitrag-post-commit; it is a python3 script, not a shell script"
    )
    assert report.commands.startswith("mv ")


@runs_configured
def test_every_event_is_told_as_to_a_hook_file(beside):
    git = beside.git.git
    git("switch", "--quiet", "--create", "side")
    first = git("rev-parse", "HEAD")
    side = beside.git.commit({"b.py": "b = 1\n"})
    git("switch", "--quiet", "main")
    git("merge", "--quiet", "side")
    git("switch", "--quiet", "--create", "other", first)
    beside.git.commit({"c.py": "c = 1\n"})
    git("rebase", "--quiet", "main")
    expected = [
        POST_COMMIT,
        f"hook run post-checkout {side} {first} 1",
        "hook run post-merge 0",
        "hook run post-rewrite rebase",
    ]
    beside.stand_in.wait_for_calls(expected)
    assert sum(call.startswith(POST_COMMIT) for call in beside.stand_in.calls()) == 2  # none of the rebase's


@runs_configured
@pytest.mark.parametrize("first", ["gitrag", "theirs"])
def test_gitrags_file_runs_after_the_configured_hooks_of_others(hooked, first):
    """In both orders of installation: git runs the hook's file last."""
    if first == "gitrag":
        hooked.install()
    hooked.git.git("config", "hook.lint.command", "echo lint >&2; :")
    hooked.git.git("config", "--add", "hook.lint.event", "post-commit")
    hooked.git.git("config", "--add", "hook.lint.event", "post-checkout")
    hooked.git.git("config", "--global", "hook.note.command", "echo note >&2; :")
    hooked.git.git("config", "--global", "hook.note.event", "post-commit")
    if first == "theirs":
        before = config_of(hooked)
        assert states(hooked.install()) == dict.fromkeys(NAMES, HookState.INSTALLED)
        assert config_of(hooked) == before
    (hooked.hooks / "post-commit").write_text((hooked.hooks / "post-commit").read_text() + "echo file >&2\n")
    assert commit(hooked) == "note\nlint\nfile\n"
    done = run_git(hooked, "switch", "--quiet", "--create", "side", "HEAD~1")
    assert (done.returncode, done.stderr) == (0, "lint\n")
    hooked.stand_in.wait_for(2)
    assert len(hooked.stand_in.calls()) == 2


@runs_configured
def test_a_rebase_of_many_commits_fires_once(beside):
    git = beside.git.git
    git("branch", "side")
    beside.git.commit({"b.py": "b = 1\n"})
    git("switch", "--quiet", "side")
    for n in range(3):
        beside.git.commit({f"c{n}.py": "c = 1\n"})
    beside.stand_in.wait_for(5)
    beside.stand_in.forget()
    git("rebase", "--quiet", "main")
    git("commit", "--quiet", "--allow-empty", "--message", "Next")
    expected = [POST_COMMIT, "hook run post-rewrite rebase"]
    beside.stand_in.wait_for_calls(expected)
    assert sorted(beside.stand_in.calls()) == expected


# wherever the repository is


@runs_configured
def test_a_linked_worktree_has_it_too(beside, tmp_path):
    worktree = beside.commit_in_linked_worktree(tmp_path / "linked tree")
    before = config_of(beside)
    reports = install(Repository.discover(worktree.path), str(beside.stand_in.path))
    assert {report.configured != "" for report in reports} == {True}
    assert config_of(beside) == before


@runs_configured
@pytest.mark.parametrize("how", ["moved", "copied"])
def test_a_repository_that_was_moved_or_copied_needs_nothing(beside, how):
    place = beside.git.path.with_name("else 'where'")
    (shutil.move if how == "moved" else shutil.copytree)(beside.git.path, place)
    elsewhere = Hooked(GitRepository(place, beside.git.environment), beside.stand_in)
    if how == "copied":
        shutil.rmtree(beside.git.path)
    assert commit(elsewhere) == "theirs\n"
    [event] = beside.stand_in.wait_for(1)
    assert event["cwd"] == str(place)
    assert states(elsewhere.status()) == dict.fromkeys(NAMES, HookState.INSTALLED)


@runs_configured
def test_a_git_directory_elsewhere_has_it_too(hooked, tmp_path):
    hooked.git.git("init", "--quiet", f"--separate-git-dir={tmp_path / 'git dir'}")
    (tmp_path / "git dir" / "hooks").mkdir(exist_ok=True)
    (tmp_path / "git dir" / "hooks" / "post-commit").symlink_to("/bin/true")
    assert hooked.install()["post-commit"].configured
    assert commit(hooked) == ""
    hooked.stand_in.wait_for(1)
    assert hooked.stand_in.calls() == [POST_COMMIT]


@runs_configured
def test_a_hooks_path_outside_the_repository_is_lived_beside(hooked, tmp_path):
    directory = tmp_path / "global hooks"
    directory.mkdir()
    hooked.git.git("config", "--global", "core.hooksPath", str(directory))
    assert {report.configured != "" for report in hooked.install().values()} == {True}
    assert list(directory.iterdir()) == []
    assert not hooked.hooks.exists()
    assert commit(hooked) == ""
    hooked.stand_in.wait_for(1)


@runs_configured
@pytest.mark.parametrize("path", ["/dev/null", "/nowhere/hooks"])
def test_who_has_switched_all_hooks_off_gets_none(hooked, path):
    hooked.git.git("config", "core.hooksPath", path)
    before = config_of(hooked)
    assert states(hooked.install()) == dict.fromkeys(NAMES, HookState.SHADOWED)
    assert config_of(hooked) == before


# never felt


@runs_configured
@pytest.mark.parametrize("gone", ["gitrag", "the scripts"])
def test_without_gitrag_git_is_silent_and_succeeds(beside, gone):
    directory = beside.git.path / ".git" / config_hooks.DIRECTORY
    for name in NAMES:
        (beside.hooks / name).unlink()
    if gone == "gitrag":
        for script in directory.iterdir():
            script.write_text(script.read_text().replace("command -v gitrag", "command -v no-such-program"))
        beside.stand_in.path.unlink()
    else:
        shutil.rmtree(directory)
    beside.git.git("init", "--quiet", "--bare", "../remote.git")
    for command in (
        ["commit", "--quiet", "--allow-empty", "--message", "Change"],
        ["switch", "--quiet", "--create", "side", "HEAD~1"],
        ["commit", "--quiet", "--allow-empty", "--message", "Change of the side"],
        ["rebase", "--quiet", "--force-rebase", "HEAD~1"],
        ["merge", "--quiet", "--no-edit", "main"],
        ["push", "--quiet", "../remote.git", "main", "side"],
        ["worktree", "add", "--quiet", "../tree"],
    ):
        done = run_git(beside, *command)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), command
    assert states(beside.status())["post-commit"] is HookState.OUTDATED


@runs_configured
def test_what_lost_its_scripts_gets_them_back(beside):
    shutil.rmtree(beside.git.path / ".git" / config_hooks.DIRECTORY)
    report = beside.status()["post-commit"]
    assert (report.state, report.advice) == (HookState.OUTDATED, "gitrag hooks install")
    reports = beside.install()
    assert {(report.state, report.changed) for report in reports.values()} == {(HookState.INSTALLED, True)}
    commit(beside)
    beside.stand_in.wait_for(1)
    assert not any(report.changed for report in beside.install().values())


@runs_configured
@pytest.mark.parametrize("jobs", ["1", "4"])
def test_a_caller_that_captures_the_output_does_not_wait_for_the_background(beside, jobs):
    """The merge has returned while the job it started is still alive: shown by order, not by time."""
    beside.git.git("config", "hook.jobs", jobs)
    beside.git.git("switch", "--quiet", "--create", "side")
    beside.git.commit({"b.py": "b = 1\n"})
    beside.git.git("switch", "--quiet", "main")
    beside.stand_in.wait_for(2)
    beside.stand_in.hold()
    assert run_git(beside, "merge", "--quiet", "side").stderr == "theirs 0\n"
    commit(beside)
    beside.stand_in.wait_for_calls(["hook run post-merge 0"])
    assert beside.stand_in.calls()[2:] != []
    assert sum(event["args"] == ["done"] for event in beside.stand_in.all_events()) == 2
    beside.stand_in.let_go()
    beside.stand_in.wait_for(4)


WAIT_FOR_THE_OTHER = "n=0; until [ -e other ]; do n=$((n + 1)); [ $n -lt 600 ] || exit 1; sleep 0.1; done; :"


@needs_git(2, 55, "runs the hooks of an event in parallel")
def test_the_hooks_of_others_still_run_in_parallel(beside):
    """The first waits for the second, which is started only if nothing has to be run alone."""
    beside.git.git("config", "hook.jobs", "4")
    for name, command in {"first": WAIT_FOR_THE_OTHER, "second": "touch other; :"}.items():
        beside.git.git("config", f"hook.{name}.command", command)
        beside.git.git("config", f"hook.{name}.event", "pre-push")
        beside.git.git("config", f"hook.{name}.parallel", "true")
    beside.git.git("init", "--quiet", "--bare", "../remote.git")
    beside.git.git("push", "--quiet", "../remote.git", "main")
    [event] = beside.stand_in.wait_for(1)
    assert event["args"][:2] == ["check", "--push"]


# before a push


@runs_configured
def test_a_push_is_checked_and_the_users_hook_still_asked(beside):
    beside.git.git("init", "--quiet", "--bare", "../remote.git")
    beside.write_hook(
        "pre-push", "#!/usr/bin/env python3\nimport sys\nsys.exit(sys.stdin.read().count('no'))\n"
    )
    done = run_git(beside, "push", "--quiet", "../remote.git", "main")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    [event] = beside.stand_in.wait_for(1)
    head = beside.git.git("rev-parse", "HEAD")
    assert event["args"] == ["check", "--push", "../remote.git", "../remote.git"]
    assert event["stdin"] == f"refs/heads/main {head} refs/heads/main {'0' * 40}\n"
    assert run_git(beside, "push", "--quiet", "../remote.git", "main:refs/heads/no").returncode == 1
    beside.stand_in.exit_with(3)
    assert run_git(beside, "push", "--quiet", "../remote.git", "main:refs/heads/stale").returncode == 1
    beside.stand_in.exit_with(75)
    assert run_git(beside, "push", "--quiet", "../remote.git", "main:refs/heads/busy").returncode == 0
    refs = beside.git.git("ls-remote", "../remote.git").split()[1::2]
    assert set(refs) - {"HEAD"} == {"refs/heads/main", "refs/heads/busy"}


# once, and no more


@runs_configured
def test_a_configured_hook_of_the_users_own_counts_as_installed(hooked):
    on_path(hooked)
    hooked.git.git("config", "--global", "hook.mine.command", BY_HAND)
    hooked.git.git("config", "--global", "hook.mine.event", "post-commit")
    report = hooked.install()["post-commit"]
    assert (report.state, report.changed) == (HookState.INSTALLED, False)
    assert report.detail == "called by hook.mine of the global configuration"
    assert not (hooked.hooks / "post-commit").exists()
    commit(hooked)
    hooked.git.git("switch", "--quiet", "--create", "side", "HEAD~1")  # that one by the file
    hooked.stand_in.wait_for(2)
    assert len(hooked.stand_in.calls()) == 2
    hooked.uninstall()
    assert hooked.status()["post-commit"].state is HookState.INSTALLED


@runs_configured
def test_a_file_and_a_configured_hook_of_the_users_own_are_said_to_be_two(hooked):
    hooked.install()
    hooked.git.git("config", "hook.mine.command", BY_HAND)
    hooked.git.git("config", "hook.mine.event", "post-commit")
    report = hooked.install()["post-commit"]
    assert (report.state, report.advice) == (HookState.TWICE, "gitrag hooks uninstall")
    assert report.detail == f"by {hooked.hooks / 'post-commit'} and by hook.mine"
    assert hooked.uninstall()["post-commit"].state is HookState.INSTALLED


@runs_configured
def test_when_the_file_is_free_again_the_configured_hook_makes_room(beside):
    (beside.hooks / "post-commit").unlink()
    beside.write_hook("post-merge", "#!/bin/sh\ngitrag hook run post-merge\n")
    beside.git.git("config", "hook.mine.command", BY_HAND.replace("post-commit", "post-checkout"))
    beside.git.git("config", "hook.mine.event", "post-checkout")
    found = beside.status()
    assert states(found) == {
        "post-commit": HookState.INSTALLED,
        "post-merge": HookState.TWICE,
        "post-checkout": HookState.TWICE,
        "post-rewrite": HookState.INSTALLED,
        "pre-push": HookState.INSTALLED,
    }
    assert {found["post-merge"].advice, found["post-checkout"].advice} == {"gitrag hooks install"}
    reports = beside.install()
    assert states(reports) == dict.fromkeys(NAMES, HookState.INSTALLED)
    assert [name for name in NAMES if reports[name].changed] == ["post-commit", "post-merge", "post-checkout"]
    assert [reports[name].configured for name in NAMES] == [
        "",
        "",
        "hook.mine",
        "hook.gitrag-post-rewrite",
        "hook.gitrag-pre-push",
    ]
    commit(beside)
    beside.git.git("commit", "--quiet", "--allow-empty", "--message", "Next")
    beside.stand_in.wait_for(2)
    assert beside.stand_in.calls() == [POST_COMMIT] * 2


@runs_configured
def test_what_its_owner_switched_off_stays_off(beside):
    beside.git.git("config", "hook.gitrag-post-commit.enabled", "false")
    report = beside.install()["post-commit"]
    assert (report.state, report.changed) == (HookState.SWITCHED_OFF, False)
    assert report.detail == "hook.gitrag-post-commit.enabled is false"
    beside.git.git("config", "hook.post-merge.enabled", "false")
    assert beside.status()["post-merge"].advice == "git config hook.post-merge.enabled true"
    commit(beside)
    beside.git.git("switch", "--quiet", "--create", "side", "HEAD~1")
    [event] = beside.stand_in.wait_for(1)
    assert "post-checkout" in event["args"]


@runs_configured
def test_uninstalling_leaves_what_was_there_before(hooked):
    for name in NAMES:
        hooked.write_hook(name, THEIRS)
    hooked.git.git("config", "hook.lint.command", "true")
    hooked.git.git("config", "hook.lint.event", "post-commit")
    before = {path: path.read_bytes() for path in (hooked.git.path / ".git").rglob("*") if path.is_file()}
    hooked.install()
    assert config_of(hooked) != before[hooked.git.path / ".git" / "config"]
    reports = hooked.uninstall()
    assert {(report.state, report.changed) for report in reports.values()} == {(HookState.FOREIGN, True)}
    after = {path: path.read_bytes() for path in (hooked.git.path / ".git").rglob("*") if path.is_file()}
    assert after == before
    assert not (hooked.git.path / ".git" / config_hooks.DIRECTORY).exists()
