"""Where a name stands in a source, and what it does there."""

from __future__ import annotations

import pytest

from gitrag.chunking.languages import LANGUAGES
from gitrag.chunking.occurrences import Use, occurrences


def uses(text, language, name="LIMIT"):
    return {each.line: each.use.value for each in occurrences(text, language, name)}


PYTHON = """\
from conf import LIMIT  # imported
LIMIT = 3  # defined
# LIMIT  # text
x = 'LIMIT'  # text
f(LIMIT)  # used
y = f'{LIMIT}'  # used
self.LIMIT = 2  # defined
z.LIMIT  # used
f(LIMIT=1)  # used
LIMITS = 1  # -
"""
TYPESCRIPT = """\
import { LIMIT } from './conf' // imported
export const LIMIT = 3 // defined
// LIMIT // text
f('LIMIT') // text
f(LIMIT) // used
const s = `${LIMIT}` // used
type LIMIT = string // defined
interface A { LIMIT: number } // defined
"""
GO = """\
package a // -
const LIMIT = 3 // defined
type B struct { // -
    LIMIT int // defined
} // -
func f() { g(LIMIT, "LIMIT") } // used
"""
C = """\
#define LIMIT 3 // defined
#define LIMITED(x) min(x, LIMIT) // used
int f() { return LIMIT; } // used
"""
C_MACRO = """\
#define LIMIT(x) (x) // defined
int f() { return LIMIT(3); } // used
"""
RUST = """\
use crate::conf::LIMIT; // imported
pub const LIMIT: u8 = 3; // defined
fn f() { g(LIMIT) } // used
/// LIMIT // text
fn h() {} // -
"""
JAVA = """\
import static conf.Conf.LIMIT; // imported
class A { // -
  static final int LIMIT = 3; // defined
  int f() { return LIMIT; } // used
} // -
"""


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", PYTHON),
        ("typescript", TYPESCRIPT),
        ("go", GO),
        ("rust", RUST),
        ("java", JAVA),
        ("c", C),
        ("c", C_MACRO),
    ],
)
def test_what_a_name_does_is_read_from_the_syntax(language, text):
    """Each line says itself what it does."""
    wanted = [line.split()[-1] for line in text.splitlines()]
    found = uses(text, language)
    assert [found.get(number, "-") for number in range(1, len(wanted) + 1)] == wanted


@pytest.mark.parametrize("language", ["markdown", "yaml", ""])
def test_in_prose_and_data_it_is_text(language):
    assert uses("LIMIT: 3\n", language) == {1: "text"}


def test_an_import_says_where_it_is_from():
    (found,) = occurrences("import {\n  LIMIT,\n} from '@/lib/conf';\n", "typescript", "LIMIT")
    assert found.use is Use.IMPORTED
    assert "@/lib/conf" in found.statement


def test_words_that_only_contain_the_name_are_none():
    assert uses("LIMITS xLIMIT éLIMIT LIMITé NO_LIMIT\n", "markdown") == {}


def test_a_source_that_cannot_be_parsed_still_counts():
    deep = "LIMIT" + "(" * 50_000
    assert uses(deep, "python") == {1: "used"}


@pytest.mark.parametrize("language", [each.name for each in LANGUAGES])
def test_a_name_is_found_in_every_language(language):
    assert uses("LIMIT\n", language).keys() == {1}
