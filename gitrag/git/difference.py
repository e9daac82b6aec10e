"""What a range of commits, or the working tree, changes: before, after, and the commit messages."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from gitrag.errors import NotSetUpError, UsageError
from gitrag.git.conversion import as_stored
from gitrag.git.environment import message_of
from gitrag.git.repository import EXECUTABLE_MODE, FILE_MODE, BlobError, Repository
from gitrag.late import late_re
from gitrag.machine.files import read_regular
from gitrag.machine.programs import PrintedTooMuchError

MOST_BYTES = 1024 * 1024
"""Larger files are not compared."""

_MOST_PATCH_BYTES = 64 * 1024 * 1024
_MOST_READ_BYTES = 64 * 1024 * 1024
"""Content of all files together; those beyond count as not text to compare."""

RUN_NOTHING = ("--no-ext-diff", "--no-textconv")
"""Keep git from running external programs that attributes and configuration name for comparing."""


class ChangedFile(Struct, frozen=True):
    """A file that a change touches.

    Attributes:
        before: Its old content; None if it is new, or not text to compare.
        after: Its new content; None if it is deleted, or not text to compare.
    """

    path: str
    before: bytes | None
    after: bytes | None


class DifferenceTooLargeError(UsageError):
    """A change is too large for its lines to be looked at."""


def meant_range(repo: Repository) -> tuple[str, str]:
    """Return the uncommitted changes; where there are none, what HEAD has that its upstream has not.

    Returns:
        The range as git reads it, and what it is, for people.
    """
    head = repo.head()
    if head.commit is None:
        raise NotSetUpError("There is no commit yet.", "Commit something first.")
    compared = repo.git("diff", "--quiet", "--ignore-submodules", *RUN_NOTHING, "HEAD", "--")
    if compared.returncode == 1 or untracked_files(repo):
        return "HEAD", "uncommitted changes"
    return branch_range(repo)


def branch_range(repo: Repository) -> tuple[str, str]:
    """Return what HEAD has that its upstream has not."""
    branch = repo.head().branch or "HEAD"
    for name in ("@{upstream}", "refs/remotes/origin/HEAD"):
        found = repo.git("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if not found.returncode:
            shown = repo.git("rev-parse", "--abbrev-ref", name).stdout
            upstream = shown.decode("utf-8", "replace").strip() or name
            commit = found.stdout.decode("ascii").strip()
            return f"{commit}...HEAD", f"{branch} since it left {upstream}; nothing is uncommitted"
    raise UsageError(
        f"Nothing is uncommitted, and {branch} has no upstream to compare with.",
        "Give a range: gitrag impact HEAD~1..HEAD",
    )


def untracked_files(repo: Repository) -> list[str]:
    """Return the paths of files that git does not track and does not ignore."""
    done = repo.git("ls-files", "-z", "--others", "--exclude-standard")
    return sorted(os.fsdecode(path) for path in done.stdout.split(b"\0") if path and path[-1:] != b"/")


def ends_of(span: str) -> tuple[str, str]:
    """Return the two revisions of a range; the second is empty where that is the working tree. Pure."""
    if own := _OF_A_COMMIT.fullmatch(span):
        return f"{own[1]}^{own[2] or ''}", own[1]
    first, dots, last = span.partition("...") if "..." in span else span.partition("..")
    return first or "HEAD", (last or "HEAD") if dots else ""


_OF_A_COMMIT = late_re(r"(.+)\^(?:!|-(\d*))")
"""``HEAD^!`` and ``HEAD^-``: what a commit itself brings."""


def changed_files(
    repo: Repository, span: str, environment: Mapping[str, str] | None = None
) -> list[ChangedFile]:
    """Return the files a range changes, by path; a rename is a removal and an addition.

    Where one side is there and cannot be read, neither is returned: they could not be compared.

    Args:
        span: ``main..HEAD``, ``main...``, or a single revision to compare the working tree with.
    """
    if not span or span.startswith("-") or "\0" in span:
        raise UsageError(f"{span!r} is no range of commits.", "Give one, such as main...HEAD.")
    options = ("--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules")
    asked = ("diff", *options, *RUN_NOTHING, span, "--")
    done = repo.git(*asked, environment=environment)
    if done.returncode:
        raise _unknown(repo, span, message_of(done))
    fields = done.stdout.split(b"\0")[:-1]
    found = []
    left = _MOST_READ_BYTES
    for facts, raw in zip(fields[::2], fields[1::2], strict=True):
        modes_and_ids = facts.decode("ascii").lstrip(":").split(" ")
        path = os.fsdecode(raw)
        before = _read(repo, modes_and_ids[0], modes_and_ids[2]) if left > 0 else None
        after = _read(repo, modes_and_ids[1], modes_and_ids[3], path) if left > 0 else None
        left -= len(before or b"") + len(after or b"")
        was, is_now = (int(mode, 8) != 0 for mode in modes_and_ids[:2])
        if (was and before is None) or (is_now and after is None):
            before = after = None
        found.append(ChangedFile(path, before, after))
    return found


def changed_lines(repo: Repository, span: str) -> dict[str, list[tuple[int, int]]]:
    """Return first and last line of what a range changes in files that both sides have, as they are after.

    Where lines are only removed it is the line before them.

    Raises:
        DifferenceTooLargeError: The difference has more than 64 MiB.
    """
    options = ("--diff-filter=M", "--no-renames", "--ignore-submodules", *RUN_NOTHING)
    names = repo.git("diff", "--name-only", "-z", *options, span, "--")
    asked = ("diff", "--unified=0", "--no-color", "--no-prefix", *options, span, "--")
    try:
        patch = repo.git(*asked, most_bytes=_MOST_PATCH_BYTES)
    except PrintedTooMuchError as error:
        raise DifferenceTooLargeError(
            f"The difference of {span} has more than 64 MiB.", "Give a smaller range."
        ) from error
    if names.returncode or patch.returncode:
        problem = message_of(names if names.returncode else patch)
        raise _unknown(repo, span, problem)
    paths = iter(names.stdout.split(b"\0")[:-1])
    found: dict[str, list[tuple[int, int]]] = {}
    own: list[tuple[int, int]] = []
    for line in patch.stdout.split(b"\n"):
        if line.startswith(b"diff --git "):  # in the same order; the lines of files begin otherwise
            own = found.setdefault(os.fsdecode(next(paths, b"")), [])
        elif hunk := _HUNK.match(line):
            first, number = int(hunk[1]), int(hunk[2] or b"1")
            own.append((max(first, 1), max(first + number - 1, first, 1)))
    return found


_HUNK = late_re(rb"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")


def _unknown(repo: Repository, span: str, problem: str) -> UsageError:
    hint = repo.hint_of_shallow or "Give a range, such as main...HEAD."
    return UsageError(f"git cannot compare {span}: {problem}.", hint)


def messages(repo: Repository, span: str) -> list[str]:
    """Return the messages of the commits that a range adds, newest first; none for uncommitted changes."""
    first, last = ends_of(span)
    own = f"{first}..{last or 'HEAD'}"
    done = repo.git("log", "-z", *RUN_NOTHING, "--format=%B", own, "--")
    return [each.strip() for each in done.stdout.decode("utf-8", "replace").split("\0") if each.strip()]


def _read(repo: Repository, mode: str, blob: str, path: str = "") -> bytes | None:
    """Read one side of a change: a blob, or the working tree's file if git gives the null id."""
    if int(mode, 8) not in (FILE_MODE, EXECUTABLE_MODE):
        return None
    try:
        if blob.strip("0"):
            return repo.read_blob(blob) if repo.blob_size(blob) <= MOST_BYTES else None
        file = (repo.root or repo.git_dir) / path
        if not path or file.stat().st_size > MOST_BYTES:
            return None
        return as_stored(repo, path, read_regular(file))
    except (BlobError, OSError):
        return None
