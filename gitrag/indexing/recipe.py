"""The versions of the steps that produce an index's content; each version is raised next to its step."""

from __future__ import annotations

from gitrag.chunking import CHUNKER_VERSION
from gitrag.corpus import LAYOUT_VERSION
from gitrag.embedding.version import DRAFT_VERSION, encoder_version
from gitrag.git import RULES_VERSION
from gitrag.indexing import RECORDS_VERSION
from gitrag.store.schema import TABLES_VERSION
from gitrag.words.terms import TERMS_VERSION


def recipe(model: str = "") -> str:
    """Return what an index is made by: one that was made by another recipe is unusable, and is rebuilt."""
    return (
        f"chunker {CHUNKER_VERSION}, terms {TERMS_VERSION}, encoder {encoder_version(model)},"
        f" drafts {DRAFT_VERSION}, rules {RULES_VERSION}, preparation {RECORDS_VERSION},"
        f" layout {LAYOUT_VERSION}, tables {TABLES_VERSION}"
    )
