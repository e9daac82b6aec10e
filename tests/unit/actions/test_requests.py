"""A field of a request is an option on every face."""

import re

import click
import pytest
from msgspec.structs import asdict

import gitrag
from gitrag.actions.graph_request import GraphCommand
from gitrag.actions.requests import (
    FETCHED,
    WAYS,
    HistoryOptions,
    InitRequest,
    Option,
    Scope,
    SearchCommand,
    SearchRequest,
    Sections,
    fields_of,
)
from gitrag.actions.search import SearchOptions
from gitrag.cli import explore, findings, graph, history, hub, init, search, similar, ui
from gitrag.errors import UsageError
from gitrag.mcp_server.binding import Hints, bind
from gitrag.mcp_server.memory_tools import explore as remember
from gitrag.mcp_server.question_tools import search_hub
from gitrag.mcp_server.tools import call_graph, search_code
from gitrag.mcp_server.tools import search as search_decisions
from gitrag.memory.exploration import SECTIONS

FIELDS = fields_of(SearchRequest).keys()
COMMANDS = {
    search.search: (SearchCommand, ()),
    graph.graph: (GraphCommand, FETCHED),
    history.history: (HistoryOptions, ()),
    ui.ui: (Scope, FETCHED),
    init.init: (InitRequest, ()),
    explore.save: (Sections, ()),
    hub.search: (SearchRequest, FIELDS - {"limit", "min_score", "paths", "languages"}),
    similar.similar: (SearchRequest, FIELDS - {"limit", "paths", "languages", "kinds", "committed_only"}),
}
WAYS_ASKED = {
    "several": ["--everywhere"],
    "hub": ["--hub"],
    "commits": ["-c", "history"],
    "exact": ["--word"],
}


def flat(request):
    """Yield field, option and default of everything that may be asked, the requests in it included."""
    for name, (option, default) in fields_of(request).items():
        if isinstance(option, Option):
            yield name, option, default
        else:
            yield from flat(option)


OPTIONS = list(flat(SearchCommand))
TOOLS = {
    search_code: SearchRequest,
    search_decisions: SearchRequest,
    search_hub: SearchRequest,
    call_graph: GraphCommand,
    remember: Sections,
}


def asked(*args):
    """Return what a command line asks for."""
    command = click.command()(findings.options(SearchCommand)(lambda *, asked: asked))
    return command.main(args, standalone_mode=False)


def given(option, default):
    """Return each way in which an option may be given, and the value that it then has."""
    flag = option.flags.split()[-1] if option.flags else ""
    if option.switches:
        return [([f"--{value}"], value) for value in option.switches]
    if "/" in flag:
        return list(zip([[each] for each in flag.split("/")], [True, False], strict=True))
    if default is False:
        return [([flag], True)]
    text = option.choices[0] if option.choices else "1" if option.least is not None else "go"
    value = option.number(text) if option.least is not None else text
    return [([flag, text], (value,) if default == () else value)]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.name)
def test_a_command_has_an_option_for_each_field(command):
    request, without = COMMANDS[command]
    flags = {flag: each.help for each in command.params for flag in (*each.opts, *each.secondary_opts)}
    for name, option, _default in flat(request):
        for switch in map(option.switch, option.switches) if option.switches else [option]:
            if name not in without:
                assert set(switch.flags.replace("/", " ").split()) <= flags.keys()
                assert name == "limit" or (switch.help or None) in flags.values()


@pytest.mark.parametrize(("name", "option", "default"), OPTIONS, ids=lambda each: str(each)[:20])
def test_an_option_given_is_its_field_and_heeds_what_it_goes_with(name, option, default):
    for args, value in given(option, default):
        request = asked(*args)
        holder = request if hasattr(request, name) else request.scope
        assert getattr(holder, name) == value
        for way, flags in WAYS_ASKED.items():
            if way not in option.also and not option.asks and value is not False:
                said = WAYS[way][0].format(option=option.name, asked=flags[0])
                with pytest.raises(UsageError, match=re.escape(said)):
                    asked(*args, *flags).checked()
            elif not option.asks and (name, way) != ("collections", "commits"):
                asked(*args, *flags).checked()


def test_what_is_not_given_is_as_in_the_api():
    assert asked() == SearchCommand()
    assert asdict(gitrag.SearchOptions()).items() <= asdict(SearchCommand()).items()
    assert asdict(gitrag.SearchOptions()).items() <= asdict(SearchOptions()).items()


def test_what_is_asked_for_reaches_the_search():
    every = asked(
        *(arg for name, option, default in OPTIONS if name in FIELDS for arg in given(option, default)[0][0])
    )
    options = SearchOptions.of(every)
    assert {name for name in FIELDS if getattr(options, name) == getattr(SearchOptions(), name)} == set()
    assert options.filters.kinds == every.kinds


@pytest.mark.parametrize("tool", TOOLS, ids=lambda each: each.__name__)
def test_a_tool_has_a_parameter_for_each_field_that_names_it(tool):
    parameters = bind(None, tool, Hints(), core=True).parameters["properties"]
    said = {name: each.get("description", "") for name, each in parameters.items()}
    own = [(name, option) for name, option, _default in flat(TOOLS[tool]) if tool.__name__ in option.tools]
    assert own
    for name, option in own:
        singular = {"kinds", "languages", "paths", "collections"}
        assert said[name[:-1] if name in singular else name] == option.tools[tool.__name__]


def test_every_tool_that_a_field_names_is_there():
    named = {tool for request in TOOLS.values() for _, option, _ in flat(request) for tool in option.tools}
    assert named == {each.__name__ for each in TOOLS}
    assert fields_of(Sections).keys() == set(SECTIONS)
