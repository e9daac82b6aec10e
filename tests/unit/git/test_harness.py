"""The harness itself: the same steps make the same commits on every machine."""

from __future__ import annotations

from tests.support.repository import Link


def test_same_files_give_the_same_commit_everywhere(make_repository):
    repository = make_repository({"a.py": "x = 1\n", "link": Link("a.py")})

    assert repository.git("rev-parse", "HEAD") == "518dfe3b8155002e64d8349be86ce78ee75a4db0"


def test_paths_that_are_not_utf8_survive(make_repository):
    repository = make_repository({b"caf\xe9.txt": b"x\n"})

    assert repository.git("ls-files", "-z") == "caf\udce9.txt\0"


def test_file_directory_and_link_replace_each_other(make_repository):
    repository = make_repository({"a": "file\n"})

    repository.commit({"a/b": "in a directory\n"})
    repository.commit({"a": Link("nowhere")})

    assert repository.git("ls-tree", "-r", "HEAD").startswith("120000 blob")
