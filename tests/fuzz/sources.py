"""Contents of files in every language that gitrag knows: nested, long, broken, and real ones made worse.

Real files are those of the machine: of Python's standard library, of its packages, below /usr. Where there is
none of a language, its sample among the tests is taken.
"""

from __future__ import annotations

import os
import site
import sysconfig
from functools import cache
from pathlib import Path
from random import Random

from gitrag.chunking.languages import LANGUAGES, language_of
from tests.fuzz.mutation import MOST_BYTES, TOKENS, size, worsen
from tests.support.samples import SAMPLES

NAMES: tuple[str, ...] = tuple(row.name for row in LANGUAGES)

_PLACES = ("/usr/share", "/usr/include", "/usr/lib", "/etc")
_MOST_LOOKED_AT = 150_000
_MOST_OF_A_LANGUAGE = 60
_MOST_REAL_BYTES = 100_000

_OPENINGS = (
    "( )|[ ]|{ }|< >|((  ))|{{ }}|{% if a %} {% endif %}|<div> </div>|<a><b> </b></a>|/* */|(* *)"
    "|{- -}|<!-- -->"
    '|" "|\' \'|` `|""" """|${ }|"#{ }"|$( )|`${ }`|begin end|BEGIN END;|if x then  end|do end|do done'
    "|if (a) { }|if a { }|while (a) { }|for (;;) { }|switch (a) { case 1: }|function f() { }|fn f() { }"
    "|func f() { }|func() { }()|() => { }|(a) => (|x -> (  )|\\x -> |fun x -> |lambda: |lambda x: "
    "|class A { }"
    "|struct A { }|namespace a { }|module A { }|module A end|class A end|def f end|interface A { }"
    "|trait A { }"
    "|impl A { }|enum A { }|object A { }|contract A { }|template <class T> |type A = |let x = |let x = in "
    "|let rec f x = match x with | a -> |case x of a -> |not |!|-|~|*|&|&mut |new |await |typeof "
    "|a ? b : |a ? : b"
    "|a = |a.b|a().|a[0]|f(|f x $ |x |> f |a + |a && |a | |a << |else if (a) {} |elif a; then :|#if A #endif"
    "|@a |@a(b) |[a](|![a](|> |- |* |1. |**|__|~~~ |``` |# || a |=== |+++ |'( )|`( )|,@"
    "|(let ((a (lambda () )))"
    "|(defn f [] )|(if a )|#_ |<<EOF \nEOF|<<~A \nA|%w[ ]|q( )|s{ }{}|@interface A @end|@{ }|^{ }|[[a b] c]"
    '|{"a": }|[1, ]|<a b=" "/>|a: |? |- - |&a |!!map |[a.b]|\\begin{a} \\end{a}|\\a{ }|$$ $$|if a: '
    '|.. a::  |message A { }|service A { }|query { a { } }|resource "a" "b" { }|when a -> |receive a -> end'
    "|$ $|async { }|try { } catch (e) { }|with a: |match a: |case a: |unsafe { }|macro_rules! a { () => { } }"
    '|#define A |a\\|R"( )"|r#" "#|f"{ }"|f\'{f"{ }"}\'|@" "|$"{ }"|--[[ ]]|[==[ ]==]|=begin =end|<?php ?>'
).split("|")
"""An opening and its closing, parted by the last blank; some have none."""

_BLOCKS = ("def f{n}():", "class A{n}:", "if a{n}:", "for a in b{n}:", "with a{n} as b:", "try:",
           "while a{n}:",
           "async def f{n}():", "else:", "- a{n}:", "a{n}:", "- ", "proc f{n}() =", "func f{n}():",
           "match a{n}:",
           "case {n}:", "module A{n} =", "object A{n}:", "@a\ndef f{n}():", "* a{n}")  # fmt: skip
"""Lines that open what is indented below them."""

_CHAINS = {
    "python starlark gdscript vyper": (
        "class A{n}(A{p}): pass", "def f{n}(): return f{p}()", "from .m{n} import *", "x: A{n} = A{p}()",
        "a{n} = a{p} = a{n}.b",
        "@d{n}\n@d{p}\ndef f{n}(): d{p}(f{n})",
        "class A{n}:\n def f(self): return self.f{p}(A{p}().f{n}())\n f{p} = f",
        "@property\ndef f{n}(self): return self.f{p}", "self.a{n} = self.a{p}", "super().f{n}()",
        "x = x.f{n}(", "lambda a{n}: ",
        "@overload\ndef f(a: A{n}) -> A{p}: ...",
        "def f{n}(a, /, *b, c=f{p}, **d) -> 'A{n}': yield from f{p}(*b, **d)",
        "global a{n}; del a{p}", "elif a == {n}: f{p}()", "case {n}: return f{p}()", "f = f.a{n}",
        "f{n}, (f{p}, *x) = f{p}, f{n}",
        "class A{n}(A{p}, metaclass=A{n}[A{p}]):\n class A{p}(A{n}): x = A{n}.A{p}.x", "import a{n} as a{p}",
        "f{n} = f{p}",
        "x = y = lambda f{n}: f{p}(f{n})(x)", "for a{n} in f{p}(): a{n}.f()",
        "with f{p}() as f{n}: f{n}.x()", "x = [f{p}() for f{p} in x]",
    ),
    "javascript typescript tsx vue svelte coffeescript": (
        "class A{n} extends A{p} {{ f() {{ return super.f().g{p}() }} }}",
        "function f{n}() {{ return f{p}(); }}",
        "import a{n} from './a{p}'", "type A{n} = A{p} | A{n}[]", "x = x.f{n}(",
        "const f{n} = f{p} => f{p}(f{n})",
        "interface A{n} extends A{p} {{ f(): A{p} }}", "export * from './a{n}'",
        "exports.f{n} = exports.f{p}",
    ),
    "java kotlin scala csharp groovy dart php swift solidity cpp cuda c objc haxe": (
        "class A{n} extends A{p} {{ void f() {{ super.f(); }} }}", "class A{n} : public A{p} {{}};",
        "class A{n} : A{p} {{ void f() {{ base.f(); }} }}",
        "interface A{n} extends A{p} {{ void f(); }}",
        "contract A{n} is A{p} {{ function f() public {{ A{p}.f(); }} }}",
        '#include "a{n}.h"', "#define A{n} A{p} A{p}", "void f{n}() {{ f{p}(); }}", "import a{n}.a{p};",
        "case {n}: return f{p}();",
        "}} else if (a == {n}) {{ f{p}();", "namespace a{n} {{ using namespace a{p}; }}",
        "template <class A{n}> struct B{n} : B{p}<A{n}> {{}};",
        "val a{n} = a{p}.b", "using A{n} = A{p};", "typedef A{p} A{n};", "trait A{n} extends A{p} with B{p}",
        "fun A{n}.f{n}() = f{p}()",
    ),
    "go rust zig": (
        "func f{n}() {{ f{p}() }}", "fn f{n}() {{ f{p}() }}", "trait A{n}: A{p} {{}}", "type A{n} = A{p}",
        "type A{n} struct {{ A{p} }}",
        "impl A{n} for B{p} {{ fn f(&self) {{ self.f{p}() }} }}", "mod a{n} {{ pub use super::a{p}::*; }}",
        'import . "a/b{n}"',
    ),
    "ruby lua elixir erlang haskell ocaml fsharp elm clojure julia r nim bash": (
        "class A{n} < A{p}; end", "function f{n}() f{p}() end",
        "defmodule A{n} do\n use A{p}\n def f, do: A{p}.f\nend",
        "(defn f{n} [] (f{p}))", "f{n}() -> f{p}().", "let f{n} x = f{p} (x {n})", "a{n}() {{ a{p}; }}",
        "def a{n} = a{p} _",
        "module A{n}; include A{p}; end", "f{n} = f{p} . f{n}", "require './a{n}'", "alias f{n} f{p}",
    ),
    "": (
        "CREATE VIEW a{n} AS SELECT * FROM a{p};", "message A{n} {{ A{p} a = {n}; }}", "- [a{n}](a{p}.md)",
        "# a{n}", "## a{n}\n\ntext {n}",
        "{n}. a", '"a{n}": {{"a{p}": {n}}},', "a{n}: &a{n} [*a{p}, *a{p}]", '<a{n} b{n}="{p}">',
        "| a{n} | b |", 'a{n},b{p},"c',
        'msgid "a{n}"\nmsgstr "b"', 'Governing: ADR-{n}, SPEC-{p} REQ "a"',
        "<<<<<<< a{n}\n=======\n>>>>>>> b{p}",
        "@@ -{n},{p} +{n} @@\n-a\n+b", "Blocks: #{n}\nBlocked by: #{p}", "supersedes ADR-{n}", "a{n} = a{p}",
        "a{n}(a{p})",
    ),
}  # fmt: skip
"""By languages: a line of many, each of which names the one before."""

_IN_PAGES = {
    "erb": ("ruby", b"<p><%% %s %%></p>"),
    "jsp": ("java", b"<p><%%! %s %%></p>"),
    "razor": ("csharp", b"<p>@functions { %s }</p>"),
    "html": ("javascript", b'<p onclick="f(1)"></p>\n<script>%s</script>\n'),
    "twig": ("php", b"{# %s #}\n<p>{{ user.fullName|upper }}</p>"),
    "blade": ("php", b"@php %s @endphp\n<p>{{ $user->fullName() }}</p>"),
}
"""The language inside a page, and the page around it."""

_LARGE_BYTES = 700_000
"""Of what is nested by indentation, or names one thing after the other: 900 levels, 20,000 classes."""


@cache
def real_files() -> dict[str, tuple[Path, ...]]:
    """Find files of the machine, by language; not too many, not too large."""
    found: dict[str, list[Path]] = {}
    places = [sysconfig.get_path("stdlib"), *site.getsitepackages(), *_PLACES]
    for place in places:
        looked_at = 0
        for folder, folders, files in os.walk(place):
            folders.sort()
            for name in sorted(files):
                looked_at += 1
                language = language_of(name)
                own = found.setdefault(language or "", [])
                if language and len(own) < _MOST_OF_A_LANGUAGE * len(places):
                    own.append(Path(folder, name))
            if looked_at > _MOST_LOOKED_AT:
                break
    return {
        name: tuple(Random(name).sample(own, min(len(own), _MOST_OF_A_LANGUAGE)))
        for name, own in found.items()
    }


def sample(language: str) -> bytes | None:
    """Return a file of a language that is as it should be; of what is called in a page, that in a page."""
    if language in _IN_PAGES:
        inside, page = _IN_PAGES[language]
        return page % SAMPLES[inside].source.encode()
    return SAMPLES[language].source.encode() if language in SAMPLES else None


def real(dice: Random, language: str) -> bytes:
    """Read a real file of a language, or its sample; of a language that has neither, another's."""
    files = real_files().get(language, ())
    own = sample(language)
    if files and (own is None or dice.random() < 0.5):
        try:
            with dice.choice(files).open("rb") as file:
                return file.read(_MOST_REAL_BYTES)
        except OSError:
            pass
    return own or SAMPLES[dice.choice(sorted(SAMPLES))].source.encode()


def content(dice: Random, language: str) -> bytes:
    """Make what a file in a language may hold at worst."""
    kind = dice.random()
    if kind < 0.4:
        source = real(dice, language)
        start = dice.randrange(len(source) + 1) if dice.random() < 0.3 else 0
        return worsen(dice, source[start : start + size(dice, 60_000) + 200])
    if kind < 0.52:
        return _nested(dice)
    if kind < 0.6:
        return _blocks(dice)
    if kind < 0.7:
        return _chained(dice, language)
    if kind < 0.8:
        return _mixed(dice, real(dice, language))
    if kind < 0.85:
        return dice.randbytes(size(dice, 50_000))
    if kind < 0.9:
        return b" ".join(dice.choices(TOKENS, k=size(dice, 5_000)))
    if kind < 0.95:
        return b"".join(dice.choices(TOKENS[:60], k=size(dice, 5_000)))
    return worsen(dice, _nested(dice) + real(dice, language)[:5_000] + _chained(dice, language))


def _nested(dice: Random) -> bytes:
    opening, _, closing = dice.choice(_OPENINGS).rpartition(" ")
    opening, closing = (opening, closing) if opening else (closing, "")
    if dice.random() < 0.3:
        opening += dice.choice(("\n", " a ", "\t", "a"))
    room = MOST_BYTES // (len(opening) + len(closing) + 1)
    times = size(dice, min(room, 60_000))
    text = (
        opening * times
        + dice.choice(("", "a", "a b", "1", "\n"))
        + closing * dice.choice((times, times, 0, times - 1))
    )
    before = dice.choice(
        ("", "", "a = ", "x = f(", "int a = ", "let a = ", "def f(): return ", "<?php ", "---\n")
    )
    return (before + text + dice.choice(("", "\n", ";\n"))).encode()


def _blocks(dice: Random) -> bytes:
    """Nest what is nested by indentation, to a depth at which the file has the most bytes."""
    step = dice.choice((" ", "\t", "  "))
    depth = size(dice, int((2 * _LARGE_BYTES / len(step)) ** 0.5))
    kinds = dice.sample(_BLOCKS, dice.choice((1, 1, 2, 4)))
    lines = [
        "\n".join(step * n + line for line in kinds[n % len(kinds)].format(n=n).split("\n"))
        for n in range(depth)
    ]
    return "\n".join([*lines, step * depth + "pass", "f0()", ""]).encode()[:_LARGE_BYTES]


def _chained(dice: Random, language: str) -> bytes:
    own = [kinds for names, kinds in _CHAINS.items() if language in names.split()]
    among = own[0] if own and dice.random() < 0.8 else dice.choice(list(_CHAINS.values()))
    kinds = dice.sample(among, dice.choice((1, 1, 2, 5)))
    count = size(dice, 21_000)
    around = count if dice.random() < 0.3 else 1 << 40  # a circle
    lines = [kinds[n % len(kinds)].format(n=n % around, p=(n - 1) % around) for n in range(count)]
    return dice.choice(("\n", "\n", "\n\n", " ", ";")).join(lines).encode()[:_LARGE_BYTES]


def _mixed(dice: Random, source: bytes) -> bytes:
    """Repeat and shuffle lines of a source."""
    lines = source.splitlines(keepends=True) or [b"\n"]
    return b"".join(dice.choices(lines, k=size(dice, 3_000)))[:MOST_BYTES]
