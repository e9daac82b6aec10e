"""Speak the Language Server Protocol over standard streams; answers are worked out in threads."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from lsprotocol.types import (
    CALL_HIERARCHY_INCOMING_CALLS,
    CALL_HIERARCHY_OUTGOING_CALLS,
    CODE_LENS_RESOLVE,
    TEXT_DOCUMENT_CODE_LENS,
    TEXT_DOCUMENT_DID_SAVE,
    TEXT_DOCUMENT_HOVER,
    TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY,
    TEXT_DOCUMENT_REFERENCES,
    WORKSPACE_SYMBOL,
    CodeLensOptions,
    DidSaveTextDocumentParams,
    LogMessageParams,
    LSPErrorCodes,
    MessageType,
    ShowMessageParams,
    TextDocumentSyncKind,
)
from platformdirs import user_state_path
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from gitrag import __version__
from gitrag.callgraph.loading import TimeoutReachedError
from gitrag.errors import GitragError, NotSetUpError
from gitrag.lsp.answers import Projects, Request
from gitrag.lsp.lines import path_of
from gitrag.machine.log import NAME as LOG
from gitrag.machine.log import logged
from gitrag.words.control_characters import sanitise_line

_THREADS = 8
"""Requests that are worked on or wait for their turn; those cancelled do not."""

_FEATURES = {
    WORKSPACE_SYMBOL: "symbols",
    TEXT_DOCUMENT_REFERENCES: "references",
    TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY: "prepare",
    CALL_HIERARCHY_INCOMING_CALLS: "incoming",
    CALL_HIERARCHY_OUTGOING_CALLS: "outgoing",
    TEXT_DOCUMENT_HOVER: "hover",
    TEXT_DOCUMENT_CODE_LENS: "lenses",
    CODE_LENS_RESOLVE: "lens",
}
_OPTIONS = {TEXT_DOCUMENT_CODE_LENS: CodeLensOptions(resolve_provider=True)}


class _LanguageServer(LanguageServer):
    """A server that logs what goes wrong with a message, in place of showing it."""

    def report_server_error(self, error: Exception, source: Any) -> None:
        self.log_bug(error, f"a message ({source.__name__})")

    def log_bug(self, error: Exception, what: str) -> str:
        """Log a bug in the user's log, as it may be of no repository; return the message for the editor."""
        directory = user_state_path("gitrag")
        with logged(directory) as log:
            log.error("a bug in the answer to %s", what, exc_info=error)
        return f"gitrag hit a bug; the traceback is in {directory / LOG}."


class _Answering:
    """The server, its threads, and what it has told the user."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        # The whole text at each change: pygls cuts lines at form feeds too, where the protocol does not.
        self.server = _LanguageServer("gitrag", __version__, TextDocumentSyncKind.Full)
        self._projects = Projects(environ, self._say)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="lsp")
        self._told: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        for method, answer in _FEATURES.items():
            self.server.feature(method, _OPTIONS.get(method))(self._handler(method, answer))

        @self.server.feature(TEXT_DOCUMENT_DID_SAVE)
        def saved(_params: DidSaveTextDocumentParams) -> None:
            self._refresh()

    def _handler(self, method: str, answer: str) -> Callable[[Any], Any]:
        async def handle(params: Any) -> Any:
            self._loop = asyncio.get_running_loop()
            request = self._request()
            try:
                return await self._loop.run_in_executor(self._threads, getattr(request, answer), params)
            except asyncio.CancelledError:
                request.stop()
                raise
            except NotSetUpError as error:
                self._tell(f"{error} {error.hint}".strip())
                return None if method != CODE_LENS_RESOLVE else params
            except GitragError as error:
                said = f"{error} {error.hint}".strip()
            except TimeoutReachedError:
                said = "The calls could not be read in time: `gitrag graph` tells more."
            except Exception as error:  # noqa: BLE001 - the boundary: any other is a bug, and is logged
                said = self.server.log_bug(error, method)
            raise JsonRpcException(sanitise_line(said), LSPErrorCodes.RequestFailed.value)

        return handle

    def _request(self) -> Request:
        workspace = self.server.workspace
        texts = {uri: document.source for uri, document in workspace.text_documents.items()}
        roots = [*workspace.folders] or ([workspace.root_uri] if workspace.root_uri else [])
        folders = [path for each in roots if (path := path_of(each)) is not None and path.is_dir()]
        return Request(self._projects, folders, texts, workspace.position_codec.client_num_units)

    def _refresh(self) -> None:
        """Have the lenses of all open files asked for again."""
        asked = self.server.client_capabilities.workspace
        if asked is not None and asked.code_lens is not None and asked.code_lens.refresh_support:
            self.server.workspace_code_lens_refresh(None)

    def _tell(self, text: str) -> None:
        """Tell the user once."""
        if text not in self._told:
            self._told.add(text)
            shown = ShowMessageParams(MessageType.Warning, sanitise_line(text))
            self.server.window_show_message(shown)

    def _say(self, line: str) -> None:
        """Put what a thread has to say into the editor's log."""
        shown = LogMessageParams(MessageType.Info, sanitise_line(line))
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self.server.window_log_message, shown)


def serve(environ: Mapping[str, str]) -> None:
    """Serve over standard input and output until the input ends; child processes get neither."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # else Ctrl-C waits for the thread that reads the input
    for name in ("pygls", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # what goes wrong is in gitrag's own log
    given, taken = os.fdopen(os.dup(0), "rb", closefd=False), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    _Answering(environ).server.start_io(given, taken)
