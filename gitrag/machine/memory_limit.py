"""The limit on a process's memory; some libraries end the process without a message when they reach it."""

from __future__ import annotations

from gitrag.errors import OutOfMemoryError

_LEAST_BYTES = 1 << 30
"""Of address space. On two cores `gitrag index` of 40 files ends in DuckDB or OpenBLAS, by a signal or in
another way that cannot be caught, under a limit (`ulimit -v`) of 800 MB."""

HINT = "Free some, or raise the limit (`ulimit -v unlimited`), and try again."
_SIGNS = ("failed to map segment", "cannot allocate memory", "can't start new thread")
_NAMES = frozenset({"MemoryError", "OutOfMemoryException"})
"""Python's and DuckDB's exception names."""


def require_memory() -> None:
    """Raise if the limit on the address space is too low for the libraries that are loaded next.

    Raises:
        OutOfMemoryError: The limit is too low.
    """
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < _LEAST_BYTES:
        raise OutOfMemoryError(
            f"The address space of a process is limited to {limit / 1e6:.0f} MB; gitrag needs"
            f" {_LEAST_BYTES / 1e6:.0f} MB.",
            "Raise the limit: ulimit -v unlimited",
        )


def is_want_of_memory(error: BaseException) -> bool:
    """Tell whether an error is due to refused memory, even if a library has wrapped it."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        text = str(each).lower()
        if type(each).__name__ in _NAMES or any(sign in text for sign in _SIGNS):
            return True
        each = each.__cause__ or each.__context__
    return False
