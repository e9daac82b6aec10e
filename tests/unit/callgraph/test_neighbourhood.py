"""The calls around what a search has found."""

from __future__ import annotations

from gitrag.callgraph.neighbourhood import Place, around
from tests.support.callgraphs import calls_of

FILES = {
    "lib/builder.rb": """\
        module Rack
          class Builder
            def use(app)
              generate(app)
            end

            def generate(app)
              app
            end
          end
        end
    """,
    "test/spec_builder.rb": """\
        def builder(app)
          app.call
        end

        describe Rack::Builder do
          builder(1)
        end
    """,
}


def drawn(*places):
    graph = around(calls_of(FILES), places, lambda _path: True)
    return {f"{edge.caller.name} -> {edge.callee.name}" for edge in graph.edges}, graph


def test_a_class_without_calls_of_its_own_stands_for_its_methods():
    """Nothing of a class that was found was drawn: its methods make the calls."""
    edges, graph = drawn(Place("lib/builder.rb", 2, 2, is_named=True))
    assert edges == {"Rack.Builder.use -> Rack.Builder.generate"}
    assert {node.name for node in graph.matches} == {"Rack.Builder.use", "Rack.Builder.generate"}


def test_of_a_class_and_its_method_the_method_is_meant():
    edges, _ = drawn(
        Place("lib/builder.rb", 2, 2, is_named=True), Place("lib/builder.rb", 7, 9, is_named=True)
    )
    assert edges == {"Rack.Builder.use -> Rack.Builder.generate"}


def test_of_the_code_outside_definitions_only_the_calls_on_the_lines_found_count():
    assert drawn(Place("test/spec_builder.rb", 5, 5, is_named=True))[0] == set()
    assert drawn(Place("test/spec_builder.rb", 5, 7, is_named=True))[0] == {"<module> -> builder"}
    assert drawn(Place("test/spec_builder.rb", 5, 5))[0] == {"<module> -> builder"}
