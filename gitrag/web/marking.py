"""Source as coloured text: words of a language by class, and the words of a question marked. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from gitrag.report import PIECE
from gitrag.words.control_characters import sanitise_line
from gitrag.words.terms import query_terms

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_TAB = 4
_MOST_CHARACTERS = 400_000
"""Of longer texts the words are not coloured: that takes more than half a second."""

_LONGEST_LINE = 2_000
"""Characters of a line of which the words are coloured and marked."""

_CLASSES = {
    "Comment": "c",
    "Keyword": "k",
    "Literal.String": "s",
    "Literal.Number": "n",
    "Name.Function": "f",
    "Name.Class": "f",
    "Name.Decorator": "d",
    "Name.Builtin": "b",
    "Name.Tag": "k",
    "Name.Attribute": "d",
    "Generic.Heading": "h",
    "Generic.Subheading": "h",
}
"""What is coloured; a kind of token takes the colour of the nearest of its ancestors."""


def marked(text: str, words: frozenset[str]) -> Markup:
    """Return text with the words of a question marked."""
    if not words:
        return escape(text)
    found: list[Markup] = []
    end = 0
    for piece in PIECE.finditer(text):
        if words.intersection(query_terms(piece[0])):
            found += [escape(text[end : piece.start()]), Markup("<mark>%s</mark>") % piece[0]]
            end = piece.end()
    return Markup("").join([*found, escape(text[end:])])


def lines_of(
    lines: Sequence[str], path: str, words: frozenset[str] = frozenset(), *, names: bool = False
) -> list[Markup]:
    """Return lines of a file, coloured by its language.

    Args:
        lines: The lines.
        path: The file, whose name says the language.
        words: Words to mark.
        names: Whether identifiers get an element of their own, for a script to find them.
    """
    shown = [sanitise_line(line.expandtabs(_TAB)) for line in lines]
    lexer = _lexer(path.rpartition("/")[2]) if sum(map(len, shown)) <= _MOST_CHARACTERS else None
    if lexer is None or any(len(line) > _LONGEST_LINE for line in shown):
        return [marked(line, words) if len(line) <= _LONGEST_LINE else escape(line) for line in shown]
    found = list(_coloured(lexer.get_tokens("\n".join(shown)), words, names=names))
    return found[: len(shown)] + [Markup("")] * (len(shown) - len(found))


def _coloured(
    tokens: Iterable[tuple[object, str]], words: frozenset[str], *, names: bool
) -> Iterator[Markup]:
    line: list[Markup] = []
    for kind, text in tokens:
        own = _class(str(kind))
        for number, part in enumerate(text.split("\n")):
            if number:
                yield Markup("").join(line)
                line = []
            if not part:
                continue
            inner = marked(part, words)
            if own:
                line.append(Markup('<span class="%s">%s</span>') % (own, inner))
            elif names and str(kind).startswith("Token.Name"):
                line.append(Markup('<span class="w">%s</span>') % inner)
            else:
                line.append(inner)
    if line:
        yield Markup("").join(line)


@cache
def _class(kind: str) -> str:
    name = kind.removeprefix("Token.")
    while name:
        if name in _CLASSES:
            return _CLASSES[name]
        name = name.rpartition(".")[0]
    return ""


@cache
def _lexer(name: str) -> Lexer | None:
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        return get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
