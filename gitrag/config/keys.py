"""The settings: a field of `Config` says all there is about one, and `KEYS` lists them.

The setting ``pre_push`` of ``.gitrag.yaml`` is ``gitrag.prePush`` in git config and ``GITRAG_PRE_PUSH`` in
the environment. `gitrag.config.loading` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from gitrag.config.rules import (
    ADDRESS,
    FOLDER,
    HUB,
    MEBIBYTE,
    MODEL,
    SHARED,
    Rule,
    choice,
    duration,
    globs,
    matching,
    number,
    show_duration,
    whole,
)
from gitrag.errors import ConfigError
from gitrag.words.spelling import did_you_mean

DEFAULT = "default"
"""Origin of a value that no source sets."""

OTHER_VARIABLES = (
    "GITRAG_GIT_TIMEOUT_S",
    "GITRAG_GREP_HINT",
    "GITRAG_HOME",
    "GITRAG_MCP_TOKEN",
    "GITRAG_START",
    "GITRAG_MODEL_KEY",
)
"""``GITRAG_*`` variables that are not settings. ``GITRAG=0``, without underscore, switches the hooks off."""

USER_FILE_BYTES = 1024 * MEBIBYTE
TEAM_FILE_BYTES_CAP = 8 * MEBIBYTE
"""Largest file size that a repository's own settings may set: a stranger may have written them."""

_SHOWN_CHARACTERS = 60

_T = TypeVar("_T")


class Key(Struct, frozen=True):
    """A setting.

    Attributes:
        name: Its name in ``.gitrag.yaml``; git config and the environment derive theirs from it.
        rule: Parses its text.
        team: The rule for its values in ``.gitrag.yaml``; None when only the user may set it.
        not_in_repository: Whether the repository's own git configuration may not set it either: a
            ``.git/config`` may have come with an archive.
        suggested: Whether ``.gitrag.yaml`` may suggest a value, which the user is told.
    """

    name: str
    rule: Rule[object]
    help: str
    team: Rule[object] | None = None
    not_in_repository: bool = False
    suggested: bool = False

    @property
    def git_name(self) -> str:
        """Its name in git config, ``gitrag.prePush``."""
        first, *rest = self.name.split("_")
        return "gitrag." + first + "".join(word.capitalize() for word in rest)

    @property
    def variable(self) -> str:
        """Its environment variable, ``GITRAG_PRE_PUSH``."""
        return "GITRAG_" + self.name.upper()


class Setting(Struct, frozen=True):
    """A key's value and where it comes from.

    Attributes:
        value: Plain data, as in ``.gitrag.yaml``.
        origin: ``default``, or the source with the key's name there.
    """

    source: Key
    value: str | int | float | list[str] | None
    origin: str

    @property
    def key(self) -> str:
        """Its name."""
        return self.source.name

    @property
    def help(self) -> str:
        """Its meaning in one line."""
        return self.source.help

    @property
    def allowed(self) -> str:
        """What values it may have."""
        return self.source.rule.allowed


def _key(
    rule: Rule[_T],
    default: _T,
    meaning: str,
    *,
    team: Rule[_T] | None = None,
    not_in_repository: bool = False,
    suggested: bool = False,
) -> _T:
    """Declare a field of `Config` that is a setting; the other arguments are a `Key`'s attributes."""
    metadata = {
        "rule": rule,
        "help": meaning,
        "team": team,
        "not_in_repository": not_in_repository,
        "suggested": suggested,
    }
    return field(default=default, metadata=metadata)


_STALENESS = duration(timedelta(days=365))
_SCORE = number(0.0, 1.0)
_LIMIT = whole(1, 1000)
_WAIT = number(0.0, 3600.0)
_SYNC = number(1.0, 7 * 86400.0)
_MODULES = globs("a list of directories, such as [services/api, web=frontend]")
_MODE = choice("grep", "hybrid")
_TRACKER = matching(r"[a-z][a-z0-9-]*", "auto, none, or a tracker such as github or jira")
_TOOL = matching(r"[A-Za-z0-9_./:-]{1,128}", "the name of a tool, such as search_code")
_PROJECT = matching(
    r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*", "owner/name, or the key of a Jira project or a Linear team"
)


@dataclass(frozen=True, slots=True)
class Config:
    """The value of every setting, in the order ``gitrag config`` lists them.

    Attributes:
        origins: Where a value comes from, by key; one that is missing has its default.
        warnings: Lines about settings that are ignored.
    """

    max_file_bytes: int = _key(
        whole(1, USER_FILE_BYTES, size=True),
        MEBIBYTE,
        "Larger files are not indexed, or only their outline.",
        team=whole(1, TEAM_FILE_BYTES_CAP, size=True),
    )
    exclude: tuple[str, ...] = _key(
        globs(), (), "Paths that are not indexed, as in .gitignore.", team=globs()
    )
    adrs: tuple[str, ...] = _key(
        globs(), (), "Where decisions are, in place of the usual places.", team=globs()
    )
    specs: tuple[str, ...] = _key(
        globs(), (), "Where specifications are, in place of the usual places.", team=globs()
    )
    modules: tuple[str, ...] = _key(
        _MODULES,
        (),
        "Modules with collections of their own, in place of those that a workspace's manifest names.",
        team=_MODULES,
    )
    scip_index: Path | None = _key(
        FOLDER, None, "An index that a compiler made, for calls; if not set, index.scip at the top."
    )
    pre_push: str = _key(
        choice("warn", "block", "update", "off"),
        "warn",
        "What to do before a push whose commits are not indexed.",
    )
    auto_index: str = _key(
        choice("auto", "on", "off"),
        "auto",
        "Whether a question indexes a repository that never was; auto: only an agent's, of `gitrag mcp`.",
    )
    index_place: str = _key(
        choice("auto", "repository", "cache"),
        "auto",
        "Where the index is; auto: in the user's cache where the repository is read-only or another user's.",
    )
    catch_up_s: float = _key(_WAIT, 10.0, "Seconds a search may spend on indexing what has changed.")
    refine_s: float = _key(
        _WAIT, 0.3, "Seconds a search may spend on true vectors for results that have drafts."
    )
    resident: str = _key(
        choice("auto", "on", "off"),
        "auto",
        "Whether a search leaves a helper behind for the next, for 5 minutes; auto: not where CI is set.",
    )
    embed_when: str = _key(
        choice("auto", "always"),
        "auto",
        "When the background embeds; auto: not on battery, nor in the first 10 minutes of a busy machine.",
    )
    threads: int = _key(whole(0, 256), 0, "Threads to embed with; 0 lets gitrag decide.")
    # It is loaded and run.
    model_dir: Path | None = _key(
        FOLDER,
        None,
        "Where the model's files lie, for a machine that cannot fetch them.",
        not_in_repository=True,
    )
    # So is it.
    model: str | None = _key(
        MODEL,
        None,
        "A model of your own in place of ours: a directory, or the address of a server.",
        not_in_repository=True,
    )
    staleness_threshold: timedelta = _key(
        _STALENESS,
        timedelta(minutes=120),
        "A refresh of an index older than this is mentioned.",
        team=_STALENESS,
    )
    min_score: float | None = _key(
        _SCORE,
        None,
        "Search results below this score are left out; if not set, below 0.02 for code, 0.3 for documents.",
        team=_SCORE,
    )
    limit: int = _key(_LIMIT, 8, "Search results of each kind.", team=_LIMIT)
    output: str = _key(
        choice("auto", "text", "markdown", "json"),
        "auto",
        "Form of what is found; auto: text on a terminal, else markdown.",
    )
    gc_keep: timedelta = _key(
        duration(timedelta(days=3650)),
        timedelta(days=30),
        "How long to keep what no branch or worktree needs any more.",
    )
    lock_timeout_s: float = _key(_WAIT, 10.0, "Seconds to wait while another gitrag process uses the index.")
    # A team may name its tracker and project; only the user may say where a token is sent.
    tracker: str = _key(
        _TRACKER, "auto", "The tracker whose issues are synced; none for none.", team=_TRACKER
    )
    tracker_url: str | None = _key(
        ADDRESS, None, "The tracker's server, where origin's host does not tell.", not_in_repository=True
    )
    tracker_project: str | None = _key(
        _PROJECT, None, "The project there: owner/name, PROJ, ENG.", team=_PROJECT
    )
    tracker_timeout_s: float = _key(
        _WAIT, 15.0, "Seconds to wait for the tracker, of a command other than `gitrag issues sync`."
    )
    tracker_sync_timeout_s: float = _key(_SYNC, 3600.0, "Seconds that `gitrag issues sync` may take in all.")
    tracker_max_pages: int = _key(
        whole(1, 1_000_000), 10_000, "Pages of a tracker's listing that one sync may read."
    )
    tracker_credentials: str = _key(
        choice("off", "git"),
        "off",
        "Whether git's credential helper is asked for the tracker's token.",
        not_in_repository=True,
    )
    # A stranger's repository may neither send vectors somewhere nor have them taken from there.
    share: str = _key(
        SHARED,
        "off",
        "Where vectors are shared: off, git (at origin), git:REMOTE, file:///directory, https://…, s3://….",
        not_in_repository=True,
        suggested=True,
    )
    share_push: str = _key(
        choice("off", "on"),
        "off",
        "Whether the background worker pushes vectors there, of commits that a remote has.",
        not_in_repository=True,
    )
    # A stranger's repository may not have code sent somewhere.
    hub: str = _key(
        HUB,
        "off",
        "The organisation's search: off, or postgresql://role@host/database (gitrag hub).",
        not_in_repository=True,
    )
    hub_branches: tuple[str, ...] = _key(
        globs("a list of branches or globs, such as [main, 'release/*']"),
        (),
        "Branches that `gitrag hub push` pushes, in place of the one that is checked out.",
        not_in_repository=True,
    )
    search_strategy_mode: str = _key(
        _MODE,
        "grep",
        "How agents look for code: grep, or hybrid, which asks rag_mcp_tool first.",
        team=_MODE,
    )
    search_strategy_rag_mcp_tool: str | None = _key(_TOOL, None, "The tool that hybrid asks.", team=_TOOL)
    search_strategy_rag_reindex_tool: str | None = _key(
        _TOOL, None, "The tool that is told of changed files.", team=_TOOL
    )
    origins: Mapping[str, str] = field(default_factory=dict, hash=False)
    warnings: tuple[str, ...] = ()

    def explain(self) -> list[Setting]:
        """Return every setting with its value, origin and meaning."""
        return [
            Setting(key, _plain(getattr(self, key.name)), self.origins.get(key.name, DEFAULT)) for key in KEYS
        ]


KEYS: tuple[Key, ...] = tuple(Key(each.name, **each.metadata) for each in fields(Config) if each.metadata)
"""Every setting, in the order of the fields."""

BY_NAME: Mapping[str, Key] = {key.name: key for key in KEYS}


def find_key(name: str) -> Key:
    """Return the key of this name, in the spelling of any source."""
    for key in KEYS:
        if name.lower() in {key.name, key.git_name.lower(), key.variable.lower()}:
            return key
    close = did_you_mean(name, [*BY_NAME, *(key.git_name for key in KEYS)]).strip()
    raise ConfigError(
        f'There is no setting "{shown(name)}".', close or "`gitrag config` lists every setting."
    )


def shown(value: object) -> str:
    """Return what somebody else wrote as part of a message: shortened, unprintable characters escaped."""
    text = str(value)
    text = text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _plain(value: object) -> str | int | float | list[str] | None:
    if isinstance(value, timedelta):
        return show_duration(value)
    if isinstance(value, tuple):
        return list(value)
    if value is None or isinstance(value, str | int | float):
        return value
    return str(value)
