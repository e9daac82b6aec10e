"""Which collection a path is in."""

from __future__ import annotations

import pytest

from gitrag.corpus.layout import Layout, Module, Places, configured, kind_of, module_of, slug


@pytest.mark.parametrize(
    ("path", "collection"),
    [
        ("docs/adrs/ADR-0001-x.md", "adrs"),
        ("docs/adr/0001-x.md", "adrs"),
        ("doc/adr/0001-x.md", "adrs"),
        ("docs/decisions/0001-x.md", "adrs"),
        ("docs/architecture/decisions/0001-x.md", "adrs"),
        ("docs/ADR/0001-x.md", "adrs"),
        ("adr/0001-x.md", "adrs"),
        ("docs/adrs/backend/0001-x.md", "adrs"),
        ("docs/adrs/README.md", "code"),
        ("docs/adrs/index.md", "code"),
        ("docs/adrs/adr-template.md", "code"),
        ("docs/adrs/figure.svg", "code"),
        ("src/adr/parser.py", "code"),
        ("notes/docs/adr/0001-x.md", "code"),
        ("docs/specs/auth/spec.md", "specs"),
        ("docs/specs/auth/design.md", "specs"),
        ("openspec/specs/auth/spec.md", "specs"),
        ("specs/001-auth/spec.md", "specs"),
        (".kiro/specs/auth/tasks.md", "specs"),
        ("specs/auth_spec.rb", "code"),
        ("docs/specs/README.md", "code"),
        (".sdd/issues/12.md", "issues"),
        (".sdd/issues/old/12.md", "code"),
        ("src/main.py", "code"),
    ],
)
def test_the_usual_places(path, collection):
    assert Layout(Places()).collection(path) == collection


def test_a_repositorys_name_is_in_lower_case_with_hyphens():
    assert slug("Parcel_Watch 2.0-é") == "parcel-watch-2-0--"


def test_a_module_has_collections_of_its_own():
    layout = Layout(Places(), (Module("api", "services/api"), Module("auth", "services/api/auth")))
    assert layout.collection("services/api/main.go") == "api-code"
    assert layout.collection("services/api/docs/adr/0001-x.md") == "api-adrs"
    assert layout.collection("services/api/auth/specs/a/spec.md") == "auth-specs"
    assert layout.collection("services/apiary/main.go") == "code"
    assert layout.collection("docs/adr/0001-x.md") == "adrs"


def test_a_module_may_lie_where_documents_do():
    layout = Layout(Places(), (Module("docs", "docs"),))
    assert layout.collection("docs/adr/0001-x.md") == "docs-adrs"
    assert layout.collection("docs/decisions/0001-x.md") == "docs-adrs"


def test_globs_of_a_configuration_stand_in_place_of_the_usual_ones():
    layout = Layout(Places(adrs=("rfcs/*.md", "!rfcs/0000-*"), specs=("**/*.feature",)))
    assert layout.collection("rfcs/0001-x.md") == "adrs"
    assert layout.collection("rfcs/0000-template.md") == "code"
    assert layout.collection("docs/adr/0001-x.md") == "code"
    assert layout.collection("a/b/login.feature") == "specs"


def test_configured_modules_are_named_by_their_last_part_or_as_given():
    assert configured(("services/api/", "./web=front end", "Front=frontend", "x/lib", "y/lib")) == (
        Module("api", "services/api"),
        Module("x-lib", "x/lib"),
        Module("y-lib", "y/lib"),
        Module("--web", "front end"),
        Module("front", "frontend"),
    )


@pytest.mark.parametrize(
    ("name", "module", "kind"),
    [("adrs", "", "adrs"), ("api-code", "api", "code"), ("a-b-specs", "a-b", "specs")],
)
def test_a_collections_name_says_module_and_kind(name, module, kind):
    assert (module_of(name), kind_of(name)) == (module, kind)
