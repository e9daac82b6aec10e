"""What a directory's name says counts as long as the product lies elsewhere."""

from __future__ import annotations

import pytest

from gitrag.search.outside import traits_of
from gitrag.words.path_traits import Trait
from tests.unit.search.columns import make_files

NONE = Trait(0)


@pytest.mark.parametrize(
    ("path", "share", "expected"),
    [
        ("examples/door.py", 0.3, Trait.EXAMPLE),
        ("examples/door.py", 0.7, NONE),  # a collection of examples
        ("website/door.py", 0.3, Trait.DOCUMENT),
        ("website/door.py", 0.7, NONE),  # a site
        ("internal/door.py", 0.7, NONE),  # of Go all code is there
        ("build/door.py", 0.3, Trait.SUPPORT),
        ("tests/door.py", 0.7, Trait.TEST),
        ("testing/door.py", 0.97, NONE),  # a library for tests
    ],
)
def test_a_name_that_most_of_the_code_has_says_nothing(path: str, share: float, expected: Trait):
    files = make_files((path, 1, int(1000 * share)), ("src/window.py", 1, int(1000 * (1 - share))))
    assert traits_of(files).tolist() == [expected, NONE]


def test_data_and_tests_do_not_count_as_the_code_that_is_compared():
    files = make_files(
        ("examples/door.py", 1, 100),
        ("src/window.py", 1, 100),
        ("tests/window.py", 1, 3000),
        ("examples/door.json", 1, 5000),
        languages=["python", "python", "python", "json"],
    )
    assert traits_of(files).tolist() == [Trait.EXAMPLE, NONE, Trait.TEST, Trait.EXAMPLE]
