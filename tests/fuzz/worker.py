"""The process that takes inputs: what crashes or hangs ends it, and not the fuzzer.

    worker.py TARGET SEED FIRST LAST SPACE [INPUT]

Writes a line of JSON an input: its number, and what was wrong. Its limits are the kernel's: of processor time
for an input, of memory for all.
"""

from __future__ import annotations

import faulthandler
import json
import resource
import shutil
import signal
import sys
import traceback
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.fuzz.sweeps import Sweep
from tests.fuzz.target import (
    MOST_BYTES,
    MOST_CPU_OF_A_SWEEP_S,
    MOST_CPU_S,
    Input,
    Target,
    dice_of,
    load,
    save,
)
from tests.fuzz.targets import TARGETS

_SHOWN = 3_000


def main() -> None:
    target, seed, first, last, space = sys.argv[1], *map(int, sys.argv[2:5]), Path(sys.argv[5])
    given = load(Path(sys.argv[6])) if len(sys.argv) > 6 else None
    faulthandler.enable()
    faulthandler.register(signal.SIGXCPU, chain=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    work, kept = space / "work", space / "input"
    work.mkdir()
    taken = TARGETS[target](work)
    try:
        for number in range(first, last + 1):
            wrong = take(taken, dice_of(target, seed, number), given, kept)
            sys.stdout.write(json.dumps({"number": number, "wrong": wrong}) + "\n")
            sys.stdout.flush()
            if wrong:  # what it left may harm the next
                break
    finally:
        taken.close()


def take(taken: Target, dice: Random, given: Input | None, kept: Path) -> str:
    """Take an input, kept in a directory meanwhile, and say what was wrong."""
    made = taken.make(dice) if given is None else given
    shutil.rmtree(kept, ignore_errors=True)
    save(made, kept)
    _allow_cpu(MOST_CPU_OF_A_SWEEP_S if isinstance(taken, Sweep) else MOST_CPU_S)
    peak = _peak()
    try:
        wrong = taken.check(made, dice)
    except Exception:  # noqa: BLE001 - that is what is looked for
        said = traceback.format_exc()
        wrong = said if len(said) < _SHOWN else f"{said[: _SHOWN // 2]}\n…\n{said[-_SHOWN // 2 :]}"
    if not wrong and _peak() - peak > MOST_BYTES:
        wrong = f"it took {_peak() - peak:,} bytes of memory"
    return wrong


def _allow_cpu(most_s: float) -> None:
    """Allow this process so much more time: past it the kernel sends SIGXCPU, and the stack is shown."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + most_s) + 1, hard))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
