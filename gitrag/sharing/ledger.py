"""What this repository knows of packs, beside its index: which it refuses, which it has checked."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gitrag.machine.files import make_private, private_mode, read_regular, replace
from gitrag.sharing import packs

NAME = "share.json"
_MOST_BYTES = 4 << 20
_MOST_REFUSED = 1000
"""The latest ones are kept."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A pack that is not used.

    Attributes:
        pack: Its name.
        origin: The place it came from.
        why: As the end of the sentence "The pack …".
    """

    pack: str
    origin: str
    why: str


@dataclass(slots=True)
class Ledger:
    """The record; `save` writes it.

    Attributes:
        path: The file.
        refused: Refused packs by name.
        checked: Packs that were made here, or a sample of which was computed and compared here.
        asked: When the background worker last pulled from a place, or pushed to it, Unix seconds.
        pushed: The tree that the background worker pushed last to each place.
        failure: Why the background worker could last not pull or push; empty if it could.
    """

    path: Path
    refused: dict[str, Refusal] = field(default_factory=dict)
    checked: set[str] = field(default_factory=set)
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
                {str(name) for name in data["checked"] if packs.is_pack(str(name))},
                {str(address): float(at) for address, at in data["asked"].items()},
                {str(address): str(tree) for address, tree in data["pushed"].items()},
                str(data["failure"]),
            )
        return ledger

    def refuse(self, pack: str, origin: str, why: str) -> Refusal:
        """Record that a pack is not to be used, and return the record."""
        refusal = Refusal(pack, origin, why)
        self.refused[pack] = refusal
        self.checked.discard(pack)
        return refusal

    def save(self) -> None:
        """Write the record; what another process refused meanwhile stays refused.

        Raises:
            OSError: It cannot be written.
        """
        self.refused = Ledger.load(self.path.parent).refused | self.refused
        self.checked -= self.refused.keys()
        refused = list(self.refused.values())[-_MOST_REFUSED:]
        data = {
            "refused": [[each.pack, each.origin, each.why] for each in refused],
            "checked": sorted(self.checked),
            "asked": self.asked,
            "pushed": self.pushed,
            "failure": self.failure,
        }
        make_private(self.path.parent)
        replace(self.path, json.dumps(data).encode(), private_mode(self.path.parent), durable=False)
