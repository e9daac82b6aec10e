"""Edit ``core_files.yaml`` without changing any byte that need not change. Pure.

People write this file too: comments, keys of their own, quotes and blank lines stay as they are. PyYAML tells
where each value is in the text; lines are inserted, replaced or removed there. Dumping the parsed file, even
with ruamel.yaml, would rewrite all of it. Each edit is parsed again before it is returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from gitrag.errors import ConfigError
from gitrag.words.bounded_yaml import YamlValue, compose_mapping, is_readable, parse_mapping

if TYPE_CHECKING:
    import yaml

Entries = list[dict[str, YamlValue]]

_BOM = "\ufeff"
_WIDEST = 1 << 30


class CannotEditError(ValueError):
    """The text is written in a way that an edit would change more than requested."""


_EntryChange = tuple[int, int, str]
"""A replacement of a part of the text, from its start to its end; an insertion if that part is empty."""


def with_entry(content: bytes, name: str, most_bytes: int, project: str, path: str, summary: str) -> bytes:
    """Add an entry at the end of its project, or set the summary of the existing one.

    If a path has several entries, the last one is in effect, so that one is changed.

    Args:
        content: The file's text, of the form ``{project: [{path, summary}]}``.
        name: The file's name for messages.

    Raises:
        CannotEditError: The edit would change more than this entry.
    """
    edit = _Edit(content, name, most_bytes)
    expected = edit.before
    entries = expected.get(project) or []
    place = next((at for at in reversed(range(len(entries))) if entries[at].get("path") == path), None)
    if place is None:
        expected[project] = [*entries, {"path": path, "summary": summary}]
        return edit.done(edit.added(project, path, summary), expected)
    expected[project] = [
        {**each, "summary": summary} if at == place else each for at, each in enumerate(entries)
    ]
    return edit.done(edit.changed(project, place, summary), expected)


def without_entries(content: bytes, name: str, most_bytes: int, project: str, path: str) -> bytes:
    """Remove all entries of a path, and their project if it becomes empty, unless its line has a comment.

    Arguments and errors as in `with_entry`.
    """
    edit = _Edit(content, name, most_bytes)
    expected = edit.before
    entries = expected.get(project) or []
    gone = {at for at, each in enumerate(entries) if each.get("path") == path}
    expected[project] = [each for at, each in enumerate(entries) if at not in gone]
    return edit.done(edit.cut(project, gone), expected)


def renamed(content: bytes, name: str, most_bytes: int, project: str, new: str) -> bytes:
    """Give a project another name, which none has. Arguments and errors as in `with_entry`."""
    edit = _Edit(content, name, most_bytes)
    expected = {new if each == project else each: entries for each, entries in edit.before.items()}
    return edit.done(edit.called(project, new), expected)


class _Edit:
    """One edit of one text."""

    def __init__(self, content: bytes, name: str, most_bytes: int) -> None:
        self._name = name
        self._most_bytes = most_bytes
        self.before = _entries(parse_mapping(content, name, most_bytes))
        self._root = compose_mapping(content, name, most_bytes)
        try:
            self._text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise CannotEditError("it is not UTF-8") from error
        self._newline = "\r\n" if "\r\n" in self._text else "\n"

    def added(self, project: str, path: str, summary: str) -> list[_EntryChange]:
        pair = self._project(project)
        if pair is None:
            return self._with_project(project, path, summary)
        key, value = pair
        member = f"{{path: {_scalar(path)}, summary: {_scalar(summary)}}}"
        if _in_brackets(value):
            return [self._into_flow(value, member)]
        if not value.value or not isinstance(value.value, list):  # empty, or a spelled-out null
            line = self._line_end(max(value.end_mark.index, key.end_mark.index))
            lines = self._lines(key.start_mark.column, path, summary)
            return [
                (value.start_mark.index, value.end_mark.index, ""),
                (line, line, lines),
            ]
        at = self._line_end(self._end(value))
        column = self._column(self._dash(value.value[0], key.end_mark.index))
        return [(at, at, self._lines(column, path, summary))]

    def changed(self, project: str, place: int, summary: str) -> list[_EntryChange]:
        entry = self._items(project)[place]
        for key, value in entry.value:
            if key.value == "summary":
                start, end = value.start_mark.index, self._end(value)
                blank = " " if start == end and not self._text[:start].endswith((" ", "\t")) else ""
                return [(start, end, blank + _scalar(summary))]
        end = self._end(entry.value[-1][1])
        if _in_brackets(entry):
            return [(end, end, f", summary: {_scalar(summary)}")]
        at = self._line_end(end)
        column = entry.value[0][0].start_mark.column
        return [(at, at, f"{self._newline}{' ' * column}summary: {_scalar(summary)}")]

    def cut(self, project: str, gone: set[int]) -> list[_EntryChange]:
        pair = self._project(project)
        if pair is None or not gone:
            return []
        key, value = pair
        items = self._items(project)
        if _in_brackets(value):
            return list(self._out_of_flow(value, gone))
        changes = []
        for at in sorted(gone):
            floor = self._end(items[at - 1]) if at else key.end_mark.index
            dash = self._dash(items[at], floor)
            changes.append(self._whole_lines(dash, self._end(items[at])))
        if len(gone) < len(items):
            return changes
        colon = self._text.index(":", key.end_mark.index) + 1
        rest = self._text[colon : self._line_end(colon)]
        if rest.strip() or self._root is None or _in_brackets(self._root):
            return [*changes, (colon, colon, " []")]
        return [*changes, self._whole_lines(key.start_mark.index, colon)]

    def called(self, project: str, new: str) -> list[_EntryChange]:
        pair = self._project(project)
        if pair is None:
            return []
        start, end = pair[0].start_mark.index, pair[0].end_mark.index
        return [(start, end, _scalar(new))]

    def done(self, changes: list[_EntryChange], expected: Mapping[str, Entries]) -> bytes:
        """Apply the changes, and check that nothing else has changed."""
        text = self._text
        for start, end, new in sorted(changes, key=lambda each: each[0], reverse=True):
            text = text[:start] + new + text[end:]
        if not text.removeprefix(_BOM).strip():
            text = "{}" + self._newline
        content = text.encode("utf-8", "surrogatepass")
        left = {project: entries for project, entries in expected.items() if entries}
        try:
            after = _entries(parse_mapping(content, self._name, max(self._most_bytes, len(content))))
        except ConfigError as error:
            raise CannotEditError("an edit would make it unreadable") from error
        if {project: entries for project, entries in after.items() if entries} != left:
            raise CannotEditError("an edit would change more than this entry")
        return content

    def _project(self, project: str) -> tuple[yaml.Node, yaml.Node] | None:
        pairs = [] if self._root is None else self._root.value
        return next(((key, value) for key, value in pairs if key.value == project), None)

    def _items(self, project: str) -> list[yaml.MappingNode]:
        pair = self._project(project)
        return pair[1].value if pair is not None else []

    def _with_project(self, project: str, path: str, summary: str) -> list[_EntryChange]:
        root = self._root
        if root is not None and _in_brackets(root) and root.value:
            entry = f"{{path: {_scalar(path)}, summary: {_scalar(summary)}}}"
            return [self._into_flow(root, f"{_scalar(project)}: [{entry}]")]
        column = root.start_mark.column if root is not None and root.value else 0
        lines = f"{' ' * column}{_scalar(project)}:{self._lines(column, path, summary)}"
        if root is not None and not root.value:  # {}
            return [(root.start_mark.index, root.end_mark.index, lines)]
        if root is None:
            text = self._text
            blank = "" if not text.removeprefix(_BOM) or text.endswith("\n") else self._newline
            return [(len(text), len(text), blank + lines + self._newline)]
        at = self._line_end(self._end(root))
        return [(at, at, self._newline + lines)]

    def _lines(self, column: int, path: str, summary: str) -> str:
        """Return an entry as lines, each preceded by a line end."""
        indent = self._newline + " " * column
        return f"{indent}- path: {_scalar(path)}{indent}  summary: {_scalar(summary)}"

    def _into_flow(self, node: yaml.Node, member: str) -> _EntryChange:
        if not node.value:
            return (node.start_mark.index + 1, node.start_mark.index + 1, member)
        last = node.value[-1]
        end = self._end(last[1] if isinstance(last, tuple) else last)
        return (end, end, f", {member}")

    def _out_of_flow(self, value: yaml.Node, gone: set[int]) -> Iterator[_EntryChange]:
        items = value.value
        if len(gone) == len(items):
            yield (value.start_mark.index + 1, value.end_mark.index - 1, "")
            return
        for at in sorted(gone - {each + 1 for each in gone}):  # where each run of adjacent entries begins
            end = at
            while end in gone:
                end += 1
            if end < len(items):  # with the commas after them, else with those before
                yield (items[at].start_mark.index, items[end].start_mark.index, "")
            else:
                yield (items[at - 1].end_mark.index, items[-1].end_mark.index, "")

    def _end(self, node: yaml.Node) -> int:
        """Return where a node's own text ends: PyYAML's end mark may include what follows it."""
        import yaml

        while node.value and not _in_brackets(node):
            if isinstance(node, yaml.MappingNode):
                node = node.value[-1][1]
            elif isinstance(node, yaml.SequenceNode):
                node = node.value[-1]
            else:
                break
        start, end = node.start_mark.index, node.end_mark.index
        return start + len(self._text[start:end].rstrip()) if end > start else start

    def _line_end(self, at: int) -> int:
        found = self._text.find("\n", at)
        end = len(self._text) if found < 0 else found
        return end - 1 if self._text[:end].endswith("\r") else end

    def _whole_lines(self, start: int, end: int) -> _EntryChange:
        first = self._text.rfind("\n", 0, start) + 1
        if first == 0 and self._text.startswith(_BOM):
            first = 1
        following = self._text.find("\n", end)
        return (first, len(self._text) if following < 0 else following + 1, "")

    def _dash(self, item: yaml.Node, floor: int) -> int:
        """Return where the dash of a list item is: in the item's line, or alone in an earlier one."""
        at = item.start_mark.index
        while at > floor:
            first = self._text.rfind("\n", 0, at) + 1
            line = self._text[first : at + 1].removeprefix(_BOM)
            if line.lstrip().startswith("-"):
                return first + self._text[first:].index("-")
            at = first - 1
        raise CannotEditError("an entry's dash cannot be found")

    def _column(self, at: int) -> int:
        return at - self._text.rfind("\n", 0, at) - 1


def _in_brackets(node: yaml.Node) -> bool:
    return getattr(node, "flow_style", None) is True


def _entries(parsed: Mapping[str, YamlValue]) -> dict[str, Entries]:
    """Return the entries of each project; values of another form are left for the reader to report."""
    found: dict[str, Entries] = {}
    for project, value in parsed.items():
        if value is not None and not (
            isinstance(value, list) and all(isinstance(each, dict) for each in value)
        ):
            raise CannotEditError("it is not of the form {project: [{path: …, summary: …}]}")
        found[project] = [each for each in value or [] if isinstance(each, dict)]
    return found


def _scalar(text: str) -> str:
    """Return a text as a YAML scalar on one line, valid also inside a list in brackets."""
    import yaml

    style = '"' if len(text.splitlines()) > 1 or text.endswith(("\n", "\r")) else None
    dumped = yaml.safe_dump(
        [text],
        default_flow_style=True,
        default_style=style,
        allow_unicode=is_readable(text),
        width=_WIDEST,
    )
    return str(dumped).strip()[1:-1]
