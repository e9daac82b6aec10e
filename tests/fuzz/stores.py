"""The bytes of an index: damaged, then asked; then built again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random

from tests.fuzz.mutation import size
from tests.fuzz.places import CANARY, QUESTION, Mine
from tests.fuzz.target import Input

_ASKED: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("doctor",),
    ("search", "canary", "--output", "json"),
    ("search", QUESTION, "--output", "markdown"),
    ("graph", "sing_at_dawn"),
    ("index", "update", "--no-embed"),
    ("gc", "--apply"),
    ("prime", "canary"),
    ("check", CANARY),
    ("check", "--push"),
    ("related", "canary", "--duplicates"),
)
_FILLED: tuple[tuple[str, ...], ...] = (
    ("index", "update", "--no-embed"),
    ("graph", "sing_at_dawn"),
    ("explore", "save", "Canaries", "--goals", "They sing."),
)
_DAMAGES = ("flip", "flip", "flip", "cut", "zero", "noise", "swap", "drop", "directory", "add", "page")
_SEARCHES = (QUESTION, "breathe", "more_17")
_INDEX = "index.duckdb"
_TOLD = "refused with status "
_REBUILT: tuple[tuple[str, ...], ...] = (("index", "remove"), ("index", "update", "--no-embed"))
_PAGE = 4096


class Stores:
    """Damages to the files of an index: which, how, where."""

    def __init__(self, space: Path) -> None:
        self._mine = mine = Mine(space)
        mine.git.commit(
            {f"more/m{n}.py": f"def more_{n}():\n    '''Words {n}.'''\n    return {n}\n" for n in range(150)}
        )
        for command in _FILLED:
            done = mine.commands(*command)
            if done.status:
                raise RuntimeError(done)
        self._store, self._sound = mine.path / ".git" / "gitrag", space / "sound"
        shutil.copytree(self._store, self._sound)
        self._names = sorted(path.name for path in self._sound.iterdir())
        self._memory = self._remembered()
        mine.around = mine.look_around()
        self._answers = [self._answer(each) for each in _SEARCHES]

    def make(self, dice: Random) -> Input:
        length = (self._sound / _INDEX).stat().st_size
        damages = []
        for _ in range(dice.choice((1, 1, 1, 2, 4))):
            name = _INDEX if dice.random() < 0.8 else dice.choice((*self._names, "index.duckdb.wal"))
            at = dice.randrange(length) if dice.random() < 0.7 else dice.randrange(3 * _PAGE)
            bits = [[dice.randrange(length), dice.randrange(8)] for _ in range(size(dice, 40))]
            damages.append({"kind": dice.choice(_DAMAGES), "name": name, "at": at, "length": size(dice,
                length), "bits": bits,
                            "noise": dice.randrange(1 << 30)})  # fmt: skip
        asked = dice.sample(_ASKED, 2)
        return {"damages": json.dumps(damages).encode(), "asked": json.dumps(asked).encode()}

    def check(self, made: Input, dice: Random) -> str:
        del dice
        mine = self._mine
        mine.settle()
        self._restore()
        for damage in json.loads(made["damages"]):
            _damage(self._store, **damage)
        for command in json.loads(made["asked"]):
            if wrong := mine.commands(*command).wrong(" ".join(command)):
                return wrong
        if wrong := self._wrong():
            if not wrong.startswith(_TOLD):
                return wrong
            for command in _REBUILT:
                mine.commands(*command)
            if still := self._wrong():
                return f"{wrong}\nand built again: {still}"
        if (memory := self._remembered()) != self._memory:
            return f"what is remembered changed: {memory}"
        return mine.harm()

    def close(self) -> None:
        self._mine.close()

    def _restore(self) -> None:
        shutil.rmtree(self._store)
        shutil.copytree(self._sound, self._store)

    def _remembered(self) -> str:
        """Return the user's explorations, which are no part of the index."""
        done = self._mine.commands("explore", "list", "--json")
        if "They sing." not in done.out:
            return f"{done.status}: {done.out} {done.err}"
        return done.out

    def _wrong(self) -> str:
        """Say which search is answered otherwise than by the index that was sound; first, that it refused."""
        for each, answer in zip(_SEARCHES, self._answers, strict=True):
            if (found := self._answer(each)) != answer:
                return found if found.startswith(_TOLD) else f"search {each}: {answer} before, {found} now"
        return ""

    def _answer(self, query: str) -> str:
        """Return what a search finds first: what follows may be in any order where scores are the same."""
        done = self._mine.commands("search", query, "--output", "json", "--no-graph")
        if wrong := done.wrong(f"search {query}"):
            return wrong
        if done.status:
            return f"{_TOLD}{done.status}: {done.err}"
        data = json.loads(done.out)
        first = [*data["adr_matches"], *data["spec_matches"], *data["code_snippets"][:1]]
        return json.dumps([{**each, "score": round(each["score"], 2)} for each in first])


def _damage(
    store: Path, *, kind: str, name: str, at: int, length: int, bits: list[list[int]], noise: int
) -> None:
    """Damage a file of a store, or put something in its place."""
    path = store / name
    if path.is_dir() or (kind == "directory" and name != _INDEX):  # else gitrag says what is in its way
        return
    data = bytearray(path.read_bytes() if path.exists() else b"")
    at = min(at, len(data))
    end = min(len(data), at + length)
    page = at // _PAGE * _PAGE
    others = sorted(each for each in store.iterdir() if each.is_file()) or [store / name]
    for place, bit in bits if kind == "flip" and data else ():
        data[place % len(data)] ^= 1 << bit
    path.unlink(missing_ok=True)
    if kind == "directory":
        path.mkdir()
    elif kind == "swap":
        other = others[noise % len(others)]
        if other.exists():
            shutil.copyfile(other, path)
    elif kind != "drop":
        changed = {
            "cut": lambda: data[:at],
            "zero": lambda: data[:at] + bytes(end - at) + data[end:],
            "noise": lambda: data[:at] + Random(noise).randbytes(end - at) + data[end:],
            "page": lambda: data[:page] + data[:_PAGE] + data[page + _PAGE :],
            "add": lambda: data + Random(noise).randbytes(min(length, 100_000)),
        }
        path.write_bytes(changed.get(kind, lambda: data)())
