"""The tests that bear on a change, as arguments for what runs them."""

from __future__ import annotations

import pytest

from gitrag.report.impact import arguments

TESTS = [
    "tests/test_b.py",
    "tests/conftest.py",
    "-x/test_a.py",
    "tests/test c.py",
    "tests/test_d'.py",
    "tests/test_\u202e\x1b.py",
    "pkg/a/a_test.go",
    "pkg/a/b_test.go",
    "top_test.go",
    "-v/a_test.go",
    "core/tests/api.rs",
    "core/tests/all/main.rs",
    "core/src/tests.rs",
    "web/src/a.test.tsx",
    "@web/[id]/(b)/c.test.ts",
    "@own/test_e.py",
    "[own]/test_f.py",
    "a::b/test_g.py",
]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("pytest", ("tests/test_b.py", "./-x/test_a.py", "./@own/test_e.py")),
        ("go", ("./pkg/a", "./", "./-v")),
        ("cargo", ("--test=api", "--test=all", "--lib")),
        ("jest", ("web/src/a.test.tsx", "./@web/.id./.b./c.test.ts")),
        (
            "paths",
            (
                *("tests/test_b.py", "./-x/test_a.py", *TESTS[6:9], "./-v/a_test.go", *TESTS[10:14]),
                *("./@web/[id]/(b)/c.test.ts", "./@own/test_e.py", *TESTS[16:]),
            ),
        ),
    ],
)
def test_a_program_is_given_its_own_tests_once_and_no_word_that_a_shell_splits(program, expected):
    assert arguments(TESTS, program) == expected
