"""Tune the encoder on what `tune_pairs.py` left in WORK.

    PYTHONPATH=. python scripts/training/tune_encoder.py WORK [--fits 5] [--steps 900]

It needs torch and NumPy, in an environment of its own, and WORK/model.safetensors, the published weights. On
an H100 a fit takes two minutes, on two cores of a CPU hours.

Each fit learns a low-rank difference to the weights of every product (LoRA, Hu et al., arXiv:2106.09685) by
contrast: of the pairs of two repositories, each question is to be nearer to its own code than to the others'
(InfoNCE, both ways). Half of the questions lose most words that they share with the code. The mean of some
fits, of which `STEP` is taken (Wortsman et al., arXiv:2203.05482 and arXiv:2109.01903: further on it forgets
what the published model knew), is cut to rank 16 by singular values and written to
WORK/tuning.safetensors: `gitrag/embedding/tuning.safetensors`; `docs/figures.md` says what it brings. Drafts
follow: `draft_corpus.py`, then `train_draft.py --go-on`. Seeded; sums differ in the last bits from machine to
machine.
"""

from __future__ import annotations

import argparse
import pickle
import queue
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from gitrag.embedding.safetensors import read_tensors, write_tensors

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
PRECISION = torch.bfloat16 if DEVICE == "cuda" else torch.float32
LAYERS, HEADS, WIDTH = 6, 12, 384
RANK = 16
STEP = 0.6
BATCH = 512
REPOSITORIES = 2
"""Repositories of a batch: few, so that the others' code is what could be taken for the right one."""

SHARES = (0.25, 0.10, 0.42, 0.23)
"""Of the kinds of pairs: commits, docstrings, everyday questions, questions in the product's words."""

SCALE = 20.0
PATH_WEIGHT = 0.5
"""A chunk's vector is compared together with half its path's, as the product does."""

RATE = 1e-3
DULLED, KEPT = 0.5, 0.4
"""Share of questions that lose words they share with the code, and of these words, which stay."""

QUESTION_PIECES = 40
PRODUCTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
}

Tensors = dict[str, torch.Tensor]


class Texts:
    """Texts as word pieces, one after the other."""

    def __init__(self, pieces: np.ndarray, lengths: np.ndarray) -> None:
        self.pieces, self.lengths = pieces, lengths
        self.starts = np.concatenate([[0], np.cumsum(lengths)])

    def __getitem__(self, number: int) -> np.ndarray:
        return self.pieces[self.starts[number] : self.starts[number + 1]]

    def __len__(self) -> int:
        return len(self.lengths)


def padded(rows: Sequence[np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    lengths = np.array([len(row) for row in rows])
    table = np.zeros((len(rows), int(-(-lengths.max() // 8) * 8)), np.int64)
    for at, row in enumerate(rows):
        table[at, : len(row)] = row
    return torch.from_numpy(table), torch.from_numpy(lengths)


class Encoder:
    """The model with a difference: of each tuned weight, up · down."""

    def __init__(self, weights: Tensors, difference: dict[str, tuple[torch.Tensor, torch.Tensor]]) -> None:
        self.weights, self.difference = weights, difference
        self.merge()

    def merge(self) -> None:
        self.merged = {name: self._of(name).to(PRECISION) for name in self.difference}

    def _of(self, name: str) -> torch.Tensor:
        down, up = self.difference[name]
        return self.weights[name] + up @ down

    def __call__(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        own, (count, most) = self.weights, ids.shape
        mask = torch.arange(most, device=DEVICE)[None] < lengths[:, None]

        def normalised(states: torch.Tensor, name: str) -> torch.Tensor:
            weight, bias = own[f"{name}.weight"], own[f"{name}.bias"]
            return functional.layer_norm(states.float(), (WIDTH,), weight, bias, 1e-12).to(PRECISION)

        states = functional.embedding(ids, own["embeddings.word_embeddings.weight"])
        states = states + own["embeddings.position_embeddings.weight"][:most]
        states = normalised(
            states + own["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm"
        )
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}."

            def linear(states: torch.Tensor, product: str, name: str = name) -> torch.Tensor:
                place = name + PRODUCTS[product]
                return functional.linear(
                    states, self.merged[f"{place}.weight"], own[f"{place}.bias"].to(PRECISION)
                )

            def heads(states: torch.Tensor) -> torch.Tensor:
                return states.view(count, most, HEADS, WIDTH // HEADS).transpose(1, 2)

            mixed = functional.scaled_dot_product_attention(
                *(heads(linear(states, product)) for product in ("query", "key", "value")),
                attn_mask=mask[:, None, None, :],
            )
            mixed = linear(mixed.transpose(1, 2).reshape(count, most, WIDTH), "output")
            states = normalised(states + mixed, name + "attention.output.LayerNorm")
            wide = functional.gelu(linear(states, "wide"))
            states = normalised(states + linear(wide, "narrow"), name + "output.LayerNorm")
        return functional.normalize((states.float() * mask[..., None]).sum(1), dim=1)


def start(weights: Tensors, seed: int) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Begin with no difference."""
    drawn, found = torch.Generator().manual_seed(seed), {}
    for name in [
        f"encoder.layer.{layer}.{one}.weight" for layer in range(LAYERS) for one in PRODUCTS.values()
    ]:
        rows, columns = weights[name].shape
        down = torch.randn(RANK, columns, generator=drawn) / columns**0.5
        found[name] = (
            down.to(DEVICE).requires_grad_(),
            torch.zeros(rows, RANK, device=DEVICE).requires_grad_(),
        )
    return found


def batches(data: dict[str, Any], seed: int) -> Iterator[tuple[Any, ...]]:
    """Draw pairs of a few repositories: questions, code and paths as word pieces, and their rows."""
    drawn, rows = np.random.default_rng(seed), data["rows"]
    places: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, (kind, repository, *_rest) in enumerate(rows):
        places[int(repository), int(kind)].append(place)
    names = np.unique(rows[:, 1])
    likely = np.sqrt([np.sum(rows[:, 1] == name) for name in names])
    while True:
        chosen: list[int] = []
        for repository in drawn.choice(
            names, min(REPOSITORIES, len(names)), replace=False, p=likely / likely.sum()
        ):
            kinds = [kind for kind in range(len(SHARES)) if (repository, kind) in places]
            shares = np.array([SHARES[kind] for kind in kinds])
            for kind, many in zip(
                kinds, drawn.multinomial(BATCH // REPOSITORIES, shares / shares.sum()), strict=True
            ):
                own = places[repository, kind]
                chosen += drawn.choice(own, min(many, len(own)), replace=False).tolist()
        picked = rows[chosen]
        questions = []
        for place, row in zip(chosen, picked, strict=True):
            begin, *inner, end = data["questions"][place].tolist()
            if drawn.random() < DULLED:
                shared = set(data["texts"][row[3]].tolist())
                kept = [piece for piece in inner if piece not in shared or drawn.random() < KEPT]
                inner = kept if len(kept) > 2 else inner
            questions.append(np.array([begin, *inner[: QUESTION_PIECES - 2], end]))
        texts = [data["texts"][number] for number in picked[:, 3]]
        yield padded(questions), padded(texts), padded([data["paths"][one] for one in picked[:, 4]]), picked


def ahead(make: Callable[[int], Iterator[Any]], threads: int = 4) -> Iterator[Any]:
    """Make batches in threads, ahead of their use."""
    waiting: queue.Queue[Any] = queue.Queue(12)

    def fill(seed: int) -> None:
        for one in make(seed):
            waiting.put(one)

    for seed in range(threads):
        threading.Thread(target=fill, args=(seed,), daemon=True).start()
    while True:
        yield waiting.get()


def fit(weights: Tensors, data: dict[str, Any], seed: int, steps: int) -> dict[str, torch.Tensor]:
    """Learn one difference."""
    difference = start(weights, seed)
    parameters = [part for parts in difference.values() for part in parts]
    optimiser = torch.optim.Adam(parameters, lr=RATE, betas=(0.9, 0.98))
    encoder = Encoder(weights, difference)
    for step, batch in zip(
        range(steps), ahead(lambda thread: batches(data, 100 * seed + thread)), strict=False
    ):
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / (0.05 * steps)) * (0.05 + 0.95 * (1 - step / steps))
        *texts, rows = batch
        encoder.merge()
        asked, code, paths = (encoder(ids.to(DEVICE), lengths.to(DEVICE)) for ids, lengths in texts)
        sums = SCALE * asked @ functional.normalize(code + PATH_WEIGHT * paths, dim=1).T
        own = torch.from_numpy(rows[:, 2:]).to(DEVICE)
        same = (own[:, None] == own[None]).any(dim=2).fill_diagonal_(False)  # no wrong answers to one another
        sums, right = sums.masked_fill(same, -1e4), torch.arange(len(rows), device=DEVICE)
        loss = functional.cross_entropy(sums, right) + 0.5 * functional.cross_entropy(sums.T, right)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        if step % 100 == 99:
            print(f"fit {seed}, step {step + 1}: loss {loss.item():.3f}", flush=True)
    return {name: (up @ down).detach() for name, (down, up) in difference.items()}


def cut(difference: dict[str, torch.Tensor]) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Return the nearest difference of low rank."""
    found = {}
    for name, whole in difference.items():
        left, sizes, right = torch.linalg.svd(whole, full_matrices=False)
        root = sizes[:RANK].sqrt()
        found[name] = (root[:, None] * right[:RANK], left[:, :RANK] * root)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("--fits", type=int, default=5)
    parser.add_argument("--steps", type=int, default=900)
    options = parser.parse_args()
    published = read_tensors(options.work / "model.safetensors")
    weights = {
        name: torch.from_numpy(np.array(values)).to(DEVICE)
        for name, values in published.items()
        if values.dtype.kind == "f"
    }
    data = pickle.loads((options.work / "pairs.pkl").read_bytes())  # noqa: S301  # our own
    data |= {name: Texts(*data[name]) for name in ("questions", "texts", "paths")}
    fits = [fit(weights, data, seed, options.steps) for seed in range(options.fits)]
    found = cut({name: STEP * sum(one[name] for one in fits) / len(fits) for name in fits[0]})
    parts = {
        f"{name}.{part}": values.cpu().numpy().astype(np.float16)
        for name, both in found.items()
        for part, values in zip(("down", "up"), both, strict=True)
    }
    write_tensors(options.work / "tuning.safetensors", parts)


if __name__ == "__main__":
    main()
