"""Who calls what a change touches, or what a file defines, as lines. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitrag.actions.impact import Called, Impact
from gitrag.callgraph.graph import MODULE, Edge
from gitrag.callgraph.reach import no_caller
from gitrag.report.parts import Style, plain, shown
from gitrag.words.numbers import count

MOST_DEFINITIONS = 10
"""Definitions that are listed with their callers; of the others the number is."""

MOST_CALLERS = 5
"""Callers of each that are named; so many of product code, and so many tests."""

LIKELY = "~ likely, not certain"

_MOST_UNCALLED = 10


def impact_lines(  # noqa: C901 - one kind of definition after another
    found: Impact, style: Style = plain
) -> Iterator[str]:
    """Yield who calls some definitions, tests apart, and what was looked at for it."""
    for each in found.called[:MOST_DEFINITIONS]:
        yield from _called(each, style)
    if len(found.called) > MOST_DEFINITIONS:
        further = len(found.called) - MOST_DEFINITIONS
        yield f"… and {count(further, 'more definition')} with callers; --output json has them all."
    shown_edges = [
        edge
        for each in found.called[:MOST_DEFINITIONS]
        for edge in (*each.callers[:MOST_CALLERS], *each.tests[:MOST_CALLERS])
    ]
    if any(edge.confidence < 1 for edge in shown_edges):
        yield style(LIKELY, "dim")
    if found.uncalled:
        known = list(zip(found.uncalled, found.known, strict=True))
        unsure = [(node, own) for node, own in known if not own.is_without_caller]
        for node, own in unsure[:_MOST_UNCALLED]:
            yield f"`{node.name}`: {no_caller(found.looked_at, own)}."
        if len(unsure) > _MOST_UNCALLED:
            others = count(len(unsure) - _MOST_UNCALLED, "more definition")
            yield f"… and {others} that no call was resolved to; --output json has them all."
        bare = [node for node, own in known if own.is_without_caller]
        if bare:
            names = ", ".join(f"`{node.name}`" for node in bare[:_MOST_UNCALLED])
            more = ", …" if len(bare) > _MOST_UNCALLED else ""
            yield f"No caller of {count(len(bare), 'definition')} in {found.looked_at}: {names}{more}."
    elif found.called:
        yield style(f"Looked at: {found.looked_at}.", "dim")
    elif found.looked_at and not found.definitions:
        yield "It changes no function and no class that the call graph has."
    for sentence in found.left_out:
        yield style(sentence, "dim")


def _called(each: Called, style: Style) -> Iterator[str]:
    place = f"{style(shown(each.node.path), 'path')}:{each.node.line_start}"
    said = []
    if each.callers:
        said.append(f"called from {count(len(each.callers), 'place')} in {count(each.files, 'file')}")
    if each.tests:
        tests = count(len(each.tests), "test")
        said.append(tests if each.callers else f"called from {tests} only")
    yield f"- `{style(each.node.name, 'name')}` ({place}): {'; '.join(said)}"
    if each.callers:
        yield f"  {_places(each.callers)}"
    if each.tests:
        yield f"  {style('tests:', 'dim')} {_places(each.tests)}"


def _places(edges: Sequence[Edge]) -> str:
    named = [
        f"{'~' if edge.confidence < 1 else ''}{shown(edge.caller.path)}:{edge.line}"
        + (f" `{edge.caller.name}`" if edge.caller.name != MODULE else "")
        + (f" by `{edge.rule}`" if edge.rule else "")
        for edge in edges[:MOST_CALLERS]
    ]
    more = [f"{len(edges) - MOST_CALLERS:,} more"] if len(edges) > MOST_CALLERS else []
    return ", ".join([*named, *more])
