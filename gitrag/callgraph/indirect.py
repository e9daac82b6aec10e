"""How code reaches a definition without a call by its name: a name put together, a custom, its file. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from functools import cache
from itertools import islice

from gitrag.callgraph.general.traits import SCRIPTS, family_of
from gitrag.late import late_re

_PART = late_re(r"_+|(?<=[a-z0-9])(?=[A-Z])")
_BEFORE, _INTO = r"['\"`]", r"(?:#\{|\{|\$\{?|%|\\\()"
_STRING = late_re(r"[\"'`]([^\"'`\n]{1,200})[\"'`]")
_IMPORTING = late_re(r"\b(?:import|require|from|export)\b")
_BOUND = late_re(
    r"\b(?:const|let|var)\s+([\w$]+)\s*=\s*(?:await\s+)?(?:require|import)\b|\bimport\s+(?:\*\s*as\s+)?([\w$]+)"
)
_EXPORTING = late_re(r"\s*(?:export\s*(?:default\b|\{)|[\w.]*?exports\b)")
_EXPORTS = late_re(r"\s*(?:export\b|(?:module\.)?exports\b)")
_ENDING = late_re(r"(?:/(?:index|__init__))?(?:\.d)?\.\w+$")
_MIXING = late_re(r"\.\s*(?:send[ (]\s*:)?(?:include|prepend|extend)\b[ (,]")

_LONGEST, _MOST_PARTS = 100, 8
"""Of a name: characters and parts at most, for a stranger's may have thousands."""

LOADING = (
    "import_module",
    "__import__",
    "iter_modules",
    "walk_packages",
    "spec_from_file_location",
    "load_module",
)
"""What imports a module of Python whose name the source does not say."""

BY_ITS_NAME = "its name"
"""What stands for a decorator where the language, or what runs tests, calls a definition by its name."""
BY_ITS_OBJECT = "the object that has it"
BY_A_COMPUTED_NAME = "a call whose name is computed"
BY_ITS_PROPERTY = "the property that it is the accessor of"
_IN_OBJECT = late_re(
    r"\s*(?:(?:(?:async|get|set)\b|\*)\s*)*(?:[\w$]+|\"[^\"]*\"|'[^']*'|\[[^\]]*\])\s*[(:]"
    r"|\s*(?!(?:this|exports|module\.exports)\.[\w$]+\s*=|[\w$.]*\.prototype\.)[\w$]+(?:\.[\w$]+)+\s*=(?!=)"
)
"""How a function of JavaScript begins that is a member of an object: nobody knows who calls it by that."""
_COMPUTED = {
    "php": late_re(
        r"(?:->|::)\s*(?:\{[^}]{0,200}\}|\$\w+)\s*\(|\[\s*\$this\s*,\s*+(?!['\"]\w+['\"]\s*\])[^\]]{0,200}\]|\bcall_user_func"
    ),
    "ruby": late_re(r"\b(?:__send__|(?:public_)?send)[ (]\s*+(?!:\w)|\.method\(\s*+(?!:\w)"),
    "javascript": late_re(r"\bthis\[(?!\d|(['\"])[^'\"]*\1\])[^\]]{1,200}\](?!\s*[-+*/|&?]{0,2}=(?!=))"),
    "python": late_re(r"\bgetattr\(\s*(?:self|cls)\s*,\s*+(?!f?['\"])"),
    "bash": late_re(r"(?:^|[;&|({]|\b(?:then|do|else|if|exec|eval|time)\s)\s*[\"']?[\w:-]*\$(?!\()"),
    "lua": late_re(r"\w\[(?![\"'])[^\]]{1,200}\]+\s*(?:\(|or\b.{0,200}\)\s*\()"),
}
"""A call of an object's own functions by a name that the source does not say, by family of languages."""
_JVM = (
    "main|toString|equals|hashCode|compareTo|(?:read|write)Object|readResolve|writeReplace|finalize"
    "|(?:pre|agent)main"
)
_NATIVE = r"main|w?WinMain|DllMain|Java_\w+|JNI_On\w+"
_SCRIPT = (
    r"toString|toJSON|valueOf|render|component[A-Z]\w+|\w+Callback|ng(?:On|Do|After)[A-Z]\w+"
    r"|on(?:Module|Application)[A-Z]\w+"
)
_CALLED = {
    "python": r"__\w+__|test_\w+|pytest_\w+|setUp\w*|tearDown\w*",
    "go": r"main|init|(?:Test|Benchmark|Example|Fuzz)\w*|String|Error|Unwrap|ServeHTTP|RoundTrip"
    r"|Len|Less|Swap|Push|Pop|(?:Read|Write)(?:At|Byte|Dir|File|From|Header|Rune|String|To)?|Close|Seek|Stat|Scan"
    r"|Value|Set|Get|Format|GoString|Is|As|Temporary|Timeout|(?:Unm|M)arshal[A-Z]\w*|Gob(?:En|De)code|Name|Size|Mode"
    r"|ModTime|IsDir|Sys|Info|Type|Open|Glob|Sub|Header|Flush|Hijack|Cookies|SetCookies|Lock|Unlock|Sum|Reset"
    r"|BlockSize|Deadline|Done|Err|Enabled|Handle|With(?:Attrs|Group)|LogValue|Network|Accept|Addr|(?:Local|Remote)Addr"
    r"|Set(?:Read|Write)?Deadline|Int63|Uint64|Seed|Bounds|At|ColorModel|Visit",
    "rust": "main",
    "c": _NATIVE,
    "cpp": rf"{_NATIVE}|operator.*|~\w+",
    "java": _JVM,
    "kotlin": _JVM,
    "scala": rf"{_JVM}|apply|update|unapply(?:Seq)?",
    "dart": "main",
    "zig": "main|panic|format|jsonStringify|jsonParse",
    "lua": r"__\w+",
    "csharp": "Main|Dispose(?:Async)?|ToString|Equals|GetHashCode|CompareTo|Get(?:Async)?Enumerator|MoveNext"
    "|Deconstruct|Add|GetAwaiter|operator|this|~.*|Configure(?:Services)?|Invoke(?:Async)?|On(?:Get|Post)\\w*",
    "ruby": r"to_\w+|inspect|method_missing|respond_to_missing\?|included|inherited|extended|prepended"
    r"|test_\w+|setup|teardown",
    "php": r"__\w+|test\w+|setUp|tearDown",
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "solidity": "receive|fallback",
    "swift": "deinit|subscript|error(?:Description|Code|UserInfo|Domain)|failureReason|recoverySuggestion"
    "|helpAnchor|description|debugDescription|customMirror|hash|encode|id|rawValue|allCases|body|previews",
}
_UNARCHIVED = late_re(r"\binit[?!]?\s*\((?:from\s+\w+\s*:|coder\b|rawValue\b)")
"""Initializers of Swift that protocols ask for: what decodes, or unarchives, calls them."""


@cache
def put_together(name: str) -> tuple[tuple[str, ...], re.Pattern[str]] | None:
    """Return texts one of which a line has that puts a name together, and what tells such a line.

    ``hook_data`` is by ``'hook_' + x``, ``x.startswith("hook_")``, ``/^hook_(.*)/`` or ``f"{x}_data"``;
    ``onData`` by what adds to one of its words. None of a name of one word.
    """
    own = name.strip("#?!=")[:_LONGEST]
    texts: list[str] = []
    ways: list[str] = []
    for part in islice(_PART.finditer(own), _MOST_PARTS):
        start, end = own[: part.end()], own[part.start() :]
        if len(start.strip("_")) < 2 or not end.strip("_"):
            continue
        first, last = re.escape(start), re.escape(end)
        if part[0]:
            texts += [*(f"{each}{start}" for each in "'\"`^"), *(f"{end}{each}" for each in "'\"`")]
            ways += [rf"(?:{_BEFORE}|\^){first}(?:{_BEFORE}|{_INTO}|[(\[\\])"]
            ways += [rf"(?:{_BEFORE}|\}}|%s|\)[+*]?){last}(?:{_BEFORE}|\$/)"]
        else:
            texts += [
                f"'{start}'",
                f'"{start}"',
                *(f"{each}{start}" for each in "`"),
                f'"{start}',
                f"'{start}{{",
            ]
            texts += [f"'{end}'", f'"{end}"', f"}}{end}"]
            ways += [rf"['\"]{first}['\"]\s*(?:\+|\.\s*[\w$])|{_BEFORE}{first}{_INTO}"]
            ways += [rf"(?:\+|[\w)\]]\s*\.)\s*['\"]{last}['\"]|\}}{last}{_BEFORE}"]
    return (tuple(dict.fromkeys(texts)), re.compile("|".join(ways))) if ways else None


def stem_of(path: str) -> str:
    """Return the word by which other files import one: its name, or its directory's."""
    return _ENDING.sub("", f"/{path}").rpartition("/")[2]


def imports(text: str, place: str, path: str, language: str) -> bool:
    """Tell whether a line may import a file.

    Args:
        text: The line, which has the file's ``stem_of``.
    """
    own = _ENDING.sub("", f"/{path}")
    stem = re.escape(own.rpartition("/")[2])
    if language not in SCRIPTS:
        is_there = re.search(r"\bimport\b", text) and re.search(rf"\b{stem}\b", text)
        return bool(is_there or re.search(rf"^\s*{stem},?\s*$|\.{stem}\b", text))
    named = _STRING.findall(text) if _IMPORTING.search(text) else []
    for each in (*named, *(_ENDING.sub("", each) for each in named)):
        if each.startswith("."):
            whole = posixpath.normpath(posixpath.join("/", posixpath.dirname(place), each))
            if whole.removesuffix("/index") == own:
                return True
        elif own.endswith("/" + each.partition("/")[2].removesuffix("/index").rpartition("src/")[2]):
            return True
    return False


def loads_modules(text: str) -> bool:
    """Tell whether a line of Python imports modules by names that it does not say."""
    return bool(re.search(rf"\b(?:{'|'.join(LOADING)})\(\s*+(?![\"'][\w.]+[\"'])", text))


def bound_by(text: str) -> str:
    """Return the name to which a line of an import binds a whole module; empty if to none."""
    found = _BOUND.search(text)
    return (found[1] or found[2]) if found else ""


def takes_any_of(text: str, name: str) -> bool:
    """Tell whether a line takes a member of something by a name that the source does not say."""
    own = re.escape(name)
    return bool(
        re.search(rf"(?<![\w.]){own}\[(?![\d'\"])|\bgetattr\(\s*{own}\s*,\s*+(?!['\"]\w+['\"])", text)
    )


def is_exported(line: str, name: str, others: list[str]) -> bool:
    """Tell whether a file of JavaScript lets others have a definition.

    Args:
        name: The name at the file's top level that it is, or is in.
    """
    word = re.compile(rf"(?<![\w.]){re.escape(name)}(?!\w)")
    exporting = ((each, _EXPORTING.match(each)) for each in others)
    return _EXPORTS.match(line) is not None or any(
        found and word.search(each, found.end()) for each, found in exporting
    )


def overrides(lines: list[str], name: str, language: str) -> bool:
    """Tell whether a method calls what it overrides, as its lines are."""
    own = rf"\b(?:super(?:\([^()]*\))?\s*\.|parent::){re.escape(name)}\b"
    way = re.compile(r"^[^#\"']*\bsuper\b" if language == "ruby" else own)
    return any(way.search(line) for line in lines)


def mixes_in(text: str, name: str) -> bool:
    """Tell whether a line of Ruby mixes a module into a class that it names."""
    found = _MIXING.search(text)
    return found is not None and re.search(rf"\b{re.escape(name)}\b", text[found.end() :]) is not None


def is_called_by_its_name(name: str, language: str) -> bool:
    """Tell whether a language, or what runs tests, calls definitions that have a name."""
    return language in _CALLED and re.fullmatch(_CALLED[language], name) is not None


def is_of_an_object(line: str, name: str = "") -> bool:
    """Tell whether a function of JavaScript begins as a member of an object does, or a method of a class.

    Args:
        name: Its own: others may begin in the line before it.
    """
    within = rf"[,{{]\s*(?:(?:async|get|set)\s+)?([\"']?){re.escape(name)}\1\s*[(:]"
    return _IN_OBJECT.match(line) is not None or (bool(name) and re.search(within, line) is not None)


def calls_by_computed_names(lines: Iterable[str], language: str) -> bool:
    """Tell whether a file calls functions of an object by names that it computes."""
    way = _COMPUTED.get(family_of(language))
    return way is not None and any(way.search(line) for line in lines)


def is_unarchived(line: str, language: str) -> bool:
    """Tell whether a definition of Swift begins as what decodes or unarchives calls."""
    return language == "swift" and _UNARCHIVED.search(line) is not None
