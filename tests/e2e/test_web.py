"""``gitrag web``: who gets in, what a page says and does, in a real browser where there is one."""

from __future__ import annotations

import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.support.command import GITRAG, PATIENCE_S, Gitrag
from tests.support.indexes import open_app
from tests.support.repository import create_repository, isolated_environment
from tests.support.web import opened, served

FILES = {
    "shop/cart.py": (
        '"""What a customer wants to buy."""\n\nfrom shop.tax import rate\n\n\ndef total(items):\n'
        '    """Add the prices up, with tax."""\n    return rate() * sum(items)\n\n\n'
        "def show(cart):\n    print(total(cart))\n"
    ),
    "shop/tax.py": 'def rate():\n    """Return the usual tax rate."""\n    return 1.2\n',
    "web/basket.js": "function total(items) {\n  return items.reduce((a, b) => a + b, 0); // the price\n}\n",
    "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total():\n    assert total([]) == 0\n",
    "docs/adr/0001-prices.md": (
        "# ADR-0001: Prices are whole cents\n\nStatus: accepted\n\n## Decision\n\n"
        "The total of a cart is computed in whole cents, in shop/cart.py.\n"
    ),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    home = tmp_path_factory.mktemp("web")
    repository = create_repository(home / "shop", isolated_environment(home / "home"), FILES)
    open_app(repository).update()
    return repository


@pytest.fixture(scope="module")
def site(project):
    with served(project.path, project.environment) as found:
        yield found


def test_only_who_knows_the_token_gets_in(site):
    assert site.get("/", {}).status == 401
    assert site.get("/?token=guess", {}).status == 401
    assert site.get("/", {"Cookie": f"gitrag-{site.port}=guess"}).status == 401
    assert site.get("/static/style.css", {}).status == 401
    first = site.get(f"/?token={site.token}", {})
    assert first.status == 200
    set_cookie = first.headers["set-cookie"]
    assert set_cookie == f"gitrag-{site.port}={site.token}; Path=/; HttpOnly; SameSite=Strict"
    assert site.get("/").status == 200
    assert "set-cookie" not in site.get("/").headers


def test_another_host_and_another_origin_are_refused(site):
    evil = {**site.cookie, "Host": "evil.example"}
    assert site.get("/", evil).status == 403
    assert site.get("/", {**site.cookie, "Host": f"evil.example:{site.port}"}).status == 403
    assert site.get("/", {**site.cookie, "Host": f"localhost:{site.port}"}).status == 200
    assert site.get("/", {**site.cookie, "Origin": "http://evil.example"}).status == 403
    assert site.get("/", {**site.cookie, "Origin": "null"}).status == 403
    own = {"Origin": f"http://127.0.0.1:{site.port}"}
    assert site.get("/", {**site.cookie, **own}).status == 200
    of_another = {**site.cookie, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "script"}
    assert site.get("/search?q=total", of_another).status == 403
    assert site.get("/", method="POST").status == 405


def test_every_answer_has_the_policy(site):
    for answer in (site.get("/"), site.get("/nothing"), site.get("/static/style.css"), site.get("/", {})):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "no-store"


def test_nobody_but_this_machine_can_reach_it(site):
    with socket.socket() as other, pytest.raises(OSError, match=r"refused|unreachable"):
        other.connect(("127.0.0.2", site.port))


def test_a_page_of_results_narrowed_by_facets(site):
    page = site.get("/search?q=total+price+of+a+cart").text
    assert "shop/<mark>cart</mark>.py" in page.replace("\n", "")
    assert "Decisions" in page
    assert "ADR-0001: Prices are whole cents" in page
    assert "of 100 answer" in page
    narrowed = site.get("/search?q=total&lang=javascript").text
    assert "web/basket.js" in narrowed
    assert "shop/cart.py" not in narrowed.replace("<mark>", "").replace("</mark>", "")
    of_folder = site.get("/search?q=total&path=web").text
    assert "web/basket.js" in of_folder
    assert "shop/tax.py" not in of_folder


def test_nothing_found_says_what_was_looked_at(site):
    page = site.get("/search?q=zeppelin+quasar").text
    assert "Nothing found" in page
    assert "5 files" in page
    odd = site.get("/search?q=total&lang=klingon").text
    assert "There is no language &#34;klingon&#34;." in odd
    assert site.get("/search?q=total&n=99999999&collection=x&kind=%00").status == 200


def test_what_is_not_there_is_said_in_one_line(site):
    answer = site.get("/no/such/page")
    assert answer.status == 404
    assert "There is no page /no/such/page." in answer.text


def test_no_index_a_taken_port_and_no_browser_are_said_in_a_line(project, make_repository, tmp_path):
    bare = make_repository({"a.py": "x = 1\n"}, name="bare")
    done = Gitrag(bare.path, {**bare.environment, "GITRAG_AUTO_INDEX": "off"})("web", "--no-browser")
    assert (done.status, done.out) == (78, "")
    assert done.said[0] == "No gitrag collections found for bare. Run `gitrag index` first."
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = Gitrag(project.path, project.environment)("web", "--no-browser", "--port", port)
    assert done.status == 2
    assert done.said[0] == f"Cannot serve at 127.0.0.1:{port}: Address already in use."
    with served(
        project.path, {**project.environment, "BROWSER": str(tmp_path / "none")}, "--port", "0"
    ) as site:
        assert site.get("/").status == 200
        site.process.send_signal(signal.SIGINT)
        _out, err = site.process.communicate(timeout=PATIENCE_S)
    assert "No browser could be opened here: open the address above in one." in err
    assert site.process.returncode == 130
    assert "Traceback" not in err


def test_the_browser_gets_no_token_as_an_argument(project, tmp_path):
    """Other users of the machine can read the arguments of programs."""
    told = tmp_path / "told"
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\nprintf "%s" "$1" >{told}.new\nmv {told}.new {told}\n')
    program.chmod(0o700)
    with served(project.path, {**project.environment, "BROWSER": str(program)}, "--port", "0") as site:
        assert site.get("/").status == 200
        place = told.read_text()
        assert site.token not in place
        file = Path(place.removeprefix("file://"))
        assert site.token in file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600
        with opened(site) as (page, _heard):
            page.goto(place)
            page.wait_for_url(f"http://127.0.0.1:{site.port}/")
            page.fill("#q", "total")
            page.locator(".hit").first.wait_for()
            page.reload()
            assert page.locator(".hit").count()
    assert not file.exists()


def test_it_ends_when_it_is_interrupted(project):
    with subprocess.Popen(
        [GITRAG, "web", "--no-browser"],
        cwd=project.path,
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        _out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_search_as_you_type_by_keyboard_alone(site):
    with opened(site) as (page, heard):
        assert page.url == f"http://127.0.0.1:{site.port}/"  # the token is gone from the address
        assert page.evaluate("document.activeElement.id") == "q"
        page.keyboard.type("total price")
        page.locator(".hit").first.wait_for()
        page.wait_for_function("location.search === '?q=total+price'")
        page.keyboard.press("ArrowDown")
        assert page.evaluate("document.activeElement.className") == "to"
        page.keyboard.press("ArrowDown")
        second = page.locator("a.to").nth(1).get_attribute("href")
        assert page.evaluate("document.activeElement.getAttribute('href')") == second
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowUp")
        assert page.evaluate("document.activeElement.id") == "q"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Escape")
        page.keyboard.type("zeppelin quasar")
        page.get_by_text("Nothing found").wait_for()
        assert heard.dialogs == heard.console == []
