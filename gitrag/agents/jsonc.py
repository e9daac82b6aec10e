"""Edit JSON, or JSON with comments, without changing any other byte. Pure.

`with_member` adds a member to the table of servers in a client's file; `without` removes it and restores
exactly what was there before. The member is written in the file's own style: indentation, line ends, trailing
commas.

The parser is our own: tree-sitter's JSON grammar takes trailing commas for errors and accepts control
characters and a second value; libraries that read JSONC return values without the positions an edit needs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from msgspec import Struct

Json = object
"""What ``json.loads`` may return."""

_DEEPEST = 100
_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"[-+.0-9A-Za-z]+")
_LINE_INDENT = re.compile(r"[ \t]*")


class NotJsonError(ValueError):
    """The text is not JSON, with or without comments, or has an unexpected structure."""


class _Member(Struct, frozen=True):
    key: str
    key_start: int
    value: _JsonNode
    comma: int  # where the comma after it is; -1 if there is none


class _JsonNode(Struct, frozen=True):
    value: Json
    start: int
    end: int
    members: tuple[_Member, ...] | None = None  # of an object

    def member(self, key: str) -> int:
        """Return the index of the last member of a name, which is the one in effect; -1 if there is none."""
        places = [place for place, each in enumerate(self.members or ()) if each.key == key]
        return places[-1] if places else -1


def parse(text: str) -> Json:
    """Parse JSON with comments and trailing commas.

    Raises:
        NotJsonError: The text is not JSON.
    """
    return _read(text).value


def with_member(text: str, table: str, name: str, value: Mapping[str, Json]) -> str:
    """Add a member to a table of the top-level object; create the table if it is missing.

    Args:
        text: The file's text; empty for a new file.

    Raises:
        NotJsonError: The file is not JSON, or it or its table is not an object.
    """
    if not text.strip():
        return json.dumps({table: {name: value}}, indent=2) + "\n"
    root = _object(_read(text), "the file")
    place = root.member(table)
    unit = _unit(text, root)
    if place < 0:
        return _inserted(text, root, table, {name: value}, unit, fresh=True)
    found = _object((root.members or ())[place].value, table)
    return _inserted(text, found, name, value, unit, fresh=False)


def without(text: str, table: str, name: str) -> str | None:
    """Remove a member, and the table if it was created for it; return None if the whole file was."""
    root = _object(_read(text), "the file")
    place = root.member(table)
    if place < 0:
        return text
    found = _object((root.members or ())[place].value, table)
    own = found.member(name)
    if own < 0:
        return text
    if not _made_for(text, found):
        return _cut(text, found, own)
    return None if _made_for(text, root) else _cut(text, root, place)


def _made_for(text: str, node: _JsonNode) -> bool:
    """Return whether we created an object: its only member is on a line of its own, without comments.

    A member added to an empty object of the user's is on the line of the bracket.
    """
    if len(node.members or ()) != 1:
        return False
    only = (node.members or ())[0]
    before, after = text[node.start + 1 : only.key_start], text[only.value.end : node.end - 1]
    return "\n" in before and not (before + after).strip()


def _inserted(text: str, node: _JsonNode, key: str, value: Json, unit: str, *, fresh: bool) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    members = node.members or ()
    last = members[-1] if members else None
    has_comma = last is not None and last.comma >= 0
    anchor = node.start + 1 if last is None else last.comma + 1 if has_comma else last.value.end
    end = anchor + len(text[anchor : node.end - 1].rstrip())  # after a comment, if one follows
    lines = "\n" in text[node.start : last.key_start] if last else end > anchor
    if not lines and "\n" not in text[anchor : node.end - 1]:
        dump = _pretty(value, unit, newline, "") if fresh else json.dumps(value)
        member = f"{json.dumps(key)}: {dump}" + ("," if has_comma else "")
        comma = "," if last is not None and not has_comma else ""
        blank = " " if last is not None else ""
        return text[:anchor] + comma + blank + member + text[anchor:]
    indent = _indent(text, last.key_start) if last and lines else _indent(text, node.start) + unit
    if last is None and end == anchor:  # an empty object over several lines
        dump = _pretty(value, unit, newline, "") if fresh else json.dumps(value)
        return text[:anchor] + f"{json.dumps(key)}: {dump}" + text[anchor:]
    member = newline + indent + f"{json.dumps(key)}: {_pretty(value, unit, newline, indent)}"
    if last is None or has_comma:
        return text[:end] + member + ("," if has_comma else "") + text[end:]
    return text[:anchor] + "," + text[anchor:end] + member + text[end:]


def _cut(text: str, node: _JsonNode, place: int) -> str:
    members = node.members or ()
    own = members[place]
    before = members[place - 1] if place else None
    floor = before.comma + 1 if before else node.start + 1
    start = floor + len(text[floor : own.key_start].rstrip())
    if own.comma >= 0:
        return text[:start] + text[own.comma + 1 :]
    rest = text[own.value.end :]
    if before is None:
        return text[:start] + rest
    return text[: before.comma] + text[before.comma + 1 : start] + rest


def _pretty(value: Json, unit: str, newline: str, indent: str) -> str:
    return json.dumps(value, indent=unit).replace("\n", newline + indent)


def _indent(text: str, at: int) -> str:
    line = text.rfind("\n", 0, at) + 1
    found = _LINE_INDENT.match(text, line)
    return found[0] if found else ""


def _unit(text: str, root: _JsonNode) -> str:
    """Return one step of the file's indentation."""
    members = root.members or ()
    if members and "\n" in text[root.start : members[0].key_start]:
        return _indent(text, members[0].key_start).removeprefix(_indent(text, root.start)) or "  "
    return "  "


def _object(node: _JsonNode, what: str) -> _JsonNode:
    if node.members is None:
        raise NotJsonError(f"{what} is no object")
    return node


def _read(text: str) -> _JsonNode:
    node = _value(text, _skip(text, 0), 0)
    if _skip(text, node.end) != len(text):
        raise NotJsonError(f"line {_line(text, node.end)}: more than one value")
    return node


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> _JsonNode:
    if depth > _DEEPEST:
        raise NotJsonError("it nests too deep")
    opening = text[at : at + 1]
    if opening == "{":
        return _members(text, at, depth)
    if opening == "[":
        return _items(text, at, depth)
    found = (_STRING if opening == '"' else _WORD).match(text, at)
    try:
        return _JsonNode(json.loads(found[0] if found else ""), at, found.end() if found else at)
    except ValueError as error:
        raise NotJsonError(f"line {_line(text, at)}: no JSON value") from error


def _members(text: str, start: int, depth: int) -> _JsonNode:
    members: list[_Member] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        if members and members[-1].comma < 0:
            raise NotJsonError(f"line {_line(text, at)}: a comma is missing")
        found = _STRING.match(text, at)
        colon = _skip(text, found.end()) if found else at
        if found is None or text[colon : colon + 1] != ":":
            raise NotJsonError(f"line {_line(text, at)}: a key is missing")
        value = _value(text, _skip(text, colon + 1), depth + 1)
        after = _skip(text, value.end)
        comma = after if text[after : after + 1] == "," else -1
        members.append(_Member(json.loads(found[0]), at, value, comma))
        at = _skip(text, after + 1 if comma >= 0 else after)
    return _JsonNode({each.key: each.value.value for each in members}, start, at + 1, tuple(members))


def _items(text: str, start: int, depth: int) -> _JsonNode:
    items: list[Json] = []
    at = _skip(text, start + 1)
    may_follow = True
    while text[at : at + 1] != "]":
        if not may_follow:
            raise NotJsonError(f"line {_line(text, at)}: a comma is missing")
        item = _value(text, at, depth + 1)
        items.append(item.value)
        at = _skip(text, item.end)
        may_follow = text[at : at + 1] == ","
        at = _skip(text, at + 1) if may_follow else at
    return _JsonNode(items, start, at + 1)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
