"""The packages that manifests name, and what is imported of them."""

from __future__ import annotations

import pytest

from gitrag.callgraph.extraction import extract
from gitrag.callgraph.general.manifests import MOST_BYTES, Manifests
from gitrag.callgraph.published import importing, packages_of

PYPROJECT = b'[project]\nname = "Jinja2"\n'


@pytest.mark.parametrize(
    ("manifest", "text", "paths", "name", "modules"),
    [
        ("pyproject.toml", PYPROJECT, {"src/jinja2/__init__.py", "tests/__init__.py"}, "Jinja2", {"jinja2"}),
        ("pyproject.toml", PYPROJECT, {"jinja2/__init__.py", "extra/__init__.py"}, "Jinja2", {"jinja2"}),
        (
            "pyproject.toml",
            b'[tool.poetry]\nname = "attrs"\n',
            {"src/attr/__init__.pyi", "src/attrs/__init__.py"},
            "attrs",
            {"attr", "attrs"},
        ),
        ("setup.cfg", b"[metadata]\nname = till-work\n", {"till_work.py"}, "till-work", {"till_work"}),
        ("lib/setup.py", b"setup(\n  name='till')", {"lib/till/__init__.py", "x.py"}, "till", {"till"}),
        ("setup.py", b"setup(name='odd')", {"strange/__init__.py", "tests/__init__.py"}, "odd", {"strange"}),
        ("setup.py", b"name='mylib'", {"lib/tool.py", "mylib/__init__.py"}, "mylib", {"mylib"}),
        ("setup.py", b"name='PyYAML'", {"lib/yaml/__init__.py", "setup.py"}, "PyYAML", {"yaml"}),
        (
            "setup.py",
            b"name='odd'",
            {"lib/tool.py", "python/one/__init__.py", "two/__init__.py"},
            "odd",
            {"one", "two"},
        ),
        (
            "pyproject.toml",
            b'[project]\nname = "acme-core"',
            {"src/acme/core/__init__.py", "src/acme/core/in/ner.py", "src/acme/tool.py", "src/a-b/c.py"},
            "acme-core",
            {"acme.core", "acme.tool"},
        ),
        (
            "pyproject.toml",
            b'[project]\nname = "acme-core"',
            {"acme/core/a.py", "scripts/b.py", "extra/__init__.py"},
            "acme-core",
            {"acme.core.a"},
        ),
        ("setup.py", b"name='odd'", {"src/acme/core/__init__.py", "tests/a.py"}, "odd", {"acme.core"}),
        ("package.json", b'{"name": "@scope/lib"}', {"index.js"}, "@scope/lib", {"@scope/lib"}),
        (
            "go.mod",
            b"// x\nmodule example.org/till/v2\n",
            {"a.go"},
            "example.org/till/v2",
            {"example.org/till/v2"},
        ),
        ("Cargo.toml", b'[package]\nname = "till-work"\n', {"src/lib.rs"}, "till-work", {"till_work"}),
        (
            "pom.xml",
            b"<project><parent><artifactId>all</artifactId></parent><artifactId>till</artifactId></project>",
            {"src/main/java/org/till/Till.java", "src/test/java/org/other/T.java"},
            "till",
            {"org.till"},
        ),
    ],
)
def test_a_manifest_names_a_package_and_the_files_what_is_imported(manifest, text, paths, name, modules):
    (found,) = packages_of({manifest: text}, paths)
    assert (found.name, found.manifest, found.modules) == (name, manifest, frozenset(modules))


def test_a_file_belongs_to_the_nearest_manifest():
    found = packages_of(
        {
            "pom.xml": b"<artifactId>all</artifactId>",
            "till/pom.xml": b"<artifactId>till</artifactId>",
            "src/setup.py": b"name='other'",
        },
        {"till/src/main/java/org/till/Till.java", "src/main/java/org/all/All.java"},
    )
    assert [(each.name, each.modules) for each in found] == [("all", {"org.all"}), ("till", {"org.till"})]


@pytest.mark.parametrize(
    ("manifest", "text", "paths"),
    [
        ("pyproject.toml", b"[project\n", {"a/__init__.py"}),
        ("pyproject.toml", b'[project]\nname = ["a"]\n', {"a/__init__.py"}),
        ("package.json", b"[" * 100_000, {"a.js"}),
        ("package.json", b'{"name": 5}', {"a.js"}),
        ("Cargo.toml", b'[package]\nname = "tool"\n', {"src/main.rs"}),
        ("tests/fixture/package.json", b'{"name": "react"}', {"a.js"}),
        ("setup.py", b"setup(name=NAME)", {"a/__init__.py"}),
        ("go.mod", b"\xff\xfe", {"a.go"}),
    ],
)
def test_what_names_no_package_others_could_import_is_left_out(manifest, text, paths):
    assert packages_of({manifest: text}, paths) == []


def filled(text: str) -> bytes:
    return (text * MOST_BYTES)[: MOST_BYTES - 10].encode()


@pytest.mark.timeout(20)  # with time by the square of their lengths, minutes each
@pytest.mark.parametrize(
    ("manifest", "text"),
    [
        ("go.mod", filled("\n")),
        ("pom.xml", filled("<build>")),
        ("pyproject.toml", filled("a.") + b"a=1"),
        ("Cargo.toml", b"[" + filled("a.")[1:] + b"a]"),
    ],
)
def test_what_a_manifest_says_takes_no_time_by_the_square_of_its_length(manifest, text):
    assert packages_of({manifest: text}, {"a/__init__.py", "src/lib.rs"}) == []


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        b'"' + filled('\\"'),
        filled("/* "),
        b'{"extends": [' + b", ".join([b'"./tsconfig.json"'] * 100) + b"]}",
    ],
)
def test_neither_does_a_configuration_of_typescript(text):
    manifests = Manifests({"tsconfig.json": text, "go.mod": filled("\n")})
    assert manifests.aliases() == []
    assert manifests.go_modules() == {}


@pytest.mark.timeout(60)
def test_many_manifests_in_many_directories_are_read_in_time():
    texts = {f"a{n}/setup.py": f"name='a{n}'".encode() for n in range(3_000)}
    paths = {f"a{n}/b{m}/__init__.py" for n in range(3_000) for m in range(10)}
    assert len(packages_of(texts, paths)) == 3_000


def test_only_packages_of_the_families_asked_for_are_read():
    texts = {"setup.py": b"name='a'", "package.json": b'{"name": "b"}'}
    assert [each.name for each in packages_of(texts, {"a.py"}, {"javascript"})] == ["b"]


def test_a_module_of_a_shared_namespace_is_imported_by_its_whole_name():
    packages = packages_of(
        {"pyproject.toml": b'[project]\nname = "acme-core"'}, {"src/acme/core/__init__.py"}
    )
    sources = {
        "a.py": "import acme.core\n",
        "b.py": "from acme import core\n",
        "c.py": "from acme.core.deep import x\n",
        "d.py": "from acme import web\nimport acme, acme.web, acme.corex\n",
    }
    files = {path: ("python", extract(text.encode(), "python")) for path, text in sources.items()}
    assert set(importing(files, packages)) == {"a.py", "b.py", "c.py"}


def test_a_name_that_is_no_text_is_no_module():
    assert packages_of({"setup.py": b"name='odd'"}, {"caf\udce9/__init__.py"}) == []


def test_a_file_imports_a_package_by_any_of_its_modules_and_by_no_name_that_only_begins_so():
    packages = packages_of(
        {
            "pyproject.toml": PYPROJECT,
            "package.json": b'{"name": "till"}',
            "go.mod": b"module example.org/till\n",
            "Cargo.toml": b'[package]\nname = "till"\n',
        },
        {"src/jinja2/__init__.py", "src/lib.rs"},
    )
    sources = {
        "a.py": "def f():\n    from jinja2.ext import do\n",
        "b.py": "import os, jinja2 as j\n",
        "c.py": "import jinja2x\nfrom .jinja2 import x\ny = 'jinja2'\n",
        "a.ts": "import { print } from 'till/receipt'\n",
        "b.js": "import x from './till'\nimport y from 'tiller'\n",
        "c.js": "const till = require('till')\n",
        "a.go": 'package a\nimport "example.org/till/print"\n',
        "b.go": 'package a\nimport "example.org/tiller"\n',
        "a.rs": "use till::print::Receipt;\n",
        "b.rs": "use crate::till::Receipt;\n",
    }
    languages = {"py": "python", "ts": "typescript", "js": "javascript", "go": "go", "rs": "rust"}
    files = {
        path: (languages[path[2:]], extract(text.encode(), languages[path[2:]]))
        for path, text in sources.items()
    }
    found = importing(files, packages)
    assert {path: set(names) for path, names in found.items()} == {
        "a.py": {"Jinja2"},
        "b.py": {"Jinja2"},
        "a.ts": {"till"},
        "c.js": {"till"},
        "a.go": {"example.org/till"},
        "a.rs": {"till"},
    }
