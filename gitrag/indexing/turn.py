"""Whose turn it is to embed: of a user's background workers one at a time, the one asked for last first.

None has it on battery, or while the machine is busy. Only workers wait here, never a hook, a search or who
embeds in the foreground.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from gitrag.machine.files import make_private, open_private
from gitrag.machine.locks import CannotLockError, Holder, read_holder, try_lock, write_holder

SUPPLIES = Path("/sys/class/power_supply")
"""Linux's; of other systems only the load is asked."""

_BUSY = 2.0
"""Load per processor, averaged over the last minute; embedding itself adds 1 at most."""

_PATIENCE_S = 600.0
"""A machine that is always busy is not waited for."""


def load() -> float:
    """Return how many processes want each processor, averaged over the last minute; 0 where nobody knows."""
    with suppress(OSError, AttributeError):
        return os.getloadavg()[0] / (os.cpu_count() or 1)
    return 0.0


def is_on_battery(supplies: Path = SUPPLIES) -> bool:
    """Tell whether a battery of the machine's own, not a mouse's, is in use, and nothing else supplies it."""
    kinds: list[tuple[str, Path]] = []
    with suppress(OSError):
        kinds = [(_of(each, "type"), each) for each in supplies.iterdir() if _of(each, "scope") != "Device"]
    supplied = any(kind in {"Mains", "USB"} and _of(each, "online") == "1" for kind, each in kinds)
    return not supplied and any(
        kind == "Battery" and _of(each, "status") == "Discharging" for kind, each in kinds
    )


class Strain:
    """What work that can wait waits for.

    Args:
        load: Returns the load per processor.
        patience_s: Seconds after which the load no longer counts.
    """

    def __init__(
        self,
        supplies: Path = SUPPLIES,
        load: Callable[[], float] = load,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._supplies = supplies
        self._load = load
        self._patience_s = patience_s
        self._busy_since: float | None = None

    def __call__(self) -> str:
        """Return what to wait for, empty for nothing."""
        if is_on_battery(self._supplies):
            return "for mains power"
        if self._load() < _BUSY:
            return ""
        now = time.monotonic()
        if self._busy_since is None:
            self._busy_since = now
        return "while the machine is busy" if now - self._busy_since < self._patience_s else ""


def _of(place: Path, name: str) -> str:
    try:
        return (place / name).read_text("utf-8").strip()
    except (OSError, ValueError):
        return ""


_POLL_S = 0.5
"""A round of embedding takes seconds (`embed_texts`)."""

_RENEWED_S = 20.0
_WANTED_S = 60.0
"""A wish older than this is of a process that was killed: who waits renews it."""


class EmbeddingTurn:
    """The turn of one worker.

    Args:
        directory: Where the user's workers meet.
        name: What is embedded, for those who wait.
        strain: Returns what else to wait for, empty for nothing (`gitrag/indexing/turn.py`).
    """

    def __init__(self, directory: Path, name: str, strain: Callable[[], str]) -> None:
        self._directory = directory
        self._name = name
        self._strain = strain
        self._holder = directory / "embedding.holder"
        self._wanted = directory / "embedding.wanted"
        self._file: IO[str] | None = None

    def ask(self) -> None:
        """Wish to be next: whoever embeds ends its round, and whoever waits goes on waiting."""
        write_holder(self._wanted, self._name)

    def take(self, stop: Callable[[], bool], waiting: Callable[[str], None]) -> bool:
        """Wait until it is this one's turn.

        Returns:
            Whether it is; True as well where nothing can be locked.
        """
        put_off = False
        while not stop():
            strain = self._strain()
            if strain:  # which others may not wait for: a wish would keep them out
                put_off = self._withdraw() or put_off
            elif put_off and not self.is_wanted():
                self.ask()
                put_off = False
            if not strain and not self.is_wanted() and self._lock():
                self._withdraw()
                write_holder(self._holder, self._name)
                return True
            wish = self._wish()
            if wish is not None and time.time() - wish.since > _RENEWED_S:
                self.ask()
            holder = read_holder(self._holder)
            waiting(strain or f"until {holder.purpose if holder else 'another repository'} is refined")
            time.sleep(_POLL_S)
        self._withdraw()
        return False

    def must_end(self) -> bool:
        """Tell whether the turn is to be given up after this round."""
        return self.is_wanted() or bool(self._strain())

    def is_wanted(self) -> bool:
        """Tell whether another one wishes to be next."""
        wish = read_holder(self._wanted)
        return wish is not None and not self._is_own(wish) and 0 <= time.time() - wish.since < _WANTED_S

    def release(self) -> None:
        """Let another one have its turn."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _withdraw(self) -> bool:
        """End a wish of one's own; tell whether there was one."""
        if self._wish() is None:
            return False
        self._wanted.unlink(missing_ok=True)
        return True

    def _wish(self) -> Holder | None:
        wish = read_holder(self._wanted)
        return wish if wish is not None and self._is_own(wish) else None

    def _is_own(self, wish: Holder) -> bool:
        return (wish.pid, wish.purpose) == (os.getpid(), self._name)

    def _lock(self) -> bool:
        try:
            make_private(self._directory)
            file = open_private(self._directory / "embedding.lock", "a+", encoding="utf-8")
        except OSError:
            return True
        try:
            if try_lock(file):
                self._file = file
                return True
        except CannotLockError:
            file.close()
            return True
        file.close()
        return False
