"""Call graphs of sources given in a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import dedent

from gitrag.callgraph.extraction import extract
from gitrag.callgraph.general.manifests import NAMES
from gitrag.callgraph.loading import _spoken
from gitrag.callgraph.resolution import LIKELY, ResolvedCalls
from gitrag.chunking.languages import language_of


def calls_of(files: Mapping[str, str], check: Callable[[], None] = lambda: None) -> ResolvedCalls:
    """The calls among files, each by its path; manifests may be among them."""
    manifests = {path for path in files if path.rpartition("/")[2] in NAMES}
    return ResolvedCalls(
        {
            path: _spoken(_language_of(path, text), extract(dedent(text).encode(), _language_of(path, text)))
            for path, text in files.items()
            if path not in manifests
        },
        check,
        {path: files[path].encode() for path in manifests},
    )


def _language_of(path: str, text: str) -> str:
    return (
        {"erb": "erb", "jsp": "jsp", "cshtml": "razor", "razor": "razor", "twig": "twig"}.get(
            path.rpartition(".")[2]
        )
        or ("blade" if path.endswith(".blade.php") else "")
        or language_of(path, text)
        or ""
    )


def edges_of(files: Mapping[str, str], least: float = LIKELY) -> set[str]:
    """All calls, as ``caller -> callee``; with the path in front where there are several files."""
    calls = calls_of(files)
    own = [each for each, _ in calls.nodes()]

    def shown(node):
        return node.name if len(files) == 1 else f"{node.path}:{node.name}"

    return {f"{shown(edge.caller)} -> {shown(edge.callee)}" for edge in calls.callees(own, least)}
