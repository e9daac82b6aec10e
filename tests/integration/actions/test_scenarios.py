"""Scenarios of source 001 that name documents and files, in its words; `tests/scenarios.toml` lists all."""

from __future__ import annotations

import pytest

from gitrag.actions.governance.change_impact import change_impact, reviewing
from gitrag.actions.governance.check import check
from gitrag.actions.governance.related import NONE_RELATED, duplicates, related
from gitrag.report import governance
from gitrag.workspace import Workspace
from tests.support.indexes import asked_often
from tests.support.repository import GitRepository, create_repository, isolated_environment

PARSE = """package auth

// parseUserID reads a user's id from the subject of a token.
func parseUserID(subject string) (int, error) {
	return strconv.Atoi(strings.TrimPrefix(subject, "user:"))
}
"""
STORE = """package session

// Store keeps the sessions of users: who is signed in, since when, and until when.
type Store struct {
	sessions map[string]Session
}

// Open begins the session of a user.
func (s *Store) Open(user int) Session {
	return s.sessions[newKey(user)]
}

// Expire ends the sessions of users that have done nothing for a while.
func (s *Store) Expire() {
}
"""
LOGIN = """// Governing: ADR-0011
package auth

// Login signs a user in by password and gives a session token.
func Login(name, password string) (string, error) {
	return issueToken(name)
}
"""
FILES = {
    "docs/adrs/ADR-0008-rest.md": "# ADR-0008: Use REST for the API\n\nStatus: accepted\n\n## Decision\n\n"
    "Clients talk to the API over REST with JSON bodies. OpenAPI describes every resource.\n",
    "docs/adrs/ADR-0011-tokens.md": "# ADR-0011: Use JWT for sessions\n\nStatus: accepted\n\n"
    "## Decision\n\nSession tokens are JSON Web Tokens. Authentication of each request checks the signature"
    " of the token and its expiry; passwords are checked at login alone.\n",
    "docs/adrs/ADR-0012-mail.md": "# ADR-0012: Send mail through a queue\n\nStatus: accepted\n\n"
    "## Decision\n\nMails of orders wait in a queue until the provider takes them.\n",
    "docs/specs/token-validation/spec.md": "# SPEC-0014: Token Validation\n\n## Requirement: Expiry\n\n"
    "A bearer token whose expiry has passed MUST be refused.\n\n"
    "### Scenario: an expired token\n\n- WHEN a request carries an expired token\n- THEN the answer is 401\n",
    "internal/session/store.go": STORE,
    "internal/auth/parse.go": PARSE,
    "internal/auth/login.go": LOGIN,
    "internal/mail/queue.go": "package mail\n\n// Send queues a mail.\nfunc Send(to string) {\n}\n",
}


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> GitRepository:
    home = tmp_path_factory.mktemp("home")
    return create_repository(home / "shop", isolated_environment(home), FILES)


@pytest.fixture(scope="module")
def workspace(own, model_dir) -> Workspace:
    own.environment["GITRAG_MODEL_DIR"] = str(model_dir)
    return asked_often(own, embed=True)


def test_drift_check_identifies_governing_artifacts(workspace, own):
    found = check(workspace, own.path / "internal/auth/login.go")
    first = found.documents[0]
    assert (first.document.id, first.governs, first.line) == ("ADR-0011", True, 1)
    assert len(found.documents) <= 8


def test_drift_discover_rules_out_duplicate_decisions(workspace):
    found = duplicates(workspace, "Use JWT for session tokens").chunks
    assert {each.path for each in found} == {"docs/adrs/ADR-0011-tokens.md"}
    assert found[0].cosine >= 0.7
    assert duplicates(workspace, "Draw charts with a library of our own").chunks == ()


def test_authoring_finds_a_related_prior_decision(workspace):
    (first, *_) = related(workspace, "Switch from REST to gRPC", ["adr"]).documents
    assert (first.document.id, first.relation) == ("ADR-0008", "supersedes")


def test_authoring_finds_a_prerequisite_specification(workspace):
    found = related(workspace, "Authentication", ["spec"])
    assert [(each.document.id, each.relation) for each in (*found.documents, *found.near)] == [
        ("SPEC-0014", "requires")
    ]


def test_authoring_of_what_nothing_is_about_drafts_from_scratch(workspace):
    found = related(workspace, "Train a glass blower of gothic windows", ["adr"])
    assert found.documents == ()
    assert found.near or NONE_RELATED in governance.related_markdown(found)


def test_sprint_plan_recognizes_existing_code(workspace):
    (first, *_) = related(workspace, "user session management", ["plan"]).documents
    assert (first.relation, first.document.path) == ("extends", "internal/session/store.go")


def test_sprint_work_avoids_recreating_a_helper(workspace):
    (first, *_) = related(workspace, "parseUserID", ["work"]).documents
    assert (first.document.path, first.section) == ("internal/auth/parse.go", "parseUserID")


def test_sprint_review_surfaces_a_missing_reference(workspace, own):
    own.write(
        {"internal/auth/token.go": LOGIN.replace("// Governing: ADR-0011\n", "").replace("Login", "Renew")}
    )
    own.commit({}, message="Renew the session token of a user at each authentication")
    found = change_impact(workspace, reviewing("HEAD~1..HEAD"))
    assert [each.document.id for each in found.documents] == ["ADR-0011"]
    assert found.documents[0].section
    assert "Should this PR reference ADR-0011?" in governance.review_markdown(found)
