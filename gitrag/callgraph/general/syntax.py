"""Facts of languages other than Python, by queries: calls, declared types, bases and imports.

The captures that a file in ``queries/`` may use, in addition to ``@_…`` for its own predicates:

- ``@call``: the called expression; or ``@receiver`` and ``@name``; or ``@sent``: a call with
  fields ``receiver``, ``method`` and ``arguments``, which the query does not have to match.
- ``@chained``: the last part of a call, or its arguments, which stand beside what is called.
- ``@var`` or ``@field``: a variable, or a member of the enclosing class; with ``@type``, its declared type,
  ``@made``, the call whose result it holds, ``@each``, the type of each of many that it holds, or
  ``@ranged``, many of which it holds one, or ``@lent``, what a call of their member is given, a function of
  it; with none of them it is given something that is not known.
  With ``@assigned`` it may have held something else before; with ``@same`` it is what an expression is.
- ``@picked``: a constant that holds a member of ``@picked.of``, called ``@picked.name`` if not like it; or a
  parameter, of what is given. ``@many``: what a variable or member has many of: what is made there.
- ``@bound``: a name that is bound by any pattern: in its block it means nothing that is so called around.
- ``@variant``: a variant of an enumeration; ``@payload``: a pattern that binds what one holds.
- ``@itself``: a member that is one of the enclosing class: a case of an enumeration.
- ``@where``: what stands where a variable is of the type, if its name does not: a branch.
- ``@method``: a string that names a method, of ``@on``, or else of its own object; ``@markup``: HEEx.
- ``@elements``: the type of what the enclosing class, a named list, has many of.
- ``@static``: what is of a class itself, where an instance's may have the same name; or one that extends
  its first parameter's type; of PHP a private one; with ``@value``, a namespace.
- ``@spread``: what may have functions in place of those before it; ``@replaced``: one of a prototype that is
  given another.
- ``@private``: a function that only its class, or its file, can call.
- ``@ivar``, with ``@given``: what Ruby's instance variable is given; ``@gives``: a method, whose result is
  read. ``@documented``: a comment of PHP, which may declare types.
- ``@alone``: a name that may read a property. ``@read``: what is read of something: a property may run; or
  set, of what is ``@made``. ``@property``: one that runs where it is read.
- ``@returns``: the return type of the enclosing function, which has the name ``@_of`` if that is captured;
  ``@returned``: what one of PHP or JavaScript returns.
- ``@parameters``: its parameters, in languages with overloads.
- ``@needed``: a method that the enclosing interface lists; with ``@type``, its result's type.
- ``@handed``: a name that may be a function's, which is not called here but handed on.
- ``@registered``: a name for what is called ``by``, in PHP; ``@group`` puts one before those in it;
  ``@naming``: arguments the first of which may be such a name, or a template's.
- ``@tokens``: tokens that are not parsed, a Rust macro's, in which calls are looked for.
- ``@object``: one of JavaScript that is given to a call, which may make a class of it.
- ``@mapped``: what a component has of a store, or is given, as ``@_maps`` says.
- ``@value``, with ``@value.name``: a variable that is called like a function; a definition of its own.
- ``@base``: a base class of the enclosing class.
- ``@table``: where an object or a list is made or given something; ``@exported``: what a module exports.
- ``@watcher``: a function of Vue that is not read where its name is.
- ``@bare``: a name that calls a method of its own object, unless it is ``@taken`` (part of something else) or
  ``@bound`` in the enclosing definition.
- ``@import.from``, ``@import.package``, ``@import.path``, ``@import.use``: the module; with ``@import.name``,
  ``@import.alias``, ``@import.default``, ``@import.module``, ``@import.all``: the name, and its alias;
  ``@import.public`` where others may import it from here. ``@import.local``: a name of this file that it
  exports by another, ``@import.alias``, or as its main one. ``@import.inner``: a module inside the file.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, ClassVar

import msgspec

from gitrag.callgraph.facts import DefinitionFacts, Facts, packed_body
from gitrag.callgraph.general.elixir import arity, in_markup, is_no_call
from gitrag.callgraph.general.expressions import NAME, NOTHING, parts_of, receiver_of, scoped
from gitrag.callgraph.general.imports import DEFAULT
from gitrag.callgraph.general.parameters import (
    given_in_elixir,
    given_in_kotlin,
    given_in_swift,
    given_to,
    signature,
    taken_in_elixir,
    taken_in_kotlin,
    taken_in_swift,
)
from gitrag.callgraph.general.php_reader import PhpReader
from gitrag.callgraph.general.placing import PlacingReader
from gitrag.callgraph.general.reader import (
    COMMENT_BYTES,
    IMPORTING,
    KEYED,
    NAME_BYTES,
    TEXT_BYTES,
    WORD,
    Call,
    Captures,
)
from gitrag.callgraph.general.records import (
    BY_KEY,
    ELEMENT,
    INSTANCE,
    MADE_BY_KEY,
    SAME,
    UNSURE,
    Body,
    Declaration,
    ImportRow,
    Result,
    Signature,
    WrittenCall,
)
from gitrag.callgraph.general.registering import (
    FILTERING,
    FUNCTION,
    GIVES,
    REGISTERS,
    prefixed,
)
from gitrag.callgraph.general.ruby_reader import RubyReader
from gitrag.callgraph.general.scopes import Scopes, Variable
from gitrag.callgraph.general.script_reader import ScriptReader
from gitrag.callgraph.general.traits import OVERLOADING, SCRIPTS
from gitrag.late import late_re

if TYPE_CHECKING:
    import tree_sitter

    from gitrag.chunking.languages import Language

QUERIES = {
    "javascript": "javascript javascript-classes jsx",
    "typescript": "javascript typescript",
    "tsx": "javascript typescript jsx",
    "go": "go",
    "rust": "rust",
    "java": "java",
    "c": "c",
    "cpp": "c cpp",
    "csharp": "csharp",
    "ruby": "ruby",
    "php": "php",
    "kotlin": "kotlin",
    "swift": "swift",
    "scala": "scala",
    "solidity": "solidity",
    "elixir": "elixir",
    "bash": "bash",
    "lua": "lua",
    "dart": "dart",
    "zig": "zig",
}
"""Files of ``queries/`` by language."""

_IMPORT_BYTES = 8_000
"""Of an import: Rust's ``use`` may be a tree of a hundred names."""
_INSTANTIATED = late_re(r"(\w)\[(?:[^\[\]]|\[\w*\])*\](?=\()")
"""Type arguments of Go before a call's brackets: ``NewSet[Item]().Add``."""
_CLEARED = {"go": (_INSTANTIATED, r"\1"), **dict.fromkeys(SCRIPTS, (KEYED, r".\1"))}
"""What stands in expressions that says nothing of what is called, or that another form says better."""
_INFERRED = frozenset("var auto let val".split())
_REBINDING = late_re(r"(?P<on>.+?)\??\.(?:apply|run)\s*\{|with\s*\((?P<given>[^{]+)\)\s*\{", re.DOTALL)
"""Functions of Kotlin in whose block ``this`` is what they are called on, or given."""
_PLAIN_BLOCKS = frozenset(
    "let also forEach forEachIndexed onEach map mapNotNull mapIndexed flatMap filter filterNot"
    " filterIsInstance any all none count sumOf fold reduce associate associateBy associateWith groupBy"
    " sortedBy sortedByDescending maxByOrNull minByOrNull maxBy minBy find first firstOrNull last"
    " lastOrNull single singleOrNull indexOfFirst takeIf takeUnless takeWhile dropWhile partition repeat"
    " use synchronized lazy remember require requireNotNull check checkNotNull getOrElse getOrPut"
    " onSuccess onFailure getOrDefault collect collectLatest launch async withContext runBlocking"
    " coroutineScope supervisorScope runTest withTimeout thread invokeOnCompletion setOnClickListener".split()
)
"""Functions of Kotlin's libraries whose blocks have no ``this`` of their own, or one with few functions."""
_TWO_NAMESPACES = frozenset({"java", "php", "ruby", "solidity"})
"""Languages in which a variable hides no function: brackets after a name say which is meant."""
_NAMED = ("bare", "taken", "bound")
_SHELL_NAME = late_re(r"[\w.:+-]+")
_SELECTORS = frozenset(
    {"selector", "unconditional_assignable_selector", "conditional_assignable_selector", "cascade_section"}
)
_CALLS = frozenset({"call_expression", "invocation_expression"})
_LENDING = _CALLS | {"method_invocation"}
_MEMBERS = frozenset(
    {"navigation_expression", "field_expression", "member_access_expression", "member_expression"}
)
_FOR_EACH = frozenset("forEach map filter find some every flatMap findIndex findLast".split())
"""JavaScript's functions that give each of a list to another."""
_ON_FUNCTIONS = frozenset({"bind", "call", "apply"})
"""What JavaScript's functions have: who asks a function for one means to call it."""
_STORED = {"commit": "mutations", "dispatch": "actions", "getters": "getters", "rootGetters": "getters"}
"""The objects of a store of Vuex that have what these are given the name of."""
_HOSTED = {
    "UseStartup": ("ConfigureServices", "Configure", "ConfigureContainer"),
    "UseMiddleware": ("Invoke", "InvokeAsync"),
    "AddHostedService": ("StartAsync", "StopAsync", "ExecuteAsync"),
}
"""What ASP.NET calls of a type that it is given, by the method that is given it."""


_ROUND = ord("(")
_BRACKET = late_re(rb"[()\[\]{}]")
_CLOSING = frozenset({b")", b"]", b"}"})
_MEMBER = late_re(
    rb"(?:([\w$.:]*\w[.][\w$]+)\s*=|(?<![\w$.])([\w$.]+)\s*\+="
    rb"|(?<![\w$.?])([\w$]+|'[^'\s]+'|\"[^\"\s]+\")\s*(?::|=>|=\{))\s*\Z"
)
"""What a function becomes a member of: ``button.onclick = ``, ``Changed += ``, ``save: ``, ``onClick={``."""
_JOINING = frozenset({"::", "."})
_IN_PATHS = frozenset({"identifier", "self", "super", "crate", "primitive_type", "metavariable"})


_TAKEN: dict[str, Callable[..., Signature]] = {
    "elixir": taken_in_elixir,
    "kotlin": taken_in_kotlin,
    "swift": taken_in_swift,
}
"""What reads a function's parameters, where it is not by their types."""

_ROUTED = late_re(r"(?<!:):(?!:)|@")
"""Between a controller and its method, in routes of Slim and Laravel."""
_NO_READ = late_re(
    r"^(?:navigation_suffix|call_expression|directly_assignable_expression|user_type|identifier|arguments"
    r"|binding|infix_type|annotation)$|pattern|parameter|label|function_declaration|entry|attribute|import"
    r"|_identifier$"
)
"""What has a name of Swift or Scala that reads no property; what is handed on is read as that."""
_NO_READS = ("name", "pattern", "operator", "field")
"""Fields of Scala's nodes whose names read none."""


class QueryReader(ScriptReader, PhpReader, RubyReader, PlacingReader):
    """Extracts the facts of one file."""

    def read(self, tree: tree_sitter.Tree) -> Facts:
        """Return the facts of the file."""
        found = self._outlined()  # first: it refuses a tree that is too deep for a query
        from gitrag.chunking.parsing import Lineage

        self._lineage = Lineage(tree)
        matches = self._matches(tree)
        objects = [each["object"][0] for each in matches if "object" in each]
        made = [self._made_of(each) for each in objects]
        self._place(tree, found, [each for each in [*matches, *made] if "value" in each])
        for captures in made:
            own = self._around(captures["value"][0]) if "base" in captures else 0
            if self._rows[own][0] == "class":
                self._bases.append((own, self._type(captures["base"][0])))
        for node, captures in zip(objects, made, strict=True):
            if not captures:
                self._give_members(node)
        if self._language.name == "kotlin":
            self._place_blocks(tree)
        for captures in matches:
            key = min(captures, key=_rank, default="")
            self.TAKES.get(_family(key), QueryReader._declaration)(self, captures, key)
        self._bases = [*reversed(self._mixed), *self._bases]  # of what is mixed in the last one holds
        self._read_ruby()
        scopes = self._scopes()
        calls = self._every_call(scopes)
        above: dict[int, list[str]] = {own: [] for own, _ in self._bases}
        is_rust = self._language.name == "rust"  # an alias of a list is none of what it holds
        for own, type_ in self._bases:
            above[own] += [type_] if type_ and not (is_rust and type_.startswith(ELEMENT)) else []
        definitions = tuple(
            DefinitionFacts(kind, name, first, last, tuple(above.get(i, ())))
            for i, (kind, name, first, last, _) in enumerate(self._rows)
        )
        held = tuple(self._held(scopes))  # before the imports: it may name modules
        body = Body(
            tuple([parent for *_, parent in self._rows]),
            (
                *[self._numbered(call, node, scopes) for call, node in calls],
                *self._called_in_markup(),
            ),
            (
                *self._declared_in(scopes),
                *[self._gift(*each, scopes) for each in self._gifts],
                *self._doubted(),
            ),
            tuple(self._fields),
            tuple(self._results),
            tuple([msgspec.convert(each, ImportRow) for each in self._imports]),
            tuple(self._needs),
            tuple(self._signatures.values()),
            statics=tuple(self._marks["static"]),
            properties=tuple(self._marks["property"]),
            hidden=tuple(self._marks["private"]),
            held=held,
            exports=tuple(self._exported()),
        )
        return Facts(definitions, _mentions(body.calls, self._imports), packed_body(body))

    def _scopes(self) -> Scopes:
        """Return the variables and their scopes, once all is known that comments and results say of them."""
        made = {each.node.start_byte for each in self._variables if each.assigned and each.declared.type_name}
        said = [
            each
            for each in self._documented()
            if each.node.start_byte not in made  # what is made there is of its own class, whatever is said
        ]
        self._nest(self._nodes["function"])  # of JavaScript: what `return` ends
        self._give()
        if self._language.name in SCRIPTS:
            self._list()
            self._fields = self._held_in_script()
        own = next((at for at, row in enumerate(self._rows) if row[:2] == ("class", DEFAULT)), 0)
        self._fields += [Declaration(own, name, type_, None) for name, type_ in self._refs.items()]
        if self._language.name in SCRIPTS:
            self._imports = self._passed_on()
            self._reassigned = self._given_anew()
        self._imports += [{"from": origin, "module": name} for origin, name in self._modules.items()]
        self._imports += [{**each, "public": REGISTERS} for each in prefixed(self._routes, self._groups)]
        self._imports += [{"local": GIVES, "alias": GIVES}] * (
            self._language.name == "php" and bool(self._gifts)
        )
        return Scopes(
            [
                *[each for each in said if each.assigned],
                *[
                    each
                    for each in self._variables
                    if not (each.bound and each.node.start_byte in self._imported)
                ],
                *[each for each in said if not each.assigned],
            ],
            [parent for *_, parent in self._rows],
            self._spans,
            [name.rpartition(".")[2] for _, name, *_ in self._rows],
            language=self._language.name,
        )

    def _every_call(self, scopes: Scopes) -> list[Call]:
        """Return the calls written, and what is called without brackets or handed on to be called."""
        calls, properties = self._calls, self._marks["property"]
        if self._language.name in SCRIPTS:  # only getters of the file: members are read everywhere
            getters = {self._rows[own][1].rpartition(".")[2] for own in properties}
            getters |= {
                each.name for each in self._fields if each.made and each.made[0].endswith(("?", "()"))
            }
            inherit = {own for own, _ in self._bases}
            calls = [
                (call, node)
                for call, node in calls
                if not call.read
                or call.parts[-1] in getters
                or call.parts[0] != "this"
                or (len(call.parts) == 2 and self._class_around(node) in inherit)
            ]
        calls = list(self._unhidden(calls, scopes))
        calls += self._bare_calls(*(self._nodes[each] for each in _NAMED))
        known = {each.node.start_byte for each in self._variables}
        calls += self._read_alone(
            self._nodes["alone"], properties, known, scopes, {own for own, _ in self._bases}
        )
        calls += self._handed_on(self._nodes["handed"], scopes)
        return [(self._with_rule(call, node), node) if call.handed else (call, node) for call, node in calls]

    def _keep(self, captures: Captures, key: str) -> None:
        self._nodes[key] += captures[key]

    def _mark(self, captures: Captures, key: str) -> None:
        """Note the definition around what says something of it."""
        self._marks[key].append(self._around(captures[key][0]))
        if key == "static" and "_scope" in captures:
            self._results.append(Result(self._marks[key][-1], "self"))

    def _put_in(self, captures: Captures, key: str) -> None:
        self.put(captures, key)

    def _replace(self, captures: Captures, key: str) -> None:
        self._replaced.add(f"{self._text(captures['_of'][0])}.{self._text(captures[key][0])}")

    def _watcher(self, captures: Captures, key: str) -> None:
        self._watchers.add(self._text(captures[key][0]))

    def _call_in_tokens(self, captures: Captures, key: str) -> None:
        self._calls += self._calls_in_tokens(captures[key][0])

    def _need(self, captures: Captures, _key: str) -> None:
        self._needs += self._needed(captures)

    def _reading(self, captures: Captures, key: str) -> None:
        self._calls += self._read_of(captures[key][0], captures.get("made", [None])[0])

    def _variant(self, captures: Captures, key: str) -> None:
        self._fields += self._held_by(captures[key][0])

    def _payload(self, captures: Captures, key: str) -> None:
        self._variables += self._bound_to(captures[key][0])

    def _method(self, captures: Captures, _key: str) -> None:
        self._calls += self._named_by_text(captures)

    def _markup(self, captures: Captures, key: str) -> None:
        self._calls += self._in_markup(captures[key][0])

    def _elements(self, captures: Captures, key: str) -> None:
        node = captures[key][0]
        self._fields.append(Declaration(self._class_around(node), ELEMENT, self._type(node), None))

    def _pass(self, captures: Captures, key: str) -> None:
        """Nothing is left to be done: what is made has its place already."""

    def _sent(self, captures: Captures, key: str) -> None:
        """Read a Ruby call; a query that matched its parts would keep states for a whole chain of calls."""
        node = captures[key][0]
        method, receiver = node.child_by_field_name("method"), node.child_by_field_name("receiver")
        if method is not None:
            self._calls += self._call({"name": [method], **({"receiver": [receiver]} if receiver else {})})
            self._read_sent(node, method, receiver)
        self._fields += self._associated(node)

    def _written(self, captures: Captures, _key: str) -> None:
        node = captures["call"][0] if self._language.name in SCRIPTS else None
        keyed = [(each, node) for each in self._by_key(node)] if node is not None else []
        self._calls += keyed or self._call(captures)

    def _name(self, captures: Captures, _key: str) -> None:
        for key in captures.keys() & set(_NAMED):
            self._nodes[key] += captures[key]
        since = max(node.end_byte for nodes in captures.values() for node in nodes)
        self._variables += [
            Variable(self._declared(node, {}, "var"), node, since, assigned=False, bound=True)
            for node in captures.get("bound", ())
        ]

    def _returns(self, captures: Captures, key: str) -> None:
        """Note a result's type; of several the first, each of which has a pattern of its own."""
        node, of = captures[key][0], captures.get("_of")
        if of and self._rows[self._around(node)][1].rpartition(".")[2] != self._text(of[0]):
            return  # of a function without a definition of its own
        if type_ := self._type(node):
            self._results.append(Result(self._around(node), type_))

    def _parameters(self, captures: Captures, key: str) -> None:
        node, own = captures[key][0], self._around(captures[key][0])
        read = _TAKEN.get(self._language.name, signature)
        self._signatures.setdefault(own, read(own, node, self._text))

    def _base(self, captures: Captures, key: str) -> None:
        bases = [(self._class_around(node), self._type(node)) for node in captures[key]]
        (self._mixed if "_mixed" in captures else self._bases).extend(bases)

    def _import(self, captures: Captures, _key: str) -> None:
        self._imported |= {node.start_byte for nodes in captures.values() for node in nodes}
        self._imports.append(
            {key[7:]: self._text(nodes[0], _IMPORT_BYTES) for key, nodes in captures.items() if key[0] != "_"}
        )

    def _declaration(self, captures: Captures, _key: str) -> None:
        is_vague = self._language.name == "php" and "type" in captures  # if it is of no type
        declared = self._declarations(captures, "field")
        self._resulting += [(each, self._around(node)) for each, node in declared if each.made]
        self._fields += [each for each, _ in declared if each.type_name or not is_vague]
        before = (nodes for key, nodes in captures.items() if key != "lent")
        since = max(node.end_byte for nodes in before for node in nodes)
        self._variables += [
            Variable(each, captures.get("where", [node])[0], since, "assigned" in captures)
            for each, node in self._declarations(captures, "var")
            if each.type_name or not is_vague
        ]

    TAKES: ClassVar[Mapping[str, Callable[[QueryReader, Captures, str], None]]] = {
        "handed": _keep,
        "watcher": _watcher,
        "alone": _keep,
        **dict.fromkeys(("registered", "group", "naming"), PhpReader.note_registered),
        "tokens": _call_in_tokens,
        "picked": ScriptReader.pick,
        "many": _put_in,
        "mapped": ScriptReader.map_store,
        "needed": _need,
        "read": _reading,
        "property": _mark,
        "ivar": RubyReader.note_ivar,
        "gives": _keep,
        "documented": _keep,
        "variant": _variant,
        "payload": _payload,
        "method": _method,
        "markup": _markup,
        "private": _mark,
        "spread": _keep,
        "replaced": _replace,
        "static": _mark,
        "elements": _elements,
        **dict.fromkeys(("value", "object"), _pass),
        "sent": _sent,
        **dict.fromkeys(("call", "name", "chained"), _written),
        **dict.fromkeys(_NAMED, _name),
        "returns": _returns,
        "returned": _keep,
        **dict.fromkeys(("function", "table", "exported"), _keep),
        "parameters": _parameters,
        "base": _base,
        "import": _import,
    }
    """What is done with a match, by the first of these that it has a capture of; else it is a declaration."""

    def _give(self) -> None:
        """Add what functions of PHP or JavaScript without a declared result give: what they make.

        In JavaScript it is sure where each of its own returns gives that.
        """
        declared = {each.function for each in self._results}
        held: dict[tuple[int, str], str] = {}
        places: dict[tuple[int, str], dict[int, tree_sitter.Node]] = {}
        for each in self._variables:
            key = each.declared.owner, each.declared.name
            places.setdefault(key, {})[each.node.start_byte] = each.node
            if each.declared.type_name:
                held[key] = each.declared.type_name
        found: dict[int, set[str]] = {}
        sure: dict[int, set[str]] = {}
        others: dict[int, list[tree_sitter.Node]] = {}
        for node in self._nodes["returned"]:
            place = self._around(node)
            if place in declared or node.type in NOTHING:
                continue
            is_sure = False
            if self._language.name in SCRIPTS:
                type_, is_sure = self._given_in_script(node, place, held, places)
                is_sure = is_sure and self._is_own(node, place)
                type_ *= is_sure or node.type != "this"
            elif node.type == "variable_name":
                type_ = held.get((place, self._text(node)[1:]), "")
            else:
                type_ = self._type(node)
            (sure if is_sure else found).setdefault(place, set()).update({type_} - {""})
            if not is_sure:
                others.setdefault(place, []).append(node)
        for place in sorted(sure.keys() | found.keys()):
            types = sure.get(place, set())
            is_sure = bool(types) and not any(self._is_own(each, place) for each in others.get(place, ()))
            types = types if is_sure else types | found.get(place, set())
            if len(types) == 1:
                self._results.append(Result(place, f"{UNSURE * (not is_sure)}{types.pop()}"))

    def _matches(self, tree: tree_sitter.Tree) -> list[Captures]:
        from tree_sitter import QueryCursor

        from gitrag.chunking.parsing import MATCH_LIMIT

        cursor = QueryCursor(
            _query(self._language.grammar, QUERIES[self._language.name]), match_limit=MATCH_LIMIT
        )
        return [captures for _, captures in cursor.matches(tree.root_node)]

    def _numbered(self, call: WrittenCall, node: tree_sitter.Node, scopes: Scopes) -> WrittenCall:
        """Say which of several variables of one name a call means."""
        given = call.given and tuple(
            [
                each
                if not expression or expression[0] == ":"
                else name + equals + ".".join(scopes.named(expression.split("."), call.caller, node)[0])
                for each in call.given
                for name, equals, expression in [each.rpartition("=")]
            ]
        )
        parts, is_bound = call.parts, False
        if len(parts) > 1 and parts[0] == "this" and (name := self._outer_this(call.caller, node)):
            parts = (name, *parts[1:])
        if len(parts) > 1:
            named, is_bound = scopes.named(parts, call.caller, node)
            parts = tuple(named)
            is_bound = is_bound or (
                self._language.name in SCRIPTS
                and (
                    parts[0] in self._reassigned
                    or scopes.conceal(parts[0], call.caller, node)
                    or (parts[0] == "this" and self._is_lost(node))
                )
            )
        if parts == call.parts and given == call.given and not is_bound:
            return call
        return msgspec.structs.replace(call, parts=parts, given=given, unsure=call.unsure or is_bound)

    def _call(  # noqa: C901, PLR0912 - what languages have of their own
        self, captures: Captures
    ) -> list[Call]:
        if "call" in captures:
            node = captures["call"][0]
            text = self._text(node)
            if cleared := _CLEARED.get(self._language.name):
                text = cleared[0].sub(cleared[1], text)
            parts = self._required(
                text, parts_of(text.replace(":", ".") if self._language.name == "lua" else text)
            )
        elif "chained" in captures:
            node = captures["chained"][0]
            parts = parts_of(self._chain(node))
        else:
            node = captures["name"][0]
            receiver = captures.get("receiver")
            text = self._text(node)
            own = self._parts_of_name(text)
            # The receiver as that of something: or the brackets of a call at its end would be lost.
            receiver = receiver if text[:1] not in FILTERING else None  # whatever a filter of Twig is given
            parts = [*(receiver_of(self._raw(receiver[0])) or ["?"]), *own] if receiver else own
            if receiver and self._language.name == "ruby" and self._raw(receiver[0], 2) == "::":
                parts = ["", *parts]
        if not parts or (self._language.name == "cpp" and _DESTRUCTOR.search(self._text(node))):
            return []  # `A::~A() = default;`, which the grammar takes for an assignment to a call
        if self._language.name == "cpp" and "call" in captures and len(parts) > 1:
            parts = scoped(self._text(captures["call"][0]), parts)
        if self._language.name == "elixir" and is_no_call(
            self._source[max(node.start_byte - COMMENT_BYTES // 8, 0) : node.start_byte],
            self._source[node.end_byte : node.end_byte + NAME_BYTES],
        ):
            return []
        if self._language.name == "swift" and self._raw(node, 1) == ".":  # of the type that is expected there
            parts = ["?", *parts]
        given = None
        if self._language.name == "elixir":
            given = given_in_elixir(node, self._lineage)
        elif self._language.name == "swift":
            given = given_in_swift(node, self._text, self._lineage)
        elif self._language.name == "kotlin":
            given = given_in_kotlin(node, self._text, self._lineage)
        elif self._language.name in OVERLOADING and (around := self._lineage.parent(node)) is not None:
            given = given_to(around, self._text)
        self._called[node.end_byte] = tuple(part.removesuffix("()") for part in parts if part != "?")
        after = self._lineage.after(node) if self._language.name == "swift" else None
        is_named = after is not None and self._source.endswith(b":)", 0, after.end_byte)  # `f(a:b:)`
        line = node.start_point[0] + 1
        call = WrittenCall(self._around(node), tuple(parts), line, given=given, unsure=is_named)
        is_of_function = self._language.name in SCRIPTS and len(parts) > 1 and parts[-1] in _ON_FUNCTIONS
        # `this.save.bind(this)`: `this.save` is meant
        if is_of_function and not parts[-2].endswith("()") and parts[-2] not in {"this", "super"}:
            return [(call, node), (msgspec.structs.replace(call, parts=call.parts[:-1], handed=True), node)]
        if self._language.name != "kotlin" or len(parts) > 1 or not parts[0][:1].islower():
            return [(call, node)]
        given, of_this = self._given_in(self._block_around(node))
        unsure = msgspec.structs.replace(call, blocks=given)
        if of_this is None:
            return [(unsure, node)]
        return [(unsure, node), (msgspec.structs.replace(unsure, parts=(*of_this, *parts)), node)]

    def _parts_of_name(self, text: str) -> list[str]:
        """Return the parts of a name: in Ruby it may end in ? or !, in a shell have hyphens."""
        if self._language.name == "bash":
            return text.replace("::", ".").split(".") if _SHELL_NAME.fullmatch(text) else []
        return [text] if NAME.fullmatch(text) else parts_of(text)

    def _chain(self, node: tree_sitter.Node) -> str:
        """Return what is called, where the grammar has its parts side by side; Dart's up to the arguments."""
        if self._language.name == "zig":
            call = self._lineage.parent(node)
            around = self._lineage.parent(call) if call is not None else None
            start = around.start_byte if around is not None else node.start_byte
            return self._between(start, node.end_byte)
        name = node.prev_named_sibling if node.type == "argument_part" else None
        first: tree_sitter.Node | None = node.parent if name is not None else node
        end = first.start_byte if first is not None else node.start_byte
        while (
            first is not None
            and first.type in _SELECTORS
            and first.start_byte > end - TEXT_BYTES  # no more is read; each step takes the parent's children
            and (before := first.prev_named_sibling) is not None
        ):
            first = before
        start = first.start_byte if first is not None else end
        if name is not None and node.parent is not None:  # `a..add(1)..stop()`
            return f"{self._between(start, end).partition('..')[0]}.{self._text(name)}"
        return self._between(start, end)

    def _place_blocks(self, tree: tree_sitter.Tree) -> None:
        """Note what decides about ``this`` in Kotlin, outer first, each with the one around it.

        Not by asking nodes for their parents: each is looked for from the root.
        """
        from tree_sitter import QueryCursor

        cursor = QueryCursor(_query(self._language.grammar, "kotlin_blocks"))
        self._nest(cursor.captures(tree.root_node).get("block", []))

    def _given_in(self, place: int) -> tuple[tuple[str, ...], list[str] | None]:
        """Return Kotlin's functions that may give the blocks at a place a ``this``, and what one gives."""
        while place >= 0 and self._blocks[place][0].type == "call_expression":
            place = self._blocks[place][1]
        if place < 0 or self._blocks[place][0].type != "lambda_literal":
            return (), None
        known = self._given.get(place)
        if known is None:
            call = place
            while self._blocks[call][0].type != "call_expression":
                call = self._blocks[call][1]
                if call < 0 or self._blocks[call][0].type in {"function_declaration", "class_body"}:
                    return (), None
            node, outer = self._blocks[call]
            names, of_this = self._given_in(outer)
            name, this = self._called_by(node), _rebinding(self._raw(node))
            if name not in _PLAIN_BLOCKS:
                names = tuple(dict.fromkeys((name, *names)))
            if this:
                of_this = receiver_of(this["on"] or this["given"])
            known = self._given[place] = names, of_this
        return known

    def _read_of(self, node: tree_sitter.Node, made: tree_sitter.Node | None) -> Iterator[Call]:
        """Yield what is read of something, unless it is called; or what is set of what is made."""
        no_reads = _CALLS | {"assignment_expression"} if self._language.name in SCRIPTS else _CALLS
        around = self._lineage.parent(node)
        called = around if around is not None and around.type in no_reads else None
        parts = parts_of(f"{self._text(made)}().{self._text(node)}" if made else self._text(node))
        if self._language.name == "swift" and self._raw(node, 1) == ".":  # of the type that is expected there
            parts = ["?", *parts]
        if self._language.name == "dart":
            after = self._lineage.after(node)
            called = node if after is not None and after.text and after.text[:1] in b"(<" else None
            parts = parts_of(self._chain(node) + self._text(node))
        if self._language.name in SCRIPTS and "getters" in parts[-2:-1]:
            parts = ["?", "getters", parts[-1]]
        if len(parts) > 1 and (called is None or called.start_byte != node.start_byte):
            call = WrittenCall(self._around(node), tuple(parts), node.start_point[0] + 1, read=True)
            yield call, node
            if (
                self._language.name == "dart" and parts[-2][:1].isupper() and after is None
            ):  # `map(Line.parse)`
                yield msgspec.structs.replace(call, read=False, handed=True), node

    def _read_alone(
        self,
        nodes: Sequence[tree_sitter.Node],
        properties: Sequence[int],
        bound: Collection[int],
        scopes: Scopes,
        inheriting: Collection[int],
    ) -> Iterator[Call]:
        """Yield the names of properties of the file where they stand alone: ``if isReady``."""
        last = {self._rows[own][1].rpartition(".")[2] for own in properties}
        is_scala = self._language.name == "scala"
        if self._language.name == "csharp":
            yield from self._read_in_class(nodes, last, scopes, inheriting)
            return
        for node in nodes if last else ():
            name = self._text(node)
            around = self._lineage.parent(node) if name in last else None
            if around is None or _NO_READ.search(around.type):
                continue
            after = node.next_sibling
            is_given = after is not None and after.type == "="  # a variable, or a parameter by its name
            if is_given or (is_scala and node.start_byte in bound):
                continue
            if is_scala and any(around.child_by_field_name(each) == node for each in _NO_READS):
                continue
            place = self._around(node)
            if not scopes.hide(name, place, node):
                parts = (name,) if is_scala else ("self", name)
                yield WrittenCall(place, parts, node.start_point[0] + 1, read=True), node

    def _read_in_class(
        self,
        nodes: Sequence[tree_sitter.Node],
        own: Collection[str],
        scopes: Scopes,
        inheriting: Collection[int],
    ) -> Iterator[Call]:
        """Yield the names that may read a property of C# of the class itself, or of a base of it."""
        for node in nodes:
            name, place = self._text(node), self._around(node)
            is_head = self._source[node.end_byte : node.end_byte + 1] == b"."  # mostly a class
            is_inherited = not is_head and self._class_around(node) in inheriting
            if (name in own or is_inherited) and not scopes.hide(name, place, node):
                yield WrittenCall(place, ("self", name), node.start_point[0] + 1, read=True), node

    def _called_by(self, call: tree_sitter.Node) -> str:
        """Return the name of the function that a call of Kotlin calls."""
        function: tree_sitter.Node | None = call
        while function is not None and function.type == "call_expression":
            function = function.named_child(0)
        text = self._source[max(function.end_byte - NAME_BYTES, 0) : function.end_byte] if function else b""
        words: list[str] = WORD.findall(text.decode("utf-8", "replace"))
        return words[-1] if words else ""

    def _bare_calls(
        self,
        bare: list[tree_sitter.Node],
        taken: list[tree_sitter.Node],
        bound: list[tree_sitter.Node],
    ) -> Iterator[Call]:
        """Yield the calls that consist of a name only."""
        elsewhere = {node.start_byte for node in taken}
        variables = {(self._around(node), self._text(node)) for node in bound} if bare else set()
        for node in bare:
            place, name = self._around(node), self._text(node)
            if node.start_byte not in elsewhere and (place, name) not in variables:
                yield WrittenCall(place, ("self", name), node.start_point[0] + 1), node

    def _unhidden(self, calls: list[Call], scopes: Scopes) -> Iterator[Call]:
        """Leave out the calls by a name alone that call what a variable holds, unless that is a member."""
        for call, node in calls:
            is_alone = len(call.parts) == 1 and self._language.name not in _TWO_NAMESPACES
            is_hidden = is_alone and scopes.hide(call.parts[0], call.caller, node)
            is_script = self._language.name in SCRIPTS
            is_asked = is_alone and (self._picked or (is_hidden and is_script))
            only = scopes.only(call.parts[0], call.caller) if is_asked or call.rule else None
            member = self._member(only) if only is not None else None
            if call.rule:  # what a parameter has is not what is so called around
                is_given = only is not None and self._is_given(only, call, node, scopes)
                yield (msgspec.structs.replace(call, parts=("?", ELEMENT)) if is_given else call), node
            elif only is not None and member is not None and (is_hidden or not only.declared.owner):
                is_own = is_hidden and only.declared.owner == call.caller
                rule = self._rule_by_key(node) if member[-1] == ELEMENT else call.rule
                yield msgspec.structs.replace(call, parts=member, unsure=not is_own, rule=rule), node
            elif not is_hidden:
                yield call, node
            elif (
                is_script
                and only is not None
                and self._is_parameter(only)
                and self._rule_by_key(node) != BY_KEY
            ):
                yield msgspec.structs.replace(call, parts=("?", ELEMENT), rule=MADE_BY_KEY), node
            elif self._language.name == "kotlin":  # a function, unless the variable holds one
                yield msgspec.structs.replace(call, unsure=True), node

    def _handed_on(self, handed: list[tree_sitter.Node], scopes: Scopes) -> Iterator[Call]:
        """Yield the functions that are handed on by their names; a variable is none."""
        is_elixir = self._language.name == "elixir"
        for node in handed:
            place, text = self._around(node), self._text(node)
            if self._language.name in SCRIPTS and self._is_only_exported(node, place):
                continue
            if is_elixir:
                text = text.removeprefix(":")
            elif self._language.name == "php":
                text = _ROUTED.sub("::", text)
            is_whole = self._language.name == "bash" or text.endswith(("?", "!"))
            parts = tuple(self._parts_of_name(text)) if is_whole else tuple(parts_of(text))
            if not parts or parts[0] == "?":
                continue
            if len(parts) == 1 and scopes.hide(parts[0], place, node):
                only = scopes.only(parts[0], place) if self._picked else None
                parts = self._picked.get(only.node.start_byte, ()) if only is not None else ()
                if parts:  # where it is picked, its value is read, if it is a property
                    call = WrittenCall(place, parts, node.start_point[0] + 1, handed=True, given=())
                    yield call, node
                continue
            count = arity(self._source[node.end_byte : node.end_byte + NAME_BYTES]) if is_elixir else None
            given = None if count is None else ("",) * count
            yield WrittenCall(place, parts, node.start_point[0] + 1, handed=True, given=given), node

    def _with_rule(self, call: WrittenCall, node: tree_sitter.Node) -> WrittenCall:
        """Say what is handed a function: what is called around it, or a member of an object.

        Read from the text before it: a tree is asked for a parent from its root.
        """
        if call.rule:
            return call
        before = self._source[max(node.start_byte - TEXT_BYTES, 0) : node.start_byte]
        member = _MEMBER.search(before)
        if member:
            return msgspec.structs.replace(call, rule=self._shown(next(filter(None, member.groups()))))
        depth = 0
        for bracket in reversed(list(_BRACKET.finditer(before))):
            depth += 1 if bracket[0] in _CLOSING else -1
            if depth < 0 and bracket[0] == b"{":
                break
            if depth < 0 and bracket[0] == b"(":
                end = node.start_byte - len(before) + len(before[: bracket.start()].rstrip())
                if end in self._called:  # else it is of an expression, or stands in a string
                    return msgspec.structs.replace(
                        call, rule=".".join(self._called[end][-2:]).lstrip(FUNCTION)
                    )
            depth = max(depth, 0)
        return call

    def _shown(self, name: bytes) -> str:
        return ".".join(parts_of(name.decode("utf-8", "replace").strip("\"'"))[-2:])

    def _calls_in_tokens(self, tokens: tree_sitter.Node) -> Iterator[Call]:
        """Yield the calls among tokens: a name, or names joined by dots or colons, before a bracket."""
        waiting = [tokens]
        while waiting:
            children = waiting.pop().children
            start = -1
            joined = True
            for place, node in enumerate(children):
                if node.type == "token_tree":
                    waiting.append(node)
                    if self._source[node.start_byte] != _ROUND:
                        start = -1
                    elif start >= 0 and not joined:
                        text = self._source[start : node.start_byte][-TEXT_BYTES:].decode("utf-8", "replace")
                        parts = tuple(parts_of(text))
                        if parts:
                            line = children[place - 1].start_point[0] + 1
                            yield WrittenCall(self._around(node), parts, line), node
                elif node.type in _JOINING:
                    joined = True
                elif node.type in _IN_PATHS and not (start >= 0 and not joined):
                    start, joined = (node.start_byte if start < 0 else start), False
                elif node.type in _IN_PATHS:
                    start, joined = node.start_byte, False
                else:
                    start, joined = -1, True

    def _held_by(self, variant: tree_sitter.Node) -> Iterator[Declaration]:
        """Yield what a variant of Rust's enumerations holds, as fields of it: ``A.0``, ``A.name``."""
        name, body = variant.child_by_field_name("name"), variant.child_by_field_name("body")
        if name is None or body is None:
            return
        place = self._class_around(variant)
        types = body.children_by_field_name("type")
        named = [("0123456789"[at], type_) for at, type_ in enumerate(types[:10])]
        for each in body.named_children:
            field, type_ = each.child_by_field_name("name"), each.child_by_field_name("type")
            if field is not None and type_ is not None:
                named.append((self._text(field), type_))
        for field_name, type_ in named:
            yield Declaration(place, f"{self._text(name)}.{field_name}", self._type(type_), None)

    def _bound_to(self, pattern: tree_sitter.Node) -> Iterator[Variable]:
        """Yield what a pattern binds to what a variant holds: ``E::A(x)``, ``E::B { x, y: z }``."""
        type_ = pattern.child_by_field_name("type")
        parts = parts_of(self._text(type_)) if type_ is not None else []
        if len(parts) < 2:
            return
        around = pattern.parent
        while around is not None and around.type.endswith("_pattern"):
            around = around.parent
        is_given = around is not None and around.type in {"let_declaration", "let_condition"}
        since = around.end_byte if is_given and around else pattern.end_byte  # its value means another
        for at, each in enumerate(pattern.named_children[1:]):
            bound, field = (each.child_by_field_name("pattern"), each.child_by_field_name("name"))
            node = (bound or field) if each.type == "field_pattern" else each
            if node is not None and node.type in {"identifier", "shorthand_field_identifier"}:
                held = f"{parts[-1]}.{self._text(field) if field is not None else at}"
                made = (*parts[:-1], held, SAME)
                declared = Declaration(self._around(node), self._text(node), "", made)
                yield Variable(declared, node, since, assigned=False)

    def _named_by_text(self, captures: Captures) -> Iterator[Call]:
        """Yield a method that is named by a string: PHP's ``[X::class, 'f']``, Vuex' ``commit('cart/f')``.

        In C# those that a host calls by their names.
        """
        node = captures["method"][0]
        on = parts_of(self._text(captures["on"][0])) if "on" in captures else ["this"]
        name = self._text(node).removeprefix(":")
        if self._language.name in SCRIPTS:
            module, _, name = name.rpartition("/")
            kind = _STORED.get(self._text(captures["_sends"][0]), "") if "_sends" in captures else ""
            on = ["?", kind] + [module.rpartition("/")[2]] * bool(module) if kind else on
        parts = [*on[: -1 if on[-1:] == ["class"] else None], *parts_of(name)]
        is_elixir = self._language.name == "elixir" and node.type == "identifier"
        given = given_in_elixir(node, self._lineage) if is_elixir else None  # of a delegate
        hosted = _HOSTED.get(name, ()) if self._language.name == "csharp" else ()
        if on and len(parts) > 1:
            line = node.start_point[0] + 1
            rule = self._text(captures["_key"][0]) if "_key" in captures else ""
            call = WrittenCall(self._around(node), tuple(parts), line, handed=True, given=given, rule=rule)
            for each in hosted:
                yield msgspec.structs.replace(call, parts=(*on, each), rule=name), node
            if not hosted:
                yield call, node

    def _in_markup(self, node: tree_sitter.Node) -> Iterator[Call]:
        """Yield what the markup in a file of Elixir may call."""
        place, text = self._around(node), self._raw(node, node.end_byte - node.start_byte)
        line, counted = node.start_point[0] + 1, 0
        for at, parts in in_markup(text):
            line, counted = line + text.count("\n", counted, at), at
            yield WrittenCall(place, parts, line, unsure=True), node

    def _gift(self, gift: Declaration, node: tree_sitter.Node, scopes: Scopes) -> Declaration:
        made = gift.made and tuple(scopes.named(gift.made, gift.owner, node)[0])
        return msgspec.structs.replace(gift, made=made)

    def _needed(self, captures: Captures) -> Iterator[Declaration]:
        node = captures["needed"][0]
        if any(each.named_children[-1].type == "function_body" for each in captures.get("_whole", ())):
            return  # of Kotlin
        result = captures.get("type")
        type_ = self._type(result[0]) if result else ""
        yield Declaration(self._class_around(node), self._text(node), type_, None)

    def _declarations(self, captures: Captures, kind: str) -> list[tuple[Declaration, tree_sitter.Node]]:
        if "type" in captures and self._text(captures["type"][0]) in _INFERRED:
            return []  # another pattern gives the module
        if "made" in captures and self._text(captures["made"][0]) in IMPORTING:
            return []  # it is a module; an import says which
        if "lent" in captures:
            if (ranged := self._lent_of(captures["lent"][0])) is None:
                return []
            captures = {**captures, "ranged": [ranged]}
        return [(self._declared(node, captures, kind), node) for node in captures.get(kind, [])]

    def _lent_of(self, given: tree_sitter.Node) -> tree_sitter.Node | None:
        """Return what a call is made on that is given something.

        No query asks for it from the call: in a chain each call would wait for the end of all before it.
        """
        call = self._lineage.parent(given)
        if call is None or call.type not in _LENDING:
            return None
        called = call.named_children[0]
        name = called.child_by_field_name("property") if called.type == "member_expression" else None
        if name is not None and self._text(name) not in _FOR_EACH:
            return None
        of_member = called.named_children[:1] if called.type in _MEMBERS else []
        return call.child_by_field_name("object") or next(iter(of_member), None)

    def _declared(self, node: tree_sitter.Node, captures: Captures, kind: str) -> Declaration:
        place = self._class_around(node) if kind == "field" else self._around(node)
        if node.start_byte in self._values and place > 0 and self._spans[place][0] == node.start_byte:
            place = self._rows[place][4]
        name = self._text(node).lstrip("@$")
        if "_bound" in captures:  # a type parameter of Go, which no variable's name means
            name = f"{INSTANCE}{name}"
        if "itself" in captures:
            return Declaration(place, name, "self", None)
        if "_any" in captures:
            return Declaration(place, name, "unknown", None)
        if "type" in captures:
            return Declaration(place, name, self._type(captures["type"][0]), None)
        if "each" in captures:
            element = self._type(captures["each"][0])
            return Declaration(place, name, f"{ELEMENT}{element}" if element else "", None)
        if "ranged" in captures:
            parts = receiver_of(self._text(captures["ranged"][0]).lstrip("&* ").removeprefix("mut "))
            return Declaration(place, name, "", (*parts, ELEMENT) if parts else None)
        if "same" in captures:
            parts = receiver_of(self._text(captures["same"][0]).lstrip("&*"))
            return Declaration(place, name, "", (*parts, SAME) if parts else None)
        return Declaration(place, name, "", self._made(captures.get("made", [None])[0]))


def _family(key: str) -> str:
    return "import" if key.startswith("import") else key


@cache
def _rank(key: str) -> int:
    """Return the place of a capture among those that say what a match is."""
    order = [*QueryReader.TAKES]
    return order.index(_family(key)) if _family(key) in order else len(order)


@lru_cache(maxsize=4_096)  # each of the calls within asks it of those around
def _rebinding(text: str) -> re.Match[str] | None:
    return _REBINDING.match(text)


_DESTRUCTOR = late_re(r"~\s*\w+$")


@cache
def _query(grammar_name: str, files: str) -> tree_sitter.Query:
    from tree_sitter import Query

    from gitrag.chunking.parsing import load_grammar

    folder = resources.files("gitrag.callgraph.general") / "queries"
    text = "".join((folder / f"{name}.scm").read_text("utf-8") for name in files.split())
    return Query(load_grammar(grammar_name), text)


def _mentions(calls: Sequence[WrittenCall], imports: Sequence[Mapping[str, str]]) -> frozenset[str]:
    """Return the words by which a file may name what it calls."""
    found = {part.removesuffix("()") for call in calls for part in call.parts}
    found |= {value for each in imports for value in each.values()}
    found |= {word for each in imports for word in WORD.findall(each.get("use", ""))}
    found |= {each["local"].rpartition(".")[2] for each in imports if "local" in each}
    found |= {DEFAULT for each in imports if not each.keys().isdisjoint({"default", "module"})}
    return frozenset(" ".join(found).split())


def parsed(source: bytes, row: Language) -> tuple[Language, tree_sitter.Tree]:
    """Parse a source; JavaScript with Flow's types, which are none of its grammar, as TypeScript."""
    from gitrag.chunking.languages import BY_NAME
    from gitrag.chunking.parsing import GrammarError, matches, parse

    def errors(read: tuple[Language, tree_sitter.Tree]) -> float:
        try:
            return sum("error" in found for _, found in matches(read[1], read[0]))
        except GrammarError:
            return math.inf

    tree = parse(source, row)
    if row.name != "javascript" or not tree.root_node.has_error:
        return row, tree
    typed = BY_NAME["tsx"]
    return min((row, tree), (typed, parse(source, typed)), key=errors)
