"""Questions of features: what a repository could have and has not, and what it has.

    .venv/bin/python scripts/bench/features.py --check CLONES [--only NAME]

`features/<name>.toml` holds, for a repository at one revision, 20 questions that nothing in its source
answers, and 20 of the same style that something does. Both were judged by reading the source, not by asking
gitrag.

An absent question's kind:

- feature: the source has nothing on it, and no other file is about it
- mentioned: the source has nothing on it; documentation, examples, tests or a changelog have
- foreign: a real question of another repository that does not apply here

``telling`` holds the question's words whose absence tells: none is in the source. A file that is not about
the subject may have one in another sense. A present question has all source files that honestly answer it,
and for many the lines that do ("path:10-40"). Tests, examples and documentation may answer it as well; they
are not listed.

--check compares each set with the clone CLONES/<name>: its revision, that every file and range of lines is
there, that no telling word is in a source file, and that what is mentioned is where the set says. It prints
what is off, and exits with 1 if anything is.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

SETS = Path(__file__).parent / "features"
EACH = 20
"""Absent questions of a set, and present ones."""

Kind = Literal["feature", "mentioned", "foreign"]
KINDS = frozenset(get_args(Kind))

CODE = frozenset(
    "bash c cc clj cpp cs cxx eex erl ex exs go h heex hpp hs java js jsx kt kts lua m mjs ml php pl py pyi"
    " rb rs scala sh sql svelte swift ts tsx vim vue zig zsh".split()
)
"""Endings of files of code."""

BESIDE = re.compile(
    r"(?i:^(docs_src|www|website|site|_examples|guides|contrib)/"
    r"|(^|/)(docs|examples?|samples?|snippets?|demos?|benches|benchmarks?)/"
    r"|(^|/)(tests?|specs?|__tests__|testdata|fixtures?|e2e|integration_tests?|test[-_][\w-]+|[\w-]+-tests?)/"
    r"|(^|/)(test_[^/]*|conftest\.py|[^/]*[._-](test|spec)s?)\.\w+$"
    r"|\.min\.\w+$)"
    r"|[a-z]Tests?\.\w+$"
)
"""Paths of tests, examples and documentation, and of what was minified."""

PRODUCT = re.compile(r"^lib/phoenix/test/|^src/Monolog/Test/")
"""Paths that `BESIDE` matches and that are the product's own code: what it offers for its users' tests."""

SHORT = 4
"""A word of at most so many letters keeps its final s: cors, hsts."""

_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WORD = re.compile(r"[A-Za-z0-9]+")
_ENDINGS = ("", "s", "es", "d", "ed", "r", "er", "or", "ers", "ors", "ing", "ion", "ions")


@dataclass(frozen=True, slots=True)
class Lines:
    """A range of lines of a file, from 1, both ends within."""

    path: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Absent:
    """A question whose answer the source has not.

    Attributes:
        text: The question.
        kind: See above.
        telling: Words in lower case whose absence from the source tells.
        mentioned_in: Files beside the source that mention it; none unless the kind is "mentioned".
    """

    text: str
    kind: Kind
    telling: tuple[str, ...]
    mentioned_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Present:
    """A question that the source answers.

    Attributes:
        text: The question.
        files: Every file that answers it.
        lines: The lines that do; a file without any answers as a whole.
    """

    text: str
    files: tuple[str, ...]
    lines: tuple[Lines, ...]


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """The questions of a repository at one revision."""

    name: str
    url: str
    revision: str
    absent: tuple[Absent, ...]
    present: tuple[Present, ...]


class FeatureSetError(ValueError):
    """A set is not of the form described above."""


def main() -> None:
    """Check the sets against clones."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", type=Path, required=True, metavar="CLONES", help="folder of the clones")
    parser.add_argument("--only", action="append", help="a repository's name; may be repeated")
    arguments = parser.parse_args()
    faults = 0
    for path in sorted(SETS.glob("*.toml")):
        if arguments.only and path.stem not in arguments.only:
            continue
        try:
            chosen = read_set(path)
        except FeatureSetError as error:
            faults += 1
            print(error)
            continue
        for fault in check(chosen, arguments.check / path.stem):
            faults += 1
            print(f"{chosen.name}: {fault}")
        ranged = sum(bool(question.lines) for question in chosen.present)
        kinds = ", ".join(f"{sum(q.kind == kind for q in chosen.absent)} {kind}" for kind in get_args(Kind))
        print(f"{chosen.name}: {kinds}; {len(chosen.present)} present, {ranged} with lines")
    sys.exit(1 if faults else 0)


def read_sets(folder: Path = SETS) -> list[FeatureSet]:
    """Read every set of a folder, by name. FeatureSetError says what is wrong with one."""
    return [read_set(path) for path in sorted(folder.glob("*.toml"))]


def read_set(path: Path) -> FeatureSet:
    """Read a set; FeatureSetError says what is wrong with it."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        _keys(data, {"url", "revision", "absent", "present"}, "the set")
        return FeatureSet(
            path.stem,
            _text(data, "url"),
            _text(data, "revision"),
            tuple(_absent(row) for row in data["absent"]),
            tuple(_present(row) for row in data["present"]),
        )
    except (FeatureSetError, tomllib.TOMLDecodeError) as error:
        raise FeatureSetError(f"{path.name}: {error}") from error


def _absent(row: Mapping[str, Any]) -> Absent:
    text = _text(row, "text")
    _keys(row, {"text", "kind", "telling", "mentioned_in"}, text, optional={"telling", "mentioned_in"})
    kind, telling, mentioned_in = row["kind"], _texts(row, "telling"), _texts(row, "mentioned_in")
    if kind not in KINDS:
        raise FeatureSetError(f"{text!r}: kind {kind!r}; use one of {', '.join(sorted(KINDS))}")
    if wrong := [word for word in telling if not re.fullmatch(r"[a-z0-9]+", word)]:
        raise FeatureSetError(
            f"{text!r}: telling {wrong[0]!r}; use one word of lower-case letters and digits"
        )
    if bool(mentioned_in) != (kind == "mentioned"):
        raise FeatureSetError(f"{text!r}: mentioned_in goes with the kind mentioned, and with no other")
    return Absent(text, kind, telling, mentioned_in)


def _present(row: Mapping[str, Any]) -> Present:
    text = _text(row, "text")
    _keys(row, {"text", "files", "lines"}, text, optional={"lines"})
    files = _texts(row, "files")
    if not files:
        raise FeatureSetError(f"{text!r}: no file; name those that answer")
    lines = tuple(_lines(item) for item in _texts(row, "lines"))
    if other := [item.path for item in lines if item.path not in files]:
        raise FeatureSetError(f"{text!r}: lines of {other[0]}, which is not among its files")
    return Present(text, files, lines)


def _lines(item: str) -> Lines:
    found = re.fullmatch(r"(.+):(\d+)-(\d+)", item)
    if not found or not 0 < int(found[2]) <= int(found[3]):
        raise FeatureSetError(f"lines {item!r}; use path:10-40")
    return Lines(found[1], int(found[2]), int(found[3]))


def _keys(row: Mapping[str, Any], known: set[str], of: str, *, optional: set[str] | None = None) -> None:
    if wrong := row.keys() - known or known - (optional or set()) - row.keys():
        raise FeatureSetError(f"{of!r}: {min(wrong)!r} is missing or unknown")


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise FeatureSetError(f"{key} of {dict(row)!r} is not a text")
    return value


def _texts(row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = row.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise FeatureSetError(f"{key} of {row.get('text')!r} is not a list of texts")
    return tuple(value)


def check(chosen: FeatureSet, clone: Path) -> Iterator[str]:
    """Compare a set with its repository; say what is off."""
    if not (clone / ".git").exists():
        yield f"no clone at {clone}; clone {chosen.url} there at {chosen.revision}"
        return
    if (head := _git(clone, "rev-parse", "HEAD").strip()) != chosen.revision:
        yield f"the clone stands at {head}, the set is of {chosen.revision}"
    yield from _check_form(chosen)
    tracked = frozenset(_git(clone, "ls-files", "-z").split("\0"))
    for present in chosen.present:
        yield from (f"{present.text!r}: {fault}" for fault in _check_present(present, clone, tracked))
    source = {path: words_of(clone / path) for path in tracked if is_source(path)}
    for absent in chosen.absent:
        yield from (f"{absent.text!r}: {fault}" for fault in _check_telling(absent, source))
        yield from (f"{absent.text!r}: {fault}" for fault in _check_mentions(absent, clone, tracked))


def _check_form(chosen: FeatureSet) -> Iterator[str]:
    absent = [question.text.lower() for question in chosen.absent]
    present = [question.text.lower() for question in chosen.present]
    for texts, name in ((absent, "absent"), (present, "present")):
        if len(texts) != EACH:
            yield f"{len(texts)} {name} questions, not {EACH}"
    for text, times in Counter(absent + present).items():
        if times > 1:
            yield f"{text!r} is asked {times} times"


def _check_present(present: Present, clone: Path, tracked: AbstractSet[str]) -> Iterator[str]:
    yield from (f"no file {path}" for path in present.files if path not in tracked)
    yield from (f"{path} is no source file" for path in present.files if not is_source(path))
    for item in present.lines:
        if item.path in tracked and item.last > (
            length := len((clone / item.path).read_bytes().splitlines())
        ):
            yield f"{item.path} has {length} lines, not {item.last}"


def _check_telling(absent: Absent, source: Mapping[str, frozenset[str]]) -> Iterator[str]:
    asked = _words(absent.text)
    for word in absent.telling:
        if not contains(asked, word):
            yield f"telling {word!r} is not in the question"
        if found := sorted(path for path, words in source.items() if contains(words, word)):
            yield f"telling {word!r} is in {', '.join(found[:4])} ({len(found)} source files)"


def _check_mentions(absent: Absent, clone: Path, tracked: AbstractSet[str]) -> Iterator[str]:
    for path in absent.mentioned_in:
        if path not in tracked:
            yield f"no file {path}"
        elif is_source(path):
            yield f"{path} is source"
        elif absent.telling and not any(contains(words_of(clone / path), word) for word in absent.telling):
            yield f"{path} contains none of {', '.join(absent.telling)}"


def is_source(path: str) -> bool:
    """Tell whether a path is that of the repository's own code: no test, example or documentation."""
    is_code = PurePosixPath(path).suffix.removeprefix(".") in CODE
    return is_code and (bool(PRODUCT.search(path)) or not BESIDE.search(path))


def words_of(path: Path) -> frozenset[str]:
    """Read a file's words and the pieces of its identifiers, in lower case."""
    if path.is_symlink() or not path.is_file():
        return frozenset()
    return _words(path.read_bytes().decode("utf-8", "replace"))


def _words(text: str) -> frozenset[str]:
    words = (*_WORD.findall(text), *_PIECE.findall(text))
    return frozenset(word.lower() for word in words)


def contains(words: AbstractSet[str], word: str) -> bool:
    """Tell whether a word is among others, in any of its common forms."""
    stem = word.removesuffix("s") if len(word) > SHORT else word
    return any(stem + ending in words for ending in _ENDINGS)


def _git(clone: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", clone, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    main()
