"""Settings: one table of keys, and five sources of their values, of which a later one wins.

Defaults < ``git config gitrag.prePush`` < ``.gitrag.yaml`` (committed) < ``GITRAG_PRE_PUSH`` < flags.
Values of every source are parsed as text by the key's rule, so that ``off`` is ``off`` in YAML too.
Nothing here reads the environment or runs git: the caller passes what each source holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from gitrag.config.rules import (
    MEBIBYTE,
    Address,
    Choice,
    Duration,
    Folder,
    Globs,
    Matching,
    Number,
    Rule,
    Whole,
    show_duration,
)
from gitrag.config.team_file import TEAM_FILE, parse_team
from gitrag.errors import ConfigError
from gitrag.words.bounded_yaml import YamlValue

DEFAULT = "default"
FLAG = "flag"

USER_FILE_BYTES = 1024 * MEBIBYTE
TEAM_FILE_BYTES_CAP = 8 * MEBIBYTE
"""Largest file size that a repository's own settings may set: a stranger may have written them."""

OTHER_VARIABLES = ("GITRAG_HOME",)
"""``GITRAG_*`` variables that are not settings. ``GITRAG=0``, without underscore, switches the hooks off."""

_SHOWN_CHARACTERS = 60
_UNKNOWN_NAMED = 5
"""Unknown keys that are listed, so that a file with thousands does not flood the terminal."""


@dataclass(frozen=True, slots=True)
class Key:
    """A setting.

    Attributes:
        name: Its name in ``.gitrag.yaml``; git config and the environment derive theirs from it.
        rule: Parses its text.
        default: Its value when no source sets it.
        help: Its meaning in one line.
        team: The rule for its values in ``.gitrag.yaml``; None when only the user may set it.
    """

    name: str
    rule: Rule
    default: object
    help: str
    team: Rule | None = None

    @property
    def git_name(self) -> str:
        """Its name in git config, ``gitrag.prePush``."""
        first, *rest = self.name.split("_")
        return "gitrag." + first + "".join(word.capitalize() for word in rest)

    @property
    def variable(self) -> str:
        """Its environment variable, ``GITRAG_PRE_PUSH``."""
        return "GITRAG_" + self.name.upper()


_STALENESS = Duration(timedelta(days=365))
_SCORE = Number(0.0, 1.0)
_LIMIT = Whole(1, 1000)
_WAIT = Number(0.0, 3600.0)
_SYNC = Number(1.0, 7 * 86400.0)
_TRACKER = Matching(r"[a-z][a-z0-9-]*", "auto, none, or a tracker such as github or jira")
_TOOL = Matching(r"[A-Za-z0-9_./:-]{1,128}", "the name of a tool, such as search_code")
_PROJECT = Matching(
    r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*", "owner/name, or the key of a Jira project or a Linear team"
)

KEYS: tuple[Key, ...] = (
    Key(
        "max_file_bytes",
        Whole(1, USER_FILE_BYTES, size=True),
        MEBIBYTE,
        "Larger files are not indexed.",
        team=Whole(1, TEAM_FILE_BYTES_CAP, size=True),
    ),
    Key("exclude", Globs(), (), "Paths that are not indexed, as in .gitignore.", team=Globs()),
    Key("adrs", Globs(), (), "Where decisions are, in place of the usual places.", team=Globs()),
    Key("specs", Globs(), (), "Where specifications are, in place of the usual places.", team=Globs()),
    Key(
        "modules",
        Globs("a list of directories, such as [services/api, web=frontend]"),
        (),
        "Modules with collections of their own, in place of those that a workspace's manifest names.",
        team=Globs("a list of directories, such as [services/api, web=frontend]"),
    ),
    Key(
        "pre_push",
        Choice(("warn", "block", "update", "off")),
        "warn",
        "What to do before a push whose commits are not indexed.",
    ),
    Key("catch_up_s", _WAIT, 10.0, "Seconds a search may spend on indexing what has changed."),
    Key(
        "refine_s",
        _WAIT,
        0.3,
        "Seconds a search may spend on true vectors for results that have drafts.",
    ),
    Key("threads", Whole(0, 256), 0, "Threads to embed with; 0 lets gitrag decide."),
    Key("model_dir", Folder(), None, "Where the model's files lie, for a machine that cannot fetch them."),
    Key(
        "staleness_threshold",
        _STALENESS,
        timedelta(minutes=120),
        "A refresh of an index older than this is mentioned.",
        team=_STALENESS,
    ),
    Key("min_score", _SCORE, 0.3, "Search results below this score are left out.", team=_SCORE),
    Key("limit", _LIMIT, 8, "Search results of each kind.", team=_LIMIT),
    Key(
        "gc_keep",
        Duration(timedelta(days=3650)),
        timedelta(days=30),
        "How long to keep what no branch or worktree needs any more.",
    ),
    Key("lock_timeout_s", _WAIT, 10.0, "Seconds to wait for another gitrag to let go of the index."),
    # A team may name its tracker and project; only the user may say where a token is sent.
    Key("tracker", _TRACKER, "auto", "The tracker whose issues are synced; none for none.", team=_TRACKER),
    Key("tracker_url", Address(), None, "The tracker's server, where origin's host does not tell."),
    Key("tracker_project", _PROJECT, None, "The project there: owner/name, PROJ, ENG.", team=_PROJECT),
    Key(
        "tracker_timeout_s",
        _WAIT,
        15.0,
        "Seconds to wait for the tracker, of a command other than `gitrag issues sync`.",
    ),
    Key(
        "tracker_sync_timeout_s",
        _SYNC,
        3600.0,
        "Seconds that `gitrag issues sync` may take in all.",
    ),
    Key(
        "tracker_max_pages",
        Whole(1, 1_000_000),
        10_000,
        "Pages of a tracker's listing that one sync may read.",
    ),
    Key(
        "tracker_credentials",
        Choice(("off", "git")),
        "off",
        "Whether git's credential helper is asked for the tracker's token.",
    ),
    Key(
        "search_strategy_mode",
        Choice(("grep", "hybrid")),
        "grep",
        "How agents look for code: grep, or hybrid, which asks rag_mcp_tool first.",
        team=Choice(("grep", "hybrid")),
    ),
    Key("search_strategy_rag_mcp_tool", _TOOL, None, "The tool that hybrid asks.", team=_TOOL),
    Key(
        "search_strategy_rag_reindex_tool",
        _TOOL,
        None,
        "The tool that is told of changed files.",
        team=_TOOL,
    ),
)
"""Every setting, in the order ``gitrag config`` lists them."""

_BY_NAME: Mapping[str, Key] = {key.name: key for key in KEYS}

_NESTED = "search_strategy"
"""A key of ``.gitrag.yaml`` that holds nested mappings, whose keys are joined by ``_``."""

NO_TOOL = "search_strategy is hybrid but names no rag.mcp_tool: grep is used."


@dataclass(frozen=True, slots=True)
class Setting:
    """A key's value and where it comes from.

    Attributes:
        key: Its name.
        value: Plain data, as in ``.gitrag.yaml``.
        origin: ``default``, or the source with the key's name there.
        help: Its meaning in one line.
    """

    key: str
    value: str | int | float | list[str] | None
    origin: str
    help: str


@dataclass(frozen=True, slots=True)
class Config:
    """The value of every setting; the table ``KEYS`` says what each one means."""

    max_file_bytes: int = MEBIBYTE
    exclude: tuple[str, ...] = ()
    adrs: tuple[str, ...] = ()
    specs: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    pre_push: str = "warn"
    catch_up_s: float = 10.0
    refine_s: float = 0.3
    gc_keep: timedelta = timedelta(days=30)
    threads: int = 0
    model_dir: Path | None = None
    staleness_threshold: timedelta = timedelta(minutes=120)
    min_score: float = 0.3
    limit: int = 8
    lock_timeout_s: float = 10.0
    tracker: str = "auto"
    tracker_url: str | None = None
    tracker_project: str | None = None
    tracker_timeout_s: float = 15.0
    tracker_sync_timeout_s: float = 3600.0
    tracker_max_pages: int = 10_000
    tracker_credentials: str = "off"
    search_strategy_mode: str = "grep"
    search_strategy_rag_mcp_tool: str | None = None
    search_strategy_rag_reindex_tool: str | None = None
    origins: Mapping[str, str] = field(default_factory=dict, hash=False)
    warnings: tuple[str, ...] = ()

    def explain(self) -> list[Setting]:
        """Return every setting with its value, origin and meaning."""
        return [
            Setting(key.name, _plain(getattr(self, key.name)), self.origins.get(key.name, DEFAULT), key.help)
            for key in KEYS
        ]


def load(
    *,
    git: Mapping[str, str],
    team: bytes | None,
    env: Mapping[str, str],
    flags: Mapping[str, object] = MappingProxyType({}),
) -> Config:
    """Merge the five sources into one configuration.

    Args:
        git: ``git config`` entries of the section gitrag; names in any case, with or without the section.
        team: The content of ``.gitrag.yaml``, or None if there is none.
        env: The environment.
        flags: Values from the command line, by key; None means not given.

    Raises:
        ConfigError: A value is not allowed, or ``.gitrag.yaml`` is not YAML that gitrag reads.
    """
    merge = _Merge(home=env.get("HOME", ""))
    merge.add_git(git)
    merge.add_team(team)
    merge.add_environment(env)
    for name, value in flags.items():
        if value is not None:
            merge.put(_BY_NAME[name], value, FLAG, "Run the command with --help for what it takes.")
    merge.settle_strategy()
    return Config(
        **merge.values,  # type: ignore[arg-type]  # each rule returns its attribute's type
        origins=MappingProxyType(merge.origins),
        warnings=tuple(merge.warnings),
    )


def nearest(name: str, known: Sequence[str]) -> str:
    """Return `` Did you mean "…"?`` for the most similar known name, or an empty string."""
    folded = {each.lower(): each for each in known}
    close = get_close_matches(name[:_SHOWN_CHARACTERS].lower(), folded, n=1)
    return f' Did you mean "{folded[close[0]]}"?' if close else ""


def find_key(name: str) -> Key:
    """Return the key of this name, in the spelling of any source.

    Raises:
        ConfigError: There is no such key.
    """
    for key in KEYS:
        if name.lower() in {key.name, key.git_name.lower(), key.variable.lower()}:
            return key
    close = nearest(name, [*_BY_NAME, *(key.git_name for key in KEYS)]).strip()
    raise ConfigError(f"There is no setting {_shown(name)}.", close or "`gitrag config` lists every setting.")


class _Merge:
    """The values merged so far; later sources replace those of earlier ones."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.values: dict[str, object] = {key.name: key.default for key in KEYS}
        self.origins: dict[str, str] = {key.name: DEFAULT for key in KEYS}
        self.warnings: list[str] = []

    def add_git(self, entries: Mapping[str, str]) -> None:
        known = {key.git_name.lower(): key for key in KEYS}
        for given, text in entries.items():
            name = given if given.lower().startswith("gitrag.") else f"gitrag.{given}"
            key = known.get(name.lower())
            if key:
                self.put(
                    key,
                    text,
                    f"git config {key.git_name}",
                    f"`git config --unset {key.git_name}` removes it.",
                )
            else:
                self._unknown(
                    f"git config {_shown(name, quoted=False)}", name, [key.git_name for key in KEYS]
                )

    def add_environment(self, env: Mapping[str, str]) -> None:
        known = {key.variable: key for key in KEYS}
        for variable, text in env.items():
            if not variable.startswith("GITRAG_") or not text or variable in OTHER_VARIABLES:
                continue
            if variable in known:
                self.put(known[variable], text, variable, f"`unset {variable}` removes it.")
            else:
                self._unknown(_shown(variable, quoted=False), variable, [*known, *OTHER_VARIABLES])

    def add_team(self, content: bytes | None) -> None:
        unknown = 0
        for name, value in _flat(parse_team(content or b"")):
            key = _BY_NAME.get(name)
            if key is None:
                unknown += 1
                if unknown <= _UNKNOWN_NAMED:
                    self._unknown(f"{TEAM_FILE}: {_shown(name, quoted=False)}", name, list(_BY_NAME))
            elif key.team is None:
                self.warnings.append(
                    f"{TEAM_FILE} sets {name}, which only you may set: ignored. "
                    f"To set it, `git config {key.git_name} …`."
                )
            elif value is not None:
                self.put(key, value, TEAM_FILE, f"Edit {TEAM_FILE}.", rule=key.team)
        if unknown > _UNKNOWN_NAMED:
            self.warnings.append(f"{TEAM_FILE}: {unknown - _UNKNOWN_NAMED} more unknown settings ignored.")

    def settle_strategy(self) -> None:
        """Fall back to grep, with a warning, if the mode is hybrid but no search tool is set."""
        if (
            self.values["search_strategy_mode"] == "hybrid"
            and not self.values["search_strategy_rag_mcp_tool"]
        ):
            self.values["search_strategy_mode"] = "grep"
            self.warnings.append(NO_TOOL)

    def put(self, key: Key, value: object, origin: str, hint: str, rule: Rule | None = None) -> None:
        rule = rule or key.rule
        try:
            self.values[key.name] = self._parse(rule, value)
        except (ValueError, OverflowError) as error:
            raise ConfigError(
                f"{key.name} is {_shown(value)} ({origin}): it must be {rule.allowed}.", hint
            ) from error
        self.origins[key.name] = origin

    def _parse(self, rule: Rule, value: object) -> object:
        if isinstance(value, list | tuple):
            if not isinstance(rule, Globs):
                raise ValueError("a list")  # noqa: TRY004  # the caller catches ValueError for every value that is not allowed
            if not all(isinstance(item, str) for item in value):
                raise ValueError("not texts")
            return rule.parse_list(value)
        if value is None or isinstance(value, Mapping):
            raise ValueError("not a value")
        text = show_duration(value) if isinstance(value, timedelta) else str(value)
        if isinstance(rule, Folder) and self.home and (text == "~" or text.startswith("~/")):
            text = self.home + text[1:]
        return rule.parse(text)

    def _unknown(self, where: str, name: str, known: Sequence[str]) -> None:
        self.warnings.append(f"{where} is no setting of gitrag: ignored.{nearest(name, known)}")


def _flat(settings: Mapping[str, YamlValue]) -> Iterator[tuple[str, YamlValue]]:
    """Yield the settings of a team file by key; the parts of a nested key are joined by ``_``."""
    pending = list(settings.items())[::-1]
    while pending:
        name, value = pending.pop()
        if isinstance(value, Mapping) and name.startswith(_NESTED):
            pending += [(f"{name}_{key}", each) for key, each in list(value.items())[::-1]]
        elif value is not None or name not in (_NESTED, f"{_NESTED}_rag"):
            yield name, value


def _plain(value: object) -> str | int | float | list[str] | None:
    if isinstance(value, timedelta):
        return show_duration(value)
    if isinstance(value, tuple):
        return list(value)
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)


def _shown(value: object, *, quoted: bool = True) -> str:
    """Return what somebody else wrote, shortened and with control characters escaped."""
    text = str(value)
    text = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
    escaped = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
    return f'"{escaped}"' if quoted else escaped
