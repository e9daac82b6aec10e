"""``gitrag search`` of several repositories: ``--everywhere``, ``--repo``, ``--group``, ``--submodules``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from gitrag.cli import resident
from gitrag.cli.findings import form_of
from gitrag.cli.page import open_best, show
from gitrag.cli.session import Session
from gitrag.errors import NOTHING, OK, NotSetUpError, RepositoryError

if TYPE_CHECKING:
    from gitrag.actions.answer import Answer, Asked
    from gitrag.actions.repositories.chosen import Chosen
    from gitrag.actions.requests import SearchCommand
    from gitrag.config.keys import Config
    from gitrag.git import Repository
    from gitrag.workspace import Workspace

_MOST_NAMED = 8
"""Repositories without an answer that are named one by one."""


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
        return open_best(session, found)
    _require_an_answer(found.asked)
    show(session, None, found, form, asking)
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


def _say_unanswered(session: Session, found: Answer, heard: Sequence[str]) -> None:
    """Say what the answer lacks: who has not answered, and why."""
    from gitrag.report.parts import notes_of

    terminal = session.terminal
    for line in dict.fromkeys(heard):
        terminal.note(line)
    for line in notes_of(found):
        terminal.note(line)
    lacking = [each for each in found.asked if each.why]
    for each in lacking[:_MOST_NAMED]:
        terminal.note(each.line)
        if each.hint:
            terminal.hint(each.hint)
    if len(lacking) > _MOST_NAMED:
        rest = ", ".join(each.name for each in lacking[_MOST_NAMED:])
        terminal.note(f"Nor have these answered in full: {rest}")
