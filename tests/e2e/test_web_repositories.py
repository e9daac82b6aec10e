"""``gitrag web`` with several repositories: a facet, hits of each, and the pages of the others."""

from __future__ import annotations

import shutil
from urllib.parse import quote_plus

import pytest

from tests.support.command import Gitrag, wait_until
from tests.support.repository import create_repository, isolated_environment
from tests.support.web import opened, served

ATTACK = "<img src=x onerror=alert(2)>'\""
"""A directory's name."""

BODY = "<script>alert(1)</script> </title> javascript:alert(3)"


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """Three repositories, of which one tries to become script, and one that is gone."""
    home = tmp_path_factory.mktemp("several")
    environment = isolated_environment(home / "home") | {"XDG_STATE_HOME": str(home / "state")}
    files = {
        "shop": {
            "cart.py": 'def total(items):\n    """Add the parcels of a cart up."""\n    return sum(items)\n',
            "docs/parcel.md": "# Parcels\n\nEach parcel of a cart is weighed.\n",
        },
        "till": {
            "parcel.py": 'def weigh(parcel):\n    """Weigh a parcel."""\n    return scale(parcel)\n\n\n'
            "def scale(parcel):\n    return parcel.weight\n",
            "parcel.js": "function weigh(parcel) {\n  return parcel.weight; // of the parcel\n}\n",
        },
        ATTACK: {
            "parcel.py": f'def weigh(parcel):\n    """Weigh a parcel {BODY}"""\n    return 1\n',
            f"{ATTACK}.py": f"def parcel():\n    return 'parcel {BODY}'\n",
        },
        "gone": {"parcel.py": "def weigh(parcel): pass\n"},
    }
    made = {name: create_repository(home / name, environment, content) for name, content in files.items()}
    for each in made.values():
        assert Gitrag(each.path, environment)("index").status == 0
    gone = made["gone"].path
    wait_until(  # its worker may still write
        lambda: shutil.rmtree(gone, ignore_errors=True) or not gone.exists(), "it cannot be removed"
    )
    with served(made["shop"].path, environment) as site:
        yield site, made


def test_all_repositories_are_a_facet_with_counts(several):
    site, _ = several
    alone = site.get("/search?q=weigh+a+parcel").text
    assert "all 4" in alone
    assert "till" not in alone
    everywhere = site.get("/search?q=weigh+a+parcel&everywhere=1").text
    assert '<span class="repository">till</span>' in everywhere
    assert 'href="/file/parcel.py?repo=till#L' in everywhere
    of_carts = site.get("/search?q=parcels+of+a+cart&everywhere=1").text
    assert 'href="/file/docs/parcel.md#L' in of_carts  # the one here needs no name
    assert "gone: not reachable: there is no " in everywhere
    assert "<span>till</span><i>2</i>" in everywhere
    narrowed = site.get("/search?q=weigh+a+parcel&everywhere=1&repo=till&lang=python").text
    assert "parcel.js" not in narrowed.replace("<mark>", "").replace("</mark>", "")
    assert "docs/" not in narrowed
    assert "<span>till</span><i>1</i>" in narrowed
    assert "<span>&lt;img src=x " in narrowed  # another one can be chosen still
    of_one = site.get("/search?q=weigh+a+parcel&repo=till").text
    assert "not reachable" not in of_one
    assert "<b>till</b>" in of_one
    assert site.get("/search?repo=till").status == 200


def test_the_state_of_each_repository(several):
    site, made = several
    with opened(site) as (page, heard):
        page.goto(f"http://127.0.0.1:{site.port}/state")
        table = page.locator("#repositories table")
        table.wait_for()
        rows = [row.split("\n") for row in table.inner_text().splitlines()]
        assert len(rows) == 1 + 3
        till = table.locator("tr", has_text=str(made["till"].path)).inner_text().split("\t")
        assert till[:2] == ["till", "up to date"]
        assert "1 that gitrag knows is not there any more" in page.locator("#repositories").inner_text()
        table.get_by_role("link", name="till").click()
        page.wait_for_url("**/state?repo=till")
        assert page.locator("h1").text_content().startswith("till")
        assert page.locator("img").count() == 0
        assert heard.dialogs == heard.console == []


def test_what_is_no_name_of_a_known_repository_is_none(several):
    site, made = several
    for name in (str(made["till"].path), ".", "../till", "til", "*", "TILL", "\0"):
        asked = quote_plus(name)
        for address in (
            f"/file/parcel.py?repo={asked}",
            f"/state?repo={asked}",
            f"/calls?target=weigh&repo={asked}",
        ):
            answer = site.get(address)
            assert answer.status == 404, address
            assert "gitrag knows no repository" in answer.text
        for address in (f"/search?q=parcel&repo={asked}", f"/search?repo={asked}"):
            answer = site.get(address)
            assert answer.status == 404, address
            assert "gitrag knows no repository" in answer.text
            assert "<b>shop</b>" in answer.text
    gone = site.get("/file/parcel.py?repo=gone")
    assert gone.status == 503
    assert "hit a bug" not in gone.text


def test_the_pages_of_another_repository(several):
    site, _ = several
    own = f"http://127.0.0.1:{site.port}"
    with opened(site, viewport={"width": 1400, "height": 900}) as (page, heard):
        page.keyboard.type("weigh a parcel")
        page.locator("h1", has_text="Answers to weigh a parcel").wait_for(state="attached")
        page.get_by_role("link", name="all 4").click()
        page.wait_for_url("**everywhere=1*")
        page.locator(".facets a", has_text="till").click()
        page.locator("a.to", has_text="parcel.py").first.click()
        page.wait_for_url("**/file/parcel.py?repo=till#L*")
        page.locator("#waiting").wait_for(state="detached")
        assert "1 call of this file" in page.locator("#beside").text_content()
        page.locator(".source .defined").first.click()
        page.wait_for_url("**/file/parcel.py?repo=till#L6")
        page.locator(".outline li").first.hover()
        page.get_by_label("Calls around weigh").click()
        page.locator("#picture .node:visible", has_text="scale").click()
        page.get_by_text("Open the file").click()
        page.wait_for_url("**/file/parcel.py?repo=till#L6")
        page.fill("[name=rev]", "HEAD")
        page.keyboard.press("Enter")
        page.wait_for_url("**rev=HEAD*")
        assert "at " in page.locator(".about-file").text_content()
        page.get_by_role("link", name="State").click()
        assert page.locator("h1").text_content().startswith("till")
        page.get_by_role("link", name="Map").click()
        assert "2 files with text, " in page.locator(".map-said").text_content()
        page.fill("#q", "scale")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{own}/search?q=scale&repo=till")
        assert page.locator(".home").text_content().strip() == "till"
        assert heard.dialogs == heard.console == []


def test_nothing_of_another_repository_becomes_script(several):
    site, _ = several
    name = quote_plus(ATTACK)
    own = f"http://127.0.0.1:{site.port}"
    with opened(site) as (page, heard):
        for address in (
            "/search?q=weigh+a+parcel&everywhere=1",
            f"/search?q=weigh+a+parcel&everywhere=1&repo={name}",
            f"/search?q=parcel&repo={name}",
            f"/file/parcel.py?repo={name}",
            f"/file/{name.replace('+', '%20')}.py?repo={name}",
            f"/calls?target=weigh&repo={name}",
            f"/map?repo={name}",
            f"/state?repo={name}",
            f"/file/none.py?repo={name}",
            "/file/none.py?repo=%3Cscript%3Ealert(1)%3C/script%3E",
            "/search?q=parcel&repo=%3Cscript%3Ealert(1)%3C/script%3E",
        ):
            page.goto(own + address)
            if page.locator("#waiting").count():
                page.locator("#waiting").wait_for(state="detached")
            assert page.locator("iframe, img, object, embed, [onload], [onerror]").count() == 0, address
            assert page.locator("a[href^='javascript']").count() == 0, address
        page.goto(f"{own}/search?q=weigh+a+parcel&everywhere=1")
        assert ATTACK in page.locator(".facets").text_content()
        page.locator("a.to", has_text=ATTACK).first.click()
        page.wait_for_url("**/file/*")
        assert page.locator(".home").text_content().strip() == ATTACK
        assert heard.dialogs == []
        assert [each for each in heard.console if "404" not in each and "503" not in each] == []
