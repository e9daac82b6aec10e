"""Read a file as text; of a Jupyter notebook what its cells say, at the lines of the file: no JSON."""

from __future__ import annotations

from json import JSONDecoder

from msgspec import Struct, field

from gitrag.chunking.languages import BY_NAME
from gitrag.late import late_re
from gitrag.words import encodings

NOTEBOOK = "notebook"
"""The language of files that are read as their cells only, so that their size says little of their text."""

MOST_NOTEBOOK_BYTES = 64 << 20
"""Larger notebooks are not read to see how much of them is text."""


def decode(data: bytes, language: str | None = None) -> str:
    """Return the text of a file, whatever it is in: `gitrag.words.encodings`.

    Args:
        language: Its language: a notebook's text is that of its cells, whatever else the file holds.
    """
    text = encodings.decode(data)
    if language == NOTEBOOK:
        return readable(text)
    return text


Wanted = dict[str, "Wanted"]

# What is read of a notebook; everything else (images, HTML, states of widgets) is skipped. nbformat 3 has its
# cells in worksheets, and calls the source of code its input.
_CELLS: Wanted = {
    "cell_type": {},
    "source": {},
    "input": {},
    "language": {},
    "metadata": {"vscode": {"languageId": {}}},
    "outputs": {"text": {}, "data": {"text/plain": {}}, "ename": {}, "evalue": {}},
}
_NOTEBOOK: Wanted = {
    "cells": _CELLS,
    "worksheets": {"cells": _CELLS},
    "metadata": {"kernelspec": {"language": {}}, "language_info": {"name": {}}},
}

# A longer line of an output is data.
MAX_OUTPUT_LINE_CHARS = 500

MARK = late_re(r"# %% cell \d+ \[([\w-]+)\]")
"""The line above a cell's source, or its output: the cell's number, and the language, in Jupytext's form."""

OUTPUT = "output"

_ALIASES = {
    "c++": "cpp",
    "c++11": "cpp",
    "c++14": "cpp",
    "c++17": "cpp",
    "c++20": "cpp",
    "c#": "csharp",
    "f#": "fsharp",
    "js": "javascript",
    "node": "javascript",
    "ts": "typescript",
    "py": "python",
    "pwsh": "powershell",
    "sh": "bash",
    "shell": "bash",
    "zsh": "bash",
    "console": "bash",
    "md": "markdown",
    "ipython": "python",
    "ipython3": "python",
    "python3": "python",
    "pyspark": "python",
    "sage": "python",
    "sagemath": "python",
    "ir": "r",
    "yml": "yaml",
    "golang": "go",
    "objective-c": "objc",
}
_MAGIC = late_re(r"%%(bash|sh|sql|R|js|javascript|html|markdown|ruby|perl|julia)\b")
_SPACE = late_re(r"[ \t\r\n]*")
_TERMINAL = late_re(r"\x1b\[[0-9;]{0,40}[A-Za-z]|\0")
_EMBEDDED = late_re(r"data:[\w/+.;-]{1,80}base64,[A-Za-z0-9+/=]{64,}")

_decode = JSONDecoder(strict=False).raw_decode


def named(language: str) -> str:
    """Return our name of a language that a notebook or a block of code names; empty if it is unknown."""
    name = language.lower()
    name = _ALIASES.get(name, name)
    return name if name in BY_NAME else ""


_Piece = tuple[int, str, bool]
"""The row of the file that a text of a cell, usually a line, is in; the text; whether it was printed."""


class _Cell(Struct):
    kind: str = "code"
    language: str = ""
    source: list[_Piece] = field(default_factory=list)
    outputs: list[_Piece] = field(default_factory=list)


class _Reader:
    """Reads the values that are wanted, and where they stand."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._row = self._counted = 0
        self.found: list[tuple[str, int, str | None]] = []

    def read(self, at: int, wanted: Wanted | None, path: str = "") -> int:
        """Read the value at a place, noting what is wanted: path, row and text; return where it ends."""
        text = self._text
        if wanted is None or text[at] not in "{[":
            value, end = _decode(text, at)
            if wanted is not None and isinstance(value, str):
                self.found.append((path, self._row_of(at), value))
            return int(end)
        is_object = text[at] == "{"
        self.found.append((path, self._row_of(at), None if is_object else ""))
        at = self._next(at + 1)
        while text[at] not in "}]":
            inner, own = wanted, path
            if is_object:
                key, end = _decode(text, at)
                inner, own = wanted.get(key), f"{path}.{key}"  # type: ignore[assignment]
                at = self._next(self._next(end) + 1)
            at = self._next(self.read(at, inner, own))
            if text[at] == ",":
                at = self._next(at + 1)
        return at + 1

    def _next(self, at: int) -> int:
        return _SPACE.match(self._text, at).end()  # type: ignore[union-attr]  # matches anything

    def _row_of(self, at: int) -> int:
        self._row += self._text.count("\n", self._counted, at)
        self._counted = at
        return self._row


def readable(text: str) -> str:
    """Return a notebook's cells as text: Markdown, code, and what it printed; images and HTML are not.

    Each line of a cell has the number that it has in the file, and a line above the cell says its number and
    language. If several lines of a cell share a line of the file, as in a notebook without line ends, the
    text has lines of its own.

    Args:
        text: The file; what is no notebook is returned as it is, so also what this has returned.
    """
    if not text.lstrip().startswith("{"):
        return text
    reader = _Reader(text)
    try:
        reader.read(text.index("{"), _NOTEBOOK)
    except (ValueError, IndexError, TypeError, RecursionError):
        return text
    cells, kernel = _cells(reader.found)
    if not cells:
        return text
    blocks: list[list[_Piece]] = []
    for number, cell in enumerate(cells, 1):
        language = named(cell.language) or kernel if cell.kind == "code" else cell.kind
        first = next((own for _, said, _ in cell.source if (own := said.strip())), "")
        if cell.kind == "code" and (magic := _MAGIC.match(first)):
            language = named(magic[1]) or language
        for pieces, said in ((cell.source, language), (cell.outputs, OUTPUT)):
            if any(own.strip() for _, own, _ in pieces):
                row, _, printed = pieces[0]
                head = row, f"# %% cell {number} [{said}]", printed
                blocks.append([head, *(piece for piece in pieces if piece[1])])
    blocks.sort(key=lambda block: block[0][0])
    return _clean("\n".join(_laid_out([piece for own in blocks for piece in own], text.count("\n") + 1)))


def _cells(found: list[tuple[str, int, str | None]]) -> tuple[list[_Cell], str]:
    """Return the cells, and the kernel's language: Python, if the notebook does not say."""
    cells: list[_Cell] = []
    kernel = ""
    for where, row, value in found:
        path = where.removeprefix(".worksheets").removeprefix(".cells")
        if where.startswith(".metadata."):
            kernel = named(value) or kernel or "text" if value else kernel
        elif where.endswith(".cells") and value is None:
            cells.append(_Cell())
        elif cells and value is not None:
            cell = cells[-1]
            if path == ".cell_type":
                cell.kind = value if value in ("code", "markdown") else "text"
            elif path in (".language", ".metadata.vscode.languageId"):
                cell.language = value
            elif path in (".source", ".input"):
                cell.source.append((row, value.replace("\r\n", "\n"), False))
            elif path.startswith(".outputs"):
                printed = "\n".join(map(_printed, value.split("\n"))).rstrip()
                cell.outputs.append((row, printed, True))
    return cells, kernel or "python"


def _printed(line: str) -> str:
    return line.rstrip("\r").rpartition("\r")[2][:MAX_OUTPUT_LINE_CHARS]


def _laid_out(pieces: list[_Piece], rows: int) -> list[str]:
    """Return the lines of a text: those of the file, if each line of a source has one of its own."""
    said: dict[int, list[str]] = {}
    last = -1
    for row, text, printed in pieces:
        line = text.removesuffix("\n")
        if printed:
            said.setdefault(row, []).extend(line.split("\n"))
        elif row <= last or "\n" in line:
            return [line for _, text, _ in pieces for line in text.removesuffix("\n").split("\n")]
        else:
            said[row] = [line] if line else []
            last = row
    return [" ".join(said.get(row, ())) for row in range(rows)]


def _clean(text: str) -> str:
    """Drop what is no text: images within Markdown, terminals' colours, halves of characters."""
    text = _TERMINAL.sub("", _EMBEDDED.sub("data:", text))
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
