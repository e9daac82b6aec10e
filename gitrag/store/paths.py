"""Paths as the store keeps them: bytes, as in git."""

from __future__ import annotations


def decode_path(path: bytes) -> str:
    """Read a path as gitrag's str form (``surrogateescape``)."""
    return path.decode("utf-8", "surrogateescape")


def encode_path(path: str) -> bytes:
    """Write a path as git's bytes."""
    return path.encode("utf-8", "surrogateescape")
