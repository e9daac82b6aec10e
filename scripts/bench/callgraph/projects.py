"""The projects that call graphs are measured on, and how their sources are had."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from gitrag.callgraph.general.manifests import NAMES


@dataclass(frozen=True, slots=True)
class Project:
    """A project.

    Attributes:
        language: python, typescript (which includes JavaScript), go, java, rust or c (which includes C++).
        source: A repository of GitHub as ``owner/name@revision``, or a requirement as ``name==version``.
        looked_at: Whether the graph was built with it before our eyes.
        files: Patterns of the files, of which those in the language count.
        without: Patterns of files to leave out.
        units: Patterns of the files to compile, where these are not all; C only.
        flags: What the compiler is told; C only. ``ROOT`` stands for the project's directory.
        path: Import path, Go; package's directory, Python.
        needs: What its tests need; Python only.
        tests: Where they are, and what of them is left out; Python only.
    """

    language: str
    source: str
    looked_at: bool = False
    files: tuple[str, ...] = ("*",)
    without: tuple[str, ...] = ()
    units: tuple[str, ...] = ("*.c", "*.cc", "*.cpp")
    flags: tuple[str, ...] = ()
    path: str = ""
    needs: tuple[str, ...] = ("pytest<9",)
    tests: tuple[str, ...] = ("tests",)


SUFFIXES = {
    "python": (".py",),
    "typescript": (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"),
    "go": (".go",),
    "java": (".java",),
    "c": (".c", ".h", ".cc", ".cpp", ".hpp"),
    "rust": (".rs",),
}
_WERKZEUG = ("pytest<9", "pytest-timeout", "ephemeral-port-reserve", "cryptography", "watchdog", "markupsafe")
_GO_TESTS = ("*_test.go", "*/_examples/*", "_examples/*", "*/testdata/*")

PROJECTS = {
    "click": Project("python", "click==8.1.8", looked_at=True, path="src/click"),
    "jinja2": Project(
        "python", "jinja2==3.1.6", True, path="src/jinja2", needs=("pytest<9", "trio", "markupsafe")
    ),
    "sqlparse": Project("python", "sqlparse==0.6.1", True, path="sqlparse"),
    "tomlkit": Project("python", "tomlkit==0.13.2", True, path="tomlkit", needs=("pytest<9", "pyyaml")),
    "lark": Project("python", "lark==1.2.2", True, path="lark", tests=("tests",)),
    "webob": Project("python", "WebOb==1.8.9", True, path="src/webob"),
    "voluptuous": Project(
        "python", "voluptuous==0.15.2", True, path="voluptuous", tests=("voluptuous/tests/tests.py",)
    ),
    "markdown": Project(
        "python",
        "Markdown==3.7",
        True,
        path="markdown",
        needs=("pytest<9", "pyyaml"),
        tests=("tests", "--ignore=tests/test_syntax/extensions/test_md_in_html.py"),
    ),
    "wtforms": Project(
        "python",
        "WTForms==3.2.1",
        True,
        path="src/wtforms",
        needs=("pytest<9", "markupsafe", "email_validator"),
    ),
    "pycparser": Project("python", "pycparser==2.22", True, path="pycparser"),
    "colander": Project(
        "python",
        "colander==2.0",
        True,
        path="src/colander",
        needs=("pytest<9", "iso8601", "translationstring"),
    ),
    "werkzeug": Project(
        "python",
        "werkzeug==3.1.9",
        path="src/werkzeug",
        needs=_WERKZEUG,
        tests=("tests", "--ignore=tests/test_serving.py"),  # starts servers, which do not end under a tracer
    ),
    "mistune": Project("python", "mistune==3.4.0", path="src/mistune"),
    "marshmallow": Project(
        "python", "marshmallow==3.26.1", path="src/marshmallow", needs=("pytest<9", "simplejson", "packaging")
    ),
    "parso": Project("python", "parso==0.8.4", path="parso", tests=("test",)),
    "immer": Project("typescript", "immerjs/immer@061c242", True, ("src/*",)),
    "mocha": Project("typescript", "mochajs/mocha@e6b9ee77", True, ("lib/*", "bin/*"), ("lib/browser/*",)),
    "socket.io": Project(
        "typescript", "socketio/socket.io@d2d753fe", True, ("packages/*/lib/*",), ("*/test/*", "*.d.ts")
    ),
    "got": Project("typescript", "sindresorhus/got@d00d845a", True, ("source/*",)),
    "eslint": Project("typescript", "eslint/eslint@c27bc926e", files=("lib/*",), without=("lib/types/*",)),
    "cobra": Project("go", "spf13/cobra@v1.8.1", True, without=_GO_TESTS, path="github.com/spf13/cobra"),
    "chi": Project("go", "go-chi/chi@v5.0.8", True, without=_GO_TESTS, path="github.com/go-chi/chi/v5"),
    "mux": Project("go", "gorilla/mux@v1.8.0", without=_GO_TESTS, path="github.com/gorilla/mux"),
    "fzf": Project("go", "junegunn/fzf@0.38.0", without=_GO_TESTS, path="github.com/junegunn/fzf"),
    "gson": Project(
        "java", "google/gson@9835b6f90", True, ("gson/src/main/java/*",), ("*/module-info.java",)
    ),
    "jsoup": Project("java", "jhy/jsoup@46b62086", True, ("src/main/java/*",)),
    "mockito": Project("java", "mockito/mockito@ee8a330da", files=("mockito-core/src/main/java/*",)),
    "retrofit": Project("java", "square/retrofit@0b118105", files=("retrofit/src/main/java/*",)),
    "jq": Project(
        "c",
        "jqlang/jq@579e6f76",
        True,
        ("src/*",),
        ("*_test.c", "*/inject_errors.c", "src/lexer.*", "src/parser.*"),
        flags=("-std=gnu11", "-IROOT/src", "-IROOT", "-DIEEE_8087", "-D_GNU_SOURCE", '-DJQ_VERSION=""'),
    ),
    "leveldb": Project(
        "c",
        "google/leveldb@78a352f",
        True,
        ("db/*", "table/*", "util/*", "helpers/*", "include/*", "port/*"),
        ("*_test.cc", "*/testutil*", "*windows*"),
        flags=("-std=c++17", "-xc++", "-IROOT", "-IROOT/include", "-DLEVELDB_PLATFORM_POSIX"),
    ),
    "spdlog": Project(
        "c",
        "gabime/spdlog@62302019",
        True,
        ("src/*", "include/*"),
        ("include/spdlog/fmt/bundled/*", "src/bundled_fmtlib_format.cpp"),
        flags=("-std=c++17", "-xc++", "-IROOT/include", "-DSPDLOG_COMPILED_LIB"),
    ),
    "cli11": Project(
        "c",
        "CLIUtils/CLI11@c1cfe00d",
        True,
        ("src/*", "include/*"),
        flags=("-std=c++17", "-xc++", "-IROOT/include", "-DCLI11_COMPILE"),
    ),
    "tmux": Project(
        "c",
        "tmux/tmux@c1f947a3c",
        without=("compat/*", "fuzz/*", "regress/*", "osdep-*"),
        flags=("-std=gnu99", "-IROOT", "-D_GNU_SOURCE", "-DHAVE_QUEUE_H=0"),
    ),
    "catch2": Project(
        "c", "catchorg/Catch2@a6ee7e20", files=("src/catch2/*",), flags=("-std=c++17", "-xc++", "-IROOT/src")
    ),
}


RUST = {
    "ripgrep": Project("rust", "BurntSushi/ripgrep@3fce3b5b"),
    "fd": Project("rust", "sharkdp/fd@ee20f42"),
    "bat": Project("rust", "sharkdp/bat@2ba8db9c", without=("tests/syntax-tests/*",)),
}
"""Of these, calls drawn by lot were judged by hand."""


def sources_of(project: Project, name: str, work: Path, clones: Path | None) -> Path:
    """Fetch a project's sources, once, and return their directory.

    Args:
        project: It.
        name: Its name.
        work: Where they are kept.
        clones: A directory of clones named ``owner+name``, to be cloned instead of GitHub's.
    """
    owner, _, revision = project.source.partition("@")
    if not revision:
        return _unpacked(project, work / name)
    into = work / name / "source"
    if not into.exists():
        own = clones / owner.replace("/", "+") if clones else None
        places = [
            place
            for place in (own, own and own / "repo")
            if (place and (place / "HEAD").exists()) or (place and (place / ".git").exists())
        ]
        url = str(places[0]) if places else f"https://github.com/{owner}"
        into.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", url, into], check=True)
        subprocess.run(["git", "checkout", "--quiet", revision], cwd=into, check=True)
    return into


def _unpacked(project: Project, work: Path) -> Path:
    """Download and unpack a project's archive, once; return its directory."""
    work.mkdir(parents=True, exist_ok=True)
    found = [path for path in work.iterdir() if path.is_dir() and (path / project.path).is_dir()]
    if not found:
        pip = [sys.executable, "-m", "pip", "-q"]
        asked = ["download", "--no-binary", ":all:", "--no-deps", "-d", str(work), project.source]
        subprocess.run([*pip, *asked], check=True)
        with tarfile.open(next(work.glob("*.tar.gz"))) as archive:
            archive.extractall(work, filter="data")
        found = [path for path in work.iterdir() if path.is_dir() and (path / project.path).is_dir()]
    return found[0]


def files_of(project: Project, source: Path) -> list[str]:
    """Return the paths of a project's files in its language, below its directory."""
    found = (path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file())
    return sorted(
        path
        for path in found
        if path.endswith(SUFFIXES[project.language])
        and any(fnmatch(path, pattern) for pattern in project.files)
        and not any(fnmatch(path, pattern) for pattern in project.without)
    )


def manifests_of(source: Path) -> dict[str, bytes]:
    """Return the manifests in a project's directory, by path."""
    return {
        path.relative_to(source).as_posix(): path.read_bytes()
        for name in NAMES
        for path in sorted(source.rglob(name))
        if "node_modules" not in path.parts
    }
