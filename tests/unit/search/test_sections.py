"""What of a search's sections is shown."""

from __future__ import annotations

import pytest

from gitrag.corpus.layout import CollectionKind
from gitrag.search.sections import least_score


@pytest.mark.parametrize(("kind", "least"), [("adrs", 0.3), ("specs", 0.3), ("issues", 0.3), ("code", 0.02)])
def test_the_least_score_is_of_the_kind_unless_one_is_given(kind: str, least: float):
    assert least_score(CollectionKind(kind), None, of_report=False) == least
    for given in (0.0, 0.5):
        assert least_score(CollectionKind(kind), given, of_report=False) == given
