"""Prose is cut at its headings."""

from __future__ import annotations

from gitrag.chunking import chunk


def rows(source: str, language: str) -> list[str]:
    return [
        f"{each.kind} {each.qualified_name or '-'} {each.line_start}-{each.line_end}"
        for each in chunk(source.encode(), language)
    ]


def test_markdown_sections_know_their_path():
    source = """---
title: x
---
Before.

# Guide

Intro.

## Install

```sh
# not a heading
```

Setext
------
Text.

# *Other* [part](x.md) #
Text.
"""
    assert rows(source, "markdown") == [
        "section - 1-3",
        "section - 4-4",
        "section Guide 6-8",
        "section Guide > Install 10-14",
        "section Guide > Setext 16-18",
        "section Other part 20-21",
    ]
    assert chunk(source.encode(), "markdown")[3].name == "Install"


def test_a_heading_with_nothing_under_it_opens_the_next_section():
    assert rows("# A\n{: #a}\n\n## B\nText.\n", "markdown") == ["section A > B 1-5"]


def test_a_rule_or_a_table_is_no_heading():
    assert rows("# A\n\nText.\n\n---\n\n| a |\n---\n", "markdown") == ["section A 1-8"]


def test_a_long_section_is_split_between_paragraphs():
    paragraphs = [f"Paragraph {n}. " + "word " * 60 for n in range(20)]
    chunks = chunk(("# A\n\n" + "\n\n".join(paragraphs) + "\n").encode(), "markdown")
    assert len(chunks) > 3
    assert {each.qualified_name for each in chunks} == {"A"}
    assert all(each.text.startswith(("# A", "Paragraph")) for each in chunks)


def test_rst_levels_are_styles_in_order_of_appearance():
    source = """=====
Title
=====

Intro.

Section
=======

Text.

Sub
---

Text.

.. code::

    a
    ===

Next
====

Text.
"""
    assert rows(source, "rst") == [
        "section Title 1-5",
        "section Title > Section 7-10",
        "section Title > Section > Sub 12-20",
        "section Title > Next 22-25",
    ]


def test_text_with_underlined_headings_is_read_as_rst_and_other_text_is_not():
    source = "One\n===\n\nText.\n\nTwo\n===\n\nText.\n"
    assert rows(source, "text") == ["section One 1-4", "section Two 6-9"]
    assert rows("Text.\n\nMore text.\n", "text") == ["module - 1-3"]


def test_asciidoc_org_and_latex_headings():
    assert rows("= A\n\nText.\n\n----\n== no\n----\n\n== B\nText.\n", "asciidoc") == [
        "section A 1-7", "section A > B 9-10",
    ]  # fmt: skip
    assert rows("* A\nText.\n** B\nText.\n", "org") == ["section A 1-2", "section A > B 3-4"]
    assert rows("\\section{A}\nText.\n\\subsection*{B}\nText.\n", "latex") == [
        "section A 1-2", "section A > B 3-4",
    ]  # fmt: skip
