"""Who waits for all files that have changed, and who does not."""

from __future__ import annotations

import pytest

from gitrag.cli.root import root
from gitrag.cli.terminal import Terminal
from tests.support.indexes import of_texts


@pytest.mark.parametrize(
    ("options", "is_soon"),
    [
        ([], True),
        (["--output", "json", "--no-graph"], False),
        (["--output", "markdown", "--no-graph"], False),
    ],
    ids=["text", "json", "markdown"],
)
def test_only_who_reads_text_at_a_terminal_is_answered_before_all_is_read(
    tmp_path, monkeypatch, options, is_soon
):
    workspace = of_texts(tmp_path, {"a.py": "def open_door(): pass\n"})
    asked = []

    def search(_workspace, _text, limits):
        asked.append(limits.soon)
        raise SystemExit(0)

    monkeypatch.setattr("gitrag.actions.search.search", search)
    monkeypatch.setattr(Terminal, "is_interactive", property(lambda _: True))
    monkeypatch.chdir(workspace.place)
    with pytest.raises(SystemExit):
        root(["search", *options, "open the door"], standalone_mode=False, obj=workspace.environ)
    assert asked == [is_soon]
