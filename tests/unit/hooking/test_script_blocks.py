"""Edits of hook scripts: nothing of the user's is lost, and what goes in comes out again."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gitrag.hooking import script_blocks
from gitrag.hooking.script_blocks import DamagedBlockError
from gitrag.hooking.table import HOOKS, script

BLOCK = script_blocks.render(script("post-commit"), "/opt/my venv/bin/gitrag")
MARKS = (script_blocks.START, script_blocks.END)

scripts = st.one_of(
    st.binary(max_size=200),
    st.lists(
        st.sampled_from(
            [
                b"#!/bin/sh",
                b"#!/usr/bin/env bash",
                b"set -e",
                b"exit 3",
                b"\r",
                b"",
                b" ",
                b"# >>> gitrag",
                b"\xff\0",
            ]
        ),
        max_size=8,
    ).map(b"\n".join),
)


@given(scripts)
def test_removing_a_block_gives_back_the_script(text):
    assume(not any(mark in text for mark in MARKS))
    installed = script_blocks.insert(text, BLOCK)
    assert script_blocks.remove(installed) == text


@given(scripts)
def test_inserting_again_changes_nothing(text):
    assume(not any(mark in text for mark in MARKS))
    installed = script_blocks.insert(text, BLOCK)
    assert script_blocks.insert(installed, BLOCK) == installed


@given(scripts)
def test_an_upgrade_is_as_if_the_new_block_had_been_installed_at_once(text):
    assume(not any(mark in text for mark in MARKS))
    newer = script_blocks.render(script("post-commit"), "/elsewhere")
    assert script_blocks.insert(script_blocks.insert(text, BLOCK), newer) == script_blocks.insert(text, newer)


def test_the_block_stands_right_after_the_shebang():
    installed = script_blocks.insert(b"#!/bin/bash\nexit 3\n", BLOCK)
    assert installed == b"#!/bin/bash\n" + BLOCK + b"exit 3\n"


def test_a_script_without_shebang_begins_with_the_block():
    assert script_blocks.insert(b"exit 3", BLOCK) == BLOCK + b"exit 3"


def test_a_made_file_goes_with_its_block_and_stays_when_something_was_added():
    block = script_blocks.render(script("post-commit"), None, created=True)
    made = script_blocks.insert(script_blocks.SHEBANG, block)
    assert script_blocks.remove(made) is None
    assert script_blocks.remove(made + b"make tags\n") == b"#!/bin/sh\nmake tags\n"


def test_a_users_file_of_only_a_shebang_is_kept():
    assert script_blocks.remove(script_blocks.insert(b"#!/bin/sh\n", BLOCK)) == b"#!/bin/sh\n"


@pytest.mark.parametrize(
    "text",
    [
        script_blocks.START + b"\n",
        script_blocks.END + b"\n",
        script_blocks.END + b"\n" + script_blocks.START + b"\n",
        BLOCK + BLOCK,
    ],
)
def test_marks_that_are_not_one_pair_are_left_alone(text):
    with pytest.raises(DamagedBlockError):
        script_blocks.insert(text, BLOCK)
    with pytest.raises(DamagedBlockError):
        script_blocks.remove(text)


def test_marks_are_found_after_an_editor_changed_the_line_ends():
    text = script_blocks.insert(b"#!/bin/sh\nexit 3\n", BLOCK).replace(b"\n", b"\r\n")
    assert script_blocks.remove(text) == b"#!/bin/sh\r\nexit 3\r\n"


@pytest.mark.parametrize(
    "launcher", ["/plain", "/with space", "/it's", '/"q"', "/new\nline", "/$(x)`y`\\", None]
)
def test_the_launcher_reads_back_however_odd_its_path(launcher):
    text = script_blocks.insert(script_blocks.SHEBANG, script_blocks.render(script("pre-push"), launcher))
    assert script_blocks.launcher_of(text) == launcher
    assert script_blocks.remove(text) == script_blocks.SHEBANG


@pytest.mark.parametrize(
    "first",
    [
        b"#!/bin/sh",
        b"#! /bin/sh -e",
        b"#!/usr/bin/env bash",
        b"#!/usr/bin/env -S bash -eu",
        b"#!/usr/bin/env LANG=C dash",
        b"#!/usr/local/bin/zsh",
        b"#!/bin/busybox sh",
        b"make tags",
        b"",
    ],
)
def test_a_block_goes_into_shell_scripts(first):
    assert script_blocks.obstacle(first + b"\nexit 0\n") == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"#!/usr/bin/env python3\nprint()\n", "is a python3 script, not a shell script"),
        (b"#!/usr/bin/node\n", "is a node script, not a shell script"),
        (b"#!/usr/bin/fish\n", "is a fish script, not a shell script"),
        (b"#!\n", "is a nameless script, not a shell script"),
        (b"\x7fELF\x02\0\0", "is a program, not a shell script"),
        (
            b"#!/bin/sh\r\nexit 0\r\n",
            "has a first line that ends in CR LF, so that its interpreter is not found",
        ),
        (
            b'#!/bin/sh\n# \\\nexec tclsh "$0" "$@"\n',
            "reads itself ($0) again, which a block of lines in it would disturb",
        ),
        (
            b"#!/bin/sh\n'''exec' python3 -- \"$0\" \"$@\" # '''\n",
            "reads itself ($0) again, which a block of lines in it would disturb",
        ),
        (
            b"#!/bin/sh\ntail -n +3 ${0} | python3\n",
            "reads itself ($0) again, which a block of lines in it would disturb",
        ),
    ],
)
def test_what_a_block_cannot_go_into_is_said(text, reason):
    assert script_blocks.obstacle(text) == reason


@pytest.mark.parametrize(
    "line", [b'exec "$(dirname "$0")/other" "$@"', b'exec "$0.local" "$@"', b"exec 3>&1", b'echo "$0"']
)
def test_a_script_that_only_names_itself_takes_a_block(line):
    assert script_blocks.obstacle(b"#!/bin/sh\n" + line + b"\n") == ""


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.name)
def test_every_shipped_script_is_a_whole_hook_with_one_block(hook):
    text = script(hook.name).encode()
    span = script_blocks.find(text)
    assert span is not None
    assert text[: span.start] == script_blocks.SHEBANG
    assert span.stop == len(text)
    assert script_blocks.obstacle(text) == ""
    assert script_blocks.launcher_of(text) is None
    assert f" {hook.name} " in script(hook.name) or not hook.background


def test_the_background_hooks_differ_only_in_when_they_start():
    """Each is whole and readable as it is shipped; how they leave git alone is the same in all."""
    names = [hook.name for hook in HOOKS if hook.background]
    starts = {script(name).partition(" || (\n")[2].replace(name, "NAME") for name in names}
    assert len(starts) == 1
    assert "hook run NAME" in starts.pop()
