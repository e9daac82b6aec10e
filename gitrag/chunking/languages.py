"""The table of languages: how a file's language is recognised, and what parses it.

Of an ending that several languages share (`gitrag/chunking/ambiguous.py`), the *key* is the ending with its
dot, and what the file holds decides: a modeline, its ``#!`` line, or the ending's rules.

A language without a grammar is cut into windows, or at headings if it is prose. It is still in the
table for ``--lang``, which filters by name.
"""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from gitrag.chunking.ambiguous import HEAD_BYTES, RULES
from gitrag.late import late_re
from gitrag.words.bulk_files import bulk


class Language(Struct, frozen=True):
    """A row of the table.

    Attributes:
        name: Our name, as for ``--lang``.
        suffixes: File suffixes without the dot, lower case.
        files: Whole file names, lower case.
        interpreters: Names on a ``#!`` line, version numbers removed.
        grammar: The grammar's name in tree-sitter-language-pack; empty if the language is not parsed.
        queries: Files in ``queries/``, without ``.scm``, read in order.
        merge_clauses: Whether neighbouring definitions of the same name form one (equations, clauses).
        owner_parts: How many parts of a dotted name, except the last, count as owners; 0 where a dot is part
            of a name.
        wary: Whether the grammar takes seconds and gigabytes on text in another language, so that the first
            lines must parse before the rest is tried.
        noise: Regular expression of which the group that matched is hidden from the parser: no syntax.
    """

    name: str
    suffixes: str = ""
    files: str = ""
    interpreters: str = ""
    grammar: str = ""
    queries: str = ""
    merge_clauses: bool = False
    owner_parts: int = 99
    noise: str = ""
    wary: bool = False


def _parsed(name: str, suffixes: str, queries: str = "", *, grammar: str = "", **more: object) -> Language:
    """Return a row whose grammar and query have the language's name unless given."""
    return Language(name, suffixes, grammar=grammar or name, queries=queries or name, **more)  # type: ignore[arg-type]


# class LIB_EXPORT Table : public Base {
_EXPORT_MACRO = r"\b(?:class|struct)\s+([A-Z][A-Z0-9_]+(?:\([^()\n]*\))?)\s+(?=\w+\s*(?:final\b\s*)?[:{])"

# class Store<T>
# @Inject
# internal constructor(private val files: Files)
_KOTLIN_NOISE = (
    r"\bclass\s+\w+(?:\s*<[^<>{}()]*>)?"
    r"([^\S\n]*\n\s*(?:@[\w.]+(?:\([^()\n]*\))?\s+|(?:private|internal|protected|public)\s+)*constructor)(?=\s*\()"
    r"|\bobject\s*:\s*[\w.]+(?:<[^<>{}()]*>)?(\s+by\s+[\w.]+)(?=\s*\{)"
)
"""A constructor on a line of its own, which the grammar takes for something behind the class; of an object
what it delegates to, which the grammar takes for a call with the object's body as its block."""

_NOTEBOOK_COMMAND = r"(?m)^[ \t]*((?:%{1,2}[A-Za-z]|!|\?)[^\n]*|[\w.]+\?{1,2}[ \t]*)$"

LANGUAGES: tuple[Language, ...] = (
    # The languages whose definitions must be recognised at the least
    _parsed(
        "python", "py pyi pyw pyx pxd", files="sconstruct sconscript wscript", interpreters="python pypy"
    ),
    _parsed(
        "javascript",
        "js jsx mjs cjs es6",
        "javascript javascript-fields",
        files="jakefile",
        interpreters="node nodejs bun deno",
    ),
    _parsed("typescript", "ts mts cts", "javascript typescript", interpreters="ts-node tsx"),
    _parsed("tsx", "tsx", "javascript typescript"),
    _parsed("solidity", "sol"),
    _parsed("go", "go"),
    _parsed("rust", "rs"),
    # Widely used
    _parsed("java", "java"),
    _parsed("kotlin", "kt kts", noise=_KOTLIN_NOISE),
    _parsed("scala", "scala sc sbt", interpreters="scala"),
    _parsed("c", "c h"),
    _parsed("cpp", "cc cpp cxx c++ hh hpp hxx h++ inl ipp tpp ino", owner_parts=1, noise=_EXPORT_MACRO),
    _parsed("cuda", "cu cuh", "cpp", owner_parts=1),
    _parsed("csharp", "cs csx"),
    _parsed(
        "ruby",
        "rb rake gemspec ru podspec rbw builder jbuilder rabl thor prawn arb",
        files="rakefile gemfile guardfile capfile vagrantfile podfile brewfile fastfile",
        interpreters="ruby jruby",
    ),
    _parsed("php", "php phtml php5", interpreters="php"),
    _parsed("swift", "swift", interpreters="swift"),
    _parsed("dart", "dart", interpreters="dart"),
    _parsed("elixir", "ex exs", interpreters="elixir", merge_clauses=True),
    _parsed("haskell", "hs", interpreters="runhaskell stack", merge_clauses=True, wary=True),
    _parsed("lua", "lua rockspec", interpreters="lua luajit", wary=True),
    _parsed("luau", "luau", "lua", wary=True),
    _parsed(
        "bash",
        "sh bash zsh ksh bats ebuild",
        files=".bashrc .bash_profile .bash_aliases .profile .zshrc .zshenv .zprofile pkgbuild",
        interpreters="sh bash zsh ksh dash ash bats",
    ),
    _parsed("zig", "zig"),
    _parsed("sql", "sql ddl psql pgsql"),
    _parsed("ocaml", "ml", interpreters="ocaml"),
    _parsed("ocaml-interface", "mli", "ocaml-interface", grammar="ocaml_interface"),
    _parsed("r", "r", interpreters="rscript", owner_parts=0),
    _parsed("julia", "jl", interpreters="julia", wary=True),
    # Others
    _parsed("objc", "m mm"),
    _parsed("groovy", "groovy gradle gvy", files="jenkinsfile", interpreters="groovy"),
    _parsed("clojure", "clj cljs cljc bb edn", interpreters="bb clojure"),
    _parsed("erlang", "erl hrl escript", interpreters="escript", merge_clauses=True),
    _parsed("fsharp", "fs fsx"),
    _parsed("nim", "nim nims"),
    _parsed("powershell", "ps1 psm1 psd1", interpreters="pwsh powershell"),
    _parsed("protobuf", "proto", "protobuf", grammar="proto"),
    _parsed("graphql", "graphql gql graphqls"),
    _parsed("terraform", "tf tfvars hcl", "hcl", grammar="hcl"),
    _parsed("elm", "elm"),
    _parsed("gleam", "gleam", wary=True),
    _parsed("starlark", "bzl star bazel", files="build workspace tiltfile"),
    _parsed("fish", "fish", interpreters="fish"),
    _parsed("emacs-lisp", "el", grammar="elisp", files=".emacs"),
    _parsed("common-lisp", "lisp lsp cl asd", grammar="commonlisp", interpreters="sbcl"),
    _parsed("gdscript", "gd"),
    _parsed("thrift", "thrift"),
    _parsed("prisma", "prisma"),
    # Python in a notebook: lines that are the notebook's commands are not syntax
    _parsed("ipython", "", "python", grammar="python", noise=_NOTEBOOK_COMMAND),
    # Files of parts in several languages (`gitrag/chunking/containers.py`)
    Language("notebook", "ipynb"),
    Language("rmarkdown", "rmd qmd"),
    Language("vue", "vue"),
    Language("svelte", "svelte"),
    Language("astro", "astro"),
    # Prose, cut at headings
    Language("markdown", "md markdown mdx mdown mkd"),
    Language("rst", "rst rest"),
    Language("asciidoc", "adoc asciidoc asc"),
    Language("org", "org"),
    Language("latex", "tex sty cls ltx"),
    Language(
        "text", "txt text", files="readme license copying notice authors changelog changes news todo install"
    ),
    # Recognised by name, cut into windows
    Language("html", "html htm xhtml jinja jinja2 j2 erb ejs hbs mustache twig liquid"),
    Language("css", "css scss sass less styl pcss"),
    Language("json", "json jsonc json5 geojson webmanifest xcstrings"),
    Language("yaml", "yaml yml", files=".clang-format .clang-tidy"),
    Language("toml", "toml", files="cargo.lock poetry.lock uv.lock pipfile"),
    Language("ini", "ini cfg conf properties env editorconfig", files=".gitconfig .npmrc .flake8 .pylintrc"),
    Language(
        "xml",
        "xml xsd xsl xslt svg plist csproj vbproj fsproj props targets pom resx resw xaml"
        " xlf xliff tmx stringsdict",
    ),
    Language("make", "mk mak", files="makefile gnumakefile bsdmakefile", interpreters="make"),
    Language("cmake", "cmake", files="cmakelists.txt"),
    Language("dockerfile", "dockerfile", files="dockerfile containerfile"),
    Language("nix", "nix"),
    Language("perl", "pl pm t", interpreters="perl"),  # its scanner loops and crashes on other text
    Language("vim", "vim", files=".vimrc"),
    Language("awk", "awk", interpreters="awk gawk mawk"),
    Language("tcl", "tcl tk", interpreters="tclsh wish"),
    Language("batch", "bat cmd"),
    Language("assembly", "s asm"),
    Language("fortran", "f f77 f90 f95 f03 f08 for"),
    Language("pascal", "pas pp dpr lpr"),
    Language("ada", "adb ads"),
    Language("d", "d di"),
    Language("crystal", "cr", interpreters="crystal"),
    Language("haxe", "hx"),
    Language("verilog", "v vh sv svh"),
    Language("vhdl", "vhd vhdl"),
    Language("glsl", "glsl vert frag geom comp hlsl wgsl metal"),
    Language("scheme", "scm ss rkt", interpreters="guile racket"),
    Language("prolog", "pro prolog"),
    Language("cobol", "cob cbl cpy"),
    Language("coffeescript", "coffee", interpreters="coffee"),
    Language("vyper", "vy"),
    Language("move", "move"),
    Language("cairo", "cairo"),
    Language("csv", "csv tsv psv"),
    Language("diff", "diff patch"),
    Language("gettext", "po pot"),
    Language("bibtex", "bib"),
    # Told by content (`gitrag/chunking/ambiguous.py`)
    *(
        Language(name)
        for name in """
        actionscript ampl angelscript apex asp basic bitbake coq cram dtrace forth gap gnuplot hack idl lex
        limbo maxscript mercury modula-2 mumps nemerle nmodl objectscript opencl openedge picolisp povray
        puppet q rebol renderscript smalltalk sourcepawn stringtemplate structured-text supercollider turing
        vba vlang wolfram yacc
        """.split()
    ),
    Language("matlab", "matlab", interpreters="octave"),
    Language("raku", "raku rakumod rakutest p6 pm6", interpreters="raku perl6"),
    Language("freemarker"),
    Language("go-template", "gotmpl gohtml"),
    Language("smarty"),
    Language("fluent"),
    Language("qt-translation"),
    Language("proguard"),
    Language("qmake", "pri prf"),
    Language("roff"),
    Language("xpm", "xpm"),
    Language("cassette"),
    Language("sql-dump"),
    Language("word-list", "dic aff"),
    Language("gitignore", "gitignore dockerignore npmignore eslintignore gitattributes"),
)

BY_NAME = {language.name: language for language in LANGUAGES}
_OTHER_NAMES = {
    "c++": "cpp",
    "c#": "csharp",
    "f#": "fsharp",
    "objective-c": "objc",
    "objective-c++": "objc",
    "objc++": "objc",
    "shell": "bash",
    "shell-script": "bash",
    "tex": "latex",
    "rocq-prover": "coq",
    "viml": "vim",
    "vim-script": "vim",
    "hcl": "terraform",
    "cperl": "perl",
    "octave": "matlab",
    "makefile": "make",
    "visual-basic-6.0": "vba",
    "restructuredtext": "rst",
    "gettext-catalog": "gettext",
    "protocol-buffer": "protobuf",
    "plain-text": "text",
    "unix-assembly": "assembly",
    "jinja": "html",
    "java-server-pages": "html",
}
"""Names that linguist and editors have for a language in place of ours."""
_BY_SUFFIX = {suffix: row.name for row in reversed(LANGUAGES) for suffix in row.suffixes.split()}
_BY_FILE = {file: row.name for row in reversed(LANGUAGES) for file in row.files.split()}
_BY_INTERPRETER = {word: row.name for row in reversed(LANGUAGES) for word in row.interpreters.split()}

_SHEBANG = late_re(r"#!\s*(\S+)(.*)")
_MODELINE = late_re(
    r"-\*-[ \t]*(?:[^\n]{0,200}?\bmode:[ \t]*)?(?P<emacs>[\w+#-]+)[ \t]*(?:;[^\n]{0,200})?-\*-"
    r"|\b(?:vim?|ex):[^\n]{0,200}?\b(?:ft|filetype|syntax)=(?P<vim>[\w+#-]+)",
    re.IGNORECASE,
)
_MODELINES = 5
"""Lines at the beginning and at the end of a file in which editors look for one."""
_MODELINES_BYTES = 1_000
_RUN_BY_JAVASCRIPT = frozenset({"typescript", "tsx"})
"""Languages whose `#!` line names what runs JavaScript: node, bun and deno run them too."""
_VERSION = late_re(r"-?[\d.]{1,30}$")  # bounded: a shebang may be a megabyte of dots

_PROSE = frozenset("markdown rst asciidoc org latex text".split())
_DATA = frozenset(
    """
    html css json yaml toml ini xml make cmake dockerfile nix csv diff gettext bibtex gitignore
    freemarker go-template smarty fluent qt-translation proguard qmake roff xpm cassette sql-dump word-list
    """.split()
)


def is_code(language: str) -> bool:
    return bool(language) and language not in _PROSE and language not in _DATA


def is_prose(language: str) -> bool:
    return language in _PROSE


def named(given: str) -> str | None:
    """Return our name of a language as linguist, an editor or a user call it, or None if it has none."""
    name = given.lower().replace(" ", "-")
    name = _OTHER_NAMES.get(name, name)
    return name if name in BY_NAME else _BY_SUFFIX.get(name)


def key_of(path: str, first_line: str = "") -> str | None:
    """Return what a path says of its language: its name, or the ending with its dot where that is ambiguous.

    Args:
        path: A path with ``/``; only its last part matters.
        first_line: The file's first line; used if the name does not tell the language.
    """
    file = path.rpartition("/")[2].lower()
    name = _BY_FILE.get(file)
    if name is None:
        stem, dot, suffix = file.rpartition(".")
        if dot:
            name = f".{suffix}" if suffix in RULES else _BY_SUFFIX.get(suffix)
            name = "html" if file.endswith(".blade.php") else name  # even if it has no tag, or one of PHP
        if name is None:
            # Dockerfile.dev, Makefile.am
            name = _BY_FILE.get(stem) if dot else None
    if name is None and first_line:
        name = _by_shebang(first_line) or _by_modeline(first_line[:_MODELINES_BYTES])
    return name


def language_in(key: str | None, content: bytes) -> str | None:
    """Return the language of a content by its key (``key_of``), or None if unknown."""
    if key is None or not key.startswith("."):
        return key
    usual = _BY_SUFFIX.get(key[1:])
    if not content:
        return usual
    head = content[:HEAD_BYTES].removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    first = "\n".join(head[:_MODELINES_BYTES].split("\n")[:_MODELINES])
    last = "\n".join(content[-_MODELINES_BYTES:].decode("latin-1").split("\n")[-_MODELINES:])
    run_by = None if usual in _RUN_BY_JAVASCRIPT else _by_shebang(first.partition("\n")[0])
    said = _by_modeline(first) or _by_modeline(last) or run_by
    return said or next((name for name, rule in _rules(key[1:]) if rule.search(head)), usual)


def language_of(path: str, content: str | bytes = b"") -> str | None:
    """Return our name for a file's language, or None if unknown.

    Args:
        content: What is in it, at least the first line; used if the name does not tell the language. Empty
            where that is not at hand: then an ambiguous ending counts as the usual one.
    """
    if not content:
        return language_in(key_of(path), b"")
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    return language_in(key_of(path, data[:HEAD_BYTES].partition(b"\n")[0].decode("utf-8", "replace")), data)


MOST_OUTLINED_BYTES = 8 << 20
"""A larger file is left out. Up to the parser's limit (4 MiB) it has an outline, beyond that a head alone."""


def has_outline(path: str) -> bool:
    """Tell whether the outline of a large file is indexed: of source in a parsed language."""
    row = BY_NAME.get(language_of(path) or "")
    return row is not None and bool(row.grammar) and bulk(path) is None


def needs_first_line(path: str) -> bool:
    """Return whether only the first line can tell: the name has no suffix and is not in the table."""
    file = path.rpartition("/")[2].lower()
    return "." not in file.lstrip(".") and file not in _BY_FILE and language_of(path) is None


@cache
def _rules(suffix: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((name, re.compile(rule, re.MULTILINE)) for name, rule in RULES[suffix])


def _by_modeline(lines: str) -> str | None:
    found = _MODELINE.search(lines) if "-*-" in lines or "=" in lines else None
    return named(found["emacs"] or found["vim"]) if found else None


def _by_shebang(line: str) -> str | None:
    found = _SHEBANG.match(line)
    if not found:
        return None
    words = [found[1].rpartition("/")[2], *found[2].split()]
    if words[0] == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return _BY_INTERPRETER.get(_VERSION.sub("", words[0]).lower()) if words else None
