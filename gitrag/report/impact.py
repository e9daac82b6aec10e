"""What a change may break, as text or as Markdown for a pull request's comment. Pure.

In Markdown every word of the repository stands in a code span, where a forge makes neither a mention nor a
link nor a picture of it: what a pull request calls its files is up to whoever opened it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from posixpath import basename, dirname

from msgspec import Struct

from gitrag.actions.governance.change_impact import BearingTest, ChangeImpact, Closing
from gitrag.actions.impact import Called, Impact
from gitrag.actions.touched import Touched
from gitrag.callgraph.graph import MODULE, Edge
from gitrag.callgraph.reach import no_caller
from gitrag.git.meant import seen_from
from gitrag.report.parts import Style, plain, shown
from gitrag.search.cochange import Companion
from gitrag.words.control_characters import Text, joined, sanitise_line
from gitrag.words.numbers import count

MOST_CHARACTERS = 60_000
"""Of the Markdown: a forge refuses a comment of more than 65,536."""

MOST_DEFINITIONS = 10
"""Definitions that are listed with their callers, or without any; of the others the number is."""

MOST_CALLERS = 3
_MOST_CALLERS_ALONE = 8
"""Callers of each that are named, so many of product code and so many tests; where only callers are said.

Of more than `MOST_CALLERS` definitions half as many: an agent read 9,000 characters of a central file's.
"""

_MOST_LINES = 5
"""Lines of one caller that are named."""

MOST_TESTS = 10
_MOST_NAMED = 8
_LIKELY = "~ likely, not certain"
_SHOWN_CHARACTERS = 160

Form = Callable[[str, str], str]
"""Shows words of the repository in a role."""


def as_text(found: ChangeImpact, style: Style = plain) -> Text:
    """Return it for a terminal: the riskiest first, then what it forgets."""
    return joined(_lines(found, style, lambda title: style(title, "title"), style))


def as_markdown(found: ChangeImpact) -> Text:
    """Return it as Markdown fit for a comment on a pull request: at most 60,000 characters."""
    text = joined(_lines(found, _code, lambda title: f"### {title}", lambda words, _role: _inert(words)))
    if len(text) <= MOST_CHARACTERS:
        return Text(f"## Impact\n\n{text}")
    whole = text[:MOST_CHARACTERS].rpartition("\n")[0]
    return Text(f"## Impact\n\n{whole}\n\n… cut: `--output json` has all.")


def _lines(found: ChangeImpact, form: Form, title: Callable[[str], str], note: Form) -> Iterator[str]:
    files, definitions = count(len(found.files), "file"), count(len(found.definitions), "definition")
    yield f"{note(shown(found.said), '')}: {files}, {definitions}"
    for heading, lines in (
        ("What it changes, the riskiest first", _definition_lines(found, form)),
        ("Usually changes together, and not here", _companion_lines(found, form)),
        ("Tests that bear on it", _test_lines(found, form)),
        ("Decisions and specifications that it should name", _question_lines(found, form)),
        ("Issues that it may close", _issue_lines(found, form)),
    ):
        yield ""
        yield title(heading)
        yield ""
        yield from lines
    if notes := found.every_note:
        yield ""
        yield from (f"- {note(each, 'dim')}" for each in notes)


def _definition_lines(  # noqa: C901 - one kind of definition after another
    found: ChangeImpact, form: Form
) -> Iterator[str]:
    if not found.definitions:
        yield f"None: no function, method or class differs in the {count(len(found.files), 'file')}."
        return
    risky = [each for each in found.by_risk if each.risk or each.called]
    for each in risky[:MOST_DEFINITIONS]:
        place = form(f"{shown(each.path)}:{each.chunk.line_start}", "path")
        yield f"- {form(each.name, 'name')} {place} {_fate(each)}"
        if each.called and each.called.callers:
            yield f"  {_callers(each.called.callers, form)}"
        if each.called and each.called.tests:
            yield f"  tests: {_callers(each.called.tests, form)}"
        if each.named:
            places = [form(f"{shown(line.path)}:{line.number}", "path") for line in each.named[:MOST_CALLERS]]
            yield f"  {', '.join(places)}{_more(len(each.named), MOST_CALLERS)}"
    if len(risky) > MOST_DEFINITIONS:
        yield f"- … and {count(len(risky) - MOST_DEFINITIONS, 'more definition')} with callers"
    if any(edge.confidence < 1 for each in risky for edge in _shown_edges(each)):
        yield _LIKELY
    rest = [each for each in found.by_risk if not (each.risk or each.called)]
    where = found.impact.looked_at if found.impact else ""
    gone = [each for each in rest if each.how == "removed" and each.is_looked_for]
    unsure = [each for each in rest if each.known and not each.known.is_without_caller]
    for each in unsure[:MOST_DEFINITIONS]:
        if each.known:
            yield f"- {form(each.name, 'name')} ({each.how}): {no_caller(where, each.known)}"
    if len(unsure) > MOST_DEFINITIONS:
        more = count(len(unsure) - MOST_DEFINITIONS, "more definition")
        yield f"- … and {more} of which no call was resolved"
    bare = [
        each
        for each in rest
        if each.is_looked_for
        and each.how != "removed"
        and not (each.known and not each.known.is_without_caller)
    ]
    for said, own in (
        (f"No caller in {where}", bare),
        ("No line of code outside the change found that has its name", gone),
        ("Callers were not looked for", [each for each in rest if not each.is_looked_for]),
    ):
        if own:
            names = ", ".join(f"{form(each.name, 'name')} ({each.how})" for each in own[:_MOST_NAMED])
            yield f"- {said}: {names}{_more(len(own), _MOST_NAMED)}"


def _shown_edges(each: Touched) -> tuple[Edge, ...]:
    if each.called is None:
        return ()
    return (*each.called.callers[:MOST_CALLERS], *each.called.tests[:MOST_CALLERS])


def _fate(each: Touched) -> str:
    if each.how == "removed":
        lines = count(len(each.named), "line")
        return f"removed; {lines} elsewhere still {'has' if len(each.named) == 1 else 'have'} its name"
    if each.called is None:
        return each.how
    tests = count(len(each.called.tests), "test") if each.called.tests else "no test found that calls it"
    if not each.called.callers:
        return f"{each.how}; called by {tests} only"
    places = count(len(each.called.callers), "place")
    return f"{each.how}; called from {places} in {count(each.called.files, 'file')}; {tests}"


def _edges(edges: Sequence[Edge], place: Form, name: Form, most: int) -> str:
    paths = [shown(edge.caller.path) for edge in edges[:most]]
    return ", ".join(
        ("~" if edge.confidence < 1 else "")
        + place(f"{'' if path == before else path}:{numbers(edge.lines, _MOST_LINES)}", "path")
        + (f" {name(edge.caller.name, '')}" if edge.caller.name != MODULE else "")
        + (f" by {name(edge.rule, '')}" if edge.rule else "")
        for edge, path, before in zip(edges, paths, ["", *paths], strict=False)
    )


def numbers(lines: Sequence[int], most: int) -> str:
    """Return ``3,5,8,…``: at most so many."""
    return ",".join(map(str, lines[:most])) + (",…" if len(lines) > most else "")


def _callers(edges: Sequence[Edge], form: Form) -> str:
    return _edges(edges, form, form, MOST_CALLERS) + _more(len(edges), MOST_CALLERS)


def _beside(edges: Sequence[Edge], most: int) -> str:
    left = len(edges) - most
    named = _edges(edges, plain, lambda text, _role: f"`{text}`", most)
    return named + (f", {left:,} more" if left > 0 else "")


def _more(there: int, most: int) -> str:
    return f" and {there - most:,} more" if there > most else ""


def _companion_lines(found: ChangeImpact, form: Form) -> Iterator[str]:
    usual = [each for each in found.companions if each.is_usual]
    for each in usual:
        yield f"- {form(shown(each.path), 'path')}: {_often(each, form)}"
    if not usual:
        looked = count(found.searched, "earlier commit")
        yield f"None, by {looked}: all that were read but merges, and those of more than 50 files."
    if others := [each for each in found.companions if not each.is_usual]:
        yield "Now and then:"
        for each in others:
            yield f"- {form(shown(each.path), 'path')}: {_often(each, form)}"


def _often(each: Companion, form: Form) -> str:
    beside = form(shown(each.beside), "path")
    if each.of == 1:
        return f"in the one commit that changed {beside}"
    return f"in {each.together} of the last {each.of} commits that changed {beside}"


def _test_lines(found: ChangeImpact, form: Form) -> Iterator[str]:
    for each in found.tests[:MOST_TESTS]:
        yield f"- {form(shown(each.path), 'path')}: {'; '.join(_reasons(each, form))}"
    if len(found.tests) > MOST_TESTS:
        yield f"- … and {count(len(found.tests) - MOST_TESTS, 'more file')}"
    if not found.tests:
        files = count(found.test_files, "file")
        yield f"None of the {files} of tests calls it, is named after it, or changed together with it."


def _reasons(each: BearingTest, form: Form) -> Iterator[str]:
    if each.is_changed:
        yield "changed too"
    if each.calls:
        yield f"{count(each.calls, 'test')} of it {'calls' if each.calls == 1 else 'call'} what is changed"
    if each.through:
        yield f"calls it by way of {count(each.through - 1, 'other definition')}"
    if each.is_named_alike:
        yield "named after a changed file or definition"
    if each.companion is not None:
        yield f"changed {_often(each.companion, form)}"


def _question_lines(found: ChangeImpact, form: Form) -> Iterator[str]:
    for each in found.questions:
        name = form(each.name, "name")
        where = form(shown(each.touched_by), "path") if each.touched_by else "the commits' messages"
        yield f"- {name} {form(each.document.title, 'title')} ({each.score:.2f}), by {where}"
    if found.named:
        yield f"It names {', '.join(form(each, 'name') for each in found.named)}."
    elif not found.questions and found.unreached is not None:
        near = found.unreached
        yield near.sentence + (" The nearest:" if near.nearest else "")
        for document in near.nearest:
            name = form(document.name, "name")
            yield f"- {name} {form(document.document.title, 'title')} ({document.score:.2f})"
    elif not found.questions:
        yield "No decision and no specification scores enough; issues do."


def _issue_lines(found: ChangeImpact, form: Form) -> Iterator[str]:
    for each in found.closing:
        yield f"- {form(_issue_name(each), 'name')} {_issue(each, form)}"
    if not found.closing:
        said = "its commits' messages name none" if found.messages else "no commit has a message for it yet"
        issues = count(found.issues, "issue")
        yield f"None: {said}, and of {issues} here no open one is enough like it."


def _issue(each: Closing, form: Form) -> str:
    title = f"{form(each.title, 'title')} ({each.state})" if each.title else "(no copy here)"
    return f"{title}, {'named by a commit' if each.is_named else f'like it: {each.score:.2f}'}"


def _issue_name(each: Closing) -> str:
    return f"#{each.id}" if each.id.isdecimal() else each.id


def _code(text: str, _role: str) -> str:
    """Return a code span: nothing in it is read as Markdown."""
    line = shown(text).replace("`", "'")
    return f"`{line[:_SHOWN_CHARACTERS]}{'…' if len(line) > _SHOWN_CHARACTERS else ''}`" if line else ""


_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#@|!~&])")


def _inert(text: str) -> str:
    """Return a sentence in which no character is read as Markdown, a mention or a reference."""
    return _ACTIVE.sub(lambda found: f"\\{found[1]}\u200b" if found[1] in "@#" else f"\\{found[1]}", text)


def impact_lines(  # noqa: C901 - one kind of definition after another
    found: Impact, style: Style = plain, *, from_outside: bool = False
) -> Iterator[str]:
    """Yield who calls some definitions, tests apart, and what was looked at for it.

    Args:
        from_outside: Calls from inside the file or directory asked about were not counted.
    """
    where = f"{found.looked_at}, from outside" if from_outside else found.looked_at
    most = _MOST_CALLERS_ALONE // (1 + (len(found.called) > MOST_CALLERS))
    for each in found.called[:MOST_DEFINITIONS]:
        yield from _called(each, style, most)
    if len(found.called) > MOST_DEFINITIONS:
        further = len(found.called) - MOST_DEFINITIONS
        yield f"… and {count(further, 'more definition')} with callers; JSON has them all."
    shown_edges = [
        edge
        for each in found.called[:MOST_DEFINITIONS]
        for edge in (*each.callers[:most], *each.tests[:most])
    ]
    if any(edge.confidence < 1 for edge in shown_edges):
        yield style(_LIKELY, "dim")
    if found.uncalled:
        known = list(zip(found.uncalled, found.known, strict=True))
        unsure = [(node, own) for node, own in known if not own.is_without_caller]
        alike: dict[str, list[str]] = {}
        for node, own in unsure[:MOST_DEFINITIONS]:
            alike.setdefault(no_caller(where, own), []).append(f"`{node.name}`")
        yield from (f"{', '.join(names)}: {said}." for said, names in alike.items())
        if len(unsure) > MOST_DEFINITIONS:
            others = count(len(unsure) - MOST_DEFINITIONS, "more definition")
            yield f"… and {others} that no call was resolved to; JSON has them all."
        bare = [node for node, own in known if own.is_without_caller]
        if bare:
            names = ", ".join(f"`{node.name}`" for node in bare[:MOST_DEFINITIONS])
            more = ", …" if len(bare) > MOST_DEFINITIONS else ""
            yield f"No caller of {count(len(bare), 'definition')} in {where}: {names}{more}."
    elif found.called:
        yield style(f"Looked at: {found.looked_at}.", "dim")
    elif found.looked_at and not found.definitions:
        yield "It changes no function and no class that the call graph has."
    for sentence in found.left_out:
        yield style(sentence, "dim")


def removed_lines(each: Touched, style: Style) -> Iterator[str]:
    """Yield what still has the name of a removed definition, and where; nothing where no line has it."""
    if each.named:
        yield f"- `{style(each.name, 'name')}` ({style(shown(each.path), 'path')}): {_fate(each)}"
        places = [f"{shown(line.path)}:{line.number}" for line in each.named[:_MOST_CALLERS_ALONE]]
        yield f"  {', '.join(places)}{_more(len(each.named), _MOST_CALLERS_ALONE)}"


def _called(each: Called, style: Style, most: int) -> Iterator[str]:
    place = f"{style(shown(each.node.path), 'path')}:{each.node.line_start}"
    said = []
    if each.callers:
        said.append(f"called from {count(len(each.callers), 'place')} in {count(each.files, 'file')}")
    if each.tests:
        tests = count(len(each.tests), "test")
        said.append(tests if each.callers else f"called from {tests} only")
    if len(each.callers) == 1 and not each.tests:
        yield f"- `{style(each.node.name, 'name')}` ({place}): called from {_beside(each.callers, most)}"
        return
    yield f"- `{style(each.node.name, 'name')}` ({place}): {'; '.join(said)}"
    if each.callers:
        yield f"  {_beside(each.callers, most)}"
    if each.tests:
        yield f"  {style('tests:', 'dim')} {_beside(each.tests, most)}"


PATHS = "paths"
_SCRIPTS = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
_SPLIT = re.compile(r"[\s\"'\\\ud800-\udfff]")
"""What `xargs`, or a shell, splits a word at or changes in it, and what is not UTF-8."""
_PATTERN = re.compile(r"[][(){}+*?^$|]")
"""What has a meaning in a regular expression, which is what jest takes: ``app/[id]/page.test.tsx``."""


class TestsToRun(Struct, frozen=True):
    """The tests that bear on a change, as arguments of a program.

    Attributes:
        program: pytest, go, cargo or jest.
        arguments: The arguments, the likeliest first.
    """

    program: str
    arguments: tuple[str, ...]


RUNNERS: Mapping[str, tuple[tuple[str, ...], Callable[[BearingTest, str], Sequence[str]]]] = {
    PATHS: (("",), lambda _each, path: (path,)),
    "pytest": ((".py",), lambda _each, path: () if "[" in path or "::" in path else (path,)),  # a test's name
    "go": (("_test.go",), lambda _each, path: (f"./{dirname(path)}",)),
    "cargo": ((".rs",), lambda each, _path: each.targets),
    "jest": (_SCRIPTS, lambda _each, path: (_PATTERN.sub(".", path),)),
}
"""By program: what its files of tests end with, and the arguments for one, if it can be run."""


def arguments(tests: Iterable[BearingTest], program: str, directory: str = "") -> tuple[str, ...]:
    """Return files of tests as arguments of a program, each once; none that a shell would split.

    Args:
        directory: Where the program is to run; of Go, tests of other modules are left out.
    """
    endings, of_program = RUNNERS[program]
    every = [each for each in tests if each.path.endswith(endings) and basename(each.path) != "conftest.py"]
    if program == "go":
        around = max(
            (each.module for each in every if f"{directory}/".startswith(f"{each.module}/".lstrip("/"))),
            key=len,
            default=None,
        )
        every = [each for each in every if each.module == around]
    seen = seen_from(directory, [each.path for each in every])
    found = (argument for each, path in zip(every, seen, strict=True) for argument in of_program(each, path))
    safe = (each for each in found if each and not _SPLIT.search(each) and sanitise_line(each) == each)
    plain = (f"./{each}" if each[0] in "-@" and program not in {"cargo", "go"} else each for each in safe)
    return tuple(dict.fromkeys(plain))


def tests_to_run(tests: Iterable[BearingTest]) -> tuple[TestsToRun, ...]:
    """Return files of tests as arguments of each program that runs any of them."""
    every = tuple(tests)
    found = (TestsToRun(program, arguments(every, program)) for program in RUNNERS if program != PATHS)
    return tuple(each for each in found if each.arguments)
