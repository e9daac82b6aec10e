"""What Ruby's methods give and instance variables hold, where a class is written: ``Foo.new``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from gitrag.callgraph.general.records import ANY_OF, ELEMENT, UNSURE
from gitrag.callgraph.general.registering import studly

if TYPE_CHECKING:
    import tree_sitter

    Text = Callable[[tree_sitter.Node], str]

UNKNOWN = ""
_BLOCKS = frozenset({"body_statement", "then", "else", "begin", "parenthesized_statements"})
_BRANCHES = ("consequence", "alternative", "body")
_BRANCHING = frozenset(
    "if unless elsif conditional if_modifier unless_modifier rescue when rescue_modifier".split()
)
_NAMED = frozenset({"identifier", "instance_variable"})
_BESIDE = frozenset({"rescue", "else"})
_LEAVING = frozenset({"raise", "fail", "throw"})
_BINDING = frozenset({"block_parameters", "exception_variable", "for", "in_clause", "match_pattern"})
_OWN = frozenset({"method", "singleton_method", "lambda", "class", "module"})
"""What a ``return`` in it leaves, not what is around."""


_MANY = frozenset({"has_many", "has_and_belongs_to_many", "embeds_many"})
_ONE = frozenset({"belongs_to", "has_one", "embeds_one", "embedded_in"})
_SINGULAR = (
    ("people", "person"),
    ("children", "child"),
    ("ies", "y"),
    ("sses", "ss"),
    ("xes", "x"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("uses", "us"),
    ("ss", "ss"),
    ("s", ""),
)


def associated(call: tree_sitter.Node, text: Text) -> tuple[str, str] | None:
    """Return the name of an association of Rails, and the class of what it has; None if a call makes none."""
    method, arguments = call.child_by_field_name("method"), call.child_by_field_name("arguments")
    kind = text(method) if method is not None else ""
    every = arguments.named_children if arguments is not None and kind in _MANY | _ONE else []
    if not every or every[0].type != "simple_symbol":
        return None
    name = cls = text(every[0])[1:]
    named = [
        each.named_children[-1]
        for each in every
        if each.type == "pair" and text(each.named_children[0]) == "class_name"
    ]
    if named:
        type_ = text(named[0]).replace("::", ".") if named[0].type == "string" else ""
    else:
        ends = _SINGULAR if kind in _MANY else ()
        cls = next((cls.removesuffix(end) + one for end, one in ends if cls.endswith(end)), cls)
        type_ = studly(cls)
    return name, f"{UNSURE * (not named)}{ELEMENT * (kind in _MANY)}{type_}" if type_ else ""


def held(given: Iterable[tree_sitter.Node | None], text: Text) -> str:
    """Return the class of what an instance variable is given; marked with ``~`` if that is not all.

    Args:
        given: The expressions that it is given anywhere in its class; None where that is not known.
        text: Gives a node's text.
    """
    types = _every(given, text)
    known = sorted(types - {UNKNOWN, "self"})
    return ("" if len(types) == 1 else UNSURE) + known[0] if len(known) == 1 else ""


def result(method: tree_sitter.Node, text: Text, fields: Mapping[str, str]) -> str:
    """Return the class of what a method gives, or an instance variable; empty if not all its ends are known.

    Of ``self.new`` all classes that are known, with `ANY_OF` between them.

    Args:
        text: Gives a node's text.
        fields: Classes of the instance variables of its class, as from `held`.
    """
    body = method.child_by_field_name("body")
    if body is None:
        return ""
    known = {each: each for each in fields}
    for own, given in _local(method, body, text).items():
        types = _every(given, text)
        known[own] = types.pop() if len(types) == 1 else UNKNOWN
    ends = [body, *(each for each in _within(body) if each.type == "return")]
    found = {type_ for end in ends for type_ in _types(end, text, known)}
    ivars = found & fields.keys()
    types = found - ivars | {fields[each] for each in ivars}
    name = method.child_by_field_name("name")
    if method.type == "singleton_method" and name is not None and text(name) == "new":  # one of several
        return ANY_OF.join(sorted(types - {UNKNOWN, "self"}))
    return min(ivars, default=types.pop()) if len(types) == 1 else ""


def _local(
    method: tree_sitter.Node, body: tree_sitter.Node, text: Text
) -> dict[str, list[tree_sitter.Node | None]]:
    """Return the names that a method binds, each with what they are given; None where that is not known."""
    found: dict[str, list[tree_sitter.Node | None]] = {}
    parameters = method.child_by_field_name("parameters")
    binding: list[tuple[tree_sitter.Node, tree_sitter.Node | None]] = (
        [(parameters, None)] if parameters else []
    )
    for each in _within(body):
        left = each.child_by_field_name("left")
        if each.type in {"assignment", "operator_assignment"} and left is not None:
            binding.append((left, each.child_by_field_name("right") if left.type == "identifier" else None))
        elif each.type in _BINDING:
            binding.append((each.child_by_field_name("pattern") or each, None))
    for pattern, given in binding:
        for name in _within(pattern):
            if name.type == "identifier":
                found.setdefault(text(name), []).append(given)
    return found


def _every(given: Iterable[tree_sitter.Node | None], text: Text) -> set[str]:
    return {type_ for node in given for type_ in (_types(node, text, {}) if node is not None else {UNKNOWN})}


def _types(node: tree_sitter.Node, text: Text, known: Mapping[str, str]) -> set[str]:  # noqa: C901, PLR0912
    """Return the classes of what an expression may be, ``self``, or `UNKNOWN`; nothing for ``nil``."""
    found: set[str] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        left, method = each.child_by_field_name("left"), each.child_by_field_name("method")
        right, receiver = each.child_by_field_name("right"), each.child_by_field_name("receiver")
        if each.type in {"nil", "comment"}:
            continue
        if each.type in _BLOCKS:
            inner = [it for it in each.named_children if it.type not in {"comment", "ensure"}]
            waiting += [it for it in inner if it.type in _BESIDE]
            waiting += [it for it in inner if it.type not in _BESIDE][-1:]
        elif each.type in _BRANCHING:
            waiting += [it for name in _BRANCHES if (it := each.child_by_field_name(name)) is not None]
        elif each.type == "case":
            waiting += [it for it in each.named_children if it.type in {"when", "else"}]
        elif each.type == "return":
            values = [it for arguments in each.named_children for it in arguments.named_children]
            waiting += values if len(values) == 1 else []
            found |= {UNKNOWN} if len(values) > 1 else set()
        elif each.type in {"assignment", "operator_assignment"} and left is not None and right is not None:
            if left.type == "instance_variable":
                waiting.append(left)
            elif left.type == "identifier":
                waiting.append(right)
            else:
                found.add(UNKNOWN)
        elif each.type == "call" and method is not None and text(method) == "new" and receiver is not None:
            is_class = receiver.type in {"constant", "scope_resolution"}
            found.add(text(receiver).replace("::", ".") if is_class else UNKNOWN)
        elif each.type == "call" and receiver is None and method is not None and text(method) in _LEAVING:
            continue
        elif each.type == "self":
            found.add("self")
        else:
            found.add(known.get(text(each), UNKNOWN) if each.type in _NAMED else UNKNOWN)
    return found


def _within(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += [it for it in each.named_children if it.type not in _OWN]
