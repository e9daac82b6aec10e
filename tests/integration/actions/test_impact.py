"""Who calls what a change touches, or what a file defines: in reviews, in checks, and in their answers."""

from __future__ import annotations

import json
import re

import pytest

from gitrag.actions import impact as impact_action
from gitrag.actions.governance.change_impact import change_impact, reviewing
from gitrag.actions.governance.check import check
from gitrag.actions.impact import callers_from_outside, callers_of_change
from gitrag.git.difference import changed_files, changed_lines
from gitrag.report.governance import review_markdown
from tests.support.command import PATIENCE_S, Gitrag, Project
from tests.support.indexes import open_app
from tests.support.mcp_client import data_of, text_of, use

FILES = {
    "shop/__init__.py": "",
    "shop/tax.py": (
        "BASE = 1.2\n\n\ndef rate(country):\n    value = BASE\n    return value\n\n\n"
        "def unused():\n    return 0\n\n\n"
        "class Table:\n    width = 3\n\n    def row(self):\n        return self.cell()\n\n"
        "    def cell(self):\n        return self.width\n\n\ndef gone():\n    return 'a few more words'\n"
    ),
    "shop/cart.py": (
        "from shop.tax import Table, rate\n\n\ndef total(items):\n    return rate('de') * len(items)\n\n\n"
        "def shown():\n    return Table().row()\n"
    ),
    "shop/view.py": "from shop import tax\n\n\ndef page():\n    return tax.rate('fr')\n",
    "tests/test_tax.py": "from shop.tax import rate\n\n\ndef test_rate():\n    assert rate('de') == 1.2\n",
    "tool.nim": "proc main() = discard\n",
    "notes.md": "# Notes\n\nAbout the tax.\n",
}


@pytest.fixture
def project(make_repository, monkeypatch):
    monkeypatch.setattr(impact_action, "TIMEOUT_S", PATIENCE_S)  # nothing is timed here
    return make_repository(FILES, indexed=True)


def gitrag(repository, *args):
    return Gitrag(repository.path, repository.environment)(*args)


def found_in(impact):
    return {
        each.node.name: (
            sorted(edge.caller.name for edge in each.callers),
            sorted(edge.caller.name for edge in each.tests),
        )
        for each in impact.called
    }


def test_callers_of_what_a_change_touches_are_found_and_tests_are_apart(project):
    text = FILES["shop/tax.py"].replace("value = BASE", "value = BASE + 1").replace("return 0", "return 9")
    project.write({"shop/tax.py": text})
    workspace = open_app(project)
    impact = change_impact(workspace, reviewing("HEAD")).impact
    assert found_in(impact) == {"rate": (["page", "total"], ["test_rate"])}
    assert [node.name for node in impact.uncalled] == ["unused"]
    assert impact.called[0].files == 2
    assert impact.definitions == 2
    assert "1 file in languages without a call graph (nim)" in " ".join(impact.left_out)


def test_a_change_in_a_method_is_not_one_of_its_class_but_one_in_the_class_is(project):
    project.write(
        {"shop/tax.py": FILES["shop/tax.py"].replace("return self.cell()", "return self.cell() + 1")}
    )
    workspace = open_app(project)
    files = changed_files(workspace.repo, "HEAD")
    assert found_in(callers_of_change(workspace, "HEAD", files)) == {"Table.row": (["shown"], [])}
    project.write({"shop/tax.py": FILES["shop/tax.py"].replace("width = 3", "width = 4")})
    files = changed_files(workspace.repo, "HEAD")
    assert found_in(callers_of_change(workspace, "HEAD", files)) == {"Table": (["shown"], [])}


def test_what_was_removed_or_has_changed_since_is_said(project):
    text = FILES["shop/tax.py"].partition("def gone")[0].replace("value = BASE", "value = 2")
    old = "from shop import tax\n\n\ndef f():\n    return tax.gone()\n"
    project.write({"shop/old.py": old})
    project.commit(message="before")
    project.write({"shop/tax.py": text})
    project.commit(message="change")
    found = change_impact(open_app(project), reviewing("HEAD~1..HEAD"))
    assert [(each.name, each.still_named) for each in found.removed] == [("gone", ("shop/old.py:5",))]
    assert "removed; 1 line elsewhere still has its name\n  shop/old.py:5\n" in review_markdown(found)
    assert "rate" in found_in(found.impact)
    project.write({"shop/tax.py": "# new first line\n" + text})
    impact = change_impact(open_app(project), reviewing("HEAD~1..HEAD")).impact
    assert impact.called == ()
    assert any("1 file of the change differs" in each for each in impact.left_out)


def test_what_was_not_compared_is_said_and_removed_tests_are_looked_for_last(project):
    tests = "".join(f"def test_number_{i}():\n    assert {i}\n\n\n" for i in range(20))
    project.write({"a/tests/test_many.py": tests, "big.py": f"# {'x' * 200}\n" * 5_500})
    project.write({"shop/old.py": "from shop import tax\n\n\ndef f():\n    return tax.gone()\n"})
    project.commit(message="before")
    project.write({"a/tests/test_many.py": "", "shop/tax.py": FILES["shop/tax.py"].partition("def gone")[0]})
    project.write({"big.py": f"# {'y' * 200}\n" * 5_500})
    found = change_impact(open_app(project), reviewing("HEAD"))
    assert [each.name for each in found.removed if each.named] == ["gone"]
    assert any("1 file of code could not be compared" in each for each in found.impact.left_out)


TWINS = {
    f"shop/{name}.py": (
        f"class {name.title()}:\n    def __init__(self, shop, request, user):\n        self.shop = shop\n\n"
        "    def confirm(self, request):\n        number = request.form['number']\n"
        "        if not self.shop.knows(number):\n            raise KeyError(number)\n"
        "        self.shop.delete(number)\n"
    )
    for name in ("order", "item")
}


def test_what_is_nearly_like_a_changed_method_is_said_and_no_constructor(project):
    project.write(TWINS)
    project.commit(message="twins")
    changed = TWINS["shop/order.py"].replace("['number']", "['id']").replace(" = shop", " = shop.own")
    project.write({"shop/order.py": changed})
    found = change_impact(open_app(project), reviewing("HEAD"))
    assert [(each.chunk.qualified_name, [other.path for other in each.existing]) for each in found.twins] == [
        ("Order.confirm", ["shop/item.py"])
    ]
    assert "### Nearly like what it changes, and not changed" in review_markdown(found)
    project.write({"shop/bill.py": TWINS["shop/item.py"].replace("Item", "Bill")})
    twins = change_impact(open_app(project), reviewing("HEAD")).twins
    assert [[other.path for other in each.existing] for each in twins] == [["shop/item.py"]]


def test_without_time_it_is_said_and_without_code_nothing_is(project):
    workspace = open_app(project)
    impact = callers_from_outside(workspace, "shop/tax.py", ["shop/tax.py"], timeout_s=-1.0)
    assert impact.called == ()
    assert impact.left_out == ("Callers were not looked for: the calls could not be read in -1 s.",)
    assert callers_from_outside(workspace, "notes.md", ["notes.md"]) is None
    assert check(workspace, project.path / "notes.md").impact is None
    nim = check(workspace, project.path / "tool.nim").impact
    assert nim.left_out == ("1 file in languages without a call graph (nim): callers are not known.",)


def test_a_check_counts_only_calls_from_outside(project):
    workspace = open_app(project)
    of_file = check(workspace, project.path / "shop/tax.py").impact
    assert found_in(of_file) == {
        "rate": (["page", "total"], ["test_rate"]),
        "Table": (["shown"], []),
        "Table.row": (["shown"], []),
    }
    assert "Table.cell" in {node.name for node in of_file.uncalled}  # only its own file calls it
    of_directory = check(workspace, project.path / "shop").impact
    assert found_in(of_directory) == {"rate": ([], ["test_rate"])}


def test_changed_lines_are_those_after_the_change_whatever_the_names(project):
    odd = 'a "b\n.py'
    project.write({odd: "one\ntwo\nthree\n", "z.py": "one\ntwo\nthree\nfour\n"})
    project.commit(message="odd")
    project.write({odd: "one\nTWO\n", "z.py": "one\nfour\ndiff --git\n", "new.py": "x\n"})
    assert changed_lines(open_app(project).repo, "HEAD") == {odd: [(2, 2)], "z.py": [(1, 1), (3, 3)]}


def test_text_and_json_say_who_calls_with_places(project):
    done = gitrag(project, "check", "shop/tax.py", "--output", "text")
    assert done.status == 0
    assert "Called from outside" in done.out
    assert "- `rate` (shop/tax.py:4): called from 2 places in 2 files; 1 test" in done.out
    assert "  shop/cart.py:5 `total`, shop/view.py:5 `page`" in done.out
    assert "  tests: tests/test_tax.py:5 `test_rate`" in done.out
    assert re.search(r"No caller of \d definitions? in \d+ files, from outside: .*`Table.cell`", done.out)
    data = json.loads(gitrag(project, "check", "shop/tax.py", "--output", "json").out)["impact"]
    rate = data["called"][0]
    assert (rate["name"], rate["places"], rate["files"], rate["test_places"]) == ("rate", 2, 2, 1)
    assert rate["callers"][0] == {
        "path": "shop/cart.py",
        "name": "total",
        "line": 5,
        "confidence": 1.0,
        "lines": [5],
        "provenance": "resolved",
        "rule": "",
    }
    project.write({"shop/tax.py": FILES["shop/tax.py"].replace("value = BASE", "value = 2")})
    done = gitrag(project, "related", "--diff", "HEAD")
    assert "### Who calls what it changes" in done.out
    assert "called from 2 places in 2 files; 1 test" in done.out


def test_agents_are_told_who_calls(project):
    project.write({"shop/tax.py": FILES["shop/tax.py"].replace("value = BASE", "value = 2")})

    async def ask(client):
        checked = await client.call_tool("check", {"target": "shop/tax.py"})
        return checked, await client.call_tool("related", {"diff": "HEAD"})

    own = Project(project, Gitrag(project.path, project.environment))
    for answer in use(own, ask):
        assert "called from 2 places in 2 files; 1 test" in text_of(answer)
        assert data_of(answer)["impact"]["called"][0]["name"] == "rate"
    assert data_of(answer)["tests"] == ["tests/test_tax.py"]
    assert "Tests to run: tests/test_tax.py" in text_of(answer)


def test_tests_that_reach_a_change_through_others_are_told_apart(project):
    project.write(
        {
            "shop/tax.py": FILES["shop/tax.py"].replace("value = BASE", "value = BASE + 1"),
            "tests/test_view.py": "from shop.view import page\n\n\ndef test_page():\n    page()\n",
        }
    )
    workspace = open_app(project)
    found = callers_of_change(workspace, "HEAD", changed_files(workspace.repo, "HEAD"))
    assert found.reached_by == (("tests/test_view.py", 2),)
