"""What cosine do duplicates have, and what others? For the threshold of ``related --duplicates``.

    .venv/bin/python scripts/bench/duplicates.py QUESTIONS [--work DIR] [--only NAME]

QUESTIONS and --work are as in `scripts/bench/quality.py`. Of functions and classes in the last version and
the history of each repository, embedded as the index embeds them:

- edited: two versions of one definition with half to 98 % of its words in common: what somebody copies and
  changes
- described: a definition without its docstring, and the docstring's first sentence: what already does what a
  text says
- sibling: two definitions of one file
- random: two definitions of one repository

Prints for each threshold the share of pairs whose cosine is no lower.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
from msgspec.structs import replace
from questions import chosen_projects, parser_of, prepare

from gitrag.chunking import chunk, language_of
from gitrag.embedding.text import chunk_text
from gitrag.git import Repository
from gitrag.model import Chunk, Kind
from gitrag.workspace import Workspace

Pair = tuple[str, str]

COMMITS = 60
"""Of each repository, evenly spread over its history."""

MOST = 150
"""Pairs of a kind and repository."""

ALIKE = (0.5, 0.98)
THRESHOLDS = np.arange(0.4, 1.0, 0.05)
_MIN_WORDS = 12
"""Shorter definitions say too little to be copies of each other."""


def main() -> None:
    """Run the comparison."""
    arguments = parser_of(__doc__).parse_args()
    pairs: dict[str, list[Pair]] = {kind: [] for kind in ("edited", "described", "sibling", "random")}
    for project in chosen_projects(arguments):
        workspace = Workspace.open(prepare(project, "whole", arguments.work), environ=os.environ)
        draw = random.Random(project.name)
        for kind, found in collect(workspace.repo, draw).items():
            draw.shuffle(found)
            pairs[kind] += found[:MOST]
    encoder = workspace.encoder
    cosines = {}
    for kind, found in pairs.items():
        first, second = (encoder.encode([pair[side] for pair in found]) for side in (0, 1))
        cosines[kind] = np.einsum("ij,ij->i", first, second)
    print(f"{'cosine':>8}" + "".join(f"{kind:>11}" for kind in cosines))
    for threshold in THRESHOLDS:
        shares = "".join(f"{(values >= threshold - 1e-6).mean():11.3f}" for values in cosines.values())
        print(f"{threshold:8.2f}{shares}")
    print(f"{'pairs':>8}" + "".join(f"{len(values):11,}" for values in cosines.values()))


def collect(repository: Repository, draw: random.Random) -> dict[str, list[Pair]]:
    """Find the pairs of one repository."""
    tree = repository.head().tree
    files = [
        list(definitions(entry.path, repository.read_blob(entry.blob)))
        for entry in repository.entries(tree)
        if entry.mode in {0o100644, 0o100755}
    ]
    files = [own for own in files if own]
    every = [piece for own in files for piece in own]
    texts = [chunk_text(piece) for piece in every]
    return {
        "edited": list(edited(repository)),
        "described": [
            (first, chunk_text(replace(piece, docstring="", text=piece.text.replace(piece.docstring, ""))))
            for piece in every
            if len((first := piece.docstring.partition("\n\n")[0].partition(". ")[0]).split()) >= 5
            and piece.docstring in piece.text
        ],
        "sibling": [
            (chunk_text(one), chunk_text(other))
            for own in files
            if len(own) > 1
            for one, other in [draw.sample(own, 2)]
            if one.name != other.name
        ],
        "random": [tuple(draw.sample(texts, 2)) for _ in range(MOST)] if len(texts) > 1 else [],
    }  # fmt: skip


def edited(repository: Repository) -> Iterator[Pair]:
    """Give definitions before and after a commit that changed them."""
    listed = repository.git("log", "--no-merges", "--first-parent", "--format=%H", "--diff-filter=M")
    commits = listed.stdout.decode("ascii").split()
    for commit in commits[:: max(len(commits) // COMMITS, 1)]:
        done = repository.git("diff-tree", "-r", "-z", "--diff-filter=M", "--no-commit-id", commit)
        fields = done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
        for facts, path in zip(fields[::2], fields[1::2], strict=True):
            _, _, before, after, _ = facts.split(" ")
            if not all(repository.has_object(blob) for blob in (before, after)):
                continue
            olds = {piece.qualified_name: piece for piece in definitions(path, repository.read_blob(before))}
            for piece in definitions(path, repository.read_blob(after)):
                old = olds.get(piece.qualified_name)
                if old is None or old.text == piece.text:
                    continue
                pair = chunk_text(old), chunk_text(piece)
                words = [text.split() for text in pair]
                if ALIKE[0] <= SequenceMatcher(None, *words, autojunk=False).ratio() <= ALIKE[1]:
                    yield pair


def definitions(path: str, data: bytes) -> Iterator[Chunk]:
    """Cut a file's functions and classes of some length."""
    language = language_of(path)
    if language is None or len(data) > 200_000 or Path(path).suffix in {".md", ".json"}:
        return
    seen = set()
    for piece in chunk(data, language):
        if piece.kind in {Kind.FUNCTION, Kind.METHOD, Kind.CLASS} and piece.qualified_name not in seen:
            seen.add(piece.qualified_name)
            if len(chunk_text(piece).split()) >= _MIN_WORDS:
                yield piece


if __name__ == "__main__":
    main()
