"""Streams that are closed, full or not there, and a directory that is gone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.command import GITRAG

FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")


def shell(project, script, **env):
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=project.path,
        env={**project.gitrag.environment, "gitrag": str(GITRAG), **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("config >&-", 0),
        ("config 2>&-", 0),
        ("status >&- 2>&-", 0),
        ("init --help >&-", 0),
        ("check --push <&-", 0),
        ("serch 2>&-", 2),
        pytest.param("serch 2>/dev/full", 2, marks=FULL),
    ],
)
def test_a_stream_that_is_not_there_changes_nothing_of_the_outcome(indexed, line, status):
    assert shell(indexed, f'"$gitrag" {line}').returncode == status


def test_an_index_is_not_written_into_a_closed_stream(project):
    """The first file opened gets the number of a stream that is closed."""
    done = shell(project, '"$gitrag" index update --no-embed >&- 2>&-; "$gitrag" index status --json')
    assert '"documents": 2' in done.stdout


@FULL
def test_a_full_device_is_told(indexed):
    done = shell(indexed, '"$gitrag" config >/dev/full')
    assert done.returncode == 75
    assert done.stderr == "Cannot write: No space left on device.\nhint: Free some space and try again.\n"


@pytest.mark.parametrize("line", ["config", "--help", "search retry backoff", "serch 2>&1"])
def test_a_reader_that_goes_away_is_no_error(indexed, line):
    done = shell(indexed, f'"$gitrag" {line} | true; exit "${{PIPESTATUS[0]}}"')
    assert done.returncode in ({2} if "serch" in line else {141})
    assert done.stderr == ""


def test_a_directory_that_is_gone_is_told(project, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = shell(project, f'cd {gone} && rmdir {gone} && "$gitrag" status')
    assert done.returncode == 78
    assert done.stderr == "The current directory is no longer there.\nhint: Go into another one.\n"


def test_a_question_in_another_encoding_is_answered_in_it(indexed):
    """Neither a question nor a locale without UTF-8 ends in an encoding error."""
    done = indexed.gitrag("search", b"caf\xe9 retry backoff", env={"LC_ALL": "C", "PYTHONUTF8": "0"})
    assert (done.status, "client.py" in done.out) == (0, True)
    assert os.fsencode(done.out).decode("ascii")
