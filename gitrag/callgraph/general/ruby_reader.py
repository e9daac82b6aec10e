"""What only Ruby has: instance variables, calls as messages, methods that are named by symbols."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitrag.callgraph.general.expressions import parts_of, receiver_of
from gitrag.callgraph.general.reader import Call, Captures, Reader
from gitrag.callgraph.general.records import (
    UNSURE,
    Declaration,
    Result,
    WrittenCall,
)
from gitrag.callgraph.general.ruby_types import associated, held, result
from gitrag.late import late_re

if TYPE_CHECKING:
    import tree_sitter


_SENDING = frozenset({"method", "instance_method", "send", "public_send", "__send__", "try", "try!"})
_RAISING = frozenset({"raise", "fail"})
_QUEUING = frozenset({"perform_later", "perform_now", "perform_async", "perform_in", "perform_at"})
"""What Rails' and Sidekiq's jobs are put into a queue by, to be made and performed."""
_LIMITING = frozenset({"only", "except"})
_DECLARING = late_re(
    r"skip_|attr|alias|define|undef|remove|delegate|validates|has_|belongs_to|scope|enum|store|private|public|protected"
    r"|module_function|serialize|cattr|mattr|class_attribute|let|subject"
)
"""Ruby's methods whose symbols name no method that is called: what is declared, or who may call it."""
_MIXES = frozenset({"include", "prepend"})


class RubyReader(Reader):
    """Reads what only Ruby has."""

    def note_ivar(self, captures: Captures, key: str) -> None:
        node = captures[key][0]
        name = f"@{self._text(node).lstrip('@:')}"
        given = captures.get("given", [None])[0]
        self._ivars.setdefault((self._class_around(node), name), []).append(given)

    def _read_ruby(self) -> None:
        """Add what Ruby's instance variables hold, and what its methods give."""
        known: dict[int, dict[str, str]] = {}
        for (place, name), given in self._ivars.items():
            type_ = held(given, self._text)
            self._fields.append(Declaration(place, name.lstrip("@"), type_ or UNSURE, None))
            if type_:
                known.setdefault(place, {})[name] = type_
        for method in self._nodes["gives"]:
            own = self._around(method)
            type_ = result(method, self._text, known.get(self._class_around(method), {}))
            if type_ and not (type_ == "self" and method.type == "singleton_method"):
                self._results.append(Result(own, type_))

    def _read_sent(
        self, node: tree_sitter.Node, method: tree_sitter.Node, receiver: tree_sitter.Node | None
    ) -> None:
        """Add what a Ruby call calls beside the method itself."""
        calls = self._calls
        calls += self._named_by_symbols(node, self._text(method), receiver)
        if receiver is None and self._text(method) in _RAISING:  # `raise Bad, 1`, which makes one
            arguments = node.child_by_field_name("arguments")
            first = next(iter(arguments.named_children), None) if arguments is not None else None
            if first is not None and first.type in {"constant", "scope_resolution"}:
                made = (*parts_of(self._text(first)), "new")
                calls.append((WrittenCall(self._around(node), made, first.start_point[0] + 1), node))
        if receiver is not None and self._text(method) in _QUEUING:
            parts = receiver_of(self._raw(receiver))
            if parts and parts[-1] == "set()":  # when, and in which queue
                del parts[-1]
            if parts and parts[-1][:1].isupper():
                name, line = (*parts, "new()", "perform"), method.start_point[0] + 1
                call = WrittenCall(self._around(node), name, line, handed=True, rule=self._text(method))
                calls.append((call, node))
        if method.type == "identifier":
            self._nodes["taken"].append(method)
            self._bases += self._mixed_in(node, method)

    def _associated(self, call: tree_sitter.Node) -> Iterator[Declaration]:
        """Yield what an association of Rails declares: ``has_many :posts``."""
        place = self._around(call)
        found = associated(call, self._text) if self._rows[place][0] == "class" else None
        if found is not None:
            yield Declaration(place, *found, None)

    def _named_by_symbols(
        self, call: tree_sitter.Node, method: str, receiver: tree_sitter.Node | None
    ) -> Iterator[Call]:
        """Yield the methods that a Ruby call names by symbols: ``before_action :load``, ``send(:load)``."""
        arguments, place = call.child_by_field_name("arguments"), self._around(call)
        in_class = receiver is None and self._rows[place][0] == "class"
        if in_class and method == "delegate" and arguments is not None:
            yield from self._delegated(arguments, place)
        in_class = in_class and not _DECLARING.match(method)
        if arguments is None or not (in_class or method in _SENDING):
            return
        parts = receiver_of(self._raw(receiver)) if receiver is not None else ["self"]
        for argument in arguments.named_children:
            node = argument
            if argument.type == "pair" and in_class:
                key, value = argument.named_children[0], argument.named_children[-1]
                node = key if self._text(key) in _LIMITING else value
            if node.type == "simple_symbol" and parts:
                line = node.start_point[0] + 1
                name = (*parts, self._text(node)[1:])
                yield WrittenCall(place, name, line, handed=True, rule=method), node

    def _delegated(self, arguments: tree_sitter.Node, place: int) -> Iterator[Call]:
        """Yield the methods that Rails' ``delegate :a, :b, to: :c`` calls."""
        given = {
            self._text(each.named_children[0]): each.named_children[-1]
            for each in arguments.named_children
            if each.type == "pair"
        }
        to = self._text(given["to"]).lstrip(":") if "to" in given else ""
        for node in arguments.named_children if to.isidentifier() else ():
            if node.type == "simple_symbol":
                name = ("self", to, self._text(node)[1:])
                yield WrittenCall(place, name, node.start_point[0] + 1, handed=True, rule="delegate"), node

    def _mixed_in(self, call: tree_sitter.Node, method: tree_sitter.Node) -> list[tuple[int, str]]:
        """Return what Ruby's ``include`` and ``prepend`` add to the enclosing class."""
        arguments = call.child_by_field_name("arguments")
        if arguments is None or self._text(method) not in _MIXES:
            return []
        return [(self._class_around(node), self._type(node)) for node in arguments.named_children]
