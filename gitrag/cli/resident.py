"""The resident helper's client: has a command run by a process that has loaded the libraries already.

Most of a search's time is Python loading libraries. So the first search leaves a helper behind,
`gitrag.cli.resident_helper`, which forks a process for each further command. That process gets this one's
standard streams, directory, environment and arguments, and does all that it would do here, from asking git to
printing; nothing of an index is kept in between. Wherever anything is unusual, `ask` returns None, and the
command is run here.

Imports nothing that takes long to load. Only for Linux: elsewhere the libraries do not survive a fork.
"""

import os
import stat
import sys

import gitrag
from gitrag.cli.exit_codes import INTERRUPTED, TRY_AGAIN
from gitrag.machine.environment import PRODUCT_THREADS

TYPE_CHECKING = False  # typing takes as long to load as the rest of this
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Mapping, Sequence

    from gitrag.config.keys import Config

COMMANDS = frozenset({"search", "graph", "prime"})
"""Commands that only read, and that are asked one after another."""

SWITCH = "GITRAG_RESIDENT"
"""The variable of the setting ``resident``: read before settings can be."""

ACCEPTED, DECLINED = b"a", b"d"
"""What the helper says: that a process is there to run the command; that it must be run elsewhere. Else it
ends with the exit status, in four bytes."""

PATIENCE_S = 5.0
"""How long a helper may take to fork, and an interrupted command to end, before it is done without."""

RETRY_S = 300.0
"""How long after a helper was started in vain none is started."""

_ENDED = b"The process that was answering has been ended before it was done.\nhint: Ask again.\n"

STATUS_BYTES = 4
_LIMITS = 16
"""Resource limits that Linux has (``RLIM_NLIMITS``)."""

_PAGED = ("-n", "-o", "--limit", "--output", "--full", "--context", "--explain", "--graph", "--unfiltered")
"""Beginnings of options of a search whose answer may be longer than the screen, and so needs a pager."""

_AT_START = tuple(
    b"HOME LANG LC_ PYTHON LD_ MALLOC_ GLIBC_ OMP_ OPENBLAS_ GOTO_ NPY_ XDG_CONFIG_HOME".split()
)
"""Beginnings of variables that are read when Python starts or a library is loaded: a helper has one value
of each."""

_OF_STATUS = ("Uid", "Gid", "Groups", "NoNewPrivs", "Seccomp", "Cap")
_NAMESPACES = ("mnt", "user", "pid", "net")


class DeclinedError(BaseException):
    """The command must be run by the process that was started for it."""


class State:
    """What this process knows about helpers.

    Attributes:
        missing: The identity of a helper that was looked for in vain.
        config: The settings that the command has read.
    """

    missing: bytes | None = None
    serving = False
    config: "Config | None" = None


def ask(args: "Sequence[str]") -> int | None:
    """Have the helper run a command line.

    Returns:
        Its exit status; None if it must be run here, of which nothing has been done or printed then.
    """
    if not _may_ask(args):
        return None
    try:
        State.missing = identity()
        directory = open_directory(directory_of(os.environ))
        if State.missing is None or directory is None:
            return None
        try:
            return _ask(State.missing, directory)
        finally:
            os.close(directory)
    except (OSError, MemoryError, ImportError):
        return None


def _ask(own: bytes, directory: int) -> int | None:
    from _socket import AF_UNIX, SOCK_STREAM, socket

    connection = socket(AF_UNIX, SOCK_STREAM)
    name = socket_name(own)
    try:
        connection.settimeout(PATIENCE_S)
        connection.connect(f"/proc/self/fd/{directory}/{name}")
        if not is_ours(connection) or connection.recv(1) != ACCEPTED:
            return None
        _request(connection, own)
        State.missing = None
        return _outcome(connection)
    except (TimeoutError, ConnectionRefusedError):  # it hangs, or was killed: another may take its place
        os.unlink(name, dir_fd=directory)
        return None
    finally:
        connection.close()


def _may_ask(args: "Sequence[str]") -> bool:
    """Tell whether a command line is of those that a helper runs, started in the usual way."""
    if sys.platform != "linux" or _command(args) not in COMMANDS or "_GITRAG_COMPLETE" in os.environ:
        return False
    if os.environ.get(SWITCH, "").strip().lower() == "off":
        return False
    if any(os.environ.get(each, "1") not in {"", "1"} for each in PRODUCT_THREADS):
        return False  # no thread survives a fork
    if None in {sys.stdin, sys.stdout, sys.stderr} or ("-" in args and sys.stdin.isatty()):
        return False
    if "--open" in args or (sys.stdout.isatty() and any(each.startswith(_PAGED) for each in args)):
        return False
    return not (sys._xoptions.keys() - {"utf8"} or sys.warnoptions or sys.flags.inspect)  # noqa: SLF001


def _command(args: "Sequence[str]") -> str:
    """Return the name of the command, which follows the options that every command has."""
    rest = list(args)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option in {"-C", "--color"}:
            rest[:1] = []
        elif not option.startswith(("-C", "--color=")):
            return ""
    return rest[0] if rest else ""


def identity() -> bytes | None:
    """Return what a process must have in common with a helper: version, environment, rights, limits.

    None for a process that has given up rights for good, as sandboxes do: the helper may have more.
    """
    import marshal
    import resource

    try:
        with open("/proc/self/status", encoding="utf-8", errors="replace") as file:  # noqa: PTH123  # pathlib loads slowly
            rights = [line for line in file if line.startswith(_OF_STATUS)]
        spaces = [os.readlink(f"/proc/self/ns/{name}") for name in _NAMESPACES]  # noqa: PTH115
        root = os.stat("/")  # noqa: PTH116
    except OSError:
        return None
    if any(line.split() == ["NoNewPrivs:", "1"] for line in rights):
        return None
    parts = (
        gitrag.__version__,
        gitrag.__file__,
        sys.executable,
        sys.version,
        sys.getfilesystemencoding(),
        sys.flags.utf8_mode,
        sorted(item for item in os.environb.items() if item[0].startswith(_AT_START)),
        rights,
        spaces,
        (root.st_dev, root.st_ino),
        os.getpriority(os.PRIO_PROCESS, 0),
        sorted(os.sched_getaffinity(0)),
        [resource.getrlimit(each) for each in range(_LIMITS)],
    )
    return marshal.dumps(parts, 2)  # from 3 on, bytes depend on the number of references


def socket_name(identity: bytes) -> str:
    """Return the name of a helper's socket; the helper compares the identity itself."""
    from binascii import crc32

    return f"{crc32(identity):08x}-{len(identity):x}"


def mark_name(name: str) -> str:
    """Return the name of the mark that a socket's helper is started, which it removes once it listens."""
    return f"{name}.started"


def directory_of(environ: "Mapping[str, str]") -> str | None:
    """Return where the sockets of this user lie: below XDG_RUNTIME_DIR, else in the user's cache.

    Only below a directory that is there and the user's own: with ``sudo`` HOME may be somebody else's.
    """
    for variable, below in (
        ("XDG_RUNTIME_DIR", "gitrag"),
        ("XDG_CACHE_HOME", "gitrag/resident"),
        ("HOME", ".cache/gitrag/resident"),
    ):
        base = environ.get(variable, "")
        try:
            if base.startswith("/") and os.stat(base).st_uid == os.geteuid():  # noqa: PTH116
                return f"{base}/{below}"
        except OSError:
            continue
    return None


def open_directory(place: str | None) -> int | None:
    """Open the directory of the sockets; None unless it is the user's own and nobody else's, and no link."""
    if place is None:
        return None
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    found = os.fstat(descriptor)
    if found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077:
        return descriptor
    os.close(descriptor)
    return None


def is_ours(connection: "socket") -> bool:
    """Tell whether the process at the other end belongs to this user, as the kernel knows."""
    from _socket import SO_PEERCRED, SOL_SOCKET

    credentials = connection.getsockopt(SOL_SOCKET, SO_PEERCRED, 12)  # pid, uid, gid
    return int.from_bytes(credentials[4:8], sys.byteorder) == os.geteuid()


def _request(connection: "socket", identity: bytes) -> None:
    """Send what the command is run with: streams and directory as descriptors, all else as values."""
    import marshal
    from _socket import SCM_RIGHTS, SOL_SOCKET

    umask = os.umask(0o077)
    os.umask(umask)
    encodings = [sys.stdin.encoding, sys.stdout.encoding, sys.stderr.encoding]
    body = marshal.dumps((identity, sys.argv, dict(os.environb), encodings, umask))
    place = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    handed = b"".join(each.to_bytes(4, sys.byteorder) for each in (0, 1, 2, place))
    try:
        connection.sendmsg([len(body).to_bytes(8, "big")], [(SOL_SOCKET, SCM_RIGHTS, handed)])
        connection.sendall(body)
    finally:
        os.close(place)


def _outcome(connection: "socket") -> int | None:
    """Wait for the end of a command; return None if it is to be run here.

    Ctrl-C interrupts it, and it is waited for while it tidies up; a second one gives it up.
    """
    from _socket import SHUT_WR

    is_interrupted = False
    try:
        try:
            connection.settimeout(None)
            said = connection.recv(STATUS_BYTES)
        except KeyboardInterrupt:
            is_interrupted = True
            connection.shutdown(SHUT_WR)
            connection.settimeout(PATIENCE_S)
            said = connection.recv(STATUS_BYTES)
    except (KeyboardInterrupt, OSError):
        said = b""
    if len(said) == STATUS_BYTES:
        return int.from_bytes(said, "big", signed=True)
    if said == DECLINED and not is_interrupted:
        return None
    try:  # noqa: SIM105  # contextlib loads slowly
        os.write(2, b"\n" if is_interrupted else _ENDED)
    except OSError:  # a closed pipe
        pass
    return INTERRUPTED if is_interrupted else TRY_AGAIN


def heed(config: "Config") -> None:
    """Act on the setting ``resident``, once a command has read it.

    Raises:
        DeclinedError: This process was forked by a helper, and there should be none.
    """
    State.config = config
    if State.serving and not _is_wanted(config):
        raise DeclinedError


def require_terminal() -> None:
    """Refuse to start a program that keys control, before anything is printed.

    Who was forked by a helper is not in the terminal's session.

    Raises:
        DeclinedError: This process was forked by a helper.
    """
    if State.serving:
        raise DeclinedError


def _is_wanted(config: "Config") -> bool:
    if config.model is not None:  # it has another one loaded
        return False
    return config.resident == "on" or (config.resident == "auto" and not os.environ.get("CI"))


def leave_behind() -> None:
    """Start a helper for the commands to come, if one was missing and is wanted; it is never waited for.

    The command is done: whatever fails here changes nothing of it.
    """
    if State.missing is None or State.config is None or not _is_wanted(State.config):
        return
    from contextlib import suppress

    with suppress(OSError, MemoryError, ImportError, KeyboardInterrupt):
        _start(State.missing, State.config)


def _start(own: bytes, config: "Config") -> None:
    import subprocess
    from pathlib import Path

    from gitrag.embedding.local_model import model_directory
    from gitrag.machine.files import make_private

    place = directory_of(os.environ)
    if place is None:
        return
    make_private(Path(place))
    if not _mark(place, socket_name(own)):
        return
    utf8 = ["-X", "utf8"] if sys.flags.utf8_mode else []
    started = ["-P", *utf8, "-m", "gitrag.cli.resident_helper", place, str(model_directory(config.model_dir))]
    subprocess.run(
        ["/bin/sh", "-c", '"$@" &', "sh", sys.executable, *started],  # the shell leaves it without a parent
        check=False,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _mark(place: str, name: str) -> bool:
    """Leave a mark that a helper is started.

    Returns:
        False if one is there by now, or was started lately that has not removed its mark.
    """
    import time

    directory = open_directory(place)
    if directory is None:
        return False
    mark = mark_name(name)
    try:
        if name in os.listdir(directory):  # noqa: PTH208 - of a descriptor
            return False
        os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=directory))
    except FileExistsError:
        if abs(time.time() - os.stat(mark, dir_fd=directory).st_mtime) < RETRY_S:
            return False
        os.utime(mark, dir_fd=directory)
    finally:
        os.close(directory)
    return True
