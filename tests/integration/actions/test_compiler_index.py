"""A compiler's index at the top of a repository: read as long as it is of the files as they are."""

from __future__ import annotations

import os

import pytest

from gitrag.actions.graph import call_graph
from gitrag.callgraph.answering import Direction, GraphQuestion
from tests.support.indexes import open_app
from tests.support.scip import FILES, NAMES, index_of

TOLD = [("run", 2, "compiler")]


@pytest.fixture
def repository(make_repository):
    return make_repository(FILES)


@pytest.fixture
def workspace(repository):
    workspace = open_app(repository)
    workspace.update()
    return workspace


def asked(workspace):
    found = call_graph(workspace, GraphQuestion("Job.start", direction=Direction.CALLERS))
    edges = [(each.caller.name, each.line, each.provenance) for each in found.graph.edges]
    return edges, "".join(found.graph.followed.notes)


def write(place, data=None, *, seconds=1):
    place.write_bytes(index_of(NAMES) if data is None else data)
    newest = max(file.stat().st_mtime_ns for file in place.parent.rglob("*.py"))
    os.utime(place, ns=(newest + seconds * 10**9,) * 2)


def test_it_is_read_until_a_file_changes(workspace):
    root = workspace.repo.root
    assert asked(workspace) == ([], "")
    write(root / "index.scip")
    assert asked(workspace) == (TOLD, "")
    later = (root / "index.scip").stat().st_mtime_ns + 1
    (root / "a.py").write_text(FILES["a.py"] + "\n\nlast = 1\n")
    os.utime(root / "a.py", ns=(later, later))
    edges, notes = asked(workspace)
    assert edges == []
    assert "index is not used for 1 file" in notes


def test_one_that_is_committed_is_read_by_history(workspace):
    root = workspace.repo.root
    write(root / "index.scip", seconds=-100)
    assert asked(workspace)[0] == []
    workspace.repo.git("add", "index.scip")
    workspace.repo.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "Index")
    assert asked(workspace) == (TOLD, "")
    (root / "a.py").write_text(FILES["a.py"] + "\n\nlast = 1\n")
    assert asked(workspace)[0] == []


@pytest.mark.parametrize("data", [b"no index", b"\x12\xff\xff\xff\x7f", b"\xff" * 99])
def test_what_is_no_index_is_said(workspace, data):
    write(workspace.repo.root / "index.scip", data)
    edges, notes = asked(workspace)
    assert edges == []
    assert "index.scip is not used: " in notes


def test_a_link_is_not_followed_and_another_place_can_be_named(workspace, repository, tmp_path):
    root = workspace.repo.root
    place = tmp_path / "made.scip"
    place.write_bytes(index_of(NAMES))
    os.utime(place, ns=(2**62, 2**62))
    (root / "index.scip").symlink_to(place)
    assert asked(workspace)[0] == []
    workspace.repo.git("config", "gitrag.scipIndex", str(place))
    assert asked(open_app(repository))[0] == TOLD
