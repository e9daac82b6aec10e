"""Train the draft table, ``gitrag/embedding/draft.safetensors``, from what ``draft_corpus.py`` left in WORK.

    PYTHONPATH=. python scripts/training/train_draft.py WORK [--out FILE] [--epochs 6] [--linear] [--one-sum]

It needs torch (a CPU build will do) and NumPy, in an environment of its own. Rows begin as the model's
vectors of single word pieces, or all as in today's table (``--go-on``: if the model changed little). Rows and
layers then follow the gradient of the cosine itself (Adam), with a tenth of the pieces dropped at random in
each step. Everything is seeded; torch's sums may differ in the last bits from machine to machine. It ends
with the mean cosine to the true vectors on archives that were held out, by the product's own code on the
written table. ``--linear`` and ``--one-sum`` are for comparison: they print that mean, and write nothing.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from gitrag.embedding.draft import HEAD_PIECES, MAX_PIECES, TABLE, Drafter, WordPieces
from gitrag.embedding.safetensors import read_tensors, write_tensors
from gitrag.model import DIMENSIONS

SEED = 7
BATCH = 512
LEARNING_RATE = 2e-3
WARM_UP_STEPS = 100
LAST_RATE = 0.02
DROPPED_PIECES = 0.1
HIDDEN = 1024
SCALE = 10.0
"""Components of unit vectors are small; the hidden layer starts better on larger ones."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The texts as word pieces; a text's pairs of piece and weights are ``starts[i]:starts[i + 1]``."""

    texts: list[str]
    kinds: np.ndarray
    held_out: np.ndarray
    vectors: torch.Tensor
    pieces: torch.Tensor
    weights: torch.Tensor
    starts: np.ndarray

    def batch(self, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        lengths = self.starts[rows + 1] - self.starts[rows]
        offsets = np.cumsum(lengths) - lengths
        places = np.repeat(self.starts[rows] - offsets, lengths) + np.arange(lengths.sum())
        return self.pieces[places], self.weights[places], torch.from_numpy(offsets)


def read(work: Path, vocabulary: list[str], sums: int) -> Corpus:
    rows = json.loads((work / "texts.json").read_text("utf-8"))
    cutter = WordPieces(vocabulary)
    pieces, weights, starts = [], [], [0]
    for row in rows:
        cut = np.array(cutter.cut(row["text"], MAX_PIECES), np.int64)
        distinct, index = np.unique(cut, return_inverse=True)
        places = np.exp(np.arange(len(cut)) / -HEAD_PIECES)
        both = [np.log1p(np.bincount(index)), np.bincount(index, weights=places)]
        pieces.append(distinct)
        weights.append(np.stack(both[:sums], axis=1))
        starts.append(starts[-1] + len(distinct))
    return Corpus(
        texts=[row["text"] for row in rows],
        kinds=np.array([row["kind"] for row in rows]),
        held_out=np.array([row["held_out"] for row in rows]),
        vectors=torch.from_numpy(np.load(work / "vectors.npy")),
        pieces=torch.from_numpy(np.concatenate(pieces)),
        weights=torch.from_numpy(np.concatenate(weights).astype(np.float32)),
        starts=np.array(starts),
    )


class Student(torch.nn.Module):
    """What ``gitrag.embedding.draft`` computes, with gradients."""

    def __init__(self, singles: np.ndarray, sums: int, hidden: int) -> None:
        super().__init__()
        mean = singles.mean(axis=0)
        rows = torch.from_numpy((singles - mean) * 0.5 + mean * 0.1)
        self.rows = torch.nn.Parameter(rows)
        self.straight = torch.nn.Linear(sums * DIMENSIONS, DIMENSIONS)
        torch.nn.init.eye_(self.straight.weight)  # the first sum, as it is
        torch.nn.init.zeros_(self.straight.bias)
        self.into = torch.nn.Linear(sums * DIMENSIONS, hidden) if hidden else None
        self.out = torch.nn.Linear(hidden, DIMENSIONS) if hidden else None
        if self.out is not None:
            torch.nn.init.zeros_(self.out.bias)
            self.out.weight.data *= 0.1

    def go_on(self, table: dict[str, np.ndarray]) -> None:
        """Begin with a table that was written before."""
        into, bias, out = (
            torch.from_numpy(np.array(table[name], np.float32)) for name in ("into", "bias", "out")
        )
        rows = table["rows"] * table["scales"][:, None]
        self.load_state_dict(
            {
                "rows": torch.from_numpy(rows),
                "straight.weight": into.T[:DIMENSIONS],
                "straight.bias": bias[:DIMENSIONS],
                "into.weight": into.T[DIMENSIONS:] / SCALE,
                "into.bias": bias[DIMENSIONS:],
                "out.weight": out.T,
                "out.bias": torch.zeros(DIMENSIONS),
            }
        )

    def forward(
        self, pieces: torch.Tensor, weights: torch.Tensor, offsets: torch.Tensor, dropped: float = 0.0
    ) -> torch.Tensor:
        if dropped:
            weights = weights * (torch.rand(len(pieces), 1) > dropped)
        sums = [
            functional.embedding_bag(
                pieces, self.rows, offsets, mode="sum", per_sample_weights=column.contiguous()
            )
            for column in weights.T
        ]
        both = torch.cat([functional.normalize(one) for one in sums], dim=1)
        drafts = self.straight(both)
        if self.into is not None and self.out is not None:
            drafts = drafts + self.out(torch.relu(self.into(both * SCALE)))
        return functional.normalize(drafts)

    def tensors(self, vocabulary: list[str], empty: np.ndarray) -> dict[str, np.ndarray]:
        """Quantise: int8 rows with a scale each, float16 layers."""
        rows = self.rows.detach().numpy()
        scales = np.maximum(np.abs(rows).max(axis=1), 1e-12) / 127
        into = torch.cat([self.straight.weight, self.into.weight * SCALE]).detach().numpy().T
        bias = torch.cat([self.straight.bias + self.out.bias, self.into.bias]).detach().numpy()
        return {
            "rows": np.rint(rows / scales[:, None]).astype(np.int8),
            "scales": scales.astype(np.float32),
            "bias": bias,
            "empty": empty,
            "into": np.ascontiguousarray(into, np.float16),
            "out": np.ascontiguousarray(self.out.weight.detach().numpy().T, np.float16),
            "vocabulary": np.frombuffer("\n".join(vocabulary).encode(), np.uint8),
        }


def fit(student: Student, corpus: Corpus, train: np.ndarray, test: np.ndarray, epochs: int) -> None:
    optimiser = torch.optim.Adam(student.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.99))
    steps = epochs * (len(train) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, (step + 1) / WARM_UP_STEPS) * max(LAST_RATE, 1 - step / steps)
    )
    order = np.random.default_rng(SEED)
    start = time.monotonic()
    for epoch in range(epochs):
        shuffled = order.permutation(train)
        total = 0.0
        for first in range(0, len(shuffled) - BATCH + 1, BATCH):
            rows = shuffled[first : first + BATCH]
            drafts = student(*corpus.batch(rows), dropped=DROPPED_PIECES)
            loss = 1 - (drafts * corpus.vectors[rows]).sum(dim=1).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item()
        print(
            f"epoch {epoch + 1}: train {1 - total / (len(train) // BATCH):.4f},"
            f" held out {cosines(student, corpus, test).mean():.4f}, {time.monotonic() - start:.0f} s",
            flush=True,
        )


def cosines(student: Student, corpus: Corpus, rows: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        found = [
            (student(*corpus.batch(rows[i : i + BATCH])) * corpus.vectors[rows[i : i + BATCH]]).sum(dim=1)
            for i in range(0, len(rows), BATCH)
        ]
    return torch.cat(found).numpy()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("--out", type=Path, default=TABLE)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--texts", type=int, default=None, help="train on the first of them only")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--go-on", action="store_true", help="from today's table")
    parser.add_argument("--linear", action="store_true")
    parser.add_argument("--one-sum", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(options.threads)
    vocabulary = (options.work / "vocabulary.txt").read_text("utf-8").split("\n")
    singles = np.load(options.work / "singles.npy")
    sums = 1 if options.one_sum else 2
    corpus = read(options.work, vocabulary, sums)
    whole = corpus.starts[1:] > corpus.starts[:-1]
    train = np.flatnonzero(whole & ~corpus.held_out)[: options.texts]
    test = np.flatnonzero(whole & corpus.held_out)
    print(f"{len(train):,} texts to train on, {len(test):,} held out")
    student = Student(singles[:-1], sums, 0 if options.linear else HIDDEN)
    if options.go_on:
        student.go_on(read_tensors(TABLE))
    fit(student, corpus, train, test, options.epochs)
    if options.linear or options.one_sum:
        return
    write_tensors(options.out, student.tensors(vocabulary, singles[-1]))
    drafts = Drafter.load(options.out).draft([corpus.texts[i] for i in test])
    found = (drafts * corpus.vectors.numpy()[test]).sum(axis=1)
    print(
        f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB, mean cosine {found.mean():.4f} held out"
    )
    for kind in np.unique(corpus.kinds[test]):
        print(f"  {kind:10} {found[corpus.kinds[test] == kind].mean():.4f}")


if __name__ == "__main__":
    main()
