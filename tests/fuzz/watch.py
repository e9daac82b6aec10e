"""Run inputs in processes under a watch, and gather what was wrong."""

from __future__ import annotations

import json
import os
import re
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.processes import marked, taken
from tests.fuzz.target import MOST_CPU_OF_ALL_S, PATIENCE_S

_WORKER = Path(__file__).with_name("worker.py")
_SAID_BYTES = 6_000
_EVER = 1 << 60
_GRACE_S = 5.0
_SAMPLED_S = 1.0


@dataclass(frozen=True, slots=True)
class Finding:
    """An input that did not survive.

    Attributes:
        target: Where it was taken.
        seed: Of the run.
        number: Of the input.
        wrong: What was wrong.
        input: Where it lies until the next one is taken.
    """

    target: str
    seed: int
    number: int
    wrong: str
    input: Path

    @property
    def kind(self) -> str:
        """What two findings with one cause have in common, most likely: the place and the error."""
        places = re.findall(r'File "[^"]*/(gitrag/[^"]+)", line (\d+)', self.wrong)
        last = self.wrong.strip().splitlines()[-1][:80] if self.wrong.strip() else ""
        return f"{self.target}: {places[-1] if places else ''} {re.sub(r'[0-9]+', '#', last)}"


@dataclass
class Run:
    """How a target stands.

    Attributes:
        target: Its name.
        inputs: How many were taken.
        findings: Those that did not survive.
    """

    target: str
    inputs: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def survived(self) -> int:
        return self.inputs - len(self.findings)


def fuzz(
    target: str,
    seed: int,
    space: Path,
    *,
    first: int = 0,
    count: int = _EVER,
    seconds: float = _EVER,
    given: Path | None = None,
    tell: Callable[[Finding], None] = lambda _finding: None,
) -> Run:
    """Let a target take inputs until there are so many, or the time is over.

    Args:
        target: One of the targets.
        seed: Of the run.
        space: A directory to work in, which need not be there.
        first: The first input's number.
        count: Inputs at most.
        seconds: The input at work then is the last one.
        given: An input that was saved, to be taken in place of the first.
        tell: Called with each finding.
    """
    run, end, last = Run(target), time.monotonic() + seconds, first + count - 1
    while (number := first + run.inputs) <= last and time.monotonic() < end:
        own = space / str(number)
        own.mkdir(parents=True)
        arguments = [target, str(seed), str(number), str(last), str(own)]
        wrong = _watch([*arguments, *([str(given)] if given else [])], own / "stderr", run, last, end)
        if wrong:
            finding = Finding(target, seed, first + run.inputs - 1, wrong, own / "input")
            run.findings.append(finding)
            tell(finding)
        shutil.rmtree(own, ignore_errors=True)
    shutil.rmtree(space, ignore_errors=True)
    return run


def _watch(arguments: list[str], stderr: Path, run: Run, last: int, end: float) -> str:
    """Start a worker, count what it takes, and say what was wrong with the last; nothing at the end."""
    with stderr.open("wb") as file, subprocess.Popen(
        [sys.executable, "-P", _WORKER, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=file, start_new_session=True,
        env=dict([*os.environ.items(), (mark := f"FUZZED_BY={stderr}").split("=", 1)]),
    ) as worker:  # fmt: skip
        try:
            while True:
                line, wrong = _line(worker, mark)
                run.inputs += 1
                if line:
                    wrong = json.loads(line)["wrong"]
                elif not wrong:
                    wrong = f"the process ended: {_how(worker.wait())}"
                if wrong:
                    said = [stderr, *([] if line else stderr.parent.rglob("command.err"))]
                    return "\n".join([wrong, *map(_tail, said)]).strip()
                if json.loads(line)["number"] == last or time.monotonic() >= end:
                    return ""
        finally:
            _end(worker, mark)


def _line(worker: subprocess.Popen[bytes], mark: str) -> tuple[bytes, str]:
    """Read a line of what a worker writes, empty when it has ended; or say why none is waited for.

    What the machine does beside it does not count: only the processor time of the processes with the mark,
    and the seconds in which none of them runs or waits for a processor. Those still there show their stacks.
    """
    assert worker.stdout is not None
    before, quiet_s = taken(marked(mark))[0], 0.0
    last_s = before
    with selectors.DefaultSelector() as selector:
        selector.register(worker.stdout, selectors.EVENT_READ)
        while not selector.select(_SAMPLED_S):
            used_s, at_work = taken(pids := marked(mark))
            quiet_s += _SAMPLED_S if used_s == last_s and not at_work else 0
            last_s = used_s
            if used_s - before > MOST_CPU_OF_ALL_S:
                wrong = f"it took {used_s - before:.0f} s of processor time"
            elif quiet_s > PATIENCE_S:
                wrong = f"no end, and nothing has run for {quiet_s:.0f} s"
            else:
                continue
            for each in pids:
                with suppress(ProcessLookupError):
                    os.kill(each, signal.SIGXCPU)
            with suppress(subprocess.TimeoutExpired):
                worker.wait(_GRACE_S)
            return b"", wrong
        return worker.stdout.readline(), ""


def _tail(path: Path) -> str:
    return path.read_bytes()[-_SAID_BYTES:].decode("utf-8", "replace")


def _how(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"status {status}"


def _end(worker: subprocess.Popen[bytes], mark: str) -> None:
    """End a worker and all that it has started: first by its own will, so that it can."""
    with suppress(subprocess.TimeoutExpired):
        worker.terminate()
        worker.wait(_GRACE_S)
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
    for each in marked(mark):  # commands have sessions of their own
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
