"""What bug reports find: a real index of a small repository."""

from __future__ import annotations

import pytest

from gitrag.actions.search import SearchOptions, search
from gitrag.workspace import Workspace
from tests.support.indexes import asked_often, of_texts
from tests.support.repository import create_repository, isolated_environment

FILES = {
    "src/house/__init__.py": '"""Doors, locks and keys of a house."""\n\nfrom house.doors import Door\n',
    "src/house/doors.py": '''\
"""Doors."""

from house.locks import Lock


class Door:
    """A door with a lock."""

    def open(self, key):
        """Open the door with a key."""
        self.lock = Lock()
        return self.lock.turn(key)

    def close(self):
        """Close the door."""
        self.is_open = False
''',
    "src/house/locks.py": '''\
"""Locks."""


class Lock:
    """A lock."""

    def turn(self, key):
        """Turn the key in the lock."""
        return self.keys[key]

    def oil(self):
        """Oil the lock."""
        return 1
''',
    "src/house/alarm.py": '''\
"""What is said when something is wrong."""


def complain(name, count):
    """Say it."""
    raise RuntimeError(
        "the inspector %s found %d broken "
        "hinges in this corridor" % (name, count)
    )
''',
    "src/house/window.py": "def shut(window):\n    return window.close()\n",
    "tests/test_doors.py": '''\
from house.doors import Door


def test_doors_stay_closed_after_they_were_opened_twice():
    """A door that is opened twice with the same key stays closed."""
    door = Door()
    door.open("key")
    door.open("key")
    assert not door.is_open
''',
    "CHANGES.rst": "Changes\\n=======\n\nOpening a door twice with the same key keeps the door closed.\n" * 5,
    "src/house/locale/de.po": 'msgid "door is opened twice with the same key"\nmsgstr "Tuer"\n' * 5,
}

SAID = """
When a door is opened twice with the same key, it does not stay closed. It worked in the last release, as far
as I remember. It would be nice if doors stayed closed.
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory) -> Workspace:
    environment = isolated_environment(tmp_path_factory.mktemp("home"))
    repository = create_repository(tmp_path_factory.mktemp("project") / "p", environment, FILES)
    return asked_often(repository)


def hits(workspace, text, **options):
    return search(workspace, text, SearchOptions(**options)).hits


def test_the_deepest_frame_in_the_repository_comes_first(workspace):
    found = hits(
        workspace,
        """It crashes

I call it as the manual says and it crashes, on every machine that I have. Please help me.

```
Traceback (most recent call last):
  File "/home/me/try.py", line 3, in <module>
    Door().open(3)
  File "/usr/lib/python3/site-packages/house/doors.py", line 12, in open
    return self.lock.turn(key)
  File "/usr/lib/python3/site-packages/house/locks.py", line 9, in turn
    return self.keys[key]
  File "/usr/lib/python3/collections/__init__.py", line 1010, in __getitem__
    raise KeyError(key)
KeyError: 3
```
""",
    )
    assert {hit.path for hit in found[:2]} == {"src/house/locks.py", "src/house/doors.py"}
    assert found[0].path == "src/house/locks.py"
    assert found[0].chunk.qualified_name == "Lock.turn"


def test_a_filled_template_finds_its_code(workspace):
    found = hits(
        workspace,
        f"""A strange message
{SAID}
RuntimeError: the inspector Alice found 12 broken hinges in this corridor
""",
    )
    assert found[0].path == "src/house/alarm.py"
    assert found[0].chunk.name == "complain"


def test_an_imported_name_finds_its_definition(workspace):
    found = hits(
        workspace,
        """Nothing happens

I do this and nothing at all happens, whatever I try, on every machine that I have. Please help me.

```python
from house.locks import Lock
Lock().oil()
```
""",
    )
    assert found[0].path == "src/house/locks.py"


def test_a_path_in_the_text_counts(workspace):
    found = hits(workspace, f"Nothing happens\n{SAID}\nI guess it is in src/house/window.py but who knows.\n")
    assert found[0].path == "src/house/window.py"


def test_tests_changelogs_and_translations_come_after_code(workspace):
    found = [hit.path for hit in hits(workspace, f"Door opened twice with the same key\n{SAID}")]
    assert found[0] == "src/house/doors.py"
    beside = {"tests/test_doors.py", "CHANGES.rst", "src/house/locale/de.po"}
    assert not beside & set(found[:3])


def test_a_page_is_shown_whatever_its_scores(workspace):
    text = f"Door opened twice with the same key\n{SAID}"
    assert [hit.path for hit in hits(workspace, text)] == [
        hit.path for hit in hits(workspace, text, min_score=0.0)
    ]


def test_a_report_is_not_reworded(workspace):
    text = f"Dooor opened twice with the same kei\n{SAID}"
    answer = search(workspace, text)
    assert answer.wording.searched_for == ""
    assert answer.query.startswith("Dooor opened")


def test_line_ends_do_not_matter(workspace):
    text = f"Doors do not open\n{SAID}\n```\nfrom house.locks import Lock\nLock().oil()\n```\n"
    assert [hit.path for hit in hits(workspace, text)] == [
        hit.path for hit in hits(workspace, text.replace("\n", "\r\n"))
    ]


@pytest.mark.parametrize("text", ["Door.open", "src/house/locks.py:9", "where is the key turned"])
def test_a_line_is_no_report(workspace, text):
    assert not any(name.startswith("title") for hit in hits(workspace, text) for name, _ in hit.reasons)


def test_a_frame_in_a_copy_of_another_project_is_not_the_place(tmp_path):
    workspace = of_texts(
        tmp_path,
        {
            "house/doors.py": "def open_door(key):\n    return turn(key)\n",
            "house/packages/urllib3/locks.py": "def turn(key):\n    return KEYS[key]\n",
            "house/packages/urllib3/keys.py": "KEYS = {}\n",
        },
    )
    report = """It crashes

I call it as the manual says and it crashes, on every machine that I have. Please help me.

```
Traceback (most recent call last):
  File "/home/me/try.py", line 3, in <module>
    open_door(3)
  File "/usr/lib/python3/site-packages/house/doors.py", line 2, in open_door
    return turn(key)
  File "/usr/lib/python3/site-packages/house/packages/urllib3/locks.py", line 2, in turn
    return KEYS[key]
KeyError: 3
```
"""
    assert hits(workspace, report)[0].path == "house/doors.py"
