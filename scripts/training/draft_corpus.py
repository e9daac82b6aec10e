"""The texts the draft table is trained on: public source archives, cut as the product cuts them.

    .venv/bin/python scripts/training/draft_corpus.py WORK [--fetch] [--archives FILE]

WORK/archives gets what ``--fetch`` downloads, by each registry's own client: ``pip download``, ``npm pack``
and ``apt-get source --download-only`` (which needs source lists; ``APT_CONFIG`` may name a configuration that
has them). Archives are read where they lie and checked by SHA-256; nothing of them is run, but pip asks an
sdist for its metadata. WORK/texts.json and WORK/vectors.npy hold the texts and what the model makes of them,
WORK/vocabulary.txt its word pieces, and WORK/singles.npy what it makes of each alone and, last, of nothing.
``train_draft.py`` goes on from there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import repeat
from pathlib import Path

import numpy as np

from gitrag.chunking import chunk, language_of
from gitrag.embedding.encoder import Encoder
from gitrag.embedding.local_model import model_directory
from gitrag.embedding.manifest import TOKENIZER
from gitrag.embedding.sessions import open_cpu
from gitrag.embedding.text import chunk_text, path_text, split_words
from gitrag.git import DEFAULT_MAX_BYTES, Rules, content_skip
from gitrag.indexing.records import WORDS_ONLY
from gitrag.model import DIMENSIONS, Chunk, Kind

EXCLUDED = frozenset(
    "abseil-cpp absl abseil aeson aiohttp alamofire axios axum bash-it bats bats-core cats chi circe click"
    " cobra commons-lang commons-lang3 curl dapper ecto exposed express fastapi flask fmt fmtlib gin gson"
    " guzzle guzzlehttp http4s httpx jackson jackson-databind kotlinx kotlinx-coroutines ktor laravel"
    " laravel-framework lazy.nvim libuv messagepack-csharp mini.nvim model2vec monolog newtonsoft-json"
    " newtonsoft.json nlohmann nlohmann-json nvm pandoc phoenix plug pydantic pydantic-core rack rails redis"
    " redux requests serde serde_json sinatra snapkit starlette telescope.nvim tokio trpc vapor vitest xmonad"
    " zig zig-clap zls zod illuminate".split()
)
"""Directories and archives that are left out: the repositories that search is measured on, and the names
under which others carry them."""

CODE_TEXTS = 160
"""Texts of one language in one archive at most: many archives teach more than much of one."""
PROSE_TEXTS = 50
FILE_TEXTS = 8
PATH_TEXTS = 14
QUESTION_TEXTS = 14
SEED = 7

_VERSION_SUFFIX = re.compile(r"[-_@]v?\d[\w.+~-]*$")
_SENTENCE = re.compile(r"(?<=[.!?])\s")
_PROSE = frozenset({"markdown", "rst", "asciidoc", "org", "latex", "html"})


@dataclass(frozen=True, slots=True)
class Archive:
    """A public source archive: where from, which, and whether it is kept for testing."""

    registry: str
    name: str
    version: str
    file: str
    sha256: str
    held_out: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A text to learn, with where it is from: ``kind`` is code, prose, path or question."""

    text: str
    archive: str
    language: str
    kind: str
    held_out: bool


def read_table(path: Path) -> list[Archive]:
    return [Archive(**row) for row in tomllib.loads(path.read_text("utf-8"))["archive"]]


def fetch(archive: Archive, folder: Path) -> None:
    """Download an archive with its registry's client, unless it is there."""
    target = folder / archive.file
    if target.exists():
        return
    pinned = {
        "pypi": f"{archive.name}=={archive.version}",
        "npm": f"{archive.name}@{archive.version}",
        "debian": f"{archive.name}={archive.version}",
    }[archive.registry]
    command = {
        "pypi": [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", archive.name],
        "npm": ["npm", "pack", "--silent"],
        "debian": ["apt-get", "-qq", "source", "--download-only", "--only-source", "--tar-only"],
    }[archive.registry]
    with tempfile.TemporaryDirectory(dir=folder) as here:
        subprocess.run([*command, pinned], cwd=here, check=True, stdout=subprocess.DEVNULL)
        shutil.move(Path(here) / archive.file, target)


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the regular files of an archive: path below its top folder, and content."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as opened:
            for info in opened.infolist():
                if not info.is_dir() and info.file_size <= DEFAULT_MAX_BYTES:
                    yield info.filename.partition("/")[2], opened.read(info)
        return
    with tarfile.open(path) as opened:
        for member in opened:
            if member.isfile() and member.size <= DEFAULT_MAX_BYTES:
                reader = opened.extractfile(member)
                if reader is not None:
                    yield member.name.removeprefix("./").partition("/")[2], reader.read()


def is_excluded(path: str) -> bool:
    parts = path.lower().split("/")
    return any(part in EXCLUDED or _VERSION_SUFFIX.sub("", part) in EXCLUDED for part in parts)


def texts_of(archive: Archive, folder: Path) -> list[Text]:
    """Sample an archive: each language's chunks up to a limit, some paths, some questions."""
    path = folder / archive.file
    if hashlib.sha256(path.read_bytes()).hexdigest() != archive.sha256:
        raise SystemExit(f"{path} is not what the table says")
    rules = Rules.build({})
    rng = random.Random(f"{SEED}/{archive.name}")
    files = defaultdict(list)
    for name, data in members(path):
        first_line = data[:200].split(b"\n", 1)[0].decode("utf-8", "replace")
        language = language_of(name, first_line) or ""
        if not name or language in WORDS_ONLY or is_excluded(name) or rules.skip(name, stat.S_IFREG | 0o644):
            continue
        if content_skip(data, name, DEFAULT_MAX_BYTES) is None:
            files[language].append((name, data))
    found: list[Text] = []
    for language, group in sorted(files.items()):
        group.sort()
        rng.shuffle(group)
        few = language in _PROSE or not language
        limit = PROSE_TEXTS if few else CODE_TEXTS
        chunks: list[Chunk] = []
        for _name, data in group:
            cut = [piece for piece in chunk(data, language or None) if chunk_text(piece)]
            chunks += rng.sample(cut, min(FILE_TEXTS, len(cut)))
            if len(chunks) >= limit:
                break
        kind = "prose" if few else "code"
        found += [
            Text(chunk_text(piece), archive.name, language, kind, archive.held_out)
            for piece in chunks[:limit]
        ]
        questions = [question for piece in chunks if (question := question_of(piece, rng))]
        rng.shuffle(questions)
        found += [
            Text(question, archive.name, language, "question", archive.held_out)
            for question in questions[:QUESTION_TEXTS]
        ]
        found += [
            Text(words, archive.name, language, "path", archive.held_out)
            for name, _data in group[:PATH_TEXTS]
            if (words := path_text(name))
        ]
    return found


def question_of(piece: Chunk, rng: random.Random) -> str:
    """Make what someone might ask who looks for this chunk."""
    words = split_words(piece.qualified_name if rng.random() < 0.5 else piece.name)
    sentence = _SENTENCE.split(" ".join(piece.docstring.split()), maxsplit=1)[0][:120]
    if piece.kind is Kind.SECTION:
        return piece.name[:120]
    asked = [sentence, f"how does {words} work", f"where is {words} implemented", piece.name, words]
    asked = [question for question in asked if question.strip() and (words or question is sentence)]
    return rng.choice(asked) if asked else ""


def collect(archives: list[Archive], folder: Path) -> list[Text]:
    """Gather the texts of all archives, each text once; tests first, so that none is trained on."""
    seen: dict[str, Text] = {}
    archives = sorted(archives, key=lambda one: not one.held_out)
    with ProcessPoolExecutor() as pool:
        for found in pool.map(texts_of, archives, repeat(folder)):
            for text in found:
                seen.setdefault(text.text, text)
    return list(seen.values())


def balance(texts: list[Text], count: int) -> list[Text]:
    """Take ``count`` texts: of each language in proportion to the square root of its texts.

    A larger count only adds to a smaller one.
    """
    groups: dict[str, list[Text]] = defaultdict(list)
    for text in texts:
        groups[text.language if text.kind in {"code", "prose"} else f"{text.kind}s"].append(text)
    places: list[tuple[float, str, Text]] = []
    for name, group in sorted(groups.items()):
        random.Random(f"{SEED}/{name}").shuffle(group)
        share = len(group) ** 0.5 * (2 if name in {"paths", "questions"} else 1)
        places += [(i / share, name, text) for i, text in enumerate(group)]
    places.sort(key=lambda place: place[:2])
    return [text for _, _, text in places[:count]]


def embed(texts: list[str], known: dict[str, np.ndarray]) -> np.ndarray:
    """Embed texts truly, those that are not known yet."""
    new = [text for text in texts if text not in known]
    with Encoder.load(model_directory()) as encoder:
        done = 0
        for batch in encoder.encode_batches(new, size=512):
            known.update(zip(new[done : done + len(batch)], batch, strict=True))
            done += len(batch)
            print(f"\r{done:,} of {len(new):,} embedded", end="", file=sys.stderr, flush=True)
    return np.stack([known[text] for text in texts])


def pieces_alone() -> tuple[list[str], np.ndarray]:
    """Give the model's word pieces, and its vectors of each alone and of nothing: float32 (n + 1, 384)."""
    directory = model_directory()
    numbers = json.loads((directory / TOKENIZER.name).read_text("utf-8"))["model"]["vocab"]
    vocabulary = sorted(numbers, key=numbers.__getitem__)
    begin, end = numbers["[CLS]"], numbers["[SEP]"]
    session = open_cpu(directory)
    vectors = np.empty((len(vocabulary) + 1, DIMENSIONS), np.float32)
    for i, row in enumerate([*([begin, piece, end] for piece in range(len(vocabulary))), [begin, end]]):
        ids = np.array([row], np.int64)
        vectors[i] = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0]
    return vocabulary, vectors


def load(work: Path) -> tuple[list[Text], np.ndarray]:
    """Load what ``main`` left: texts, and float32 (n, 384) vectors."""
    rows = json.loads((work / "texts.json").read_text("utf-8"))
    return [Text(**row) for row in rows], np.load(work / "vectors.npy")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--archives", type=Path, default=Path(__file__).with_name("draft_archives.toml"))
    parser.add_argument("--texts", type=int, default=115_000)
    parser.add_argument("--tests", type=int, default=5_000)
    options = parser.parse_args()
    archives = read_table(options.archives)
    folder = options.work / "archives"
    folder.mkdir(parents=True, exist_ok=True)
    if options.fetch:
        for archive in archives:
            fetch(archive, folder)
    texts = collect(archives, folder)
    print(f"{len(archives)} archives, {len(texts):,} texts")
    tests = balance([text for text in texts if text.held_out], options.tests)
    texts = tests + balance([text for text in texts if not text.held_out], options.texts)
    for key in ("kind", "language"):
        counts: dict[str, int] = defaultdict(int)
        for text in texts:
            counts[getattr(text, key)] += 1
        print(key, dict(sorted(counts.items(), key=lambda item: -item[1])))
    known: dict[str, np.ndarray] = {}
    if (options.work / "vectors.npy").exists():
        old, vectors = load(options.work)
        known = {text.text: vector for text, vector in zip(old, vectors, strict=True)}
    vectors = embed([text.text for text in texts], known)
    np.save(options.work / "vectors.npy", vectors)
    vocabulary, singles = pieces_alone()
    (options.work / "vocabulary.txt").write_text("\n".join(vocabulary), "utf-8")
    np.save(options.work / "singles.npy", singles)
    (options.work / "texts.json").write_text(json.dumps([asdict(text) for text in texts]), "utf-8")


if __name__ == "__main__":
    main()
