"""``gitrag config``: every setting, its value and where it comes from."""

from __future__ import annotations

import click

from gitrag.cli.frame import Example, command, json_option
from gitrag.cli.session import Session, pass_session
from gitrag.config.keys import DEFAULT, Config, Setting, find_key
from gitrag.config.loading import TEAM_FILE, load, settings_of
from gitrag.errors import ConfigError, RepositoryError, UsageError
from gitrag.git.environment import message_of

_NOT_SET = 5
"""git config's exit status for a key that is not there (git-config(1))."""

_GROUPS = {
    "What is indexed": ("max_file_bytes", "exclude", "adrs", "specs", "modules", "scip_index"),
    "Search": (
        "output",
        "limit",
        "min_score",
        "catch_up_s",
        "refine_s",
        "staleness_threshold",
        "auto_index",
        "resident",
    ),
    "Git": ("pre_push",),
    "Machine": ("threads", "embed_when", "model_dir", "model", "index_place", "gc_keep", "lock_timeout_s"),
    "Issues": ("tracker",),
    "Sharing": ("share", "hub"),
    "Agents": ("search_strategy",),
}
"""Beginnings of the names of the settings under each heading."""


def _group_of(key: str) -> str:
    return next((name for name, starts in _GROUPS.items() if key.startswith(starts)), "Other")


@command(
    "config",
    examples=[
        Example("gitrag config", "every setting"),
        Example("gitrag config pre_push", "the value of one"),
        Example("gitrag config set pre_push block", "set it in this repository"),
        Example("gitrag config set --global output text", "set it for all of yours"),
        Example("gitrag config unset pre_push", "back to what else says"),
        Example("GITRAG_PRE_PUSH=off git push", "set it once"),
    ],
)
@click.argument("words", nargs=-1, metavar="[KEY | set KEY VALUE | unset KEY]")
@click.option("--global", "everywhere", is_flag=True, help="With set and unset: for all your repositories.")
@json_option
@pass_session
def config(session: Session, words: tuple[str, ...], *, everywhere: bool) -> None:
    """List every setting, its value and its origin.

    A setting is read from git config, .gitrag.yaml (committed, for the team), the environment, and flags; the
    later one wins. What concerns only your machine cannot be set in .gitrag.yaml.
    """
    if words[:1] in {("set",), ("unset",)}:
        changed = _change(session, words, everywhere=everywhere)
        _say_changed(session, changed, is_set=words[0] == "set", everywhere=everywhere)
        return
    if len(words) > 1 or everywhere:
        raise UsageError("config takes one setting, or set KEY VALUE, or unset KEY.", "gitrag config --help")
    key = words[0] if words else None
    loaded = _load(session)
    settings = loaded.explain()
    if key is not None:
        name = find_key(key).name
        settings = [setting for setting in settings if setting.key == name]
    for warning in loaded.warnings:
        session.terminal.warn(warning)
    if session.terminal.is_json:
        session.terminal.print_document(settings)
    elif key is not None:
        session.terminal.print(_text(settings[0]))
    else:
        _print_all(settings, session)


def _change(session: Session, words: tuple[str, ...], *, everywhere: bool) -> str:
    """Set or unset a key in git's configuration; return its name."""
    verb, *rest = words
    if len(rest) != (2 if verb == "set" else 1):
        raise UsageError(
            "config set takes a setting and a value." if verb == "set" else "config unset takes a setting.",
            "For example: gitrag config set pre_push block",
        )
    key = find_key(rest[0])
    if verb == "set":
        load(git={}, team=None, env={"HOME": session.environ.get("HOME", "")}, flags={key.name: rest[1]})
    if key.not_in_repository and not everywhere:
        raise ConfigError(
            f"{key.name} cannot be set in a repository, which may have come from somebody else.",
            f"gitrag config {verb} --global {' '.join(rest)}",
        )
    what = [key.git_name, rest[1]] if verb == "set" else ["--unset-all", key.git_name]
    done = session.repository().git("config", "--global" if everywhere else "--local", *what)
    if done.returncode == _NOT_SET and verb == "unset":
        raise ConfigError(f"{key.name} is not set there.", f"gitrag config {key.name} shows its value.")
    if done.returncode:
        raise ConfigError(f"git cannot write its configuration: {message_of(done)}.", "Is the file writable?")
    return key.name


def _say_changed(session: Session, changed: str, *, is_set: bool, everywhere: bool) -> None:
    try:
        settings = [each for each in _load(session).explain() if each.key == changed]
    except ConfigError:  # another one is wrong, and may be next
        if session.terminal.is_json:
            raise
        return
    key = settings[0].source
    if is_set and settings[0].origin != f"git config {key.git_name}":
        session.terminal.warn(f"{settings[0].origin} has {_text(settings[0])}, which wins.")
    elif is_set:
        entries = session.repository().configuration.entries()
        own = [each for each in entries if each.key == key.git_name.lower()]
        scope = [each.scope for each in own if not (key.not_in_repository and each.is_the_repositorys)][-1]
        if scope != ("global" if everywhere else "local"):
            session.terminal.warn(f"git's {scope} configuration has {_text(settings[0])}, which wins here.")
    if session.terminal.is_json:
        session.terminal.print_document(settings)


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
    order = [*_GROUPS, "Other"]
    group = ""
    for setting in sorted(settings, key=lambda each: order.index(_group_of(each.key))):
        if group != _group_of(setting.key):
            if group:
                terminal.print()
            terminal.print(terminal.style(_group_of(setting.key), "bold", "underline"))
            group = _group_of(setting.key)
        value = _text(setting) or "unset"
        changed = setting.origin != DEFAULT
        origin = f"  {terminal.style(f'({setting.origin})', 'dim')}"
        if value == "unset" and not changed:
            origin = ""  # its default is that it is not set
        terminal.print_folded(
            f"{terminal.style(f'{setting.key:<{key_width}}', 'bold')}  "
            f"{terminal.style(value, 'green') if changed else value}{origin}"
        )
        terminal.print_folded(f"    {setting.help}")
    terminal.print()
    terminal.print_folded(f"Set one with `gitrag config set pre_push block`, or for the team in {TEAM_FILE}.")


def _text(setting: Setting) -> str:
    if isinstance(setting.value, list):
        return ", ".join(setting.value)
    if isinstance(setting.value, float):
        return f"{setting.value:g}"
    return "" if setting.value is None else str(setting.value)
