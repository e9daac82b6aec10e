from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from gitrag.words import bounded_toml


@pytest.mark.parametrize(
    "text", ["a." * 120_000 + "a = 1", "[" + "a . " * 60_000 + "b]", 'x = {"a".' + "b." * 90_000 + "c=1}"]
)
def test_a_key_of_thousands_of_parts_is_refused_at_once(text: str):
    """Alone in a process: without the limit it would not end."""
    asked = (
        "import sys, tomllib; from gitrag.words import bounded_toml\n"
        "try: bounded_toml.parse(sys.stdin.read())\n"
        "except tomllib.TOMLDecodeError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], input=text, capture_output=True, text=True, timeout=20, check=True
    )
    assert done.stdout == "a key has too many parts\n"


def test_what_people_write_is_read():
    text = '[tool.uv]\nneeds = ["' + '", "'.join(f"a.b{i}>=1.2.3" for i in range(200)) + '"]\n"x.y".z = 1.5\n'
    assert bounded_toml.parse(text) == tomllib.loads(text)
