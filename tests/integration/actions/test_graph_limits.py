"""What a call graph leaves out because it is doubtful, or too much, is said with the answer."""

from __future__ import annotations

import json

from gitrag.actions.graph import call_graph
from gitrag.actions.graph_answer import GraphAnswer
from gitrag.callgraph.answering import GraphQuestion
from gitrag.callgraph.drawing import as_mermaid
from gitrag.report.told import json_text
from tests.support.command import Gitrag
from tests.support.indexes import open_app

OVERRIDES = 60
DEEP = 230


def plugins(number):
    classes = "".join(
        f"class Plugin{i}(Base):\n    def run(self):\n        return {i}\n\n\n" for i in range(number)
    )
    return (
        "class Base:\n    def run(self):\n        return 0\n\n\n"
        f"{classes}def start(plugin: Base):\n    return plugin.run()\n"
    )


def test_doubtful_calls_and_overrides_that_are_not_looked_at_are_said(make_repository):
    repository = make_repository({"shop/plugins.py": plugins(OVERRIDES)})
    workspace = open_app(repository)
    workspace.update()
    graph = call_graph(workspace, GraphQuestion("start")).graph
    assert [edge.callee.name for edge in graph.edges] == ["Base.run"]
    said = (
        "Left out as too doubtful (confidence below 0.5): 40 calls.",
        "Looked at: of the overrides of a method, only 40 (Base.run).",
    )
    assert graph.followed.notes == said
    for sentence in said:
        assert f"%% {sentence}" in as_mermaid(graph)
    assert json.loads(json_text(GraphAnswer(None, graph)))["left_out"] == list(said)
    done = Gitrag(repository.path, repository.environment)("graph", "start", "--format", "text")
    for sentence in said:
        assert sentence in done.out + done.err


def test_few_overrides_are_shown_and_nothing_is_said(make_repository):
    repository = make_repository({"shop/plugins.py": plugins(3)})
    workspace = open_app(repository)
    workspace.update()
    graph = call_graph(workspace, GraphQuestion("start")).graph
    assert len(graph.edges) == 4
    assert graph.followed.notes == ()


def test_ancestors_that_are_not_looked_at_are_said_in_other_languages_too(make_repository):
    chain = "".join(f"class C{i} extends C{i - 1} {{}}\n" for i in range(1, DEEP))
    java = (
        f"class C0 {{ void run() {{}} }}\n{chain}class Use {{ void go() {{ new C{DEEP - 1}().run(); }} }}\n"
    )
    python = "class C0:\n    def run(self):\n        return 1\n\n\n" + "".join(
        f"class C{i}(C{i - 1}):\n    pass\n\n\n" for i in range(1, DEEP)
    )
    python += f"def go():\n    return C{DEEP - 1}().run()\n"
    repository = make_repository({"Use.java": java, "use.py": python})
    workspace = open_app(repository)
    workspace.update()
    for target, most in (("Use.go", 200), ("use.py:go", 100)):
        notes = call_graph(workspace, GraphQuestion(target)).graph.followed.notes
        assert any(
            each.startswith(f"Looked at: of what a class inherits from, only the nearest {most} classes (C")
            for each in notes
        ), (target, notes)
