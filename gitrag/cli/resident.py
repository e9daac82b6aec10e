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

TYPE_CHECKING = False  # typing takes as long to load as the rest of this
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Mapping, Sequence
    from pathlib import Path

COMMANDS = frozenset({"search", "graph"})
"""Commands that only read, and that are asked one after another."""

SWITCH = "GITRAG_RESIDENT"
"""The variable of the setting ``resident``: read before settings can be."""

ACCEPTED, PRINTED, DECLINED, ENDED = b"a", b"p", b"d", b"e"
"""What the helper says: that a process is there to run the command; that it is about to print; that the
settings want it run elsewhere; its exit status, in four bytes."""

PATIENCE_S = 5.0
"""How long a helper may take to fork before the command is run here."""

STATUS_BYTES = 4
_LIMITS = 16
"""Resource limits that Linux has (``RLIM_NLIMITS``)."""

_AT_START = (
    b"PYTHON",
    b"LC_",
    b"LD_",
    b"MALLOC_",
    b"GLIBC_",
    b"OMP_",
    b"OPENBLAS_",
    b"GOTO_",
    b"NPY_",
    b"ORT_",
    b"RAYON_",
    b"SSL_CERT_",
    b"TOKENIZERS_",
    b"XDG_",
)
_ALSO_AT_START = frozenset({b"HOME", b"LANG", b"LANGUAGE", b"VIRTUAL_ENV", b"CUDA_VISIBLE_DEVICES"})
"""Variables that are read when Python starts or a library is loaded: a helper has one value of each."""

_OF_STATUS = ("Uid", "Gid", "Groups", "NoNewPrivs", "Seccomp", "Cap")
_NAMESPACES = ("mnt", "user", "pid", "net")


class DeclinedError(BaseException):
    """The settings want no helper: the command must be run by the process that was started for it."""


class State:
    """What this process knows about helpers.

    Attributes:
        missing: The identity of a helper that was looked for in vain.
        serving: Whether this process was forked by a helper.
        wanted: Whether the settings of the repository allow one.
        model_dir: Where its model lies.
    """

    missing: bytes | None = None
    serving = False
    wanted = False
    model_dir: "Path | None" = None


def ask(args: "Sequence[str]") -> int | None:
    """Have the helper run a command line.

    Returns:
        Its exit status; None if it must be run here, of which nothing has been done or printed then.
    """
    if not _may_ask(args):
        return None
    identity = _identity()
    if identity is None:
        return None
    State.missing = identity
    directory = open_directory(directory_of(os.environ))
    if directory is None:
        return None
    from _socket import AF_UNIX, SOCK_STREAM, socket

    connection = socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.settimeout(PATIENCE_S)
        connection.connect(f"/proc/self/fd/{directory}/{socket_name(identity)}")
        if not is_ours(connection) or connection.recv(1) != ACCEPTED:
            return None
        connection.settimeout(None)
        _request(connection, identity)
        State.missing = None
        return _outcome(connection, may_repeat="-" not in args)
    except OSError:
        return None
    finally:
        connection.close()
        os.close(directory)


def _may_ask(args: "Sequence[str]") -> bool:
    """Tell whether a command line is of those that a helper runs, started in the usual way."""
    if sys.platform != "linux" or _command(args) not in COMMANDS or "_GITRAG_COMPLETE" in os.environ:
        return False
    if os.environ.get(SWITCH, "").strip().lower() == "off":
        return False
    if None in {sys.stdin, sys.stdout, sys.stderr} or ("-" in args and sys.stdin.isatty()):
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


def _identity() -> bytes | None:
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
    environment = [
        item for item in os.environb.items() if item[0].startswith(_AT_START) or item[0] in _ALSO_AT_START
    ]
    parts = (
        gitrag.__version__,
        gitrag.__file__,
        sys.executable,
        sys.version,
        sys.getfilesystemencoding(),
        sys.flags.utf8_mode,
        sorted(environment),
        rights,
        spaces,
        (root.st_dev, root.st_ino),
        os.getpriority(os.PRIO_PROCESS, 0),
        [resource.getrlimit(each) for each in range(_LIMITS)],
    )
    return marshal.dumps(parts)


def socket_name(identity: bytes) -> str:
    """Return the name of a helper's socket; the helper compares the identity itself."""
    from binascii import crc32

    return f"{crc32(identity):08x}-{len(identity):x}"


def directory_of(environ: "Mapping[str, str]") -> str | None:
    """Return where the sockets of this user lie: below XDG_RUNTIME_DIR, else in the user's cache."""
    home = environ.get("HOME", "")
    for base, below in (
        (environ.get("XDG_RUNTIME_DIR", ""), "gitrag"),
        (environ.get("XDG_CACHE_HOME", ""), "gitrag/resident"),
        (home and f"{home}/.cache", "gitrag/resident"),
    ):
        if base.startswith("/"):
            return f"{base}/{below}"
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


def _outcome(connection: "socket", *, may_repeat: bool) -> int | None:
    """Wait for the end of a command; return None if it ended before it printed or read anything."""
    try:
        while said := connection.recv(1):
            if said == DECLINED:
                return None
            if said == PRINTED:
                may_repeat = False
            elif said == ENDED:
                status = b""
                while len(status) < STATUS_BYTES and (part := connection.recv(STATUS_BYTES)):
                    status += part
                if len(status) == STATUS_BYTES:
                    return int.from_bytes(status, "big", signed=True)
    except KeyboardInterrupt:
        connection.close()  # which ends the command
        os.write(2, b"\n")
        return INTERRUPTED
    except OSError:
        pass
    if may_repeat:
        return None
    os.write(2, b"The process that was answering has been ended before it was done.\nhint: Ask again.\n")
    return TRY_AGAIN


def heed(mode: str, model_dir: "Path") -> None:
    """Act on the setting ``resident``, once a command has read it.

    Args:
        mode: ``auto``, ``on`` or ``off``.
        model_dir: Where the model lies that a helper should load.

    Raises:
        DeclinedError: This process was forked by a helper, and there should be none.
    """
    if State.serving and mode == "off":
        raise DeclinedError
    State.wanted = mode == "on" or (mode == "auto" and not os.environ.get("CI"))
    State.model_dir = model_dir


def leave_behind() -> None:
    """Start a helper for the commands to come, if one was missing and is wanted; it is never waited for."""
    place, identity = directory_of(os.environ), State.missing
    if place is None or identity is None or not State.wanted:
        return
    import subprocess
    from pathlib import Path

    from gitrag.machine.files import make_private

    try:
        make_private(Path(place))
    except OSError:
        return  # nothing can be written there
    utf8 = ["-X", "utf8"] if sys.flags.utf8_mode else []
    own = ["-P", *utf8, "-m", "gitrag.cli.resident_helper", place, identity.hex(), str(State.model_dir or "")]
    subprocess.run(
        ["/bin/sh", "-c", '"$@" &', "sh", sys.executable, *own],  # the shell leaves it without a parent
        check=False,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
