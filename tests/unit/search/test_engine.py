from __future__ import annotations

import numpy as np
import pytest

from gitrag.model import Chunk, Kind
from gitrag.search.engine import _whole
from gitrag.search.evidence import Evidence

NONE = np.empty(0)


@pytest.mark.parametrize("head", [Kind.MODULE, Kind.CLASS])
@pytest.mark.parametrize(("definition", "order"), [(0.9, [1, 0]), (0.3, [0, 1])])
def test_a_definition_comes_before_a_head_that_is_hardly_better(definition, order, head):
    worth = np.array([1.6, definition])
    evidence = Evidence(
        {}, np.array([7, 8]), np.array([0, 0]), *[NONE] * 3, worth, *[NONE] * 3, 0.0, NONE > 0, NONE > 0
    )
    found = _whole(evidence, {0: chunk(head), 1: chunk(Kind.FUNCTION)})
    assert [place for place, _further in found] == order


def chunk(kind: Kind) -> Chunk:
    return Chunk(kind, "", "", "", "", "", 1, 1)
