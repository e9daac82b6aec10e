"""What markup calls or hands on: Vue's directives, HTML's handlers, and braces of Svelte and Astro.

Read as text: what a parser of JavaScript makes of one expression would tell no more of its names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from gitrag.late import late_re

_MOST_CHARACTERS = 4_000
"""Of one expression."""
_MOST_BLANKS = 200
"""Before a key of an object."""
_DIRECTIVE = late_re(
    r"(?<![\w-])(?P<name>(?:[:@#]|v-)[\w.:\[\]-]{0,100}+|slot-scope)\s*=\s*"
    r"(?P<quote>[\"'])(?P<text>(?:(?!(?P=quote)).)*+)(?P=quote)",
    re.DOTALL,
)
"""An attribute of Vue whose value is code; in HTML and in Pug."""
_HANDLER = late_re(
    r"(?<![\w-])(?P<name>on[a-z]{1,40}+)\s*=\s*(?P<quote>[\"'])(?P<text>(?:(?!(?P=quote)).)*+)(?P=quote)",
    re.DOTALL | re.IGNORECASE,
)
"""An attribute of HTML whose value is code: ``onclick``."""
_STRING = late_re(r"'[^'\\]*+'|\"[^\"\\]*+\"|`[^`$\\]*+`|//[^\n]*")
_CHAIN = late_re(r"(?<![\w$.'\"])[A-Za-z_$][\w$]*+(?:\s*\??\.\s*[A-Za-z_$][\w$]*+)*+")
_NAME = late_re(r"[A-Za-z_$][\w$]*")
_ATTRIBUTE = late_re(r"([\w:@|.-]+)=[\"']?$")
REF = "ref"
"""The rule of what says by which name the script has a component: the name, and the component's."""
_REFERRED = late_re(
    r"<(?P<tag>[A-Z][\w.]{0,80}+|[a-z]\w{0,40}+(?:-\w{1,40}+){1,6}+)(?=[\s>])(?:[^<>\"'=]|=\s*(?:\"[^\"]*+\"|'[^']*+'))*?"
    r"\sref=[\"'](?P<name>\w{1,80}+)[\"']"
)
_RESERVED = frozenset(
    "true false null undefined this new typeof instanceof in of as let const var if else each await then"
    " catch key html async function return void delete switch case default for while do render".split()
)


class Named(Struct, frozen=True):
    """What markup names.

    Attributes:
        line: Its line, 1-based.
        parts: The name, split at its dots.
        rule: What it is given to, if it is not called: ``@click``.
    """

    line: int
    parts: tuple[str, ...]
    rule: str = ""


def named_in(markup: str, language: str) -> list[Named]:
    """Return what the markup of a component calls and hands on, in order.

    Args:
        markup: The file; its scripts and styles are blank lines.
        language: vue, svelte, astro or html.
    """
    found = sorted(_READ.get(language, _braces)(markup))
    bound = {name for _, text, rule in found for name in _bound(text, rule)}
    named, line, counted = [], 1, 0
    for each in _REFERRED.finditer(markup) if language == "vue" else ():
        tag = "".join(word[:1].upper() + word[1:] for word in each["tag"].split("-"))
        named.append(Named(1, (each["name"], tag), REF))
    for at, text, rule in found:
        line, counted = line + markup.count("\n", counted, at), at
        for place, parts, is_call in _names(text, whole=language != "vue"):
            if parts[0] not in bound and (is_call or language != "html"):
                named.append(Named(line + text.count("\n", 0, place), parts, "" if is_call else rule))
    return named


def _directives(markup: str) -> Iterator[tuple[int, str, str]]:
    """Yield the place, the code and the attribute of Vue's expressions: ``@click="save"``, ``{{ name }}``."""
    for found in _DIRECTIVE.finditer(markup):
        if len(found["text"]) <= _MOST_CHARACTERS:
            yield found.start("text"), found["text"], found["name"]
    at = markup.find("{{")
    while at >= 0:
        end = markup.find("}}", at)
        if end < 0:
            break
        if end - at <= _MOST_CHARACTERS:
            yield at + 2, markup[at + 2 : end], "{{}}"
        at = markup.find("{{", end)


def _handlers(markup: str) -> Iterator[tuple[int, str, str]]:
    for found in _HANDLER.finditer(markup):
        if len(found["text"]) <= _MOST_CHARACTERS:
            yield found.start("text"), found["text"], found["name"]


def _braces(markup: str) -> Iterator[tuple[int, str, str]]:
    """Yield the place, the code and the attribute of what is in braces: ``on:click={save}``, ``{name}``."""
    depth = start = 0
    for at, character in enumerate(markup):
        if character == "{":
            start = at + 1 if not depth else start
            depth += 1
        elif character == "}" and depth:
            depth -= 1
            if not depth and at - start <= _MOST_CHARACTERS:
                before = _ATTRIBUTE.search(markup, max(start - 41, 0), start - 1)
                yield start, markup[start:at], before[1] if before else "{}"


_READ = {"vue": _directives, "html": _handlers}


def _bound(text: str, rule: str) -> Iterator[str]:
    """Yield the names that an expression gives to what it goes over, or is given."""
    if rule == "v-for":
        text = text.partition(" in ")[0].partition(" of ")[0]
    elif text.startswith("#each"):
        text = text.partition(" as ")[2].partition("(")[0]
    elif not (rule.startswith(("#", "v-slot")) or rule == "slot-scope"):
        return
    yield from _NAME.findall(text)


def _names(text: str, *, whole: bool) -> Iterator[tuple[int, tuple[str, ...], bool]]:
    """Yield what an expression names, with its place: what it calls, and what it only reads or hands on.

    Args:
        whole: Whether a name that is not called counts only where it is the whole expression.
    """
    code = _STRING.sub(lambda string: "\0" * len(string[0]), text)
    for found in _CHAIN.finditer(code):
        parts = tuple([each.lstrip("$") or each for each in _NAME.findall(found[0])])
        rest = code[found.end() :].lstrip()
        is_call = rest.startswith(("(", "?.("))
        before = code[max(found.start() - _MOST_BLANKS, 0) : found.start()].rstrip()
        is_key = rest.startswith(":") and before.endswith(("{", ","))
        if parts[0] in _RESERVED or is_key:
            continue
        if is_call:
            yield found.start(), parts, True
        if not whole and len(parts) > is_call:  # of what Vue computes a member, too
            yield found.start(), parts[:1], False
        elif whole and not is_call and len(parts) == 1 and found[0] == code.strip():
            yield found.start(), parts, False
