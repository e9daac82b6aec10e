"""Facts of a blob: what they hold, and how they are packed."""

from __future__ import annotations

import pytest

from gitrag.callgraph import facts
from gitrag.callgraph.extraction import LANGUAGES, extract, unsupported
from gitrag.callgraph.facts import EMPTY, FACTS_VERSION, pack, unpack
from gitrag.callgraph.python.modules import unpacked_scope
from tests.support.stubs import C_PROTOTYPES, PYTHON_OVERLOADS, TYPESCRIPT_OVERLOADS

SOURCE = b"import os\n\n@cached\nclass A(Base):\n    def go(self):\n        os.walk('.')\n"


def test_definitions_have_their_lines_with_decorators():
    found = extract(SOURCE, "python")
    assert [(each.kind, each.name, each.line_start, each.line_end) for each in found.definitions] == [
        ("module", "", 1, 7),
        ("class", "A", 3, 6),
        ("function", "A.go", 5, 6),
    ]
    assert found.definitions[1].bases == ("Base",)
    assert {"walk", "os", "cached", "Base"} <= found.mentions


@pytest.mark.parametrize(
    ("language", "source", "names"),
    [
        ("python", PYTHON_OVERLOADS, ["C", "C.f", "C.g"]),
        ("typescript", TYPESCRIPT_OVERLOADS, ["f"]),
        ("c", C_PROTOTYPES, ["f"]),
        ("python", "if X:\n    @overload\n    def f(a): ...\n    def f(a): return g\n", ["f"]),
        ("python", "@overload\ndef f(a): ...\n@cache\ndef f(a): ...\ndef g(): ...\n", ["f", "g"]),
    ],
)
def test_what_declares_a_function_beside_its_definition_is_none(language, source, names):
    found = extract(source.encode(), language).definitions
    assert [each.name for each in found[1:]] == names


def test_a_python_definition_is_read_without_the_others():
    rows = extract(SOURCE, "python").read_rows()
    assert [unpacked_scope(row).name for row in rows] == ["", "A", "A.go"]


def test_a_class_says_which_methods_assign_to_an_attribute():
    source = b"""
class A:
    def f(self): self.a, (self.b, c) = self.d
    def g(self):
        with x as self.b: self.e.b += 1
def h(a): a.f = 1
"""
    found = unpacked_scope(extract(source, "python").read_rows()[1])
    assert found.assigners == {"a": (2,), "b": (2, 3)}


def test_facts_survive_being_packed():
    found = extract(SOURCE, "python")
    assert unpack(pack(found)) == found
    assert unpack(pack(EMPTY)).definitions == ()


def test_facts_of_another_version_are_made_again(monkeypatch):
    old = pack(extract(SOURCE, "python"))
    monkeypatch.setattr(facts, "FACTS_VERSION", FACTS_VERSION + 1)
    assert unpack(old) is None


def test_equal_bytes_give_equal_facts():
    assert pack(extract(SOURCE, "python")) == pack(extract(SOURCE, "python"))


def test_strange_bytes_give_facts_all_the_same():
    for data in (b"", b"\xff\xfe\x00", b"def f(:\n  g(\n", b"\r\n" * 10, b"(" * 5_000, b"x" * (2 << 20)):
        unpack(pack(extract(data, "python")))


def test_programs_in_other_languages_are_named_once():
    paths = ["a.py", "b.nim", "README.md", "b.nim", "c.unknown"]
    assert list(unsupported([(path, "") for path in paths])) == ["b.nim"]
    assert "python" in LANGUAGES


def nested(line: str, levels: int = 500) -> bytes:
    """Nest a line of Python in itself; the grammar counts 512 levels of indentation."""
    lines = [" " * level + line.format(level) for level in range(levels)]
    return "\n".join([*lines, " " * levels + "innermost()", "def after(): pass", ""]).encode()


@pytest.mark.parametrize(
    "line",
    ["def f{}():", "class C{}:", "if x{}:", "for x{} in y:", "with x{}:", "try:", "while x{}:", "match x:"],
)
def test_blocks_may_nest_deeper_than_pythons_calls(line):
    found = extract(nested(line), "python")
    assert {"after", "innermost"} <= {*(each.name for each in found.definitions), *found.mentions}


def test_strings_in_strings_are_read_to_some_depth():
    source = b"def before(): pass\nx = " + b"f'{" * 300 + b"inner" + b"}'" * 300 + b"\n"
    assert [each.name for each in extract(source, "python").definitions] == ["", "before"]


def test_what_cannot_be_read_says_why_and_is_kept_so():
    found = unpack(pack(extract(b"(" * 5_000, "python")))
    assert (found.definitions, found.failure) == ((), "its brackets nest too deep")
    assert pack(found).startswith(facts.FAILURE_MARK)


def test_damaged_facts_are_made_again():
    packed = pack(extract(SOURCE, "python"))
    assert [unpack(packed[:size]) for size in (0, 3, 9, 40)] == [None] * 4
