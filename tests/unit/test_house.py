"""What gitrag is made of does not grow unnoticed: `scripts/house.toml` has the numbers."""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("house", ROOT / "scripts/house.py")
house = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(house)


def test_nothing_is_more_than_is_allowed():
    assert list(house.risen(house.counts(ROOT / "gitrag"), house.read_allowed())) == []


def test_counts_are_of_what_is_there(tmp_path):
    long = "def long(a, b, c, d, e, f, g, h, i):\n" + "    pass\n" * 60
    (tmp_path / "a.py").write_text(
        "class Kept(Struct): ...\nclass More(Kept): ...\nclass Plain: ...\n" + long
    )
    (tmp_path / "b.py").write_text("Row(each.path, str(each.line), each.text)\n" + "\n" * 500)
    there = house.counts(tmp_path)
    assert there == {
        "lines": 565,
        "files": 2,
        "types": 2,
        "mapping_sites": 1,
        "long_functions": 1,
        "functions_of_many_parameters": 1,
        "long_files": 1,
    }
    assert list(house.risen(there, {"types": 1, "files": 2})) == ["types: 2, allowed are 1"]


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("Row(each.path, each.line, each.text)", True),
        ("f({'a': each.a}, [each.b, str(each.c)])", True),
        ("(each.a, each.b, other.c)", False),
        ("Row(self.a, self.b, self.c)", False),
        ("each.a + each.b + each.c", False),
    ],
)
def test_a_mapping_takes_three_fields_of_one_object(line, is_one):
    assert any(map(house.is_mapping, ast.walk(ast.parse(line)))) == is_one


@pytest.mark.skipif(os.name == "nt", reason="a closed pipe is another error there")
def test_who_has_read_enough_sees_no_traceback(tmp_path):
    (tmp_path / "gitrag").mkdir()
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=lambda *_: {"bench", "training"})
    command = [sys.executable, tmp_path / "scripts/house.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == -signal.SIGPIPE
