"""Lines that have a definition's name: which of them may use it, and what a framework calls it by. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from gitrag.callgraph.general.registering import snake
from gitrag.callgraph.general.traits import family_of
from gitrag.chunking.languages import is_code, language_of
from gitrag.late import late_re

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
        ".heex",
        ".eex",
        ".leex",
        ".phtml",
        ".latte",
        ".tpl",
        ".pug",
        ".liquid",
        ".mustache",
        ".njk",
        ".ftl",
        ".fxml",
        ".axaml",
        ".plist",
    ),
)
"""Suffixes of files whose text may call code."""

_SERVICES = "META-INF/services/"
_SETTINGS = (".toml", ".yaml", ".yml", ".cfg", ".ini", ".json", ".neon", ".properties")
"""Suffixes of files whose text may name code by its module or class: ``shop.cli:main``."""

_BARE = frozenset({"ruby", "erb", "scala", "csharp", "swift", "kotlin", "dart", "bash"})
"""Languages in which a name alone may be a call: of a property, of a method without brackets, infix."""

_WITH_C = frozenset({"c", "cpp", "zig", "lua"})
"""Languages that call C, or that C calls, by the same names."""

_STRING = late_re(r"\"[^\"]*\"|'[^']*'")

_PROSE = frozenset("markdown rst text gettext csv css scss less html svg asciidoc".split())
"""Languages of files that no program runs."""
_COMPARED = late_re(r"(?:[=!]==?|\b(?:case|when|in|is))\s*$")
_TRAILING = late_re(r"\s(?://|#)\s.*$")

_NO_CODE = frozenset({"protobuf", "graphql"})
"""Languages that only declare."""

_COMMENT = late_re(r"\s*(?://|/\*|\*[\s/]|#(?:\s|$)|<!--|--\s|\"\"\")")
_DEFINING = late_re(
    r"\b(?:def|defp|fn|func|fun|function|sub|class|interface|struct|trait|module|type|enum|protocol|namespace"
    r"|package)\b\s*\*?\s*(?:<[^>]*>\s*)?(?:[\w:]+(?:<[^>]*>)?\??\s*[.:]+\s*)*$"
    r"|^\s*(?:(?:pub(?:\([^)]*\))?|public|private|internal|export|default|abstract|final|open|data|sealed)\s+)*"
    r"(?:(?:class|interface|struct|trait|protocol|using)\s[^=;(]*|(?:import|from|use)\s[^=;]*)$"
    r"|\bfunc\s*\([^)]*\)\s*$|^\s*@(?:spec|(?:macro)?callback)\s+$"
)
_IMPORTING = late_re(
    r"\s*(?:(?:pub(?:\([^)]*\))?|export|public|global)\s+)*(?:import|from|use|using|typedef)\b|\s*#"
)
_IN_SIGNATURE = late_re(r"\b(?:def|fn|func|fun|function)\b[^)]*$")
_TYPE_FIRST = frozenset({"java", "c", "cpp", "csharp", "dart", "solidity"})
_AFTER_TYPE = late_re(r"(\w+|(?<=[\w>\]\[?*&])[>\]])[*&?]*\s+[*&]*$")
_NO_TYPE = frozenset(
    "return await new throw else in case yield and or not do when is as co_await co_return co_yield goto"
    " delete assert select where orderby by on equals out ref typeof sizeof instanceof emit revert defer"
    " using xor".split()
)

_MARK = late_re(
    r"@([\w.]+)|#\[\s*([\w:]+)|^\s*\[\s*([\w.]+)|\b(override|operator(?=\s+fun)|export\s+default)\b"
)
_REGISTERING = late_re(
    r"(?:^|[.:_])(?:(?:api_)?route|get|post|put|patch|delete|head|options|websocket|command|group|callback|task"
    r"|shared_task|periodic_task|on|on_event|event|listen(?:er)?|handler?|hook(?:impl)?|fixture|receiver|register\w*"
    r"|subscri(?:be|ber)|(?:before|after|error|tear)\w*(?:request|handler|down|each|all)|filter|simple_tag"
    r"|tool|resource|job|cron|main|test|no_mangle|wasm_bindgen|pyfunction|override|operator|tag|middleware|validat\w+"
    r"|export\s+default)$"
    r"|(?:Mapping|Listener|Handler|Scheduled|Bean|Provides|Subscribe|PostConstruct|PreDestroy|Test|Each|All|Override"
    r"|Query|Mutation|Http\w+|Route|Fact|Theory|Command|Event|Job|Cron|Hook|IBAction|JavascriptInterface"
    r"|Component|Service|Repository|Controller|Configuration|Entity|Injectable|Module|Directive|Pipe)$"
)
"""Decorators, annotations and modifiers by which others come to call a definition that name it nowhere."""
_CALLS_NOTHING = late_re(
    r"(?:^|[.:])(?:property|classmethod|staticmethod|abstract\w*|dataclass\w*|attrs?|define|frozen|cached_property"
    r"|(?:lru_)?cache|wraps|(?:async)?contextmanager|overload|final|total_ordering|singledispatch|setter|getter|deleter"
    r"|runtime_checkable|no_type_check|typing|deprecated|inline|derive|must_use|allow|warn|deny|expect|cfg\w*|doc|cold"
    r"|track_caller|non_exhaustive|repr|automatically_derived|serde|discardableResult|available|MainActor|inlinable"
    r"|usableFromInline|escaping|autoclosure|unchecked|objcMembers|nonobjc|Published|State|param|return|throws"
    r"|see|link|inheritDoc|internal|private|public|since|var|SuppressWarnings|Suppress|Deprecated|Nullable|NonNull"
    r"|NotNull|Nonnull|CheckForNull|CheckResult|SafeVarargs|FunctionalInterface|VisibleForTesting|Jvm\w+|OptIn"
    r"|Throws|Synchronized|Volatile|Transient|Serializable|Obsolete|MethodImpl|Debugger\w*|Conditional|Pure|Flags"
    r"|ExcludeFromCodeCoverage|EditorBrowsable|CLSCompliant|MemberNotNull\w*|ReturnTypeWillChange|CanIgnoreReturnValue"
    r"|(?:Requires|Target)Api|SuppressLint|\w+Thread|\w+Res|TestOnly|Contract|GuardedBy|Size|IntRange|Keep|Stable"
    r"|Immutable|ApiStatus\w*|Experimental\w*|Beta|Internal|AllowDynamicProperties|SensitiveParameter"
    r"|spec|dialyzer|moduledoc|typedoc|shortdoc)$"
)
"""Those by which nobody comes to call it; of any other it is not known."""

_CALLING_NOTHING = late_re(
    r"object|Object|ABC|Protocol|Generic|\w*Enum|\w*Error|\w*Exception|NamedTuple|TypedDict|Serializable|Cloneable"
    r"|Codable|Encodable|Decodable|Equatable|Hashable|Identifiable|Sendable|CaseIterable|String|Int|UInt\w*|Struct"
    r"|Record|NSObject|Any|AnyObject|ValueType|Throwable|stdClass"
)
"""Bases outside of the repository that call none of what a class adds to them."""

_MOST_BASES = 200

OUTSIDE = "."
"""What a base's name begins with that is of others, although a class here is called so."""

_MADE_BY_NAME = {
    "php": r"(?:::class\b|@\w+[\"']|[\"'])",
    "java": r"(?:\s*::\s*new\b|\.class\b)",
}
"""What follows a class's name where something else makes one of it: a container, a route."""

_BEANS = late_re(
    r"\s*import\s+(?:static\s+)?\S*\b(?:jackson|gson|moshi|jsonb|persistence|bind|springframework|hibernate|mybatis"
    r"|yaml|bson|micronaut|quarkus|freemarker|velocity|thymeleaf|faces|beans|simple|mongodb|lombok)\b"
)
"""Libraries of Java that find accessors by the names of properties."""
_ACCESSOR = late_re(r"(?:get|is|set|has)(?=[A-Z\d])(\w+)")
_OF_LARAVEL = late_re(r"(?P<of>get|set|scope)(?P<name>[A-Z]\w*?)(?P<end>Attribute)?")
_READING = ("kotlin", "scala", "groovy")
"""Languages that read the properties of Java's objects."""


def property_of(name: str, language: str) -> str:
    """Return the property by which others may read or set what an accessor does; empty if it is none."""
    laravel = _OF_LARAVEL.fullmatch(name) if language == "php" else None
    if laravel and laravel["end"]:
        return snake(laravel["name"])
    if laravel and laravel["of"] == "scope":
        return laravel["name"][0].lower() + laravel["name"][1:]
    found = _ACCESSOR.fullmatch(name) if language in {"java", "php"} else None
    if found:
        return found[1][0].lower() + found[1][1:]
    own = snake(name)  # of one that gives an Attribute
    return own if language == "php" and own != name.lower() else ""


def may_read(path: str, text: str, name: str, language: str) -> bool:
    """Tell whether a line may read or set a property: in a template, or in what has properties itself."""
    is_template = path.endswith(_TEMPLATES) or ".blade." in path
    if not is_template and language != "php" and (language_of(path) or "") not in _READING:
        return False
    ways = r"\.|\?\.|->" if is_template or language != "php" else "->|::"
    return re.search(rf"(?:{ways})\s*{re.escape(name)}(?!\w)", text) is not None


def is_accessor_of_a_bean(lines: Iterable[str], name: str, language: str) -> bool:
    """Tell whether a library that a file of Java imports may call an accessor by its property."""
    is_one = language == "java" and _ACCESSOR.fullmatch(name)
    return bool(is_one) and any(_BEANS.match(line) for line in lines)


_GO_IMPORT = late_re(r'\s*(?:import\s+)?(?:[\w.]+\s+)?"((?:[\w-]+\.)+[\w-]+/[^"\s]+)"\s*(?://.*)?$')
_EXPORTED = late_re(r"func\s*\([^)]*\)\s*[A-Z]")


def interface_outside(lines: Sequence[str], line: str, module: str) -> str:
    """Return a package of others that a file of Go imports, an interface of which may list a method.

    Args:
        line: The first of the method; of one that is not exported only its own package knows.
        module: The path of the module that the file is of.
    """
    if not _EXPORTED.match(line):
        return ""
    for each in lines:
        if each.startswith(("func ", "type ")):
            break
        found = _GO_IMPORT.match(each)
        if found and not f"{found[1]}/".startswith(f"{module or '?'}/"):
            return found[1]
    return ""


def may_use(path: str, text: str, name: str, language: str, own: str = "") -> bool:
    """Tell whether a line may call a definition, or hand it on.

    Args:
        name: The definition's last name.
        language: Its language: code in others that have a call graph cannot call it.
        own: The language of the file, where its path does not tell.
    """
    own = language_of(path) or own
    is_of_c = own in _WITH_C and family_of(language) == "java"  # by JNI
    if _SERVICES in path or is_of_c:
        return not is_of_c or f'"{name}"' in text or f'/{name}"' in text
    if language == "ruby" and name.endswith("="):
        return not _COMMENT.match(text) and may_set(text, name[:-1])
    if path.endswith(_SETTINGS):
        return _in_settings(name).search(text) is not None
    is_template = path.endswith(_TEMPLATES) or ".blade." in path
    if not is_template and (not is_code(own) or own in _NO_CODE or _is_other(own, language)):
        return False
    if _COMMENT.match(text):
        return False
    if language in _MADE_BY_NAME and re.search(rf"(?<!\w){re.escape(name)}{_MADE_BY_NAME[language]}", text):
        return True
    if _renamed(name).search(text):
        return True
    ways = _in_template(name) if is_template else _in_code(name)
    if any(not _is_declared(text, each.start("name"), own) for way in ways for each in way.finditer(text)):
        return True
    if is_template:
        return False
    bare = text if own == "bash" else _STRING.sub(_without_prose, text)
    return _is_named(
        bare, own, *_handed(name), *((_alone(name, own in {"ruby", "erb"}),) if own in _BARE else ())
    )


def may_reach(path: str, text: str, name: str, language: str, own: str = "", *, alone: bool = False) -> bool:
    """Tell whether a line that does not call a definition as others do may still name it.

    Args:
        path, text, name, language, own: As of ``may_use``.
        alone: Whether its name may stand for it without what it is a member of.
    """
    own = language_of(path) or own
    is_ours = is_code(own) and own not in _NO_CODE and not _is_other(own, language)
    if _COMMENT.match(text) or not (is_code(own) or path.endswith(_SETTINGS) or own not in _PROSE):
        return False
    if any(not _COMPARED.search(text[: each.start()]) for each in _as_string(name).finditer(text)):
        return True
    if not is_ours:
        return _in_settings(name).search(text) is not None or _is_value(name).search(text) is not None
    if not alone or _IMPORTING.match(text):
        return False
    return _is_named(_TRAILING.sub("", _STRING.sub(_without_prose, text)), own, _by_itself(name))


def _is_named(text: str, language: str, *ways: re.Pattern[str]) -> bool:
    """Tell whether a name stands in a line in one of some ways, not where it or a parameter is declared."""
    return any(
        not _is_declared(text, at, language) and not _IN_SIGNATURE.search(text[:at])
        for way in ways
        for at in (each.start("name") for each in way.finditer(text))
    )


def may_set(text: str, name: str) -> bool:
    """Tell whether a line may give a property a value, alone or with others."""
    return _given(name).search(text) is not None


def only_declares(path: str, text: str, name: str) -> bool:
    """Tell whether a line of code has a name only where it declares it: a stub, a prototype, no import."""
    if _IMPORTING.match(text):
        return False
    own = language_of(path) or ""
    places = [each.start() for each in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    return is_code(own) and bool(places) and all(_is_declared(text, at, own) for at in places)


def registrations(lines: Sequence[str], name: str) -> tuple[str, ...]:
    """Return the decorators, annotations and modifiers by which a framework calls a definition.

    Args:
        lines: The definition's first lines, with those above it.
    """
    known: dict[str, None] = {}
    others: dict[str, None] = {}
    for line in lines:
        for each in _MARK.finditer(line):
            mark = each[1] or each[2] or each[3] or each[4]
            shown = f"@{mark}" if each[1] else f"#[{mark}]" if each[2] else f"[{mark}]" if each[3] else mark
            if _REGISTERING.search(mark):
                known[shown] = None
            elif not _CALLS_NOTHING.search(mark):
                others[shown] = None
        if re.search(rf"(?<![\w@]){re.escape(name)}(?!\w)", line) and not line.lstrip().startswith(
            ("@", "#[")
        ):
            break
    return tuple(known or others)


def may_be_called_by(bases: Iterable[str], above: Mapping[str, Iterable[str]]) -> str:
    """Return the nearest class outside of the repository that a class inherits from, if it may call methods.

    Args:
        bases: Last parts of the names of its bases.
        above: The same of all classes of the repository.
    """
    seen: set[str] = set()
    waiting = list(bases)
    while waiting and len(seen) < _MOST_BASES:
        each = waiting.pop(0)
        if each not in seen:
            seen.add(each)
            name = each.removeprefix(OUTSIDE)
            if each in above:
                waiting += above[each]
            elif name and not _CALLING_NOTHING.fullmatch(name):
                return name
    return ""


def _without_prose(string: re.Match[str]) -> str:
    """Leave out a string of more than a word, unless code may stand in it."""
    return '""' if re.search(r"\s", string[0]) and "{" not in string[0] else string[0]


def _is_other(own: str, language: str) -> bool:
    from gitrag.callgraph.extraction import LANGUAGES

    if {own, language} <= _WITH_C:
        return False
    return own in LANGUAGES and family_of(own) != family_of(language)


_LINES_OF_IMPL, _LONGEST_IMPL = 4, 500
_IMPL = late_re(r"\s*(?:unsafe\s+)?impl\b(?:.*?([\w:]+)(?:<[^{]*>)?\s+for\s)?")


def implemented(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the trait of Rust that a function is an implementation of: ``impl fmt::Display``.

    Args:
        lines: Those above the function, and its first.
    """
    within = _indent(lines[-1]) if lines else 0
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        if line.strip() and (_indent(line) < within or at == len(lines) - 1):
            found = _IMPL.match(line[:_LONGEST_IMPL])
            if found and "{" not in line:  # in several lines
                found = _IMPL.match(" ".join(lines[at : at + _LINES_OF_IMPL])[:_LONGEST_IMPL])
            if found:
                return (f"impl {found[1]}",) if found[1] else ()
            if line.lstrip().startswith("}"):
                break
    return ()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


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
def _handed(name: str) -> tuple[re.Pattern[str], ...]:
    n = f"(?P<name>{re.escape(name)})"
    return _compiled(
        rf"[(,]\s*(?P<quote>['\"]?){n}(?P=quote)\s*[,)]",  # an argument
        rf"[=:]>?\s*(?P<quote>['\"]?){n}(?P=quote)\s*[,;)]",
        rf"[{{,]\s*{n}\s*[,}}]",  # what an object has under its name
        rf"(?<![\w)])<{n}(?![\w-])",  # JSX
        rf"\b(?:return|default)\s+{n}\s*[;,]?\s*$",
    )


@cache
def _renamed(name: str) -> re.Pattern[str]:
    """Return what tells that a name is imported or exported as another, by which it may be called."""
    return re.compile(rf"(?<!\w){re.escape(name)}\s+as\s+\w+\s*(?:[,;)}}]|$)")


@cache
def _alone(name: str, is_ruby: bool) -> re.Pattern[str]:
    more = "?!" if is_ruby else ""
    end = rf"(?![\w\"'{more}]|:(?!:)|\s*=(?![=>~]))"
    n = re.escape(name)
    return re.compile(rf"(?<![\w@$\"'])(?P<name>{n})(?:{end}|(?<=\{{{n})(?=:\w[^}}]*\}}))")


@cache
def _in_template(name: str) -> tuple[re.Pattern[str], ...]:
    n = f"(?P<name>{re.escape(name)})"
    return _compiled(
        rf"(?<![\w-]){n}\s*\(",
        rf"[\"'{{|.:(]\s*{n}(?![\w-])",
        # in an attribute whose value is code
        rf"(?<![\w-])(?:[:@#*]|v-|x-|on:|use:|bind:|ng-)[\w.:-]*=(?P<own>[\"'])(?:(?!(?P=own)).)*?(?<![\w.$-]){n}(?![\w-])",
        rf"\{{[{{%#@][^}}]*?(?<![\w-]){n}(?![\w-])",  # in its code
        rf"<[%?](?:[^%?]|[%?](?!>))*?(?<![\w-]){n}(?![\w-])",
        rf"^\s*[-=]=?\s[^<]*?(?<![\w-]){n}(?![\w-])",
    )


@cache
def _in_settings(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<=\w)(?:\.|::?|#|@|\\\\?){re.escape(name)}(?![\w.:-])")


@cache
def _as_string(name: str) -> re.Pattern[str]:
    """Return what tells a string that is a name, or ends with it after what it is a member of."""
    n = re.escape(name)
    return re.compile(
        rf"(?P<quote>[\"'`])(?:[\w./\\:#@-]*[./\\:#@])?{n}(?P=quote)(?!\s*(?:[=!]==?|:(?!:)|=>))"
    )


@cache
def _given(name: str) -> re.Pattern[str]:
    n = re.escape(name)
    return re.compile(
        rf"\.{n}\s*(?:\|\||&&|\?\?|[-+*/%|&])?=(?![=~>])|(?<![\w:?]){n}:|(?<![\w:]):{n}\b|([\"']){n}=?\1"
    )


@cache
def _is_value(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^\s*-|[:=])\s*{re.escape(name)}\s*$")


@cache
def _by_itself(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w@$#.\"'-])(?P<name>{re.escape(name)})(?![\w\"'-]|\??:(?!:)|\s*=(?![=>~]))")


def _compiled(*ways: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, ways))


def _is_declared(text: str, at: int, language: str) -> bool:
    before = text[:at]
    if _DEFINING.search(before):
        return True
    typed = _AFTER_TYPE.search(before) if language in _TYPE_FIRST else None
    return typed is not None and typed[1] not in _NO_TYPE
