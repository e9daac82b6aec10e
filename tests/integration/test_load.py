"""Searches from many processes while others commit: no error, and no answer about another commit."""

from __future__ import annotations

import pytest

from tests.support import load


@pytest.mark.sweep(keep=0)  # what holds it every day is in test_beside_others.py
def test_answers_are_about_the_commit_that_they_name(make_repository, tmp_path):
    repo = make_repository({"readme.md": "# Loaded\n"})
    repo.environment["GITRAG_MODEL_DIR"] = str(tmp_path / "none")
    repo.environment |= {"HTTPS_PROXY": "http://127.0.0.1:9", "PIP_NO_INDEX": "1"}
    repo.git("config", "gitrag.lockTimeoutS", "60")  # a loaded machine is no error
    found = load.run(repo, tmp_path, seconds=2, searchers=4, committers=2)
    assert found.wrong == []
    assert found.waits_s
    assert found.commits
