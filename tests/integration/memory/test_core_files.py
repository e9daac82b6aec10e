from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from gitrag.errors import BusyError, ConfigError, StoreError
from gitrag.memory.core_files import CoreFile, CoreFiles, context_text
from tests.support.at_once import at_once

WRITERS = 10


@pytest.fixture
def core(tmp_path: Path) -> CoreFiles:
    return CoreFiles(tmp_path / "home")


def test_files_are_marked_by_project(core: CoreFiles):
    """One file holds the core files of all projects."""
    core.mark("shop", "a.py", "first")
    core.mark("bank", "b.py")
    core.mark("shop", "c.py", "third")
    assert core.all("shop") == [CoreFile("shop", "a.py", "first"), CoreFile("shop", "c.py", "third")]
    assert core.all() == [*core.all("shop"), CoreFile("bank", "b.py", "")]
    assert core.path.read_text() == (
        "shop:\n- path: a.py\n  summary: first\n- path: c.py\n  summary: third\nbank:\n"
        "- path: b.py\n  summary: ''\n"
    )


def test_marking_again_replaces_the_summary_in_its_place(core: CoreFiles):
    """Without a summary, the old one stays."""
    core.mark("shop", "a.py", "first")
    core.mark("shop", "b.py", "")
    core.mark("shop", "a.py", "better")
    core.mark("shop", "a.py")
    assert [(each.path, each.summary) for each in core.all()] == [("a.py", "better"), ("b.py", "")]


def test_unmarking_leaves_the_others(core: CoreFiles):
    assert not core.unmark("shop", "a.py")
    assert not core.path.exists()
    core.mark("shop", "a.py")
    core.mark("shop", "b.py")
    assert core.unmark("shop", "a.py")
    assert not core.unmark("shop", "a.py")
    assert core.all() == [CoreFile("shop", "b.py", "")]
    assert core.unmark("shop", "b.py")
    assert core.path.read_text() == "{}\n"


@pytest.mark.parametrize(
    "text", ["on", "1.10", "a: #b", "*x", "!y", "two\nlines", "用户 🚀", "null", "'", "\udcff"]
)
def test_what_means_something_in_yaml_survives(core: CoreFiles, text: str):
    core.mark(text, text, text)
    assert core.all() == [CoreFile(text, text, text.strip())]


def test_many_processes_mark_at_once(core: CoreFiles):
    def mark(number: int) -> None:
        waiting = [f"{number}/{turn}.py" for turn in range(3)]
        while waiting:
            with suppress(BusyError):  # a busy machine gives nobody a turn within seconds
                CoreFiles(core.path.parent).mark("shop", waiting[-1], "summary")
                waiting.pop()

    at_once(WRITERS, mark)
    assert len(core.all("shop")) == 3 * WRITERS


@pytest.mark.parametrize(
    "content", ["shop: a.py", "shop:\n- a.py", "shop:\n- path: [x]", "shop:\n- summary: x"]
)
def test_another_form_is_refused_and_kept(core: CoreFiles, content: str):
    core.path.parent.mkdir()
    core.path.write_text(content)
    with pytest.raises(StoreError, match="not of the form"):
        core.mark("shop", "b.py")
    assert core.path.read_text() == content


@pytest.mark.parametrize("content", ["a: &x [*x]", "a: [", "x" * (1024 * 1024 + 1)])
def test_reading_is_bounded(core: CoreFiles, content: str):
    core.path.parent.mkdir()
    core.path.write_text(content)
    with pytest.raises(ConfigError):
        core.all()


def test_a_session_is_told_word_for_word():
    """Agents recognise these headings."""
    core = [CoreFile("p", "src/a.py", "The parts."), CoreFile("p", "b.py", "")]
    assert context_text(core, {"src/a.py": ["def f(x)", "class C"]}) == (
        "\n\n## Core Codebase Context\n\n### src/a.py\nThe parts.\n- `def f(x)`\n- `class C`\n\n### b.py\n\n"
    )


def test_without_core_files_nothing_at_all_is_told():
    """An empty section would only cost tokens."""
    assert context_text([], {}) == ""
