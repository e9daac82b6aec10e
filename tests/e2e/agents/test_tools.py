"""The tools of `gitrag mcp`, used as agents use them: through the SDK's client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from tests.e2e.agents.conftest import Asked
from tests.support.command import PATIENCE_S, Project, everything_in
from tests.support.mcp_client import ADR, CALLS, TOOLS, data_of, text_of, use, use_here
from tests.support.recorded import assert_recorded
from tests.support.repository import create_repository


def test_tools_are_described_for_agents(asked: Asked):
    """Agents detect a search tool by the words semantic, vector or embedding."""

    async def steps(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asked.use(steps)}
    for name in ("search_code", "search", "index_code", "reindex", "memory_search", "check", "related"):
        said = tools[name].description or ""
        assert any(word in said.lower() for word in ("semantic", "vector", "embedding")), name
    for tool in tools.values():
        assert tool.output_schema is None, tool.name
        assert tool.input_schema["additionalProperties"] is False
        assert len((tool.description or "").split()) <= 40, tool.name
        assert tool.annotations is not None
        assert tool.annotations.open_world_hint == (tool.name in {"check", "related"})  # which sync issues
    reads = {name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint}
    assert reads == set(TOOLS) - {"index_code", "reindex", "explore", "mark_core", "unmark_core"}
    replaces = {
        name for name, tool in tools.items() if tool.annotations and tool.annotations.destructive_hint
    }
    assert replaces == {"explore", "mark_core", "unmark_core"}
    always = {name for name, tool in tools.items() if (tool.meta or {}).get("anthropic/alwaysLoad")}
    assert always == set(CORE)


def test_commits_are_found_by_what_they_say_and_by_lines(own: Project):
    own.git.commit({"client.py": own.git.file("client.py").read_text() + "# 1\n"}, "Wait for couriers (#7)")

    async def steps(client: Client) -> Any:
        asked = await client.call_tool("history", {"query": "waiting for couriers"})
        lines = await client.call_tool("history", {"lines": "client.py:1-2"})
        both = await client.call_tool("history", {"query": "x", "lines": "client.py:1"})
        twice = await client.call_tool("history", {"lines": "client.py:1", "path": "client.py"})
        return data_of(asked), data_of(lines), text_of(both), text_of(twice)

    asked, lines, both, twice = use_here(own, steps)
    assert "history takes path with query only." in twice
    assert asked["commit_matches"][0]["subject"] == "Wait for couriers (#7)"
    assert lines["why"]["reasons"][0]["lines"] == 2
    assert "either query or lines" in both


def test_every_tool_replies_what_is_recorded(own: Project):
    """As text and as data; agents read both."""
    again = own.git.file("client.py").read_text().replace("retry_with_backoff", "repeat_with_backoff")
    placed = "def place(order):\n    # Governing: ADR-0001\n    return retry_with_backoff(order.send)\n"
    added = {"again.py": again, "orders.py": f"from client import retry_with_backoff\n\n\n{placed}"}
    own.git.commit(added, "Call other services again with backoff, since they are slow")
    assert own.gitrag("index", "embed", "--foreground").status == 0
    more: list[tuple[str, dict[str, Any]]] = [
        ("search_code", {"query": "call", "exact": "word"}),
        ("search", {"query": "zebra crossing tariff"}),
        ("get", {"what": "ADR-0001-retries.md"}),
        ("call_graph", {"target": "sleep", "references": True}),
        ("call_graph", {"target": "place"}),
        ("prime", {"topic": "retries"}),
        ("check", {"target": "orders.py"}),
        ("related", {"text": "retry with backoff", "mode": "duplicates"}),
        ("related", {"diff": "HEAD~1..HEAD"}),
        ("history", {"query": "slow services"}),
        ("memory_search", {}),
        ("reindex", CALLS["reindex"]),  # last: nothing depends on how far the worker is
    ]

    async def steps(client: Client) -> list[tuple[str, str]]:
        replies = []
        for tool, arguments in [*((tool, CALLS[tool]) for tool in TOOLS if tool != "reindex"), *more]:
            reply = await client.call_tool(tool, arguments)
            said = [text_of(reply), json.dumps(reply.structured_content, ensure_ascii=False, indent=1)]
            replies.append((f"{tool} {json.dumps(arguments)}", "\n".join(said)))
        return replies

    assert_recorded("tools", use_here(own, steps), own.path, own.path.parent)


CORE = ["search_code", "get", "call_graph", "prime", "check", "related"]


@pytest.mark.parametrize(("core_only", "names", "most"), [(False, TOOLS, 2500), (True, CORE, 1000)])
def test_the_list_of_tools_leaves_room_for_work(
    indexed: Project, core_only: bool, names: list[str], most: int
):
    """Every session reads it before it asks anything; a token is four characters."""

    async def steps(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = use_here(indexed, steps, core_only=core_only)
    assert [tool.name for tool in tools] == names
    read = {"by_alias": True, "exclude_none": True, "exclude": {"meta"}}  # what is in _meta clients keep
    sent = [tool.model_dump(mode="json", **read) for tool in tools]
    assert len(json.dumps({"tools": sent}, separators=(",", ":"))) / 4 < most


def test_an_argument_that_the_schema_does_not_know_is_refused(asked: Asked):
    """The schema is shortened; what it says of an enumeration is what the server takes."""

    async def steps(client: Client) -> None:
        tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
        assert tools["call_graph"]["properties"]["direction"] == {
            "enum": ["both", "callers", "callees"],
            "default": "both",
        }
        assert tools["search_code"]["required"] == ["query"]
        for value in tools["call_graph"]["properties"]["direction"]["enum"]:
            arguments = {"target": "retry_with_backoff", "direction": value}
            assert not (await client.call_tool("call_graph", arguments)).is_error
        wrong = await client.call_tool("call_graph", {"target": "x", "direction": "up"})
        assert wrong.is_error

    asked.use(steps)


def test_search_code_finds_lines_exactly(asked: Asked):
    asked.git.write({"new.py": "def again():\n    retry_count = 1\n    return retry_count\n"})

    async def steps(client: Client) -> None:
        asked = {"query": "retry_count", "exact": "word"}
        found = data_of(await client.call_tool("search_code", asked))
        places = [(each["path"], each["line_start"], each["line_end"]) for each in found["results"]]
        assert places == [("new.py", 2, 2), ("new.py", 3, 3)]
        assert [each["text"] for each in found["results"]] == [
            "    retry_count = 1",
            "    return retry_count",
        ]
        assert found["results"][0]["name"] == "again"
        assert found["sufficient"]
        few = data_of(await client.call_tool("search_code", {**asked, "limit": 1}))
        assert not few["sufficient"]
        said = "The first 1 of 2 lines in 1 file: a limit of 2 returns all, path and language narrow it."
        assert said in few["freshness"]["notes"]
        wrong = await client.call_tool("search_code", {"query": "(?=x)", "exact": "regex"})
        assert wrong.is_error
        assert "RE2" in text_of(wrong)

    asked.use(steps)


def test_search_code_is_narrowed_by_path_language_kind_and_collection(asked: Asked):
    asked.git.write({"lib/retry.js": "export class Retry { again() { return retryWithBackoff(); } }\n"})

    async def steps(client: Client) -> None:
        async def places(**narrowing: str) -> set[tuple[str, str]]:
            found = data_of(
                await client.call_tool("search_code", {"query": "retry with backoff", **narrowing})
            )
            return {(each["path"], each["kind"]) for each in found["results"]}

        every = await places()
        assert {path for path, _ in every} >= {"client.py", "lib/retry.js"}
        assert {path for path, _ in await places(path="lib/**")} == {"lib/retry.js"}
        assert {path for path, _ in await places(language="python")} == {"client.py"}
        assert {kind for _, kind in await places(kind="function")} == {"function"}
        assert {path for path, _ in await places(collection="adrs")} == {"docs/adrs/ADR-0001-retries.md"}
        refused = await client.call_tool("search_code", {"query": "retry", "collection": "nonsense"})
        assert refused.is_error
        assert 'There is no collection "nonsense"' in text_of(refused)

    asked.use(steps)


def test_agents_learn_what_bears_on_a_file_and_what_is_there(asked: Asked):
    """The same answers as on the command line, over the protocol."""

    async def steps(client: Client) -> None:
        checked = data_of(await client.call_tool("check", {"target": "client.py"}))
        by_end = data_of(await client.call_tool("check", {"target": "adrs/ADR-0001-retries.md"}))
        assert by_end["target"] == "docs/adrs/ADR-0001-retries.md"
        assert checked["candidates"][0]["id"] == "ADR-0001"
        assert checked["freshness"]["unembedded"] == 0
        edges = data_of(await client.call_tool("related", {"text": "replace the retries with backoff"}))[
            "edges"
        ]
        assert (edges[0]["id"], edges[0]["relation"]) == ("ADR-0001", "supersedes")
        text = "retry with backoff: call again after a failure, waiting longer each time"
        found = data_of(await client.call_tool("related", {"text": text, "mode": "duplicates"}))
        names = [each["name"] for each in found["duplicates"]]
        assert set(names[:2]) == {"ADR-0001: Retry with backoff", "retry_with_backoff"}
        review = await client.call_tool("related", {"diff": "HEAD~1..HEAD"})
        assert "## Review: HEAD~1..HEAD" in review.content[0].text
        both = await client.call_tool("related", {"text": "x", "diff": "HEAD"})
        assert both.is_error
        assert (await client.call_tool("check", {"target": "../.."})).is_error

    asked.use(steps)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_code", {"query": "call again after a failure"}),
        ("call_graph", {"target": "retry_with_backoff"}),
    ],
)
def test_an_agents_first_question_indexes_the_repository(
    project: Project, tool: str, arguments: dict[str, Any]
):
    """Nobody has run `gitrag init`; the answer says what it would add."""

    async def steps(client: Client) -> None:
        first = await client.call_tool(tool, arguments)
        assert "client.py" in text_of(first)
        assert "`gitrag init` installs hooks" in text_of(first)
        assert "`gitrag init`" not in text_of(await client.call_tool(tool, arguments))

    use_here(project, steps)


def test_who_wants_no_index_by_itself_gets_none(project: Project):
    project.git.git("config", "gitrag.autoIndex", "off")

    async def steps(client: Client) -> None:
        refused = await client.call_tool("call_graph", {"target": "retry_with_backoff"})
        assert refused.is_error
        assert "No gitrag collections found for project." in text_of(refused)

    use_here(project, steps)
    assert not (project.store / "index.duckdb").exists()


def test_search_code_gives_five_with_all_that_is_known(asked: Asked):
    """Five by default, each with its place, name, kind and score."""
    classes = (f"class Parcel{i}:\n    def weigh(self):\n        return {i}\n" for i in range(9))
    asked.git.write({f"parcel{i}.py": text for i, text in enumerate(classes)})

    async def steps(client: Client) -> None:
        found = data_of(await client.call_tool("search_code", {"query": "weigh a parcel"}))
        assert (found["project"], len(found["results"])) == ("project", 5)
        for each in found["results"]:
            assert each["id"].startswith(f"{each['path']}:{each['line_start']}-{each['line_end']}#")
            assert (each["language"], each["via"] in {"semantic", "lexical"}) == ("python", True)
            assert (each["class_name"], each["name"]) == (f"Parcel{each['path'][6]}", "weigh")
            assert each["kind"] == "method"
            assert 0 <= each["score"] <= 1
            assert "def weigh(self)" in each["text"]
        few = data_of(await client.call_tool("search_code", {"query": "weigh a parcel", "limit": 2}))
        assert len(few["results"]) == 2

    asked.use(steps)


def test_changed_files_are_indexed_again_in_the_background(own: Project):
    """The tool returns at once; a search finds the change."""

    async def steps(client: Client) -> None:
        own.git.write({"circuit.py": "def open_circuit(failures):\n    return failures > 3\n"})
        own.git.commit(message="Circuit")
        before = data_of(await client.call_tool("status", {}))
        accepted = await client.call_tool("reindex", {"files": ["circuit.py", "client.py"]})
        assert data_of(accepted) == {"files": 2}
        with anyio.fail_after(PATIENCE_S):
            while True:
                now = data_of(await client.call_tool("status", {}))
                if now["fresh"] and now["embedded"] == now["texts"]:
                    break
                await anyio.sleep(0.1)
        assert now["files"] == before["files"] + 1

    use(own, steps)


def test_nothing_done_to_an_index_touches_what_is_remembered(own: Project):
    """The index is derived; explorations and core files are the user's data."""

    async def steps(client: Client) -> None:
        await client.call_tool("explore", {"title": "Retries", "goals": "fewer failures"})
        await client.call_tool("mark_core", {"path": "client.py", "summary": "Calls others."})
        own.gitrag("gc", "--apply")
        own.gitrag("index", "remove")
        (own.store / "index.duckdb").write_bytes(b"damaged")
        assert own.gitrag("index", "update", "--no-embed").status == 0
        [found] = data_of(await client.call_tool("memory_search", {}))["results"]
        assert found["sections"] == {"goals": "fewer failures"}
        [core] = data_of(await client.call_tool("list_core", {}))["files"]
        assert core == {"project": "project", "path": "client.py", "summary": "Calls others."}

    use(own, steps)


def test_search_code_answers_of_the_files_as_they_are(own: Project):
    async def steps(client: Client) -> None:
        query = {"query": "call again after a failure"}
        clean = data_of(await client.call_tool("search_code", query))
        head = own.git.git("rev-parse", "HEAD")
        assert clean["freshness"]["commit"] == head
        assert (clean["freshness"]["uncommitted_files"], clean["freshness"]["unembedded"]) == (0, 0)
        assert clean["results"][0]["path"] == "client.py"
        own.git.write({"circuit.py": "def open_circuit(failures):\n    '''Stop calling after failures.'''\n"})
        result = await client.call_tool("search_code", {"query": "open_circuit"})
        dirty = data_of(result)
        assert dirty["freshness"]["uncommitted_files"] == 1
        assert dirty["results"][0]["path"] == "circuit.py"
        first = dirty["results"][0]
        assert f"circuit.py:1-2  function open_circuit  ({first['score']:.2f} {first['via']})" in text_of(
            result
        )
        lines = data_of(await client.call_tool("get", {"what": first["id"]}))
        assert lines["text"] == first["text"]
        own.git.commit(message="Circuit")
        own.git.commit({"circuit.py": None})
        gone = data_of(await client.call_tool("search_code", {"query": "open_circuit"}))
        assert gone["freshness"]["commit"] == own.git.git("rev-parse", "HEAD")
        assert "circuit.py" not in {each["path"] for each in gone["results"]}

    use_here(own, steps)


def test_an_index_made_by_another_process_is_seen(own: Project):
    """A server lives longer than an index. It makes no new one by itself where it may not."""
    own.git.git("config", "gitrag.autoIndex", "off")

    async def steps(client: Client) -> None:
        before = data_of(await client.call_tool("status", {}))
        own.git.commit({"more.py": "def one(): pass\n\n\ndef two(): pass\n"})
        assert own.gitrag("index", "update", "--no-embed").status == 0
        after = data_of(await client.call_tool("status", {}))
        assert (after["files"], after["fresh"]) == (before["files"] + 1, True)
        assert own.gitrag("index", "remove").status == 0
        result = await client.call_tool("search_code", {"query": "retry_with_backoff"})
        found = data_of(result)
        assert found["freshness"]["notes"][0] == (
            "RAG search unavailable, fell back to grep — consider checking MCP server status"
        )
        assert {each["via"] for each in found["results"]} == {"grep"}
        indexed = await client.call_tool("index_code", {})
        assert text_of(indexed).splitlines()[0] == "Indexed {chunks} chunks from {files} files".format(
            **data_of(indexed)
        )
        again = data_of(await client.call_tool("search_code", {"query": "retry_with_backoff"}))
        assert again["results"][0]["via"] in {"lexical", "semantic"}

    use(own, steps)


ERRORS: list[tuple[str, dict[str, Any], str]] = [
    (
        "search_code",
        {"query": "x", "top_k": 3},
        (
            "unknown parameter top_k. search_code takes query, project, limit, max_tokens, collection,"
            " path, language, kind, exact, repositories."
        ),
    ),
    (
        "search_code",
        {},
        (
            "query: Field required. search_code takes query, project, limit, max_tokens, collection,"
            " path, language, kind, exact, repositories."
        ),
    ),
    ("search_code", {"query": "x", "limit": 0}, "limit: Input should be greater than or equal to 1"),
    (
        "search_code",
        {"query": "x", "max_tokens": 100_001},
        "max_tokens is 100,000 at most, not 100,001. Give a smaller one.",
    ),
    ("search_code", {"query": " "}, "The query is empty. Ask in words"),
    (
        "search_code",
        {"query": "x", "project": "other"},
        'There is no project "other" here; there is project.',
    ),
    ("search", {"query": "x", "module": "nope"}, 'There is no module "nope" in project.'),
    ("get", {"what": "../secret"}, "../secret is outside the repository."),
    ("get", {"what": "none.py"}, "There is no text file none.py in the repository."),
    ("check", {"target": "none.py"}, "check: none.py is no file or directory of the repository."),
    ("index_code", {"path": "nowhere"}, "There is no nowhere."),
    ("index_code", {"path": ".."}, ".. is in no git repository."),
    ("index_code", {"path": "\0"}, "There is no \\x00."),
    ("index_code", {"path": "x" * 300}, "There is no xxx"),
    ("check", {"target": "\0"}, "check: \\x00 is no file or directory of the repository."),
    ("explore", {"title": "x"}, "At least one context field (goals, constraints, preferences, unknowns,"),
    ("explore", {"title": " ", "goals": "x"}, "title is required"),
    ("mark_core", {"path": "../x.py"}, "There is no file ../x.py"),
    ("mark_core", {"path": ".git/config"}, ".git/config is git's own."),
    ("memory_search", {"query": "?!"}, "There is no word to search for"),
    ("call_graph", {}, "Neither target nor filter is given. Name a definition"),
    ("call_graph", {"target": "nobody"}, "nobody"),
    ("call_graph", {"filter": "("}, "("),
    ("nope", {}, "Unknown tool: nope. There is search_code, search, get,"),
]


def test_errors_say_the_way_out(asked: Asked):
    """All of them of one server, which is none the worse for any."""

    async def steps(client: Client) -> None:
        for tool, arguments, said in ERRORS:
            result = await client.call_tool(tool, arguments)
            assert result.is_error, (tool, arguments)
            assert said in text_of(result), (tool, arguments)
        assert not (await client.call_tool("status", {})).is_error

    asked.use(steps)


def test_calls_are_told_and_drawn(asked: Asked):
    job = "from client import retry_with_backoff\n\n\ndef job():\n    retry_with_backoff(print)\n"
    asked.git.write({"jobs.py": job, "work/other.py": "def other():\n    return 1\n"})

    async def steps(client: Client) -> None:
        result = await client.call_tool(
            "call_graph", {"target": "retry_with_backoff", "direction": "callers", "draw": True}
        )
        [found] = data_of(result)["calls"]
        assert (found["caller"], found["caller_path"], found["line"]) == ("job", "jobs.py", 5)
        assert "called by:\n- jobs.py:5 job\n\n```mermaid\ngraph TD" in text_of(result)
        plain = await client.call_tool("call_graph", {"target": "retry_with_backoff"})
        assert "mermaid" not in text_of(plain)
        typed = await client.call_tool("call_graph", {"target": "work\\other.py"})
        assert "work/other.py:1-2 other" in text_of(typed)
        assert data_of(plain)["mermaid"] is None
        searched = data_of(await client.call_tool("search", {"query": "retry with backoff", "graph": True}))
        assert "graph TD" in searched["call_graphs"][0]["mermaid"]

    asked.use(steps)


def test_chains_of_calls_and_uses_of_what_is_not_called_are_told(asked: Asked):
    source = (
        "from client import retry_with_backoff\n\nMOST = 3\n\n\ndef job():\n    retry_with_backoff(print)\n"
        "\n\ndef main():\n    job()\n    return [MOST, retry_with_backoff]\n"
    )
    asked.git.write({"jobs.py": source})

    async def steps(client: Client) -> None:
        chain = await client.call_tool("call_graph", {"target": "main", "to": "retry_with_backoff"})
        assert {(each["caller"], each["callee"]) for each in data_of(chain)["calls"]} >= {("main", "job")}
        used = await client.call_tool("call_graph", {"target": "MOST"})
        assert "- jobs.py:3 defined: MOST = 3" in text_of(used)
        assert "- jobs.py:12 main used: return [MOST, retry_with_backoff]" in text_of(used)
        named = await client.call_tool("call_graph", {"target": "retry_with_backoff", "references": True})
        assert [each["use"] for each in data_of(named)["references"]] == ["used", "imported"]
        wrong = await client.call_tool("call_graph", {"filter": "main", "to": "job"})
        assert "A chain of calls to something begins somewhere." in text_of(wrong)

    asked.use(steps)


def test_a_search_lists_and_counts_issues_too(asked: Asked):
    issue = (
        "---\nid: 12\ntitle: Retries never end\nstatus: open\n---\nThe backoff of a retry grows for ever.\n"
    )
    asked.git.write({".sdd/issues/12.md": issue})

    async def steps(client: Client) -> None:
        result = await client.call_tool("search", {"query": "backoff of a retry grows for ever"})
        assert [each["id"] for each in data_of(result)["issue_matches"]] == ["12"]
        assert "\nFound 1 issues.\n" in text_of(result)
        assert "#### Matching Issues\n\n- **12: Retries never end** (score: " in text_of(result)

    asked.use(steps)


def test_of_many_calls_the_nearest_are_given(asked: Asked):
    jobs = "".join(f"def job_{i}():\n    base()\n\n\ndef run_{i}():\n    job_{i}()\n\n\n" for i in range(50))
    asked.git.write({"jobs.py": "def base():\n    return 1\n\n\n" + jobs})

    async def steps(client: Client) -> None:
        asked = {"target": "base", "direction": "callers", "depth": 2}
        result = await client.call_tool("call_graph", asked)
        found = data_of(result)
        assert ({each["callee"] for each in found["calls"]}, len(found["calls"])) == ({"base"}, 40)
        assert found["left_out"] == 60
        assert "60 more calls are left out: name one definition, or raise limit." in text_of(result)
        whole = data_of(await client.call_tool("call_graph", {**asked, "limit": 100}))
        assert (len(whole["calls"]), whole["left_out"]) == (100, 0)

    asked.use(steps)


def test_what_is_nearest_is_told_where_nothing_covers_a_text(asked: Asked):
    async def steps(client: Client) -> None:
        asked = {"text": "waiting longer", "mode": "duplicates", "threshold": 0.99}
        result = await client.call_tool("related", asked)
        found = data_of(result)
        assert found["duplicates"] == []
        assert found["nearest"][0]["name"] == "retry_with_backoff"
        assert text_of(result).startswith("No chunk has a cosine of 0.99 or more to it; the nearest, which ")

    asked.use(steps)


def test_texts_that_look_like_json_are_texts(asked: Asked):
    async def steps(client: Client) -> None:
        saved = data_of(
            await client.call_tool("explore", {"title": "[1]", "goals": '{"a": 1}', "context": "null"})
        )
        assert saved["sections"] == {"goals": '{"a": 1}', "context": "null"}
        assert not (await client.call_tool("search_code", {"query": "12"})).is_error
        assert not (await client.call_tool("search_code", {"query": "retry", "project": None})).is_error

    asked.use(steps)


def test_explorations_are_shared_with_the_command_line(own: Project):
    """Both read and write the same memory."""

    async def steps(client: Client) -> None:
        first = await client.call_tool("explore", {"title": "Retries", "goals": "add a circuit breaker"})
        assert "**Action:** Created" in text_of(first)
        own.gitrag("explore", "save", "retries", "--decisions", "no more than three")
        [found] = data_of(await client.call_tool("memory_search", {"query": "breaking the circuit"}))[
            "results"
        ]
        assert found["sections"] == {"goals": "add a circuit breaker", "decisions": "no more than three"}
        assert (found["id"], found["revision"], found["project"]) == (data_of(first)["id"], 2, "project")
        assert data_of(await client.call_tool("memory_search", {"type": "bug"}))["results"] == []
        assert len(data_of(await client.call_tool("memory_search", {"type": "discuss"}))["results"]) == 1

    use_here(own, steps)


def test_a_session_is_told_of_core_files(asked: Asked):
    """Only if there are any."""

    async def steps(client: Client) -> None:
        bare = data_of(await client.call_tool("continuity_status", {}))["markdown"]
        assert "Core Codebase Context" not in bare
        await client.call_tool("mark_core", {"path": "client.py", "summary": "Calls others."})
        told = data_of(await client.call_tool("continuity_status", {}))["markdown"]
        core = (
            "\n\n## Core Codebase Context\n\n### client.py\nCalls others.\n"
            "- `def retry_with_backoff(call, attempts=3)`\n"
        )
        assert told.endswith(core)
        assert core.rstrip("\n") in data_of(await client.call_tool("prime", {}))["markdown"]
        resource = (await client.read_resource("gitrag://core")).contents[0]
        assert resource.text == core.strip()
        whole = (await client.read_resource("gitrag://core/client.py")).contents[0]
        assert whole.text == (asked.path / "client.py").read_text()
        with pytest.raises(Exception, match="not marked as core"):
            await client.read_resource("gitrag://core/README.md")
        decisions = (await client.read_resource("gitrag://adrs")).contents[0]
        assert "ADR-0001" in decisions.text
        decision = (await client.read_resource("gitrag://adrs/ADR-0001")).contents[0]
        assert decision.text == ADR.rstrip("\n")

    asked.use(steps)


def test_another_repository_is_indexed_when_it_is_named(asked: Asked, tmp_path: Path):
    """One server serves all repositories of a user."""
    other = create_repository(
        tmp_path / "other", asked.gitrag.environment, {"zebra.py": "def stripes(): return 'black, white'\n"}
    )

    async def steps(client: Client) -> None:
        indexed = await client.call_tool("index_code", {"path": str(other.path), "project": "zoo"})
        assert data_of(indexed)["project"] == "zoo"
        assert text_of(indexed).startswith("Indexed 1 chunks from 1 files")
        found = data_of(await client.call_tool("search_code", {"query": "stripes", "project": "zoo"}))
        assert found["results"][0]["path"] == "zebra.py"
        assert found["freshness"]["commit"] == other.git("rev-parse", "HEAD")
        own_files = data_of(await client.call_tool("search_code", {"query": "stripes"}))
        assert "zebra.py" not in {each["path"] for each in own_files["results"]}

    asked.use(steps)


def test_a_part_of_a_repository_is_a_project_by_its_name(own: Project):
    """Also where its name has characters that are special in patterns."""
    files = {
        "web/[id]/door.py": "def open_door():\n    return 1\n",
        "web/[id]/inner/door.js": "function openDoor() { return 1 }\n",
        "web/i/door.py": "def open_door():\n    return 2\n",
    }
    own.git.commit(files)

    async def steps(client: Client) -> None:
        indexed = await client.call_tool("index_code", {"path": "web/[id]", "project": "door"})
        assert text_of(indexed).splitlines()[:2] == [
            "Indexed 2 chunks from 2 files",
            'search_code with project "door" searches them.',
        ]

        async def paths(query: str = "open door", **narrowing: str) -> set[str]:
            result = data_of(await client.call_tool("search_code", {"query": query, **narrowing}))
            assert result["project"] == narrowing.get("project", "project")
            return {each["path"] for each in result["results"]}

        first, second = "web/[id]/door.py", "web/[id]/inner/door.js"
        assert await paths(project="door") == {first, second}
        assert await paths("return 2", project="door") <= {first, second}  # exact matches too
        assert await paths(project="door", path="*.js") == {second}
        assert await paths(project="door", path="inner/**") == {second}
        assert await paths(project="door", path="web/[id]/*.py") == {first}
        assert "web/i/door.py" in await paths()
        calls = await client.call_tool("call_graph", {"target": "open_door", "project": "door"})
        assert [each.partition(":")[0] for each in data_of(calls)["matches"]] == [first]
        got = data_of(await client.call_tool("get", {"what": f"{first}:1", "project": "door"}))
        assert got["text"] == "def open_door():"
        long = await client.call_tool("search_code", {"query": "x", "project": "door", "path": "*" * 120})
        assert "more than 128 match nothing. Leave path or project out." in text_of(long)
        one = await client.call_tool("index_code", {"path": "web/[id]/door.py", "project": "one"})
        assert text_of(one).startswith("Indexed 1 chunks from 1 files")
        assert await paths(project="one") == {first}
        taken = await client.call_tool("index_code", {"path": "web/i", "project": "door"})
        assert "web/[id] already. Give this one another name in project." in text_of(taken)
        own_name = await client.call_tool("index_code", {"path": "web/i", "project": "project"})
        assert own_name.is_error
        unnamed = await client.call_tool("index_code", {"path": "web/i"})
        assert "search_code finds them; no project needs to be given." in text_of(unnamed)

    use_here(own, steps)


def test_clones_whose_origins_end_alike_are_two_projects(own: Project, tmp_path: Path):
    for owner in ("ann", "bob"):
        clone = create_repository(
            tmp_path / owner / "shop", own.gitrag.environment, {f"{owner}.py": "def sell(): pass\n"}
        )
        clone.git("remote", "add", "origin", f"https://forge.example/{owner}/shop.git")

    async def steps(client: Client) -> None:
        names = {}
        for owner in ("ann", "bob", "ann"):
            path = str(tmp_path / owner / "shop")
            names[owner] = data_of(await client.call_tool("index_code", {"path": path}))["project"]
        assert names == {"ann": "shop", "bob": "bob-shop"}
        for owner, name in names.items():
            found = data_of(await client.call_tool("search_code", {"query": "sell", "project": name}))
            assert {each["path"] for each in found["results"]} == {f"{owner}.py"}
        taken = {"path": str(tmp_path / "bob" / "shop"), "project": "shop"}
        assert (await client.call_tool("index_code", taken)).is_error

    use_here(own, steps)


def test_a_long_file_is_given_as_its_outline_until_a_range_is_named(asked: Asked):
    body = "".join(f"    def step_{i}(self):\n        return {i}\n\n" for i in range(60))
    below = {"lib/way/long_way.py": f"class Walk:\n{body}", "lib/way/short.py": "x = 1\n"}
    asked.git.write({**below, "long.py": f"class Walk:\n{body}", "data.json": "[\n" + "1,\n" * 500 + "1]\n"})

    async def steps(client: Client) -> None:
        result = await client.call_tool("get", {"what": "long.py"})
        rows = text_of(result).splitlines()
        assert rows[0] == "long.py has 181 lines: get a range of it, as long.py:1-60."
        assert rows[1:4] == ["1-1  class Walk", "2-3    def step_0(self)", "5-6    def step_1(self)"]
        assert data_of(result)["is_outline"] is True
        assert (data_of(result)["line_start"], data_of(result)["line_end"]) == (0, 0)
        part = await client.call_tool("get", {"what": "long.py:2-3"})
        assert data_of(part)["text"] == "    def step_0(self):\n        return 0"
        assert "long.py has 181 lines, next long.py:4-181]" in text_of(part)
        plain = text_of(await client.call_tool("get", {"what": "data.json"}))
        assert plain.startswith("data.json has 502 lines: get a range of it, as data.json:1-60.\n[")
        short = await client.call_tool("get", {"what": "client.py"})
        assert data_of(short)["is_outline"] is False
        assert "next" not in text_of(short)
        for end, path in (("long_way.py", "lib/way/long_way.py"), ("way/short.py", "lib/way/short.py")):
            assert data_of(await client.call_tool("get", {"what": end}))["path"] == path

    asked.use(steps)


def test_where_something_is_missing_a_reply_says_what_to_do_next(asked: Asked):
    asked.git.write({"empty/.gitkeep": ""})
    missing: list[tuple[str, dict[str, Any], str]] = [
        ("search_code", {"query": "xylophone"}, "Try a broader search term. search asks decisions,"),
        (
            "search_code",
            {"query": "xylophone"},
            "[not sufficient: ask for a name, in other words, or call_graph;",
        ),
        ("search", {"query": "xylophone"}, "Try a broader search term."),
        ("index_code", {"path": "empty"}, "`gitrag status` says why"),
        ("list_core", {}, "mark_core marks one"),
        ("memory_search", {"query": "x"}, "explore remembers what you give it"),
        ("related", {"text": "xylophone"}, "drafting from scratch"),
        ("call_graph", {"target": "client.py"}, "no caller"),
    ]

    async def steps(client: Client) -> None:
        for tool, arguments, said in missing:
            result = await client.call_tool(tool, arguments)
            assert said in text_of(result), (tool, text_of(result))

    asked.use(steps)


def test_long_work_tells_how_far_it_is_and_can_be_stopped(own: Project):
    own.git.commit({f"generated/{i}.py": f"def function_{i}(): return {i}\n" * 40 for i in range(200)})

    async def steps(client: Client) -> None:
        told: list[tuple[float, float | None]] = []

        async def progress(done: float, total: float | None, _message: str | None) -> None:
            told.append((done, total))

        with anyio.move_on_after(30) as scope:

            async def stop_early(done: float, total: float | None, message: str | None) -> None:
                await progress(done, total, message)
                scope.cancel()

            await client.call_tool("index_code", {}, progress_callback=stop_early)
        assert scope.cancel_called
        assert told
        assert not (await client.call_tool("get", {"what": "client.py:1"})).is_error
        done = await client.call_tool("index_code", {}, progress_callback=progress)
        assert data_of(done)["files"] == 203
        assert all(total is not None and 0 <= at <= total for at, total in told)

    use_here(own, steps)


def test_reading_tools_change_nothing_of_the_users(asked: Asked):
    def files() -> dict[str, bytes | str]:
        return {name: what for name, what in everything_in(asked.path).items() if not name.startswith(".git")}

    before = files()

    async def steps(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            if tool.annotations and tool.annotations.read_only_hint:
                data_of(await client.call_tool(tool.name, CALLS[tool.name]))

    asked.use(steps)
    assert files() == before
    assert not (Path(asked.gitrag.environment["HOME"]) / ".gitrag").exists()
