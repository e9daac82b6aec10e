"""``gitrag config``: every setting, its value and where it comes from."""

from __future__ import annotations

import click

from gitrag.cli.frame import Example, command, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.config.keys import DEFAULT, Config, Setting, find_key
from gitrag.config.of_repository import settings_of
from gitrag.config.team_file import TEAM_FILE
from gitrag.errors import RepositoryError
from gitrag.words.control_characters import sanitise, sanitise_line


@command(
    "config",
    examples=[
        Example("gitrag config", "every setting"),
        Example("gitrag config pre_push", "the value of one"),
        Example("git config gitrag.prePush block", "set it in this repository"),
        Example("GITRAG_PRE_PUSH=off git push", "set it once"),
    ],
)
@click.argument("key", required=False)
@json_option
@pass_session
def config(session: Session, key: str | None, *, as_json: bool) -> None:
    """List every setting, its value and its origin.

    A setting is read from git config, .gitrag.yaml (committed, for the team), the environment, and flags; the
    later one wins. What concerns only your machine cannot be set in .gitrag.yaml.
    """
    loaded = _load(session)
    settings = loaded.explain()
    if key is not None:
        name = find_key(key).name
        settings = [setting for setting in settings if setting.key == name]
    for warning in loaded.warnings:
        session.terminal.warn(warning)
    if as_json:
        session.terminal.print_json([_row(setting) for setting in settings])
    elif key is not None:
        session.terminal.print(sanitise(_text(settings[0])))
    else:
        _print_all(settings, session)


def _load(session: Session) -> Config:
    try:
        repository = session.repository()
    except RepositoryError as error:
        session.terminal.note(f"{error} What follows holds everywhere else.")
        return session.config_outside()
    return settings_of(repository, session.environ)


def _print_all(settings: list[Setting], session: Session) -> None:
    terminal = session.terminal
    key_width = max(len(setting.key) for setting in settings)
    for setting in settings:
        value = sanitise_line(_text(setting)) or "unset"
        changed = setting.origin != DEFAULT
        origin = f"  {terminal.style(f'({sanitise_line(setting.origin)})', 'dim')}"
        if value == "unset" and not changed:
            origin = ""  # its default is that it is not set
        terminal.print(
            f"{terminal.style(f'{setting.key:<{key_width}}', 'bold')}  "
            f"{terminal.style(value, 'green') if changed else value}{origin}"
        )
        terminal.print(f"    {setting.help}")
    terminal.print()
    terminal.print(
        f"Set one with `git config {find_key('pre_push').git_name} block`, or for the team in {TEAM_FILE}."
    )


def _text(setting: Setting) -> str:
    if isinstance(setting.value, list):
        return ", ".join(setting.value)
    if isinstance(setting.value, float):
        return f"{setting.value:g}"
    return "" if setting.value is None else str(setting.value)


def _row(setting: Setting) -> dict[str, object]:
    key = find_key(setting.key)
    return {
        "key": setting.key,
        "value": setting.value,
        "origin": setting.origin,
        "help": setting.help,
        "git_config": key.git_name,
        "variable": key.variable,
        "team": key.team is not None,
        "allowed": key.rule.allowed,
    }
