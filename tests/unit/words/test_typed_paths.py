"""Paths as people type, paste and drop them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitrag.words.typed_paths import forms, found_by, of_url, spellings, typed

NFD = unicodedata.normalize("NFD", "café.py")


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("src/app.py", "src/app.py"),
        ("'my file.py'", "my file.py"),
        ('"my file.py"', "my file.py"),
        ("`src/app.py`", "src/app.py"),
        (r"my\ file\ \(1\).py", "my file (1).py"),
        (r"it\'s.py", "it's.py"),
        ("$'tab.py'", "tab.py"),
        (r'"caf\303\251.py"', "café.py"),
        (r'"a\tb\".py"', 'a\tb".py'),
        ("file:///work/my%20file.py", "/work/my file.py"),
        ("file://localhost/work/caf%C3%A9.py", "/work/café.py"),
        ("FILE:///a.py", "/a.py"),
        (r"src\app.py", r"src\app.py"),
        (r"App\Http\Kernel", r"App\Http\Kernel"),
        ("don't", "don't"),
        ('"', '"'),
        ("", ""),
    ],
)
def test_what_is_put_around_a_path_is_taken_away(text, path):
    assert typed(text) == path


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://github.com/o/r/blob/main/src/app.py#L3", "src/app.py"),
        ("https://github.com/o/r/blob/feature/x/src/my%20app.py?plain=1", "src/my app.py"),
        ("https://gitlab.com/g/s/r/-/blob/main/src/app.py", "src/app.py"),
        ("https://codeberg.org/o/r/src/branch/main/src/app.py", "src/app.py"),
        ("https://bitbucket.org/o/r/src/master/src/app.py", "src/app.py"),
    ],
)
def test_a_forge_has_the_path_at_its_end(url, path):
    assert path in of_url(url, 1)


@pytest.mark.parametrize(
    "text", ["file:///a.py", "src/app.py", "https://", "https:///a", f"https://a/blob/{'b/' * 20_000}"]
)
def test_what_is_no_url_of_a_forge_has_none(text):
    assert of_url(text, 1) == ()


@pytest.mark.parametrize("text", ['"\\n\ud800"', "file:///\ud800", "https://a.b/blob/c/\ud800"])
def test_half_a_character_is_left_as_it_is(text):
    assert spellings(text) == (text, text.replace("\\", "/")) or spellings(text) == (text,)


def test_all_forms_of_unicode_are_tried():
    assert set(forms("café.py")) == set(forms(NFD)) == {"café.py", NFD}
    assert forms("cafe.py") == ("cafe.py",)
    assert spellings(r"src\café.py")[0] == r"src\café.py"
    assert {"src/café.py", f"src/{NFD}"} <= set(spellings(r"src\café.py"))


@given(st.text() | st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_any_text_has_spellings(text):
    assert spellings(text)[0] == text


def test_a_file_is_found_by_some_of_its_letters_the_likeliest_first():
    paths = ["src/cart.py", "src/shop/Cart_items.py", "carts/tax.py", "docs/character.md", "cab/rt.py"]
    assert found_by("cart", paths, 9) == [
        "src/cart.py",
        "src/shop/Cart_items.py",
        "carts/tax.py",
        "docs/character.md",
        "cab/rt.py",
    ]
    assert found_by("s c py", paths, 9) == ["src/cart.py", "src/shop/Cart_items.py"]
    assert found_by("cart", paths, 1) == ["src/cart.py"]
    assert found_by("tac", paths, 9) == []
    assert found_by("a" * 300 + "b", ["a" * 4_000], 9) == []
