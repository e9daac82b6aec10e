"""Which chunks the definitions of each language give, with their signatures and docstrings."""

from __future__ import annotations

import pytest

from gitrag.chunking import chunk, language_of
from gitrag.chunking.languages import LANGUAGES
from gitrag.chunking.parsing import definition_query
from tests.support.samples import SAMPLES
from tests.support.stubs import C_PROTOTYPES, PYTHON_OVERLOADS, TYPESCRIPT_OVERLOADS

PARSED = [row for row in LANGUAGES if row.grammar]


def rows(source: str, language: str) -> list[str]:
    return [
        f"{each.kind} {each.qualified_name or '-'} {each.line_start}-{each.line_end}"
        for each in chunk(source.encode(), language)
    ]


def named(source: str, language: str, name: str):
    return next(each for each in chunk(source.encode(), language) if each.name == name)


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_sample_of(language):
    sample = SAMPLES[language]
    assert rows(sample.source, language) == sample.chunks


def test_every_parsed_language_has_a_sample():
    assert {row.name for row in PARSED} <= set(SAMPLES)


@pytest.mark.parametrize("language", PARSED, ids=lambda row: row.name)
def test_a_query_compiles_and_captures_definitions(language):
    query = definition_query(language)
    captured = {query.capture_name(index) for index in range(query.capture_count)}
    assert any(name.startswith(("definition.", "minor.")) for name in captured)


@pytest.mark.parametrize(
    ("language", "source", "chunks"),
    [
        ("python", "def f():\n    pass\n\nclass C:\n    a = 1\n", ["function f 1-2", "class C 4-5"]),
        ("javascript", "function f() { return 1 }\n", ["function f 1-1"]),
        ("javascript", "class C {\n  m() { return 1 }\n}\n", ["class C 1-1", "method C.m 2-3"]),
        ("javascript", "const f = (a) => {\n  return a\n}\n", ["function f 1-3"]),
        ("typescript", "function f(): number { return 1 }\n", ["function f 1-1"]),
        ("typescript", "class C {\n  a = 1\n}\n", ["class C 1-3"]),
        ("typescript", "const f = (a: number) => {\n  return a\n}\n", ["function f 1-3"]),
        ("solidity", "contract C {\n  function f() public { g(); }\n}\n", ["class C 1-1", "method C.f 2-3"]),
        ("go", "package p\n\nfunc F() { g() }\n", ["module - 1-1", "function F 3-3"]),
        ("go", "package p\n\nfunc (c *C) M() { g() }\n", ["module - 1-1", "method C.M 3-3"]),
        ("rust", "fn f() { g() }\n", ["function f 1-1"]),
        ("rust", "impl C {\n    fn m(&self) { g() }\n}\n", ["class C 1-1", "method C.m 2-3"]),
    ],
)
def test_the_nodes_that_every_chunker_must_know(language, source, chunks):
    """The languages and definitions that every version must support."""
    assert rows(source, language) == chunks


@pytest.mark.parametrize(
    ("language", "name", "signature", "docstring"),
    [
        ("python", "closed", "async def closed(self) -> bool", ""),
        ("python", "read", "def read(path)", "Read a file.\n\nAt once."),
        ("python", "Session", "class Session(Base)", "A session."),
        ("javascript", "send", "function send(res)", "Send a response.\n\n@param {Object} res"),
        ("javascript", "add", "export const add = (a, b)", ""),
        ("typescript", "get", "get<K extends keyof T>(key: K): T[K]", ""),
        ("go", "Push", "func (q *Queue[T]) Push(item T)", "Push adds an item.\n\nIt never blocks."),
        ("rust", "run", "pub async fn run<T>(point: Point<T>) -> Result<(), Error> where T: Clone,", ""),
        ("rust", "fmt", "fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result", "Writes it."),
        ("java", "find", "public User find(long id) throws NotFound", "Finds one."),
        ("cpp", "Max", "template <class T> T Max(T a, T b)", ""),
        ("csharp", "UsersController", "public class UsersController : Controller", "A controller."),
        ("solidity", "transfer",
         "function transfer(address to, uint256 amount) public override returns (bool)",
         "@dev Moves tokens."),
        ("elixir", "get", "def get(id) when is_integer(id)", "Gets one."),
        ("elixir", "User", "defmodule App.Accounts.User", "A user."),
        ("haskell", "push", "push :: a -> Queue a -> Queue a", "Adds one."),
        ("julia", "Point", "struct Point{T} <: Shape", "A point."),
        ("ocaml", "area", "let rec area", "The area."),
        ("clojure", "add", "(defn add", "Adds two."),
        ("powershell", "Add-Number", "function Add-Number", ".SYNOPSIS\nAdds."),
    ],
)  # fmt: skip
def test_signature_and_docstring(language, name, signature, docstring):
    """Search weighs a chunk's signature and docstring, and results show them."""
    found = named(SAMPLES[language].source, language, name)
    assert (found.signature, found.docstring) == (signature, docstring)


def test_comments_and_decorators_above_a_definition_are_in_its_chunk():
    """They explain the definition, so they belong to it."""
    source = "x = 1\n\n# About f.\n@a\n# between\n@b(\n    1\n)\ndef f():\n    pass\n"
    found = named(source, "python", "f")
    assert (found.line_start, found.line_end) == (3, 10)
    assert found.docstring == "About f.\nbetween"


def test_a_comment_apart_from_a_definition_is_not_its_own():
    source = (
        "# A file about which there is more to say\n# than its name does, by far, as one can see.\n"
        "\ndef f():\n    pass\n"
    )
    assert rows(source, "python") == ["module - 1-2", "function f 4-5"]


def test_a_short_comment_that_stands_alone_heads_what_follows():
    source = "def f():\n    pass\n\n\n# ---- Writing ----\n\n\ndef g():\n    pass\n"
    assert rows(source, "python") == ["function f 1-2", "function g 5-9"]


def test_a_comment_behind_a_statement_is_not_the_next_definitions():
    assert rows("x = 1  # one\ndef f():\n    pass\n", "python") == ["module - 1-1", "function f 2-3"]


STUBS = [
    ("python", PYTHON_OVERLOADS, ["class C 1-6", "method C.f 8-10", "method C.g 12-13"]),
    ("typescript", TYPESCRIPT_OVERLOADS, ["module - 1-6", "function f 7-10", "function g 11-13"]),
    ("tsx", TYPESCRIPT_OVERLOADS, ["module - 1-6", "function f 7-10", "function g 11-13"]),
    ("c", C_PROTOTYPES, ["module - 1-3", "function g 5-7", "function f 9-13"]),
    ("cpp", C_PROTOTYPES, ["module - 1-3", "function g 5-7", "function f 9-13"]),
]


def test_a_struct_or_a_macro_of_its_name_is_no_definition_of_a_prototype():
    source = "struct f {\n  int a;\n};\n\nint\nf(int a,\n  int b);\n"
    assert rows(source, "c") == ["class f 1-3", "function f 5-7"]
    assert "function g 1-3" in rows(
        "int\ng(int a,\n  int b);\n\n#define g(a) \\\n    g(a, \\\n      0)\n", "c"
    )


@pytest.mark.parametrize(("language", "source", "chunks"), STUBS)
def test_what_declares_a_function_beside_its_definition_is_none(language, source, chunks):
    assert rows(source, language) == chunks
    assert named(source, language, "f").docstring == "Do it."


def test_fields_between_methods_are_a_part_of_the_class():
    source = (
        "class A:\n    def f(self):\n        pass\n\n    first_field = 'some value'\n    second = 2\n\n"
        "    def g(self):\n        pass\n\n    alias_of_g = property(g)\n"
    )
    assert rows(source, "python") == [
        "class A 1-1", "method A.f 2-3", "class A 5-6", "method A.g 8-9", "class A 11-11",
    ]  # fmt: skip


def test_closing_brackets_and_labels_are_no_chunks():
    source = (
        "namespace n {\nclass A {\n public:\n  int f() {\n    return 1;\n  }\n\n"
        " private:\n  int g() {\n    return 2;\n  }\n};\n\n}  // namespace n\n"
    )
    assert rows(source, "cpp") == ["module - 1-1", "class A 2-3", "method A.f 4-6", "method A.g 8-14"]


def test_forward_declarations_are_gathered():
    source = "\n".join(f"int function_number_{n}(int a, int b);" for n in range(200))
    chunks = chunk(source.encode(), "c")
    assert {each.kind for each in chunks} == {"module"}
    assert len(chunks) <= 5


def test_a_run_of_one_line_definitions_is_gathered_and_a_few_are_not():
    many = "\n".join(f"class Error{n}(Exception): pass" for n in range(6)) + "\n"
    assert rows(many, "python") == ["module - 1-6"]
    few = "\n".join(f"const f{n} = () => {n}" for n in range(3)) + "\n"
    assert rows(few, "javascript") == ["function f0 1-1", "function f1 2-2", "function f2 3-3"]


def test_a_long_function_is_split_with_nothing_lost():
    """Split, never truncated: truncated text could not be found."""
    body = "\n".join(
        f"    value_{n} = compute({n})\n    if value_{n}:\n        total += value_{n}\n" for n in range(60)
    )
    source = f'def f(total):\n    """Sum."""\n{body}    return total\n'
    chunks = chunk(source.encode(), "python")
    assert len(chunks) > 2
    assert {(each.kind, each.qualified_name, each.signature, each.docstring) for each in chunks} == {
        ("function", "f", "def f(total)", "Sum.")
    }
    assert [line for each in chunks for line in each.text.split("\n") if line.strip()] == [
        line for line in source.split("\n") if line.strip()
    ]
    # at statements, not within the ifs
    assert all(each.text.startswith(("def f", "    value_")) for each in chunks)


def test_a_function_too_long_is_cut_at_the_functions_in_it():
    inner = "\n".join(f"        statement_number_{n}()" for n in range(40))
    source = (
        f"def outer():\n    def first():\n{inner}\n\n    def second():\n{inner}\n\n    return first, second\n"
    )
    assert rows(source, "python") == [
        "function outer 1-1", "function outer.first 2-42",
        "function outer.second 44-84", "function outer 86-86",
    ]  # fmt: skip


def test_good_definitions_of_a_file_with_an_error_are_kept():
    source = "def f():\n    return 1\n\n\ndef broken(:\n    return (\n\n\ndef g():\n    return 2\n"
    assert {"f", "g"} <= {each.name for each in chunk(source.encode(), "python")}


def test_a_file_that_is_not_of_its_language_is_cut_into_windows():
    prose = "This is ( no code ] at all, and { never was; says: who?\n" * 60
    chunks = chunk(prose.encode(), "go")
    assert {each.kind for each in chunks} == {"module"}
    assert chunks[1].line_start <= chunks[0].line_end


def test_a_cpp_header_with_the_suffix_of_c_is_read_as_cpp():
    source = "class Table {\n public:\n  int size() const {\n    return size_;\n  }\n};\n"
    assert rows(source, language_of("table.h", source)) == ["class Table 1-2", "method Table.size 3-6"]


def test_an_objective_c_header_with_the_suffix_of_c_is_read_as_objective_c():
    source = "#import <F/F.h>\n\n@interface Session : NSObject\n- (void)send:(id)request;\n@end\n"
    assert rows(source, language_of("session.h", source)) == ["module - 1-1", "class Session 3-5"]


def test_definitions_on_one_line_are_one_chunk():
    source = (
        "class A { f() { return 1 } g() { return 2 } }\n"
        "function h() { return 3 } function i() {\n  return 4\n}\n"
    )
    assert rows(source, "javascript") == ["class A 1-1", "function h 2-4"]


def test_suites_and_tests_are_named_by_their_strings():
    source = (
        "describe('req', () => {\n  const app = express().use(logging())\n\n"
        "  it('.get() returns it', () => {\n    app.get()\n  })\n})\n"
    )
    assert [(each.kind, each.qualified_name) for each in chunk(source.encode(), "javascript")] == [
        ("class", "req"),
        ("method", "req..get() returns it"),
    ]


def test_an_export_macro_does_not_hide_a_class():
    source = (
        "class LIB_EXPORT Table : public Base {\n public:\n  int size() const {\n    return 1;\n  }\n};\n"
    )
    assert rows(source, "cpp") == ["class Table 1-2", "method Table.size 3-6"]


def test_a_constructor_on_lines_of_its_own_does_not_hide_a_class():
    source = "class Store\n@Inject\nconstructor(val f: Files) : Base() {\n  fun save() {\n    put()\n  }\n}\n"
    assert rows(source, "kotlin") == ["class Store 1-3", "method Store.save 4-7"]


def test_what_most_would_not_parse_keeps_its_definitions():
    source = "\n".join(f"function f{n}() {{\n  return {n}\n}}" for n in range(9)) + "\n@@ %% ?? ..\n" * 40
    assert {f"f{n}" for n in range(9)} <= {each.name for each in chunk(source.encode(), "javascript")}
