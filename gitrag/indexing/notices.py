"""Messages about an index that is out of date or incomplete, and when to update it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from gitrag.config.rules import show_duration
from gitrag.words.numbers import count

PRIME_AGAIN = timedelta(seconds=60)
"""A session that starts this soon after the last update skips it: sessions often start back to back."""


def stale_line(age: timedelta, threshold: timedelta) -> str | None:
    """Return the line about how old the index was before this refresh; None within the threshold."""
    if age <= threshold:
        return None
    whole = age - timedelta(seconds=age.total_seconds() % 60)
    return f"Index was {show_duration(whole or age)} stale — refreshed before running."


FETCH = "git fetch --refetch --no-filter"
"""Fetches all that a partial clone lacks; without the option, git applies the clone's filter again."""


def absent_line(files: int) -> str:
    """Return the line about files that a partial clone has not fetched."""
    return f"{count(files, 'file')} {'is' if files == 1 else 'are'} not in this partial clone: {FETCH}"


def unwritten_line(why: str, commit: str | None, missing: int, *, held: bool) -> str:
    """Return the line about an answer from an index that could not be written.

    Args:
        commit: The worktree's commit that is indexed; None for none.
        missing: How many files of now are missing from the answer.
        held: Whether what is newer was read into memory.
    """
    of = f"is of commit {commit[:7]}" if commit else "has no commit of this worktree"
    newer = "; what is newer was read for this answer alone" if held else ""
    left = f"{count(missing, 'file')} {'is' if missing == 1 else 'are'} missing from it" if missing else ""
    return f"{why} The index {of}{newer}{f'; {left}' if left else ''}."


def prime_updates(age: timedelta | None) -> bool:
    """Tell whether a starting session updates the index, given when it was last updated."""
    return age is None or age >= PRIME_AGAIN


def refreshed_line(added: int, updated: int, removed: int) -> str | None:
    """Return the line about what a silent update has done; None when it has done nothing."""
    if not (added or updated or removed):
        return None
    return (
        f"Refreshed index ({added} added, {updated} updated, {removed} removed"
        " across this repo's collections)"
    )


def unembedded_line(chunks: int, seconds: float) -> str | None:
    """Return the line about chunks that wait for a vector, and how long that takes; None when none do."""
    if not chunks:
        return None
    return (
        f"{chunks} chunks unembedded — run `gitrag index embed` (≈{max(1, round(seconds))}s on this machine)"
    )


def looked_line(files: int, collections: Sequence[str], least: float | None) -> str:
    """Return the line about what a search without a hit looked at; least: None for the usual score."""
    where = ", ".join(collections)
    if not files:
        return f"No file to look at in {where}, or the filters leave none."
    enough = (
        "enough to be shown; `--min-score 0` shows the nearest" if least is None else f"{least:.2f} or more"
    )
    return f"Looked at {count(files, 'file')} of {where}: nothing scores {enough}."


def uncalibrated_line(models: Iterable[str]) -> str:
    """Say that scores are of other models than ours; empty where they are not."""
    own = ", ".join(sorted({*models} - {""}))
    return f"Scores are not calibrated for the model in {own}: none is a probability." if own else ""


def drafts_line(texts: int, *, drafted: bool = True) -> str:
    """Return the line about texts that are compared by draft vectors as yet, or not at all."""
    if not drafted:
        return f"{count(texts, 'text')} found by words alone — `gitrag index embed` embeds them"
    return f"{count(texts, 'text')} on draft vectors — `gitrag index embed` refines them"


def undrafted_line(chunks: int) -> str:
    """Return the line about chunks without even a draft vector, which only keyword search finds."""
    return f"{chunks} chunks unembedded — vector/hybrid search disabled until `gitrag index embed` runs"


def failed_line(collection: str) -> str:
    """Return the line about a collection that could not be refreshed after something was written to it."""
    return f"Index refresh failed for {collection} — run `gitrag index update` manually"
