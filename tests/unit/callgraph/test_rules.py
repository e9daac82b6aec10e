"""Calls that a rule makes: the source names a function, and another is expected to call it."""

from __future__ import annotations

import pytest

from gitrag.callgraph.graph import graph
from gitrag.callgraph.paths import shortest_paths
from gitrag.report.call_tree import CallTree
from tests.support.callgraphs import calls_of

CASES = {
    "csharp, a host calls methods of what it is given": (
        "a.cs",
        """
        public class Startup {
            public void ConfigureServices(I s) { }
            public void Configure(I a) { }
            public void Other() { }
        }
        public class Program { static void Main() { Host.Create(x).With(w => w.UseStartup<Startup>()); } }
        """,
        {"Program.Main ConfigureServices UseStartup", "Program.Main Configure UseStartup"},
    ),
    "csharp, what handles requests and what runs in the background": (
        "a.cs",
        """
        class Timed { public async Task InvokeAsync(C c) { } public void Own() { } }
        class Sync : BackgroundService { protected override Task ExecuteAsync(T t) { } }
        class P { void M() { app.UseMiddleware<Timed>(1); services.AddHostedService<Sync>(); } }
        """,
        {"P.M InvokeAsync UseMiddleware", "P.M ExecuteAsync AddHostedService"},
    ),
    "ruby": (
        "a.rb",
        """
        class Ctl
          before_action :load, only: :show
          rescue_from Bad, with: :failed
          def load; end
          def failed; load; end
        end
        """,
        {"Ctl load before_action", "Ctl failed rescue_from", "Ctl.failed load "},
    ),
    "javascript": (
        "a.js",
        """
        function save() {}
        function load() { save(); return save }
        app.get("/x(", save);
        app.get ("/y", [check, save]);
        button.onclick = save;
        const options = { "mounted": load };
        """,
        {
            "load save ",
            "<module> save app.get",
            "<module> save button.onclick",
            "<module> load mounted",
        },
    ),
    "tsx": (
        "a.tsx",
        "function save() {}\nexport function View() { return <b onClick={save}/>; }\n",
        {"View save onClick"},
    ),
    "php": (
        "a.php",
        """
        <?php
        class Plugin {
            function boot() { add_action('init', [$this, 'start']); }
            function start() {}
        }
        """,
        {"Plugin.boot start add_action"},
    ),
    "python": (
        "a.py",
        """
        import threading
        from flask import Flask
        app = Flask()

        @app.route("/")
        def index(): pass

        def work(): pass

        def go():
            threading.Thread(target=work)
            work()
        """,
        {"<module> index @app.route", "go work threading.Thread", "go work "},
    ),
    "go": (
        "a.go",
        """
        package a
        func show() {}
        func main() { http.HandleFunc("/", show); x := T{Run: show}; s.f = show; show() }
        """,
        {"main show http.HandleFunc", "main show Run", "main show s.f", "main show "},
    ),
    "csharp": (
        "a.cs",
        "class A { void On() {} void F() { Changed += On; new Thread(On); } }",
        {"A.F On Changed", "A.F On Thread"},
    ),
    "rust": (
        "a.rs",
        'fn show() {}\nfn main() { Router::new().route("/", get(show)); S { f: show }; }\n',
        {"main show get", "main show f"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", CASES)
def test_a_function_that_is_named_is_called_by_what_it_is_given_to(language):
    path, source, expected = CASES[language]
    calls = calls_of({path: source})
    edges = calls.callees([own for own, _ in calls.nodes()])
    found = {f"{e.caller.name} {e.callee.name.rpartition('.')[2]} {e.rule}" for e in edges}
    assert found == expected
    for edge in edges:
        assert edge.provenance == ("rule" if edge.rule else "resolved")
        assert edge.confidence < 1 or not edge.rule


CHAINS = """
def start(app):
    app.on("end", end)
    first()

def first():
    second()

def second():
    end()

def end():
    pass
"""


def _node(calls, name):
    return next(node for _, node in calls.nodes() if node.name == name)


@pytest.mark.parametrize(
    ("source", "lengths", "rules"),
    [(CHAINS, [3], set()), (CHAINS.replace("    end()\n", "    pass\n"), [1], {"app.on"})],
)
def test_a_chain_goes_by_a_rule_only_where_no_other_leads_there(source, lengths, rules):
    calls = calls_of({"a.py": source})
    found = shortest_paths(calls, [_node(calls, "start")], [_node(calls, "end")])
    assert [len(path) for path in found.shown] == lengths
    assert {edge.rule for edge in found.edges} - {""} == rules


def test_a_tree_says_the_rule():
    calls = calls_of({"a.rb": CASES["ruby"][1]})
    node = _node(calls, "Ctl.load")
    edges = calls.callers([own for own, each in calls.nodes() if each == node])
    lines = list(CallTree(graph([node], edges)).lines("load"))
    assert [line for line in lines if "by before_action" in line and "~" in line]
    assert not [line for line in lines if "Ctl.failed" in line and " by " in line]
