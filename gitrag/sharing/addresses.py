"""The setting ``share`` as a place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from gitrag.git import Repository
from gitrag.sharing.place import Place


def open_place(address: str, repo: Repository, directory: Path, environ: Mapping[str, str]) -> Place:
    """Return the place that an address names; nothing is read or asked yet.

    Args:
        address: A value of the setting ``share`` other than ``off``.
        directory: The index's directory, for what is kept of a git remote.
    """
    if address.startswith("file://"):
        from gitrag.sharing.directory import Directory

        return Directory(Path(unquote(urlsplit(address).path)))
    if address == "git" or address.startswith("git:"):
        from gitrag.sharing.git_remote import open_remote

        return open_remote(address.partition(":")[2] or "origin", repo, directory, environ)
    from gitrag.sharing.object_storage import Bucket, ObjectServer

    if address.startswith(("http:", "https:")):
        return ObjectServer(address)
    return Bucket(address, allow_http=environ.get("AWS_ALLOW_HTTP", "").lower() == "true")
