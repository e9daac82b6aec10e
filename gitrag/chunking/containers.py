"""Files of parts in several languages: where the parts are, and what their languages' parsers see of them.

A row of ``CONTAINERS`` says how to find the parts; each is then cut, read for calls and for names like a file
of its own, at the lines that it has in the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import dedent

from msgspec import Struct

from gitrag.chunking.notebooks import MARK, named

_Lines = Sequence[str]


class Part(Struct):
    """Consecutive rows of a file that are in a language of their own.

    Attributes:
        first: The first row, 0-based.
        language: Our name of the language.
        read: What its parser sees of each row: marks, prefixes and whatever else is of no language are blank.
    """

    first: int
    language: str
    read: list[str]

    @property
    def stop(self) -> int:
        """The row after the last."""
        return self.first + len(self.read)


class Container(Struct, frozen=True):
    """How a file of several languages is taken apart.

    Attributes:
        parts: Finds the parts, in order, from the file's lines.
        rest: What is around the parts: prose of a language, or, if empty, markup.
        signs: Texts without one of which a file has no parts.
        defines: Texts one of which a part has if it defines something: else it stays with what is around it.
            Empty where each part is cut apart. (To parse each script of a workflow takes 60 times as long as
            the rest.)
    """

    parts: Callable[[_Lines], Iterable[Part]]
    rest: str = ""
    signs: tuple[str, ...] = ("",)
    defines: tuple[str, ...] = ()

    def cuts(self, text: str) -> bool:
        """Tell whether a file, or a part of one, may have to be cut apart."""
        return not self.defines or any(each in text for each in self.defines)


def container_of(text: str, language: str | None) -> Container | None:
    """Return how a file is taken apart; None if it is in one language as a whole."""
    row = CONTAINERS.get(language or "")
    return row if row is not None and any(sign in text for sign in row.signs) else None


def parts_of(lines: _Lines, container: Container) -> list[Part]:
    """Return a file's parts, in order; neighbours in one language, with blank rows between them, are one."""
    found: list[Part] = []
    for part in container.parts(lines):
        last = found[-1] if found else None
        if last is not None and part.first < last.stop:
            continue
        if last is not None and last.language == part.language:
            between = lines[last.stop : part.first]
            if not any(map(str.strip, between)):
                last.read += [*between, *part.read]
                continue
        found.append(part)
    return found


def main_language(text: str, language: str, among: Iterable[str]) -> tuple[str, str]:
    """Return the language, of some, that most rows of a file are in, and its rows, the others blank.

    Of a file that is in one language as a whole, these are that language and the file; of one that has no
    part in any of them, no language.

    Args:
        among: Languages, as `spoken` says them.
    """
    container = container_of(text, language)
    if container is None:
        return language, text
    lines = text.split("\n")
    parts = parts_of(lines, container)
    if not parts and language in among:
        return language, text
    rows: dict[str, int] = {}
    for part in parts:
        if spoken(part.language) in among:
            rows[part.language] = rows.get(part.language, 0) + sum(map(bool, part.read))
    if not rows:
        return "", ""
    main = max(rows, key=lambda name: rows[name])
    read = [""] * len(lines)
    for part in parts:
        if part.language == main:
            read[part.first : part.stop] = part.read
    return main, "\n".join(read)


def markup_of(text: str, language: str) -> str:
    """Return a file without its parts, whose rows are blank."""
    container, lines = container_of(text, language), text.split("\n")
    for part in parts_of(lines, container) if container is not None else ():
        lines[part.first : part.stop] = [""] * len(part.read)
    return "\n".join(lines)


def spoken(language: str) -> str:
    """Return the language that a dialect is of: Python, of a notebook's."""
    return "python" if language == "ipython" else language


def _of_notebook(name: str) -> str:
    return "ipython" if name == "python" else name


# Notebooks, as `notebooks.readable` lays them out, and scripts that are notebooks


def _cells(lines: _Lines) -> Iterator[Part]:
    marks = [(row, found[1]) for row, line in enumerate(lines) if (found := MARK.fullmatch(line))]
    for (row, language), (stop, _) in zip(marks, [*marks[1:], (len(lines), "")], strict=False):
        yield Part(row, _of_notebook(language), ["", *lines[row + 1 : stop]])


def _script(comment: str, own: str) -> Callable[[_Lines], Iterator[Part]]:
    """Return what finds the cells of a script in Databricks' form, or in Jupytext's ``percent``."""
    mark = re.escape(comment)
    databricks = re.compile(rf"{mark} COMMAND -{{6,}}\s*")
    percent = re.compile(rf"{mark} ?%%(?:[ \[].*)?")
    kind = re.compile(r"\[(markdown|md|raw)\]")
    magic = re.compile(rf"^{mark} MAGIC ?(?:%(\w+)\s?)?")
    prefix = re.compile(rf"^{mark} ?")

    def cells(lines: _Lines) -> Iterator[Part]:
        is_databricks = lines[0].startswith(f"{comment} Databricks notebook source")
        rule = databricks if is_databricks else percent
        marks = [row for row, line in enumerate(lines) if line.startswith(comment) and rule.fullmatch(line)]
        if not (marks or is_databricks):
            return
        for row, stop in zip([-1, *marks], [*marks, len(lines)], strict=True):
            first, language = max(row, 0), own
            has_mark = row >= 0 or is_databricks
            body = list(lines[first + has_mark : stop])
            found = magic.match(next(filter(str.strip, body), "")) if is_databricks else None
            if found and found[1]:
                language = named(found[1]) or "text"
                body = [magic.sub("", line, count=1) for line in body]
            elif row >= 0 and not is_databricks and kind.search(lines[row]):
                language = "markdown"
                body = [prefix.sub("", line, count=1) for line in body]
            if any(map(str.strip, lines[first:stop])):
                yield Part(first, _of_notebook(language), [*[""] * has_mark, *body])

    return cells


_FENCE = re.compile(r"\s*(?P<fence>`{3,}|~{3,})\s*(?P<told>\{?)(?P<name>[\w+#-]+)?(?P<more>.*)")
_JUPYTEXT = re.compile(r"\s*jupytext:")


def _run_blocks(lines: _Lines) -> Iterator[Part]:
    """Find the blocks that are run: R Markdown's and Quarto's ``{r}``, MyST's ``{code-cell}``, Jupytext's."""
    header = lines[: next((row for row in range(1, len(lines)) if lines[row] == "---"), 1)]
    is_jupytext = lines[0].rstrip() == "---" and any(map(_JUPYTEXT.match, header))
    for first, stop, found in _fenced(lines):
        name = found["name"] or ""
        if found["told"] and name == "code-cell":
            name = found["more"].strip(" }") or "python"
        language = named(name)
        if language and (found["told"] or is_jupytext):
            body = dedent("\n".join(lines[first + 1 : stop - 1])).split("\n") if stop - first > 2 else []
            yield Part(first, _of_notebook(language), ["", *body, ""])


def _fenced(lines: _Lines) -> Iterator[tuple[int, int, re.Match[str]]]:
    """Yield the first row of each fenced block, the row after it, and its opening."""
    opened: tuple[int, re.Match[str]] | None = None
    for row, line in enumerate(lines):
        if "```" not in line and "~~~" not in line:
            continue
        found = _FENCE.match(line)
        if found is None:
            continue
        if opened is None:
            opened = row, found
        elif found["fence"].startswith(opened[1]["fence"]) and not line.strip().strip(found["fence"][0]):
            yield opened[0], row + 1, opened[1]
            opened = None


# Markup with scripts and styles

_ELEMENT = re.compile(
    r"<(script|style)\b([^<>]{0,500})>", re.IGNORECASE | re.ASCII
)  # bounded: maybe never closed
_CLOSING = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style")}
_ATTRIBUTE = re.compile(r"""\b(lang|type)\s*=\s*["']?([\w/+.-]+)""", re.IGNORECASE)
_SCRIPTS = {
    "": "javascript",
    "module": "javascript",
    "text/javascript": "javascript",
    "jsx": "javascript",
    "application/javascript": "javascript",
    "ts": "typescript",
    "typescript": "typescript",
    "tsx": "tsx",
    "text/typescript": "typescript",
    "text/babel": "javascript",
    "coffee": "coffeescript",
}


def _elements(lines: _Lines) -> Iterator[Part]:
    text = "\n".join(lines)
    at = row = counted = free = 0
    while found := _ELEMENT.search(text, at):
        closing = _CLOSING[found[1].lower()].search(text, found.end())
        if closing is None:
            break
        end = closing.start()
        at = end + 1
        row, counted = row + text.count("\n", counted, found.start()), found.start()
        if row < free:
            continue  # on a line with the one before
        told = {key.lower(): value.lower() for key, value in _ATTRIBUTE.findall(found[2])}
        is_script = found[1].lower() == "script"
        language = _SCRIPTS.get(told.get("lang") or told.get("type") or "") if is_script else "css"
        if language:
            start = text.rfind("\n", 0, found.start()) + 1
            outside = re.sub(r"[^\n]", " ", text[start : found.end()])
            part = Part(row, language, (outside + text[found.end() : end]).split("\n"))
            free = part.stop
            yield part


def _astro(lines: _Lines) -> Iterator[Part]:
    """Find the front matter, which is TypeScript, and the elements."""
    stop = next((row for row in range(1, len(lines)) if lines[row].rstrip() == "---"), 0)
    if stop and lines[0].strip() == "---":
        yield Part(0, "typescript", ["", *lines[1:stop], ""])
    yield from _elements(lines)


# Shell in files that are not

_KEY = re.compile(r"(?P<item>(?:- +)*)(?P<key>[\w.-]+):(?:\s+(?P<value>.+))?")
_SHELL_KEYS = frozenset(
    # GitHub's workflows, GitLab, CircleCI, Azure and Bitbucket pipelines, Ansible, Taskfile, Kubernetes
    "run script before_script after_script command args bash shell ansible.builtin.shell cmd cmds".split()
)
_BLOCK = re.compile(r"[|>][-+\d]*")


def _yaml(lines: _Lines) -> Iterator[Part]:  # noqa: C901 (one loop over the lines)
    """Find the scripts of pipelines and playbooks: values, blocks and lists under keys that hold shell."""
    listed = block = -1  # columns of the key whose list, and whose block, rows are in
    for row, line in enumerate(lines):
        stripped = line.strip()
        if not stripped:
            continue
        column = len(line) - len(line.lstrip())
        if block >= 0 and column > block:
            yield Part(row, "bash", [line])
            continue
        block = -1
        is_item = stripped[:2] == "- "
        if listed >= 0 and (column > listed or (column == listed and is_item)):
            value = stripped[2:].strip() if is_item else ""
            if _BLOCK.fullmatch(value):
                block = column
            elif value:
                yield Part(row, "bash", [_unquoted(value)])
            continue
        listed = -1
        found = _KEY.fullmatch(stripped) if ":" in stripped else None
        if found is None or found["key"] not in _SHELL_KEYS:
            continue
        value, column = found["value"] or "", column + len(found["item"])
        if not value:
            listed = column
        elif _BLOCK.fullmatch(value):
            block = column
        elif value[0] not in "[{&*#":
            yield Part(row, "bash", [_unquoted(value)])


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


_INSTRUCTION = re.compile(r"\s*(RUN|CMD|ENTRYPOINT)\s+(?:--\S+\s+)*(?!\[)", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?\s*[\"']?(\w+)[\"']?")


def _dockerfile(lines: _Lines) -> Iterator[Part]:
    row = 0
    while row < len(lines):
        first, found = row, _INSTRUCTION.match(lines[row])
        row += 1
        if found is None:
            continue
        while row < len(lines) and (lines[row - 1].rstrip().endswith("\\") or lines[row].lstrip()[:1] == "#"):
            row += 1
        if heredoc := _HEREDOC.search(lines[first]):
            end = next((at for at in range(row, len(lines)) if lines[at].strip() == heredoc[1]), len(lines))
            row = end + 1
            yield Part(first, "bash", ["", *lines[first + 1 : end], *[""] * (end < len(lines))])
        else:
            yield Part(first, "bash", [lines[first][found.end() :], *lines[first + 1 : row]])


def _makefile(lines: _Lines) -> Iterator[Part]:
    """Find the recipes; make's own ``$(VARIABLE)`` and ``$$`` read as the shell's."""
    for row, line in enumerate(lines):
        if line[:1] == "\t" and line.strip():
            yield Part(row, "bash", [line.lstrip("\t@-+").replace("$$", "$")])


_MARKDOWN = Container(_run_blocks, "markdown", ("```{", "~~~{", "jupytext:", "``` {"))
_SHELL_FUNCTION = ("() {", "(){", "function ")

CONTAINERS: dict[str, Container] = {
    "notebook": Container(_cells, "markdown"),
    "rmarkdown": _MARKDOWN,
    "markdown": _MARKDOWN,
    **{
        language: Container(
            _script(comment, language),
            "markdown",
            (f"{comment} %%", f"{comment}%%", f"{comment} Databricks note"),
        )
        for comment, languages in {"#": ("python", "r", "julia"), "//": ("scala",), "--": ("sql",)}.items()
        for language in languages
    },
    "vue": Container(_elements),
    "svelte": Container(_elements),
    "astro": Container(_astro),
    "html": Container(_elements, defines=("function", "=>", "class ")),
    "yaml": Container(_yaml, defines=_SHELL_FUNCTION),
    "dockerfile": Container(_dockerfile, defines=_SHELL_FUNCTION),
    "make": Container(_makefile, defines=_SHELL_FUNCTION),
}
