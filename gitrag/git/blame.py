"""Which commit made each line of a file what it is, and which commits changed some lines before."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import CompletedProcess

from msgspec import Struct

from gitrag.git.commits import PLAIN_GRAPH, CommitError
from gitrag.git.difference import RUN_NOTHING
from gitrag.git.environment import GitTimeoutError, message_of, run_git
from gitrag.git.identity import is_commit
from gitrag.git.repository import BlobError, Repository
from gitrag.machine.files import read_regular
from gitrag.machine.programs import Limits, PrintedTooMuchError
from gitrag.words.encodings import wide_text

IGNORED_REVISIONS = ".git-blame-ignore-revs"
"""The file that forges honour too: commits that only reformat."""

_IGNORE_SETTING = "blame.ignoreRevsFile"
_MOST_LISTS = 8
_MOST_IGNORED = 1_000
_MOST_BYTES = 1 << 20

FOLLOWING_S = 10.0
"""How long git may look for where lines were moved from; then it is asked without."""

_SECONDS = 60.0
_MOST_PRINTED = 64 << 20
"""Bytes that git may print: some 500,000 lines."""

_BEFORE_S = 3.0
_SUBJECT_CHARACTERS = 300

_HEADER = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) \d+ (\d+)(?: \d+)?")


class Blame(Struct, frozen=True):
    """Where lines come from.

    Attributes:
        origins: The number of each in the commit that was asked, its commit, and the file it was in there.
        ignored: The commits that were passed over, since a list names them.
    """

    origins: tuple[tuple[int, str, str], ...]
    followed: bool
    ignored: tuple[str, ...]


def blame(repo: Repository, commit: str, path: str, ranges: Iterable[tuple[int, int]]) -> Blame:
    """Return which commits made lines what they are; white space, moves and copies do not count as changes.

    Commits that `.git-blame-ignore-revs` or git's setting ``blame.ignoreRevsFile`` lists are passed over.
    """
    ignored = _ignored(repo)
    passed = [part for each in ignored for part in ("--ignore-rev", each)]
    wanted = [f"-L{first},{last}" for first, last in ranges]
    asked = ["blame", "--porcelain", "--root", "-w", *passed, *wanted]
    where: list[str | bytes] = [commit, "--", os.fsencode(path)]
    followed = True
    try:
        # git reads what `blame.ignoreRevsFile` names whatever options it is given, and prints the first line
        # that is no commit. Without a working tree there is no `.mailmap`, and no converter of attributes.
        with repo.unconfigured() as plain:
            environment = plain | PLAIN_GRAPH
            try:
                done = _run(environment, [*asked, "-M", "-C", *where], FOLLOWING_S)
            except GitTimeoutError:
                followed = False
                done = _run(environment, [*asked, *where], _SECONDS)
    except PrintedTooMuchError as error:
        raise CommitError(
            f"{path} has too many lines: git prints more than 64 MiB about them.",
            f"Name some of them: {path}:1-100",
        ) from error
    if done.returncode:
        raise CommitError(f"git blame {path} fails: {message_of(done)}.", f"Try it: git blame -- {path}")
    return Blame(tuple(_parsed(done.stdout, path)), followed, tuple(ignored))


def _run(
    environment: Mapping[str, str], asked: Sequence[str | bytes], seconds: float
) -> CompletedProcess[bytes]:
    place = Path(environment["GIT_DIR"])
    return run_git(asked, cwd=place, environment=environment, limits=Limits(seconds, _MOST_PRINTED))


def _parsed(out: bytes, path: str) -> list[tuple[int, str, str]]:
    """Parse what git prints: of each commit the file's name once, after its first line."""
    files: dict[str, str] = {}
    found: list[tuple[int, str, str | None]] = []
    commit, line, file = "", 0, None
    for each in out.split(b"\n"):
        if each.startswith(b"\t"):
            found.append((line, commit, file or files.get(commit)))
            file = None
        elif header := _HEADER.fullmatch(each):
            commit, line = header[1].decode("ascii"), int(header[2])
        elif each.startswith(b"filename "):
            file = files[commit] = _unquoted(each.removeprefix(b"filename "))
    return [(line, commit, own or path) for line, commit, own in sorted(found)]


def _unquoted(name: bytes) -> str:
    """Read a name as git prints it: in quotes, with escapes, if it has unusual characters."""
    if name[:1] != b'"':
        return os.fsdecode(name)
    plain = name[1:-1].decode("latin-1").encode("latin-1", "backslashreplace")
    return os.fsdecode(plain.decode("unicode_escape").encode("latin-1"))


def _ignored(repo: Repository) -> list[str]:
    """Return the commits that the lists name and that are here; git stops at any other."""
    if repo.root is None:
        return []
    named: list[str] = []
    for file in _lists(repo, repo.root):
        with suppress(OSError, BlobError, ValueError):
            text = read_regular(file, _MOST_BYTES).decode("utf-8", "replace")
            named += [line.partition("#")[0].strip().lower() for line in text.splitlines()]
    own = list(dict.fromkeys(each for each in named if is_commit(each)))[:_MOST_IGNORED]
    known = "".join(f"{each}\n" for each in own if repo.has_object(each))
    done = repo.git("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=known.encode("ascii"))
    lines = done.stdout.decode("ascii", "replace").splitlines()
    return [line.removeprefix("commit ") for line in lines if line.startswith("commit ")]


def _lists(repo: Repository, root: Path) -> list[Path]:
    """Return the file that forges honour, and those that git's configuration names."""
    done = repo.git("config", "--null", "--type=path", "--get-all", _IGNORE_SETTING)
    given = os.fsdecode(done.stdout).split("\0")[:-1] if not done.returncode else []
    return list(dict.fromkeys(root / each for each in (IGNORED_REVISIONS, *given[:_MOST_LISTS]) if each))


def changed_before(
    repo: Repository,
    commit: str,
    path: str,
    lines: tuple[int, int],
    most: int,
    timeout_s: float = _BEFORE_S,
) -> Sequence[str] | None:
    """Return the newest commits that changed lines, or what they were before, newest first.

    None where git cannot tell within the time limit.
    """
    first, last = lines
    try:
        done = repo.git(
            *(
                "log",
                f"-L{first},{last}:{path}",
                "--no-patch",
                "--format=%H",
                f"--max-count={most}",
                *RUN_NOTHING,
            ),
            *("--no-show-signature", commit),
            environment=PLAIN_GRAPH,
            timeout_s=timeout_s,
        )
    except GitTimeoutError:
        return None
    return done.stdout.decode("ascii").split() if not done.returncode else None


def brought_by(repo: Repository, commit: str, head: str) -> str:
    """Return the subject of the merge that brought a commit into a history; empty if none did, or in doubt.

    It is the oldest of the first parents of ``head`` that the commit leads to, unless its own first parent is
    the commit: then that was made on the main line.
    """
    try:
        leads = set(_listed(repo, "--ancestry-path", f"{commit}..{head}"))
        mainline = _listed(repo, "--first-parent", f"{commit}..{head}")
    except GitTimeoutError:
        return ""
    oldest = next((each for each in reversed(mainline) if each in leads), "")
    if not oldest:
        return ""
    asked = ("--no-walk", "--min-parents=2", "--format=%P%x00%s")
    done = repo.git("rev-list", *asked, oldest, "--", environment=PLAIN_GRAPH)
    parents, _, subject = done.stdout.partition(b"\n")[2].partition(b"\0")
    if parents.split(b" ")[0].decode("ascii", "replace") == commit:
        return ""
    return subject.decode("utf-8", "replace").strip()[:_SUBJECT_CHARACTERS]


def _listed(repo: Repository, how: str, span: str) -> list[str]:
    done = repo.git("rev-list", how, span, "--", environment=PLAIN_GRAPH, timeout_s=_BEFORE_S)
    return done.stdout.decode("ascii").split() if not done.returncode else []


def unchanged_lines(before: bytes, after: bytes) -> dict[int, int]:
    """Return the lines of a file that are as they were: number after, number before; line ends do not count.

    The lines are compared by libgit2: no program that attributes name is run.
    """
    import pygit2

    old, new = (_with_plain_ends(data) for data in (before, after))
    hunks = pygit2.Patch.create_from(old, new, context_lines=0).hunks
    same: dict[int, int] = {}
    line, shift = 1, 0
    for hunk in hunks:
        # Where nothing is added, a hunk begins after the line that it names.
        begin = hunk.new_start if hunk.new_lines else hunk.new_start + 1
        same.update((each, each + shift) for each in range(line, begin))
        line = begin + hunk.new_lines
        shift += hunk.old_lines - hunk.new_lines
    same.update((each, each + shift) for each in range(line, new.count(b"\n") + 1))
    return same


def _with_plain_ends(data: bytes) -> bytes:
    wide = wide_text(data)
    plain = (data if wide is None else wide.encode()).replace(b"\r\n", b"\n")
    return plain if not plain or plain.endswith(b"\n") else plain + b"\n"
