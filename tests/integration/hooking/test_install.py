"""Installing into real repositories: what is written, what is left alone, and what is said about it."""

from __future__ import annotations

import os
import subprocess

import pytest

from gitrag.errors import NotSetUpError
from gitrag.hooking import script_blocks
from gitrag.hooking.install import find_launcher, install
from gitrag.hooking.status import HookState, lines_to_add
from gitrag.hooking.table import HOOKS

NAMES = [hook.name for hook in HOOKS]


def states(reports) -> dict[str, HookState]:
    return {name: report.state for name, report in reports.items()}


def snapshot(directory):
    if not directory.exists():
        return {}
    return {path.name: (path.read_bytes(), path.lstat().st_mode) for path in directory.iterdir()}


def test_hooks_are_installed_and_executable_where_there_were_none(hooked):
    assert states(hooked.status()) == dict.fromkeys(NAMES, HookState.MISSING)
    reports = hooked.install()
    assert states(reports) == dict.fromkeys(NAMES, HookState.INSTALLED)
    assert all(report.changed for report in reports.values())
    assert all(os.access(hooked.hooks / name, os.X_OK) for name in NAMES)


def test_installing_again_changes_nothing(hooked):
    hooked.install()
    before = snapshot(hooked.hooks)
    reports = hooked.install()
    assert not any(report.changed for report in reports.values())
    assert snapshot(hooked.hooks) == before


def test_uninstalling_leaves_what_was_there_before(hooked):
    hooked.write_hook("post-commit", b"#!/bin/bash\r\nx", 0o755)
    hooked.write_hook("post-merge", b"#!/usr/bin/env bash\nexit 3", 0o700)
    hooked.write_hook("pre-push", b"", 0o755)
    hooked.write_hook("pre-commit", b"#!/bin/sh\n", 0o755)
    hooked.write_hook("post-rewrite.sample", b"#!/bin/sh\n", 0o755)
    before = snapshot(hooked.hooks)
    assert states(hooked.install())["post-merge"] is HookState.INSTALLED
    assert snapshot(hooked.hooks) != before
    reports = hooked.uninstall()
    assert snapshot(hooked.hooks) == before
    assert {name for name, report in reports.items() if report.changed} >= set(NAMES) - {"post-commit"}


def test_a_block_of_another_version_is_replaced(hooked):
    hooked.install()
    path = hooked.hooks / "post-commit"
    current = path.read_bytes()
    path.write_bytes(current.replace(b"nice -n 10", b"nice -n 5") + b"make tags\n")
    assert hooked.status()["post-commit"].state is HookState.OUTDATED
    assert hooked.install()["post-commit"].state is HookState.INSTALLED
    assert path.read_bytes() == current + b"make tags\n"


def test_a_block_that_calls_a_gitrag_that_is_gone_is_outdated(hooked):
    hooked.install()
    hooked.stand_in.path.unlink()
    report = hooked.status()["post-commit"]
    assert (report.state, report.advice) == (HookState.OUTDATED, "gitrag hooks install")
    assert report.detail == f"it calls {hooked.stand_in.path}, which is gone"


def test_a_python_hook_is_not_touched_and_its_owner_told_what_to_add(hooked):
    path = hooked.write_hook("post-commit", "#!/usr/bin/env python3\nprint('mine')\n")
    before = path.read_bytes()
    report = hooked.status()["post-commit"]
    assert report.state is HookState.FOREIGN
    assert report.detail == "it is a python3 script, not a shell script"
    assert report.lines == '(gitrag hook run post-commit "$@" </dev/null >/dev/null 2>&1 &)'
    hooked.install()
    assert path.read_bytes() == before


def test_a_foreign_hook_that_calls_gitrag_counts_as_installed(hooked):
    text = "#!/usr/bin/env python3\nPopen(['gitrag', 'hook', 'run', 'post-commit'])\n"
    path = hooked.write_hook("post-commit", text)
    report = hooked.install()["post-commit"]
    assert (report.state, report.detail) == (HookState.INSTALLED, f"called by {path}")
    assert path.read_text() == text


def test_a_link_is_not_written_through(hooked):
    target = hooked.git.path / "tracked-hook"
    target.write_text("#!/bin/sh\n")
    target.chmod(0o755)
    hooked.hooks.mkdir(exist_ok=True)
    (hooked.hooks / "post-commit").symlink_to(target)
    report = hooked.status()["post-commit"]
    assert (report.state, report.detail) == (HookState.FOREIGN, f"it is a link to {target}")
    hooked.install()
    assert target.read_text() == "#!/bin/sh\n"
    assert (hooked.hooks / "post-commit").is_symlink()


def test_a_hook_its_owner_switched_off_stays_off(hooked):
    path = hooked.write_hook("post-commit", "#!/bin/sh\nexit 3\n", 0o644)
    report = hooked.install()["post-commit"]
    assert report.state is HookState.NOT_EXECUTABLE
    assert report.advice == f"chmod +x {path}; gitrag hooks install"
    assert path.read_text() == "#!/bin/sh\nexit 3\n"
    assert not os.access(path, os.X_OK)


def test_a_made_hook_that_lost_its_executable_bit_gets_it_back(hooked):
    hooked.install()
    (hooked.hooks / "post-commit").chmod(0o644)
    assert hooked.status()["post-commit"].state is HookState.NOT_EXECUTABLE
    assert hooked.install()["post-commit"].state is HookState.INSTALLED


def test_broken_marks_are_reported_and_left_alone(hooked):
    hooked.install()
    path = hooked.hooks / "post-commit"
    path.write_bytes(path.read_bytes().replace(script_blocks.END + b"\n", b""))
    before = path.read_bytes()
    report = hooked.install()["post-commit"]
    assert report.state is HookState.FOREIGN
    assert "not one pair" in report.detail
    hooked.uninstall()
    assert path.read_bytes() == before


@pytest.mark.parametrize("where", ["outside", "in the worktree"])
def test_a_hooks_path_elsewhere_is_not_written_to(hooked, tmp_path, where):
    directory = tmp_path / "global hooks" if where == "outside" else hooked.git.path / ".githooks"
    directory.mkdir()
    hooked.git.git("config", "core.hooksPath", str(directory))
    reports = hooked.status()
    hooked.install()
    assert list(directory.iterdir()) == []
    assert not hooked.hooks.exists()
    for hook in HOOKS:
        report = reports[hook.name]
        assert (report.state, report.path) == (HookState.SHADOWED, directory / hook.name)
        assert report.detail == f"core.hooksPath {directory} lies outside the git directory"
        assert report.lines == lines_to_add(hook)


def test_hooks_that_are_switched_off_altogether_are_shadowed(hooked):
    hooked.git.git("config", "core.hooksPath", "/dev/null")
    report = hooked.install()["post-commit"]
    assert report.detail == "core.hooksPath /dev/null switches all hooks off"
    assert (report.state, report.lines, report.changed) == (HookState.SHADOWED, "", False)


def test_a_hooks_path_inside_the_git_directory_is_used(hooked):
    hooked.git.git("config", "core.hooksPath", str(hooked.git.path / ".git" / "my hooks"))
    assert states(hooked.install()) == dict.fromkeys(NAMES, HookState.INSTALLED)
    assert {path.name for path in (hooked.git.path / ".git" / "my hooks").iterdir()} == set(NAMES)
    hooked.uninstall()
    assert list((hooked.git.path / ".git" / "my hooks").iterdir()) == []


def test_blocks_from_before_the_hooks_path_was_set_are_taken_out_too(hooked, tmp_path):
    hooked.install()
    hooked.git.git("config", "core.hooksPath", str(tmp_path))
    hooked.uninstall()
    assert list(hooked.hooks.iterdir()) == []


def test_a_line_in_a_husky_hook_counts_as_installed(hooked):
    husky = hooked.git.path / ".husky"
    (husky / "_").mkdir(parents=True)
    (husky / "_" / "post-commit").write_text('#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n')
    (husky / "_" / "post-commit").chmod(0o755)
    hooked.git.git("config", "core.hooksPath", ".husky/_")
    assert hooked.status()["post-commit"].state is HookState.SHADOWED
    (husky / "post-commit").write_text(hooked.status()["post-commit"].lines + "\n")
    report = hooked.status()["post-commit"]
    assert (report.state, report.detail) == (HookState.INSTALLED, f"called by {husky / 'post-commit'}")


def test_linked_worktrees_share_the_hooks(hooked, tmp_path):
    worktree = hooked.git.worktree(tmp_path / "linked")
    reports = install(hooked.repository.discover(worktree.path), str(hooked.stand_in.path))
    assert {report.path.parent for report in reports} == {hooked.hooks}
    assert states(hooked.status()) == dict.fromkeys(NAMES, HookState.INSTALLED)


def test_a_hooks_directory_that_cannot_be_written_is_one_clear_error(hooked):
    hooked.hooks.write_text("a file")
    with pytest.raises(NotSetUpError) as caught:
        hooked.install()
    assert f"{hooked.hooks}" in str(caught.value)
    assert caught.value.hint


def test_the_installed_command_is_the_one_hooks_will_run():
    launcher = find_launcher()
    assert launcher is not None
    assert subprocess.run([launcher, "--version"], capture_output=True, check=True).stdout
