"""PHP of its templates, at their own lines: what Twig's expressions and Blade's directives call. Linear.

What a template names by a string or by a name that PHP registers becomes a call of a function of a name
that no code has: `general.registering` has both sides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitrag.callgraph.general.registering import FILTER, FUNCTION, IMPORT, READ, TEST, studly
from gitrag.callgraph.templates import PAIRS, closing_brackets
from gitrag.late import late_re

_STRING = r"'(?:[^'\\]|\\.)*+(?:'|\\?\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\\?\Z)"
"""One without an end is the rest of the text: or each quote in it would be looked at up to there."""
_TOKEN = late_re(
    rf"(?P<blank>\s+|#[^\n]*+)|(?P<string>{_STRING})|(?P<number>\d[\d_]*+(?:\.\d+)?)"
    r"|(?P<name>[A-Za-z_]\w*+)|(?P<sign>=>|\?\?|\?:|\?\.|<=>|[=!]==?|<=|>=|\.\.\.?|\*\*|//|&&|\|\||.)",
    re.DOTALL,
)
_TWIG = late_re(r"\{#(?P<comment>)|(?P<value>\{\{)|\{%[-~]?\s*+(?P<tag>\w++)")
_INSIDE = late_re(
    rf"(?P<string>{_STRING})|(?P<end>\{{[{{%]|%\}})|(?P<bracket>[(\[{{)\]}}])|#[^\n]*+|[^\"'#%(){{}}\[\]]++|.",
    re.DOTALL,
)
_MOST_IN_VAIN = 4
"""Characters read of tags without an end for each of a template: each may be looked for up to the file's."""
_DECLARED = late_re(
    r"@var\s+(?:\$?(\w+)\s+(\\?[A-Z][\w\\]*+(?:\[\])?)|(\\?[A-Z][\w\\]*+(?:\[\])?)\s+\$?(\w+))"
)
_TYPE_OF_TWIG = late_re(r"(?<!\w)(\w++)\s*+(?:\?\s*+)?:\s*(?:'([^']*+)'|\"([^\"]*+)\")")
_MACRO = late_re(r"\s*(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_IMPORTED = late_re(r"\s*(?:[\"']([^\"']+)[\"']|(_self))\s+(as|import)\s+(.+)", re.DOTALL)
_RENAMED = late_re(r"(\w+)(?:\s+as\s+(\w+))?")
_LOOP = late_re(r"\s*(\w+)(?:\s*,\s*(\w+))?\s+in\s+(.+)", re.DOTALL)
_SET = late_re(r"\s*(\w+)\s*=(?!=)(.+)", re.DOTALL)
_NAME_OF_BLOCK = late_re(r"\s*[\w-]++")
_END_OF_COMMENT = late_re(r"#\}")
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


def php_of_twig(text: str) -> str:
    """Return PHP that calls what a template of Twig may call, with its macros as functions."""
    lines = _Lines(text)
    opened: list[tuple[int, str]] = []
    lines.add(0, f"{IMPORT}('_self', '_self');" * ("_self" in text))
    at, room = 0, _MOST_IN_VAIN * (len(text) + 1_000)
    while (found := _TWIG.search(text, at)) and room > 0:
        at = since = found.end()
        start = found.start()
        if found["comment"] is not None:
            at = _after(_END_OF_COMMENT, text, at)
            _declare(lines, text, start, at)
            continue
        is_closed, at = _end_of_tag(text, since, found["tag"])
        given = text[since:at].rstrip("-~")
        if not is_closed:
            room -= at - since
            at = since
        elif not found["tag"]:
            lines.add(since, f"echo {_expression(given.lstrip('-~'))};")
        elif found["tag"] in _END_OF_TEXT:
            at = _after(_END_OF_TEXT[found["tag"]], text, at)
        elif found["tag"] == "macro" and (macro := _MACRO.match(given)) and not opened:
            opened.append((start, f"function {macro[1]}({_parameters(macro[2])}) {{"))
        elif found["tag"] == "endmacro" and opened:  # one without an end would be the rest of the file
            lines.add(*opened.pop())
            lines.add(start, "}")
        elif given.strip():
            for place, code in _statement(found["tag"], given):
                lines.add(since + place, code)
    return lines.joined()


def _after(end: re.Pattern[str], text: str, at: int) -> int:
    found = end.search(text, at)
    return found.end() if found else len(text)


def _end_of_tag(text: str, at: int, tag: str | None) -> tuple[bool, int]:
    """Return whether what is in a tag of Twig ends, and where, or where that was given up."""
    opened: list[str] = []
    for found in _INSIDE.finditer(text, at):
        bracket, at = found["bracket"], found.start()
        if found["end"]:
            return found["end"] == "%}" and bool(tag), at
        if bracket in PAIRS.values():
            opened.append(bracket)
        elif opened and bracket and opened[-1] == PAIRS[bracket]:
            opened.pop()
        elif bracket == "}" and not tag and text.startswith("}}", at):
            return True, at
    return False, len(text)


class _Lines:
    """Code that is put at the lines of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parts: list[tuple[int, int, str]] = []
        self._room = _MOST_CODE * (len(text) + 1_000)

    def add(self, at: int, code: str) -> None:
        """Add code at the line of a place of the text."""
        self._room -= len(code)
        if code and self._room >= 0:
            self._parts.append((at, len(self._parts), code))

    def joined(self) -> str:
        """Return the code; it begins as a file of PHP does: one of none may be rendered, too."""
        rows: list[list[str]] = [[] for _ in range(self._text.count("\n") + 1)]
        row = counted = 0
        for at, _, code in sorted(self._parts):
            row, counted = row + self._text.count("\n", counted, at), at
            for more, line in enumerate(code.split("\n")):
                rows[min(row + more, len(rows) - 1)].append(line)
        return "<?php " + "\n".join(" ".join(each) for each in rows)


def _declare(lines: _Lines, text: str, start: int, end: int) -> None:
    """Add the variables that a comment between two places declares."""
    for each in _DECLARED.finditer(text, start, end):
        lines.add(each.start(), _typed(each[1] or each[4], each[2] or each[3]))


def _typed(name: str, type_: str) -> str:
    return f"/** @var {type_} ${name} */ ${name} = null;" if name and type_ else ""


def _parameters(given: str) -> str:
    names = (each.partition("=")[0].strip() for each in given.split(","))
    return ", ".join(f"${each}" for each in names if each.isidentifier())


def _statement(tag: str, given: str) -> Iterator[tuple[int, str]]:  # noqa: C901 - a branch a kind of tag
    """Yield the PHP of a tag of Twig, each with its place in what the tag is given."""
    imported = _IMPORTED.match(given) if tag in {"import", "from"} else None
    loop = _LOOP.match(given) if tag == "for" else None
    variable = _SET.match(given) if tag == "set" else None
    if imported:
        origin = imported[1] or imported[2]
        if imported[3] == "as":
            yield 0, f"{IMPORT}('{origin}', '{imported[4].split()[0]}');"
        for each in _RENAMED.finditer(imported[4]) if imported[3] == "import" else ():
            yield 0, f"{IMPORT}('{origin}', '{each[1]}', '{FUNCTION}{each[2] or each[1]}');"
    elif loop:
        names = " => ".join(f"${each}" for each in loop.group(1, 2) if each)
        yield loop.start(3), f"foreach ({_expression(loop[3])} as {names}) {{}}"
    elif variable:
        yield variable.start(2), f"${variable[1]} = {_expression(variable[2])};"
    elif tag == "types":
        for each in _TYPE_OF_TWIG.finditer(given):
            yield each.start(), _typed(each[1], (each[2] or each[3] or "").replace("\\\\", "\\"))
    elif tag in {"apply", "filter"}:
        yield 0, f"echo {_expression(f'_ | {given}')};"
    elif tag in _NAMED:
        yield 0, f"echo {_expression(f'{tag}({given})')};"
    elif tag == "block":
        name = _NAME_OF_BLOCK.match(given)
        yield (name.end(), f"echo {_expression(given[name.end() :])};") if name else (0, "")
    elif tag not in {"set", "import", "from"}:
        yield 0, f"echo {_expression(given)};"


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
        elif written in PAIRS.values():
            brackets.append(written)
            waiting.append(0)
            own = _OPERATORS.get(written, written)
        elif written in PAIRS:
            if brackets[-1:] != [PAIRS[written]]:
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
    plain = text.replace("\\\\", "/").replace("\\", "").replace("'", " ").replace("?>", "  ")
    return plain.replace("\n", " ")  # which the next token counts


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
_SPACED = frozenset(
    "if elseif unless isset empty switch case for foreach forelse while can cannot canany elsecan auth guest"
    " error section yield push prepend include includeIf includeWhen includeUnless includeFirst extends each"
    " component livewire php json js class style checked selected disabled lang choice inject dump dd".split()
)
"""Directives that are written with a space before what they are given, too: others are text then."""
_OF_COMMENT = " ?><?php "
"""What ends a comment, and goes on."""
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
            lines.add(found.start("code"), f"{found['code']}{_OF_COMMENT * ('//' in found['code'])};")
        elif kind == "block":
            is_closed = at <= last[found["block"]]  # or each would look for its end up to the file's
            end = text.find(f"@end{found['block']}", at) if is_closed else at
            lines.add(at, f"{text[at:end]};" if found["block"] == "php" else "")
            at = end
        elif kind == "name" and at in closing and (text[at - 1] not in " \t" or found["name"] in _SPACED):
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
    cls = "\\".join(studly(each) for each in words)
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
