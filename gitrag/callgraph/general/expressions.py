"""Expressions and types as they are written, as the names that they consist of."""

from __future__ import annotations

import re
from functools import lru_cache

from gitrag.callgraph.general.records import (
    ELEMENT,
    SCOPED,
    UNSURE,
)
from gitrag.late import late_re

_ARGUMENTS = late_re(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")
_GENERICS = late_re(r"(?:::)?<[^<>()]*>")
_COMMENT = late_re(r"//[^\n]*")
_LIFETIME = late_re(r"'[a-z_]\w*\b,?\s*")
_TYPED = late_re(
    r"\A\(\s*(?:new\s+(?P<made>[\w.\\]+)\s*(?:\([^()]*\))?|[\w.$@]+\s+as[?!]?\s+(?P<as>[\w.]+)\??"
    r"|\((?P<cast>[\w.]+)\)\s*[\w.$]+)\s*\)(?=\s*(?:[?!]?\.|\??->))"
)
"""What is made or cast in brackets before a dot: ``(new A()).f``, ``(a as A).f``, ``((A) a).f``."""
_SEPARATOR = late_re(r"\?\.|!\.|\.|->|::|\\")
NAME = late_re(r"[@$#A-Za-z_\u0080-\uffff][\w$?!\u0080-\uffff]*")
_WRAPPERS = frozenset(
    "Option Box Rc Arc RefCell Promise Optional CompletableFuture unique_ptr shared_ptr"
    " Result Mutex RwLock Pin Cow OnceCell Weak Future Task ValueTask Lazy".split()
)
_MOST_WRAPPERS = 4
_OUTER = late_re(r"(?:[\w:]+::|[\w.]+\.)?(\w+)\s*<(.+)>\s*\??$", re.DOTALL)
_QUALIFIED = late_re(r"\s*(?:::)?\w+(?:<[^<>()]*>)?::")
_OF_ANOTHER = late_re(r"\[\s*(?:[\"']|\d*$)")
"""An array of a named type, ``T[3]``, or a member's type, TypeScript's ``T["name"]``; up to the bracket."""
_SCRIPT_MANY = late_re(
    r"(?:readonly\s+)?([\w.]+)\[\]|(?:Readonly)?(?:Array|Set|Iterable|IterableIterator)<([\w.]+)>"
)
_LISTS = late_re(
    r"(?:[\w.]+\.)?(?:Mutable|Array|Linked|Hash|Tree|Sorted|IReadOnly|I|Immutable)?"
    r"(?:List|Set|HashSet|Collection|Iterable|Enumerable|AsyncEnumerable|Stream|Sequence|Queue|Deque|Array)"
    r"<\s*(?:out\s+|in\s+|\?\s*extends\s+)?([\w.]+)(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>)?\??\s*>\??|([\w.]+)\[\]\??"
)
_MANY = {
    "java": _LISTS,
    "kotlin": _LISTS,
    "csharp": _LISTS,
    "dart": _LISTS,
    "swift": late_re(r"\[\s*([\w.]+)\s*\][?!]?|(?:Array|Set)<([\w.]+)>[?!]?"),
    "php": late_re(
        r"(?:array|iterable|list|\\?\w*(?:Collection|Iterator|Traversable|Generator))"
        r"<(?:[^<>]*,\s*)?([\w\\]+)>|([\w\\]+)\[\]"
    ),
    "scala": late_re(
        r"(?:\w+\.)*(?:Indexed|Array|Linked)?(?:Seq|List|Vector|Set|Iterable|Iterator|Array|Option)\[\s*([\w.]+)\s*\]()"
    ),
    "rust": late_re(
        r"(?:mut\s+)?(?:(?:\w+::)*(?:Vec|VecDeque|HashSet|BTreeSet|IndexSet|LinkedList|BinaryHeap|SmallVec)"
        r"<\s*(?:Box<|Rc<|Arc<|&)?\s*([\w:]+)[^,]*>|(?:\w+::)*(?:Hash|BTree|Index|FxHash)Map"
        r"<[^<>]+,\s*(?:Box<|Rc<|Arc<|&)?([\w:]+)[^,]*>|\[\s*([\w:]+)\s*(?:;[^\]]*)?\])"
    ),
    "go": late_re(r"(?:\[[^\[\]]*\]|map\[[^\[\]]*\])\*?([\w.]+)()"),
    "typescript": _SCRIPT_MANY,
    "tsx": _SCRIPT_MANY,
}
"""Types of what has many of a type, by language."""
_ONE_OF = late_re(r"\s*\|\s*(?![^<]*>)")
"""What separates the types of a union."""
_VAGUE = frozenset("array iterable object mixed callable".split())
"""Types of PHP that say nothing of what it is: a comment may."""
_CONTAINERS = frozenset("vector list deque set unordered_set multiset array span initializer_list".split())
"""Containers of C++ that a loop takes elements from."""
_OF_METHOD = late_re(r"((?:::)?[A-Z]\w*(?:::[A-Z]\w*)*\.)?([a-z]\w*)_class")
"""Ruby's methods that give a class, by custom named after it."""
NOTHING = frozenset({"null", "undefined"})
_UNITING = frozenset({"typescript", "tsx"})
_NO_PART = frozenset(
    "new await async mut dyn impl const final static readonly ref struct class typename".split()
)


def parts_of(text: str) -> list[str]:
    """Split an expression at its dots: ``a.b(c)->d`` becomes a, b(), d; what is not a name becomes ?.

    The last part is the one called; earlier parts that are called end in ``()``.
    """
    return list(_parts_of(text))


def receiver_of(text: str) -> list[str]:
    return parts_of(f"{text}.x")[:-1]


def scoped(text: str, parts: list[str]) -> list[str]:
    """Mark what begins with the name of a namespace or a class: ``a::b(c).d`` is ``::``, a, b(), d."""
    return [SCOPED, *parts] if _QUALIFIED.match(text) else parts


def _bare(found: re.Match[str]) -> str:
    return f"{found['made']}()" if found["made"] else found["as"] or found["cast"]


def _blank(found: re.Match[str]) -> str:
    return "\1" if found[0][0] == "[" else "\0"


@lru_cache(maxsize=4_096)  # the calls of a long chain share their beginning, and only that much is read
def _parts_of(text: str) -> tuple[str, ...]:
    text = _TYPED.sub(_bare, text)
    for _ in range(6):
        shorter = _GENERICS.sub("", _ARGUMENTS.sub(_blank, text))
        if shorter == text:
            break
        text = shorter
    text = _COMMENT.sub("", text)  # between the calls of a chain
    words = [word for word in text.split() if word not in _NO_PART]
    text = "".join(words)
    parts: list[str] = []
    for part in _SEPARATOR.split(text):
        element = part.endswith("\1")  # `list[0].f()`
        bare = part.replace("\0", "").replace("\1", "").strip("*&?!~(")
        if not bare:
            if part.strip("*&?!~(") and not parts:
                parts.append("?")  # `(a as B).f()`: what is in brackets is not known
            continue
        named = NAME.fullmatch(bare)
        parts.append((bare.lstrip("$") + ("()" if "\0" in part else "")) if named else "?")
        if element:
            parts.append(ELEMENT)
    if parts and parts[-1] == ELEMENT:
        parts.pop()
    if parts:
        parts[-1] = parts[-1].removesuffix("()")
    return () if not parts or parts[-1] == "?" else tuple(parts)


def _first_argument(text: str) -> str:
    """Return the first of several type arguments: ``Vec<A>, B`` gives ``Vec<A>``."""
    depth = 0
    for place, character in enumerate(text):
        depth += (character in "<([") - (character in ">)]")
        if character == "," and depth == 0:
            return text[:place]
    return text


def type_written(text: str, language: str) -> str:
    named = _OF_METHOD.fullmatch(text) if language == "ruby" else None
    if named:  # `class Rule < Shop.base_class`
        return f"{UNSURE}{(named[1] or '').replace('::', '.')}{named[2].title().replace('_', '')}"
    if language == "ruby" and text.startswith("::"):  # of no module around
        return f".{_type_of(text[2:], language)}"
    text = text.lstrip(":*&?( ")
    if language == "php":
        every = [each for each in _ONE_OF.split(text) if each not in {"null", "false"}]
        text = every[0] if len(every) == 1 and every[0] not in _VAGUE else ""
    wrapped = _OUTER.match(text)
    if wrapped and wrapped[1] in _WRAPPERS:  # a `Task<List<Item>>`
        text = _first_argument(wrapped[2]).strip()
    if language in _UNITING and "|" in text:
        every = [each for each in _ONE_OF.split(text) if each not in NOTHING]
        text = every[0] if len(every) == 1 else ""
    many = _MANY.get(language)
    found = many.fullmatch(text.strip()) if many else None
    if found:
        parts = parts_of(next(filter(None, found.groups()), ""))
        return f"{ELEMENT}{'.'.join(parts)}" if parts and "?" not in parts else ""
    if language == "cpp":
        outer = _OUTER.match(text.removeprefix("const "))
        if outer and outer[1] in _CONTAINERS:
            element = _type_of(_first_argument(outer[2]).lstrip("*&? "), language)
            return f"{ELEMENT}{element}" if element else ""
    return _type_of(text, language)


def _type_of(text: str, language: str) -> str:
    if language == "rust":
        text = _LIFETIME.sub("", text).lstrip("*&? ")
    for _ in range(_MOST_WRAPPERS):
        wrapped = _OUTER.match(text)
        if not wrapped or wrapped[1] not in _WRAPPERS:
            break
        text = _first_argument(wrapped[2]).lstrip("*&? ")
    inside = text.rstrip().removesuffix("?").rstrip().removesuffix("]").rstrip()
    if text.startswith(("[", "map[", "func(", "func (")) or _OF_ANOTHER.search(inside):
        return ""
    parts = parts_of(text)
    return ".".join(parts) if parts and "?" not in parts else ""
