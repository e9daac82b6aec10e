"""Lines of tracebacks of many runtimes."""

from __future__ import annotations

import pytest

from gitrag.search.tracebacks import Frame, read_line, with_line


@pytest.mark.parametrize(
    ("line", "frame", "deepest_last"),
    [
        (
            '  File "/home/a/lib/door.py", line 3, in open_door',
            Frame("/home/a/lib/door.py", 3, "open_door"),
            True,
        ),
        ('File "a/door.py", line 3, in Door.<listcomp>', Frame("a/door.py", 3, "Door"), True),
        ('  File "a/door.py", line 3, in <module>', Frame("a/door.py", 3), True),
        ('  File "C:\\a\\door.py", line 3', Frame("C:/a/door.py", 3), True),
        ("File ~/a/door.py:33, in Door.open(self, key)", Frame("~/a/door.py", 33, "open"), True),
        ("~/a/lib/door.py in open_door(key)", Frame("~/a/lib/door.py", 0, "open_door"), True),
        ("/usr/lib/door.py in <module>()", Frame("/usr/lib/door.py"), True),
        ("\tat org.house.Door.open(Door.java:12)", Frame("org/house/Door.java", 12, "open"), False),
        ("    at org.house.Door$1.run(Door.kt:7)", Frame("org/house/Door.kt", 7, "run"), False),
        (
            "    at java.base/java.lang.Thread.run(Thread.java:834)",
            Frame("java/lang/Thread.java", 834, "run"),
            False,
        ),
        ("    at Door.open (/src/lib/door.js:12:5)", Frame("/src/lib/door.js", 12, "open"), False),
        ("    at async openDoor (file:///src/door.mjs:1:2)", Frame("/src/door.mjs", 1, "openDoor"), False),
        ("    at /src/lib/door.ts:12:5", Frame("/src/lib/door.ts", 12), False),
        ("    at Object.<anonymous> (door.js:1:2)", Frame("door.js", 1, "Object"), False),
        (
            "   at House.Door.Open(String key) in C:\\src\\House\\Door.cs:line 12",
            Frame("C:/src/House/Door.cs", 12, "Open"),
            False,
        ),
        ("door.rb:12:in `open_door'", Frame("door.rb", 12, "open_door"), False),
        ("\tfrom lib/door.rb:12:in 'House::Door#open'", Frame("lib/door.rb", 12, "open"), False),
        ("#0 /srv/src/Door.php(12): House\\Door->open('key')", Frame("/srv/src/Door.php", 12, "open"), False),
        (
            "open@https://a.example/src/door.js:12:5",
            Frame("https://a.example/src/door.js", 12, "open"),
            False,
        ),
        ("thread 'main' panicked at src/door.rs:12:5:", Frame("src/door.rs", 12), False),
        ("thread 'main' panicked at 'no key', src/door.rs:12:5", Frame("src/door.rs", 12), False),
    ],
)
def test_a_line_of_a_traceback_is_read(line, frame, deepest_last):
    assert read_line(line) == (frame, deepest_last)


@pytest.mark.parametrize(
    ("before", "line", "frame"),
    [
        (
            "house/door.(*Door).Open(0xc000)",
            "\t/go/src/house/door.go:12 +0x1d",
            Frame("/go/src/house/door.go", 12, "Open"),
        ),
        ("created by main.main", "\t/go/src/main.go:3 +0x5", Frame("/go/src/main.go", 3, "main")),
        ("   3: house::door::open", "             at ./src/door.rs:12:5", Frame("./src/door.rs", 12, "open")),
        (
            "  3: house::Door::open::h0123456789abcdef",
            "     at src/door.rs:12",
            Frame("src/door.rs", 12, "open"),
        ),
    ],
)
def test_the_function_may_stand_in_the_line_before(before, line, frame):
    traced = read_line(line, before)
    assert traced is not None
    assert traced[0] == frame


@pytest.mark.parametrize(
    "line",
    [
        "",
        "at noon the door opens",
        "I am at the door (see door.py)",
        "door.py",
        "look at src/door.py in the repository",
        "in door.py we call open()",
        'File "door.py" is missing',
        "x" * 10_000,
        "at " + "a." * 5_000 + "(",
    ],
)
def test_any_other_line_is_none(line):
    assert read_line(line) is None


def test_ipython_marks_the_line_below():
    traced = read_line("~/a/door.py in open_door(key)")
    assert traced is not None
    assert with_line(traced[0], "---> 33     return key.turn()").line == 33
    assert with_line(traced[0], "     32     key = 1").line == 0
