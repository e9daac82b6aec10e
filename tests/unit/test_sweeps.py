"""Of a sweep's cases each has its turn."""

from __future__ import annotations

import pytest

from tests.support.sweeps import some_of

pytest_plugins = "pytester"


@pytest.mark.parametrize(("cases", "keep"), [(1, 1), (7, 3), (8, 4), (54, 5), (3, 9)])
def test_each_case_has_its_turn_before_any_has_its_second(cases, keep):
    every = list(range(cases))
    days = [some_of(every, keep, day) for day in range(800_000, 800_000 + -(-cases // keep))]
    assert set().union(*days) == set(every)
    assert {len(each) for each in days} == {min(keep, cases)}
    assert all(each == sorted(each) for each in days)
    assert some_of(every, keep, None) == every


def test_a_run_has_those_of_its_day_and_whoever_asks_for_others_gets_them(pytester):
    named = pytester.makepyfile(
        """
        import pytest

        @pytest.mark.sweep(keep=2)
        @pytest.mark.parametrize("case", range(6))
        def test_case(case, some):
            print("had", case, len(some(range(9), keep=3)))

        def test_other():
            pass

        @pytest.mark.sweep(keep=0)
        def test_long():
            print("had", "it")
        """
    )

    def run(*options: str) -> tuple[list[str], str]:
        done = pytester.runpytest_inprocess("-p", "tests.support.sweeps", "-s", *options)
        return [line.partition("had ")[2] for line in done.outlines if "had " in line], str(done.stdout)

    days = [run(f"--day={day}")[0] for day in (1, 2, 3)]
    assert sorted(case for each in days for case in each) == [f"{case} 3" for case in range(6)]
    had, told = run("--day=1")
    assert (had, "sweeps: some, --day=1" in told, "3 passed, 5 deselected" in told) == (days[0], True, True)
    had, told = run("--all")
    assert (len(had), had[0], had[-1], "8 passed" in told) == (7, "0 9", "it", True)
    assert run("--day=1", f"{named}::test_long")[0] == ["it"]
    assert run("--day=1", *(f"{named}::test_case[{case}]" for case in (3, 4, 5)))[0] == ["3 3", "4 3", "5 3"]


def test_a_run_has_the_day_of_the_run_that_started_it(pytester, monkeypatch):
    monkeypatch.setenv("SWEEPS_DAY", "7")
    assert "--day=7;" in str(pytester.runpytest_inprocess("-p", "tests.support.sweeps").stdout)


def test_what_failed_on_another_day_is_run_again(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.sweep(keep=1)
        @pytest.mark.parametrize("case", range(3))
        def test_case(case):
            assert case == 1
        """
    )
    pytester.runpytest_inprocess("-p", "tests.support.sweeps", "--all").assert_outcomes(passed=1, failed=2)
    done = pytester.runpytest_inprocess("-p", "tests.support.sweeps", "--day=1", "--lf")
    done.assert_outcomes(failed=2)
