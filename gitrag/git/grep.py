"""Exact search: in the working tree by ripgrep if installed, else git grep; in a commit by git."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from gitrag.git.commits import PLAIN_GRAPH, CommitError
from gitrag.git.difference import RUN_NOTHING
from gitrag.git.environment import GitTimeoutError, message_of, not_run
from gitrag.git.repository import Repository
from gitrag.machine.programs import Limits, PrintedTooMuchError, ProgramError, run_program

MOST_BYTES = 512 * 1024
"""Maximum output: thousands of lines, more than anybody ranks."""

TIMEOUT_S = 3.0
_MATCH = re.compile(rb"([^\0]*)\0([^\n]*)\n")
"""Commit, colon, path, zero byte, match, line end; a path may have line ends."""

_MOST_COUNTED = 16 << 20
"""Output of a count at most: some 300,000 matches."""

_MOST_IN_A_FILE = 40
_LONGEST_PATTERN = 200
_LONGEST_FILE = "2M"
_LONGEST_LINE = 2_000


class GrepLine(Struct, frozen=True):
    """A matching line; its number is 1-based."""

    path: str
    number: int
    text: str


def grep(
    repo: Repository, patterns: Sequence[str], timeout_s: float = TIMEOUT_S, *, names: bool = False
) -> tuple[list[GrepLine], bool]:
    """Find lines that contain any of some texts, ignoring case, in files that git does not ignore.

    The search stops at the time and output limits. No pattern is read as a regular expression or an option.

    Args:
        repo: The repository; a bare one has no lines.
        patterns: Texts to find; white space is collapsed.
        names: They are names: only as whole words, and case matters.

    Returns:
        They, and whether none was left out for a limit: of time, of output, or of lines a file.
    """
    wanted = [" ".join(pattern.split())[:_LONGEST_PATTERN] for pattern in patterns]
    wanted = [pattern for pattern in dict.fromkeys(wanted) if pattern and _can_occur(pattern)]
    if repo.root is None or not wanted:
        return [], True
    how = ["--word-regexp"] if names else ["--ignore-case"]
    expressions = [part for pattern in wanted for part in ("-e", pattern)]
    ripgrep = shutil.which("rg", path=repo.environment.get("PATH"))
    if ripgrep:
        command = [
            *(ripgrep, "--no-config", "--color=never", "--no-heading", "--with-filename", "--line-number"),
            *("--no-ignore-dot", "--no-ignore-parent"),  # ignore what git ignores, nothing else
            *("--null", "--fixed-strings", *how, "--hidden", "--glob=!.git", "--sort=path"),
            *(f"--max-count={_MOST_IN_A_FILE}", f"--max-filesize={_LONGEST_FILE}", "--no-messages"),
            *expressions,
            *("--", "."),
        ]
    else:
        command = [
            *("git", "-c", "grep.lineNumber=true", "-c", "grep.column=false", "-c", "grep.fullName=false"),
            *("grep", "--untracked", "-I", "-z", "-n", "-F", *how, "--no-color", "--no-textconv"),
            "--no-recurse-submodules",  # cannot be combined with --untracked
            *expressions,
            *("--", "."),
        ]
    is_whole = True
    try:
        output = run_program(
            [os.fsencode(part) for part in command],
            repo.environment,
            Limits(timeout_s, MOST_BYTES),
            cwd=repo.root,
        ).stdout
    except ProgramError as error:
        output, is_whole = error.out, False
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        raise not_run(error, repo.root) from error
    lines = list(_parse(output, b":" if ripgrep else b"\0"))
    most = max(Counter(line.path for line in lines).values(), default=0)
    return lines, is_whole and most < _MOST_IN_A_FILE


def files_with(
    repo: Repository, commit: str, word: str, timeout_s: float, paths: Sequence[str] = ()
) -> tuple[list[str], bool]:
    """Find the files of a commit that contain a text as a whole word; case matters. All, or some paths.

    Args:
        commit: The commit; empty for the working tree, untracked files included.
        paths: The files to look at; empty for all.

    Returns:
        Their paths, and whether all files could be looked at, within the limits of time and output.
    """
    if not _can_occur(word):
        return [], True
    try:
        done = repo.git(
            *("grep", "-l", "-z", "-F", "--word-regexp", "--full-name", "--no-color", "--no-textconv"),
            *("--no-recurse-submodules", "-e", word, commit or "--untracked", "--"),
            *(os.fsencode(f":(literal,top){path}") for path in paths),
            timeout_s=timeout_s,
            most_bytes=MOST_BYTES,
        )
    except (GitTimeoutError, PrintedTooMuchError):
        return [], False
    start = os.fsencode(f"{commit}:" if commit else "")
    paths = [os.fsdecode(each.removeprefix(start)) for each in done.stdout.split(b"\0") if each]
    return paths, done.returncode in (0, 1) and not done.stderr


def count_words(
    repo: Repository, commit: str, words: Sequence[str], timeout_s: float
) -> tuple[dict[str, Counter[str]], bool]:
    """Count lower-case words in a commit's files as `git grep` finds them: parts of words too, in any case.

    Returns:
        By path, how many matches have each word, of the first 16 MB; nothing after a time-out. And whether
        that is all.
    """
    is_whole = False
    wanted = [word for word in words if _can_occur(word)]
    command = ["-I", "-z", "-i", "-F", "-o", "--full-name", "--no-color", "--no-textconv", "--no-line-number"]
    patterns = [part for word in wanted for part in ("-e", word)]
    try:
        asked = (*command, "--no-column", "--no-recurse-submodules", *patterns, commit, "--")
        done = repo.git("grep", *asked, timeout_s=timeout_s, most_bytes=_MOST_COUNTED)
        out, is_whole = done.stdout, done.returncode in (0, 1)
    except GitTimeoutError:
        return {}, False
    except PrintedTooMuchError as error:
        out = error.out
    start = os.fsencode(f"{commit}:")
    found: dict[str, Counter[str]] = {}
    for (path, match), times in Counter(_MATCH.findall(out)).items():
        own = found.setdefault(os.fsdecode(path.removeprefix(start)), Counter())
        text = match.decode("utf-8", "replace").lower()
        own.update({word: times for word in wanted if word in text})
    return found, is_whole


def _can_occur(pattern: str) -> bool:
    """Tell whether a line can contain a text: no zero byte, no half of a character."""
    try:
        return b"\0" not in os.fsencode(pattern)
    except UnicodeEncodeError:
        return False


def _parse(output: bytes, mark: bytes) -> Iterator[GrepLine]:
    """Read path, zero byte, number, mark, line; a path may have line ends, the last record may be cut."""
    counts: dict[bytes, int] = {}
    at = 0
    while (name_end := output.find(b"\0", at)) >= 0 and (end := output.find(b"\n", name_end)) >= 0:
        path = output[at:name_end]
        number, found, text = output[name_end + 1 : end].partition(mark)
        at = end + 1
        counts[path] = counts.get(path, 0) + 1
        if found and number.isdigit() and counts[path] <= _MOST_IN_A_FILE:
            line = text[:_LONGEST_LINE].decode("utf-8", "replace").rstrip("\r")
            yield GrepLine(os.fsdecode(path.removeprefix(b"./")), int(number), line)


_MOST_BYTES = 16 << 20


def changing_count(
    repo: Repository, ids: Sequence[str], text: str, timeout_s: float
) -> list[tuple[str, tuple[str, ...]]]:
    """Return those of some commits that change how often a text occurs in a file, each with these files.

    Merges are not looked at.

    Args:
        text: What is counted, upper and lower case apart.

    Raises:
        CommitError: git cannot compare one of them: the clone lacks files of it, or is damaged.
        PrintedTooMuchError: git printed more than 16 MiB.
    """
    done = repo.git(
        *("diff-tree", "--stdin", "--root", "-r", "-z", "--no-renames", "--raw", f"-S{text}"),
        *(*RUN_NOTHING, "--no-show-signature", "--format=%H"),
        stdin="".join(f"{each}\n" for each in ids).encode("ascii"),
        environment=PLAIN_GRAPH,
        timeout_s=timeout_s,
        most_bytes=_MOST_BYTES,
    )
    if done.returncode:
        raise CommitError(f"git cannot compare commits with their parents: {message_of(done)}.")
    return [(own, tuple(paths)) for own, paths in _parsed(done.stdout)]


def _parsed(out: bytes) -> list[tuple[str, list[str]]]:
    """Parse what git printed: ids, each followed by two fields for each path, the first with a colon."""
    found: list[tuple[str, list[str]]] = []
    fields = iter(out.split(b"\0"))
    for field in fields:
        plain = field.lstrip(b"\n")
        if plain[:1] == b":":
            found[-1][1].append(os.fsdecode(next(fields, b"")))
        elif plain:
            found.append((plain.decode("ascii"), []))
    return found
