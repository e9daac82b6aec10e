"""Tracker issues, one Markdown file each, as written by `gitrag issues sync`. Pure."""

from __future__ import annotations

from gitrag.corpus.documents import Document, DocumentLink, distinct, read_head

DIRECTORY = ".sdd/issues"
GLOBS: tuple[str, ...] = (f"/{DIRECTORY}/*.md",)

MOST_ISSUES = 5_000
"""Further issues are not indexed: each file is checked whenever issues are searched."""


def read(path: str, text: str) -> Document:
    """Read an issue: id, title and status from front matter, else from the file's name and first heading."""
    head = read_head(text)
    stem = path.rpartition("/")[2].rpartition(".")[0]
    own = head.text("id") or stem
    references = head.fields.get("references")
    edges = []
    if isinstance(references, dict):
        for name, relation in (
            ("specs", "related"),
            ("adrs", "related"),
            ("blocks", "blocks"),
            ("blocked_by", "blocked-by"),
        ):
            listed = references.get(name)
            if isinstance(listed, list):
                edges += [DocumentLink(relation, item) for item in listed if isinstance(item, str)]
    title = head.text("title") or head.title or stem
    return Document(path, own, title, head.text("status").lower(), distinct(edges, own))
