"""Only gitrag/trackers knows what a tracker's interface looks like."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import gitrag
from gitrag.trackers.detection import TRACKERS
from tests.support.tracker_fakes import FAKES

PACKAGE = Path(gitrag.__file__).parent
COMMENTS = PACKAGE / "actions" / "forge_comment.py"
"""It speaks to forges too, of a pull request: where two of them call a thing alike, that is no tracker's."""
OURS = {"blocked_by"}
"""Names of an interface that are front matter's too."""


def texts(path: Path) -> set[str]:
    """Every text constant of a module, its docstrings left out."""
    tree = ast.parse(path.read_text("utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone
    }


def fields() -> set[str]:
    """What the trackers' modules read or send that can only be an interface's: a_b, aB, x-a-b, a/b."""
    found: set[str] = set()
    for name in TRACKERS:
        found |= texts(PACKAGE / "trackers" / f"{name.replace('-', '_')}.py")
    form = re.compile(r"[a-z]+_[a-z_]+|[a-z]+(?:[A-Z][a-z]+)+|x-[a-z-]+|/[a-z]+(?:/[a-zA-Z0-9]+)+")
    return {each for each in found if form.fullmatch(each)} - OURS


def test_the_interfaces_fields_are_found():
    assert {"html_url", "updated_after", "nextPageToken", "depends_on_id", "/rest/api/2/search"} <= fields()


def test_nothing_outside_mentions_a_field_of_an_interface():
    known = fields()
    inside = PACKAGE / "trackers"
    for path in PACKAGE.rglob("*.py"):
        source = path.read_text("utf-8")
        if not path.is_relative_to(inside) and path != COMMENTS and any(each in source for each in known):
            assert not texts(path) & known, path


def test_a_tracker_is_a_module_and_a_line_of_the_registry():
    shared = {
        "adf",
        "base",
        "detection",
        "fields",
        "folder",
        "http",
        "issue",
        "paging",
        "registry",
        "rendering",
    }
    shared |= {"sync", "tokens", "__init__"}
    modules = {path.stem for path in (PACKAGE / "trackers").glob("*.py")}
    assert modules - shared == {name.replace("-", "_") for name in TRACKERS}


def test_each_tracker_has_a_fake_server_but_those_that_are_files():
    assert {fake.name for fake in FAKES} == TRACKERS.keys() - {"beads", "tasks-md"}
