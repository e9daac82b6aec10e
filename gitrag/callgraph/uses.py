"""Lines that have a definition's name: which of them may use it, and what a framework calls it by. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from gitrag.callgraph.general.view import FAMILIES
from gitrag.chunking.languages import is_code, language_of

_TEMPLATES = (
    *(
        ".html",
        ".htm",
        ".vue",
        ".svelte",
        ".astro",
        ".erb",
        ".haml",
        ".slim",
        ".twig",
        ".jinja",
        ".jinja2",
        ".j2",
    ),
    *(
        ".hbs",
        ".ejs",
        ".tmpl",
        ".gohtml",
        ".cshtml",
        ".razor",
        ".jsp",
        ".xaml",
        ".xib",
        ".storyboard",
        ".xml",
    ),
)
"""Suffixes of files whose text may call code."""

_NO_CODE = frozenset({"protobuf", "graphql"})
"""Languages that only declare."""

_COMMENT = re.compile(r"\s*(?://|/\*|\*[\s/]|#(?:\s|$)|<!--|--\s|\"\"\")")
_DEFINING = re.compile(
    r"\b(?:def|defp|fn|func|fun|function|sub|class|interface|struct|trait|module|type|enum|protocol|import|from"
    r"|use|using|namespace|package)\s[^=;(]*$|\bfunc\s*\([^)]*\)\s*$"
)
_TYPE_FIRST = frozenset({"java", "c", "cpp", "csharp", "dart", "solidity"})
_AFTER_TYPE = re.compile(r"(\w+|[>\]*&?])\s+[*&]*$|\w[*&]+$")
_NO_TYPE = frozenset(
    "return await new throw else in case yield and or not do when is co_await co_return goto delete".split()
)

_MARK = re.compile(r"@([\w.]+)|#\[\s*([\w:]+)|^\s*\[\s*([\w.]+)|\b(override)\b")
_REGISTERING = re.compile(
    r"(?:^|[.:_])(?:(?:api_)?route|get|post|put|patch|delete|head|options|websocket|command|group|callback|task"
    r"|shared_task|periodic_task|on|on_event|event|listen(?:er)?|handler?|hook(?:impl)?|fixture|receiver|register\w*"
    r"|subscri(?:be|ber)|(?:before|after|error|tear)\w*(?:request|handler|down|each|all)|filter|simple_tag"
    r"|tool|resource|job|cron|main|test|no_mangle|wasm_bindgen|pyfunction|override)$"
    r"|(?:Mapping|Listener|Handler|Scheduled|Bean|Provides|Subscribe|PostConstruct|PreDestroy|Test|Each|All|Override"
    r"|Query|Mutation|Http\w+|Route|Fact|Theory|Command|Event|Job|Cron|Hook|IBAction|JavascriptInterface)$"
)
"""Decorators, annotations and modifiers by which others come to call a definition that name it nowhere."""


def may_use(path: str, text: str, name: str, language: str) -> bool:
    """Tell whether a line may call a definition, or hand it on.

    Args:
        path: The line's file.
        text: The line.
        name: The definition's last name.
        language: Its language: code in others that have a call graph cannot call it.
    """
    own = language_of(path) or ""
    is_template = path.endswith(_TEMPLATES) or ".blade." in path
    if not is_template and (not is_code(own) or own in _NO_CODE or _is_other(own, language)):
        return False
    if _COMMENT.match(text):
        return False
    ways = _in_template(name) if is_template else _in_code(name)
    return any(not _is_declared(text, each.start("name"), own) for way in ways for each in way.finditer(text))


def registrations(lines: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the decorators, annotations and modifiers by which a framework calls a definition.

    Args:
        lines: The definition's first lines, with those above it.
        name: Its last name.
    """
    found: dict[str, None] = {}
    for line in lines:
        for each in _MARK.finditer(line):
            mark = each[1] or each[2] or each[3] or each[4]
            if _REGISTERING.search(mark):
                found[
                    f"@{mark}" if each[1] else f"#[{mark}]" if each[2] else f"[{mark}]" if each[3] else mark
                ] = None
        if re.search(rf"(?<![\w@.]){re.escape(name)}(?!\w)", line) and not line.lstrip().startswith(
            ("@", "#[")
        ):
            break
    return tuple(found)


def _is_other(own: str, language: str) -> bool:
    from gitrag.callgraph.extraction import LANGUAGES

    return own in LANGUAGES and FAMILIES.get(own, own) != FAMILIES.get(language, language)


@cache
def _in_code(name: str) -> tuple[re.Pattern[str], ...]:
    n = f"(?P<name>{re.escape(name)})"
    return _compiled(
        rf"(?<!\w){n}\s*(?:\(|!\(|`|::<|<[\w, .?]+>\()",
        rf"(?:\.|->|::|\?\.|&\.)\s*{n}(?!\w|\s*=(?![=>]))",
        rf"(?<![\w:)\]]):{n}(?!\w)",  # Ruby's symbol
        rf"&{n}(?!\w)",
        rf"\[\s*(?:[^\]\[]*,\s*)?(?P<quote>['\"]?){n}(?P=quote)\s*[,\]]",  # in a list
        rf"[=:]>?\s*(?:async\s+)?{n}\s*[,;)}}]?\s*$",  # given to something
    )


@cache
def _in_template(name: str) -> tuple[re.Pattern[str], ...]:
    n = f"(?P<name>{re.escape(name)})"
    return _compiled(rf"(?<![\w-]){n}\s*\(", rf"[\"'{{|.:(]\s*{n}(?![\w-])")


def _compiled(*ways: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, ways))


def _is_declared(text: str, at: int, language: str) -> bool:
    before = text[:at]
    if _DEFINING.search(before):
        return True
    typed = _AFTER_TYPE.search(before) if language in _TYPE_FIRST else None
    return typed is not None and typed[1] not in _NO_TYPE
