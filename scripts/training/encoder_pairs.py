"""Pairs of what people write and the code they mean, from public histories: what the encoder is tuned on.

    .venv/bin/python scripts/training/encoder_pairs.py WORK CLONE... [--asked CLONES]

A pair is a question and a chunk as the product embeds it, with its path's words:

- ``commit``: a subject and the chunk that it changed most, as it was then;
- ``docstring``: its first sentence and the chunk without it;
- ``test``: what a test is called and the definition that it mentions and few other tests do;
- ``heading``: a heading and its first sentence, and the only definition of a name that its section quotes;
- ``asked``: a question of `scripts/bench/asked/` and the chunk with the answer's line, of the sets in CLONES.

``without`` is the question without the words of the chunk's name and path, if three are left: from these the
encoder learns what it cannot learn from shared words. Each repository's pairs go to WORK/<name>.json.
Repositories that search is measured on are refused, and asked sets that are kept aside.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from tomllib import loads

from draft_corpus import EXCLUDED

from gitrag.chunking import chunk, language_of
from gitrag.chunking.languages import is_code, is_prose
from gitrag.embedding.text import chunk_text, path_text, split_words
from gitrag.git import DEFAULT_MAX_BYTES, Rules, content_skip
from gitrag.model import Chunk, Kind
from gitrag.words.commit_message import without_numbers
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, Trait, traits
from gitrag.words.terms import parts_of

ASKED = Path(__file__).parents[1] / "bench" / "asked"
ASIDE = frozenset(
    "miniflux linkding memos uptime-kuma wallabag whitehall norish mihon netnewswire sonarr bookstack"
    " lobsters atuin keepassxc outline elk localsend livebook halo healthchecks sphinx pytest xarray sympy"
    " astropy pylint seaborn".split()
)
"""Repositories that questions or reports are asked of, beside those no draft is trained on."""

MEASURED = Path(__file__).parents[1] / "bench" / "features"

MOST = {"commit": 400, "docstring": 300, "test": 200, "heading": 60, "asked": 100}
COMMITS = 2_500
FILES = 600
CHANGED_FILES = 3
MOST_PATCH = 200_000
WORDS = range(3, 31)
LEFT = 3
SEED = 7

_PREFIX = re.compile(r"^\s*(?:\[[^\]]*\]\s*|:\w+:\s*|(?P<type>\w+)(?:\([^)]*\))?!?:\s+)+")
_IDLE = re.compile(
    r"(?i)(merge|revert|bump|release|version|prepare|upgrade|translat|typo|lint|format|changelog|ci|build|chore"
    r"|docs?|style|tests?|wip|refactor|clean|deps|update (dep|lock|change|readme|trans|locale)|v?\d)\b"
)
_BOT = re.compile(r"(?i)\[bot\]|dependabot|renovate|weblate|transifex|crowdin|translat|greenkeeper")
_DIFF = re.compile(
    r"^index [0-9a-f]+\.\.(?P<blob>[0-9a-f]+)|^\+\+\+ b/(?P<path>.*)|^@@ \S+ \+(?P<hunk>\S+) @@"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s")
_SAID = re.compile(r"""\b(?:it|test|describe|scenario|context|specify|should)\(?\s*(["'`])(.{12,120}?)\1""")
_TEST_WORDS = frozenset({"test", "tests", "should", "it", "spec", "given", "when", "then"})
_QUOTED = re.compile(r"`+([A-Za-z_][\w.:]*)(?:\(\))?`+")
_NAME = re.compile(r"[A-Za-z_]\w{3,}")


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and the code that it means; see the module."""

    kind: str
    question: str
    without: str
    code: str
    path: str


@dataclass(frozen=True, slots=True)
class Change:
    """What a commit made of a file: its blob then, and of each hunk the first line and how many."""

    path: str
    blob: str
    hunks: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Piece:
    """A chunk and its file's path."""

    path: str
    chunk: Chunk


def is_kept(name: str) -> bool:
    """Whether search is measured on a repository, by its name; of asked sets, on those kept aside."""
    names = EXCLUDED | ASIDE | {path.stem.lower() for path in MEASURED.glob("*.toml")}
    for path in ASKED.glob("*.toml"):
        if zlib.crc32(path.stem.encode()) % 3 == 0:
            url = loads(path.read_text("utf-8"))["url"]
            names |= {path.stem, url.rpartition("/")[2].removesuffix(".git").lower()}
    return name.lower().replace(".", "-") in names or name.lower() in names


def git(repository: Path, *arguments: str, given: bytes | None = None) -> bytes:
    """Run git; return what it prints."""
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def files_of(repository: Path, rng: random.Random) -> Iterator[tuple[str, str, bytes]]:
    """Yield some files that the product would index, with their language: path, language, content."""
    rules = Rules.build({})
    found = []
    for row in git(repository, "ls-tree", "-r", "-l", "-z", "HEAD").decode("utf-8", "replace").split("\0"):
        facts, _, path = row.partition("\t")
        fields = facts.split()  # the size is - where this copy lacks the object
        if path and fields[1] == "blob" and fields[3].isdigit() and int(fields[3]) <= DEFAULT_MAX_BYTES:
            language = language_of(path, "") or ""
            if (is_code(language) or is_prose(language)) and not rules.skip(path, int(fields[0], 8)):
                found.append((path, language, fields[2]))
    rng.shuffle(found)
    for path, language, blob in found[:FILES]:
        data = git(repository, "cat-file", "blob", blob)
        if not content_skip(data, path, DEFAULT_MAX_BYTES):
            yield path, language, data


def pair(kind: str, question: str, piece: Piece, code: str = "") -> Iterator[Pair]:
    """Make a pair, if the question says something."""
    words = " ".join(question.split()).split(" ")
    if len(words) not in WORDS or not question.isascii():
        return
    own = set(parts_of(f"{piece.chunk.qualified_name} {piece.path}"))
    left = [word for word in words if not own & set(parts_of(word))]
    without = " ".join(left) if LEFT <= len(left) < len(words) else ""
    yield Pair(kind, " ".join(words), without, code or chunk_text(piece.chunk), path_text(piece.path))


def docstrings(pieces: list[Piece]) -> Iterator[Pair]:
    """Pair first sentences with their code."""
    for piece in pieces:
        docstring = " ".join(piece.chunk.docstring.split())
        code = chunk_text(piece.chunk).replace(docstring[:320], "", 1)
        if docstring and len(code) > 80:
            yield from pair("docstring", _SENTENCE.split(docstring, maxsplit=1)[0], piece, code)


def tests(own: list[Piece], tested: list[Piece]) -> Iterator[Pair]:
    """Pair what tests are called with what they test."""
    defined: dict[str, list[Piece]] = defaultdict(list)
    for piece in own:
        if piece.chunk.name and not piece.chunk.continued:
            defined[piece.chunk.name].append(piece)
    mentions = [set(_NAME.findall(piece.chunk.text)) & defined.keys() for piece in tested]
    common = Counter(name for found in mentions for name in found)
    for piece, found in zip(tested, mentions, strict=True):
        names = [name for name in found if len(defined[name]) == 1]
        if names:
            target = defined[min(names, key=lambda name: (common[name], -len(name), name))][0]
            said = [match[2] for match in _SAID.finditer(piece.chunk.text)][:2]
            if not said and "test" in f"{piece.chunk.name}{piece.path}".lower():
                said = [piece.chunk.name]
            for text in said:
                words = [word for word in split_words(text).split() if word not in _TEST_WORDS]
                yield from pair("test", " ".join(words), target)


def headings(own: list[Piece], prose: list[Piece]) -> Iterator[Pair]:
    """Pair headings with the definitions that their sections quote."""
    defined: dict[str, list[Piece]] = defaultdict(list)
    for piece in own:
        if piece.chunk.name and not piece.chunk.continued:
            defined[piece.chunk.name].append(piece)
    for section in prose:
        for quoted in dict.fromkeys(_QUOTED.findall(section.chunk.text)):
            found = defined.get(re.split(r"[.:]+", quoted)[-1], [])
            if len(found) == 1:
                body = " ".join(section.chunk.text.split("\n")[1:]).strip()
                sentence = " ".join(_SENTENCE.split(body, maxsplit=1)[0].split()[:18])
                yield from pair("heading", f"{section.chunk.name} {sentence}", found[0])
                break


def subject_of(subject: str) -> str:
    """Return what a subject says, empty if that is nothing about the product."""
    prefix = _PREFIX.match(subject)
    text = without_numbers(subject[prefix.end() :] if prefix else subject).strip(" .")
    idle = _IDLE.match(text) or (prefix and prefix["type"] and _IDLE.fullmatch(prefix["type"]))
    return "" if idle else text


def commits(repository: Path) -> Iterator[Pair]:
    """Pair subjects with the chunk that they changed most, in the file that they changed most."""
    log = git(
        repository, "log", "--no-merges", f"-n{COMMITS}", "-p", "-U0", "--no-color", "--no-ext-diff",
        "--no-renames", "--full-index", "--diff-filter=AM", "--format=%x00%an%x01%s",
    ).decode("utf-8", "replace")  # fmt: skip
    wanted = []
    for entry in log.split("\0")[1:]:
        head, _, patch = entry.partition("\n")
        author, _, subject = head.partition("\x01")
        text = "" if _BOT.search(author) else subject_of(subject)
        changed = changes_of(patch) if text and len(patch) <= MOST_PATCH else []
        if 0 < len(changed) <= CHANGED_FILES:
            wanted.append((text, max(changed, key=lambda each: sum(count for _, count in each.hunks))))
    random.Random(SEED).shuffle(wanted)
    for text, change in wanted[: MOST["commit"] * 5 // 4]:
        data = git(repository, "cat-file", "blob", change.blob)
        pieces = chunk(data, language_of(change.path, "")) if len(data) <= DEFAULT_MAX_BYTES else []
        lines = [sum(overlap(each, hunk) for hunk in change.hunks) for each in pieces]
        if any(lines):
            yield from pair("commit", text, Piece(change.path, pieces[lines.index(max(lines))]))


def changes_of(patch: str) -> list[Change]:
    """List the files of the product's code that a patch changes."""
    changed: list[Change] = []
    blob = ""
    for line in patch.split("\n"):
        match = _DIFF.match(line) if line[:1] in "i+@" else None
        if match and match["blob"]:
            blob = match["blob"]
        elif match and match["path"]:
            changed.append(Change(match["path"], blob, []))
        elif match and match["hunk"] and changed:
            first, _, count = match["hunk"].partition(",")
            changed[-1].hunks.append((int(first), int(count or 1)))
    return [each for each in changed if is_code(language_of(each.path, "") or "") and not outside(each.path)]


def overlap(piece: Chunk, hunk: tuple[int, int]) -> int:
    """Count the lines of a chunk that a hunk changed."""
    return max(min(piece.line_end, hunk[0] + hunk[1] - 1) - max(piece.line_start, hunk[0]) + 1, 0)


def asked(name: str, clone: Path) -> Iterator[Pair]:
    """Pair asked questions with the chunks of the answers' lines."""
    for row in loads((ASKED / f"{name}.toml").read_text("utf-8"))["question"]:
        for answer in row["answers"][:3]:
            data = git(clone, "show", f"HEAD:{answer['path']}")
            found = re.search(answer["line"], data.decode("utf-8", "replace"), re.MULTILINE)
            if found:
                line = found.string.count("\n", 0, found.start()) + 1
                for each in chunk(data, language_of(answer["path"], "")):
                    if each.line_start <= line <= each.line_end:
                        yield from pair("asked", row["text"], Piece(answer["path"], each))
                        break


def outside(path: str) -> bool:
    """Whether a file is a test, an example, a document or the like."""
    return bool(traits(path) & OUTSIDE_THE_PRODUCT)


def pairs_of(name: str, repository: Path, clones: Path | None) -> list[Pair]:
    """Gather a repository's pairs, of each kind so many at most, each question and each code once."""
    rng = random.Random(f"{SEED}/{name}")
    pieces: dict[str, list[Piece]] = {"own": [], "test": [], "prose": []}
    for path, language, data in files_of(repository, rng):
        group = "prose" if is_prose(language) else "test" if traits(path) & Trait.TEST else "own"
        if group == "own" and outside(path):
            continue
        pieces[group] += [Piece(path, each) for each in chunk(data, language or None)]
    named = [each for each in pieces["own"] if each.chunk.kind is not Kind.MODULE]
    made = [
        *(asked(name, clones / name) if clones and (ASKED / f"{name}.toml").exists() else ()),
        *docstrings(named),
        *tests(named, pieces["test"]),
        *headings(named, pieces["prose"]),
        *commits(repository),
    ]
    rng.shuffle(made)
    count: Counter[str] = Counter()
    seen: set[str] = set()
    kept = []
    for each in made:
        texts = {each.question} if each.kind == "asked" else {each.question, each.code}
        if count[each.kind] < MOST[each.kind] and (each.kind == "asked" or not texts & seen):
            count[each.kind] += 1
            seen |= texts
            kept.append(each)
    return kept


def name_of(clone: Path) -> str:
    """Return a repository's name, of WORK/<name>/.git or of OWNER+NAME/repo."""
    folder = clone.parent.name if clone.name == "repo" else clone.name
    return folder.rpartition("+")[2]


def work(task: tuple[str, Path, Path | None, Path]) -> str:
    """Write a repository's pairs; say how many."""
    name, repository, clones, out = task
    found = pairs_of(name, repository, clones)
    out.write_text(json.dumps([asdict(each) for each in found]), "utf-8")
    return f"{name}: {len(found):,} {dict(Counter(each.kind for each in found))}"


def main() -> None:
    """Gather the pairs of each clone."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("work", type=Path, metavar="WORK")
    parser.add_argument("clones", type=Path, nargs="+", metavar="CLONE")
    parser.add_argument("--asked", type=Path, metavar="CLONES", help="folder of the asked sets' clones")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    tasks = []
    for repository in options.clones:
        name = name_of(repository)
        if is_kept(name):
            print(f"{name}: left out")
        elif not (options.work / f"{name}.json").exists():
            tasks.append((name, repository, options.asked, options.work / f"{name}.json"))
    with ProcessPoolExecutor(options.processes) as pool:
        for line in pool.map(work, tasks):
            print(line, flush=True)


if __name__ == "__main__":
    main()
