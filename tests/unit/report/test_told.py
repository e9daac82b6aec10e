"""What programs are told: one table says it, and a schema and the JSON are made by it."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import Annotated, get_args, get_origin

import pytest
from msgspec import UNSET, Struct, UnsetType

from gitrag.report import PRESENTED, told
from gitrag.report.schema import DOCUMENTS
from gitrag.report.told import TOLD, json_text, plain_data, shape_of


class Inner(Struct, frozen=True):
    """An inner one."""

    id: str
    path: str


class Outer(Struct, frozen=True):
    """An outer one.

    Attributes:
        score: How well.
        inner: What it is of.
        more: Others.
        note: What is to be said.
    """

    score: float
    inner: Inner | None
    more: tuple[Inner, ...] = ()
    note: str | UnsetType = UNSET


@pytest.fixture
def rows(monkeypatch):
    """A table of one's own."""

    def put(**own: str) -> None:
        names = {name: f"{Outer.__module__}.{name}" for name in ("Inner", "Outer")}
        monkeypatch.setattr(told, "TOLD", {names.get(name, name): row for name, row in own.items()})
        for each in (told._row, told._shape):
            each.cache_clear()

    yield put
    monkeypatch.undo()
    for each in (told._row, told._shape):
        each.cache_clear()


@pytest.mark.parametrize("name", [name for name in TOLD if "." in name])
def test_every_row_names_a_class_and_what_is_there(name):
    kind = pkgutil.resolve_name(f"gitrag.{name}")
    keys = [key.name for key in told._row(name)]
    assert list(shape_of(kind).__struct_fields__) == keys != []


def test_every_form_is_asked_for_and_every_form_asked_for_is_there():
    asked = {key.form for name in TOLD for key in told._row(name)} - {""}
    asked |= {
        get_args(kind)[1] for kinds in DOCUMENTS.values() for kind in kinds if get_origin(kind) is Annotated
    }
    asked |= {name for name in TOLD if name.endswith("Reply")}  # the tools ask for them
    assert asked == {name for name in TOLD if "." not in name}


def test_a_row_renames_rounds_reaches_in_and_leaves_out(rows):
    rows(Outer="how=score~ id=inner.id others=len(more) more@Path note?", Path="path")
    value = Outer(1 / 3, Inner("1", "a"), (Inner("2", "b"),))
    assert plain_data(value) == {"how": 0.3333, "id": "1", "others": 1, "more": [{"path": "b"}]}
    assert plain_data(Outer(1, None, note="x")) == {"how": 1, "id": "", "others": 0, "more": [], "note": "x"}
    shape = shape_of(Outer)
    assert shape.__struct_fields__ == ("how", "id", "others", "more", "note")
    assert "how: How well." in shape.__doc__


def test_without_a_row_all_is_told_and_texts_are_valid(rows):
    rows()
    inner = Inner("\udcff", "b")
    assert plain_data([Outer(1.23456, inner)]) == [
        {"score": 1.23456, "inner": {"id": "\N{REPLACEMENT CHARACTER}", "path": "b"}, "more": []}
    ]
    assert json_text({"a": Path("b")}) == '{\n  "a": "b"\n}'
    assert shape_of(Outer) is Outer


@pytest.mark.parametrize("name", PRESENTED)
def test_whatever_is_presented_has_words_for_a_terminal_and_as_markdown(name):
    module, *functions = PRESENTED[name]
    assert all(callable(getattr(import_module(f"gitrag.report.{module}"), each)) for each in functions)
