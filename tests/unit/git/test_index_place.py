from __future__ import annotations

from pathlib import Path

from gitrag.git.discovery import index_place


def test_another_repository_at_the_same_path_has_another_index_in_the_cache(tmp_path: Path):
    mount = tmp_path / "mnt"
    mount.mkdir()
    first = index_place(mount, "cache")
    assert index_place(mount, "cache") == first
    mount.rename(tmp_path / "unplugged")
    mount.mkdir()
    assert index_place(mount, "cache") != first
