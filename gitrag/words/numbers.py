"""Format numbers for people. Pure."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """Return ``1 file``, ``847 files``, ``12,345 files``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def size(size_bytes: int) -> str:
    """Return ``312 B``, ``4.5 MB``: powers of ten, like `du --si`."""
    value = float(size_bytes)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def age(seconds: float) -> str:
    """Return ``8 s``, ``12 min``, ``3 h``, ``5 days``."""
    for limit, unit, name in ((90, 1, "s"), (90 * 60, 60, "min"), (36 * 3600, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 86400:.0f} days"
