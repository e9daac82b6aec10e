"""How old an index may be before its readers do something, and what they say then (§3.6, §3.7). Pure."""

from __future__ import annotations

from datetime import timedelta

from gitrag.config.rules import show_duration

PRIME_AGAIN = timedelta(seconds=60)
"""A session that begins so soon after the index was touched leaves it: back-to-back ones are common."""


def stale_line(age: timedelta, threshold: timedelta) -> str | None:
    """Say how old an index was that has just been refreshed; None within the threshold."""
    if age <= threshold:
        return None
    whole = age - timedelta(seconds=age.total_seconds() % 60)
    return f"Index was {show_duration(whole or age)} stale — refreshed before running."


def prime_updates(age: timedelta | None) -> bool:
    """Tell whether a session's start brings the index up to date, by how long ago it was touched."""
    return age is None or age >= PRIME_AGAIN


def refreshed_line(added: int, updated: int, removed: int) -> str | None:
    """Say what a silent update has done; None when it has done nothing."""
    if not (added or updated or removed):
        return None
    return (
        f"Refreshed index ({added} added, {updated} updated, {removed} removed"
        " across this repo's collections)"
    )


def unembedded_line(chunks: int, texts_per_s: float) -> str | None:
    """Say how many chunks wait for their vector and how long that takes here; None when none does."""
    if not chunks:
        return None
    seconds = max(1, round(chunks / texts_per_s))
    return f"{chunks} chunks unembedded — run `gitrag index embed` (≈{seconds}s on this machine)"


def undrafted_line(chunks: int) -> str:
    """Say that chunks have no vector at all, not even a draft, so that words alone find them (§3.4)."""
    return f"{chunks} chunks unembedded — vector/hybrid search disabled until `gitrag index embed` runs"


def failed_line(collection: str) -> str:
    """Say that a collection could not be refreshed after something was written to it (§3.5)."""
    return f"Index refresh failed for {collection} — run `gitrag index update` manually"
