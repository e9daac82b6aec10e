"""Pictures of calls, in a real browser: Chromium, or a skip where there is none."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from tests.support.command import Gitrag
from tests.support.indexes import open_app
from tests.support.web import browser

FILES = {
    "shop/cart.py": (
        "from shop.tax import rate\n\n\ndef total(items):\n    return rate() * len(items)\n\n\n"
        "def show(cart):\n    print(total(cart))\n"
    ),
    "shop/tax.py": "def rate():\n    return 1.2  # the usual one\n",
    "shop/view.py": "from shop import cart\n\n\nclass Page:\n    def draw(self):\n        cart.total([])\n",
    "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total():\n    assert total([]) == 0\n",
}


@pytest.fixture
def project(make_repository):
    return make_repository(FILES, indexed=True)


def drawn(repository, *args):
    done = Gitrag(repository.path, repository.environment)("graph", *args)
    assert done.status == 0, done.err
    return done.out


@contextmanager
def opened(html, directory, **options):
    """The page in a browser without a network; what it says and asks for is collected in ``heard``."""
    place = directory / "page.html"
    place.write_text(html, "utf-8")
    heard = []
    with browser() as running:
        page = running.new_context(offline=True, **options).new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: heard.append(request.url))
        page.goto(place.as_uri())
        assert heard == [place.as_uri()]  # nothing else is asked for
        heard.clear()
        yield page, heard


def names(page):
    return set(page.locator("#picture .node:visible .name").all_text_contents())


def test_a_page_is_searched_clicked_and_moved(project, tmp_path):
    html = drawn(project, "total", "--format", "html")
    with opened(html, tmp_path) as (page, heard):
        assert names(page) == {"total", "rate", "Page.draw", "show"}
        page.get_by_label("1 test").click()  # they are folded at first
        assert names(page) == {"total", "rate", "Page.draw", "show", "test_total"}
        page.fill("#search", "tax")
        assert page.locator("#picture .found:visible .name").all_text_contents() == ["rate"]
        page.keyboard.press("Enter")
        about = page.locator("#about")
        assert about.locator("h2").text_content() == "rate"
        assert "the usual one" in about.locator("pre").text_content()
        area, row = (
            page.locator("#picture").bounding_box(),
            page.locator("#picture .chosen:visible").bounding_box(),
        )
        assert area["x"] < row["x"]  # found, and in sight beside what is said of it
        assert row["x"] + row["width"] < area["x"] + area["width"]
        about.get_by_role("button", name="total").click()
        assert about.locator("h2").text_content() == "total"
        assert about.locator(".calls-here").text_content().endswith("return rate() * len(items)")
        about.get_by_role("button", name="shop/cart.py:9").click()  # where show calls it
        assert about.locator("h2").text_content() == "show"
        assert about.locator(".here").text_content().endswith("print(total(cart))")
        about.get_by_role("button", name="shop/cart.py:9").click()  # where it calls total
        assert about.locator("h2").text_content() == "show"
        before = page.locator("#picture").get_attribute("viewBox")
        page.keyboard.press("Escape")
        page.mouse.move(300, 600)
        page.mouse.down()
        page.mouse.move(400, 650)
        page.mouse.up()
        page.mouse.wheel(0, -200)
        assert page.locator("#picture").get_attribute("viewBox") != before
        page.locator("#picture .node:visible", has_text="show").click()
        assert about.locator("h2").text_content() == "show"
        assert heard == []


def test_columns_are_in_the_order_of_calls_and_nothing_overlaps(project, tmp_path):
    html = drawn(project, "total", "--format", "html", "--tests")
    with opened(html, tmp_path) as (page, _heard):
        boxes = {
            each.locator(".name").text_content(): each.bounding_box()
            for each in page.locator("#picture .node:visible").all()
        }
        assert boxes["test_total"]["x"] < boxes["total"]["x"] < boxes["rate"]["x"]
        cards = [each.bounding_box() for each in page.locator("#picture .sheet:visible").all()]
        for place, one in enumerate(cards):
            for other in cards[place + 1 :]:
                apart = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
                below = one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]
                assert apart or below


ATTACKS = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"'><svg onload=alert(3)>",
    "</title></style><iframe srcdoc='<script>alert(4)</script>'></iframe>",
    "]]><!-- {data} %s ${alert(5)} -->",
    "</svg><a href=javascript:alert(6)>x</a>",
    "&lt;script&gt;alert(7)&lt;/script&gt;\u2028\u202e",
)


def test_no_name_and_no_code_becomes_script(make_repository, tmp_path):
    """A repository is others' text: names of files, names in files that are no Python, strings, titles."""
    calls = "".join(f"    # {attack}\n    bad({attack!r})\n" for attack in ATTACKS)
    files = {
        f"{attack.replace('/', ' of ')}.py": f"from bad import bad\n\n\ndef f{n}():\n    bad(1)\n"
        for n, attack in enumerate(ATTACKS)
    }
    files |= {"bad.py": f"def bad(text):\n    pass\n\n\ndef all_of_them():\n{calls}"}
    repository = make_repository(files)
    open_app(repository).update()
    html = drawn(repository, "bad", "--format", "html")
    assert "f0" in html
    with opened(html, tmp_path) as (page, heard):
        assert names(page) >= {"bad", "all_of_them", "f0", "f6"}
        page.locator("#picture .node:visible", has_text="all_of_them").click()
        assert "alert(1)" in page.locator("#about pre").text_content()
        for name in ("f0", "f3", "f6"):
            page.fill("#search", name)
            page.keyboard.press("Enter")
            assert page.locator("#about h2").text_content() == name
        assert page.locator("script").count() == 2
        assert page.locator("iframe, img, a").count() == 0
        assert heard == []
    with opened(
        drawn(repository, "--filter", "bad|<img src=x onerror=alert>", "--format", "html"),
        tmp_path,
    ) as (page, heard):
        assert "<img src=x" in page.title()
        assert heard == []


def test_a_script_that_is_not_the_pages_own_does_not_run(project, tmp_path):
    """The second wall: even markup that got through would be inert."""
    html = drawn(project, "total", "--format", "html")
    injected = html.replace("<footer>", "<footer><img src=x onerror=alert(1)><script>alert(2)</script>")
    place = tmp_path / "page.html"
    place.write_text(injected, "utf-8")
    said = []
    with browser() as running:
        page = running.new_context().new_page()
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        refused = []
        page.on("console", lambda message: refused.append(message.text))
        page.goto(place.as_uri())
        page.wait_for_timeout(200)
    assert said == []
    assert any("Content Security Policy" in each for each in refused)


def test_the_same_graph_gives_the_same_bytes_which_say_what_they_leave_out(project):
    page = drawn(project, "total", "--format", "html")
    assert page == drawn(project, "total", "--format", "html")
    assert "<footer>solid: certain call · dashed: likely</footer>" in page
    assert '<input id="tests" type="checkbox"> 1 test</label>' in page


def test_a_terminal_gets_no_picture(project):
    done = Gitrag(project.path, project.environment).on_terminal("graph", "total", "--format", "html")
    assert done.status == 2
    assert "html is for a file, not for a terminal." in done.out
