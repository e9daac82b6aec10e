"""A deterministic git harness: real repositories that know nothing of the machine they are made on."""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

FIRST_COMMIT_S = 1_700_000_000  # each commit is one minute after the one before it
OBJECT_FORMAT = os.environ.get("GITRAG_TEST_OBJECT_FORMAT", "sha1")  # "sha256" runs any test on the other one
NAME, EMAIL = "A U Thor", "author@example.com"


def blob_id(content: bytes) -> str:
    """Return the id that git gives this content, in a repository as they are made here."""
    return hashlib.new(OBJECT_FORMAT, b"blob %d\0" % len(content) + content).hexdigest()


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link, as content of a path."""

    target: str


_PROGRESS = re.compile(
    r"^(?:Indexing|Indexing what is pushed|Embedding|Fetching the model|Syncing issues|Reviewing|Pulling"
    r"|Checking packs|Asking past commits): (?:\d.*|begun|Downloading .*)\n",
    re.MULTILINE,
)

_NOT_KEPT = ("GIT_", "GITRAG", "PYTHONDONTWRITEBYTECODE")
"""The last has each process compile gitrag anew, which an installation does once."""

# What a path of a repository can hold in a test; None: remove it.
Content = str | bytes | Link | None


def without_progress(err: str) -> str:
    """What a command said on stderr but for how far it was, which a loaded machine says of anything."""
    return _PROGRESS.sub("", err)


def isolated_environment(home: Path) -> dict[str, str]:
    """Return an environment in which git sees only ``home``'s configuration and a fixed identity."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_NOT_KEPT)}
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_AUTHOR_NAME": NAME,
        "GIT_AUTHOR_EMAIL": EMAIL,
        "GIT_COMMITTER_NAME": NAME,
        "GIT_COMMITTER_EMAIL": EMAIL,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",  # the tests' place may be one of its own
        # git's maintenance would still be at work, with files of its own, after the command that started it
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "maintenance.auto",
        "GIT_CONFIG_VALUE_0": "false",
        "GIT_EDITOR": "true",
        "GITRAG_RESIDENT": "off",
        "GITRAG_EMBED_WHEN": "always",  # tests make the machine busy themselves
        "LC_ALL": "C",
        "TZ": "UTC",
    }


@dataclass(repr=False)
class GitRepository:
    """A working tree (or a bare repository) with git's commands at hand.

    Paths may be ``str`` or ``bytes`` (for names that are not UTF-8).
    """

    path: Path
    environment: dict[str, str]
    ticks: list[int] = field(default_factory=lambda: [0])  # shared with its worktrees

    def __repr__(self) -> str:
        return f"GitRepository({str(self.path)!r})"  # failures must not print the environment

    def git(
        self,
        *args: str | bytes | Path,
        stdin: bytes | None = None,
        check: bool = True,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> str:
        """Run git here; return its output, decoded with surrogateescape, without the final line end."""
        date = f"{FIRST_COMMIT_S + 60 * self.ticks[0]} +0000"
        done = subprocess.run(
            ["git", *args],
            cwd=cwd or self.path,
            env=self.environment | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} | dict(env or {}),
            input=stdin,
            stdin=None if stdin is not None else subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if check and done.returncode:
            command = " ".join(map(str, args))
            raise AssertionError(f"git {command}: {done.returncode}\n{done.stderr.decode(errors='replace')}")
        return os.fsdecode(done.stdout).removesuffix("\n")

    def file(self, path: str | bytes) -> Path:
        """Return the absolute path of a file here."""
        return self.path / os.fsdecode(path)

    def write(self, files: Mapping[str | bytes, Content]) -> None:
        """Write, link or (None) remove files in the working tree; whatever stands in the way is removed."""
        for name, content in files.items():
            target = self.file(name)
            if target.is_dir() and not target.is_symlink():
                subprocess.run(["rm", "-rf", "--", target], check=True)
            elif target.is_symlink() or target.exists():
                target.unlink()
            if content is None:
                continue
            for parent in reversed(target.relative_to(self.path).parents):
                if (self.path / parent).is_symlink() or (self.path / parent).is_file():
                    (self.path / parent).unlink()
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Link):
                target.symlink_to(content.target)
            else:
                # surrogateescape: a str that came from bytes goes back to the same bytes
                data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
                target.write_bytes(data)

    def commit(self, files: Mapping[str | bytes, Content] | None = None, message: str = "Change") -> str:
        """Write files, commit everything in the working tree, and return the commit's id."""
        self.write(files or {})
        self.git("add", "--all")
        self.ticks[0] += 1
        self.git("commit", "--quiet", "--allow-empty", "--no-gpg-sign", "--message", message)
        return self._head()

    def _head(self) -> str:
        """Return HEAD's commit; git is asked only where it is not written down in plain sight."""
        head = self.path / ".git" / "HEAD"
        if head.is_file():
            branch = head.parent / head.read_text().removeprefix("ref: ").strip()
            if branch.is_file() and branch != head:
                return branch.read_text().strip()
        return self.git("rev-parse", "HEAD")

    def tree(self, rev: str = "HEAD") -> str:
        """Return the id of a revision's tree."""
        return self.git("rev-parse", f"{rev}^{{tree}}")

    def blob(self, path: str, rev: str = "HEAD") -> str:
        """Return the id of the blob at a path of a revision."""
        return self.git("rev-parse", f"{rev}:{path}")

    def worktree(self, path: Path, *args: str) -> GitRepository:
        """Add a linked worktree and return it."""
        self.git("worktree", "add", "--quiet", path, *args)
        return GitRepository(path, self.environment, self.ticks)

    def clone(self, path: Path, *args: str) -> GitRepository:
        """Clone this repository by its transport (so that --depth and --filter act) and return the clone."""
        self.git("-c", "protocol.file.allow=always", "clone", "--quiet", *args, self.path.as_uri(), path)
        return GitRepository(path, self.environment, self.ticks)

    def hook(self, name: str, script: str) -> None:
        """Install a hook with this POSIX sh body."""
        directory = Path(self.git("rev-parse", "--path-format=absolute", "--git-path", "hooks"))
        directory.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text("#!/bin/sh\n" + script)
        (directory / name).chmod(0o755)


def noting_git(place: Path) -> tuple[Path, Callable[[], list[str]]]:
    """Make a git that notes what it is asked.

    Returns:
        Its directory, to stand first on PATH, and what names the commands asked since it was called last.
    """
    place.mkdir()
    asked = place / "asked"
    asked.touch()
    program = place / "git"
    program.write_text(f'#!/bin/sh\necho "$3" >>"{asked}"\nexec "{shutil.which("git")}" "$@"\n')
    program.chmod(0o755)

    def commands() -> list[str]:
        found = asked.read_text().split()
        asked.write_text("")
        return found

    return place, commands


_kept: dict[str, GitRepository] = {}


def made_once(
    key: str, path: Path, environment: Mapping[str, str], make: Callable[[], GitRepository]
) -> GitRepository:
    """Make a repository, with its index where ``make`` makes one; from the second time on, copy it.

    Args:
        key: What tells it from others.
        path: Where ``make`` makes it, and where the copy is put.
        environment: That of the copy.
        make: How it is made.
    """
    kept = _kept.get(key)
    if kept is None:
        place = Path(tempfile.mkdtemp(prefix="gitrag-made-"))
        atexit.register(shutil.rmtree, place, ignore_errors=True)
        made = make()
        shutil.copytree(path, place / "made", symlinks=True)
        _kept[key] = GitRepository(place / "made", {}, list(made.ticks))
        return made
    shutil.copytree(kept.path, path, symlinks=True)
    return GitRepository(path, dict(environment), list(kept.ticks))


@functools.cache
def _new_repository(*options: str) -> Path:
    """Make a repository without a commit, to be copied: that takes no process."""
    place = Path(tempfile.mkdtemp(prefix="gitrag-new-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    (place / "new").mkdir(mode=0o755)
    # an empty template: no sample hooks, and nothing of the machine's own
    GitRepository(place / "new", isolated_environment(place)).git(
        "init", "--quiet", "--initial-branch=main", "--template=", *options
    )
    return place / "new"


def create_repository(
    path: Path,
    environment: Mapping[str, str],
    files: Mapping[str | bytes, Content] | None = None,
    *,
    bare: bool = False,
    object_format: str = OBJECT_FORMAT,
    ref_format: str = "",  # as git has it
) -> GitRepository:
    """Create a repository on branch ``main``; with files, commit them."""
    options = ["--bare"] if bare else []
    options += [f"--ref-format={ref_format}"] if ref_format else []
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(_new_repository(f"--object-format={object_format}", *options), path)
    repository = GitRepository(path, dict(environment))
    if files is not None:
        repository.commit(files, "First")
    return repository
