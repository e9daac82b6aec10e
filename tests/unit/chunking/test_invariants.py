"""What holds for every file: all lines covered, texts exact, pure, never an error."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitrag.chunking import chunk, decode
from gitrag.chunking.languages import LANGUAGES
from gitrag.chunking.line_pieces import MAX_CHUNK_CHARS
from tests.support.samples import SAMPLES
from tests.support.sweeps import examples

PARSED = sorted(row.name for row in LANGUAGES if row.grammar)
ALL = [*sorted(row.name for row in LANGUAGES), None, "no such language"]


def assert_sound(data: bytes, language: str | None) -> None:
    chunks = chunk(data, language)
    assert chunks == chunk(data, language)
    lines = decode(data, language).split("\n")
    covered: set[int] = set()
    cut_lines: dict[int, list[str]] = defaultdict(list)
    for each in chunks:
        assert 1 <= each.line_start <= each.line_end <= len(lines)
        assert len(each.text) <= MAX_CHUNK_CHARS
        covered.update(range(each.line_start, each.line_end + 1))
        exact = "\n".join(lines[each.line_start - 1 : each.line_end])
        if each.text != exact:
            assert each.line_start == each.line_end
            cut_lines[each.line_start].append(each.text)
    for number, texts in cut_lines.items():
        assert "".join(texts) == lines[number - 1]
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= covered


def assert_no_overlap(data: bytes, language: str) -> None:
    seen = 0
    for each in chunk(data, language):
        assert each.line_start > seen or each.line_start == each.line_end == seen
        seen = each.line_end


code = st.text(
    st.one_of(st.sampled_from("(){}[]<>:;,.='\"`#/*\\-@ \n\n\t\r"), st.characters(codec="utf-8")),
    max_size=400,
)


@given(st.one_of(st.binary(max_size=300), code.map(str.encode)), st.sampled_from(ALL))
@examples(keep=200, of=500)
def test_any_bytes_are_covered_whatever_the_language(data, language):
    """Nothing in a file is unreachable, however short."""
    assert_sound(data, language)


@pytest.mark.slow
@given(st.sampled_from(sorted(SAMPLES)), st.integers(0, 2**32))
@example("vue", 485337)  # a tag above a line too long for one text
@examples(keep=150, of=400)
def test_damaged_sources_are_covered(language, seed):
    dice = random.Random(seed)
    source = SAMPLES[language].source * dice.choice((1, 1, 5))
    for _ in range(dice.randrange(1, 8)):
        at, to = sorted(dice.randrange(len(source) + 1) for _ in range(2))
        to = min(to, at + dice.choice((1, 5, 60)))
        middle = dice.choice(("", source[at:to] * 3, dice.choice("(){}[]\"'`#*/\n;:"), "\n" * 3, "x" * 3000))
        source = source[:at] + middle + source[to:]
    data = source.encode()
    assert_sound(data, language)
    assert_sound(source.replace("\n", "\r\n").encode("utf-8", "replace"), language)


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_parsed_chunks_do_not_overlap(language):
    assert_no_overlap(SAMPLES[language].source.encode(), language)


@pytest.mark.parametrize("language", ALL)
def test_nothing_comes_of_an_empty_or_blank_file(language):
    assert chunk(b"", language) == chunk(b"\n \n\t\n", language) == []


@pytest.mark.parametrize("language", ["python", "javascript", "markdown", "text", None])
def test_a_line_of_a_megabyte_is_cut_into_texts_that_concatenate_to_it(language):
    line = ("var a = [" + "1234, " * 180_000)[: 1 << 20]
    chunks = chunk(line.encode(), language)
    assert "".join(each.text for each in chunks) == line
    assert {(each.line_start, each.line_end) for each in chunks} == {(1, 1)}


def test_crlf_gives_the_chunks_of_lf():
    source = SAMPLES["python"].source
    assert chunk(source.replace("\n", "\r\n").encode(), "python") == chunk(source.encode(), "python")


def test_a_byte_order_mark_is_not_text():
    source = SAMPLES["python"].source
    assert chunk(source.encode("utf-8-sig"), "python") == chunk(source.encode(), "python")


def test_what_is_in_another_encoding_is_read_in_it():
    source = "def grüße():\n    return 'é'\n"
    expected = [("grüße", "def grüße():\n    return 'é'")]
    for encoding in ("cp1252", "utf-16", "utf-16-le", "utf-32"):
        chunks = chunk(source.encode(encoding), "python")
        assert [(each.name, each.text) for each in chunks] == expected, encoding
    plain = chunk("def f():\n    return 1\n".encode("utf-16-le"), "python")
    assert [each.name for each in plain] == ["f"]
