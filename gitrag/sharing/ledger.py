"""What this repository knows of packs, beside its index: which it refuses, which it has checked."""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from gitrag.machine.files import make_private, private_mode, read_regular, replace
from gitrag.sharing import packs

NAME = "share.json"
_MOST_BYTES = 64 << 20

MOST_REFUSED = 20_000
"""The latest ones are kept, and those that are listed count as such: twice as many as a listing has."""

_SAID_CHARACTERS = 300
"""How much is kept of a place's address, and of why a pack was refused."""


class Refusal(Struct, frozen=True):
    """A pack that is not used.

    Attributes:
        pack: Its name.
        origin: The place it came from.
        why: As the end of the sentence "The pack …".
    """

    pack: str
    origin: str
    why: str


class Skipped(Struct, frozen=True):
    """A pack that is not used this time, which is not recorded.

    Attributes:
        pack: Its name.
        origin: The place.
        why: As the end of the sentence "The pack …".
        damaged: Whether it arrived damaged, rather than not at all.
    """

    pack: str
    origin: str
    why: str
    damaged: bool


class Ledger(Struct):
    """The record; `save` writes it.

    Attributes:
        refused: Refused packs by name.
        checked: Packs that were made here, or of which enough was computed and compared here.
        compared: How many texts of a pack were compared here, at most at a time, by name.
        damaged: Packs of which bytes came that were not theirs: the next push looks whether they lie so.
        asked: When the background worker last pulled from a place, or pushed to it, Unix seconds.
        pushed: The tree that the background worker pushed last to each place, and the recipe of its texts.
        failure: Why the background worker could last not pull or push; empty if it could.
    """

    path: Path
    refused: dict[str, Refusal] = field(default_factory=dict)
    checked: set[str] = field(default_factory=set)
    compared: dict[str, int] = field(default_factory=dict)
    damaged: set[str] = field(default_factory=set)
    asked: dict[str, float] = field(default_factory=dict)
    pushed: dict[str, str] = field(default_factory=dict)
    failure: str = ""

    @classmethod
    def load(cls, directory: Path) -> Ledger:
        """Read the record of a repository; one that cannot be read counts as empty."""
        ledger = cls(directory / NAME)
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            data: Any = json.loads(read_regular(ledger.path, _MOST_BYTES))
            refused = [Refusal(*(str(part) for part in each)) for each in data["refused"]]
            return cls(
                ledger.path,
                {each.pack: each for each in refused if packs.is_pack(each.pack)},
                _names(data["checked"]),
                {str(name): int(count) for name, count in data.get("compared", {}).items()},
                _names(data.get("damaged", ())),
                {str(address): float(at) for address, at in data["asked"].items()},
                {str(address): str(tree) for address, tree in data["pushed"].items()},
                str(data["failure"]),
            )
        return ledger

    def refuse(self, pack: str, origin: str, why: str) -> Refusal:
        """Record that a pack is not to be used, and return the record."""
        refusal = Refusal(pack, origin[:_SAID_CHARACTERS], why[:_SAID_CHARACTERS])
        self.refused.pop(pack, None)
        self.refused[pack] = refusal
        self.checked.discard(pack)
        return refusal

    def compare(self, pack: str, compared: int, *, enough: bool) -> None:
        """Record that texts of a pack were compared and found right, and whether they were enough."""
        self.compared[pack] = max(compared, self.compared.get(pack, 0))
        if enough:
            self.checked.add(pack)

    def see(self, listed: Collection[str]) -> None:
        """Forget what is known of packs that are not listed, except refusals: the oldest of them go first."""
        self.checked.intersection_update(listed)
        self.damaged.intersection_update(listed)
        self.compared = {name: count for name, count in self.compared.items() if name in listed}
        for name in [name for name in self.refused if name in listed]:
            self.refused[name] = self.refused.pop(name)

    def save(self) -> None:
        """Write the record; what another process refused meanwhile stays refused."""
        others = Ledger.load(self.path.parent).refused
        self.refused = {name: others[name] for name in others if name not in self.refused} | self.refused
        self.checked -= self.refused.keys()
        refused = list(self.refused.values())[-MOST_REFUSED:]
        data = {
            "refused": [[each.pack, each.origin, each.why] for each in refused],
            "checked": sorted(self.checked),
            "compared": self.compared,
            "damaged": sorted(self.damaged),
            "asked": self.asked,
            "pushed": self.pushed,
            "failure": self.failure,
        }
        make_private(self.path.parent)
        replace(self.path, json.dumps(data).encode(), private_mode(self.path.parent), durable=False)


def _names(given: Any) -> set[str]:
    return {str(name) for name in given if packs.is_pack(str(name))}
