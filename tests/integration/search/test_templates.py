"""Messages as they are filled lead to the line that raises or prints them."""

from __future__ import annotations

import re

import pytest

from gitrag.actions.search import SearchOptions, search
from gitrag.search.templates import fits, read_message, says_enough, templates
from tests.support.indexes import of_texts

FILES = {
    "src/lock.py": """
        def turn(key, door):
            if key is None:
                raise ValueError(f"key {key!r} does not fit the door {door['name']}")
            log.error("the hinge of %(door)s squeaks at "
                      "%(speed)dkm/h", vars(door))
        """,
    "src/window.js": """
        function shut(window) {
          console.error('cannot shut window ' + names[window['id']] + ' in room ' + window.room);
          throw new Error(`pane ${window.pane} of the attic has a crack`);
        }
        """,
    "src/roof.go": """
        package roof

        func Mend(tile string) error {
            return fmt.Errorf("mend tile %q: %w", tile, err)
        }
        """,
    "src/wall.rs": """
        fn paint(colour: &str) {
            panic!("no paint of colour {colour:?} is left");
        }
        """,
    "src/Stairs.php": """
        <?php
        function climb($step) {
            throw new Climb('Step '.$step['number'].' of the stairs creaks');
        }
        """,
    "src/cellar.rb": 'def dig\n  raise "the cellar of #{house.name} is flooded"\nend\n',
    "src/porch.py": """
        def greet(language):
            print(say("porch.lamp_broken", language))
        """,
    "src/Attic.kt": "fun look() = show(R.string.attic_dusty)\n",
    "src/garden.ts": "export const water = () => notify(t('garden-hose-leaks'))\n",
    "locale/en.json": '{"porch": {"lamp_broken": "The lamp of the porch at {{street}} is broken"}}\n',
    "res/values/strings.xml": '<string name="attic_dusty">The attic has %1$d <b>dusty</b> boxes</string>\n',
    "locale/en.yml": "en:\n  garden-hose-leaks: The hose at %{tap} leaks water\n",
    "locale/de.yml": "de:\n  garden-hose-leaks: The hose at %{tap} leaks water (de)\n",
    "locale/odd.properties": "--=The gate of yard {0} is rusty\n..=The fence of yard {0} is rusty\n",
    "tests/test_lock.py": """
        def test_turn():
            with raises(ValueError, match="key 'red' does not fit the door front"):
                turn("red", front)
        """,
    "docs/doors.md": "# Doors\n\nIf it says: key 'red' does not fit the door front, take the blue key.\n",
}


SAID = [
    ("key 'red' does not fit the door front", "src/lock.py", "does not fit"),
    ("ERROR house.lock: the hinge of the barn squeaks at 12km/h", "src/lock.py", "the hinge of"),
    ("cannot shut window kitchen-2 in room 14", "src/window.js", "cannot shut window"),
    ("Error: pane 3 of the attic has a crack", "src/window.js", "of the attic"),
    ('restore: mend tile "A7": no ladder', "src/roof.go", "mend tile"),
    ('no paint of colour "mauve" is left', "src/wall.rs", "no paint"),
    ("Step 13 of the stairs creaks", "src/Stairs.php", "of the stairs"),
    ("the cellar of Bleak House is flooded", "src/cellar.rb", "the cellar of"),
    ("The lamp of the porch at Elm Street 4 is broken", "src/porch.py", "lamp_broken"),
    ("The attic has 12 dusty boxes", "src/Attic.kt", "attic_dusty"),
    ("The hose at tap 7 leaks water", "src/garden.ts", "garden-hose-leaks"),
]


def about(message: str) -> str:
    """A module about all that a message says, which does not say it."""
    words = re.findall(r"[a-z]+", message.lower())[::-1]
    said = " ".join(words)
    return f'def {"_".join(words[::-1])}():\n    """{said}, {said}."""\n    return {" + ".join(words)}\n'


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory):
    others = {f"src/about_{number}.py": about(message) for number, (message, *_) in enumerate(SAID)}
    return of_texts(tmp_path_factory.mktemp("templates"), FILES | others)


@pytest.mark.parametrize(("message", "path", "line"), SAID)
def test_a_filled_message_leads_to_the_line_that_says_it(workspace, message, path, line):
    best = search(workspace, message, SearchOptions(refine_s=0.0)).hits[0]
    assert best.path == path
    assert any(line in each.text for each in best.snippet)


@pytest.mark.parametrize("message", ["The gate of yard 3 is rusty", "The fence of yard 3 is rusty"])
def test_a_text_whose_name_is_no_word_is_found_itself(workspace, message):
    found = search(workspace, message, SearchOptions(refine_s=0.0)).hits
    assert "locale/odd.properties" in {hit.path for hit in found}


def test_what_raises_comes_before_the_frames_of_a_traceback(workspace):
    """Where the deepest frame is not the line that says it, as of an error that is handed on."""
    report = """It crashes

I call it as the manual says and it crashes, on every machine that I have. Please help me.

```
Traceback (most recent call last):
  File "/home/me/try.py", line 3, in <module>
    greet("en")
  File "/srv/house/src/porch.py", line 2, in greet
    print(say("porch.lamp_broken", language))
RuntimeError: pane 3 of the attic has a crack
```
"""
    best = search(workspace, report, SearchOptions(refine_s=0.0)).hits[0]
    assert best.path == "src/window.js"
    assert any("of the attic" in line.text for line in best.snippet)


def test_where_most_code_is_examples_they_are_what_says_a_message(tmp_path):
    others = {f"examples/door{n}.py": f"def open_door{n}():\n    return {n} * 2\n" for n in range(9)}
    raising = 'def mend(tile):\n    raise ValueError(f"no tile {tile} on the roof")\n'
    workspace = of_texts(tmp_path, {**others, "examples/roof.py": raising, "setup.py": "import os\n"})
    best = search(workspace, "ValueError: no tile 7 on the roof", SearchOptions()).hits[0]
    assert best.path == "examples/roof.py"
    assert any("no tile" in line.text for line in best.snippet)
    assert best.reasons[0][0] == "verbatim"


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        ('"blob %v not found"', "blob 12ab not found", True),
        ('"blob %v not found"', "load: blob 12ab not found", True),
        ('"blob %v not found"', "blob 12ab not found (retried)", True),
        ('"blob %v not found"', "which blob 12ab not found is", False),  # in the middle of a sentence
        ('"blob %v not found"', "why is a blob not found here", False),
        ('"%s: %s"', "a: b", False),  # no words of its own
        ('"%s is not a %s"', "what happens if x=1 is not a number", False),  # none that tells
        ('"is not " + what + " yet"', "7 is not 8 yet", False),
        ('"size is %dMiB now"', "size is 512MiB now", True),
        ('"size is %dMiB now"', "size is 512 KiB now", False),
        ('f("read of " + str(x) + " failed")', "read of a.txt failed", True),
        ('f("read of ", g("b"), " failed")', "read of a.txt failed", False),  # arguments of their own
        ('log("failed to read", name)', "failed to read a.txt", True),
        ('log("failed to read")', "failed to read a.txt", False),
        ('name + " has no key"', "door2 has no key", True),
    ],
)
def test_a_template_fits_what_it_may_say_and_nothing_else(code, message, expected):
    said = read_message(message)
    found = [each for each in templates(code, of_code=True) if fits(each, said) and says_enough(each, said)]
    assert bool(found) is expected


def test_a_hostile_text_takes_time_in_proportion():
    """A template of many values and a long message: no backtracking over their combinations."""
    said = read_message("a " * 150 + "b")
    for code in ('"' + "a %s " * 2_000 + 'c"', "'" * 5_000, '"x" + (' * 2_000, '"' + "\\" * 9_999):
        assert not [each for each in templates(code, of_code=True) if fits(each, said)]
