"""Paths in the store are bytes, as in git."""

from __future__ import annotations


def decode_path(path: bytes) -> str:
    """Return gitrag's str form of a path (``surrogateescape``)."""
    return path.decode("utf-8", "surrogateescape")


def encode_path(path: str) -> bytes:
    """Return git's bytes of a path; of one with half of a character, bytes that no path has."""
    try:
        return path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass")
