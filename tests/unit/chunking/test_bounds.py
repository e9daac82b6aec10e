"""Input that would cost a parser seconds, gigabytes or the process: it is cut into windows instead."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest

from gitrag.chunking import chunk, outlined
from gitrag.chunking.chunker import MAX_OUTLINED, MAX_PARSED_BYTES
from gitrag.chunking.languages import LANGUAGES, Language
from gitrag.chunking.parsing import GrammarError, parse

PARSED = [row.name for row in LANGUAGES if row.grammar]

# In a process of its own, which must come back: a scanner's abort takes the interpreter with it.
NESTED = """
import sys
from gitrag.chunking import chunk
texts = ["(" * 50_000, "[" * 50_000 + "]" * 50_000, "{\\n" * 20_000 + "}\\n" * 20_000, '"${' * 20_000,
         '"#{' * 20_000, "f(" * 20_000, "(\\n" * 900, "if (x) " * 5_000, "if (x)\\n" * 500, "<<A " * 1_000,
         "\\n".join(" " * n + "if x:" for n in range(300))]
for language in sys.argv[1:]:
    print(language, flush=True)
    for text in texts:
        assert chunk(text.encode(), language), text[:10]
"""


def test_a_large_file_has_its_head_and_first_lines_of_its_definitions():
    body = "    x = 1\n" * 500
    source = "START = 1\n" + "".join(f"def f{n}():\n{body}" for n in range(300)) + "class A:\n    END = 1\n"
    chunks = outlined(source.encode(), "python")
    assert "START = 1" in chunks[0].text
    assert [each.name for each in chunks if each.line_start > 5_000] == [f"f{n}" for n in range(10, 300)] + [
        "A"
    ]
    assert sum(len(each.text) for each in chunks) < len(source) / 4
    lines = source.split("\n")
    assert all("\n".join(lines[each.line_start - 1 : each.line_end]) == each.text for each in chunks)


def test_an_outline_is_bounded_and_keeps_what_is_outermost():
    many = "class A:\n" + "".join(f"    def f{n}(self):\n        return {n}\n\n" for n in range(4_000))
    chunks = outlined(f"{many}def last():\n    return 1\n".encode(), "python")
    assert len(chunks) == MAX_OUTLINED
    assert chunks[-1].name == "last"


def test_beyond_what_is_parsed_there_is_a_head():
    source = "def f():\n    return 1\n" * (MAX_PARSED_BYTES // 20)
    assert 0 < outlined(source.encode(), "python")[-1].line_end < 4_000
    assert outlined(source.encode(), "pascal") == []


@pytest.mark.slow
def test_deep_nesting_comes_back(some):
    languages = some(PARSED, keep=10)
    command = [sys.executable, "-c", NESTED, *languages]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert done.stdout.split() == languages, done.stderr[-500:]
    assert done.returncode == 0


def test_ordinary_nesting_is_parsed():
    source = "def f():\n    return " + "[" * 40 + "]" * 40 + "\n"
    assert [each.name for each in chunk(source.encode(), "python")] == ["f"]


def test_definitions_around_a_line_of_data_are_kept():
    source = "def f():\n    pass\n\n\nDATA = '" + "x" * 20_000 + "'\n\n\ndef g():\n    pass\n"
    assert {each.name for each in chunk(source.encode(), "python")} == {"", "f", "g"}


def test_foreign_text_in_a_wary_language_is_not_parsed_through():
    html = "".join(f"<p class='a{n}'>It's {n}% of \"all\" &amp; more</p>\n" for n in range(4_000))
    chunks = chunk(html.encode(), "lua")
    assert {each.kind for each in chunks} == {"module"}


def test_too_many_steps_are_an_error_and_the_parser_is_usable_after(monkeypatch):
    python = next(row for row in LANGUAGES if row.name == "python")
    source = b"x = 1\n" * 2_000
    with monkeypatch.context() as patched:
        patched.setattr("gitrag.chunking.parsing.PARSE_STEPS", 0)
        patched.setattr("gitrag.chunking.parsing.PARSE_STEPS_PER_BYTE", 0)
        with pytest.raises(GrammarError):
            parse(source, python)
        assert {each.kind for each in chunk(source, "python")} == {"module"}
    assert parse(source, python).root_node.child_count == 2_000
    assert isinstance(python, Language)


def test_windows_overlap_at_line_ends():
    """Of 1,000 characters with 200 of the one before, as far as whole lines of some 40 allow."""
    lines = [f"line {n} of a file in no language at all" for n in range(200)]
    chunks = chunk("\n".join(lines).encode(), None)
    assert all(960 < len(each.text) <= 1_000 for each in chunks[:-1])
    for before, after in itertools.pairwise(chunks):
        shared = lines[after.line_start - 1 : before.line_end]
        assert 160 <= len("\n".join(shared)) <= 200
        assert before.line_end < after.line_end


def test_xml_under_a_programming_suffix_is_cut_into_windows():
    source = '<?xml version="1.0"?>\n<TS version="2.1">\n' + "<message>text</message>\n" * 50 + "</TS>\n"
    chunks = chunk(source.encode(), "typescript")
    assert chunks[1].line_start <= chunks[0].line_end
