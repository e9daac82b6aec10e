"""What is said beside a graph of calls: those of other repositories, who names a thing, as lines. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitrag.actions.graph_answer import CallsBetween, Reference, References
from gitrag.callgraph.graph import Edge, reason
from gitrag.callgraph.subjects import is_test
from gitrag.chunking.occurrences import Use
from gitrag.report.call_tree import LEGEND
from gitrag.report.parts import Style, cut, plain
from gitrag.words.numbers import count


def elsewhere_lines(
    found: Sequence[CallsBetween], style: Style = plain, *, with_tests: bool = False
) -> Iterator[str]:
    """Yield a heading for each repository and direction, how its calls were found, and the calls."""
    is_likely = False
    for between in found:
        does = "calls it" if between.by_other else "is called by it"
        yield ""
        yield f"{style(between.repository, 'name')} {does}"
        yield style(f"   {between.found_by}", "dim")
        listed = [edge for edge in between.edges if with_tests or not is_test(edge.caller)]
        for edge in listed:
            is_likely = is_likely or not edge.is_sure
            yield _call(between, edge, style)
        if len(listed) < len(between.edges):
            tests = count(len(between.edges) - len(listed), "call")
            yield style(f"   {tests} from tests; --tests lists them", "dim")
    if is_likely:
        yield ""
        yield style(LEGEND, "dim")


def _call(between: CallsBetween, edge: Edge, style: Style) -> str:
    mark = " " if edge.is_sure else style("~", "likely")
    said = style(f"  {reason(edge)}", "dim") if edge.rule else ""
    repository, caller, callee = between.repository, edge.caller.name, edge.callee.name
    if between.by_other:
        place = f"{repository}:{edge.caller.path}"
        return f" {mark} {style(place, 'path')}:{edge.line} {style(caller, 'name')} calls {callee}{said}"
    place = f"{repository}:{edge.callee.path}"
    if between.place:  # the caller is not what was asked for
        own = f"{style(edge.caller.path, 'path')}:{edge.line} {style(caller, 'name')}"
        return f" {mark} {own} calls {style(place, 'path')}:{edge.callee.line_start} {callee}{said}"
    callee_at = f"{style(place, 'path')}:{edge.callee.line_start} {callee}"
    return f" {mark} line {edge.line}: {caller} calls {callee_at}{said}"


MOST_LISTED = 20
"""Places of a kind that are listed; of the others the number is."""

UNSURE = "~ by the name alone: the file neither defines it nor imports it from where it is defined"

TITLES = {
    Use.DEFINED: "defined or set",
    Use.CODE: "used in code",
    Use.IMPORTED: "imported",
    Use.TEXT: "in comments, strings and documents",
}
_NO_END = 1 << 30


def reference_lines(
    found: References, style: Style = plain, *, columns: int | None = None, with_tests: bool = False
) -> Iterator[str]:
    """Yield references by what the name does, each kind with its number; tests counted, or listed last."""
    yield _heading(found, style(found.name, "name"))
    has_unsure = has_folded = False
    for use, title in TITLES.items():
        every = [each for each in found.found if each.use is use]
        own = every if with_tests else [each for each in every if not each.is_test]
        folded = len(every) - len(own)
        has_folded |= folded > 0
        if every:
            beside = f", {'and ' if own else ''}{folded:,} {'more ' if own else ''}in tests" if folded else ""
            yield f"{title}: {len(own):,}{beside}"
        for each in own[:MOST_LISTED]:
            is_unsure = not each.is_sure and use in {Use.CODE, Use.IMPORTED}
            has_unsure |= is_unsure
            yield _reference(each, style, columns or _NO_END, mark="~" if is_unsure else "")
        if len(own) > MOST_LISTED:
            more = f"  … {len(own) - MOST_LISTED:,} more; --format json has them all"
            yield style(more, "dim")
    if found.unread:
        yield style(f"{count(found.unread, 'more file')} with that name not looked at: time was over", "dim")
    if has_folded:
        yield style("--tests lists those in tests", "dim")
    if has_unsure:
        yield style(UNSURE, "dim")


def _heading(found: References, name: str) -> str:
    places = count(len(found.found), "place")
    if not found.beside_graph:
        return f"No function or class of the call graph is called {name}; it is named in {places}:"
    if not found.found:
        return f"{name} is named nowhere else" + (" that was looked at" if found.unread else "")
    if all(each.use is Use.IMPORTED for each in found.found):
        return f"also imported in {places}:"
    return f"also named in {places} that are no resolved call:"


def _reference(each: Reference, style: Style, columns: int, *, mark: str) -> str:
    within = each.within
    place = f"{each.path}:{each.line}"
    used = 2 + len(mark) + len(place) + 2 + (len(within) + 2 if within else 0)
    shown = cut(each.text, max(columns - used, 0)) if columns - used >= 12 else ""
    name = style(within, "name") + "  " if within else ""
    return (
        f"  {style(mark, 'likely')}{style(each.path, 'path')}{style(f':{each.line}', 'number')}  {name}"
        f"{style(shown, 'dim')}"
    ).rstrip()
