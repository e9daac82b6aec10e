"""What may reach a definition that no line may call: a name put together, its class, its file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial

from gitrag.actions.lines import file_lines
from gitrag.callgraph.facts import DefinitionFacts
from gitrag.callgraph.filtering import CONSTRUCTORS
from gitrag.callgraph.general.records import unpacked_body
from gitrag.callgraph.general.tables import is_main, loaded_as, reached_from
from gitrag.callgraph.general.traits import SCRIPTS, family_of
from gitrag.callgraph.graph import MODULE, Node
from gitrag.callgraph.indirect import (
    LOADING,
    bound_by,
    imports,
    is_exported,
    loads_modules,
    mixes_in,
    overrides,
    put_together,
    stem_of,
    takes_any_of,
)
from gitrag.callgraph.loading import Loaded
from gitrag.callgraph.uses import OUTSIDE, may_reach, may_use
from gitrag.chunking.languages import is_code, language_of, needs_first_line
from gitrag.errors import GitragError
from gitrag.git.grep import GrepLine, grep
from gitrag.words.path_traits import Trait, traits
from gitrag.workspace import Workspace

_MOST_TEXTS = 2_000
"""Texts that are looked for at once: 300 take 0.2 s of processor time in 1,500 files."""

MOST_NAMES = 100
"""Names that are looked for as text at once."""

_LINES_ABOVE = 4
_LINES_OF_HEAD = 8
"""Lines above and at the start of a definition in which its decorators and annotations stand."""
_LINES_OF_COMMENT = 20
_ANNOTATION = re.compile(r"\s*/?\*+\s*@[A-Z]\w*(?:\\\w+)*\(|\s*/?\*+\s*@[A-Z]\w*\\\w+")
"""An annotation of PHP in a comment: ``* @Route("/")``."""

PRIVATE = re.compile(r"\b(?:private|fileprivate)\b|#\w+\(|(?:async )?def __\w+(?<!__)\(")
"""What says of a method that no base of its class calls it."""


BasesOf = Callable[[str], Mapping[str, Sequence[str]]]


class Beyond:
    """Tells what may reach definitions whose names are in no line that may call them.

    Only of these it is asked: it reads more, once for all of them.
    """

    def __init__(self, workspace: Workspace, loaded: Loaded, spoken: Callable[[str], str]) -> None:
        self._repo, self._loaded, self._spoken = workspace.repo, loaded, spoken
        self._lines_of = cache(partial(lines_of, workspace))
        self._texts: list[GrepLine] = []
        self._words: list[GrepLine] = []
        self._is_whole = True

    def read(self, nodes: Sequence[Node]) -> None:
        """Read the lines that may tell of some definitions; of others nothing is told."""
        texts = [
            text for node in nodes for name in names_of(node) for text in (put_together(name) or ((),))[0]
        ]
        self._texts, _ = grep(self._repo, list(dict.fromkeys(texts))[:_MOST_TEXTS])
        words = [
            *map(stem_of, (node.path for node in nodes)),
            *map(owner_of, nodes),
            *(LOADING if nodes else ()),
        ]
        self._words, self._is_whole = grep(
            self._repo, list(dict.fromkeys(words))[: 2 * MOST_NAMES], names=True
        )

    def ways(self, members: Sequence[Node]) -> Iterator[str]:
        """Yield by what definitions may be reached, in words that follow "registered by"."""
        for node in members:
            language = self._loaded.files[node.path][0]
            lines = self._lines_of(node.path)
            own = lines[node.line_start - 1 : node.line_end]
            if "." in node.name and node.kind == "function" and overrides(own, last_of(node), language):
                yield "what it overrides"
            yield from self._put_together(node, language)
            yield from self._named_class(node, language)
            if self._is_whole and self._is_for_others(node, language):
                yield from self._loading(node.path, language)

    def _put_together(self, node: Node, language: str) -> Iterator[str]:
        for name in names_of(node):
            known = put_together(name)
            for line in self._texts if known else ():
                own = language_of(line.path) or self._spoken(line.path)
                if family_of(own) == family_of(language) and known and known[1].search(line.text):
                    yield f"a name put together in {line.path}:{line.number}"
                    break

    def _named_class(self, node: Node, language: str) -> Iterator[str]:
        """Yield where the class of a method is named by a string or in settings; or that it is nowhere."""
        owner = owner_of(node)
        lines = with_word(owner, self._words) if owner else []
        for line in lines:
            if traits(line.path) & Trait.TEST:
                continue
            if may_reach(line.path, line.text, owner, language, self._spoken(line.path)) or (
                language == "ruby" and mixes_in(line.text, owner)
            ):
                yield f"{line.path}:{line.number}, which names {owner}"
                return
        if language != "ruby" or not self._is_whole or not _is_made(node, self._lines_of(node.path)):
            return
        if not any(may_use(line.path, line.text, owner, language, self._spoken(line.path)) for line in lines):
            yield f"what finds {owner} by its name, or has it already"

    def _is_for_others(self, node: Node, language: str) -> bool:
        top = node.name.partition(".")[0]
        if language == "python":
            return not any(part.startswith("_") and not part.endswith("__") for part in node.name.split("."))
        lines = self._lines_of(node.path)
        line = lines[node.line_start - 1] if node.line_start <= len(lines) else ""
        return language in SCRIPTS and not PRIVATE.search(line) and is_exported(line, top, lines)

    def _loading(self, path: str, language: str) -> Iterator[str]:
        """Yield what may load a file that no other imports, or takes of it what the source does not say."""
        is_imported = False
        for line in with_word(stem_of(path), self._words):
            own = language_of(line.path) or self._spoken(line.path)
            if line.path == path or family_of(own) != family_of(language) or traits(line.path) & Trait.TEST:
                continue
            if not imports(line.text, line.path, path, language):
                continue
            is_imported = True
            bound = bound_by(line.text) if language in SCRIPTS else stem_of(path)
            for number, text in enumerate(self._lines_of(line.path), 1) if bound else ():
                if takes_any_of(text, bound):
                    yield f"a member taken by a computed name in {line.path}:{number}"
                    return
        if is_imported:
            return
        if language in SCRIPTS:
            yield f"what loads {path}, which no file imports"
            return
        for line in self._words:
            if line.path.endswith(".py") and line.path != path and loads_modules(line.text):
                yield f"what {line.path}:{line.number} imports by a computed name"
                return


def bases_in(loaded: Loaded, family: str) -> dict[str, list[str]]:
    """Return the last parts of the names of the bases of all classes of a family of languages."""
    every: list[tuple[str, DefinitionFacts]] = []
    ours: set[str] = set()  # names of which not only extensions are here, as Swift has them
    for path, (language, facts) in loaded.files.items():
        if family_of(language) != family:
            continue
        extending = unpacked_body(facts.read_rows()[0]).statics if language == "swift" else ()
        for index, each in enumerate(facts.definitions):
            if each.kind == "class":
                every.append((path, each))
                ours |= set() if index in extending else {each.name.rpartition(".")[2]}
    around: dict[str, set[str]] = {}  # by name what may stand before it: its module, or what it is in
    named = Counter(each.name.rpartition(".")[2] for _, each in every)
    alone = set[tuple[str, str]]()  # names that need nothing before them, and in which file; empty: in all
    for path, each in every:
        outer, _, own = each.name.rpartition(".")
        around.setdefault(own, set()).update(outer.split("."), re.split(r"[/.]", path))
        alone |= {(path, own)} if outer and path.endswith(".swift") else {("", own)}
    above: dict[str, list[str]] = {}
    for path, each in every:
        own = each.name.rpartition(".")[2]
        bases = above.setdefault(own, [])
        for base in each.bases:
            qualifier, _, name = base.lstrip("~").rpartition(".")
            outer = qualifier.rpartition(".")[2]
            is_ours = (
                outer in around.get(name, ()) if outer else not alone.isdisjoint({("", name), (path, name)})
            )
            is_outside = name in around and (
                not is_ours or (name == own and named[own] < 2) or name not in ours
            )
            bases.append(f"{OUTSIDE if is_outside else ''}{name}")
    return above


def overridden(loaded: Loaded, asked: Iterable[Node], bases_of: BasesOf) -> set[tuple[str, str]]:
    """Return the methods that some methods may override, by class and name."""
    found: set[tuple[str, str]] = set()
    for node in asked:
        if owner := owner_of(node):
            above = bases_of(family_of(loaded.files[node.path][0]))
            waiting, seen = [owner], {owner}
            while waiting and len(seen) < MOST_NAMES:
                bases = {each for each in above.get(waiting.pop(), ()) if each in above} - seen
                seen |= bases
                waiting += sorted(bases)
            found.update((each, last_of(node)) for each in seen - {owner})
    return found


def all_below(bases_of: BasesOf, family: str) -> dict[str, set[str]]:
    """Return the classes that inherit from each class of a family of languages."""
    below: dict[str, set[str]] = {}
    for name, bases in bases_of(family).items():
        for base in bases:
            below.setdefault(base, set()).add(name)
    return below


def all_above(
    bases_of: BasesOf, below: Callable[[str], Mapping[str, set[str]]], family: str, name: str
) -> set[str]:
    """Return the classes above a class, and those that stand beside it above what inherits from it."""
    bases, under = bases_of(family), below(family)
    inheriting = reached_from([name], lambda each: under.get(each, ()))
    own = (base for each in inheriting for base in bases.get(each, ()))
    above = reached_from(own, lambda each: bases.get(each, ()))
    return above - ({name} - {*bases.get(name, ())})


def owner_of(node: Node) -> str:
    """Return the last name of what a definition is a member of; empty if of nothing."""
    return "" if node.kind == "class" else node.name.rpartition(".")[0].rpartition(".")[2]


def _is_made(node: Node, lines: Sequence[str]) -> bool:
    """Tell whether a method of Ruby is of a class, not of a module: who has one of it need not name it."""
    owner = owner_of(node)
    made = re.compile(rf"\s*class\s+(?:[\w:]+::)?{re.escape(owner)}\b")
    return bool(owner) and any(map(made.match, lines[: node.line_start]))


def spoken_in(workspace: Workspace, loaded: Loaded) -> Callable[[str], str]:
    """Return what tells the language of a file whose path does not: that of a script, by its first line."""

    @cache
    def spoken(path: str) -> str:
        if path in loaded.files:
            return loaded.files[path][0]
        return (
            language_of(path, "\n".join(lines_of(workspace, path)[:1])) or ""
            if needs_first_line(path)
            else ""
        )

    return spoken


def numbers_in(loaded: Loaded, path: str) -> dict[tuple[str, int], int]:
    """Return the number of each definition of a file, by its name and first line."""
    every = reversed([*enumerate(loaded.files[path][1].definitions)])
    return {(each.name, each.line_start): own for own, each in every}


def is_object(workspace: Workspace, node: Node) -> bool:
    """Tell whether what a file exports whole is an object, of which none is made, and no class."""
    if node.name not in {"exports", "default"}:
        return False
    return not re.search(r"\bclass\b", "".join(head_of(lines_of(workspace, node.path), node.line_start)))


def lines_of(workspace: Workspace, path: str) -> list[str]:
    """Return the lines of a file; none if it cannot be read."""
    with suppress(GitragError):
        return file_lines(workspace, path)
    return []


def names_of(node: Node) -> tuple[str, ...]:
    """Return the names by which a definition is called: a constructor by its class's."""
    owner, _, name = node.name.rpartition(".")
    if node.name == MODULE:
        return ()
    if is_main(node.name):
        return (loaded_as(node.path), *((name,) if owner else ()))
    if name not in CONSTRUCTORS or not owner:
        return (name,)
    cls = owner.rpartition(".")[2]
    is_plain = name in {"init", "initialize"} and not node.path.endswith((".swift", ".rb"))
    return (name, cls) if is_plain else (cls,)


def said(name: str) -> str:
    """Return what of a name stands where it is called: of Ruby's ``size=`` what is before the sign."""
    return name.removesuffix("=") if name[:1].isalpha() else name


@cache
def word(name: str) -> re.Pattern[str]:
    """Return what finds a name as a word."""
    return re.compile(rf"(?<!\w){re.escape(said(name))}(?!\w)")


def with_word(name: str, lines: Sequence[GrepLine]) -> list[GrepLine]:
    """Return the lines that have a name as a word."""
    return [line for line in lines if said(name) in line.text and word(name).search(line.text)]


def is_prose(place: str) -> bool:
    """Tell whether a place, ``path:line``, is in no file of code."""
    return not is_code(language_of(place.rpartition(":")[0]) or "")


def head_of(lines: Sequence[str], line: int) -> Sequence[str]:
    """Return the first lines of a definition that begins in a line, with its decorators."""
    start = line - 1
    while (
        start > 0 and line - start <= _LINES_ABOVE and lines[start - 1].lstrip().startswith(("@", "[", "#["))
    ):
        start -= 1
    said = []
    for each in reversed(lines[max(start - _LINES_OF_COMMENT, 0) : start]):
        if not each.lstrip().startswith(("*", "/**")):
            break
        said += [each] * bool(_ANNOTATION.match(each))
    return [*said, *lines[start : line - 1 + _LINES_OF_HEAD]]


def last_of(node: Node) -> str:
    """Return the last part of a definition's name."""
    return node.name.rpartition(".")[2]
