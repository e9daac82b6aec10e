"""A shop with five decisions and specifications: what was denied though it is there."""

from __future__ import annotations

import pytest

from gitrag.actions.governance.change_impact import change_impact, reviewing
from gitrag.actions.governance.check import check
from gitrag.actions.governance.related import Related, duplicates, given_up, related
from gitrag.report import governance
from gitrag.workspace import Workspace
from tests.support.indexes import asked_often
from tests.support.repository import GitRepository, create_repository, isolated_environment

FILES = {
    "docs/adrs/ADR-0001-postgres.md": "# ADR-0001: PostgreSQL as the primary store\n\nStatus: accepted\n\n"
    "## Decision\n\nWe keep all data in PostgreSQL 15. Migrations run at deployment.\n",
    "docs/adrs/ADR-0002-rest.md": "# ADR-0002: Use REST for the public API\n\nStatus: accepted\n\n"
    "## Decision\n\nPartners call us over HTTP with JSON resources. Verbs map to methods.\n",
    "docs/adrs/ADR-0008-retry.md": "# ADR-0008: Clients back off\n\nStatus: accepted\n\n"
    "## Decision\n\nA client that receives status 429 waits for the time in the Retry-After header.\n",
    "docs/adrs/ADR-0011-jwt.md": "# ADR-0011: Use JWT for session tokens\n\nStatus: accepted\n\n"
    "## Decision\n\nA login returns a signed token with the user id and an expiry of one hour.\n",
    "docs/specs/mail/spec.md": "# SPEC-0003: Retries of e-mail\n\n### Requirement: Attempts\n\n"
    "An e-mail that cannot be delivered is sent again after 1, 5 and 30 minutes.\n",
    "internal/auth/login.go": "package auth\n\n// Login checks the password and returns a signed token.\n"
    "func Login(user, password string) (string, error) {\n"
    '\tclaims := jwt.MapClaims{"sub": user}\n'
    "\treturn jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(key)\n}\n",
    "worker/main.go": "package worker\n\n// DeliverEmail sends one message of the queue.\n"
    "func DeliverEmail(m Message) error {\n\tfor i := 0; i < attempts; i++ {\n"
    "\t\tif err := smtp.Send(m); err == nil {\n\t\t\treturn nil\n\t\t}\n\t}\n\treturn errGaveUp\n}\n",
    "web/colour.js": "export function blend(a, b, t) {\n  return a.map((v, i) => v + (b[i] - v) * t)\n}\n",
}

LOGOUT = (
    "package auth\n\n// Logout revokes the session token of a user by its JWT id.\n"
    "func Logout(token string) error {\n\treturn revoke(parseJWT(token))\n}\n"
)


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> GitRepository:
    home = tmp_path_factory.mktemp("home")
    return create_repository(home / "shop", isolated_environment(home), FILES)


@pytest.fixture(scope="module")
def workspace(own, model_dir) -> Workspace:
    own.environment["GITRAG_MODEL_DIR"] = str(model_dir)
    return asked_often(own, embed=True)


@pytest.mark.parametrize(
    ("path", "wanted"), [("internal/auth/login.go", "ADR-0011"), ("worker/main.go", "SPEC-0003")]
)
def test_the_document_about_a_file_comes_first(workspace, path, wanted):
    found = check(workspace, workspace.repo.root / path).documents
    assert (found[0].document.id, len(found)) == (wanted, 5)


def test_a_file_that_nothing_is_about_has_only_low_scores(workspace):
    assert check(workspace, workspace.repo.root / "web/colour.js").likely == ()


@pytest.mark.parametrize(
    ("text", "relation", "wanted"),
    [
        ("Switch from REST to gRPC", "supersedes", "ADR-0002"),
        ("Replace PostgreSQL with SQLite", "supersedes", "ADR-0001"),
        ("gRPC instead of REST", "supersedes", "ADR-0002"),
        ("Use JWT for session tokens", "extends", "ADR-0011"),
        ("Retry-After", "extends", "ADR-0008"),
        ("send a mail again when the server is down", "extends", "SPEC-0003"),
        ("where is data stored", "extends", "ADR-0001"),
    ],
)
def test_a_plan_finds_the_decision_on_it(workspace, text, relation, wanted):
    first = related(workspace, text).documents[0]
    assert (first.document.id, first.relation) == (wanted, relation)


@pytest.mark.parametrize("text", ["Pick a CSV parsing library", "Add a dark mode"])
def test_a_plan_that_nothing_is_about_finds_nothing(workspace, text):
    assert related(workspace, text).documents == ()


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("Switch from REST to gRPC", "REST"),
        ("Replace the token bucket by a sliding window", "the token bucket"),
        ("Move away from Redis", "Redis"),
        ("SMTP instead of Notify, for now", "Notify"),
        ("Stop using feature branches because they rot", "feature branches"),
        ("Migrate the workers from Celery into Temporal", "Celery"),
        ("Drop the cache", "the cache"),
        ("Add a cache", ""),
        ("Read values from a file", ""),
    ],
)
def test_what_a_text_gives_up_is_read(text, old):
    assert given_up(text) == old


def test_a_plan_may_name_a_document_by_its_id(workspace):
    first = related(workspace, "As ADR-0008 says").documents[0]
    assert (first.document.id, first.score) == ("ADR-0008", 1.0)


def test_a_title_covers_the_same_words(workspace):
    found = duplicates(workspace, "Use JWT for session tokens").chunks
    assert found[0].path == "docs/adrs/ADR-0011-jwt.md"
    assert found[0].cosine == pytest.approx(1, abs=0.01)


def test_a_purpose_chooses_what_is_looked_at(workspace):
    kinds = {
        use: {each.kind.value for each in related(workspace, "deliver an email", [use]).documents}
        for use in ("discover", "plan", "work", "audit")
    }
    assert kinds == {"discover": {"specs"}, "plan": {"code"}, "work": {"code"}, "audit": {"specs"}}
    (first, *_) = related(workspace, "deliver an email", ["plan"]).documents
    assert (first.relation, first.document.path) == ("extends", "worker/main.go")
    assert "**extends: worker/main.go**" in governance.related_markdown(Related("x", (first,)))


def test_a_review_and_a_check_of_the_same_file_agree(workspace, own):
    head = own.git("rev-parse", "HEAD").strip()
    own.commit({"internal/auth/logout.go": LOGOUT}, message="Let users log out")
    try:
        asked = {
            each.document.id: each.score
            for each in change_impact(workspace, reviewing("HEAD~1..HEAD")).documents
        }
        found = check(workspace, own.path / "internal/auth/logout.go").documents
    finally:
        own.git("reset", "--quiet", "--hard", head)
    assert asked == {
        each.document.id: pytest.approx(each.score, abs=0.01) for each in found if each.score >= 0.4
    }
    assert "ADR-0011" in asked


def test_documents_with_the_same_number_are_all_shown(own, model_dir, tmp_path):
    files = FILES | {
        "docs/adrs/ADR-0002-partners.md": "# ADR-0002: Partners of the public API sign a contract\n\nText.\n"
    }
    twice = create_repository(tmp_path / "twice", isolated_environment(tmp_path), files)
    opened = Workspace.open(twice.path, environ=twice.environment | {"GITRAG_MODEL_DIR": str(model_dir)})
    opened.update()
    opened.embed()
    found = {each.document.path for each in related(opened, "partners who call the public API").documents}
    assert found >= {"docs/adrs/ADR-0002-rest.md", "docs/adrs/ADR-0002-partners.md"}
