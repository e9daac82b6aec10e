"""What can be asked: a field of a request says all there is about an option, on every face.

`gitrag.cli.findings.options` makes a command's options of the fields; what the Python API takes is a request
itself; ``checked`` refuses what does not go together. Every search loads this: it imports next to nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from inspect import get_annotations
from typing import Annotated, Any, Literal, NamedTuple, Self

from msgspec import Struct

from gitrag.errors import UsageError
from gitrag.model import Kind


class Option(NamedTuple):
    """What a field of a request is to a user.

    Attributes:
        flags: Its names on the command line, separated by spaces.
        help: Its meaning in one line; empty where its name says it.
        also: The ways of asking that it is for too; a question of one repository always is.
        excludes: Fields that it does not go with, and what is said of both: why, and what to do; empty for no
            reason.
        is_hidden: Whether the help is silent about it.
        metavar: What the help calls its value.
        number: What numbers it takes: whole ones, or all.
        first: Whether the help lists it before others.
        tools: Agents' tools that have it, and its meaning there; empty where its name says it.
        label: What it is called in messages, where that is not the last of the flags.
        switches: Its values, each with its meaning: on the command line each is a switch of its own.
        all_switches: The value where all of them are given; empty where they exclude each other.
    """

    flags: str
    help: str
    also: Sequence[str] = ()
    asks: str = ""
    excludes: Mapping[str, Sequence[str]] = {}
    is_hidden: bool = False
    metavar: str | None = None
    number: type[float] = int
    least: int | None = None
    most: int | None = None
    choices: Sequence[str] = ()
    first: bool = False
    tools: Mapping[str, str] = {}
    label: str = ""
    switches: Mapping[str, str] = {}
    all_switches: str = ""

    def switch(self, value: str) -> "Option":
        return self._replace(flags=f"--{value}", help=self.switches[value], switches={})

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self.label or self.flags.split()[-1].partition("/")[0]


@cache
def fields_of(request: type[Struct]) -> Mapping[str, tuple[Option | type[Struct], Any]]:
    """Return the options of a request and their defaults, by the names of its fields.

    A field may hold a request of its own; one without an option is for faces to fill.
    """
    kinds = {name: kind for each in request.__mro__[::-1] for name, kind in get_annotations(each).items()}
    found = {}
    for name, default in zip(request.__struct_fields__, request.__struct_defaults__, strict=True):
        option = getattr(kinds[name], "__metadata__", (kinds[name],))[0]
        if isinstance(option, Option) or isinstance(default, Struct):
            found[name] = option, default
    return found


def require_together(request: Struct) -> None:
    """Refuse options that exclude each other."""
    given = dict(given_of(request))
    for option in given.values():
        for other in option.excludes.keys() & given.keys():
            both = f"{option.name} and {given[other].name} exclude each other.", "Give one of them."
            raise UsageError(*(option.excludes[other] or both))


def given_of(request: Struct) -> Iterator[tuple[str, Option]]:
    """Yield the options that are given, by the names of their fields; a switch that is off is none."""
    for name, (option, default) in fields_of(type(request)).items():
        value: Any = getattr(request, name)
        if not isinstance(option, Option):
            yield from given_of(value)
        elif value is not False and value != default:
            yield name, option.switch(value) if option.switches else option


HISTORY = "history"
"""The collection of commits, which `gitrag history` searches."""

MOST_HITS, MOST_TOKENS = 1_000, 100_000
SEVERAL, HUB, COMMITS, EXACT = "several", "hub", "commits", "exact"

WAYS: Mapping[str, tuple[str, str]] = {
    SEVERAL: ("{option} is for one repository, and {asked} asks several.", "Leave out one of them."),
    HUB: ("{option} is not for --hub.", "Leave it out, or search here."),
    COMMITS: (
        "{option} does not go with -c history.",
        "`gitrag history --help` lists the options of commits.",
    ),
    EXACT: ("{option} is for questions, not for --word or --regex.", "Leave it out."),
}
"""Ways of asking other than a question of one repository: why an option is not for it, and what to do."""


class Scope(Struct, frozen=True):
    """Which repositories somebody asks for, in place of the one that he stands in.

    Attributes:
        everywhere: All that gitrag knows.
        names: By name, glob or path.
        groups: By the groups that they are in.
        urls: Of these remotes, fetched now.
        dependencies: Of these installed dependencies of the project.
        nested: The one that he stands in, with the submodules and clones inside of it.
    """

    everywhere: Annotated[
        bool, Option("--everywhere", "Ask all repositories that gitrag knows.", (SEVERAL,), SEVERAL)
    ] = False
    names: Annotated[
        tuple[str, ...],
        Option(
            "--repo",
            "Ask this one: a name or glob of gitrag repos list, or a path.",
            (SEVERAL, HUB),
            SEVERAL,
            metavar="NAME",
        ),
    ] = ()
    groups: Annotated[
        tuple[str, ...],
        Option("--group", "Ask those of this group: gitrag repos.", (SEVERAL,), SEVERAL, metavar="NAME"),
    ] = ()
    urls: Annotated[
        tuple[str, ...],
        Option(
            "--git-url",
            "Ask what is at this https, ssh or file URL: fetched without history, kept for a day.",
            (SEVERAL,),
            SEVERAL,
            metavar="URL",
        ),
    ] = ()
    dependencies: Annotated[
        tuple[str, ...],
        Option(
            "--dep",
            "Ask the source of this installed dependency of the project: Python's or npm's.",
            (SEVERAL,),
            SEVERAL,
            metavar="NAME",
        ),
    ] = ()
    nested: Annotated[
        bool,
        Option("--submodules", "Ask this one, and submodules and clones inside of it.", (SEVERAL,), SEVERAL),
    ] = False

    def __bool__(self) -> bool:
        """Tell whether anything but the repository around is asked for."""
        return self.is_known or bool(self.urls) or bool(self.dependencies)

    @property
    def is_known(self) -> bool:
        """Whether repositories are asked for that are on this machine already."""
        return self.everywhere or bool(self.names) or bool(self.groups) or self.nested


FETCHED = ("urls", "dependencies")
"""Fields of a scope that only a search has."""


class SearchRequest(Struct, frozen=True):
    """What a search is limited to, and how much it returns; the defaults are those of the command.

    Attributes:
        limit: Hits of each kind of collection at most, 1 to 1000; None for the setting ``limit``.
        min_score: Hits below are left out, 0 to 1; None for the setting ``min_score``.
        collections: Kinds such as ``adrs``, names such as ``api-code`` or ``repo-code``; none means all.
        module: The only module of the workspace; empty for all.
        paths: Only paths like these, as in .gitignore.
        languages: Only these, by name or suffix.
        kinds: Only these: ``function``, ``method``, ``class``, ``module``, ``section``.
        every_chunk: A hit for every chunk, not one for each file.
        committed_only: Leave uncommitted changes out.
        ref: Search this commit, branch or tag, checked out or not.
        exact: ``word`` finds every line that has the query as whole words, ``regex`` every one that the
            query, a regular expression (RE2), matches: in each hit's ``snippet``. ``limit`` is that of lines,
            200 if None. Empty for a question.
    """

    limit: Annotated[
        int | None,
        Option(
            "-n --limit",
            "Hits of each kind at most; with --word and --regex, lines (200).",
            (EXACT, SEVERAL, HUB, COMMITS),
            metavar="N",
            least=1,
        ),
    ] = None
    min_score: Annotated[
        float | None,
        Option(
            "--min-score",
            "Leave out hits below this.",
            (SEVERAL, HUB),
            metavar="SCORE",
            number=float,
            least=0,
            most=1,
        ),
    ] = None
    collections: Annotated[
        Sequence[str],
        Option(
            "-c --collection",
            "Only this collection, or all of this kind; history: commits.",
            (EXACT, SEVERAL, COMMITS),
            metavar="NAME",
            tools={"search_code": "In place of code: adrs, specs, issues, api-code."},
        ),
    ] = ()
    module: Annotated[
        str,
        Option(
            "--module",
            "Only the collections of this module of the workspace.",
            (EXACT, SEVERAL),
            metavar="NAME",
            tools={"search": "Of a workspace."},
        ),
    ] = ""
    paths: Annotated[
        Sequence[str],
        Option(
            "--path",
            "Only paths like this, as in .gitignore.",
            (EXACT, SEVERAL, HUB, COMMITS),
            metavar="GLOB",
            tools={"search_code": "Glob, as in .gitignore: src/**"},
        ),
    ] = ()
    languages: Annotated[
        Sequence[str],
        Option(
            "--lang",
            "Only this language, or suffix.",
            (EXACT, SEVERAL, HUB),
            metavar="NAME",
            tools={"search_code": "", "search_hub": ""},
        ),
    ] = ()
    kinds: Annotated[
        Sequence[str],
        Option(
            "--kind",
            "Only this kind.",
            (EXACT, SEVERAL),
            choices=tuple(kind.value for kind in Kind),
            tools={"search_code": ""},
        ),
    ] = ()
    every_chunk: Annotated[
        bool, Option("--every-chunk", "Every chunk on its own, not one hit a file.", (SEVERAL,))
    ] = False
    committed_only: Annotated[
        bool, Option("--committed", "Leave uncommitted changes out.", (EXACT, SEVERAL, HUB))
    ] = False
    ref: Annotated[
        str | None,
        Option(
            "--ref", "Search this commit, branch or tag, checked out or not.", (EXACT, COMMITS), metavar="REV"
        ),
    ] = None
    exact: Annotated[
        Literal["", "word", "regex"],
        Option(
            "",
            "",
            (EXACT,),
            EXACT,
            first=True,
            switches={
                "word": "Every line that has QUERY as whole words; case matters.",
                "regex": "Every line that QUERY, a regular expression (RE2), matches.",
            },
            tools={"search_code": "Every line with it."},
        ),
    ] = ""


class SearchCommand(SearchRequest, frozen=True):
    """A search as the command line asks it: what else it has, most of it how an answer is shown."""

    in_hub: Annotated[
        bool, Option("--hub", "Search the repositories of the hub: gitrag hub search.", (SEVERAL, HUB), HUB)
    ] = False
    context_lines: Annotated[
        int | None,
        Option(
            "--context",
            "N lines around those that match.",
            (EXACT,),
            "",
            {"full": ()},
            metavar="N",
            least=0,
            most=1000,
        ),
    ] = None
    full: Annotated[bool, Option("--full", "The whole function or class of each hit.", (EXACT,))] = False
    budget: Annotated[
        int | None,
        Option(
            "--budget",
            "Passages that answer best, of whatever file, as many as fit into N tokens.",
            excludes={"context_lines": (), "full": ()},
            metavar="N",
            least=1,
            most=MOST_TOKENS,
        ),
    ] = None
    in_editor: Annotated[
        bool,
        Option(
            "--open",
            "Open the best hit in $VISUAL or $EDITOR.",
            (EXACT, SEVERAL),
            "",
            {
                "ref": (
                    "--open opens files of the working tree; --ref searches others.",
                    "Leave out one of them.",
                )
            },
        ),
    ] = False
    no_pager: Annotated[
        bool, Option("--no-pager", "Print a long answer without a pager.", (EXACT, SEVERAL, HUB, COMMITS))
    ] = False
    scope: Scope = Scope()
    make_index: Annotated[
        bool, Option("--index", "Index the repository first if it never was.", (EXACT, COMMITS))
    ] = False
    explain: Annotated[
        bool, Option("--explain", "Say in words why each file was found; --explain=all: numbers.", (SEVERAL,))
    ] = False
    explain_all: Annotated[
        bool, Option("--explain-all", "", (SEVERAL,), is_hidden=True, label="--explain=all")
    ] = False
    with_graph: Annotated[
        bool | None,
        Option(
            "--graph/--no-graph",
            "Draw the calls around all hits; by default around likely ones, in Markdown and JSON.",
        ),
    ] = None
    unfiltered: Annotated[
        bool, Option("--unfiltered", "Draw all calls, not only those around what is found.")
    ] = False

    @property
    def why(self) -> str:
        """How it is said why a file was found: in ``words``, or ``all`` the numbers; empty if it is not."""
        return "all" if self.explain_all else "words" if self.explain else ""

    def checked(self) -> Self:
        """Return it; refuse what does not go together."""
        require_together(self)
        given = dict(given_of(self))
        others = [name for name in self.collections if name != HISTORY]
        if others and HISTORY in self.collections:
            raise UsageError(
                f"-c history and -c {others[0]} cannot be searched together.",
                "Commits are answered apart: ask twice.",
            )
        if not self.exact and self.limit is not None and self.limit > MOST_HITS:
            raise UsageError(
                f"A question has {MOST_HITS:,} hits at most, not {self.limit:,}.", "Give a smaller --limit."
            )
        asked = {option.asks: option.name for option in reversed(given.values())}
        if HISTORY in self.collections:
            asked[COMMITS] = "-c history"
        for way, (problem, hint) in WAYS.items():
            refused = [option.name for option in given.values() if way not in option.also]
            if way in asked and refused:
                raise UsageError(problem.format(option=refused[0], asked=asked[way]), hint)
        return self


class InitRequest(Struct, frozen=True):
    """What is set up of a repository, beside agents."""

    hooks: Annotated[bool, Option("--hooks/--no-hooks", "Install the git hooks.  [default: hooks]")] = True
    gitignore: Annotated[
        bool, Option("--gitignore/--no-gitignore", "Add .sdd/ to .gitignore.  [default: gitignore]")
    ] = True
    foreground: Annotated[bool, Option("--foreground", "Compute the vectors here, with a progress bar.")] = (
        False
    )
    skip_embed: Annotated[bool, Option("--skip-embed", "Compute no vectors now.")] = False


_told = partial(Option, metavar="TEXT", tools={"explore": ""})


class Sections(Struct, frozen=True):
    """What is remembered of a discussion before a change; what is empty stays as it was."""

    goals: Annotated[str, _told("--goals", "What is wanted.")] = ""
    constraints: Annotated[str, _told("--constraints", "What limits it: technology, business, time.")] = ""
    preferences: Annotated[str, _told("--preferences", "Style, technology, patterns that are liked.")] = ""
    unknowns: Annotated[str, _told("--unknowns", "What is not clear yet.")] = ""
    decisions: Annotated[str, _told("--decisions", "What has been decided.")] = ""
    context: Annotated[str, _told("--context", "Whatever else.")] = ""


class HistoryOptions(Struct, frozen=True):
    """Which commits may answer.

    Attributes:
        since: Committed at this time or later, in Unix seconds or as a user says it; None for any.
        until: Committed at this time or earlier; None for any.
        author: A part of the author's name, in any case; empty for any.
        path: A path, a directory or a glob that they change; empty for any.
        touches: The name of a definition that they change; empty for any.
        revision: Leading to this revision; None for HEAD.
        all_refs: Leading to any ref instead: branches, also of remotes, tags, HEAD; not the stash or notes.
        limit: Most commits to return.
        here: The directory that the path is seen from; where nothing is called so there, from the top.
    """

    since: Annotated[
        str | float | None, Option("--since", "Committed since then: 2026-01-31, or 30d.", metavar="TIME")
    ] = None
    until: Annotated[
        str | float | None,
        Option("--until", "Committed until then; a date counts to its end.", metavar="TIME"),
    ] = None
    author: Annotated[str, Option("--author", "Whose author's name has this part.", metavar="NAME")] = ""
    path: Annotated[str, Option("--path", "That change this file, folder or glob.", metavar="PATH")] = ""
    touches: Annotated[
        str, Option("--touches", "That change the definition of this name.", metavar="NAME")
    ] = ""
    revision: Annotated[
        str | None, Option("--ref", "That lead to this revision instead of HEAD.", metavar="REV")
    ] = None
    all_refs: Annotated[
        bool,
        Option(
            "--all",
            "That lead to any ref or to HEAD, the stash and notes apart.",
            excludes={
                "revision": ("--all and --ref do not go together.", "Give one of them."),
                "touches": (
                    "--touches follows a definition from one revision, not from --all refs.",
                    "Give the revision as --ref, or leave --all out.",
                ),
            },
        ),
    ] = False
    limit: Annotated[int, Option("-n --limit", "", least=1, most=100)] = 10
    here: str = ""
