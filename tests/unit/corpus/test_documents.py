"""How decisions, specifications and issues are read, in the dialects people write them in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrag.chunking import chunk
from gitrag.corpus import adrs, issues, specs
from gitrag.corpus.documents import FRONT_MATTER_BYTES, DocumentLink, read_head

MADR_4 = """---
status: "superseded by ADR-0123"
date: 2024-03-01
decision-makers: [a, b]
---

# Use *Plain* JUnit5 for `tests`

## Context and Problem Statement

How to write readable test assertions?
"""

MADR_2 = """# Use Markdown Architectural Decision Records

* Status: accepted
* Deciders: the team
* Date: 2020-11-02

## Links

* [Refines](https://example.com) [ADR-0003](0003-other.md)
* Supersedes [ADR-0001](0001-record.md)
"""

NYGARD = """# 2. Use Postgres

Date: 2018-05-04

## Status

Accepted

Superseded by [9. Use DuckDB](0009-use-duckdb.md)

Amends [1. Record architecture decisions](0001-record-architecture-decisions.md)

## Context

We supersede nothing; ADR-0044 is only mentioned.
"""

LOG4BRAINS = """# Use Lunr for search

- Status: accepted
- Date: 2020-09-27
- Tags: search
"""

SDD = """---
id: ADR-0024
title: "qmd: a hard dependency"
status: accepted
supersedes: [ADR-0001, 0002-second.md]
extends: ADR-0003
related:
  - 4
---
# ADR-0024: another heading
"""


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("on hold", "on hold"),
        ("In progress since May", "in progress"),
        ("under review", "under review"),
        ("Accepted (2024-05-01)", "accepted"),
        ("to be decided", "to be decided"),
        ("superseded by ADR-0007", "superseded"),
    ],
)
def test_a_status_may_be_more_than_a_word(written, read):
    assert adrs.read("docs/adr/0001-x.md", f"---\nstatus: {written}\n---\n# X\n").status == read


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "docs/decisions/0007-use-junit5.md",
            MADR_4,
            ("ADR-0007", "Use Plain JUnit5 for tests", "superseded", {("superseded-by", "ADR-0123")}),
        ),
        (
            "docs/adr/0002-use-madr.md",
            MADR_2,
            (
                "ADR-0002",
                "Use Markdown Architectural Decision Records",
                "accepted",
                {("extends", "ADR-0003"), ("supersedes", "ADR-0001")},
            ),
        ),
        (
            "doc/adr/0002-use-postgres.md",
            NYGARD,
            (
                "ADR-0002",
                "Use Postgres",
                "accepted",
                {("superseded-by", "ADR-0009"), ("extends", "ADR-0001")},
            ),
        ),
        (
            "docs/adr/20200927-use-lunr-for-search.md",
            LOG4BRAINS,
            ("20200927-use-lunr-for-search", "Use Lunr for search", "accepted", set()),
        ),
        (
            "docs/adrs/ADR-0099-moved.md",
            SDD,
            (
                "ADR-0024",
                "qmd: a hard dependency",
                "accepted",
                {
                    ("supersedes", "ADR-0001"),
                    ("supersedes", "ADR-0002"),
                    ("extends", "ADR-0003"),
                    ("related", "ADR-0004"),
                },
            ),
        ),
    ],
    ids=["MADR 4", "MADR 2", "Nygard", "log4brains", "SDD"],
)
def test_each_dialect_of_decisions_gives_id_title_status_and_edges(path, text, expected):
    found = adrs.read(path, text)
    edges = {(edge.relation, edge.target) for edge in found.edges}
    assert (found.id, found.title, found.status, edges) == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("adr/0007-foo.md", "", "ADR-0007"),
        ("adr/ADR-0007-foo.md", "", "ADR-0007"),
        ("docs/architecture-decisions/adr001-add-log.md", "", "ADR-0001"),
        ("adr/ADR_12.md", "", "ADR-0012"),
        ("adr/7.md", "", "ADR-0007"),
        ("adr/use-foo.md", "# ADR 31: Use foo", "ADR-0031"),
        ("adr/use-foo.md", "# Use foo", "use-foo"),
        ("adr/2021-06-05_001-use-foo.md", "# Use foo", "ADR-0001"),
        ("adr/2021-06-05-use-foo.md", "# 2. Use foo", "ADR-0002"),
        ("adr/2021-06-05-use-foo.md", "---\nslug: 3\n---\n# Use foo", "ADR-0003"),
        ("adr/2021-06-05-use-foo.md", "# Use foo", "2021-06-05-use-foo"),
        ("adr/2022-12-05-use-foo/README.md", "# Use foo", "2022-12-05-use-foo"),
        ("adr/0007-use-foo/index.md", "# Use foo", "ADR-0007"),
        ("adr/0007-foo.md", "---\nid: 12\n---\n", "ADR-0012"),
        ("adr/0007-foo.md", "---\nid: adr-12\n---\n", "ADR-0012"),
        ("adr/0007-foo.md", "---\nid: RFC-3\n---\n", "RFC-3"),
    ],
)
def test_an_id_comes_from_front_matter_then_the_file_then_the_heading(path, text, expected):
    assert adrs.read(path, text).id == expected


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# 7. Use foo", "Use foo"),
        ("# ADR-0007: Use foo", "Use foo"),
        ("# [ADR-0007] Use foo", "Use foo"),
        ("# ADR 7 - Use foo", "Use foo"),
        ("# 2023 in review", "2023 in review"),
        ("Use foo\n=======", "Use foo"),
        ("```\n# no heading\n```\n# Use foo", "Use foo"),
        ("no heading at all", "use foo"),
    ],
)
def test_a_title_has_no_number(heading, title):
    assert adrs.read("adr/0007-use-foo.md", heading).title == title


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "docs/specs/auth/spec.md",
            "# SPEC-0003: Auth\n\n**Status:** draft\n",
            ("SPEC-0003", "Auth", "draft"),
        ),
        (
            "docs/specs/auth/spec.md",
            "---\nid: SPEC-12\nstatus: approved\n---\n# Auth",
            ("SPEC-0012", "Auth", "approved"),
        ),
        ("openspec/specs/auth/spec.md", "# auth Specification\n", ("auth", "auth Specification", "")),
        (
            "specs/001-photo-albums/spec.md",
            "# Feature Specification: Photo Albums",
            ("SPEC-0001", "Photo Albums", ""),
        ),
        (
            ".kiro/specs/user-auth/requirements.md",
            "# Requirements Document",
            ("user-auth", "user auth (requirements)", ""),
        ),
        (".kiro/specs/user-auth/design.md", "", ("user-auth", "user auth (design)", "")),
        ("doc/specs/dna_manifest.md", "# The DNA manifest", ("dna_manifest", "The DNA manifest", "")),
        ("doc/specs/dna_manifest.md", "", ("dna_manifest", "dna manifest", "")),
        ("docs/rfc/0013-optional-name.md", "# Optional name", ("SPEC-0013", "Optional name", "")),
        ("specs/2021-06-05-login/spec.md", "# Login", ("2021-06-05-login", "Login", "")),
    ],
)
def test_specifications_are_known_by_heading_or_folder(path, text, expected):
    found = specs.read(path, text)
    assert (found.id, found.title, found.status) == expected


def test_edges_of_a_specification_come_from_front_matter():
    text = "---\nid: SPEC-0002\nrequires: [SPEC-0001]\nimplements: ADR-7\nrelated: SPEC-0002\n---\n# Two\n"
    assert specs.read("docs/specs/two/spec.md", text).edges == (
        DocumentLink("requires", "SPEC-0001"),
        DocumentLink("implements", "ADR-0007"),
    )


def test_an_issue_is_read_from_its_front_matter():
    text = (
        "---\nid: PROJ-7\ntitle: 'on: #1'\nstatus: open\n"
        "references:\n  specs: [SPEC-0001]\n  blocks: [PROJ-8]\n---\nBody.\n"
    )
    found = issues.read(".sdd/issues/PROJ-7.md", text)
    assert (found.id, found.title, found.status) == ("PROJ-7", "on: #1", "open")
    assert found.edges == (DocumentLink("related", "SPEC-0001"), DocumentLink("blocks", "PROJ-8"))


def test_each_requirement_and_scenario_is_a_section_with_its_heading_path():
    text = (
        "# SPEC-0001: Auth\n\nIntro.\n\n## Requirements\n\n### Requirement: Tokens expire\n\nThey MUST.\n\n"
        "#### Scenario: late\n\n- WHEN late\n- THEN refused\n\n### Requirement: Other\n\nMUST too.\n"
    )
    root = "SPEC-0001: Auth"
    assert [part.qualified_name for part in chunk(text.encode(), "markdown")] == [
        root,
        f"{root} > Requirements > Requirement: Tokens expire",
        f"{root} > Requirements > Requirement: Tokens expire > Scenario: late",
        f"{root} > Requirements > Requirement: Other",
    ]


@pytest.mark.parametrize(
    "hostile",
    [
        "a: &x [1]\nb: *x",
        "a: !!python/object/apply:os.system [ls]",
        "[" * 500,
        "a: " + "x" * FRONT_MATTER_BYTES,
        "a: 1\na: 2",
        "- a list",
        "\x07",
    ],
    ids=["alias", "tag", "deep", "long", "twice", "list", "control"],
)
def test_hostile_front_matter_is_text(hostile):
    text = f"---\n{hostile}\n---\n# 3. Title\n"
    assert read_head(text).fields == {}
    assert adrs.read("adr/0003-title.md", text).title == "Title"


@given(st.text(alphabet=st.sampled_from("-#*[]():. \n\tADRSPECstatus0123supersedes`=_>|"), max_size=400))
def test_any_text_is_read(text):
    for read in (adrs.read, specs.read, issues.read):
        found = read("docs/x/0001-y.md", text)
        assert found == read("docs/x/0001-y.md", text)
        assert found.id
        assert found.title
