"""Look up what a question names outright: a path, a place in a file, a definition, an issue.

Nothing is scored here. `Reference` is what a question says (pure), `look_up` what the scope has of it: only
files that the question may find, so a deleted or ignored file is never named.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gitrag.chunking.languages import language_of
from gitrag.corpus import issues
from gitrag.late import late_re
from gitrag.search.question import looks_like_code
from gitrag.store import scopes
from gitrag.store.scopes import SearchScope
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, traits
from gitrag.words.typed_paths import composed, forms, of_url, typed

if TYPE_CHECKING:
    from gitrag.store.source import Source

_LONGEST = 1000
"""Characters beyond which a question is a text, not a name."""

_QUOTES = (("`", "`"), ("'", "'"), ('"', '"'), ("<", ">"), ("(", ")"))
_URL = late_re(r"(?!file:)[a-z][a-z0-9+.-]*://[^/\s]+/(?P<rest>\S*)", re.IGNORECASE)
_ISSUE_URL = late_re(r"(?:^|/)(?:issues?|browse|pull|pulls|merge_requests)/(?P<id>[\w.-]+)(?:/|$)")
_TRACEBACK = late_re(r'File "(?P<path>[^"]+)", line (?P<first>\d{1,9})')
_LINES = late_re(
    r"(?::|\#L|\(|,? line )(?P<first>\d{1,9})(?:C\d+)?(?:-L?(?P<last>\d{1,9})(?:C\d+)?)?(?:[:,]\d{1,9})?\)?"
    r"(?:\#[0-9a-f]{8})?:?$"
)
"""``:12``, ``:12-20``, ``:12:5``, ``#L12-L20``, ``(12,5)``, ``, line 12``, and what follows in a hit's id."""
_MEMBER = late_re(r"(?P<path>[^:#]*(?:/|\.\w+)[^:#]*)(?:::|#|:)(?P<name>[A-Za-z_$][\w$.:]*)(?:\[.*\])?")
"""A definition in a file: ``tests/test_door.py::TestDoor::test_open[key]``, ``src/door.ts#open``."""
_NAME = late_re(r"[@$&*]?(?P<name>[\w$]+(?:(?:\.|::|\#|->|\\)[\w$]+)*)[!?]?(?P<call>\(.*\))?", re.DOTALL)
_PARTS = late_re(r"\.|::|#|->|\\")
_CASE = late_re(r"(?<=\w)\[[^\[\]]*\]$")
"""The parameters of one case of a test: ``test_open[key-2]``."""
_ENDS_LIKE_A_FILE = late_re(r"\.[A-Za-z]\w{0,11}$")
_PLAIN_WORD = late_re(r"[a-z]+")
"""Such a word may be meant for anything, even where a file is called so: it is left to the ranker."""
_IDENTIFIER = late_re(r"[a-z0-9][A-Z]|\w_\w|\w\.\w|^_|[A-Za-z]\d|^[A-Z][A-Z0-9]{2,}$")
"""Marks of an identifier that no word of prose has, even at the beginning of a sentence."""

_HERE = ("crate", "self", "super", "")
"""Parts of a name that say where to look from, and name nothing."""
_INDEX = r"(?:/(?:__init__|index|mod|lib|main|README))?"
"""Files that stand for their directory."""
_SOURCE_ROOTS = 2
"""Least number of a foreign path's last parts that name a file: ``flask/app.py`` of an installed package."""

_WITHOUT_THE_NAME = 0.5
"""Share of its score that a file keeps where it does not define the name that is asked for in it."""


Tail = tuple[str, bool]
"""How a path may end, and whether it must be the whole path, from the top of the working tree."""


class Reference(Struct, frozen=True):
    """What a question names.

    Attributes:
        tails: Paths that it may mean, the likeliest first.
        lines: First and last line, 1-based; None where it names none.
        name: The definition, parts joined by dots; empty for none.
        in_file: Whether the definition is asked for in those files.
    """

    tails: tuple[Tail, ...] = ()
    lines: tuple[int, int] | None = None
    name: str = ""
    surely_a_name: bool = False
    in_file: bool = False


class Named(Struct, frozen=True):
    """A file that a question names.

    Attributes:
        file: Its number in the scope.
        chunk_ids: The chunk to show, and others of the file, best first; none where the file's beginning is.
        lines: The lines that are asked for; None for none.
    """

    file: int
    path: str
    score: float
    chunk_ids: tuple[int, ...] = ()
    lines: tuple[int, int] | None = None


class LookedUp(Struct, frozen=True):
    """What a scope has of what a question names.

    Attributes:
        by_name: Whether a definition's name led to them, and the ranker knows their order better.
    """

    named: tuple[Named, ...] = ()
    by_name: bool = False
    is_path: bool = False


def read(text: str, directory: str = "") -> Reference:
    """Read what a question names. Pure.

    Args:
        text: The question, white space collapsed.
        directory: Where relative paths start, relative to the top of the working tree; empty for the top.
    """
    if len(text) > _LONGEST:
        return Reference()
    text = _unquoted(text)
    if url := _URL.fullmatch(text):
        return _of_url(text, url["rest"])
    if frame := _TRACEBACK.search(text):
        first = int(frame["first"])
        return Reference(_tails(frame["path"], directory), (first, first))
    place = _LINES.search(text)
    if place and place.start():
        first, last = int(place["first"]), int(place["last"] or place["first"])
        tails = _tails(text[: place.start()], directory)
        if tails and first:
            return Reference(tails, (first, max(first, last)))
    member = _MEMBER.fullmatch(text)
    if member and ("/" in member["path"] or _ENDS_LIKE_A_FILE.search(member["path"])):
        return Reference(_tails(member["path"], directory), name=dotted(member["name"]), in_file=True)
    named = _NAME.fullmatch(_CASE.sub("", text))
    name = dotted(named["name"]) if named else ""
    sure = bool(named and (named["call"] or is_identifier(named["name"]) or "." in name))
    tails = () if _PLAIN_WORD.fullmatch(text) else _tails(text, directory)
    suffix = text.rpartition(".")[2]
    if not (sure or looks_like_code(name)) or (len(suffix) > 1 and language_of(f"a.{suffix}")):
        name = ""  # a word of prose, or the name of a file: door.py
    return Reference(tails, name=name, surely_a_name=sure)


def led_by_links(text: str, directory: str, follow: Callable[[str], str]) -> str:
    """Return a question that names a path with the file that its links lead to; empty for none."""
    text = " ".join(text.split())
    asked = Reference() if _TRACEBACK.search(text) else read(text, directory)  # of a report it is a part
    for path, is_whole in asked.tails:
        if is_whole and (real := follow(path)) != path:
            place = ":" + "-".join(map(str, dict.fromkeys(asked.lines))) if asked.lines else ""
            return real + (f":{asked.name}" if asked.in_file else place)
    return ""


def names_a_path(text: str, directory: str) -> bool:
    return any("/" in path or "." in path for path, _ in read(text, directory).tails)


def is_identifier(word: str) -> bool:
    """Tell whether a word can be no word of prose, not even a capitalised one."""
    return bool(_IDENTIFIER.search(word))


def _unquoted(text: str) -> str:
    text = typed(text)
    for opening, closing in _QUOTES:
        if len(text) > 2 and text.startswith(opening) and text.endswith(closing):
            return text[1:-1].strip()
    return text


def dotted(name: str) -> str:
    """Return a definition's name with its parts joined by dots; empty if it has none."""
    parts = [part for part in _PARTS.split(name) if part]
    while len(parts) > 1 and parts[0] in _HERE:
        del parts[0]
    return ".".join(parts)


def _of_url(url: str, rest: str) -> Reference:
    """Read the path and the lines of a URL."""
    place, _, fragment = rest.partition("#")
    place = place.partition("?")[0].strip("/")
    if issue := _ISSUE_URL.search(place):
        return Reference((_issue(issue["id"]),))
    lines = _LINES.search(f"#{fragment}") if fragment else None
    first = int(lines["first"]) if lines else 0
    tails = tuple((end, True) for end in of_url(url, _SOURCE_ROOTS))
    return Reference(tails, (first, int((lines and lines["last"]) or first)) if first else None)


def _issue(number: str) -> Tail:
    return f"{issues.DIRECTORY}/{number}.md", True


def _tails(path: str, directory: str) -> tuple[Tail, ...]:
    """List the paths that a text may mean, the likeliest first; none where it is a sentence."""
    path = typed(path).replace("\\", "/")
    if any(map(str.isspace, path)) and not _ENDS_LIKE_A_FILE.search(path):
        return ()
    if path.startswith(("/", "~")) or path[1:3] == ":/":  # of this machine or another one
        parts = path.split("/")[1:]
        whole = [("/".join(parts[start:]), True) for start in range(len(parts))]
        ends = [("/".join(parts[start:]), False) for start in range(len(parts) - _SOURCE_ROOTS + 1)]
        return tuple(tail for tail in (*whole, *ends) if tail[0].strip("/"))
    from_here = posixpath.normpath(posixpath.join(directory, path))
    explicit = path.startswith(("./", "../")) or path in {".", ".."}
    found = [] if from_here.startswith("..") or from_here == "." else [(from_here, True)]
    if explicit:
        return tuple(found)
    plain = posixpath.normpath(path)
    if plain in {".", ".."}:
        return ()
    found += [(plain, True), (plain, False)]
    if re.fullmatch(r"#?[\w.-]+", path):
        found.append(_issue(path.lstrip("#")))
    if path[:2] in {"a/", "b/"}:  # as in a difference of git's
        found.append((plain[2:], True))
    return tuple(dict.fromkeys(found))


def look_up(source: Source, scope: SearchScope, text: str, directory: str = "") -> LookedUp:
    """Find what a question names among the files that it may find.

    Args:
        directory: Where relative paths start, relative to the top of the working tree.
    """
    asked = read(text, directory)
    is_path = _is_path(text, asked)
    files = _files(source, scope, asked.tails)
    if files and asked.in_file:
        own = _definitions(source, scope, asked.name, among=files)
        without = (replace(each, score=each.score * _WITHOUT_THE_NAME) for each in _scored(files))
        return LookedUp(tuple(own or without), is_path=is_path)
    if files:
        return LookedUp(tuple(_scored(files, asked.lines)), is_path=is_path)
    if asked.name and (defined := _definitions(source, scope, asked.name, sure=asked.surely_a_name)):
        return LookedUp(tuple(defined), by_name=True)
    if asked.name and asked.surely_a_name and (modules := _modules(source, scope, asked.name)):
        return LookedUp(tuple(_scored(modules)))
    if asked.tails and "/" in text and (inside := _inside(source, scope, asked.tails)):
        return LookedUp(tuple(_scored(inside)), is_path=is_path)
    return LookedUp(is_path=is_path)


def _is_path(text: str, asked: Reference) -> bool:
    """Tell whether a question is a path and nothing else: one word, a slash in it, a suffix at its end."""
    return (
        len(text.split()) == 1
        and "/" in text
        and any("/" in path and _ENDS_LIKE_A_FILE.search(path) for path, _ in asked.tails)
    )


def look_up_name(source: Source, scope: SearchScope, name: str) -> LookedUp:
    """Find what has a name, where it is known to be one, though it may be a word of prose as well."""
    return LookedUp(tuple(_definitions(source, scope, dotted(name))), by_name=True)


def _scored(files: Sequence[tuple[int, str]], lines: tuple[int, int] | None = None) -> Iterator[Named]:
    score = chance_of_one(len(files))
    return (Named(file, path, score, lines=lines) for file, path in files)


def chance_of_one(many: int) -> float:
    """Return the score of each of several files that are named alike: 1 for one, towards a half for many.

    Each bears the name for certain; which one is meant is not known.
    """
    return 0.5 + 0.5 / many


def _files(source: Source, scope: SearchScope, tails: Sequence[Tail]) -> list[tuple[int, str]]:
    """Find the files that the first of some tails to fit names; case counts only if it helps."""
    names = sorted({path.rpartition("/")[2] for path, _ in tails} - {""})
    if not names:
        return []
    pattern = f"(?i)(^|/)({'|'.join(map(_pattern, names))})$"
    rows = source.files_matching(scope, pattern)
    for tail, is_whole in tails:
        for fold in (str, composed, _folded):
            end = fold(tail)
            fitting = [(file, path) for file, path in rows if fold(path) == end]
            if is_whole and fitting:
                return fitting
            if not is_whole:
                fitting = [(file, path) for file, path in rows if f"/{fold(path)}".endswith(f"/{end}")]
                if fitting:
                    return sorted(fitting, key=lambda item: (item[1].count("/"), item[1]))
    return []


def _folded(path: str) -> str:
    return composed(path).lower()


def _pattern(path: str) -> str:
    """Return the pattern of a path in either form of Unicode."""
    return f"(?:{'|'.join(map(scopes.path_pattern, forms(path)))})"


def _inside(source: Source, scope: SearchScope, tails: Sequence[Tail]) -> list[tuple[int, str]]:
    """Find the files in a directory that is named: those that stand for it first, then the least deep."""
    for path, is_whole in tails:
        start = "^" if is_whole else "(^|/)"
        pattern = f"(?i){start}{_pattern(path)}/"
        if rows := source.files_matching(scope, pattern):
            own = re.compile(rf"{re.escape(path)}{_INDEX}\.\w+$", re.IGNORECASE)
            return sorted(rows, key=lambda item: (not own.search(item[1]), item[1].count("/"), item[1]))
    return []


def _modules(source: Source, scope: SearchScope, name: str) -> list[tuple[int, str]]:
    """Find the files that a dotted name or a bare file name stands for: ``aiohttp.web_ws``, ``web_ws``."""
    end = _pattern(name.replace(".", "/"))
    rows = source.files_matching(scope, rf"(?i)(^|/){end}{_INDEX}\.[A-Za-z0-9]+$")
    exact = [(file, path) for file, path in rows if f"/{name.replace('.', '/')}" in f"/{path}"]
    return sorted(exact or rows, key=lambda item: (item[1].count("/"), item[1]))


def _definitions(
    source: Source,
    scope: SearchScope,
    name: str,
    *,
    sure: bool = True,
    among: Sequence[tuple[int, str]] | None = None,
) -> list[Named]:
    """Find what a name defines: ``Session.send``, ``requests.sessions.Session``, ``test_open``.

    Parts before the qualified name must be the end of the file's path or of its directory. A name in another
    case counts where nothing has it in its own; a word that may be prose only in its own.
    """
    parts = name.split(".")
    paths = dict(among or ())
    for start in range(len(parts)):
        wanted = ".".join(parts[start:])
        sites = source.definitions(scope, [wanted])
        sites = [site for site in sites if site.parts == len(parts) - start]
        if among is not None:
            sites = [site for site in sites if site.file in paths]
        else:
            path_ids = {site.file: int(scope.files.path_id[site.file]) for site in sites}
            read_paths = source.read_paths(list(path_ids.values()))
            paths = {file: read_paths[path_id] for file, path_id in path_ids.items()}
            sites = [site for site in sites if lies_in(paths[site.file], parts[:start])]
        exact = [site for site in sites if site.exact]
        if exact or (sites and sure):
            chunks: dict[int, list[int]] = {}
            copies: dict[int, int] = {}  # of the same content the first is enough
            for site in sorted(exact or sites, key=lambda site: paths[site.file]):
                if copies.setdefault(int(scope.files.content_id[site.file]), site.file) == site.file:
                    chunks.setdefault(site.file, []).append(site.chunk_id)
            return _weighed(chunks, paths)
    return []


def _weighed(chunks: dict[int, list[int]], paths: dict[int, str]) -> list[Named]:
    """Score definers: tests, examples and documents repeat names, so they count only where no others are."""
    beside = {file for file in chunks if traits(paths[file]) & OUTSIDE_THE_PRODUCT}
    own = len(chunks) - len(beside)
    score, other = chance_of_one(own or len(beside)), chance_of_one(len(chunks) + 1)
    return [
        Named(file, paths[file], other if own and file in beside else score, tuple(ids))
        for file, ids in sorted(
            chunks.items(), key=lambda item: (bool(own) and item[0] in beside, paths[item[0]])
        )
    ]


def lies_in(path: str, module: Sequence[str]) -> bool:
    """Tell whether a file is, or is directly in, the module of a dotted name."""
    if not module:
        return True
    stem = path.rpartition(".")[0] or path
    folder = path.rpartition("/")[0]
    end = "/" + "/".join(module).lower()
    return any(f"/{each}".lower().endswith(end) for each in (stem, folder))
