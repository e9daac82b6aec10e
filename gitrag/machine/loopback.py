"""Listen on this machine's own address, which no other machine reaches."""

from __future__ import annotations

import socket

from gitrag.errors import UsageError

ADDRESS = "127.0.0.1"
_WAITING = 64
"""Connections that may wait to be accepted."""


def listen(port: int) -> socket.socket:
    """Return a socket that listens on this machine's own address.

    Args:
        port: The port; 0 for one that is free.

    Raises:
        UsageError: The port is taken, or not for this user.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((ADDRESS, port))
        listening.listen(_WAITING)
    except OSError as error:
        listening.close()
        raise UsageError(
            f"Cannot serve at {ADDRESS}:{port}: {error.strerror}.", "Choose another port, or 0."
        ) from error
    return listening
