"""The environment git subprocesses get."""

from __future__ import annotations

import subprocess

from gitrag.git import scrubbed_environment
from gitrag.git.environment import LEAKING

# by which `git -c` and the user's environment configure; wanted
CONFIGURATION = {"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"}


def test_every_variable_git_calls_local_to_a_repository_is_dropped():
    local = subprocess.run(
        ["git", "rev-parse", "--local-env-vars"], capture_output=True, text=True, check=True
    )

    assert set(local.stdout.split()) - CONFIGURATION <= LEAKING.keys()
    assert CONFIGURATION.isdisjoint(LEAKING)


def test_the_rest_of_the_environment_is_kept():
    environ = {
        "PATH": "/bin",
        "HOME": "/h",
        "GIT_CONFIG_GLOBAL": "/g",
        "GIT_SSH": "s",
        "GIT_CEILING_DIRECTORIES": "/",
    }

    scrubbed = scrubbed_environment(environ | {"GIT_DIR": "/x", "GIT_INDEX_FILE": "/y"})
    assert {key: scrubbed[key] for key in environ} == environ
    assert not {"GIT_DIR", "GIT_INDEX_FILE"} & scrubbed.keys()


def test_each_reason_is_given():
    assert all(LEAKING.values())
