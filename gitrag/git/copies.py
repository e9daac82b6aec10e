"""Bare repositories of ours that hold somebody else's code: one commit of a remote, or of a directory.

Nothing of what they hold is run or checked out: no hook, no filter, no submodule. Their configuration is
ours, the user's own applies to the network (proxies, credentials).
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from gitrag.errors import NetworkError, UsageError
from gitrag.git.configuration import Configuration, guards, with_settings
from gitrag.git.conversion import quote_path
from gitrag.git.environment import TOO_LARGE, GitTimeoutError, message_of, run_git, scrubbed_environment
from gitrag.machine.files import PRIVATE, make_private, read_regular, replace
from gitrag.machine.programs import Limits

PROTOCOLS: Final = "file:https:ssh"
FETCH_S: Final = 120.0
"""Seconds that a fetch may take."""

MOST_BYTES: Final = 1 << 30
"""Bytes that a fetch may bring."""

_LARGEST_BLOB = "2m"
"""Larger files are not fetched, where the server can leave them out: they are not indexed anyway."""

_LOOK_S = 0.5
_OBJECTS = "objects"
_BRANCH = "refs/heads/main"
_REMOTE = "origin"
_SCP_LIKE = re.compile(r"(?:[\w.-]+@)?[\w.-]+:(?!//)[^\s:][^\s]*")
_MOST_CONFIG_BYTES = 1 << 20
_OTHER_FORMAT = ("hash algorithm", "mismatched algorithms")
_CONFIG = """\
[core]
\trepositoryformatversion = 1
\tbare = true
[extensions]
\tobjectFormat = {}
\tpartialClone = origin
[gc]
\tauto = 0
[remote "origin"]
\tpromisor = true
"""
_WHO = {
    f"GIT_{kind}_{what}": value
    for kind in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "gitrag"), ("EMAIL", "gitrag@localhost"), ("DATE", "1767225600 +0000"))
}


class CopyTooLargeError(UsageError):
    """A remote holds more than a fetch may bring."""


def require_url(url: str) -> str:
    """Return a URL that may be fetched from: https, ssh, file, or ``user@host:path``."""
    text = url.strip()
    scheme = text.partition("://")[0].lower() if "://" in text else ""
    allowed = scheme in PROTOCOLS.split(":") if scheme else bool(_SCP_LIKE.fullmatch(text))
    if not allowed or text.startswith("-") or not text.isprintable() or "::" in text:
        raise UsageError(
            f"{shown_url(text)[:100]!r} cannot be fetched from.",
            "Give https://host/path, ssh://host/path, user@host:path or file:///directory.",
        )
    return text


def shown_url(url: str) -> str:
    """Return a URL without user and password, for messages."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "the URL"
    return urlunsplit(parts._replace(netloc=host)) if parts.scheme else url


def name_of(url: str) -> str:
    """Return what to call a remote: ``host/team/project``, of a directory its path."""
    rest = shown_url(url).partition("://")[2] or url.rpartition("@")[2].replace(":", "/", 1)
    return rest.rstrip("/").removesuffix(".git").rstrip("/") or url


def fetch_head(url: str, directory: Path, environ: Mapping[str, str]) -> None:
    """Fetch what a remote's HEAD is at, without its history, into a bare repository of ours.

    Args:
        url: As `require_url` returned it.
        directory: The repository; made where it is missing.

    Raises:
        NetworkError: The remote cannot be reached or read, or takes too long.
        CopyTooLargeError: It holds too much.
        OSError: The repository cannot be written.
    """
    asked = (
        *("fetch", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--quiet"),
        *("--recurse-submodules=no", "--update-head-ok", f"--filter=blob:limit={_LARGEST_BLOB}"),
        *("--", _REMOTE, f"+HEAD:{_BRANCH}"),
    )
    known = object_format_of(directory)
    try:
        for object_format in (known, "sha256" if known == "sha1" else "sha1"):
            environment = _prepared(directory, environ, PROTOCOLS, object_format)
            environment = with_settings(environment, [(f"remote.{_REMOTE}.url", url)])
            with _bounded(directory, url) as look:
                done = run_git(
                    asked,
                    cwd=directory,
                    environment=environment,
                    limits=Limits(FETCH_S),
                    file_bytes=MOST_BYTES,
                    look=look,
                )
            if not done.returncode or not is_of_other_format(message_of(done)):
                break
            for each in (_OBJECTS, "refs"):
                remove(directory / each)
            (directory / "shallow").unlink(missing_ok=True)
    except GitTimeoutError as error:
        raise NetworkError(
            f"{shown_url(url)} was not fetched within {FETCH_S:g} s.",
            "Clone it yourself, and index that.",
        ) from error
    finally:
        _remove_unfinished(directory)
    if done.returncode:
        if TOO_LARGE in message_of(done):
            raise _too_large(url)
        said = message_of(done).replace(url, shown_url(url))
        raise NetworkError(f"{shown_url(url)} cannot be fetched: {said}.", "Check the URL and the network.")


def commit_files(root: Path, paths: Sequence[str], directory: Path, environ: Mapping[str, str]) -> None:
    """Make a commit of a directory's files in a bare repository of ours, as they are on disk.

    Raises:
        OSError: The repository cannot be written, or git refuses a file.
    """
    environment = _prepared(directory, environ, "none") | _WHO | {"GIT_INDEX_FILE": str(directory / "index")}

    def git(*args: str, stdin: bytes = b"") -> bytes:
        done = run_git(args, cwd=root, environment=environment, stdin=stdin)
        if done.returncode:
            raise OSError(message_of(done))
        return done.stdout

    listed = b"".join(quote_path(os.fsencode(path)) + b"\n" for path in paths)
    blobs = git("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=listed).split()
    rows = (b"100644 " + blob + b"\t" + os.fsencode(path) for blob, path in zip(blobs, paths, strict=True))
    git("update-index", "-z", "--index-info", stdin=b"\0".join(rows) + b"\0")
    tree = git("write-tree").decode().strip()
    commit = git("commit-tree", tree, stdin=b"Files as they are installed\n").decode().strip()
    git("update-ref", _BRANCH, commit)


def object_format_of(directory: Path) -> str:
    """Return what ids a repository of ours has, ``sha1`` or ``sha256``; SHA-1 where there is none yet."""
    config = b""
    with suppress(OSError):
        config = read_regular(directory / "config", _MOST_CONFIG_BYTES)
    return "sha256" if b"objectFormat = sha256" in config else "sha1"


def is_of_other_format(said: str) -> bool:
    """Tell whether git says that a remote has other ids than the repository that it is to be fetched into."""
    return any(sign in said for sign in _OTHER_FORMAT)


def _prepared(
    directory: Path, environ: Mapping[str, str], protocols: str, object_format: str = "sha1"
) -> dict[str, str]:
    """Make a bare repository ready: with no configuration, hook or alternate but ours."""
    make_private(directory.parent)
    make_private(directory)
    for folder in (_OBJECTS, "refs"):
        make_private(directory / folder)
    replace(directory / "config", _CONFIG.format(object_format).encode(), PRIVATE, durable=False)
    replace(directory / "HEAD", f"ref: {_BRANCH}\n".encode(), PRIVATE, durable=False)
    plain = scrubbed_environment(environ) | {
        "GIT_DIR": str(directory),
        "GIT_COMMON_DIR": str(directory),
        "GIT_ALLOW_PROTOCOL": protocols,
        "GIT_ASKPASS": "",
    }
    entries = Configuration(directory, directory, directory, plain).entries()
    if not {"GIT_SSH", "GIT_SSH_COMMAND"} & plain.keys() and not any(
        entry.key == "core.sshcommand" for entry in entries
    ):
        plain["GIT_SSH_COMMAND"] = "ssh -oBatchMode=yes -oConnectTimeout=10"  # else it asks, or waits
    return with_settings(plain, guards(entries))


@contextmanager
def _bounded(directory: Path, url: str) -> Iterator[Callable[[], None]]:
    """Provide what `run_git` calls to watch how much a fetch brings."""
    over = threading.Event()
    before = size_of(directory / _OBJECTS)

    def look() -> None:
        while not over.wait(_LOOK_S):
            if size_of(directory / _OBJECTS) - before > MOST_BYTES:
                raise _too_large(url)

    try:
        yield look
    finally:
        over.set()


def _too_large(url: str) -> CopyTooLargeError:
    return CopyTooLargeError(
        f"{shown_url(url)} holds more than {MOST_BYTES >> 30} GiB.", "Clone it yourself, and index that."
    )


def _remove_unfinished(directory: Path) -> None:
    """Remove what a fetch that was ended has left of its pack."""
    for each in (directory / _OBJECTS / "pack").glob("tmp_*"):
        each.unlink(missing_ok=True)


def size_of(directory: Path) -> int:
    """Return how many bytes the files of a directory have."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += Path(folder, name).lstat().st_size
            except OSError:  # gone meanwhile
                continue
    return total


def remove(directory: Path) -> None:
    """Remove a repository of ours."""
    shutil.rmtree(directory, ignore_errors=True)
