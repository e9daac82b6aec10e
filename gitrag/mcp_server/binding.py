"""Turn functions into MCP tools: check arguments, run in a thread, report errors, allow cancelling."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

import anyio
import anyio.from_thread
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata, func_metadata
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ListRootsRequest, ListRootsResult, TextContent, ToolAnnotations
from msgspec import Struct
from pydantic import ConfigDict, Field, ValidationError

from gitrag.actions.requests import Option, fields_of
from gitrag.machine.refusals import refusal
from gitrag.mcp_server.replies import Freshness, WordData
from gitrag.mcp_server.workbench import StoppedError, ToolCall, Workbench, advice
from gitrag.report.told import plain_data
from gitrag.words.control_characters import printable, sanitise, sanitise_line

_PATIENCE_S = 2.0
"""How long a client may take to say its roots, before it is answered without."""

_MOST = 64

MOST_MESSAGE_BYTES = 4 * 1024 * 1024
"""The SDK's own limit over HTTP; parsing takes 10 ms per MiB, in the thread that also answers pings."""

MOST_TEXT_CHARS = 100_000
"""Longest argument: a chapter of a book, pasted. Splitting a query of 6,000,000 characters took 20 s."""

MOST_VALUES = 50_000
"""Most values in all arguments together, such as the names of changed files."""


async def client_roots(context: Context[Any, Any]) -> tuple[Path, ...]:
    """Ask the client for its roots; none where it has none, or does not say in time."""
    capabilities = context.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return ()
    try:
        with anyio.move_on_after(_PATIENCE_S):
            found = await context.session.send_request(ListRootsRequest(), ListRootsResult)
            return tuple(path for each in found.roots[:_MOST] if (path := directory_of(str(each.uri))))
    except (MCPError, ValueError):  # it cannot be asked, refuses, or says what the protocol has not
        return ()
    return ()


def directory_of(uri: str) -> Path | None:
    """Return the directory that a ``file:`` URI names; None where it names none of this machine."""
    try:
        parts = urlsplit(uri)
        path = Path(unquote(parts.path))
        is_here = parts.scheme == "file" and parts.netloc in {"", "localhost"} and path.is_absolute()
        return path if is_here and path.is_dir() else None
    except (OSError, ValueError):
        return None


_CONTEXT = "protocol context"
"""The key under which the protocol's context is passed: with its space, no argument can have that name."""

_MOST_PROBLEMS = 5
_LONGEST_PLACE = 60


class Reply(Struct, frozen=True):
    """What a tool answers: a text to read, a `Text` if it has several lines, and the same as data.

    Attributes:
        form: The row of `gitrag.report.told` that it is told by; empty where ``found`` is all there is.
        words: What is known of the question's words.
    """

    text: str
    found: Any
    form: str = ""
    freshness: Freshness | None = None
    project: str = ""
    words: WordData = WordData()


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client may know of a tool before it calls it.

    Attributes:
        reads_only: It changes none of the user's data; the index, which is derived, may be updated.
        replaces: It may replace or remove data that the user gave.
        repeatable: Called again with the same arguments, it changes nothing more.
        reaches_out: It may use the network.
        needs_index: It answers from the index: a repository that never was indexed is, first.
        asks_several: It may ask several repositories: the client is asked which it works in.
    """

    reads_only: bool = True
    replaces: bool = False
    repeatable: bool = True
    reaches_out: bool = False
    needs_index: bool = False
    asks_several: bool = False


class _Arguments(FuncMetadata):
    """Arguments as given: a string argument that looks like JSON stays a string."""

    def pre_parse_json(self, data: dict[str, Any]) -> dict[str, Any]:
        texts = {
            name: value
            for name, value in data.items()
            if isinstance(value, str) and self.arg_model.model_fields.get(name) is not None
            if self.arg_model.model_fields[name].annotation is str
        }
        rest = {name: value for name, value in data.items() if name not in texts}
        return super().pre_parse_json(rest) | texts


class _BoundTool(Tool):
    """A tool whose error messages name the arguments it accepts."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        given = {name: value for name, value in arguments.items() if value is not None}
        if problem := too_much(self.name, given):
            raise ToolError(problem)
        try:
            self.fn_metadata.validate_arguments(given)
        except ValidationError as error:
            raise ToolError(_refusal(self, error)) from None
        return await super().run(given, context, convert_result)


def too_much(tool: str, arguments: Mapping[str, object]) -> str:
    """Return which of a tool's arguments exceeds a limit; empty if none does."""
    values = 0
    for name, argument in arguments.items():
        waiting: list[object] = [argument]
        while waiting:
            value = waiting.pop()
            values += 1
            if isinstance(value, str) and len(value) > MOST_TEXT_CHARS:
                return (
                    f"{tool}: {name[:60]!r} has a text of {len(value):,} characters;"
                    f" {MOST_TEXT_CHARS:,} are allowed. Send what matters of it."
                )
            if isinstance(value, dict):
                waiting += [*value, *value.values()]
            elif isinstance(value, list):
                waiting += value
            if values + len(waiting) > MOST_VALUES:
                return (
                    f"{tool}: {name[:60]!r} has more than {MOST_VALUES:,} values, which is the most."
                    " Send fewer at a time."
                )
    return ""


def bind(bench: Workbench, function: Callable[..., Reply], hints: Hints, *, core: bool) -> Tool:
    """Return a function as a tool of the same name; its docstring is the description.

    Args:
        function: Takes the workbench, the call, and the tool's arguments; returns a ``Reply``.
        core: Whether clients that look tools up only when they need them are to load it at the start.
    """
    name = function.__name__
    function = _asking(function)
    model = func_metadata(function, skip_names=["bench", "call"], structured_output=False).arg_model
    strict = _strict(model)

    async def run(**arguments: Any) -> CallToolResult:
        context = arguments.pop(_CONTEXT)
        reply = await _run(bench, function, context, arguments, hints)
        content = [TextContent(type="text", text=printable(reply.text))]
        return CallToolResult(
            content=list(content),
            # Control characters are escaped as in the text: a client may show either in a terminal.
            structured_content=plain_data(reply if reply.form else reply.found, reply.form, sanitise),
        )

    return _BoundTool(
        fn=run,
        name=name,
        title=None,
        description=inspect.getdoc(function) or "",
        parameters=_plain_schema(strict.model_json_schema(by_alias=True)),
        fn_metadata=_Arguments(arg_model=strict),  # no schema of the output: it was two thirds of the list
        is_async=True,
        context_kwarg=_CONTEXT,
        annotations=_annotations(hints),
        meta={"anthropic/alwaysLoad": True} if core else None,  # code.claude.com/docs/en/mcp
    )


def _asking(function: Callable[..., Reply]) -> Callable[..., Reply]:
    """Return a function that takes, one by one, the options for this tool of the request that is ``asked``.

    Where a request has several values, an agent gives one.
    """
    signature = inspect.signature(function, eval_str=True)
    if "asked" not in signature.parameters:
        return function
    request: Any = signature.parameters["asked"].annotation
    options = {
        name.removesuffix("s") if default == () else name: (name, option, default)
        for name, (option, default) in fields_of(request).items()
        if isinstance(option, Option) and function.__name__ in option.tools
    }

    @wraps(function)
    def ask(*args: Any, **given: Any) -> Reply:
        own = {}
        for parameter, (name, _option, default) in options.items():
            value = given.pop(parameter)
            own[name] = (value,) if value and default == () else value or default
        return function(*args, asked=request(**own), **given)

    def typed(option: Option, default: Any) -> Any:
        values = tuple(option.choices or option.switches)
        plain = type(default) if isinstance(default, int) else str
        kind: Any = Literal[(option.all_switches, *values)] if values else plain
        said = option.tools[function.__name__]
        least, most = (option.least, option.most) if plain is int else (None, None)
        return Annotated[kind, Field(description=said or None, ge=least, le=most)]

    parameters: list[inspect.Parameter] = []
    for each in signature.parameters.values():
        asked = [
            each.replace(
                name=name,
                default=default if isinstance(default, str | int) else "",
                annotation=typed(option, default),
            )
            for name, (_name, option, default) in options.items()
        ]
        parameters += asked if each.name == "asked" else [each]
    ask.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return ask


def _annotations(hints: Hints) -> ToolAnnotations:
    """Return the hints for clients; those on writes only for a tool that writes, as the protocol has it."""
    writes = not hints.reads_only
    return ToolAnnotations(
        read_only_hint=hints.reads_only,
        destructive_hint=hints.replaces if writes else None,
        idempotent_hint=hints.repeatable if writes else None,
        open_world_hint=hints.reaches_out,
    )


def _plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema of arguments without what every agent would read in vain.

    Left out are titles, which repeat names, defaults that are empty, and definitions used once.
    """
    definitions = schema.pop("$defs", {})
    for each in schema["properties"].values():
        if reference := each.pop("$ref", ""):
            each |= {
                key: value
                for key, value in definitions[reference.rpartition("/")[2]].items()
                if key != "description"
            }
        each.pop("title", None)
        if each.get("default") in ("", False, []):
            del each["default"]
        if "enum" in each:
            each.pop("type", None)
            each["enum"] = [value for value in each["enum"] if value != ""]
    schema.pop("title", None)
    return schema


async def _run(
    bench: Workbench,
    function: Callable[..., Reply],
    context: Context[Any, Any],
    arguments: dict[str, Any],
    hints: Hints,
) -> Reply:
    """Run a tool in a thread when its turn comes; stop it when the client cancels."""

    def tell(done: float, total: float | None, what: str) -> None:
        try:
            anyio.from_thread.run(context.report_progress, done, total, what)
        except (RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise StoppedError from error

    call = ToolCall(tell)

    def work() -> Reply:
        with bench.lock:
            call.check()
            bench.workspace.require_repository()
            if hints.needs_index:
                bench.index_first(call)
            return function(bench, call, **arguments)

    try:
        if hints.asks_several:
            call.roots = await client_roots(context)
        return await bench.in_thread(partial(work))
    except anyio.get_cancelled_exc_class():
        call.stop()
        raise
    except StoppedError:
        raise ToolError("Stopped.") from None
    except Exception as error:  # noqa: BLE001 - the boundary: logged, and reported without the exception's text
        told = refusal(error)
        raise ToolError(
            printable(advice(told)) if told else bench.log_bug(function.__name__, error)
        ) from None


def _strict(model: type[ArgModelBase]) -> type[ArgModelBase]:
    """Return a model of the arguments that rejects unknown ones."""
    settings = {"model_config": ConfigDict(extra="forbid"), "__module__": model.__module__}
    return type(model.__name__, (model,), settings)


def _refusal(tool: Tool, error: ValidationError) -> str:
    problems = []
    found = error.errors(include_url=False, include_context=False, include_input=False)
    for each in found[:_MOST_PROBLEMS]:
        place = sanitise_line(".".join(str(part) for part in each["loc"]))[:_LONGEST_PLACE]
        unknown = each["type"] == "extra_forbidden"
        problems.append(f"unknown parameter {place}" if unknown else f"{place}: {each['msg']}")
    if len(found) > _MOST_PROBLEMS:
        problems.append(f"and {len(found) - _MOST_PROBLEMS:,} more")
    takes = ", ".join(tool.parameters["properties"]) or "nothing"
    return f"{'; '.join(problems)}. {tool.name} takes {takes}."
