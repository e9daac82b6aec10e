"""Which part of a call graph is asked for: by a regular expression, or by name."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from gitrag.callgraph.graph import MODULE, Node
from gitrag.errors import UsageError

MAX_FILTER_CHARS = 2_000
_MAX_TEXT_CHARS = 300
"""Of a path or name that a regular expression sees."""

_MATCHING_S = 5.0
"""For expressions that may backtrack without end, in a process that can be ended."""

_REPEATS = re.compile(r"(?<!\\)[*+{]")
_RISKY = re.compile(r"\)[*+{?]|\\\d|\(\?")


def matching(expression: str, nodes: Sequence[Node]) -> list[bool]:
    """Tell which nodes a regular expression is found in, by path or qualified name, whatever the case.

    Raises:
        UsageError: It is no regular expression, too long, or takes too long.
    """
    if len(expression) > MAX_FILTER_CHARS:
        raise UsageError(
            f"The filter has {len(expression):,} characters; {MAX_FILTER_CHARS:,} are allowed.", "Shorten it."
        )
    try:
        compiled = re.compile(expression, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        problem = f"The filter {expression[:60]!r} is no regular expression: {error}."
        raise UsageError(problem, "Escape what is meant as text, for example \\( for a bracket.") from error
    texts = [(node.path[:_MAX_TEXT_CHARS], node.name[:_MAX_TEXT_CHARS]) for node in nodes]
    distinct = sorted({text for pair in texts for text in pair})
    if _RISKY.search(expression) or len(_REPEATS.findall(expression)) > 2:
        found = _matching_apart(expression, distinct)
    else:
        found = {text for text in distinct if compiled.search(text)}
    return [path in found or name in found for path, name in texts]


_APART = (
    "import json, re, sys;"
    "given = json.load(sys.stdin);"
    "found = re.compile(given[0], re.IGNORECASE).search;"
    "json.dump([i for i, text in enumerate(given[1]) if found(text)], sys.stdout)"
)


def _matching_apart(expression: str, texts: Sequence[str]) -> set[str]:
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _APART],
            input=json.dumps([expression, texts]),
            capture_output=True,
            text=True,
            timeout=_MATCHING_S,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        problem = f"The filter {expression[:60]!r} takes longer than {_MATCHING_S:.0f} s to match."
        raise UsageError(problem, "Repeat nothing that repeats: write (a|b)* rather than (a*|b)*.") from error
    return {texts[place] for place in json.loads(done.stdout)}


def named(target: str, nodes: Sequence[Node]) -> list[int]:
    """Find the places of the definitions that a target means: a path, a qualified name, or the end of one.

    The exact spelling wins over another case, ``path:name`` says both, and a directory means what is in it.
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
        dotted = wanted.replace("::", ".").replace("#", ".").removesuffix("()")
        found = found or [i for i, node in enumerate(nodes) if fold(node.name) == dotted]
        found = found or [i for i, node in enumerate(nodes) if _is_called(fold(node.name), dotted)]
        found = found or [i for i, node in enumerate(nodes) if _is_dotted(node, dotted, fold)]
        found = found or [i for i, node in enumerate(nodes) if fold(node.path).startswith(wanted + "/")]
        if found:
            return found
    return []


def _is_called(name: str, wanted: str) -> bool:
    return name == wanted or name.endswith("." + wanted)


def _is_dotted(node: Node, wanted: str, fold: type[str] | object) -> bool:
    """Tell whether a target with its module in front means a node: ``click.core.Context.invoke``."""
    if "." not in wanted or node.name == MODULE:
        return False
    place = node.path[: node.path.rfind(".")].removesuffix("/__init__").replace("/", ".")
    whole = fold(f"{place}.{node.name}")  # type: ignore[operator]
    return bool(whole.endswith("." + wanted) or whole == wanted)


def near_names(target: str, nodes: Iterable[Node]) -> list[str]:
    """Return up to three names that a mistyped target may have meant."""
    last = target.rpartition(".")[2].rpartition(":")[2].casefold()
    by_name: dict[str, str] = {}
    for node in nodes:
        by_name.setdefault(node.name.rpartition(".")[2].casefold(), node.name)
    return [by_name[close] for close in get_close_matches(last, list(by_name), n=3, cutoff=0.6)]
