"""Endings that several languages share, and what in a file's content tells which it is. Pure data.

Facts as linguist has them (its heuristics.yml). Of files with these endings the first `HEAD_BYTES` are looked at.
A repository may be hostile, so no expression takes quadratic time: none has two repetitions that may share text.
"""
# ruff: noqa: E501, ISC004 - an expression is easier to read in one piece

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

HEAD_BYTES: Final = 1 << 16

_PERL = r"\buse[ \t]+(?:strict|warnings|constant|overload|lib|v?5)\b|^[ \t]*(?:sub \w+|my[ \t]*[$@%(]|package [\w:]+[ \t]*[;{])"
_RAKU = r"^[ \t]*use[ \t]+v6\b"
_CLAUSE = r"^(?::-|[a-z]\w*(?:\([^\n]*\))?[ \t]*:-)"
_ROFF = r"^[.'](?:[A-Za-z]{2}(?:[ \t]|$)|\\\")"
_FORTH = r"^: \S"
_JSON = r"\A\s*[{\[]"
_XML = r"\A\s*<\?xml\b"
_OBJC = r"^[ \t]*@(?:interface|protocol|property|implementation)\b"
_OBJC_TOO = (
    r"^[ \t]*(?:@(?:class|import|end|selector)\b|#[ \t]*import\b)"  # C++ headers have it under __OBJC__
)
_CPP = (
    r"^[ \t]*(?:class[ \t]+\w[^;\n]*$|(?:using[ \t]+)?namespace\b|template[ \t]*<|using[ \t]+\w*(?:[ \t]*=|::)|constexpr\b"
    r"|(?:public|private|protected)[ \t]*:|catch[ \t]*\("
    r"|#[ \t]*include[ \t]*<(?:c?(?:std\w+|string|math)|vector|map|list|array|bitset|deque|queue|stack|set|tuple"
    r"|memory|utility|functional|optional|variant|algorithm|type_traits|unordered_(?:map|set)|[io]?o?stream)>)"
    r"|^[^/*\n]*\bstd::\w"
)
_HTTP = r"\A(?:---[^\n]*\n)?(?:#[^\n]*\n)*(?:http_interactions|interactions):[ \t]*\n[ \t]*- (?:request|response):"
_HTTP_JSON = (
    r"\A\s*\{\s*\"(?:log\"\s*:\s*\{\s*(?:\"_recordingName\"|\"version\")"
    r"|http_interactions\"|interactions\"\s*:\s*\[\s*\{\s*\"(?:request|response)\")"
)
_DUMP = (
    r"\A(?:--\r?\n)?-- (?:MySQL|MariaDB|PostgreSQL database|phpMyAdmin SQL) dump\b(?s:.*)"
    r"^(?:INSERT INTO|COPY [^\n]* FROM stdin)"
    r"|\APRAGMA foreign_keys=OFF;\s*BEGIN TRANSACTION;"
    r"|\A(?!(?s:.*)^(?i:create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:table|view|function|procedure|trigger)\b))"
    r"(?s:.*?)(?:^INSERT INTO [^\n]*\n\s?){20}"
    r"|(?:^INSERT INTO [^\n]*\n\s?){200}"  # beside what it creates, which is asked for
)

_BLADE = (
    r"\A(?![\s\S]*<\?)[\s\S]*?"  # what has no PHP tag is text for PHP, too
    r"(?:\{\{|\{!!|<x-[a-z]|@(?:extends|section|component|foreach|if|include|props|push|yield)\b)"
)

RULES: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    # programs
    "as": (
        (
            "actionscript",
            r"^[ \t]*(?:package\b|import[ \t]+[\w.*]+;|(?:public|private|protected|static|dynamic)[ \t])"
            r"|^[ \t]*function[ \t]+\w[^\n]*:",
        ),
        ("angelscript", r"^[ \t]*(?:#include|void|u?int|float|bool|string|class|array<)"),
    ),
    "asc": (("text", r"\A-----BEGIN "),),
    "asp": (("asp", ""),),
    "bas": (("vba", r"^[ ]*Attribute VB_Name"), ("basic", "")),
    "cgi": (("perl", _PERL), ("python", r"^(?:import|from) \w"), ("bash", "")),
    "cl": (
        ("common-lisp", r"^[ \t]*\((?:def|in-package|setf?q?\b|let)"),
        ("opencl", r"\b(?:__)?kernel[ \t]+void\b|^[ \t]*(?:#[ \t]*\w|//|/\*)"),
    ),
    "cls": (
        ("vba", r"^[ ]*(?:VERSION [0-9]\.[0-9] CLASS|Attribute VB_)"),
        (
            "latex",
            r"^[ \t]*(?:%|\\(?:NeedsTeXFormat|ProvidesClass|LoadClass|documentclass|def|newcommand)\b)",
        ),
        ("objectscript", r"^Class[ \t]+[\w.%]+"),
        ("openedge", r"(?i)^[ \t]*class[ \t]+\w[^{:\n]*:[ \t\r]*$"),
        ("apex", r"(?i)\b(?:class|interface|enum)[ \t]+\w[^\n]{0,200}\{"),
    ),
    "d": (
        (
            "dtrace",
            r"\A#!.*\bdtrace\b|^(?:\w*:\w*:\w*:\w*|BEGIN|END|provider[ \t]|(?:tick|profile)-\w+|#pragma[ \t]+D[ \t])",
        ),
        (
            "d",
            r"^[ \t]*(?:module[ \t]+\w[^;\n]*|(?:public |static )?import[ \t]+\w[^;\n]*);|^[ \t]*unittest\b",
        ),
        ("make", r"\A\s*[\w./\\+-]+\.\w+[ \t]*:(?:[ \t]|$)"),
    ),
    "f": (("forth", _FORTH), ("fortran", "")),
    "for": (("forth", _FORTH), ("fortran", "")),
    "frag": (("xml", r"\A\s*<[a-zA-Z?!]"), ("javascript", r"\A\s*\(function\b"), ("glsl", "")),
    "fs": (
        ("forth", r"^: \S|^new-device"),
        ("fsharp", r"^[ \t]*(?:#light|let|module|namespace|open|type)\b"),
        ("glsl", r"^[ \t]*(?:#version|precision|uniform|varying|void main)\b"),
        ("renderscript", r"^[ \t]*#(?:include|pragma[ \t]+(?:rs|version))\b"),
    ),
    "gd": (("gap", r"^[ \t]*(?:Declare[A-Z]\w*|BindGlobal|KeyDependentOperation)\("),),
    "h": (("objc", _OBJC), ("cpp", _CPP), ("objc", _OBJC_TOO), ("c", "")),
    "inc": (
        ("php", r"\A\s*<\?|<\?php\b"),
        ("sourcepawn", r"^(?:methodmap|native|forward|stock)[ \t]"),
        ("povray", r"^[ \t]*#(?:declare|local|macro)\b"),
        (
            "c",
            r"^[ \t]*#[ \t]*(?:include[ \t]*[<\"]|define[ \t]+\w|ifn?def\b|if[ \t]+(?:defined\b|[A-Z_!(\d])|pragma[ \t])",
        ),
        ("pascal", r"(?i)^[ \t]*(?:\{\$\w+|(?:procedure|function)[ \t]+\w[^\n{]*;|end[.;][ \t\r]*$)"),
        ("bitbake", r"^(?:inherit[ \t]|[A-Z_][\w:${}-]*[ \t]+[?+:.]{0,2}=[ \t]*\")"),
        ("make", r"^[ \t]*(?:\.(?:include|if|ifdef|ifndef)|[A-Z_]+[ \t]*[?+:]=)[ \t]"),
        ("html", r"(?i)\A\s*<(?:!--|!doctype|html|head|div|table|script|ul|p|a|nav|link|meta)\b"),
        (
            "sql",
            r"(?i)^(?:(?:create|drop|alter)[ \t]+(?:or[ \t]+replace|table|temp\w*|unique|index|view|function|procedure"
            r"|trigger|database)\b|insert[ \t]+into[ \t]|select[ \t]+(?:\*|[\w.]+(?:,|[ \t]+from))[ \t])",
        ),
        (
            "assembly",
            r"(?i)^[ \t]*(?:mov[lqbw]?|%?macro|%define|\.macro|\.globl|db|dw)[ \t]|^\w+:?[ \t]+(?:equ|db|dw)[ \t]",
        ),
        (
            "cpp",
            r"^[A-Z_0-9]+\([^\n]*\)[,;]?\r?$|^\w[\w:<>*&]* [\w:<>*& ]*(?<=\w)\([^;\n]*\)(?: const)?(?: \{)?\r?$",
        ),
    ),
    "l": (
        ("common-lisp", r"^\((?:defun|defmacro|in-package)[ \t]"),
        ("picolisp", r"^\((?:de|class|rel|code|data|must)[ \t]"),
        ("roff", _ROFF),
        ("lex", ""),
    ),
    "m": (
        ("objc", f"{_OBJC}|{_OBJC_TOO}" + r"|^[ \t]*#[ \t]*include\b"),
        ("mercury", r"^:- module"),
        ("wolfram", r"\A\s*\(\*|^Begin(?:Package)?\["),
        (
            "matlab",
            r"^[ \t]*(?:%[ \t%{]|function\b[ \t\w\[]|classdef\b|end[;,]?[ \t\r]*$)|^[A-Za-z]\w*[ \t]*=[ \t\w\[(]",
        ),
        ("mumps", r"^(?:[ \t]*|%?\w+(?:\([^\n]*\))?[ \t]+);"),
        ("matlab", r"^[ \t]*(?:%|function\b|classdef\b)"),
        ("limbo", r"^\w+[ \t]*:[ \t]*module[ \t]*\{|^implement[ \t]"),
        ("objc", r"\)[ \t]*\n?\{"),
        ("matlab", ""),
    ),
    "mm": (("xml", r"\A\s*<(?:\?xml|map)\b"), ("objc", "")),
    "mod": (
        ("xml", r"<!ENTITY "),
        ("modula-2", r"(?i)^[ \t]*(?:(?:implementation|definition)[ \t]+)?module[ \t]+[\w.]+[ \t]*;"),
        ("nmodl", r"^[ \t]*(?:NEURON|UNITS|PARAMETER|INITIAL)[ \t]*\{"),
        ("ampl", r"^[ \t]*(?:param|var|set|minimize|maximize|subject to)[ \t][^\n]*[;:{]"),
    ),
    "ms": (("roff", _ROFF), ("assembly", r"^[ \t]*\.(?:include|globa?l|text)\b"), ("maxscript", "")),
    "n": (("roff", _ROFF), ("nemerle", r"^(?:module|namespace|using)[ \t]")),
    "p": (
        ("gnuplot", r"^s?plot\b|^set[ \t]+(?:term\w*|out\w*|[xy](?:tics|label|range)|style)\b"),
        ("pascal", r"(?i)^[ \t]*(?:program|unit)[ \t]+\w[^\n]*;"),
        ("openedge", ""),
    ),
    "php": (("hack", r"\A(?:#![^\n]*\n)?<\?hh\b"), ("html", _BLADE)),
    "pl": (("raku", _RAKU), ("perl", _PERL), ("prolog", _CLAUSE), ("perl", "")),
    "pm": (("xpm", r"\A\s*/\* XPM \*/"), ("raku", _RAKU), ("perl", "")),
    "pp": (
        ("puppet", r"^[ \t]+\w+[ \t]+=>[ \t]|^(?:class|define|node)[ \t][^;\n]*\{"),
        ("pascal", ""),
    ),
    "pro": (
        (
            "proguard",
            r"^-(?:keep\w*|dont\w+|include|optimi\w+|rename\w+|assume\w+|print\w+)\b|^#[^\n]*(?i:proguard)",
        ),
        ("prolog", _CLAUSE + r"|^[a-z]\w*\([^\n]*\)\.[ \t\r]*$"),
        (
            "qmake",
            r"^[ \t]*(?:QT|TEMPLATE|TARGET|SOURCES|HEADERS|FORMS|CONFIG|SUBDIRS|INCLUDEPATH|LIBS|DEFINES)[ \t]*[-+*~]?=",
        ),
        ("idl", r"(?i)^[ \t]*(?:function|pro|compile_opt)[ \t]+\w"),
        ("ini", r"^last_client="),
    ),
    "q": (
        ("sql", r"(?i)^[ \t]*(?:select|create|alter|drop|insert|set|use|explain|from|with)[ \t]"),
        ("q", ""),
    ),
    "r": (("rebol", r"(?i)\A\s*(?:;[^\n]*\n\s*)*rebol\b"),),
    "rs": (
        ("xml", _XML),
        (
            "rust",
            r"^[ \t]*(?:use[ \t]+\w|(?:pub(?:\([^)\n]*\))?[ \t]+)?(?:fn|mod|impl)\b|macro_rules!|#!?\[)",
        ),
        ("renderscript", r"^[ \t]*#[ \t]*(?:include\b|pragma[ \t]+(?:rs|version)\b)"),
    ),
    "sc": (
        (
            "scala",
            r"^[ \t]*(?:import[ \t]+\w|def[ \t]+\w|(?:case[ \t]+)?(?:object|class|trait)[ \t]+\w|//>[ \t]*using\b)",
        ),
        (
            "supercollider",
            r"^[ \t]*~\w+[ \t]*=|\^(?:this|super)\b|^\+?[ \t]*[A-Z]\w*[ \t]*(?::[ \t]*[A-Z]\w*[ \t]*)?\{",
        ),
    ),
    "st": (
        ("structured-text", r"^[ \t]*(?:FUNCTION_BLOCK|FUNCTION|PROGRAM|VAR|TYPE)\b"),
        (
            "smalltalk",
            r"methodsFor:|^[ \t]*Class[ \t]*\{|^[ \t]*\w+(?: class)?[ \t]*>>|[ \t]:=[ \t]|if(?:True|False):",
        ),
        ("stringtemplate", r"^\w+\([^\n]*\)[ \t]*::=|\$\w+[($]|^(?:group|delimiters)[ \t]"),
    ),
    "t": (
        ("cram", r"^  \$ \S"),
        ("raku", _RAKU),
        ("perl", _PERL),
        ("turing", r"^[ \t]*var[ \t]+\w[^\n]*:=|^[ \t]*(?:setscreen|procedure|proc|process)\b"),
        ("perl", ""),
    ),
    "v": (
        (
            "coq",
            r"(?:^|\s)(?:Proof|Qed)\.(?:\s|$)|^[ \t]*(?:From[ \t]+[\w.]+[ \t]+)?Require[ \t]+(?:Import|Export)\b",
        ),
        ("vlang", r"^[ \t]*(?:pub[ \t]+)?fn[ \t(][^\n]*\{"),
        ("verilog", ""),
    ),
    "vba": (("vim", r"^UseVimball"), ("vba", "")),
    "y": (("yacc", ""),),
    "yy": (("json", _JSON), ("yacc", "")),
    # templates
    "ftl": (("freemarker", r"<#|<@|\$\{|\A\s*<[!a-zA-Z]"), ("fluent", "")),
    "tpl": (
        ("go-template", r"\{\{-?[ \t]*(?:define|if|range|with|template|include|end|[.$/\"])"),
        ("smarty", r"\{(?:\*|\$|/?(?:if|foreach|include|block|extends|literal|section|assign)\b)"),
        ("html", r"\A\s*<[!a-zA-Z]"),
    ),
    # data in the clothes of programs, and recorded or listed data
    "ts": (
        (
            "qt-translation",
            r"\A\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,4000}?-->\s*)?(?:<!DOCTYPE TS[^>]{0,200}>\s*)?<TS\b",
        ),
    ),
    "tsx": (("xml", _XML),),
    "arb": (("json", _JSON),),
    "json": (("cassette", _HTTP_JSON),),
    "yaml": (("cassette", _HTTP),),
    "yml": (("cassette", _HTTP),),
    "sql": (("sql-dump", _DUMP),),
    "txt": (("word-list", r"\A(?:[^\s=/:<>#]{1,40}\r?\n){200}"),),
}
"""By ending, lower case: languages in the order they are tried, each with a regular expression (multi-line).
The empty one always matches; where none does, the language is that of the ending in `LANGUAGES`, or none."""
