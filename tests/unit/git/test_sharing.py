"""Whom a repository is shared with, as git understands its setting."""

from __future__ import annotations

import stat
import subprocess

import pytest

from gitrag.git.discovery import SHARED_KEY as KEY
from gitrag.git.discovery import shared_mode as file_mode

VALUES = {
    "group": 0o660,
    "true": 0o660,
    "1": 0o660,
    "all": 0o664,
    "world": 0o664,
    "everybody": 0o664,
    "2": 0o664,
    "0640": 0o640,
    "0660": 0o660,
    "0666": 0o666,
    "0600": 0o600,
    "umask": 0o600,
    "false": 0o600,
    "0": 0o600,
}


@pytest.mark.parametrize(("value", "mode"), VALUES.items())
def test_a_value_is_what_git_takes_it_for(make_repository, value, mode):
    assert file_mode({KEY: value}) == mode
    repository = make_repository({"a.py": "a = 1\n"})
    repository.git("config", KEY, value)
    repository.write({"a.py": "a = 2\n"})
    command = ["git", "add", "a.py"]
    subprocess.run(command, cwd=repository.path, env=repository.environment, check=True, umask=0o077)
    assert stat.S_IMODE((repository.path / ".git" / "index").stat().st_mode) == mode


def test_what_is_not_set_is_for_the_user_alone():
    assert file_mode({}) == file_mode({KEY: "nonsense"}) == file_mode({KEY: "0040"}) == 0o600
