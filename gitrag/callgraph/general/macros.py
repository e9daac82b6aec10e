"""Rust's macros that are given whole items: ``cfg_rt! { pub fn spawn() { … } }``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

    from gitrag.chunking.languages import Language

_ITEM = re.compile(rb"\b(?:fn|struct|enum|trait|mod|impl)\b")
_ITEM_PLACES = frozenset({"source_file", "declaration_list"})
_MOST_NESTED = 4
"""Macros opened within one another; tokio has two."""


def opened(source: bytes, tree: tree_sitter.Tree, language: Language) -> tuple[bytes, tree_sitter.Tree]:
    """Open the macros of a source that hold items, so that these are parsed like all others.

    Nothing changes its place: a macro's name and brackets become spaces.
    """
    from gitrag.chunking.parsing import parse

    for _ in range(_MOST_NESTED):
        changed = bytearray(source)
        for macro, tokens in _holding_items(tree.root_node):
            inner = source[tokens.start_byte + 1 : tokens.end_byte - 1]
            if _ITEM.search(inner) and not parse(inner, language).root_node.has_error:
                _blank(changed, macro.start_byte, tokens.start_byte + 1)
                _blank(changed, tokens.end_byte - 1, tokens.end_byte)
        if changed == source:
            break
        source = bytes(changed)
        tree = parse(source, language)
    return source, tree


def _holding_items(root: tree_sitter.Node) -> Iterator[tuple[tree_sitter.Node, tree_sitter.Node]]:
    """Yield the macros that stand where items do, with their tokens in braces."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        for child in node.named_children:
            macro = child.named_children[0] if child.type == "expression_statement" else child
            if macro.type == "macro_invocation" and node.type in _ITEM_PLACES:
                tokens = macro.named_children[-1]
                if tokens.type == "token_tree" and tokens.text and tokens.text.startswith(b"{"):
                    yield macro, tokens
            elif child.type in {"impl_item", "trait_item", "mod_item", "declaration_list"}:
                waiting.append(child)


def _blank(source: bytearray, start: int, end: int) -> None:
    source[start:end] = re.sub(rb"[^\n]", b" ", bytes(source[start:end]))
