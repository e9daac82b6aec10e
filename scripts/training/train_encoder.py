"""Tune the encoder on pairs of `encoder_pairs.py`: a low-rank difference to its upper layers (LoRA).

    PYTHONPATH=. python scripts/training/train_encoder.py WORK MODEL [--out FILE] [--device cuda]

MODEL is the folder with the published ``model.safetensors`` and ``tokenizer.json``. It needs torch (a CPU
build will do) and NumPy, in an environment of its own. A batch is pairs of one repository, so that all its
other code is wrong; questions come whole or without the words of the answer's names (``without``). The loss
is that of the right one among them (InfoNCE, both ways), and the distance from the vectors of the model as
published, so that what it could do it still can. The lower layers are frozen.

Every tenth of the steps it prints, of the repositories that are held out, for each kind of pair the share of
questions whose code is first of at most 200, and the mean reciprocal rank among ten; then it writes FILE:
float16 factors ``<matrix>.up`` and ``<matrix>.down``, whose product is added to the matrix.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from gitrag.embedding.safetensors import read_tensors, write_tensors
from gitrag.embedding.word_pieces import WordPieces
from gitrag.model import DIMENSIONS

SEED = 7
LAYERS = 6
HEADS = 12
MATRICES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mix": "attention.output.dense",
    "wide": "intermediate.dense",
    "narrow": "output.dense",
}
TEMPERATURE = 0.05
WARM_UP_STEPS = 50
QUESTION_PIECES = 24
PATH_PIECES = 24
PATH_WEIGHT = 0.5
"""As `gitrag/store/candidates.py` weighs a path beside a chunk."""

CANDIDATES = 200
HELD_OUT = 1
"""Rest by three of the hash of a held-out repository's name."""

Pair = dict[str, str]
Rows = list[list[int]]
States = tuple[torch.Tensor, torch.Tensor]


class Matrix(torch.nn.Module):
    """A published matrix and its bias, frozen, and the factors of a difference to it."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor, rank: int) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("bias", bias)
        self.down = torch.nn.Parameter(torch.randn(rank, weight.shape[1]) / weight.shape[1] ** 0.5)
        self.up = torch.nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, states: torch.Tensor, tuned: bool) -> torch.Tensor:
        """Multiply, with or without the difference."""
        product = functional.linear(states, self.weight, self.bias)
        return product + states @ self.down.T @ self.up.T if tuned and len(self.down) else product


class Bert(torch.nn.Module):
    """The model of `gitrag/embedding/onnx_model.py`, with gradients in its upper layers."""

    def __init__(self, folder: Path, rank: int, layers: int) -> None:
        super().__init__()
        tensors = {
            name: torch.from_numpy(np.array(each))
            for name, each in read_tensors(folder / "model.safetensors").items()
        }
        numbers = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
        self.cutter = WordPieces(sorted(numbers, key=numbers.__getitem__))
        self.ends = numbers["[CLS]"], numbers["[SEP]"]
        self.frozen = LAYERS - layers
        self.matrices = torch.nn.ModuleDict()
        self.norms: dict[str, tuple[str, str]] = {}
        types = tensors["embeddings.token_type_embeddings.weight"]
        self.register_buffer("words", tensors["embeddings.word_embeddings.weight"])
        self.register_buffer("places", tensors["embeddings.position_embeddings.weight"] + types[0])
        self._keep_norm("start", "embeddings.LayerNorm", tensors)
        for layer in range(LAYERS):
            prefix = f"encoder.layer.{layer}."
            for short, name in MATRICES.items():
                weight, bias = tensors[f"{prefix}{name}.weight"], tensors[f"{prefix}{name}.bias"]
                own = rank if layer >= self.frozen else 0
                self.matrices[f"{layer}_{short}"] = Matrix(weight, bias, own)
            self._keep_norm(f"{layer}_mixed", f"{prefix}attention.output.LayerNorm", tensors)
            self._keep_norm(f"{layer}_end", f"{prefix}output.LayerNorm", tensors)

    def _keep_norm(self, short: str, name: str, tensors: dict[str, torch.Tensor]) -> None:
        self.register_buffer(f"weight_{short}", tensors[f"{name}.weight"])
        self.register_buffer(f"bias_{short}", tensors[f"{name}.bias"])

    def _norm(self, short: str, states: torch.Tensor) -> torch.Tensor:
        weight, bias = getattr(self, f"weight_{short}"), getattr(self, f"bias_{short}")
        return functional.layer_norm(states, (DIMENSIONS,), weight, bias, eps=1e-12)

    def cut(self, texts: Sequence[str], most: int) -> Rows:
        """Cut texts into at most so many word pieces, ends included."""
        return [[self.ends[0], *self.cutter.cut(text, most - 2), self.ends[1]] for text in texts]

    def lower(self, rows: Rows) -> States:
        """Compute what the frozen layers make of some texts, and which places count."""
        ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
        mask = torch.zeros(ids.shape)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = torch.tensor(row)
            mask[i, : len(row)] = 1
        ids, mask = ids.to(self.words.device), mask.to(self.words.device)
        with torch.no_grad():
            states = self._norm("start", self.words[ids] + self.places[: ids.shape[1]])
            for layer in range(self.frozen):
                states = self._layer(layer, states, mask, tuned=False)
        return states, mask

    def upper(self, states: torch.Tensor, mask: torch.Tensor, tuned: bool = True) -> torch.Tensor:
        """Compute the vectors, (n, 384), L2-normalised."""
        for layer in range(self.frozen, LAYERS):
            states = self._layer(layer, states, mask, tuned)
        return functional.normalize((states * mask[..., None]).sum(dim=1), dim=1)

    def _layer(self, layer: int, states: torch.Tensor, mask: torch.Tensor, tuned: bool) -> torch.Tensor:
        def times(short: str, given: torch.Tensor) -> torch.Tensor:
            product: torch.Tensor = self.matrices[f"{layer}_{short}"](given, tuned)
            return product

        def heads(short: str) -> torch.Tensor:
            return times(short, states).view(*states.shape[:2], HEADS, -1).transpose(1, 2)

        counts = mask[:, None, None, :] > 0
        mixed = functional.scaled_dot_product_attention(heads("query"), heads("key"), heads("value"), counts)
        joined = mixed.transpose(1, 2).reshape(states.shape)
        states = self._norm(f"{layer}_mixed", states + times("mix", joined))
        return self._norm(f"{layer}_end", states + times("narrow", functional.gelu(times("wide", states))))

    def factors(self) -> dict[str, np.ndarray]:
        """Return the difference's factors by the published names of the matrices."""
        found = {}
        for layer in range(self.frozen, LAYERS):
            for short, name in MATRICES.items():
                matrix: Any = self.matrices[f"{layer}_{short}"]
                for side in ("up", "down"):
                    factor = getattr(matrix, side).detach().cpu().numpy()
                    found[f"encoder.layer.{layer}.{name}.{side}"] = factor.astype(np.float16)
        return found


def begin(model: Bert, pairs: Sequence[Pair], questions: Sequence[str], pieces: int) -> list[States]:
    """Compute what the frozen layers make of questions, of code, and of its paths."""
    texts = [
        (questions, QUESTION_PIECES),
        ([pair["code"] for pair in pairs], pieces),
        ([pair["path"] for pair in pairs], PATH_PIECES),
    ]
    return [model.lower(model.cut(own, most)) for own, most in texts]


def finish(model: Bert, begun: list[States], tuned: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the vectors of questions and of code, with or without the difference."""
    asked, code, path = (model.upper(*each, tuned) for each in begun)
    return asked, functional.normalize(code + PATH_WEIGHT * path, dim=1)


def loss_of(model: Bert, pairs: Sequence[Pair], options: argparse.Namespace, rng: Any) -> torch.Tensor:
    """Compute the loss of a batch."""
    questions = [
        pair["without"] if pair["without"] and rng.random() < options.without else pair["question"]
        for pair in pairs
    ]
    begun = begin(model, pairs, questions, options.pieces)
    asked, code = finish(model, begun)
    with torch.no_grad():
        asked_before, code_before = finish(model, begun, tuned=False)
    names = np.array([pair["code"] for pair in pairs])
    same = torch.from_numpy((names[:, None] == names) & ~np.eye(len(pairs), dtype=bool))
    scores = (asked @ code.T / TEMPERATURE).masked_fill(same.to(asked.device), -1e4)
    right = torch.arange(len(pairs), device=asked.device)
    found = functional.cross_entropy(scores, right) + functional.cross_entropy(scores.T, right)
    moved = 2 - (asked * asked_before).sum(dim=1).mean() - (code * code_before).sum(dim=1).mean()
    return found / 2 + options.keep * moved


def measure(model: Bert, held_out: dict[str, list[Pair]], options: argparse.Namespace) -> str:
    """Ask the questions of held-out repositories; say how often the right code is first, and the MRR@10."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with torch.no_grad():
        for pairs in held_out.values():
            each = []
            for i in range(0, len(pairs), options.batch):
                batch = pairs[i : i + options.batch]
                begun = begin(model, batch, [pair["question"] for pair in batch], options.pieces)
                each.append(finish(model, begun))
            asked, code = (torch.cat(part) for part in zip(*each, strict=True))
            scores = asked @ code.T
            ranks = 1 + (scores > scores.diagonal()[:, None]).sum(dim=1).cpu().numpy()
            for pair, rank in zip(pairs, ranks, strict=True):
                found[pair["kind"]].append((float(rank == 1), 1 / rank if rank <= 10 else 0.0))
    return ", ".join(
        f"{kind} {np.mean(rows, axis=0)[0]:.3f} {np.mean(rows, axis=0)[1]:.3f}"
        for kind, rows in sorted(found.items())
    )


def read(work: Path) -> tuple[dict[str, list[Pair]], dict[str, list[Pair]]]:
    """Read the pairs by repository: those to train on, and a sample of those held out, asked ones first."""
    train, held_out = {}, {}
    for path in sorted(work.glob("*.json")):
        pairs: list[Pair] = json.loads(path.read_text("utf-8"))
        if zlib.crc32(path.stem.encode()) % 3 == HELD_OUT:
            pairs.sort(key=lambda pair: pair["kind"] != "asked")
            held_out[path.stem] = list({pair["code"]: pair for pair in reversed(pairs[:CANDIDATES])}.values())
        elif len(pairs) > 1:
            train[path.stem] = pairs
    return train, held_out


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("work", type=Path, metavar="WORK")
    parser.add_argument("model", type=Path, metavar="MODEL")
    parser.add_argument("--out", type=Path, default=Path("difference.safetensors"), metavar="FILE")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rank", type=int, default=8)
    parser.add_argument("--layers", type=int, default=3, help="upper layers that are tuned")
    parser.add_argument("--steps", type=int, default=1_500)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--pieces", type=int, default=96, help="word pieces of code")
    parser.add_argument("--without", type=float, default=0.4, help="share of questions without shared words")
    parser.add_argument("--keep", type=float, default=1.0, help="weight of the distance from what was")
    parser.add_argument("--asked", type=float, default=0.2, help="share of a batch that is asked questions")
    options = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(options.threads)
    rng = np.random.default_rng(SEED)
    train, held_out = read(options.work)
    model = Bert(options.model, options.rank, options.layers).to(options.device)
    optimiser = torch.optim.AdamW(model.parameters(), lr=options.rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / WARM_UP_STEPS, max(0.05, 1 - step / options.steps))
    )
    names = sorted(train)
    shares = np.sqrt([len(train[name]) for name in names])
    print(f"{sum(map(len, train.values())):,} pairs of {len(train)} repositories, {len(held_out)} held out")
    print(f"as published: {measure(model, held_out, options)}", flush=True)
    start, total = time.monotonic(), 0.0
    for step in range(1, options.steps + 1):
        own = train[names[rng.choice(len(names), p=shares / shares.sum())]]
        asked = [pair for pair in own if pair["kind"] == "asked"]
        many = min(round(options.asked * options.batch), len(asked))
        batch = [asked[i] for i in rng.permutation(len(asked))[:many]]
        batch += [own[i] for i in rng.permutation(len(own))[: options.batch - many]]
        loss = loss_of(model, batch, options, rng)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        total += loss.item()
        if step % max(options.steps // 10, 1) == 0:
            print(
                f"step {step}, {time.monotonic() - start:.0f} s, loss {total / (options.steps // 10):.3f}:"
                f" {measure(model, held_out, options)}",
                flush=True,
            )
            total = 0.0
            write_tensors(options.out, model.factors())


if __name__ == "__main__":
    main()
