"""What a source file says of what governs it and of what it offers."""

from __future__ import annotations

import pytest

from gitrag.chunking import chunk
from gitrag.corpus.governing import GoverningComment, exported, governing, named

COMMENTS = {
    "# Governing: ADR-0007": ("ADR-0007", ()),
    '// Governing: ADR-7 (rate limits), SPEC-0003 REQ "Keys rotate"': (
        "ADR-0007 SPEC-0003",
        ("Keys rotate",),
    ),
    '<!-- Governing: SPEC-0034 REQ "One", SPEC-0034 REQ "Two" -->': ("SPEC-0034", ("One", "Two")),
    "/* governing artifacts: adr_12 */": ("ADR-0012", ()),
    "-- Governing comments: SPEC 4": ("SPEC-0004", ()),
}


@pytest.mark.parametrize("line", COMMENTS)
def test_a_governing_comment_is_read(line):
    ids, requirements = COMMENTS[line]
    assert governing(f"x\n{line}\n") == [GoverningComment(2, tuple(ids.split()), requirements)]


def test_a_governing_comment_goes_on_while_its_lines_end_with_a_comma():
    text = '# Governing: ADR-0001,\n#   SPEC-0002 REQ "Order",\n#   ADR-0003\n# ADR-0004 is another matter\n'
    assert governing(text) == [GoverningComment(1, ("ADR-0001", "SPEC-0002", "ADR-0003"), ("Order",))]


@pytest.mark.parametrize(
    "line", ["Governing: nothing yet", "the governing body", "ADR-0001", "governing ADR-0001"]
)
def test_other_lines_are_no_governing_comment(line):
    assert governing(line) == []


def test_what_is_named_is_found_with_its_first_line():
    assert named("a\nsee ADR-0002, spec-3\nADR-2\n12 [1] RADR-5\n") == {"ADR-0002": 2, "SPEC-0003": 2}


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("python", "def one():\n    pass\n\ndef _two():\n    pass\n", ["one"]),
        ("go", "package a\n\nfunc One() {}\n\nfunc two() {}\n", ["One"]),
        ("rust", "pub fn one() {}\n\nfn two() {}\n", ["one"]),
        ("typescript", "export function one() {}\n\nfunction two() {}\n", ["one"]),
        ("javascript", "function one() {}\n\nfunction two() {}\n", ["one", "two"]),
    ],
)
def test_what_a_file_offers_is_told_as_its_language_does(language, text, names):
    assert [each.name for each in exported(chunk(text.encode(), language), language)] == names
