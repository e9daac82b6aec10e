"""Installing into real repositories: what is written, what is left alone, and what is said about it."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess

import pytest

from gitrag.cli.hooks import _show
from gitrag.cli.terminal import Terminal
from gitrag.errors import NotSetUpError
from gitrag.hooking import script_blocks
from gitrag.hooking.config_hooks import SINCE
from gitrag.hooking.install import add_lines, can_be_added, find_launcher, install, is_left, uninstall
from gitrag.hooking.status import HookState, lines_to_add
from gitrag.hooking.table import HOOKS
from tests.support.command import everything_in
from tests.support.gitversion import GIT_VERSION
from tests.support.hooked import Hooked, StandIn

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


def printed(hooked) -> dict[str, str]:
    """Return what `gitrag hooks status` prints for each hook to be pasted."""
    terminal = Terminal(io.StringIO(), io.StringIO(), out_color=False, err_color=False)
    _show(list(hooked.status().values()), terminal, for_older=True)
    parts = re.split(rf"^({'|'.join(NAMES)})\b", terminal.out.getvalue(), flags=re.MULTILINE)
    return {name: said.partition(":\n")[2] for name, said in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.fixture
def on_path(make_repository, hooked, tmp_path):
    """A repository with the recorder on PATH."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    shutil.copy(hooked.stand_in.path, bin_)
    git = make_repository({"a.py": "a = 1\n"}, name='it\'s "a" $(repo) of mine')
    git.environment["PATH"] = f"{bin_}{os.pathsep}{git.environment['PATH']}"
    return Hooked(git, StandIn(bin_ / "gitrag"))


OTHERS = {
    "python3": "import sys\nopen('mine', 'w').write(sys.argv[1] + sys.stdin.read())\n",
    "node": "const fs = require('fs');\nfs.writeFileSync('mine', process.argv[2] + fs.readFileSync(0));\n",
}
"""Hooks in other languages; each writes down what it is given."""


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", ["post-commit", "pre-push"])
def test_a_hook_in_another_language_is_not_touched_and_what_to_paste_runs_both(on_path, name, language):
    """No lines of a shell are to be added to Python."""
    if shutil.which(language) is None:
        pytest.skip(f"no {language}")
    hooked = on_path
    path = hooked.write_hook(name, f"#!/usr/bin/env {language}\n{OTHERS[language]}")
    before = path.read_bytes()
    report = hooked.install()[name]
    assert (report.state, report.lines) == (HookState.FOREIGN, "")
    assert report.detail == f"it is a {language} script, not a shell script"
    assert path.read_bytes() == before
    [moved, _, last] = printed(hooked)[name].rpartition(" && ")
    assert last == "gitrag hooks install\n"
    subprocess.run(["dash", "-c", moved], cwd=hooked.git.path, check=True)
    assert hooked.install()[name].state is HookState.INSTALLED
    done = subprocess.run(
        [path, "origin"], cwd=hooked.git.path, env=hooked.git.environment, input=b"refs\n", check=False
    )
    assert done.returncode == 0
    hooked.stand_in.wait_for(1)
    assert (hooked.git.path / "mine").read_text() == "originrefs\n"
    assert path.with_name(f"{name}.own").read_bytes() == before


@pytest.mark.sweep(keep=4)
@pytest.mark.parametrize("shell", ["sh", "dash", "bash", "bash --posix -e", "busybox sh", "zsh"])
@pytest.mark.parametrize("indent", ["", "    "])
def test_what_is_printed_can_be_pasted_into_any_shell(on_path, tmp_path, shell, indent):
    """Indented too; what follows in the hook has the standard input, and runs unless a push is refused."""
    command = shell.split()
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not here")
    hooked = on_path
    hooked.git.git("config", "core.hooksPath", str(tmp_path))
    said = printed(hooked)
    assert set(said) == set(NAMES)
    for name, lines in said.items():
        script = tmp_path / f"script-{name}"
        script.write_text("".join(f"{indent}{line}\n" for line in f"{lines}cat".splitlines()))
        refusals = (0, 1, 3) if name == "pre-push" else (0,)
        for status in refusals:
            hooked.stand_in.forget()
            hooked.stand_in.exit_with(status)
            done = subprocess.run(
                [*command, script, "origin"],
                env=hooked.git.environment | {"TMPDIR": str(tmp_path)},
                input=b"some refs\n",
                capture_output=True,
                check=False,
            )
            assert done.stderr == b"", name
            assert (done.returncode, done.stdout) == ((1, b"") if status == 3 else (0, b"some refs\n")), name
            [event] = hooked.stand_in.wait_for(1)
            assert event["args"][-1] == "origin"
            assert event["stdin"] == ("some refs\n" if name == "pre-push" else "")
    assert not list(tmp_path.glob("tmp.*"))


def test_what_is_pasted_twice_overwrites_no_hook(on_path):
    """Nor one that is there already: `post-commit.own`."""
    text = "#!/usr/bin/env python3\nprint('mine')\n"
    path = on_path.write_hook("post-commit", text)
    taken = on_path.write_hook("post-commit.own", "#!/bin/sh\necho earlier\n")
    moved = printed(on_path)["post-commit"].rpartition(" && ")[0]
    for _ in range(2):
        subprocess.run(["dash", "-c", moved], cwd=on_path.git.path, check=False)
        done = subprocess.run([path], timeout=60, capture_output=True, text=True, check=True)
        assert (done.stdout, taken.read_text()) == ("mine\n", "#!/bin/sh\necho earlier\n")


def test_a_push_whose_refs_cannot_be_kept_stops(on_path, tmp_path):
    """What follows in the hook would have an empty input, and might check nothing."""
    (tmp_path / "full").symlink_to("/dev/full")
    mktemp = on_path.stand_in.path.with_name("mktemp")
    mktemp.write_text(f"#!/bin/sh\necho {tmp_path}/full\n")
    mktemp.chmod(0o755)
    done = subprocess.run(
        ["sh", "-c", f"{lines_to_add(HOOKS[-1])}\ncat; echo followed"],
        env=on_path.git.environment,
        input=b"some refs\n",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert not (tmp_path / "full").is_symlink()


@pytest.mark.parametrize("husky", [True, False])
def test_lines_are_written_for_whoever_agrees_and_taken_out_again(on_path, tmp_path, husky):
    """Into husky's own folder, or the one that core.hooksPath names."""
    hooked = on_path
    place = tmp_path / "hooks"
    place.mkdir()
    if husky:
        place = hooked.git.path / ".husky"
        (place / "_").mkdir(parents=True)
        for name in NAMES:
            (place / "_" / name).write_text(
                f'#!/bin/sh\n[ ! -f {place.name}/{name} ] || sh -e {place.name}/{name} "$@"\n'
            )
            (place / "_" / name).chmod(0o755)
    (place / "post-commit").write_text("#!/bin/sh\necho mine >mine\n")
    (place / "post-commit").chmod(0o755)
    before = everything_in(place)
    scope = "--local" if husky else "--global"
    hooked.git.git("config", scope, "core.hooksPath", str(place / "_" if husky else place))
    reports = list(hooked.install().values())
    assert everything_in(place) == before
    assert all(can_be_added(report) for report in reports) is (GIT_VERSION < SINCE)
    if GIT_VERSION >= SINCE:
        return
    added = add_lines(hooked.repository, reports)
    assert {report.state for report in added} == {HookState.INSTALLED}
    assert not any(can_be_added(report) for report in added)
    hooked.git.commit({"b.py": "b = 1\n"})
    hooked.stand_in.wait_for_calls(["hook run post-commit"])
    assert (hooked.git.path / "mine").read_text() == "mine\n"
    hooked.git.git("init", "--quiet", "--bare", tmp_path / "remote.git")
    hooked.stand_in.exit_with(3)
    hooked.git.git("push", "--quiet", tmp_path / "remote.git", "main", check=False)
    assert hooked.git.git("ls-remote", tmp_path / "remote.git") == ""
    hooked.stand_in.exit_with(0)
    hooked.git.git("push", "--quiet", tmp_path / "remote.git", "main")
    kept = everything_in(place)
    hooked.uninstall()
    assert husky or everything_in(place) == kept  # the user's other repositories have them too
    uninstall(hooked.repository, shared=True)
    assert everything_in(place) == before


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
        assert report.lines == f"#!/bin/sh\n{lines_to_add(hook)}"


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


@pytest.mark.parametrize("way", ["core.hooksPath", "a link", "core.hooksPath below"])
def test_a_repository_cannot_have_the_hooks_of_another_taken_out(hooked, make_repository, way):
    hooked.install()
    before = snapshot(hooked.hooks)
    evil = make_repository({"a.py": "a = 1\n"}, name="evil")
    place = hooked.hooks
    if way == "core.hooksPath below":
        place = hooked.git.path.rename(evil.path / "victim") / ".git" / "hooks"
    if way == "a link":
        shutil.rmtree(evil.path / ".git" / "hooks", ignore_errors=True)
        (evil.path / ".git" / "hooks").symlink_to(place)
    else:
        evil.git("config", "core.hooksPath", str(place))
    uninstall(Hooked(evil, hooked.stand_in).repository, shared=True)
    assert snapshot(place) == before


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


def test_lines_are_written_into_a_managers_configuration_where_nothing_is_lost(hooked):
    """The push has commands already: its lines go among them, which its owner does."""
    own = b"pre-push:\n  commands:\n    own:\n      run: echo own  # ours\n"
    hooked.git.write({"lefthook.yml": own})
    for name in NAMES:
        hooked.write_hook(name, b"#!/bin/sh\ncall_lefthook run\n", 0o755)
    before = list(hooked.status().values())
    assert {report.name for report in before if is_left(report)} == {"pre-push"}
    added = add_lines(hooked.repository, before)
    assert {report.name for report in added if report.state is HookState.INSTALLED} == {*NAMES} - {"pre-push"}
    assert hooked.git.file("lefthook.yml").read_bytes().startswith(own)
    assert not any(report.changed for report in add_lines(hooked.repository, added))
