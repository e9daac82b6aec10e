from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrag.words.path_traits import Trait, asked_for, traits, traits_within

NONE = Trait(0)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/session.py", NONE),
        ("", NONE),
        # what only has the letters
        ("src/latest/contest.py", NONE),
        ("src/attestation.py", NONE),
        ("src/inspect.py", NONE),
        ("src/building.py", NONE),
        ("src/toolset.py", NONE),
        ("src/docstring.py", NONE),
        ("democracy/benched.py", NONE),
        ("src/historyStore.ts", NONE),
        ("src/history.py", NONE),
        ("src/newsletter.rb", NONE),
        ("src/changeset.go", NONE),
        ("cmd/changes.go", NONE),
        # tests
        ("tests/test_session.py", Trait.TEST),
        ("src/session.test.ts", Trait.TEST),
        ("src/session.spec.ts", Trait.TEST),
        ("pkg/session_test.go", Trait.TEST),
        ("conftest.py", Trait.TEST),
        ("src/SessionTest.java", Trait.TEST),
        ("SessionTests/Open.swift", Trait.TEST),
        ("Tests/Session/Open.swift", Trait.TEST),
        ("Session.Tests/Open.cs", Trait.TEST),
        ("Session.UnitTests/Open.cs", Trait.TEST),
        ("src/__tests__/session.js", Trait.TEST),
        ("testdata/session.json", Trait.TEST),
        ("src/TestSession.kt", Trait.TEST),
        # examples
        ("examples/session.py", Trait.EXAMPLE),
        ("Samples/Session/open.cs", Trait.EXAMPLE),
        ("benchmarks/session.py", Trait.EXAMPLE),
        # documentation
        ("docs/session.md", Trait.DOCUMENT),
        ("README.md", Trait.DOCUMENT),
        ("src/readme.rst", Trait.DOCUMENT),
        ("CHANGELOG", Trait.DOCUMENT),
        ("CHANGES.txt", Trait.DOCUMENT),
        ("CHANGELOG-2.0.md", Trait.DOCUMENT),
        ("README.zh-CN.md", Trait.DOCUMENT),
        ("README_de.rst", Trait.DOCUMENT),
        ("README-windows", Trait.DOCUMENT),
        ("release-notes.adoc", Trait.DOCUMENT),
        ("website/index.js", Trait.DOCUMENT),
        ("docs/conf.py", Trait.DOCUMENT),
        ("docs/tools/gallery.py", Trait.DOCUMENT),
        # a package, or a script, that only lies there
        ("doc/man_docs.go", NONE),
        ("crates/core/flags/doc/man.rs", NONE),
        ("doc/script/stream.py", Trait.SUPPORT),
        ("doc/examples/serve.go", Trait.EXAMPLE),
        # templates of projects
        ("installer/templates/phx_single/mix.exs", Trait.EXAMPLE),
        ("priv/templates/phx.gen.html/controller.ex", Trait.EXAMPLE),
        ("django/conf/project_template/manage.py-tpl", Trait.EXAMPLE),
        ("lib/generators/door/templates/door.rb", Trait.EXAMPLE),
        ("packages/create-door/template-react/src/App.tsx", Trait.EXAMPLE),
        ("templates/react/src/App.tsx", Trait.EXAMPLE),
        ("templates/react/package.json", Trait.EXAMPLE),
        ("{{cookiecutter.name}}/setup.py", Trait.EXAMPLE),
        # templates that are edited
        ("shop/templates/cart.html", NONE),
        ("templates/base.html", NONE),
        ("charts/web/templates/service.yaml", NONE),
        ("roles/web/templates/nginx.conf.j2", NONE),
        ("app/views/templates/mail.erb", NONE),
        ("django/template/base.py", NONE),
        ("src/text/template/exec.go", NONE),
        ("app/models/template.rb", NONE),
        # directories that name something else
        ("src/docs/editor.ts", NONE),
        ("src/docs/guide.md", Trait.DOCUMENT),
        ("apps/docs/pages/index.tsx", Trait.DOCUMENT),
        ("docs/src/theme/index.tsx", Trait.DOCUMENT),
        ("shop/site/models.py", NONE),
        ("www/index.php", NONE),
        ("www/about.md", Trait.DOCUMENT),
        ("share/man/door.1", Trait.DOCUMENT),
        ("app/man/wear.rb", NONE),
        ("shop/templates/history.html", NONE),
        ("pages/news.html", NONE),
        ("CHANGELOG.html", Trait.DOCUMENT),
        ("packaging/door.spec", NONE),
        # what supports the rest
        (".github/workflows/release.yml", Trait.SUPPORT),
        (".agents/skills/door/references/hinges.md", Trait.SUPPORT),
        ("packages/door/.storybook/main.ts", Trait.SUPPORT),
        (".eslintrc.js", NONE),
        ("scripts/release.py", Trait.SUPPORT),
        ("third_party/zlib/inflate.c", Trait.SUPPORT),
        ("vendor/zlib/inflate.c", Trait.SUPPORT),
        ("src/py_compat.py", Trait.SUPPORT),
        ("src/deprecated/session.py", Trait.SUPPORT),
        # several at once
        ("docs/examples/session_test.py", Trait.TEST | Trait.EXAMPLE | Trait.DOCUMENT),
    ],
)
def test_a_path_says_what_kind_of_file_it_names(path: str, expected: Trait):
    assert traits(path) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("open a session", NONE),
        ("latest contest", NONE),
        ("tests of a session", Trait.TEST),
        ("fixture", Trait.TEST),
        ("benchmark of a session", Trait.EXAMPLE),
        ("the readme", Trait.DOCUMENT),
        ("which workflow releases the charts", Trait.SUPPORT),
        ("examples in the docs", Trait.EXAMPLE | Trait.DOCUMENT),
    ],
)
def test_a_questions_words_ask_for_kinds_of_file(words: str, expected: Trait):
    assert asked_for(frozenset(words.split())) == expected


@given(st.text())
def test_any_path_has_traits(path: str):
    assert traits(path) & ~(Trait.TEST | Trait.EXAMPLE | Trait.DOCUMENT | Trait.SUPPORT) == NONE


@given(st.binary())
def test_a_path_that_is_not_utf8_has_traits(path: bytes):
    assert traits(path.decode("utf-8", "surrogateescape")) == traits(path.decode("utf-8", "surrogateescape"))


@given(st.text(alphabet="abcst/._-"), st.sampled_from(["tests/", "src/tests/"]))
def test_whatever_lies_under_tests_is_a_test(name: str, directory: str):
    assert traits(directory + name) & Trait.TEST


@pytest.mark.parametrize(
    ("path", "package", "kind"),
    [
        ("packages/testing/src/client.ts", "packages/testing", NONE),
        ("crates/mocks/server.rs", "crates/mocks", NONE),
        ("build/plan.go", "build", NONE),
        ("internal/dist/copy.go", "internal/dist", NONE),
        ("build/static/main.css", "build", Trait.SUPPORT),
        ("packages/testing/tests/client.ts", "packages/testing", Trait.TEST),
        ("examples/build/main.rs", "examples/build", Trait.EXAMPLE),
        ("e2e/start.ts", "e2e", Trait.TEST),
        ("website/app.ts", "website", Trait.DOCUMENT),
        ("scripts/release.py", "scripts", Trait.SUPPORT),
        ("packages/build-templates/page.ts", "packages/build-templates", NONE),
        ("internal/docs/editor.ts", "internal", NONE),
    ],
)
def test_the_name_of_a_package_says_little_of_it(path, package, kind):
    assert traits_within(path, package, traits(path)) == kind
