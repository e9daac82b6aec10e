"""Calls between repositories, where one of them cannot be read."""

from __future__ import annotations

from gitrag.actions.repositories.calls import calls_elsewhere
from gitrag.actions.repositories.chosen import Chosen
from gitrag.report.beside_calls import elsewhere_lines
from gitrag.workspace import Workspace
from tests.support.indexes import open_app

OWN = {"pyproject.toml": '[project]\nname = "till"\n', "till/__init__.py": "def pay():\n    pass\n"}
USING = {"a.py": "from till import pay\n\n\ndef order():\n    pay()\n"}


def test_a_definition_of_a_submodule_is_found_and_who_calls_it(make_repository):
    own = make_repository(
        {"app.py": "from lib.core import shared\n\n\ndef run():\n    shared()\n"}, name="own"
    )
    inner = own.path / "lib"
    inner.mkdir()
    own.git("init", "-q", str(inner))
    (inner / "core.py").write_text("def shared():\n    pass\n")
    own.git("-C", str(inner), "add", ".")
    own.git("-C", str(inner), "commit", "-qm", "One")
    workspace = open_app(own)
    other = Workspace.open(inner, environ=own.environment)
    for each in (workspace, other):
        each.update()
    chosen = [Chosen("lib", inner, other.repo.common_dir)]
    found, notes = calls_elsewhere(workspace, "shared", chosen, lambda _each: other)
    assert not notes
    assert [each for each in elsewhere_lines(found) if each] == [
        "lib is called by it",
        "   it is defined in lib: core.py:1",
        "   app.py:5 run calls lib:core.py:1 shared",
    ]


def test_what_one_repository_fails_at_ends_no_others_answer(make_repository):
    own = open_app(make_repository(OWN, name="till"))
    opened = {}
    chosen = []
    for name in ("broken", "using", "last"):
        workspace = open_app(make_repository(USING, name=name))
        workspace.update()
        opened[name] = workspace
        chosen.append(Chosen(name, workspace.repo.root, workspace.repo.common_dir))
    own.update()

    def open_(each):
        if each.name == "broken":
            return b"caf\xe9".decode("ascii")
        return opened[each.name]

    found, notes = calls_elsewhere(own, "pay", chosen, open_)
    assert [each.repository for each in found] == ["using", "last"]
    assert [each for each in notes if each.startswith("Not looked at: broken: UnicodeDecodeError: ")]
