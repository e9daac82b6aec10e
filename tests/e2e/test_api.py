"""The public API, used as a program does: from a script, from threads, from asyncio."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import gitrag
from gitrag.indexing import embed_texts
from tests.hostile.test_imports import MUCH
from tests.support.command import PATIENCE_S, SOURCES, Gitrag, Project, user_environment
from tests.support.recorded import assert_recorded, public
from tests.support.repository import create_repository

PAGE = Path(__file__).parents[2] / "docs" / "python.md"

FILES = {
    **SOURCES,
    "src/orders.py": "from client import retry_with_backoff\n\n\ndef place(order):\n"
    '    """Send an order, again where that fails."""\n    return retry_with_backoff(order.send)\n',
    "web/package.json": '{"name": "web"}',
    "web/retry.ts": "export function retryRequest(call: () => void) {\n  call(); // retry it\n}\n",
    "package.json": '{"workspaces": ["web"]}',
    "docs/adrs/ADR-0001-retry.md": "# ADR-0001: Retry with backoff\n\nStatus: accepted\n\n## Decision\n\n"
    "Calls of other services are retried three times.\n",
    "docs/specs/retries/spec.md": "# Retries\n\n## Requirement: Backoff\n\nA retry SHALL wait longer.\n",
}

QUESTIONS = (
    "where are retries",
    "retry_with_backoff",
    "when are invoices sent",
    "ADR-0001",
    "place an order",
)


def _embedded(project: Project) -> Project:
    assert project.gitrag("index", "update", "--no-embed").status == 0
    assert project.gitrag("index", "embed", "--foreground").status == 0
    return project


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Project:
    directory = tmp_path_factory.mktemp("api")
    environment = user_environment(directory / "home", model_dir)
    git = create_repository(directory / "project", environment, FILES)
    made = _embedded(Project(git, Gitrag(git.path, environment)))
    git.write({"src/later.py": "def retry_later(call):\n    '''Retry a call tomorrow.'''\n"})
    return made


def _adopt(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Make a project's environment that of this process."""
    for key in os.environ.keys() - project.gitrag.environment.keys():
        monkeypatch.delenv(key)
    for key, value in project.gitrag.environment.items():
        monkeypatch.setenv(key, value)
    return project


@pytest.fixture
def known(made_once: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository, indexed and embedded, with an uncommitted file; to be left as it is."""
    return _adopt(made_once, monkeypatch)


@pytest.fixture
def own(
    made_once: Project, tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Project:
    """The like, to be changed."""
    copied = made_once.copied(tmp_path / "project", environment)
    (copied.path / "src/later.py").unlink()
    return _adopt(copied, monkeypatch)


def run(code: str, project: Project, *, python: tuple[str, ...] = (), **env: str) -> tuple[str, str]:
    """Run a script, as a file, in a directory of its own; return what it wrote on stdout and stderr."""
    script = project.path.parent / "client.py"
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, *python, script],
        cwd=script.parent,
        env={**project.gitrag.environment, **env},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return done.stdout, done.stderr


def test_a_script_without_a_guard_indexes_what_processes_share(make_project):
    """It is not imported again by them, and nothing is printed."""
    project = make_project({**SOURCES, **MUCH, "deep/down/a.py": "x = 1\n"})
    code = f"""
import sys
pools = []
def note(event, args):
    if event == "subprocess.Popen" and "serve()" in str(args):
        pools.append(args)
sys.addaudithook(note)
print("once")
import gitrag
repo = gitrag.open({str(project.path / "deep" / "down")!r})
files = repo.update(embed=False).files
print(files, repo.search("retry_with_backoff").hits[0].path, len(pools) > 0)
repo.close()
"""
    several = (os.cpu_count() or 1) > 1
    assert run(code, project) == (f"once\n{len(MUCH) + 3} client.py {several}\n", "")


@pytest.mark.sweep(keep=3)
@pytest.mark.parametrize(
    ("options", "args"),
    [
        (gitrag.SearchOptions(), ()),
        (gitrag.SearchOptions(limit=1), ("--limit", "1")),
        (gitrag.SearchOptions(min_score=0.5), ("--min-score", "0.5")),
        (gitrag.SearchOptions(collections="adrs"), ("-c", "adrs")),
        (gitrag.SearchOptions(collections=["web-code", "specs"]), ("-c", "web-code", "-c", "specs")),
        (gitrag.SearchOptions(module="web"), ("--module", "web")),
        (gitrag.SearchOptions(paths=["src/**"]), ("--path", "src/**")),
        (gitrag.SearchOptions(languages=["ts"]), ("--lang", "ts")),
        (gitrag.SearchOptions(kinds=["function"], every_chunk=True), ("--kind", "function", "--every-chunk")),
        (gitrag.SearchOptions(committed_only=True), ("--committed",)),
        (gitrag.SearchOptions(ref="HEAD"), ("--ref", "HEAD")),
    ],
    ids=lambda value: " ".join(value) or "nothing" if isinstance(value, tuple) else "",
)
def test_the_hits_are_those_of_the_command(known, options, args):
    with gitrag.open(known.path) as repo:
        for question in ("where are retries", "ADR-0001")[: 1 + (not args)]:
            ours = repo.search(question, options)
            done = known.gitrag("search", question, "--output", "json", "--no-graph", *args)
            theirs = json.loads(done.out)
            assert ours.query == theirs["query"]
            for collection, key in (
                ("adrs", "adr_matches"),
                ("specs", "spec_matches"),
                ("code", "code_snippets"),
            ):
                hits = [hit for hit in ours.hits if hit.collection == collection]
                assert [(hit.path, hit.score, hit.text) for hit in hits] == [
                    (each["path"], each["score"], each["snippet"]) for each in theirs[key]
                ]
                if collection == "code":
                    assert [(hit.name, hit.kind, *hit.lines) for hit in hits] == [
                        (each["name"], each["kind"], each["line_start"], each["line_end"])
                        for each in theirs[key]
                    ]
                else:
                    assert [(hit.document_id, hit.title) for hit in hits] == [
                        (each["id"], each["title"]) for each in theirs[key]
                    ]
            assert [hit.score for hit in ours.hits] == sorted((hit.score for hit in ours.hits), reverse=True)
            assert bool(ours.hits) == (done.status == 0)


def test_what_the_command_says_on_stderr_is_in_the_notes(monkeypatch, own):
    own.git.write({"client.py": SOURCES["client.py"] + "\n\ndef more():\n    return 1\n" * 40})
    monkeypatch.setenv("GITRAG_MODEL_DIR", str(own.path.parent / "none"))
    own.git.git("config", "gitrag.nonsense", "1")
    heard: list[str] = []
    with gitrag.open(own.path, say=heard.append) as repo:
        [warning] = heard
        assert "nonsense" in warning
        notes = repo.search("retries").notes
        said = own.gitrag("search", "retries", env={"GITRAG_MODEL_DIR": os.environ["GITRAG_MODEL_DIR"]}).said
        assert any("model is not ready" in note for note in notes)
        assert heard == [warning, *notes]
        assert set(notes) <= set(said)


def test_several_threads_get_the_answers_that_one_gets(known, make_project):
    other = make_project({"billing.py": "def invoice(order):\n    '''Send an invoice.'''\n"}, name="other")
    with gitrag.open(known.path) as repo, gitrag.open(other.path) as second:
        second.update(embed=False)
        alone = {question: repo.search(question).hits for question in QUESTIONS}
        beside = {question: second.search(question).hits for question in QUESTIONS}

        def ask(number: int) -> bool:
            question = QUESTIONS[number % len(QUESTIONS)]
            if number % 3 == 0:
                return second.search(question).hits == beside[question]
            if number % 7 == 0:
                return len(repo.graph("retry_with_backoff", direction="callers").edges) == 1
            return repo.search(question).hits == alone[question]

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(ask, range(24)))


def test_an_async_server_asks_in_threads(known):
    async def ask() -> list[gitrag.Answer]:
        with gitrag.open(known.path) as repo:
            return await asyncio.gather(*(asyncio.to_thread(repo.search, each) for each in QUESTIONS))

    answers = asyncio.run(ask())
    assert [answer.query for answer in answers] == list(QUESTIONS)
    assert answers[0].hits


def test_a_search_comes_between_the_rounds_of_embedding(make_project, environment, monkeypatch):
    many = "".join(f"def step_{number}(x):\n    return x + {number}\n\n\n" for number in range(240))
    monkeypatch.setattr(embed_texts, "_ROUND", 64)  # several rounds of few texts
    project = make_project({**SOURCES, "many.py": many})
    monkeypatch.setenv("GITRAG_MODEL_DIR", environment["GITRAG_MODEL_DIR"])
    with gitrag.open(project.path) as repo:
        repo.update(embed=False)
        begun, answered = threading.Event(), threading.Event()
        rounds: list[bool] = []

        def progress(_done: int, _total: int) -> None:
            begun.set()
            rounds.append(answered.is_set())

        worker = threading.Thread(target=lambda: repo.embed(progress=progress))
        worker.start()
        assert begun.wait(PATIENCE_S)
        assert repo.search("where are retries").hits
        answered.set()
        worker.join(PATIENCE_S)
        assert not rounds[0]
        assert rounds[-1]


def test_a_session_is_told_what_the_command_tells(known):
    with gitrag.open(known.git.path) as repo:
        assert known.gitrag("prime", "-o", "markdown").out.endswith(f"{repo.prime().markdown}\n")
        on_topic = repo.prime("retries")
        assert on_topic.topic == "retries"
        assert "ADR-0001" in on_topic.markdown


def test_the_other_methods_answer_as_the_commands(own):
    with gitrag.open(own.path / "src") as repo:
        assert repo.root == own.path
        status = repo.status()
        assert (status.indexed, status.fresh, status.embedded) == (True, True, status.texts)
        assert set(status.collections) == {"adrs", "specs", "code", "web-code"}

        calls = repo.graph("retry_with_backoff", direction="callers")
        assert [(each.caller.path, each.caller.name, each.line) for each in calls.edges] == [
            ("src/orders.py", "place", 6)
        ]
        assert [each.name for each in calls.matches] == ["retry_with_backoff"]
        assert calls.mermaid.startswith("graph TD")
        chain = repo.graph("place", to="retry_with_backoff")
        assert [[each.callee.name for each in path] for path in chain.paths] == [["retry_with_backoff"]]
        named = repo.graph("retry_with_backoff", references=True).references
        assert ("src/orders.py", "imported") in {(each.path, each.use) for each in named}
        called = repo.check("client.py").called
        assert [(each.node.name, each.callers[0].caller.name) for each in called] == [
            ("retry_with_backoff", "place")
        ]

        [decision] = [
            each
            for each in repo.related("Retry calls of other services with backoff").documents
            if each.collection == "adrs"
        ]
        assert (decision.id, decision.status) == ("ADR-0001", "accepted")
        assert "ADR-0001" in [each.id for each in repo.check("client.py").documents]
        assert repo.check(own.path / "client.py").target == "client.py"

        hit = repo.search("retry_with_backoff", gitrag.SearchOptions(paths=["client.py"])).hits[0]
        own.git.write({"client.py": "# new\n\n" + SOURCES["client.py"]})
        found = repo.get(hit.id)
        assert (found.text, found.moved) == (hit.text, f"moved from {hit.lines[0]}-{hit.lines[1]}")
        assert found.lines == (hit.lines[0] + 2, hit.lines[1] + 2)


def test_every_method_returns_what_is_recorded(own):
    """Programs read these attributes."""
    copy = SOURCES["client.py"].replace("retry_with_backoff", "repeat_with_backoff")
    own.git.commit({"src/again.py": copy}, message="Call other services again with backoff (ADR-0001)")
    (own.path / ".git/gitrag/callers.kept").unlink(missing_ok=True)  # of another test's files
    asked = {
        "update": lambda repo: repo.update(embed=False),
        "embed": lambda repo: repo.embed(),
        "status": lambda repo: repo.status(),
        "search": lambda repo: repo.search("retry with backoff"),
        "search exactly": lambda repo: repo.search("retry", gitrag.SearchOptions(exact="word", limit=2)),
        "search for nothing": lambda repo: repo.search("zebra crossing tariff"),
        "graph": lambda repo: repo.graph("retry_with_backoff", references=True),
        "graph of everything": lambda repo: repo.graph(),
        "graph to": lambda repo: repo.graph("place", to="retry_with_backoff"),
        "graph of no call": lambda repo: repo.graph("repeat_with_backoff"),
        "prime": lambda repo: repo.prime(),
        "related": lambda repo: repo.related("Retry calls of other services with backoff"),
        "duplicates": lambda repo: repo.duplicates("retry a call with backoff", threshold=0.2),
        "nearest duplicates": lambda repo: repo.duplicates("retry a call with backoff", threshold=0.99),
        "review": lambda repo: repo.review("HEAD~1..HEAD"),
        "check": lambda repo: repo.check("client.py"),
        "get": lambda repo: repo.get("client.py:4-5"),
    }
    with gitrag.open(own.path) as repo:
        values = [
            (what, json.dumps(public(ask(repo)), ensure_ascii=False, indent=1)) for what, ask in asked.items()
        ]
    assert_recorded("api", values, own.path)


@pytest.mark.parametrize("question", ["retry_with_backoff", "when is an order placed", "retries of services"])
def test_a_hit_has_the_lines_and_reasons_that_the_command_shows(known, question):
    options = gitrag.SearchOptions(collections=["code", "adrs"])
    with gitrag.open(known.path) as repo:
        hits = repo.search(question, options).hits
    shown = known.gitrag("search", question, *("-c", "code", "-c", "adrs"), "-o", "text", "--explain=all").out
    assert hits
    assert any(line.matches for hit in hits for line in hit.snippet)
    for hit in hits:
        [block] = [each for each in shown.rstrip("\n").split("\n\n") if f"{hit.path}:" in each]
        width = len(str(hit.snippet[-1].number))
        told = [f"cosine {hit.cosine:.2f}"] if hit.cosine is not None else []
        told += [f"BM25 {hit.bm25:.1f}", *(f"{name} {value:+.2f}" for name, value in hit.reasons)]
        expected = [*(f"  {line.number:>{width}}  {line.text}" for line in hit.snippet)]
        assert [line for line in block.split("\n") if re.match(r"  +\d+  ", line)] == expected
        assert block.endswith(f"  why: {', '.join(told)}")
        assert {line.text for line in hit.snippet} <= set(hit.text.split("\n"))
        assert bool(hit.note) == (hit.collection == "adrs")


@pytest.mark.parametrize(("query", "exact", "limit"), [("retry", "word", None), ("^def ", "regex", 2)])
def test_lines_found_exactly_are_those_of_the_command(known, query, exact, limit):
    flags = ["--limit", str(limit)] if limit else []
    done = known.gitrag("search", f"--{exact}", query, *flags, "--json")
    wanted = [(each["path"], each["line"], each["text"]) for each in json.loads(done.out)["matches"]]
    with gitrag.open(known.path) as repo:
        answer = repo.search(query, gitrag.SearchOptions(exact=exact, limit=limit))
    found = [(hit.path, line.number, line.text) for hit in answer.hits for line in hit.snippet]
    assert found == wanted != []
    assert list(answer.notes) == done.said


def _chunk(each: gitrag.SimilarChunk) -> dict[str, object]:
    """The like of a chunk in the command's JSON."""
    first, last = each.lines
    return {
        "path": each.path,
        "name": each.name,
        "kind": each.kind,
        "line_start": first,
        "line_end": last,
        "cosine": each.cosine,
    }


@pytest.mark.parametrize("threshold", [0.2, 0.99])
def test_what_covers_a_text_is_what_the_command_lists(known, threshold):
    text = "retry a call with backoff"
    done = known.gitrag("related", "--duplicates", text, "--threshold", str(threshold), "-o", "json")
    theirs = json.loads(done.out)
    with gitrag.open(known.path) as repo:
        found = repo.duplicates(text, threshold=threshold)
        assert [_chunk(each) for each in found.chunks] == theirs["duplicates"]
        assert [_chunk(each) for each in found.nearest] == theirs["nearest"]
        assert bool(found.chunks) == (threshold < 0.5) != bool(found.nearest)
        best, *_ = found.chunks or found.nearest
        assert repo.get(best.id).text == best.text
    assert (found.text, found.threshold) == (text, theirs["threshold"])


def test_a_change_is_reviewed_as_by_the_command(own):
    copy = SOURCES["client.py"].replace("retry_with_backoff", "repeat_with_backoff")
    own.git.commit({"src/again.py": copy}, message="Call other services again with backoff")
    steps: list[tuple[int, int]] = []
    with gitrag.open(own.path) as repo:
        found = repo.review("HEAD~1..HEAD", progress=lambda done, total: steps.append((done, total)))
    theirs = json.loads(own.gitrag("related", "--diff", "HEAD~1..HEAD", "-o", "json").out)
    assert found.span == theirs["range"]
    assert [(each.id, each.score, each.section, each.note, each.touched_by) for each in found.documents] == [
        (each["id"], each["score"], each["section"], each["note"], each["touched_by"])
        for each in theirs["questions"]
    ]
    assert [each.collection for each in found.documents] == ["adrs"]
    [added] = found.added
    assert (added.path, added.name) == ("src/again.py", "repeat_with_backoff")
    assert [_chunk(each) for each in added.existing] == theirs["helpers"][0]["existing"]
    assert added.existing[0].path == "client.py"
    assert steps[-1][0] == steps[-1][1]


@pytest.mark.parametrize(
    ("ask", "kind", "message"),
    [
        (lambda repo: repo.search("?!"), gitrag.UsageError, "no word"),
        (lambda repo: repo.search("x", gitrag.SearchOptions(limit=0)), gitrag.UsageError, "limit is 0"),
        (
            lambda repo: repo.search("x", gitrag.SearchOptions(min_score=float("nan"))),
            gitrag.UsageError,
            "nan",
        ),
        (lambda repo: repo.search("x", gitrag.SearchOptions(kinds="verb")), gitrag.UsageError, '"verb"'),
        (lambda repo: repo.search("x", gitrag.SearchOptions(languages="pyton")), gitrag.UsageError, "pyton"),
        (lambda repo: repo.search("x", gitrag.SearchOptions(ref="none")), gitrag.UsageError, "none"),
        (
            lambda repo: repo.search("x", gitrag.SearchOptions(collections="x")),
            gitrag.NotSetUpError,
            'There is no collection "x"',
        ),
        (lambda repo: repo.graph("nowhere"), gitrag.GitragError, "nowhere"),
        (lambda repo: repo.graph(filter="("), gitrag.UsageError, "regular"),
        (lambda repo: repo.graph("place", direction="up"), gitrag.UsageError, '"up"'),
        (lambda repo: repo.graph("place", depth=0), gitrag.UsageError, "depth is 0"),
        (lambda repo: repo.related("x", use="note"), gitrag.UsageError, '"note"'),
        (lambda repo: repo.duplicates(" "), gitrag.UsageError, "no text"),
        (lambda repo: repo.duplicates("x", threshold=2), gitrag.UsageError, "threshold is 2"),
        (lambda repo: repo.review("no..where"), gitrag.UsageError, "no..where"),
        (lambda repo: repo.review("HEAD", threshold=-2), gitrag.UsageError, "threshold is -2"),
        (lambda repo: repo.review("\ud83d"), gitrag.UsageError, "half of a character"),
        (lambda repo: repo.check("../outside"), gitrag.UsageError, "outside"),
        (lambda repo: repo.get("nothing.py:3"), gitrag.UsageError, "nothing.py"),
        (lambda repo: repo.close() or repo.search("x"), gitrag.UsageError, "closed"),
    ],
)
def test_what_is_wrong_is_an_error_of_gitrags_with_a_hint(known, ask, kind, message):
    with gitrag.open(known.path) as repo, pytest.raises(kind, match=re.escape(message)) as raised:
        ask(repo)
    assert raised.value.hint
    assert raised.value.__notes__ == [f"hint: {raised.value.hint}"]


def test_half_of_a_character_is_found_nowhere(known):
    with gitrag.open(known.path) as repo:
        for text in ("src/\ud83d.py", "x\ud83d:3"):
            assert repo.prime(text)
            assert repo.search(text)
            assert repo.search(text, gitrag.SearchOptions(exact="word")).hits == ()


def test_a_progress_that_calls_back_is_refused(own):
    own.git.write({"new.py": "x = 1\n"})
    with gitrag.open(own.path) as repo:
        with pytest.raises(gitrag.UsageError, match="progress callback"):
            repo.update(progress=lambda _done, _total: repo.status() and None)
        assert repo.update(embed=False).dirty == 1


def test_outside_a_repository_and_before_an_index_there_is_an_error(tmp_path, make_project):
    with pytest.raises(gitrag.RepositoryError):
        gitrag.open(tmp_path)
    with gitrag.open(make_project(SOURCES).path) as repo:
        assert not repo.status().indexed
        with pytest.raises(gitrag.NotSetUpError, match="gitrag index"):
            repo.search("retries")


def test_a_path_counts_more_than_what_a_hook_leaves_in_the_environment(make_project):
    """In a hook GIT_DIR is the hook's repository; a path names another one."""
    project = make_project(SOURCES)
    hooked = make_project({"a.py": "a = 1\n"}, name="hooked")
    code = f"""
import gitrag
print(gitrag.open({str(project.path)!r}).root)
print(gitrag.open().root)
"""
    out, err = run(code, project, GIT_DIR=str(hooked.path / ".git"), GIT_WORK_TREE=str(hooked.path))
    assert (out, err) == (f"{project.path}\n{hooked.path}\n", "")


def test_file_names_in_another_encoding_are_refused(make_project):
    project = make_project(SOURCES)
    code = f"""
import gitrag
try:
    gitrag.open({str(project.path)!r})
except gitrag.NotSetUpError as error:
    print(error.hint)
"""
    out, _ = run(code, project, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert "python -X utf8" in out


def test_importing_the_package_loads_none_of_it():
    code = (
        "import sys, gitrag; dir(gitrag); print(*(name for name in sys.modules if name.startswith('gitrag')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "gitrag\n"


def test_every_public_name_is_there():
    assert {name for name in gitrag.__all__ if getattr(gitrag, name, None) is None} == set()
    with pytest.raises(AttributeError, match="nothing"):
        _ = gitrag.nothing


def test_the_example_of_the_page_prints_what_it_says(make_project):
    text = PAGE.read_text("utf-8")
    [code, *_] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    [shown, *_] = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    project = make_project(FILES, name="orders")
    assert run(code, project) == (shown, "")
