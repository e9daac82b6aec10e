"""An index file and a hub answer every question of the interface alike, and so does the ranker on both."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from gitrag.actions import search as local
from gitrag.actions.hub import search as hub_search
from gitrag.hub.hub import opened as opened_hub
from gitrag.hub.source import HubSource
from gitrag.hub.upkeep import searchable
from gitrag.indexing.recipe import recipe
from gitrag.search.question import read
from gitrag.search.sections import Wanted
from gitrag.store import views
from gitrag.store.scopes import Filters, path_pattern
from gitrag.store.source import IndexFile, Source
from gitrag.store.views import ViewOverlay
from gitrag.words import terms
from gitrag.workspace import Workspace
from tests.support.hubs import SAMPLE, opened, pushed
from tests.support.repository import create_repository, isolated_environment

QUESTIONS = (
    "where are requests retried with backoff",
    "Client.send",
    "Router",
    "RETRIES",
    "src/client.py:5",
    "read settings from a file",
    "why are requests retried",
    "why was the timeout of requests raised",
    "Sleep longer after each failed attempt",
    "confg parsing",
    "wie werden Anfragen wiederholt",
    "repeat what visitors and customers demand",  # who may both be clients
    'Traceback (most recent call last):\n  File "src/client.py", line 11, in send\nValueError: none left',
    "something that is nowhere here: zygomorphic quetzal",
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, model_dir: Path, module_hub: str) -> tuple[Workspace, str]:
    """A repository with some history, embedded and pushed."""
    place = tmp_path_factory.mktemp("both")
    (place / "home").mkdir()
    git = create_repository(place / "project", isolated_environment(place / "home"), SAMPLE)
    git.commit(
        {"src/net.py": "TIMEOUT = 30\n"}, message="Raise the timeout of requests\n\nSlow networks need it."
    )
    git.git("mv", "src/net.py", "src/network.py")
    git.commit(message="Rename net to network")
    git.commit({"src/network.py": "TIMEOUT = 60\n"}, message="Raise the timeout again")
    pushed(git, module_hub, model_dir)
    return opened(git, module_hub, model_dir), module_hub


@contextmanager
def sources(both: tuple[Workspace, str]) -> Iterator[tuple[Source, Source, int]]:
    """The same view in both."""
    workspace, address = both
    with opened_hub(address, recipe()) as hub, workspace.store.read() as db:
        view = views.current(db, workspace.repo.worktree)
        assert view is not None
        yield IndexFile(db), HubSource(hub, searchable(hub)[0]), view.view_id


def of_scope(source: Source, view_id: int, filters: Filters) -> list[tuple[object, ...]]:
    """A scope without ids: of each chunk its path, its place in the file, and all numbers."""
    scope = source.open_scope(view_id, ViewOverlay(), filters)
    paths = source.read_paths(scope.files.path_id.tolist())
    places = source.read_places(scope.chunk_id.tolist())
    columns = [
        getattr(scope.files, each.name)
        for each in fields(scope.files)
        if each.compare and not each.name.endswith("_id")
    ]
    of_file = {
        number: (
            paths[int(scope.files.path_id[number])],
            *(
                column[number].item() if hasattr(column[number], "item") else column[number]
                for column in columns
            ),
        )
        for number in range(len(scope.files))
    }
    return [
        (*of_file[int(file)], places[int(chunk)][0], bool(text), int(length))
        for chunk, file, text, length in zip(
            scope.chunk_id, scope.file, scope.text_id, scope.length, strict=True
        )
    ]


@pytest.mark.parametrize(
    "filters",
    [
        Filters(),
        Filters(languages=("typescript",)),
        Filters(kinds=("class", "method")),
        Filters(collections=("adrs",)),
        Filters(languages=("cobol",)),
    ],
)
def test_scopes_have_the_same_files_and_chunks(both: tuple[Workspace, str], filters: Filters):
    with sources(both) as (index, hub, view_id):
        expected = of_scope(index, view_id, filters)
        assert bool(expected) == (filters.languages != ("cobol",))
        assert of_scope(hub, view_id, filters) == expected


def test_every_question_of_the_interface_has_the_same_answer(both: tuple[Workspace, str]):
    def asked(source: Source, view_id: int) -> list[object]:
        scope = source.open_scope(view_id)
        place = {
            int(chunk): (
                source.read_paths([int(scope.files.path_id[file])]),
                source.read_places([int(chunk)]),
            )
            for chunk, file in zip(scope.chunk_id, scope.file, strict=True)
        }
        names = {
            chunk: (next(iter(path.values())), next(iter(at.values()))) for chunk, (path, at) in place.items()
        }
        content_ids = scope.files.content_id.tolist()
        hashed = [terms.hashed(term) for term in ("retri", "backoff", "client", "quetzal")]
        vector = np.ones(384, dtype=np.float32) / np.float32(384**0.5)
        twice = [terms.hashed(term) for term in ("client", "router", "client")]  # other forms of two words
        postings = source.postings(scope, [*hashed, *twice])
        named = source.name_words(scope, twice)
        near = source.nearest(scope, vector, 5)
        alike = source.similarities(scope, near.chunk_id, np.stack([vector, -vector]))
        sites = source.definitions(scope, ["send", "Client.send", "router", "client.SEND"])
        said = source.messages(scope, head, [terms.hashed("timeout"), terms.hashed("request")])
        assert said is not None
        commit = sorted(
            zip(said.term, said.frequency, said.age_s[said.commit], said.length[said.commit], strict=True)
        )
        return [
            sorted(
                zip(
                    postings.term.tolist(),
                    [names[each] for each in postings.chunk_id.tolist()],
                    postings.frequency.tolist(),
                    postings.in_name.tolist(),
                    strict=True,
                ),
                key=str,
            ),
            [
                (names[chunk], round(cosine, 6))
                for chunk, cosine in zip(near.chunk_id.tolist(), near.cosine.tolist(), strict=True)
            ],
            sorted(
                (
                    (names[chunk], np.round(row, 5).tolist())
                    for chunk, row in zip(alike[0].tolist(), alike[2], strict=True)
                ),
                key=str,
            ),
            [(names[site.chunk_id], site.exact, site.parts) for site in sites],
            [
                (names[site.chunk_id], site.name, site.qualified_name)
                for site in source.named(scope, ["Client", "match"])
            ],
            [
                [names[site.chunk_id] for site in source.longer_names(scope, name)]
                for name in ("config", "Con_Fig", "__")
            ],
            sorted(zip(named.term.tolist(), named.file.tolist(), strict=True)),
            sorted(
                int(np.flatnonzero(scope.files.content_id == each)[0])
                for each in source.contents_with("BACKOFF")
                if each in content_ids
            ),
            source.words_like("clinet", content_ids, 2),
            source.contents_by_term(hashed, content_ids),
            source.files_matching(scope, rf"(?i)(^|/){path_pattern('client.py')}$"),
            source.files_matching(scope, path_pattern("data/naïve file")),
            sorted(
                path
                for _, path in source.all_paths()
                if path in set(source.read_paths(scope.files.path_id.tolist()).values())
            ),
            [sorted(each) for each in source.read_names(content_ids).values()],
            list(source.read_texts(content_ids).values()),
            list(source.read_chunk_texts(content_ids).values()),
            list(source.texts_of(scope.chunk_id).values()),
            [chunk.qualified_name for chunk in source.read_chunks(scope.chunk_id.tolist()).values()],
            [
                (names[chunk], given, member)
                for chunk, given, member in source.giving_a_value(
                    scope.chunk_id, r"(?m)^RETRIES\b", r"\bsend\b"
                )
            ],
            sorted(names[chunk][0] for chunk in source.reexporting(["Client", "Router"])),
            [
                int(np.flatnonzero(scope.files.content_id == each)[0])
                for each in source.look_up(view_id, ViewOverlay(), ["src/parse.py", "nowhere"]).values()
            ],
            sorted(source.touched(view_id)),
            commit,
            sorted(zip(said.first.tolist(), said.files.tolist(), said.changed.tolist(), strict=True)),
            (said.telling, round(said.mean_length, 6), np.round(said.file_length, 4).tolist()),
            [round(each, 6) for each in source.activity(scope, head, range(len(scope.files)))],
        ]

    head = both[0].repo.head().commit
    assert head is not None
    with sources(both) as (index, hub, view_id):
        expected, found = asked(index, view_id), asked(hub, view_id)
    assert len(expected[0]) > 5
    for number, (own, other) in enumerate(zip(expected, found, strict=True)):
        assert sorted(map(str, own)) == sorted(map(str, other)), number


@pytest.mark.sweep(keep=5)
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_ranker_gives_the_same_page_with_the_same_scores(both: tuple[Workspace, str], question: str):
    workspace, address = both
    options = local.SearchOptions(committed_only=True, min_score=0.0, wanted=Wanted())
    answer = local.search(workspace, question, options)
    expected = [
        (section.kind, hit.path, round(hit.score, 5), hit.chunk)
        for section in answer.sections
        for hit in section.hits
    ]
    found = hub_search.search(address, question, workspace.config, options=options, encoder=workspace.encoder)
    assert sorted(
        ((each.collection, each.path, round(each.score, 5), each.chunk) for each in found.hits), key=str
    ) == sorted(expected, key=str)
    assert expected or "quetzal" in question
    assert read(question).words


def test_a_hub_of_several_repositories_says_which_each_hit_is_from(
    both: tuple[Workspace, str], tmp_path: Path, model_dir: Path
):
    workspace, address = both
    (tmp_path / "home").mkdir()
    git = create_repository(
        tmp_path / "billing",
        isolated_environment(tmp_path / "home"),
        {
            "src/client.py": SAMPLE["src/client.py"],
            "rates.py": "def rounding(amount):\n    return round(amount, 2)\n",
        },
    )
    sent = pushed(git, address, model_dir)
    assert (sent.files, sent.contents) == (2, 2)
    found = hub_search.search(address, "rounding of amounts", workspace.config, encoder=workspace.encoder)
    assert [(each.repository, each.path) for each in found.hits][:1] == [("billing", "rates.py")]
    both_have = hub_search.search(address, "Client.send", workspace.config, encoder=workspace.encoder)
    assert {each.repository for each in both_have.hits if each.path == "src/client.py"} <= {
        "project",
        "billing",
    }
    assert "src/client.py" in {each.path for each in both_have.hits}
    only = hub_search.search(
        address, "Client.send", workspace.config, repositories=["billing"], encoder=workspace.encoder
    )
    assert {each.repository for each in only.hits} == {"billing"}
    with opened_hub(address, recipe()) as hub:
        stored = hub.db.execute(
            "SELECT count(DISTINCT path_id), count(DISTINCT content_id) FROM gitrag.entries"
            " JOIN gitrag.paths USING (repository_id, path_id) WHERE path = 'src/client.py'"
        ).fetchone()
    assert stored == (2, 1)
