"""A list of files that follows a question as it is typed, with a preview; on prompt_toolkit."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import ConditionalContainer, HSplit, Layout, VSplit, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from gitrag.actions.answer import Answer
from gitrag.actions.lines import file_lines
from gitrag.actions.search import Searcher, SearchOptions
from gitrag.actions.search_box import read_box
from gitrag.cli.editor import editor_command, open_in_editor
from gitrag.errors import GitragError, NotSetUpError
from gitrag.report.parts import cut, notes_of, place_of
from gitrag.report.places import best_lines
from gitrag.report.text import as_text
from gitrag.search.engine import Hit
from gitrag.search.exact import Pattern
from gitrag.web.colouring import Colouring, Line, ShownSource
from gitrag.web.marking import Spans, marks_of, pieces, source_of
from gitrag.words.control_characters import printable
from gitrag.words.numbers import count
from gitrag.workspace import Workspace

_WIDE = 100
"""Columns from which the preview stands beside the list, not below it."""

_FILES, _LINES = 50, 500
"""Files of a question, and lines of an exact search, that are listed."""

_MOST_COLOURED = 2_000
"""Lines from the top of a file that are coloured: a screen waits for it."""

_LONGEST_LINE = 400
_SCORE_COLUMNS = 5

_STYLE = Style.from_dict(
    {
        "chosen": "reverse",
        "path": "bold",
        "number": "ansigray",
        "score": "ansigreen",
        "match": "bold ansired",  # as grep's
        "best": "bold",
        "quiet": "ansigray",
        "line": "ansigray",
        "k": "ansimagenta",
        "s": "ansigreen",
        "c": "ansigray italic",
        "n": "ansiyellow",
        "f": "ansiblue",
        "d": "ansiyellow",
        "b": "ansicyan",
        "h": "ansiblue bold",
    }
)


class _Shown(Struct, frozen=True):
    """What is on the screen of one question."""

    query: str = ""
    hits: tuple[Hit, ...] = ()
    said: str = ""
    spans: Spans = lambda _line: ()


class Picker:
    """A full-screen search.

    Args:
        search: Answers questions as they are typed.
        find: Returns a repository by the name that hits have of it; None where it is open no more.
        heard: What the user should know of the latest answer, a line each, filled by who answers.
    """

    def __init__(
        self,
        search: Searcher,
        find: Callable[[str], Workspace | None],
        heard: list[str],
        start: Path,
        environ: Mapping[str, str],
        query: str,
        *,
        color: bool,
    ) -> None:
        self._search = search
        self._find = find
        self._heard = heard
        self._start = start
        self._environ = environ
        self._shown = _Shown()
        self._row = 0
        self._scrolled = 0
        self._previewed: tuple[Hit | None, Sequence[Line]] = (None, ())
        self._colouring = Colouring() if color else None
        self._problem = ""
        self._changed = threading.Condition()
        self._wanted: str | None = query
        self._ended = False
        self._asked = Buffer(
            document=Document(query, len(query)), multiline=False, on_text_changed=lambda _: self._want()
        )
        self._app: Application[None] = Application(
            layout=Layout(self._windows(), focused_element=self._asked),
            key_bindings=self._keys(),
            style=_STYLE,
            full_screen=True,
            color_depth=None if color else ColorDepth.DEPTH_1_BIT,
        )

    def run(self) -> None:
        """Show it until the user ends it.

        Raises:
            KeyboardInterrupt: The user has pressed Ctrl-C.
        """
        asking = threading.Thread(target=self._ask_always, daemon=True)
        try:
            self._app.run(pre_run=asking.start)
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify()
            if asking.ident is not None:
                asking.join()
            if self._colouring is not None:
                self._colouring.close()

    def _windows(self) -> HSplit:
        def is_wide() -> bool:
            return self._app.output.get_size().columns >= _WIDE

        found = Window(FormattedTextControl(_safe(self._list)), wrap_lines=False)
        preview = Window(FormattedTextControl(_safe(self._preview)), wrap_lines=False)
        beside = VSplit([found, Window(width=1, char="│", style="class:line"), preview])
        below = HSplit([found, Window(height=1, char="─", style="class:line"), preview])
        return HSplit(
            [
                Window(
                    BufferControl(self._asked, input_processors=[BeforeInput("> ", "class:path")]), height=1
                ),
                Window(height=1, char="─", style="class:line"),
                ConditionalContainer(beside, Condition(is_wide)),
                ConditionalContainer(below, ~Condition(is_wide)),
                Window(FormattedTextControl(_safe(self._status)), height=1, style="class:quiet"),
            ]
        )

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("escape", eager=True)
        def _(event: KeyPressEvent) -> None:
            event.app.exit()

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            event.app.exit(exception=KeyboardInterrupt)

        for names, by in ((("down", "c-n"), 1), (("up", "c-p"), -1), (("pagedown",), 10), (("pageup",), -10)):
            for name in names:
                keys.add(name)(lambda _event, by=by: self._move(by))

        for name, by in (("s-down", 3), ("s-up", -3)):
            keys.add(name)(lambda _event, by=by: self._scroll(by))

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            del event
            if self._shown.hits:
                run_in_terminal(self._open)

        return keys

    def _move(self, by: int) -> None:
        self._row = max(0, min(self._row + by, len(self._shown.hits) - 1))
        self._scrolled = 0
        self._problem = ""

    def _scroll(self, by: int) -> None:
        self._scrolled += by

    def _chosen(self) -> Hit | None:
        """Return the chosen hit: an answer may come, with fewer hits, between any two steps here."""
        hits = self._shown.hits
        return hits[min(self._row, len(hits) - 1)] if hits else None

    def _workspace_of(self, hit: Hit) -> Workspace:
        found = self._find(hit.repository)
        if found is None:
            raise NotSetUpError(f"{hit.repository} is open no more.", "Ask again.")
        return found

    def _open(self) -> None:
        """Open the chosen file in the user's editor, and come back."""
        hit = self._chosen()
        if hit is None:
            return
        try:
            root = self._workspace_of(hit).place
            command = editor_command(self._environ, root / hit.path, best_lines(hit)[0].number)
            open_in_editor(command, self._start, self._environ)
            self._problem = ""
            self._previewed = (None, ())
        except GitragError as error:
            self._problem = f"{error} {error.hint}".strip()

    def _want(self) -> None:
        with self._changed:
            self._wanted = self._asked.text
            self._changed.notify()

    def _ask_always(self) -> None:
        """Answer the newest question, one at a time, until the screen ends."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._ended or self._wanted is not None)
                if self._ended:
                    return
                query, self._wanted = (self._wanted or "").strip(), None
            try:
                shown = self._answered(query)
            except GitragError as error:
                shown = _Shown(query, said=f"{error} {error.hint}".strip())
            except Exception as error:  # noqa: BLE001 - raised where the screen is run
                self._fail(error)
                return
            if self._ended:
                return
            self._shown, self._row, self._scrolled = shown, 0, 0
            self._app.invalidate()

    def _fail(self, error: Exception) -> None:
        """End the screen with an error, from another thread."""
        loop = self._app.loop
        if loop is not None and not self._ended:
            loop.call_soon_threadsafe(lambda: self._app.exit(exception=error))

    def _answered(self, query: str) -> _Shown:
        if not query:
            return _Shown()
        self._heard.clear()
        text, asked = read_box(query)
        limit = _LINES if asked.exact else _FILES
        options = SearchOptions.of(asked, limit=limit, grouped=True, refine_s=0.0, soon=True)
        answer = self._search(text, options)
        notes = [*answer.lacking, *notes_of(answer), *dict.fromkeys(self._heard)]
        spans = marks_of(frozenset(answer.words))
        if asked.exact:
            spans = Pattern(text, asked.exact == "regex").spans
        return _Shown(query, answer.hits, self._said(answer, notes, asked.exact), spans)

    @staticmethod
    def _said(answer: Answer, notes: list[str], exact: str) -> str:
        if exact:
            lines = count(sum(len(hit.snippet) for hit in answer.hits), "line")
            return "  ".join([lines, *notes[:1]] if answer.hits else notes[:1])
        if not answer.hits:
            return "  ".join([as_text(answer), *notes])
        return "  ".join([count(len(answer.hits), "file"), *notes[:1]])

    def _list(self) -> StyleAndTextTuples:
        size = self._app.output.get_size()
        rows = max(size.rows - 3 if size.columns >= _WIDE else (size.rows - 4) // 2, 1)
        columns = (size.columns - 1) // 2 if size.columns >= _WIDE else size.columns
        hits = self._shown.hits
        first = max(0, min(self._row - rows + 1, len(hits) - rows)) if self._row >= rows else 0
        found: StyleAndTextTuples = []
        for number, hit in enumerate(hits[first : first + rows], first):
            chosen = "class:chosen " if number == self._row else ""
            line = best_lines(hit)[0].number
            name = hit.document.title if hit.document else hit.chunk.qualified_name
            place = place_of(hit)
            room = columns - _SCORE_COLUMNS
            place = _shortened(place, room - len(f":{line}"))
            text = cut(f"{place}:{line}  {name}", room)
            end = min(len(place), len(text))
            found += [
                (f"{chosen}class:score", f"{hit.score:.2f} "),
                (f"{chosen}class:path", text[:end]),
                (chosen, text[end:].ljust(room - end)),
                ("", "\n"),
            ]
        return found

    def _preview(self) -> StyleAndTextTuples:
        hit = self._chosen()
        if hit is None:
            return []
        size = self._app.output.get_size()
        rows, columns = size.rows, size.columns // 2 if size.columns >= _WIDE else size.columns
        best = {line.number for line in best_lines(hit)}
        try:
            lines = self._lines_of(hit)
        except GitragError as error:
            return [("class:quiet", str(error))]
        top = max(min(best) - rows // 4, 1)
        self._scrolled = max(min(self._scrolled, len(lines) - top), 1 - top)
        first = top + self._scrolled
        found: StyleAndTextTuples = [
            ("class:path", _shortened(place_of(hit), columns)),
            ("", "\n"),
        ]
        for number, line in enumerate(lines[first - 1 : first + rows], first):
            found.append(("class:number", f"{number:>5}  "))
            found += _marked(line, self._shown.spans, "class:best" if number in best else "")
            found.append(("", "\n"))
        return found

    def _lines_of(self, hit: Hit) -> Sequence[Line]:
        """Return the lines of a hit's file in parts; those of the last one that was asked are kept."""
        known, lines = self._previewed
        if known is not hit:
            texts = [text[:_LONGEST_LINE] for text in file_lines(self._workspace_of(hit), hit.path)]
            source = source_of(hit.path, texts)
            lines = [(("", text),) for text in source.lines]
            if self._colouring is not None:
                top = ShownSource(hit.path, source.lines[:_MOST_COLOURED])
                (parts,) = self._colouring.read([top])
                lines[: len(parts or ())] = parts or ()
            self._previewed = (hit, lines)
        return lines

    def _status(self) -> StyleAndTextTuples:
        said = self._problem or self._shown.said
        keys = "↑↓ choose  Enter opens  Esc ends  Shift-↑↓ scrolls"
        return [("", f"{said}  " if said else ""), ("", keys)]


def _safe(made: Callable[[], StyleAndTextTuples]) -> Callable[[], StyleAndTextTuples]:
    """Return what makes the same parts without control characters; a line end is a part of its own."""
    return lambda: [(style, text if text == "\n" else printable(text)) for style, text, *_ in made()]


def _shortened(path: str, columns: int) -> str:
    """Return a path without its first folders where it is too long: its name says most."""
    rest = path
    while cut(rest, columns) != rest and "/" in rest.removeprefix("…/"):
        rest = "…/" + rest.removeprefix("…/").partition("/")[2]
    return rest


def _marked(line: Line, spans: Spans, style: str) -> StyleAndTextTuples:
    """Return a line with what was searched for marked."""
    own = spans("".join(text for _, text in line))
    found: StyleAndTextTuples = []
    start = 0
    for kind, text in line:
        coloured = f"{style} class:{kind}" if kind else style
        found += [
            (f"{coloured} class:match" if is_match else coloured, piece)
            for piece, is_match in pieces(text, own, start)
        ]
        start += len(text)
    return found
