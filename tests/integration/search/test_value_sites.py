"""What gives a name its value where no chunk is named after it."""

from __future__ import annotations

import pytest

from gitrag.actions.search import SearchOptions, search
from gitrag.chunking.languages import is_code
from gitrag.search.verbatim import value_sites
from gitrag.store.source import IndexFile
from tests.support.indexes import of_texts, scoped

FILES = {
    "py/doors.py": """
        import os

        MAX_DOORS = 3
        lockTimeout: float = 2.5


        class Door:
            OPEN_BY_DEFAULT = True

            def open(self):
                LOCAL_ONLY = 1
                return MAX_DOORS, LOCAL_ONLY
        """,
    "py/uses.py": """
        from doors import MAX_DOORS, OPEN_BY_DEFAULT

        if MAX_DOORS == 3:
            print(MAX_DOORS, f(MAX_DOORS=1))
        Door = None
        """,
    "ts/doors.ts": """
        export const DEFAULT_HINGE: Hinge = { pins: 2 };
        let doorCount = 0;

        export interface Frame {
          hingeCount?: number;
        }

        export enum Side {
          LeftSide = 'l',
          RightSide = 'r',
        }
        """,
    "go/doors.go": """
        package doors

        const (
        \tMaxHinges = 4
        \tmaxPins uint = 8
        )

        type Latch struct {
        \tHoldTime time.Duration
        }
        """,
    "rs/doors.rs": """
        pub(crate) const HINGE_LIMIT: usize = 2;
        static mut DOOR_TOTAL: std::sync::AtomicU8 = AtomicU8::new(0);

        pub enum Swing {
            InSwing(u8),
            OutSwing,
        }
        """,
    "java/Doors.java": """
        class Doors {
          /** Like PIN_NAMES = x */
          private static final Map<String, Integer> PIN_NAMES = Map.of();
          int hingeTotal;
          void open() {
            int innerPin = 2;
            use(PIN_NAMES);
          }
        }
        """,
    "c/doors.h": """
        #define DOOR_API 1
        static const char *doorNames[] = { 0 };
        int use(int a);
        """,
    "rb/doors.rb": """
        module Doors
          SPRING_RATE = 1.5
        end
        """,
    "ex/doors.ex": """
        defmodule Doors do
          @hold_time 5
          def f, do: @hold_time
        end
        """,
    "php/doors.php": """
        <?php
        define('DOOR_PATH', 'x');
        class Doors {
          const LATCH_KIND = 1;
        }
        """,
    "sh/doors.sh": """
        export DOOR_HOME=/doors
        echo $DOOR_HOME
        """,
    "doors.json": '{"MAX_DOORS": 3}',
}
WHERE = {
    "MAX_DOORS": "py/doors.py",
    "lockTimeout": "py/doors.py",
    "OPEN_BY_DEFAULT": "py/doors.py",
    "DEFAULT_HINGE": "ts/doors.ts",
    "doorCount": "ts/doors.ts",
    "hingeCount": "ts/doors.ts",
    "LeftSide": "ts/doors.ts",
    "MaxHinges": "go/doors.go",
    "maxPins": "go/doors.go",
    "HoldTime": "go/doors.go",
    "HINGE_LIMIT": "rs/doors.rs",
    "DOOR_TOTAL": "rs/doors.rs",
    "InSwing": "rs/doors.rs",
    "OutSwing": "rs/doors.rs",
    "PIN_NAMES": "java/Doors.java",
    "hingeTotal": "java/Doors.java",
    "DOOR_API": "c/doors.h",
    "doorNames": "c/doors.h",
    "SPRING_RATE": "rb/doors.rb",
    "hold_time": "ex/doors.ex",
    "DOOR_PATH": "php/doors.php",
    "LATCH_KIND": "php/doors.php",
    "DOOR_HOME": "sh/doors.sh",
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    return of_texts(tmp_path_factory.mktemp("constants"), FILES)


def places(workspace, name: str) -> list[str]:
    with scoped(workspace) as (db, scope, paths):
        return [paths[row.file] for row in value_sites(IndexFile(db), scope, name, scope.chunk_id, is_code)]


@pytest.mark.parametrize("name", WHERE)
def test_a_name_is_where_it_is_given_a_value_or_a_type(workspace, name):
    assert places(workspace, name) == [WHERE[name]]


@pytest.mark.parametrize("name", ["LOCAL_ONLY", "innerPin", "missing", "Hinge", "MAX_DOORS)", "pins"])
def test_what_a_function_holds_uses_and_data_are_none(workspace, name):
    assert places(workspace, name) == []


def test_the_file_that_sets_a_constant_comes_first_with_that_line(workspace):
    first = search(workspace, "MAX_DOORS").hits[0]
    assert first.path == "py/doors.py"
    assert [line.text for line in first.snippet] == ["MAX_DOORS = 3"]


def test_what_is_defined_and_what_a_sentence_names_need_no_constant(workspace):
    def why(text: str, path: str) -> dict[str, float]:
        found = search(workspace, text, SearchOptions(limit=len(FILES), min_score=0.0))
        return dict(next(hit.reasons for hit in found.hits if hit.path == path))

    assert "defines" not in why("Door", "py/uses.py"), "it has Door = None, another file the class"
    assert "defines" not in why("where is MAX_DOORS set", "py/doors.py")
    for name in ("MAX_DOORS", "Door.OPEN_BY_DEFAULT"):
        assert "defines" in why(name, "py/doors.py")


def test_a_word_that_everything_has_says_nothing(tmp_path):
    many = {f"m{i}.py": f"SHARED_NAME = {i}\n" for i in range(21)}
    assert places(of_texts(tmp_path, many), "SHARED_NAME") == []
