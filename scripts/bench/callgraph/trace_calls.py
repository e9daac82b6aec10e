"""A pytest plugin that records which function of a package calls which: run by `tools.py`, not by hand.

`TRACE_PACKAGE` names the package's directory, `TRACE_OUT` the JSON file to write. A function is its file, the
first line of its code and its qualified name; a lambda or comprehension counts as the function it stands in,
a class body as its module. A call counts when the frame below it is of the package too, or only
contextlib and functools are in between, so a call that goes through other code does not; nor does it when a
generator goes on.
"""

import atexit
import contextlib
import dis
import functools
import inspect
import json
import os
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

_PACKAGE = os.path.realpath(os.environ["TRACE_PACKAGE"]) + os.sep
_THROUGH = {contextlib.__file__, functools.__file__}
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_INNER = {"<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
_places: dict[object, str | None] = {}
_pairs: set[tuple[object, object]] = set()


def _place(code: CodeType) -> str | None:
    """Give the file of a code object of the package, relative to it; None for another's."""
    try:
        return _places[code]
    except KeyError:
        file = os.path.realpath(code.co_filename)
        inside = file[len(_PACKAGE) :] if file.startswith(_PACKAGE) else None
        _places[code] = inside
        return inside


@functools.cache
def _first_step(code: CodeType) -> int:
    """Return where a generator or coroutine stands when it is asked for its first value."""
    return next((each.offset for each in dis.get_instructions(code) if each.opname == "RESUME"), 0)


def _profile(frame: FrameType, event: str, _argument: object) -> None:
    if event != "call":
        return
    code = frame.f_code
    if _place(code) is None:
        return
    if code.co_flags & _GENERATORS and frame.f_lasti > _first_step(code):
        return  # it goes on: who asks for its next value has not called it
    below = frame.f_back
    while below is not None and below.f_code.co_filename in _THROUGH:
        below = below.f_back
    if below is not None and _place(below.f_code) is not None:
        _pairs.add((below.f_code, code))


def _function(code: CodeType) -> list[object]:
    """Give a code object as [file, first line, what it is]."""
    name = code.co_name
    kind = "inner" if name in _INNER else "module" if name == "<module>" else "function"
    if kind == "function" and "__module__" in code.co_names and not code.co_flags & inspect.CO_NEWLOCALS:
        kind = "class"
    return [_place(code), code.co_firstlineno, kind]


def _write() -> None:
    sys.setprofile(None)
    with Path(os.environ["TRACE_OUT"]).open("w", encoding="utf-8") as out:
        json.dump(
            [[*_function(caller), *_function(callee)] for caller, callee in list(_pairs)],
            out,
        )


def pytest_runtest_setup() -> None:
    """Watch again where the test before has ended it: a profiler it ran takes this one's place."""
    sys.setprofile(_profile)


sys.setprofile(_profile)
threading.setprofile(_profile)
_owner = os.getpid()
atexit.register(lambda: _write() if os.getpid() == _owner else None)
