"""``gitrag web``: who gets in, what a page says and does, in a real browser where there is one."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from pathlib import Path
from urllib.parse import quote

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
    assert " % likely<" in page
    narrowed = site.get("/search?q=total&lang=javascript").text
    assert "web/basket.js" in narrowed
    assert "shop/cart.py" not in narrowed.replace("<mark>", "").replace("</mark>", "")
    of_folder = site.get("/search?q=total&path=web").text
    assert "web/basket.js" in of_folder
    assert "shop/tax.py" not in of_folder


def test_the_same_box_searches_exactly_and_has_filters(site):
    exact = site.get("/search?q=/total%5C(%5Cw/").text
    assert "3 lines in 2 files" in exact
    assert "<mark>total</mark>" in exact
    assert "% likely" not in exact
    word = site.get('/search?q="rate"+path:tax.py').text
    assert "2 lines in 1 file" in word
    assert (
        "No line has the word &#39;zeppelin&#39;: 5 files searched." in site.get('/search?q="zeppelin"').text
    )
    assert "missing ]" in site.get("/search?q=/[a/").text
    filtered = site.get("/search?q=total+lang:js+kind:function").text
    assert "web/basket.js" in filtered
    assert "cart.py" not in filtered.replace("<mark>", "").replace("</mark>", "")
    assert "There is no kind &#34;fun&#34;." in site.get("/search?q=total+kind:fun").text
    several = site.get("/search?q=/total/&everywhere=1").text
    assert "An exact search is for one repository" in several


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


def test_a_file_has_a_page_whatever_it_is_called(make_repository):
    names = {
        b"new\nline.py": "x = 1\n",
        b"end.py\n": "x = 1\n",
        b"\xff.py": "x = 1\n",
        b"a?b#c.py": "x = 1\n",
    }
    repository = make_repository(names)
    open_app(repository).update()
    with served(repository.path, repository.environment) as site:
        for name in names:
            for before in ("/file/", "/beside/history/"):
                assert site.get(before + quote(name)).status == 200, (before, name)


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


def test_what_can_be_asked_stands_beside_how(site):
    with opened(site) as (page, _):
        assert (
            page.evaluate(
                "[...document.querySelectorAll('.examples code')].map(each => "
                "each.getBoundingClientRect().left - each.closest('li').getBoundingClientRect().left >= 120)"
            )
            == [True] * 5
        )


def test_search_as_you_type_by_keyboard_alone(site):
    with opened(site) as (page, heard):
        assert page.url == f"http://127.0.0.1:{site.port}/"  # the token is gone from the address
        assert page.evaluate("document.activeElement.id") == "q"
        page.keyboard.type("total price")
        page.locator("h1", has_text="Answers to total price").wait_for(state="attached")
        assert page.url.endswith("/search?q=total+price")
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


def test_enter_opens_the_first_hit_while_the_finished_answer_is_on_its_way(site):
    with opened(site) as (page, _heard):
        page.route(
            "**/search?q=*",
            lambda route: route.continue_() if "x-gitrag-unfinished" in route.request.headers else None,
        )
        with page.expect_request(lambda each: "x-gitrag-unfinished" not in each.headers and "q=" in each.url):
            page.keyboard.type("total price")
            page.locator("h1", has_text="Answers to total price").wait_for(state="attached")
        first = page.locator("a.to").first.get_attribute("href")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**{first}")


def test_who_is_in_the_answer_gets_the_finished_one_when_back_in_the_question(site):
    held = []
    with opened(site) as (page, heard):
        page.route(
            "**/search?q=*",
            lambda route: (
                route.continue_() if "x-gitrag-unfinished" in route.request.headers else held.append(route)
            ),
        )
        with page.expect_request(lambda each: "x-gitrag-unfinished" not in each.headers and "q=" in each.url):
            page.keyboard.type("total price")
            page.locator("h1", has_text="Answers to total price").wait_for(state="attached")
        page.keyboard.press("ArrowDown")
        page.evaluate("document.querySelector('#answer .found').id = 'first'")
        with page.expect_response("**/search?q=total+price") as response:
            held.pop().continue_()
        response.value.finished()
        page.wait_for_timeout(200)  # its script has looked at it
        assert page.locator("#first a.to:focus").count() == 1
        page.keyboard.press("Escape")
        page.locator("#first").wait_for(state="detached")
        assert page.locator(".hit").count()
        assert heard.dialogs == heard.console == []


def test_a_page_whose_server_has_ended_says_so(project):
    with served(project.path, project.environment) as own, opened(own) as (page, _heard):
        own.process.send_signal(signal.SIGINT)
        own.process.wait(PATIENCE_S)
        page.keyboard.type("total")
        page.get_by_text("No answer: start gitrag web again.").wait_for()


def test_a_file_with_its_outline_its_calls_and_its_history(site):
    with opened(site, viewport={"width": 1400, "height": 900}) as (page, heard):
        page.goto(f"http://127.0.0.1:{site.port}/file/shop/cart.py")
        assert page.locator(".outline a:first-child").all_text_contents() == ["total", "show"]
        page.locator("#waiting").wait_for(state="detached")
        beside = page.locator("#beside").text_content()
        assert "First" in beside  # the commit's subject
        assert "ADR-0001: Prices are whole cents" in beside
        assert page.locator(".source .defined").all_text_contents() == ["rate", "total"]
        page.locator(".source .defined").first.click()
        page.wait_for_url("**/file/shop/tax.py#L1")
        assert page.locator("#L1.here").count() == 1
        page.goto(f"http://127.0.0.1:{site.port}/file/shop/cart.py#L6-L8")
        assert page.locator(".source .here").count() == 3
        page.locator(".outline li").first.hover()
        page.get_by_label("Calls around total").click()
        page.locator("#picture .node:visible", has_text="rate").wait_for()
        page.locator("#picture .node:visible", has_text="show").click()
        assert page.locator("#about h2").text_content() == "show"
        page.get_by_text("Walk on from here").click()
        page.wait_for_url("**/calls?target=shop*cart.py*show")
        assert page.locator("#picture .match .name").text_content() == "show"
        assert heard.dialogs == heard.console == []


def test_a_history_that_cannot_be_read_is_said_beside_the_file(make_repository):
    repository = make_repository({"a.py": "one = 1\ntwo = 2\n"})
    first = repository.git("rev-parse", "HEAD:a.py").strip()
    repository.commit({"a.py": "one = 1\ntwo = 3\n"}, "Change")
    open_app(repository).update()
    (repository.path / ".git/objects" / first[:2] / first[2:]).unlink()
    with served(repository.path, repository.environment) as site, opened(site) as (page, _heard):
        page.goto(f"http://127.0.0.1:{site.port}/file/a.py")
        page.locator("#waiting").wait_for(state="detached")
        beside = page.locator("#beside")
        assert f"git blame a.py fails: Cannot read blob {first}" in beside.text_content()
        assert "None likely bears on this file." in beside.text_content()


def test_go_to_a_file_by_keyboard_alone_and_walk_the_folders(site):
    with opened(site) as (page, heard):
        page.keyboard.press("Escape")
        page.locator("#main").focus()
        page.keyboard.press("t")
        page.wait_for_url("**/files")
        page.locator("#find:focus").wait_for()
        assert page.locator("#answer a.to").all_text_contents() == ["docs/", "shop/", "tests/", "web/"]
        page.keyboard.type("shcart:7")
        page.wait_for_url("**/files?q=shcart%3A7")
        assert page.locator("#answer a.to").all_text_contents() == ["shop/cart.py"]
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**/file/shop/cart.py#L7")
        page.locator("h1 a", has_text="shop").last.click()
        page.wait_for_url("**/files?in=shop")
        assert page.locator("#answer a.to").all_text_contents() == ["cart.py", "tax.py"]
        page.locator("#find:focus").wait_for()
        page.keyboard.type("basket")
        page.get_by_text("0 files").wait_for()
        assert heard.dialogs == heard.console == []


def test_a_file_is_found_by_a_number_in_its_name(site):
    found = site.get("/files?q=0001").text
    assert re.findall('<a class="to" href="([^"]+)"', found) == ["/file/docs/adr/0001-prices.md"]


def test_where_a_name_is_defined_called_and_named_besides(site):
    with opened(site) as (page, heard):
        page.goto(f"http://127.0.0.1:{site.port}/file/shop/cart.py")
        page.locator("#L6 .f").click()
        page.locator("a.named").click()
        page.wait_for_url("**/references?target=total")
        assert [each.split(":")[0] for each in page.locator("h2").all_text_contents()] == [
            "defined",
            "called",
            "imported",
            "in comments, strings and documents",
        ]
        page.get_by_text("shop/cart.py:12").click()
        page.wait_for_url("**/file/shop/cart.py#L12")
        nothing = site.get("/references?target=nothing_of_this_name")
        assert nothing.status == 404
        assert site.get("/references?target=").status == 404
        assert heard.dialogs == heard.console == []


def test_who_made_each_line_what_it_is_at_the_revision_shown(make_repository):
    repository = make_repository({"a.py": "one = 1\ntwo = 2\nthree = 3\n"})
    first = repository.git("rev-parse", "HEAD").strip()
    (repository.path / "a.py").write_text("one = 1\ntwo = 22\nthree = 3\n")
    repository.git("commit", "-qam", "Change <two>")
    second = repository.git("rev-parse", "HEAD").strip()
    (repository.path / "a.py").write_text("zero = 0\none = 1\ntwo = 22\nthree = 3\n")
    open_app(repository).update()
    with served(repository.path, repository.environment) as site:

        def gutter(address):
            page = site.get(address).text.split('class="source"')[1]
            return [each[:8] for each in re.findall(r'class="by">(?:<a [^>]*>)?([^<]*)<', page)]

        assert 'class="by"' not in site.get("/file/a.py").text.split('class="source"')[1]
        now = gutter("/file/a.py?blame=1")
        assert now == ["not comm", first[:8], second[:8], first[:8]]
        assert gutter(f"/file/a.py?rev={second}&blame=1") == [first[:8], second[:8], first[:8]]
        assert gutter("/file/a.py?rev=HEAD~1&blame=1") == [first[:8], "", ""]
        assert "Change &lt;two&gt;&#10;" in site.get("/file/a.py?blame=1").text


def test_a_path_lines_a_permalink_the_forge_and_the_editor(make_repository):
    repository = make_repository({"src/a b.py": "one = 1\ntwo = 2\nthree = 3\n"})
    head = repository.git("rev-parse", "HEAD").strip()
    repository.git("remote", "add", "origin", "git@github.com:team/shop.git")
    open_app(repository).update()
    environment = {**repository.environment, "VISUAL": "/usr/bin/code --wait"}
    allowed = {"permissions": ["clipboard-read", "clipboard-write"]}
    with served(repository.path, environment) as site, opened(site, **allowed) as (page, heard):
        own = f"http://127.0.0.1:{site.port}"
        page.goto(f"{own}/file/src/a%20b.py")
        assert page.get_by_text("At github.com").count() == 0  # no branch of the remote has it
        repository.git("update-ref", "refs/remotes/origin/main", "HEAD")
        page.reload()
        forge = page.get_by_text("At github.com")
        editor = page.get_by_text("In VS Code")
        at = f"https://github.com/team/shop/blob/{head}/src/a%20b.py"
        assert forge.get_attribute("href") == at
        page.goto(f"{own}/file/src/a%20b.py#L2-L3")
        assert forge.get_attribute("href") == f"{at}#L2-L3"
        opens = f"vscode://file{quote(str(repository.path))}/src/a%20b.py"
        assert editor.get_attribute("href") == f"{opens}:2"
        page.get_by_role("button", name="Copy path").click()
        page.get_by_text("Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == "src/a b.py:2-3"
        page.get_by_role("button", name="Copy lines").click()
        page.get_by_text("Copied").nth(1).wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == (
            "src/a b.py:2-3\n```python\ntwo = 2\nthree = 3\n```\n"
        )
        page.keyboard.press("y")
        page.wait_for_url(f"**/file/src/a%20b.py?rev={head}#L2-L3")
        assert editor.count() == 0
        page.keyboard.press("b")
        page.wait_for_url("**&blame=1#L2-L3")
        assert {each.split("/")[2] for each in heard.requests} == {f"127.0.0.1:{site.port}"}
        repository.git("remote", "set-url", "origin", 'https://gitlab.evil/"><script>alert(1)</script>/x.git')
        assert "alert(1)" not in site.get("/file/src/a%20b.py").text
        repository.git("remote", "set-url", "origin", "javascript://github.com/team/x")
        assert "javascript:" not in site.get("/file/src/a%20b.py").text
        assert heard.dialogs == []


def test_what_is_not_committed_is_marked_and_a_revision_is_as_it_was(make_repository):
    repository = make_repository({"a.py": "one = 1\ntwo = 2\n", "b.bin": b"\0\1"})
    open_app(repository).update()
    (repository.path / "a.py").write_text("one = 1\ntwo = 22\nthree = 3\n")
    (repository.path / "new.py").write_text("fresh = True\n")
    with served(repository.path, repository.environment) as site:
        page = site.get("/file/a.py").text
        assert "2 lines not committed" in page
        assert [f'id="L{number}" class="new"' in page for number in (1, 2, 3)] == [False, True, True]
        assert "1 line not committed" in site.get("/file/new.py").text
        then = site.get("/file/a.py?rev=HEAD").text
        assert "22" not in then.split('class="source"')[1]
        assert "not committed" not in then
        for path, status in {
            "/file/none.py": 404,
            "/file/b.bin": 404,
            "/file/a.py?rev=nonsense": 404,
            "/file/a.py?rev=--help": 404,
            "/file/../../etc/passwd": 404,
            "/file/%2e%2e/%2e%2e/etc/passwd": 404,
            "/file/.git/config": 404,
            "/file//etc/passwd": 404,
            "/file/": 404,
            "/beside/history/none.py": 404,
            "/beside/nothing/a.py": 404,
            "/calls?target=nothing_of_this_name": 200,
            "/calls?target=%00": 200,
        }.items():
            answer = site.get(path)
            assert answer.status == status, path
            assert "hit a bug" not in answer.text, path
            assert "root:" not in answer.text


ATTACKS = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"'><svg onload=alert(3)>",
    "</code></title></style><iframe srcdoc='<script>alert(4)</script>'></iframe>",
    "]]><!-- {{ 7*7 }} {% raw %} ${alert(5)} -->",
    "[click](javascript:alert(6)) <a href=javascript:alert(6)>x</a>",
    "&lt;script&gt;alert(7)&lt;/script&gt;\u2028\u202e",
)
EVERY_ATTACK = "\n".join(ATTACKS)


@pytest.fixture
def hostile(make_repository):
    """A repository whose every text tries to become script."""
    names = {
        f"{attack.replace('/', ' of ')}.py": f"from bad import bad\n\n\ndef f{n}():\n    bad(1)  # {attack}\n"
        for n, attack in enumerate(ATTACKS)
    }
    files = {
        **names,
        "bad.py": f"def bad(text):\n    {EVERY_ATTACK!r}\n\n\ndef all_of_them():\n"
        + "".join(f"    # {attack}\n    bad({attack!r})\n" for attack in ATTACKS),
        "page.html": f"<html><body onload=alert(8)>{EVERY_ATTACK}</body></html>\n",
        "image.svg": '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(9)"><script>a()</script></svg>\n',
        "README.md": f"# Attacks\n\n{EVERY_ATTACK}\n",
        "docs/adr/0001-bad.md": f"# ADR-0001: {ATTACKS[1]}\n\nStatus: ok{ATTACKS[0]}\n\n{EVERY_ATTACK}\n",
        ".sdd/issues/1.md": f"---\nid: '1'\ntitle: \"bad {ATTACKS[1]}\"\nstatus: open\n---\n{EVERY_ATTACK}\n",
    }
    repository = make_repository(files, name="hostile")
    (repository.path / "bad.py").write_text(files["bad.py"] + "\n\nlast = 1\n")
    repository.git("commit", "-aqm", f"Change bad {ATTACKS[1]}\n\nBecause {EVERY_ATTACK}")
    open_app(repository).update()
    return repository


def test_nothing_of_a_repository_becomes_script(hostile):
    with served(hostile.path, hostile.environment) as site, opened(site) as (page, heard):
        own = f"http://127.0.0.1:{site.port}"
        addresses = [
            "/search?q=bad+alert+script",
            "/search?q=%3Cimg+src%3Dx+onerror%3Dalert(2)%3E",
            "/search?q=zeppelin&path=%3Cimg+src%3Dx+onerror%3Dalert(2)%3E",
            "/file/bad.py",
            "/file/page.html",
            "/file/image.svg",
            "/file/README.md",
            "/file/docs/adr/0001-bad.md",
            "/file/bad.py?rev=HEAD~1",
            "/file/bad.py?rev=%3Cscript%3Ealert(1)%3C/script%3E",
            "/calls?target=bad",
            "/map",
            "/map?by=matches&q=%3Cimg+src%3Dx+onerror%3Dalert(2)%3E&in=%3Cscript%3E",
            "/calls?target=%3Cimg+src%3Dx+onerror%3Dalert(2)%3E",
            "/%3Cscript%3Ealert(1)%3C/script%3E",
        ]
        addresses += [f"/file/{quote(path.name)}" for path in hostile.path.glob("*.py")]
        for address in addresses:
            assert page.goto(own + address).headers["content-type"].startswith("text/html")
            if page.locator("#waiting").count():
                page.locator("#waiting").wait_for(state="detached")
            scripts = page.eval_on_selector_all(
                "script", "found => found.map(each => each.getAttribute('src'))"
            )
            assert all(each is None or each.startswith("/static/") for each in scripts), address
            assert page.locator("iframe, img, object, embed, [onload], [onerror]").count() == 0, address
            assert page.locator("a[href^='javascript']").count() == 0, address
            assert "49" not in page.title()
        page.goto(f"{own}/file/bad.py")
        page.locator("#waiting").wait_for(state="detached")
        assert "<img src=x onerror=alert(2)>" in page.locator("#beside").text_content()
        page.goto(f"{own}/calls?target=bad")
        page.locator("#picture .node:visible", has_text="all_of_them").click()
        assert "alert(1)" in page.locator("#about pre").text_content()
        page.goto(own)
        page.locator("#q").press_sequentially("bad alert")
        page.locator(".hit").first.wait_for()
        assert heard.dialogs == []
        assert [each for each in heard.console if "404" not in each] == []
        assert {request.split("/")[2] for request in heard.requests} == {f"127.0.0.1:{site.port}"}


@pytest.mark.sweep(keep=0)
def test_a_file_made_to_hold_up_whoever_colours_it_is_shown_without_colours(make_repository):
    repository = make_repository({"Bad.java": f"{'a ' * 900}\n" * 200, "good.py": "def good(): pass\n"})
    open_app(repository).update()
    with served(repository.path, repository.environment) as site:
        bad = site.get("/file/Bad.java").text
        assert bad.count("<code>a a a a ") == 200
        assert '<span class="k">def</span>' in site.get("/file/good.py").text


def test_a_script_that_is_not_the_pages_own_does_not_run(site):
    """The second wall: even markup that got through would be inert."""
    with opened(site) as (page, heard):
        page.evaluate(
            """() => {
              const script = document.createElement("script");
              try { script.textContent = "alert(1)"; } catch (error) { console.error(String(error)); }
              document.body.append(script);
              const image = document.createElement("img");
              image.setAttribute("src", "data:,");
              document.body.append(image);
            }"""
        )
        with pytest.raises(Exception, match="TrustedHTML"):
            page.evaluate("document.body.innerHTML = '<img src=x onerror=alert(2)>'")
        page.wait_for_function("document.images[0].complete")
        assert heard.dialogs == []
        assert any("Content Security Policy" in each for each in heard.console)


def test_a_map_of_the_files_by_lines(site):
    said = {"age": "last changed", "churn": "1 commit", "vectors": "texts refined", "matches": "score 0."}
    for by in ("language", *said, "nonsense"):
        page = site.get(f"/map?by={by}&q=total+price").text
        assert "5 files with text, 30 lines" in page
        shown = page.replace(' tabindex="-1"', "")
        assert 'href="/file/shop/cart.py"><title>shop/cart.py: 12 lines, ' in shown
        assert said.get(by, "12 lines, python") in page
    assert "2 files with text, 15 lines" in site.get("/map?in=shop").text
    assert "No file is indexed here." in site.get("/map?in=no/such/folder").text


def test_the_state_of_the_index_and_its_checks(site):
    page = site.get("/state").text
    assert "up to date" in page
    assert "shop-adrs" in page
    assert "main: indexed" in page
    assert "Background worker" in page
    assert "Refined over time" in page
    assert 'aria-label="From 0 % to 0 % of texts in ' in page
    checked = site.get("/state?checks=1").text
    assert "grammars" in checked
    assert "languages parsed" in checked
    by_a_link = {**site.cookie, "Sec-Fetch-Site": "same-site", "Sec-Fetch-Dest": "document"}
    elsewhere = site.get("/state?checks=1", by_a_link)
    assert elsewhere.status == 200
    assert "languages parsed" not in elsewhere.text


def test_a_broken_list_of_repositories_leaves_the_one_here_its_page(make_repository):
    repository = make_repository({"a.py": "def total(): pass\n"})
    open_app(repository).update()
    environment = {**repository.environment, "XDG_STATE_HOME": str(repository.path.parent / "state")}
    listed = repository.path.parent / "state" / "gitrag" / "repositories.json"
    listed.parent.mkdir(parents=True)
    listed.write_text("{")
    with served(repository.path, environment) as site:
        assert site.get("/").status == 200
        found = site.get("/search?q=total")
        assert found.status == 200
        assert "/file/a.py" in found.text
        assert f"No other repository is asked: {listed} is no list of repositories" in found.text
        assert site.get("/state").status == 200
        assert "is no list of repositories" in site.get("/repositories").text
        assert "is no list of repositories" in site.get("/search?q=total&everywhere=1").text
        assert site.get("/state?repo=other").status == 503
        listed.write_text('{"repositories": []}')
        assert "is no list of" not in site.get("/search?q=total").text


PAGES = (
    "/",
    "/search?q=/total/",
    "/files",
    "/files?in=shop&q=cart",
    "/file/shop/cart.py?blame=1",
    "/references?target=total",
    "/search?q=total+price",
    "/search?q=zeppelin",
    "/file/shop/cart.py",
    "/calls?target=total",
    "/state",
)


@pytest.mark.sweep(keep=2)
@pytest.mark.parametrize(
    ("width", "scheme"), [(360, "light"), (1280, "dark"), (1280, "light"), (2560, "dark")]
)
def test_every_page_fits_every_width_and_is_usable_with_a_screen_reader(site, width, scheme, some):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    with opened(site, viewport={"width": width, "height": 900}, color_scheme=scheme) as (page, heard):
        page.add_init_script(
            "window.shifts = []; new PerformanceObserver(list => {"
            " for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifts.push(each.value);"
            "}).observe({type: 'layout-shift', buffered: true})"
        )
        for address in some(PAGES, keep=4):
            page.goto(f"http://127.0.0.1:{site.port}{address}")
            if page.locator("#waiting").count():
                page.locator("#waiting").wait_for(state="detached")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, address
            assert sum(page.evaluate("window.shifts")) < 0.01, address
            found = axe.run(page).response["violations"]
            bad = [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] != "minor"]
            assert bad == [], address
        assert heard.dialogs == []


def test_a_question_being_typed_is_asked_again_after_a_pause(site):
    with opened(site) as (page, heard):
        page.keyboard.type("totl")
        page.get_by_text('searched for "total"').first.wait_for()
        page.keyboard.type(" price")
        page.locator("h1", has_text="Answers to totl price").wait_for(state="attached")
        assert heard.dialogs == heard.console == []
