"""Endings that several languages share: what the file holds decides."""

from __future__ import annotations

import re

import pytest

from gitrag.chunking import key_of, language_of
from gitrag.chunking.ambiguous import RULES
from gitrag.chunking.languages import BY_NAME

QT = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n<TS version="2.1" language="de">\n<context>\n'
VCR = "---\nhttp_interactions:\n- request:\n    method: get\n"
INSERTS = "INSERT INTO plans VALUES (1, 'x');\n" * 30


@pytest.mark.parametrize(
    ("path", "content", "language"),
    [
        # .ts: Qt's translations
        ("share/translations/app_de.ts", QT, "qt-translation"),
        ("app_de.ts", "\ufeff<!DOCTYPE TS><TS>\n", "qt-translation"),
        ("src/box.ts", "export const boxed = read<TS>(value);\n", "typescript"),
        ("bin/box.ts", "#!/usr/bin/env node\nexport const box: number = 1;\n", "typescript"),
        ("levels/one.tsx", '<?xml version="1.0"?>\n<tileset name="floor">\n', "xml"),
        # .h: C, C++, Objective-C
        ("table.h", "#pragma once\n#include <vector>\nint size();\n", "cpp"),
        ("table.h", "namespace door {\nint open();\n}\n", "cpp"),
        ("table.h", '#ifdef __cplusplus\nextern "C" {\n#endif\nint open(void);\n', "c"),
        ("table.h", "/* A class of devices that open,\n * as std::vector does */\nint open(void);\n", "c"),
        ("table.h", "/* Opens a door\n   using a key */\nint open(void);\n", "c"),
        ("table.h", "using Door = int;\n", "cpp"),
        ("Door.h", "#import <Foundation/Foundation.h>\n", "objc"),
        ("bits/door.h", "// -*- C++ -*-\nint open();\n", "cpp"),
        # .m, .mm
        ("Door.m", '#import "Door.h"\n@implementation Door\n@end\n', "objc"),
        ("fit.m", "function y = fit(x)\n  y = x(1:end);\nend\n", "matlab"),
        ("plot.m", "x = 0:0.1:10;\nplot(x, sin(x))\n", "matlab"),
        ("fill.m", "x = 1 ;\nfor i = 1:3\n  fill ;\nend ;\n", "matlab"),
        ("show.m", "% Shows all\nhold ;\nplot(x) ;\n", "matlab"),
        ("rows.m", "a = [1 2\n ; 3 4];\n", "matlab"),
        ("list.m", ":- module list.\n:- interface.\n", "mercury"),
        ("Fit.m", '(* ::Package:: *)\nBeginPackage["Fit`"]\n', "wolfram"),
        ("XUSER.m", "XUSER ;ISF/DOOR - USER FILE ;5/10/07\n N X\n", "mumps"),
        ("map.mm", '<map version="1.0.1">\n<node TEXT="a"/>\n', "xml"),
        # .pl, .pm, .t, .pro
        ("door.pl", "use strict;\nsub open_door { return 1 }\n", "perl"),
        ("family.pl", "parent(X, Y) :- father(X, Y).\n", "prolog"),
        ("door.pl", "use v6;\nsub MAIN() { say 1 }\n", "raku"),
        ("door.pm", "package Door;\nuse warnings;\n1;\n", "perl"),
        ("icon.pm", "/* XPM */\nstatic char *icon[] = {\n", "xpm"),
        ("door.t", "use Test::More;\nmy $door = 1;\n", "perl"),
        ("test-push.t", "  $ hg init\n  $ hg push\n  abort: no\n", "cram"),
        ("proguard-rules.pro", "# keep these\n-keepclassmembers class a.** { *; }\n", "proguard"),
        ("app/proguard-rules.pro", "# Add project specific ProGuard rules here.\n", "proguard"),
        ("app.pro", "QT += core gui\nSOURCES += main.cpp\n", "qmake"),
        ("facts.pro", "father(abe, homer).\n", "prolog"),
        ("fit.pro", "pro fit, x, y\n  compile_opt idl2\nend\n", "idl"),
        # .v, .d, .fs, .cls
        ("door.v", "module door(input clk);\nendmodule\n", "verilog"),
        ("door.v", "Require Import List.\nLemma a : True.\nProof.\nQed.\n", "coq"),
        ("door.v", "module main\n\nfn main() {\n}\n", "vlang"),
        ("door.d", "module door;\nimport std.stdio;\n", "d"),
        ("door.d", "syscall::open:entry\n{ trace(1); }\n", "dtrace"),
        ("door.d", "build/door.o: src/door.c \\\n  src/door.h\n", "make"),
        ("Door.fs", "module Door\nlet openDoor x = x\n", "fsharp"),
        ("door.fs", ": open-door ( n -- ) drop ;\n", "forth"),
        ("door.fs", "#version 330\nout vec4 colour;\n", "glsl"),
        ("thesis.cls", "\\NeedsTeXFormat{LaTeX2e}\n\\ProvidesClass{thesis}\n", "latex"),
        ("Door.cls", "VERSION 1.0 CLASS\nBEGIN\n", "vba"),
        ("Door.cls", "public with sharing class Door {\n}\n", "apex"),
        ("Door.cls", "Class App.Door Extends %Persistent\n{\n", "objectscript"),
        # .inc
        ("door.inc", "<?php\nfunction open_door() {}\n", "php"),
        ("door.inc", "#ifndef DOOR\nHANDLE(1)\n", "c"),
        ("door.inc", "{$ifdef FPC}\nprocedure OpenDoor;\n", "pascal"),
        ("door.inc", 'inherit cmake\nDEPENDS = "zlib"\n', "bitbake"),
        ("door.inc", "%macro open 1\n  mov eax, 1\n", "assembly"),
        ("door.inc", 'SRC_URI:append:door = "file://a"\n', "bitbake"),
        ("door.inc", "CREATE TABLE doors (id int);\n", "sql"),
        ("door.inc", "int open_door(int key)\n", "cpp"),
        ("door.inc", "words in a file\n", None),
        ("door.rst.inc", "Select the door (an ``entry``)\n\n  # include the key\nOpen it (by hand)\n", None),
        ("door.inc", 'PATH="/bin"\nopen_door()\n{\n  true\n}\n', None),
        # .r .rs .sc .sql .st .as .asp .bas
        ("fit.r", "fit <- function(x) x\n", "r"),
        ("door.r", 'REBOL [Title: "Door"]\n', "rebol"),
        ("door.rs", "pub fn open() {}\n", "rust"),
        ("blur.rs", "#pragma version(1)\n#pragma rs java_package_name(a)\n", "renderscript"),
        ("build.rs", 'fn main() {\n    let c = r#"\n#include <stdio.h>\n"#;\n}\n', "rust"),
        ("Door.sc", "import a.b\ndef open =\n  Future {\n    1\n  }\n", "scala"),
        ("Door.sc", "object Door { def open = 1 }\n", "scala"),
        ("door.sc", "~door = { SinOsc.ar };\n", "supercollider"),
        ("schema.sql", "CREATE TABLE doors (id int);\nINSERT INTO doors VALUES (1);\n", "sql"),
        ("Door.st", "!Door methodsFor: 'opening'!\nopen\n  ^1 ! !\n", "smalltalk"),
        ("door.st", "page(title) ::= <<\n<title>\n>>\n", "stringtemplate"),
        ("door.st", "FUNCTION_BLOCK Door\nVAR\nEND_VAR\n", "structured-text"),
        ("Door.as", "package a {\n  public class Door {}\n}\n", "actionscript"),
        ("door.asp", "<% Response.Write 1 %>\n", "asp"),
        ("door.bas", 'Attribute VB_Name = "Door"\nSub Open()\n', "vba"),
        # .f .frag .gd .l .y .yy .ms .n .p .q
        ("door.f", "      SUBROUTINE OPEN(X)\n      END\n", "fortran"),
        ("door.f", ": open 1 ;\n", "forth"),
        ("door.frag", "precision mediump float;\nvoid main() {}\n", "glsl"),
        ("door.gd", "extends Node\nfunc open():\n", "gdscript"),
        ("door.gd", 'DeclareOperation("Open", [IsDoor]);\n', "gap"),
        ("door.l", "%{\n#include <a.h>\n%}\n%%\n", "lex"),
        ("door.l", "(defun open-door () 1)\n", "common-lisp"),
        ("door.y", "%token DOOR\n%%\n", "yacc"),
        ("l10n/app_en.arb", '{\n  "@@locale": "en",\n', "json"),
        ("admin/page.html.arb", "h1 title\ndiv do\n  para 'x'\nend\n", "ruby"),
        ("door.yy", '{\n  "resourceType": "GMObject",\n', "json"),
        ("door.ms", ".TL\nDoors\n", "roff"),
        ("door.n", ".TH door n\n", "roff"),
        ("door.p", "set terminal png\nplot 'a'\n", "gnuplot"),
        ("door.q", "SELECT * FROM doors;\n", "sql"),
        # .tpl .ftl .pp .cl .vba .cgi .php
        ("templates/_helpers.tpl", '{{- define "door.name" -}}\n', "go-template"),
        ("door.tpl", "{if $open}<p>{$name}</p>{/if}\n", "smarty"),
        ("door.ftl", "<#if open>${name}</#if>\n", "freemarker"),
        ("door.ftl", "open-door = Open the door\n", "fluent"),
        ("door.pp", "class door {\n  file { '/a':\n    ensure => present,\n  }\n}\n", "puppet"),
        ("door.pp", "program door;\nbegin\nend.\n", "pascal"),
        ("door.cl", "__kernel void open(__global int *a) {\n", "opencl"),
        ("door.cl", ";; doors\n(in-package :door)\n", "common-lisp"),
        ("door.vba", "Sub Open()\nEnd Sub\n", "vba"),
        ("door.cgi", "#!/usr/bin/perl -w\nprint 1;\n", "perl"),
        ("door.cgi", "#!/usr/bin/env python3\nprint(1)\n", "python"),
        ("door.php", "<?hh\nfunction open(): int { return 1; }\n", "hack"),
        ("door.php", "<html><?php echo 1 ?>\n", "php"),
        ("door.blade.php", "@extends('a')\n@section('door')\n<p>{{ $key }}</p>\n@endsection\n", "html"),
        ("door.blade.php", "<p>Open</p>\n", "html"),
        ("feed.blade.php", "<?xml version='1.0'?>\n@section('door')\n@endsection\n", "html"),
        ("page.php", "{{ x }}\n@if (a)\n<?= $key ?>\n", "php"),
        ("door.php", "return 1;\n", "php"),
        # data in any format
        ("spec/cassettes/door.yml", VCR, "cassette"),
        ("door.yaml", "interactions:\n- request:\n    body: null\n", "cassette"),
        ("door.json", '{"log": {"version": "1.2", "entries": []}}', "cassette"),
        ("door.json", '{"door": 1}', "json"),
        ("dump.sql", f"-- MySQL dump 10.13\n{INSERTS}", "sql-dump"),
        ("backup.sql", INSERTS, "sql-dump"),
        ("seeded.sql", f"CREATE TABLE plans (id int);\n{INSERTS}", "sql"),
        ("whole.sql", f"CREATE TABLE plans (id int);\n{INSERTS * 7}", "sql-dump"),
        (
            "lite.sql",
            f"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE plans (a);\n{INSERTS}",
            "sql-dump",
        ),
        ("schema.sql", f"CREATE TABLE plans (id int);\n{INSERTS}", "sql"),
        ("schema.sql", f"{INSERTS}create or replace view all_plans as select 1;\n", "sql"),
        ("structure.sql", "--\n-- PostgreSQL database dump\n--\nCREATE TABLE doors (id int);\n", "sql"),
        ("english.txt", "door\nwindow\n" * 150, "word-list"),
        ("requirements.txt", "door==1.0\nwindow==2.0\n" * 150, "text"),
        # what an editor was told wins
        ("door.inc", "; -*- mode: sql; tab-width: 2 -*-\n", "sql"),
        ("door.h", "int open();\n/* vim: set ft=cpp ts=4: */\n", "cpp"),
        ("door.pl", "% vim: ft=prolog\ndoor.\n", "prolog"),
        ("door.h", "/* -*- coding: utf-8 -*- */\nint open();\n", "c"),
        ("bin/door", "# -*- mode: ruby -*-\n", "ruby"),
        # nothing in it
        ("door.h", "", "c"),
        ("door.ts", "", "typescript"),
        ("door.inc", "", None),
    ],
)
def test_what_is_in_a_file_says_its_language(path, content, language):
    assert language_of(path, content) == language


@pytest.mark.parametrize("ending", sorted(RULES))
@pytest.mark.parametrize("text", ["A" + "_a" * 5_000, "a:" * 5_000, "{$_" * 5_000, "A ::-" * 2_000])
def test_no_rule_takes_long(ending, text):
    """One with two repetitions that may share text would take days."""
    assert language_of(f"door.{ending}", text) in {None, *BY_NAME}


def test_rules_name_known_languages_and_their_endings_are_keys():
    for ending, rules in RULES.items():
        assert key_of(f"a/b.{ending.upper()}") == f".{ending}"
        for name, expression in rules:
            assert name in BY_NAME
            re.compile(expression, re.MULTILINE)
    assert key_of("a.py") == "python"
    assert key_of("a.unheard-of") is None
