"""Files that gitrag reads for what they say: settings, manifests, rules, documents. Pure."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from gitrag.chunking.languages import Language
from gitrag.config.keys import KEYS
from tests.fuzz.mutation import TOKENS, deep, odd, size, worsen

_ODD_NAMES = ("ünïcode", "a b", "a'b\"c", "-n", "$(touch ..traces)", "\u202egnp", "a\nb", "a\tb", "\x1b[2J",
              "%s%n", "*", "[x]",
              "con", "a" * 200, "\udcff\udcfe", ".hidden", "#x#", "!x", "x\\y", "x:y")  # fmt: skip

_VALUES: tuple[Any, ...] = (
    "4h", "30m", "0s", "-1h", "9" * 30 + "h", "1e400", ".inf", ".nan", "0x10", "1_000", "on", "off", "~",
    "2026-01-01", "1MiB",
    "8 GiB", "../../outside/**", "/etc/**", "**/" * 100 + "x", "*a" * 100, "[" * 200, "{a," * 100, "!x",
    "[!a-z]*", "\\", "a\\",
    "canary/**", "**", "*.md", "github", "hybrid", "rm -rf /", "http://127.0.0.1:9", "touch ../traces/ran",
    "web=canary",
    ["canary", "web=docs", "..", "/etc", "a=b=c", "="], ["*"] * 500, ["**/a" * 50], {"a": 1},
    {"mode": "hybrid"},
)  # fmt: skip

_PATTERN_PARTS = ("*", "**", "?", "/", "a", "b", "canary", "singing", ".py", "[a-z]", "[!a]", "[^a]", "[]]",
                  "[[:alpha:]]", "[[:x:]]",
                  "[", "]", "\\", "\\*", "!", "#", " ", "\\ ", ".", "..", "é", "\xff", "{a,b}", "+", "(",
                  "$", "^", "-", "a-",
                  "[a-", "[z-a]", "[\\]]", "\t", "\0", "**/", "/**", "/**/", "***")  # fmt: skip

_ATTRIBUTES = ("gitrag", "-gitrag", "!gitrag", "gitrag=off", "linguist-generated", "-linguist-generated",
               "linguist-vendored=false",
               "text", "-text", "text=auto", "eol=crlf", "eol=lf", "ident", "filter=evil", "filter=lfs",
               "diff=evil", "binary", "-diff",
               "merge=evil", "working-tree-encoding=UTF-16", "working-tree-encoding=UTF-32-EVIL",
               "encoding=x", "export-ignore",
               "=", "a=", "=a", "-", "!", "--", "[attr]a text", "a" * 3000)  # fmt: skip

_FRONT = ("id", "title", "status", "date", "supersedes", "superseded-by", "extends", "related", "requires",
          "implements", "labels",
          "assignees", "author", "created", "updated", "closed", "url", "tracker", "references", "deciders",
          "tags", "adr",
          "ID", "superseded_by", "related to")  # fmt: skip

_ISSUE = {
    "id": "9", "title": "The canary: # sings", "status": "open", "labels": ["on", "1.10"],
    "assignees": ["ada"], "author": "ada",
    "created": "2026-01-01T00:00:00Z", "updated": "2026-01-02T00:00:00Z", "closed": "",
    "url": "https://example.com/9",
    "tracker": "github", "references": {"specs": ["SPEC-0001"], "adrs": [], "blocks": [],
    "blocked_by": ["8"]},
}  # fmt: skip

_ADR = """---
id: ADR-0009
status: accepted
supersedes: [ADR-0001]
related: ADR-0001
---
# ADR-0009: Sing louder

* Status: accepted, superseded by [ADR-0001](ADR-0001-canary.md)
Amends 0001-canary.md and ADR-12; see also [1. Canary]

## Context

A canary is heard at dawn. Governing: ADR-0001, SPEC-0001 REQ "Dawn"
"""
_SPEC = """---
id: SPEC-0009
requires: [SPEC-0001]
---
# SPEC-0009: Louder

## Requirements

### Requirement: Volume

It SHALL be louder.

#### Scenario: Dawn

- **WHEN** it is dawn
- **THEN** it sings
"""
_TASKS = (
    "# Tasks\n\n- [ ] 1.1 Sing (ADR-0001)\n  - [x] breathe\n  Blocked by: #1.2\n"
    "- [x] 1.2 Eat\n\n```\n- [ ] no\n```\n"
)
_BEAD = {
    "id": "bd-1", "title": "Sing", "description": "At dawn", "status": "open", "labels": ["a"],
    "assignee": "ada", "created_by": "ada",
    "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "closed_at": None,
    "dependencies": [{"issue_id": "bd-1", "depends_on_id": "bd-2", "type": "blocks"}],
}  # fmt: skip
_META = {"version": 1, "place": "github http://127.0.0.1:9 a/b", "tracker": "github",
         "cursor": "2026-01-01T00:00:00Z", "complete": True,
         "synced": 1.0, "merged": ["1"]}  # fmt: skip

_MANIFESTS = {
    "package.json": '{"name": "mine", "workspaces": ["canary", "docs/*", "!docs/specs"]}',
    "pnpm-workspace.yaml": "packages:\n  - canary\n  - 'docs/**'\n  - '!**/specs'\n",
    "pyproject.toml": '[project]\nname = "mine"\n'
    '[tool.uv.workspace]\nmembers = ["canary", "docs/*"]\nexclude = ["x"]\n',
    "Cargo.toml": '[workspace]\nmembers = ["canary", "docs/*"]\nexclude = ["x"]\n',
    "go.work": "go 1.22\n\nuse (\n\t./canary\n\t./docs\n)\nuse ./x // y\n",
    "pom.xml": "<project><modules><module>canary</module><module>docs</module></modules></project>\n",
    ".mcp.json": '{"mcpServers": {"x": {"command": "touch", "args": ["../traces/ran"]}}}',
    ".vscode/mcp.json": '{"servers": {}, // a comment\n}',
    "AGENTS.md": "# Agents\n\n<!-- gitrag:begin -->\nx\n<!-- gitrag:end -->\n",
    "CLAUDE.md": "@AGENTS.md\n",
    ".pre-commit-config.yaml": "repos:\n  - repo: local\n    hooks: []\n",
    "lefthook.yml": "post-commit:\n  jobs:\n    - run: touch ../traces/ran\n",
    ".gitmodules": '[submodule "m"]\n\tpath = m\n\turl = ext::touch ../traces/ran\n'
    "\tupdate = !touch ../traces/ran\n",
}


def name(dice: Random, language: Language) -> str:
    """Name a file of a language, oddly at times."""
    stem = dice.choice(_ODD_NAMES) if dice.random() < 0.3 else f"a{dice.randrange(1000)}"
    folder = dice.choice(("", "", "src/", "tests/", "docs/", "a/b/c/d/e/", "docs/adrs/", "vendor/"))
    if language.files and dice.random() < 0.2:
        return folder + dice.choice(language.files.split())
    return f"{folder}{stem}.{dice.choice(language.suffixes.split() or ['x'])}"


def settings(dice: Random) -> tuple[str, bytes]:
    """Write a ``.gitrag.yaml``."""
    chosen: dict[str, Any] = {}
    for _ in range(dice.choice((1, 2, 5, 20))):
        key = dice.choice(KEYS).name if dice.random() < 0.85 else str(odd(dice))[:100]
        chosen[key] = dice.choice(_VALUES) if dice.random() < 0.8 else odd(dice)
    if dice.random() < 0.3:
        chosen["search_strategy"] = {"mode": dice.choice(_VALUES), "rag": {"mcp_tool": dice.choice(_VALUES)}}
    return ".gitrag.yaml", _often_worse(dice, _yaml(dice, chosen))


def manifest(dice: Random) -> tuple[str, bytes]:
    """Write a file of another tool that gitrag reads."""
    path, text = dice.choice(sorted(_MANIFESTS.items()))
    return path, worsen(dice, text.encode())


def rules(dice: Random) -> tuple[str, bytes]:
    """Write an ignore or attribute file."""
    folder = dice.choice(("", "", "", "canary/", "docs/", "docs/adrs/"))
    file = dice.choice((".gitignore", ".gitragignore", ".gitattributes", ".gitattributes"))
    lines = []
    for _ in range(size(dice, 400)):
        pattern = "".join(dice.choices(_PATTERN_PARTS, k=size(dice, 40)))
        if dice.random() < 0.05:
            pattern = dice.choice(
                ("*a" * size(dice, 200) + "b", "**/" * size(dice, 300), "[" * 300, "a" * 5000, "?" * 300)
            )
        if file == ".gitattributes":
            pattern += " " + " ".join(dice.choices(_ATTRIBUTES, k=dice.choice((1, 1, 3))))
        lines.append(pattern)
    return folder + file, _often_worse(dice, "\n".join(lines).encode("utf-8", "surrogateescape"))


def document(dice: Random) -> tuple[str, bytes]:
    """Write a decision, a specification, an issue's file, a list of tasks, or an export of issues."""
    kind = dice.randrange(8)
    if kind == 0:
        body = b"---\n" + _yaml(dice, _fields(dice)) + b"---\n" + _ADR.partition("---\n# ")[2].encode()
        return "docs/adrs/ADR-0009-louder.md", _often_worse(dice, body)
    if kind == 1:
        return f"docs/adr/{dice.choice(('0009-x', '9', 'x', '٣-x', '²-x', 'adr-9'))}.md", worsen(
            dice, _ADR.encode()
        )
    if kind == 2:
        return "docs/specs/louder/spec.md", worsen(dice, _SPEC.encode())
    if kind == 3:
        return "docs/specs/louder/tasks.md", worsen(dice, _TASKS.encode())
    if kind == 4:
        issue = {**_ISSUE, **(_fields(dice) if dice.random() < 0.5 else {})}
        return ".sdd/issues/9.md", _often_worse(
            dice, b"---\n" + _yaml(dice, issue) + b"---\n\nSing at dawn.\n"
        )
    if kind == 5:
        return ".sdd/issues/_meta.json", _often_worse(
            dice, json.dumps({**_META, **_one(dice, list(_META))}).encode()
        )
    if kind == 6:
        beads = [
            json.dumps({**_BEAD, "id": f"bd-{n}", **_one(dice, list(_BEAD))}) for n in range(size(dice, 50))
        ]
        return ".beads/issues.jsonl", _often_worse(dice, "\n".join(beads).encode())
    return "docs/decisions/0010-x.md", worsen(dice, b"---\n" + _yaml(dice, _fields(dice)) + b"---\n# X\n")


def _one(dice: Random, names: list[str]) -> dict[str, Any]:
    return {dice.choice(names): odd(dice)} if dice.random() < 0.7 else {}


def _fields(dice: Random) -> dict[str, Any]:
    values = (*_VALUES, "ADR-0001", ["ADR-0001", {"id": "ADR-2"}], "[[1]]", "٣", "²", "9" * 4000)
    return {
        dice.choice(_FRONT): dice.choice(values) if dice.random() < 0.7 else odd(dice)
        for _ in range(dice.choice((1, 3, 10, 40)))
    }


def _yaml(dice: Random, value: dict[Any, Any]) -> bytes:
    """Write YAML, by a dumper or as a person does: unquoted, with marks of YAML's own."""
    import yaml

    if dice.random() < 0.5:
        text = yaml.safe_dump(
            value, allow_unicode=dice.random() < 0.5, default_flow_style=dice.random() < 0.3
        )
        return text.encode("utf-8", "replace")
    lines = [f"{key}: {each}" for key, each in value.items()]
    if dice.random() < 0.2:
        lines.insert(dice.randrange(len(lines) + 1), f"a: {deep(dice)}")
    if dice.random() < 0.3:
        lines.append("x: " + dice.choice(TOKENS).decode("utf-8", "replace") * size(dice, 50))
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _often_worse(dice: Random, data: bytes) -> bytes:
    return worsen(dice, data) if dice.random() < 0.5 else data
