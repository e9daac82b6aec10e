"""Read commits: what each says, and which paths, and how often. Nothing here depends on a working tree."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gitrag.errors import RepositoryError
from gitrag.git.difference import RUN_NOTHING
from gitrag.git.repository import Repository
from gitrag.machine.programs import PrintedTooMuchError

MOST_PATHS = 256
"""Changed paths that are kept of a commit, apart from moved ones: more are a reformat, or an import."""

MOST_MOVES = 20_000
"""Moved paths that are kept of a commit: a whole source tree is moved in one."""

MESSAGE_CHARACTERS = 4_000
AUTHOR_CHARACTERS = 200

_FIRST_BATCH = 8
_BATCH = 1_000
"""Commits a process, at first and at most: some 3 MB of what git prints, and 50 ms. Each has twice as many as
the one before, so that whoever stops between two has not waited long for the last one."""

_MOST_BYTES = 32 << 20
"""What git may print for a batch; one that prints more is halved."""

_FIELDS = ("%H", "%P", "%at", "%ct", "%an", "%B")
_NO_HISTORY = ("refs/stash", "refs/notes/*", "refs/gitrag/*")
"""Refs whose commits say nothing of what was changed."""

PLAIN_GRAPH = {"GIT_GRAFT_FILE": os.devnull}
"""Without grafts (``info/grafts``): what a commit says must follow from its id."""

_MOST_SECONDS = 1 << 40


PathChange = tuple[str, str, str]
"""A path that a commit changes, where it was moved its new one; ``A`` added, ``M`` modified, ``D`` deleted,
``T`` another type, ``R`` moved; and the path before it was moved, empty otherwise."""


class Commit(Struct, frozen=True):
    """A commit.

    Attributes:
        authored: When it was written, Unix seconds; 0 if malformed.
        message: Its message, at most 4,000 characters.
        changes: The paths that it changes with regard to its first parent, at most 256 and 20,000 moved ones.
        changed: How many paths it changes.
    """

    id: str
    parents: int
    authored: int
    committed: int
    author: str
    message: str
    changes: tuple[PathChange, ...]
    changed: int


class Tips(Struct, frozen=True):
    """Where a history begins.

    Attributes:
        name: What it is stored by: the id of its one commit, or a hash of the ids of several.
    """

    name: str
    commits: tuple[str, ...]

    @classmethod
    def of(cls, tips: Tips | str) -> Tips:
        """Return them; of a single commit itself."""
        return tips if isinstance(tips, Tips) else cls(tips, (tips,))


class CommitError(RepositoryError):
    """A commit cannot be read: the clone lacks its trees, or is damaged."""


def all_tips(repo: Repository) -> Tips | None:
    """Return where the history of all refs begins, and of the HEADs of all worktrees; None without a commit.

    The stash, notes and what gitrag itself keeps under ``refs/gitrag`` are no part of it.

    Raises:
        CommitError: git cannot read them.
    """
    without = [f"--exclude={each}" for each in _NO_HISTORY]
    done = repo.git("rev-list", "--no-walk=unsorted", *without, "--all", "--", environment=PLAIN_GRAPH)
    if done.returncode:
        raise CommitError("The refs cannot all be read; look at: git fsck")
    ids = sorted(set(done.stdout.decode("ascii").split()))
    if len(ids) < 2:
        return Tips.of(ids[0]) if ids else None
    return Tips(hashlib.sha1(" ".join(ids).encode(), usedforsecurity=False).hexdigest(), tuple(ids))


def commit_ids(
    repo: Repository, tips: Tips | str, most: int, *, beyond: str | None = None, first_parents: bool = False
) -> list[str]:
    """List the newest commits of a history, newest first.

    Those at the boundary of a shallow clone are left out: their parents are not there to compare with.

    Args:
        beyond: A commit; what is reachable from it is left out.
        first_parents: Whether of a merge only the first parent is followed.

    Raises:
        CommitError: git cannot walk the history.
    """
    commits = Tips.of(tips).commits
    walked = [*commits, *([] if beyond is None else [f"^{beyond}"])]
    listed = "".join(f"{each}\n" for each in walked).encode("ascii")
    how = ["--first-parent"] if first_parents else []
    done = repo.git("rev-list", f"--max-count={most}", *how, "--stdin", stdin=listed, environment=PLAIN_GRAPH)
    if done.returncode:
        raise CommitError(f"The history of {commits[0]} cannot be read; look at: git fsck")
    ends = shallow_ends(repo)
    return [each for each in done.stdout.decode("ascii").split() if each not in ends]


def is_ancestor(repo: Repository, older: str, newer: str) -> bool | None:
    """Tell whether a commit is reachable from another; None where the clone lacks one, or what is between."""
    done = repo.git("merge-base", "--is-ancestor", older, newer, environment=PLAIN_GRAPH)
    if done.returncode == 0:
        return True
    return False if done.returncode == 1 and not shallow_ends(repo) else None


def read_commits(repo: Repository, ids: Sequence[str]) -> Iterator[list[Commit]]:
    """Read commits, batch by batch in the order given.

    Ends early, without an error, at the first commit that the clone lacks the trees of (a partial clone, from
    which nothing is fetched).
    """
    waiting = _batches(ids)[::-1]
    while waiting:
        batch = waiting.pop()
        try:
            done = _run(repo, batch)
        except PrintedTooMuchError as error:
            if len(batch) > 1:
                middle = len(batch) // 2
                waiting += [batch[middle:], batch[:middle]]
                continue
            yield [replace(each, changes=(), changed=MOST_MOVES) for each in _parsed(error.out)]
            continue
        status, out = done
        found = list(_parsed(out))
        if status:  # git ended within the last one that it began
            found = found[:-1]
        yield found
        if status or len(found) < len(batch):
            return


def _batches(ids: Sequence[str]) -> list[list[str]]:
    found: list[list[str]] = []
    start, size = 0, _FIRST_BATCH
    while start < len(ids):
        found.append(list(ids[start : start + size]))
        start, size = start + size, min(2 * size, _BATCH)
    return found


def boundary(repo: Repository) -> str:
    """Return what identifies where a shallow clone ends; empty for any other."""
    ends = sorted(shallow_ends(repo))
    return hashlib.sha256(" ".join(ends).encode()).hexdigest() if ends else ""


def is_shallow(repo: Repository) -> bool:
    """Return whether a clone lacks the parents of some commits."""
    return bool(shallow_ends(repo))


def shallow_ends(repo: Repository) -> frozenset[str]:
    """Return the commits of a shallow clone whose parents it lacks."""
    try:
        return frozenset((repo.common_dir / "shallow").read_text("ascii").split())
    except (OSError, UnicodeDecodeError):
        return frozenset()


def _run(repo: Repository, ids: Sequence[str]) -> tuple[int, bytes]:
    done = repo.git(
        "diff-tree",
        "--stdin",
        "--always",
        "--root",
        "-r",
        "-z",
        "--raw",
        "--no-abbrev",
        "--no-renames",  # would read blobs; see _changes
        "--diff-merges=first-parent",
        *RUN_NOTHING,
        "--no-show-signature",
        f"--format={'%x00'.join(_FIELDS)}",
        stdin="".join(f"{each}\n" for each in ids).encode("ascii"),
        environment=PLAIN_GRAPH,
        most_bytes=_MOST_BYTES,
    )
    return done.returncode, done.stdout


def _parsed(out: bytes) -> Iterator[Commit]:
    """Parse what git printed. No field has a NUL in it; a header begins with an id, a change with a colon."""
    fields = out.split(b"\0")
    place, end = 0, len(fields)
    while place < end:
        if not fields[place].strip():
            place += 1
            continue
        if fields[place].lstrip(b"\n")[:1] == b":":  # a change that was cut off before its path
            return
        header = fields[place : place + len(_FIELDS)]
        header += [b""] * (len(_FIELDS) - len(header))
        place += len(_FIELDS)
        raw: list[tuple[bytes, bytes]] = []
        while place + 1 < end and fields[place].lstrip(b"\n")[:1] == b":":
            raw.append((fields[place].lstrip(b"\n"), fields[place + 1]))
            place += 2
        changes, changed = _changes(raw)
        commit, parents, authored, committed, author, message = header
        yield Commit(
            commit.strip().decode("ascii", "replace"),
            len(parents.split()),
            _seconds(authored),
            _seconds(committed),
            author.decode("utf-8", "replace")[:AUTHOR_CHARACTERS],
            message[: 4 * MESSAGE_CHARACTERS].decode("utf-8", "replace").strip()[:MESSAGE_CHARACTERS],
            changes,
            changed,
        )


def _seconds(text: bytes) -> int:
    """Read a time; any number can stand in a commit."""
    try:
        return max(-_MOST_SECONDS, min(_MOST_SECONDS, int(text[:20])))
    except ValueError:
        return 0


def _changes(raw: Sequence[tuple[bytes, bytes]]) -> tuple[tuple[PathChange, ...], int]:
    """Return the changes of a commit, and how many there are.

    A path that goes and one that comes are one that was moved if they have the same blob, or if they alone
    have this name. git's own detection compares contents: it takes ten times as long, and a partial clone
    lacks them.
    """
    gone: dict[bytes, bytes] = {}
    come: dict[bytes, bytes] = {}
    rest: list[tuple[bytes, str]] = []
    for facts, path in raw:
        _, _, before, after, status = (*facts.split(b" "), b"", b"", b"", b"", b"M")[:5]
        if status == b"D":
            gone[path] = before
        elif status == b"A":
            come[path] = after
        else:
            rest.append((path, status[:1].decode("ascii", "replace")))
    moved = _moves(gone, come) if gone and come else {}
    left = set(moved.values())
    others = [(os.fsdecode(path), status, "") for path, status in rest]
    others += [(os.fsdecode(path), "A", "") for path in come if path not in moved]
    others += [(os.fsdecode(path), "D", "") for path in gone if path not in left]
    changed = len(others) + len(moved)
    moves = [(os.fsdecode(new), "R", os.fsdecode(old)) for new, old in moved.items()]
    return (*others[:MOST_PATHS], *moves[:MOST_MOVES]), changed


def _moves(gone: dict[bytes, bytes], come: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the old path of each path that was moved."""
    moved: dict[bytes, bytes] = {}
    taken: set[bytes] = set()
    by_both: dict[tuple[bytes, bytes], list[bytes]] = {}
    by_blob: dict[bytes, list[bytes]] = {}
    for path, blob in reversed(gone.items()):  # lists are taken from at their end
        by_both.setdefault((blob, _name(path)), []).append(path)
        by_blob.setdefault(blob, []).append(path)
    for path, blob in come.items():
        if same := by_both.get((blob, _name(path))):
            moved[path] = same.pop()
            taken.add(moved[path])
    for path, blob in come.items():
        while path not in moved and (same := by_blob.get(blob)):
            old = same.pop()
            if old not in taken:
                moved[path] = old
    left = set(moved.values())
    old_names = Counter(_name(path) for path in gone if path not in left)
    new_names = Counter(_name(path) for path in come if path not in moved)
    by_name = {_name(path): path for path in gone if path not in left}
    for path in come:
        name = _name(path)
        if path not in moved and old_names[name] == new_names[name] == 1:
            moved[path] = by_name[name]
    return moved


def _name(path: bytes) -> bytes:
    return path.rpartition(b"/")[2]


MOST_COMMITS = 1_000
"""Half a second of git's time in a large repository, and years of a small one."""

_SWEEPING = 50
"""A commit of more files is a reformat or a mass rename: it says nothing about a single file."""


class LatestCommit(Struct, frozen=True):
    """A commit: its abbreviated id, the day it was made (``2026-11-23``), and its message's first line."""

    commit: str
    day: str
    subject: str


def latest_commits(repo: Repository, most: int) -> tuple[LatestCommit, ...]:
    """Return HEAD's latest commits without merges, the newest first; none where there is no commit yet."""
    done = repo.git(
        "log",
        "-z",
        f"--max-count={most}",
        "--no-merges",
        "--no-show-signature",
        "--no-patch",
        "--format=%h%n%cs%n%s",
        "HEAD",
        "--",
    )
    if done.returncode:
        return ()
    each = (row.decode("utf-8", "replace").split("\n", 2) for row in done.stdout.split(b"\0") if row)
    return tuple(LatestCommit(*fields) for fields in each if len(fields) == 3)


def recent_changes(repo: Repository, most: int = MOST_COMMITS) -> tuple[int, dict[str, tuple[int, int]]]:
    """Count HEAD's last commits without merges, and how many changed each path, mass changes apart.

    With the number of a path's comes the time of the last one, Unix seconds.
    """
    done = repo.git(
        "-c",
        "log.showRoot=true",
        "log",
        "-z",
        f"--max-count={most}",
        "--no-merges",
        "--no-renames",
        *RUN_NOTHING,
        "--no-show-signature",
        "--name-only",
        "--format=%x00%ct",  # names are never empty: an empty field precedes a commit
        "HEAD",
        "--",
    )
    if done.returncode:  # no commits yet
        return 0, {}
    commits = 0
    changes: dict[str, tuple[int, int]] = {}
    fields = iter(os.fsdecode(done.stdout).split("\0")[1:])
    for time in fields:
        commits += 1
        paths = list(iter(lambda: next(fields, ""), ""))
        paths[:1] = [path.removeprefix("\n") for path in paths[:1]]
        if len(paths) > _SWEEPING:
            continue
        when = int(time) if time.lstrip("-").isdecimal() else 0  # missing in a malformed commit
        for path in paths:
            count, last = changes.get(path, (0, 0))
            changes[path] = count + 1, max(last, when)
    return commits, changes
