"""The environment git subprocesses get."""

from __future__ import annotations

import subprocess

from gitrag.git import scrubbed_environment
from gitrag.git.environment import LEAKING, message_of, run_git

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


def test_a_message_has_no_line_of_a_file_that_git_was_made_to_read(make_repository, tmp_path):
    repository = make_repository({"a.py": "x = 1\n"})
    (tmp_path / "private").write_text("* swordfish!\n")
    repository.git("config", "core.attributesFile", str(tmp_path / "private"))
    run = ("hash-object", "a.py", "nothing.py")
    done = run_git(run, cwd=repository.path, environment=repository.environment)
    assert b"swordfish" in done.stderr
    assert message_of(done) == "could not open 'nothing.py' for reading: No such file or directory"


def test_each_reason_is_given():
    assert all(LEAKING.values())
