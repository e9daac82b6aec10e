"""Calls from an index that a compiler made, and what of it is believed."""

from __future__ import annotations

import random

import pytest

from gitrag.callgraph.extraction import extract
from gitrag.callgraph.resolution import ResolvedCalls
from gitrag.callgraph.scip import CompiledCalls, ScipError, documents_of, occurrences_of
from tests.support.scip import FILES, NAMES, START, index_of


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
