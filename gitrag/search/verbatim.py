"""What has a question word for word, such as a pasted error message; what re-exports a name or values it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gitrag.late import late_re, np
from gitrag.store.candidates import DefinitionSite, Postings
from gitrag.store.memo import Memo
from gitrag.store.scopes import SearchScope
from gitrag.words.declarations import LANGUAGES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.source import Source


def reexports(
    source: Source, scope: SearchScope, names: Sequence[str], memo: Memo | None = None
) -> list[DefinitionSite]:
    """Find the scope's chunks that re-export one of some names, matching case.

    Args:
        names: Names; those with dots cannot be re-exported.
    """
    wanted = [name for name in names if "." not in name]
    if not wanted or not scope.files.among(LANGUAGES.__contains__).any():
        return []
    chunks = set(source.reexporting(wanted, memo))
    return [DefinitionSite(chunk, file, exact=True) for file, chunk in scope.places_of(chunks)]


_FEWEST = 3
"""Minimum number of words; two in a row are not a quotation."""

_FEWEST_SAID = 5
"""Of a shorter message three fifths are no quotation."""

_LONGEST = 64
"""Maximum number of words; of a pasted file these are enough."""

_LAST_BITS = (1 << 22) - 1
"""Of an id."""

_MOST = 64
"""Chunks to read, those with most of the words: for 223 messages of four repositories they contain 220."""


_MESSAGE = late_re(r"\b[A-Z]\w*(?:Error|Exception)\b\W+(\w.*)")
"""An exception's name, and its message: the last words may be values, or added by who asks."""


def verbatim(
    source: Source, text: str, postings: Postings, terms: int, *, may_add: bool = False
) -> NDArray[np.int32]:
    """Find chunks with a question's words in a row, whatever punctuation stands between; ids, ascending.

    A message broken into several lines counts too.

    Args:
        terms: How many terms the question has.
        may_add: Whether of an exception's message the first three fifths are enough.
    """
    words = re.findall(r"\w+", text)[:_LONGEST]
    none = np.empty(0, np.int32)
    least = terms
    if may_add and (said := _MESSAGE.search(text)) and len(own := re.findall(r"\w+", said[1])) > _FEWEST_SAID:
        words, least = own[: -(-len(own) * 3 // 5)], terms // 2
    if len(words) < _FEWEST or not len(postings.chunk_id):
        return none
    # Of many postings few are worth sorting. Ids may be high: those that share their last bits count as one.
    bits = postings.chunk_id & _LAST_BITS
    rows = np.flatnonzero(np.bincount(bits)[bits] >= least)
    if not len(rows):
        return none
    _keys, first = np.unique(
        postings.chunk_id[rows].astype(np.int64) * terms + postings.term[rows], return_index=True
    )
    first = rows[first]
    chunk, place, words_of = np.unique(postings.chunk_id[first], return_inverse=True, return_counts=True)
    share = np.bincount(place, postings.frequency[first] / postings.length[first])
    having = np.flatnonzero(words_of >= least)
    if not len(having):
        return none
    chosen = chunk[having[np.lexsort((-share[having], -words_of[having]))[:_MOST]]]
    quoted = re.compile(r"(?<!\w)" + r"\W+".join(map(re.escape, words)) + r"(?!\w)", re.IGNORECASE)
    texts = source.texts_of(chosen)
    return np.array(sorted(chunk_id for chunk_id, own in texts.items() if quoted.search(own)), dtype=np.int32)


_MOST_SITES = 20
"""Maximum number of places; a name with more is a common word such as ``name`` or ``id``."""

# RE2's syntax, for the database; linear in the text. NAME is replaced by the names.
_BEFORE = r"^[ \t]*(?:[@\w][\w.]*(?:::\w+)*(?:<[^=;\n]*>|[\[(][^=;\n]*[\])])?[*&?!]*[ \t]+[*&]*){0,6}"
"""Nothing, or modifiers and types: ``pub(crate) const``, ``static final Map<K, V>``, ``const char *``."""
_GIVEN_A_VALUE = (
    _BEFORE + r"(?:[\w.]+\.)?[@$]*NAME\b[?!]?(?:\[[^\]\n]*\])*[ \t]*"
    r"(?::[^=\n]*|[\w.*\[\]<>]+[ \t]*)?:?=(?:[^=>~]|$)",  # NAME: T = 1, NAME T = 1, NAME := 1
    r"^[ \t]*#[ \t]*define[ \t]+NAME\b",  # C
    r"""^[ \t]*define\(['"]NAME['"]""",  # PHP
    r"^[ \t]*@NAME[ \t]+[^ \t(=]",  # Elixir
)
_MEMBER = (
    _BEFORE + r"\$?NAME\b[?!]?[ \t]*[:;]",  # timeout?: number; private int timeout;
    r"^[ \t]*NAME[ \t]+[*\[\]\w.]+[ \t]*(?:`|//|$)",  # Timeout time.Duration
    r"^[ \t]*(?:case[ \t]+)?NAME[ \t]*(?:\([^\n]*\))?[ \t]*(?:[,;{=]|//|$)",  # enumeration members
)


def value_sites(
    source: Source,
    scope: SearchScope,
    name: str,
    chunk_ids: NDArray[np.int32],
    is_code: Callable[[str], bool],
) -> list[DefinitionSite]:
    """Find the scope's code outside functions that gives a name a value or a type.

    Args:
        chunk_ids: int32, the chunks that contain it.
        is_code: Tells whether a language is a programming language.
    """
    given, member = (
        "(?m)" + "|".join(forms).replace("NAME", re.escape(name)) for forms in (_GIVEN_A_VALUE, _MEMBER)
    )
    found = source.giving_a_value(np.unique(chunk_ids), given, member)
    sure = {chunk_id: given for chunk_id, given, _member in found}
    places = scope.places_of(sure)
    code = [(file, chunk) for file, chunk in places if is_code(str(scope.files.language[file]))]
    return (
        [DefinitionSite(chunk, file, sure[chunk]) for file, chunk in code] if len(code) <= _MOST_SITES else []
    )
