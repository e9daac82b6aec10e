"""Rules by path; git's own check-attr and check-ignore are the oracle for patterns."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitrag.git import Rules, is_rule_file
from gitrag.git.path_rules import MAX_LINE_BYTES, MAX_RULE_FILE_BYTES
from gitrag.git.patterns import MAX_GLOB_CHARS, MAX_GLOBS
from gitrag.model import Skip

FILE = 0o100644


def skip(path: str, files: dict[str, bytes] | None = None, exclude: tuple[str, ...] = ()) -> Skip | None:
    return Rules.build(files or {}, exclude).skip(path, FILE)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/app.py", None),
        ("node_modules/left-pad/index.js", Skip.VENDORED),
        ("web/node_modules/left-pad/index.js", Skip.VENDORED),
        ("third_party/zlib/zlib.c", Skip.VENDORED),
        ("vendor/github.com/pkg/errors/errors.go", Skip.VENDORED),
        ("services/pay/vendor/github.com/pkg/errors/errors.go", Skip.VENDORED),
        ("vendor/composer/installed.json", Skip.VENDORED),
        ("app/models/vendor/account.py", None),
        ("app/vendor.py", None),
        ("vendor.py", None),
        ("src/node_modules.py", None),
        ("package-lock.json", Skip.LOCK_FILE),
        ("crates/x/Cargo.lock", Skip.LOCK_FILE),
        ("lock.py", None),
        ("static/jquery.min.js", Skip.MINIFIED),
        ("static/jquery-min.css", Skip.MINIFIED),
        ("static/jquery.js.map", Skip.GENERATED),
        ("static/admin.js", None),
        ("world.map", None),
    ],
)
def test_tables_by_path(path, expected):
    assert skip(path) == expected


def test_links_and_submodules_come_first():
    rules = Rules.build({".gitattributes": b"* gitrag\n"})

    assert rules.skip("a", 0o120000) == Skip.SYMLINK
    assert rules.skip("a", 0o160000) == Skip.SUBMODULE


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (b"*.py linguist-generated\n", Skip.GENERATED),
        (b"*.py linguist-generated=true\n", Skip.GENERATED),
        (b"*.py linguist-generated=false\n", None),
        (b"*.py -linguist-generated\n", None),
        (b"*.py linguist-vendored\n", Skip.VENDORED),
        (b"*.py linguist-vendored linguist-generated\n", Skip.GENERATED),
        (b"*.py -gitrag\n", Skip.IGNORED),
        (b"*.py gitrag=false\n", Skip.IGNORED),
        (b"*.py -gitrag\na.py gitrag\n", None),
        (b"*.py -gitrag\na.py !gitrag\n", None),
        (b"a.py gitrag\n*.py -gitrag\n", Skip.IGNORED),
        (b"[attr]machine linguist-generated -diff\n*.py machine\n", Skip.GENERATED),
        (b'"a.\\160y" linguist-generated\n', Skip.GENERATED),
        (b"\xef\xbb\xbfa.py -gitrag\r\n", Skip.IGNORED),
        (b"!a.py -gitrag\n# *.py -gitrag\n", None),
    ],
)
def test_attributes(attributes, expected):
    assert skip("dir/a.py", {".gitattributes": attributes}) == expected


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (b"*.py linguist-language=Ruby\n", "Ruby"),
        (b"*.py linguist-language=Ruby\na.py !linguist-language\n", None),
        (b"*.py -linguist-language\n", None),
        (b"*.py linguist-language\n", None),
        (b"*.rb linguist-language=Ruby\n", None),
        (b"[attr]ours linguist-language=Ruby\n*.py ours\n", "Ruby"),
    ],
)
def test_the_language_that_an_attribute_says(attributes, expected):
    assert Rules.build({".gitattributes": attributes}).language("dir/a.py") == expected


def test_nearest_attributes_win():
    files = {
        ".gitattributes": b"*.py linguist-generated\n",
        "dir/.gitattributes": b"a.py -linguist-generated\n",
    }

    assert skip("dir/a.py", files) is None
    assert skip("dir/b.py", files) == Skip.GENERATED
    assert skip("a.py", files) == Skip.GENERATED


def test_unspecified_in_a_nearer_file_hides_a_farther_one():
    files = {
        ".gitattributes": b"*.py linguist-generated\n",
        "dir/.gitattributes": b"a.py !linguist-generated\n",
    }

    assert skip("dir/a.py", files) is None


@pytest.mark.parametrize(
    ("path", "attributes"),
    [
        ("vendor/a.go", b"vendor/** -linguist-vendored\n"),
        ("vendor/a.go", b"*.go gitrag\n"),
        ("go.sum", b"go.sum gitrag\n"),
        ("a.min.js", b"*.js -linguist-generated\n"),
        ("packages/node_modules/@x/a/index.js", b"/packages/node_modules/** linguist-generated=false\n"),
        ("node_modules/own/a.js", b"node_modules/own/** -linguist-generated\n"),
    ],
)
def test_attributes_overrule_the_tables(path, attributes):
    assert skip(path) is not None
    assert skip(path, {".gitattributes": attributes}) is None


def test_node_modules_of_others_stay_out_where_those_of_the_repository_are_brought_back():
    files = {".gitattributes": b"/packages/node_modules/** linguist-generated=false\n"}

    assert skip("node_modules/left-pad/index.js", files) == Skip.VENDORED
    assert skip("web/packages/node_modules/a.js", files) == Skip.VENDORED
    assert skip("packages/third_party/a.js", files) == Skip.VENDORED


def test_gitrag_attribute_overrules_generated_and_ignore_files_but_not_the_configuration():
    files = {".gitattributes": b"a.py gitrag linguist-generated\n", ".gitragignore": b"*.py\n"}

    assert skip("a.py", files) is None
    assert skip("b.py", files) == Skip.IGNORED
    assert skip("a.py", files, ("*.py",)) == Skip.IGNORED


def test_ignore_file_takes_back_what_it_or_a_table_leaves_out():
    files = {".gitragignore": b"*.md\n!README.md\n!/vendor/\n"}

    assert skip("docs/x.md", files) == Skip.IGNORED
    assert skip("docs/README.md", files) is None
    assert skip("vendor/a.go", files) is None


def test_exclude_works_like_lines_of_an_ignore_file():
    exclude = ("docs/", "*.txt", "!keep.txt")

    assert skip("docs/a.py", exclude=exclude) == Skip.IGNORED
    assert skip("docs/keep.txt", exclude=exclude) == Skip.IGNORED
    assert skip("src/keep.txt", exclude=exclude) is None
    assert skip("src/docs", exclude=exclude) is None


def test_signature_changes_with_what_can_change_an_answer_and_with_nothing_else():
    base = {".gitattributes": b"*.py -gitrag\n", "d/.gitragignore": b"x\n"}
    same = {".gitattributes": b"# note\n*.png binary\n*.py -gitrag\n", "d/.gitragignore": b"\nx\n", "e": b"y"}

    assert Rules.build(base).signature == Rules.build(same).signature
    different = [
        Rules.build(base | {".gitattributes": b"*.py gitrag\n"}),
        Rules.build(base | {"d/.gitragignore": b"!x\n"}),
        Rules.build(base | {"d/.gitragignore": b"x/\n"}),
        Rules.build({".gitattributes": base[".gitattributes"], "f/.gitragignore": b"x\n"}),
        Rules.build(base, ["z"]),
    ]
    signatures = [Rules.build(base).signature, *(rules.signature for rules in different)]
    assert len(set(signatures)) == len(signatures)


def test_rule_files_are_known_by_name():
    assert is_rule_file(".gitattributes")
    assert is_rule_file("a/b/.gitragignore")
    assert not is_rule_file("a/.gitignore")
    assert not is_rule_file("a/my.gitattributes")


def test_paths_that_are_not_utf8_match():
    assert skip("caf\udce9.py", {".gitragignore": b"caf\xe9.py\n"}) == Skip.IGNORED
    assert skip("caf\udce9.py", {".gitragignore": b"caf?.py\n"}) == Skip.IGNORED


@pytest.mark.parametrize(
    "hostile",
    [
        b"*a" * 60 + b"*b",
        b"a/" + b"**/a*/" * 20 + b"b",
        b"[[[[[[[[" * 16,
        b"*" * 128,
        b"?*" * 64,
        b"**/" * 40 + b"b",
        b"[" + b"a-z" * 40 + b"]*" * 3,
    ],
)
def test_hostile_patterns_answer_at_once(hostile):
    """The bound is pytest's timeout: a backtracking matcher would not come back."""
    rules = Rules.build({".gitragignore": hostile + b"\n"})

    for path in ("a" * 250, "a/" * 200 + "a" * 250):
        rules.skip(path, FILE)


def test_caps_hold():
    many = {".gitattributes": b"".join(b"a?%d -gitrag\n" % n for n in range(MAX_GLOBS + 1))}
    too_long = {".gitragignore": b"a?" + b"b" * MAX_GLOB_CHARS}
    long_line = {".gitragignore": b"a" * (MAX_LINE_BYTES + 1)}
    too_big = {".gitragignore": b"#\n" * MAX_RULE_FILE_BYTES + b"last"}

    assert skip(f"ab{MAX_GLOBS - 1}", many) == Skip.IGNORED
    assert skip(f"ab{MAX_GLOBS}", many) is None
    assert skip("ab" + "b" * MAX_GLOB_CHARS, too_long) is None
    assert skip("a" * (MAX_LINE_BYTES + 1), long_line) is None
    assert skip("last", too_big) is None


def test_a_path_deeper_than_the_stack_is_answered():
    assert skip("d/" * 5000 + "f", {".gitragignore": b"*.py\n"}) is None


NAMES = ["a", "b", "ab", "a.py", "b.min.js", "-x", "A"]
PATHS = ["/".join(parts) for depth in (1, 2, 3) for parts in itertools.product(NAMES[:5], repeat=depth)]

segments = st.text("ab.*?[]!-^\\py", min_size=1, max_size=5) | st.sampled_from(
    [*NAMES, "**", "*", "*.py", "[ab]", "[!a]"]
)
patterns = st.builds(
    lambda lead, parts, trail: lead + "/".join(parts) + trail,
    st.sampled_from(["", "/", "**/"]),
    st.lists(segments, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", "/**"]),
).filter(lambda pattern: not pattern.startswith(("#", "!")) and "[attr]" not in pattern)


@pytest.fixture
def oracle(make_repository):
    return make_repository()


slow_fixture = settings(
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@slow_fixture
@given(
    st.lists(st.tuples(patterns, st.sampled_from(["gitrag", "-gitrag", "!gitrag"])), min_size=1, max_size=4),
    st.data(),
)
def test_attributes_match_as_git_does(oracle, lines, data):
    where = data.draw(st.sampled_from(["", "a/"]))
    content = "".join(f"{pattern} {state}\n" for pattern, state in lines)
    oracle.git("config", "core.quotePath", "false")
    oracle.write({"a": None})
    oracle.write({".gitattributes": None, f"{where}.gitattributes": content})

    said = oracle.git("check-attr", "-z", "--stdin", "gitrag", stdin="\0".join(PATHS).encode() + b"\0").split(
        "\0"
    )
    expected = {path: state == "unset" for path, state in zip(said[::3], said[2::3], strict=False)}
    rules = Rules.build({f"{where}.gitattributes": content.encode()})
    assert {path: rules.skip(path, FILE) == Skip.IGNORED for path in PATHS} == {p: expected[p] for p in PATHS}


@slow_fixture
@given(st.lists(st.tuples(st.sampled_from(["", "", "!"]), patterns), min_size=1, max_size=4), st.data())
def test_ignore_files_match_as_git_does(oracle, lines, data):
    where = data.draw(st.sampled_from(["", "a/"]))
    content = "".join(f"{negated}{pattern}\n" for negated, pattern in lines)
    oracle.write({"a": None})
    oracle.write({".gitignore": None, f"{where}.gitignore": content})

    said = oracle.git(
        "check-ignore",
        "-z",
        "-v",
        "-n",
        "--no-index",
        "--stdin",
        stdin="\0".join(PATHS).encode() + b"\0",
        check=False,
    ).split("\0")
    expected = {
        path: bool(pattern) and not pattern.startswith("!")
        for pattern, path in zip(said[2::4], said[3::4], strict=False)
    }
    rules = Rules.build({f"{where}.gitragignore": content.encode()})
    assert {path: rules.skip(path, FILE) == Skip.IGNORED for path in PATHS} == {p: expected[p] for p in PATHS}
