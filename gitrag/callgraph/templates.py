"""The code of templates at its own lines: ERB's Ruby, JSP's Java; what Django's, Jinja's, Razor's call."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
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

_MOST_CODE = 4
"""Characters of a page's code for each of its own; of real pages it is less than one."""
_BRACKET = late_re(r"(?<=[(,=+?:\s])[\"'][()\[\]{}][\"']|[()\[\]{}]")
PAIRS = {")": "(", "]": "[", "}": "{"}
_SCRIPT = late_re(r"<(?:script|style)\b[^<>]{0,1000}>", re.IGNORECASE)
_SCRIPT_END = late_re(r"</(?:script|style)>", re.IGNORECASE)
_GIVEN = late_re(
    r"^[ \t]*@(?:model[ \t]+(?P<model>\S[^\n;]*+)"
    r"|inject[ \t]+(?P<type>\S(?:[^\n;]*[^\s;])?)[ \t]++(?P<name>\w+)[ \t]*+;?)[ \t\r]*+$",
    re.MULTILINE,
)
_BLOCK = late_re(r"(?<![\w@])@(?:\{|(?:functions|code)\s*\{)")
_EXPRESSION_OF_RAZOR = late_re(
    r"(?<![\w@])@(?:await[ \t]+)?"
    r"(?:(?P<word>if|for|foreach|while|switch|using|lock)?[ \t]*(?=\()|(?P<name>[A-Za-z_]\w*))"
)
_PART = late_re(r"!?\??\.[A-Za-z_]\w*(?:<[\w<>, .?]{1,200}>(?=\())?")
_STATEMENT = late_re(
    r"^[ \t]*+(?:(?:\}[ \t]*+)?(?:else[ \t]+)?(?P<word>if|foreach|while|switch)[ \t]*(?=\()"
    r"|(?P<code>[A-Za-z_][^<>\n(=]*+[(=][^<>\n]*;)[ \t]*\r?$)",
    re.MULTILINE,
)
_EACH = late_re(r"\(\s*(?:var|[\w.<>]+)\s+\w+\s+in\s")
_OPENS = late_re(r"\s*\{")
_HANDLER = late_re(r"@(?:on\w+|ref|bind[\w:-]*)=\"(\w+)\"")
_COMPONENT = late_re(r"<vc:([\w-]+)")
_ROUTED = late_re(r"""<[\w-]++(?:[^<>"']++|"[^"<]*+"|'[^'<]*+'){1,200}+>""")
_ROUTE = late_re(r"""\sasp-(action|controller)\s*=\s*["'](\w+)["']""", re.IGNORECASE)


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
    text = _without_comments(text, "<%--", "--%>")
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


def _without_comments(text: str, begin: str, end: str) -> str:
    parts, at = [], 0
    while (start := text.find(begin, at)) >= 0 and (stop := text.find(end, start + len(begin))) >= 0:
        parts += [text[at:start], _blank(text[start : stop + len(end)])]
        at = stop + len(end)
    return "".join([*parts, text[at:]])


def _without_scripts(text: str) -> str:
    parts, at = [], 0
    while opened := _SCRIPT.search(text, at):
        closed = _SCRIPT_END.search(text, opened.end())
        end = closed.start() if closed else len(text)
        parts += [text[at : opened.end()], _blank(text[opened.end() : end])]
        at = end
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


def csharp_of(text: str) -> str:
    """Return C# that calls what a page of Razor may call, at the page's lines.

    Not the page's code as a whole, which only its own compiler tells from markup: its blocks, expressions,
    the lines of code between tags, and declarations of what it is given.
    """
    text = _without_comments(text, "@*", "*@")
    closing = closing_brackets(text)
    lines: list[list[str]] = [[] for _ in range(text.count("\n") + 1)]
    row = counted = 0
    for at, code in sorted(_bounded(text, closing)):
        row, counted = row + text.count("\n", counted, at), at
        for more, line in enumerate(code.split("\n")):
            lines[row + more].append(line)
    return "\n".join(" ".join(each) for each in lines)


def _bounded(text: str, closing: Mapping[int, int]) -> Iterator[tuple[int, str]]:
    """Yield all of a page's code; what lies in others is yielded with each, thus only so much of it."""
    room = _MOST_CODE * (len(text) + 1000)
    for each in chain(_given(text), _expressions(text, closing), _statements(text, closing)):
        room -= len(each[1])
        if room < 0:
            return
        yield each


def closing_brackets(text: str) -> dict[int, int]:
    """Return the place of the bracket that closes each one; one that is closed by none is left out."""
    found: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    waiting: Counter[str] = Counter()
    for each in _BRACKET.finditer(text):
        bracket = each[0]
        if bracket in PAIRS.values():
            opened.append((bracket, each.start()))
            waiting[bracket] += 1
        while waiting[PAIRS.get(bracket, "")]:
            kind, at = opened.pop()
            waiting[kind] -= 1
            if kind == PAIRS[bracket]:
                found[at] = each.start()
                break
    return found


def _given(text: str) -> Iterator[tuple[int, str]]:
    """Yield what a page is given, its model and what is injected; what attributes hand on; what tags name."""
    for each in _GIVEN.finditer(text):
        yield each.start(), f"{each['model']} Model;" if each["model"] else f"{each['type']} {each['name']};"
    for each in _HANDLER.finditer(text):
        yield each.start(1), f"bind({each[1]});"
    for each in _COMPONENT.finditer(text):  # `<vc:cart-icon>`
        name = each[1].title().replace("-", "")
        made = (f"{cls}.{run}" for cls in (name, f"{name}ViewComponent") for run in ("Invoke", "InvokeAsync"))
        yield each.start(), f"vc({', '.join(made)});"
    for each in _ROUTED.finditer(text):  # `<a asp-controller="Users" asp-action="Edit">`
        named = {key.lower(): name for key, name in _ROUTE.findall(each[0])}
        if len(named) > 1:
            action = f"{named['controller']}Controller.{named['action']}"
            yield each.start(), f"asp({action}, {action}Async);"


def _expressions(text: str, closing: Mapping[int, int]) -> Iterator[tuple[int, str]]:
    for each in _EXPRESSION_OF_RAZOR.finditer(text):
        if not each["name"]:
            yield from _in_brackets(text, each.end(), each["word"] or "", closing)
            continue
        at = each.end()
        while part := _PART.match(text, at) or (at in closing and text[at] != "{"):
            at = closing[at] + 1 if part is True else part.end()
        if at > each.end():
            yield each.start("name"), f"{text[each.start('name') : at]};"


def _in_brackets(text: str, at: int, word: str, closing: Mapping[int, int]) -> Iterator[tuple[int, str]]:
    """Yield what is in brackets; a loop over elements with the end of its block."""
    end = closing.get(at, at)
    inside = text[at : end + 1]
    opens = _OPENS.match(text, end + 1)
    if word == "foreach" and _EACH.match(inside) and opens and opens.end() - 1 in closing:
        yield at, f"foreach {inside} {{"
        yield closing[opens.end() - 1], "}"
    elif end > at:
        yield at, f"{word} {inside} {{}}" if word in {"for", "foreach", "using"} else f"_ = {inside};"


def _statements(text: str, closing: Mapping[int, int]) -> Iterator[tuple[int, str]]:
    """Yield blocks, and what looks like a line of code between tags, outside of scripts."""
    ends = 0
    rest: list[str] = []
    for each in _BLOCK.finditer(text):
        if each.start() >= ends and each.end() - 1 in closing:
            end = closing[each.end() - 1]
            block = text[each.end() : end].split("\n")
            yield each.start(), "\n".join("" if line.lstrip().startswith("<") else line for line in block)
            rest += [text[ends : each.start()], _blank(text[each.start() : end])]
            ends = end
    for each in _STATEMENT.finditer(_without_scripts("".join([*rest, text[ends:]]))):
        if each["code"]:
            yield each.start("code"), each["code"]
        else:
            yield from _in_brackets(text, each.end(), each["word"], closing)
