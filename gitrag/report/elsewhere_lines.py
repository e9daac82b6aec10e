"""Calls between the repository around and others, as lines of text. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from gitrag.actions.repositories.calls import CallsBetween, CallsElsewhere
from gitrag.callgraph.graph import Edge, reason
from gitrag.callgraph.subjects import is_test
from gitrag.report.call_tree import LEGEND, SURE
from gitrag.report.parts import Style, plain
from gitrag.words.numbers import count


def elsewhere_lines(
    found: CallsElsewhere, style: Style = plain, *, with_tests: bool = False
) -> Iterator[str]:
    """Yield a heading for each repository and direction, how its calls were found, and the calls.

    Args:
        style: Applies the style of a role to a text.
        with_tests: Whether calls from tests are listed, instead of counted.
    """
    is_likely = False
    for between in found.found:
        does = "calls it" if between.by_other else "is called by it"
        yield ""
        yield f"{style(between.repository, 'name')} {does}"
        yield style(f"   {between.found_by}", "dim")
        listed = [edge for edge in between.edges if with_tests or not is_test(edge.caller)]
        for edge in listed:
            is_likely = is_likely or edge.confidence < SURE
            yield _line(between, edge, style)
        if len(listed) < len(between.edges):
            tests = count(len(between.edges) - len(listed), "call")
            yield style(f"   {tests} from tests; --tests lists them", "dim")
    if is_likely:
        yield ""
        yield style(LEGEND, "dim")


def _line(between: CallsBetween, edge: Edge, style: Style) -> str:
    mark = style("~", "likely") if edge.confidence < SURE else " "
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
