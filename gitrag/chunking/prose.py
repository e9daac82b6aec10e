"""Cut prose at its headings: Markdown, reStructuredText, AsciiDoc, Org, LaTeX, plain text; playbooks.

A section extends from its heading to the next one of any level; its qualified name is the path of headings.

Templates are cut at what they define: Go's and Helm's ``define``, Jinja's and Twig's ``macro``, Handlebars'
``inline``, ERB's ``content_for``, Blade's ``@section`` and ``@push``, functions that EJS opens in one tag and
closes in another.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gitrag.chunking.line_pieces import split, trim, with_marks
from gitrag.chunking.outline import COMMENT_BYTES, SIGNATURE_CHARS, Definition
from gitrag.model import Chunk, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

# (first row, last row, level, title) of a heading; levels count from 1.
Heading = tuple[int, int, int, str]

# With fewer headings it is no prose: in plain text, two underlined lines may be a ruled table.
MIN_HEADINGS = {"text": 2, "yaml": 1}

# A longer line is not a heading; patterns skip it.
MAX_HEADING_LINE_CHARS = 500

# A longer heading path does not describe a section better.
HEADING_CHARS = 200

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]{1,20}#{1,20})?[ \t]{0,20}$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_OTHER = "> …"  # stands for a row that is no prose: neither a heading nor nothing
_NO_PARAGRAPH = re.compile(r"\s*(?:[>|]|[-+*]\s|\d+[.)]\s|#{1,6}\s|<)")
_NOTHING = re.compile(r"\s*(?:\{:?[^}]*\}|&nbsp;|<!--.*-->|<a [^>]*></a>|\[\[.*\]\]|[-*_=]{3,})?\s*")
_RST_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_ASCIIDOC = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)$")
_ASCIIDOC_BLOCK = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|`{3,}|--)\s*$")
_ORG = re.compile(r"(\*+)[ \t]+(\S.*)$")
_LATEX = re.compile(
    r"\s*\\(part|chapter|section|subsection|subsubsection|paragraph)\*?(?:\[[^\]]*\])?\{(.*?)\}?\s*$"
)
_LATEX_LEVELS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_STEP = re.compile(r"(?P<indent>\s*)- name: *(?P<title>[^&*!{\[|>\s].*)")
_DOES = re.compile(
    r"(?:\w+\.\w+\.\w+|hosts|become|notify|when|register|loop|with_\w+|tags|block|uses|run|apt|yum|dnf|package|pip"
    r"|npm|gem|git|copy|template|file|lineinfile|blockinfile|replace|stat|service|systemd|shell|command|raw|script"
    r"|user|group|cron|get_url|unarchive|uri|debug|fail|assert|set_fact|wait_for|(?:include|import)_\w+):"
)
_STEP_ROWS = 40
_INLINE_MARKS = re.compile(
    r"!?\[([^\]]{0,300})\]\([^)]{0,300}\)|[`*_]{1,3}([^`*_]{1,300})[`*_]{1,3}|<[^>]{1,300}>"
)  # bounded: a line of brackets takes linear time


def is_prose(language: str) -> bool:
    return language in _READERS


def sections(
    lines: Sequence[str],
    language: str,
    read: Sequence[str] | None = None,
    apart: Sequence[tuple[int, int]] = (),
) -> list[Chunk]:
    """Return the chunks of a prose file; empty for plain text and YAML without headings.

    Args:
        read: The same as headings are looked for in them; None for the lines as they are.
        apart: Rows that are no prose, first and after the last: no chunk has them, or reaches across.
    """
    read = lines if read is None else read
    front = _front_matter(read) if language == "markdown" else 0
    short = [line if len(line) <= MAX_HEADING_LINE_CHARS else "…" for line in read]
    for first, stop in apart:
        short[first:stop] = [_OTHER] * (stop - first)
    headings = list(_READERS[language](short, front))
    if len(headings) < MIN_HEADINGS.get(language, 0):
        return []
    chunks: list[Chunk] = []
    if front:
        chunks.extend(_pieces(lines, 0, front, "", "", apart))
    start, body, name, path = front, front, "", ""
    above: list[tuple[int, str]] = []
    for first, last, level, title in headings:
        first = max(start, with_marks(lines, read, first))  # noqa: PLW2901
        # A heading without text joins the section of the heading that follows.
        if not all(map(_NOTHING.fullmatch, short[body:first])):
            chunks.extend(_pieces(lines, start, first, name, path, apart))
            start = first
        body = last + 1
        while above and above[-1][0] >= level:
            above.pop()
        name = " ".join(_INLINE_MARKS.sub(lambda found: found[1] or found[2] or "", title).split())
        name = name[:HEADING_CHARS]
        above.append((level, name))
        path = " > ".join(each for _, each in above if each)
    chunks.extend(_pieces(lines, start, len(lines), name, path, apart))
    return chunks


def outside(first: int, stop: int, apart: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the rows of a range that are not in others, which are in order: first, and after the last."""
    for low, high in apart[bisect_right(apart, first, key=lambda rows: rows[1]) :]:
        if low >= stop:
            break
        if first < low:
            yield first, low
        first = max(first, high)
    if first < stop:
        yield first, stop


def _pieces(
    lines: Sequence[str], first: int, stop: int, name: str, path: str, apart: Sequence[tuple[int, int]]
) -> Iterator[Chunk]:
    continued = False
    for start, end in outside(first, stop, apart):
        low, high = trim(lines, start, end - 1)
        if low > high or not lines[low].strip():
            continue
        for text, top, bottom in split(lines, low, high):
            yield Chunk(Kind.SECTION, name, path, "", "", text, top + 1, bottom + 1, continued=continued)
            continued = True


def _front_matter(lines: Sequence[str]) -> int:
    """Return how many rows at the top are YAML or TOML front matter."""
    rule = lines[0].rstrip() if lines else ""
    if rule not in ("---", "+++"):
        return 0
    for row in range(1, len(lines)):
        if lines[row].rstrip() == rule:
            return row + 1
    return 0


def _markdown(lines: Sequence[str], start: int) -> Iterator[Heading]:
    fence = ""
    for row in range(start, len(lines)):
        line = lines[row]
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            continue
        atx = _ATX.match(line)
        if atx:
            yield row, row, len(atx[1]), atx[2] or ""
            continue
        underline = _SETEXT.match(line) if row > start else None
        if underline:
            title = lines[row - 1]
            alone = row - 2 < start or not lines[row - 2].strip()
            if alone and title.strip() and not _NO_PARAGRAPH.match(title) and not title.startswith("    "):
                yield row - 1, row, 1 if underline[1][0] == "=" else 2, title.strip()


def _rst(lines: Sequence[str], start: int) -> Iterator[Heading]:
    """Headings are underlined, or ruled above and below; levels follow the order in which styles appear."""
    styles: list[tuple[str, bool]] = []
    for row in range(start + 1, len(lines)):
        rule = _RST_RULE.match(lines[row])
        if not rule:
            continue
        title = lines[row - 1]
        if not title.strip() or _RST_RULE.match(title) or len(lines[row].rstrip()) < len(title.strip()):
            continue
        overlined = row >= start + 2 and lines[row - 2].rstrip() == lines[row].rstrip()
        if not overlined and (title[0].isspace() or (row >= start + 2 and lines[row - 2].strip())):
            continue
        style = rule[1], overlined
        if style not in styles:
            styles.append(style)
        yield row - 2 if overlined else row - 1, row, styles.index(style) + 1, title.strip()


def _asciidoc(lines: Sequence[str], start: int) -> Iterator[Heading]:
    block = ""
    for row in range(start, len(lines)):
        line = lines[row].rstrip()
        if block:
            block = "" if line == block else block
        elif _ASCIIDOC_BLOCK.match(line):
            block = line
        else:
            found = _ASCIIDOC.match(line)
            if found:
                yield row, row, len(found[1]), found[2]


def _org(lines: Sequence[str], start: int) -> Iterator[Heading]:
    for row in range(start, len(lines)):
        found = _ORG.match(lines[row])
        if found:
            yield row, row, len(found[1]), found[2]


def _latex(lines: Sequence[str], start: int) -> Iterator[Heading]:
    for row in range(start, len(lines)):
        found = _LATEX.match(lines[row])
        if found:
            yield row, row, _LATEX_LEVELS.index(found[1]) + 1, found[2]


def _steps(lines: Sequence[str], start: int) -> Iterator[Heading]:
    """Find the named steps of playbooks and workflows: items with a name and a key that does something."""
    for row in range(start, len(lines) - 1):
        found = _STEP.match(lines[row]) if "- name:" in lines[row] else None
        if found is None:
            continue
        column = len(found["indent"]) + 2
        for below in lines[row + 1 : row + _STEP_ROWS]:
            deep = len(below) - len(below.lstrip())
            if below.strip() and deep < column:
                break
            if deep == column and _DOES.match(below, column):
                yield row, row, column, found["title"].strip().strip("'\"")
                break


_READERS: dict[str, Callable[[Sequence[str], int], Iterator[Heading]]] = {
    "markdown": _markdown,
    "rst": _rst,
    "asciidoc": _asciidoc,
    "org": _org,
    "latex": _latex,
    "text": _rst,
    "yaml": _steps,
}


LANGUAGES = frozenset({"html", "go-template"})

_TAG = re.compile(
    r"""\{\{-?[ \t]{0,9}
        (?:(?:define|block)[ \t]{1,9}"(?P<go>[^"\n]{1,200})"|(?P<other>if|range|with|block)\b|end\b)
    |\{\{(?:\#\*inline[ \t]{1,9}["'](?P<inline>[^"'\n]{1,200})["']|/inline\b)
    |\{%[-+]?[ \t]{0,9}(?:macro[ \t]{1,9}(?P<macro>\w{1,200})|endmacro\b)
    |<%[-_=]?[ \t]{0,9}+(?:
        content_for[ \t(]{1,3}:?["']?(?P<erb>\w{1,200})["']?\)?[ \t]{1,9}do[ \t]{0,9}-?%>
        |(?:async[ \t]{1,9})?function[ \t]{1,9}(?P<ejs>\w{1,200})[^%\n]{0,300}\{[ \t]{0,9}[-_]?%>
        |(?P<opens>(?:if|unless|case|while|until|for|begin)\b(?![^%\n]{0,300};[ \t]{0,9}[-_]?%>)
            |[^}\#%\n][^%\n]{0,300}(?:\bdo|\{)(?:[ \t]{0,9}\|[^|\n]{0,100}\|)?[ \t]{0,9}[-_]?%>)
        |end\b|\}(?![^%\n]{0,300}\{[ \t]{0,9}[-_]?%>))
    |(?<![\w@])@(?:(?:section|push|prepend)\([ \t]{0,9}["'](?P<blade>[^"'\n]{1,200})["'][ \t]{0,9}\)
        |(?:endsection|stop|show|append|overwrite|endpush|endprepend)\b)""",
    re.VERBOSE,
)
_SIGNS = (
    *("define ", "{% macro ", "{%- macro ", "{{#*inline ", "content_for", "@section(", "@push(", "@prepend("),
    *("<% function ", "<%_ function ", "<%- function ", "<% async function "),
)
_SECTIONS = ("erb", "blade")
_NAMES = ("go", "inline", "macro", "ejs", *_SECTIONS)
_OPENS, _CLOSES = re.compile(r"\{\{-?\s{0,9}/\*|\{#"), re.compile(r"\*/\s{0,9}-?\}\}\s*$|#\}\s*$")
_COMMENT_ROWS = 20


def definitions(text: str, lines: Sequence[str]) -> list[Definition]:
    """Return the definitions of a template, by start; empty for a file that has none."""
    if not any(sign in text for sign in _SIGNS):
        return []
    return sorted(_found(text, lines), key=lambda each: (each.start, -each.end))


def _found(text: str, lines: Sequence[str]) -> Iterator[Definition]:
    opened: list[tuple[str, Kind, int, int]] = []
    row = counted = 0
    for tag in _TAG.finditer(text):
        row, counted = row + text.count("\n", counted, tag.start()), tag.start()
        name = next(filter(None, map(tag.group, _NAMES)), "")
        kind = Kind.SECTION if any(map(tag.group, _SECTIONS)) else Kind.FUNCTION
        if name or tag["other"] or tag["opens"]:
            opened.append((name, kind, tag.start(), row))
        elif opened:
            name, kind, start, begun = opened.pop()
            if name:
                first = _with_comment(lines, begun)
                yield Definition(
                    kind=kind,
                    name=name,
                    start=start,
                    end=tag.end(),
                    first=first,
                    row=begun,
                    last=row,
                    signature=lines[begun].strip()[:SIGNATURE_CHARS],
                    docstring=_said(lines[first:begun]),
                )


def _with_comment(lines: Sequence[str], row: int) -> int:
    """Return the first row of the comment directly above a row, or the row."""
    if row == 0 or not _CLOSES.search(lines[row - 1]):
        return row
    above = range(row - 1, max(row - 1 - _COMMENT_ROWS, -1), -1)
    return next((first for first in above if _OPENS.search(lines[first])), row)


def _said(comment: Sequence[str]) -> str:
    text = "\n".join(comment)[:COMMENT_BYTES]
    return " ".join(_CLOSES.sub("", _OPENS.sub("", text, count=1)).split())
