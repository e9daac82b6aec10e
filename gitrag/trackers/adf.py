"""Convert Atlassian Document Format (descriptions in Jira's API version 3) to Markdown. Pure.

https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/

Unknown node types and marks are reduced to their text; media are dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_DEEPEST = 60
"""Deepest nesting that is read: lists in tables in panels need ten levels. Below Python's recursion limit."""

_MARKS = {"strong": "**", "em": "_", "code": "`", "strike": "~~"}


def to_markdown(document: Any) -> str:
    """Return a document as Markdown; an empty string for anything that is not a document."""
    return "\n\n".join(_blocks(document, 0)).strip()


def _blocks(node: Any, depth: int) -> list[str]:
    return [text for child in _content(node, depth) if (text := _block(child, depth + 1))]


def _block(node: Any, depth: int) -> str:
    kind = node.get("type")
    attributes = _attributes(node)
    inner = _block_writers().get(kind)
    if inner:
        return inner(node, depth)
    if kind == "heading":
        level = attributes.get("level")
        return "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + _inline(node, depth)
    if kind == "codeBlock":
        language = attributes.get("language")
        return f"```{language if isinstance(language, str) else ''}\n{_plain(node, depth)}\n```"
    if kind == "rule":
        return "---"
    if kind in {"blockCard", "embedCard"}:
        return str(attributes.get("url", ""))
    return _joined(node, depth) if any(map(_is_block, _content(node, depth))) else _inline(node, depth)


def _block_writers() -> dict[str, Callable[[Any, int], str]]:
    return {
        "paragraph": _inline,
        "bulletList": lambda node, depth: _list(node, depth, lambda _place, _item: "- "),
        "orderedList": lambda node, depth: _list(node, depth, lambda place, _item: f"{place}. "),
        "taskList": lambda node, depth: _list(node, depth, _task_mark),
        "decisionList": lambda node, depth: _list(node, depth, lambda _place, _item: "- "),
        "blockquote": lambda node, depth: _indent(_joined(node, depth), "> ", "> "),
        "panel": lambda node, depth: _indent(_joined(node, depth), "> ", "> "),
        "table": _table,
    }


def _joined(node: Any, depth: int) -> str:
    return "\n\n".join(_blocks(node, depth))


def _task_mark(_place: int, item: Any) -> str:
    return "- [x] " if _attributes(item).get("state") == "DONE" else "- [ ] "


def _list(node: Any, depth: int, mark: Callable[[int, Any], str]) -> str:
    lines = []
    for place, item in enumerate(_content(node, depth), 1):
        blocks = (
            _blocks(item, depth + 1) if any(map(_is_block, _content(item, depth))) else [_inline(item, depth)]
        )
        bullet = mark(place, item)
        lines.append(_indent("\n".join(blocks), bullet, " " * len(bullet)))
    return "\n".join(lines)


def _table(node: Any, depth: int) -> str:
    rows = []
    for row in _content(node, depth):
        cells = [" ".join(_joined(cell, depth + 2).split()) for cell in _content(row, depth + 1)]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        if len(rows) == 1:
            rows.append("|" + " --- |" * len(cells))
    return "\n".join(rows)


def _inline(node: Any, depth: int) -> str:
    return "".join(_span(child, depth + 1) for child in _content(node, depth))


def _span(node: Any, depth: int) -> str:
    kind, attributes = node.get("type"), _attributes(node)
    if kind == "text":
        return _marked(node)
    if kind == "hardBreak":
        return "\n"
    if kind in {"mention", "emoji", "status", "date", "inlineCard"}:
        names = ("text", "shortName", "url", "timestamp")
        return next((str(attributes[name]) for name in names if attributes.get(name)), "")
    return _inline(node, depth)


def _marked(node: Any) -> str:
    text = str(node.get("text", ""))
    marks = node.get("marks")
    for mark in marks if isinstance(marks, list) else []:
        if not isinstance(mark, dict):
            continue
        sign = _MARKS.get(str(mark.get("type")), "")
        text = f"{sign}{text}{sign}"
        if mark.get("type") == "link":
            text = f"[{text}]({_attributes(mark).get('href', '')})"
    return text


def _plain(node: Any, depth: int) -> str:
    return "".join(str(child.get("text", "")) for child in _content(node, depth))


def _is_block(node: Any) -> bool:
    return node.get("type") not in {"text", "hardBreak", "mention", "emoji", "status", "date", "inlineCard"}


def _content(node: Any, depth: int) -> list[Any]:
    children = node.get("content") if isinstance(node, dict) and depth < _DEEPEST else None
    return [child for child in children if isinstance(child, dict)] if isinstance(children, list) else []


def _attributes(node: Any) -> dict[str, Any]:
    found = node.get("attrs")
    return found if isinstance(found, dict) else {}


def _indent(text: str, first: str, rest: str) -> str:
    head, *tail = text.split("\n")
    return "\n".join([first + head, *(rest + line if line else line for line in tail)])
