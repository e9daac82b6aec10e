"""Who uses what no call leads to, and who names a definition besides calls."""

from __future__ import annotations

import json

import pytest

from gitrag.actions.references import graph_or_references
from gitrag.callgraph.answering import GraphQuestion, NoMatchError
from tests.support.command import Gitrag
from tests.support.indexes import asked_often, open_app
from tests.support.repository import create_repository, isolated_environment

FILES = {
    "shop/conf.py": "LIMIT = 3\n\n\ndef limit():\n    return LIMIT\n",
    "shop/cart.py": (
        "from shop.conf import LIMIT, limit\n\n\ndef fits(items):\n    return len(items) <= LIMIT\n\n\n"
        "def check(items):\n    handlers = [limit]\n    return handlers\n\n\ndef ask():\n    return limit()\n"
    ),
    "other.py": "class Fridge:\n    LIMIT = 8\n\n    def cool(self):\n        return self.LIMIT\n",
    "last.py": "def use(fridge):\n    return fridge.LIMIT\n",
    "tests/test_cart.py": "from shop.conf import LIMIT\n\n\ndef test_limit():\n    assert LIMIT == 3\n",
    "README.md": "Raise LIMIT where the `limit` is too low.\n",
}


@pytest.fixture
def project(make_repository):
    return make_repository(FILES, indexed=True)


def gitrag(repository, *args):
    return Gitrag(repository.path, repository.environment)("graph", *args)


def test_a_module_may_be_named_with_dots(project):
    """It was "Nothing in the call graph is called shop.conf"."""
    of_path = gitrag(project, "shop/conf.py", "--format", "text")
    assert "shop/conf.py" in of_path.out
    assert gitrag(project, "shop.conf", "--format", "text") == of_path


def test_a_constant_is_found_by_its_name_with_what_is_certain_said_apart(project):
    """It was "Nothing in the call graph is called LIMIT"."""
    done = gitrag(project, "LIMIT")  # text even in a pipe: there is nothing to draw
    assert done.status == 0
    assert done.out.splitlines() == [
        "No function or class of the call graph is called LIMIT; it is named in 10 places:",
        "defined or set: 2",
        "  other.py:2  Fridge  LIMIT = 8",
        "  shop/conf.py:1  LIMIT = 3",
        "used in code: 4, and 1 more in tests",
        "  ~last.py:2  use  return fridge.LIMIT",
        "  other.py:5  Fridge.cool  return self.LIMIT",
        "  shop/cart.py:5  fits  return len(items) <= LIMIT",
        "  shop/conf.py:5  limit  return LIMIT",
        "imported: 1, and 1 more in tests",
        "  shop/cart.py:1  from shop.conf import LIMIT, limit",
        "in comments, strings and documents: 1",
        "  README.md:1  Raise LIMIT where the `limit` is too low.",
        "--tests lists those in tests",
        "~ by the name alone: the file neither defines it nor imports it from where it is defined",
    ]
    with_tests = gitrag(project, "LIMIT", "--tests").out
    assert "tests/test_cart.py:5  test_limit  assert LIMIT == 3" in with_tests
    value = json.loads(gitrag(project, "LIMIT", "--format", "json").out)
    assert value["nodes"] == []
    assert len(value["references"]["places"]) == 10


def test_a_package_is_in_sight_of_its_own_files_and_of_those_that_import_it(make_repository):
    files = {
        "shop/conf.go": "package shop\n\nconst Limit = 3\n",
        "shop/cart.go": "package shop\n\nfunc fits(n int) bool { return n < Limit }\n",
        "main.go": 'package main\n\nimport "x/shop"\n\nfunc main() { println(shop.Limit) }\n',
        "other/cool.go": "package other\n\nfunc cool(f Fridge) int { return f.Limit }\n",
        "go.mod": "module x\n",
    }
    workspace = open_app(make_repository(files))
    workspace.update()
    found = graph_or_references(workspace, GraphQuestion("Limit")).named
    assert {each.path: each.is_sure for each in found.found} == {
        "shop/conf.go": True,
        "shop/cart.go": True,
        "main.go": True,
        "other/cool.go": False,
    }


DEFINED = {
    "db/schema.sql": (
        "CREATE TABLE bill (id int);\n\nCREATE OR REPLACE FUNCTION close_invoice(n int) RETURNS int\n"
        "AS $$ SELECT 1 $$ LANGUAGE sql;\n"
    ),
    "job.py": "def run(db):\n    db.execute('SELECT close_invoice(1)')\n",
    "main.tf": (
        'resource "aws_kms_key" "ledger" {\n}\n\nresource "aws_s3_bucket" "ledger" {\n'
        "  k = aws_kms_key.ledger.arn\n}\n"
        '\noutput "b" {\n  value = aws_s3_bucket.ledger.id\n}\n\nvariable "size" {\n}\n'
    ),
    "bank.proto": "service Bank {\n  rpc Settle(Req) returns (Res);\n}\n\nmessage Req {\n  int32 a = 1;\n}\n",
    "site.css": ".card--overdue,\n#main .gone {\n  color: red;\n}\n",
    "Makefile": "bundle: dep\n\tgo run bundle\n",
}


@pytest.fixture(scope="module")
def defined(tmp_path_factory):
    environment = isolated_environment(tmp_path_factory.mktemp("home"))
    return asked_often(create_repository(tmp_path_factory.mktemp("project") / "p", environment, DEFINED))


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("close_invoice", [("db/schema.sql", 3, "defined"), ("job.py", 2, "text")]),
        ("bill", [("db/schema.sql", 1, "defined")]),
        ("aws_kms_key.ledger", [("main.tf", 1, "defined"), ("main.tf", 5, "used")]),
        ("aws_s3_bucket.ledger", [("main.tf", 4, "defined"), ("main.tf", 9, "used")]),
        ("size", [("main.tf", 12, "defined")]),
        ("Settle", [("bank.proto", 2, "defined")]),
        ("Req", [("bank.proto", 2, "used"), ("bank.proto", 5, "defined")]),
        (".card--overdue", [("site.css", 1, "defined")]),
        ("gone", [("site.css", 2, "defined")]),
        ("bundle", [("Makefile", 1, "defined"), ("Makefile", 2, "used")]),
    ],
)
def test_what_search_knows_as_a_definition_is_one(defined, target, expected):
    found = graph_or_references(defined, GraphQuestion(target)).named
    assert [(each.path, each.line, each.use.value) for each in found.found] == expected


def test_what_nobody_names_is_still_an_error(project):
    done = gitrag(project, "LIMITT")
    assert done.status == 1
    assert done.said[0] == 'Nothing in the call graph is called "LIMITT".'
    with pytest.raises(NoMatchError):
        graph_or_references(open_app(project), GraphQuestion("a b c"))


def test_a_functions_other_mentions_are_those_that_no_call_explains(project):
    done = gitrag(project, "limit", "--references", "--callers", "--format", "text")
    assert done.out.splitlines()[:4] == [
        "unresolved in 1 place: shop/cart.py:9",
        "called by 1 function",
        "┌─ ask  shop/cart.py:14",
        "function limit  shop/conf.py:4-5",
    ]
    assert done.out.splitlines()[5:] == [
        "also named in 3 places that are no resolved call:",
        "used in code: 1",
        "  shop/cart.py:9  check  handlers = [limit]",
        "imported: 1",
        "  shop/cart.py:1  from shop.conf import LIMIT, limit",
        "in comments, strings and documents: 1",
        "  README.md:1  Raise LIMIT where the `limit` is too low.",
    ]


def test_a_modules_references_are_its_imports(project):
    done = gitrag(project, "shop/conf.py", "--references", "--format", "text", "--tests")
    assert "also imported in 2 places:" in done.out.splitlines()
    assert "  tests/test_cart.py:1  from shop.conf import LIMIT" in done.out.splitlines()


def test_uncommitted_lines_count(project):
    project.write({"new.py": "from shop.conf import LIMIT\n\nprint(LIMIT)\n"})
    assert "  new.py:3  print(LIMIT)" in gitrag(project, "LIMIT").out.splitlines()


def test_a_search_for_who_uses_a_name_leads_to_the_graph(project):
    ask = Gitrag(project.path, project.environment)
    hint = "hint: gitrag graph LIMIT --references lists its callers, and where it is named."
    for query in ("who uses LIMIT", "What calls `LIMIT`?"):
        assert hint in ask("search", "--no-graph", query).said
    assert not any(
        "gitrag graph" in line for line in ask("search", "--no-graph", "who uses a limit here").said
    )
