"""Parse a question. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gitrag.late import late_re
from gitrag.search import report_reading
from gitrag.search.report_reading import Reading
from gitrag.words import terms
from gitrag.words.abbreviations import OTHER_FORMS
from gitrag.words.path_traits import Trait, asked_for
from gitrag.words.stems import stem

MOST_TERMS = 64
"""Maximum number of distinct terms; of a pasted file only the first lines count."""

_MOST_OF_A_REPORT = 160

_ASKING = frozenset(
    """
    a about an and any are as at be been by can code could do does each for from get gets has have how i if
    in into is it its me not of on or our should show so some that the their them then there these they this
    to use used using was we what when where which who why will with work works would you
    """.split()
)
STOP_WORDS = _ASKING | {stem(word) for word in _ASKING}
"""Words of asking, such as "where". They count only when a question has no others."""

_ASKS = frozenset("are can does how is what when where which who whose why".split())

_NAME = late_re(r"[^\w\s]*\w+(?:(?:\.|::|#)\w+)*[^\w\s]*")
"""A single word that may be the name of a definition, parts and all: no ``kebab-case``."""

_PROGRAM_NAME = late_re(r"[a-z0-9][A-Z]|\w_\w|\d|\.\w|::|^[A-Z]|^_")
"""Marks of an identifier that prose lacks: an inner capital, an underscore, a digit or a dot."""

_ASKS_PEOPLE = late_re(
    r"(?i)^(why|when should|how (do|can|should) (i|we|you)|how to|what happens (if|when))\b"
)
"""Beginnings of questions best answered by prose: a decision, a guide."""


class Question(Struct, frozen=True):
    """A parsed question.

    Attributes:
        text: As asked, white space collapsed.
        words: Its distinct terms that count: stems, and whole identifiers.
        hashes: Their hashes, in the same order.
        is_part: For each, whether it is a stem rather than a whole identifier of several words.
        shorts: Abbreviations that a file's name may use: the hash of their stem, and the words they mean.
        report: What it says as a bug report; None for any other question.
        titled: For each term, whether it is in the report's title.
        compounds: Two neighbouring words written as one: its hash, and the places of the words.
        added: Words of code's that are asked for beside its own; one term each, after its own.
    """

    text: str
    words: tuple[str, ...]
    hashes: tuple[int, ...]
    is_part: tuple[bool, ...]
    shorts: tuple[tuple[int, tuple[int, ...]], ...]
    names: tuple[str, ...]
    is_name: bool
    asks_for: Trait
    report: Reading | None = None
    titled: tuple[bool, ...] = ()
    compounds: tuple[tuple[int, tuple[int, ...]], ...] = ()
    added: tuple[str, ...] = ()

    @property
    def meaning(self) -> str:
        """Return what to embed: of a report what its writer says."""
        return " ".join((self.text, *self.added)) if self.report is None else self.report.meaning

    @property
    def own(self) -> slice:
        """Return which of its terms are its own, not those of words added to it."""
        return slice(len(self.words) - len(self.added))

    @property
    def spoken(self) -> frozenset[str]:
        """Return its words as they are written, in lower case; none of a bug report, which asks for code."""
        return frozenset(re.findall(r"[a-z0-9]+", self.text.lower())) if self.report is None else frozenset()

    @property
    def asks(self) -> bool:
        """Whether it is asked as a question, such as "how are …", and not told as a change or a topic."""
        return self.text.partition(" ")[0].casefold() in _ASKS

    @property
    def forms(self) -> tuple[int, ...]:
        """The hashes of its terms, and then of their abbreviations."""
        return (*self.hashes, *(short for short, _places in self.shorts))


_SHORTEST = 3
_MOST_INITIALS = 4


def _shorts(text: str, places: Mapping[str, int]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Shorten words as file names do: ``auth`` for authentication, ``ws`` for a web socket.

    Prefixes of three letters and more, and the initials of two to four consecutive words. In cross-validation
    (`scripts/training/fit_ranker.py`) source folders rise from 0.907 to 0.913, whole
    repositories from 0.899 to 0.904.

    Args:
        places: Indices of its stems among the words that count.
    """
    found: dict[str, set[int]] = {}
    words = terms.bare_parts(text)[:MOST_TERMS]
    at = [places.get(stem(word)) for word in words]
    for word, place in zip(words, at, strict=True):
        if place is not None and word.isalpha():
            for length in range(_SHORTEST, min(len(word), terms.LONGEST_SPLIT)):
                found.setdefault(stem(word[:length]), set()).add(place)
    for word, place in places.items():
        if not word.isascii():  # of which a file's name has parts only
            for part in terms.split(word)[1:]:
                found.setdefault(part, set()).add(place)
    for count in range(2, _MOST_INITIALS + 1):
        for start in range(len(words) - count + 1):
            run = slice(start, start + count)
            stands_for = {place for place in at[run] if place is not None}
            found.setdefault("".join(word[0] for word in words[run]), set()).update(stands_for)
    return tuple(
        (terms.hashed(short), tuple(sorted(stands_for)))
        for short, stands_for in found.items()
        if stands_for and short not in places
    )


_NEIGHBOURS = late_re(r"(?<![A-Za-z0-9])([A-Za-z]{2,24})(?=[ _-]([A-Za-z]{2,24})(?![A-Za-z0-9]))")


def _compounds(text: str, places: Mapping[str, int]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Write two neighbouring words as one, as names may: ``threadpool`` for a thread pool.

    Args:
        places: Indices of its stems among the words that count.
    """
    found: dict[str, tuple[int, ...]] = {}
    for pair in _NEIGHBOURS.findall(text.lower())[:MOST_TERMS]:
        if own := tuple(place for word in pair if (place := places.get(stem(word))) is not None):
            found.update(dict.fromkeys(("".join(pair), stem("".join(pair))), own))
    return tuple((terms.hashed(word), own) for word, own in found.items() if word not in places)


def other_forms(question: Question, named: Collection[int]) -> list[tuple[int, int]]:
    """List other forms of words, such as ``database`` for ``db``, where no name has the form asked.

    Args:
        named: The places of its terms, and after them of its abbreviations, that are in a name.

    Returns:
        The hash of each form, and the place of the word that it stands for.
    """
    abbreviated = {
        place
        for number, (_term, places) in enumerate(question.shorts, len(question.words))
        if number in named
        for place in places
    }
    asked = set(question.words)
    return [
        (terms.hashed(other), place)
        for place, word in enumerate(question.words)
        if place not in named and place not in abbreviated
        for other in OTHER_FORMS.get(word, ())
        if other not in asked
    ]


def looks_like_code(word: str) -> bool:
    """Tell an identifier from a word of prose."""
    return bool(_PROGRAM_NAME.search(word))


def read(text: str, *, may_be_report: bool = True) -> Question:
    """Parse a question; as a bug report if it looks like one and may be one."""
    text = unicodedata.normalize("NFC", text)
    report = report_reading.read(text) if may_be_report else None
    text = " ".join(text.split())
    if report is not None and terms.query_terms(report.words):
        return _of_report(text, report)
    found = terms.query_terms(text)
    words = [word for word in found if word not in STOP_WORDS] or found
    words = words[:MOST_TERMS]
    parts = frozenset(terms.asked_parts(text))
    identifiers = terms.identifiers(text)[:MOST_TERMS]
    places = {word: place for place, word in enumerate(words) if word in parts}
    compounds = _compounds(text, places)
    alone = bool(_NAME.fullmatch(text))
    opening = text.partition(" ")[0]  # contains a capital, whatever the position
    asking = {opening} if opening.lower() in _ASKING else set()
    names = [name for name in identifiers if alone or (looks_like_code(name) and name not in asking)]
    return Question(
        text=text,
        words=tuple(words),
        hashes=tuple(terms.hashed(word) for word in words),
        is_part=tuple(word in parts for word in words),
        shorts=(*_shorts(text, places), *compounds),
        names=tuple(names),
        is_name=alone,
        asks_for=asked_for(frozenset(re.findall(r"[a-z]+", text.lower())))
        | (Trait.DOCUMENT if _ASKS_PEOPLE.match(text) else Trait(0)),
        compounds=compounds,
    )


def with_words(question: Question, added: Sequence[str]) -> Question:
    """Ask for further words beside a question's own, which stay the first; no identifiers."""
    new = {stem(word): word for word in added if stem(word) not in question.words}
    places = {term: place for place, term in enumerate(new, len(question.words))}
    hashes = tuple(map(terms.hashed, new))
    known = {*question.hashes, *hashes, *(short for short, _places in question.shorts)}
    shorts = dict(each for term, word in new.items() for each in _shorts(word, {term: places[term]}))
    return replace(
        question,
        words=(*question.words, *new),
        hashes=(*question.hashes, *hashes),
        is_part=(*question.is_part, *(True for _word in new)),
        shorts=(*question.shorts, *((term, own) for term, own in shorts.items() if term not in known)),
        added=tuple(new.values()),
    )


def _of_report(text: str, report: Reading) -> Question:
    """Parse a bug report: the title's words come first, and it asks for no kind of file."""
    title = frozenset(terms.query_terms(report.title))
    found = terms.query_terms(report.words)
    words = ([word for word in found if word not in STOP_WORDS] or found)[:_MOST_OF_A_REPORT]
    parts = frozenset(terms.asked_parts(report.words))
    places = {word: place for place, word in enumerate(words) if word in parts}
    return Question(
        text=text,
        words=tuple(words),
        hashes=tuple(terms.hashed(word) for word in words),
        is_part=tuple(word in parts for word in words),
        shorts=_shorts(report.title, places),
        names=(),
        is_name=False,
        asks_for=Trait(0),
        report=report,
        titled=tuple(word in title for word in words),
    )
