"""Find tokens: in the environment, the vendor's program or git's credential helper, never in a repository.

A token from the environment is sent only to the vendor's own host or to one that the user named, not to one
that only the repository's origin names. The vendor's program and the credential helper store tokens by host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from gitrag.machine.programs import Limits, ProgramError, run_program
from gitrag.trackers.base import Registration, Secret, TrackerPlace

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
