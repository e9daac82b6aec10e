"""Indexes as compilers write them, in SCIP's format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

DEFINITION = 1

FILES = {
    "a.py": "def run(job):\n    job.start()\n    plain(job)\n\n\ndef plain(job):\n    pass\n",
    "b.py": "class Job:\n    def start(self):\n        pass\n\n\n"
    "class Other:\n    def stop(self):\n        pass\n",
}
START, PLAIN = "scip-python python p 1 b/Job#start().", "scip-python python p 1 a/plain()."
NAMES = {
    "a.py": [
        (1, 8, 13, START, 0),
        (2, 4, 9, PLAIN, 0),
        (5, 4, 9, PLAIN, DEFINITION),
    ],
    "b.py": [
        (0, 6, 9, "scip-python python p 1 b/Job#", DEFINITION),
        (1, 8, 13, START, DEFINITION),
    ],
}

Name = tuple[int, int, int, str, int]
"""Line from 0, first column, the column after it, symbol and roles."""


def index_of(names: Mapping[str, Sequence[Name]]) -> bytes:
    """Return an index of files by path, with the names in them."""
    found = b""
    for path, own in names.items():
        document = _field(1, path.encode())
        for line, start, end, symbol, roles in own:
            place = b"".join(map(_number, (line, start, end)))
            occurrence = _field(1, place) + _field(2, symbol.encode()) + b"\x18" + _number(roles)
            document += _field(2, occurrence)
        found += _field(2, document)
    return _field(1, b"") + found


def _field(number: int, value: bytes) -> bytes:
    return _number(number << 3 | 2) + _number(len(value)) + value


def _number(value: int) -> bytes:
    found = []
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
