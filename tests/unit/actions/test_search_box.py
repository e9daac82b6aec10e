"""What is typed into the box of the page and of `gitrag ui`."""

import pytest

from gitrag.actions.requests import SearchRequest
from gitrag.actions.search_box import read_box
from gitrag.errors import UsageError

LONG = "kind:method " + "a report " * 40


@pytest.mark.parametrize(
    ("typed", "text", "asked"),
    [
        ("where are retries", "where are retries", {}),
        (
            "retry  lang:python path:src/** loop",
            "retry loop",
            {"languages": ("python",), "paths": ("src/**",)},
        ),
        ('retry path:"my docs" kind:method', "retry", {"paths": ("my docs",), "kinds": ("method",)}),
        ("kind:method kind:class a", "a", {"kinds": ("method", "class")}),
        ('"retry_count"', "retry_count", {"exact": "word"}),
        ('"kind:method"', "kind:method", {"exact": "word"}),
        (r"/def \w+ lang:c/", r"def \w+ lang:c", {"exact": "regex"}),
        ("/src/api/", "src/api", {"exact": "regex"}),
        ('lang:c "a b" path:x', "a b", {"exact": "word", "languages": ("c",), "paths": ("x",)}),
        ("/a/ lang:c", "a", {"exact": "regex", "languages": ("c",)}),
        # what only looks like one
        ("/src/app.py", "/src/app.py", {}),
        ("//", "//", {}),
        ('""', '""', {}),
        ('say "a" and "b"', 'say "a" and "b"', {}),
        ("lang: python", "lang: python", {}),
        ("std::path::join slang:c", "std::path::join slang:c", {}),
        (LONG, LONG.strip(), {}),
    ],
)
def test_what_is_typed_is_a_question_or_an_exact_search_with_filters(typed, text, asked):
    assert read_box(typed) == (text, SearchRequest(**asked))


def test_what_cannot_be_asked_is_said():
    with pytest.raises(UsageError, match='There is no kind "methods"'):
        read_box("retry kind:methods")
    with pytest.raises(UsageError, match="nothing to filter"):
        read_box("lang:python")
