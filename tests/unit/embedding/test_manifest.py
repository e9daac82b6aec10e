from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gitrag.embedding.local_model import status
from gitrag.embedding.manifest import MANIFEST, check, describe, write_manifest
from gitrag.errors import ModelError


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "model.bin").write_bytes(b"weights")
    write_manifest(tmp_path / MANIFEST, (describe(tmp_path / "model.bin"),), "test")
    return tmp_path


def alter(directory: Path, data: bytes, *, keep_time: bool = False) -> None:
    path = directory / "model.bin"
    before = path.stat()
    path.write_bytes(data)
    os.utime(path, ns=(0, before.st_mtime_ns if keep_time else before.st_mtime_ns + 1))


def test_a_whole_model_passes(model):
    assert [file.name for file in check(model, thorough=True).files] == ["model.bin"]


def test_a_copied_model_passes(model):
    alter(model, b"weights")
    check(model)


def test_a_file_cut_short_is_found(model):
    alter(model, b"weight", keep_time=True)
    with pytest.raises(ModelError, match="damaged") as caught:
        check(model)
    assert "gitrag model fetch" in caught.value.hint


def test_an_altered_file_is_found(model):
    alter(model, b"WEIGHTS")
    with pytest.raises(ModelError, match="damaged"):
        check(model)


def test_an_altered_file_with_its_old_time_is_found_by_the_thorough_check(model):
    alter(model, b"WEIGHTS", keep_time=True)
    with pytest.raises(ModelError, match="damaged"):
        check(model, thorough=True)
    assert not status(model).ready
    assert status(model, thorough=False).ready  # as where it is opened: hashing takes 40 ms


def test_a_missing_file_is_named(model):
    (model / "model.bin").unlink()
    with pytest.raises(ModelError, match=r"model\.bin is missing"):
        check(model)


def test_an_empty_directory_has_no_model_yet(tmp_path):
    with pytest.raises(ModelError, match="not on this machine yet"):
        check(tmp_path / "nowhere")


def test_a_model_of_another_version_is_refused(model):
    fields = json.loads((model / MANIFEST).read_text("utf-8"))
    (model / MANIFEST).write_text(json.dumps(fields | {"graph": "int8-0"}), "utf-8")
    with pytest.raises(ModelError, match="another version"):
        check(model)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": 3}', "\x00", '{"files": [{"name": "../x"}]}'])
def test_a_damaged_manifest_is_refused(model, text):
    (model / MANIFEST).write_text(text, "utf-8")
    with pytest.raises(ModelError, match=r"manifest\.json is damaged"):
        check(model)
