"""Calls between repositories, where one of them cannot be read."""

from __future__ import annotations

from gitrag.actions.repositories.calls import calls_elsewhere
from gitrag.actions.repositories.chosen import Chosen
from tests.support.indexes import open_app

OWN = {"pyproject.toml": '[project]\nname = "till"\n', "till/__init__.py": "def pay():\n    pass\n"}
USING = {"a.py": "from till import pay\n\n\ndef order():\n    pay()\n"}


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

    found = calls_elsewhere(own, "pay", chosen, open_)
    assert [each.repository for each in found.found] == ["using", "last"]
    assert [each for each in found.notes if each.startswith("Not looked at: broken: UnicodeDecodeError: ")]
