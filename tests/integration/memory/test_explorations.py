from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from gitrag.embedding.encoder import Encoder
from gitrag.errors import StoreError, UsageError
from gitrag.memory import observations
from gitrag.memory.explorations import Explorations
from gitrag.memory.observations import NAME, Observations
from tests.support.at_once import at_once

WRITERS = 20


@pytest.fixture
def explorations(tmp_path: Path) -> Explorations:
    return Explorations(tmp_path / "home")


def test_a_second_save_adds_to_the_first(explorations: Explorations):
    """A conversation saves as it goes on: a blank section keeps what was saved."""
    first = explorations.save("User auth", {"goals": "mail", "context": "old"}, project="shop")
    second = explorations.save("user auth", {"context": "new", "goals": "  "}, project="shop")
    assert (first.created, second.created) == (True, False)
    assert second.observation.observation_id == first.observation.observation_id
    assert second.observation.revision == 2
    assert (second.observation.identity.scope, second.observation.session_id) == ("project", "manual-save")
    assert second.observation.sections == {"goals": "mail", "context": "new"}
    assert explorations.all() == [second.observation]


def test_projects_and_scopes_are_apart(explorations: Explorations):
    """The same title in another project is another topic."""
    for project, scope in [("shop", "project"), ("shop", "personal"), ("bank", "project")]:
        assert explorations.save("Auth", {"goals": "x"}, project=project, scope=scope).created
    assert len(explorations.all()) == 3
    assert len(explorations.all(project="shop")) == 2
    assert explorations.all(kind="discuss", project="bank")[0].identity.project == "bank"
    assert explorations.all(kind="bug") == []


def test_headings_inside_a_value_survive_updates(explorations: Explorations):
    """Sections are stored apart, not parsed back from Markdown."""
    text = "intro\n\n## Constraints\nnot a section\n\n## My heading\nmine"
    explorations.save("T", {"goals": text, "constraints": "real"}, project="p")
    saved = explorations.save("T", {"decisions": "d"}, project="p").observation
    assert saved.sections == {"goals": text, "constraints": "real", "decisions": "d"}


def test_nothing_is_truncated(explorations: Explorations):
    """It is the user's text."""
    text = "line of a long text\n" * 200_000
    explorations.save("T", {"context": text}, project="p")
    assert explorations.get("T", "p").sections["context"] == text


def test_twenty_processes_write_at_once(explorations: Explorations, tmp_path: Path):
    """Every save counts once, and no section of the shared topic is lost."""
    names = ["goals", "constraints", "preferences", "unknowns", "decisions", "context"]

    def write(number: int) -> None:
        own = Explorations(tmp_path / "home")
        for turn in range(5):
            own.save("Shared", {names[number % 6]: f"{number} {turn}"}, project="shop")
            own.save(f"Own {number}", {"goals": f"{turn}"}, project="shop")

    at_once(WRITERS, write)
    shared = explorations.get("Shared", "shop")
    assert shared.revision == 5 * WRITERS
    assert shared.sections.keys() == set(names)
    own = [explorations.get(f"Own {number}", "shop") for number in range(WRITERS)]
    assert [each.revision for each in own] == [5] * WRITERS
    assert {each.sections["goals"] for each in own} == {"4"}
    assert len(explorations.all()) == WRITERS + 1


TOPICS = {
    "Sign-in": "Users should log in with their mail address instead of a password.",
    "Invoices": "Bills are sent at the beginning of each month and archived for ten years.",
    "Search speed": "Queries over the catalogue take too long; an index of the words would help.",
}


def fill(explorations: Explorations) -> None:
    for title, text in TOPICS.items():
        explorations.save(
            title, {"goals": text, "context": "long ago\n\n" + "filler words\n\n" * 50}, project="shop"
        )


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("authentication without credentials", "Sign-in"),
        ("when does billing happen", "Invoices"),
        ("catalogue performance", "Search speed"),
    ],
)
@pytest.mark.parametrize("with_model", [True, False])
def test_questions_find_their_topic(
    explorations: Explorations, model_dir: Path, question: str, title: str, with_model: bool
):
    encoder = Encoder.load(model_dir) if with_model else None
    explorations = Explorations(explorations.store.path.parent, lambda: encoder)
    fill(explorations)
    found = explorations.search(question, min_score=0.0)
    assert found[0].observation.title == title
    assert found[0].section == "goals"
    assert all(0 <= each.score <= 1 for each in found)
    assert found == explorations.search(question, min_score=0.0), "kept vectors answer alike"


@pytest.mark.parametrize("question", ["login", "authentication", "sign in"])
def test_other_words_find_a_title(explorations: Explorations, model_dir: Path, question: str):
    """None of "login" and "authentication" is in it."""
    encoder = Encoder.load(model_dir)
    explorations = Explorations(explorations.store.path.parent, lambda: encoder)
    text = "People get a link by mail and need no password."
    explorations.save("User auth (sign in by mail)", {"goals": text}, project="shop")
    (found,) = explorations.search(question)
    assert found.score >= 0.3
    assert explorations.search("kubernetes autoscaling of pods") == []


def test_what_nothing_speaks_of_is_not_found(explorations: Explorations):
    fill(explorations)
    assert explorations.search("kubernetes autoscaling of pods") == []
    assert explorations.search("catalogue words index", project="bank") == []
    with pytest.raises(UsageError):
        explorations.search("?!")


def test_vectors_of_what_is_forgotten_go(explorations: Explorations, model_dir: Path):
    encoder = Encoder.load(model_dir)
    explorations = Explorations(explorations.store.path.parent, lambda: encoder)
    fill(explorations)
    explorations.search("billing")
    before = count_vectors(explorations)
    explorations.delete(explorations.get("Invoices", "shop").observation_id)
    explorations.save("New", {"goals": "something else"}, project="shop")
    explorations.search("billing")
    assert 0 < count_vectors(explorations) < before + 2
    assert [each.title for each in explorations.all()] == ["New", "Search speed", "Sign-in"]


def count_vectors(explorations: Explorations) -> int:
    with sqlite3.connect(explorations.store.path) as db:
        return int(db.execute("SELECT count(*) FROM vectors").fetchone()[0])


def test_an_export_comes_back_whole(explorations: Explorations, tmp_path: Path):
    explorations.save(
        "Tïtle: #1", {"goals": "## Goals\r\nx\n\n", "context": "<!-- gitrag:goals -->"}, project="a/b"
    )
    explorations.save("Tïtle: #1", {"goals": "y\0"}, project="other", scope="personal", session_id="s")
    explorations.save("T2", {"unknowns": "z"}, project="")
    before = explorations.all()
    assert explorations.export(tmp_path / "out") == 3
    other = Explorations(tmp_path / "elsewhere")
    done = other.import_(tmp_path / "out")
    assert (done.created, done.updated, done.same) == (3, 0, 0)
    assert sorted(other.all(), key=lambda each: each.observation_id) == sorted(
        before, key=lambda each: each.observation_id
    )
    again = other.import_(tmp_path / "out")
    assert (again.created, again.updated, again.same) == (0, 0, 3)


def test_an_import_takes_all_or_nothing(explorations: Explorations, tmp_path: Path):
    explorations.save("A", {"goals": "x"}, project="p")
    explorations.export(tmp_path / "out")
    (tmp_path / "out" / "z.md").write_text("no export")
    other = Explorations(tmp_path / "elsewhere")
    with pytest.raises(UsageError):
        other.import_(tmp_path / "out")
    assert other.all() == []


def test_a_number_that_is_taken_is_not_taken_over(explorations: Explorations, tmp_path: Path):
    explorations.save("A", {"goals": "x"}, project="p")
    explorations.export(tmp_path / "out")
    other = Explorations(tmp_path / "elsewhere")
    other.save("B", {"goals": "y"}, project="p")
    other.import_(tmp_path / "out")
    assert {(each.observation_id, each.title) for each in other.all()} == {(1, "B"), (2, "A")}


def test_what_is_not_there_cannot_be_shown_or_forgotten(explorations: Explorations, tmp_path: Path):
    assert explorations.all() == []
    with pytest.raises(UsageError):
        explorations.get("7", "p")
    with pytest.raises(UsageError):
        explorations.delete(7)
    assert not (tmp_path / "home").exists(), "reading makes nothing"


def test_a_memory_of_a_newer_version_is_left_alone(explorations: Explorations):
    explorations.save("A", {"goals": "x"}, project="p")
    with sqlite3.connect(explorations.store.path) as db:
        db.execute("PRAGMA user_version = 99")
    before = explorations.store.path.read_bytes()
    with pytest.raises(StoreError, match="newer gitrag"):
        explorations.all()
    assert explorations.store.path.read_bytes() == before


def test_an_older_memory_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It is the user's data, and outlives every version of gitrag."""
    with monkeypatch.context() as older:
        older.setattr(observations, "MIGRATIONS", observations.MIGRATIONS[:1])
        Explorations(tmp_path).save("A", {"goals": "x"}, project="p")
    assert Observations(tmp_path).vectors(["k"]) == {}
    assert [each.title for each in Explorations(tmp_path).all()] == ["A"]


def test_a_file_that_is_no_memory_is_left_alone(tmp_path: Path):
    path = tmp_path / NAME
    path.write_bytes(b"notes of mine, not a database" * 100)
    with pytest.raises(StoreError, match="damaged or no memory"):
        Explorations(tmp_path).save("A", {"goals": "x"}, project="p")
    assert path.read_bytes() == b"notes of mine, not a database" * 100


def test_a_damaged_name_in_the_schema_is_told_as_damage(tmp_path: Path):
    """SQLite's own message has it, which Python then cannot decode."""
    Explorations(tmp_path).save("A", {"goals": "x"}, project="p")
    path = tmp_path / NAME
    damaged = path.read_bytes().replace(b"CREATE TABLE observations", b"CREATE TABL\x89 observations")
    path.write_bytes(damaged)
    with pytest.raises(StoreError, match="damaged or no memory"):
        Explorations(tmp_path).all()
    assert path.read_bytes() == damaged
