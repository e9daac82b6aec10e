"""Calls as applications write them, each in the smallest input that went wrong."""

from __future__ import annotations

from collections import Counter

import pytest

from gitrag.callgraph.extraction import extract
from gitrag.callgraph.general.scopes import Scopes
from gitrag.callgraph.general.syntax import QueryReader
from gitrag.callgraph.general.tables import Tables
from gitrag.callgraph.graph import Node
from tests.support.callgraphs import calls_of
from tests.support.steps import counted

GO_STORE = {
    "store/store.go": """
        package store
        type Driver interface { Put(int) error }
        type Store struct { driver Driver }
        func (s *Store) Save() { s.driver.Put(1) }
    """,
    "db/db.go": "package db\ntype DB struct{}\nfunc (d *DB) Put(n int) error { return nil }\n",
    "other/other.go": "package other\ntype Driver struct{}\nfunc (d *Driver) Open() {}\n",
}
RUST_STORE = """
    trait Store { fn load(&self); fn both(&self) { self.load() } }
    struct Db;
    impl Store for Db { fn load(&self) {} }
    fn f(s: &dyn Store) { s.load() }
    fn g(s: &dyn Store) { s.both() }
"""
GO_BRUSHES = """
    package a
    type Red struct{}
    type Blue struct{}
    func (r *Red) Paint() {}
    func (b *Blue) Paint() {}
    func newRed() *Red { return nil }
    func newBlue() *Blue { return nil }
"""
JS_BRUSHES = "class Red { paint() {} }\nclass Blue { paint() {} }\n"
JAVA_BRUSHES = "class Red { void paint() {} }\nclass Blue { void paint() {} }\n"
RUBY_BRUSHES = "class Red\n  def paint\n  end\nend\nclass Blue\n  def paint\n  end\nend\n"
PHP_BRUSHES = "<?php\nclass Red { function paint() {} }\nclass Blue { function paint() {} }\n"
RUBY_TOOLS = """
module A
  class Tool
    def self.make
      new
    end
    def initialize
    end
    def run
    end
  end
end
module B
  class Tool
    def self.make
      new
    end
    def initialize
    end
    def run
    end
  end
end
"""
RUBY_JOB = """
class Job
  def self.go(id) = new(id).go
  def go
  end
end
"""
GO_ROWS = """
    package a
    type Row struct{ Owner int }
    type Sess struct{}
    func (s *Sess) Owner() int { return 1 }
    func show(n int) {}
    func use(r Row) { show(r.Owner) }
    func read(r Row) { r.Owner() }
"""
GO_NAMES = """
    package a
    type funcMap struct{}
    func (f funcMap) Add() {}
    func use(m funcMap) { m.Add() }
    func take(f func() int) { f() }
    type outline struct{}
    func (o outline) Title() {}
    type outlines []outline
    type byName map[string]*outline
    func each(all outlines) { for _, o := range all { o.Title() } }
    func value(all byName) { for _, o := range all { o.Title() } }
    func first(all outlines) { all[0].Title() }
    func bare(list []outline) { list[1].Title() }
"""

CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    # An interface is abstract by itself, not by a name that another type has too.
    "go, an interface's name is a struct's elsewhere": (
        GO_STORE,
        {"Store.Save -> Driver.Put", "Store.Save ~> DB.Put"},
    ),
    "go, two packages of one name for a type": (
        {
            "a/a.go": "package a\ntype Cat interface { Meow() }\nfunc Call(c Cat) { c.Meow() }\n",
            "b/b.go": "package b\ntype Cat struct{}\nfunc (c Cat) Meow() {}\nfunc (c Cat) Run() {}\n",
        },
        {"Call -> Cat.Meow", "Call ~> Cat.Meow"},
    ),
    "rust, a trait with a default": (
        {"a.rs": RUST_STORE},
        {"Store.both ~> Db.load", "f ~> Db.load", "g -> Store.both"},
    ),
    "rust, a method that no trait lists": (
        {"a.rs": RUST_STORE + "fn h(s: &dyn Store) { s.gone() }\nstruct X;\nimpl X { fn gone(&self) {} }\n"},
        {"Store.both ~> Db.load", "f ~> Db.load", "g -> Store.both"},
    ),
    # A Swift function is one definition.
    "swift, a function with a result": (
        {
            "a.swift": """
                struct Item {}
                func helper(_ x: Int) -> Int { x }
                class Sheet {
                    func count(_ x: Int) -> Int { return helper(x) }
                    func load() -> Item { Item() }
                    func both() async throws -> [Item]? { load() }
                    static func == (a: Sheet, b: Sheet) -> Bool { same(a) }
                    func pair() -> (Int, Item) { helper(2) }
                }
                func same(_ a: Sheet) -> Bool { true }
            """
        },
        {
            "Sheet.count -> helper",
            "Sheet.load -> Item",
            "Sheet.both -> Sheet.load",
            "Sheet.== -> same",
            "Sheet.pair -> helper",
        },
    ),
    # CommonJS, and instances that are exported.
    "javascript, a module by require": (
        {
            "hash.js": "exports.make = function () {};\n",
            "main.js": 'const hash = require("./hash");\nfunction login() { hash.make(); }\n',
        },
        {"login -> make"},
    ),
    "javascript, a required class's statics": (
        {
            "thing.js": "class Thing { static all() {} }\nmodule.exports = Thing;\n",
            "main.js": 'const Thing = require("./thing");\nfunction f() { Thing.all(); new Thing(); }\n',
        },
        {"f -> Thing.all", "f -> Thing"},
    ),
    "javascript, an object of functions that is the export": (
        {
            "a.js": "function one() {}\nfunction three() {}\nmodule.exports = { one, two: three };\n",
            "main.js": 'const a = require("./a");\nfunction f() { a.one(); }\nfunction g() { a.two(); }\n',
        },
        {"f -> one", "g -> three"},
    ),
    "javascript, an exported instance": (
        {
            "a.ts": "export class Api { get(n: number) {} }\nexport const api = new Api();\n",
            "barrel.ts": "export { api } from './a';\n",
            "every.ts": "export * from './a';\n",
            "b.ts": "import { api } from './a';\nfunction f() { api.get(1); }\n",
            "c.ts": "import { api as it } from './barrel';\nfunction g() { it.get(1); }\n",
            "d.ts": "import { api } from './every';\nfunction h() { api.get(1); }\n",
        },
        {"<module> -> Api", "f -> Api.get", "g -> Api.get", "h -> Api.get"},
    ),
    "javascript, an instance that is the export": (
        {
            "a.js": "class Api { get() {} }\nmodule.exports = new Api();\n",
            "b.js": "import { Far } from './far';\nexport default new Far();\n",
            "far.js": "export class Far { go() {} }\n",
            "c.js": "const api = require('./a');\nfunction f() { api.get(); }\n",
            "d.js": "import far from './b';\nfunction g() { far.go(); }\n",
        },
        {"<module> -> Api", "<module> -> Far", "f -> Api.get", "g -> Far.go"},
    ),
    "javascript, an import that is awaited": (
        {
            "a.js": "export function boot() {}\nexport function stop() {}\n",
            "b.js": """
                async function f() { const { boot } = await import("./a"); boot(); }
                async function g() { const a = await import("./a"); a.stop(); }
            """,
        },
        {"f -> boot", "g -> stop"},
    ),
    # A variable is what its nearest declaration says.
    "go, two declarations in two blocks": (
        {
            "a.go": GO_BRUSHES
            + "func use(x bool) { brush := newRed(); if x { brush := newBlue(); brush.Paint() } }\n"
        },
        {"use -> newRed", "use -> newBlue", "use -> Blue.Paint"},
    ),
    "go, the outer one again": (
        {
            "a.go": GO_BRUSHES
            + "func use() { b := newRed(); if x { b := newBlue(); func() { b.Paint() }() }; b.Paint() }\n"
        },
        {"use -> newRed", "use -> newBlue", "use -> Blue.Paint", "use -> Red.Paint"},
    ),
    "javascript, const in blocks": (
        {
            "a.js": JS_BRUSHES
            + "function f(x) { if (x) { const b = new Red(); } else { const b = new Blue(); b.paint(); } }\n"
        },
        {"f -> Red", "f -> Blue", "f -> Blue.paint"},
    ),
    "javascript, a variable that is given another": (
        {"a.js": JS_BRUSHES + "function f(x) { let b = new Red(); if (x) b = new Blue(); b.paint(); }\n"},
        {"f -> Red", "f -> Blue", "f ~> Red.paint", "f ~> Blue.paint"},
    ),
    "java, two loops": (
        {
            "A.java": JAVA_BRUSHES + "class C { void f(Red[] reds, Blue[] blues) { for (Red r : reds) { }"
            " for (Blue r : blues) { r.paint(); } } }\n"
        },
        {"C.f -> Blue.paint"},
    ),
    "java, if and else": (
        {
            "A.java": JAVA_BRUSHES + "class C { void f(boolean x) { if (x) { Red r = null; r.paint(); }"
            " else { var r = new Blue(); r.paint(); } } }\n"
        },
        {"C.f -> Blue", "C.f -> Blue.paint", "C.f -> Red.paint"},
    ),
    "java, parameters of lambdas hide a variable": (
        {
            "A.java": JAVA_BRUSHES + "class C { void f(Red x) { g(x -> x.paint(), (x, y) -> x.paint());"
            " for (var x : xs) { x.paint(); } } }\n"
        },
        {"C.f ~> Red.paint"},
    ),
    "csharp, a lambda and a loop hide a variable": (
        {
            "A.cs": "class Red { public void Paint() {} }\nclass Blue { public void Paint() {} }\n"
            "class C { void F(Red x) { G(x => x.Paint()); G((x, y) => x.Paint()); x.Paint(); } }\n"
            "class D { void F(Red y) { foreach (var x in xs) { x.Paint(); } } }\n"
        },
        {"C.F -> Red.Paint"},
    ),
    "kotlin, a lambda and a loop hide a variable": (
        {
            "a.kt": "class Red { fun paint() {} }\nclass Blue { fun paint() {} }\n"
            "fun f(x: Red) { for (x in xs) { x.paint() }\n xs.forEach { x -> x.paint() } }\n"
        },
        set(),
    ),
    "swift, a closure and a loop hide a variable": (
        {
            "a.swift": "class Red { func paint() {} }\nclass Blue { func paint() {} }\n"
            "func f(x: Red) { for x in xs { x.paint() }\n xs.forEach { x in x.paint() } }\n"
        },
        set(),
    ),
    "ruby, a block hides a variable": (
        {"a.rb": RUBY_BRUSHES + "def f(xs)\n  b = Red.new\n  xs.each { |b| b.paint }\nend\n"},
        {"f -> Red", "f ~> Red.paint"},
    ),
    "php, a closure and a loop hide a variable": (
        {
            "a.php": PHP_BRUSHES
            + "function f(Red $x) { $g = function ($x) { $x->paint(); }; $h = fn($x) => $x->paint(); }\n"
            + "function g(Red $x) { foreach ($xs as $x) { $x->paint(); } }\n"
            + "function h(Red $x) { $g = function (Blue $x) { $x->paint(); }; }\n"
        },
        {"f ~> Red.paint", "h -> Blue.paint"},
    ),
    "rust, a closure and a loop hide a variable": (
        {
            "a.rs": "struct Red; impl Red { fn paint(&self) {} }\n"
            "fn f(x: Red) { g(|x| x.paint()); for x in xs { x.paint(); } }\n"
        },
        {"f ~> Red.paint"},
    ),
    "typescript, an arrow function hides a variable": (
        {
            "a.ts": JS_BRUSHES
            + "function f(x: Red) { xs.map(x => x.paint()); xs.map((x) => x.paint()); x.paint() }\n"
            + "function g(x: Red) { xs.map(function (x) { x.paint() }) }\n",
        },
        {"f -> Red.paint", "g ~> Red.paint"},
    ),
    "ruby, a variable that is given another": (
        {"a.rb": RUBY_BRUSHES + "def f(x)\n  b = Red.new\n  b = Blue.new if x\n  b.paint\nend\n"},
        {"f -> Red", "f -> Blue", "f ~> Red.paint", "f ~> Blue.paint"},
    ),
    "php, a variable that is given another": (
        {
            "a.php": PHP_BRUSHES
            + "function f($x) { $b = new Red(); $b->paint(); $b = new Blue(); $b->paint(); }\n"
        },
        {"f -> Red", "f -> Blue", "f -> Red.paint", "f -> Blue.paint"},
    ),
    "php, a variable that a loop gives another": (
        {
            "a.php": PHP_BRUSHES
            + "function f($x) { $b = new Red(); foreach ($x as $y) { $b->paint(); $b = new Blue(); } }\n"
        },
        {"f -> Red", "f -> Blue", "f ~> Red.paint", "f ~> Blue.paint"},
    ),
    "javascript, a variable that is given what is not known": (
        {"a.js": JS_BRUSHES + "function f(x) { let b = new Red(); b.paint(); if (x) b = x; b.paint(1); }\n"},
        {"f -> Red", "f -> Red.paint"},
    ),
    "javascript, and is known no more": (
        {"a.js": JS_BRUSHES + "function f(x) { let b = new Red(); if (x) b = x; b.paint(); }\n"},
        {"f -> Red", "f ~> Red.paint"},
    ),
    # A method without a body is any of its overrides.
    "kotlin, an abstract method of its own": (
        {
            "a.kt": """
                interface T { fun status(): Int }
                abstract class B : T { fun save() { status() } }
                class Alpha : B() { override fun status() = 1 }
                class Beta : B() { override fun status() = 2 }
            """
        },
        {"B.save -> T.status", "B.save ~> Alpha.status", "B.save ~> Beta.status"},
    ),
    "java, an abstract method of its own": (
        {
            "A.java": """
                abstract class B { abstract int status(); void save() { status(); } }
                class Alpha extends B { int status() { return 1; } }
                class Beta extends B { int status() { return 2; } }
            """
        },
        {"B.save ~> Alpha.status", "B.save ~> Beta.status"},
    ),
    "swift, one override is a guess too": (
        {
            "a.swift": """
                protocol T { func status() -> Int }
                class B: T { func save() { status() } }
                class Alpha: B { func status() -> Int { 1 } }
            """
        },
        {"B.save -> T.status", "B.save ~> Alpha.status"},
    ),
    # Ruby: equal last names; a class's method is no instance's.
    "ruby, classes of one name in two modules": (
        {"a.rb": RUBY_TOOLS, "b.rb": "def f\n  B::Tool.make\n  B::Tool.new.run\nend\n"},
        {
            "A.Tool.make -> A.Tool.initialize",
            "B.Tool.make -> B.Tool.initialize",
            "f -> B.Tool.make",
            "f -> B.Tool.initialize",
            "f -> B.Tool.run",
        },
    ),
    "ruby, who puts a job into a queue has it performed": (
        {
            "a.rb": """
                class Base
                  def perform; end
                end
                class MailJob < Base
                  def perform(to); end
                end
                class CleanJob < Base
                end
                def f
                  MailJob.set(wait: 3).perform_later(1)
                  CleanJob.perform_async
                  job.perform_later
                end
            """
        },
        {"f ~> MailJob.perform", "f ~> Base.perform"},
    ),
    "ruby, the nearest class of a name": (
        {"a.rb": RUBY_TOOLS + "module B\n  class Shop\n    def go\n      Tool.make\n    end\n  end\nend\n"},
        {
            "A.Tool.make -> A.Tool.initialize",
            "B.Tool.make -> B.Tool.initialize",
            "B.Shop.go -> B.Tool.make",
        },
    ),
    "ruby, a method of a class and one of its instances": (
        {
            "job.rb": RUBY_JOB,
            "test.rb": "def test_it\n  Job.go(1)\nend\ndef test_that\n  Job.new(1).go\nend\n",
        },
        {
            "Job.go:3 -> Job",
            "Job.go:3 -> Job.go:4",
            "test_it -> Job.go:3",
            "test_that -> Job",
            "test_that -> Job.go:4",
        },
    ),
    "ruby, an instance's method is not surely a class's": (
        {"a.rb": "class Mail\n  def hello\n  end\nend\ndef f\n  Mail.hello\nend\n"},
        {"f ~> Mail.hello"},
    ),
    "ruby, what a class inherits for itself": (
        {
            "a.rb": """
class Base
  class << self
    def find
    end
  end
end
class Item < Base
  def find
  end
end
def f
  Item.find
end
"""
        },
        {"f -> Base.find"},
    ),
    # Go: to read a field is no call.
    "go, fields are no calls": ({"a.go": GO_ROWS}, {"use -> show"}),
    "go, a field of functions is no method elsewhere": (
        {
            "a.go": """
                package a
                type Row struct{ Owner func() int }
                type Sess struct{}
                func (s *Sess) Owner() int { return 1 }
                func use(r *Row) int { return r.Owner() }
                func pass(r *Row) { use2(r.Owner) }
                func use2(f func() int) {}
            """
        },
        {"pass -> use2"},
    ),
    # Go: names.
    "go, what begins with func, and elements of named types": (
        {"a.go": GO_NAMES},
        {
            "use -> funcMap.Add",
            "each -> outline.Title",
            "value -> outline.Title",
            "first -> outline.Title",
            "bare -> outline.Title",
        },
    ),
    "go, packages that are called self and static": (
        {
            "self/a.go": "package self\nfunc Go() {}\n",
            "static/a.go": "package static\nfunc Serve() {}\n",
            "main.go": """
                package main
                import ("x/self"; "x/static")
                type T struct{}
                func (t T) f() { self.Go(); static.Serve() }
            """,
        },
        {"T.f -> Go", "T.f -> Serve"},
    ),
    # Properties beyond the class's braces, and what calls give.
    "swift, a property in an extension, a subclass, and from outside": (
        {
            "a.swift": """
                class Coord { func search() {} }
                class Ctl { let coord: Coord
                    var made = Coord() }
                extension Ctl { func f() { coord.search() } }
                class Sub: Ctl { func g() { made.search() } }
                func h(_ ctl: Ctl) { ctl.coord.search() }
            """
        },
        {
            "Ctl:3 -> Coord",
            "Ctl.f -> Coord.search",
            "Sub.g -> Coord.search",
            "h -> Coord.search",
        },
    ),
    "kotlin, a property in the body": (
        {
            "a.kt": """
                class Coord { fun search() {} }
                open class Ctl { val coord: Coord = Coord()
                    fun f() { this.coord.search() } }
                class Sub : Ctl() { fun g() { coord.search() } }
                class Held(val coord: Coord?) { fun i() { coord?.search() } }
                fun h(ctl: Ctl) { ctl.coord.search() }
                fun j(ctl: Ctl?) { ctl?.coord?.search() }
            """
        },
        {
            "Ctl -> Coord",
            "Ctl.f -> Coord.search",
            "Sub.g -> Coord.search",
            "Held.i -> Coord.search",
            "h -> Coord.search",
            "j -> Coord.search",
        },
    ),
    "java, a method of a call's result": (
        {
            "A.java": """
                class Item {
                    void label() {}
                    Item id(int n) { return this; }
                    static Item builder() { return null; }
                }
                interface Repo { Item find(int id); }
                class C {
                    Repo repo;
                    void f() { repo.find(1).label(); }
                    void g() { Item.builder().id(1).label(); }
                }
            """
        },
        {
            "C.f -> Repo.find",
            "C.f -> Item.label",
            "C.g -> Item.builder",
            "C.g -> Item.id",
            "C.g -> Item.label",
        },
    ),
    "php, a method of a call's result": (
        {
            "a.php": """<?php
                class Profile { function lang() {} }
                class User { function getProfile(): ?Profile { return null; } }
                function f(User $u) { $u->getProfile()->lang(); }
                function g(User $u) { $p = $u->getProfile(); $p->lang(); }
                function h(?User $u) { $u?->getProfile()?->lang(); }
            """
        },
        {
            "f -> User.getProfile",
            "f -> Profile.lang",
            "g -> User.getProfile",
            "g -> Profile.lang",
            "h -> User.getProfile",
            "h -> Profile.lang",
        },
    ),
    "kotlin, what a function gives": (
        {
            "a.kt": """
                class Item { fun label() {} }
                class Repo { fun find(n: Int): Item = Item() }
                fun f(r: Repo) { val x = r.find(1)
                    x.label() }
                fun g(r: Repo) { r.find(1).label() }
            """
        },
        {
            "Repo.find -> Item",
            "f -> Repo.find",
            "f -> Item.label",
            "g -> Repo.find",
            "g -> Item.label",
        },
    ),
    "csharp, what a method gives": (
        {
            "A.cs": """
                class Item { void Label() {} }
                class Repo { Item Find(int n) { return null; } Task<Item> Get() { return null; } }
                class C {
                    void F(Repo r) { var x = r.Find(1); x.Label(); }
                    async void G(Repo r) { var x = await r.Get(); x.Label(); }
                }
            """
        },
        {"C.F -> Repo.Find", "C.F -> Item.Label", "C.G -> Repo.Get", "C.G -> Item.Label"},
    ),
    "swift, what a function gives": (
        {
            "a.swift": """
                class Item { func label() {} }
                class Repo { func find(_ n: Int) -> Item? { nil } }
                func f(_ r: Repo) { let x = r.find(1); x?.label() }
                func g(in r: Repo) { r.find(1)?.label() }
            """
        },
        {"f -> Repo.find", "f -> Item.label", "g -> Repo.find", "g -> Item.label"},
    ),
    # Symbols that name methods; extension methods.
    "ruby, a method that a symbol names": (
        {
            "a.rb": """
class Base
  def checked
  end
end
class Items < Base
  before_action :load_it, :checked, only: [:show]
  validate :fine?
  rescue_from Gone, with: :missing
  def load_it
  end
  def fine?
  end
  def missing
  end
  def show
    method(:other)
  end
  def other
  end
end
class Far
  def elsewhere
  end
end
class Use
  before_action :elsewhere
end
"""
        },
        {
            "Items ~> Items.load_it",
            "Items ~> Base.checked",
            "Items ~> Items.fine?",
            "Items ~> Items.missing",
            "Items.show ~> Items.other",
        },
    ),
    "csharp, an extension method": (
        {
            "A.cs": """
                class Item { }
                class Sub : Item { }
                static class Ext {
                    public static string Shout(this Item i) { return ""; }
                    public static string Loud(this string s) { return ""; }
                }
                class C {
                    void F(Item i) { i.Shout(); }
                    void G(Sub s) { s.Shout(); }
                    void H(string s) { s.Loud(); }
                    void I(Other o) { o.Shout(); }
                }
            """
        },
        {"C.F -> Ext.Shout", "C.G -> Ext.Shout", "C.H ~> Ext.Loud", "C.I ~> Ext.Shout"},
    ),
    # What is certain is proved.
    "javascript, a method that is called init is no constructor": (
        {"a.js": "class A { init() {} start() { new A(); } }\n"},
        {"A.start -> A"},
    ),
    "javascript, a parameter hides a function": (
        {"a.js": "function next() {}\nfunction run(next) { next(); }\nfunction go() { next(); }\n"},
        {"go -> next"},
    ),
    "typescript, a parameter hides an import": (
        {
            "a.ts": "import { next } from './b';\nconst run = (next: Fn) => { next(); };\nrun(next);\n",
            "b.ts": "export function next() {}\n",
        },
        {"<module> -> run", "<module> ~> next"},
    ),
    "go, a parameter hides a function": (
        {"a.go": "package a\nfunc next() {}\nfunc run(next func()) { next() }\nfunc all() { next() }\n"},
        {"all -> next"},
    ),
    "kotlin, one of several overloads": (
        {"a.kt": "fun show(a: Int) {}\nfun show(a: String) {}\nclass A { fun f() { show(x()) } }\n"},
        {"A.f ~> show:1", "A.f ~> show:2"},
    ),
    "kotlin, one of several overloads of a class": (
        {"a.kt": "class A { fun show(a: Int) {}\n fun show(a: String) {} }\nfun f(a: A) { a.show(x()) }\n"},
        {"f ~> A.show:1", "f ~> A.show:2"},
    ),
    "rust, one of several conversions": (
        {
            "a.rs": "struct X;\nimpl From<A> for X { fn from(a: A) -> X { X } }\n"
            "impl From<B> for X { fn from(b: B) -> X { X } }\nfn f() { X::from(1); }\n"
        },
        {"f ~> X.from:2", "f ~> X.from:3"},
    ),
    "typescript, one of two types of a name, neither imported": (
        {
            "a/one.ts": "export class Item { go() {} }\n",
            "b/two.ts": "export class Item { go() {} }\n",
            "a/c/use.ts": "function f(item: Item) { item.go(); }\n",
        },
        {"f ~> Item.go"},
    ),
    "java, an overload's result": (
        {
            "A.java": """
                class Red { void paint() {} }
                class Blue { void paint() {} }
                class C {
                    Red of(int n) { return null; }
                    Blue of(String s) { return null; }
                    void f() { var x = of(1); x.paint(); }
                    void g() { of(1).paint(); }
                    void h() { same().paint(); }
                    Red same() { return null; }
                }
            """
        },
        {
            "C.f -> C.of:5",
            "C.f ~> Red.paint",
            "C.g -> C.of:5",
            "C.g ~> Red.paint",
            "C.h -> C.same",
            "C.h -> Red.paint",
        },
    ),
    "javascript, the result of a guess": (
        {
            "a.ts": """
                class Item { tidy() {} }
                class Shop { fetchOne(): Item { return new Item(); } }
            """,
            "b.js": "function f(x) { const item = x.fetchOne(); item.tidy(); }\n",
        },
        {"Shop.fetchOne -> Item", "f ~> Shop.fetchOne", "f ~> Item.tidy"},
    ),
    "kotlin, inside of apply": (
        {
            "a.kt": """
                class View { fun show() {} }
                class Screen {
                    fun show() {}
                    fun hide() {}
                    fun f(v: View) { v.apply { show() } }
                    fun g(v: View) { with(v) { show() } }
                    fun h(v: View) { v.let { hide() } }
                }
            """
        },
        {
            "Screen.f ~> View.show",
            "Screen.f ~> Screen.show",
            "Screen.g ~> View.show",
            "Screen.g ~> Screen.show",
            "Screen.h -> Screen.hide",
        },
    ),
    "ruby, a text is no class": (
        {"a.rb": "class Item\n  def self.go\n  end\nend\ndef f\n  'Item'.go\nend\n"},
        set(),
    ),
}


CASES |= {
    # A property is called where it is read.
    "csharp, who reads a property": (
        {
            "a.cs": """
                class Item { public bool Full => Check(); public int Len { get { return 1; } }
                    bool Check() => true; }
                class B { void F(Item i) { if (i.Full) { } i.Len = 3; }
                    void G(Item i) { i.Full.ToString(); } }
            """
        },
        {"Item.Full -> Item.Check", "B.F -> Item.Full", "B.F -> Item.Len", "B.G -> Item.Full"},
    ),
    "csharp, who reads a property of an interface": (
        {
            "a.cs": "interface I { bool Full { get; } }\nclass A : I { public bool Full => true; }\n"
            "class B { I i; void F() { M(this.i.Full); } }\n"
        },
        {"B.F -> I.Full", "B.F ~> A.Full"},
    ),
    "csharp, a method is handed on, not read": (
        {"a.cs": "class Item { public void Go() {} }\nclass B { void F(Item i) { M(i.Go); } }\n"},
        {"B.F ~> Item.Go"},
    ),
    "swift, who reads a property": (
        {
            "a.swift": """
                class Item { var isReady: Bool { check() }
                    func check() -> Bool { true }
                    var stored = 1 }
                func g(i: Item) { if i.isReady { i.stored.go() } }
                func h(i: Item?) { i?.isReady.log() }
            """
        },
        {"Item.isReady -> Item.check", "g -> Item.isReady", "h -> Item.isReady"},
    ),
    # Functions that extend others' types.
    "kotlin, extensions of a library's types": (
        {
            "a.kt": """
                fun String.shout() {}
                fun List<Int>.tidy() {}
                class Own { fun close() {} }
                fun File.close() {}
                fun f(s: String, x: X) { s.shout(); "x".shout(); x.all().tidy(); x.close() }
            """
        },
        {"f ~> String.shout", "f ~> List.tidy"},
    ),
    "kotlin, what the library itself does with its types": (
        {
            "a.kt": """
                fun ZipFile.Builder.use(block: (ZipFile) -> Unit) = block(get())
                fun Iterable<String>.contains(s: String, ignoreCase: Boolean) = any { it == s }
                fun f(s: Stream, x: X) { s.use { }; x.all().contains("a"); s.shout() }
            """
        },
        set(),
    ),
    "swift, extensions of a library's types": (
        {"a.swift": "extension String { func shout() {} }\nfunc f(s: String) { s.shout() }\n"},
        {"f -> String.shout"},
    ),
    "swift, who makes one of a library's type does not call its extension": (
        {
            "a.swift": """
                extension String { func shout() {}
                    init(mine: Int) {} }
                extension Data { func go() {} }
                func f() { String(mine: d); Data() }
                func h() { String(data: d) }
                struct Own {}
                extension Own { func go() {} }
                func g() { Own() }
            """
        },
        {"f ~> String.init", "g -> Own:7"},
    ),
    "php, one of several classes of a name is not every class": (
        {
            "a/R.php": "<?php class R { function own() {} }\n",
            "b/R.php": "<?php class R { function other() {} }\n",
            "c/S.php": "<?php class S { static function collection() {} }\n",
            "d/C.php": "<?php function f() { R::collection(); }\n",
        },
        set(),
    ),
    "csharp, a static function of a built-in type is no extension": (
        {
            "a.cs": "static class Ext { public static bool IsEmpty(this Guid g) => true; }\n"
            "class B { void F(string s) { string.IsEmpty(s); } }\n"
        },
        set(),
    ),
    "javascript, what is read of an unknown is no function that has its name": (
        {
            "a.js": "exports.util = { params() {} };\nclass A { min() {} }\n"
            "function f(req) { const p = req.params; go(req.params); Math.min(1); $(w).min(); req.min(); }\n"
        },
        {"f ~> A.min"},
    ),
    "csharp, extensions": (
        {
            "a.cs": """
                static class Ext { public static string Shout(this Item i) => "";
                    public static string Low(this string s) => s; }
                class Item {}
                class B { void F(Item i) { i.Shout(); } void G() { "x".Low(); } }
            """
        },
        {"B.F -> Ext.Shout", "B.G ~> Ext.Low"},
    ),
    # Results of calls, and what lists hold.
    "kotlin, a method of what a call gives": (
        {
            "a.kt": """
                class Item { fun label() {} }
                class Repo { fun find(i: Int): Item? = null
                    fun all(): List<Item> = listOf() }
                fun f(r: Repo) { r.find(1)?.label() }
                fun g(r: Repo) { for (x in r.all()) { x.label() } }
                fun h(r: Repo) { r.all().filter { it.ok }.forEach { x -> x.label() } }
                fun k(r: Repo) { r.all().first().label() }
            """
        },
        {f"{each} -> Repo.all" for each in "ghk"}
        | {f"{each} -> Item.label" for each in "fghk"}
        | {"f -> Repo.find"},
    ),
    "csharp, a method of what a call gives": (
        {
            "a.cs": """
                class Item { public void Label() {} }
                class Repo { public Task<List<Item>> All() => null; public Item[] Some() => null; }
                class A { Repo r;
                    async Task F() { foreach (var x in await r.All()) x.Label(); }
                    async Task G() { var all = await r.All(); all.Where(y => y.Ok).First().Label(); }
                    void H() { r.Some().Select(x => x.Label()); }
                }
            """
        },
        {f"A.{each} -> Repo.All" for each in "FG"}
        | {f"A.{each} -> Item.Label" for each in "FGH"}
        | {"A.H -> Repo.Some"},
    ),
    "swift, a method of what a list holds": (
        {
            "a.swift": """
                class Item { func label() {} }
                class Box { var items: [Item] = []
                    func f() { for x in items { x.label() } }
                    func g() { items.map { x in x.label() } }
                    func h() { items.first?.label() }
                }
            """
        },
        {f"Box.{each} -> Item.label" for each in "fgh"},
    ),
    "java, what lists, records, outer classes and type parameters hold": (
        {
            "A.java": """
                class Item { void go() {} }
                record R(Item item) { void f() { this.item.go(); } }
                class Ctl { Item mine; List<Item> items;
                    class Worker { void run() { mine.go(); } }
                    void each() { for (var i : items) { i.go(); } }
                    void first() { items.get(0).go(); }
                    void one(Item[] all) { for (var a : all) a.go(); }
                    void map() { items.stream().filter(x -> x.ok).map(x -> x.go()); }
                    void record(R r) { r.item().go(); }
                    <T extends Item> void bound(T t) { t.go(); }
                }
            """
        },
        {
            f"Ctl.{each} -> Item.go"
            for each in ("Worker.run", "each", "first", "one", "map", "record", "bound")
        }
        | {"R.f -> Item.go"},
    ),
    "rust, bounds, a derived default and cases": (
        {
            "a.rs": """
                trait Store { fn load(&self); }
                struct Db; impl Store for Db { fn load(&self) {} }
                fn f<S: Store>(s: S) { s.load() }
                fn w<S>(s: S) where S: Store { s.load() }
                #[derive(Default)] struct Data { a: i32 }
                impl Data { fn go(&self) {} }
                fn g() { let d = Data::default(); d.go(); }
                fn h() { Data::default().go() }
                fn make() -> i32 { 1 }
                #[case(make())] fn t(n: i32) {}
            """
        },
        {"f ~> Db.load", "w ~> Db.load", "g -> Data.go", "h -> Data.go", "<module> -> make"},
    ),
    "typescript, a type parameter": (
        {"a.ts": "class Item { go() {} }\nfunction f<T extends Item>(x: T) { x.go() }\n"},
        {"f -> Item.go"},
    ),
    "python, functions in a list that is handed on": (
        {"a.py": "def f(): pass\ndef g(): pass\ndef main():\n    Linker(callbacks=[f], more=(g,))\n"},
        {"main ~> f", "main ~> g"},
    ),
}

PHP_ITEMS = (
    "<?php\nclass Item { function go() {} }\nclass Other { function go() {} }\n"
    "class Repo { /** @return Item|null */ function find() {}\n/** @return Item[] */ function all() {}\n"
    "/** @return Other */ function one(): Item {}\n/** @return $this */ function with($x) {} }\n"
)
RUBY_FOO = "class Foo\n  def go\n  end\nend\nclass Bar\n  def go\n  end\nend\n"
RUST_ITEM = "struct Item; impl Item { fn go(&self) {} }\nstruct Far; impl Far { fn go(&self) {} }\n"
KOTLIN_V = "class V { fun go() {} }\nclass W { fun go() {} }\n"

CASES |= {
    # What a declaration, a test or a pattern says of a type.
    "php, what a docblock says that a method returns": (
        {
            "a.php": PHP_ITEMS
            + "function f(Repo $r) { $r->find()->go(); }\nfunction g(Repo $r) { $x = $r->find(); "
            + "$x->go(); }\n"
            + "function h(Repo $r) { foreach ($r->all() as $x) { $x->go(); } }\n"
            + "function i(Repo $r) { $r->one()->go(); $r->with(1)->all(); }\n"
            + "class C { function __construct(private Repo $repo) {}\n"
            + "function f() { $x = $this->repo->find(); $x->go(); } }\n"
        },
        {
            "f -> Repo.find",
            "g -> Repo.find",
            "h -> Repo.all",
            "i -> Repo.one",
            "i -> Repo.with",
            "i -> Repo.all",
            "C.f -> Repo.find",
        }
        | {f"{each} -> Item.go" for each in ("f", "g", "h", "i", "C.f")},
    ),
    "php, what a docblock says of variables and members": (
        {
            "a.php": PHP_ITEMS
            + "function f($r) { /** @var Item $x */\n $x = $r->a(); $x->go(); }\n"
            + "/**\n * @param Item|null $x\n * @param Item|Other $y\n */\n"
            + "function g($x, $y) { $x->go(); $y->go(); }\n"
            + "/** @property-read ?Item $b */\nclass C { /** @var Item */ private $a;\n"
            + "function f() { $this->a->go(); }\nfunction g() { $this->b->go(); } }\n"
            + "function h($all) { /** @var Item $x */\n foreach ($all as $x) { $x->go(); } }\n"
            + "function i($r) { /** @var Item $x */\n $x = $r->a(); $x = $r->b(); $x->go(); }\n"
            + "function j(Item|null $x, null|Item $y, Item|Other $z) { $z->go(); $y->go(); }\n"
        },
        {f"{each} -> Item.go" for each in ("f", "g", "C.f", "C.g", "h", "j")},
    ),
    "php, what instanceof says": (
        {
            "a.php": PHP_ITEMS
            + "function f($x) { if ($x instanceof Item) { $x->go(); } else { $x->find(); } }\n"
            + "function g($x) { if (!$x instanceof Item) { return; } $x->go(); }\n"
            + "function h($x) { if (!($x instanceof Item)) { log(); } $x->go(); }\n"
            + "function i($x, $y) { if (!$y && $x instanceof Item) { $x->go(); } $x->go(); }\n"
            + "function j($x) { if ($x instanceof Item || $x instanceof Other) { $x->go(); } }\n"
            + "function k($x) { if ($x instanceof Item) { } elseif ($x instanceof Other) { $x->go(); }"
            + " else { $x->go(); } }\n"
            + "function l($x) { return ($x instanceof Item) ? 1 : $x->go(); }\n"
        },
        {"f -> Item.go", "g -> Item.go", "i -> Item.go", "k -> Other.go"},
    ),
    "php, methods that strings name, and what is made in brackets": (
        {
            "a.php": PHP_ITEMS
            + "class C { function f() { map([$this, 'g']); map([Item::class, 'go']); }\nfunction g() {}\n"
            + "static function getSubscribedEvents() { return ['a' => 'g', 'b' => ['h', 1], 'c' => "
            + "[['k', 1]]]; }\n"
            + "function h() {}\nfunction k() {} }\n"
            + "function s() { map('Item::go'); }\nfunction n() { (new Item('x'))->go(); }\n"
            + "enum Kind { case A; function label() {} }\nfunction e() { Kind::A->label(); "
            + "Kind::B->label(); }\n"
            + "function p() { $x = [$this, 'g', 3]; $y = ['a', 'go']; }\n"
        },
        {
            "C.f ~> C.g",
            "C.f ~> Item.go",
            "C.getSubscribedEvents ~> C.g",
            "C.getSubscribedEvents ~> C.h",
            "C.getSubscribedEvents ~> C.k",
            "s ~> Item.go",
            "n -> Item",
            "n -> Item.go",
            "e -> Kind.label",
        },
    ),
    "ruby, what methods give": (
        {
            "a.rb": RUBY_FOO
            + "def make(x)\n  return Foo.new if x\n  Foo.new\nend\ndef f\n  make(1).go\nend\n"
            + "def bare\n  x = Foo.new\n  x\nend\ndef g\n  bare.go\nend\n"
            + "class C\n  def self.make\n    Foo.new\n  end\nend\ndef h\n  C.make.go\nend\n"
            + "def either(x)\n  return Bar.new if x\n  Foo.new\nend\ndef i\n  either(1).go\nend\n"
            + "def unknown(x)\n  x ? other : Foo.new\nend\ndef j\n  unknown(1).go\nend\n"
        },
        {f"{each} -> Foo" for each in ("make", "bare", "C.make", "either", "unknown")}
        | {"either -> Bar", "f -> make", "g -> bare", "h -> C.make", "i -> either", "j -> unknown"}
        | {"bare -> Foo", "f -> Foo.go", "g -> Foo.go", "h -> Foo.go"},
    ),
    "ruby, what instance variables hold": (
        {
            "a.rb": RUBY_FOO
            + "class C\n  def one\n    @one ||= Foo.new\n  end\n  def f\n    one.go\n  end\n"
            + "  def g\n    @one.go\n  end\nend\n"
            + "class D\n  def initialize(two)\n    @two = two\n  end\n"
            + "  def two\n    @two ||= Foo.new\n  end\n  def f\n    @two.go\n  end\nend\n"
            + "class E\n  def a\n    @it = Foo.new\n  end\n  def b\n    @it = Bar.new\n  end\n"
            + "  def f\n    @it.go\n  end\nend\n"
        },
        {"C.one -> Foo", "C.f -> C.one", "C.f -> Foo.go", "C.g -> Foo.go"}
        | {"D.two -> Foo", "D.f ~> Foo.go", "E.a -> Foo", "E.b -> Bar"},
    ),
    "ruby, what overrides a method may give another": (
        {
            "a.rb": RUBY_FOO
            + "class C\n  def one\n    Foo.new\n  end\n  def f\n    one.go\n  end\nend\n"
            + "class D < C\n  def one\n    Bar.new\n  end\nend\n"
        },
        {"C.one -> Foo", "D.one -> Bar", "C.f -> C.one", "C.f ~> D.one", "C.f ~> Foo.go"},
    ),
    "rust, what a variant holds": (
        {
            "a.rs": RUST_ITEM
            + "enum E { A(Item), B { item: Item, far: Far }, C(u8, Far) }\n"
            + "fn f(e: E) { match e { E::A(x) => x.go(), E::B { item, .. } => item.go(), _ => {} } }\n"
            + "fn g(e: E) { if let E::A(x) = e { x.go(); } }\n"
            + "fn h(e: E) { match e { E::C(_, x) => x.go(), E::B { far: y, .. } => y.go(), _ => {} } }\n"
            + "impl E { fn i(&self) { if let Self::A(x) = self { x.go() } } }\n"
            + "fn j(x: Option<Item>) { match x { Some(i) => i.go(), None => {} } }\n"
            + "fn load() -> Result<Item, Far> { Ok(Item) }\n"
            + "fn k() { match load() { Ok(i) => i.go(), Err(e) => e.go() } }\n"
        },
        {f"{each} -> Item.go" for each in ("f", "g", "E.i", "j", "k")} | {"h -> Far.go", "k -> load"},
    ),
    "rust, a trait of others' types": (
        {
            "a.rs": "trait Loud { fn shout(&self); }\nimpl Loud for str { fn shout(&self) {} }\nfn "
            'f() { "s".shout() }\n'
            "trait Low { fn low(&self); }\nstruct Own; impl Low for str { fn low(&self) {} }\n"
            "impl Own { fn low(&self) {} }\nfn g(x: X) { x.all().low() }\nstruct Yaml;\n"
            "impl Get for Yaml { fn get(&self) {} }\nfn h(x: X) { x.get() }\n"
        },
        {"f ~> str.shout"},
    ),
    "swift, extensions on literals and chains": (
        {
            "a.swift": """
                extension String { func shout() {} }
                extension Array { func tidy() {} }
                class Own { func run() {} }
                extension Data { func run() {} }
                func f(x: X) { "a".shout(); x.all().tidy(); [1].tidy(); x.all().run() }
                func g(x: Any) { (x as! Own).run(); (x as? Own)?.run() }
            """
        },
        {"f ~> String.shout", "f ~> Array.tidy", "g -> Own.run"},
    ),
    "swift, a case of an enumeration that a property is called like": (
        {
            "a.swift": """
                enum Multi { case target(Int)
                    init(_ n: Int) { self = Multi.target(n) }
                    var target: Int { 1 } }
                func f(m: Multi) { print(m.target) }
            """
        },
        {"Multi.init ~> Multi.target", "f -> Multi.target"},
    ),
    "kotlin, references, infix calls and companions": (
        {
            "a.kt": KOTLIN_V
            + "fun top() {}\nfun f(v: V) { run(v::go); run(::top) }\nfun g(w: W) { run(V::go); "
            + "run(W::class) }\n"
            + "class A { infix fun join(o: A) {} }\nfun h(a: A, b: A) { a join b; a to b }\n"
            + "class Meta {\n  companion object {\n    fun of() {}\n  }\n  fun own() { of() }\n}\n"
            + "class Far {\n  companion object {\n    fun of() {}\n  }\n}\nfun i() { Meta.of() }\n"
            + "enum class K { A, B;\n fun label() {} }\nfun j() { K.A.label() }\n"
        },
        {
            "f ~> V.go",
            "f ~> top",
            "g ~> V.go",
            "h -> A.join",
            "Meta.own -> Meta.Companion.of",
            "i -> Meta.Companion.of",
            "j -> K.label",
        },
    ),
    "kotlin, what is says": (
        {
            "a.kt": KOTLIN_V
            + "fun f(a: Any) { if (a is V) { a.go() } }\nfun g(a: Any) { if (a is V && x) a.go() "
            + "else a.run() }\n"
            + "fun h(a: Any) { when (a) { is V -> a.go()\n is W -> stop() } }\n"
            + "fun i(a: Any) { if (a !is V) return\n a.go() }\n"
            + "fun j(a: Any) { if (a !is V) { log() }\n a.go() }\n"
            + "fun k(a: Any) { if (a is V || b) { a.go() } }\nfun l(a: Any) { if (a is V) {} else { "
            + "a.go() } }\n"
            + "fun m(a: Any) { when (a) { is V, is W -> a.go() } }\nfun n(a: Any) = (a as W).go()\n"
        },
        {f"{each} -> V.go" for each in "fghi"} | {"n -> W.go"},
    ),
    "csharp, methods that are handed on, casts, and what Lazy holds": (
        {
            "a.cs": """
                class V { public void Go() {} public bool Full => true; }
                class C { int Size; void Conv() {} void Changed() {} void Work() {}
                    void F() { Each(Conv); On += Changed; new Thread(this.Work); Each(Size); }
                    void G(int Conv) { Each(Conv); }
                    void K(Lazy<V> l) { l.Value.Go(); }
                    void L(object o) { (o as V).Go(); }
                    void M(object o) { ((V)o).Go(); } }
            """
        },
        {"C.F ~> C.Conv", "C.F ~> C.Changed", "C.F ~> C.Work", "C.K ~> V.Go", "C.L -> V.Go", "C.M -> V.Go"},
    ),
    "java, a negated pattern is bound where it holds": (
        {
            "A.java": JAVA_BRUSHES
            + "class C { Red x;\n void f(Object o) { if (!(o instanceof Blue x)) { x.paint(); } }\n"
            + "void g(Object o) { if (!(o instanceof Blue x)) { return; } x.paint(); }\n"
            + "void h(Object o) { if (!(o instanceof Blue x)) { return; } else { x.paint(); } }\n"
            + "void i(Object o) { if (!(o instanceof Blue x) || x.paint()) { x.paint(); return; } }\n"
            + "enum K { A; void go() {} }\n void j() { K.A.go(); } }\n"
        },
        {"C.f -> Red.paint", "C.g -> Blue.paint", "C.h -> Blue.paint", "C.i -> Blue.paint"}
        | {"C.i -> Red.paint", "C.j -> C.K.go"},
    ),
    "typescript, what instanceof says": (
        {
            "a.ts": JS_BRUSHES
            + "function f(x: any) { if (x instanceof Red) { x.paint(); } }\n"
            + "function g(x: any) { if (x instanceof Red) { stop() } else { x.paint(); } }\n"
            + "function h(x: any) { (x as Blue).paint(); }\n"
        },
        {"f -> Red.paint", "h -> Blue.paint"},
    ),
}

CASES |= {
    # What only seems to say it.
    "php, what is made is of its class, whatever a docblock says": (
        {"a.php": PHP_ITEMS + "function f() { /** @var Other $x */ $x = new Item(); $x->go(); }\n"},
        {"f -> Item", "f -> Item.go"},
    ),
    "php, docblocks of unions, of names for any type, and of no one variable": (
        {
            "a.php": PHP_ITEMS
            + "class T { function go() {} }\nclass R { /** @return Item | Other */ function one() {}\n"
            + "/** @return Item |\n * Other */ function two() {}\n"
            + "/** @template T\n * @param class-string<T> $c\n * @return T */ function any($c) {}\n"
            + "/** @return Item | null */ function some() {} }\n"
            + "function f(R $r) { $r->one()->go(); $r->two()->go(); $r->any(1)->go(); }\n"
            + "function g(R $r) { $r->some()->go(); }\n"
            + "function h($r) { /** @var Item */ return map(function () { $z = $r; $z->go(); }); }\n"
            + "function i($r) { /** @var Item $a\n @var Item $b */ [$a, $b] = $r; $b->go(); }\n"
        },
        {f"f -> R.{each}" for each in ("one", "two", "any")}
        | {"g -> R.some", "g -> Item.go", "i -> Item.go"},
    ),
    "php, a docblock says what a declaration leaves open, however long it is": (
        {
            "a.php": PHP_ITEMS
            + "class R { /** @param Item[] $l */ function f(array $l) { foreach ($l as $x) { $x->go(); } }\n"
            + "/** @return Item[] */ function g(): array {}\n"
            + "function h() { foreach ($this->g() as $x) { $x->go(); } }\n"
            + "/** @var Item[] */ private ?array $m;\n"
            + "function i() { foreach ($this->m as $x) { $x->go(); } }\n"
            + f"/** {'long ' * 100} @return Item */ function k(): object {{}}\n"
            + "function l() { $this->k()->go(); } }\n"
        },
        {f"R.{each} -> Item.go" for each in "fhil"} | {"R.h -> R.g", "R.l -> R.k"},
    ),
    "php, a tested variable that a list is given to": (
        {"a.php": PHP_ITEMS + "function f($x) { if ($x instanceof Item) { [$x, $y] = b(); $x->go(); } }\n"},
        {"f ~> Item.go"},
    ),
    "ruby, instance variables that may be given another elsewhere": (
        {
            "a.rb": RUBY_FOO
            + "".join(
                f"class {name}{base}\n{before}  def {make}\n    @one = Foo.new\n  end\n"
                f"  def f\n    @one.go\n  end\n{after}end\n"
                for name, base, before, make, after in (
                    ("A", "", "  attr_accessor :one\n", "set", ""),
                    ("B", "", "", "set", "  def b(x)\n    instance_variable_set(:@one, x)\n  end\n"),
                    ("C", "", "", "set", ""),
                    ("E", "", "  include M\n", "set", ""),
                    ("G", "", "", "set", "  def g\n    a\n  rescue => @one\n    b\n  end\n"),
                )
            )
            + "class D < C\n  def initialize(x)\n    @one = x\n  end\nend\n"
            + "module M\n  def m(x)\n    @one = x\n  end\nend\n"
            + "class H\n  def one\n    @one ||= Foo.new\n  end\n  def f\n    one.go\n  end\nend\n"
            + "class I < H\n  def i\n    @one = Bar.new\n  end\nend\n"
        },
        {f"{each}.set -> Foo" for each in "ABCEG"}
        | {f"{each}.f ~> Foo.go" for each in "ABCEGH"}
        | {"H.one -> Foo", "H.f -> H.one", "I.i -> Bar"},
    ),
    "ruby, a variable that a block, a loop, a rescue or a pattern binds again": (
        {
            "a.rb": RUBY_FOO
            + "".join(
                f"def m{n}(l)\n  x = Foo.new\n{again}\n  x\nend\ndef f{n}\n  m{n}(1).go\nend\n"
                for n, again in enumerate(
                    (
                        "  l.each { |x| return x }",
                        "  for x in l\n    a(1)\n  end",
                        "  begin\n    a(1)\n  rescue => x\n    a(2)\n  end",
                        "  case l\n  in [x]\n    a(1)\n  end",
                        "  l.each { |y| a(y) }",
                    )
                )
            )
        },
        {f"m{n} -> Foo" for n in range(5)} | {f"f{n} -> m{n}" for n in range(5)} | {"f4 -> Foo.go"},
    ),
    "php and ruby, what gives itself gives what it was called on": (
        {
            "a.php": "<?php\nclass R { /** @return $this */ function w() {}\nfunction go() {} }\n"
            "class S extends R { function go() {} }\nfunction g(S $s) { $s->w()->go(); }\n"
            "function i(S $s) { $x = $s->w(); $x->go(); }\n",
            "a.rb": "class C\n  def one\n    self\n  end\n  def go\n  end\n  def f\n    one.go\n  end\nend\n"
            "class D < C\n  def go\n  end\nend\ndef h\n  D.new.one.go\nend\n"
            "class E < C\n  def e\n    one.go\n  end\n  def go\n  end\nend\n",
        },
        {"g -> R.w", "g -> S.go", "C.f -> C.one", "C.f -> C.go", "C.f ~> D.go"}
        | {"h -> C.one", "h -> D", "h -> D.go", "C.f ~> E.go", "E.e -> C.one", "E.e -> E.go"}
        | {"i -> R.w", "i ~> R.go", "i ~> S.go"},
    ),
    "rust, what is given to a pattern means another of its names": (
        {
            "a.rs": RUST_ITEM
            + "enum E { A(Item), B }\nimpl Far { fn e(&self) -> E { E::B } }\n"
            + "fn f(x: Far) { if let E::A(x) = x.e() { x.go() } }\n"
            + "fn g(x: Far) { let E::A(x) = x.e() else { x.go(); return }; }\n"
        },
        {"f -> Far.e", "f -> Item.go", "g -> Far.e", "g -> Far.go"},
    ),
    "kotlin, a tested variable that is given another": (
        {
            "a.kt": KOTLIN_V
            + "fun f(b: Any) { var a: Any = b; if (a is V) { a = b; a.go() } }\n"
            + "fun g(b: Any) { var a = b; if (a !is V) return\n a = b\n a.go() }\n"
            + "fun h() { var a = V(); a = V(); a.go() }\n"
            + "fun i(b: Any) { var a: Any = b; if (a is V) { a.go()\n a = b } }\n"
            + "fun j(b: Any) { var a = b; when (a) { is V -> { a = b; a.go() } } }\n"
        },
        {"h -> V", "h -> V.go", "i -> V.go"},
    ),
}


def shown(files: dict[str, str]) -> set[str]:
    """All calls: ``a -> b`` where certain, ``a ~> b`` where likely; equal names with their lines."""
    calls = calls_of(files)
    nodes = [node for _, node in calls.nodes()]
    met = Counter((node.path, node.name) for node in nodes)

    def name(node: Node) -> str:
        return f"{node.name}:{node.line_start}" if met[node.path, node.name] > 1 else node.name

    edges = calls.callees([own for own, _ in calls.nodes()])
    return {
        f"{name(edge.caller)} {'->' if edge.confidence == 1 else '~>'} {name(edge.callee)}" for edge in edges
    }


@pytest.mark.parametrize("name", CASES)
def test_these_are_all_calls_and_only_what_is_proved_is_certain(name):
    files, expected = CASES[name]
    assert shown(files) == expected


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", "def go():\n    pass\n\ndef f():\n    go()\n    go(); go()\n    go()\n"),
        ("a.js", "function go() {}\n\n\nfunction f() {\n  go();\n  go(); go();\n  go();\n}\n"),
        ("a.go", "package a\nfunc go1() {}\n\nfunc f() {\n go1()\n go1(); go1()\n go1()\n}\n"),
    ],
)
def test_an_edge_has_the_lines_of_all_its_calls(path, source):
    calls = calls_of({path: source})
    (edge,) = calls.callees([own for own, _ in calls.nodes()])
    assert (edge.line, edge.lines) == (5, (5, 6, 7))


def test_a_generated_function_of_many_variables_takes_no_minutes(monkeypatch):
    looked_at = []
    within = Scopes._within
    monkeypatch.setattr(
        Scopes, "_within", staticmethod(lambda at, span: looked_at.append(at) or within(at, span))
    )
    many = "".join(f"x = make{n}(); x.paint();\n" for n in range(1_000))
    assert shown({"a.js": JS_BRUSHES + f"function f() {{ let x;\n{many} }}\n"}) == set()
    assert len(looked_at) < 5_000


def test_of_very_many_that_a_use_may_mean_none_is_said_to_be():
    both = "if (c) x = new Red(); else x = new Blue();\n"
    few, many = (
        f"function {name}(c) {{ let x; for (;;) {{ x.paint();\n{both * n} }} }}\n"
        for name, n in (("few", 2), ("many", 40))
    )
    said = shown({"a.js": JS_BRUSHES + few + many})
    assert {"few ~> Red.paint", "few ~> Blue.paint"} <= said
    assert not any(each.startswith("many") and "paint" in each for each in said)


def test_ruby_knows_what_is_named_like_its_class_though_it_is_given_another():
    story = "class Story\n  def go\n  end\nend\n"
    given = "  story = x.one\n  story = Other.new\n  story = x\n  story.go\n"
    files = {"a.rb": f"{story}def f(x)\n{given}end\n"}
    assert "f ~> Story.go" in shown(files)


@pytest.mark.parametrize(
    ("path", "source", "counted"),
    [
        (
            "a.kt",
            "fun f(o: A) {\n" + "o.row {\n" * 30 + "helper()\n" * 50 + "}" * 30 + "}",
            (QueryReader, "_called_by"),
        ),
        (
            "a.js",
            "function f() {\n{ const x = o.y; }\n{ const x = o.z; }\n" * 30 + "x.a(); x();\n" * 50 + "}" * 30,
            (Scopes, "_block"),
        ),
        (
            "a.js",
            "".join(f"function f{n}() {{\n" for n in range(30))
            + "".join(f"x{n}.a(); y{n}();\n" for n in range(50))
            + "}" * 30,
            (Tables, "named"),
        ),
    ],
)
def test_calls_in_deep_blocks_look_at_each_block_once(monkeypatch, path, source, counted):
    looked_at = []
    real = getattr(*counted)
    monkeypatch.setattr(*counted, lambda self, *each: looked_at.append(each) or real(self, *each))
    shown({path: source})
    assert len(looked_at) < 30 * 30


def test_kotlin_that_a_grammar_reads_as_one_deep_nest_takes_steps_by_its_length():
    """Functions as C has them, each within the one before as the grammar takes it: found by fuzzing."""

    def steps(count):
        with counted("line") as taken:
            extract("".join(f"void f{n + 1}() {{ f{n}(); }}\n" for n in range(count)).encode(), "kotlin")
        return taken["line"]

    steps(10)  # loads the grammar
    assert steps(400) < 2.5 * steps(200)
