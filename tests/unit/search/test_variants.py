from __future__ import annotations

from collections.abc import Sequence

import pytest

from gitrag.search import variants
from gitrag.search.variants import Outline
from gitrag.words.terms import query_terms

NAMES = ("parse", "read", "skip", "peek", "close")


def outline(*names: str, lines: Sequence[str] = ()) -> Outline:
    return frozenset(names), frozenset(lines)


def grouped(*files: tuple[str, Outline]) -> list[list[str]]:
    paths = [path for path, _ in files]
    found = variants.groups(range(len(files)), paths, lambda asked: {file: files[file][1] for file in asked})
    return [[paths[file] for file in group] for group in found]


@pytest.mark.parametrize(
    "paths",
    [
        ("src/v3/parse.ts", "src/v4/classic/parse.ts", "src/mini/parse.ts"),
        ("src/unix/tty.c", "src/win/tty.c"),
        ("src/tty_unix.go", "src/tty_windows.go"),
        ("http/client.py", "http/client_async.py"),
        ("lib/door.js", "dist/door.min.js", "dist/door.mjs"),
        ("door.py", "door.pyi"),
    ],
)
def test_files_that_define_nearly_the_same_under_the_names_of_variants_are_one_group(paths: tuple[str, ...]):
    assert grouped(*((path, outline(*NAMES, path.casefold())) for path in paths)) == [list(paths)]


def test_names_count_without_the_word_for_the_platform():
    linux = outline(*(f"linuxprocess_{name}" for name in NAMES))
    darwin = outline(*(f"darwinprocess_{name}" for name in NAMES))
    paths = ["linux/LinuxProcess.c", "darwin/DarwinProcess.c"]
    assert grouped((paths[0], linux), (paths[1], darwin)) == [paths]
    assert grouped(("LinuxProcess.c", linux), ("other/DarwinProcess.c", darwin)) != [paths]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # the names of files say that they are about other things
        ("src/request.py", "src/response.py"),
        ("Handler/SlackHandler.php", "Handler/MailHandler.php"),
        ("src/Request/Request+Body.swift", "src/Response/Response+Body.swift"),
        ("src/door.c", "src/door.py"),
    ],
)
def test_files_with_other_names_are_never_one_group(one: str, other: str):
    assert grouped((one, outline(*NAMES)), (other, outline(*NAMES))) == [[one], [other]]


def test_files_with_one_name_and_other_contents_are_not_one_group():
    files = [("a/index.ts", outline(*NAMES)), ("b/index.ts", outline("open", "lock", "parse", "bolt"))]
    assert grouped(*files) == [["a/index.ts"], ["b/index.ts"]]


def test_a_version_may_name_its_files_otherwise():
    types = [f"zod{number}" for number in range(12)]
    old, new = outline(*types, "errormap"), outline(*types, "locale", "registry")
    assert grouped(("src/v3/types.ts", old), ("src/v4/schemas.ts", new)) == [
        ["src/v3/types.ts", "src/v4/schemas.ts"]
    ]
    few = outline(*types[:5])
    assert len(grouped(("api/v1/users.py", few), ("api/v2/accounts.py", few))) == 2  # get, list, create …
    assert len(grouped(("src/v4/types.ts", old), ("src/v4/schemas.ts", new))) == 2
    assert len(grouped(("src/types.ts", old), ("src/schemas.ts", new))) == 2


def test_lines_tell_where_there_are_few_names():
    lines = [f"route('/{number}', handler)" for number in range(20)]
    files = {
        "example/simple.zig": outline("main", lines=lines),
        "example/simple-ex.zig": outline("main", lines=lines[:15]),
        "example/simple-other.zig": outline("main", lines=lines[:5]),
    }
    assert grouped(*files.items()) == [
        ["example/simple.zig", "example/simple-ex.zig"],
        ["example/simple-other.zig"],
    ]


def test_a_licence_makes_no_variants():
    licence = [f" * You may obtain a copy, {number}" for number in range(30)]
    assert variants.lines_of(["/**\n" + "\n".join(licence) + "\n */\npackage door.hinges;"]) == {
        "package door.hinges;"
    }


def test_translations_are_one_group_whatever_they_say():
    paths = ["locale/de/door.ts", "locale/uk/door.ts", "locale/uk/window.ts"]
    assert grouped(*((path, outline(path)) for path in paths)) == [paths[:2], paths[2:]]


def test_only_files_in_doubt_are_read():
    asked: list[int] = []

    def outlines(files: Sequence[int]) -> dict[int, Outline]:
        asked.extend(files)
        return {file: outline() for file in files}

    paths = ["src/a.py", "v1/b.py", "v2/b.py", "src/c.py", "po/de.po", "po/fr.po"]
    variants.groups(range(len(paths)), paths, outlines)
    assert asked == [1, 2]


def test_a_question_means_the_variant_that_it_names():
    paths = ["linux/Platform.c", "darwin/Platform.c", "win32/Platform.c"]

    def meant(question: str) -> int | None:
        return variants.named(paths, query_terms(question))

    assert meant("free swap of the platform") is None
    assert meant("free swap on darwin") == 1
    assert meant("free swap on macOS") == meant("free swap on macos") == 1
    assert meant("crash when windows starts") == 2
    assert meant("darwin does as linux does") == 0


def test_an_entry_point_offers_one_of_the_variants():
    paths = ["src/v3/parse.ts", "src/v4/parse.ts"]
    assert variants.exported(paths, "// v3 is old\nexport * from './v4/external.js';") == 1
    assert variants.exported(paths, "export * from './v4';\nexport * as v3 from './v3';") is None
    assert variants.exported(paths, "const parse = 1;") is None


def test_what_is_worked_on_much_more_is_meant():
    assert variants.most_worked_on([2.0, 6.0, 1.0]) == 1
    assert variants.most_worked_on([2.0, 5.0]) is None
    assert variants.most_worked_on([0.0, 0.5]) is None
    assert variants.most_worked_on([0.0, 0.0]) is None


def test_a_group_keeps_its_places():
    assert variants.in_place([1, 2, 3, 4, 5], [[4, 2], [1], [3], [5]]) == [1, 4, 3, 2, 5]
    assert variants.in_place([1, 2, 3], [[9, 2], [1], [3]]) == [1, 9, 3]
