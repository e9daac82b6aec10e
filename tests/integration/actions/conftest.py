"""What tests of actions share."""

from __future__ import annotations

import time

import pytest


class Clock:
    """A clock that is ahead."""

    ahead_s = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead_s


@pytest.fixture
def clock() -> Clock:
    return Clock()
