"""``gitrag similar``: what is near a place in meaning, by its stored vector."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.support.command import Gitrag, Project, user_environment
from tests.support.repository import create_repository

RETRY = '''def retry_with_backoff(call, attempts=3):
    """Call again after a failure, waiting longer each time."""
    for attempt in range(attempts):
        try:
            return call()
        except ConnectionError:
            sleep(2 ** attempt)
'''
CLOSE = '''

def close(connection):
    """Close the connection."""
    connection.close()
'''
FILES = {
    "shop/client.py": RETRY + CLOSE,
    "shop/again.py": '''def repeat_until_it_works(action, times=5):
    """Try an action again when it fails, and wait between the attempts."""
    for number in range(times):
        try:
            return action()
        except OSError:
            sleep(number)
''',
    "shop/invoice.py": '''def sum_of_invoices(invoices):
    """Add the amounts of all invoices up."""
    return sum(invoice.amount for invoice in invoices)
''',
    "copies/client.py": RETRY,
    "data.json": '{"retries": 3}\n',
    "tests/test_client.py": "def test_close():\n    assert close(None) is None\n",
    "other/close.py": "def close(door):\n    door.shut()\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory, model_dir) -> Project:
    directory = tmp_path_factory.mktemp("similar")
    environment = user_environment(directory / "home", model_dir)
    git = create_repository(directory / "project", environment, FILES)
    made = Project(git, Gitrag(git.path, environment))
    assert made.gitrag("index", "update", "--no-embed").status == 0
    assert made.gitrag("index", "embed", "--foreground").status == 0
    return made


def found(project: Project, *args: str) -> dict:
    return json.loads(project.gitrag("similar", *args, "--json").out)


def test_the_nearest_comes_first_and_copies_stand_apart(shop):
    said = found(shop, "shop/client.py:4")
    assert said["place"] == {
        "path": "shop/client.py",
        "line_start": 1,
        "line_end": 7,
        "name": "retry_with_backoff",
        "kind": "function",
    }
    assert said["similar"][0]["name"] == "repeat_until_it_works"
    assert [each["path"] for each in said["copies"]] == ["copies/client.py"]
    names = [each["name"] for each in said["similar"]]
    assert "retry_with_backoff" not in names
    cosines = [each["cosine"] for each in said["similar"]]
    assert cosines == sorted(cosines, reverse=True)


def test_a_place_is_named_in_several_ways(shop):
    wanted = found(shop, "shop/again.py:3")
    here = replace(shop, gitrag=replace(shop.gitrag, place=shop.path / "shop"))
    for project, given in (
        (shop, "again.py:3"),
        (shop, "shop/again.py:1-7"),
        (shop, "repeat_until_it_works"),
        (here, "again.py:3"),
        (here, "./again.py:3"),
        (here, "shop/again.py:3"),
    ):
        assert found(project, given) == wanted, given


def test_filters_and_the_limit_count(shop):
    assert len(found(shop, "shop/again.py:3", "-n", "2")["similar"]) == 2
    only = found(shop, "shop/again.py:3", "--path", "shop/**")["similar"]
    assert {each["path"] for each in only} == {"shop/client.py", "shop/invoice.py"}
    assert found(shop, "shop/again.py:3", "--threshold", "0.99")["similar"] == []
    assert shop.gitrag("similar", "shop/again.py:3", "--threshold", "0.99").status == 1


def test_an_edit_counts_at_once(shop):
    file = shop.path / "shop" / "invoice.py"
    before = file.read_text()
    file.write_text(RETRY.replace("retry_with_backoff", "call_again"))
    try:
        assert found(shop, "shop/again.py:3")["similar"][0]["path"] in {"shop/client.py", "shop/invoice.py"}
        assert found(shop, "invoice.py:2")["place"]["name"] == "call_again"
    finally:
        file.write_text(before)


def test_a_new_file_is_known_at_once(shop):
    new = shop.path / "shop" / "brand_new.py"
    new.write_text(RETRY.replace("retry_with_backoff", "call_it_again"))
    try:
        assert found(shop, "brand_new.py:1")["place"]["name"] == "call_it_again"
        new.write_text("\n" * 20 + RETRY.replace("retry_with_backoff", "moved"))
        assert found(shop, "brand_new.py:22")["place"]["name"] == "moved"
    finally:
        new.unlink()
    assert shop.gitrag("similar", "brand_new.py:22").status == 2


def test_its_forms_open_from_where_one_stands(shop):
    here = replace(shop.gitrag, place=shop.path / "shop")
    assert here("similar", "again.py:1", "-o", "paths", "-n", "1").out == "../copies/client.py\n"
    row = here("similar", "client.py:1", "-o", "vimgrep", "-n", "1").out
    assert row == "again.py:1:1:def repeat_until_it_works(action, times=5):\n"
    text = here("similar", "client.py:1", "-o", "text")
    assert text.out.startswith("again.py:1-7  function repeat_until_it_works  0.")
    assert text.said == [
        "Similar to shop/client.py:1-7 (function retry_with_backoff)",
        "1 exact copy: copies/client.py:1-7",
    ]
    assert here("similar", "client.py:1", "-o", "markdown").out.startswith(
        "## Similar to shop/client.py:1-7 (function retry_with_backoff)\n\n- **shop/again.py** (cosine: 0."
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("client.py:1", "client.py:1 may be copies/client.py, shop/client.py."),
        ("close", "close may be other/close.py:1 (close), shop/client.py:10 (close)."),
        ("no_such_thing", "No indexed file or definition is called 'no_such_thing'."),
        ("shop/again.py:99", "shop/again.py has no text on line 99: its last is 7."),
        ("data.json:1", "data.json:1 has no vector"),
    ],
)
def test_what_is_not_clear_is_said_with_the_candidates(shop, given, said):
    done = shop.gitrag("similar", given)
    assert (done.status, done.out) == (2, "")
    assert said in done.said[0]


@pytest.mark.parametrize("command", [("similar", "shop/client.py:4"), ("related", "--duplicates", "retry")])
def test_a_threshold_that_is_no_number_is_refused(shop, command):
    done = shop.gitrag(*command, "--threshold", "nan")
    assert (done.status, done.out) == (2, "")
    assert "is not a number" in done.err


def test_beside_exact_copies_alone_the_status_says_found(shop):
    done = shop.gitrag("similar", "shop/client.py:4", "--threshold", "0.999", "-o", "text")
    assert done.status == 0
    assert "Nothing else was found with these options." in done.err
    assert "1 exact copy: copies/client.py:1-7" in done.err
