"""What a client may read without a tool: core files and decisions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from gitrag.actions.core_context import MarkedFiles, core_context, marked_files, project_of
from gitrag.actions.governance.bearings import indexed_documents
from gitrag.actions.lines import file_lines
from gitrag.corpus.layout import CollectionKind
from gitrag.errors import GitragError
from gitrag.machine.refusals import refusal
from gitrag.mcp_server.workbench import Workbench, advice
from gitrag.words.control_characters import Text, joined, printable

_MARKDOWN = "text/markdown"


def add_resources(server: MCPServer, bench: Workbench) -> None:
    """Offer core files and decisions: lists of both, and each by its path or id."""
    tell = partial(_told, bench)

    @server.resource("gitrag://core", name="core", title="Core files", mime_type=_MARKDOWN)
    async def core() -> str:
        """The files marked as core, with summaries and key signatures."""
        return await tell(
            lambda: Text(
                core_context(bench.workspace, _marked(bench)).strip()
                or "No file is marked as core of this project."
            )
        )

    @server.resource("gitrag://core/{+path}", name="core-file", title="A core file", mime_type="text/plain")
    async def core_file(path: str) -> str:
        """A core file, whole."""
        return await tell(lambda: _core_file(bench, path))

    @server.resource("gitrag://adrs", name="adrs", title="Decisions", mime_type=_MARKDOWN)
    async def adrs() -> str:
        """All architecture decisions (ADRs), a line each."""
        return await tell(lambda: _adrs(bench))

    @server.resource("gitrag://adrs/{id}", name="adr", title="A decision", mime_type=_MARKDOWN)
    async def adr(id: str) -> str:  # noqa: A002 - the template's name
        """An architecture decision, whole, by its id (ADR-0001)."""
        return await tell(lambda: _adr(bench, id))


async def _told(bench: Workbench, read: Callable[[], str]) -> str:
    def work() -> str:
        with bench.lock:
            bench.workspace.require_repository()
            return printable(read())

    try:
        return await bench.in_thread(work)
    except (GitragError, OSError) as error:
        told = refusal(error)
        if told is None:
            raise
        raise ResourceError(printable(advice(told))) from None


def _marked(bench: Workbench) -> MarkedFiles:
    return marked_files(bench.core, project_of(bench.workspace))


def _core_file(bench: Workbench, path: str) -> str:
    if path not in {each.path for each in _marked(bench).files}:
        raise ResourceNotFoundError(f"{path} is not marked as core of this project.")
    return Text("\n".join(file_lines(bench.workspace, path)) + "\n")


def _adrs(bench: Workbench) -> str:
    found = indexed_documents(bench.workspace, (CollectionKind.ADRS,))
    lines = [f"- {each.id}: {each.title} ({each.path})" for _kind, each, _text in found]
    return joined(lines) or "No ADR is indexed here."


def _adr(bench: Workbench, wanted: str) -> str:
    for _kind, each, text in indexed_documents(bench.workspace, (CollectionKind.ADRS,)):
        if each.id.lower() == wanted.lower():
            return Text(text)
    raise ResourceNotFoundError(f"No indexed ADR has the id {wanted}.")
