"""Whatever is killed, and whenever: the next command works, and nothing is lost or doubled."""

from __future__ import annotations

import random

import pytest

from tests.support.crashes import Crashes


@pytest.mark.timeout(900)  # fifteen seconds on an idle machine of two cores
def test_kills_at_random_moments_leave_an_index_that_works(make_repository, tmp_path):
    repo = make_repository({"readme.md": "# Killed\n\nOften.\n"})
    repo.environment["GITRAG_MODEL_DIR"] = str(tmp_path / "none")
    repo.environment |= {"HTTPS_PROXY": "http://127.0.0.1:9", "PIP_NO_INDEX": "1"}  # the worker has no model
    crashes = Crashes(repo, random.Random(6), tmp_path)
    rounds = 0
    while rounds < 12 or sum(crashes.killed.values()) < 5:  # the others had ended before they were killed
        assert rounds < 60
        crashes.crash()
        rounds += 1
