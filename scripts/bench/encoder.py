"""Print what the encoder does a second, against a bare onnxruntime loop, float32 and sentence-transformers.

    .venv/bin/python scripts/bench/encoder.py [--texts 400] [--rounds 3]
        [--published DIR] [--sentence-transformers PYTHON]

The texts are chunks of the standard library's functions, as gitrag embeds them. Rounds of all contenders
alternate, and each contender's best round counts, so that a busy machine harms all alike. ``--published`` is
a folder with the published model (``model.safetensors`` and the files beside it); without it, float32 is left
out. ``--sentence-transformers`` is the interpreter of a throw-away environment that has it; it needs
``--published`` too.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from gitrag.chunking import chunk
from gitrag.embedding.encoder import Encoder
from gitrag.embedding.local_model import model_directory
from gitrag.embedding.onnx_model import build_fp32
from gitrag.embedding.sessions import onnxruntime
from gitrag.embedding.text import chunk_text
from gitrag.model import Kind

BATCH = 8
SENTENCE_TRANSFORMERS = """
import json, sys
from sentence_transformers import SentenceTransformer
job = json.load(open(sys.argv[1], encoding="utf-8"))
model = SentenceTransformer(job["model"], device="cpu")
for line in sys.stdin:
    model.max_seq_length = int(line)
    model.encode(job["texts"], normalize_embeddings=True)
    print("done", flush=True)
"""


def library_texts(count: int) -> list[str]:
    """Take ``count`` functions and methods, evenly spread over the standard library's modules."""
    library = Path(sysconfig.get_path("stdlib"))
    texts = [
        chunk_text(piece)
        for path in sorted(library.glob("*.py"))
        for piece in chunk(path.read_bytes(), "python")
        if piece.kind in (Kind.FUNCTION, Kind.METHOD)
    ]
    return [texts[i * len(texts) // count] for i in range(count)]


def token_rows(directory: Path, texts: Sequence[str], max_tokens: int) -> list[list[int]]:
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return [tokenizer.encode(text).ids for text in texts]


def batches(rows: Sequence[list[int]], size: int) -> list[dict[str, np.ndarray]]:
    """Pad rows into batches, sorted by length."""
    rows = sorted(rows, key=len)
    made = []
    for start in range(0, len(rows), size):
        group = rows[start : start + size]
        ids = np.zeros((len(group), len(group[-1])), np.int64)
        mask = np.zeros_like(ids)
        for i, row in enumerate(group):
            ids[i, : len(row)] = row
            mask[i, : len(row)] = 1
        made.append({"input_ids": ids, "attention_mask": mask})
    return made


def bare_loop(path: Path, rows: Sequence[list[int]], size: int, threads: int) -> Callable[[], object]:
    """Batches one after the other, all threads on each: how onnxruntime is usually run."""
    session = open_session(path, threads)
    feeds = batches(rows, size)
    return lambda: [session.run(None, feed) for feed in feeds]


def bare_pool(path: Path, rows: Sequence[list[int]], threads: int) -> Callable[[], object]:
    """One text a run, one thread a run: what the encoder does, without the encoder."""
    session = open_session(path, 1)
    feeds = batches(rows, 1)

    def run() -> None:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda feed: session.run(None, feed), feeds))

    return run


def open_session(path: Path, threads: int) -> Any:
    options = onnxruntime().SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime().InferenceSession(path, options, providers=["CPUExecutionProvider"])


def compare(contenders: dict[str, Callable[[], object]], rounds: int, count: int) -> dict[str, float]:
    """Run all in turn, ``rounds`` times; texts a second of each one's best."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return {name: count / seconds for name, seconds in best.items()}


def loading(directory: Path) -> None:
    marks = (
        "import numpy",
        "import tokenizers; from gitrag.embedding.sessions import onnxruntime; onnxruntime()",
        "from gitrag.embedding.encoder import Encoder; e = Encoder.load(Path(sys.argv[1]))",
        "e.encode_query('where are retries with backoff implemented')",
        "e.encode_query('where is the lock taken and let go of again')",
    )
    code = "import sys, time; from pathlib import Path; t = [time.perf_counter()]\n" + "".join(
        f"{mark}; t.append(time.perf_counter())\n" for mark in marks
    )
    code += "print(*[1e3 * (b - a) for a, b in zip(t, t[1:])])"
    command = [sys.executable, "-c", code, str(directory)]
    runs = [[float(x) for x in subprocess.check_output(command).split()] for _ in range(7)]
    for name, milliseconds in zip(
        ("import numpy", "import onnxruntime, tokenizers", "Encoder.load", "first question", "next question"),
        np.array(runs).T,
        strict=True,
    ):
        print(f"new process: {name:30} {np.median(milliseconds):6.1f} ms, best {milliseconds.min():6.1f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", type=Path, default=model_directory())
    parser.add_argument("--published", type=Path)
    parser.add_argument("--sentence-transformers", metavar="PYTHON")
    options = parser.parse_args()
    texts = library_texts(options.texts)
    loading(options.model)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        fp32 = Path(folder) / "fp32.onnx"
        other = None
        if options.published:
            build_fp32(options.published / "model.safetensors", fp32)
        if options.published and options.sentence_transformers:
            job = Path(folder) / "job.json"
            job.write_text(json.dumps({"texts": texts, "model": str(options.published)}), "utf-8")
            command = [options.sentence_transformers, "-c", SENTENCE_TRANSFORMERS, str(job)]
            other = stack.enter_context(
                subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                )
            )
        for max_tokens in (128, 256):
            one_length(options, texts, fp32, max_tokens, other)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory of this process, all contenders loaded: {peak:.0f} MiB")


def one_length(
    options: argparse.Namespace,
    texts: list[str],
    fp32: Path,
    max_tokens: int,
    other: subprocess.Popen[str] | None,
) -> None:
    def ask_other() -> None:
        other.stdin.write(f"{max_tokens}\n")
        other.stdin.flush()
        if not other.stdout.readline():
            raise SystemExit("sentence-transformers ended")

    rows = token_rows(options.model, texts, max_tokens)
    lengths = np.array([len(row) for row in rows])
    with Encoder.load(options.model, max_tokens=max_tokens) as encoder:
        threads = encoder.threads
        contenders: dict[str, Callable[[], object]] = {
            "Encoder.encode": lambda: encoder.encode(texts),
            "bare int8, one text a run": bare_pool(options.model / "model.int8.onnx", rows, threads),
            f"bare int8, batches of {BATCH}": bare_loop(
                options.model / "model.int8.onnx", rows, BATCH, threads
            ),
        }
        if fp32.exists():
            contenders[f"bare fp32, batches of {BATCH}"] = bare_loop(fp32, rows, BATCH, threads)
        if other:
            contenders["sentence-transformers fp32"] = ask_other
        for run in contenders.values():
            run()
        rates = compare(contenders, options.rounds, len(texts))
        ours = rates["Encoder.encode"]
        print(
            f"\n{len(texts)} texts, {max_tokens} tokens at most, mean {lengths.mean():.0f}; {threads} threads"
        )
        for name, rate in rates.items():
            print(f"  {name:32} {rate:7.1f} texts/s   encoder is {ours / rate:.2f} of it")
        if fp32.exists():
            reference = open_session(fp32, threads)
            ordered = sorted(range(len(rows)), key=lambda i: len(rows[i]))
            exact = np.concatenate([reference.run(None, feed)[0] for feed in batches(rows, BATCH)])
            cosines = (encoder.encode([texts[i] for i in ordered]) * exact).sum(axis=1)
            print(f"  int8 to fp32: mean cosine {cosines.mean():.4f}, least {cosines.min():.4f}")


if __name__ == "__main__":
    main()
