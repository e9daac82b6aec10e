"""Where programs begin, and how tests are named and run, as the repository's own files say."""

from __future__ import annotations

import pytest

from gitrag.corpus.entry_points import EntryPoint, entry_points
from gitrag.corpus.testing import CommandForTests, FilesOfTests, commands_for_tests, files_of_tests


def reading(files: dict[str, str]):
    return lambda path: files[path].encode() if path in files else None


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"pyproject.toml": '[project.scripts]\nserve = "app.main:run"\n', "app/__main__.py": ""},
            [EntryPoint("serve: app.main:run", "pyproject.toml"), EntryPoint("app/__main__.py")],
        ),
        (
            {"package.json": '{"bin": {"x": "./bin/x.js"}, "main": "i.js", "scripts": {"start": "node ."}}'},
            [EntryPoint(each, "package.json") for each in ("x: ./bin/x.js", "i.js", "start: node .")],
        ),
        ({"package.json": '{"name": "one", "bin": "cli.js"}'}, [EntryPoint("one: cli.js", "package.json")]),
        (
            {"Cargo.toml": '[[bin]]\nname = "rg"\npath = "src/main.rs"\n', "src/main.rs": ""},
            [EntryPoint("rg: src/main.rs", "Cargo.toml")],
        ),
        (
            {"setup.cfg": "[options.entry_points]\nconsole_scripts =\n  a = b:c\n"},
            [EntryPoint("a: b:c", "setup.cfg")],
        ),
        ({"hc/wsgi.py": "", "manage.py": ""}, [EntryPoint("manage.py"), EntryPoint("hc/wsgi.py")]),
        (
            {"kombu/__init__.py": "", "kombu/a/__init__.py": "", "t/__init__.py": ""},
            [EntryPoint("kombu/__init__.py")],
        ),
        ({"lib.py": ""}, []),
        ({"package.json": "[1", "pyproject.toml": "=", "Cargo.toml": "bin = 3", "setup.cfg": "x"}, []),
    ],
)
def test_manifests_and_usual_names_say_where_a_program_begins(files, expected):
    """A malformed manifest says nothing; what one names is not told again by its path."""
    assert list(entry_points(files, reading(files))) == expected


def test_a_definition_of_main_is_an_entry_point_except_in_tests_scripts_and_build_files():
    paths = ["cmd/server/main.go", "examples/main.go", "build.rs", "internal_test/main.go", "scripts/gen.go"]
    found = entry_points(paths, reading({}), mains=paths)
    assert found == (EntryPoint("cmd/server/main.go", "main"),)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"package.json": '{"scripts": {"test": "jest", "test:e2e": "x", "test:watch": "y"}}'},
            ["npm test", "npm run test:e2e"],
        ),
        ({"package.json": '{"scripts": {"test": "jest"}}', "pnpm-lock.yaml": ""}, ["pnpm test"]),
        ({"Makefile": "test: build\n\tgo test\nTEST := 1\ncheck :\n"}, ["make test", "make check"]),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n", "tox.ini": ""}, ["tox", "pytest"]),
        ({"scripts/test": "", "run_tests.sh": "", "lib/test": ""}, ["./run_tests.sh", "./scripts/test"]),
        ({"package.json": "[]", "composer.json": "{", "pyproject.toml": "="}, []),
    ],
)
def test_the_repository_says_how_its_tests_are_run(files, expected):
    assert [each.command for each in commands_for_tests(files, reading(files))] == expected


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("cargo test --workspace", "cargo test --workspace"),
        ("${{ env.CARGO }} test --lib", "$CARGO test --lib"),
        ("python -m pytest -x", "python -m pytest -x"),
        ("./gradlew :lib:test", "./gradlew :lib:test"),
        ("mvn -B verify", "mvn -B verify"),
        ("coverage run manage.py test", "coverage run manage.py test"),
        ("pip install pytest", ""),
        ("cargo build", ""),
        ("tox -v -e flake8", ""),
        ("echo no latest tests", ""),
    ],
)
def test_a_pipeline_says_which_command_tests(line, told):
    name = ".github/workflows/ci.yml"
    files = {
        name: f"jobs:\n  a:\n    steps:\n      - uses: x\n      - run: |\n          cd x\n          {line}\n"
    }
    assert [each.command for each in commands_for_tests(files, reading(files))] == ([told] if told else [])


def test_the_same_tests_with_other_options_are_told_once():
    name = ".github/workflows/ci.yml"
    files = {
        name: "a:\n- run: cargo test --all\n- run: cargo test --release\n",
        ".gitlab-ci.yml": "b: {script: [cargo test]}\n",
    }
    assert commands_for_tests(files, reading(files)) == (CommandForTests("cargo test --all", name),)


def test_a_pipeline_of_aliases_or_tags_says_nothing():
    """Such YAML may expand without end, and is not read."""
    files = {".github/workflows/ci.yml": "a: &x\n- run: make test\nb: *x\n"}
    assert commands_for_tests(files, reading(files)) == ()


def test_a_line_without_end_is_looked_at_in_part():
    """All of it would take minutes: a pattern may begin at each word and end at none."""
    files = {".github/workflows/ci.yml": f"a:\n- run: {'mvn ' * 40_000}\n- run: mvn test\n"}
    assert [each.command for each in commands_for_tests(files, reading(files))] == ["mvn test"]


def test_tests_are_counted_by_how_they_are_named():
    paths = [
        *("tests/unit/test_a.py", "tests/unit/test_b.py", "tests/e2e/test_c.py", "tests/conftest.py"),
        *("ui/src/a.test.ts", "tests/data/x.json"),
    ]
    assert files_of_tests(paths) == (
        FilesOfTests("test_*.py", 3, "tests"),
        FilesOfTests("*.test.ts", 1, "ui/src"),
    )


def test_tests_without_a_name_of_their_own_are_counted_by_their_directory():
    assert files_of_tests(["tests/glob.rs", "tests/walk.rs", "src/a.rs"]) == (
        FilesOfTests("*.rs", 2, "tests"),
    )
