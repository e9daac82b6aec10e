"""Programs that tests start can be interrupted, whatever started the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IS_IGNORED = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"


def test_a_child_can_be_interrupted():
    child = subprocess.run([sys.executable, "-c", IS_IGNORED], capture_output=True, text=True, check=True)
    assert child.stdout == "False\n"


@pytest.mark.slow
@pytest.mark.sweep(keep=1)
@pytest.mark.parametrize("workers", ["0", "1"])
def test_so_it_can_where_the_shell_ignores_interrupts(workers):
    """As one without job control does for what it starts in the background."""
    test = f"{__file__}::{test_a_child_can_be_interrupted.__name__}"
    done = subprocess.run(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-m", "pytest", "-n", workers, test],
        cwd=ROOT,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr
