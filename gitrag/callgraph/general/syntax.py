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
- ``@picked``: a constant that holds a member of ``@picked.of``, called ``@picked.name`` if not like it.
- ``@bound``: a name that is bound by any pattern: in its block it means nothing that is so called around.
- ``@variant``: a variant of an enumeration; ``@payload``: a pattern that binds what one holds.
- ``@itself``: a member that is one of the enclosing class: a case of an enumeration.
- ``@where``: what stands where a variable is of the type, if its name does not: a branch.
- ``@method``: a string that names a method, of ``@on``, or else of its own object; ``@markup``: HEEx.
- ``@elements``: the type of what the enclosing class, a named list, has many of.
- ``@static``: what is of a class itself, where an instance's may have the same name; or one that extends
  its first parameter's type; of PHP a private one; with ``@value``, a namespace.
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
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from gitrag.callgraph.facts import DefinitionFacts, Facts, packed_body
from gitrag.callgraph.general.docblocks import ROUTE_NAMED, TEMPLATE, documented
from gitrag.callgraph.general.elixir import arity, in_markup, is_no_call
from gitrag.callgraph.general.imports import DEFAULT
from gitrag.callgraph.general.markup import REF
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
from gitrag.callgraph.general.records import (
    ELEMENT,
    INSTANCE,
    MORE,
    MOST_MORE,
    OBJECT,
    PROVIDED,
    SAME,
    SCOPED,
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
    GIVEN,
    GIVES,
    IMPORT,
    REGISTERS,
    ROUTE,
    VIEW,
    named_as,
    prefix,
    prefixed,
    registered_as,
    resource_routes,
    target,
)
from gitrag.callgraph.general.ruby_types import associated, held, result
from gitrag.callgraph.general.scopes import Scopes, Variable, above
from gitrag.callgraph.general.traits import OVERLOADING, SCRIPTS
from gitrag.late import late_re
from gitrag.model import Kind

if TYPE_CHECKING:
    import tree_sitter

    from gitrag.callgraph.general.markup import Named
    from gitrag.chunking.languages import Language
    from gitrag.chunking.outline import Definition

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

_TEXT_BYTES = 400
_NAME_BYTES = 80
_COMMENT_BYTES = 8_000
_IMPORT_BYTES = 8_000
"""Of an import: Rust's ``use`` may be a tree of a hundred names."""
_ARGUMENTS = late_re(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")
_GENERICS = late_re(r"(?:::)?<[^<>()]*>")
_COMMENT = late_re(r"//[^\n]*")
_KEYED = late_re(r"\[[\"'](\w+)[\"']\]")
"""A member of JavaScript by its name in a string."""
_INSTANTIATED = late_re(r"(\w)\[(?:[^\[\]]|\[\w*\])*\](?=\()")
"""Type arguments of Go before a call's brackets: ``NewSet[Item]().Add``."""
_CLEARED = {"go": (_INSTANTIATED, r"\1"), **dict.fromkeys(SCRIPTS, (_KEYED, r".\1"))}
"""What stands in expressions that says nothing of what is called, or that another form says better."""
_INSTANCE = late_re(r"[\w.]+\[[*\s]*(\w+(?:\.\w+)?)\]")
_LIFETIME = late_re(r"'[a-z_]\w*\b,?\s*")
_WORD = late_re(r"\w+")
_TYPED = late_re(
    r"\A\(\s*(?:new\s+(?P<made>[\w.\\]+)\s*(?:\([^()]*\))?|[\w.$@]+\s+as[?!]?\s+(?P<as>[\w.]+)\??"
    r"|\((?P<cast>[\w.]+)\)\s*[\w.$]+)\s*\)(?=\s*(?:[?!]?\.|\??->))"
)
"""What is made or cast in brackets before a dot: ``(new A()).f``, ``(a as A).f``, ``((A) a).f``."""
_SEPARATOR = late_re(r"\?\.|!\.|\.|->|::|\\")
_NAME = late_re(r"[@$#A-Za-z_\u0080-\uffff][\w$?!\u0080-\uffff]*")
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
_PARAMETERS = frozenset({"simple_parameter", "variadic_parameter", "property_promotion_parameter"})
_CONTAINERS = frozenset("vector list deque set unordered_set multiset array span initializer_list".split())
"""Containers of C++ that a loop takes elements from."""
_INFERRED = frozenset("var auto let val".split())
_OF_METHOD = late_re(r"((?:::)?[A-Z]\w*(?:::[A-Z]\w*)*\.)?([a-z]\w*)_class")
"""Ruby's methods that give a class, by custom named after it."""
_IMPORTING = frozenset({"require", "import"})
_REQUIRE = "require:"
"""How the name of a module begins that is called, or asked for something, where it is required."""
_REQUIRED = late_re(
    r"(?:require|\(\s*await\s+import)\(\s*(?:[\"']([^\"'\s]+)[\"']|`([^`\s]+)`)(?:\s*\+[^()]*)?\s*\)"
)
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
_SENDING = frozenset({"method", "instance_method", "send", "public_send", "__send__", "try", "try!"})
_RAISING = frozenset({"raise", "fail"})
_GIVEN_THIS = late_re(rb"\s*\)?\s*\.\s*bind\s*\(\s*this\b|\s*,\s*this\s*\)")
"""What follows a function of JavaScript that has the ``this`` around it."""
_STORED = {"commit": "mutations", "dispatch": "actions", "getters": "getters", "rootGetters": "getters"}
"""The objects of a store of Vuex that have what these are given the name of."""
_MAPPED = {
    "mapActions": "actions",
    "mapMutations": "mutations",
    "mapGetters": "getters",
    "mapState": "state",
    "inject": PROVIDED,
}
"""And those of which a component has what these list."""
_REF = "ref:"
"""Before the name by which markup has what a variable is."""
_NOTHING = frozenset({"null", "undefined"})
_UNITING = frozenset({"typescript", "tsx"})
_IN_BRACES = frozenset({"statement_block", "switch_body", "for_statement", "for_in_statement"})
_QUEUING = frozenset({"perform_later", "perform_now", "perform_async", "perform_in", "perform_at"})
"""What Rails' and Sidekiq's jobs are put into a queue by, to be made and performed."""
_HOSTED = {
    "UseStartup": ("ConfigureServices", "Configure", "ConfigureContainer"),
    "UseMiddleware": ("Invoke", "InvokeAsync"),
    "AddHostedService": ("StartAsync", "StopAsync", "ExecuteAsync"),
}
"""What ASP.NET calls of a type that it is given, by the method that is given it."""
_LIMITING = frozenset({"only", "except"})
_DECLARING = late_re(
    r"skip_|attr|alias|define|undef|remove|delegate|validates|has_|belongs_to|scope|enum|store|private|public|protected"
    r"|module_function|serialize|cattr|mattr|class_attribute|let|subject"
)
"""Ruby's methods whose symbols name no method that is called: what is declared, or who may call it."""
_MIXES = frozenset({"include", "prepend"})
_NO_PART = frozenset(
    "new await async mut dyn impl const final static readonly ref struct class typename".split()
)


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

_Kind = Literal["module", "function", "class"]

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

_OF_REQUEST = ("request", "request()", "$this")
_NAME_GIVEN = late_re(r"[@!\w][\w./:@-]*")
"""What may be the name of a route or a template."""

_CLASS = late_re(rb"[^{]{0,400}?\b(?:class|interface|enum)\b")
"""How what is no object of JavaScript begins."""
_OF_FILE = late_re(r"^(?:this\.|module\.(?=exports$)|(?:module\.)?exports\.)")
"""What stands before the name of what a file of JavaScript exports."""
_MADE_OF = late_re(
    rb"(?:\b(?P<by>extend|define(?:Nuxt)?Component|defineStore|createStore|createApp|component|Store|Vue)"
    rb"\s*\(\s*(?:[\"'][^\"'\s]*[\"']\s*,\s*)?"
    rb"|\b(?:assign|extend|mixin)\s*\(\s*(?:[\w$.]+\.(?P<to>prototype)|\{\s*\})\s*,\s*(?:[\w$.]+\s*,\s*){0,4})\Z"
)
"""What stands before an object of which a class is made, or whose members a prototype is given."""
_SUITE = late_re(rb"(?:\w+\.)?(?:describe|context|suite|feature)\b")
"""How a block of tests begins, in JavaScript and Ruby."""


_Captures = dict[str, "list[tree_sitter.Node]"]
_Row = tuple[int, int, _Kind, str, int, int]
_Call = tuple[WrittenCall, "tree_sitter.Node"]


class QueryReader:
    """Extracts the facts of one file.

    Args:
        source: Its bytes, as parsed.
        language: Its language.
        named: What its markup names, where it is a component's.
    """

    def __init__(self, source: bytes, language: Language, named: Sequence[Named] = ()) -> None:
        self._source = source
        self._named = [
            WrittenCall(0, each.parts, each.line, handed=bool(each.rule), rule=each.rule)
            for each in named
            if each.rule != REF
        ]
        self._refs = {each.parts[0]: f"{UNSURE}{each.parts[1]}" for each in named if each.rule == REF}
        self._language = language
        self._blocks: list[tuple[tree_sitter.Node, int]] = []
        self._braces: dict[int, tree_sitter.Node | None] = {}
        self._given: dict[int, tuple[tuple[str, ...], list[str] | None]] = {}
        self._called: dict[int, tuple[str, ...]] = {}
        self._modules: dict[str, str] = {}
        self._picked: dict[int, tuple[str, ...]] = {}
        self._routes: list[tuple[int, dict[str, str]]] = []
        self._groups: list[tuple[int, int, str]] = []
        self._gifts: list[tuple[Declaration, tree_sitter.Node]] = []
        self._resulting: list[tuple[Declaration, int]] = []
        self._calls: list[_Call] = []
        self._nodes: dict[str, list[tree_sitter.Node]] = defaultdict(list)
        self._marks: dict[str, list[int]] = defaultdict(list)
        self._needs: list[Declaration] = []
        self._variables: list[Variable] = []
        self._fields: list[Declaration] = []
        self._ivars: dict[tuple[int, str], list[tree_sitter.Node | None]] = {}
        self._watchers: set[str] = set()
        self._results: list[Result] = []
        self._bases: list[tuple[int, str]] = []
        self._mixed: list[tuple[int, str]] = []
        self._signatures: dict[int, Signature] = {}
        self._imports: list[dict[str, str]] = []
        self._imported: set[int] = set()

    def read(self, tree: tree_sitter.Tree) -> Facts:
        """Return the facts of the file."""
        found = self._outlined()  # first: it refuses a tree that is too deep for a query
        from gitrag.chunking.parsing import Lineage

        self._lineage = Lineage(tree)
        matches = self._matches(tree)
        made = [self._made_of(each["object"][0]) for each in matches if "object" in each]
        self._place(tree, found, [each for each in [*matches, *made] if "value" in each])
        for captures in made:
            own = self._around(captures["value"][0]) if "base" in captures else 0
            if self._rows[own][0] == "class":
                self._bases.append((own, self._type(captures["base"][0])))
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
        body = Body(
            tuple([parent for *_, parent in self._rows]),
            (
                *[self._numbered(call, node, scopes) for call, node in calls],
                *self._called_in_markup(),
            ),
            (*self._declared_in(scopes), *[self._gift(*each, scopes) for each in self._gifts]),
            tuple(self._fields),
            tuple(self._results),
            tuple([msgspec.convert(each, ImportRow) for each in self._imports]),
            tuple(self._needs),
            tuple(self._signatures.values()),
            *map(tuple, (self._marks["static"], self._marks["property"], self._marks["private"])),
        )
        return Facts(definitions, _mentions(body.calls, self._imports), packed_body(body))

    def _called_in_markup(self) -> Iterator[WrittenCall]:
        """Yield what markup calls; note which components it gives names, by which its script has them."""
        picked = {
            each.declared.name: member
            for each in self._variables
            if self._is_of_component(each.declared.owner)
            and (member := self._picked.get(each.node.start_byte))
        }
        for each in self._named:
            if not (each.handed and each.parts[0] in self._watchers):
                parts = (*picked.get(each.parts[0], each.parts[:1]), *each.parts[1:])
                yield msgspec.structs.replace(each, parts=parts)

    def _declared_in(self, scopes: Scopes) -> Iterator[Declaration]:
        """Yield the variables; those by which the markup has a component are of that."""
        for each in scopes.declarations():
            name = each.made[1] if each.made and each.made[0] == _REF else each.name
            of = self._is_of_component(each.owner) and self._refs.get(name)
            yield msgspec.structs.replace(each, type_name=of) if of else each

    def _is_of_component(self, own: int) -> bool:
        return self._rows[own][1] in {"", "setup", "default.setup"}

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
            self._fields = self._held_in_script()
        own = next((at for at, row in enumerate(self._rows) if row[:2] == ("class", DEFAULT)), 0)
        self._fields += [Declaration(own, name, type_, None) for name, type_ in self._refs.items()]
        if self._language.name in SCRIPTS:
            self._imports = self._passed_on()
        self._imports += [{"from": origin, "module": name} for origin, name in self._modules.items()]
        self._imports += [{**each, "public": REGISTERS} for each in prefixed(self._routes, self._groups)]
        self._imports += [{"local": GIVES, "alias": GIVES}] * bool(self._gifts)
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

    def _every_call(self, scopes: Scopes) -> list[_Call]:
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

    def _keep(self, captures: _Captures, key: str) -> None:
        self._nodes[key] += captures[key]

    def _mark(self, captures: _Captures, key: str) -> None:
        """Note the definition around what says something of it."""
        self._marks[key].append(self._around(captures[key][0]))
        if key == "static" and "_scope" in captures:
            self._results.append(Result(self._marks[key][-1], "self"))

    def _watcher(self, captures: _Captures, key: str) -> None:
        self._watchers.add(self._text(captures[key][0]))

    def _call_in_tokens(self, captures: _Captures, key: str) -> None:
        self._calls += self._calls_in_tokens(captures[key][0])

    def _registered(self, captures: _Captures, _key: str) -> None:
        self._register(captures)
        self._calls += self._named_in(captures)

    def _pick(self, captures: _Captures, key: str) -> None:
        node, of = captures[key][0], self._picked_of(captures["picked.of"][0])
        if of:
            member = *of, self._text(captures.get("picked.name", [node])[0])
            self._picked[node.start_byte] = member
            declared = Declaration(self._around(node), self._text(node), "", (*member, SAME))
            self._variables.append(
                Variable(declared, node, captures["picked.of"][0].end_byte, assigned=False)
            )

    def _picked_of(self, value: tree_sitter.Node) -> list[str]:
        """Return what a member is picked from, which may be a call's result."""
        if value.type != "call_expression":
            return _receiver(self._text(value))
        parts = self._made(value.child_by_field_name("function")) or ("",)
        return [*parts[:-1], f"{parts[-1]}()"] if parts[0] not in {"", *_IMPORTING} else []

    def _mapped(self, captures: _Captures, key: str) -> None:
        """Note what a component has of a store: ``...mapActions('cart', { put: 'add' })``."""
        rule = self._text(captures["_maps"][0])
        before = ["?", _MAPPED[rule]]
        node = captures[key][0]
        for given in [node] if node.type == "array" else node.named_children:
            if given.type == "string":
                before += self._text(given).split("/")[-1:]
            elif given.type == "identifier":
                before = [f"{self._text(given)}()"]
            for each in given.named_children if given.type in {"array", "object"} else ():
                name = each.child_by_field_name("key") or each
                value = each.child_by_field_name("value") or each
                module, _, last = self._text(value).rpartition("/")
                if value.type == "string":
                    parts = (*before, *module.split("/")[-1:] * bool(module), last)
                    own = self._class_around(each), self._text(name).rpartition("/")[2]
                    self._fields.append(Declaration(*own, "", (*parts, SAME)))
                    line = each.start_point[0] + 1
                    call = WrittenCall(self._around(each), parts, line, handed=True, rule=rule)
                    self._calls.append((call, each))

    def _need(self, captures: _Captures, _key: str) -> None:
        self._needs += self._needed(captures)

    def _reading(self, captures: _Captures, key: str) -> None:
        self._calls += self._read_of(captures[key][0], captures.get("made", [None])[0])

    def _ivar(self, captures: _Captures, key: str) -> None:
        node = captures[key][0]
        name = f"@{self._text(node).lstrip('@:')}"
        given = captures.get("given", [None])[0]
        self._ivars.setdefault((self._class_around(node), name), []).append(given)

    def _variant(self, captures: _Captures, key: str) -> None:
        self._fields += self._held_by(captures[key][0])

    def _payload(self, captures: _Captures, key: str) -> None:
        self._variables += self._bound_to(captures[key][0])

    def _method(self, captures: _Captures, _key: str) -> None:
        self._calls += self._named_by_text(captures)

    def _markup(self, captures: _Captures, key: str) -> None:
        self._calls += self._in_markup(captures[key][0])

    def _elements(self, captures: _Captures, key: str) -> None:
        node = captures[key][0]
        self._fields.append(Declaration(self._class_around(node), ELEMENT, self._type(node), None))

    def _pass(self, captures: _Captures, key: str) -> None:
        """Nothing is left to be done: what is made has its place already."""

    def _sent(self, captures: _Captures, key: str) -> None:
        self._read_sent(captures[key][0], self._calls, self._nodes["taken"], self._bases)
        self._fields += self._associated(captures[key][0])

    def _written(self, captures: _Captures, _key: str) -> None:
        self._calls += self._call(captures)

    def _name(self, captures: _Captures, _key: str) -> None:
        for key in captures.keys() & set(_NAMED):
            self._nodes[key] += captures[key]
        since = max(node.end_byte for nodes in captures.values() for node in nodes)
        self._variables += [
            Variable(self._declared(node, {}, "var"), node, since, assigned=False, bound=True)
            for node in captures.get("bound", ())
        ]

    def _returns(self, captures: _Captures, key: str) -> None:
        """Note a result's type; of several the first, each of which has a pattern of its own."""
        node, of = captures[key][0], captures.get("_of")
        if of and self._rows[self._around(node)][1].rpartition(".")[2] != self._text(of[0]):
            return  # of a function without a definition of its own
        if type_ := self._type(node):
            self._results.append(Result(self._around(node), type_))

    def _parameters(self, captures: _Captures, key: str) -> None:
        node, own = captures[key][0], self._around(captures[key][0])
        read = _TAKEN.get(self._language.name, signature)
        self._signatures.setdefault(own, read(own, node, self._text))

    def _base(self, captures: _Captures, key: str) -> None:
        bases = [(self._class_around(node), self._type(node)) for node in captures[key]]
        (self._mixed if "_mixed" in captures else self._bases).extend(bases)

    def _import(self, captures: _Captures, _key: str) -> None:
        self._imported |= {node.start_byte for nodes in captures.values() for node in nodes}
        self._imports.append(
            {key[7:]: self._text(nodes[0], _IMPORT_BYTES) for key, nodes in captures.items() if key[0] != "_"}
        )

    def _declaration(self, captures: _Captures, _key: str) -> None:
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

    TAKES: ClassVar[Mapping[str, Callable[[QueryReader, _Captures, str], None]]] = {
        "handed": _keep,
        "watcher": _watcher,
        "alone": _keep,
        **dict.fromkeys(("registered", "group", "naming"), _registered),
        "tokens": _call_in_tokens,
        "picked": _pick,
        "mapped": _mapped,
        "needed": _need,
        "read": _reading,
        "property": _mark,
        "ivar": _ivar,
        "gives": _keep,
        "documented": _keep,
        "variant": _variant,
        "payload": _payload,
        "method": _method,
        "markup": _markup,
        "private": _mark,
        "static": _mark,
        "elements": _elements,
        **dict.fromkeys(("value", "object"), _pass),
        "sent": _sent,
        **dict.fromkeys(("call", "name", "chained"), _written),
        **dict.fromkeys(_NAMED, _name),
        "returns": _returns,
        "returned": _keep,
        "function": _keep,
        "parameters": _parameters,
        "base": _base,
        "import": _import,
    }
    """What is done with a match, by the first of these that it has a capture of; else it is a declaration."""

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

    def _documented(self) -> list[Variable]:
        """Add the members and results whose types PHP's comments declare; return the variables."""
        variables: list[Variable] = []
        comments = self._nodes["documented"]
        declared = {each.function for each in self._results}
        templates = {name for comment in comments for name in TEMPLATE.findall(self._comment(comment))}
        for comment in comments:
            self._register_documented(comment)
            for kind, name, written, node in documented(comment, self._comment):
                type_ = self._type_written(written)
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
            if place in declared or node.type in _NOTHING:
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

    def _held_in_script(self) -> list[Declaration]:
        """Return what members of JavaScript's classes hold: of several things none surely.

        Nothing is held of a call of a local variable.
        """
        bound = {(each.declared.owner, each.declared.name) for each in self._variables}
        local = []
        for each, written in self._resulting:
            name, place = (each.made or ("",))[0].removesuffix("()"), written
            while place > each.owner and (place, name) not in bound:
                place = self._rows[place][4]
            local += [each] if place > each.owner else []
        held: dict[tuple[int, str], dict[Declaration, None]] = {}
        for each in self._fields:
            held.setdefault((each.owner, each.name), {})[each] = None
        found: list[Declaration] = []
        for every in held.values():
            typed = [each for each in every if each.type_name]
            if len(every) > 1 and self._language.name == "javascript":
                typed = [
                    msgspec.structs.replace(each, type_name=f"{UNSURE}{each.type_name}") for each in typed
                ]
            made = [each for each in every if each.made or self._language.name != "javascript"]
            made = [each for each in made if each not in local]
            if len(every) > 1 and self._language.name == "javascript":
                known = [*typed, *(each for each in made if each.made)]
                found += [
                    msgspec.structs.replace(each, name=each.name + MORE * at)
                    for at, each in enumerate(known[:MOST_MORE], 1)
                ]
            found += typed or [each for each in made if len(every) == 1]
        return found

    def _passed_on(self) -> list[dict[str, str]]:
        """Return the imports; of what an object has by its own name only what stands outside its function."""
        outside = {name for _, name, *_, parent in self._rows if not parent}
        for each in self._imports:
            if "local" not in each:
                outside |= {each[key] for key in ("alias", "name", "default", "module") if key in each}
        return [
            each
            for each in self._imports
            if each.get("local") != each.get("alias", "") or each["local"] in outside
        ]

    def _given_in_script(
        self,
        node: tree_sitter.Node,
        place: int,
        held: Mapping[tuple[int, str], str],
        places: Mapping[tuple[int, str], Mapping[int, tree_sitter.Node]],
    ) -> tuple[str, bool]:
        """Return the type of what a function of JavaScript returns, and whether it is surely of that."""
        if node.type == "new_expression":
            made = node.child_by_field_name("constructor")
            type_ = self._type(made) if made is not None else ""
            return type_, (place, type_) not in places
        if node.type == "this":
            return "this", True
        if node.type == "identifier":
            key = place, self._text(node)
            given = list(places[key].values()) if key in held else []
            return held.get(key) or f"{OBJECT}{key[1]}", len(given) == 1 and self._is_known(given[0], node)
        is_object = node.type in {"object", "parenthesized_expression"} and "{" in self._raw(node, 2)
        around = self._rows[place][1].rpartition(".")[2]  # the name of what holds its members
        return f"{OBJECT}{around}" * is_object, False

    def _is_known(self, variable: tree_sitter.Node, node: tree_sitter.Node) -> bool:
        """Tell whether something stands in the block of a variable of JavaScript."""
        if variable.start_byte not in self._braces:
            blocks = (each for each in above(variable, 0, len(self._source) + 1) if each.type in _IN_BRACES)
            self._braces[variable.start_byte] = next(blocks, None)
        around = self._braces[variable.start_byte]
        return around is None or around.start_byte <= node.start_byte < around.end_byte

    def _is_own(self, node: tree_sitter.Node, place: int) -> bool:
        """Tell whether a definition of JavaScript returns what is returned, not a function inside it."""
        functions: list[tree_sitter.Node] = []
        at, (start, end) = self._block_around(node), self._spans[place]
        while at >= 0 and len(functions) < 2 and start <= (block := self._blocks[at])[0].start_byte:
            functions += [block[0]] if block[0].end_byte <= end else []
            at = block[1]
        return len(functions) == 1 and not any(each.type == "*" for each in functions[0].children)

    def _this_around(self, node: tree_sitter.Node) -> int:
        """Return the block of JavaScript whose ``this`` a node has: no arrow function."""
        at = self._block_around(node)
        while at >= 0 and self._blocks[at][0].type == "arrow_function":
            at = self._blocks[at][1]
        return at

    def _is_lost(self, node: tree_sitter.Node) -> bool:
        """Tell whether JavaScript's ``this`` is that of a plain function in a method, not the method's."""
        at = self._this_around(node)
        if at < 0 or self._blocks[at][0].type == "method_definition":
            return False
        end = self._blocks[at][0].end_byte
        while at >= 0 and self._blocks[at][0].type != "method_definition":
            at = self._blocks[at][1]
        return at >= 0 and not _GIVEN_THIS.match(self._source, end)

    def _outer_this(self, own: int, node: tree_sitter.Node) -> str:
        """Return the class whose ``this`` an arrow function in an object of JavaScript has; empty if none."""
        while own > 0 and self._rows[own][0] != "class":
            own = self._rows[own][4]
        if own <= 0 or self._language.name not in SCRIPTS or _CLASS.match(self._source, self._spans[own][0]):
            return ""
        at = self._this_around(node)
        around = self._class_around(self._blocks[at][0]) if at >= 0 else 0
        return self._rows[around][1].rpartition(".")[2] if around and around < own else ""

    def _outlined(self) -> list[Definition]:
        from gitrag.chunking.outline import outline

        lines = self._source.decode("utf-8", "replace").split("\n")
        return outline(self._source, lines, self._language) or []

    def _place(
        self,
        tree: tree_sitter.Tree,
        found: Sequence[Definition],
        values: Sequence[dict[str, list[tree_sitter.Node]]],
    ) -> None:
        """Order the definitions, each with its parent; also variables that are called like functions."""
        rows: list[_Row] = []
        prototypes = set[tuple[int, int]]()
        values, renamed, made = self._of_values(values)
        for each in found:
            is_prototype = each.minor and each.kind is Kind.FUNCTION
            if is_prototype and self._language.name == "kotlin":
                prototypes.add((each.start, each.end))  # of an interface, it is called
            elif each.minor and (is_prototype or _SUITE.match(self._source, each.start)):
                continue  # a prototype, or tests under a heading, which nobody calls
            name = renamed.get((each.start, each.end)) or ".".join([*each.owners, each.name])
            kind: _Kind = "class" if each.kind is Kind.CLASS else "function"
            rows.append((each.start, each.end, kind, name, each.row + 1, each.last + 1))
        if self._language.name == "dart":  # a constructor with a name is outlined without it, too
            rows = list({row[:2]: row for row in rows}.values())
        rows += self._rows_of(values, rows, made)
        is_script = self._language.name in SCRIPTS
        self._values = {each["value.name"][0].start_byte for each in values if "static" not in each}
        self._rows: list[tuple[_Kind, str, int, int, int]] = [
            ("module", "", 1, tree.root_node.end_point[0] + 1, -1)
        ]
        self._spans = [(0, len(self._source) + 1)]
        around: list[_Row] = []  # what is given to a prototype belongs to its function
        for row in sorted(rows, key=lambda row: (row[0], -row[1])):
            start, end, kind, name, first, last = row
            while around and around[-1][1] < end:
                around.pop()
            parent = self._innermost(start, end)
            if is_script and kind == "class" and name.endswith("prototype"):
                around.append(row)
                continue
            if (start, end) in prototypes and self._rows[parent][0] != "class":
                continue
            outer = self._rows[parent][1]
            if around and around[-1][0] >= self._spans[parent][0]:
                outer = ".".join(filter(None, (outer, around[-1][3].rpartition(".")[0])))
            self._rows.append((kind, f"{outer}.{name}" if outer else name, first, last, parent))
            self._spans.append((start, end))

    def _rows_of(
        self, values: Sequence[_Captures], rows: Sequence[_Row], made: Collection[int]
    ) -> Iterator[_Row]:
        """Yield the values that no definition is yet, each with its place."""
        taken = {(start, end) for start, end, *_ in rows}
        defaults = sorted(row[:2] for row in rows if row[2:4] == ("class", DEFAULT))
        nameless = 0
        is_script = self._language.name in SCRIPTS
        for captures in values:
            node, name = captures["value"][0], self._text(captures["value.name"][0])
            # Several objects of Kotlin, or classes, without a name are several.
            if self._language.name == "kotlin" or (is_script and node.type == "class"):
                nameless += 1
                name += str(nameless) * (nameless > 1)
            at = bisect_right(defaults, node.byte_range) - 1 if name == DEFAULT else -1
            is_known = at >= 0 and node.start_byte < defaults[at][1]
            if node.byte_range not in taken and not is_known:
                first, last = node.start_point[0] + 1, node.end_point[0] + 1
                is_class = "static" in captures or node.type in {"object", "class"}
                is_class = is_class or captures["value.name"][0].start_byte in made
                name = _OF_FILE.sub("", name) if is_script else name.lstrip(":").replace("::", ".")  # of Ruby
                yield *node.byte_range, "class" if is_class else "function", name, first, last
                taken.add(node.byte_range)

    def _made_of(self, node: tree_sitter.Node) -> _Captures:
        """Return the name, and the base, of the class of JavaScript that a call makes of an object."""
        found = _MADE_OF.search(self._source[max(node.start_byte - _NAME_BYTES, 0) : node.start_byte])
        arguments = self._lineage.parent(node) if found else None
        call = self._lineage.parent(arguments) if arguments is not None else None
        around = self._lineage.parent(call) if call is not None else None
        if found is None or call is None or around is None:
            return {}
        name = around.child_by_field_name("name") or around.child_by_field_name("left")
        if around.type == "assignment_expression" and (outer := self._lineage.parent(around)) is not None:
            name = outer.child_by_field_name("name") or name
        elif around.type == "export_statement":
            name = next((each for each in around.children if each.type == DEFAULT), None)
        if found["to"] or around.type == "expression_statement":  # of a prototype, or named by a string
            name = arguments.named_children[0] if arguments is not None else None
        if name is None or name == node or name.type.endswith("pattern"):
            return {}
        function = call.child_by_field_name("function")
        base = function and function.child_by_field_name("object") if found["by"] == b"extend" else None
        return {"value": [node], "value.name": [name], **({"base": [base]} if base is not None else {})}

    def _of_values(
        self, values: Sequence[_Captures]
    ) -> tuple[list[_Captures], dict[tuple[int, int], str], set[int]]:
        """Return the values that are definitions; what has another name, and which are made of an object."""
        renamed = {
            each["value"][0].byte_range: self._text(each["value.name"][0])
            for each in values
            if "_computed" in each
        }
        whole = [each for each in values if "_computed" not in each]
        objects = {each["value.name"][0].start_byte for each in whole if each["value"][0].type == "object"}
        made = objects & {
            each["value.name"][0].start_byte for each in whole if each["value"][0].type != "object"
        }
        left = [
            each
            for each in whole
            if each["value"][0].type != "object" or each["value.name"][0].start_byte not in made
        ]
        return left, renamed, made

    def _innermost(self, start: int, end: int) -> int:
        place = bisect_right(self._spans, start, key=lambda span: span[0]) - 1
        while place > 0 and self._spans[place][1] < end:
            place = self._rows[place][4]
        return place

    def _around(self, node: tree_sitter.Node) -> int:
        return self._innermost(node.start_byte, node.end_byte)

    def _class_around(self, node: tree_sitter.Node) -> int:
        place = self._around(node)
        while place > 0 and self._rows[place][0] != "class":
            place = self._rows[place][4]
        return place

    def _matches(self, tree: tree_sitter.Tree) -> list[_Captures]:
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
                    scopes.conceal(parts[0], call.caller, node)
                    or (parts[0] == "this" and self._is_lost(node))
                )
            )
        if parts == call.parts and given == call.given and not is_bound:
            return call
        return msgspec.structs.replace(call, parts=parts, given=given, unsure=call.unsure or is_bound)

    def _call(  # noqa: C901, PLR0912 - what languages have of their own
        self, captures: _Captures
    ) -> list[_Call]:
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
            parts = [*(_receiver(self._raw(receiver[0])) or ["?"]), *own] if receiver else own
            if receiver and self._language.name == "ruby" and self._raw(receiver[0], 2) == "::":
                parts = ["", *parts]
        if not parts or (self._language.name == "cpp" and _DESTRUCTOR.search(self._text(node))):
            return []  # `A::~A() = default;`, which the grammar takes for an assignment to a call
        if self._language.name == "cpp" and "call" in captures and len(parts) > 1:
            parts = _scoped(self._text(captures["call"][0]), parts)
        if self._language.name == "elixir" and is_no_call(
            self._source[max(node.start_byte - _COMMENT_BYTES // 8, 0) : node.start_byte],
            self._source[node.end_byte : node.end_byte + _NAME_BYTES],
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

    def _required(self, text: str, parts: list[str]) -> list[str]:
        """Name the module of JavaScript that an expression begins with: ``require('./a')(b)``."""
        found = _REQUIRED.match(text) if self._language.name in SCRIPTS else None
        if found is None or not parts:
            return parts
        origin = found[1] or found[2]
        self._modules[origin] = f"{_REQUIRE}{origin}"
        return [self._modules[origin], *parts[1:]]

    def _parts_of_name(self, text: str) -> list[str]:
        """Return the parts of a name: in Ruby it may end in ? or !, in a shell have hyphens."""
        if self._language.name == "bash":
            return text.replace("::", ".").split(".") if _SHELL_NAME.fullmatch(text) else []
        return [text] if _NAME.fullmatch(text) else parts_of(text)

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
            and first.start_byte > end - _TEXT_BYTES  # no more is read; each step takes the parent's children
            and (before := first.prev_named_sibling) is not None
        ):
            first = before
        start = first.start_byte if first is not None else end
        if name is not None and node.parent is not None:  # `a..add(1)..stop()`
            return f"{self._between(start, end).partition('..')[0]}.{self._text(name)}"
        return self._between(start, end)

    def _between(self, start: int, end: int) -> str:
        return self._source[max(start, end - _TEXT_BYTES) : end].decode("utf-8", "replace")

    def _place_blocks(self, tree: tree_sitter.Tree) -> None:
        """Note what decides about ``this`` in Kotlin, outer first, each with the one around it.

        Not by asking nodes for their parents: each is looked for from the root.
        """
        from tree_sitter import QueryCursor

        cursor = QueryCursor(_query(self._language.grammar, "kotlin_blocks"))
        self._nest(cursor.captures(tree.root_node).get("block", []))

    def _nest(self, found: Sequence[tree_sitter.Node]) -> None:
        for node in sorted(found, key=lambda each: (each.start_byte, -each.end_byte)):
            self._blocks.append((node, self._block_around(node)))

    def _block_around(self, node: tree_sitter.Node) -> int:
        """Return the place of the innermost block around a node; -1 if there is none."""
        place = bisect_right(self._blocks, node.start_byte, key=lambda block: block[0].start_byte) - 1
        while place >= 0:
            block, outer = self._blocks[place]
            if block.end_byte >= node.end_byte and block.byte_range != node.byte_range:
                break
            place = outer
        return place

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
                of_this = _receiver(this["on"] or this["given"])
            known = self._given[place] = names, of_this
        return known

    def _read_of(self, node: tree_sitter.Node, made: tree_sitter.Node | None) -> Iterator[_Call]:
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
    ) -> Iterator[_Call]:
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
    ) -> Iterator[_Call]:
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
        text = self._source[max(function.end_byte - _NAME_BYTES, 0) : function.end_byte] if function else b""
        words: list[str] = _WORD.findall(text.decode("utf-8", "replace"))
        return words[-1] if words else ""

    def _read_sent(
        self,
        node: tree_sitter.Node,
        calls: list[_Call],
        taken: list[tree_sitter.Node],
        bases: list[tuple[int, str]],
    ) -> None:
        """Add a Ruby call; a query that matched its parts would keep states for a whole chain of calls."""
        method, receiver = node.child_by_field_name("method"), node.child_by_field_name("receiver")
        if method is None:
            return
        calls += self._call({"name": [method], **({"receiver": [receiver]} if receiver else {})})
        calls += self._named_by_symbols(node, self._text(method), receiver)
        if receiver is None and self._text(method) in _RAISING:  # `raise Bad, 1`, which makes one
            arguments = node.child_by_field_name("arguments")
            first = next(iter(arguments.named_children), None) if arguments is not None else None
            if first is not None and first.type in {"constant", "scope_resolution"}:
                made = (*parts_of(self._text(first)), "new")
                calls.append((WrittenCall(self._around(node), made, first.start_point[0] + 1), node))
        if receiver is not None and self._text(method) in _QUEUING:
            parts = _receiver(self._raw(receiver))
            if parts and parts[-1] == "set()":  # when, and in which queue
                del parts[-1]
            if parts and parts[-1][:1].isupper():
                name, line = (*parts, "new()", "perform"), method.start_point[0] + 1
                call = WrittenCall(self._around(node), name, line, handed=True, rule=self._text(method))
                calls.append((call, node))
        if method.type == "identifier":
            taken.append(method)
            bases += self._mixed_in(node, method)

    def _associated(self, call: tree_sitter.Node) -> Iterator[Declaration]:
        """Yield what an association of Rails declares: ``has_many :posts``."""
        place = self._around(call)
        found = associated(call, self._text) if self._rows[place][0] == "class" else None
        if found is not None:
            yield Declaration(place, *found, None)

    def _named_by_symbols(
        self, call: tree_sitter.Node, method: str, receiver: tree_sitter.Node | None
    ) -> Iterator[_Call]:
        """Yield the methods that a Ruby call names by symbols: ``before_action :load``, ``send(:load)``."""
        arguments, place = call.child_by_field_name("arguments"), self._around(call)
        in_class = receiver is None and self._rows[place][0] == "class"
        if in_class and method == "delegate" and arguments is not None:
            yield from self._delegated(arguments, place)
        in_class = in_class and not _DECLARING.match(method)
        if arguments is None or not (in_class or method in _SENDING):
            return
        parts = _receiver(self._raw(receiver)) if receiver is not None else ["self"]
        for argument in arguments.named_children:
            node = argument
            if argument.type == "pair" and in_class:
                key, value = argument.named_children[0], argument.named_children[-1]
                node = key if self._text(key) in _LIMITING else value
            if node.type == "simple_symbol" and parts:
                line = node.start_point[0] + 1
                name = (*parts, self._text(node)[1:])
                yield WrittenCall(place, name, line, handed=True, rule=method), node

    def _delegated(self, arguments: tree_sitter.Node, place: int) -> Iterator[_Call]:
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

    def _bare_calls(
        self,
        bare: list[tree_sitter.Node],
        taken: list[tree_sitter.Node],
        bound: list[tree_sitter.Node],
    ) -> Iterator[_Call]:
        """Yield the calls that consist of a name only."""
        elsewhere = {node.start_byte for node in taken}
        variables = {(self._around(node), self._text(node)) for node in bound} if bare else set()
        for node in bare:
            place, name = self._around(node), self._text(node)
            if node.start_byte not in elsewhere and (place, name) not in variables:
                yield WrittenCall(place, ("self", name), node.start_point[0] + 1), node

    def _unhidden(self, calls: list[_Call], scopes: Scopes) -> Iterator[_Call]:
        """Leave out the calls by a name alone that call what a variable holds, unless that is a member."""
        for call, node in calls:
            is_alone = len(call.parts) == 1 and self._language.name not in _TWO_NAMESPACES
            is_hidden = is_alone and scopes.hide(call.parts[0], call.caller, node)
            only = scopes.only(call.parts[0], call.caller) if is_alone and self._picked else None
            member = self._picked.get(only.node.start_byte) if only is not None else None
            if only is not None and member is not None and (is_hidden or not only.declared.owner):
                is_own = is_hidden and only.declared.owner == call.caller
                yield msgspec.structs.replace(call, parts=member, unsure=not is_own), node
            elif not is_hidden:
                yield call, node
            elif self._language.name == "kotlin":  # a function, unless the variable holds one
                yield msgspec.structs.replace(call, unsure=True), node

    def _handed_on(self, handed: list[tree_sitter.Node], scopes: Scopes) -> Iterator[_Call]:
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
            count = arity(self._source[node.end_byte : node.end_byte + _NAME_BYTES]) if is_elixir else None
            given = None if count is None else ("",) * count
            yield WrittenCall(place, parts, node.start_point[0] + 1, handed=True, given=given), node

    def _is_only_exported(self, node: tree_sitter.Node, place: int) -> bool:
        """Tell whether an object only lists what a file exports, or what a component's markup may name."""
        around = first = self._lineage.parent(node)
        while around is not None and around.type in {"pair", "object"}:
            around = self._lineage.parent(around)
        if around is None or around == first:
            return False
        if around.type == "return_statement":
            name = self._rows[place][1]
            return name == "default.setup" or (bool(self._named) and name.rpartition(".")[2] == "setup")
        is_export = around.type == "export_statement"
        return is_export or self._raw(around).startswith(("module.exports", "exports"))

    def _with_rule(self, call: WrittenCall, node: tree_sitter.Node) -> WrittenCall:
        """Say what is handed a function: what is called around it, or a member of an object.

        Read from the text before it: a tree is asked for a parent from its root.
        """
        if call.rule:
            return call
        before = self._source[max(node.start_byte - _TEXT_BYTES, 0) : node.start_byte]
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

    def _calls_in_tokens(self, tokens: tree_sitter.Node) -> Iterator[_Call]:
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
                        text = self._source[start : node.start_byte][-_TEXT_BYTES:].decode("utf-8", "replace")
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

    def _named_by_text(self, captures: _Captures) -> Iterator[_Call]:
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

    def _in_markup(self, node: tree_sitter.Node) -> Iterator[_Call]:
        """Yield what the markup in a file of Elixir may call."""
        place, text = self._around(node), self._raw(node, node.end_byte - node.start_byte)
        line, counted = node.start_point[0] + 1, 0
        for at, parts in in_markup(text):
            line, counted = line + text.count("\n", counted, at), at
            yield WrittenCall(place, parts, line, unsure=True), node

    def _register(self, captures: _Captures) -> None:
        """Note what PHP registers under a name, and what a group of routes puts before it."""
        for node in captures.get("registered", ()):
            kind, name = self._text(captures["_kind"][0]), self._text(node)
            own = self._text(captures["_own"][0]) if "_own" in captures else ""
            group = captures["group"][0] if "group" in captures else None
            if group is not None:
                self._groups.append((group.start_byte, group.end_byte, name))
                own, name = "__invoke", ""
            around = self._rows[self._around(node)][1].rpartition(".")[2]
            by = target(self._raw(captures["by"][0], _COMMENT_BYTES), around) if "by" in captures else {}
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

    def _named_in(self, captures: _Captures) -> Iterator[_Call]:
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
                    parts = parts_of(text) if value.type.endswith("call_expression") else _receiver(text)
                    yield self._text(key), tuple(parts if text.endswith(")") else [*parts, SAME])
        elif array.type == "function_call_expression" and self._raw(array, 8) == "compact(":
            for name in _WORD.findall(self._raw(array)[8:]):
                yield name, (name, SAME)

    def _gift(self, gift: Declaration, node: tree_sitter.Node, scopes: Scopes) -> Declaration:
        made = gift.made and tuple(scopes.named(gift.made, gift.owner, node)[0])
        return msgspec.structs.replace(gift, made=made)

    def _needed(self, captures: _Captures) -> Iterator[Declaration]:
        node = captures["needed"][0]
        if any(each.named_children[-1].type == "function_body" for each in captures.get("_whole", ())):
            return  # of Kotlin
        result = captures.get("type")
        type_ = self._type(result[0]) if result else ""
        yield Declaration(self._class_around(node), self._text(node), type_, None)

    def _declarations(self, captures: _Captures, kind: str) -> list[tuple[Declaration, tree_sitter.Node]]:
        if "type" in captures and self._text(captures["type"][0]) in _INFERRED:
            return []  # another pattern gives the module
        if "made" in captures and self._text(captures["made"][0]) in _IMPORTING:
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

    def _declared(self, node: tree_sitter.Node, captures: _Captures, kind: str) -> Declaration:
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
            parts = _receiver(self._text(captures["ranged"][0]).lstrip("&* ").removeprefix("mut "))
            return Declaration(place, name, "", (*parts, ELEMENT) if parts else None)
        if "same" in captures:
            parts = _receiver(self._text(captures["same"][0]).lstrip("&*"))
            return Declaration(place, name, "", (*parts, SAME) if parts else None)
        return Declaration(place, name, "", self._made(captures.get("made", [None])[0]))

    def _made(self, made: tree_sitter.Node | None) -> tuple[str, ...] | None:
        """Return the call that makes what a variable is given; in Go with the type that it is called with."""
        if made is None:
            return None
        text = self._callee(made)
        if self._refs and text == "useTemplateRef" and (call := self._lineage.parent(made)) is not None:
            return (_REF, self._text(call.named_children[-1]).strip("()\"'"))
        if self._language.name == "dart" and made.parent is not None:
            text = self._between(made.start_byte, made.parent.end_byte)
        if made.type == "generic_type" and (given := _INSTANCE.fullmatch(text)):
            return (*parts_of(text), f"{INSTANCE}{given[1]}")
        return tuple(self._required(self._text(made), parts_of(text)))

    def _callee(self, call: tree_sitter.Node) -> str:
        """Return what is called, without its arguments, which may be long."""
        arguments = call.child_by_field_name("arguments")
        end = call.end_byte if arguments is None else arguments.start_byte
        return self._source[call.start_byte : min(end, call.start_byte + _TEXT_BYTES)].decode(
            "utf-8", "replace"
        )

    def _raw(self, node: tree_sitter.Node, most: int = _TEXT_BYTES) -> str:
        text = self._source[node.start_byte : min(node.end_byte, node.start_byte + most)]
        return text.decode("utf-8", "replace")

    def _text(self, node: tree_sitter.Node, most: int = _TEXT_BYTES) -> str:
        return self._raw(node, most).strip("\"'`")

    def _comment(self, node: tree_sitter.Node) -> str:
        return self._raw(node, _COMMENT_BYTES)

    def _type(self, node: tree_sitter.Node) -> str:
        after = node.next_named_sibling if self._language.name == "dart" else None
        if after is not None and after.type == "type_arguments":
            return self._type_written(self._between(node.start_byte, after.end_byte))
        return self._type_written(self._text(node))

    def _type_written(self, text: str) -> str:
        named = _OF_METHOD.fullmatch(text) if self._language.name == "ruby" else None
        if named:  # `class Rule < Shop.base_class`
            return f"{UNSURE}{(named[1] or '').replace('::', '.')}{named[2].title().replace('_', '')}"
        if self._language.name == "ruby" and text.startswith("::"):  # of no module around
            return f".{self._type_of(text[2:])}"
        text = text.lstrip(":*&?( ")
        if self._language.name == "php":
            every = [each for each in _ONE_OF.split(text) if each not in {"null", "false"}]
            text = every[0] if len(every) == 1 and every[0] not in _VAGUE else ""
        wrapped = _OUTER.match(text)
        if wrapped and wrapped[1] in _WRAPPERS:  # a `Task<List<Item>>`
            text = _first_argument(wrapped[2]).strip()
        if self._language.name in _UNITING and "|" in text:
            every = [each for each in _ONE_OF.split(text) if each not in _NOTHING]
            text = every[0] if len(every) == 1 else ""
        many = _MANY.get(self._language.name)
        found = many.fullmatch(text.strip()) if many else None
        if found:
            parts = parts_of(next(filter(None, found.groups()), ""))
            return f"{ELEMENT}{'.'.join(parts)}" if parts and "?" not in parts else ""
        if self._language.name == "cpp":
            outer = _OUTER.match(text.removeprefix("const "))
            if outer and outer[1] in _CONTAINERS:
                element = self._type_of(_first_argument(outer[2]).lstrip("*&? "))
                return f"{ELEMENT}{element}" if element else ""
        return self._type_of(text)

    def _type_of(self, text: str) -> str:
        if self._language.name == "rust":
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


def _family(key: str) -> str:
    return "import" if key.startswith("import") else key


@cache
def _rank(key: str) -> int:
    """Return the place of a capture among those that say what a match is."""
    order = [*QueryReader.TAKES]
    return order.index(_family(key)) if _family(key) in order else len(order)


def parts_of(text: str) -> list[str]:
    """Split an expression at its dots: ``a.b(c)->d`` becomes a, b(), d; what is not a name becomes ?.

    The last part is the one called; earlier parts that are called end in ``()``.
    """
    return list(_parts_of(text))


@lru_cache(maxsize=4_096)  # each of the calls within asks it of those around
def _rebinding(text: str) -> re.Match[str] | None:
    return _REBINDING.match(text)


def _receiver(text: str) -> list[str]:
    return parts_of(f"{text}.x")[:-1]


_DESTRUCTOR = late_re(r"~\s*\w+$")


def _scoped(text: str, parts: list[str]) -> list[str]:
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
        named = _NAME.fullmatch(bare)
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
    found |= {word for each in imports for word in _WORD.findall(each.get("use", ""))}
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
