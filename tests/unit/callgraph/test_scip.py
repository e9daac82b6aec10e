"""Calls from an index that a compiler made, and what of it is believed."""

from __future__ import annotations

import random
import tracemalloc

import pytest

from gitrag.callgraph import scip
from gitrag.callgraph.extraction import extract
from gitrag.callgraph.resolution import ResolvedCalls
from gitrag.callgraph.scip import CompiledCalls, ScipError, documents_of, occurrences_of
from tests.support.scip import FILES, NAMES, START, _field, index_of


def resolved(files, names=NAMES, newer=()):
    facts = {path: ("python", extract(text.encode(), "python")) for path, text in files.items()}
    compiled = CompiledCalls(
        documents_of(index_of(names)),
        facts,
        lambda path: None if path in newer else files[path].split("\n"),
    )
    return ResolvedCalls(facts, compiled=compiled)


def edges(calls, ask="callees"):
    found = getattr(calls, ask)([own for own, _ in calls.nodes()])
    return {f"{e.caller.name} -> {e.callee.name} {e.line} {e.confidence} {e.provenance}" for e in found}


TOLD = {"run -> Job.start 2 1.0 compiler", "run -> plain 3 1.0 compiler"}
OWN = "run -> plain 3 1.0 resolved"


@pytest.mark.parametrize("ask", ["callees", "callers"])
def test_what_a_compiler_tells_is_certain_and_said_once(ask):
    assert edges(resolved(FILES), ask) == TOLD


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "def run", "\ndef run"),  # moved
        ("a.py", "job.start", "job.starts"),
        ("a.py", "    plain(job)\n\n\ndef plain", "    plain(job)\n\n\ndef plair"),
        ("b.py", "def start", "def begin"),  # of as many letters
    ],
)
def test_of_a_file_that_does_not_bear_it_out_nothing_is_believed(path, before, after):
    files = {**FILES, path: FILES[path].replace(before, after)}
    calls = resolved(files)
    assert not [each for each in edges(calls) if "Job.start" in each and "compiler" in each]
    assert not [each for each in edges(calls) if each.endswith("compiler")] or path == "b.py"
    assert calls.notes == (
        "A compiler's index is not used for 1 file: it was made of other contents.",
    )  # fmt: skip


def test_of_a_file_that_is_newer_nothing_is_believed():
    assert edges(resolved(FILES, newer=["a.py"])) == {OWN}
    assert edges(resolved(FILES, newer=["b.py"])) == {max(TOLD)}


def test_a_name_that_is_not_called_is_no_call():
    files = {**FILES, "a.py": FILES["a.py"].replace("plain(job)\n\n", "plain, job\n\n")}
    assert edges(resolved(files)) == {min(TOLD)}


def test_a_compiler_contradicts_a_guess_but_not_an_override():
    files = {
        "a.py": "def run(job):\n    job.start()\n",
        "b.py": FILES["b.py"].replace("Other", "Late(Job)").replace("stop", "start"),
    }
    names = {"a.py": NAMES["a.py"][:1], "b.py": NAMES["b.py"]}
    assert min(TOLD) in edges(resolved(files, names))
    typed = {**files, "a.py": "from b import Job\ndef run(job: Job):\n    job.start()\n"}
    names["a.py"] = [(2, 8, 13, START, 0)]
    assert edges(resolved(typed, names)) == {
        "run -> Job.start 3 1.0 compiler",
        "run -> Late.start 3 0.6 resolved",
    }


def test_what_is_no_index_is_refused_and_never_breaks():
    whole = index_of(NAMES)
    random.seed(37)
    damaged = [whole[:cut] for cut in range(len(whole))]
    for _ in range(500):
        data = bytearray(whole)
        for _ in range(random.randint(1, 4)):
            data[random.randrange(len(data))] = random.randrange(256)
        damaged.append(bytes(data))
    for data in [*damaged, b"\xff" * 64, b"\x12\xff\xff\xff\xff\x0f"]:
        try:
            documents = documents_of(data)
            for document in documents.values():
                list(occurrences_of(document))
        except ScipError:
            continue
        facts = {path: ("python", extract(text.encode(), "python")) for path, text in FILES.items()}
        compiled = CompiledCalls(documents, facts, lambda path: FILES[path].split("\n"))
        edges(ResolvedCalls(facts, compiled=compiled))


def _document(occurrence: bytes, times: int = 1) -> bytes:
    return _field(2, _field(1, b"a.py") + _field(2, occurrence) * times)


_PLACE = _field(1, b"\x00\x04\x07")
_HUGE = b"\xff" * 9 + b"\x7f"
BOMBS = {
    "a range of many numbers": _document(_field(1, b"\0" * 5_000_000) + _field(2, b"a/run().")),
    "a range in many parts": _document(b"\x08\0" * 50_000 + _field(2, b"a/run().")),
    "one name many times": _document(_PLACE + _field(2, b"a/run().") + b"\x18\x01", 200_000),
    "a long symbol": _document(_PLACE + _field(2, b"a" * 1_000_000 + b").") + b"\x18\x01"),
    "a long symbol of brackets": _document(_PLACE + _field(2, b"a(" * 500_000 + b").")),
    "a long symbol in quotes": _document(_PLACE + _field(2, b"`" * 1_000_000 + b").")),
    "huge numbers": _document(_field(1, b"\0\x01" + _HUGE) + _field(2, b"a/run().") + b"\x18" + _HUGE),
    "a file many times": _document(_PLACE) * 20_000,
    "files outside": b"".join(_field(2, _field(1, b"../../%d" % at)) for at in range(10_000)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_a_hostile_index_costs_is_bounded(name):
    tracemalloc.start()
    facts = {path: ("python", extract(text.encode(), "python")) for path, text in FILES.items()}
    compiled = CompiledCalls(documents_of(BOMBS[name]), facts, lambda path: FILES[path].split("\n"))
    assert edges(ResolvedCalls(facts, compiled=compiled)) == {OWN}
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 << 20


def test_an_index_of_too_many_parts_is_none(monkeypatch):
    monkeypatch.setattr(scip, "_MOST_FIELDS", 10)
    assert documents_of(b"\x08\0" * 10) == {}
    with pytest.raises(ScipError, match="more than 10 parts"):
        documents_of(b"\x08\0" * 11)
