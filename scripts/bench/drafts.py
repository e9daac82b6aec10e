"""Print how close drafts are to true vectors on repositories, and how many are made a second.

    .venv/bin/python scripts/bench/drafts.py REPOSITORY... [--texts 300] [--rounds 3]

Every indexed file of each working tree is cut; ``--texts`` chunks of it, evenly spread, and a tenth as many
paths are embedded truly too. The rate is that of all texts of all repositories, words unseen at first, best
of the rounds: in one process, and in one a core, as files are prepared. No repository given should be in
``scripts/training/draft_archives.toml``.
"""

from __future__ import annotations

import argparse
import os
import stat
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from gitrag.chunking import chunk, language_of
from gitrag.embedding.draft import Drafter
from gitrag.embedding.encoder import Encoder
from gitrag.embedding.local_model import model_directory
from gitrag.embedding.text import chunk_text, path_text
from gitrag.git import DEFAULT_MAX_BYTES, Rules, content_skip
from gitrag.indexing.records import WORDS_ONLY

LOADS = 5


def texts_of(repository: Path) -> tuple[list[str], list[str]]:
    """Give the texts of a working tree's chunks and of its paths."""
    listed = subprocess.run(
        ["git", "-C", repository, "ls-files", "-z"], check=True, capture_output=True
    ).stdout.decode("utf-8", "surrogateescape")
    rules = Rules.build({})
    chunks: list[str] = []
    paths: list[str] = []
    for path in filter(None, listed.split("\0")):
        file = repository / path
        if rules.skip(path, stat.S_IFREG | 0o644) or file.is_symlink() or not file.is_file():
            continue
        data = file.read_bytes()
        first_line = data[:200].split(b"\n", 1)[0].decode("utf-8", "replace")
        language = language_of(path, first_line)
        if content_skip(data, path, DEFAULT_MAX_BYTES) is None and language not in WORDS_ONLY:
            chunks += [chunk_text(piece) for piece in chunk(data, language)]
            paths.append(path_text(path))
    return list(dict.fromkeys(chunks)), list(dict.fromkeys(paths))


def spread(texts: list[str], count: int) -> list[str]:
    count = min(count, len(texts))
    return [texts[i * len(texts) // count] for i in range(count)]


def seconds_for(texts: list[str]) -> float:
    """Time drafts with a table just loaded, which knows no words."""
    drafter = Drafter.load()
    start = time.perf_counter()
    drafter.draft(texts)
    return time.perf_counter() - start


def load_times() -> list[float]:
    times = []
    for _ in range(LOADS):
        start = time.perf_counter()
        Drafter.load()
        times.append(time.perf_counter() - start)
    return times


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("repositories", type=Path, nargs="+")
    parser.add_argument("--texts", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    drafter = Drafter.load()
    everything: list[str] = []
    means: list[tuple[float, float]] = []
    with Encoder.load(model_directory()) as encoder:
        for repository in options.repositories:
            chunks, paths = texts_of(repository)
            everything += chunks + paths
            row = []
            for texts in (spread(chunks, options.texts), spread(paths, options.texts // 10)):
                cosines = (drafter.draft(texts) * encoder.encode(texts)).sum(axis=1)
                row += [cosines.mean(), np.quantile(cosines, 0.05)]
            means.append((row[0], row[2]))
            print(
                f"{repository.name:20} {len(chunks):6} chunks {row[0]:.3f} (5 % below {row[1]:.3f})"
                f"   {len(paths):5} paths {row[2]:.3f}",
                flush=True,
            )
    print(f"{'mean':20} chunks {np.mean(means, axis=0)[0]:.3f}, paths {np.mean(means, axis=0)[1]:.3f}")
    cores = os.cpu_count() or 1
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the processes share the cores; threads of theirs would spin
    for processes in dict.fromkeys((1, cores)):
        with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
            shares = [everything[i::processes] for i in range(processes)]
            list(pool.map(seconds_for, [[]] * processes))  # every process started, everything imported
            seconds = min(max(pool.map(seconds_for, shares)) for _ in range(options.rounds))
        print(
            f"{len(everything):,} texts: {len(everything) / seconds:,.0f} a second in {processes} processes"
        )
    print(f"loading: {1e3 * min(load_times()):.1f} ms")


if __name__ == "__main__":
    main()
