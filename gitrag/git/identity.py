"""What tells repositories apart: the remote, whole but for how it is written; else the first commit. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote_to_bytes

from gitrag.git.configuration import ConfigEntry
from gitrag.late import late_re

_HELPER = late_re(r"[\w-]+::", re.ASCII)
_URL = late_re(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[^/]*@)?(?P<host>\[[^\]]*\]|[^/:]*)(?::(?P<port>\d*))?(?P<path>/.*)?",
    re.IGNORECASE | re.DOTALL,
)
_SCP_LIKE = late_re(r"(?:[^/:]*@)?(?P<host>\[[^\]/]*\]|[^/:@]+):(?P<path>.*)", re.DOTALL)
_USUAL_PORTS = frozenset({"", "22", "80", "443", "9418"})
_ALSO_CALLED = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
"""Hosts that forges have for SSH over port 443."""

_COMMIT = late_re("[0-9a-f]{40}|[0-9a-f]{64}")
_INSTEAD_OF = late_re(r"url\.(?P<base>.*)\.insteadof", re.DOTALL)


def meant_url(url: str, configuration: Iterable[ConfigEntry]) -> str:
    """Return the URL that git reads a remote's as: by the longest ``url.*.insteadOf`` that it begins with."""
    rules = [
        (entry.value, found["base"])
        for entry in configuration
        if entry.value and url.startswith(entry.value) and (found := _INSTEAD_OF.fullmatch(entry.key))
    ]
    if not rules:
        return url
    prefix, base = max(rules, key=lambda rule: len(rule[0]))
    return base + url.removeprefix(prefix)


def of_url(url: str, base: Path) -> str:
    """Return what all ways to write a remote have in common; empty if that cannot be told.

    Args:
        url: In any of git's forms. Scheme, user, usual ports, ``.git`` and the host's case do not count.
        base: The directory that a relative path is seen from.

    Returns:
        ``host/team/project`` or ``host:8080/team/project``, where the host has no dot ``host:/team/project``;
        for a directory its absolute path. Bytes that are not UTF-8 are escaped.
    """
    if _HELPER.match(url):  # another program decides what the rest means
        return ""
    if found := _URL.fullmatch(url):
        scheme, host, port = found["scheme"].lower(), found["host"].lower(), found["port"] or ""
        path = os.fsdecode(unquote_to_bytes(os.fsencode(found["path"] or "")))
    elif found := _SCP_LIKE.fullmatch(url):
        scheme, host, port, path = "ssh", found["host"].lower(), "", found["path"]
    else:
        scheme, host, port, path = "file", "", "", os.path.expanduser(url)  # noqa: PTH111 - any name
    if scheme == "file":
        return written(_without_git(os.path.normpath(base / path))) if path else ""
    path = _without_git("/".join(filter(None, path.split("/"))))
    if not host or not path:
        return ""
    host = _ALSO_CALLED.get(host, host)
    if port not in _USUAL_PORTS:
        host += f":{port}"
    elif "." not in host and ":" not in host:
        host += ":"
    return written(f"{host}/{path}")


def of_directory(path: Path) -> str:
    """Return a git directory's path as text, for ``.git`` its parent's."""
    return written(str(path.parent if path.name == ".git" else path))


def _without_git(path: str) -> str:
    return path.removesuffix("/.git").removesuffix(".git") or path


def is_commit(text: str) -> bool:
    """Return whether a text is a commit's whole id."""
    return bool(_COMMIT.fullmatch(text))


def written(text: str) -> str:
    """Return a name or path of git's as text that can be stored: bytes that are not UTF-8 are escaped."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def name_of_url(url: str) -> str | None:
    """Return the base name of a remote's URL (``git@host:team/project.git`` → ``project``)."""
    _, _, rest = url.rpartition("://")
    path = rest.rstrip("/").removesuffix("/.git").rstrip("/")
    name = path.rpartition("/")[2].rpartition(":")[2]
    return name.removesuffix(".git") or None
