"""Fit a low-rank map of question vectors to the code that answers: a trial; nothing of it is shipped.

    .venv/bin/python scripts/training/fit_question_map.py CLONES [--only NAME] [--out FILE] [--folds 6]

An encoder that treats questions and code alike can be bent on the question's side alone: q + up · (down · q),
normalised. The index stays as it is, and a fit takes minutes, since the vectors of code are known. Learned
from the everyday questions of `scripts/bench/asked/` that are not kept aside, and from subjects of commits,
each with the files that it changed, in CLONES/<name> with their histories, on draft vectors. The loss is that
of the right files among all of a repository's code, a file standing for its nearest chunk, and the distance
from the vector that was.

Printed is NDCG@10 by the nearest chunk alone, each repository asked by a map fitted on the others.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))
from asked import AskedSet, figures, read_sets
from encoder_pairs import CHANGED_FILES, git, outside, subject_of
from questions import PAGE, draft_index

from gitrag.chunking.languages import is_code
from gitrag.embedding.safetensors import write_tensors
from gitrag.model import DIMENSIONS
from gitrag.search.question import read
from gitrag.store import candidates, vectors
from gitrag.store.joins import distinct
from gitrag.store.memo import Memo

RANK = 16
RATE = 3e-3
KEEP = 1.0
"""Weight of the distance from what was."""

STEPS = 200
SUBJECTS = 16
"""Of a repository in each step, beside its everyday questions; it gives 500 at most."""

TEMPERATURE = 0.05
FILES = 900
SEED = 7

Matrix = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Repository:
    """Its questions, and the chunks of its code, by file.

    Attributes:
        asked: The set of its questions.
        paths: Its files of code.
        starts: Where each file's chunks begin.
        chunks: float32 (c, 384), each joined with its path.
        questions: float32 (n, 384); the everyday ones come first.
        right: bool (n, files).
    """

    asked: AskedSet
    paths: list[str]
    starts: Matrix
    chunks: Matrix
    questions: Matrix
    right: Matrix


def subjects(clone: Path, rng: random.Random) -> list[tuple[str, list[str]]]:
    """Give subjects of commits with the code that they changed."""
    log = git(clone, "log", "--no-merges", "-n5000", "--name-only", "-z", "--format=%x01%s").decode(
        "utf-8", "replace"
    )
    found = {}
    for entry in log.split("\x01")[1:]:
        subject, *paths = entry.replace("\n", "\0").split("\0")
        own = [path for path in paths if path and not outside(path)]
        if (
            subject_of(subject).isascii()
            and len(subject_of(subject).split()) > 2
            and len(own) <= CHANGED_FILES
        ):
            found[subject_of(subject)] = own
    return rng.sample(sorted(found.items()), min(500, len(found)))


def load(asked: AskedSet, clone: Path) -> Repository:
    """Index a repository with drafts; embed its questions."""
    rng = random.Random(f"{SEED}/{asked.name}")
    rows = [(read(each.text).meaning, each.paths) for each in asked.questions] + subjects(clone, rng)
    with draft_index(clone) as (workspace, view_id), workspace.store.read() as db:
        scope = candidates.open_scope(db, view_id)
        names = candidates.read_paths(db, scope.files.path_id.tolist())
        paths = [names[number] for number in scope.files.path_id.tolist()]
        wanted = {path for _, own in rows[: len(asked.questions)] for path in own}
        code = [i for i, is_own in enumerate(scope.files.among(is_code)) if is_own and not outside(paths[i])]
        kept = [i for i in code if paths[i] in wanted]
        others = [i for i in code if paths[i] not in wanted]
        kept = sorted(kept + rng.sample(others, min(FILES, len(others))))
        own = np.flatnonzero((scope.text_id != 0) & np.isin(scope.file, kept))
        known = vectors.read(
            db, distinct(np.concatenate([scope.text_id[own], scope.path_text[kept]])), Memo()
        )
        _, chunk = known.find(scope.text_id[own])
        _, path = known.find(scope.path_text[scope.file[own]])
        both = unit(known, chunk) + np.float32(candidates.PATH_WEIGHT) * unit(known, path)
        order = np.argsort(scope.file[own], kind="stable")
        files, starts = np.unique(scope.file[own][order], return_index=True)
        left = [paths[i] for i in files]
        right = np.array([[path in own for path in left] for _, own in rows])
        usable = right.any(axis=1) | (np.arange(len(rows)) < len(asked.questions))
        asks = np.stack([workspace.encoder.encode_query(text) for text, _ in np.array(rows, object)[usable]])
    return Repository(asked, left, starts, normalised(both)[order], asks, right[usable])


def unit(known: vectors.Vectors, place: Matrix) -> Matrix:
    """Read vectors in float32."""
    return known.small[place].astype(np.float32) * known.scale[place][:, None]


def normalised(rows: Matrix) -> Matrix:
    """Give rows of length 1."""
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9))


def fit(repositories: Sequence[Repository]) -> tuple[Matrix, Matrix]:
    """Fit the map by Adam: its factors, (384, rank) and (rank, 384)."""
    rng = np.random.default_rng(SEED)
    factors = [
        np.zeros((DIMENSIONS, RANK), np.float32),
        rng.normal(0, DIMENSIONS**-0.5, (RANK, DIMENSIONS)).astype(np.float32),
    ]
    first = [np.zeros_like(each) for each in factors]
    second = [np.zeros_like(each) for each in factors]
    for step in range(1, STEPS + 1):
        own = repositories[rng.integers(len(repositories))]
        everyday = len(own.asked.questions)
        more = everyday + rng.permutation(len(own.questions) - everyday)[:SUBJECTS]
        rows = np.concatenate([np.arange(everyday), more])
        rows = rows[own.right[rows].any(axis=1)]
        rate = RATE * min(step / 20, 1, max(0.05, 1 - step / STEPS))
        for i, slope in enumerate(slopes(factors, own, rows)):
            first[i] = 0.9 * first[i] + 0.1 * slope
            second[i] = 0.999 * second[i] + 0.001 * slope**2
            speed = np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8
            factors[i] = (factors[i] - rate * first[i] / (1 - 0.9**step) / speed).astype(np.float32)
    return factors[0], factors[1]


def slopes(factors: Sequence[Matrix], own: Repository, rows: Matrix) -> tuple[Matrix, Matrix]:
    """Give the gradients of the loss of some questions by both factors."""
    up, down = factors
    asked, right = own.questions[rows], own.right[rows]
    inner = asked @ down.T
    moved = asked + inner @ up.T
    length = np.linalg.norm(moved, axis=1, keepdims=True)
    moved /= length
    scores, nearest = by_file(moved, own)
    chances = np.exp((scores - scores.max(axis=1, keepdims=True)) / TEMPERATURE)
    wanted = chances * right
    pull = chances / chances.sum(axis=1, keepdims=True) - wanted / wanted.sum(axis=1, keepdims=True).clip(
        1e-9
    )
    slope = np.einsum("nf,nfd->nd", pull / TEMPERATURE, own.chunks[nearest]) - KEEP * asked
    slope = (slope - (slope * moved).sum(axis=1, keepdims=True) * moved) / length / len(rows)
    return slope.T @ inner, (slope @ up).T @ asked


def by_file(asked: Matrix, own: Repository) -> tuple[Matrix, Matrix]:
    """Give each file's highest cosine to questions, and the chunk that has it: (n, files)."""
    near = asked @ own.chunks.T
    ends = [*own.starts[1:], near.shape[1]]
    nearest = np.stack(
        [a + near[:, a:b].argmax(axis=1) for a, b in zip(own.starts, ends, strict=True)], axis=1
    )
    return np.take_along_axis(near, nearest, axis=1), nearest


def ask(own: Repository, up: Matrix, down: Matrix) -> list[float]:
    """Give the mean figures of a repository's everyday questions, as `asked.py` has them."""
    asked = own.questions[: len(own.asked.questions)]
    scores, _ = by_file(normalised(asked + asked @ down.T @ up.T), own)
    orders = np.argsort(-scores, axis=1, kind="stable")[:, :PAGE]
    rows = [
        figures([own.paths[i] for i in order], question.paths)
        for order, question in zip(orders, own.asked.questions, strict=True)
    ]
    return list(np.mean(rows, axis=0))


def folds(repositories: list[Repository], count: int) -> Iterator[tuple[list[Repository], list[Repository]]]:
    """Yield what to fit on and what to ask."""
    mixed = random.Random(SEED).sample(repositories, len(repositories))
    for fold in range(count):
        yield [own for i, own in enumerate(mixed) if i % count != fold], mixed[fold::count]


def main() -> None:
    """Fit on all others, ask each; then fit on all and write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", type=Path, metavar="CLONES", help="folder of the clones")
    parser.add_argument("--only", action="append", help="a repository's name; may be repeated")
    parser.add_argument("--out", type=Path, metavar="FILE")
    parser.add_argument("--folds", type=int, default=6)
    options = parser.parse_args()
    sets = [each for each in read_sets() if not each.is_aside]
    repositories = [
        load(each, options.clones / each.name)
        for each in sets
        if not options.only or each.name in options.only
    ]
    nothing = np.zeros((DIMENSIONS, RANK), np.float32)
    rows: dict[str, list[list[float]]] = {}
    for others, left_out in folds(repositories, options.folds):
        up, down = fit(others)
        for own in left_out:
            rows.setdefault(f"{own.asked.kind}, as it is", []).append(ask(own, nothing, down))
            rows.setdefault(f"{own.asked.kind}, mapped", []).append(ask(own, up, down))
    for way, found in sorted(rows.items()):
        print(f"{way:24}", *(f"{figure:.3f}" for figure in np.mean(found, axis=0)))
    if options.out:
        up, down = fit(repositories)
        write_tensors(options.out, {"up": up, "down": down})


if __name__ == "__main__":
    main()
