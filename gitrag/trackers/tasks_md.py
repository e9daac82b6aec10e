"""tasks.md: the check boxes in ``docs/specs/{spec}/tasks.md``, beside a specification.

A task is an outermost ``- [ ] …`` or ``- [x] …``; whatever is indented below it, subtasks too, is its body.
Its id is ``tasks-{spec}-{N}``: N is the number it begins with (``1.2``) if all tasks of the file have their
own, else its position. ``Blocked by: 1.2`` names the task with that number, or whose subtask has it. Author
and times are not known: git does not keep file times.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from gitrag.machine.files import read_regular
from gitrag.trackers.base import IssuePage, Order, Registration, TrackerSetting
from gitrag.trackers.issue import Issue, IssueState, find_references

PLACES = ("docs/specs", "openspec/specs", "openspec/changes", "specs", ".kiro/specs")
NAME = "tasks.md"
_LARGEST_BYTES = 1024 * 1024

_TASK = re.compile(r"^(?P<indent>[ \t]*)[-*+] \[(?P<mark>[ xX~-])\] +(?P<text>.*?)\s*$")
_NUMBER = re.compile(r"^\**(?P<number>T?\d+(?:\.\d+)*)\**[.):]?\**\s+(?P<rest>.+)$")
_FENCE = re.compile(r"^\s*(```|~~~)")
_SPEC = re.compile(r"(?i)^spec-\d{4}\b")


class TasksMd:
    """The tasks of a repository's specs."""

    order = Order.WHOLE

    def __init__(self, setting: TrackerSetting) -> None:
        self._root = setting.root

    def fetch(self, since: datetime | None, cursor: str | None) -> IssuePage:
        del since, cursor
        issues: list[Issue] = []
        left_out: list[str] = []
        for path in task_files(self._root):
            shown = path.relative_to(self._root).as_posix()
            try:
                text = read_regular(path).decode("utf-8", "replace")
            except OSError as error:
                left_out.append(f"{shown} cannot be read: {error.strerror}")
                continue
            issues += to_issues(text, path.parent.name, shown)
        return IssuePage(tuple(issues), total=len(issues), left_out=tuple(left_out))

    def search(self, words: Sequence[str]) -> None:
        """Find nothing: there is no search; see `gitrag.trackers.base.Tracker`."""

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def task_files(root: Path) -> Iterator[Path]:
    """Yield every tasks.md beside a specification, sorted; not those behind symbolic links."""
    for place in PLACES:
        for path in sorted((root / place).glob(f"*/{NAME}")):
            inside = (parent for parent in path.parents if parent.is_relative_to(root) and parent != root)
            if any(parent.is_symlink() for parent in inside):
                continue
            found = path.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST_BYTES:
                yield path


def to_issues(content: str, spec: str, path: str) -> list[Issue]:
    tasks = list(parse_tasks(content))
    numbers = [number for number, *_ in tasks]
    own = all(numbers) and len(set(numbers)) == len(numbers)
    named = f"SPEC-{spec[5:9]}" if _SPEC.match(spec) else ""
    begin = f"tasks-{_plain(spec)}-"
    told = own or not any(numbers)  # else a number may be one of several tasks
    numbers = numbers if own else [str(place) for place in range(1, len(tasks) + 1)]

    def id_of(number: str) -> str:
        number = number.removeprefix(begin)
        while number and number not in numbers:
            number = number.rpartition(".")[0]
        return begin + number if number and told else ""

    issues = []
    for number, (_, title, done, body) in zip(numbers, tasks, strict=True):
        task_id = begin + number
        issues.append(
            Issue(
                id=task_id,
                title=title,
                status=IssueState.CLOSED if done else IssueState.OPEN,
                labels=(),
                assignees=(),
                author="",
                created="",
                updated="",
                closed="",
                url=path,
                tracker=TRACKER.name,
                references=find_references(task_id, f"{named} {title}", body, id_of=id_of),
                body=body,
            )
        )
    return issues


def parse_tasks(content: str) -> Iterator[tuple[str, str, bool, str]]:
    """Yield the outermost check boxes of a Markdown text.

    Of each: the number it begins with, ``1.2``, empty if there is none; its title; whether it is checked, or
    struck through; and the lines below it.
    """
    lines = content.splitlines(keepends=True)
    found: list[tuple[int, re.Match[str]]] = []
    fenced = False
    for row, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (task := _TASK.match(line)):
            found.append((row, task))
    if not found:
        return
    outermost = min(len(task["indent"].expandtabs(4)) for _, task in found)
    for row, task in found:
        if len(task["indent"].expandtabs(4)) > outermost:
            continue
        body = []
        for line in lines[row + 1 :]:
            if line.strip() and len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip()) <= outermost:
                break
            body.append(line)
        numbered = _NUMBER.match(task["text"])
        number, title = (numbered["number"], numbered["rest"]) if numbered else ("", task["text"])
        yield number, title, task["mark"] != " ", "".join(body).strip("\r\n")


def _plain(spec: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", spec)


TRACKER = Registration(name="tasks-md", open=TasksMd)
