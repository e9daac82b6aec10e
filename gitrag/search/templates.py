"""Messages as programs print them, and the templates that they were filled from.

A template is a string of the code, with values where it has ``%s``, ``{name}``, ``$name`` or the like, or
where strings are joined around an expression; or a line of a resource file (JSON, YAML, properties, XML). It
fits a message that has all its own words in order, with anything in place of a value, from a beginning to an
end: of the message, or of what punctuation sets off in it, such as the cause that an error names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.chunking.languages import is_code, is_prose
from gitrag.late import late_re, np
from gitrag.search.bm25 import highest, idf, saturated
from gitrag.search.outside import is_product_code, traits_of
from gitrag.search.question import STOP_WORDS, Question, looks_like_code
from gitrag.store.candidates import Postings
from gitrag.store.memo import Memo
from gitrag.store.scopes import SearchScope
from gitrag.words import terms
from gitrag.words.bulk_files import Bulk, bulk
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.source import Source

_FEWEST = 3
"""Words of a message, and of a template without a value or of a message that has nothing like one."""

_FEWEST_TELLING = 2
"""Words of a template that are not such as "is" and "not"."""

_LONGEST = 300
"""Characters of a message that are compared, and of an expression between two strings."""

_MOST_COMPARED = 256
_MOST_READ = 24
_MOST_RESOURCES = 4
"""Chunks whose paths are read for a message, the best by BM25; of code, and of resources, their texts."""

_LINES_AROUND = 3
"""How many lines around two of a message's words are searched for its template."""

_MOST_FILES = 12
"""Files that may have a template, or use its name; what more have says nothing about any of them."""

_LEAST_SHARE = 0.3
_LEAST_SHARE_OF_PROSE = 0.6
"""Least share of a message's words in its template; the second where nothing seems filled in."""

_NEARLY_BEST = 0.8
"""Share of the longest template's words that another one has to be believed too."""

_STRING = late_re(
    r'"""(?P<a>(?:[^"\\]|\\.|"(?!""))*+)"""|\'\'\'(?P<b>(?:[^\'\\]|\\.|\'(?!\'\'))*+)\'\'\''
    r'|"(?P<c>(?:[^"\\\n]|\\.)*+)"|\'(?P<d>(?:[^\'\\\n]|\\.)*+)\'|`(?P<e>(?:[^`\\]|\\.)*+)`',
    re.DOTALL,
)
_OPERATOR = r"(?:<>|\+\+|<<|\|\||\.\.|[+.&~])"
_JOINED = late_re(rf"\s*(?:\\\s*)?{_OPERATOR}?\s*[a-zA-Z$@]{{0,2}}", re.DOTALL)
"""What stands between two strings of one text: nothing, an operator, the second one's prefix."""

_BETWEEN = late_re(rf"\s*{_OPERATOR}(?=\s*\S).*?{_OPERATOR}\s*[a-zA-Z$@]{{0,2}}", re.DOTALL)
_FOLLOWED = late_re(rf"\s*(?:{_OPERATOR}|,)")
_PRECEDED = late_re(rf"[\w)\]]\s*{_OPERATOR}\s*[a-zA-Z$@]{{0,2}}$")
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))

_VALUE = late_re(
    r"%(?:\(\w+\)|\{\w+\}|<\w+>|\d+\$)?[-+#0]?\d*(?:\.\d+)?(?:ll?|h|z)?[a-zA-Z@]"  # %s, %(name)d, %1$s, %{x}
    r"|[$#]?\{\{?[^{}\n]*\}?\}"  # {}, {name!r}, ${name}, #{name}, {{name}}
    r"|\\\([^()\n]*\)"  # \(name)
    r"|\$\w+(?:->\w+|\[\w+\])*"  # $name
    r"|(?<![\w:]):[a-z_]\w*"  # :name
)
_ESCAPE = late_re(r"\\(?:[nrt]|(?P<itself>.))", re.DOTALL)

_ENTRY = late_re(
    r"\s*(?:<[^<>]*\bname=\"(?P<name>[\w.]+)\"[^<>]*>|[\"']?(?P<key>[\w.-]+)[\"']?\s*(?:=>|[:=]))(?P<said>.*)"
)
"""A line of a resource file: ``"key": "text"``, ``key: text``, ``key=text``, ``<string name="key">text``."""

_NAMED = late_re(r"(?<![\w.-])[\"']?(?P<key>[\w.-]+)[\"']?\s*(?:=>|:?=|:)\s*[a-zA-Z$@]{0,2}$")
_LONGEST_NAME = 100
_TAG = late_re(r"</?\w[^<>]*>")
_WORD = late_re(r"\w+")
_FILLED = late_re(r"[\d/\\'\"<>{}\[\]()=@`]|:\s|\w[._-]\w|[a-z][A-Z]")
"""What values have, and plain questions have not."""

_SETS_OFF = late_re(r"[^\w\s]")


class Message(Struct, frozen=True):
    """What a program may have printed.

    Attributes:
        text: Its words in lower case, a space before and after each.
        starts: Where in ``text`` a part of it begins, and ``ends``, where one ends.
        is_filled: Whether it has anything that looks like a value.
    """

    text: str
    starts: frozenset[int]
    ends: frozenset[int]
    words: int
    is_filled: bool


class Template(Struct, frozen=True):
    """The words of a text, in runs between its values.

    Attributes:
        runs: Lower-case words, a space between them, and before and after unless a value adjoins.
        opens: Whether it begins with a word, not with a value; ``closes``, whether it ends with one.
        key: The name that is given to it; empty for none.
    """

    runs: tuple[str, ...]
    opens: bool = True
    closes: bool = True
    key: str = ""

    @property
    def words(self) -> list[str]:
        return " ".join(self.runs).split()


def read_message(said: str) -> Message:
    said = said[:_LONGEST]
    text, starts, ends = " ", {0}, set()
    before, last = "", 0
    for found in _WORD.finditer(said):
        if _SETS_OFF.search(said, last, found.start()) or (len(before) >= _FEWEST and before.isupper()):
            starts.add(len(text) - 1)
            ends.add(len(text) - 1)
        before, last = found[0], found.end()
        text += f"{before.lower()} "
    return Message(
        text,
        frozenset(starts),
        frozenset({*ends, len(text) - 1}),
        text.count(" ") - 1,
        bool(_FILLED.search(said)),
    )


def fits(template: Template, message: Message) -> bool:
    """Tell whether a message has a template's words in order, from a beginning to an end."""
    at = 0
    for number, run in enumerate(template.runs):
        place = message.text.find(run, at)
        while place >= 0 and not (
            (number or not template.opens or place in message.starts)
            and (
                number < len(template.runs) - 1 or not template.closes or place + len(run) - 1 in message.ends
            )
        ):
            place = message.text.find(run, place + 1)
        if place < 0:
            return False
        at = place + len(run) - run.endswith(" ")
    return bool(template.runs)


def says_enough(template: Template, message: Message) -> bool:
    """Tell whether a template that fits a message has enough words of its own to be the one."""
    words = template.words
    has_value = len(template.runs) > 1 or not (template.opens and template.closes)
    fewest = _FEWEST_TELLING if has_value and message.is_filled else _FEWEST
    share = _LEAST_SHARE if message.is_filled else _LEAST_SHARE_OF_PROSE
    telling = sum(word not in STOP_WORDS and not word.isdigit() for word in words)
    return len(words) >= max(fewest, share * message.words) and telling >= _FEWEST_TELLING


def templates(text: str, *, of_code: bool) -> Iterator[Template]:
    """List the templates of a text: its strings, and of a resource file what follows a name on a line."""
    yield from _of_strings(text)
    for line in () if of_code else text.split("\n"):
        if (found := _ENTRY.match(line)) and (said := _TAG.sub(" ", found["said"]).strip(" \t\r,;\"'")):
            yield _template([said], key=found["name"] or found["key"])


def _of_strings(text: str) -> Iterator[Template]:
    parts: list[str | None] = []
    key, between, end = "", "", 0
    for found in (*_STRING.finditer(text), None):
        begin = len(text) if found is None else found.start()
        between += text[end:begin] if len(between) < _LONGEST else ""
        said = "" if found is None else next(filter(None, found.groups()), "")
        end = len(text) if found is None else found.end()
        if parts and found and len(between) < _LONGEST:
            if _JOINED.fullmatch(between):
                parts.append(said)
                between = ""
                continue
            if _BETWEEN.fullmatch(between) and not _is_open(between):
                parts += [None, said]
                between = ""
                continue
            if _FOLLOWED.match(between) and _is_open(between):
                yield _template([said])  # within the expression
                continue
        if parts:
            yield _template([*parts, *([None] if _FOLLOWED.match(between) else [])], key=key)
        if found:
            before = text[max(0, begin - _LONGEST_NAME) : begin]
            parts = [*([None] if _PRECEDED.search(before) else []), said]
            key = named["key"] if (named := _NAMED.search(before)) else ""
            between = ""


def _is_open(text: str) -> bool:
    """Tell whether a bracket of an expression is not closed yet, since a string within it interrupts it."""
    return any(text.count(opening) > text.count(closing) for opening, closing in _BRACKETS)


def _template(parts: Sequence[str | None], key: str = "") -> Template:
    """Make a template of strings and, as None, values between them."""
    said = "".join("\0" if part is None else _VALUE.sub("\0", part) for part in parts)
    pieces = _ESCAPE.sub(lambda found: found["itself"] or " ", said).lower().split("\0")
    runs = []
    for number, piece in enumerate(pieces):
        if words := _WORD.findall(piece):
            before = "" if number and piece[0].isalnum() else " "
            after = "" if number < len(pieces) - 1 and piece[-1].isalnum() else " "
            runs.append(f"{before}{' '.join(words)}{after}")
    return Template(tuple(runs), bool(_WORD.search(pieces[0])), bool(_WORD.search(pieces[-1])), key)


def filled(
    source: Source,
    scope: SearchScope,
    question: Question,
    messages: Sequence[str],
    postings: Postings,
    memo: Memo | None = None,
) -> NDArray[np.int32]:
    """Find the product's chunks with a template of a message, or with the name of one; ids, ascending."""
    found: list[int] = []
    for said in messages:
        message = read_message(said)
        if message.words >= _FEWEST and (message.is_filled or not question.asks):
            own = {term for word in message.text.split() for term in terms.split(word)}
            places = [place for place, term in enumerate(question.words) if term in own]
            found += _of_message(
                source, scope, message, _likeliest(source, scope, places, postings, memo), memo
            )
    return np.unique(np.array(found, dtype=np.int32))


def _likeliest(
    source: Source, scope: SearchScope, places: Collection[int], postings: Postings, memo: Memo | None
) -> dict[int, bool]:
    """List the chunks of the product's code and data with the best BM25 for some terms.

    Of those in resources and translations, which are many, few.

    Returns:
        For each chunk whether it is in one of these.
    """
    files = scope.files
    outside = ((traits_of(files) & OUTSIDE_THE_PRODUCT) > 0) | files.among(is_prose)
    rows = np.flatnonzero(np.isin(postings.term, list(places)) & ~outside[postings.file])
    if not len(rows):
        return {}
    rarity = idf(len(scope.chunk_id), np.bincount(postings.term, minlength=max(places) + 1))
    mean_length = max(float(files.length.sum()) / max(int(files.chunks.sum()), 1), 1.0)
    worth = saturated(postings.frequency[rows], postings.length[rows] / mean_length)
    # A chunk of several files has a row for each; that it counts more then does no harm.
    chunk, first, place = np.unique(postings.chunk_id[rows], return_index=True, return_inverse=True)
    sums = np.bincount(place, worth * rarity[postings.term[rows]])
    best = highest(sums, _MOST_COMPARED)
    file = postings.file[rows][first[best]]
    paths = source.read_paths(np.unique(files.path_id[file]).tolist(), memo)
    is_resource = ~files.among(is_code)[file] | [
        bulk(paths[path_id]) is Bulk.TRANSLATION for path_id in files.path_id[file].tolist()
    ]
    most = np.where(is_resource, _MOST_RESOURCES, _MOST_READ)
    chosen = np.where(is_resource, np.cumsum(is_resource), np.cumsum(~is_resource)) <= most
    return dict(zip(chunk[best][chosen].tolist(), is_resource[chosen].tolist(), strict=True))


def _of_message(
    source: Source, scope: SearchScope, message: Message, likely: Mapping[int, bool], memo: Memo | None
) -> list[int]:
    """List the chunks that say a message: those with its template, of resources those that use its name."""
    texts = source.texts_of(np.array(sorted(likely), dtype=np.int32))
    near = {chunk: parts for chunk, text in texts.items() if (parts := _near(text, message))}
    code = scope.files.among(is_code)
    matching = [
        (file, chunk, template)
        for file, chunk in scope.places_of(near)
        for part in near[chunk]
        for template in templates(part, of_code=bool(code[file]))
        if fits(template, message) and says_enough(template, message)
    ]
    most = max((len(template.words) for *_, template in matching), default=0)
    best = [row for row in matching if len(row[2].words) >= _NEARLY_BEST * most]
    keys = sorted({template.key for *_, template in best})
    using = [place for key in keys for place in _using(source, scope, key, memo)]
    own = [(file, chunk) for file, chunk, _template in best if not likely[chunk]]
    found = using + own or [(file, chunk) for file, chunk, _template in best]
    return [chunk for _file, chunk in found] if len({file for file, _chunk in found}) <= _MOST_FILES else []


def _near(text: str, message: Message) -> list[str]:
    """Cut out of a text the lines around two words in a row of a message: most texts have none."""
    pairs = [f"{one} {other}" for one, other in pairwise(message.text.split())]
    lower = text.lower()
    pairs = [pair for pair in pairs if pair in lower]
    if not pairs:
        return []
    lines = text.split("\n")
    having = (place for place, line in enumerate(lower.split("\n")) if any(pair in line for pair in pairs))
    near = sorted(
        {near for place in having for near in range(place - _LINES_AROUND, place + _LINES_AROUND + 1)}
    )
    ends = [place for place, (one, other) in enumerate(pairwise(near), 1) if other > one + 1]
    return [
        "\n".join(lines[max(near[first], 0) : near[last - 1] + 1])
        for first, last in pairwise([0, *ends, len(near)])
    ]


def _using(source: Source, scope: SearchScope, key: str, memo: Memo | None) -> list[tuple[int, int]]:
    """List the product's code that has the name of a text, unless it is a plain word or many have it."""
    key = key.strip(".-")
    if not looks_like_code(key) and "-" not in key:
        return []
    last = max(_WORD.findall(key), key=len)
    postings = source.postings(scope, [terms.hashed(terms.whole(last))], memo)
    rows = np.flatnonzero(is_product_code(scope.files)[postings.file])
    if not 0 < len(rows) <= _MOST_READ:
        return []
    texts = source.texts_of(np.unique(postings.chunk_id[rows]))
    named = re.compile(rf"(?<![\w-])(?:{re.escape(key)}|{re.escape(key.rpartition('.')[2])})(?![\w-])")
    found = [
        (file, chunk)
        for file, chunk in zip(postings.file[rows].tolist(), postings.chunk_id[rows].tolist(), strict=True)
        if named.search(texts.get(chunk, ""))
    ]
    return found if len({file for file, _chunk in found}) <= _MOST_FILES else []
