"""Plan and write the files that set up agents.

A plan holds whole files, before and after. Each change is checked before it is offered: the parsed file after
it must be the parsed file before it plus our entry.
"""

from __future__ import annotations

import json
import stat
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path

from msgspec import Struct

from gitrag.agents import jsonc, text_blocks
from gitrag.agents.clients import ALTERNATIVES, CLIENTS, SERVER, Client, Form
from gitrag.agents.text_blocks import (
    HASH,
    MARKDOWN,
    DamagedMarksError,
    Marks,
    has_block,
    with_block,
    without_block,
)
from gitrag.config.loading import TEAM_FILE, parse_team
from gitrag.errors import ConfigError, StoreError, UsageError
from gitrag.machine import files

SKILLS = ("search", "check", "prime", "index", "explore")

STRATEGY = """\
search_strategy:
  mode: hybrid
  rag:
    mcp_tool: search_code
    reindex_tool: reindex
"""

SDD_FILE = "openspec/config.yaml"
"""Where the phases of spec-driven development look for the strategy; it is never made."""

_MARK = "<!-- Written by `gitrag init --agents`; `gitrag init --agents --remove` takes it out. -->"
_MOST_BYTES = 4 * 1024 * 1024
_KEY = "search_strategy"


class FileStep(Struct, frozen=True):
    """The change of a file.

    Attributes:
        path: Relative to the repository's top level.
        before: Its content; None if it does not exist.
        after: Its new content; None to remove it.
        note: Why it is left unchanged, if that needs an explanation.
    """

    path: str
    before: str | None
    after: str | None
    note: str = ""

    @property
    def changes(self) -> bool:
        """Whether the file will change."""
        return self.before != self.after

    @property
    def action(self) -> str:
        """``written``, ``changed`` or ``removed``; ``left`` for a file that is left alone; else ``none``."""
        if not self.changes:
            return "left" if self.note else "none"
        return "written" if self.before is None else "removed" if self.after is None else "changed"


class _LeaveAloneError(Exception):
    """A file must not be changed; the text says why."""


def chosen(names: Iterable[str], root: Path) -> list[Client]:
    """Return the clients of these names; ``all`` means every one, no name those in use here."""
    wanted = _known(names)
    for client in CLIENTS:
        if client.name in wanted and not client.file:
            raise UsageError(
                f"{client.name} reads its servers from the user's file only.",
                f"gitrag agents install --user {client.name}",
            )
    own = [client for client in CLIENTS if client.file]
    if not wanted:
        return [client for client in own if any((root / trace).exists() for trace in client.traces)]
    return [client for client in own if client.name in wanted or "all" in wanted]


def chosen_of_user(names: Iterable[str], home: Path) -> list[Client]:
    """Return the clients of these names; ``all`` means every one, no name those that the user has."""
    wanted = _known(names)
    if wanted:
        return [client for client in CLIENTS if client.name in wanted or "all" in wanted]
    found = had_by_user(home)
    if not found:
        names_of_all = ", ".join(client.name for client in CLIENTS)
        raise UsageError(
            "No client's configuration is found in your home directory.", f"Name one: {names_of_all}."
        )
    return found


def had_by_user(home: Path) -> list[Client]:
    # A client makes its directory when it first runs; a file right in the home directory counts itself.
    places = {client.name: home / client.user_file for client in CLIENTS}
    return [
        client
        for client in CLIENTS
        if (place := places[client.name]).exists() or (place.parent != home and place.parent.exists())
    ]


def _known(names: Iterable[str]) -> set[str]:
    wanted = {name.lower() for given in names for name in given.replace(",", " ").split()}
    known = {client.name for client in CLIENTS}
    for name in sorted(wanted - known - {"all"}):
        raise UsageError(f'There is no agent "{name}".', f"There are: {', '.join(sorted(known))}, all.")
    return wanted


def plan(root: Path, clients: Sequence[Client], *, remove: bool = False) -> list[FileStep]:
    """Return what to write for some clients, file by file, or what to remove.

    Shared files are kept as long as one of the clients that share them is set up.
    """
    edits: dict[str, Callable[[str], str | None]] = {}
    for client in clients:
        if client.file:
            edits[_file_of(root, client)] = _entry_edit(client, remove=remove)
    for client in clients:
        edits |= _shared_edits(root, client, remove=remove)
    if remove:
        names = {client.name for client in clients}
        others = [each for each in CLIENTS if each.name not in names and _is_set_up(root, each)]
        needed = {_place(root / path) for each in others for path in _shared_edits(root, each, remove=True)}
        edits = {path: edit for path, edit in edits.items() if _place(root / path) not in needed}
    return list(_steps(root, edits, "the repository"))


def plan_of_user(home: Path, clients: Sequence[Client], *, remove: bool = False) -> list[FileStep]:
    """Return what to write into the user's own files for some clients, or what to remove: only our entry."""
    edits = {_user_file_of(home, client): _entry_edit(client, remove=remove) for client in clients}
    return list(_steps(home, edits, "your home directory"))


def commands_set_up(root: Path | None, home: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Return which clients start our server with which command, by the files of a project and of the user."""
    found = []
    for client in CLIENTS:
        if root is not None and client.file:
            own = _own_entry(root, _file_of(root, client), client)
            found.append((f"{client.name} (project)", client.command_in(own)))
        own = _own_entry(home, _user_file_of(home, client), client)
        found.append((f"{client.name} (user)", client.command_in(own)))
    return [(name, command) for name, command in found if command]


def _shared_edits(root: Path, client: Client, *, remove: bool) -> dict[str, Callable[[str], str | None]]:
    strategies = [TEAM_FILE, *([SDD_FILE] if (root / SDD_FILE).exists() else [])]
    skills = {
        f"{client.skills}/{SERVER}-{skill}/SKILL.md": _skill_edit(skill, remove=remove) for skill in SKILLS
    }
    return {client.guide: _guide_edit(remove=remove), **skills} | dict.fromkeys(
        strategies, _strategy_edit(remove=remove)
    )


def _is_set_up(root: Path, client: Client) -> bool:
    return bool(client.file) and _own_entry(root, _file_of(root, client), client) is not None


def _own_entry(root: Path, path: str, client: Client) -> object:
    """Return our entry in a client's file; None where there is none, or the file cannot be read."""
    try:
        text = (_text(_real(root, path)) or "").removeprefix("\ufeff")
        match client.form:
            case Form.TOML:
                return _entry_in(_toml(text), client)
            case Form.YAML:
                return _entry_in(text_blocks.parse(text), client)
            case Form.JSON:
                return _entry_in(jsonc.parse(text if text.strip() else "{}"), client)
    except (_LeaveAloneError, jsonc.NotJsonError, text_blocks.NotYamlError):
        return None


def apply(root: Path, steps: Sequence[FileStep], *, private: bool = False) -> None:
    """Write or remove each file atomically.

    Args:
        private: Whether the files are the user's own: a new one is readable by the user alone, and no
            directory is removed. In a repository, directories that become empty are.
    """
    for step in steps:
        if not step.changes:
            continue
        path = _real(root, step.path)
        try:
            if _text(path) != step.before:
                raise StoreError(f"{step.path} was changed by another program just now.", "Try again.")
            if step.after is None:
                path.unlink()
                if not private:
                    _remove_empty(path.parent, root.resolve())
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            new = 0o600 if private else 0o644
            mode = new if step.before is None else stat.S_IMODE(path.stat().st_mode)
            files.replace(path, step.after.encode("utf-8"), mode)
        except _LeaveAloneError as reason:
            raise StoreError(f"Cannot write {step.path}: {reason}.", "Try again.") from reason
        except OSError as error:
            raise StoreError(f"Cannot write {step.path}: {error.strerror}.", "Make it writable.") from error


def _steps(root: Path, edits: Mapping[str, Callable[[str], str | None]], inside: str) -> Iterator[FileStep]:
    seen: set[Path] = set()
    for path, edit in edits.items():
        try:
            real = _real(root, path, inside)
            if real in seen:  # AGENTS.md and CLAUDE.md are often the same file
                continue
            seen.add(real)
            before = _text(real)
        except _LeaveAloneError as reason:
            yield FileStep(path, None, None, str(reason))
            continue
        try:
            after = edit(before or "")
        except (
            _LeaveAloneError,
            jsonc.NotJsonError,
            text_blocks.NotYamlError,
            DamagedMarksError,
        ) as reason:
            yield FileStep(path, before, before, str(reason))
        else:
            yield FileStep(path, before, before if before is None and after == "" else after)


def _real(root: Path, path: str, inside: str = "the repository") -> Path:
    """Follow symbolic links within a directory; refuse one that leads out of it."""
    top = root.resolve()
    try:
        real = (root / path).resolve()
    except (RuntimeError, OSError) as error:
        raise _LeaveAloneError("its links go in a circle") from error
    if not real.is_relative_to(top) or ".git" in real.relative_to(top).parts:
        raise _LeaveAloneError(f"it leads out of {inside}")
    return real


def _place(path: Path) -> Path:
    """Follow symbolic links; refuse a cycle."""
    try:
        return path.resolve()
    except (RuntimeError, OSError):
        return path


def _text(path: Path) -> str | None:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise _LeaveAloneError("it is too large")
        return files.read_regular(path, _MOST_BYTES).decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _LeaveAloneError("it cannot be read as text") from error


def _remove_empty(folder: Path, top: Path) -> None:
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _file_of(root: Path, client: Client) -> str:
    return _existing(root, client.file)


def _user_file_of(home: Path, client: Client) -> str:
    return _existing(home, client.user_file)


def _existing(root: Path, path: str) -> str:
    """Return a client's file by the one of its names that exists."""
    other = ALTERNATIVES.get(path)
    return other if other and (root / other).exists() and not (root / path).exists() else path


def _entry_edit(client: Client, *, remove: bool) -> Callable[[str], str | None]:
    match client.form:
        case Form.TOML:
            return lambda text: _toml_edited(text, client, remove=remove)
        case Form.YAML:
            return lambda text: _yaml_edited(text, client, remove=remove)
        case Form.JSON:
            return lambda text: _json_edited(text, client, remove=remove)


def _json_edited(text: str, client: Client, *, remove: bool) -> str | None:
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    text = text.removeprefix(bom)
    before = jsonc.parse(text) if text.strip() else {}
    own = _entry_in(before, client)
    if remove:
        if own is None:
            return bom + text
        if not client.wrote(own):
            raise _LeaveAloneError(f"its entry {SERVER} was changed by hand: remove it there")
        after = jsonc.without(text, client.table, SERVER)
        return None if after is None else bom + after
    if own == client.entry:
        return bom + text
    if own is not None:
        if not client.command_in(own):
            raise _LeaveAloneError(f"it has an entry {SERVER} of its own")
        text = jsonc.without(text, client.table, SERVER) or ""  # ours, with the command of another time
        before = jsonc.parse(text) if text.strip() else {}
    after = jsonc.with_member(text, client.table, SERVER, client.entry)
    _require_same(before, jsonc.parse(after), client)
    return bom + after


def _yaml_edited(text: str, client: Client, *, remove: bool) -> str | None:
    rest = text_blocks.without_entry(text)
    if remove:
        return rest or None
    before = text_blocks.parse(rest)
    if _entry_in(before, client) is not None:
        raise _LeaveAloneError(f"it has an entry {SERVER} of its own")
    after = text_blocks.with_entry(rest, client.table, SERVER, client.entry)
    table = before.get(client.table)
    _require_same(
        before if table is not None else {**before, client.table: {}}, text_blocks.parse(after), client
    )
    return after


def _toml_edited(text: str, client: Client, *, remove: bool) -> str | None:
    if remove:
        return without_block(text, HASH) or None
    before = _toml(without_block(text, HASH))
    own = _entry_in(before, client)
    if own is not None:
        if own != client.entry:
            raise _LeaveAloneError(f"it has an entry {SERVER} of its own")
        return text
    lines = [
        f"[{client.table}.{SERVER}]",
        *(f"{key} = {json.dumps(each)}" for key, each in client.entry.items()),
    ]
    after = with_block(text, HASH, "\n".join(lines))
    try:
        _require_same(before, tomllib.loads(after), client)
    except tomllib.TOMLDecodeError as error:
        raise _LeaveAloneError(f"{client.table} is written in it so that nothing can be added") from error
    return after


def _toml(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _LeaveAloneError(f"it is no TOML: {error}") from error
    except RecursionError as error:
        raise _LeaveAloneError("it nests too deep") from error


def _entry_in(content: object, client: Client) -> object:
    table = content.get(client.table) if isinstance(content, dict) else None
    return table.get(SERVER) if isinstance(table, dict) else None


def _require_same(before: object, after: object, client: Client) -> None:
    """Check that nothing but our entry has changed."""
    if not isinstance(before, dict) or not isinstance(before.get(client.table, {}), dict):
        raise _LeaveAloneError(f"its {client.table} is no table")
    expected = {**before, client.table: {**before.get(client.table, {}), SERVER: dict(client.entry)}}
    if after != expected:
        raise _LeaveAloneError("an edit would change more than our entry")


def _guide_edit(*, remove: bool) -> Callable[[str], str | None]:
    return lambda text: _block_edited(text, MARKDOWN, _shipped("guide.md"), remove=remove)


def _block_edited(text: str, marks: Marks, body: str, *, remove: bool) -> str | None:
    if remove:
        return (without_block(text, marks) or None) if has_block(text, marks) else text
    return with_block(text, marks, body)


def _skill_edit(skill: str, *, remove: bool) -> Callable[[str], str | None]:
    shipped = _shipped(f"{SERVER}-{skill}/SKILL.md")
    whole = f"{shipped.rstrip()}\n\n{_MARK}\n"

    def edit(text: str) -> str | None:
        if text and _MARK not in text:
            raise _LeaveAloneError("it is not gitrag's")
        return (None if text else "") if remove else whole

    return edit


def _strategy_edit(*, remove: bool) -> Callable[[str], str | None]:
    def edit(text: str) -> str | None:
        after = _block_edited(text, HASH, STRATEGY, remove=remove)
        if remove:
            return after
        try:
            before = parse_team(without_block(text, HASH).encode())
            if _KEY in before:
                raise _LeaveAloneError(f"it says {_KEY} itself")
            expected = {**before, **parse_team(STRATEGY.encode())}
            if parse_team((after or "").encode()) != expected:
                raise _LeaveAloneError("an edit would change more than our key")
        except ConfigError as error:
            raise _LeaveAloneError(f"nothing can be added to it: {error}") from error
        return after

    return edit


def _shipped(name: str) -> str:
    return resources.files("gitrag.agents").joinpath("texts", name).read_text("utf-8")
