"""What only PHP has: types in comments, names of routes, of templates and of what these are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitrag.callgraph.general.docblocks import ROUTE_NAMED, TEMPLATE, documented
from gitrag.callgraph.general.expressions import parts_of, receiver_of, type_written
from gitrag.callgraph.general.reader import COMMENT_BYTES, WORD, Call, Captures, Reader
from gitrag.callgraph.general.records import (
    ELEMENT,
    SAME,
    Declaration,
    Result,
    WrittenCall,
)
from gitrag.callgraph.general.registering import (
    FUNCTION,
    GIVEN,
    IMPORT,
    ROUTE,
    VIEW,
    named_as,
    prefix,
    registered_as,
    resource_routes,
    target,
)
from gitrag.callgraph.general.scopes import Variable
from gitrag.late import late_re

if TYPE_CHECKING:
    import tree_sitter


_PARAMETERS = frozenset({"simple_parameter", "variadic_parameter", "property_promotion_parameter"})
_OF_REQUEST = ("request", "request()", "$this")
_NAME_GIVEN = late_re(r"[@!\w][\w./:@-]*")
"""What may be the name of a route or a template."""


class PhpReader(Reader):
    """Reads what only PHP has."""

    def note_registered(self, captures: Captures, _key: str) -> None:
        self._register(captures)
        self._calls += self._named_in(captures)

    def _documented(self) -> list[Variable]:
        """Add the members and results whose types PHP's comments declare; return the variables."""
        variables: list[Variable] = []
        comments = self._nodes["documented"]
        declared = {each.function for each in self._results}
        templates = {name for comment in comments for name in TEMPLATE.findall(self._comment(comment))}
        for comment in comments:
            self._register_documented(comment)
            for kind, name, written, node in documented(comment, self._comment):
                type_ = type_written(written, self._language.name)
                place = self._around(node)
                if not type_ or type_.removeprefix(ELEMENT) in templates:
                    continue
                if kind == "field":
                    self._fields.append(Declaration(self._class_around(node), name, type_, None))
                elif kind == "var":
                    is_given = node.parent is not None and node.parent.type not in _PARAMETERS
                    end = node.parent.end_byte if is_given and node.parent else node.end_byte
                    since = node.end_byte if node.type == "comment" else end
                    variables.append(Variable(Declaration(place, name, type_, None), node, since, is_given))
                elif place not in declared:
                    self._results.append(Result(place, type_))
        return variables

    def _register(self, captures: Captures) -> None:
        """Note what PHP registers under a name, and what a group of routes puts before it."""
        for node in captures.get("registered", ()):
            kind, name = self._text(captures["_kind"][0]), self._text(node)
            own = self._text(captures["_own"][0]) if "_own" in captures else ""
            group = captures["group"][0] if "group" in captures else None
            if group is not None:
                self._groups.append((group.start_byte, group.end_byte, name))
                own, name = "__invoke", ""
            around = self._rows[self._around(node)][1].rpartition(".")[2]
            by = target(self._raw(captures["by"][0], COMMENT_BYTES), around) if "by" in captures else {}
            by = {"local": own} if own else by
            if kind in {"resource", "apiResource"}:
                self._routes += [(node.start_byte, each) for each in resource_routes(name, by)]
            elif alias := registered_as(kind, name) or ROUTE * (group is not None):
                self._routes.append((node.start_byte, {**by, "alias": alias}))
        if "group" in captures and "registered" not in captures:
            node = captures["group"][0]
            arguments = node.child_by_field_name("arguments")
            body = arguments.named_children[-1].start_byte if arguments is not None else node.start_byte
            head = self._between(node.start_byte, body)
            self._groups.append((*node.byte_range, prefix(head)))

    def _register_documented(self, comment: tree_sitter.Node) -> None:
        """Note the route that a comment names, or what one before a class puts before names."""
        after, found = comment.next_named_sibling, ROUTE_NAMED.search(self._comment(comment))
        if after is None or not found:
            return
        own = after.child_by_field_name("name")
        if after.type == "class_declaration":
            self._groups.append((*after.byte_range, found[1]))
        elif after.type == "method_declaration" and own is not None:
            self._routes.append((own.start_byte, {"local": self._text(own), "alias": f"{ROUTE}{found[1]}"}))

    def _named_in(self, captures: Captures) -> Iterator[Call]:
        """Yield the route or the template that arguments name; note what a template is given."""
        for arguments in captures.get("naming", ()):
            call = self._lineage.parent(arguments)
            if call is not None and self._is_of_request(call):
                continue
            given = [each.named_children[-1] for each in arguments.named_children if each.named_children]
            named = [self._text(each) for each in given if each.type in {"string", "encapsed_string"}]
            kind = self._text(captures["_kind"][0])
            if kind == IMPORT and len(named) > 1:
                rest = {"module": named[1]} if len(named) == 2 else {"name": named[1], "alias": named[2]}
                self._imports.append({"from": named[0], **rest})
            elif named and _NAME_GIVEN.fullmatch(named[0]):
                place, alias = self._around(arguments), named_as(kind, named[0])
                line = arguments.start_point[0] + 1
                yield WrittenCall(place, (alias,), line, handed=True, rule=kind.lstrip(FUNCTION)), arguments
                for array in given[1:] if alias[0] == VIEW else ():
                    for name, value in self._pairs(array):
                        self._gifts.append((Declaration(place, f"{alias}{GIVEN}{name}", "", value), array))

    def _is_of_request(self, call: tree_sitter.Node) -> bool:
        """Tell whether a call reads what Laravel has of an address: ``$request->route('user')``."""
        on, name = call.child_by_field_name("object"), call.child_by_field_name("name")
        if on is None or name is None or self._text(name) != "route":
            return False
        return self._between(max(on.end_byte - 9, on.start_byte), on.end_byte).lower().endswith(_OF_REQUEST)

    def _pairs(self, array: tree_sitter.Node) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield what an array of PHP, or ``compact('a')``, has under names: the parts of an expression."""
        if array.type == "array_creation_expression":
            for each in array.named_children:
                if len(each.named_children) == 2:
                    key, value = each.named_children
                    text = self._raw(value)
                    parts = parts_of(text) if value.type.endswith("call_expression") else receiver_of(text)
                    yield self._text(key), tuple(parts if text.endswith(")") else [*parts, SAME])
        elif array.type == "function_call_expression" and self._raw(array, 8) == "compact(":
            for name in WORD.findall(self._raw(array)[8:]):
                yield name, (name, SAME)
