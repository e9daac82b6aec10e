"""Calls by a compiler's word: of an index in SCIP's format, which indexers of many languages write.

An index says of ranges of text which symbol they mean, and where each is defined; of no file it says what
content it was made of. So it is believed of a file only if the text bears it out: each range holds whole
words, and each definition's its symbol's name. Whether the file is older than the index is the caller's to
say. The format is https://github.com/sourcegraph/scip/blob/main/scip.proto; data are read as far as asked.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice

from msgspec import Struct

from gitrag.callgraph.edges import Edges, Id, note
from gitrag.callgraph.facts import DefinitionFacts, Facts
from gitrag.words.numbers import count

_DOCUMENTS = 2
_PATH, _OCCURRENCES = 1, 2
_RANGE, _SYMBOL, _ROLES = 1, 2, 3
_DEFINITION = 1
"""Numbers of fields of SCIP's messages, and the bit of a definition among an occurrence's roles."""

_MOST_VARINT_BYTES = 10
_MOST_FIELDS = 4_000_000
"""Documents and symbols of others in an index."""
_MOST_PLACES = 4
"""Numbers that a range has."""
_LONGEST_SYMBOL = 4_000
_MOST_NAMES = 2
"""Names in a file, for each of its characters: more are not of it."""
_MOST_SOUGHT = 50
"""Symbols that are sought in the bytes of an index; for more, all of it is read."""
_FUNCTION = re.compile(r"(?:`([^`]+)`|([\w$+-]+))\([\w$+-]*\)\.\Z")
_NAME = re.compile(r"(?:`([^`]+)`|([\w$+-]+))(?:\([\w$+-]*\)\.|[.#])\Z")
"""Of other descriptors (of files, of members of types without a name) the name is not what is written."""
_OPENING = re.compile(r"\s*(?:\?\.)?(?:::)?(?:<[^()<>]*>)?!?\s*[(`]")
"""What follows a name that is called."""
_DEFINING = re.compile(r"\b(?:def|func|fun|fn|function\*?)\s*\Z")
"""What precedes one that is defined, again maybe: of that not every index tells."""
_EDGE = re.compile(r"\b|(?<!\w)(?!\w)")
"""Where no word goes on."""


class ScipError(ValueError):
    """Data are not in the format."""


class ScipOccurrence(Struct, frozen=True):
    """A name in a file's text: its line, 1-based, columns, symbol, and whether that is defined here."""

    line: int
    start: int
    end: int
    symbol: str
    is_definition: bool


class _Document(Struct, frozen=True):
    """What is believed of a file.

    Attributes:
        calls: Caller, line and symbol of each call of a function.
        named: The symbols that are called, by line and name.
        defined: The functions that it defines, by symbol.
    """

    calls: tuple[tuple[Id, int, str], ...] = ()
    named: Mapping[tuple[int, str], Sequence[str]] = {}
    defined: Mapping[str, tuple[Id, ...]] = {}


def documents_of(data: bytes) -> dict[str, bytes]:
    """Return the messages of an index about files, by path.

    Raises:
        ScipError: It is no index.
    """
    found: dict[str, bytes] = {}
    for place, (number, value) in enumerate(_fields(data)):
        if place == _MOST_FIELDS:
            raise ScipError(f"it has more than {_MOST_FIELDS:,} parts")
        if number == _DOCUMENTS and isinstance(value, bytes):
            path = next((own for at, own in _fields(value) if at == _PATH), b"")
            if isinstance(path, bytes) and path:
                found[path.decode("utf-8", "surrogateescape")] = value
    return found


def occurrences_of(document: bytes) -> Iterator[ScipOccurrence]:
    """Yield the names in a file, but those on several lines or of nothing that has a name.

    Raises:
        ScipError: It is no such message.
    """
    for number, value in _fields(document):
        if number != _OCCURRENCES or not isinstance(value, bytes):
            continue
        place: list[int] = []
        symbol, roles = "", 0
        for at, own in _fields(value):
            if at == _RANGE and len(place) <= _MOST_PLACES:
                place += islice(_varints(own), _MOST_PLACES + 1) if isinstance(own, bytes) else [own]
            elif at == _SYMBOL and isinstance(own, bytes) and len(own) <= _LONGEST_SYMBOL:
                symbol = own.decode("utf-8", "replace")
            elif at == _ROLES and isinstance(own, int):
                roles = own
        if len(place) == 3 and symbol and not symbol.startswith("local ") and place[1] < place[2]:
            yield ScipOccurrence(place[0] + 1, place[1], place[2], symbol, bool(roles & _DEFINITION))


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and value of each field of a message."""
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        size = {1: 8, 5: 4}.get(wire)
        if wire == 2:
            size, at = _varint(data, at)
        if size is None or size > end - at:
            raise ScipError("a field is of no kind that there is, or longer than what holds it")
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    if at < len(data) and data[at] < 0x80:  # most have one byte
        return data[at], at + 1
    value = 0
    for place, byte in enumerate(data[at : at + _MOST_VARINT_BYTES]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, at + place + 1
    raise ScipError("a number has no end")


def _varints(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


class CompiledCalls:
    """The calls that a compiler's index has of a view's files.

    Args:
        documents: Its messages, by path.
        lines_of: Returns a file's lines; None if the index is older than it.
        note: Why nothing of it is used.
    """

    def __init__(
        self,
        documents: Mapping[str, bytes],
        files: Mapping[str, tuple[str, Facts]],
        lines_of: Callable[[str], Sequence[str] | None],
        check: Callable[[], None] = lambda: None,
        note: str = "",
    ) -> None:
        self._raw = {path: documents[path] for path in documents.keys() & files.keys()}
        self._files = files
        self._lines_of = lines_of
        self._check = check
        self._note_on_all = note
        self._read: dict[str, _Document] = {}
        self._doubted = 0
        self._targets: dict[str, tuple[Id, ...]] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """What of it was not used so far, a sentence each."""
        files = count(self._doubted, "file")
        said = f"A compiler's index is not used for {files}: it was made of other contents."
        return (self._note_on_all,) if self._note_on_all else (said,) * bool(self._doubted)

    def callees(self, own: Iterable[Id]) -> Edges:
        """Return what some definitions call."""
        wanted = set(own)
        edges: Edges = {}
        for path in sorted({path for path, _ in wanted}):
            self._note(path, edges)
        return {key: edge for key, edge in edges.items() if key[0] in wanted}

    def callers(self, own: Iterable[Id]) -> Edges:
        """Return the callers of some definitions."""
        wanted = set(own)
        symbols = {
            symbol.encode()
            for path in {path for path, _ in wanted}
            for symbol, places in self._document(path).defined.items()
            if not wanted.isdisjoint(places)
        }
        edges: Edges = {}
        for path in self._having(symbols) if symbols else ():
            self._note(path, edges)
        return {key: edge for key, edge in edges.items() if key[1] in wanted}

    def called_by(self, path: str, line: int, name: str) -> set[Id]:
        """Return what a line calls by a name, as far as it knows."""
        return {each for symbol in self.symbols_at(path, line, name) for each in self._target(symbol)}

    def symbols_at(self, path: str, line: int, name: str) -> Sequence[str]:
        """Return the symbols that a line calls by a name, of the repository or not."""
        return self._document(path).named.get((line, name), ())

    def _note(self, path: str, edges: Edges) -> None:
        for caller, line, symbol in self._document(path).calls:
            for callee in self._target(symbol):
                note(edges, caller, callee, 1.0, line)

    def _having(self, symbols: Collection[bytes]) -> list[str]:
        """Return the files whose messages have one of some symbols; all, if these are too many to seek."""
        if not 0 < len(symbols) <= _MOST_SOUGHT:
            return sorted(self._raw)
        return [path for path in sorted(self._raw) if any(each in self._raw[path] for each in symbols)]

    def _target(self, symbol: str) -> tuple[Id, ...]:
        """Return the function that a symbol means, if it is the only one: some indexes tell few apart."""
        if symbol not in self._targets:
            self._check()
            if len(self._targets) < _MOST_SOUGHT:
                paths = self._having([symbol.encode()])
                places = [own for path in paths for own in self._document(path).defined.get(symbol, ())]
            else:
                places = self._everywhere.get(symbol, [])
            self._targets[symbol] = tuple(places) if len(places) == 1 else ()
        return self._targets[symbol]

    @cached_property
    def _everywhere(self) -> dict[str, list[Id]]:
        found: dict[str, list[Id]] = {}
        for path in sorted(self._raw):
            for symbol, places in self._document(path).defined.items():
                found.setdefault(symbol, []).extend(places)
        return found

    def _document(self, path: str) -> _Document:
        if path not in self._read:
            self._read[path] = _Document()
            if path in self._raw:
                self._check()
                found = self._believed(path)
                self._doubted += found is None
                self._read[path] = found or _Document()
        return self._read[path]

    def _believed(self, path: str) -> _Document | None:
        lines = self._lines_of(path)
        try:
            names = [] if lines is None else self._names(path, lines)
        except ScipError:
            return None
        if lines is None:
            return None
        definitions = self._files[path][1].definitions
        functions: dict[str, list[int]] = {}
        for at, own in enumerate(definitions):
            if own.kind == "function":
                functions.setdefault(own.name.rpartition(".")[2], []).append(at)
        defined: dict[str, list[Id]] = {}
        heads = [each.line_start for each in definitions]
        for each in names:
            every = functions.get(_function(each.symbol), ()) if each.is_definition else ()
            around = [
                at for at in every if definitions[at].line_start <= each.line <= definitions[at].line_end
            ]
            if around:
                defined.setdefault(each.symbol, []).append((path, around[-1]))
                heads[around[-1]] = each.line
        callers = _Callers(definitions, heads)
        calls = []
        named: dict[tuple[int, str], list[str]] = {}
        for each in names:
            name, text = _function(each.symbol), lines[each.line - 1]
            if not name or each.is_definition or not text.isascii() or text[each.start : each.end] != name:
                continue
            caller = callers.at(each.line)
            if caller >= 0 and _OPENING.match(text, each.end) and not _DEFINING.search(text[: each.start]):
                calls.append(((path, caller), each.line, each.symbol))
                named.setdefault((each.line, name), []).append(each.symbol)
        return _Document(tuple(calls), named, {symbol: tuple(own) for symbol, own in defined.items()})

    def _names(self, path: str, lines: Sequence[str]) -> list[ScipOccurrence]:
        """Return the names in a file, in order.

        Raises:
            ScipError: The text does not bear them out.
        """
        most = _MOST_NAMES * sum(len(line) + 1 for line in lines)
        names: list[ScipOccurrence] = []
        for each in occurrences_of(self._raw[path]):
            if len(names) == most or not _is_borne_out(each, lines):
                raise ScipError("it is of another content")
            names.append(each)
        return sorted(names, key=lambda each: (each.line, each.start))


class _Callers:
    """The definitions of a file, by the lines of their bodies."""

    def __init__(self, definitions: Sequence[DefinitionFacts], heads: Sequence[int]) -> None:
        self._definitions = definitions
        self._heads = heads
        self._starts = [each.line_start for each in definitions]
        self._found: dict[int, int] = {}

    def at(self, line: int) -> int:
        """Return the definition whose body a line is in; -1 if it has another's head, or several do."""
        if line not in self._found:
            self._found[line] = self._find(line)
        return self._found[line]

    def _find(self, line: int) -> int:
        last = bisect_right(self._starts, line)
        around = [at for at in range(last) if line <= self._definitions[at].line_end]
        inner = around[-1]
        first, end = self._starts[inner], self._definitions[inner].line_end
        if inner and first < end and line <= self._heads[inner]:
            return -1
        beside = sum(self._starts[at] == line for at in around if at)
        return inner if beside < 2 else -1


def _is_borne_out(each: ScipOccurrence, lines: Sequence[str]) -> bool:
    """Tell whether the text at a range is whole words, and of a definition its name, as far as it has one."""
    if each.line > len(lines):
        return False
    text = lines[each.line - 1]
    if not text.isascii():  # columns are counted in units that not every index tells
        return True
    if each.end > len(text) or not text[each.start : each.end].strip():
        return False
    if not (_EDGE.match(text, each.start) and _EDGE.match(text, each.end)):
        return False
    found = _NAME.search(each.symbol) if each.is_definition else None
    name = (found[1] or found[2]) if found else ""
    return not name.isidentifier() or name == text[each.start : each.end]


def _function(symbol: str) -> str:
    """Return the name of the function that a symbol means; empty if it means none."""
    found = _FUNCTION.search(symbol) if symbol.endswith(").") else None
    return (found[1] or found[2]) if found else ""
