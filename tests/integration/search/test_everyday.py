"""Asked in words that the answer does not have."""

from __future__ import annotations

import pytest

from gitrag.actions.search import SearchOptions, search
from tests.support.indexes import of_texts

FILES = {
    "src/hooks.py": "def deliver(webhook, subscriber):\n    return webhook.callback(subscriber)\n",
    "src/pages.py": "def render(page, template):\n    return template.fill(page)\n",
    "src/rows.py": "def save(table, row):\n    return table.insert(row)\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    return of_texts(tmp_path_factory.mktemp("everyday"), FILES)


@pytest.mark.parametrize("question", ["tell other programs about it", "cookbook pictures"])
def test_a_file_with_codes_words_for_it_has_that_in_its_reasons(workspace, question):
    hits = search(workspace, question, SearchOptions(min_score=0.0)).hits
    told = {hit.path: dict(hit.reasons).get("everyday", 0.0) for hit in hits}
    assert (told.get("src/hooks.py", 0.0) > 0) == question.startswith("tell")
    assert not told.get("src/rows.py")
