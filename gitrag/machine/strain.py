"""Whether work that can wait should: on battery, or while the machine is busy."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

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
