"""Select a part of a call graph: by a regular expression, or by name."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import SequenceMatcher
from heapq import nlargest

from gitrag.callgraph.graph import MODULE, Node
from gitrag.errors import UsageError
from gitrag.words.control_characters import in_whole_characters
from gitrag.words.regular_expressions import compiled

MAX_TEXT_CHARS = 300
"""Characters of a path or name that a filter is matched against."""

_MATCHING_S = 5.0
"""Time limit for all nodes: each takes linear time, but with the longest expressions 20 ms."""


def matching(expression: str, nodes: Sequence[Node], check: Callable[[], None] = lambda: None) -> list[bool]:
    """Tell which nodes a regular expression matches anywhere in path or qualified name, ignoring case.

    RE2 matches in time linear in the text, whatever the expression (github.com/google/re2/wiki/Syntax).
    """
    search = compiled(expression, called="filter", ignores_case=True).search
    texts = [(node.path[:MAX_TEXT_CHARS], node.name[:MAX_TEXT_CHARS]) for node in nodes]
    fitting: dict[str, bool] = {}
    end = time.monotonic() + _MATCHING_S
    for number, text in enumerate({text for pair in texts for text in pair}):
        if number % _BATCH == 0:
            check()
        if time.monotonic() > end:
            problem = f"The filter {expression[:60]!r} takes longer than {_MATCHING_S:.0f} s to match."
            raise UsageError(problem, "Give a shorter one, with fewer repetitions such as {1,100}.")
        fitting[text] = search(in_whole_characters(text)) is not None
    return [fitting[path] or fitting[name] for path, name in texts]


_BATCH = 64


def named(target: str, nodes: Sequence[Node]) -> list[int]:
    """Return the indices of the definitions that match a target: a path, a qualified name, or the end of one.

    An exact match wins over one in another case, ``path:name`` gives both, ``path:line`` what is at a line of
    the only such file; a directory means its contents; a module may be named with dots.
    """
    for fold in (str, str.casefold):
        path, _, name = target.rpartition(":")
        wanted = fold(target.removeprefix("./").rstrip("/"))
        found = [i for i, node in enumerate(nodes) if fold(node.path) == wanted]
        if not found and path:
            where, what = fold(path.removeprefix("./")), fold(name)
            found = [
                i
                for i, node in enumerate(nodes)
                if fold(node.path).endswith(where) and _is_called(fold(node.name), what)
            ]
            found = found or _at_line(where, what, nodes, fold)
        dotted = re.sub(r"::|(?<=[^.])#", ".", wanted).removesuffix("()")  # `A#go`; but `A.#own` is private
        found = found or [i for i, node in enumerate(nodes) if fold(node.name) == dotted]
        found = found or [i for i, node in enumerate(nodes) if _is_called(fold(node.name), dotted)]
        found = found or [i for i, node in enumerate(nodes) if _is_dotted(node, dotted, fold)]
        found = found or [i for i, node in enumerate(nodes) if fold(node.path).startswith(wanted + "/")]
        place = "" if found else module_place(target, {node.path for node in nodes}, fold)
        if place:
            found = [i for i, node in enumerate(nodes) if (node.path + "/").startswith(place + "/")]
        if found:
            return found
    return []


def _at_line(where: str, line: str, nodes: Sequence[Node], fold: Callable[[str], str]) -> list[int]:
    """Return the innermost definition at a line of a file, if only one file is meant."""
    if not re.fullmatch(r"[0-9]{1,9}", line):
        return []
    paths = {node.path for node in nodes if f"/{fold(node.path)}".endswith(f"/{where}")}
    paths = {each for each in paths if fold(each) == where} or paths
    every = (i for i, node in enumerate(nodes) if node.path in paths)
    there = [i for i in every if nodes[i].line_start <= int(line) <= nodes[i].line_end]
    there.sort(key=lambda i: (nodes[i].line_end - nodes[i].line_start, nodes[i].name == MODULE))
    return there[:1] if len(paths) == 1 else []


def module_place(target: str, paths: Iterable[str], fold: Callable[[str], str] = str.casefold) -> str:
    """Return the file or directory that a dotted module name means, ``kombu.utils.url``; empty if none.

    Of several it is the one with the fewest directories above the module, then a file before a directory.
    """
    wanted = fold(target).replace("::", ".").replace(".", "/")
    if "/" not in wanted or "/" in target:
        return ""
    best: tuple[int, bool, str] | None = None
    for path in paths:
        folded = "/" + fold(path)
        place = folded.find(f"/{wanted}/")
        is_directory = place >= 0
        if not is_directory and (folded[: folded.rfind(".")] + "/").endswith(f"/{wanted}/"):
            place = len(folded[: folded.rfind(".")]) - len(wanted) - 1
        if place >= 0:
            own = path[: place + len(wanted)] if is_directory else path
            found = (path[:place].count("/") + (place > 0), is_directory, own)
            best = found if best is None else min(best, found)
    return best[2] if best is not None else ""


CONSTRUCTORS = ("constructor", "__construct", "initialize", "init", "<init>", "__init__", "__new__")
"""Names of constructors; in some languages they have their class's."""


def members(chosen: Collection[int], nodes: Sequence[Node]) -> list[int]:
    """Return the indices of what classes contain, in their own files or in files beside them."""
    taken = set(chosen)
    own = {(nodes[i].path, nodes[i].name) for i in chosen if nodes[i].kind == "class"}
    if not own:
        return []
    beside = {(path.rpartition("/")[0], name) for path, name in own}
    others = {(node.path, node.name) for node in nodes if node.kind == "class"} - own
    found = []
    for i, node in enumerate(nodes):
        end = node.name.find(".")
        while end > 0 and i not in taken:
            name = node.name[:end]
            near = (node.path.rpartition("/")[0], name) in beside and (node.path, name) not in others
            if near or (node.path, name) in own:
                found.append(i)
                break
            end = node.name.find(".", end + 1)
    return found


def _is_called(name: str, wanted: str) -> bool:
    return name == wanted or name.endswith("." + wanted)


def _is_dotted(node: Node, wanted: str, fold: type[str] | object) -> bool:
    """Tell whether a target that begins with the module matches a node: ``click.core.Context.invoke``."""
    if "." not in wanted or node.name == MODULE:
        return False
    place = node.path[: node.path.rfind(".")].removesuffix("/__init__").replace("/", ".")
    whole = fold(f"{place}.{node.name}")  # type: ignore[operator]
    return bool(whole.endswith("." + wanted) or whole == wanted)


_LONGEST_MISTYPED = 80
"""Characters: a comparison's time grows with their square."""

_COMPARING_S = 0.5
"""50,000 names of a real repository take half of it; as many similar names would take 20 s."""

_ALIKE = 0.6
"""difflib's default for close matches."""


def near_names(target: str, nodes: Iterable[Node]) -> list[str]:
    """Return up to three names similar to a mistyped target, the most similar first."""
    place, _, last = target.casefold().rpartition(":")[2].rpartition(".")
    if "/" in place or len(last) > _LONGEST_MISTYPED:  # a path's ending is no name
        return []
    by_name: dict[str, str] = {}
    for node in nodes:
        name = node.name.rpartition(".")[2]
        if len(name) <= _LONGEST_MISTYPED:
            by_name.setdefault(name.casefold(), node.name)
    likeness: dict[str, float] = {}
    matcher = SequenceMatcher(b=last)
    end = time.monotonic() + _COMPARING_S
    for name in by_name:
        if time.monotonic() > end:
            break
        matcher.set_seq1(name)
        if matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE:
            likeness[name] = matcher.ratio()
    best = [name for name in nlargest(3, likeness, likeness.__getitem__) if likeness[name] >= _ALIKE]
    return [by_name[name] for name in best]
