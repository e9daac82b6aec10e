"""The versions of the steps that produce an index's content; each version is raised next to its step."""

from __future__ import annotations

from typing import Final

from gitrag.chunking import CHUNKER_VERSION
from gitrag.corpus import LAYOUT_VERSION
from gitrag.embedding.version import DRAFT_VERSION, ENCODER_VERSION
from gitrag.git import RULES_VERSION
from gitrag.indexing import RECORDS_VERSION
from gitrag.store.schema import TABLES_VERSION
from gitrag.words.terms import TERMS_VERSION

RECIPE: Final = (
    f"chunker {CHUNKER_VERSION}, terms {TERMS_VERSION}, encoder {ENCODER_VERSION}, drafts {DRAFT_VERSION},"
    f" rules {RULES_VERSION}, preparation {RECORDS_VERSION}, layout {LAYOUT_VERSION},"
    f" tables {TABLES_VERSION}"
)
"""An index built with another recipe is unusable and is rebuilt."""
