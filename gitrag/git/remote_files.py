"""Files in a ref of a remote: one commit without history, whose tree holds them side by side.

What is known of the ref is kept in a bare repository of its own, so that the user's repository gets no
objects, no refs, no history. Only files that are asked for are fetched, where the remote can filter; a
plain ``git fetch`` of the user's never fetches the ref, which is in no refspec.

That repository has a configuration of ours, written before each use: what the user's repository configures
(``core.sshCommand``, credential helpers, ``url.*.insteadOf``, hooks) is not read, only the user's own.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gitrag.errors import StoreError
from gitrag.git.configuration import Configuration, guards, with_settings
from gitrag.git.copies import is_of_other_format, object_format_of
from gitrag.git.environment import (
    TOO_LARGE,
    GitTimeoutError,
    message_of,
    run_git,
    scrubbed_environment,
    time_limit_s,
)
from gitrag.machine.files import make_private, open_private, private_mode, replace
from gitrag.machine.locks import CannotLockError, try_lock, wait_for
from gitrag.machine.programs import Limits, PrintedTooMuchError

REF: Final = "refs/gitrag/vectors"

PROTOCOLS: Final = "file:https:ssh"
"""Protocols that may be used: nobody on the way can change what they carry."""

_LOCKED_TRIES, _LOCKED_S = 20, 0.1

_LOCK = "share.lock"
"""Beside the repository: held, shared, by each git that works in it, and by what this git has started."""

_SWEEPING_S, _POLL_S = 5.0, 0.01
"""How long others remove what a killed git has left: some milliseconds."""

_LEFT_S = 3600.0
"""A file that was given to git and not removed since is left by a killed process."""

_LOOK_S = 30.0
"""For what a remote answers at once, if at all: git has no limit of its own on how long it connects."""

_MOST_LISTED_BYTES = 1 << 20
_MOST_TREE_BYTES = 16 << 20
"""20,000 names of packs' files have 2.3 MB."""

_MOST_OBJECTS_BYTES = 64 << 20
"""Of a list of all that is here: a million objects; many small ones may come at once too."""

_MOST_FETCHED_BYTES = 4 << 30
"""Of a remote that does not filter all packs come at once: ten million vectors."""

_SLACK_BYTES = 1 << 20
"""More than the bytes of files that git sends for them: headers, and what does not get smaller."""

_REMOTE = "cache"
_MESSAGE = "gitrag: shared vectors\n\nMade by `gitrag share`; not part of the history.\n"
_DATE = "1767225600 +0000"
"""Whoever shares the same files makes the same commit."""

_CONFIG = """\
[core]
\trepositoryformatversion = 1
\tbare = true
\tfsync = none
[extensions]
\tobjectFormat = {format}
\tpartialClone = cache
[gc]
\tauto = 0
[pack]
\tcompression = 1
[core]
\tbigFileThreshold = 1
[fetch]
\tunpackLimit = 1
"""
"""``bigFileThreshold``: vectors do not get smaller as differences from others, and searching for one takes
minutes."""

_MOVED = ("stale info", "cannot lock ref", "failed to update ref", "incorrect old value")
"""What git says where somebody else was faster."""

_FORMATS = {40: "sha1", 64: "sha256"}
"""By the length of ids."""

_SCP_LIKE = re.compile(r"[^/:]+:(?!//).*", re.DOTALL)
_OID = re.compile(r"[0-9a-f]{40,64}")
_FETCH = (
    *("fetch", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--recurse-submodules=no"),
    *("--quiet", "--filter=blob:none"),
)

_SSH = "ssh -oBatchMode=yes -oConnectTimeout=10 -oServerAliveInterval=15 -oServerAliveCountMax=3"
"""ssh that neither asks nor waits for a server that is gone."""

_STALLED = {"GIT_HTTP_LOW_SPEED_LIMIT": "1", "GIT_HTTP_LOW_SPEED_TIME": "60"}
"""A transfer over https gives way after a minute without a byte. A server that prepares what it sends says so
every 5 s."""


class RemoteError(Exception):
    """git could not read or change the remote; the text is git's own."""


class FilesTooLargeError(RemoteError):
    """The remote sends more than it may."""


class MovedError(Exception):
    """Somebody else has changed the ref meanwhile."""


RemoteRef = tuple[str, Mapping[str, str]]
"""The ref as it was last seen: its commit, empty for none; and the ids of the files' blobs by name."""


class RemoteFiles:
    """The files in ``refs/gitrag/vectors`` of a remote.

    Args:
        directory: The bare repository, made where it is missing.
    """

    def __init__(self, url: str, push_url: str, directory: Path, environ: Mapping[str, str]) -> None:
        self._urls = (url, push_url)
        self._directory = directory
        self._environ = environ
        self._environment: dict[str, str] = {}
        self._format = ""

    def look(self) -> RemoteRef:
        """Ask the remote for the ref, and fetch its list of files; the files are not fetched.

        Raises:
            RemoteError: The remote cannot be read, or the ref is something else.
        """
        self._prepare()
        asked = self._run(
            ("ls-remote", "--quiet", _REMOTE, "HEAD", REF), limit_s=_LOOK_S, most_bytes=_MOST_LISTED_BYTES
        )
        if asked.returncode:
            raise RemoteError(message_of(asked))
        listed = [line.split("\t") for line in asked.stdout.decode("ascii", "replace").splitlines()]
        ids = {name: oid for oid, name in (line for line in listed if len(line) == 2)}
        commit = ids.get(REF, "")
        if commit and not _OID.fullmatch(commit):
            raise RemoteError(f"{REF} is {commit[:80]!r}")
        for oid in ids.values():
            self._use_format(_FORMATS.get(len(oid), self._format))
        if not commit:
            return "", {}
        if self._read_ref() != commit:
            self._fetch_ref()
            commit = self._read_ref()
        return commit, self._tree(commit)

    def _fetch_ref(self) -> None:
        """Fetch the ref; another process of ours that does the same may hold its lock."""
        for _ in range(_LOCKED_TRIES):
            done = self._run((*_FETCH, _REMOTE, f"+{REF}:{REF}"), file_bytes=_MOST_FETCHED_BYTES)
            if done.returncode == 0:
                return
            if "cannot lock ref" not in os.fsdecode(done.stderr):
                break
            time.sleep(_LOCKED_S)
        raise RemoteError(message_of(done))

    def forget(self) -> None:
        """Remove all that is kept here, unless others use it; the next look fetches it anew."""
        with self._alone() as alone:
            if alone:
                self._remove()

    def _remove(self) -> None:
        shutil.rmtree(self._directory, ignore_errors=True)
        self._environment = {}

    def _use_format(self, wanted: str) -> None:
        """Keep objects with the ids that the remote has."""
        if wanted != self._format:
            self._remove()
            self._format = wanted
            self._prepare()

    def size_bytes(self) -> int:
        """Return how much is kept here, compressed."""
        total = 0
        for folder, _, names in os.walk(self._directory / "objects"):
            for name in names:
                with suppress(OSError):
                    total += Path(folder, name).lstat().st_size
        return total

    def sizes(self, blobs: Collection[str]) -> dict[str, int]:
        """Return the sizes of those blobs that are here."""
        form = "--batch-check=%(objectname) %(objectsize)"
        if len(blobs) == 1:
            done = self._run(("cat-file", form), "".join(blobs).encode())
        else:  # asked for several, git ends at the first that is not here, since it may not fetch it
            every = ("cat-file", "--batch-all-objects", "--unordered", form)
            done = self._run(every, most_bytes=_MOST_OBJECTS_BYTES)
        # What is damaged ends git too, or has no size: it is not here.
        lines = (line.split() for line in done.stdout.decode("ascii", "replace").splitlines())
        found = {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdigit()}
        return {blob: found[blob] for blob in blobs if blob in found}

    def fetch(self, blobs: Mapping[str, int]) -> None:
        """Fetch those blobs that are not here.

        Args:
            blobs: The most bytes that each may have, by id.

        Raises:
            RemoteError: The remote cannot be read, or has none of that id.
            TooMuchError: It sends more than all these bytes.
        """
        missing = self._missing(blobs)
        if missing:
            asked = "".join(f"{blob}\n" for blob in missing).encode()
            most = sum(blobs[blob] + blobs[blob] // 100 for blob in missing) + _SLACK_BYTES
            # Without negotiation: whoever is told of our commit believes that we have its files.
            done = self._run(
                ("-c", "fetch.negotiationAlgorithm=noop", *_FETCH, "--stdin", _REMOTE), asked, file_bytes=most
            )
            if done.returncode:
                raise RemoteError(message_of(done))

    def read(self, blob: str, most_bytes: int) -> bytes | None:
        """Return a blob that is here; None if it is larger than allowed.

        Raises:
            RemoteError: It is not here.
        """
        size = self.sizes([blob]).get(blob)
        if size is None:
            raise RemoteError(f"it has no object {blob}")
        return None if size > most_bytes else self._git("cat-file", "blob", blob)

    def change(self, seen: RemoteRef, add: Mapping[str, bytes], drop: Collection[str]) -> None:
        """Add and drop files in one step, unless the ref has changed since it was seen.

        Raises:
            MovedError: It has.
            RemoteError: The remote refuses, or cannot be reached.
        """
        commit, there = seen
        files = {name: blob for name, blob in there.items() if name not in drop}
        for name, data in add.items():
            if name not in files:
                files[name] = self._write(data)
        if files == there:
            return
        lines = "".join(f"100644 blob {blob}\t{name}\0" for name, blob in sorted(files.items()))
        tree = self._git("mktree", "-z", "--missing", stdin=os.fsencode(lines)).decode().strip()
        try:
            self._push(commit, self._commit(tree, ""), alone=True)
        except RemoteError as error:
            if not commit and is_of_other_format(str(error)):
                self._use_format("sha1" if self._format == "sha256" else "sha256")  # of an empty remote
                raise MovedError from error
            if not commit or "non-fast-forward" not in str(error):
                raise
            # A server that lets no ref be replaced: the commit gets a parent, the tree is the same.
            self._push(commit, self._commit(tree, commit), alone=False)

    def _commit(self, tree: str, parent: str) -> str:
        parents = ["-p", parent] if parent else []
        return self._git("commit-tree", tree, *parents, stdin=_MESSAGE.encode()).decode().strip()

    def _push(self, seen: str, commit: str, *, alone: bool) -> None:
        """Push a commit if the ref is still what was seen.

        Args:
            seen: The ref's commit; empty for none.
            alone: Whether it has no parent. git then looks at what the remote has only in a shallow
                repository (``--objects-edge-aggressive``); otherwise it would send every file again.
        """
        lease = f"--force-with-lease={REF}:{seen}"
        asked = ("push", "--porcelain", "--no-verify", "--quiet", lease, _REMOTE, f"{commit}:{REF}")
        if alone and seen:
            with self._written(f"{seen}\n".encode()) as shallow:
                done = self._run(asked, more={"GIT_SHALLOW_FILE": str(shallow)})
        else:
            done = self._run(asked)
        if done.returncode == 0:
            self._git("update-ref", REF, commit)
            return
        said = os.fsdecode(done.stdout) + os.fsdecode(done.stderr)
        if any(sign in said for sign in _MOVED):
            raise MovedError
        rejected = re.search(r"\[(?:remote )?rejected\] \((.*)\)", said)
        remarks = [line[8:].strip() for line in said.splitlines() if line.startswith("remote: ")]
        why = "; ".join([*(line for line in remarks if line), *([rejected[1]] if rejected else [])])
        raise RemoteError(why or message_of(done))

    def _tree(self, commit: str) -> dict[str, str]:
        kind = self._git("cat-file", "-t", commit).strip()
        if kind != b"commit":
            raise RemoteError(f"{REF} is a {kind.decode('ascii', 'replace')}, not a commit")
        tree = self._git("rev-parse", f"{commit}^{{tree}}").decode("ascii").strip()
        if self.sizes([tree]).get(tree, 0) > _MOST_TREE_BYTES:
            raise FilesTooLargeError(f"{REF} lists more than {_MOST_TREE_BYTES:,} bytes of files")
        files: dict[str, str] = {}
        for line in self._git("ls-tree", "-z", tree).split(b"\0")[:-1]:
            facts, _, name = line.partition(b"\t")
            mode, _, blob = facts.decode("ascii").split()
            if mode == "100644":
                files[os.fsdecode(name)] = blob
        return files

    def _write(self, data: bytes) -> str:
        with self._written(data) as path:
            return self._git("hash-object", "-w", "--no-filters", "--", path).decode().strip()

    @contextmanager
    def _written(self, data: bytes) -> Iterator[Path]:
        """Write a file for git to read, and remove it then."""
        path = self._directory / f"given-{secrets.token_hex(8)}"
        replace(path, data, private_mode(self._directory), durable=False)
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _missing(self, blobs: Iterable[str]) -> list[str]:
        wanted = list(dict.fromkeys(blobs))
        here = self.sizes(wanted) if wanted else {}
        return [blob for blob in wanted if blob not in here]

    def _read_ref(self) -> str:
        done = self._run(("rev-parse", "--verify", "--quiet", REF))
        return done.stdout.decode("ascii", "replace").strip()

    def _prepare(self) -> None:
        """Make the bare repository ready: with no configuration, hook or alternate but ours.

        It may have come with an archive, as all in a git directory may.
        """
        try:
            self._make()
        except OSError as error:
            raise StoreError(
                f"Cannot keep shared vectors in {self._directory}: {error.strerror}.",
                "Remove it, and look at the permissions of the directory that it is in.",
            ) from error
        plain = scrubbed_environment(self._environ) | {
            "GIT_DIR": str(self._directory),
            "GIT_COMMON_DIR": str(self._directory),
            "GIT_ALLOW_PROTOCOL": PROTOCOLS,
            "GIT_ASKPASS": "",  # the background must not open a window
        }
        place = self._directory
        entries = Configuration(place, place, place, plain).entries()
        keys = {entry.key for entry in entries}
        if not {"GIT_SSH", "GIT_SSH_COMMAND"} & plain.keys() and "core.sshcommand" not in keys:
            plain["GIT_SSH_COMMAND"] = _SSH
        if not {"http.lowspeedlimit", "http.lowspeedtime"} & keys:
            plain = _STALLED | plain
        for kind in ("AUTHOR", "COMMITTER"):
            plain |= {f"GIT_{kind}_NAME": "gitrag", f"GIT_{kind}_EMAIL": "gitrag@localhost"}
            plain[f"GIT_{kind}_DATE"] = _DATE
        self._environment = with_settings(plain, guards(entries))

    def _make(self) -> None:
        make_private(self._directory.parent)
        make_private(self._directory)
        self._sweep()
        mode = private_mode(self._directory)
        self._format = self._format or object_format_of(self._directory)
        for folder in ("objects", "refs"):
            make_private(self._directory / folder)
        for stray in ("config.worktree", "commondir", "shallow", "objects/info/alternates", "info/grafts"):
            with suppress(OSError):
                (self._directory / stray).unlink()
        url, push_url = map(_quoted, self._urls)
        remote = f'[remote "{_REMOTE}"]\n\turl = {url}\n\tpushurl = {push_url}\n\tpromisor = true\n'
        config = os.fsencode(_CONFIG.format(format=self._format) + remote)
        replace(self._directory / "config", config, mode, durable=False)
        replace(self._directory / "HEAD", b"ref: refs/heads/none\n", mode, durable=False)

    def _sweep(self, limit_s: float = 0.0) -> None:
        """Remove what a git that was killed has left, where none works here any more, and all links.

        Its lock files would keep others out for ever; nothing says whose they are. A link may have come with
        an archive: git would write where it leads.
        """
        with self._alone(limit_s) as alone:
            for folder, folders, names in os.walk(self._directory):
                for name in (*folders, *names):
                    path = Path(folder, name)
                    left = alone and name in names and (name.endswith(".lock") or name.startswith("tmp_"))
                    with suppress(OSError):
                        if path.is_symlink() or left or (name.startswith("given-") and _is_old(path)):
                            path.unlink()

    @contextmanager
    def _locked(self, *, shared: bool, limit_s: float = 0.0) -> Iterator[int | None]:
        """Lock the file of all that use this repository; yield its descriptor, None if it is not locked."""
        try:
            file = open_private(self._directory.parent / _LOCK, "a", encoding="utf-8")
        except OSError:  # a disk that is read-only
            yield None
            return
        with file:
            try:
                deadline = time.monotonic() + limit_s
                taken = wait_for(lambda: try_lock(file, shared=shared), deadline, poll_s=_POLL_S)
            except CannotLockError:
                taken = False
            yield file.fileno() if taken else None

    @contextmanager
    def _alone(self, limit_s: float = 0.0) -> Iterator[bool]:
        """Tell whether no other process uses this repository, and keep others out meanwhile."""
        with self._locked(shared=False, limit_s=limit_s) as held:
            yield held is not None

    def _git(self, *args: str | Path, stdin: bytes = b"") -> bytes:
        done = self._run(args, stdin)
        if done.returncode:
            raise RemoteError(message_of(done))
        return done.stdout

    def _run(
        self,
        args: Sequence[str | Path],
        stdin: bytes = b"",
        more: Mapping[str, str] | None = None,
        *,
        limit_s: float | None = None,
        most_bytes: int | None = None,
        file_bytes: int | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        if not self._environment:
            self._prepare()
        usual_s = time_limit_s(self._environment)
        limit_s = usual_s if limit_s is None else min(limit_s, usual_s)
        try:
            with self._locked(shared=True, limit_s=_SWEEPING_S) as held:
                done = run_git(
                    args,
                    cwd=self._directory,
                    environment={**self._environment, **(more or {})},
                    stdin=stdin,
                    limits=Limits(limit_s, most_bytes),
                    file_bytes=file_bytes,
                    pass_fds=() if held is None else (held,),
                )
        except GitTimeoutError as error:
            raise RemoteError(f"timed out, nothing for {limit_s:,.0f} s") from error
        except PrintedTooMuchError as error:
            raise FilesTooLargeError("it lists too much") from error
        if done.returncode and file_bytes is not None and TOO_LARGE in os.fsdecode(done.stderr):
            self._sweep(_SWEEPING_S)  # once those that git had started have ended
            raise FilesTooLargeError(f"it sends more than {file_bytes:,} bytes")
        return done


def _is_old(path: Path) -> bool:
    return time.time() - path.lstat().st_mtime > _LEFT_S


def absolute(url: str, base: Path) -> str:
    """Return a remote's URL so that it means the same in another directory: paths are made absolute."""
    if "://" in url or "::" in url or (_SCP_LIKE.fullmatch(url) and not os.path.exists(base / url)):  # noqa: PTH110 - any name
        return url
    return str(base / os.path.expanduser(url))  # noqa: PTH111 - any name


def _quoted(value: str) -> str:
    """Return a value for git's configuration file."""
    for plain, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        value = value.replace(plain, written)
    return f'"{value}"'
