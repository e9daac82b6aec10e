"""What a directory is called, and what a file's ending is, keep nobody from what is in it."""

from __future__ import annotations

import numpy as np
import pytest

from gitrag.actions.search import SearchOptions, search
from gitrag.store import scopes
from gitrag.store.engine import start
from gitrag.store.scopes import Filters
from gitrag.words.path_traits import Trait
from tests.support.indexes import of_texts, scoped
from tests.support.steps import counted

QT = """
    <?xml version="1.0" encoding="utf-8"?>
    <!DOCTYPE TS>
    <TS version="2.1" language="{0}">
    <context><name>Vault</name>
    <message><source>Lock the vault after a while</source><translation>{0}</translation></message>
    </context>
    </TS>
    """
FILES = {
    # pages, charts, roles: what is edited
    "shop/templates/cart.html": '<button onclick="emptyBasket()">Empty the basket of zebras</button>\n',
    "charts/web/Chart.yaml": "name: web\n",
    "charts/web/templates/service.yaml": "kind: Service\nspec:\n  ports:\n    - targetPort: 8080\n",
    "roles/web/templates/nginx.conf.j2": "server {\n  proxy_read_timeout {{ seconds }};\n}\n",
    "app/views/templates/mail.erb": "<p>Dear <%= customer_salutation %></p>\n",
    # data
    "flags.json": '{"feature_flags": {"new_checkout": true, "gazelle": 2}}\n',
    "site.css": ".invoice-card--overdue { color: red; }\n",
    "page.html": "<script>\nfunction payNow() { return 1; }\n</script>\n",
    # beside the source
    "examples/tour.py": "def run_walrus():\n    return 1\n",
    "docs/notes.md": "# Notes\n\nThe ocelot sleeps.\n",
    "tests/test_bird.py": "def test_bird():\n    assert 'kestrel'\n",
    # endings that several languages share
    **{f"share/translations/app_{code}.ts": QT.format(code) for code in ("de", "fr", "nl")},
    "src/vault.h": "namespace vault {\nclass Vault\n{\n public:\n  void lock();\n};\n}\n",
    "src/vault.cpp": "// Lock the vault when not used for a while\nvoid Vault::lock() {\n  close();\n}\n",
    "src/plain.h": "int plain(int x);\n",
    "rules/proguard-rules.pro": "-keep class vault.** { *; }\n",
    "legacy/page.inc": "<?php\nfunction legacy_page() { return 1; }\n",
    "generated.dat": "sub walk { return 1; }\n",
    ".gitattributes": "*.dat linguist-language=Perl\n*.odd linguist-language=Nothing-Of-Ours\n",
    "a.odd": "x\n",
    "src/pay.js": "export function pay(amount) {\n  return amount;\n}\n",
    "src/overdue.py": "def overdue(invoice):\n    return invoice.card\n",
    **{f"src/part{n}.py": f"def part{n}(request):\n    return request.basket[{n}]\n" for n in range(9)},
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    return of_texts(tmp_path_factory.mktemp("lies"), FILES)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("emptyBasket", "shop/templates/cart.html"),
        ("targetPort", "charts/web/templates/service.yaml"),
        ("proxy_read_timeout", "roles/web/templates/nginx.conf.j2"),
        ("customer_salutation", "app/views/templates/mail.erb"),
        ("new_checkout", "flags.json"),
        ("where is new_checkout read", "flags.json"),
        (".invoice-card--overdue", "site.css"),
        ("payNow", "page.html"),
        # source before translations
        ("lock the vault after a while", "src/vault.cpp"),
    ],
)
def test_the_file_that_has_it_is_first(workspace, query, path):
    assert [hit.path for hit in search(workspace, query, SearchOptions()).hits][:1] == [path]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("where are zebras shown", "shop/templates/cart.html"),
        ("what is the gazelle flag set to", "flags.json"),
        ("how does the walrus run in production", "examples/tour.py"),
        ("where does the kestrel fly", "tests/test_bird.py"),
        ("why does the ocelot sleep", "docs/notes.md"),
    ],
)
def test_a_file_that_alone_has_a_word_of_a_sentence_is_shown(workspace, query, path):
    assert path in [hit.path for hit in search(workspace, query, SearchOptions()).hits]


BOOK = {
    **{
        f"part{n}.tex": f"\\chapter{{Part {n}}}\n\nOf paths, proofs and the circle, as in part {n}.\n" * 9
        for n in range(9)
    },
    "sets.tex": "\\section{Uniqueness}\n\nBy Okapi's theorem a type with decidable equality is a set.\n" * 4,
    **{f"notes{n}.tex": "\\section{Notes}\n\nSee Okapi.\n" for n in range(4)},
    "tools/equality.py": "def equality(one, other):\n    # Decide equality.\n    return one == other\n",
}


@pytest.mark.parametrize(("query", "place"), [("Okapi", 8), ("Okapi's theorem on decidable equality", 1)])
def test_what_is_written_is_the_product_of_a_book(tmp_path, query, place):
    hits = search(of_texts(tmp_path, BOOK), query, SearchOptions()).hits
    assert "sets.tex" in [hit.path for hit in hits][:place]


def test_what_no_file_has_finds_nothing(workspace):
    assert not search(workspace, "where does the pelican fly", SearchOptions()).hits


def test_a_translation_is_shown_where_it_is_asked_for(workspace):
    found = search(workspace, "app_de.ts", SearchOptions()).hits
    assert [hit.path for hit in found][:1] == ["share/translations/app_de.ts"]


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("share/translations/app_de.ts", "qt-translation"),
        ("src/vault.h", "cpp"),
        ("src/plain.h", "c"),
        ("rules/proguard-rules.pro", "proguard"),
        ("legacy/page.inc", "php"),
        ("generated.dat", "perl"),
        ("a.odd", ""),
    ],
)
def test_the_index_has_the_language_of_what_is_in_a_file(workspace, path, language):
    view = workspace.update().refreshed.view
    with workspace.store.read() as db:
        rows = db.execute(
            "SELECT language FROM entries JOIN contents USING (content_id) JOIN paths USING (path_id)"
            " WHERE view_id = ? AND path = ?",
            [view.view_id, path.encode()],
        ).fetchall()
    assert rows == [(language,)]


def test_a_filter_by_language_goes_by_it(workspace):
    options = SearchOptions(filters=Filters(languages=("cpp",)), min_score=0.0)
    assert {hit.path for hit in search(workspace, "vault lock", options).hits} == {
        "src/vault.h",
        "src/vault.cpp",
    }


def test_nothing_is_read_again_for_it(workspace):
    assert workspace.update().refreshed.cut == 0


NAMES = """
    build ci demo dist docs examples extras fixtures generated internal legacy migrations mocks packages
    samples scripts static templates testdata testing vendored website
""".split()
"""Directories whose names may say that what is in them is no source."""
ALONE = dict(
    zip(
        NAMES,
        """
        aardvark badger caribou dingo echidna ferret gibbon hamster ibex jackal koala lemur marmot narwhal
        okapi panda quokka raccoon sloth tapir wombat yak
        """.split(),
        strict=True,
    )
)


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory):
    files = {
        f"{name}/part.py": f"def feed(animal):\n    return animal.{word}\n" for name, word in ALONE.items()
    }
    source = {f"src/feed{n}.py": f"def feed{n}(animal):\n    return animal.eats[{n}]\n" for n in range(40)}
    return of_texts(tmp_path_factory.mktemp("named"), files | source)


@pytest.mark.sweep(keep=6)
@pytest.mark.parametrize(("name", "word"), ALONE.items())
def test_what_a_file_alone_has_is_shown_whatever_its_directory_is_called(named, name, word):
    for question in (word, f"where is the {word} fed"):
        assert f"{name}/part.py" in [hit.path for hit in search(named, question, SearchOptions()).hits]


def test_what_a_manifest_names_as_a_package_is_source(tmp_path):
    text = "def feed(animal):\n    return animal.eats\n"
    paths = [
        "testing/feed.py",
        "testing/tests/feed.py",
        "build/src/feed.py",
        "other/build/feed.py",
        "src/a.py",
    ]
    files = {path: f"# {path}\n{text}" for path in paths}
    manifests = {f"{package}/pyproject.toml": "" for package in ("testing", "build")}
    manifests["pyproject.toml"] = '[tool.uv.workspace]\nmembers = ["testing", "build"]\n'
    with scoped(of_texts(tmp_path, files | manifests)) as (_db, scope, named):
        found = dict(zip(named, scope.files.traits.tolist(), strict=True))
    assert {path: found[path] for path in paths} == dict.fromkeys(paths, 0) | {
        "testing/tests/feed.py": Trait.TEST,
        "other/build/feed.py": Trait.SUPPORT,
    }


def test_packages_are_weighed_in_steps_by_their_files(tmp_path):
    """Not by packages times files: a monorepo has thousands of ones below `internal/`."""

    def steps(count):
        paths = [f"internal/m{number}/part.go" for number in range(count)]
        db = start(tmp_path)
        db.execute("CREATE TABLE paths (path_id INTEGER, path BLOB, traits UTINYINT)")
        db.execute("CREATE TABLE modules (view_id INTEGER, directory BLOB)")
        for number, path in enumerate(paths):
            db.execute("INSERT INTO paths VALUES (?, ?, ?)", [number, path.encode(), Trait.SUPPORT.value])
            db.execute("INSERT INTO modules VALUES (1, ?)", [path.rpartition("/")[0].encode()])
        found = np.full(count, Trait.SUPPORT.value, np.uint8)
        with counted("line") as taken:
            scopes._weigh_packages(db, 1, np.arange(count, dtype=np.int32), found)
        assert not found.any()
        return taken["line"]

    steps(1)  # loads what is needed
    assert steps(100) < 2.5 * steps(50)
