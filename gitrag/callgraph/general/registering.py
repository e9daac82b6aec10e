"""What PHP registers under names, functions of templates and routes, and the templates that it names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitrag.callgraph.general.records import UNSURE
from gitrag.late import late_re

FUNCTION, FILTER, TEST, READ = "ƒ", "φ", "τ", "λ"
"""Before a name in PHP made of a template: Twig's function, filter, test; what is read of something."""
ROUTE, VIEW = "ψ", "ϑ"
"""Before the name of a route, and of a template."""
MARKS = frozenset({FUNCTION, FILTER, TEST, READ, ROUTE, VIEW})
FILTERING = frozenset({FILTER, TEST})
IMPORT = "ƒimport_from"
REGISTERS, GIVES = "ƒregisters", "ƒgives"
"""What a file mentions that registers something, or gives a template something."""
GIVEN = "\N{RIGHTWARDS ARROW}"
"""Between a template's name and that of a variable that it is given."""

_KINDS = (
    ("Function", FUNCTION),
    ("Filter", FILTER),
    ("Test", TEST),
    ("Route", ROUTE),
    ("name", ROUTE),
    ("Name", ROUTE),
)
_OF_ROUTES = frozenset({"route", "to_route", "redirectToRoute", "generateUrl"})
_CALLABLE = late_re(
    r"\[\s*(?P<on>\$this|[\w\\]+::class|self::class|static::class|'[\w\\]+')\s*,\s*['\"](?P<method>\w+)['\"]\s*\]"
    r"|['\"](?P<at>[\w\\]+)(?:@|::?)(?P<name>\w+)['\"]|\$this->(?P<own>\w+)\(\.\.\.\)"
    r"|(?P<static>[\w\\]+)::(?P<of>\w+)\(\.\.\.\)|(?P<invoked>[\w\\]+)::class"
)
_WHOLE_NAME = late_re(r"(['\"])\w+\1")
_PREFIX = late_re(
    r"(?:->|::)(?:name|as)\(\s*['\"]([^'\"]*)['\"]\s*\)|['\"]as['\"]\s*=>\s*['\"]([^'\"]*)['\"]"
)
_ENDINGS = (".twig", ".html", ".txt", ".xml", ".latte", ".php", ".tpl")
_HEAD_CHARACTERS = 4_000


def registered_as(kind: str, name: str) -> str:
    """Return the name under which something is registered, after its kind; empty if it is of none."""
    own = kind.rpartition("\\")[2]
    before = next((each for end, each in _KINDS if own.endswith(end)), "")
    return f"{before}{name}" if before and name and not any(each.isspace() for each in name) else ""


def target(written: str, inside: str) -> dict[str, str]:
    """Return what a registration names, as an import has it: a function or a method, and its class.

    Args:
        written: The callable, as written.
        inside: The last name of the function that registers it: what a function without a name is in.
    """
    if _WHOLE_NAME.fullmatch(written):  # a function
        return {"local": written[1:-1]}
    every = list(_CALLABLE.finditer(written))
    found = next((each for each in every if not each["invoked"]), every[-1] if every else None)
    if found is None:
        return {"local": f"{UNSURE}.{inside}"}
    cls = found["on"] or found["at"] or found["static"] or found["invoked"] or ""
    cls = cls.strip("'").removesuffix("::class").replace("\\", ".").lstrip(".")
    name = found["method"] or found["name"] or found["own"] or found["of"]
    before = "" if cls in {"", "$this", "self", "static"} else f"{cls}."
    return {"local": f"{before}{name or '__invoke'}"}


def named_as(caller: str, name: str) -> str:
    """Return the name of a route or template that a call names, with its kind before it."""
    if caller in _OF_ROUTES:
        return f"{ROUTE}{name}"
    if not name.endswith(_ENDINGS):
        name = f"{name.rpartition('::')[2].replace('.', '/')}.blade.php"
    return f"{VIEW}{name}"


def prefixed(
    routes: Iterable[tuple[int, dict[str, str]]],
    groups: Iterable[tuple[int, int, str]],
) -> Iterator[dict[str, str]]:
    """Yield registered routes, with what the groups around them put before their names.

    Args:
        routes: The first byte of each name, and what it is registered as.
        groups: First byte and end of each group of routes, and what it puts before names.
    """
    waiting = sorted(groups, key=lambda each: (each[0], -each[1]))
    around: list[tuple[int, str]] = []
    at = 0
    for place, each in sorted(routes, key=lambda route: route[0]):
        while at < len(waiting) and waiting[at][0] <= place:
            start, end, before = waiting[at]
            while around and around[-1][0] <= start:
                around.pop()
            around.append((end, (around[-1][1] if around else "") + before))
            at += 1
        while around and around[-1][0] <= place:
            around.pop()
        name = each["alias"]
        if around and name.startswith(ROUTE):
            name = f"{ROUTE}{around[-1][1]}{name.removeprefix(ROUTE)}"
        yield {**each, "alias": name}


def prefix(head: str) -> str:
    """Return what a group of routes puts before their names, by what is written before its body."""
    return "".join(first or second for first, second in _PREFIX.findall(head[-_HEAD_CHARACTERS:]))


_ACTIONS = ("index", "create", "store", "show", "edit", "update", "destroy")
_ACCESSOR = late_re(r"(?:get|is|has)([A-Z]\w*)")
_ATTRIBUTE = late_re(r"[gs]et([A-Z]\w*)Attribute")
_HUMP = late_re(r"(?<=[a-z\d])(?=[A-Z])")


def resource_routes(name: str, by: dict[str, str]) -> Iterator[dict[str, str]]:
    """Yield the routes of a resource of Laravel, each to the method of its controller."""
    for each in _ACTIONS:
        yield {"local": f"{by['local'].rpartition('.')[0]}.{each}", "alias": f"{ROUTE}{name}.{each}"}


def accessors(name: str, *, is_twig: bool) -> tuple[str, ...]:
    """Return the methods that reading a name may call: in Twig, or of a model of Laravel."""
    if is_twig:
        upper = name[:1].upper() + name[1:]
        return (name, f"get{upper}", f"is{upper}", f"has{upper}")
    own = studly(name)
    return tuple(dict.fromkeys((f"get{own}Attribute", name, own[:1].lower() + own[1:])))


def studly(name: str) -> str:
    """Return a name of words joined by ``_`` as a class's: ``OrderItem`` for ``order_item``."""
    return "".join(each[:1].upper() + each[1:] for each in name.split("_"))


def snake(name: str) -> str:
    """Return a name as Laravel's attributes are written: ``full_name``."""
    return _HUMP.sub("_", name).lower()


def read_as(method: str) -> set[str]:
    """Return the names by which templates may read what a method gives."""
    attribute, accessor = _ATTRIBUTE.fullmatch(method), _ACCESSOR.fullmatch(method)
    names = {method, snake(attribute[1] if attribute else method)}
    names |= {accessor[1][:1].lower() + accessor[1][1:], accessor[1]} if accessor else set()
    return {READ + each for each in names}


def template_names(path: str) -> Iterator[str]:
    """Yield the names by which a template may be named, from each of its directories on."""
    parts = path.split("/")
    for at in range(len(parts)):
        yield VIEW + "/".join(parts[at:])
