"""Every requirement has its tests, and CONTRIBUTING.md says which."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("requirements", ROOT / "scripts/requirements.py")
requirements = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(requirements)
LISTED = requirements.read_listed()


def test_every_listed_test_is_there_and_every_requirement_has_one():
    assert list(requirements.faults(LISTED, requirements.tests_of(ROOT))) == []


def test_every_number_of_the_requirements_is_listed():
    of_sections = enumerate((9, 12, 11, 6, 8, 5, 10), 1)
    numbers = [f"{section}.{number + 1}" for section, most in of_sections for number in range(most)]
    assert [requirement.split()[0] for requirement in LISTED] == ["0", *numbers]


def test_every_test_of_a_situation_is_there():
    there = requirements.tests_of(ROOT)
    tests = [row[1] for each in requirements.read_situations().values() for row in each.values()]
    assert len(tests) >= 60
    assert [test for test in tests if test not in there] == []


def test_every_scenario_of_the_sources_has_its_tests():
    scenarios, there = requirements.read_scenarios(), requirements.tests_of(ROOT)
    assert list(requirements.faults(scenarios, there)) == []
    assert {requirement[:3] for requirement in scenarios} == {"001", "002", "003", "004"}
    assert (
        sum(len(each) for name, each in scenarios.items() if name.startswith("001")) == 40
    )  # all but the version of a plugin


def test_the_tables_in_documents_are_the_scripts():
    for name, rows in requirements.written(LISTED):
        text = (ROOT / name).read_text("utf-8")
        assert requirements.with_table(text, rows) == text, "scripts/requirements.py --write"


def test_what_is_missing_is_told():
    listed = {"1 a": {"b": ["tests/x.py::test_a", "tests/x.py::test_b"]}, "2 c": {"d": []}}
    there = {"tests/x.py::test_a"}
    assert list(requirements.faults(listed, there)) == [
        "1 a: there is no tests/x.py::test_b",
        "2 c: no test",
    ]
    assert requirements.table(listed, there).splitlines()[2:] == [
        "| 1 a | b | 1 | `tests/x.py::test_b` |",
        "| 2 c | d | 0 |  |",
    ]
