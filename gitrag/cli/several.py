"""``gitrag search`` of several repositories: ``--everywhere``, ``--repo``, ``--group``, ``--submodules``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from gitrag.cli import resident
from gitrag.cli.findings import form_of
from gitrag.cli.page import styler
from gitrag.cli.session import Session
from gitrag.errors import NOTHING, OK, NotSetUpError, RepositoryError, UsageError

if TYPE_CHECKING:
    from gitrag.actions.repositories.chosen import Chosen
    from gitrag.actions.requests import SearchCommand
    from gitrag.actions.search import Answer, Asked
    from gitrag.config.keys import Config
    from gitrag.git import Repository
    from gitrag.workspace import Workspace

_MOST_NAMED = 8
"""Repositories without an answer that are named one by one."""

_OTHER_LINES = 4


def search_several(session: Session, text: str, output: str | None, asking: SearchCommand) -> int:
    """Ask several repositories, and show what they answer."""
    from gitrag.actions.repositories.ask import ask
    from gitrag.actions.repositories.chosen import choose
    from gitrag.actions.repositories.elsewhere import Elsewhere
    from gitrag.actions.search import SearchOptions
    from gitrag.memory.registry import Registry

    scope = asking.scope
    here, config = around(session)
    resident.heed(config)
    form = form_of(output, config.output, session.terminal)
    options = SearchOptions.of(asking, with_issues=form != "json", grouped=form != "json")
    heard: list[str] = []
    chosen = choose(scope, Registry(), session.start, here, heard.append) if scope.is_known else []
    if scope.urls or scope.dependencies:
        elsewhere = Elsewhere(session.environ, heard.append, session.terminal.progress)
        chosen += [elsewhere.of_url(url) for url in dict.fromkeys(scope.urls)]
        chosen += [elsewhere.of_dependency(each, session.start) for each in dict.fromkeys(scope.dependencies)]
    found = ask(chosen, text, partial(open_one, session, heard), options, limit=config.limit)
    if asking.in_editor:
        return _open_best(session, found)
    _require_an_answer(found.asked)
    _show(session, found, form, asking)
    _say_unanswered(session, found, heard)
    return OK if found.hits else NOTHING


def around(session: Session) -> tuple[Repository | None, Config]:
    """Return the repository around and its settings, or those that apply outside of all."""
    try:
        here = session.repository()
    except RepositoryError:
        return None, session.config_outside()
    from gitrag.config.loading import settings_of

    return here, settings_of(here, session.environ)


def open_one(session: Session, heard: list[str], chosen: Chosen) -> Workspace:
    """Open one of several repositories; what it has to say to the user is added to ``heard``."""
    from gitrag.workspace import Workspace

    environ = chosen.environment(session.environ)
    return Workspace.open(
        chosen.place, environ=environ, say=lambda line: heard.append(f"{chosen.name}: {line}")
    )


def _require_an_answer(asked: Sequence[Asked]) -> None:
    if not any(each.outcome.has_answered for each in asked):
        first = asked[0]
        few = f"{first.name}: {first.why}."
        raise NotSetUpError(
            few if len(asked) == 1 else f"None of {len(asked)} repositories has answered; {few}", first.hint
        )


def _show(session: Session, found: Answer, form: str, asking: SearchCommand) -> None:
    from gitrag import report
    from gitrag.actions import hit_lines

    terminal = session.terminal
    shown = hit_lines.for_report(found)
    if form == "json":
        terminal.print_json_text(report.as_json(found))
    elif form == "markdown":
        terminal.print(report.as_markdown(shown))
    elif form == "text" or not found.hits:
        _print_text(session, found, asking)
    else:
        places = report.located(found, session.start.absolute())
        terminal.print(report.as_vimgrep(places) if form == "vimgrep" else report.as_paths(places))


def _print_text(session: Session, answer: Answer, asking: SearchCommand) -> None:
    from gitrag import report
    from gitrag.actions import hit_lines
    from gitrag.cli.pager import pager_of, print_paged

    terminal = session.terminal
    on_screen = terminal.is_interactive
    if not asking.explain:
        answer = hit_lines.with_passages(answer, 0 if on_screen else hit_lines.CODE_CHARACTERS)
    text = report.as_text(
        answer,
        styler(terminal),
        explain=asking.why,
        columns=terminal.width if on_screen else None,
        rows=terminal.height - _OTHER_LINES if on_screen and not (asking.why or asking.limit) else None,
    )
    if on_screen and not asking.no_pager:
        print_paged(terminal, text, pager_of(session.environ, ()), session.environ)
    else:
        terminal.print(text)


def _open_best(session: Session, found: Answer) -> int:
    from gitrag import report
    from gitrag.cli.editor import editor_command, open_in_editor

    if not found.hits:
        session.terminal.note(report.as_text(found))
        return NOTHING
    best = found.hits[0]
    path = found.roots[best.repository] / best.path
    if not path.is_file():
        raise UsageError(
            f"{best.repository}:{best.path} is no file on this disk.", "Search without --open to read it."
        )
    open_in_editor(
        editor_command(session.environ, path, report.best_lines(best)[0].number),
        session.start,
        session.environ,
    )
    return OK


def _say_unanswered(session: Session, found: Answer, heard: Sequence[str]) -> None:
    """Say what the answer lacks: who has not answered, and why."""
    from gitrag import report

    terminal = session.terminal
    for line in dict.fromkeys(heard):
        terminal.note(line)
    for line in report.notes_of(found):
        terminal.note(line)
    lacking = [each for each in found.asked if each.why]
    for each in lacking[:_MOST_NAMED]:
        terminal.note(each.line)
        if each.hint:
            terminal.hint(each.hint)
    if len(lacking) > _MOST_NAMED:
        rest = ", ".join(each.name for each in lacking[_MOST_NAMED:])
        terminal.note(f"Nor have these answered in full: {rest}")
