"""The call graph of a repository as it is now, each blob parsed once, and what `gitrag graph` prints."""

from __future__ import annotations

import gc
import json
import os
from contextlib import contextmanager
from textwrap import dedent

import pytest
from msgspec.structs import replace

from gitrag.actions import current_view
from gitrag.actions.graph import NONE_LIKELY, TIMEOUT_S, call_graph, calling_files, graph_of
from gitrag.actions.search import SearchOptions, search
from gitrag.callgraph import answering
from gitrag.callgraph.answering import Direction, GraphQuestion, NoMatchError
from gitrag.callgraph.drawing import MOST_NODES
from gitrag.callgraph.loading import TimeoutReachedError
from gitrag.callgraph.paths import MOST_CALLS, MOST_PATHS
from gitrag.callgraph.resolution import ResolvedCalls
from gitrag.errors import DiskFullError, NotSetUpError
from gitrag.machine.log import close_log
from gitrag.report.beside_calls import MOST_LISTED
from gitrag.report.pictures.layout import MOST_DRAWN
from gitrag.store.connection import Store
from tests.support.command import Gitrag
from tests.support.indexes import of_texts, open_app
from tests.support.mermaid import assert_parses
from tests.support.repository import GitRepository, made_once, noting_git

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": "from shop.tax import rate\n\ndef total(items):\n    return rate() * len(items)\n",
    "shop/tax.py": "def rate():\n    return 1.2\n",
    "shop/view.py": (
        "from shop import cart\n\nclass Page:\n    def show(self):\n        return cart.total([])\n"
    ),
    "tool.nim": "proc main() = discard\n",
}


@pytest.fixture
def project(make_repository, git_environment, tmp_path):
    def make() -> GitRepository:
        repository = make_repository(FILES)
        open_app(repository).update()
        return repository

    return made_once("calls", tmp_path / "project", git_environment, make)


def edges(answer):
    return {f"{edge.caller.name} -> {edge.callee.name}" for edge in answer.graph.edges}


def test_callers_and_callees_to_any_depth(project):
    workspace = open_app(project)
    assert edges(call_graph(workspace, GraphQuestion("total"))) == {"Page.show -> total", "total -> rate"}
    assert edges(call_graph(workspace, GraphQuestion("rate", direction=Direction.CALLERS))) == {
        "total -> rate"
    }
    assert edges(call_graph(workspace, GraphQuestion("rate", direction=Direction.CALLERS, depth=2))) == {
        "total -> rate",
        "Page.show -> total",
    }
    assert edges(call_graph(workspace, GraphQuestion(filter="tax"))) == {"total -> rate"}
    assert edges(call_graph(workspace, GraphQuestion())) == {"Page.show -> total", "total -> rate"}
    assert edges(call_graph(workspace, GraphQuestion(), globs=["shop/tax.py", "shop/cart.py"])) == {
        "total -> rate"
    }


def test_only_changed_blobs_are_parsed(project):
    """Facts are cached by blob: unchanged content is never parsed twice."""
    workspace = open_app(project)
    assert call_graph(workspace, GraphQuestion()).made == 4
    assert call_graph(workspace, GraphQuestion()).made == 0
    project.write({"shop/tax.py": "def rate():\n    return base()\n\ndef base():\n    return 1\n"})
    dirty = call_graph(workspace, GraphQuestion("rate"))
    assert dirty.made == 1
    assert "rate -> base" in edges(dirty)
    project.commit()
    assert call_graph(workspace, GraphQuestion("rate")).made == 0  # the same bytes, committed


@pytest.mark.parametrize("is_removed", [False, True])
def test_an_index_that_another_process_moves_or_removes_is_read_as_it_is_then(
    project, monkeypatch, is_removed
):
    workspace, late = open_app(project), iter([0])
    own = current_view.refresh

    def overtaken(store, now, **options):
        refreshed = own(store, now, **options)
        for _ in late:
            project.commit({"shop/late.py": "from shop.tax import rate\n\ndef late():\n    rate()\n"})
            if is_removed:
                store.remove()
            else:
                open_app(project).update()
        return refreshed

    project.commit({"shop/early.py": "import shop.tax\n"})  # so that there is something to catch up with
    monkeypatch.setattr(current_view, "refresh", overtaken)
    assert edges(call_graph(workspace, GraphQuestion("rate"))) == {"total -> rate", "late -> rate"}
    assert next(late, None) is None


def test_what_was_inferred_is_let_go_of_at_once(project):
    """A server that draws many graphs would otherwise stop for seconds now and then, to collect them."""
    workspace = open_app(project)
    for ask in (
        lambda: call_graph(workspace, GraphQuestion()),
        lambda: calling_files(workspace, lambda _: True, timeout_s=60),
    ):
        ask()  # imports and caches
        gc.collect()
        gc.disable()
        try:
            ask()
            left = gc.collect()
        finally:
            gc.enable()
        assert left < 20


def test_what_is_asked_about_in_other_languages_is_named(project):
    """An answer that skips a file says so, or its absence would look like "no calls"."""
    about = [("tool.nim", ""), ("shop/tax.py", "python"), ("README.md", ""), ("bin/tool", "fish")]
    answer = call_graph(open_app(project), GraphQuestion(filter="tax"), about=about)
    assert answer.skipped == ("tool.nim", "bin/tool")


def test_manifests_and_path_aliases_are_read_as_they_are_now(make_repository):
    """They are no programs: only what is asked of calls reads them."""
    files = {
        "tools/knife/package.json": '{"name": "@acme/sharp", "main": "src/cut.ts"}',
        "tools/knife/src/cut.ts": "export function cut() {}\n",
        "app/main.ts": "import { cut } from '@acme/sharp'\nexport function main() { cut() }\n",
        "app/aliased.ts": "import { cut } from 'knife'\nexport function aliased() { cut() }\n",
    }
    repository = make_repository(files)
    workspace = open_app(repository)
    workspace.update()
    question = GraphQuestion("cut", direction=Direction.CALLERS)
    assert edges(call_graph(workspace, question)) == {"main -> cut"}
    aliases = '{"compilerOptions": {"paths": {"knife": ["../tools/knife/src/cut"]}}}'
    repository.write({"app/tsconfig.json": aliases})
    assert edges(call_graph(workspace, question)) == {"main -> cut", "aliased -> cut"}


def test_the_code_of_templates_is_read(make_repository):
    files = {
        "app/helpers/a_helper.rb": "module AHelper\n  def badge\n  end\nend\n",
        "app/views/show.html.erb": "<p><%= badge %></p>\n",
        "app/views/other.html": "<p><%= badge %></p>\n",
    }
    workspace = open_app(make_repository(files))
    workspace.update()
    found = call_graph(workspace, GraphQuestion("badge", direction=Direction.CALLERS))
    assert [edge.caller.path for edge in found.graph.edges] == ["app/views/show.html.erb"]
    assert call_graph(workspace, GraphQuestion("badge")).made == 0


@pytest.mark.parametrize(
    ("target", "callers"),
    [
        ("getFullName", {"templates/show.html.twig:1 ", "views/show.blade.php:2 "}),
        ("templates/_row.html.twig", {"templates/show.html.twig:2 include"}),
        ("templates/show.html.twig", {"src/Ctl.php:2 render"}),
    ],
)
def test_templates_of_php_call_and_are_called(make_repository, target, callers):
    files = {
        "src/User.php": "<?php\nclass User { function getFullName() {} }\n",
        "src/Ctl.php": "<?php\nclass Ctl { function show(User $it) { return $this->render('show.html.twig',"
        " ['it' => $it]); } }\n",
        "templates/show.html.twig": "{{ it.fullName }}\n{% include '_row.html.twig' %}\n",
        "templates/_row.html.twig": "{{ a.b }}\n",
        "views/show.blade.php": "<p>\n{{ $user->getFullName() }}</p>\n",
    }
    workspace = open_app(make_repository(files))
    workspace.update()
    found = call_graph(workspace, GraphQuestion(target, direction=Direction.CALLERS))
    assert {f"{each.caller.path}:{each.line} {each.rule}" for each in found.graph.edges} == callers


@pytest.mark.parametrize(
    ("target", "callers", "may"),
    [
        ("openDialog", ["src/A.vue:5", "src/B.svelte:3", "src/C.astro:3"], []),
        ("slow", ["a.py:6"], []),
        ("handle_a", ["a.py:17"], []),
        ("scaled", [], ["a.py:9"]),
        ("page", [], ["@app.route"]),
        ("check", [], ["@model_validator"]),
        ("listed", ["a.py:19"], []),
    ],
)
def test_calls_that_tools_of_this_kind_miss(missed, target, callers, may):
    found = call_graph(missed, GraphQuestion(target, direction=Direction.CALLERS))
    assert [f"{edge.caller.path}:{edge.line}" for edge in found.graph.edges] == callers
    known = [each.known for each in found.none if each.known is not None]
    assert [place for each in known for place in (*each.unresolved, *each.registered)] == may
    assert not any(each.is_without_caller for each in known)


MISSED = {
    "src/m.ts": "export function openDialog() { return 1; }\n",
    "src/A.vue": '<p/>\n<script setup lang="ts">\nimport { openDialog } from "./m";\n'
    "function show() {\n  openDialog();\n}\n</script>\n",
    "src/B.svelte": '<script lang="ts">\nimport { openDialog } from "./m";\n'
    "function show() { openDialog(); }\n</script>\n",
    "src/C.astro": '---\nimport { openDialog } from "./m";\nfunction show() { openDialog(); }\n---\n<p/>\n',
    "a.py": (
        "import asyncio, functools\n\n"
        "def slow(): pass\n\nasync def go():\n    await asyncio.to_thread(slow)\n"
        "def scaled(k, x): return k * x\ndef triple():\n    return functools.partial(scaled, 3)\n"
        "@app.route('/x')\ndef page(): return 1\n"
        "class M:\n    @model_validator(mode='after')\n    def check(self): return self\n"
        "class D:\n    def handle_a(self): pass\n"
        "    def run(self, x): return getattr(self, f'handle_{x}')()\n"
        "def listed(): pass\nTABLE = {'a': listed}\n"
    ),
}


@pytest.fixture(scope="module")
def missed(tmp_path_factory):
    return of_texts(tmp_path_factory.mktemp("missed"), MISSED)


def test_a_module_scopes_the_graph(make_repository):
    """Calls within the module, not those of the others."""
    source = "def keep():\n    store()\n\ndef store():\n    pass\n"
    files = {f"services/{name}/{name}.py": source for name in ("api", "web")}
    files |= {f"services/{name}/pyproject.toml": "" for name in ("api", "web")}
    files["pyproject.toml"] = '[tool.uv.workspace]\nmembers = ["services/*"]\n'
    workspace = open_app(make_repository(files))
    workspace.update()
    found = call_graph(workspace, GraphQuestion(), module="api")
    assert {node.path for node in found.graph.nodes} == {"services/api/api.py"}
    assert len(call_graph(workspace, GraphQuestion()).graph.edges) == 2


def test_a_script_without_a_suffix_is_a_program_too(make_repository):
    """Its first line says what it is."""
    script = (
        "#!/usr/bin/fish\n# Rotates the signing keys.\nfunction rotate_keys\n  mv key old\nend\nrotate_keys\n"
    )
    workspace = open_app(make_repository({"bin/rotate": script}))
    workspace.update()
    answer = search(workspace, "rotate the signing keys", SearchOptions(min_score=0.0))
    assert [hit.path for hit in answer.hits] == ["bin/rotate"]
    found = graph_of(workspace, answer)
    assert found is not None
    assert found.notes == (
        "Call graph generation skipped for bin/rotate (language not supported). Showing other results.",
    )


def test_what_fails_is_said_in_the_answer_and_its_traceback_is_in_the_log(project, monkeypatch, capfd):
    def deep(*_args):
        raise RecursionError("too deep")

    workspace = open_app(project)
    workspace.update()
    monkeypatch.setattr(answering, "answer", deep)
    close_log()  # that a server of another test has open
    found = call_graph(workspace, GraphQuestion())
    assert (found.graph, found.error) == (None, "Call graph generation failed: too deep")
    assert capfd.readouterr() == ("", "")
    assert "RecursionError: too deep" in (workspace.store.directory / "log").read_text()
    assert "Traceback" in (workspace.store.directory / "log").read_text()


def test_a_store_that_cannot_be_written_still_answers(project, monkeypatch):
    workspace = open_app(project)
    attempts = []

    @contextmanager
    def full(_self, purpose, **_options):
        attempts.append(purpose)
        raise DiskFullError("No space left on the disk.")
        yield

    monkeypatch.setattr(Store, "write", full)
    for _ in range(2):
        answer = call_graph(workspace, GraphQuestion("total"))
        assert edges(answer) == {"Page.show -> total", "total -> rate"}
        assert answer.made == 4
    assert attempts == ["keeping facts about calls"] * 2


def test_failures_are_said_in_the_answer(project):
    """A graph that cannot be drawn does not fail the command: the answer says why."""
    workspace = open_app(project)
    late = call_graph(workspace, GraphQuestion(), timeout_s=0)
    assert (late.graph, late.error) == (
        None,
        "Call graph generation timed out (0s). The codebase may be very large.",
    )
    none = call_graph(workspace, GraphQuestion(filter="nowhere"))
    assert none.graph is None
    assert none.error == "No call graph nodes matched the filter. Try a broader filter or path."
    with pytest.raises(NoMatchError, match='called "totl"') as caught:
        call_graph(workspace, GraphQuestion("totl"))
    assert "total" in caught.value.hint


def test_without_an_index_it_says_so(make_repository):
    with pytest.raises(NotSetUpError):
        call_graph(open_app(make_repository({"a.py": "x"})), GraphQuestion())


def gitrag(repository, *args):
    return Gitrag(repository.path, repository.environment)(*args)


def test_the_command_prints_text_mermaid_dot_and_json(project):
    done = gitrag(project, "graph", "total", "--callers", "--format", "text")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == [
        "called by 1 function",
        "┌─ Page.show  shop/view.py:5",
        "function total  shop/cart.py:3-4",
    ]
    drawn = gitrag(project, "graph", "total")
    assert drawn.out.startswith("graph TD\n")
    assert gitrag(project, "graph", "--format", "dot").out.startswith("digraph")
    value = json.loads(gitrag(project, "graph", "total", "--format", "json").out)
    assert len(value["edges"]) == 2
    assert_parses([drawn.out, gitrag(project, "graph").out])


def test_the_command_says_what_it_did_not_find(project):
    wrong = gitrag(project, "graph", "totl")
    assert (wrong.status, wrong.out) == (1, "")
    assert wrong.said == [
        'Nothing in the call graph is called "totl".',
        "hint: Did you mean total?",
    ]
    other = gitrag(project, "graph", "tool.nim")
    assert other.status == 1
    assert "Call graph generation skipped for tool.nim (language not supported)." in other.err
    assert gitrag(project, "graph", "--callers").status == 2
    assert gitrag(project, "graph", "--filter", "(").status == 2


def test_a_negative_says_what_was_looked_at(project):
    """ "no caller found" was said of what is called where nobody had looked."""
    project.write(
        {
            "shop/tax.py": "def rate():\n    return 1.2\n\n\ndef lonely():\n    pass\n",
            "tool.nim": "proc main() =\n  lonely()\n",
            "deep.py": "lonely" + "(" * 1000 + ")" * 1000 + "\n",
            "vendor/x.py": "lonely()\n",
            ".gitattributes": "vendor/** linguist-vendored\n",
            "README.md": "Call `lonely`, not `lonelyx`.\n",
        }
    )
    project.commit()
    done = gitrag(project, "graph", "lonely", "--callers", "--format", "text")
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[0] == (
        "unresolved in 3 places: deep.py:1, tool.nim:2, vendor/x.py:1; no call resolved in 4 files;"
        " 1 textual mention in README.md:1"
    )
    assert lines[-1] == (
        "Not looked at: 1 file could not be read; 1 file in languages without a call graph (nim);"
        " 1 file left out of the index."
    )
    drawn = gitrag(project, "graph", "lonely", "--callees")
    assert drawn.err.splitlines()[-2] == "lonely: no call found in it to a definition in 4 files"
    some = gitrag(project, "graph", "lonely", "--callers", "--path", "shop/tax.py", "--format", "text")
    assert some.out.splitlines()[0].startswith("unresolved in 3 places: ")


def test_only_files_in_languages_that_could_call_it_are_counted(make_repository):
    """A call of a Python function is not looked for in TypeScript."""
    files = {
        "a.py": "def alone():\n    pass\n",
        "b.ts": "function first() { second() }\nfunction second() {}\n",
        "c.js": "first()\n",
    }
    workspace = open_app(make_repository(files))
    workspace.update()
    (said, _) = call_graph(workspace, GraphQuestion("alone")).negatives
    assert said == "alone: no caller in 1 file in python"
    (said,) = call_graph(workspace, GraphQuestion("b.ts", direction=Direction.CALLERS)).negatives
    assert said == (
        "b.ts: unresolved in 1 place: c.js:1; no call resolved in 2 files in javascript and typescript"
    )


def test_who_makes_instances_of_a_class_is_among_its_callers(make_repository):
    """They call its constructor, so that the class itself seemed to have no caller."""
    files = {
        "a.py": "class Own:\n    def __init__(self):\n        pass\n\n\nclass Without:\n    x = 1\n",
        "b.py": "from a import Own, Without\n\n\ndef f():\n    Own()\n\n\ndef g():\n    Without()\n",
        "c.ts": "export class Shop { constructor() {} }\nexport function open() { return new Shop() }\n",
    }
    workspace = open_app(make_repository(files))
    workspace.update()
    for name, expected in (
        ("Own", {"f -> Own.__init__"}),
        ("Without", {"g -> Without"}),
        ("Shop", {"open -> Shop.constructor"}),
    ):
        found = call_graph(workspace, GraphQuestion(name, direction=Direction.CALLERS))
        assert edges(found) == expected
        assert found.negatives == ()


def test_a_class_stands_for_its_methods(make_repository):
    """ "No caller" was said of a class whose methods are called; its own calls are its own affair."""
    files = {
        "shop.py": (
            "class Shop:\n    def open(self):\n        self.light()\n\n"
            "    def light(self):\n        lamp()\n\n\n"
            "class Shopper:\n    def buy(self):\n        pass\n\n\ndef lamp():\n    pass\n"
        ),
        "day.py": "from shop import Shop\n\n\ndef morning(shop: Shop):\n    shop.open()\n",
        "test_day.py": "from shop import Shop\n\n\ndef test_open():\n    Shop().open()\n",
    }
    repository = make_repository(files)
    workspace = open_app(repository)
    workspace.update()
    found = call_graph(workspace, GraphQuestion("Shop"))
    assert {"morning -> Shop.open", "Shop.light -> lamp", "Shop.open -> Shop.light"} <= edges(found)
    assert "Shopper.buy" not in {node.name for node in found.graph.nodes}
    assert found.negatives == ()
    done = gitrag(repository, "graph", "Shop", "--format", "text")
    assert done.out.splitlines() == [
        "1 test calls it; --tests shows it",
        "called by 1 function",
        "┌─ morning  day.py:5  → open",
        "class Shop  shop.py:1-6  2 definitions in it",
        "└─ lamp  shop.py:14  in light",
        "calls 1 function",
        "1 call among its own 3 definitions not listed",
    ]
    shown = gitrag(repository, "graph", "Shop", "--callers", "--tests", "--format", "text").out.splitlines()
    assert shown[:2] == ["1 test calls it", "┌─ test_open  test_day.py:5  → open"]
    of_test = gitrag(repository, "graph", "test_open", "--format", "text").out.splitlines()
    assert "calls 1 function" in of_test or "calls 2 functions" in of_test


def test_methods_in_files_beside_their_type_belong_to_it(make_repository):
    """As Go and Rust have them; a class of the same name elsewhere has its own."""
    files = {
        "shop/shop.go": "package shop\n\ntype Shop struct{}\n\nfunc Run(s *Shop) { s.Open() }\n",
        "shop/open.go": "package shop\n\nfunc (s *Shop) Open() { Lamp() }\n\nfunc Lamp() {}\n",
        "go.mod": "module x\n",
    }
    workspace = open_app(make_repository(files))
    workspace.update()
    found = edges(call_graph(workspace, GraphQuestion("Shop")))
    assert found == {"Run -> Shop.Open", "Shop.Open -> Lamp"}


CHAIN = {
    "a.py": (
        "def start():\n    left()\n    right()\n    long()\n\n\ndef left():\n    end()\n\n\n"
        "def right():\n    end()\n\n\ndef long():\n    longer()\n\n\ndef longer():\n    end()\n\n\n"
        "def end():\n    pass\n\n\ndef alone():\n    pass\n"
    )
}


def test_the_shortest_chains_of_calls_between_two_definitions(make_repository):
    repository = make_repository(CHAIN)
    workspace = open_app(repository)
    workspace.update()
    found = call_graph(workspace, GraphQuestion("start"), to="end")
    chains = [[edge.callee.name for edge in path] for path in found.paths]
    assert chains == [["left", "end"], ["right", "end"]]
    assert edges(found) == {"start -> left", "start -> right", "left -> end", "right -> end"}
    done = gitrag(repository, "graph", "start", "--to", "end", "--format", "text")
    assert done.status == 0
    assert done.out.splitlines() == [
        *("start  a.py:2", "→ left  a.py:8", "→ end  a.py:23", ""),
        *("start  a.py:3", "→ right  a.py:12", "→ end  a.py:23", ""),
        "2 shortest chains of 2 calls",
    ]
    back = gitrag(repository, "graph", "end", "--to", "start", "--format", "text")
    assert (back.status, back.out) == (1, "")
    said = "No chain of up to 20 calls from end to start in 1 file. The other way there is one of 2 calls:"
    assert back.said == [f"{said} gitrag graph start --to end"]
    none = gitrag(repository, "graph", "start", "--to", "alone", "--format", "html")
    assert (none.status, none.out) == (1, "")
    assert gitrag(repository, "graph", "start", "--to", "nowhere").said[0] == (
        'Nothing in the call graph is called "nowhere".'
    )
    assert gitrag(repository, "graph", "--to", "end").status == 2


def test_more_chains_than_are_shown_are_counted(make_repository):
    steps = "".join(f"def step{n}():\n    end()\n\n\n" for n in range(8))
    calls = "".join(f"    step{n}()\n" for n in range(8))
    workspace = open_app(make_repository({"a.py": f"def start():\n{calls}\n\n{steps}def end():\n    pass\n"}))
    workspace.update()
    found = call_graph(workspace, GraphQuestion("start"), to="end")
    assert (len(found.paths), found.chains.left_out) == (5, 3)


def test_all_calls_on_a_terminal_are_lines_not_a_diagram(project):
    """A block of Mermaid is for renderers."""
    listed = Gitrag(project.path, project.environment).on_terminal("--color", "never", "graph").out
    assert "graph TD" not in listed
    assert "3  total → rate" in listed
    assert "2 calls between 3 definitions" in listed


def test_tests_within_a_file_are_told_from_the_product(make_repository):
    """Rust has them beside what they test."""
    source = (
        "pub fn open() {}\n\npub fn run() { open() }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n"
        "    #[test]\n    fn opens() { open() }\n}\n\npub fn later() { open() }\n"
    )
    repository = make_repository({"src/lib.rs": source, "Cargo.toml": '[package]\nname = "x"\n'})
    open_app(repository).update()
    lines = gitrag(repository, "graph", "open", "--callers", "--format", "text").out.splitlines()
    assert lines[:4] == [
        "1 test calls it; --tests shows it",
        "called by 2 functions",
        "┌─ run  src/lib.rs:3",
        "├─ later  src/lib.rs:13",
    ]


def test_a_language_without_a_query_is_named_once(project):
    about = [(f"tool{n}.nim", "") for n in range(3)] + [("bin/tool.fish", "")]
    answer = call_graph(open_app(project), GraphQuestion(filter="tax"), about=about)
    assert answer.remarks == (
        "Call graph generation skipped for bin/tool.fish (language not supported). Showing other results.",
        "Call graph generation skipped for tool0.nim (language not supported). Showing other results.",
        "The same holds for 2 more files in nim.",
    )


def test_the_help_names_the_limits(project):
    assert TIMEOUT_S == 30
    said = " ".join(gitrag(project, "graph", "--help").out.split())
    for limit in (
        f"takes {TIMEOUT_S:.0f} s at most",
        f"mermaid draws {MOST_NODES} definitions, html {MOST_DRAWN}",
        f"{MOST_PATHS} chains of up to {MOST_CALLS} calls",
        f"text {MOST_LISTED} references of a kind",
    ):
        assert limit in said


def test_a_graph_is_whole(make_repository):
    """Of 250 definitions the calls of 200 were followed, of 61 matches no callers were looked for."""
    files = {"z.py": "def last():\n    pass\n"}
    files |= {
        f"m{number}.py": f"from z import last\n\n\ndef f{number:03}():\n    last()\n" for number in range(250)
    }
    files["a.py"] = "import m7\n\n\ndef use():\n    m7.f007()\n"
    files["empty.py"] = "x = 1\n"
    repository = make_repository(files)
    open_app(repository).update()
    workspace = open_app(repository)
    to_last = {f"f{number:03} -> last" for number in range(250)}
    whole = call_graph(workspace, GraphQuestion())
    assert edges(whole) == to_last | {"use -> f007"}
    assert whole.negatives == ()
    written = json.loads(gitrag(repository, "graph", "--format", "json").out)
    assert len(written["edges"]) == 251
    assert set(written["files"]) == files.keys()
    assert edges(call_graph(workspace, GraphQuestion(filter="^f"))) == to_last | {"use -> f007"}
    deep = call_graph(workspace, GraphQuestion("z.py", direction=Direction.CALLERS, depth=3))
    assert edges(deep) == to_last | {"use -> f007"}
    assert f"{252 - 20} nodes omitted" in gitrag(repository, "graph").out


def test_a_graph_that_the_time_was_too_short_for_says_what_is_missing(project, monkeypatch):
    """The steps that were taken are the answer, with what was not followed."""
    workspace = open_app(project)

    def late(*_args):
        raise TimeoutReachedError

    monkeypatch.setattr(ResolvedCalls, "callers", late)
    some = call_graph(workspace, GraphQuestion("total"))
    assert edges(some) == {"total -> rate"}
    assert some.negatives[0] == "Callers of any of the 1 definitions that match were not looked for."
    assert call_graph(workspace, GraphQuestion("total", direction=Direction.CALLERS)).graph is None


SHOP = {
    "shop/retry.py": """
        import shop.clock

        def backoff(attempt):
            return shop.clock.pause(2 ** attempt)

        def retry(call):
            backoff(1)
            return call()
    """,
    "shop/clock.py": "def pause(seconds):\n    return tick(seconds)\n\ndef tick(n):\n    return n\n",
    "shop/api.py": "from shop.retry import retry\n\ndef get():\n    retry(parse)\n\ndef parse():\n    pass\n",
    "shop/sockets.py": "def read_retry_url():\n    write_url()\n\ndef write_url():\n    pass\n",
    "tests/test_retry.py": "from shop.retry import backoff\n\ndef test_it():\n    backoff(2)\n",
}


def test_the_graph_of_a_search_is_about_what_it_found(make_repository):
    """Names that the filter happens to match were drawn, and nothing of the best files."""
    workspace = open_app(make_repository({path: dedent(text) for path, text in SHOP.items()}))
    workspace.update()
    answer = search(workspace, "backoff retry", SearchOptions(min_score=0.0, limit=1))
    assert [hit.path for hit in answer.hits] == ["shop/retry.py"]
    found = graph_of(workspace, answer)
    assert "retry" in found.filter
    drawn = {(path, name, callees) for path, name, callees in found.calls}
    assert ("shop/retry.py", "backoff", ("pause",)) in drawn
    assert {path for path, _, _ in drawn} == {"shop/retry.py", "shop/api.py", "tests/test_retry.py"}
    assert "tick" not in found.mermaid
    assert "url" not in found.mermaid


def test_the_graph_of_a_search_is_of_the_files_that_it_looked_at(make_repository, tmp_path):
    """git is asked once for both; a graph of its own is of the files as they are then."""
    repository = make_repository({path: dedent(text) for path, text in SHOP.items()}, indexed=True)
    directory, asked = noting_git(tmp_path / "bin")
    repository.environment["PATH"] = f"{directory}:{os.environ['PATH']}"
    workspace = open_app(repository)
    answer = search(workspace, "backoff retry", SearchOptions(min_score=0.0, limit=1, with_issues=True))
    assert graph_of(workspace, answer).calls
    assert asked().count("status") == 1
    assert graph_of(workspace, answer, SearchOptions(ref="HEAD")).calls
    assert asked().count("status") == 1
    repository.write({"shop/new.py": "from shop.retry import retry\n\ndef anew():\n    retry(1)\n"})
    found = call_graph(workspace, GraphQuestion(target="retry")).graph
    assert "anew" in {node.name for node in found.nodes}


def test_the_graph_of_a_search_is_of_a_file_that_has_changed_again(make_repository):
    """What the search looked at is gone, and its calls were not read yet."""
    repository = make_repository({path: dedent(text) for path, text in SHOP.items()}, indexed=True)
    text = (repository.path / "shop/retry.py").read_text()
    repository.write({"shop/retry.py": text + "\n\ndef once(): pass\n"})
    workspace = open_app(repository)
    answer = search(workspace, "backoff retry", SearchOptions(min_score=0.0, limit=1, with_issues=True))
    repository.write({"shop/retry.py": text + "\n\ndef twice(): pass\n"})
    found = graph_of(workspace, answer)
    assert found.error is None
    assert found.calls


def test_the_graph_of_a_report_is_about_what_likely_answers(make_repository):
    """Without tests, which it counts, and only where some code is likely."""
    workspace = open_app(make_repository({path: dedent(text) for path, text in SHOP.items()}))
    workspace.update()
    answer = search(workspace, "backoff retry", SearchOptions(min_score=0.0, limit=1))
    [best] = answer.hits
    backoff = next(each for each in (best.chunk, *(own for own, _ in best.also)) if each.name == "backoff")
    likely = replace(best, chunk=backoff)
    section = next(each for each in answer.sections if each.hits)

    def drawn(*hits):
        return graph_of(workspace, replace(answer, sections=(replace(section, hits=hits),)), asked_for=False)

    found = drawn(replace(likely, score=0.9))
    calls = {(name, callees) for _, name, callees in found.calls}
    assert calls == {("backoff", ("pause",)), ("retry", ("backoff",))}
    assert "%% Left out: 1 test that call them." in found.mermaid
    assert "test_it" not in found.mermaid
    beside = drawn(replace(likely, score=0.9), replace(best, path="shop/sockets.py", score=0.1))
    assert (beside.filter, beside.calls) == (found.filter, found.calls)
    unlikely = drawn(replace(likely, score=0.1))
    assert (unlikely.mermaid, unlikely.error) == (None, NONE_LIKELY)


def test_nothing_is_drawn_where_what_was_found_has_no_calls(make_repository):
    files = {
        "alone.py": "def lonely_backoff():\n    pass\n",
        "other.py": "def backoff_caller():\n    backoff()\n\ndef backoff():\n    pass\n",
    }
    workspace = open_app(make_repository(files))
    workspace.update()
    answer = search(workspace, "lonely backoff", SearchOptions(min_score=0.0, limit=1))
    assert [hit.path for hit in answer.hits] == ["alone.py"]
    found = graph_of(workspace, answer)
    assert (found.mermaid, found.calls) == (None, ())
    assert found.error == (
        "No call graph nodes matched the filter. Try broadening your search term or use --unfiltered."
    )


def test_what_only_looks_like_a_file_is_not_called_a_language(project):
    done = gitrag(project, "graph", "Session.zig")
    assert done.err.splitlines()[0] == 'Nothing in the call graph is called "Session.zig".'
    project.commit({"deep.py": "x" + "(" * 1000 + ")" * 1000 + "\n"})
    done = gitrag(project, "graph", "deep.py")
    assert done.err.splitlines()[0] == (
        "deep.py could not be read for the call graph: its brackets nest too deep."
    )


def test_the_worker_makes_the_facts_before_anybody_asks(project):
    assert gitrag(project, "hook", "run", "worker").status == 0
    assert call_graph(open_app(project), GraphQuestion()).made == 0
    project.write({"shop/tax.py": "def rate():\n    return base()\n\ndef base():\n    return 1\n"})
    project.commit()
    assert gitrag(project, "hook", "run", "worker").status == 0
    answer = call_graph(open_app(project), GraphQuestion("rate"))
    assert answer.made == 0
    assert "rate -> base" in edges(answer)


def test_the_files_that_call_a_file_are_known_until_the_time_is_over(project):
    workspace = open_app(project)
    found, is_all = calling_files(workspace, lambda _path: True, timeout_s=60)
    assert is_all
    assert found == {
        callee: {edge.caller.path for edge in every if edge.callee.path == callee} - {callee}
        for every in [call_graph(workspace, GraphQuestion()).graph.edges]
        for callee in {edge.callee.path for edge in every if edge.callee.path != edge.caller.path}
    }
    assert calling_files(workspace, lambda _path: False, timeout_s=60) == ({}, True)
    assert calling_files(workspace, lambda _path: True, timeout_s=-1) == ({}, False)
