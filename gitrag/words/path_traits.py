"""The kind of file that a path names: tests, examples, documentation, support code. Pure.

Most questions are about a repository's own code, and these files repeat its words. The ranker weighs them
(`gitrag/search/ranking.py`); a question that contains one of a trait's words asks for such files.
"""

from __future__ import annotations

import re
from enum import IntFlag
from functools import lru_cache

from gitrag.late import late_re


class Trait(IntFlag):
    """A kind of file that repeats the words of other code."""

    TEST = 1
    EXAMPLE = 2
    DOCUMENT = 4
    SUPPORT = 8


OUTSIDE_THE_PRODUCT = Trait.TEST | Trait.EXAMPLE | Trait.DOCUMENT
"""Files outside the product. Not support code: some projects keep all code in a directory named internal."""


def _words(*words: str) -> str:
    return rf"(^|[/_.-])({'|'.join(words)})([/_.-]|$)"


_PRODUCT = r"(?:src|app|lib|pkg|internal|server|client|backend|frontend)/"
_PROGRAM = r"\.(?:c|cc|cpp|cs|dart|ex|go|h|hpp|java|[jt]sx?|kt|php|py|rb|rs|scala|svelte|swift|vue)$"
"""A program in docs/ below one of these directories is the product's: src/docs/editor.ts."""

_COMPILED = rf"(?:\.(?:go|rs)$|/scripts?/.*{_PROGRAM})"
"""In docs/, a package of the product that is named so (doc/man_docs.go), or a script, which is support."""

_SCAFFOLD = r"cookiecutter|generator|installer|scaffold|boilerplate|skeleton|starter|archetype|create[-_]"
_TEMPLATES = (
    rf"(^|/)([^/]*({_SCAFFOLD})[^/]*/(.*/)?|priv/)[^/]*templates?[^/]*/"
    r"|(^|/)(project|app|plugin|package|service|starter|issue|pull_request)[-_]templates?([/.-]|$)"
    r"|(^|/)templates?/[^/]+/(.*/)?(src/|(package\.json|pyproject\.toml|cargo\.toml|go\.mod|gemfile)$)"
    r"|(^|/)templates?/(.*/)?\.template\.config/|cookiecutter"
)
"""Templates of projects. Any others are pages, charts, roles or a template engine: what people edit."""

_PATTERNS: tuple[tuple[Trait, re.Pattern[str], frozenset[str]], ...] = (
    (
        Trait.TEST,
        late_re(
            _words(
                "tests?",
                "testing",
                "specs?",
                "e2e",
                "fixtures?",
                "testdata",
                "mocks?",
                "testutils?",
                "conftest",
            )
            + r"(?<!\.spec)"  # of RPM
            r"|Tests?\.\w+$|(^|[/.])([A-Z]\w*)?Tests?/|__tests__|(^|/)[Tt]est[A-Z]|test[_-]suite"
        ),
        frozenset("test tests testing spec specs fixture fixtures mock mocks".split()),
    ),
    (
        Trait.EXAMPLE,
        late_re(
            _words(
                "examples?",
                "samples?",
                "demos?",
                "benchmarks?",
                "bench",
                "docs?_src",
                "playgrounds?",
                "tutorials?",
            )
            + f"|{_TEMPLATES}",
            re.IGNORECASE,
        ),
        frozenset(
            "example examples sample samples demo demos benchmark benchmarks template templates".split()
        ),
    ),
    (
        Trait.DOCUMENT,
        late_re(
            rf"^(?!.*{_COMPILED})((?!{_PRODUCT})[^/]+/)*(docs?|documentation|website|_artifacts)/"
            rf"|(^|/)(docs?|documentation|website|_artifacts)/(?!.*{_PROGRAM})"
            r"|(^|/)(www|site|man|guides?)/.*\.(mdx?|markdown|rst|adoc|asciidoc|org|pod|txt|\d\w?)$"
            r"|(^|/)(changelog|changes|history|news|release.?notes|readme|contributing|skill|agents|claude|gemini)"
            r"([_-][^/.]*|([._-][^/]*)?\.(mdx?|markdown|rst|rdoc|adoc|asciidoc|org|pod|textile|txt))?$"
            r"|(^|/)(changelog|release.?notes|readme)[^/]*\.html?$",
            re.IGNORECASE,
        ),
        frozenset("doc docs documentation readme guide changelog tutorial".split()),
    ),
    (
        Trait.SUPPORT,
        late_re(
            _words(
                "legacy",
                "_?compat",
                r"deprecat\w*",
                "scripts?",
                "ci",
                "third.?party",
                r"vendor\w*",
                "dist",
                "build",
                "static",
                "generated",
                "extras?",
                "internals?",
            )
            + r"|(^|/)\.[^/]+/",
            re.IGNORECASE,
        ),
        frozenset("ci workflow workflows pipeline pipelines script scripts legacy deprecated".split()),
    ),
)

_EXAMPLES = late_re(r"(^|/)(examples?|samples?|demos?|tutorials?|playgrounds?|docs?_src)/", re.IGNORECASE)


def is_of_an_example(path: str) -> bool:
    """Return whether a file is an example's, its own tests included; examples below tests are the tests'."""
    example, test = _EXAMPLES.search(path), _PATTERNS[0][1].search(path)
    return example is not None and (test is None or example.start() < test.start())


def traits(path: str, among: Trait | None = None) -> Trait:
    """Return the kinds of file that a path names, of those asked about."""
    asked = -1 if among is None else int(among)
    return _TRAITS[
        sum(1 << place for place in range(len(_PATTERNS)) if asked >> place & 1 and _names(path, place))
    ]


_TRAITS = tuple(map(Trait, range(1 << len(Trait))))
"""Every set of them, by its number: to work one out takes longer than to look at a path."""


@lru_cache(maxsize=1 << 16)
def _names(path: str, place: int) -> bool:
    return _PATTERNS[place][1].search(path) is not None


_OF_PACKAGES = late_re(
    r"(?<=[/_.-])(testing|mocks?|testutils?|_?compat|legacy|ci|third.?party|vendor\w*|dist|build|static|generated"
    r"|extras?|internals?)(?=[/_.-])",
    re.IGNORECASE,
)
"""Names of directories that packages have too; tests, examples, documents and scripts are that even so."""

NAMED_LIKE_PACKAGES = Trait.TEST | Trait.SUPPORT
"""The kinds of file that those names say."""


def as_package(directory: str) -> str:
    """Return a directory without such names, and with a slash."""
    return _OF_PACKAGES.sub("package", f"/{directory}/")[1:]


def traits_within(path: str, package: str, named: Trait) -> Trait:
    """Return which of the kinds that a whole path names remain below a directory that a manifest names."""
    own = as_package(package) + path[len(package) + 1 :]
    return named & ~NAMED_LIKE_PACKAGES | traits(own, named & NAMED_LIKE_PACKAGES)


def asked_for(words: frozenset[str]) -> Trait:
    """Return the kinds of file that a question asks for, by its lower-case words."""
    found = Trait(0)
    for trait, _pattern, asked_by in _PATTERNS:
        if not words.isdisjoint(asked_by):
            found |= trait
    return found
