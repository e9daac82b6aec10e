"""A small source of each parsed language, with the chunks it must give."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """``chunks`` are ``kind qualified_name first-last``, one a line."""

    source: str
    chunks: str


SAMPLES = {
    "python": Sample(
        '''"""A module."""

import os


@cached
def read(path):
    """Read a file.

    At once.
    """
    with open(path) as file:

        def inner():
            return file

        return inner().read()


# Sends things.
class Session(Base):
    """A session."""

    retries = 3

    def send(self, request):
        return self.adapter.send(request)

    @property
    async def closed(self) -> bool:
        # not yet
        return False

    class Meta:
        ordering = ["id"]


if __name__ == "__main__":
    read("this is a file whose name is long enough for a chunk of its own")
''',
        """
        module - 1-3
        function read 6-17
        class Session 20-24
        method Session.send 26-27
        method Session.closed 29-37
        module - 40-41
        """,
    ),
}
