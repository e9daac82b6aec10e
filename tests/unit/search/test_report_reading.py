"""Bug reports of many shapes."""

from __future__ import annotations

import pytest

from gitrag.search import question
from gitrag.search.report_names import Place
from gitrag.search.report_reading import read
from gitrag.search.tracebacks import Frame

GITHUB = """\
### Opening a door twice raises KeyError
<!-- Please be sure to check out our contributing guidelines. -->

### Description

When a door is opened twice, the key is gone. I expected it to stay in the lock.

- [x] I have searched the existing issues

### Steps to Reproduce

```python
>>> from house.doors import Door as D, open_all
>>> d = D("front")
>>> d.open(key=3)
Door is open
>>> d.open(key=3)
Traceback (most recent call last):
  File "<stdin>", line 1, in <module>
  File "/usr/lib/python3/site-packages/house/doors.py", line 12, in open
    self.lock.turn(key)
  File "/usr/lib/python3/site-packages/house/locks.py", line 30, in turn
    return self._keys[key]
           ~~~~~~~~~~^^^^^
KeyError: 'no key 3 in this lock'
```

### Environment

```
house 1.2.3
Linux-5.15.0-x86_64-with-glibc2.35
```

I run it in a container.

### Additional context

_No response_
"""


def reading(text):
    found = read(text)
    assert found is not None
    return found


def names(text):
    return {name.text: name for name in reading(text).names}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "where are doors opened",
        "Door.open",
        "\n\nwhere are doors opened\n",
        'File "src/door.py", line 3, in open',
        "src/door.py:3",
        "open a door\nclose a door",
        "where are doors opened " * 40,
    ],
)
def test_a_question_is_no_report(text):
    assert read(text) is None
    assert question.read(text).report is None


@pytest.mark.parametrize(
    "text",
    [
        GITHUB,
        "Doors stay open\n\n" + "The door stays open after it was closed. " * 4,
        "doors\n```\nopen()\n```",
        'Traceback (most recent call last):\n  File "a.py", line 1, in b\nKeyError: 1',
        "TypeError: x is not a function\n    at open (src/door.js:3:5)",
    ],
)
def test_several_lines_are_a_report(text):
    assert read(text) is not None
    assert question.read(text).report is not None
    assert question.read(text, may_be_report=False).report is None


def test_a_template_is_left_out():
    found = reading(GITHUB)
    assert found.title == "Opening a door twice raises KeyError"
    assert found.sentences == (
        "When a door is opened twice, the key is gone.",
        "I expected it to stay in the lock.",
    )


def test_frames_begin_with_the_deepest():
    assert [(frame.path, frame.line, frame.name) for frame in reading(GITHUB).frames] == [
        ("/usr/lib/python3/site-packages/house/locks.py", 30, "turn"),
        ("/usr/lib/python3/site-packages/house/doors.py", 12, "open"),
        ("<stdin>", 1, ""),
    ]


def test_the_message_of_an_exception_comes_first():
    assert reading(GITHUB).messages == ("'no key 3 in this lock'", "Door is open")


def test_an_alias_is_written_out_and_what_the_report_defines_is_left_out():
    found = names(GITHUB)
    assert found["house.doors.Door"].place is Place.CODE
    assert found["house.doors.open_all"].used
    assert "d" not in found
    assert "d.open" not in found
    assert found["KeyError"].place is Place.TITLE


def test_tracebacks_in_a_row_keep_their_order():
    head = "Traceback (most recent call last):"
    one = head + '\n  File "{}.py", line 1, in f\n  File "{}.py", line 2, in g\n{}\n\n'
    text = "Doors\n\n" + one.format("a", "b", "KeyError: one two three") + one.format("c", "d", "ValueError")
    assert [frame.path for frame in reading(text).frames] == ["b.py", "a.py", "d.py", "c.py"]


def test_a_traceback_with_the_deepest_call_first_keeps_its_order():
    frames = "    at open (src/door.js:3:5)\n    at main (src/main.js:1:1)\n"
    found = reading(f"Crash\n\nTypeError: door is not a function\n{frames}")
    assert [frame.path for frame in found.frames] == ["src/door.js", "src/main.js"]
    assert found.messages == ("door is not a function",)


def test_the_source_that_ipython_quotes_is_not_code():
    text = """\
Doors do not open
```
File ~/house/doors.py:33, in Door.open(self)
     31 def open(self):
     32     # comment_in_source
---> 33     return quoted_source()

KeyError: 3
```
"""
    found = reading(text)
    assert found.frames == (Frame("~/house/doors.py", 33, "open"),)
    assert not {"quoted_source", "comment_in_source"} & {name.text for name in found.names}


def test_a_report_without_a_title_takes_its_error():
    text = 'Traceback (most recent call last):\n  File "a.py", line 1, in b\nKeyError: the key is missing\n'
    assert reading(text).title == "the key is missing"


def test_a_template_s_heading_is_no_title():
    text = (
        "## Description\n\nDoors stay open after closing them twice. They should.\n\n## Version\n1.2.3\n" * 2
    )
    assert reading(text).title == "Doors stay open after closing them twice."


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("# [Bug]: Doors stay open", "Doors stay open"),
        ("Bug report: doors stay open", "doors stay open"),
        ("<b>Doors</b> stay   open", "Doors stay open"),
        ("[x] is ignored", "is ignored"),
    ],
)
def test_labels_and_marks_are_no_part_of_a_title(title, expected):
    assert reading(f"{title}\n\n```\nopen()\n```\n").title == expected


@pytest.mark.parametrize(
    "line",
    [
        "house 1.2.3",
        "- numpy: 1.22.3",
        "numpy==1.22.3",
        "Python 3.10.2 (main, Feb  2 2022, 05:51:25) [Clang 13.0.0]",
        "[GCC 4.8.5 20150623 (Red Hat 4.8.5-44)]",
        "Linux-5.15.0-91-generic-x86_64-with-glibc2.35",
        "* OS: Ubuntu 22.04",
        "- [ ] I agree",
        "-----------",
    ],
)
def test_what_is_installed_is_left_out(line):
    said = "The door stays open after closing it."
    text = f"Doors stay open\n\n{said}\n\n{line}\n\nIt should be closed then, I think.\n"
    assert reading(text + text[16:]).sentences == (
        "The door stays open after closing it.",
        "It should be closed then, I think.",
    )


def test_a_heading_about_a_bug_is_no_list_of_versions():
    said = "HOUSE_KEY is set but nobody reads it, so doors stay closed."
    text = f"Doors\n\n## Environment variable is ignored\n\n{said}\n"
    assert said in reading(text * 2).sentences


def test_only_what_is_closed_outside_of_code_is_a_comment():
    text = "Doors stay open\n<!-- not\nthis --> a door stays open\nat <!-- nor this --> night <!-- it is shut"
    assert (
        reading(text + " by day" * 20).sentences[0].startswith("a door stays open at night <!-- it is shut")
    )
    read = reading(
        "Parsing fails\n```\nparse('<!-- a -->', '<!-- b')\n```\n"
        'Traceback (most recent call last):\n  File "page.py", line 3, in parse\nValueError: no end of it'
    )
    assert read.frames
    assert read.messages == ("no end of it",)


def test_an_unclosed_fence_ends_with_the_text():
    assert "open_door" in names("Doors stay open\n```python\nopen_door(3)")


def test_names_count_by_their_best_place():
    found = names(
        "`open_door` fails\n\nSee close_door and `Lock.turn`.\n```\nopen_door(key_ring)\nlock_all()\n```\n"
    )
    assert {text: name.place for text, name in found.items()} == {
        "open_door": Place.TITLE,
        "close_door": Place.PROSE,
        "Lock.turn": Place.MARKED,
        "key_ring": Place.CODE,
        "lock_all": Place.CODE,
    }
    assert not found["key_ring"].used
    assert found["lock_all"].used


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import house.doors as hd\nhd.open_all()", "house.doors.open_all"),
        ("from house import (\n    doors,\n    locks,\n)\nlocks.turn(1)", "house.locks.turn"),
        ("from house.doors import *", "house.doors"),
        ("use house::doors::Door;", "house.doors.Door"),
        ("door = Door()\ndoor.open_wide()", "open_wide"),
        ("self.open_wide()", "open_wide"),
    ],
)
def test_names_in_code_are_written_in_full(code, expected):
    assert expected in names(f"Doors stay open\n```\n{code}\n```\n")


def test_paths_and_links_into_a_forge_are_found_but_not_frames():
    text = """\
Doors stay open

See src/house/door.py and https://example.org/o/house/blob/main/src/house/lock.py#L12,
not https://a.example/b.html.
```
  File "/a/house/window.py", line 3, in open
```
"""
    assert reading(text).paths == ("src/house/lock.py", "src/house/door.py")


def test_quoted_messages_have_three_words():
    said = 'It says "the door is locked" and "no key", then `cannot open the door`, “broken lock of door”.'
    found = reading(f"Doors\n\n{said}\n{said}\n")
    assert set(found.messages) == {"the door is locked", "cannot open the door", "broken lock of door"}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "\n" * 40_000 + "a\nb",
        "x" * 100_000 + "\ny",
        "( " + "a ," * 13_000 + "\nb",
        "(" * 20_000 + "\na\n" + " " * 20_000,
        "a/" * 20_000 + "\nb",
        "a." * 20_000 + "\nb",
        '"' * 40_000 + "\nb",
        "`" * 40_000 + "\nb",
        "<!--" * 10_000 + "\nb",
        "<details " * 5_000 + "\nb",
        ("at " + "a." * 200 + "(\n") * 90,
        (" " * 900 + "\n") * 44,
        ("a 1." * 240 + "\n") * 44,
        "from a import b, c, " * 2_000 + "\nb",
        ", a" * 13_000 + "\nb",
        "\ud800\x00\u202e\n" * 100,
        ("# a" + " " * 900 + "b\n") * 44,
        "import a" + " " * 39_000 + "x\nb",
        "+" * 39_000 + "\nb",
        "a\\" * 19_000 + "\nb",
        " " * 39_000 + "a\nb",
        "https://a" + "/src/a.b" * 4_800 + "-\nb",
        "[](" * 13_000 + "\nb",
        "[" * 39_000 + "\nb",
    ],
)
def test_no_text_takes_long(text):
    question.read(text)


@pytest.mark.parametrize(
    "trace",
    [
        "Error: pane 3 has a crack\n    at look (/srv/attic.ts:1:30)",
        'Exception in thread "main" java.lang.StateException: pane 3 has a crack\n\tat a.B.look(B.java:1)',
        "thread 'main' panicked at src/wall.rs:2:5:\npane 3 has a crack\nstack backtrace:\n   0: a::b",
    ],
)
@pytest.mark.parametrize(
    "before", ["", "It crashes\n\nOn each machine.\n\n", "It crashes\n\nAs here:\n\n```\n"]
)
def test_what_an_error_says_above_its_frames_is_its_message(before, trace):
    """Which leads to what raises it, deeper than every frame."""
    found = read(before + trace)
    assert found is not None
    assert "pane 3 has a crack" in found.raised
