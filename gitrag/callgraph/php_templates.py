"""PHP of its templates, at their own lines: what Twig's expressions and Blade's directives call. Linear.

What a template names by a string or by a name that PHP registers becomes a call of a function of a name
that no code has: `general.registering` has both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitrag.callgraph.general.registering import FILTER, FUNCTION, IMPORT, READ, TEST
from gitrag.callgraph.templates import closing_brackets
from gitrag.late import late_re

_TOKEN = late_re(
    r"(?P<blank>\s+)|(?P<string>'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")|(?P<number>\d[\d_]*+(?:\.\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*+)|(?P<sign>=>|\?\?|\?:|\?\.|<=>|[=!]==?|<=|>=|\.\.\.?|\*\*|//|&&|\|\||.)",
    re.DOTALL,
)
_INSIDE = r"(?:(?!\{\{|\{%|\}\}|%\})[^\"']|\"(?:(?!\{\{|\{%)[^\"])*+\"|'(?:(?!\{\{|\{%)[^'])*+')*+"
"""What no tag begins in: or each one without an end would be looked for up to the file's."""
_TWIG = late_re(
    rf"\{{#(?P<comment>)|\{{\{{[-~]?(?P<value>{_INSIDE})\}}\}}|\{{%[-~]?\s*+(?P<tag>\w++)(?P<given>{_INSIDE})%\}}"
)
_DECLARED = late_re(
    r"@var\s+(?:\$?(\w+)\s+(\\?[A-Z][\w\\]*+(?:\[\])?)|(\\?[A-Z][\w\\]*+(?:\[\])?)\s+\$?(\w+))"
)
_TYPE_OF_TWIG = late_re(r"(\w+)\s*\??\s*:\s*(?:'([^']*+)'|\"([^\"]*+)\")")
_MACRO = late_re(r"\s*(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_IMPORTED = late_re(r"\s*(?:[\"']([^\"']+)[\"']|(_self))\s+(as|import)\s+(.+)", re.DOTALL)
_RENAMED = late_re(r"(\w+)(?:\s+as\s+(\w+))?")
_LOOP = late_re(r"\s*(\w+)(?:\s*,\s*(\w+))?\s+in\s+(.+)", re.DOTALL)
_SET = late_re(r"\s*(\w+)\s*=(?!=)(.+)", re.DOTALL)
_END_OF_TEXT = {
    "verbatim": late_re(r"\{%[-~]?\s*endverbatim\s*[-~]?%\}"),
    "raw": late_re(r"\{%[-~]?\s*endraw\s*[-~]?%\}"),
}
_NAMED = frozenset({"include", "extends", "embed", "use", "source", "form_theme"})
"""Tags and functions of Twig whose first string is a template."""
_ROUTES = frozenset({"path", "url"})
_OPERATORS = {
    "and": "&&", "or": "||", "not": "!", "in": "==", "matches": "==", "starts": "==", "ends": "", "with": ",",
    "if": "&&", "true": "true", "false": "false", "null": "null", "none": "null", "only": "", "same": "",
    "as": "", "by": "", "is": "&&", "~": ".", "//": "/", "..": ",", "?.": "", ".": "", "|": "", "=>": ",",
    "=": "", "{": "[", "}": "]",
}  # fmt: skip
_MOST_CODE = 6
"""Characters of a template's code for each of its own; of real templates it is less than one."""
_CLOSING = {")": "(", "]": "[", "}": "{"}


def php_of_twig(text: str) -> str:
    """Return PHP that calls what a template of Twig may call, with its macros as functions."""
    lines = _Lines(text)
    opened: list[tuple[int, str]] = []
    if "_self" in text:
        lines.add(0, f"{IMPORT}('_self', '_self');")
    at = 0
    while found := _TWIG.search(text, at):
        at = found.end()
        start = found.start()
        if found["comment"] is not None:
            end = text.find("#}", at)
            at = end + 2 if end >= 0 else len(text)
            _declare(lines, text, start, at)
        elif found["value"] is not None:
            lines.add(found.start("value"), f"echo {_expression(found['value'])};")
        elif found["tag"] in _END_OF_TEXT:
            closed = _END_OF_TEXT[found["tag"]].search(text, at)
            at = closed.end() if closed else len(text)
        elif found["tag"] == "macro" and (macro := _MACRO.match(found["given"])) and not opened:
            opened.append((start, f"function {macro[1]}({_parameters(macro[2])}) {{"))
        elif found["tag"] == "endmacro" and opened:  # one without an end would be the rest of the file
            lines.add(*opened.pop())
            lines.add(start, "}")
        elif found["given"].strip():
            for code in _statement(found["tag"], found["given"]):
                lines.add(found.start("given"), code)
    return lines.joined()


class _Lines:
    """Code that is put at the lines of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parts: list[tuple[int, int, str]] = []
        self._room = _MOST_CODE * (len(text) + 1_000)

    def add(self, at: int, code: str) -> None:
        """Add code at the line of a place of the text."""
        self._room -= len(code)
        if self._room >= 0:
            self._parts.append((at, len(self._parts), code))

    def joined(self) -> str:
        """Return the code; it begins as a file of PHP does."""
        rows: list[list[str]] = [[] for _ in range(self._text.count("\n") + 1)]
        row = counted = 0
        for at, _, code in sorted(self._parts):
            row, counted = row + self._text.count("\n", counted, at), at
            for more, line in enumerate(code.split("\n")):
                rows[min(row + more, len(rows) - 1)].append(line)
        return ("<?php " * bool(self._parts)) + "\n".join(" ".join(each) for each in rows)


def _declare(lines: _Lines, text: str, start: int, end: int) -> None:
    """Add the variables that a comment between two places declares."""
    for each in _DECLARED.finditer(text, start, end):
        lines.add(each.start(), _typed(each[1] or each[4], each[2] or each[3]))


def _typed(name: str, type_: str) -> str:
    return f"/** @var {type_} ${name} */ ${name} = null;" if name and type_ else ""


def _parameters(given: str) -> str:
    names = (each.partition("=")[0].strip() for each in given.split(","))
    return ", ".join(f"${each}" for each in names if each.isidentifier())


def _statement(tag: str, given: str) -> Iterator[str]:  # noqa: C901 - a branch a kind of tag
    """Yield the PHP of a tag of Twig."""
    imported = _IMPORTED.match(given) if tag in {"import", "from"} else None
    loop = _LOOP.match(given) if tag == "for" else None
    variable = _SET.match(given) if tag == "set" else None
    if imported:
        origin = imported[1] or imported[2]
        yield f"{IMPORT}('{origin}', '{imported[4].split()[0]}');" if imported[3] == "as" else ""
        for each in _RENAMED.finditer(imported[4]) if imported[3] == "import" else ():
            yield f"{IMPORT}('{origin}', '{each[1]}', '{FUNCTION}{each[2] or each[1]}');"
    elif loop:
        names = " => ".join(f"${each}" for each in loop.group(1, 2) if each)
        yield f"foreach ({_expression(loop[3])} as {names}) {{}}"
    elif variable:
        yield f"${variable[1]} = {_expression(variable[2])};"
    elif tag == "types":
        for each in _TYPE_OF_TWIG.finditer(given):
            yield _typed(each[1], (each[2] or each[3] or "").replace("\\\\", "\\"))
    elif tag in {"apply", "filter"}:
        yield f"echo {_expression(f'_ | {given}')};"
    elif tag in _NAMED:
        yield f"echo {_expression(f'{tag}({given})')};"
    elif tag == "block":
        yield f"echo {_expression(given.strip().partition(' ')[2])};"
    elif tag not in {"set", "import", "from"}:
        yield f"echo {_expression(given)};"


def _expression(text: str) -> str:
    """Return an expression of Twig as one of PHP: what it reads is called, which its methods are."""
    parts: list[str] = []
    brackets: list[str] = []
    waiting = [0]  # for the colon of a condition, in each bracket
    before, row = "", 0
    tokens = [each for each in _TOKEN.finditer(text.rstrip().rstrip("-~")) if each.lastgroup != "blank"]
    for place, token in enumerate(tokens):
        kind, written = token.lastgroup or "", token[0]
        after = tokens[place + 1][0] if place + 1 < len(tokens) else ""
        parts += ["\n"] * text.count("\n", row, token.start())
        row = token.start()
        if kind == "name":
            own = _name(written, before, after, brackets[-1] if brackets else "")
        elif kind == "string":
            own = f"'{_plain(written[1:-1])}'"
        elif kind == "number":
            own = f"[{written}]" if before == "." else written
        elif written in _CLOSING.values():
            brackets.append(written)
            waiting.append(0)
            own = _OPERATORS.get(written, written)
        elif written in _CLOSING:
            if brackets[-1:] != [_CLOSING[written]]:
                break  # what is not balanced is no expression
            brackets.pop()
            waiting.pop()
            own = _OPERATORS.get(written, written)
        elif written == ":":
            is_plain = waiting[-1] or brackets[-1:] == ["("]
            own = ":" if is_plain else "=>" if brackets[-1:] == ["{"] else "+"
            waiting[-1] -= waiting[-1] > 0
        else:
            waiting[-1] += written == "?"
            own = _OPERATORS.get(written, written if written not in "#$@`\\;" else " ")
        parts.append(own)
        before = "is" if before == "is" and written == "not" else written
    return " ".join([*parts, *("]" if each != "(" else ")" for each in reversed(brackets))])


def _name(written: str, before: str, after: str, bracket: str) -> str:
    """Return a name of Twig's expressions in PHP, by what stands around it."""
    brackets = "()" * (after != "(")
    if before in {".", "?."}:
        return f"->{READ}{written}{brackets}"
    if before == "|":
        return f"->{FILTER}{written}{brackets}"
    if before == "is":
        return "" if written == "not" else f"{TEST}{written}{brackets}"
    if after == "(" and written not in _OPERATORS:
        return "route" if written in _ROUTES else FUNCTION + written
    if after == ":" and bracket in {"{", "("} and before in {"{", "(", ","}:
        return f"'{written}'" if bracket == "{" else written
    if after == "=" and bracket == "(" and before in {"(", ","}:
        return f"{written}:"
    return _OPERATORS.get(written, f"${written}")


def _plain(text: str) -> str:
    """Return a string's text without what would end it."""
    return text.replace("\\\\", "/").replace("\\", "").replace("'", " ").replace("?>", "  ")


_BLADE = late_re(
    r"(?P<escaped>@@\w+|@\{\{|@\{!!)|\{\{(?P<comment>--)|\{\{\{?(?P<value>(?:(?!\{\{|\}\}).)*+)\}\}"
    r"|\{!!(?P<raw>(?:(?!\{!!|!!\}).)*+)!!\}|<\?(?:php\b|=)(?P<code>(?:(?!\?>|<\?).)*+)(?:\?>|\Z)"
    r"|(?<![\w@])@(?P<block>php|verbatim)\b(?![ \t]*\()|(?<![\w@])@(?P<name>[A-Za-z]\w*+)[ \t]*(?=\()"
    r"|<(?P<kind>x-|livewire:)(?P<component>[\w.:-]++)|(?P<tag><)[a-z]"
    r"|(?<=\s)(?P<bound>:[\w.:-]++|wire:[\w.:-]++)=\"(?P<given>(?:[^\"<>]|(?<=[-=])>)*+)\"",
    re.DOTALL,
)
_PROPERTY = late_re(r"(?<=->)([A-Za-z_]\w*+)(?!\s*(?:\(|=(?![=>])))")
_LOOPS = {"foreach": "foreach", "forelse": "foreach", "for": "for"}
_OF_STYLES = frozenset("media import keyframes supports font charset page layer container".split())
_INCLUDING = frozenset(
    "include includeIf includeWhen includeUnless includeFirst extends extendsFirst component each".split()
)
_COMPONENTS = {"x-": ("App\\View\\Components",), "livewire:": ("App\\Livewire", "App\\Http\\Livewire")}
"""Namespaces of the classes of Laravel's components and Livewire's."""
_RUN = {"x-": ("__construct", "render"), "livewire:": ("mount", "render")}
_INJECTED = late_re(r"\s*['\"](\w+)['\"]\s*,\s*(?:['\"]([\w\\]+)['\"]|\\?([\w\\]+)::class)")
_NAME_OF_COMPONENT = late_re(r"\s*['\"]([\w.:-]+)['\"]")


def php_of_blade(text: str) -> str:
    """Return PHP that calls what a template of Blade may call: its code, and what it names."""
    lines, closing = _Lines(text), closing_brackets(text)
    last = {each: text.rfind(f"@end{each}") for each in ("php", "verbatim")}
    at, is_component = 0, False
    while found := _BLADE.search(text, at):
        at, kind = found.end(), found.lastgroup or ""
        if kind == "comment":
            end = text.find("--}}", at)
            at = end + 4 if end >= 0 else len(text)
            _declare(lines, text, found.start(), at)
        elif kind in {"value", "raw"}:
            lines.add(found.start(kind), f"echo {_read(found[kind])};")
        elif kind == "code":
            lines.add(found.start("code"), f"{found['code']};")
        elif kind == "block":
            is_closed = at <= last[found["block"]]  # or each would look for its end up to the file's
            end = text.find(f"@end{found['block']}", at) if is_closed else at
            lines.add(at, f"{text[at:end]};" if found["block"] == "php" else "")
            at = end
        elif kind == "name" and at in closing:
            lines.add(at, _directive(found["name"], text[at + 1 : closing[at]]))
            at = closing[at] + 1
        elif kind == "component":
            is_component = True
            lines.add(found.start(), _component(found["kind"], found["component"]))
        elif kind == "tag":
            is_component = False
        elif kind == "given":
            lines.add(found.start("given"), _attribute(found["bound"], found["given"], is_component))
    return lines.joined()


def _read(code: str) -> str:
    """Return an expression of PHP in which members that are read are called: a model may have accessors."""
    return _PROPERTY.sub(rf"{READ}\1()", code.rstrip(" \t\r\n;")) if code.strip() else "''"


def _directive(name: str, given: str) -> str:
    """Return the PHP of a directive of Blade."""
    injected = _INJECTED.match(given) if name == "inject" else None
    named = _NAME_OF_COMPONENT.match(given) if name == "livewire" else None
    if name in _LOOPS:
        return f"{_LOOPS[name]} ({_read(given)}) {{}}"
    if injected:
        return _typed(injected[1], f"\\{injected[2] or injected[3]}".replace("\\\\", "\\"))
    if name == "php":
        return f"{given};"
    if name == "use":
        cls = given.partition(",")[0].strip(" '\"")
        return f"use {cls};"
    if name in _INCLUDING:
        return f"{FUNCTION}{name}({_read(given)});"
    more = _component("livewire:", named[1]) if named else ""
    return "" if name in _OF_STYLES or not given.strip() else f"echo {_read(given)}; {more}"


def _component(kind: str, name: str) -> str:
    """Return PHP that hands on what Laravel runs of a component, if it is one of a class."""
    words = name.rstrip(".:-").replace("-", "_").split(".")
    cls = "\\".join("".join(part[:1].upper() + part[1:] for part in each.split("_")) for each in words)
    if "::" in name or not cls.replace("\\", "").isidentifier():
        return ""
    made = (f"[\\{space}\\{cls}::class, '{run}']" for space in _COMPONENTS[kind] for run in _RUN[kind])
    return f"{FUNCTION}component({', '.join(made)});"


def _attribute(name: str, given: str, is_component: bool) -> str:
    """Return PHP of an attribute: of a component's an expression, of Livewire's a method of the object."""
    if name.startswith("wire:"):
        method = given.partition("(")[0].strip()
        return f"$this->{method}();" if method.isidentifier() else ""
    return f"echo {_read(given)};" if is_component and not name.startswith("::") and given.strip() else ""
