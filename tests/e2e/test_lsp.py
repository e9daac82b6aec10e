"""`gitrag lsp` as an editor uses it: pygls' client starts it over standard streams."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.support.command import Project, indexed_project, program
from tests.support.editor import Editor, edit, place
from tests.support.models import static_model
from tests.support.repository import create_repository

SHOP = '''"""Prices of a shop, in cents (ADR-0007). 価格 🛒"""

RATE = 3


class Basket:
    """What somebody wants to buy."""

    def __init__(self, items):
        self.items = items

    def total(self):
        """Add the prices up."""
        return sum(priced(item) for item in self.items) * RATE


def priced(item):
    """Return what an item costs."""
    local = item
    return local


def checkout(items):
    """Pay for what is in the basket."""
    "😀 価格"; return Basket(items).total() + priced(items[0])
'''
TEST = "from shop import priced\n\n\ndef test_price():\n    assert priced(1) == 1\n"
ADR = "# ADR-0007: Prices are integers\n\n## Status\n\nAccepted\n\n## Decision\n\nshop.py: prices in cents.\n"
LINES = SHOP.split("\n")


def at(text: str, word: str = "") -> tuple[int, int]:
    """Return where a word is on the line that has a text, the character in UTF-16 code units."""
    line = next(number for number, each in enumerate(LINES) if text in each)
    before = LINES[line][: LINES[line].index(word or text)]
    return line, len(before.encode("utf-16-le")) // 2


@pytest.fixture(scope="session")
def sold(tmp_path_factory: pytest.TempPathFactory, model_dir: Path) -> Project:
    """What ``shop`` is copied from."""
    files = {"shop.py": SHOP, "tests/test_shop.py": TEST, "docs/adrs/ADR-0007-cents.md": ADR}
    return indexed_project(tmp_path_factory.mktemp("shop"), model_dir, files)


@pytest.fixture
def shop(sold: Project, tmp_path: Path, environment: dict[str, str]) -> Project:
    return sold.copied(tmp_path / "shop", environment)


@pytest.fixture(scope="module")
def told(sold: Project) -> dict[str, Any]:
    """What one editor hears of a repository that it changes nothing in."""

    async def steps(editor: Editor):
        assert await editor.symbols("  ") == []
        symbols = await editor.symbols("pay for the goods")
        uri = editor.open(sold.path / "shop.py")
        line, character = at("😀", "priced(")
        called = await editor.references(uri, (line, character + 2), own=True)
        assert called == await editor.references(uri, at("def priced", "priced"), own=True)
        basket = await editor.references(uri, at("class Basket", "Basket"))
        rate = await editor.references(uri, at("RATE = 3"))
        local = await editor.references(uri, at("return local", "local"), own=True)
        nothing = await editor.references(uri, at("Add the prices", "prices"))
        (item,) = await editor.items(uri, at("def total", "total"))
        incoming = await editor.client.call_hierarchy_incoming_calls_async(
            types.CallHierarchyIncomingCallsParams(item)
        )
        outgoing = await editor.client.call_hierarchy_outgoing_calls_async(
            types.CallHierarchyOutgoingCallsParams(item)
        )
        assert await editor.items(uri, (1, 0)) == []
        return {
            "symbols": symbols,
            "references": (called, basket, rate, local, nothing),
            "calls": (item, incoming, outgoing),
        }

    return edit(sold, steps)


def test_symbols_are_found_by_meaning_at_the_name_of_a_definition(sold: Project, told: dict[str, Any]):
    found = told["symbols"]
    by_name = {each.name: each for each in found}
    assert by_name["checkout"].kind == types.SymbolKind.Function
    assert by_name["checkout"].container_name == "shop.py"
    line, character = at("def checkout", "checkout")
    assert place(by_name["checkout"].location) == ("shop.py", line, character, character + 8)
    commanded = sold.gitrag("search", "pay for the goods", "-o", "paths").out.split()
    assert {each.container_name for each in found} == set(commanded)


def test_references_are_calls_and_names_in_utf_16(told: dict[str, Any]):
    called, basket, rate, local, nothing = told["references"]
    smiling, total = at("😀", "priced("), at("sum(priced", "priced")
    defined = at("def priced", "priced")
    assert sorted(called) == [
        ("shop.py", total[0], total[1], total[1] + 6),
        ("shop.py", defined[0], defined[1], defined[1] + 6),
        ("shop.py", smiling[0], smiling[1], smiling[1] + 6),
        ("test_shop.py", 0, 17, 23),
        ("test_shop.py", 4, 11, 17),
    ]
    made = at("😀", "Basket")
    assert basket == [("shop.py", made[0], made[1], made[1] + 6)]
    used = at("* RATE", "RATE")
    assert rate == [("shop.py", used[0], used[1], used[1] + 4)]
    assert [each[1] for each in local] == [at("local = item")[0], at("return local")[0]]
    assert nothing == []


def test_calls_can_be_walked_both_ways(told: dict[str, Any]):
    item, incoming, outgoing = told["calls"]
    assert (item.name, item.detail) == ("Basket.total", "shop.py")
    assert item.range.end.line == at("* RATE")[0]
    assert [each.from_.name for each in incoming] == ["checkout"]
    line, character = at("😀", "total()")
    assert incoming[0].from_ranges[0].start == types.Position(line, character)
    assert [each.to.name for each in outgoing] == ["priced"]
    assert outgoing[0].from_ranges[0].start == types.Position(*at("sum(priced", "priced"))


def test_a_hover_says_what_why_and_check_say(shop: Project):
    shop.git.commit(
        {"shop.py": SHOP.replace("RATE = 3", "RATE = 4")}, message="Raise the rate ![x](http://x)"
    )

    async def steps(editor: Editor):
        uri = editor.open(shop.path / "shop.py")
        return await editor.hover(uri, 2)

    said = edit(shop, steps)
    assert "Raise the rate ![x](http://x)" in said
    assert "ADR-0007  Prices are integers" in said
    assert said.split("\n") == shop.gitrag("why", "shop.py:3", "-o", "text").out.rstrip("\n").split("\n")


def test_lenses_count_callers_and_tests_once_they_are_asked_for(shop: Project):
    can = types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True)
        )
    )

    async def steps(editor: Editor):
        uri = editor.open(shop.path / "shop.py")
        own = types.TextDocumentIdentifier(uri)
        (first, *_) = await editor.client.text_document_code_lens_async(types.CodeLensParams(own)) or ()
        assert first.command is None
        lenses = await editor.lenses(uri)
        assert await editor.lenses(editor.open(shop.path / "tests/test_shop.py")) == {}
        more = f"{SHOP}\n\ndef gift(item):\n    return priced(item)\n"
        (shop.path / "shop.py").write_text(more, "utf-8")
        editor.change(uri, more)
        editor.client.text_document_did_save(types.DidSaveTextDocumentParams(own))
        after = await editor.lenses(uri)
        assert editor.refreshed == 1
        return lenses, after

    lenses, after = edit(shop, steps, capabilities=can)
    assert lenses["priced"] == (at("def priced")[0], "2 callers, 1 test")
    assert lenses["Basket"] == (at("class Basket")[0], "1 caller, 0 tests")
    assert lenses["checkout"][1] == "no caller"
    assert after["priced"][1] == "3 callers, 1 test"


def test_an_unsaved_buffer_has_answers_where_its_lines_are_those_of_the_disk_and_none_elsewhere(
    shop: Project,
):
    typed = "# new\n# newer\n" + SHOP.replace("return local", "return local + 1").replace(
        "sum(priced(item)", "sum( priced(item)"
    )

    async def steps(editor: Editor):
        uri = editor.open(shop.path / "shop.py")
        editor.change(uri, typed)
        line, character = at("def priced", "priced")
        called = await editor.references(uri, (line + 2, character), own=True)
        hovers = [await editor.hover(uri, each) for each in (0, at("return local")[0] + 2, 4)]
        symbols = {each.name: each for each in await editor.symbols("pay for the goods")}
        lenses = await editor.lenses(uri)
        untitled = await editor.references("untitled:Untitled-1", (0, 0))
        never = editor.open(shop.path / "never.py", "def never():\n    pass\n")
        assert (await editor.hover(never, 0), untitled) == ("", [])
        assert await editor.lenses(never) == {"never": (0, "callers not known")}
        cr = editor.open(shop.path / "tests/test_shop.py", TEST.replace("\n", "\r"))
        assert await editor.hover(cr, 0) == ""
        return called, hovers, symbols, lenses

    called, (new, changed, kept), symbols, lenses = edit(shop, steps)
    smiling = at("😀", "priced(")
    assert ("shop.py", smiling[0] + 2, smiling[1], smiling[1] + 6) in called
    assert at("def priced")[0] + 2 in [each[1] for each in called]
    assert at("sum(priced")[0] + 2 not in [each[1] for each in called]  # that line has changed
    assert (new, changed) == ("", "")
    assert kept.startswith("shop.py:3")
    assert place(symbols["checkout"].location)[1] == at("def checkout")[0] + 2
    assert lenses["priced"] == (at("def priced")[0] + 2, "2 callers, 1 test")


def test_places_are_named_as_the_editor_does_and_links_lead_to_one_buffer(shop: Project, tmp_path: Path):
    (tmp_path / "link").symlink_to(shop.path)
    (shop.path / "more").symlink_to("tests")

    async def steps(editor: Editor):
        editor.open(tmp_path / "link" / "more" / "test_shop.py", f"# new\n{TEST}")
        (found,) = [each for each in await editor.symbols("test_price") if each.name == "test_price"]
        return found.location

    found = edit(shop, steps, tmp_path / "link")
    assert found.uri == (tmp_path / "link" / "tests" / "test_shop.py").as_uri()
    assert place(found)[1] == 4


def test_two_folders_are_asked_together(shop: Project, ready: Project):
    async def steps(editor: Editor):
        uri = editor.open(ready.path / "client.py")
        return (
            await editor.symbols("retry with backoff"),
            await editor.symbols("pay for the goods"),
            await editor.hover(uri, 3),
        )

    retry, pay, hover = edit(shop, steps, shop.path, ready.path)
    files = {(each.path / "client.py").as_uri() for each in (shop, ready)}
    assert {each.location.uri for each in retry if each.name == "retry_with_backoff"} == files
    assert "checkout" in {each.name for each in pay}
    assert hover.startswith("client.py:4")


def test_without_an_index_the_user_is_told_once_what_to_do(project: Project, tmp_path: Path):
    async def steps(editor: Editor):
        uri = editor.open(project.path / "client.py")
        assert await editor.symbols("retry") == []
        assert await editor.symbols("backoff") == []
        assert await editor.references(uri, (3, 6)) == []
        assert await editor.lenses(uri) == {}
        return await editor.hover(uri, 3), editor.told

    hover, told = edit(project, steps)
    assert hover.startswith("client.py:4")  # git alone is asked
    assert len(told) == 1
    assert "gitrag init" in told[0]
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.py").write_text("a = 1\n")

    async def outside(editor: Editor):
        uri = editor.open(tmp_path / "plain" / "a.py")
        assert await editor.hover(uri, 0) == ""
        assert await editor.symbols("a") == []
        return editor.told

    assert edit(project, outside, tmp_path / "plain") == [
        "No folder of the editor is in a git repository. git init"
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_strange_names_are_found_and_shown_as_text(shop: Project):
    names = [b"a #?%20;&x.py", b"\xff\xfe.py", "🛒 価格.py".encode(), b"new\nline.py"]
    for number, name in enumerate(names):
        own = f"strange_{number}()"
        text = f"def {own}:\n    return {own}\n\n\ndef use():\n    {own}\n"
        (shop.path / os.fsdecode(name)).write_text(text)

    async def steps(editor: Editor):
        symbols = []
        for number, name in enumerate(names):
            uri = (shop.path / os.fsdecode(name)).as_uri()
            (symbol, *_) = await editor.symbols(f"strange_{number}")
            assert symbol.location.uri == uri
            symbols.append(symbol)
            lines = [each[1] for each in await editor.references(uri, (0, 5))]
            assert sorted(lines) == [1, 5]
            assert "1 line in no commit" in await editor.hover(uri, 0)
        return symbols

    found = edit(shop, steps)
    shown = ["a #?%20;&x.py", r"\xff\xfe.py", "🛒 価格.py", r"new\nline.py"]
    assert [each.container_name for each in found] == shown


def test_nothing_outside_of_a_repository_is_read(shop: Project, tmp_path: Path):
    (tmp_path / "secret.py").write_text("def secret():\n    return secret()\n")
    (shop.path / "out.py").symlink_to(tmp_path / "secret.py")

    async def steps(editor: Editor):
        asked = [(shop.path / "out.py").as_uri(), f"{shop.path.as_uri()}/../secret.py", "file:///etc/passwd"]
        asked += ["http://127.0.0.1/a.py", (shop.path / ".git/config").as_uri(), "file:///%00", "nonsense"]
        asked += [
            "file:///" + "a/" * 3000 + "b.py",
            f"{shop.path.as_uri()}/{'a' * 300}.py",
            shop.path.as_uri(),
        ]
        for uri in asked:
            assert await editor.hover(uri, 0) == "", uri
            assert await editor.references(uri, (0, 5)) == [], uri
        assert not [each for each in await editor.symbols("secret") if "secret" in each.name]

    edit(shop, steps)


def test_what_goes_wrong_is_one_sentence_and_what_is_cancelled_is_said_to_be(shop: Project):
    async def steps(editor: Editor):
        uri = editor.open(shop.path / "shop.py")
        zero = types.Range(types.Position(0, 0), types.Position(0, 0))
        made_up = types.CallHierarchyItem("x", types.SymbolKind.Function, uri, zero, zero, data=7)
        with pytest.raises(JsonRpcException) as raised:
            await editor.client.call_hierarchy_incoming_calls_async(
                types.CallHierarchyIncomingCallsParams(made_up)
            )
        assert (raised.value.code, raised.value.data) == (types.LSPErrorCodes.RequestFailed.value, None)
        assert raised.value.message.startswith("gitrag hit a bug; the traceback is in ")
        protocol = editor.client.protocol
        asked = [
            protocol.send_request_async(
                "workspace/symbol", types.WorkspaceSymbolParams("pay"), msg_id=f"own-{number}"
            )
            for number in range(5)
        ]
        for number in range(1, 5):
            protocol.notify("$/cancelRequest", types.CancelParams(f"own-{number}"))
        ends = await asyncio.gather(*asked, return_exceptions=True)
        assert await editor.symbols("pay for the goods")
        return ends

    first, *others = edit(shop, steps)
    assert first
    cancelled = types.LSPErrorCodes.RequestCancelled.value
    assert {getattr(each, "code", None) for each in others} == {cancelled}


def test_it_ends_with_its_input_and_says_in_one_line_what_it_lacks(shop: Project):
    environment = dict(shop.gitrag.environment)
    done = subprocess.run(
        [program(environment), "lsp", "--stdio"],
        env=environment,
        cwd=shop.path,
        input=b"",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    without = "import sys; sys.modules['pygls'] = None; sys.argv = ['gitrag', 'lsp']\n"
    without += "import gitrag.cli; sys.exit(gitrag.cli.main())"
    done = subprocess.run(
        [sys.executable, "-c", without], env=environment, cwd=shop.path, capture_output=True, check=False
    )
    assert done.returncode == 78
    assert done.stderr.decode().splitlines() == [
        "The language server needs pygls, which is not here.",
        'hint: pip install "gitrag[lsp]"',
    ]


def test_folders_with_different_models_are_asked_each_by_its_own(shop: Project, tmp_path: Path):
    other = create_repository(tmp_path / "other", dict(shop.gitrag.environment), {"b.py": SHOP})
    settings = tmp_path / "settings"
    model = static_model(tmp_path / "model", 24)
    (tmp_path / "theirs").write_text(f"[gitrag]\n\tmodel = {model}\n")
    settings.write_text(f'[includeIf "gitdir:{tmp_path}/other/"]\n\tpath = {tmp_path}/theirs\n')
    environment = {**shop.gitrag.environment, "GIT_CONFIG_GLOBAL": str(settings)}
    project = replace(shop, gitrag=replace(shop.gitrag, environment=environment))
    assert replace(project.gitrag, place=other.path)("index").status == 0

    async def steps(editor: Editor):
        own, others = editor.open(shop.path / "shop.py"), editor.open(other.path / "b.py")
        before = await editor.lenses(own)
        assert len(await editor.lenses(others)) == len(before)
        assert await editor.lenses(own) == before
        return await editor.symbols("pay for the goods")

    found = {
        each.location.uri for each in edit(project, steps, shop.path, other.path) if each.name == "checkout"
    }
    assert found == {(shop.path / "shop.py").as_uri(), (other.path / "b.py").as_uri()}
