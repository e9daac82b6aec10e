"""What a search finds, what it leaves out, and that equal questions get equal answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitrag.actions.answer import Answer
from gitrag.actions.exact_search import search_exactly
from gitrag.actions.search import SearchOptions, search
from gitrag.chunking import decode
from gitrag.embedding.encoder import Encoder
from gitrag.embedding.text import chunk_text, path_text
from gitrag.errors import NotSetUpError, UsageError
from gitrag.indexing.worker import CUTTING
from gitrag.machine.locks import FileLock, write_holder
from gitrag.report.parts import notes_of
from gitrag.report.text import as_text
from gitrag.report.told import json_text as as_json
from gitrag.search import exact
from gitrag.search.exact import Pattern
from gitrag.store import nearby, scopes, views
from gitrag.store.content import read_chunks
from gitrag.store.scopes import Filters, SearchScope
from gitrag.workspace import Workspace
from tests.support.command import Gitrag
from tests.support.golden_project import project
from tests.support.indexes import asked_often, open_app
from tests.support.repository import GitRepository, create_repository, isolated_environment, made_once

if TYPE_CHECKING:
    from gitrag.store.connection import Connection

ALL = SearchOptions(limit=1000, min_score=0.0)


@pytest.fixture(scope="module")
def environment(tmp_path_factory, model_dir) -> dict[str, str]:
    return isolated_environment(tmp_path_factory.mktemp("home")) | {"GITRAG_MODEL_DIR": str(model_dir)}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory, environment) -> Workspace:
    """An index of the golden project, vectors included; not to be written to."""
    repository = create_repository(tmp_path_factory.mktemp("project") / "p", environment, project())
    return asked_often(repository, embed=True)


@pytest.fixture(scope="module")
def encoder(model_dir) -> Iterator[Encoder]:
    """The model itself."""
    loaded = Encoder.load(model_dir)
    yield loaded
    loaded.close()


@pytest.fixture
def own(tmp_path, environment) -> GitRepository:
    """A small repository to change."""
    files = {
        "src/door.py": "def open_door(key):\n    return key\n",
        "src/window.py": "def open_window():\n    return 1\n",
        "docs/house.md": "# House\n\nHow to open a door.\n",
    }

    def make() -> GitRepository:
        repository = create_repository(tmp_path / "own", environment, files)
        open_app(repository).update()
        return repository

    return made_once("own of test_search", tmp_path / "own", environment, make)


def paths(workspace: Workspace, query: str, options: SearchOptions = ALL) -> list[str]:
    return [hit.path for hit in search(workspace, query, options).hits]


# filters


@pytest.mark.parametrize(
    ("filters", "holds"),
    [
        (Filters(kinds=("method",)), lambda hit: hit.chunk.kind == "method"),
        (Filters(kinds=("section", "class")), lambda hit: hit.chunk.kind in ("section", "class")),
        (Filters(languages=("go",)), lambda hit: hit.path.endswith(".go")),
        (Filters(languages=("typescript", "tsx")), lambda hit: hit.path.startswith("web/")),
        (Filters(globs=("agent/**",)), lambda hit: hit.path.startswith("agent/")),
        (Filters(globs=("*.md", "Makefile")), lambda hit: hit.path.endswith((".md", "Makefile"))),
        (Filters(globs=("service/",), kinds=("class",)), lambda hit: hit.path.startswith("service/")),
    ],
    ids=["kind", "kinds", "language", "languages", "directory", "globs", "kind and glob"],
)
def test_filters_act_before_the_cut(workspace, filters, holds):
    """However few hits are asked for, a filtered search gives the best of what passes the filter."""
    query = "scans of a parcel that are sent to the service"
    every = SearchOptions(filters=filters, limit=1000, min_score=0.0)
    found = search(workspace, query, every).hits
    assert found
    assert all(map(holds, found))
    few = search(workspace, query, SearchOptions(filters=filters, limit=2, min_score=0.0)).sections
    assert [section.hits for section in few] == [
        section.hits[:2] for section in search(workspace, query, every).sections
    ]


def test_a_filter_that_nothing_passes_finds_nothing(workspace):
    for filters in (Filters(languages=("cobol",)), Filters(globs=("no/such/**",))):
        assert paths(workspace, "parcel", SearchOptions(filters=filters, min_score=0.0)) == []


def test_filtering_does_not_change_what_a_language_is_called(workspace):
    assert "agent/spool.go" in paths(workspace, "spool", SearchOptions(filters=Filters(languages=("go",))))


# the question


@pytest.mark.parametrize("query", ["", "   ", "?!… --- ()", "\n\t", "_"])
def test_a_question_without_words_is_refused_with_an_example(workspace, query):
    with pytest.raises(UsageError) as caught:
        search(workspace, query)
    assert "gitrag search" in caught.value.hint


@pytest.mark.parametrize(
    "query",
    [
        "a",
        "7",
        "parcel " * 1500,
        "x" * 10_000,
        " ".join(f"word{n}" for n in range(2000)),
        "\N{CJK UNIFIED IDEOGRAPH-6570}\N{CJK UNIFIED IDEOGRAPH-636E}\N{CJK UNIFIED IDEOGRAPH-5E93}",
        "caf\udce9 parcel",
        "'; DROP TABLE chunks; -- parcel",
        "par\0cel",
        'parcel\'s "state" {} %s $1 ?',
    ],
    ids=lambda query: ascii(query[:20]),
)
def test_any_other_question_is_answered(workspace, query):
    answer = search(workspace, query)
    assert answer == search(workspace, query)
    assert all(0 <= hit.score <= 1 for hit in answer.hits)


def test_a_question_in_chinese_finds_chinese_text(own):
    own.write({"src/zh.py": 'def f():\n    """重试数据库连接。"""\n'})
    assert paths(open_app(own), "数据库连接")[0] == "src/zh.py"


@pytest.mark.parametrize("query", ["zxqv wkjh qqpf", "flurbington snorkwaffle", "8f3a9c1e77"])
def test_nonsense_finds_nothing(workspace, query):
    """A score is a calibrated probability, so a question without an answer finds nothing at all."""
    assert search(workspace, query).hits == ()


def test_what_found_nothing_says_what_it_looked_at(workspace):
    """A bare "nothing" does not say whether ten files were asked, or none."""
    answer = search(workspace, "zxqv wkjh qqpf")
    name = workspace.name
    files = answer.looked_at
    assert files is not None
    assert files > 5
    where = f"{files} files of {name}-adrs, {name}-code"
    assert notes_of(answer)[:2] == [
        'No file contains "zxqv", "wkjh" or "qqpf".',
        f"Looked at {where}: nothing scores enough to be shown; `--min-score 0` shows the nearest.",
    ]
    sure = search(workspace, "zxqv wkjh qqpf", SearchOptions(min_score=0.9))
    assert notes_of(sure)[1] == f"Looked at {where}: nothing scores 0.90 or more."
    one = search(workspace, "zxqv wkjh qqpf", SearchOptions(filters=Filters(globs=("Makefile",))))
    assert notes_of(one)[1].startswith("Looked at 1 file of ")
    none = search(workspace, "zxqv wkjh qqpf", SearchOptions(filters=Filters(globs=("*.none",))))
    assert notes_of(none)[0] == f"No file to look at in {name}-adrs, {name}-code, or the filters leave none."


def test_without_an_index_the_way_to_one_is_said(tmp_path, environment):
    empty = open_app(create_repository(tmp_path / "Without", environment, {"a.py": "A = 1\n"}))
    with pytest.raises(NotSetUpError) as caught:
        search(empty, "anything")
    assert str(caught.value) == "No gitrag collections found for without. Run `gitrag index` first."


# the order


@pytest.mark.parametrize(
    ("query", "path", "name"),
    [
        ("TokenBucket", "service/rate_limit.py", "TokenBucket"),
        ("verify_token", "service/auth.py", "verify_token"),
        ("Database.transaction", "service/database.py", "Database.transaction"),
        ("fetchWithBackoff", "web/src/api.ts", "fetchWithBackoff"),
        ("where is ReadScanner called", "agent/scanner.go", "ReadScanner"),
        ("notifier", "service/notifications.py", "Notifier"),
    ],
)
def test_the_definition_of_a_name_comes_first(workspace, query, path, name):
    first = search(workspace, query).hits[0]
    assert (first.path, first.chunk.qualified_name) == (path, name)


def test_the_definition_of_the_name_that_is_the_question_comes_first(own):
    """Whatever else has the word more often, in its text, its name or its path."""
    calls = "".join(f"def latch_{n}(door):\n    latch(door)\n    return latch\n\n\n" for n in range(5))
    own.commit(
        {
            "src/latch.py": calls,
            "src/latch/latches.py": f"LATCH = 1  # latch latch latch\n\n\n{calls}",
            "docs/latch.md": "# Latch\n\nThe latch latches; latch the latch.\n",
            "src/hinge.py": "def latch(door):\n    door.fast = True\n",
        }
    )
    first = search(open_app(own), "latch", ALL).hits[0]
    assert (first.path, first.chunk.qualified_name) == ("src/hinge.py", "latch")


def test_a_hit_says_what_put_it_there(workspace):
    first, *others = search(workspace, "TokenBucket", ALL).hits
    assert {"defines", "defines_it"} <= dict(first.reasons).keys()
    assert first.bm25 > 0
    assert all("defines_it" not in dict(hit.reasons) for hit in others)
    for hit in (first, *others):
        assert -1 < hit.cosine <= 1
        assert hit.reasons


def test_scores_never_rise_and_a_file_comes_once(workspace):
    hits = search(workspace, "token of a parcel", ALL).hits
    assert len({hit.path for hit in hits}) == len(hits) > 5
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_every_chunk_may_be_asked_for(workspace):
    hits = search(
        workspace, "token of a client", SearchOptions(limit=1000, min_score=0.0, every_chunk=True)
    ).hits
    assert len({(hit.path, hit.chunk.line_start) for hit in hits}) == len(hits)
    assert len({hit.path for hit in hits}) < len(hits)
    assert all(hit.also == () for hit in hits)


def test_a_copy_is_shown_once(own):
    text = own.file("src/door.py").read_text()
    own.commit({"lib/door.py": text})
    assert sum(path.endswith("door.py") for path in paths(open_app(own), "open_door")) == 1


def test_the_limit_and_the_least_score_hold(workspace):
    for section in search(workspace, "parcel", SearchOptions(limit=1, min_score=0.0)).sections:
        assert len(section.hits) == 1
    for hit in search(workspace, "parcel", SearchOptions(limit=1000, min_score=0.5)).hits:
        assert hit.score >= 0.5


def test_shown_lines_are_the_files_lines(workspace):
    for hit in search(workspace, "compute the state of a parcel", ALL).hits:
        assert workspace.repo.root is not None
        whole = (workspace.repo.root / hit.path).read_text().split("\n")
        assert hit.chunk.text.split("\n") == whole[hit.chunk.line_start - 1 : hit.chunk.line_end]
        for line in hit.snippet:
            assert line.text == whole[line.number - 1].rstrip()


# what is not committed


def test_an_edit_is_found_at_once_and_the_old_text_is_not(own):
    own.write({"src/door.py": "def close_hatch(bolt):\n    return bolt\n"})
    answer = search(open_app(own), "close_hatch")
    assert (answer.hits[0].path, answer.hits[0].chunk.name, answer.dirty) == ("src/door.py", "close_hatch", 1)
    assert all("open_door" not in hit.chunk.text for hit in search(open_app(own), "open_door", ALL).hits)


def test_a_new_file_is_found_and_a_removed_one_is_not(own):
    own.write({"src/attic.py": "def climb_ladder():\n    pass\n", "src/window.py": None})
    assert paths(open_app(own), "climb_ladder")[0] == "src/attic.py"
    assert "src/window.py" not in paths(open_app(own), "open_window")


def test_who_asks_soon_waits_for_the_files_that_hold_the_question_and_hears_how_many_do_not(
    make_repository, monkeypatch
):
    for limit in ("_FEW_BYTES", "_SOON_BYTES", "_OTHERS_S"):
        monkeypatch.setattr(f"gitrag.indexing.refresh.{limit}", 0)
    repo = make_repository({"door.py": "def open_door(): pass\n"})
    workspace = open_app(repo)
    workspace.update()
    repo.commit({f"part{n:02}.py": f"def part_{n}(): 'Make a widget.'\n" for n in range(20)})
    repo.write({"zeta.py": "def cancel_subscription(): 'Refund the widget.'\n"})
    asked = "how are subscriptions cancelled"
    soon = search(workspace, asked, SearchOptions(soon=True), finish=lambda _: None)
    assert soon.hits[0].path == "zeta.py"
    assert 0 < soon.waiting < 20
    assert f"{soon.waiting} files not in this answer: being indexed in the background." in notes_of(soon)
    repo.write({"zone.py": "def cancel_subscriptions(): 'Refund all.'\n"})
    worker = FileLock(workspace.store.directory / "worker.lock")
    assert worker.try_acquire()
    write_holder(workspace.store.directory / "worker.holder", CUTTING)
    beside = search(workspace, asked, SearchOptions(soon=True), finish=lambda _: None)
    worker.release()
    assert {hit.path for hit in beside.hits} >= {"zeta.py", "zone.py"}
    assert beside.waiting == soon.waiting  # the background is at them
    whole = search(workspace, asked, finish=lambda _: None)
    assert ({hit.path for hit in whole.hits[:2]}, whole.waiting) == ({"zeta.py", "zone.py"}, 0)


def test_files_are_looked_through_for_a_question_no_longer_than_that_may_take(make_repository, monkeypatch):
    for limit in ("_FEW_BYTES", "_SOON_BYTES", "_OTHERS_S", "_SEEN_S"):
        monkeypatch.setattr(f"gitrag.indexing.refresh.{limit}", 0)
    repo = make_repository({"door.py": "def open_door(): pass\n"})
    workspace = open_app(repo)
    workspace.update()
    repo.write({f"part{n:02}.py": f"def part_{n}(): 'Make a widget.'\n" for n in range(20)})
    answer = search(workspace, "how is a widget made", SearchOptions(soon=True), finish=lambda _: None)
    assert answer.waiting >= 12  # none of them is known to hold the question
    assert any("not in this answer" in note for note in notes_of(answer))


def test_committed_leaves_changes_out(own):
    own.write({"src/door.py": "def close_hatch():\n    pass\n", "src/new.py": "def open_door_new(): pass\n"})
    committed = SearchOptions(committed_only=True)
    answer = search(open_app(own), "open_door", committed)
    assert (answer.hits[0].chunk.name, answer.dirty) == ("open_door", 0)
    assert "src/new.py" not in paths(open_app(own), "open_door_new", committed)
    assert paths(open_app(own), "close_hatch")[0] == "src/door.py"


def shown(answer: Answer) -> list[tuple[str, str]]:
    return [(hit.path, hit.chunk.text) for hit in answer.hits]


def test_an_answer_is_the_same_before_and_after_the_commit(own):
    own.write({"src/attic.py": "def climb_ladder():\n    pass\n", "src/door.py": "def shut(): pass\n"})
    before = search(open_app(own), "how to climb into the attic", ALL)
    own.commit()
    after = search(open_app(own), "how to climb into the attic", ALL)
    assert shown(before) == shown(after), "only what the commit says is new, which may move scores"


# the same again


def test_the_same_index_and_question_give_the_same_bytes(workspace, environment):
    """Search is deterministic: answers can be compared and cached."""
    query = "keep scans until the service accepts them"
    expected = as_json(search(workspace, query, ALL)), as_text(search(workspace, query, ALL), explain=True)
    for _ in range(5):
        again = open_app(GitRepository(Path(workspace.repo.root or ""), environment))
        assert (
            as_json(search(again, query, ALL)),
            as_text(search(again, query, ALL), explain=True),
        ) == expected
    place = Path(workspace.repo.root or "")
    runs = [  # which hash strings in another way each
        Gitrag(place, environment, forks=forks)("search", "--output", "json", query).out
        for forks in (True, False)
    ]
    assert runs[0] == runs[1]
    assert list(json.loads(runs[0])) == [
        "query", "adr_matches", "spec_matches", "code_snippets", "call_graphs"
    ]  # fmt: skip


# meaning


def scope_of(db: Connection) -> SearchScope:
    view = views.current(db, "")
    assert view is not None
    return scopes.open_scope(db, view.view_id)


@pytest.mark.parametrize("query", ["retry with backoff", "sign a token", "a pool of connections"])
def test_two_stages_find_what_the_exact_scan_finds(workspace, encoder, monkeypatch, query):
    """The signs choose half of the chunks here; the best ten are among them."""
    question = encoder.encode_query(query)
    with workspace.store.read() as db:
        scope = scope_of(db)
        half = int(scope.files.chunks.sum()) // 2
        exact = nearby.nearest(db, scope, question, half)
        monkeypatch.setattr(nearby, "SURPLUS", 1)
        staged = nearby.nearest(db, scope, question, half)
    assert half > 30
    assert len(exact.chunk_id) == len(staged.chunk_id) == half
    assert staged.chunk_id[:10].tolist() == exact.chunk_id[:10].tolist()
    assert staged.file[:10].tolist() == exact.file[:10].tolist()
    assert staged.cosine[:10].tolist() == pytest.approx(exact.cosine[:10].tolist())


def test_what_all_fits_in_the_second_stage_is_answered_the_same(workspace, monkeypatch):
    exact = search(workspace, "a pool of connections", ALL)
    monkeypatch.setattr(nearby, "SURPLUS", 1)
    assert as_json(search(workspace, "a pool of connections", ALL)) == as_json(exact)


def test_meaning_ranks_by_the_models_own_cosines(workspace, encoder):
    """The chunk's vector with half of its path's, as an encoder of the texts would have it."""
    question = encoder.encode_query("how are passwords stored")
    with workspace.store.read() as db:
        scope = scope_of(db)
        found = nearby.nearest(db, scope, question, 10)
        chunks = read_chunks(db, found.chunk_id.tolist())
        names = scopes.read_paths(db, scope.files.path_id.tolist())
    rows = list(zip(found.chunk_id.tolist(), found.file.tolist(), found.cosine.tolist(), strict=True))
    assert len(rows) == 10
    for chunk_id, file, cosine in rows:
        path = names[int(scope.files.path_id[file])]
        of_chunk, of_path = encoder.encode([chunk_text(chunks[chunk_id]), path_text(path)])
        both = of_chunk + nearby.PATH_WEIGHT * of_path
        assert cosine == pytest.approx(float(question @ both / (both @ both) ** 0.5), abs=0.005)


def test_drafts_are_found_before_anything_is_embedded(own, tmp_path):
    """By words that the file does not have; without a model the question is a draft too."""
    own.environment["GITRAG_MODEL_DIR"] = str(tmp_path / "none")
    own.commit({"src/glass.py": "def smash_pane(hammer):\n    return hammer\n"})
    workspace = open_app(own)
    answer = search(workspace, "break the glass of a window", ALL)
    assert not answer.model
    assert answer.drafts == tables(workspace)["drafts"] > 0
    assert tables(workspace)["vectors"] == 0
    assert all(hit.cosine > -1 for hit in answer.hits)
    assert "src/glass.py" in [hit.path for hit in answer.hits[:2]]


def test_vectors_take_the_place_of_drafts(own):
    workspace = open_app(own)
    workspace.update()
    before = tables(workspace)
    assert (before["vectors"], before["both"]) == (0, 0)
    workspace.embed()
    assert tables(workspace) == {"vectors": before["drafts"], "drafts": 0, "both": 0}
    answer = search(workspace, "open_door", ALL)
    assert (answer.model, answer.drafts) == (True, 0)
    own.commit({"src/attic.py": "def climb_ladder():\n    pass\n"})
    workspace = open_app(own)
    workspace.update()
    assert tables(workspace)["vectors"] == before["drafts"]
    assert tables(workspace)["drafts"] == 2  # a chunk and its path
    workspace.embed()
    assert tables(workspace) == {"vectors": before["drafts"] + 2, "drafts": 0, "both": 0}


def tables(workspace: Workspace) -> dict[str, int]:
    """How many texts have a vector, a draft, and both."""
    with workspace.store.read() as db:
        row = db.execute(
            "SELECT (SELECT count(*) FROM vectors), (SELECT count(*) FROM drafts),"
            " (SELECT count(*) FROM vectors JOIN drafts USING (text_id))"
        ).fetchone()
    assert row is not None
    return dict(zip(("vectors", "drafts", "both"), row, strict=True))


@pytest.mark.parametrize(
    ("hours", "said"), [(1, []), (3, ["Index was 3h stale — refreshed before running."])]
)
def test_a_search_says_when_it_found_an_index_older_than_the_threshold(make_repository, hours, said):
    repo = make_repository({"a.py": "def open_door():\n    return 1\n"})
    heard: list[str] = []
    workspace = Workspace.open(repo.path, environ=repo.environment, say=heard.append)
    workspace.update()
    with workspace.store.write("test") as db:
        db.execute("UPDATE views SET updated = now() - to_hours(?)", [hours])
    repo.commit({"b.py": "def open_window():\n    return 1\n"})
    search(workspace, "window")
    assert [line for line in heard if "stale" in line] == said


def test_words_that_are_looked_up_are_found_wherever_they_are(tmp_path, environment, monkeypatch):
    monkeypatch.setattr(exact, "_RARE", 0)  # else only those that few of many chunks have are looked up
    cut = "word " * 300 + "x" * 4000 + "Zebra" + "y" * 4000 + " Zebra_end Zebra"
    files = {
        "names.py": "def HTTPServer2(o_O, _x, __):\n    return parsedHTTPResponse, Returns, RETURN\n",
        "words.txt": "straße STRASSE naïve nai\u0308ve \ufb01n 寺院の名 abc寺 \u0661\u0662 x² "
        + "q" * 80
        + "\n",
        "signs.txt": "a->b $x y$x #include <a.h> -> foo(bar, baz) '\u2019t don't\n",
        "long.txt": cut + "\n",
        "bytes.txt": b"caf\xe9 latin \xff\n",
    }
    workspace = asked_often(create_repository(tmp_path / "words", environment, files))
    texts = {
        path: decode(data if isinstance(data, bytes) else data.encode()).split("\n")
        for path, data in files.items()
    }
    words = {
        word for lines in texts.values() for line in lines for word in re.findall(r"\w+|\S+|\w\W+\w+", line)
    }
    for word in sorted(words):
        pattern = Pattern(word, is_regex=False)
        wanted = sum(pattern.matches(line) for lines in texts.values() for line in lines)
        assert search_exactly(workspace, pattern).lines == wanted, word
