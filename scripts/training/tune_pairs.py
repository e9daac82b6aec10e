"""Pairs of what people say and the code it is about, from public repositories: what the encoder is tuned on.

    .venv/bin/python scripts/training/tune_pairs.py CLONES WORK

CLONES has the repositories of `tune_repositories.txt`, a git directory with its history each, as NAME or
NAME.git; of them search is measured on hyper, jq, Kingfisher, Polly and umami alone. A pair is

- the subject of a commit and a function that it changed (which is in HEAD's tree still),
- the first sentence of a docstring and its function without it,
- one of two or three questions to a function, in everyday words, in the product's, and in everyday words from
  another side (`tune_questions.tsv`: written for this by readers of the code alone), and that function.

Today's `tuning.safetensors` was made of the first 40 repositories, and of the lines with two questions.

WORK/pairs.pkl gets them as word pieces. `tune_encoder.py` goes on from there. Nothing of a repository is run.
"""

from __future__ import annotations

import argparse
import pickle
import random
import re
import stat
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace
from tokenizers import Tokenizer

from gitrag.chunking import chunk, language_of
from gitrag.embedding.local_model import model_directory
from gitrag.embedding.text import chunk_text, path_text
from gitrag.embedding.version import MAX_TOKENS
from gitrag.git import DEFAULT_MAX_BYTES, Rules, content_skip
from gitrag.indexing.records import WORDS_ONLY
from gitrag.model import Chunk, Kind
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, traits

HERE = Path(__file__).parent
SEED = 1
COMMIT, DOCSTRING, EVERYDAY, PRODUCT = range(4)
MOST_BYTES = 200_000
MOST_COMMITS, MOST_FILES, MOST_HUNKS = 6_000, 10, 40
OF_A_COMMIT = 3
"""Functions of a commit that take part at most."""

_DULL = re.compile(
    r"(?i)^(merge|bump|release|version|v?\d|update (dep|translation|lock|changelog|readme|submodule)|revert"
    r"|typo|lint|format|wip|clean ?up|refactor$|l10n|i18n|translat|apply suggestions|style)"
)
_NOISE = re.compile(
    r"^\s*(\[[^\]]*\]\s*)+|^[a-z]+(\([^)]*\))?!?:\s*|(?i:\s*\(?(fixe?s?|closes?d?|resolves?d?|refs?)?:?\s*#\d+\)?)"
    r"|https?://\S+|\b[A-Z]+-\d+\b"
)
_TAGS = re.compile(r"@\w+.*|<[^>]+>|:param.*|Args:.*|Parameters.*|Returns:.*")
_HUNK = re.compile(r"^@@ -\S+ \+\S+ @@ ?(.*)$")
_DRIVERS = dict(
    pair.split("=")
    for pair in (
        "py=python rb=ruby java=java kt=kotlin cs=csharp go=golang rs=rust php=php ex=elixir exs=elixir"
        " c=cpp h=cpp cpp=cpp cc=cpp hpp=cpp swift=any ts=any tsx=any js=any jsx=any vue=any dart=any"
    ).split()
)
"""git's own rules for the function that a hunk is in; those of no language of git's follow `_ANY`."""

_ANY = (
    r"^[ \t]*((export|default|async|static|private|public|protected|override|open|internal|final|mutating)"
    r"[ \t]+)*"
    r"((function|func|class|const|let|interface|struct|enum|extension)[ \t]+[A-Za-z_$][^;]*"
    r"|[A-Za-z_$][A-Za-z0-9_$]*[ \t]*\([^;]*\)[ \t]*\{.*)$"
)

Piece = tuple[str, Chunk]


def git(place: Path, *args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["git", "--git-dir", place, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def pieces(place: Path) -> list[Piece]:
    """List the chunks of the product's own code in HEAD's tree, with their paths."""
    rules, found = Rules.build({}), []
    listed = git(place, "ls-tree", "-r", "-z", "HEAD").communicate()[0].decode("utf-8", "replace")
    with git(place, "cat-file", "--batch") as contents:
        for entry in filter(None, listed.split("\0")):
            (mode, _kind, name), path = entry.partition("\t")[0].split(), entry.partition("\t")[2]
            if not mode.startswith("100") or rules.skip(path, stat.S_IFREG | 0o644):
                continue
            if traits(path) & OUTSIDE_THE_PRODUCT:
                continue
            contents.stdin.write(f"{name}\n".encode())  # type: ignore[union-attr]
            contents.stdin.flush()  # type: ignore[union-attr]
            head = contents.stdout.readline().split()  # type: ignore[union-attr]
            if len(head) < 3:  # not in this clone
                continue
            data = contents.stdout.read(int(head[2]) + 1)[:-1]  # type: ignore[union-attr]
            language = language_of(path, data[:200].split(b"\n", 1)[0].decode("utf-8", "replace")) or ""
            if not language or language in WORDS_ONLY or len(data) > MOST_BYTES:
                continue
            if content_skip(data, path, DEFAULT_MAX_BYTES) is None:
                found += [(path, piece) for piece in chunk(data, language) if not piece.words_only]
        contents.stdin.close()  # type: ignore[union-attr]
    return [(path, piece) for path, piece in found if len(chunk_text(piece)) >= 40]


def commits(place: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the subject of each commit, and the paths and lines of the functions that its hunks are in."""
    with tempfile.NamedTemporaryFile("w", suffix=".attributes") as attributes:
        attributes.write("".join(f"*.{ending} diff={driver}\n" for ending, driver in _DRIVERS.items()))
        attributes.flush()
        told = git(
            place,
            *("-c", f"core.attributesFile={attributes.name}", "-c", f"diff.any.xfuncname={_ANY}"),
            *("log", "HEAD", "--no-merges", "-n", str(MOST_COMMITS), "-p", "-U0", "--format=%x01%s"),
            *("--no-color", "--no-renames", "--no-ext-diff", "--no-textconv"),
            *("--", *(f"*.{ending}" for ending in _DRIVERS)),
        )
        subject, path, changed = "", "", list[tuple[str, str]]()
        with told:
            for raw in told.stdout or ():
                line = raw.decode("utf-8", "replace").rstrip("\n")
                if line.startswith("\x01"):
                    yield subject, changed
                    subject, path, changed = line[1:], "", []
                elif line.startswith("+++ "):
                    path = line.removeprefix("+++ b/") if line.startswith("+++ b/") else ""
                elif path and len(changed) <= MOST_HUNKS and (hunk := _HUNK.match(line)):
                    changed.append((path, hunk[1][:200]))
        yield subject, changed


def without_docstring(piece: Chunk) -> str:
    """Return a chunk's text without its docstring."""
    words = set(re.findall(r"\w+", piece.docstring.lower()))
    lines = [
        line
        for line in piece.text.replace(piece.docstring, "").split("\n")
        if not re.match(r"\s*(///?|#|\*|/\*|--|\"\"\"|''')", line)
        and not (len(own := re.findall(r"\w+", line.lower())) > 2 and words.issuperset(own))
    ]
    return chunk_text(replace(piece, docstring="", text="\n".join(lines)))


class Pairs:
    """Collects pairs; a text is kept once."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int, int, int]] = []
        self.questions: list[str] = []
        self.texts: dict[str, int] = {}
        self.paths: dict[str, int] = {}
        self.group = 0

    def add(self, kind: int, repository: int, question: str, text: str, path: str) -> None:
        self.questions.append(question)
        text_id = self.texts.setdefault(text, len(self.texts))
        path_id = self.paths.setdefault(path_text(path), len(self.paths))
        self.rows.append((kind, repository, self.group, text_id, path_id))


def add_repository(pairs: Pairs, number: int, place: Path, own: list[Piece], rng: random.Random) -> None:
    """Add the pairs of a repository's docstrings and commits."""
    named: dict[str, dict[str, Chunk]] = defaultdict(dict)
    for path, piece in own:
        if piece.name and piece.kind is not Kind.SECTION:
            named[path].setdefault(re.findall(r"\w+|$", piece.name)[-1] or piece.name, piece)
            sentence = re.split(r"(?<=[.!?])\s", _TAGS.sub("", " ".join(piece.docstring.split())).strip())[0]
            if len(sentence.split()) >= 4 and len(text := without_docstring(piece)) >= 60:
                pairs.add(DOCSTRING, number, sentence[:160], text, path)
                pairs.group += 1
    for told, changed in commits(place):
        subject = _NOISE.sub("", told).strip(" .:-")
        if _DULL.search(told) or _DULL.search(subject) or not 3 <= len(subject.split()) <= 20:
            continue
        if len({path for path, _line in changed}) > MOST_FILES or len(changed) > MOST_HUNKS:
            continue
        hit = {
            (path, word): named[path][word]
            for path, line in changed
            if path in named
            for word in re.findall(r"\w+", line)
            if word in named[path]
        }
        for path, word in rng.sample(sorted(hit), min(OF_A_COMMIT, len(hit))):
            pairs.add(COMMIT, number, subject, chunk_text(hit[path, word]), path)
        pairs.group += 1


def cut(cutter: Tokenizer, texts: Iterable[str]) -> tuple[np.ndarray, np.ndarray]:
    """Cut texts into word pieces: uint16, one after the other, and how many each has."""
    rows = [np.array(each.ids, np.uint16) for each in cutter.encode_batch(list(texts))]
    return np.concatenate(rows), np.array([len(row) for row in rows], np.int64)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("clones", type=Path)
    parser.add_argument("work", type=Path)
    options = parser.parse_args()
    cutter = Tokenizer.from_file(str(model_directory() / "tokenizer.json"))
    cutter.enable_truncation(MAX_TOKENS)
    cutter.no_padding()
    rng, pairs = random.Random(SEED), Pairs()
    written: dict[str, list[list[str]]] = defaultdict(list)
    for line in (HERE / "tune_questions.tsv").read_text("utf-8").splitlines():
        written[line.partition("\t")[0]].append(line.split("\t")[1:])
    for number, line in enumerate((HERE / "tune_repositories.txt").read_text("utf-8").splitlines()):
        name = line.split()[0].rpartition("/")[2]
        places = [options.clones / name / ".git", options.clones / name, options.clones / f"{name}.git"]
        place = next(each for each in places if (each / "HEAD").exists())
        own = pieces(place)
        add_repository(pairs, number, place, own, rng)
        by_name = {(path, piece.qualified_name): piece for path, piece in own}
        for path, definition, *questions in written[name]:
            if piece := by_name.get((path, definition)):
                for kind, question in zip((EVERYDAY, PRODUCT, EVERYDAY), questions, strict=False):
                    pairs.add(kind, number, question, chunk_text(piece), path)
                pairs.group += 1
        print(f"{name}: {len(own):,} chunks, {len(pairs.rows):,} pairs so far", flush=True)
    options.work.mkdir(parents=True, exist_ok=True)
    data: dict[str, Any] = {"rows": np.array(pairs.rows, np.int64)}
    for key, texts in (("questions", pairs.questions), ("texts", pairs.texts), ("paths", pairs.paths)):
        data[key] = cut(cutter, texts)
    (options.work / "pairs.pkl").write_bytes(pickle.dumps(data))


if __name__ == "__main__":
    main()
