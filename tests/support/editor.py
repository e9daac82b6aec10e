"""An editor that starts `gitrag lsp`: pygls' client, and what a user does in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from tests.support.command import GITRAG, PATIENCE_S, Project, program


class Editor:
    """A running editor.

    Attributes:
        client: pygls' client, for what is not below.
        told: What the server has shown the user.
    """

    def __init__(self) -> None:
        self.client = LanguageClient("editor", "1")
        self.told: list[str] = []
        self.refreshed = 0
        self.client.feature(types.WINDOW_SHOW_MESSAGE)(self._show())
        self.client.feature(types.WORKSPACE_CODE_LENS_REFRESH)(self._refresh())

    def _show(self) -> Callable[[Any], None]:
        def show(params: types.ShowMessageParams) -> None:
            self.told.append(params.message)

        return show

    def _refresh(self) -> Callable[[Any], None]:
        def refresh(_params: Any) -> None:
            self.refreshed += 1

        return refresh

    def open(self, file: Path, text: str | None = None) -> str:
        """Open a file, maybe with other text than is on the disk; return its address."""
        uri = file.as_uri()
        shown = file.read_text("utf-8") if text is None else text
        item = types.TextDocumentItem(uri, "", 1, shown)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, text: str) -> None:
        """Type: the text is now this."""
        own = types.VersionedTextDocumentIdentifier(2, uri)
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(own, [whole]))

    async def symbols(self, query: str) -> list[types.WorkspaceSymbol]:
        found = await self.client.workspace_symbol_async(types.WorkspaceSymbolParams(query))
        return list(found or ())  # type: ignore[arg-type]

    async def references(self, uri: str, at: tuple[int, int], *, own: bool = False) -> list[tuple[str, ...]]:
        """Return path's last part, and where from there: line and both characters."""
        params = types.ReferenceParams(
            types.ReferenceContext(own), types.TextDocumentIdentifier(uri), types.Position(*at)
        )
        return [place(each) for each in await self.client.text_document_references_async(params) or ()]

    async def hover(self, uri: str, line: int) -> str:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, 0))
        found = await self.client.text_document_hover_async(params)
        if found is None:
            return ""
        assert isinstance(found.contents, types.MarkupContent)
        assert found.contents.kind == types.MarkupKind.PlainText
        return found.contents.value

    async def items(self, uri: str, at: tuple[int, int]) -> list[types.CallHierarchyItem]:
        params = types.CallHierarchyPrepareParams(types.TextDocumentIdentifier(uri), types.Position(*at))
        return list(await self.client.text_document_prepare_call_hierarchy_async(params) or ())

    async def lenses(self, uri: str) -> dict[str, tuple[int, str]]:
        """Return the line and the text of each lens, resolved, by the name of its definition."""
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        found = await self.client.text_document_code_lens_async(params) or ()
        resolved = [await self.client.code_lens_resolve_async(each) for each in found]
        return {each.data[1]: (each.range.start.line, each.command.title) for each in resolved}  # type: ignore[index, union-attr]


def place(location: types.Location) -> tuple[Any, ...]:
    """Return a file's name, line, and first and last character."""
    own = location.range
    assert own.start.line == own.end.line
    return location.uri.rpartition("/")[2], own.start.line, own.start.character, own.end.character


def edit(
    project: Project,
    steps: Callable[[Editor], Awaitable[Any]],
    *folders: Path,
    capabilities: types.ClientCapabilities | None = None,
    command: tuple[str, ...] = (),
) -> Any:
    """Start an editor on folders, do something in it, and end it: nothing may be on stderr.

    Args:
        folders: Else the project's.
        command: What starts the server, if not the quick way.
    """

    async def run() -> Any:
        editor = Editor()
        environment = dict(project.gitrag.environment)
        started = command or (str(program(environment) if project.gitrag.forks else GITRAG), "lsp")
        await editor.client.start_io(*started, env=environment, cwd=project.path)
        open_ = [types.WorkspaceFolder(each.as_uri(), each.name) for each in folders or (project.path,)]
        can = capabilities or types.ClientCapabilities()
        await editor.client.initialize_async(types.InitializeParams(can, workspace_folders=open_))
        editor.client.initialized(types.InitializedParams())
        found = await steps(editor)
        await editor.client.shutdown_async(None)
        editor.client.exit(None)
        server = editor.client._server
        assert server is not None
        assert server.stderr is not None
        said = await server.stderr.read()
        assert (await server.wait(), said) == (0, b"")
        return found

    return asyncio.run(asyncio.wait_for(run(), PATIENCE_S))
