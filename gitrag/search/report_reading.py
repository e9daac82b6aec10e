"""Read a bug report: its title, sentences, code, tracebacks, messages, names and paths. Pure.

A report as people paste it is Markdown of any quality. What a template or a tool has written (headings,
comments, check lists, lists of versions) is left out; what a program has printed is kept apart from what a
person says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from gitrag.chunking.languages import language_of
from gitrag.late import late_re
from gitrag.search import tracebacks
from gitrag.search.report_names import Name, names_in
from gitrag.search.tracebacks import Frame, Traced

_LEAST_LINES = 2
_LEAST = 120
"""Characters from which a text of several lines is a report; a traceback or a block of code makes any one."""

_LONGEST = 40_000
"""Characters that are read; what follows in a pasted log repeats itself."""

_LONGEST_TITLE = 400
_LONGEST_LINE = 1000
_MOST_SENTENCES = 64
_MOST_NAMES = 256
_MOST_MESSAGES = 24
_MOST_FRAMES = 64
_FEWEST_WORDS = 3
"""Words that a message has at least; two in a row are not a quotation."""


class Reading(Struct, frozen=True):
    """What a bug report says.

    Attributes:
        title: Its first line; where it has none, the first message or sentence.
        sentences: What its writer says, in order, without the title; each once.
        frames: The calls of its tracebacks, the deepest of each first.
        messages: Of exceptions, and what stands in quotation marks; those of exceptions first.
        raised: Of these, what exceptions and panics say, short ones too.
        names: Names in code, each once, the best place first.
        paths: Files that it names outside of tracebacks.
    """

    title: str
    sentences: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()
    messages: tuple[str, ...] = ()
    names: tuple[Name, ...] = ()
    paths: tuple[str, ...] = ()
    raised: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Return what to search for by words: the title, the sentences, the messages, and the names."""
        return " ".join([self.title, *self.sentences, *self.messages, *(name.text for name in self.names)])

    @property
    def meaning(self) -> str:
        """Return what to search for by meaning: the title and the sentences."""
        return " ".join([self.title, *self.sentences])


_TAG = late_re(
    r"</?(?:details|summary|br|p|pre|code|b|i|em|strong|img|a|sub|sup|kbd|hr|div|span)\b[^<>]{0,300}>",
    re.IGNORECASE,
)
_FENCE = late_re(r"^\s{0,8}(?:>\s?)*(`{3,}|~{3,})\s*([\w+#.-]*)")
_HEADING = late_re(
    r"^\s{0,3}(?:#{1,6}\s*+(?P<hash>[^\s#].*)|\*\*(?P<bold>[^*]{2,60})\*\*:?|__(?P<under>[^_]{2,60})__:?"
    r"|(?P<colon>[A-Z][A-Za-z /]{2,40}):)\s*$"
)
_RULE = late_re(r"^\s*(?:[-=*_~#]\s?){3,}\s*$")
_CHECK = late_re(r"^\s*[-*+]\s*\[[ xX]?\]")
_LIST_ITEM = late_re(r"\s*(?:[-*+]|\d+\.)\s")
_ANSWERED = late_re(r"^\s*(?:>\s(?!>))+")
_LABEL = late_re(r"^\s*\[\w[\w /-]{0,20}\]\s*:?|^(?:bug|feature|issue)\s*(?:report)?\s*:\s*", re.IGNORECASE)
_PROSE = late_re(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}")

_DUMPS = late_re(
    r"\b(?:environment|versions?|system (?:details|info\w*)|platform|dependencies|installed packages|setup"
    r"|check ?list|os|pip (?:freeze|list)|operating system|installation|relevant packages|runtime)\b",
    re.IGNORECASE,
)
"""Headings of sections that list what is installed."""

_NO_DUMP = late_re(
    r"\b(?:variable|handling|problem|behavio\w+|bug|error|incompatible|wrong)\b", re.IGNORECASE
)
_LONGEST_HEADING = 6

_TEMPLATE = late_re(
    r"^(?:bug description|description|describe (?:the bug|(?:your|the) issue)|(?:steps|how) to reproduce"
    r"|to reproduce|reproduc\w+(?: code| steps| example)?|reproduction steps|what (?:happened|you expected)"
    r"|what did you expect.*|(?:expected|actual|current) (?:behaviou?r|results?|output|vs\.? actual.*)"
    r"|command used|\w+ output|configuration|additional (?:context|information|info|details)|summary"
    r"|minimal (?:example|reproduc\w+.*)|problem|issue|details|traceback|stack ?trace|error|screenshots?"
    r"|motivation|feature request|(?:possible|proposed) (?:solution|fix|change)|related (?:issues?|problem.*)"
    r"|notes?|examples?|code|logs?|output|input|background|context|question|_?no response_?|none|n/a|default)"
    r"[.:?!]*$",
    re.IGNORECASE,
)
"""Headings of templates, and what stands in a field that was left empty."""

_TEMPLATE_LINE = late_re(
    r"please (?:be sure|have a search|check|make sure|describe|provide|fill|search|note that|read)"
    r"|i have (?:searched|read|checked)|searched the (?:existing|open)|code of conduct|contributing guide"
    r"|thank you for (?:taking|filing)",
    re.IGNORECASE,
)
_VERSION = late_re(
    r"^\W*[A-Za-z][\w.+/() -]{0,40}?\s*(?::|==?|@|\bv(?:ersion)?\b|\s)\s*[\"'v(]?\d+(?:\.\d+){1,4}[\w.+-]*"
    r"[\"')]?(?:\s*[(\[|].*)?\W*$"
    r"|^\W*(?:Linux|Darwin|Windows|macOS|Ubuntu|Debian|Mac ?OS X?|Python|OS|CPython)\b[^.!?]{0,90}\d+\.\d"
    r"[^!?]*$"
    r"|^\W*\[?(?:GCC|Clang|MSC)\b.{0,80}$|^\W*[\w.-]+==\S+\W*$"
)
"""A line that says which version of something is installed."""

_ERROR = late_re(
    r"^\s*(?:E\s+|!\s+|>\s+)?(?:Uncaught |Unhandled exception[.:]? |Caused by: |Exception in thread \S+ )?"
    r"(?P<kind>(?:[A-Za-z_][\w$]*[.:]{1,2})*[A-Za-z_][\w$]*"
    r"(?:Error|Exception|Warning|Failure|Fault|Exit|Interrupt|Invalid|NotFound))"
    r"(?: \[\w+\])?(?::\s*(?P<said>.*))?$"
)
_PANIC = late_re(r"^\s*(?:panic|[Ff]atal error|fatal|[Ee]rror|FATAL|ERROR)(?:\[\w+\])?:\s*(?P<said>\S.*)$")
_PROMPT = late_re(r"^\s*+(?:>>>|\.\.\.:?|In \[\d*\]:|\$|%)(?:\s|$)")
_OUT = late_re(r"^\s*Out\[\d*\]:")

_URL = late_re(r"\b(?:https?|ftp|git|ssh)://[^\s)>\]\"']+")
_LINK = late_re(r"!?\[([^\[\]\n]{0,200})\]\([^()\n]{0,500}\)")
_BLOB = late_re(r"/(?:blob|tree|raw|blame|src)/[^/]+/(?P<path>[^#?\s]{1,300}?\.\w+)(?:#|\?|$)")
_PATH = late_re(
    r"(?<![\w/.@+~\\-])(?:[A-Za-z]:|~|\.{1,2})?[\\/]?(?:[\w.@+-]+[\\/])*[\w@+-][\w.@+-]*\.(?P<suffix>[A-Za-z]\w{0,6})\b(?!\()"
)
_BLOCK_END = late_re(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)|(?<=[.!?:])\n")
_SENTENCE_END = late_re(r"(?<=[.!?])[)\"'`]*\s+(?=[\"'(`]?[A-Z0-9])|\s+[-\u2013\u2014]{1,3}\s+|;\s+")
_QUOTE = late_re(
    r"\"([^\"\n]{8,300})\"|(?<!\w)'([^'\n]{8,300})'(?!\w)|\u201c([^\u201d\n]{8,300})\u201d|``?([^`\n]{8,300})``?"
)
_SPOKEN = late_re(r"[^\W\d_]{2,}")
_LONGEST_MESSAGE = 300


def read(text: str) -> Reading | None:
    """Read a report; None for any other question: a line, or a few short ones without code or a traceback."""
    if not _is_report(text):
        return None
    text = text[:_LONGEST].replace("\r\n", "\n").replace("\r", "\n")
    lines = _without_comments(text)
    text = "\n".join(lines)
    title, start = _title(lines)
    body = _Body()
    if error := _ERROR.match(title) or _PANIC.match(title):
        body.errors.append((error["said"] or "").strip())
    for line in lines[start:]:
        body.take(line)
    body.end_traceback()
    prose = _URL.sub(" ", _LINK.sub(r"\1", "\n".join(body.prose)))
    sentences = list(dict.fromkeys(_sentences(prose)))[:_MOST_SENTENCES]
    if not title:
        said = [*filter(None, body.errors), *sentences, " ".join(text.split())[:_LONGEST_TITLE]]
        title = said[0]
        sentences = [each for each in sentences if each != title]
    frames = tuple(dict.fromkeys(body.frames))[:_MOST_FRAMES]
    traced = {frame.path for frame in frames}
    names = names_in(body.code, body.output, prose, title)
    return Reading(
        title=title,
        sentences=tuple(sentences),
        frames=frames,
        messages=tuple(dict.fromkeys(_messages(body, f"{title}\n{prose}")))[:_MOST_MESSAGES],
        names=tuple(names[:_MOST_NAMES]),
        paths=tuple(path for path in dict.fromkeys(_paths(text)) if path not in traced),
        raised=tuple(filter(None, dict.fromkeys(body.errors)))[:_MOST_MESSAGES],
    )


def _is_report(text: str) -> bool:
    lines = [line for line in text[:_LONGEST].splitlines() if line.strip()]
    return len(lines) >= _LEAST_LINES and (len(text) >= _LEAST or any(map(_is_pasted, lines)))


def _is_pasted(line: str) -> bool:
    return bool(
        _FENCE.match(line) or tracebacks.is_head(line) or tracebacks.read_line(line) or _PROMPT.match(line)
    )


def _without_comments(text: str) -> list[str]:
    """Split a text into lines without the comments in its prose; one that is not closed is none."""
    lines: list[str] = []
    last, start, fence, is_open = text.rfind("-->"), 0, "", False
    for line in text.split("\n"):
        end = start + len(line)
        mark = None if is_open else _FENCE.match(line)
        if mark and (not fence or (mark[1][:3] == fence and not mark[2])):
            fence = "" if fence else mark[1][:3]
        if fence or mark:
            lines.append(line)
        else:
            kept, rest = [], line
            while rest:
                if is_open:
                    _, closed, rest = rest.partition("-->")
                    is_open = not closed
                    continue
                before, opened, rest = rest.partition("<!--")
                is_open = bool(opened) and end - len(rest) <= last
                kept.append(before if is_open else before + opened)
            lines.append(" ".join(kept))
        start = end + 1
    return lines


def _title(lines: Sequence[str]) -> tuple[str, int]:
    """Take the first line as the title unless it is pasted or a template's; return where the body begins."""
    for number, line in enumerate(lines):
        plain = _TAG.sub(" ", line).strip().lstrip("#").strip()
        if not plain:
            continue
        pasted = _is_pasted(line) or _TEMPLATE.match(plain.strip("*_ ")) or not re.search(r"\w", plain)
        if pasted or len(plain) > _LONGEST_TITLE:
            return "", number
        return " ".join((_LABEL.sub("", plain) or plain).split()), number + 1
    return "", 0


class _Body(Struct):
    """The lines after the title, sorted by what they are while they are read.

    Attributes:
        code: Code and commands, without prompts.
        errors: Messages of exceptions; empty for one without.
        frames: Of tracebacks, the deepest first.
    """

    prose: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    _fence: str = ""
    _in_dump: bool = False
    _after_prompt: bool = False
    _before: str = ""
    _traced: list[Traced] = field(default_factory=list)

    def take(self, line: str) -> None:
        if self._is_fence(line):
            return
        bare = line if self._fence else _ANSWERED.sub("", _TAG.sub(" ", line))
        if not bare.strip():
            self._after_prompt &= bool(self._fence)
            self.prose.append("")
            return
        if len(bare) > _LONGEST_LINE:  # a paragraph, or what a program has printed
            self._sort(line, bare)
            return
        if self._is_heading(bare) or self._is_traced(bare) or self._is_error(bare) or self._is_left_out(bare):
            return
        self._sort(line, bare)
        if not self._fence and not line.startswith((" ", "\t")):
            self.end_traceback()

    def end_traceback(self) -> None:
        """Keep the frames of a traceback that ends here."""
        if self._traced:
            frames = [frame for frame, _ in self._traced]
            self.frames += reversed(frames) if self._traced[0][1] else frames
            self._traced.clear()

    def _is_fence(self, line: str) -> bool:
        mark = _FENCE.match(line)
        if not mark or (self._fence and (mark[1][:3] != self._fence or mark[2])):
            return False
        self._fence = "" if self._fence else mark[1][:3]
        self._after_prompt = False
        return True

    def _is_heading(self, bare: str) -> bool:
        found = None if self._fence else _HEADING.match(bare)
        if not found:
            return False
        said = next(filter(None, found.groups())).rstrip().rstrip("#").rstrip()
        short = len(said.split()) <= _LONGEST_HEADING
        self._in_dump = short and bool(_DUMPS.search(said)) and not _NO_DUMP.search(said)
        if not self._in_dump and not _TEMPLATE.match(said.strip("*_: ")) and not _is_version(said):
            self.prose.append(f"{said.rstrip('.:')}.")
        return True

    def _is_traced(self, bare: str) -> bool:
        """Take a line of a traceback, or of the source that it quotes."""
        before, self._before = self._before, bare
        traced = tracebacks.read_line(bare, before)
        if tracebacks.announces_message(before) and not traced:
            self.errors.append(bare.strip())
            return True
        if traced and not self._traced and not self._fence and (said := _PANIC.match(before)):
            self.errors.append(said["said"].strip())  # outside a fence only a trace below it tells
        if traced:
            self._traced.append(traced)
        elif self._traced and not _ERROR.match(bare):
            frame, deepest_last = self._traced[-1]
            self._traced[-1] = tracebacks.with_line(frame, bare), deepest_last
            return tracebacks.quotes_source(bare)
        return traced is not None

    def _is_error(self, bare: str) -> bool:
        if error := _ERROR.match(bare):
            self.end_traceback()
            self.output.append(error["kind"])
            self.errors.append((error["said"] or "").strip())
            return True
        panic = _PANIC.match(bare) if self._fence or self._traced else None
        if panic:
            self.errors.append(panic["said"].strip())
        return panic is not None

    def _is_left_out(self, bare: str) -> bool:
        """Tell whether a template or a tool has written a line."""
        return (
            self._in_dump
            or tracebacks.is_head(bare)
            or bool(_RULE.match(bare) or _CHECK.match(bare) or _is_version(bare))
            or bool(_TEMPLATE_LINE.search(bare) or _TEMPLATE.match(bare.strip("*_ `:")))
        )

    def _sort(self, line: str, bare: str) -> None:
        indented = line.startswith(("    ", "\t")) and not _LIST_ITEM.match(line)
        if prompt := _PROMPT.match(bare):
            self.code.append(bare[prompt.end() :])
            self._after_prompt = True
        elif self._fence or indented:
            (self.output if self._after_prompt or _OUT.match(bare) else self.code).append(bare)
        elif self._after_prompt and not _PROSE.search(bare):
            self.output.append(bare)
        else:
            self._after_prompt = False
            self.prose.append(bare)


def _is_version(line: str) -> bool:
    return bool(_VERSION.match(" ".join(line.split())))  # runs of spaces would take cubic time


def _sentences(prose: str) -> Iterator[str]:
    for block in _BLOCK_END.split(prose):
        for each in _SENTENCE_END.split(" ".join(block.split())):
            said = each.strip(" -*+_#>")
            if len(_SPOKEN.findall(said)) >= _FEWEST_WORDS - 1:
                yield said


def _messages(body: _Body, prose: str) -> Iterator[str]:
    """List what a program may contain word for word."""
    quotes = (next(filter(None, found)) for found in _QUOTE.findall(prose))
    for said in (*body.errors, *quotes, *body.output):
        message = " ".join(said.split())[:_LONGEST_MESSAGE]
        if len(_SPOKEN.findall(message)) >= _FEWEST_WORDS:
            yield message


def _paths(text: str) -> Iterator[str]:
    """List paths of files, also those that URLs of a forge lead to."""
    for url in _URL.findall(text):
        if blob := _BLOB.search(url):
            yield blob["path"]
    for found in _PATH.finditer(_URL.sub(" ", text)):
        if language_of(f"a.{found['suffix'].lower()}"):
            yield found[0].replace("\\", "/")
