"""Which tracker holds a repository's issues, and the token for it.

The tracker is found in this order: the settings; the host of the remote "origin", by its full name or first
label; ``.beads`` in the working tree; a request that only one kind of server answers; tasks.md.

Tokens are found in the environment, the vendor's program or git's credential helper, never in a repository.
One from the environment is sent only to the vendor's own host or to one that the user named, not to one that
only the repository's origin names. The vendor's program and the credential helper store tokens by host.
"""

from __future__ import annotations

import json
import queue
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from msgspec import Struct

from gitrag.config.rules import ADDRESS, LOCAL_HOSTS
from gitrag.machine.programs import Limits, ProgramError, run_program
from gitrag.machine.receiving import ASKED_ENCODING, ReceivingError, opened, received
from gitrag.trackers import beads, gitea, github, gitlab, jira, linear, tasks_md
from gitrag.trackers.base import Registration, Secret, TrackerPlace, TrackerSetupError

if TYPE_CHECKING:
    import httpx2

Credentials = Callable[[str], str]
"""Returns the password that git's credential helper has for a URL; empty if it has none."""

_PROGRAM_TIMEOUT_S = 10.0
_MOST_BYTES = 64 * 1024


def find_secret(
    registration: Registration,
    place: TrackerPlace,
    environ: Mapping[str, str],
    credentials: Credentials | None,
) -> Secret | None:
    """Return the token for a place, or None.

    Args:
        credentials: Asks git's credential helper; None if the user does not want that.
    """
    host = urlsplit(place.base).hostname or ""
    if not host:
        return None
    if may_have(registration, place, environ):
        other = () if host in registration.hosts else registration.other_variables
        for name in (*other, *registration.variables):
            if value := _clean(environ.get(name, "")):
                return Secret(value, name)
    if registration.cli and (value := _from_program(registration, place.base, environ)):
        return Secret(value, registration.cli[0])
    if credentials is not None and (value := _clean(credentials(place.base))):
        return Secret(value, "git credential")
    return None


def may_have(registration: Registration, place: TrackerPlace, environ: Mapping[str, str]) -> bool:
    """Return whether the environment's token may be sent to a place."""
    host = urlsplit(place.base).hostname or ""
    return place.trusted or host in registration.hosts or host in named_hosts(registration, environ)


def named_hosts(registration: Registration, environ: Mapping[str, str]) -> set[str]:
    """Return the hosts that the user's environment names for a tracker."""
    values = (environ.get(name, "") for name in registration.server_variables)
    return {host for value in values if value and (host := _host(value))}


def _host(value: str) -> str:
    try:
        return urlsplit(value if "://" in value else f"https://{value}").hostname or ""
    except ValueError:
        return ""


def _from_program(registration: Registration, base: str, environ: Mapping[str, str]) -> str:
    """Ask the vendor's program, without tokens in its environment: it would return those for any host."""
    kept = {name: value for name, value in environ.items() if "TOKEN" not in name.upper()}
    parts = urlsplit(base)
    names = {"host": parts.hostname, "address": parts.netloc}
    try:
        done = run_program(
            [part.format(**names) for part in registration.cli],
            kept,
            Limits(_PROGRAM_TIMEOUT_S, _MOST_BYTES),
            stdin=registration.cli_input.format(**names).encode(),
        )
    except (OSError, ProgramError):
        return ""
    if done.returncode:
        return ""
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    password = next((line.partition("=")[2] for line in lines if line.startswith("password=")), "")
    return _clean(password or (lines[0] if lines and not registration.cli_input else ""))


def _clean(value: str) -> str:
    """Return a token that is valid in a header, else an empty string."""
    value = value.strip()
    return value if value.isascii() and value.isprintable() and " " not in value else ""


TRACKERS: Mapping[str, Registration] = {
    each.name: each
    for each in (
        github.TRACKER,
        gitea.TRACKER,
        gitlab.TRACKER,
        jira.TRACKER,
        linear.TRACKER,
        beads.TRACKER,
        tasks_md.TRACKER,
    )
}
"""All trackers by name, in the order in which they are tried."""


AUTO = "auto"
NONE = "none"

_PATH = re.compile(r"(?!.*(?:^|/)\.{1,2}(?:/|$))[\w.-]+(?:/[\w.-]+)+", re.ASCII)
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>\[[^\]]+\]|[^:/\s]+):(?P<path>.+)")
_PROBE_TIMEOUT_S = 5.0
_PROBES_S = 20.0
"""Time limit for probing all kinds of servers together."""

_PROBE_BYTES = 1024 * 1024


class Wishes(Struct, frozen=True):
    """The settings on the tracker.

    Attributes:
        tracker: A name of the registry, ``auto`` or ``none``.
        url: The server that the user named; empty if none.
        project: ``owner/name``, or the key of a project or team; empty for that of origin.
    """

    tracker: str = AUTO
    url: str = ""
    project: str = ""


RemoteOrigin = tuple[str, str, str]
"""Where a repository was cloned from: the server's web address without user and password, ``https://host``,
its host, and ``owner/name``."""


def read_origin(url: str) -> RemoteOrigin | None:
    """Parse a remote's URL in any of git's forms; None for a path, or if it names no project."""
    scheme, found, rest = url.partition("://")
    if found:
        try:
            parts = urlsplit(f"{scheme}://{rest}")
            host, port = parts.hostname or "", parts.port
        except ValueError:
            return None
        path = parts.path
    else:
        scp = _SCP.fullmatch(url)
        if not scp:
            return None
        scheme, host, port, path = "ssh", scp["host"].strip("[]").lower(), None, scp["path"]
    if scheme not in {"https", "http", "ssh", "git", "git+ssh", "ssh+git"} or not host:
        return None
    path = path.strip("/").removesuffix(".git")
    if not _PATH.fullmatch(path):
        return None
    local = host in LOCAL_HOSTS and scheme == "http"
    shown = f"[{host}]" if ":" in host else host
    numbered = f":{port}" if port and scheme in {"http", "https"} else ""
    return f"{'http' if local else 'https'}://{shown}{numbered}", host, path


def find_place(
    wishes: Wishes,
    origin: RemoteOrigin | None,
    root: Path,
    environ: Mapping[str, str],
    *,
    remembered: str = "",
    probe: Callable[[str], str] | None = None,
) -> TrackerPlace | None:
    """Return where the issues are; None if the settings turn trackers off, or none is found.

    Args:
        probe: Asks a server which tracker it runs; None to stay off the network.
    """
    if wishes.tracker == NONE:
        return None
    if wishes.tracker != AUTO:
        return _chosen(TRACKERS[wishes.tracker], wishes, origin, environ)
    base = wishes.url or (origin[0] if origin else "")
    name = of_host(urlsplit(base).hostname or "", environ) if base else ""
    if not name and not wishes.url and _has_beads(root):
        return TrackerPlace(beads.TRACKER.name)
    if base and not name:
        name = probe(base) if probe is not None else remembered
    if name in TRACKERS and (wishes.url or "/" in TRACKERS[name].project):
        return _chosen(TRACKERS[name], wishes, origin, environ)
    return TrackerPlace(tasks_md.TRACKER.name) if next(tasks_md.task_files(root), None) else None


def of_host(host: str, environ: Mapping[str, str]) -> str:
    """Return the tracker that a host runs, judging by its name; empty if the name does not tell."""
    label = host.partition(".")[0]
    for each in TRACKERS.values():
        if host in {*each.hosts, *each.aliases}:
            return each.name
    for each in TRACKERS.values():
        if host in named_hosts(each, environ) or ("." in host and label in each.labels):
            return each.name
    return ""


def code_address(origin: RemoteOrigin | None, environ: Mapping[str, str]) -> str:
    """Return the pattern of the address of lines at a forge; empty where the host's name tells none."""
    base, host, path = origin or ("", "", "")
    forge = TRACKERS.get(of_host(host, environ)) if host else None
    return f"{base}/{quote(path)}{forge.code}" if forge and forge.code else ""


def probe(base: str) -> str:
    """Ask a server without a token for what only one tracker has; return which answered, empty for none."""
    found: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: found.put(_probed(base)), daemon=True, name="probe").start()
    try:
        return found.get(timeout=_PROBES_S)  # a server may send its headers one byte per second
    except queue.Empty:
        return ""


def _probed(base: str) -> str:
    import httpx2

    try:
        with httpx2.Client(timeout=_PROBE_TIMEOUT_S, headers={"Accept-Encoding": ASKED_ENCODING}) as client:
            for each in TRACKERS.values():
                if each.probe is None:
                    continue
                path, mark = each.probe
                with opened(client, client.build_request("GET", base + path), follow=False) as answer:
                    if mark in answer.headers or (answer.is_success and _has_field(answer, mark)):
                        return each.name
    except (httpx2.HTTPError, httpx2.InvalidURL, ReceivingError, ImportError, ValueError):
        return ""
    return ""


def _has_field(answer: httpx2.Response, mark: str) -> bool:
    content = b"".join(received(answer, _PROBE_BYTES))
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) and isinstance(data.get(mark), str)


def _chosen(
    registration: Registration, wishes: Wishes, origin: RemoteOrigin | None, environ: Mapping[str, str]
) -> TrackerPlace:
    """Return the place of a given tracker: the user's server and project, else origin's."""
    name = registration.name
    if not registration.project:
        return TrackerPlace(name)
    by_path = "/" in registration.project
    base, trusted = wishes.url, bool(wishes.url)
    if not base and by_path and origin:
        base = origin[0]
    if not base:
        base, trusted = _default_base(registration, environ), True
    if not base:
        raise TrackerSetupError(
            f"Nothing says which {name} server has the issues.",
            "git config --global gitrag.trackerUrl https://tracker.example.com",
        )
    project = wishes.project or (origin[2] if origin and by_path else "")
    form = _PATH if by_path else _KEY
    if not form.fullmatch(project):
        said = (
            f'"{project[:60]}" is no project of {name}'
            if project
            else f"Nothing says which project of {name} it is"
        )
        raise TrackerSetupError(f"{said}.", f"git config gitrag.trackerProject {registration.project}")
    if urlsplit(base).hostname in registration.aliases:
        base = f"https://{registration.hosts[0]}"
    return TrackerPlace(name, base.rstrip("/"), project, trusted)


def _default_base(registration: Registration, environ: Mapping[str, str]) -> str:
    for variable in registration.server_variables:
        if value := environ.get(variable, ""):
            try:
                return ADDRESS.parse(value if "://" in value else f"https://{value}")
            except ValueError as error:
                raise TrackerSetupError(
                    f"{variable} is no server's address: it must be {ADDRESS.allowed}.", f"unset {variable}"
                ) from error
    return f"https://{registration.hosts[0]}" if registration.hosts else ""


def _has_beads(root: Path) -> bool:
    folder = root / beads.FOLDER
    return folder.is_dir() and not folder.is_symlink()
