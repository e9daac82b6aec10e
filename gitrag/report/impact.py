"""What a change may break, as text, as Markdown for a pull request's comment, or as JSON. Pure.

In Markdown every word of the repository stands in a code span, where a forge makes neither a mention nor a
link nor a picture of it: what a pull request calls its files is up to whoever opened it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import UNSET, Struct, UnsetType

from gitrag.actions.governance.change_impact import BearingTest, ChangeImpact, Closing
from gitrag.actions.governance.check import name_of
from gitrag.actions.governance.review import ReviewQuestion
from gitrag.actions.touched import Touched
from gitrag.callgraph.graph import MODULE, Edge
from gitrag.callgraph.reach import no_caller
from gitrag.report import Style, plain, shown
from gitrag.report.documents import AskedQuestion, Caller, NearDocument, json_text
from gitrag.report.governance import document_data, near_documents
from gitrag.report.impact_lines import callers
from gitrag.report.tests_to_run import PATHS, RUNNERS, arguments
from gitrag.search.cochange import Companion
from gitrag.words.control_characters import Text, joined
from gitrag.words.numbers import count

MOST_CHARACTERS = 60_000
"""Of the Markdown: a forge refuses a comment of more than 65,536."""

MOST_DEFINITIONS = 10
MOST_CALLERS = 3
MOST_TESTS = 10
_MOST_NAMED = 8
_SHOWN_CHARACTERS = 160

Form = Callable[[str, str], str]
"""Shows words of the repository in a role."""


class TouchedEntry(Struct, frozen=True):
    """A definition that a change adds, changes or removes.

    Attributes:
        path: Its file.
        name: Qualified name.
        kind: function, method or class.
        how: added, changed or removed.
        line_start: Its first line; of a removed one the first that it had.
        risk: Its places that may break, twice as much without a test; by which they are ordered.
        looked_for: Whether its callers were looked for; of a removed one, what still has its name.
        callers: The calls from product code, an entry for each calling definition.
        tests: The calls from tests.
        still_named: Of a removed one the places outside the change that have its name: ``path:line``.
        is_without_caller: Whether everything was searched, and nothing found that may call it.
        unresolved: Where no call was resolved to it: places, ``path:line``, that may call it.
        registered: The same: decorators, annotations and modifiers by which a framework calls it.
        base_outside: The same: a base of its class, outside of the repository, that may call it; or empty.
    """

    path: str
    name: str
    kind: str
    how: str
    line_start: int
    risk: int
    looked_for: bool
    callers: tuple[Caller, ...]
    tests: tuple[Caller, ...]
    still_named: tuple[str, ...]
    is_without_caller: bool
    unresolved: tuple[str, ...]
    registered: tuple[str, ...]
    base_outside: str


class CompanionEntry(Struct, frozen=True):
    """A file that changed together with one of the change before, and does not here.

    Attributes:
        path: The file.
        beside: The changed file with which it changed most regularly.
        together: How many of the last commits of that one changed both.
        of: How many last commits these are, at most 50.
        usual: Whether a change without it is rare.
    """

    path: str
    beside: str
    together: int
    of: int
    usual: bool


class TestEntry(Struct, frozen=True):
    """A file of tests that bears on a change.

    Attributes:
        path: The file.
        calls: How many of its tests call what is changed.
        named_alike: Whether it is named after a changed file.
        together: What is known of changes together with it; null if there were none.
        changed: Whether the change touches it too.
    """

    path: str
    calls: int
    named_alike: bool
    together: CompanionEntry | None
    changed: bool


class ClosingEntry(Struct, frozen=True):
    """An issue that a change may close.

    Attributes:
        id: Its number or key.
        title: Its title; empty where there is no copy of it.
        state: Its state; empty likewise.
        named: Whether a commit's message names it.
        score: How likely it is about the same, in [0, 1]; 1 where it is named.
    """

    id: str
    title: str
    state: str
    named: bool
    score: float


class TestsToRun(Struct, frozen=True):
    """The tests that bear on a change, as arguments of a program.

    Attributes:
        program: pytest, go, cargo or jest.
        arguments: The arguments, the likeliest first.
    """

    program: str
    arguments: tuple[str, ...]


class ImpactDocument(Struct, frozen=True):
    """What `gitrag impact` prints.

    Attributes:
        range: The range as git reads it.
        change: What it is.
        files: The files that it changes.
        definitions: What it adds, changes and removes, the riskiest first.
        callers_looked_at: What was read for the callers; empty where nothing was.
        tests: The files of tests that bear on it, the likeliest first.
        tests_to_run: The same as arguments, of each program that runs any of them.
        companions: What changed together with it before and does not here, best first.
        commits_looked_at: How many earlier commits were looked at for that.
        questions: The decisions and specifications that it should name, best first.
        named: Ids of those that it names.
        nearest: Where there is neither, what comes nearest.
        issues: The issues that it may close.
        notes: What was not looked at, a sentence each.
        not_indexed: Which of the files are not in the index, or only their outlines, a sentence each, if any.
    """

    range: str
    change: str
    files: tuple[str, ...]
    definitions: tuple[TouchedEntry, ...]
    callers_looked_at: str
    tests: tuple[TestEntry, ...]
    tests_to_run: tuple[TestsToRun, ...]
    companions: tuple[CompanionEntry, ...]
    commits_looked_at: int
    questions: tuple[AskedQuestion, ...]
    named: tuple[str, ...]
    nearest: tuple[NearDocument, ...]
    issues: tuple[ClosingEntry, ...]
    notes: tuple[str, ...]
    not_indexed: tuple[str, ...] | UnsetType = UNSET


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


def as_json(found: ChangeImpact) -> str:
    """Return it as JSON."""
    return json_text(
        ImpactDocument(
            range=shown(found.span),
            change=shown(found.said),
            files=tuple(map(shown, found.files)),
            definitions=tuple(map(_touched_entry, found.definitions)),
            callers_looked_at=found.callers.looked_at if found.callers else "",
            tests=tuple(
                TestEntry(
                    shown(each.path),
                    each.calls,
                    each.is_named_alike,
                    _companion_entry(each.companion) if each.companion else None,
                    each.is_changed,
                )
                for each in found.tests
            ),
            tests_to_run=tuple(
                TestsToRun(program, own)
                for program in RUNNERS
                if program != PATHS and (own := arguments([each.path for each in found.tests], program))
            ),
            companions=tuple(map(_companion_entry, found.companions)),
            commits_looked_at=found.searched,
            questions=tuple(map(_question_entry, found.questions)),
            named=found.documents.named,
            nearest=near_documents(found.documents.unreached),
            issues=tuple(
                ClosingEntry(each.id, each.title, each.state, each.is_named, round(each.score, 4))
                for each in found.closing
            ),
            notes=tuple(_notes(found)),
            not_indexed=tuple(map(shown, found.not_indexed)) or UNSET,
        )
    )


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
    if notes := list(_notes(found)):
        yield ""
        yield from (f"- {note(each, 'dim')}" for each in notes)


def _notes(found: ChangeImpact) -> Iterator[str]:
    yield from found.callers.left_out if found.callers else ()
    yield from found.notes
    if found.not_indexed:
        said = "; ".join(map(shown, found.not_indexed[:MOST_CALLERS]))
        yield f"{said}{_more(len(found.not_indexed), MOST_CALLERS)}."


def _definition_lines(  # noqa: C901 - one kind of definition after another
    found: ChangeImpact, form: Form
) -> Iterator[str]:
    if not found.definitions:
        yield f"None: no function, method or class differs in the {count(len(found.files), 'file')}."
        return
    risky = [each for each in found.definitions if each.risk or each.called]
    for each in risky[:MOST_DEFINITIONS]:
        place = form(f"{shown(each.path)}:{each.line_start}", "path")
        yield f"- {form(each.name, 'name')} {place} {_fate(each)}"
        if each.called and each.called.callers:
            yield f"  {_edges(each.called.callers, form)}"
        if each.called and each.called.tests:
            yield f"  tests: {_edges(each.called.tests, form)}"
        if each.named:
            places = [form(f"{shown(line.path)}:{line.number}", "path") for line in each.named[:MOST_CALLERS]]
            yield f"  {', '.join(places)}{_more(len(each.named), MOST_CALLERS)}"
    if len(risky) > MOST_DEFINITIONS:
        yield f"- … and {count(len(risky) - MOST_DEFINITIONS, 'more definition')} with callers"
    if any(edge.confidence < 1 for each in risky for edge in _shown_edges(each)):
        yield "~ likely, not certain"
    rest = [each for each in found.definitions if each not in risky]
    where = found.callers.looked_at if found.callers else ""
    gone = [each for each in rest if each.how == "removed" and each.is_looked_for]
    unsure = [each for each in rest if each.known and not each.known.is_without_caller]
    for each in unsure[:MOST_DEFINITIONS]:
        if each.known:
            yield f"- {form(each.name, 'name')} ({each.how}): {no_caller(where, each.known)}"
    if len(unsure) > MOST_DEFINITIONS:
        more = count(len(unsure) - MOST_DEFINITIONS, "more definition")
        yield f"- … and {more} of which no call was resolved"
    bare = [each for each in rest if each.is_looked_for and each not in gone and each not in unsure]
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


def _edges(edges: tuple[Edge, ...], form: Form) -> str:
    named = [
        ("~" if edge.confidence < 1 else "")
        + form(f"{shown(edge.caller.path)}:{edge.line}", "path")
        + (f" {form(edge.caller.name, '')}" if edge.caller.name != MODULE else "")
        for edge in edges[:MOST_CALLERS]
    ]
    return ", ".join(named) + _more(len(edges), MOST_CALLERS)


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
    if each.is_named_alike:
        yield "named after a changed file"
    if each.companion is not None:
        yield f"changed {_often(each.companion, form)}"


def _question_lines(found: ChangeImpact, form: Form) -> Iterator[str]:
    for each in found.questions:
        name = form(name_of(each.kind, each.document), "name")
        where = form(shown(each.path), "path") if each.path else "the commits' messages"
        yield f"- {name} {form(each.document.title, 'title')} ({each.score:.2f}), by {where}"
    if found.documents.named:
        yield f"It names {', '.join(form(each, 'name') for each in found.documents.named)}."
    elif not found.questions and found.documents.unreached is not None:
        near = found.documents.unreached
        yield near.sentence + (" The nearest:" if near.nearest else "")
        for document in near.nearest:
            name = form(name_of(document.kind, document.document), "name")
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


def _touched_entry(each: Touched) -> TouchedEntry:
    return TouchedEntry(
        path=shown(each.path),
        name=each.name,
        kind=each.kind,
        how=each.how,
        line_start=each.line_start,
        risk=each.risk,
        looked_for=each.is_looked_for,
        callers=callers(each.called.callers) if each.called else (),
        tests=callers(each.called.tests) if each.called else (),
        still_named=tuple(f"{shown(line.path)}:{line.number}" for line in each.named),
        is_without_caller=each.known.is_without_caller if each.known else False,
        unresolved=tuple(map(shown, each.known.unresolved)) if each.known else (),
        registered=each.known.registered if each.known else (),
        base_outside=each.known.base_outside if each.known else "",
    )


def _companion_entry(each: Companion) -> CompanionEntry:
    return CompanionEntry(shown(each.path), shown(each.beside), each.together, each.of, each.is_usual)


def _question_entry(each: ReviewQuestion) -> AskedQuestion:
    return AskedQuestion(
        question=each.asks,
        **document_data(each.document),
        kind=each.kind.value,
        score=round(each.score, 4),
        section=each.section,
        touched_by=shown(each.path),
        note=each.note,
    )


def _code(text: str, _role: str) -> str:
    """Return a code span: nothing in it is read as Markdown."""
    line = shown(text).replace("`", "'")
    return f"`{line[:_SHOWN_CHARACTERS]}{'…' if len(line) > _SHOWN_CHARACTERS else ''}`" if line else ""


_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#@|!~&])")


def _inert(text: str) -> str:
    """Return a sentence in which no character is read as Markdown, a mention or a reference."""
    return _ACTIVE.sub(lambda found: f"\\{found[1]}\u200b" if found[1] in "@#" else f"\\{found[1]}", text)
