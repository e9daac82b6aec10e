"""``gitrag repos``, and a question asked of several repositories."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import duckdb
import jsonschema
import pytest

from gitrag.actions.repositories.ask import ask
from gitrag.memory.registry import RegisteredPlace, Registry
from gitrag.report.schema import schema_of
from tests.support.command import PATIENCE_S, Gitrag, user_environment
from tests.support.repository import GitRepository, create_repository, made_once

SHOP = {
    "shop/stock.py": '''def reserve_stock(item, count):
    """Reserve items in the warehouse until the order is paid."""
    return warehouse.hold(item, count)
''',
    "shop/cart.py": "def total(cart):\n    return sum(line.price for line in cart)\n",
}
BANK = {
    "bank/transfer.py": '''def transfer_money(source, target, amount):
    """Move an amount from one account to another, in one transaction."""
    source.withdraw(amount)
    target.deposit(amount)
''',
    "docs/adr/0001-ledger.md": "# Use a double-entry ledger\n\nStatus: accepted\n\nTwo entries each.\n",
}
WEB = {"web/page.js": "export function renderPage(page) {\n  return page.title;\n}\n"}


@dataclass
class Machine:
    place: Path
    environment: dict[str, str]

    def gitrag(self, *args: str, at: str = "."):
        return Gitrag(self.place / at, self.environment)(*args)

    def add(self, name: str, files: dict[str, str]) -> None:
        """Make a repository that is indexed and known."""
        path = self.place / name

        def new() -> GitRepository:
            made = create_repository(path, self.environment, files)
            assert self.gitrag("index", "update", "--no-embed", at=name).status == 0
            return made

        made_once(f"known {name} {files}", path, self.environment, new)
        known = Registry(Path(self.environment["XDG_STATE_HOME"], "gitrag"))
        known.add([RegisteredPlace(path, path / ".git")])

    def json(self, *args: str, at: str = ".", status: int = 0) -> dict:
        done = self.gitrag(*args, "--json", at=at)
        assert done.status == status, done.err
        return json.loads(done.out)


@pytest.fixture
def machine(tmp_path, model_dir, monkeypatch) -> Machine:
    monkeypatch.setitem(ask.__kwdefaults__, "budget_s", PATIENCE_S)  # of a busy machine
    environment = user_environment(tmp_path / "home", model_dir)
    made = Machine(tmp_path / "src", environment)
    for name, files in (("shop", SHOP), ("bank", BANK), ("web", WEB)):
        made.add(name, files)
    return made


def test_all_are_asked_from_anywhere_and_each_hit_names_its_repository(machine):
    found = machine.json("search", "--everywhere", "where is stock reserved in the warehouse")
    jsonschema.validate(found, schema_of("search"))
    best = found["code_snippets"][0]
    assert (best["repository"], best["path"]) == ("shop", "shop/stock.py")
    assert [each["name"] for each in found["repositories"]] == ["bank", "shop", "web"]
    assert {each["outcome"] for each in found["repositories"]} == {"answered"}
    scores = [each["score"] for each in found["code_snippets"]]
    assert scores == sorted(scores, reverse=True)
    text = machine.gitrag("search", "--everywhere", "-o", "text", "transfer money between accounts").out
    assert "bank:bank/transfer.py:1-4" in text
    markdown = machine.gitrag("search", "--everywhere", "-o", "markdown", "transfer money").out
    assert "**bank:bank/transfer.py**" in markdown


def test_places_can_be_opened_from_where_one_stands(machine):
    out = machine.gitrag("search", "--everywhere", "-o", "paths", "renderPage", at="shop/shop").out
    assert out.splitlines()[0] == "../../web/web/page.js"
    places = machine.gitrag("search", "--everywhere", "-o", "vimgrep", "renderPage", at="shop").out
    assert places.startswith("../web/web/page.js:1:")


def test_some_are_asked_by_name_glob_path_and_group(machine):
    def asked(*args: str, at: str = ".") -> list[str]:
        found = machine.json("search", *args, "-n", "1", "--min-score", "0", "render a page", at=at)
        return [each["name"] for each in found["repositories"]]

    assert asked("--repo", "web") == ["web"]
    assert asked("--repo", "web", "--repo", "[bs]*") == ["bank", "shop", "web"]
    assert asked("--repo", "../web", "--repo", ".", at="shop") == ["shop", "web"]
    assert machine.gitrag("repos", "group", "money", "shop", "bank").status == 0
    assert asked("--group", "money") == ["bank", "shop"]
    assert asked("--group", "money", "--repo", "web") == ["bank", "shop", "web"]


def test_uncommitted_changes_of_all_are_found(machine):
    (machine.place / "web/web/banner.js").write_text("export function blinkingBanner() {}\n")
    best = machine.json("search", "--everywhere", "blinkingBanner", at="shop")["code_snippets"][0]
    assert (best["repository"], best["path"]) == ("web", "web/banner.js")


def test_who_does_not_answer_is_named_and_the_others_answer(machine):
    (machine.place / "bank").rename(machine.place / "savings")
    assert machine.gitrag("index", "remove", at="web").status == 0
    done = machine.gitrag("search", "--everywhere", "-o", "json", "reserve stock")
    assert done.status == 0
    found = json.loads(done.out)
    outcomes = {each["name"]: each["outcome"] for each in found["repositories"]}
    assert outcomes == {"bank": "not reachable", "shop": "answered", "web": "not indexed"}
    assert f"bank: not reachable: there is no {machine.place / 'bank'}" in done.err
    assert "web: not indexed: it has no index" in done.err
    listed = {each["name"]: each["standing"] for each in machine.json("repos", "list")}
    assert listed == {"bank": "not there", "shop": "indexed", "web": "not indexed"}
    machine.gitrag("repos", "forget", "--missing")
    assert [each["name"] for each in machine.json("repos", "list")] == ["shop", "web"]


def test_one_that_answers_late_does_not_abort_the_process(machine):
    """Its thread comes back from DuckDB while Python ends, which a slow destructor makes longer."""
    code = """
import sys, threading, time, duckdb
from gitrag.actions.repositories.ask import ask
from gitrag.cli import main
from gitrag.workspace import Workspace

class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(4)

sys.modules["slow"] = Slow()
ask.__kwdefaults__["budget_s"] = 3.0
open_ = Workspace.open

def late(place, **named):
    if place.name == "bank":
        until = time.monotonic() + 4.5
        while time.monotonic() < until:
            duckdb.sql("select sum(sin(range)) from range(3000000)").fetchall()
    return open_(place, **named)

Workspace.open = late
sys.argv = ["gitrag", "search", "--everywhere", "-o", "text", "where is stock reserved"]
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=machine.place,
        env=machine.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode in {0, 78}, done.stderr  # 78: on a busy machine the others are late too
    assert ("shop:shop/stock.py:1-3" in done.stdout) is (done.returncode == 0)
    assert re.search(r"bank: (late: )?no answer within 3 s", done.stderr)


def test_another_repository_at_a_known_place_is_not_asked(machine):
    shutil.rmtree(machine.place / "bank/.git")
    GitRepository(machine.place / "shop", machine.environment).git("init", "-q", str(machine.place))
    (machine.place / "bank/.git").mkdir()
    done = machine.gitrag("search", "--repo", "bank", "transfer money")
    assert done.status == 78
    assert "is another repository now, or part of one" in done.err


def test_an_index_of_a_newer_gitrag_is_named(machine):
    machine.gitrag("search", "--repo", "bank", "transfer")
    with duckdb.connect(str(machine.place / "bank/.git/gitrag/index.duckdb")) as db:
        db.execute("UPDATE meta SET value = '9999' WHERE key = 'schema'")
    done = machine.gitrag("search", "--everywhere", "-o", "json", "reserve stock")
    outcomes = {each["name"]: each for each in json.loads(done.out)["repositories"]}
    assert outcomes["bank"]["outcome"] == "not reachable"
    assert "schema 9999" in outcomes["bank"]["why"]
    assert outcomes["shop"]["outcome"] == "answered"


def test_what_makes_no_sense_is_refused_in_one_line(machine, tmp_path):
    def refused(*args: str) -> str:
        done = machine.gitrag("search", *args, "stock")
        assert (done.status, done.out) == (2, ""), done
        assert "Traceback" not in done.err
        return done.err

    assert 'gitrag knows no repository "shpo". Did you mean "shop"?' in refused("--repo", "shpo")
    assert 'There is no group "work".' in refused("--group", "work")
    assert "There is no directory ./nowhere" in refused("--repo", "./nowhere")
    assert "--word is for one repository, and --everywhere asks several." in refused("--everywhere", "--word")
    assert "--context is for one repository" in refused("--repo", "shop", "--context", "0")
    create_repository(tmp_path / "other/shop", machine.environment, SHOP)
    machine.gitrag("repos", "add", str(tmp_path / "other/shop"))
    several = refused("--repo", "shop")
    assert '2 repositories are called "shop".' in several
    assert "other/shop, src/shop" in several


def test_an_empty_registry_says_what_to_do(machine):
    machine.gitrag("repos", "forget", "*")
    done = machine.gitrag("search", "--everywhere", "stock")
    assert (done.status, done.out) == (78, "")
    assert "gitrag knows no repository on this machine yet." in done.err
    assert machine.gitrag("repos", "list").status == 1


def test_a_worktree_stands_for_its_repository_where_one_is_in_it(machine):
    tree = machine.place / "tree"
    GitRepository(machine.place / "shop", machine.environment).git("worktree", "add", "-b", "next", str(tree))
    (tree / "shop/coupon.py").write_text("def redeem_coupon(code):\n    return code\n")
    there = machine.json("search", "--everywhere", "redeem_coupon", at="tree")
    assert there["code_snippets"][0]["path"] == "shop/coupon.py"
    assert [each["name"] for each in there["repositories"]] == ["bank", "shop", "web"]
    assert next(each["path"] for each in there["repositories"] if each["name"] == "shop") == str(tree)
    elsewhere = machine.json("search", "--everywhere", "--min-score", "0", "redeem_coupon", at="web")
    assert "shop/coupon.py" not in {each["path"] for each in elsewhere["code_snippets"]}
    given = machine.json("search", "--repo", str(tree), "redeem_coupon", at="shop")
    assert given["code_snippets"][0]["path"] == "shop/coupon.py"
    assert given["repositories"][0]["path"] == str(tree)
    main = machine.json("search", "--repo", "../shop", "--min-score", "0", "redeem_coupon", at="tree")
    assert "shop/coupon.py" not in {each["path"] for each in main["code_snippets"]}


def test_submodules_and_clones_inside_are_asked_when_asked_for(machine):
    shop = GitRepository(machine.place / "shop", machine.environment)
    shop.git("-c", "protocol.file.allow=always", "submodule", "add", str(machine.place / "web"), "vendor/web")
    create_repository(machine.place / "shop/tools/lint", machine.environment, BANK)
    shop.git("worktree", "add", "--detach", str(machine.place / "shop/trees/one"))
    assert machine.gitrag("index", "update", "--no-embed", at="shop/vendor/web").status == 0
    done = machine.gitrag("search", "--submodules", "-o", "json", "renderPage", at="shop")
    found = json.loads(done.out)
    outcomes = {each["name"]: each["outcome"] for each in found["repositories"]}
    assert outcomes == {"shop": "answered", "tools/lint": "not indexed", "vendor/web": "answered"}
    assert found["code_snippets"][0]["repository"] == "vendor/web"
    outside = machine.gitrag("search", "--submodules", "renderPage")
    assert outside.status == 78


def test_a_remote_is_fetched_once_and_nothing_of_it_is_run(machine, tmp_path):
    remote = create_repository(tmp_path / "remote/library", machine.environment, BANK)
    canary = tmp_path / "canary"
    touch = f"#!/bin/sh\ntouch {canary}\n"
    remote.write(
        {
            ".gitattributes": "* filter=evil\n",
            ".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = file://{machine.place / "shop"}\n',
            ".gitrag.yaml": "limit: 1\nexclude: ['*']\n",
        }
    )
    remote.git("add", "--all")
    remote.git("commit", "-m", "hostile")
    for hook in ("post-checkout", "reference-transaction", "pre-auto-gc", "post-index-change"):
        path = remote.path / ".git/hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(touch)
        path.chmod(0o755)
    url = f"file://{remote.path}"
    found = machine.json("search", "--git-url", url, "transfer money between accounts")
    assert found["code_snippets"][0]["path"] == "bank/transfer.py"
    assert found["repositories"][0]["outcome"] == "answered"
    assert not canary.exists()
    assert [each["name"] for each in machine.json("repos", "list")] == ["bank", "shop", "web"]
    remote.path.rename(remote.path.with_name("gone"))  # it is asked again: the copy is of today
    again = machine.json("search", "--git-url", url, "transfer money between accounts")
    assert again["code_snippets"] == found["code_snippets"]


def test_a_cache_that_is_a_link_holds_copies(machine, tmp_path):
    remote = create_repository(tmp_path / "remote/library", machine.environment, BANK)
    cache = Path(machine.environment["XDG_CACHE_HOME"])
    cache.mkdir(parents=True, exist_ok=True)
    cache.rename(tmp_path / "disk")
    cache.symlink_to(tmp_path / "disk")
    found = machine.json("search", "--git-url", f"file://{remote.path}", "transfer money between accounts")
    assert found["code_snippets"][0]["path"] == "bank/transfer.py"


def test_a_remote_that_cannot_be_fetched_is_said_in_one_line(machine, tmp_path):
    done = machine.gitrag("search", "--git-url", f"file://{tmp_path}/none", "stock")
    assert done.status == 75
    assert f"file://{tmp_path}/none cannot be fetched:" in done.err
    secret = machine.gitrag("search", "--git-url", "https://me:secret@127.0.0.1:1/x.git", "stock")
    assert secret.status == 75
    assert "secret" not in secret.err
    for url in ("http://x/y", "git://x/y", "ext::sh -c id", "--upload-pack=id", "/etc", "file::x"):
        refused = machine.gitrag("search", f"--git-url={url}", "stock")
        assert (refused.status, "cannot be fetched from" in refused.err) == (2, True), refused.err
    copies = Path(machine.environment["XDG_CACHE_HOME"], "gitrag/copies")
    assert not list(copies.glob("*.git"))


def python_package(place: Path, name: str, files: dict[str, str], record: list[str]) -> None:
    (place / ".venv").mkdir(parents=True, exist_ok=True)
    (place / ".venv/pyvenv.cfg").write_text("home = /usr\n")
    site = place / ".venv/lib/python3.11/site-packages"
    info = site / f"{name.replace('-', '_')}-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in (*files, *record)))


def test_an_installed_dependency_is_asked_and_never_imported(machine, tmp_path):
    canary = tmp_path / "canary"
    secret = tmp_path / "secret.py"
    secret.write_text("def the_secret():\n    return 1\n")
    files = {
        "tillwork/__init__.py": f"open({str(canary)!r}, 'w')\n",
        "tillwork/receipt.py": 'def print_receipt(order):\n    """Print the receipt of an order."""\n',
    }
    python_package(machine.place / "shop", "Till-Work", files, [str(secret), "../../../../../secret.py"])
    site = machine.place / "shop/.venv/lib/python3.11/site-packages"
    (site / "tillwork/link.py").symlink_to(secret)
    odd = ["tillwork/link.py\r", '"' + str(secret).replace("/", r"\057") + '"']
    for path in odd:  # read as git reads its lines, they are the link and the secret
        (site / path).write_text("x = 1\n")
    with (next(site.glob("*.dist-info")) / "RECORD").open("a", newline="") as record:
        csv.writer(record).writerows((path, "", "") for path in ("tillwork/link.py", *odd))
    for name in ("till_work", "tillwork", "python:till-work"):
        found = machine.json("search", "--dep", name, "--min-score", "0", "print a receipt", at="shop/shop")
        assert [each["repository"] for each in found["code_snippets"]][:1] == ["Till-Work@1.2"]
        assert {each["path"] for each in found["code_snippets"]} <= {*files, *odd}
    leaked = machine.gitrag(
        "search", "--dep", "tillwork", "--min-score", "0", "-o", "json", "the_secret", at="shop"
    )
    assert "def the_secret" not in leaked.out
    paths = machine.gitrag("search", "--dep", "tillwork", "-o", "paths", "print a receipt", at="shop").out
    assert paths.splitlines()[0] == ".venv/lib/python3.11/site-packages/tillwork/receipt.py"
    assert not canary.exists()
    (site / "tillwork/receipt.py").write_text("def sign_invoice(order):\n    return order\n")
    changed = machine.json("search", "--dep", "tillwork", "sign_invoice", at="shop")
    assert changed["code_snippets"][0]["name"] == "sign_invoice"


def test_an_npm_dependency_is_asked_without_its_own_dependencies(machine):
    modules = machine.place / "web/node_modules"
    for path, text in {
        "@scope/lib/package.json": '{"name": "@scope/lib", "version": "3.0.0"}',
        "@scope/lib/index.js": "export function formatPrice(price) {\n  return price.toFixed(2);\n}\n",
        "@scope/lib/node_modules/inner/index.js": "export function innerPrice() {}\n",
        "deep/package.json": "[" * 5000,
    }.items():
        (modules / path).parent.mkdir(parents=True, exist_ok=True)
        (modules / path).write_text(text)
    found = machine.json("search", "--dep", "@scope/lib", "--min-score", "0", "format a price", at="web")
    assert found["code_snippets"][0]["path"] == "index.js"
    assert "innerPrice" not in json.dumps(found)
    for name in ("deep", "../shop", "@scope/lob"):
        refused = machine.gitrag("search", "--dep", name, "price", at="web")
        assert (refused.status, "is installed here" in refused.err) == (2, True), refused
    assert 'Did you mean "@scope/lib"?' in machine.gitrag("search", "--dep", "@scope/lob", "x", at="web").err
