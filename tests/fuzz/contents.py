"""Contents of files: cut, read for who calls whom, and resolved beside files that are as they should be."""

from __future__ import annotations

from pathlib import Path
from random import Random

from gitrag.callgraph import extraction
from gitrag.callgraph.facts import unpack
from gitrag.callgraph.resolution import ResolvedCalls
from gitrag.chunking import chunk, decode
from gitrag.chunking.line_pieces import MAX_CHUNK_CHARS
from gitrag.corpus import adrs, governing, specs
from gitrag.corpus import issues as issue_files
from gitrag.indexing.records import prepare_all
from gitrag.model import Chunk
from gitrag.words import terms
from tests.fuzz import sources
from tests.fuzz.target import Input

CANARY = b"def canary_sings():\n    return canary_breathes()\n\n\ndef canary_breathes():\n    return 1\n"
_LARGEST = 1 << 20
_NO_LANGUAGE = "no language"
_PREPARED = 0.05
"""So many are prepared as for the store: drafts of vectors take 80 ms, however few."""


class Contents:
    """Files in all languages, by the language's name."""

    def __init__(self, space: Path) -> None:
        del space
        self._canary = chunk(CANARY, "python")

    def make(self, dice: Random) -> Input:
        language = dice.choice((*sources.NAMES, _NO_LANGUAGE))
        if dice.random() < 0.1:
            language = "python"  # whose calls are read by far more code than any other's
        elif dice.random() < 0.5:  # those with a grammar have most that can go wrong
            language = dice.choice(sorted(extraction.LANGUAGES))
        return {language: sources.content(dice, language)}

    def check(self, made: Input, dice: Random) -> str:
        [(name, data)] = made.items()
        language = None if name == _NO_LANGUAGE else "html" if name == "erb" else name
        chunks = chunk(data, language)
        if wrong := _unsound(decode(data, language), chunks):
            return wrong
        terms.count([(each.text, each.qualified_name) for each in chunks])
        if dice.random() < _PREPARED:
            _bad, good = prepare_all(
                [(1, data, language, _LARGEST, b""), (2, CANARY, "python", _LARGEST, b"")]
            )
            if list(good.chunks) != self._canary:
                return "the file beside it is cut otherwise"
        text = decode(data)
        for read in (adrs.read, specs.read, issue_files.read):
            read("docs/adrs/ADR-0001-a.md", text)
        governing.governing(text)
        governing.exported(chunks, language)
        return _calls(data, name)

    def close(self) -> None:
        pass


def _unsound(text: str, chunks: list[Chunk]) -> str:
    """Say which line is in no chunk, or which chunk is of no line."""
    lines = text.split("\n")
    covered = bytearray(len(lines) + 1)
    for each in chunks:
        if not 1 <= each.line_start <= each.line_end <= len(lines):
            return f"a chunk of lines {each.line_start} to {each.line_end} of {len(lines)}"
        if len(each.text) > MAX_CHUNK_CHARS:
            return f"a chunk of {len(each.text)} characters"
        covered[each.line_start : each.line_end + 1] = b"\1" * (each.line_end + 1 - each.line_start)
    left = [number for number, line in enumerate(lines, 1) if line.strip() and not covered[number]]
    return f"in no chunk: line {left[0]}" if left else ""


def _calls(data: bytes, language: str) -> str:
    """Resolve the calls of a file, of one beside it in its language, and of the canary."""
    if language not in extraction.LANGUAGES:
        return ""
    beside = sources.sample(language) or b""
    made = extraction.extract_all([(1, data, language), (2, CANARY, "python"), (3, beside, language)])
    facts = {number: unpack(packed) for number, packed in made}
    names = {1: ("bad", language), 2: ("canary.py", "python"), 3: ("beside", language)}
    read = {number: each for number, each in facts.items() if each is not None}  # of this version, all are
    files = {path: (read[number].language or own, read[number]) for number, (path, own) in names.items()}
    calls = ResolvedCalls(files)
    everything = [own for own, _ in calls.nodes()]
    calls.callees(everything)
    calls.callers(everything)
    sings = [own for own, node in calls.nodes() if node.name == "canary_sings"]
    called = [edge.callee.name for edge in calls.callees(sings)]
    calls.forget()
    return "" if "canary_breathes" in called else f"the canary calls {called}"
