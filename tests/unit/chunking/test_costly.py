"""Sources made to be costly are cut into windows, like any that does not parse."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gitrag.callgraph.templates import ruby_of
from gitrag.chunking.chunker import MIN_PROBED_BYTES, chunk
from gitrag.chunking.languages import BY_NAME
from gitrag.chunking.parsing import MAX_DEPTH, MAX_ERROR_CHILDREN, GrammarError, matches, parse
from gitrag.model import Kind

WIDE = b"* & * & \n" * (MAX_ERROR_CHILDREN // 4 + 1)
"""In C all tokens of it are children of one error: a query takes the square of their number."""


def test_a_tree_that_is_one_wide_error_is_not_queried():
    language = BY_NAME["c"]
    with pytest.raises(GrammarError, match="did not parse"):
        matches(parse(WIDE, language), language)


def test_a_source_that_is_one_wide_error_is_cut_into_windows():
    found = chunk(WIDE, "c")
    assert {(each.kind, each.name) for each in found} == {(Kind.MODULE, "")}
    assert found[-1].line_end == len(WIDE.splitlines())


def test_a_long_table_is_no_error():
    table = b"int table[] = {\n" + b"1, 2, 3,\n" * MAX_ERROR_CHILDREN + b"};\nint after(void) { return 1; }\n"
    assert "after" in {each.name for each in chunk(table, "c")}


CALLED = 90_000
"""Lines of a pair of brackets: in Go each calls the ones above, which makes a tree that is as deep."""

FACTS = f"""
from gitrag.callgraph.extraction import extract
print(extract(b"()\\n" * {CALLED}, "go").failure)
"""


def test_facts_are_not_asked_of_a_tree_too_deep_for_a_query():
    done = subprocess.run(
        [sys.executable, "-c", FACTS], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stdout == f"its expressions nest more than {MAX_DEPTH:,} deep\n", done.stderr


def test_template_tags_without_an_end_are_read_in_linear_time():
    """60,000 of them took a minute."""
    assert ruby_of("<% a " * 200_000).strip() == ""


def test_a_source_too_deep_for_a_query_is_cut_into_windows():
    found = chunk(b"()\n" * CALLED, "go")
    assert {(each.kind, each.name) for each in found} == {(Kind.MODULE, "")}
    assert found[-1].line_end == CALLED


def test_a_deep_tree_is_queried():
    source = b"package a\nfunc f() {\nx" + b"()\n" * (MAX_DEPTH // 2) + b"\n}\nfunc g() {}\n"
    assert {"f", "g"} <= {each.name for each in chunk(source, "go")}


ENDLESS = b"\n" * MIN_PROBED_BYTES + b"/*\n" * 300_000
"""In Go each comment without an end is looked for up to the file's; the lines that are probed are honest."""


def test_a_parse_has_an_end_where_each_step_is_long(monkeypatch):
    monkeypatch.setattr("gitrag.chunking.parsing.PARSE_S", 0.5)
    monkeypatch.setattr("gitrag.chunking.parsing.PARSE_S_PER_BYTE", 1e-6)  # else it takes ten seconds
    with pytest.raises(GrammarError, match="took longer than"):
        parse(ENDLESS, BY_NAME["go"])


@pytest.mark.parametrize("mark", [" ", "\t", "<see "])
def test_what_a_comment_says_is_read_in_linear_time(mark):
    """Quadratic, these took a second for a definition, and a file may have thousands."""
    code = f"""
from gitrag.chunking.outline import comment_text
for _ in range(1_000):
    comment_text(({mark!r} * 4_000)[:4_000] + "x")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_type_is_read_in_linear_time():
    """In cubic time each of these took a tenth of a second."""
    code = f"""
from gitrag.callgraph.extraction import extract
found = extract(b"package a\\n" + b"var x a[{" " * 380}b]\\n" * 2_000, "go")
assert len(found.definitions) == 1 and not found.failure, found.failure
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_lines_of_operators_alone_are_no_program():
    """Of 3,000 such lines the parser keeps gigabytes, in one step."""
    code = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from gitrag.chunking.chunker import chunk
assert [each.line_end for each in chunk(b"x = 1\\n" + b"/*\\n" * 3_000 + b"y = 2\\n", "python")][-1] == 3_002
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    "code",
    [
        "from gitrag.callgraph.general.markup import named_in\nnamed_in(':' * 300_000, 'vue')",
        "from gitrag.chunking import chunk\nchunk(b'class A' + b'\\n' * 300_000, 'kotlin')",
        "from gitrag.callgraph.indirect import is_of_an_object\nis_of_an_object('get' * 100_000)",
        "from gitrag.callgraph import indirect\nindirect.calls_by_computed_names(['->{' * 300_000], 'php')",
        "from gitrag.callgraph import indirect\nindirect.calls_by_computed_names(['a[b]or)'*90_000], 'lua')",
        "from gitrag.callgraph.indirect import imports\nimports('Put '*150_000, 'a.py', 'Put.py', 'python')",
        "from gitrag.callgraph.indirect import is_exported\nis_exported('', 'f', ['exports.' * 60_000])",
        "from gitrag.callgraph.indirect import mixes_in\nmixes_in('.include ' * 60_000, 'Put')",
        "from gitrag.callgraph.uses import implemented\nimplemented(['impl ' + 'a' * 300_000])",
        "from gitrag.callgraph.uses import implemented\nimplemented(['impl ' + 'a<' * 150_000])",
        "from gitrag.callgraph.templates import python_of\npython_of('{%' + 'a' * 900_000)",
    ],
)
def test_a_line_without_an_end_is_read_in_linear_time(code):
    """Quadratic, these took minutes."""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)


def test_scripts_that_read_one_another_are_followed_once():
    """Followed for every call, 200 took 11 s and 400 took 35 s."""
    code = """
from tests.support.callgraphs import calls_of
files = {f"s{at}.sh": f". ./lib.sh\\nf{at}() {{ {'common; ' * 5} }}\\n" for at in range(1_000)}
files["lib.sh"] = "\\n".join(f". ./s{at}.sh" for at in range(200)) + "\\nlib() { :; }\\n"
files |= {"c.sh": "common() { :; }\\n", "d.sh": "common() { :; }\\n"}
calls = calls_of(files)
calls.callees([own for own, _ in calls.nodes()], 0.5)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
