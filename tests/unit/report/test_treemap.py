"""Areas in proportion to lines, within each other, without overlap."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from gitrag.report.pictures.treemap import squarified, treemap


def overlap(one, other):
    width = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    height = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    return width > 1e-6 and height > 1e-6


def test_the_example_of_the_paper():
    found = squarified([6, 6, 4, 3, 2, 2, 1], (0.0, 0.0, 6.0, 4.0))
    assert [tuple(round(each, 2) for each in box) for box in found[:4]] == [
        (0.0, 0.0, 3.0, 2.0),
        (0.0, 2.0, 3.0, 2.0),
        (3.0, 0.0, 1.71, 2.33),
        (4.71, 0.0, 1.29, 2.33),
    ]


@pytest.mark.parametrize("seed", range(20))
def test_areas_are_in_proportion_and_fill_the_whole(seed):
    chosen = random.Random(seed)
    sizes = sorted(
        (chosen.choice([1, 5, 100, 10_000]) + chosen.randrange(5) for _ in range(40)), reverse=True
    )
    box = (10.0, 20.0, chosen.uniform(10, 2000), chosen.uniform(10, 2000))
    found = squarified(sizes, box)
    scale = box[2] * box[3] / sum(sizes)
    assert [width * height for _, _, width, height in found] == pytest.approx(
        [size * scale for size in sizes]
    )
    assert not any(overlap(one, other) for one, other in combinations(found, 2))


def test_files_are_within_their_folders():
    chosen = random.Random(1)
    sizes = {
        f"{chosen.choice('abc')}/{chosen.choice('de')}/{number}.py": chosen.randrange(3000)
        for number in range(80)
    }
    areas = treemap(sizes | {"top.py": 50})
    boxes = {area.path: (area.x, area.y, area.width, area.height) for area in areas}
    assert len(boxes) == len(areas)
    for area in areas:
        above = area.path.rpartition("/")[0]
        if above:
            x, y, width, height = boxes[above]
            assert x <= area.x
            assert y <= area.y
            assert area.x + area.width <= x + width + 1e-6
            assert area.y + area.height <= y + height + 1e-6
    leaves = [boxes[area.path] for area in areas if not area.is_folder]
    assert not any(overlap(one, other) for one, other in combinations(leaves, 2))


def test_nothing_and_empty_files():
    assert treemap({}) == []
    assert [(area.path, area.size) for area in treemap({"empty.txt": 0})] == [("empty.txt", 1)]
