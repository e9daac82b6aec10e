"""The definitions of a file, as an outline lists them."""

from __future__ import annotations

import pytest

from gitrag.actions.lines import definitions_of
from gitrag.chunking.line_pieces import MAX_CHUNK_CHARS
from tests.support.stubs import C_PROTOTYPES, PYTHON_OVERLOADS, TYPESCRIPT_OVERLOADS

LONG = "".join(f"    step_{i} = {i}  # one of very many steps\n" for i in range(MAX_CHUNK_CHARS // 15))
BODY = "        a = a + 1\n        return a\n"
FIELDS = "    field = 'between two methods, and long enough for a chunk'\n"
CLASS = f"class C:\n    def a(self):\n        return 1\n\n{FIELDS}\n    def b(self):\n        return 2\n"
PROSE = "# A\n\n" + "".join(f"## {name}\n\n{'words of it ' * 99}\n\n" for name in "XYX")
INNER = f"def f():\n{LONG}\n    def g():\n{LONG.replace('    ', '        ')}\n{LONG}"


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("python", PYTHON_OVERLOADS, ["C", "C.f", "C.g"]),
        ("typescript", TYPESCRIPT_OVERLOADS, ["f", "g"]),
        ("c", C_PROTOTYPES, ["g", "f"]),
        ("python", f"def f():\n{LONG}\n\ndef g():\n{LONG}", ["f", "g"]),
        ("python", CLASS, ["C", "C.a", "C.b"]),
        ("python", INNER, ["f", "f.g"]),
        ("markdown", PROSE, ["A > X", "A > Y", "A > X"]),
        ("markdown", f"## X\n\n{LONG}\n## X\n\n{LONG}", ["X", "X"]),
        ("python", f"if w:\n    def f(a):\n{BODY}\nelse:\n    def f(a):\n{BODY}", ["f", "f"]),
        (
            "c",
            "#ifdef W\nint f(int a)\n{\n  return 1;\n}\n#else\nint f(int a)\n{\n  return 2;\n}\n#endif\n",
            ["f", "f"],
        ),
    ],
)
def test_each_definition_is_listed_once(language, source, expected):
    lines = source.split("\n")[:-1]
    found = definitions_of(lines, language)
    assert [each.qualified_name for each in found] == expected
    if source == INNER:
        assert found[0].line_end == len(lines)
