"""Sources of operators only, at which a parser would run out of memory, are told before they are parsed."""

import pytest

from gitrag.chunking.chunker import is_hopelessly_nested


@pytest.mark.sweep(keep=60)
@pytest.mark.parametrize("line", [b"-\n", b"\t/*\n", b"=" * 41 + b"\n", b" " * 40 + b"<" + b" " * 40 + b"\n"])
@pytest.mark.parametrize("offset", range(64))
def test_so_many_lines_of_operators_are_found_wherever_they_begin(line: bytes, offset: int):
    before = b"x" * offset + b"\n"
    assert is_hopelessly_nested(before + 256 * line + b"end")
    assert not is_hopelessly_nested(before + 255 * line + b"end")
