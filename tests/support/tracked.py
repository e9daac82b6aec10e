"""A repository whose tracker is a server on this machine."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.support.command import Done, Project
from tests.support.tracker_fakes import Fake, Ticket


@dataclass(frozen=True, slots=True)
class Tracked:
    """A repository, gitrag in it, and its tracker."""

    project: Project
    fake: Fake

    @property
    def folder(self) -> Path:
        return self.project.path / ".sdd" / "issues"

    @property
    def meta(self) -> dict[str, object]:
        return json.loads((self.folder / "_meta.json").read_text())

    def sync(self, *args: str, **options: object) -> Done:
        """Sync, with success."""
        done = self.project.gitrag("issues", "sync", *args, **options)  # type: ignore[arg-type]
        assert done.status == 0, done.err
        return done

    def id(self, number: int) -> str:
        """The tracker's id of the issue with a number."""
        key = self.fake.project
        return str(number) if "/" in key else f"{key}-{number}"

    def ids(self) -> list[str]:
        """The ids that have a file."""
        return sorted((path.stem for path in self.folder.glob("*.md")), key=lambda each: (len(each), each))

    def fill(self, count: int, **options: object) -> None:
        """Put issues on the server, numbered from 1, each updated a minute after the one before."""
        for number in range(1, count + 1):
            self.fake.put(Ticket(self.id(number), f"Issue {number}", "Body", minute=number, **options))  # type: ignore[arg-type]

    def head(self, number: int) -> dict[str, object]:
        """The front matter of an issue's file, by a YAML reader that is not gitrag's."""
        text = self.file(number).read_text()
        return yaml.safe_load(text.split("\n---\n")[0])

    def body(self, number: int) -> str:
        """What follows the front matter, byte for byte."""
        return self.file(number).read_bytes().decode().partition("\n---\n")[2].removeprefix("\n")

    def file(self, number: int) -> Path:
        return self.folder / f"{self.id(number)}.md"

    def stamps(self) -> dict[str, tuple[bytes, int, int]]:
        """Every issue's bytes, time of change and inode."""
        return {
            path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino)
            for path in sorted(self.folder.glob("*.md"))
        }
