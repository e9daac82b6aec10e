"""Calls between the repository around and others, where a package of one is imported by the other.

The files of both are resolved together, as if the repositories lay beside each other: so an import leads to
the file that it means, and types are followed from one into the other. A call counts only in a file that
imports a package whose name is in the other repository's manifests.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gitrag.actions.current_view import CurrentView
from gitrag.actions.graph import log_failure
from gitrag.actions.graph_answer import CallsBetween
from gitrag.actions.repositories.chosen import Chosen, Open, require_same
from gitrag.callgraph.answering import Direction, NoMatchError, definitions_named
from gitrag.callgraph.general import manifests
from gitrag.callgraph.general.traits import family_of
from gitrag.callgraph.graph import Node
from gitrag.callgraph.loading import Deadline, Loaded, TimeoutReachedError
from gitrag.callgraph.published import NAMES, SEPARATORS, PublishedPackage, importing, packages_of
from gitrag.callgraph.resolution import LIKELY, ResolvedCalls, without_collecting
from gitrag.errors import GitragError
from gitrag.git import matcher
from gitrag.indexing.call_facts import facts_of, manifests_of, rows_of, texts_of
from gitrag.machine.isolation import reason_of
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, traits
from gitrag.workspace import Workspace

TIMEOUT_S = 30.0
"""Time limit for all repositories together; those that were not looked at by then are named."""

_LEAST = {"python": 0.6}
"""Least confidence of a call, where it is not `LIKELY`: a method known by its name alone is no evidence that
another repository's is called (of 20 such calls between flask and werkzeug 3 were right)."""

_OWN, _OTHER = "@0/", "@1/"
"""Directories in which the two lie beside each other: no language takes them for a package."""

_MOST_NAMED = 8
"""Repositories without a call that are named."""

_MOST_PACKAGES = 4
"""Packages that are named where none of them is imported."""

_FAILURES = (RecursionError, MemoryError, UnicodeError, ValueError, OSError)
"""What reading or resolving hostile files may raise besides gitrag's own errors."""

_Id = tuple[str, int]


class _Side(Struct, frozen=True):
    """A repository's files, and the packages that it offers."""

    loaded: Loaded
    texts: Mapping[str, bytes]
    packages: Sequence[PublishedPackage]


def calls_elsewhere(
    own: Workspace,
    target: str,
    others: Sequence[Chosen],
    open_: Open,
    *,
    direction: Direction = Direction.BOTH,
    globs: Sequence[str] = (),
    timeout_s: float = TIMEOUT_S,
    check: Callable[[], None] = lambda: None,
) -> tuple[tuple[CallsBetween, ...], tuple[str, ...]]:
    """Return who in other repositories calls a definition, and what of theirs it calls; and notes."""
    deadline = Deadline(timeout_s)
    others = [each for each in others if each.git_dir != own.repo.common_dir]

    def checked() -> None:
        deadline.check()
        check()

    found: list[CallsBetween] = []
    lacking: dict[str, list[str]] = {}
    failed: list[str] = []
    notes: list[str] = []
    families: frozenset[str] = frozenset()
    done = 0
    with without_collecting():
        try:
            mine = _side(own, None, checked)
            wanted = _definitions(mine, target, matcher(globs) if globs else lambda _path: True)
            families = frozenset(family_of(mine.loaded.files[path][0]) for path, _ in wanted)
            paths = {*mine.loaded.files, *mine.loaded.failed}
            mine = replace(mine, packages=packages_of(mine.texts, paths, families, checked))
            notes += _unread(families)
            for each in others:
                try:
                    side = _open_side(each, open_, families, checked)
                    between = list(_between(each.name, mine, side, wanted, direction, checked))
                except TimeoutReachedError:
                    raise
                except (GitragError, *_FAILURES) as error:
                    failed.append(f"{each.name}: {_reason(own, each.name, error)}")
                else:
                    found += [calls for calls in between if calls.edges]
                    notes += [_nothing(calls, target) for calls in between if not calls.edges]
                    for reason in () if between else _lacking(mine, side, wanted, direction):
                        lacking.setdefault(reason, []).append(each.name)
                done += 1
        except TimeoutReachedError:
            names = ", ".join(each.name for each in others[done:])
            notes.append(f"Not looked at within {timeout_s:g} s: {names or 'this repository'}.")
        except NoMatchError as error:
            found += _of_nested(own, target, others, open_, checked, notes.append)
            notes += [] if found else [f"Other repositories: {error}"]
        except _FAILURES as failure:
            log_failure(own, "calls of other repositories failed", failure)
            notes.append(f"Calls of other repositories failed: {reason_of(failure)}.")
    notes += _not_looked_at(failed)
    notes += [f"{reason}: {_some(names, _MOST_NAMED)}." for reason, names in lacking.items()]
    return tuple(found), tuple(notes)


def _of_nested(
    own: Workspace,
    target: str,
    others: Sequence[Chosen],
    open_: Open,
    check: Callable[[], None],
    say: Callable[[str], None],
) -> Iterable[CallsBetween]:
    """Yield who calls a definition of repositories inside of this one, which it imports by their paths."""
    root = own.repo.root
    mine: _Side | None = None
    for each in others:
        if root is None or not each.place.is_relative_to(root):
            continue
        try:
            side = _open_side(each, open_, None, check)
            wanted = _definitions(side, target, lambda _path: True)
            mine = mine or _side(own, None, check)
        except NoMatchError:
            continue
        except (TimeoutReachedError, GitragError, *_FAILURES) as error:
            say(f"Not looked at: {each.name}: {_reason(own, each.name, error)}")
            continue
        inside = f"{each.place.relative_to(root).as_posix()}/"
        theirs = {inside + path: facts for path, facts in side.loaded.files.items()}
        calls = ResolvedCalls({**mine.loaded.files, **theirs}, check, mine.texts)
        edges = calls.callers([(inside + path, index) for path, index in wanted])
        kept = tuple(
            replace(edge, callee=edge.callee._replace(path=edge.callee.path.removeprefix(inside)))
            for edge in edges
            if not edge.caller.path.startswith(inside)
        )
        calls.forget()
        path, index = wanted[0]
        place = f"{path}:{side.loaded.files[path][1].definitions[index].line_start}"
        yield CallsBetween(each.name, (), False, len({edge.caller.path for edge in kept}), kept, place)


def _reason(own: Workspace, name: str, error: Exception) -> str:
    """Return why calls of a repository could not be read; what gitrag does not expect is logged."""
    if isinstance(error, GitragError):
        return str(error)
    log_failure(own, f"calls of {name} failed", error)
    return f"{reason_of(error)}."


def _side(workspace: Workspace, families: Collection[str] | None, check: Callable[[], None]) -> _Side:
    """Read a repository's files and packages in some families of languages; for None all files alone."""
    names = tuple({*NAMES, *manifests.NAMES})
    view = CurrentView(workspace, says_staleness=False)
    read = view.read(
        lambda db, view_id, overlay: (
            rows_of(db, view_id, overlay),
            manifests_of(db, view_id, overlay, names),
        )
    )
    rows, listed = read.found
    texts = texts_of(read.now, listed)
    packages = packages_of(texts, {row.path for row in rows}, families or (), check)
    wanted = [row for row in rows if families is None or family_of(row.language) in families]
    loaded = facts_of(workspace.store, read.now, wanted, check=check)
    return _Side(loaded, texts, packages)


def _open_side(
    chosen: Chosen, open_: Open, families: Collection[str] | None, check: Callable[[], None]
) -> _Side:
    workspace = open_(chosen)
    require_same(workspace, chosen)
    workspace.require_index()
    try:
        return _side(workspace, families, check)
    finally:
        workspace.store.close()


def _definitions(side: _Side, target: str, allowed: Callable[[str], bool]) -> list[_Id]:
    rows = [
        ((path, index), Node(path, each.name or "<module>", each.line_start, each.line_end, each.kind))
        for path in sorted(side.loaded.files)
        if allowed(path)
        for index, each in enumerate(side.loaded.files[path][1].definitions)
    ]
    return [rows[place][0] for place in definitions_named(target, [node for _, node in rows])]


def _unread(families: Iterable[str]) -> list[str]:
    """Return a sentence where the imports of a target's language are not read."""
    unread = sorted(each for each in families if each not in SEPARATORS)
    known = "Python, JavaScript, TypeScript, Go, Rust and Java"
    return [f"Imports are read in {known}, not in {', '.join(unread)}."] if unread else []


def _between(
    name: str,
    own: _Side,
    other: _Side,
    wanted: Collection[_Id],
    direction: Direction,
    check: Callable[[], None],
) -> Iterable[CallsBetween]:
    """Yield the calls of each direction in which one repository imports a package of the other."""
    families = {family_of(own.loaded.files[path][0]) for path, _ in wanted}
    if direction is not Direction.CALLEES:
        calling = _importing(other, own.packages, families, check)
        if calling:
            yield _resolved(name, own, other, wanted, calling, check, by_other=True)
    if direction is not Direction.CALLERS:
        paths = {path for path, _ in wanted}
        calling = {
            path: names
            for path, names in _importing(own, other.packages, families, check).items()
            if path in paths
        }
        if calling:
            yield _resolved(name, own, other, wanted, calling, check, by_other=False)


def _importing(
    importer: _Side,
    packages: Iterable[PublishedPackage],
    families: Collection[str],
    check: Callable[[], None],
) -> dict[str, frozenset[str]]:
    """Return which files of a repository import some packages that it has none of itself."""
    files = {path: each for path, each in importer.loaded.files.items() if family_of(each[0]) in families}
    offered = [each for each in _foreign(packages, importer) if each.family in families]
    return importing(files, offered, check)


def _foreign(packages: Iterable[PublishedPackage], importer: _Side) -> list[PublishedPackage]:
    """Return packages without the modules that a repository has itself, those with any left."""
    has = {(each.family, module) for each in importer.packages for module in each.modules}
    left = (
        replace(each, modules=frozenset(own for own in each.modules if (each.family, own) not in has))
        for each in packages
    )
    return [each for each in left if each.modules]


def _resolved(
    name: str,
    own: _Side,
    other: _Side,
    wanted: Collection[_Id],
    calling: Mapping[str, frozenset[str]],
    check: Callable[[], None],
    *,
    by_other: bool,
) -> CallsBetween:
    families = {family_of(own.loaded.files[path][0]) for path, _ in wanted}
    files = {
        prefix + path: each
        for prefix, side in ((_OWN, own), (_OTHER, other))
        for path, each in side.loaded.files.items()
        if family_of(each[0]) in families
    }
    texts = {
        prefix + path: text
        for prefix, side in ((_OWN, own), (_OTHER, other))
        for path, text in side.texts.items()
    }
    calls = ResolvedCalls(files, check, texts)
    ids = [(_OWN + path, index) for path, index in wanted]
    try:
        edges = calls.callers(ids) if by_other else calls.callees(ids)
    finally:
        calls.forget()
    caller_side, callee_side = (_OTHER, _OWN) if by_other else (_OWN, _OTHER)
    kept = [
        replace(edge, caller=_without(edge.caller), callee=_without(edge.callee))
        for edge in edges
        if edge.caller.path.startswith(caller_side)
        and edge.callee.path.startswith(callee_side)
        and _without(edge.caller).path in calling
        and not traits(_without(edge.callee).path) & OUTSIDE_THE_PRODUCT
        and edge.confidence >= _LEAST.get(family_of(files[edge.caller.path][0]), LIKELY)
    ]
    through = frozenset().union(*(calling[edge.caller.path] for edge in kept) if kept else calling.values())
    offered = own.packages if by_other else other.packages
    packages = tuple(each for each in offered if each.name in through and each.family in families)
    importers = sum(not through.isdisjoint(names) for names in calling.values())
    return CallsBetween(name, packages, by_other, importers, tuple(kept))


def _without(node: Node) -> Node:
    return node._replace(path=node.path[len(_OWN) :])


def _nothing(calls: CallsBetween, target: str) -> str:
    sought = f"no call of {target}" if calls.by_other else f"no call from {target} into it"
    return f"{calls.repository}: {sought} was found, though {calls.found_by}."


def _lacking(own: _Side, other: _Side, wanted: Collection[_Id], direction: Direction) -> Iterable[str]:
    """Yield why no calls between two repositories are looked for, as sentences about the other one.

    They say what was checked: a package may have another name than its manifest says, or be made by a build.
    """
    read = sorted({family_of(own.loaded.files[path][0]) for path, _ in wanted} & SEPARATORS.keys())
    if not read:
        return
    language = " or ".join(read)
    if direction is not Direction.CALLEES:
        if not own.packages:
            yield f"No {language} package of this repository was found in its manifests, to be imported by"
        elif foreign := _foreign(own.packages, other):
            yield f"No import of {_named(foreign)} was found in {language} files of"
        else:
            yield f"Imports of {_named(own.packages)} mean their own modules, which are called the same, in"
    if direction is not Direction.CALLERS:
        if not other.packages:
            yield f"No {language} package was found in the manifests of"
        elif _foreign(other.packages, own):
            yield f"The {language} files asked about were found to import no package of"
        else:
            yield f"This repository's own {language} modules are called as those of"


def _named(packages: Sequence[PublishedPackage]) -> str:
    return _some([each.name for each in packages], _MOST_PACKAGES)


def _some(names: Sequence[str], most: int) -> str:
    """Return the first names, and how many there are besides."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def _not_looked_at(failed: Sequence[str]) -> Iterable[str]:
    yield from (f"Not looked at: {each}" for each in failed[:_MOST_NAMED])
    if len(failed) > _MOST_NAMED:
        yield f"Nor were {len(failed) - _MOST_NAMED:,} further repositories, for such reasons."
