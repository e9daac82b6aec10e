"""Calls between repositories, where a package of one is imported by another."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from gitrag.report.schema import schema_of
from tests.e2e.test_several import Machine
from tests.support.command import user_environment

TILL = {
    "pyproject.toml": '[project]\nname = "Till-Work"\n',
    "src/till/__init__.py": "from till.receipt import Receipt, print_receipt\n",
    "src/till/receipt.py": """class Receipt:
    def total(self):
        return sum(self.lines)


def print_receipt(order):
    return Receipt()
""",
    "package.json": '{"name": "@till/web"}',
    "index.js": "export function formatPrice(price) {\n  return price;\n}\n",
    "go.mod": "module example.org/till\n",
    "print/print.go": "package print\n\nfunc Line(text string) string {\n\treturn text\n}\n",
}
SHOP = {
    "shop/checkout.py": """from till import print_receipt


def pay(order):
    receipt = print_receipt(order)
    return receipt.total()


def test_pay():
    print_receipt(None)
""",
    "shop/own.py": "def print_receipt(x):\n    return x\n\n\ndef other():\n    print_receipt(1)\n",
    "web/page.js": "import { formatPrice } from '@till/web';\n\nexport function render(p) {\n"
    "  return formatPrice(p);\n}\n",
    "cmd/main.go": 'package main\n\nimport "example.org/till/print"\n\nfunc main() {\n\tprint.Line("x")\n}\n',
}
BANK = {
    "bank/a.py": "def pay(x):\n    return print_receipt(x).total()\n\n\ndef print_receipt(x):\n    pass\n"
}


def make(place: Path, model_dir: Path) -> Machine:
    made = Machine(place / "src", user_environment(place / "home", model_dir))
    for name, files in (("till", TILL), ("shop", SHOP), ("bank", BANK)):
        made.add(name, files)
    return made


@pytest.fixture
def machine(tmp_path: Path, model_dir: Path) -> Machine:
    return make(tmp_path, model_dir)


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Machine:
    """The like, for tests that leave it as it was."""
    return make(tmp_path_factory.mktemp("unchanged"), model_dir)


def calls(found: dict, direction: str) -> list[tuple[str, str, int]]:
    return [
        (f"{each['repository']}:{call['caller']['path']}", call["caller"]["name"], call["line"])
        for each in found["elsewhere"]
        if each["direction"] == direction
        for call in each["calls"]
    ]


def test_callers_in_other_repositories_are_listed_with_how_they_were_found(unchanged):
    found = unchanged.json("graph", "print_receipt", "--everywhere", at="till")
    jsonschema.validate(found, schema_of("graph"))
    assert calls(found, "callers") == [
        ("shop:shop/checkout.py", "pay", 5),
        ("shop:shop/checkout.py", "test_pay", 10),
    ]
    (shop,) = found["elsewhere"]
    assert shop["packages"] == [{"name": "Till-Work", "manifest": "pyproject.toml"}]
    assert shop["files"] == 1
    assert "No import of Till-Work was found in python files of: bank." in found["left_out"]
    assert "No python package was found in the manifests of: bank." in found["left_out"]
    text = unchanged.gitrag("graph", "print_receipt", "--repo", "shop", "--format", "text", at="till").out
    assert "shop calls it" in text
    assert "1 file of it imports Till-Work (pyproject.toml), a package of this repository" in text
    assert "shop:shop/checkout.py:5 pay calls print_receipt" in text
    assert "1 call from tests; --tests lists them" in text


def test_what_an_object_of_the_other_repository_is_asked_counts_too(unchanged):
    found = unchanged.json("graph", "Receipt.total", "--everywhere", at="till")
    assert calls(found, "callers") == [("shop:shop/checkout.py", "pay", 6)]


@pytest.mark.parametrize(
    ("target", "caller"),
    [("formatPrice", ("shop:web/page.js", "render", 4)), ("Line", ("shop:cmd/main.go", "main", 6))],
)
def test_other_languages_import_by_their_own_manifests(unchanged, target, caller):
    assert calls(unchanged.json("graph", target, "--everywhere", at="till"), "callers") == [caller]


def test_what_is_called_in_other_repositories_is_listed(machine):
    found = machine.json("graph", "shop/checkout.py:pay", "--repo", "till", at="shop")
    (till,) = found["elsewhere"]
    assert (till["repository"], till["direction"]) == ("till", "callees")
    assert [(call["callee"]["path"], call["callee"]["name"]) for call in till["calls"]] == [
        ("src/till/receipt.py", "Receipt.total"),
        ("src/till/receipt.py", "print_receipt"),
    ]
    own = machine.json("graph", "shop/own.py:other", "--repo", "till", at="shop")
    assert own["elsewhere"] == []
    (machine.place / "till/src/till/unused.py").write_text("def unused():\n    pass\n")
    unused = machine.json("graph", "unused", "--repo", "shop", "--callers", at="till", status=1)
    (said,) = [each for each in unused["left_out"] if each.startswith("shop: ")]
    assert said.startswith("shop: no call of unused was found, though 1 file of it imports Till-Work")


def test_who_cannot_be_asked_is_named_and_other_forms_say_what_they_lack(machine):
    (machine.place / "bank").rename(machine.place / "gone")
    done = machine.gitrag("graph", "print_receipt", "--everywhere", "--format", "mermaid", at="till")
    assert done.status == 0
    assert "Not looked at: bank:" in done.err
    assert "mermaid has no calls of other repositories: text and json list 2 calls." in done.err
    refused = machine.gitrag("graph", "--filter", "pay", "--everywhere", at="till")
    assert (refused.status, refused.out) == (2, "")


def test_an_import_that_is_a_repositorys_own_leads_nowhere_else(machine):
    """Who has a package of that name himself, as a fork or a copy does, imports his own."""
    machine.add("fork", {**TILL, **SHOP})
    found = machine.json("graph", "print_receipt", "--repo", "fork", at="till")
    assert found["elsewhere"] == []
    said = "Imports of Till-Work mean their own modules, which are called the same, in: fork."
    assert said in found["left_out"]


def test_a_module_of_a_namespace_beside_a_directory_of_scripts_is_called(machine):
    acme = {
        "pyproject.toml": '[project]\nname = "acme-core"\n',
        "acme/core/money.py": "def rounded(amount):\n    return amount\n",
        "lib/tool.py": "def main():\n    pass\n",
    }
    uses = {
        "use.py": "from acme.core.money import rounded\n\n\ndef pay():\n    rounded(1)\n",
        "other.py": "from acme.web import rounded\n\n\ndef show():\n    rounded(1)\n",
    }
    for name, files in (("acme", acme), ("uses", uses)):
        machine.add(name, files)
    found = machine.json("graph", "rounded", "--repo", "uses", at="acme")
    assert calls(found, "callers") == [("uses:use.py", "pay", 5)]
    assert found["elsewhere"][0]["files"] == 1
    backwards = machine.json("graph", "pay", "--repo", "acme", "--callers", at="uses", status=1)
    said = "No python package of this repository was found in its manifests, to be imported by: acme."
    assert said in backwards["left_out"]


def test_only_files_that_import_what_is_called_are_counted(machine):
    packages = {
        "a/package.json": '{"name": "@x/a"}',
        "a/index.js": "export function one() {}\n",
        "b/package.json": '{"name": "@x/b"}',
        "b/index.js": "export function two() {}\n",
    }
    uses = {
        "1.js": "import { one } from '@x/a';\nexport function f() {\n  one();\n}\n",
        "2.js": "import { two } from '@x/b';\nexport function g() {\n  two();\n}\n",
        "3.js": "import { two } from '@x/b';\nexport function h() {\n  two();\n}\n",
    }
    for name, files in (("many", packages), ("uses", uses)):
        machine.add(name, files)
    (found,) = machine.json("graph", "one", "--repo", "uses", at="many")["elsewhere"]
    assert ([each["name"] for each in found["packages"]], found["files"]) == (["@x/a"], 1)


def test_a_repository_with_names_that_are_no_text_keeps_no_other_from_being_asked(machine):
    odd = {b"caf\xe9/__init__.py": "def f():\n    pass\n", "setup.py": "setup(name='odd')\n"}
    machine.add("a-odd", odd)
    found = machine.json("graph", "shop/checkout.py:pay", "--everywhere", at="shop")
    assert [each["repository"] for each in found["elsewhere"]] == ["till"]
    assert "No python package was found in the manifests of: a-odd, bank." in found["left_out"]


def test_who_is_not_asked_since_nothing_could_be_read_here_is_said_so(machine):
    (machine.place / "shop" / "tool.nim").write_text("proc main() = discard\n")
    done = machine.gitrag("graph", "tool.nim", "--repo", "till", "--json", at="shop")
    assert done.status == 1, done.err
    assert "Other repositories were not asked." in json.loads(done.out)["left_out"]
    assert "Other repositories were not asked." in done.err


def test_names_from_a_repository_cannot_write_to_the_terminal(machine):
    name = "pay_\x1b[2J"
    hostile = {"pyproject.toml": '[project]\nname = "Till-Work\\u001b[2J"\n'}
    machine.add(name, {**TILL, **hostile})
    for form in ("text", "json", "mermaid"):
        done = machine.gitrag("graph", "pay", "--everywhere", "--format", form, at="shop")
        assert "\x1b" not in done.out + done.err
