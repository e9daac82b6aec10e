"""A question that is a path, a place in a file, a definition's name or an issue's id."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gitrag.actions.search import SearchOptions, search
from gitrag.corpus.layout import CollectionKind
from gitrag.search.sections import USUAL_KINDS, Wanted
from gitrag.store.scopes import Filters
from tests.support.indexes import of_texts, open_app
from tests.support.repository import create_repository, isolated_environment
from tests.support.stubs import PYTHON_OVERLOADS

FILES = {
    "src/house/door.py": """
        \"\"\"Doors.\"\"\"


        class Door:
            def open_it(self, key):
                return key

            def close(self):
                return None


        def make_door():
            return Door()
        """,
    "src/house/window.py": """
        class Window:
            def close(self):
                return 1
        """,
    "src/house/__init__.py": "from house.door import Door\n",
    "src/shed/__init__.py": "PLANKS = 3\n",
    "src/shed/paint_shop.py": "def mix_colours():\n    return 'green'\n",
    "lib/door.py": "def knock():\n    return 'who is there'\n",
    "tests/test_door.py": """
        class TestDoor:
            def test_open(self):
                assert True


        def make_door():
            return 1
        """,
    "bells/bell.py": f"{PYTHON_OVERLOADS}\n",
    "docs/My Guide.md": "# Guide\n\nHow to knock.\n",
    "docs/caf\N{LATIN SMALL LETTER E WITH ACUTE}.md": "# Coffee\n\nBeans.\n",
    "Makefile": "all:\n\techo done\n",
    ".sdd/issues/142.md": "---\nid: '142'\ntitle: Squeaky hinge\nstatus: open\n---\n\nIt squeaks.\n",
    "web/src/app.ts": "export function start(): number {\n  return 1;\n}\n",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    return of_texts(tmp_path_factory.mktemp("lookup"), FILES)


def named(workspace, query: str, directory: str = "", **options) -> list[tuple[str, float]]:
    """Return the hits that the question names, with their scores."""
    answer = search(workspace, query, SearchOptions(directory=directory, **options))
    return [(hit.path, hit.score) for hit in answer.hits if hit.reasons[:1] == (("named", hit.score),)]


@pytest.mark.parametrize(
    ("query", "directory", "path"),
    [
        ("src/house/door.py", "", "src/house/door.py"),
        ("house/door.py", "", "src/house/door.py"),
        ("`src/house/door.py`", "", "src/house/door.py"),
        ("./src/house/door.py", "", "src/house/door.py"),
        ("SRC/House/DOOR.py", "", "src/house/door.py"),
        (r"src\house\door.py", "", "src/house/door.py"),
        ("window.py", "", "src/house/window.py"),
        ("./door.py", "src/house", "src/house/door.py"),
        ("../house/door.py", "src/shed", "src/house/door.py"),
        ("shed/paint_shop.py", "src", "src/shed/paint_shop.py"),
        ("src/house/door.py:5", "", "src/house/door.py"),
        ("b/src/house/door.py", "", "src/house/door.py"),
        ("/home/somebody/p/src/house/door.py", "", "src/house/door.py"),
        ("/usr/lib/python3/site-packages/shed/paint_shop.py", "", "src/shed/paint_shop.py"),
        ('File "/somewhere/house/door.py", line 5, in open_it', "", "src/house/door.py"),
        ("https://forge.example/o/p/blob/main/src/house/door.py#L5-L6", "", "src/house/door.py"),
        ("https://forge.example/o/p/-/blob/feature/doors/src/house/door.py", "", "src/house/door.py"),
        ("https://forge.example/o/p/src/branch/main/lib/door.py", "", "lib/door.py"),
        ("https://raw.forge.example/o/p/main/lib/door.py?plain=1", "", "lib/door.py"),
        ("paint_shop", "", "src/shed/paint_shop.py"),
        ("shed.paint_shop", "", "src/shed/paint_shop.py"),
        ("makefile:2", "", "Makefile"),
        ("Makefile", "", "Makefile"),
        ("docs/My Guide.md", "", "docs/My Guide.md"),
        (
            "docs/caf\N{LATIN SMALL LETTER E WITH ACUTE}.md",
            "",
            "docs/caf\N{LATIN SMALL LETTER E WITH ACUTE}.md",
        ),
        ("mix_colours", "", "src/shed/paint_shop.py"),
        ("mix_colours()", "", "src/shed/paint_shop.py"),
        ("shed.paint_shop.mix_colours", "", "src/shed/paint_shop.py"),
        ("Door.open_it", "", "src/house/door.py"),
        ("house::door::Door::open_it", "", "src/house/door.py"),
        ("crate::door::Door", "", "src/house/door.py"),
        ("house.Window", "", "src/house/window.py"),
        ("Window#close", "", "src/house/window.py"),
        ("door.open_it", "", "src/house/door.py"),
        ("MIX_COLOURS", "", "src/shed/paint_shop.py"),
        ("test_open", "", "tests/test_door.py"),
        ("tests/test_door.py::TestDoor::test_open[key-2]", "", "tests/test_door.py"),
        ("TestDoor::test_open[key-2]", "", "tests/test_door.py"),
        ("web/src/app.ts#start", "", "web/src/app.ts"),
    ],
)
def test_what_is_named_is_found_for_certain(workspace, query, directory, path):
    assert named(workspace, query, directory) == [(path, 1.0)]
    assert search(workspace, query, SearchOptions(directory=directory)).hits[0].path == path


@pytest.mark.parametrize(
    ("query", "directory"),
    [
        ("src/house/gone.py", ""),
        ("./door.py", ""),
        ("../door.py", "src/house"),
        ("../../../door.py", "src"),
        ("src/house/door.pyc", ""),
        ("oor.py", ""),
        ("garden/house/door.py", ""),
        ("https://forge.example/o/p/blob/main/src/gone.py", ""),
        ("https://forge.example/door.py", ""),
        ("/usr/share/door.py", ""),
        ("garden.Window", ""),
        ("Door.paint", ""),
        ("close", ""),
        ("garden/", ""),
        ("how do I open src/house/door.py", ""),
        ("https://forge.example/o/p/issues/143", ""),
    ],
)
def test_what_is_not_there_is_not_claimed(workspace, query, directory):
    assert named(workspace, query, directory) == []


def test_each_file_of_a_shared_name_is_listed_and_none_for_certain(workspace):
    assert named(workspace, "door.py") == [("lib/door.py", 0.75), ("src/house/door.py", 0.75)]
    assert named(workspace, "__init__.py") == [
        ("src/house/__init__.py", 0.75),
        ("src/shed/__init__.py", 0.75),
    ]
    assert named(workspace, "door.py", directory="lib") == [("lib/door.py", 1.0)]
    assert named(workspace, "door.py", limit=1) == [("lib/door.py", 0.75)]
    assert named(workspace, "door.py", min_score=0.8) == []


def test_a_definition_of_the_product_stands_before_one_of_its_tests(workspace):
    own, test = named(workspace, "make_door")
    assert own == ("src/house/door.py", 1.0)
    assert test[0] == "tests/test_door.py"
    assert test[1] < 0.7


def test_a_function_is_shown_and_not_what_declares_it(workspace):
    [hit] = [each for each in search(workspace, "C.f").hits if each.path == "bells/bell.py"]
    assert (hit.chunk.line_start, hit.snippet[0].text) == (8, "    def f(self, a):")


def test_a_directory_gives_what_is_in_it_the_file_that_stands_for_it_first(workspace):
    found = named(workspace, "src/house/")
    assert found[0][0] == "src/house/__init__.py"
    assert {path for path, _ in found} == {f"src/house/{name}.py" for name in ("__init__", "door", "window")}


@pytest.mark.parametrize(
    "query", ["src/house/door.py:6", "src/house/door.py#L6-L6", "src/house/door.py(6,9)"]
)
def test_a_line_is_shown_with_the_definition_around_it(workspace, query):
    hit = search(workspace, query).hits[0]
    assert hit.chunk.name == "open_it"
    assert [(line.number, line.text.strip()) for line in hit.snippet] == [(6, "return key")]


def test_a_line_beyond_the_end_gives_the_file_and_no_such_line(workspace):
    hit = search(workspace, "lib/door.py:4000").hits[0]
    assert hit.path == "lib/door.py"
    assert all(line.number <= 2 for line in hit.snippet)


def test_a_file_that_lacks_the_name_is_shown_but_not_as_the_answer(workspace):
    assert named(workspace, "tests/test_door.py::test_gone") == [("tests/test_door.py", 0.5)]


@pytest.mark.parametrize("query", ["142", "#142", "https://forge.example/o/p/issues/142"])
def test_an_issue_is_found_by_its_id(workspace, query):
    wanted = Wanted((*USUAL_KINDS, CollectionKind.ISSUES))
    assert named(workspace, query, wanted=wanted) == [(".sdd/issues/142.md", 1.0)]
    assert named(workspace, query) == []  # issues were not asked for


def test_filters_hold_for_what_is_named(workspace):
    assert named(workspace, "door.py", filters=Filters(globs=("lib/**",))) == [("lib/door.py", 1.0)]
    assert named(workspace, "src/house/door.py", filters=Filters(languages=("go",))) == []
    assert (
        search(workspace, "src/house/door.py", SearchOptions(filters=Filters(kinds=("class",))))
        .hits[0]
        .chunk.kind
        == "class"
    )


def test_what_else_there_is_comes_after_it_and_below_it(workspace):
    hits = search(workspace, "src/house/door.py", SearchOptions(min_score=0.0)).hits
    assert [hit.path for hit in hits].count("src/house/door.py") == 1
    assert len(hits) > 1
    assert all(hit.score <= 0.5 for hit in hits[1:])


def test_a_file_is_named_as_it_is_now(tmp_path):
    """New, changed, moved, deleted and ignored files, none of them committed."""
    repository = create_repository(
        tmp_path / "p",
        isolated_environment(tmp_path / "home"),
        {"a/old.py": "x = 1\n", "a/gone.py": "y = 2\n"},
    )
    workspace = open_app(repository)
    workspace.update()
    repository.write(
        {
            "a/old.py": None,
            "b/moved.py": "x = 1\n",
            "a/gone.py": None,
            ".gitignore": "*.log\n",
            "run.log": "z\n",
        }
    )
    assert named(workspace, "moved.py") == [("b/moved.py", 1.0)]
    for gone in ("a/old.py", "gone.py", "run.log"):
        assert named(workspace, gone) == []
    assert named(workspace, "a/gone.py", ref="HEAD") == [("a/gone.py", 1.0)]


def test_the_command_reads_paths_from_the_directory_it_is_run_in(tmp_path):
    repository = create_repository(
        tmp_path / "p",
        isolated_environment(tmp_path / "home"),
        {"a/door.py": "x = 1\n", "b/door.py": "y = 2\n"},
    )
    open_app(repository).update()
    command = [
        sys.executable,
        "-m",
        "gitrag",
        "search",
        "--output",
        "text",  # in which paths are as seen from there, too
        "--min-score",
        "0.6",
        "./door.py",
    ]
    done = subprocess.run(
        command,
        cwd=repository.path / "b",
        env=repository.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.startswith("door.py:1"), done.stderr
    assert "a/door.py" not in done.stdout
