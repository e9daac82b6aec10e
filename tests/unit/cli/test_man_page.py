"""The man page says what the commands' help says."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from gitrag.cli.root import COMMANDS, root
from gitrag.machine.prerequisites import CheckState, check_manual

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "gitrag.1"


def test_the_page_is_up_to_date():
    made = runpy.run_path(str(ROOT / "scripts/man_page.py"))["man_page"]()
    assert PAGE.read_text("utf-8") == made, "python scripts/man_page.py > docs/gitrag.1"


@pytest.fixture(scope="module")
def shown() -> str:
    if shutil.which("groff") is None:
        pytest.skip("without groff the page cannot be formatted")
    command = ["groff", "-man", "-Tutf8", "-ww", "-P-c", "-rLL=300n", str(PAGE)]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stderr == b""
    text = subprocess.run(["sed", "s/.\b//g"], input=done.stdout, capture_output=True, check=True).stdout
    return text.decode()


def test_it_names_every_command_option_and_exit_status(shown):
    for name, entry in COMMANDS.items():
        if entry.hidden:
            continue
        command = root.get_command(click.Context(root), name)
        assert command is not None
        assert f"gitrag {name}" in shown
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.opts[-1] in shown
    for status in ("0", "1", "2", "3", "70", "75", "78", "130"):
        assert f"\n       {status} " in shown


def test_its_examples_can_be_copied(shown):
    assert 'vim -q <(gitrag search -o vimgrep "parse the config")' in shown
    assert "gitrag search --regex 'TODO|FIXME' -o vimgrep" in shown


def test_git_opens_it_in_an_activated_environment(tmp_path):
    """As installed by the wheel: man looks beside the directories on PATH."""
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    program, pages = tmp_path / "bin" / "git-gitrag", tmp_path / "share" / "man" / "man1"
    program.parent.mkdir()
    pages.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for page in ("gitrag.1", "git-gitrag.1"):
        shutil.copy(PAGE.with_name(page), pages)
    own = {name: value for name, value in os.environ.items() if name != "MANPATH"}
    environment = {**own, "PATH": f"{program.parent}:{os.environ['PATH']}", "MANPAGER": "cat", "PAGER": "cat"}
    for command in (["git", "gitrag", "--help"], ["man", "gitrag"], ["man", "git-gitrag"]):
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert b"always right about it" in done.stdout


def test_doctor_says_whether_man_finds_it(tmp_path):
    none = check_manual(os.environ, tmp_path)
    assert none.message == "no man page is installed; `git gitrag -h` prints the help"
    if shutil.which("man") is None:
        pytest.skip("man is not installed")
    place = tmp_path / "share" / "man"
    (place / "man1").mkdir(parents=True)
    shutil.copy(PAGE, place / "man1")
    hidden = check_manual({**os.environ, "MANPATH": "/nowhere"}, place)
    assert (
        hidden.message
        == f"`git gitrag -h` prints the help; the man page is in {place}, where man does not look"
    )
    assert (hidden.state, hidden.fix) == (CheckState.OK, "")  # nothing is wrong
    assert check_manual({**os.environ, "MANPATH": f"{place}:"}, place).message == "git gitrag --help"
