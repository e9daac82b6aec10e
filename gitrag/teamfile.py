"""``.gitrag.yaml``, the settings a team commits: read with bounds, since a stranger may have written it.

Only the shape is read here, as text: ``off`` stays ``off`` and ``1.10`` stays ``1.10`` until a key's own rule
reads them. What each key may hold is gitrag.config's.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitrag.errors import ConfigError

if TYPE_CHECKING:
    import yaml

TEAM_FILE = ".gitrag.yaml"
TEAM_FILE_BYTES = 64 * 1024
"""Hundreds of globs fit; PyYAML reads some 0.1 MB/s, so the worst file costs well under a second."""
TEAM_DEPTH = 16
"""Deeper than any setting lies; far from Python's recursion limit."""

_PLAIN_TAGS = frozenset({"str", "int", "float", "bool", "null", "timestamp", "seq", "map", "merge", "value"})

_QUOTE_STAR = "aliases are not allowed; a value that begins with * needs quotes ('*.min.js')"

TeamValue = str | None | list["TeamValue"] | dict[str, "TeamValue"]
"""A scalar's text, None where it is empty, a list or a mapping."""


def read_team(root: Path) -> bytes | None:
    """Return what ``.gitrag.yaml`` at a worktree's top holds, or None where there is none.

    Raises:
        ConfigError: It is no regular file (a link could point at anything), cannot be read, or is too large.
    """
    path = root / TEAM_FILE
    try:
        # Non-blocking, or a FIFO of that name would hold every command.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(
            f"{TEAM_FILE} cannot be read: {error.strerror}.", "It must be a regular file."
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigError(f"{TEAM_FILE} is not a regular file.", "Put the settings in a file of that name.")
    with os.fdopen(descriptor, "rb") as file:
        return file.read(TEAM_FILE_BYTES + 1)


def parse_team(content: bytes) -> dict[str, TeamValue]:
    """Read the mapping that ``.gitrag.yaml`` holds; an empty file is an empty mapping.

    Raises:
        ConfigError: It is larger or deeper than settings are, uses aliases or tags, names a key twice, or is
            no YAML; the message names the line.
    """
    if len(content) > TEAM_FILE_BYTES:
        raise ConfigError(f"{TEAM_FILE} is larger than {TEAM_FILE_BYTES} bytes.", f"Shorten {TEAM_FILE}.")
    if not content.strip():
        return {}
    import yaml

    node = _compose(content)
    if node is None or node.tag == "tag:yaml.org,2002:null":  # nothing but comments, or `---`
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise _wrong("it must hold lines of the form `key: value`", node.start_mark)
    return _mapping(node)


def _compose(content: bytes) -> yaml.Node | None:
    import yaml

    class Bounded(yaml.SafeLoader):
        """The safe loader without aliases (a few lines of them unfold to gigabytes) and with a depth."""

        depth = 0

        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it out
            if isinstance(event, yaml.AliasEvent):
                raise _wrong(_QUOTE_STAR, event.start_mark)
            self.depth += 1
            if self.depth > TEAM_DEPTH:
                raise _wrong(f"more than {TEAM_DEPTH} levels deep", event.start_mark)
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    try:
        return Bounded(content).get_single_node()
    except yaml.MarkedYAMLError as error:
        star = error.context == "while scanning an alias"
        problem = _QUOTE_STAR if star else str(error.problem or error.context)
        raise _wrong(problem, error.problem_mark or error.context_mark) from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise ConfigError(f"{TEAM_FILE} is not UTF-8 text.", f"Edit {TEAM_FILE}.") from error


def _mapping(node: yaml.MappingNode) -> dict[str, TeamValue]:
    import yaml

    _check_tag(node)
    found: dict[str, TeamValue] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _wrong("a key must be a word", key.start_mark)
        if key.value in found:
            raise _wrong(f"{key.value[:60]!r} is set twice", key.start_mark)
        _check_tag(key)
        found[key.value] = _value(value)
    return found


def _value(node: yaml.Node) -> TeamValue:
    import yaml

    _check_tag(node)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item) for item in node.value]
    empty = node.tag == "tag:yaml.org,2002:null"
    return None if empty else str(node.value)


def _check_tag(node: yaml.Node) -> None:
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if kind not in _PLAIN_TAGS:
        raise _wrong(
            f"tags are not allowed; a value that begins with ! needs quotes ('{kind[:60]}')", node.start_mark
        )


def _wrong(problem: str, mark: Any) -> ConfigError:
    where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return ConfigError(f"{TEAM_FILE}{where}: {problem}.", f"Edit {TEAM_FILE}.")
