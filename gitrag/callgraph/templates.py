"""The code of templates at its own lines: ERB's Ruby, JSP's Java, and what Django's and Jinja's may call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from keyword import iskeyword

from gitrag.late import late_re

_TAG = re.compile(r"<%(?P<kind>[=#-]?)(?!%)(?P<code>(?:(?!-?%>|<%).)*)-?%>", re.DOTALL)
"""No tag holds the beginning of another: or each one without an end would be looked for up to the file's."""
_TAG_OF_JSP = late_re(
    r"<%(?P<kind>[=!@]?)(?P<code>(?:(?!%>|<%).)*)%>|<jsp:useBean\s(?P<bean>[^<>]{1,500})>", re.DOTALL
)
_BEAN = late_re(r"\b(id|class|type)\s*=\s*[\"']([\w.$]+)[\"']")
_IMPORTS = late_re(r"(import\s*=\s*)([\"'])([\w.*,\s]*)\2")
_OTHER = re.compile(r"[^\n]")

_TAG_OF_DJANGO = late_re(
    r"\{\{-?(?P<value>(?:(?!\}\}|\{\{).){1,2000})\}\}|\{%-?\s*(?P<tag>\w++)(?P<given>(?:(?!%\}|\{%).){0,2000})%\}",
    re.DOTALL,
)
_QUOTED = late_re(r"\"[^\"\n]*\"|'[^'\n]*'")
_NAMES = late_re(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*+(?P<called>\s*\()?")
_FILTER = late_re(r"\|\s*([A-Za-z_]\w*)")
_SEVERAL_WORDS = late_re(r"[A-Za-z]\w*_\w+")
_NO_CALLS = frozenset(
    "load comment raw verbatim block extends import include macro trans blocktrans pluralize".split()
)
_OF_QUERIES = frozenset({"all", "exists", "count", "first", "last"})
"""What is read of what a method returns: ``user.notifications.unread.exists``."""
LIBRARIES = "templatetags"
"""The package that Django's libraries of tags and filters are in."""


def _blank(text: str) -> str:
    return _OTHER.sub(" ", text)


def ruby_of(text: str) -> str:
    """Return a template's Ruby code at its own lines and columns; everything else becomes spaces."""
    parts, at = [], 0
    for tag in _TAG.finditer(text):
        start, end = tag.span("code") if tag["kind"] != "#" else (tag.end(), tag.end())
        parts += [_blank(text[at:start]), text[start:end]]
        at = end
        if end < tag.end():
            parts.append(";")  # or the next tag of the line would be an argument
            at = end + 1
    return "".join([*parts, _blank(text[at:])])


def java_of(text: str) -> str:
    """Return a page's Java code at its own lines: imports, beans, statements and expressions."""
    parts, at = [], 0
    text = _without_comments(text)
    for tag in _TAG_OF_JSP.finditer(text):
        code = _blank(tag["bean"] or tag["code"])
        imported = _IMPORTS.search(tag["code"]) if tag["kind"] == "@" else None
        if tag["bean"]:
            bean = dict(_BEAN.findall(tag["bean"]))
            code += f"{bean.get('class') or bean.get('type', 'Object')} {bean.get('id', '_')};"
        elif imported:
            names = "".join(f"import {each};" for each in imported[3].split(",") if each.strip())
            code = _blank(tag["code"][: imported.start()]) + names + _blank(tag["code"][imported.end() :])
        elif tag["kind"] in {"", "!"}:
            code = tag["code"]
        elif tag["kind"] == "=":
            code = f"{tag['code']};"
        parts += [_blank(text[at : tag.start()]), code]
        at = tag.end()
    return "".join([*parts, _blank(text[at:])])


def _without_comments(text: str) -> str:
    parts, at = [], 0
    while (start := text.find("<%--", at)) >= 0 and (end := text.find("--%>", start)) >= 0:
        parts += [text[at:start], _blank(text[start : end + 4])]
        at = end + 4
    return "".join([*parts, text[at:]])


def python_of(text: str) -> str:
    """Return Python at a template's own lines that calls what Django's or Jinja's template may call.

    Of attributes those count that are called or queried, or named by several words: others are mostly fields.
    """
    if "{{" not in text and "{%" not in text:
        return ""
    lines: list[list[str]] = [[] for _ in range(text.count("\n") + 1)]
    line = counted = 0
    for tag in _TAG_OF_DJANGO.finditer(text):
        line, counted = line + text.count("\n", counted, tag.start()), tag.start()
        if tag["tag"] == "load":
            names = (tag["given"].partition(" from ")[2] or tag["given"]).split()
            found = [f"from {LIBRARIES}.{each} import *" for each in names if each.isidentifier()]
            lines[line] += found
            continue
        given = tag["value"] or tag["given"] or ""
        if tag["tag"] and not iskeyword(tag["tag"]) and tag["tag"] not in _NO_CALLS:
            lines[line].append(f"{LIBRARIES}.tag({tag['tag']})")
        start = tag.start("value" if tag["value"] else "given")
        for at, call in _called(given):
            lines[line + text.count("\n", tag.start(), start + at)].append(call)
    return "\n".join("; ".join(each) for each in lines)


def _called(expression: str) -> Iterator[tuple[int, str]]:
    """Yield what an expression of a template may call, each with its place."""
    bare = _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), expression)
    for each in _NAMES.finditer(bare):
        first, *rest = each[0].removesuffix(each["called"] or "").split(".")
        for place, name in enumerate(rest, 1):
            is_called = bool(each["called"]) and place == len(rest)
            is_queried = rest[place : place + 1] != [] and rest[place] in _OF_QUERIES
            if (is_called or is_queried or _SEVERAL_WORDS.fullmatch(name)) and not iskeyword(name):
                yield each.start(), f"[].{name}({'*_' if is_called else ''})"
        is_filter = bare[: each.start()].rstrip().endswith("|")
        if each["called"] and not rest and not is_filter and not iskeyword(first):
            yield each.start(), f"{first}(*_)"
    for each in _FILTER.finditer(bare):
        if not iskeyword(each[1]):
            yield each.start(), f"{LIBRARIES}.filter({each[1]})"
