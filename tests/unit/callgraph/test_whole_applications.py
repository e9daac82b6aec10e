"""Calls as applications write them, second lot: each in the smallest input that went wrong, and two more."""

from __future__ import annotations

import pytest

from gitrag.callgraph.general.elixir import is_no_call
from gitrag.callgraph.uses import may_use
from tests.support.callgraphs import calls_of
from tests.support.steps import counted
from tests.unit.callgraph.test_applications import shown

PHP_USERS = {
    "src/Entity/User.php": "<?php\nnamespace App\\Entity;\nclass User { function inTeam() {} }\n",
    "src/Rules/User.php": "<?php\nnamespace App\\Rules;\nclass User { }\n",
}
ELIXIR_PACKAGES = "defmodule My.Repo.Packages do\n  def attach(x), do: x\nend\n"
RUBY_SERVER = """
class Server
  def message_db
    @message_db ||= Db.new
  end
end
class Db
  def statistics
    1
  end
end
"""
GO_DEPS = """
    package deps
    type D struct{}
    func New() *D { return nil }
    func (d *D) Set(n int) {}
    func (d *D) Sub() *D { return d }
"""
KOTLIN_SHEET = "class Sheet { fun show(s: String) {} }\n"
KOTLIN_STORE = """
class Files { fun put() {} }
class Store<T>
%s(
  private val files: Files,
) {
  fun save() { files.put() }
}
"""
LUA_VIEW = """
local Object = require "core.object"
local View = Object:extend()
function View:draw() self:part(); self:up() end
function View:part() end
function View.make() end
return View
"""
DART_MAIN = """
import 'package:app/a.dart';
import 'b.dart' as b;
class Main extends Base {
  final Repo repo;
  Main(this.repo);
  Future<Item> go(Item o) async {
    repo.load();
    final x = await go(o);
    x.show();
    o..show()..hide();
    b.help();
    up();
    hidden();
    return list.map(tidy);
  }
  int get size => repo.count;
}
void tidy(x) {}
"""
ZIG_MAIN = """
const View = @import("View.zig");
const Box = @import("box.zig").Box;
pub fn main(v: *View) !void {
    v.run(1);
    const b = try Box.init();
    b.open();
    View.create();
    helper(1);
    set(helper);
}
fn helper(a: u32) void {}
fn set(f: anytype) void {}
"""
ZIG_VIEW = """
const View = @This();
const Box = @import("box.zig").Box;
box: Box,
pub fn run(self: *View, n: u32) void { self.go(); self.box.open(); }
fn go(v: *View) void {}
pub fn create() void {}
"""
SWIFT_PAINT = "class A { func empty() -> Int { 1 }\n func f() { %s }\n func toggle() {} }\n"
PHP_REQUEST = "<?php\nnamespace App\\%s;\nclass Request { static function capture() {} }\n"
JS_DB = "class Db { constructor() { this.store = null } }\nmodule.exports = new Db()\n"


CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    # Kotlin: a function that only gives to what is declared elsewhere made the whole file unreadable.
    "kotlin, a property is given something": (
        {"a.kt": "class A { var x = 1\n fun f() { x = g(2) }\n fun g(n: Int) = n }\n"},
        {"A.f -> A.g"},
    ),
    "kotlin, a property is given something in a block": (
        {"a.kt": "class A { var x = 1\n fun f() { run { x = g(2) } }\n fun g(n: Int) = n }\n"},
        {"A.f ~> A.g"},
    ),
    "kotlin, a file's variable is given something": (
        {"a.kt": "var x = 1\nfun f() { x = g(2); x = g(3) }\nfun g(n: Int) = n\n"},
        {"f -> g"},
    ),
    # Java and Kotlin call one another.
    "jvm, an interface of Kotlin called by Java": (
        {
            "A.java": "class Holder { void set(Actions a) { a.save(1); } }\n",
            "B.kt": "interface Actions { fun save(n: Int) }\n"
            "class Page : Actions { override fun save(n: Int) {} }\n",
        },
        {"Holder.set -> Actions.save", "Holder.set ~> Page.save"},
    ),
    "kotlin, a method of an interface of another file": (
        {
            "a.kt": "interface Dao { @Query fun load(id: Int): Item?\n fun drop() }\n",
            "b.kt": "class Repo(private val dao: Dao) { fun go() { dao.load(1) } }\nexpect fun top(): Int\n",
        },
        {"Repo.go -> Dao.load"},
    ),
    "kotlin, many have what their base only declares": (
        {
            "a.kt": "abstract class B { abstract fun make(): Int\n fun go() { make() } }\n"
            + "".join(f"class K{n} : B() {{ override fun make() = {n} }}\n" for n in range(16))
        },
        {"B.go -> B.make", *(f"B.go ~> K{n}.make" for n in range(16))},
    ),
    "kotlin, overloads take other numbers of arguments, or names": (
        {
            "a.kt": """
                class Box {
                    fun one(a: Int) { two(a, 1) }
                    fun one(a: Int, b: Int) { one(a, c = 1) }
                    fun one(a: Int, c: Int = 1, d: Int = 2) { one(1) { } }
                    fun one(a: Int, run: () -> Unit) { one(1, 2, 3, 4) }
                    fun one(vararg a: Int) {}
                    fun two(a: Int) {}
                    fun two(a: Int, b: Int) { two(a) }
                    fun three(a: Int = 1) { three("") }
                }
            """
        },
        {
            "Box.one:3 -> Box.two:9",
            "Box.one:4 -> Box.one:5",
            "Box.one:5 -> Box.one:6",
            "Box.one:6 -> Box.one:7",
            "Box.two:9 -> Box.two:8",
            "Box.three -> Box.three",
        },
    ),
    "java, a constructor as a value": (
        {"A.java": "class Item { Item(String a) {} }\nclass Use { Object f() { return map(Item::new); } }\n"},
        {"Use.f -> Item.Item"},
    ),
    "csharp, constructors that are called without their name": (
        {
            "a.cs": """
                class Base { public Base(int a) {} public Base() {} }
                class D : Base { public D() : base(1) {} public D(int x) : this() {} }
                class Item { Item(int a) {}
                    Item q = new(1);
                    static Item Make() => new(2);
                    Item More() { return new(3); } }
            """
        },
        {
            "D.D:3 -> Base.Base:2",
            "D.D:3 -> D.D:3",
            "Item -> Item.Item",
            "Item.Make -> Item.Item",
            "Item.More -> Item.Item",
        },
    ),
    "csharp, properties that are read, or set, alone": (
        {
            "a.cs": """
                class Item { public bool Full => Name != null; public string Name { get; set; }
                    void F() { if (Full) {} var s = $"{Name:N}"; }
                    void G(string Name) { H(Name); } }
                class D : Item { void U() { Name = ""; } }
                class E { object P() => new Item { Name = "" }; void Q() { Full = 1; } }
            """
        },
        {
            "Item.Full -> Item.Name",
            "Item.F -> Item.Full",
            "Item.F -> Item.Name",
            "D.U -> Item.Name",
            "E.P -> Item",
            "E.P -> Item.Name",
        },
    ),
    "csharp, what a container is told to make, and functions of others handed on": (
        {
            "a.cs": """
                interface IThing {}
                class Thing : IThing { public Thing(int x) {} }
                class Helper { public static void Run() {} public void Done() {} public int Y { get; set; } }
                class U { void F(Helper y) { services.AddScoped<IThing, Thing>(); Changed += y.Done;
                    Do(Helper.Run); Do(y.Y); } }
            """
        },
        {"U.F ~> Thing.Thing", "U.F ~> Helper.Done", "U.F ~> Helper.Run", "U.F -> Helper.Y"},
    ),
    "swift, a class's own function and property beside an instance's": (
        {
            "a.swift": """
                class S {
                    static var name: String { one() }
                    var name: String { two() }
                    func f() -> String { return name }
                    static func g() -> String { return name }
                    func h() -> String { return S.name }
                    func one() { go() }
                    func two() { S.go() }
                    class func go() { }
                }
            """
        },
        {
            "S.name:3 -> S.one",
            "S.name:4 -> S.two",
            "S.f -> S.name:4",
            "S.g -> S.name:3",
            "S.h -> S.name:3",
            "S.one -> S.go",
            "S.two -> S.go",
        },
    ),
    "jvm, Java called by Kotlin": (
        {
            "A.java": "class Holder { void set(int a) { } static Holder of() { return null; } }\n",
            "B.kt": "fun f(h: Holder) { h.set(1) }\nfun g() { Holder.of() }\nfun k() { Holder() }\n",
        },
        {"f -> Holder.set", "g -> Holder.of", "k -> Holder"},
    ),
    "jvm, a class of Java inherits from one of Kotlin": (
        {
            "A.java": "class Low extends Top { void f() { run(); } }\n",
            "B.kt": "open class Top { fun run() {} }\n",
        },
        {"Low.f -> Top.run"},
    ),
    "kotlin, a property that its getter casts": (
        {
            "a.kt": KOTLIN_SHEET + "class F { protected val sheet get() = (activity as? Sheet)\n"
            ' val other get() = activity as Sheet\n fun f() { sheet?.show("") }\n'
            ' fun g() { other.show("") }\n fun h() { this.sheet?.show("") } }\n'
        },
        {"F.f ~> Sheet.show", "F.g ~> Sheet.show", "F.h -> Sheet.show"},
    ),
    # A method that has a body may be overridden, too.
    "kotlin, a hook that a subclass overrides": (
        {
            "a.kt": "open class Base { fun go() { if (hook()) {} }\n open fun hook() = true }\n"
            "class Sub : Base() { override fun hook() = false }\n"
        },
        {"Base.go -> Base.hook", "Base.go ~> Sub.hook"},
    ),
    "java, a hook that a subclass overrides": (
        {
            "A.java": "class Base { void go() { hook(); } void hook() {} }\n"
            "class Sub extends Base { void hook() {} }\n"
        },
        {"Base.go -> Base.hook", "Base.go ~> Sub.hook"},
    ),
    "ruby, a hook that a subclass overrides": (
        {
            "a.rb": "class Base\n  def go\n    hook(1)\n  end\n  def hook(n)\n  end\nend\n"
            "class Sub < Base\n  def hook(n)\n  end\nend\n"
        },
        {"Base.go -> Base.hook", "Base.go ~> Sub.hook"},
    ),
    # Ruby: what a setter is called is no call.
    "ruby, a setter": (
        {"a.rb": "class R\n  def items\n  end\n  def items=(list)\n    @items = list\n  end\nend\n"},
        set(),
    ),
    "ruby, a setter of the class": (
        {
            "a.rb": "class R\n  def self.items\n  end\n  def self.items=(list)\n    @items = list\n  end\nend\n"  # noqa: E501
        },
        set(),
    ),
    "ruby, a setter that calls": (
        {"a.rb": "class R\n  def items\n  end\n  def items=(list)\n    items\n  end\nend\n"},
        {"R.items= -> R.items"},
    ),
    "ruby, from what is named after its class on": (
        {"a.rb": RUBY_SERVER + "class C\n  def go\n    @server.message_db.statistics\n  end\nend\n"},
        {"C.go ~> Db.statistics", "C.go ~> Server.message_db", "Server.message_db -> Db"},
    ),
    "ruby, the only method of a name of several words": (
        {
            "a.rb": "class Endpoint\n  def reset_session\n  end\n  def reject\n  end\nend\n"
            "class C\n  def go\n    @current.reset_session\n    list.reject\n  end\nend\n"
        },
        {"C.go ~> Endpoint.reset_session"},
    ),
    # JavaScript: functions are asked for functions.
    "javascript, bind, call and apply": (
        {
            "a.js": "class Me { static up() {}\n go(r) { r.patch('/x', Me.up.bind(Me)) }\n"
            " two() { on(this.go.bind(this)) }\n three() { this.go.call(this, 1) }\n"
            " four() { this.go.apply(this, []) } }\n"
        },
        {"Me.go ~> Me.up", "Me.two ~> Me.go", "Me.three ~> Me.go", "Me.four ~> Me.go"},
    ),
    "javascript, an own method that is called so": (
        {"a.js": "class Me { apply() {} go() { this.apply() } two() { new Me().apply() } }\n"},
        {"Me.go -> Me.apply", "Me.two -> Me.apply", "Me.two -> Me"},
    ),
    "javascript, another file's function is bound": (
        {
            "c.js": "class Me { static up() {} }\nmodule.exports = Me\n",
            "r.js": "const Me = require('./c')\nfunction route(r) { r.post('/x', Me.up.bind(this)) }\n",
        },
        {"route ~> Me.up"},
    ),
    "javascript, a getter is read": (
        {
            "a.js": "class A { get full() { return this.a }\n set full(x) {}\n"
            " f() { return this.full + this.a }\n g() { this.full = 2 }\n h() { return this.full.length } }\n"
        },
        {"A.f -> A.full:1", "A.h -> A.full:1"},
    ),
    "javascript, by way of what is imported from here": (
        {
            "db.js": JS_DB,
            "s.js": "class S { devices() {} }\n",
            "u.js": "const Db = require('./db')\nconst axios = require('axios')\n"
            "function f() { Db.store.devices() }\nfunction g() { axios.store.devices() }\n",
        },
        {"<module> -> Db.constructor", "f ~> S.devices"},
    ),
    # A class with some of its namespace before it.
    "csharp, a class by its namespace": (
        {
            "a.cs": "namespace X.Helper; static class Auto { public static void Check(int a) {} }\n",
            "b.cs": "class App { void Auto() { Helper.Auto.Check(1); } void B() { X.Helper.Auto.Check(2); } }\n",  # noqa: E501
        },
        {"App.Auto ~> Auto.Check", "App.B ~> Auto.Check"},
    ),
    "java, a class by its package": (
        {
            "x/Auto.java": "package x; class Auto { static void check(int a) {} }\n",
            "y/B.java": "package y; class B { void f() { x.Auto.check(1); } }\n",
        },
        {"B.f ~> Auto.check"},
    ),
    # Swift: only a dot before it is no call of one's own.
    "swift, of the type that is expected": (
        {"a.swift": SWIFT_PAINT % "paint2(.empty())"},
        {"A.f ~> A.empty"},
    ),
    "swift, of an extension": (
        {
            "a.swift": "extension View { static func style(a: Int) -> Int { 1 } }\n"
            "class B { func style() {}\n func k() { draw(.style(a: 1)) } }\n"
        },
        set(),
    ),
    "swift, a method is handed on": (
        {"a.swift": SWIFT_PAINT % "row(on: toggle)\n row(on: self.toggle)"},
        {"A.f ~> A.toggle"},
    ),
    # PHP: which class a file means its imports say.
    "php, a class of several by its import": (
        PHP_USERS
        | {
            "src/Voter/V.php": "<?php\nnamespace App\\Voter;\nuse App\\Entity\\User;\n"
            "class V { function vote(User $u) { $u->inTeam(); } }\n"
        },
        {"V.vote -> User.inTeam"},
    ),
    "php, a class by another name": (
        PHP_USERS
        | {
            "src/Voter/W.php": "<?php\nnamespace App\\Voter;\nuse App\\Entity\\User as Person;\n"
            "class W { function vote(Person $u) { $u->inTeam(); } }\n"
        },
        {"W.vote -> User.inTeam"},
    ),
    "php, imports of one namespace": (
        PHP_USERS
        | {
            "src/Voter/W.php": "<?php\nnamespace App\\Voter;\nuse App\\{Entity\\User as Person, Rules\\User};\n"  # noqa: E501
            "class W { function vote(Person $u, User $w) { $u->inTeam(); $w->inTeam(); } }\n"
        },
        {"W.vote -> User.inTeam"},
    ),
    # Elixir: functions by atoms, by aliases that `use` brings, and in markup.
    "elixir, an alias that is not written there": (
        {
            "a.ex": ELIXIR_PACKAGES,
            "b.ex": "defmodule My.Web do\n  use My.Ctl\n  def f(c), do: Packages.attach(c)\n"
            "  def g(c), do: c |> Repo.Packages.attach()\n  def h(c), do: Other.attach(c)\nend\n",
        },
        {"My.Web.f ~> My.Repo.Packages.attach", "My.Web.g ~> My.Repo.Packages.attach"},
    ),
    "elixir, functions by atoms": (
        {
            "a.ex": ELIXIR_PACKAGES,
            "b.ex": "defmodule My.Web do\n  plug :check when x\n  plug :other, a: 1\n"
            "  def check(c, _), do: c\n  def other(c, _), do: c\n"
            "  def f(), do: {My.Repo.Packages, :attach}\n  def g(), do: apply(My.Repo.Packages, :attach, [1])\n"  # noqa: E501
            "  def h(), do: {:check, :other}\nend\n",
        },
        {
            "My.Web ~> My.Web.check",
            "My.Web ~> My.Web.other",
            "My.Web.f ~> My.Repo.Packages.attach",
            "My.Web.g ~> My.Repo.Packages.attach",
        },
    ),
    "elixir, markup": (
        {
            "b.ex": "defmodule My.Web do\n  def page(assigns) do\n"
            '    ~H"""\n    <.card :for={x <- opts(1)} />\n    <My.Web.foot a={@card} />\n    """\n  end\n'
            "  defp card(a), do: a\n  defp opts(a), do: a\n  def foot(a), do: a\n  defp none(a), do: a\nend\n"
        },
        {"My.Web.page ~> My.Web.card", "My.Web.page ~> My.Web.opts", "My.Web.page ~> My.Web.foot"},
    ),
    # Go: what is made by a package and called like it.
    "go, a variable that is called like its package": (
        {
            "go.mod": "module x\n",
            "deps/d.go": GO_DEPS,
            "m/m.go": 'package m\nimport "x/deps"\nfunc f() { deps := deps.New(); deps.Set(1) }\n'
            "func g() { deps := deps.New(); deps.Sub().Set(2) }\nfunc h() { deps.New() }\n",
        },
        {"f -> New", "f -> D.Set", "g -> New", "g -> D.Sub", "g -> D.Set", "h -> New"},
    ),
    # What is a library's or the language's own is nobody's here.
    "java, a function of a Kotlin file": (
        {
            "k/u.kt": "fun getString(x: Int): String = ''\n",
            "j/A.java": "class A extends Activity { void run() { getString(3); } }\n",
        },
        set(),
    ),
    "java, overloads that are imported": (
        {
            "p/U.java": "package p;\nclass U {\nstatic void e(int a) {}\nstatic void e(int a, int b) {}\n}\n",
            "q/B.java": "package q;\nimport static p.U.e;\n"
            "class B { void f() { e(1); } void g() { e(1, 2); } }\n",
        },
        {"B.f -> U.e:3", "B.g -> U.e:4"},
    ),
    "php, a library's class": (
        {
            "app/Http/Request.php": PHP_REQUEST % "Http",
            "app/Soap/Request.php": PHP_REQUEST % "Soap",
            "app/A.php": "<?php\nnamespace App;\nuse Illuminate\\Http\\Request;\n"
            "function f() { Request::capture(); }\n",
        },
        set(),
    ),
    "ruby, names of the language": (
        {"a.rb": "class Money\n  def to_s\n    1\n  end\nend\nclass C\n  def f(x)\n    x.to_s\n  end\nend\n"},
        set(),
    ),
    "elixir, a module of the language": (
        {
            "a.ex": "defmodule My.Enum do\n  def map(x, _), do: x\nend\n",
            "b.ex": "defmodule Z do\n  def f(x), do: Enum.map(x, 1)\nend\n",
        },
        set(),
    ),
    "javascript, apply of a base": (
        {
            "a.js": "class Base { constructor() {} apply(c) {} }\n"
            "class D extends Base { apply(c) { super.apply(c) } }\n"
        },
        {"D.apply -> Base.apply"},
    ),
    "kotlin, an annotated constructor on lines of its own": (
        {"a.kt": KOTLIN_STORE % "@Inject\ninternal constructor"},
        {"Store.save -> Files.put"},
    ),
    "kotlin, a constructor on a line of its own": (
        {"a.kt": KOTLIN_STORE % "constructor"},
        {"Store.save -> Files.put"},
    ),
    "rust, a module inside an imported one": (
        {
            "src/main.rs": "mod strings;\nmod a;\n",
            "src/strings.rs": "pub mod commands {\n    pub fn hint() {}\n}\npub fn hint() {}\n",
            "src/a.rs": "use crate::strings;\nfn f() { strings::commands::hint(); }\n",
        },
        {"f ~> hint:2", "f ~> hint:4"},
    ),
    "elixir, a delegate": (
        {
            "a.ex": "defmodule A.View do\n  def opts, do: 1\n  def other(x), do: x\nend\n",
            "b.ex": "defmodule B do\n  alias A.View\n  defdelegate opts, to: View\n"
            "  defdelegate mine(x), to: A.View, as: :other\nend\n",
        },
        {"B.opts ~> A.View.opts", "B.mine ~> A.View.other"},
    ),
    "java, what is private or static has no overrides": (
        {
            "A.java": "class A { private void f(int a) {} void g(int a) {} static void s(int a) {}\n"
            "void t(A o) { o.f(1); o.g(1); A.s(1); } }\n"
            "class B extends A { void f(int a) {} void g(int a) {} static void s(int a) {} }\n"
        },
        {"A.t -> A.f", "A.t -> A.g", "A.t ~> B.g", "A.t -> A.s"},
    ),
    "python, a wrapped function is handed on": (
        {
            "a/dec.py": "from collections.abc import Callable\nfrom functools import wraps\n"
            "def login(f: Callable[..., int]) -> Callable[..., int]:\n    @wraps(f)\n    def wrapper(r):\n"
            "        return f(r)\n    return wrapper\n",
            "a/views.py": "from a.dec import login\n@login\ndef show(r): pass\n@login\ndef other(r): pass\n",
            "a/urls.py": "from django.urls import path\nfrom a import views\nx = [path('x', views.show)]\n",
        },
        {
            "<module> -> login",
            "<module> ~> login.wrapper",
            "<module> ~> show",
            "login.wrapper ~> show",
            "login.wrapper ~> other",
        },
    ),
    "csharp, a class of the system": (
        {
            "a.cs": "class Image { static void FromFile() {} }\n"
            "class B { void F() { System.Drawing.Image.FromFile(); } }\n"
        },
        set(),
    ),
}


CASES |= {
    "bash, a script that is read, and what it reads": (
        {
            "bin/run": '#!/usr/bin/env bash\nsource "$HERE/lib/log.sh"\nfn-a() { log-it "$1"; }\n'
            "function b { x=$(fn-a 1); fn-a | more; }\n",
            "lib/log.sh": ". ./more.sh\nlog-it() { :; }\n",
            "lib/more.sh": "more() { :; }\n",
        },
        {"fn-a -> log-it", "b -> fn-a", "b -> more"},
    ),
    "bash, a script that nobody reads": (
        {"a.sh": "f() { tidy_up; docker ps; }\n", "b.sh": "tidy_up() { :; }\ndocker() { :; }\n"},
        {"f ~> tidy_up"},
    ),
    "bash, a function by its name": (
        {"a.sh": "clean-up() { :; }\ntrap clean-up EXIT\necho clean-up\nfoo::x() { clean-up; }\nfoo::x\n"},
        {"<module> ~> clean-up", "foo.x -> clean-up", "<module> -> foo.x"},
    ),
    "lua, a variable that hides an import": (
        {
            "a.lua": "local M = {}\nfunction M.step() end\nreturn M\n",
            "b.lua": 'local a = require("a")\nlocal B = {}\nfunction u() local a = B; return a.step() end\n',
        },
        {"u ~> M.step"},
    ),
    "java, a class of another package by its whole name": (
        {
            "x/A.java": "package x;\npublic class A { public int step() { return 1; } }\n",
            "y/A.java": "package y;\nclass A { int step() { return 5; } }\n"
            "class M { void f(x.A a) { a.step(); } void g(java.util.A a) { a.step(); } }\n",
        },
        {"M.f -> A.step"},
    ),
    "bash, a word that is only printed": (
        {"a.sh": "f() { echo clean; cd clean; }\nclean() { :; }\n"},
        set(),
    ),
    "lua, what a file returns": (
        {
            "core/init.lua": 'local View = require "core.view"\nlocal core = {}\nlocal function help() end\n'
            "function core.start() help(); local v = View(1); v:draw(); View.make() end\nreturn core\n",
            "core/view.lua": LUA_VIEW,
            "core/object.lua": "local Object = {}\nfunction Object:up() end\nreturn Object\n",
            "x.lua": 'local core = require("core")\ncommand.add({ a = core.start })\n',
        },
        {
            "core.start -> help",
            "core.start -> View.draw",
            "core.start -> View.make",
            "View.draw -> View.part",
            "View.draw ~> Object.up",
            "<module> ~> core.start",
        },
    ),
    "lua, a table that is not known": (
        {
            "a.lua": "function f(x) x:scroll_to(1); x:draw() end\n"
            "function V:scroll_to() end\nfunction V:draw() end\n"
        },
        {"f ~> V.scroll_to"},
    ),
    "lua, a parameter of a module's name": (
        {"a.lua": "local core = {}\nfunction core.go() end\nfunction f(core) core.go() end\nreturn core\n"},
        {"f ~> core.go"},
    ),
    "dart, types and imports": (
        {
            "lib/main.dart": DART_MAIN,
            "lib/a.dart": "export 'c.dart';\nimport 'd.dart';\n"
            "class Repo { void load() {} int get count => 1; }\nclass Base { void up() {} }\n",
            "lib/b.dart": "void help() {}\n",
            "lib/c.dart": "class Item { void show() {} void hide() {} }\n",
            "lib/d.dart": "void hidden() {}\n",
        },
        {
            "Main.go -> Repo.load",
            "Main.go -> Main.go",
            "Main.go -> Item.show",
            "Main.go -> Item.hide",
            "Main.go -> help",
            "Main.go -> Base.up",
            "Main.go ~> tidy",
            "Main.size -> Repo.count",
        },
    ),
    "dart, a receiver that is not known": (
        {
            "lib/a.dart": "extension E on String { String tidy() => this; }\n"
            "class Hist { void addAlbums(x) {} void getArtist(x) {} }\n"
            "void f(x) { x?.tidy(); x.a.addAlbums(1); x.getArtist(1); }\n"
        },
        {"f ~> E.tidy", "f ~> Hist.addAlbums"},
    ),
    "zig, files and structs": (
        {
            "src/main.zig": ZIG_MAIN,
            "src/View.zig": ZIG_VIEW,
            "src/box.zig": "pub const Box = struct {\n pub fn init() !Box { return .{}; }\n"
            " pub fn open(self: *Box) void { self.shut(); inner(); }\n"
            " fn shut(self: *Box) void {}\n fn inner() void {}\n};\n",
        },
        {
            "main -> run",
            "main -> create",
            "main -> Box.init",
            "main -> Box.open",
            "main -> helper",
            "main -> set",
            "main ~> helper",
            "run -> go",
            "run -> Box.open",
            "Box.open -> Box.shut",
            "Box.open -> Box.inner",
        },
    ),
    "zig, what is not imported": (
        {"a.zig": "fn f() void { helper(1); b.helper(2); }\n", "b.zig": "pub fn helper(a: u32) void {}\n"},
        set(),
    ),
    "scala, what is read, inferred or given": (
        {
            "a.scala": "class S {\n  private var stats = new Stats(1)\n  def go = { stats.check(2) }\n"
            "  def many(all: Seq[Stats]) = { all.foreach { each => each.look(1) };"
            " for (y <- all) y.stop(3) }\n}\n"
            "class Stats(x: Int) { def check(a: Int) = 1\n def look(a: Int) = 1\n def stop(a: Int) = 1 }\n"
            "object O { def one(implicit ft: Int): Int = 1\n def two: Int = 2\n def three(a: Int) = 3 }\n"
            "object P { def f(x: Int) = { O.one; O.two; O.three } }\n"
        },
        {
            "S -> Stats",
            "S.go -> Stats.check",
            "S.many -> Stats.look",
            "S.many -> Stats.stop",
            "P.f -> O.one",
            "P.f -> O.two",
        },
    ),
    "scala, what an import of all names brings": (
        {
            "a.scala": "package a\nobject Ops { def findTreeOf(x: Int) = 1\n def go(x: Int) = 1 }\n",
            "b/b.scala": "import a.Ops._\nclass B { def f = { findTreeOf(1); go(2) } }\n",
        },
        {"B.f ~> Ops.findTreeOf"},
    ),
    "typescript, what stands in a namespace is called by it": (
        {
            "a.ts": "namespace N { function one() {}\n export function two() { one(); }\n"
            " export class K { m() { one(); } } }\n"
            "export namespace N { export function three() { two(); one2(); } }\n"
            "function one2() {}\n"
            "function main() { one(); N.two(); two(); new N.K(); new K(); three(); }\n",
            "b.ts": 'import { N } from "./a";\nimport * as a from "./a";\n'
            "function f() { N.three(); a.N.two(); three(); }\n",
        },
        {
            "N.two -> N.one",
            "N.K.m -> N.one",
            "N.three -> N.two",
            "N.three -> one2",
            "main -> N.two",
            "main -> N.K",
            "f -> N.three",
            "f -> N.two",
        },
    ),
    "typescript, namespaces in namespaces": (
        {
            "a.ts": "namespace A.B { export function six() {}\n"
            " namespace C { export function seven() { six(); } }\n"
            " function five() { seven(); C.seven(); } }\n"
            "module Old { export function eight() { six(); } }\n"
            "function main() { six(); seven(); eight(); Old.eight(); }\n",
        },
        {"A.B.C.seven -> A.B.six", "A.B.five -> A.B.C.seven", "main -> Old.eight"},
    ),
    "typescript, a class that is a namespace": (
        {
            "a.ts": "export class S { constructor(x: number) {} }\n"
            "export namespace S { export function of() {} }\n",
            "b.ts": 'import { S } from "./a";\nfunction f() { new S(1); S.of(); }\n',
        },
        {"f -> S.constructor", "f -> S.of"},
    ),
    "typescript, what is declared of others": (
        {
            "a.ts": 'import { K } from "./k";\n'
            'declare module "foo" { export class K { m(): void } export class L { m(): void } }\n'
            "function main(k: K) { new K(); k.m(); new L(); }\n",
            "k.ts": "export class K { m() {} }\n",
        },
        {"main -> K", "main -> K.m"},
    ),
    "elixir, functions of a name that take more or less": (
        {
            "a.ex": "defmodule A do\n  def f(x), do: x\n  def f(x, y), do: f(x)\n"
            "  def g(x, y \\\\ 1)\n  def g(x, y) when is_integer(y), do: x |> f(y)\n"
            "  def g(x, y), do: x |> f\n"
            "  def h, do: 1\n  def h(x), do: h()\n  def i(a, b, c), do: a |> f() |> g(b, c)\n"
            "  defmacro m(x, do: b), do: {x, b}\n  defguard is_it(x) when x == 1\nend\n",
            "b.ex": "defmodule B do\n  import A\n  def f(a, b, c), do: A.g(a)\n"
            "  def p(x), do: f(x)\n  def q(x), do: Enum.map(x, &A.f/2)\n  def r(x), do: A.h(x, 1)\n"
            "  def s(x), do: x |> A.f(1)\n  def t(x) do\n    m x do\n      1\n    end\n  end\n"
            "  def u(x), do: if(is_it(x), do: f(1, 2, 3))\n  def v(x), do: A.h\n"
            "  defdelegate h(a), to: A\nend\n",
        },
        {
            "A.f:3 -> A.f:2",
            "A.g:5 -> A.f:3",
            "A.h:8 -> A.h:7",
            "A.i -> A.f:2",
            "B.f ~> A.g:4",
            "B.f ~> A.g:5",
            "B.f ~> A.g:6",
            "B.p -> A.f:2",
            "B.q ~> A.f:3",
            "B.s -> A.f:3",
            "B.t -> A.m",
            "B.u -> A.is_it",
            "B.u -> B.f",
            "B.v -> A.h:7",
            "B.h ~> A.h:8",
        },
    ),
    "elixir, what a macro may take any number of": (
        {
            "a.ex": "defmodule A do\n  for args <- [[]] do\n"
            "    def run(unquote_splicing(args)), do: 1\n  end\n"
            "  def go(x), do: x\n  def to(x), do: go(unquote_splicing(x))\nend\n",
            "b.ex": "defmodule B do\n  use A\n  def f, do: A.run(1, 2)\nend\n",
        },
        {"A.to -> A.go", "B.f -> A.run"},
    ),
    "php, a script without an ending": (
        {
            "lib/Model.php": "<?php\nnamespace P;\n"
            "class Model { function __construct() {} function all() {} }\n",
            "bin/move": "#!/usr/bin/env php\n<?php\nuse P\\Model;\n$m = new Model();\n$m->all();\n",
        },
        {"<module> -> Model.__construct", "<module> -> Model.all"},
    ),
    "php, a telling name on what is not known, and in a template": (
        {
            "a.php": "<?php\nclass View { function draw($t) { include $t; }\n"
            "private function scriptTag($x) {}\n"
            "function get($x) {} function drawAll() {} }\nclass Other { function get($x) {} }\n",
            "b.php": "<html><?php $this->scriptTag(1); $this->get(1); ?></html>\n",
            "c.php": "<?php\nfunction f($x) { $x->y->scriptTag(1); $x->y->drawAll(1); $x->y->get(1); }\n"
            "class C { function g() { $this->scriptTag(1); } }\n",
        },
        {"<module> ~> View.scriptTag", "f ~> View.drawAll"},
    ),
    "scala, what is called by its name alone, or between what it takes": (
        {
            "a.scala": "trait Clock { def now: Int\n def later = now + 1\n"
            " def both = { val now = 2; now } }\n"
            "object Clock { def create: Clock = new Clock { override def now: Int = 3 } }\n"
            "class P { def rule = word ~ more\n private def word = 1\n private def more = 2\n"
            " def each(x: P) = x joins rule\n"
            " def joins(y: Int) = y match { case 1 => word\n case _ => more } }\n"
        },
        {
            "Clock.later ~> Clock.create.now",
            "P.rule -> P.word",
            "P.rule -> P.more",
            "P.each -> P.joins",
            "P.each -> P.rule",
            "P.joins -> P.word",
            "P.joins -> P.more",
            "Clock.create -> Clock:1",
        },
    ),
    "scala, an object in an object": (
        {
            "a.scala": "object Sub { final case class Pos(a: Int) { def up = 1 }\n"
            " object Pos { def of(x: Int): Pos = Pos(x) } }\n"
            "",
            "c.scala": "object Other { object Pos { def of(x: Int) = 1 } }\n",
            "b.scala": "class B { def f = Sub.Pos.of(1).up\n def g = Sub.Pos.none(1) }\n",
        },
        {"B.f -> Sub.Pos.of", "B.f -> Sub.Pos.up", "Sub.Pos.of -> Sub.Pos:1"},
    ),
    "swift, a type in a type is not known outside": (
        {
            "a.swift": "struct Html { struct Link { init(_ u: Int) {} }\n func f() { let l = Link(1) } }\n"
            "extension Html { func g() { _ = Link(1) } }\n"
            "func out() { _ = Html.Link(1) }\n",
            "b.swift": "struct Page { func body() { Link(2) } }\n"
            "extension Html { func h() { _ = Link(1) } }\n",
        },
        {
            "Html.f -> Html.Link.init",
            "Html.g -> Html.Link.init",
            "out -> Html.Link.init",
            "Html.h -> Html.Link.init",
        },
    ),
    "swift, labels choose": (
        {
            "a.swift": "extension UIColor { convenience init(r: Int, g: Int) {} }\n"
            "class S { func put(_ x: Int, at y: Int = 1) {}\n func put(all x: Int) {}\n"
            " func go(on: Int, then: () -> Void) {}\n"
            " func f() { put(1); put(1, at: 2); let all = 1; put(all: all); put(none: 1); go(on: 1) { }\n"
            "  go(on: 1, then: { }); UIColor(named: 1); UIColor(r: 1, g: 2) } }\n"
        },
        {"S.f -> S.put:2", "S.f -> S.put:3", "S.f -> S.go", "S.f ~> UIColor.init"},
    ),
    "swift, what is tried holds what it makes": (
        {
            "a.swift": "class Aes { func open(x: Int) {} }\nfunc made() throws -> Aes { Aes() }\n"
            "func f() throws { let a = try Aes(); a.open(x: 1)\n let b = try? made(); b?.open(x: 1) }\n"
        },
        {"f -> Aes", "f -> Aes.open", "f -> made", "made -> Aes"},
    ),
    "dart, a part sees what its library imports": (
        {
            "lib/home.dart": "import 'open.dart';\nimport 'log.dart' as log;\npart 'pages/logs.dart';\n"
            "part 'pages/more.dart';\nvoid _own() {}\n",
            "lib/pages/logs.dart": "part of '../home.dart';\n"
            "void f() { openHelp(1); log.archive(); _own(); _other(); hidden(); }\n",
            "lib/pages/more.dart": "part of '../home.dart';\nvoid _other() {}\n",
            "lib/open.dart": "import 'hidden.dart';\nvoid openHelp(int x) {}\n",
            "lib/log.dart": "void archive() {}\n",
            "lib/hidden.dart": "void hidden() {}\n",
        },
        {"f -> openHelp", "f -> archive", "f -> _own", "f -> _other"},
    ),
    "dart, a function that a member is given": (
        {"a.dart": "bool ok(x) => true;\nvoid f(a) { a.check = ok; a..check = ok; }\n"},
        {"f ~> ok"},
    ),
    "kotlin, a telling name of a large family": (
        {
            "a.kt": "abstract class A { abstract fun makeShape()\n open fun drawAllShapes() {} }\n"
            + "".join(f"class B{n} : A() {{ override fun drawAllShapes() {{}} }}\n" for n in range(6))
            + "fun f(x: Any) { x.y().drawAllShapes() }\n"
        },
        {"f ~> A.drawAllShapes", *(f"f ~> B{n}.drawAllShapes" for n in range(6))},
    ),
    "kotlin, what another object does for a class, and a companion holds": (
        {
            "a.kt": "interface Life { fun after(x: Int) {} }\nclass Impl : Life\n"
            "class Track : Service(), Life by Impl() { fun f() { after(1) } }\n"
            "class Own { fun stop() {}\n companion object {\n var one: Own? = null\n }\n }\n"
            "class Other { fun stop() {} }\nfun g() { Own.one?.stop() }\n"
        },
        {"Track.f -> Life.after", "Track -> Impl", "g -> Own.stop"},
    ),
    "kotlin, an extension of what is not ours": (
        {
            "a.kt": "fun Context.refreshAll(x: Int) {}\n",
            "b.kt": "class Main { private fun refreshAll() {}\n fun f() { refreshAll() } }\n"
            "class Simple : Activity() { fun f() { refreshAll(1) } }\n",
            "c.kt": "import x.refreshAll\nfun g(context: Context) { context.refreshAll(1) }\n",
        },
        {"Main.f -> Main.refreshAll", "Simple.f ~> Context.refreshAll", "g ~> Context.refreshAll"},
    ),
    "php, what a method returns that says no type": (
        {
            "a.php": "<?php\nclass Sheet { function write($x) {} }\nclass Page { function write($x) {} }\n"
            "class Book { function &add($n) { $s = new Sheet($n); $this->all[] = $s; return $s; }\n"
            "function open() { return new Page(); }\n"
            "function any($n) { if ($n) { return new Page(); } return new Sheet(); } }\n"
            "function f(Book $b) { $s =& $b->add(1); $s->write(1); $b->open()->write(2); }\n"
            "function g(Book $b) { $b->any(1)->write(1); }\n",
        },
        {
            "f -> Book.add",
            "f -> Book.open",
            "f ~> Sheet.write",
            "f ~> Page.write",
            "g -> Book.any",
            "Book.add -> Sheet",
            "Book.open -> Page",
            "Book.any -> Page",
            "Book.any -> Sheet",
        },
    ),
    "swift, labels that are needed": (
        {
            "a.swift": "class M { init() {}\n init(all: Int) {}\n init(one: Int, then: () -> Void) {} }\n"
            "func f() { M() }\nfunc g() { M(all: 1) }\nfunc h() { M(one: 1) { } }\n"
        },
        {"f -> M.init:1", "g -> M.init:2", "h -> M.init:3"},
    ),
    "scala, overloads, and types alone": (
        {
            "a.scala": "class A { def f(x: Int) = 1\n def f(x: Int, y: Int) = 2\n def g = f(1, 2)\n"
            " def all[T]: Int = 1\n def h = all[Int].x }\n"
        },
        {"A.g ~> A.f:1", "A.g ~> A.f:2", "A.h -> A.all"},
    ),
    "kotlin, a telling name on what is not known": (
        {
            "a.kt": "open class A { open fun changeFeedUrl() {}\n fun addItem() {} }\n"
            "class B : A() { override fun changeFeedUrl() {} }\n"
            "fun f(x: Any) { x.y().changeFeedUrl(); x.y().addItem() }\n"
        },
        {"f ~> A.changeFeedUrl", "f ~> B.changeFeedUrl"},
    ),
    "elixir, a comment before a pipe": (
        {
            "a.ex": "defmodule A do\n  def run(x) do\n    x\n    # first\n    |> step()\n  end\n"
            "  defp step(x), do: x\nend\n"
        },
        {"A.run -> A.step"},
    ),
    "swift, a comment before a default, and functions named with their labels": (
        {
            "a.swift": "class A {\n func put(a: Int /* b */ = 3, c: Int) {}\n func set(_ a: Int, b: Int) {}\n"
            " func f() { put(c: 1) }\n func g() { let h = set(_:b:) } }\n"
        },
        {"A.f -> A.put", "A.g ~> A.set"},
    ),
    "dart, a library that imports an empty name": (
        {
            "main.dart": "import '';\nimport 'x.dart';\npart 'p.dart';\n",
            "p.dart": "part of 'main.dart';\nvoid f() { bar(); }\n",
            "x.dart": "void bar() {}\n",
        },
        {"f -> bar"},
    ),
    "php, a private method of another of the class": (
        {
            "a.php": "<?php\nclass Money { function eq($o) { return $o->secretKey(); }\n"
            "private function secretKey() {} }\nfunction f($o) { $o->secretKey(); }\n"
        },
        {"Money.eq ~> Money.secretKey"},
    ),
    "scala, a name that is bound reads no property": (
        {
            "a.scala": "object O {\n def pp = 1\n class A(pp: Int) { def f = pp }\n"
            " trait B { val pp: Int\n def f = pp }\n class C extends B { def g = pp }\n"
            " def a = xs.map(pp => 1)\n def b = xs.map { case (pp, _) => pp }\n"
            " def c = x match { case h :: pp => pp }\n def d = x match { case pp @ Some(_) => pp }\n"
            " def e = for { pp <- xs } yield 1\n def g = foo(pp = 3)\n"
            " def h = xs.map { pp => one(); pp }\n def real = pp + 1\n}\n"
        },
        {"O.real -> O.pp"},
    ),
    "ruby, what is raised is made": (
        {
            "a.rb": "module OSM\n class Bad < StandardError\n  def initialize(a)\n  end\n end\nend\n"
            "class Ctl\n def go\n  raise OSM::Bad, @a unless @ok\n end\n def text\n  raise 'OSM::Bad'\n end\n"
            " def twice\n  fail(OSM::Bad)\n end\n def again\n  raise()\n end\nend\n"
        },
        {"Ctl.go -> OSM.Bad.initialize", "Ctl.twice -> OSM.Bad.initialize"},
    ),
    "ruby, what is tried by a symbol is likely": (
        {
            "a.rb": "class Gateway\n def dash_url(a)\n end\n def pay_now\n end\nend\n"
            "class Payment\n def url\n  payment_method.try(:dash_url, self)\n end\n"
            " def pay\n  @x.y&.try!(:pay_now)\n end\nend\n"
        },
        {"Payment.url ~> Gateway.dash_url", "Payment.pay ~> Gateway.pay_now"},
    ),
    "ruby, a superclass that a method gives is likely the one of its name": (
        {
            "a.rb": "module App\n def self.base_class\n  x.constantize\n end\n"
            " module Schema\n  def kept; end\n end\n class Base < Other\n  include Schema\n end\n"
            " class Rule < App.base_class\n  def go\n   kept\n   own\n  end\n  def own; end\n end\n"
            " class Sub < Rule\n  def run\n   kept\n  end\n end\nend\n"
            "class Own < base_class\n def no\n  kept\n end\nend\n"
        },
        {
            "App.Rule -> App.base_class",
            "App.Rule.go ~> App.Schema.kept",
            "App.Rule.go -> App.Rule.own",
            "App.Sub.run ~> App.Schema.kept",
            "Own.no ~> App.Schema.kept",
        },
    ),
    "ruby, a module whose new makes one of several": (
        {
            "a.rb": "module Rich\n def self.new(f, t)\n  case f\n  when 'h' then HTML.new(t)\n"
            "  when 'm' then Markdown.new(t)\n  when 't' then Text.new(t)\n  end\n end\n"
            " class HTML < String\n  def to_html; end\n end\n class Markdown < Base\n end\n"
            " class Text < String\n  def to_html; end\n end\n class Base\n  def to_html; end\n end\nend\n"
            "class Entry\n def body\n  @b ||= Rich.new(1, 2)\n end\nend\n",
            "show.html.erb": "<%= entry.body.to_html %>\n",
            "b.rb": "def run\n @text.to_html\nend\ndef go\n Rich.new(1, 2).to_html\nend\n",
        },
        {
            "Rich.new -> Rich.HTML",
            "Rich.new -> Rich.Markdown",
            "Rich.new -> Rich.Text",
            "Entry.body -> Rich.new",
            "go -> Rich.new",
            "<module> ~> Entry.body",
            *(
                f"{by} ~> Rich.{cls}.to_html"
                for by in ("<module>", "run", "go")
                for cls in ("HTML", "Text", "Base")
            ),
        },
    ),
    "csharp, a loop over a list of what is generic": (
        {
            "A.cs": "interface IRules<T> { int Execute(T o); }\n"
            "class TvRule : IRules<Base> { public int Execute(Base o) { return 1; } }\n"
            "class Ev { List<IRules<Base>> Rules { get; } IEnumerable<IRules<Map<A, B>>> More { get; }\n"
            " void Go(Base o) { foreach (var r in Rules) { r.Execute(o); } }\n"
            " void Too(Base o) { foreach (var r in More) { r.Execute(o); } } }"
        },
        {
            *(f"Ev.{by} {edge}.Execute" for by in ("Go", "Too") for edge in ("-> IRules", "~> TvRule")),
            "Ev.Go -> Ev.Rules",
            "Ev.Too -> Ev.More",
        },
    ),
    "kotlin, what is private is called in its own class and file": (
        {
            "A.kt": "class VmA(db: Db) {\n fun go() = db.rows().map { it.toUiList() }\n"
            " private fun List<Int>.toUiList() = map { 1 }\n}\n"
            "class VmB(db: Db) {\n fun go() = db.rows().map { it.toUiList() }\n"
            " private fun List<Long>.toUiList() = map { 2 }\n}\n",
            "B.kt": "class VmC(db: Db) {\n fun go() = db.rows().map { it.toUiList() }\n"
            " companion object {\n  private fun List<Int>.toUiList() = map { 1 }\n }\n}\n",
        },
        {
            "VmA.go ~> VmA.List.toUiList",
            "VmB.go ~> VmB.List.toUiList",
            "VmC.go ~> VmC.Companion.List.toUiList",
        },
    ),
    "kotlin, and nowhere else": (
        {
            "A.kt": "class A {\n private suspend fun Manga.getDetails() = this\n"
            " fun own(m: Manga) = m.getDetails()\n}\n"
            "private fun topLevel() = 1\nclass D { fun it() = topLevel() }\n",
            "B.kt": "class B {\n private suspend fun Repo.noCache(m: Manga) = getDetails(m)\n"
            " fun no() = topLevel()\n}\n",
        },
        {"A.own ~> A.Manga.getDetails", "D.it -> topLevel"},
    ),
    "kotlin, an object that delegates overrides": (
        {
            "A.kt": "interface Ctl {\n fun onEnd(a: Boolean) {}\n fun onStart() {}\n}\n"
            "class V(val d: Ctl) {\n fun make(): Ctl {\n  return object : Ctl by d {\n"
            "   override fun onEnd(a: Boolean) { other() }\n  }\n"
            " }\n fun other() {}\n}\nclass Go(val c: Ctl) {\n fun run() { c.onEnd(true) }\n}\n"
        },
        {
            "Go.run -> Ctl.onEnd",
            "Go.run ~> V.make.object.onEnd",
            "V.make.object.onEnd -> V.other",
        },
    ),
    "kotlin, objects without a name are classes of their own": (
        {
            "A.kt": "open class Ctl {\n open fun tick() {}\n}\n"
            "class V {\n fun other() {}\n fun run(c: Ctl) { c.tick() }\n"
            " val a = object : Ctl() {\n  override fun tick() { other() }\n }\n"
            " val b = object : Other {\n  override fun other() { }\n  fun own() { this.other() }\n }\n}\n"
        },
        {
            "V.run -> Ctl.tick",
            "V.run ~> V.object.tick",
            "V.object.tick -> V.other",
            "V.object2.own -> V.object2.other",
        },
    ),
    "swift, what a condition binds reads no property": (
        {
            "a.swift": "class O {\n var pp: Int { return 1 }\n func a() { if let pp = other.qq { } }\n"
            " func b() { guard let pp = other.qq else { return } }\n func real() { if let pp { } }\n}\n"
        },
        {"O.real -> O.pp"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_these_are_all_calls_and_only_what_is_proved_is_certain(name):
    files, expected = CASES[name]
    assert shown(files) == expected


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("A.java", "listener.put(1);", "kotlin"),
        ("A.kt", "listener.put(1)", "java"),
        ("page.html.heex", "<.put a={1} />", "elixir"),
        ("page.html.eex", "<%= put(@conn) %>", "elixir"),
        ("page.phtml", "<?= $this->put() ?>", "php"),
        ("page.vue", "<b v-for='it in put'>", "javascript"),
        ("page.vue", 'v-tab(v-if="one && put")', "javascript"),
        ("a.sh", 'x="a $(put "$1")"', "bash"),
        ("a.dart", "x.put;", "dart"),
        ("a.c", "put();", "zig"),
    ],
)
def test_no_caller_is_not_said_where_another_language_or_a_template_may_call(path, text, language):
    assert may_use(path, text, "put", language)


def test_extensions_of_one_type_and_name_take_work_in_proportion():
    def work(times):
        files = {f"{i}.swift": "extension C { func fooBar() {} }\n" for i in range(times)}
        calls = calls_of({**files, "m.swift": "func f(x: Any) {\n" + "  x.fooBar()\n" * 5 + "}\n"})
        with counted("call") as steps:
            calls.callees([own for own, _ in calls.nodes()])
        return steps["call"]

    assert work(80) < work(20) * 6


def test_blank_lines_below_a_declaration_of_elixir_cost_little_and_end_it():
    is_long = "@spec a :: b" + "\n" * 60 + "x\ny"
    assert not is_no_call(is_long.encode(), b"")
    assert not is_no_call(b"\n  @spec a :: b\n\n  def a do\n    ", b"")
    assert is_no_call(b"\n  @spec a ::\n\n          b | ", b"")
