"""A disk that is full, fails, or cannot be written: a clear message, and recovery without help.

The faults are made by a library that is loaded before libc (``faults.c``), under the installed command.
"""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.indexes import logical, open_app

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("cc") is None, reason="needs Linux and a C compiler"
)
TRY_AGAIN, NOT_SET_UP = 75, 78


@pytest.fixture(scope="session")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("faults") / "faults.so"
    source = Path(__file__).with_name("faults.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return made


FAULTS = {
    "no space": ("write", errno.ENOSPC, TRY_AGAIN, "No space left on the disk"),
    "no space for the log": ("sync", errno.ENOSPC, TRY_AGAIN, "No space left on the disk"),
    "a failing disk": ("write", errno.EIO, NOT_SET_UP, "Input/output error"),
    "a disk that fails to sync": ("sync", errno.EIO, NOT_SET_UP, "fsync failed"),
    "no permission": ("open", errno.EACCES, NOT_SET_UP, "Permission denied"),
    "a read-only disk": ("open", errno.EROFS, NOT_SET_UP, "Read-only file system"),
}


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize("after", [0, 3])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_said_and_recovered_from(ready, faults, tmp_path, fault, after):
    call, number, status, message = FAULTS[fault]
    ready.git.commit({f"m{n}.py": f"def added_{n}(): pass\n" for n in range(30)})
    ready.git.environment["GITRAG_MODEL_DIR"] = str(tmp_path / "none")
    broken = {
        "LD_PRELOAD": str(faults),
        "FAULT_CALL": call,
        "FAULT_ERRNO": str(number),
        "FAULT_AFTER": str(after),
    }
    done = ready.gitrag("index", "update", "--no-embed", env=broken)
    if done.status:  # there may be fewer such calls
        assert (done.status, message in done.err) == (status, True), done.err
    else:
        assert after, done.out
    assert "damaged" not in done.err
    again = ready.gitrag("index", "update", "--no-embed")
    assert (again.status, "damaged" in again.err) == (0, False), again.err
    assert logical(open_app(ready.git)) == logical(open_app(ready.git, tmp_path / "fresh"))
