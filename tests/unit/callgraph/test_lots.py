"""Calls that definitions drawn by lot from applications showed to be missed: smallest inputs, and our own."""

from __future__ import annotations

import re

import pytest

from gitrag.callgraph.extraction import extract
from gitrag.callgraph.facts import pack, unpack
from gitrag.callgraph.templates import csharp_of
from tests.support.callgraphs import calls_of, edges_of
from tests.unit.callgraph.test_applications import shown

JAVA_LOCATOR = """
interface L {{ String b({0} n); String t(String a, {0} n); }}
class LI implements L {{
  public String b({0} n) {{ return ""; }}
  public String t(String a, {0} n) {{ return ""; }}
}}
class N {{ {0} bytes() {{ return null; }} }}
class U {{ void go(L l, {0} x, N n) {{ {1} }} }}
"""
KOTLIN_FILES = {
    "app/x/util/Emoji.kt": """
        @file:JvmName("EmojiHelper")
        package x.util
        fun CharSequence.emojify(all: List<Int>, view: View): CharSequence = this
        fun String.shorten() {}
        private fun String.secret() {}
    """,
    "app/x/util/texts.kt": "package x.util\nfun shorten(a: String) {}\n",
}
KOTLIN_OVERLOADS = """
class View
class Button : View()
typealias Name = Other
class Act {{
  fun set(id: Int) {{}}
  fun set(view: View) {{}}
  fun set(run: (Int) -> Unit) {{}}
  fun set(text: String, view: View) {{}}
  fun set(text: String, name: Name) {{}}
  fun go(b: Button, o: Other, n: Long) {{ {0} }}
}}
class Other
"""
JAVA_NUMBERS = """
class N {{
  static void put(int n) {{}}
  static void put(long n) {{}}
  static void put(float n) {{}}
  static void put(double n) {{}}
  void go() {{ put({0}); }}
}}
"""
JAVA_SAVE = """
class S {
  static void save(CharSequence s, String f) {}
  static void save(java.util.List<String> l, String f) {}
  static void put(String... s) {}
  static void put(int n) {}
  void go(String f, java.util.List<String> l, StringBuilder b, String[] a) { %s }
}
"""
GO_ELEMENTS = """
package p
type T struct{}
func (*T) Go() {}
type S struct { m map[string]*T }
func f(m map[string]*T, l []*T, s *S) { %s }
"""
GO_SWITCH = """
package p
type I interface { Get() int }
type T struct{}
func (*T) Get() int { return 0 }
type U struct{}
func (*U) Get() int { return 0 }
func (*U) Other() {}
func f(m any) {
	switch v := m.(type) {
%s
	}
}
"""
GO_PROMOTED = """
package p
type I interface { Get() int; Set(int) }
type B struct{}
type C struct{}
type T struct { B }
func f(i I) { i.Get() }
"""
GO_APP = """
package p
type Closer interface { Close() error }
type App interface {
	Closer
	DB() int
	Part() *Part
}
type Base struct{}
func (b *Base) DB() int { return 1 }
func (b *Base) Part() *Part { return nil }
func (b *Base) Close() error { return nil }
type E struct { App App }
type Part struct{}
func (*Part) Go() {}
"""
PAGER = """
package p;
public class Pager<T> {
  public int total() { return 1; }
  public static boolean stat() { return true; }
}
"""
JSP = """<%@ page contentType="text/html"
         import="java.util.List,
                 p.Pager" %>
<%-- <% Pager.stat(); %> --%>
<%! int twice() { return 2; } %>
<% Pager<String> pg = new Pager<>(); if (pg == null) { %>
<b>Pager.stat()</b>
{0}
<% } %>
"""
TAGS = """
from django import template
class Library:
    def filter(self, function=None):
        return function
    def tag(self, function=None):
        return function
register = Library()

@register.filter()
def can_sync(user, obj):
    return True

@template.Library().simple_tag(takes_context=True)
def badge(context, value):
    return helper(value)

def helper(value):
    return value
"""
USERS = """
class User:
    name = ""

    def get_full_name(self):
        return self.name

    def get_parent(self):
        return self

    def get_by(self, key):
        return key

    def render(self, key=None):
        return key
"""
GO_METHOD = re.compile(r"(\w)\.(\w+) ?")


CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    **{
        f"java, {type_} given to what an interface lists, by {call}": (
            {"a.java": JAVA_LOCATOR.format(type_, call)},
            {f"U.go -> L.{name}", f"U.go ~> LI.{name}", *others},
        )
        for type_, call, name, others in [
            ("byte[]", "l.b(x);", "b", ()),
            ("String[]", 'l.t("", x);', "t", ()),
            ("byte[]", "l.b(n.bytes());", "b", ("U.go -> N.bytes",)),
            ("int[][]", "l.b(x);", "b", ()),
            ("java.util.List<String>", "l.b(x);", "b", ()),
        ]
    },
    "java, a list is no text": ({"a.java": JAVA_SAVE % "save(l, f);"}, {"S.go -> S.save:4"}),
    "java, an array is no number": ({"a.java": JAVA_SAVE % "put(a);"}, {"S.go -> S.put:5"}),
    "java, a builder may be text": (
        {"a.java": JAVA_SAVE % "save(b, f);"},
        {"S.go ~> S.save:3", "S.go ~> S.save:4"},
    ),
    **{
        f"go, an element: {body}": ({"a.go": GO_ELEMENTS % body}, {"f -> T.Go"})
        for body in [
            't := m["a"]; t.Go()',
            't, ok := m["a"]; _ = ok; t.Go()',
            "t := l[0]; t.Go()",
            't, ok := s.m["a"]; if !ok { return }; t.Go()',
            "var t = l[1]; t.Go()",
        ]
    },
    **{
        f"go, a type switch: {cases}": ({"a.go": GO_SWITCH % cases}, {*edges})
        for cases, edges in [
            ("case I:\n v.Get()", ("f -> I.Get", "f ~> T.Get", "f ~> U.Get")),
            ("case *U:\n v.Get()\ncase *T:", ("f -> U.Get",)),
            ("case *U, *T:\n v.Get()\ncase string:\n v.Get()", ()),
            ("case *T:\ndefault:\n v.Other()", ()),
        ]
    },
    **{
        f"go, methods of an interface that are promoted: {methods}": (
            {"a.go": GO_PROMOTED + GO_METHOD.sub(r"func (*\1) \2() {}\n", methods)},
            {"f -> I.Get", *(f"f ~> {each}" for each in callees)},
        )
        for methods, callees in [
            ("B.Get B.Set T.Get", ("B.Get", "T.Get")),
            ("B.Get T.Set C.Get C.Set", ("B.Get", "C.Get")),
            ("B.Set T.Get C.Get C.Set", ("T.Get", "C.Get")),
            ("B.Get T.Get C.Get C.Set", ("C.Get",)),
            ("B.Get B.Set", ("B.Get",)),
        ]
    },
    **{
        f"go, a method that an interface lists: {call}": (
            {"app.go": GO_APP, "use.go": f"package p\nfunc use(e *E, b *Base, a App) {{ {call} }}\n"},
            {f"use {each}" for each in callees},
        )
        for call, callees in [
            ("e.App.DB()", ("-> App.DB", "~> Base.DB")),
            ("b.DB()", ("-> Base.DB",)),
            ("a.Close()", ("-> Closer.Close", "~> Base.Close")),
            ("x := e.App.Part(); x.Go()", ("-> App.Part", "~> Base.Part", "-> Part.Go")),
        ]
    },
    **{
        f"a page of Java: {code}": (
            {"src/p/Pager.java": PAGER, "web/a.jsp": JSP.replace("{0}", code)},
            {f"<module> -> Pager.{each}" for each in callees} | {"<module> -> Pager"},
        )
        for code, callees in [
            ("<%= pg.total() %>", ("total",)),
            ("<% if (Pager.stat()) { %>x<% } %>", ("stat",)),
            ("<p title='<%=Pager.stat()%>'><%= pg.total() %></p>", ("stat", "total")),
            ("<% for (int i = 0; i < pg.total(); i++) { %>\n<i></i><% } %>", ("total",)),
            ("${pg.total()}", ()),
            ('<jsp:useBean id="b"\n class="p.Pager" scope="page"/>\n<%= b.total() %>', ("total",)),
            ("<jsp:useBean/><jsp:useBean id='b' /><%= b.total() %>", ()),
        ]
    },
}


@pytest.mark.parametrize("name", CASES)
def test_these_are_all_calls_and_only_what_is_proved_is_certain(name):
    files, expected = CASES[name]
    assert shown(files) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<b>\n{{ object.user.get_full_name }}", {"User.get_full_name:2"}),
        ("{{ object.get_full_name|placeholder }}", {"User.get_full_name:1"}),
        (
            "{% if a.get_parent.name and\n b.get_parent %}{% endif %}",
            {"User.get_parent:1", "User.get_parent:2"},
        ),
        ("{{ a.get_by }}{{ a.name }}{{ get_parent }}{# a.get_parent #}", set()),
        ("{{ a.render(1) }}{{ 'a.get_parent' }}", {"User.render:1"}),
        ("{% load tags %}\n{% if u|can_sync:o %}{% endif %}", {"can_sync:2"}),
        ("{% load static tags %}{% badge value %}{{ a|can_sync }}", {"badge:1", "can_sync:1"}),
        ("{% load badge from tags %}{% badge v.get_parent %}", {"badge:1", "User.get_parent:1"}),
        ("{% if u|can_sync:o %}{% endif %}{% badge value %}", {"can_sync:1", "badge:1"}),
        ("{% load i18n %}{% if not a.is_open %}{% for a in b.items %}", set()),
        ("{{ a.class }}{{ a.if(1) }}{{ a.get_parent", set()),
    ],
)
def test_what_a_template_of_django_may_call(text: str, expected: set[str]):
    path = "app/templates/tags.html"
    calls = calls_of({"app/templatetags/tags.py": TAGS, "app/users.py": USERS, path: text})
    own = [each for each, node in calls.nodes() if node.path == path]
    found = calls.callees(own)
    lines = {f"{each.callee.name}:{line}" for each in found for line in each.lines}
    assert lines == expected
    assert all(each.confidence < 1 for each in found)


@pytest.mark.parametrize(
    ("source", "is_called"),
    [
        ("COLUMN = '<b>{{ object.get_full_name }}</b>'", True),
        ('def column():\n    return Template("""\n{% if x.get_full_name %}{% endif %}""")', True),
        ("COLUMN = '<b>{{ get_full_name }}</b>'", False),
        ("COLUMN = '{% load get_full_name %}{{ }} {{ a.b }}'", False),
    ],
)
def test_what_a_template_in_a_string_may_call(source: str, is_called: bool):
    found = shown({"users.py": USERS, "a.py": source})
    assert {each.partition(" ")[2] for each in found} == ({"~> User.get_full_name"} if is_called else set())


@pytest.mark.parametrize("count", [105, 400])
def test_an_override_below_a_base_with_many_subclasses(count: int):
    others = "".join(f"class C{number}(Root):\n    pass\n" for number in range(count))
    roots = "class Root:\n    def get(self):\n        return self.extra()\n"
    roots += "    def extra(self):\n        return {}\n"
    mine = "class Mine(Root):\n    def extra(self):\n        return 1\n"
    assert shown({"a.py": roots + mine + others}) == {"Root.get ~> Root.extra", "Root.get ~> Mine.extra"}


def test_a_bare_call_in_an_extension_of_kotlin_means_what_it_extends_first():
    found = edges_of(
        {
            "a.kt": "class Zip { fun finish() = 1 }\nclass Dir {\n    fun finish() = 2\n    fun all() = 3\n"
            "    private fun Zip.flush() { finish(); all() }\n    fun String.send() { all() }\n}\n"
        }
    )
    assert found == {"Dir.Zip.flush -> Zip.finish", "Dir.Zip.flush -> Dir.all", "Dir.String.send -> Dir.all"}


def test_what_no_other_constructor_of_kotlin_takes_its_primary_one_does():
    found = edges_of(
        {
            "a.kt": "class Obs(val a: Int, val b: Int, val c: Int = 1) {\n"
            "    constructor(t: String) : this(1, 2)\n}\n"
            'fun one() = Obs("")\nfun named() = Obs(a = 1, b = 2)\nfun spread(x: Array<String>) = Obs(*x)\n',
            "B.java": 'class B { void f() { new Obs(1, 2, 3); } void g() { new Obs(""); } }\n',
        }
    )
    assert {each.replace("a.kt:", "").replace("B.java:", "") for each in found} == {
        "one -> Obs.constructor",
        "named -> Obs",
        "spread -> Obs.constructor",
        "B.f -> Obs",
        "B.g -> Obs.constructor",
    }


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("EmojiHelper.emojify(name, all, view);", {"-> CharSequence.emojify"}),
        ("EmojiHelper.shorten(name);", {"-> String.shorten"}),
        ("EmojiHelper.secret(name);", set()),
        ("EmojiKt.shorten(name);", set()),
        ('TextsKt.shorten("a");', {"~> shorten"}),  # in another package, of which nothing is imported
        ("stat();", {"-> String.shorten"}),
        ("Texts.shorten(name); texts.shorten(1);", set()),
    ],
)
def test_java_calls_the_functions_of_a_file_of_kotlin(body: str, expected: set[str]):
    java = "import x.util.EmojiHelper;\nimport static x.util.EmojiHelper.*;\n"
    body = body.replace("stat()", "shorten(name)")
    files = KOTLIN_FILES | {"app/x/ui/A.java": f"package x.ui;\n{java}class A {{ void f() {{ {body} }} }}\n"}
    assert {each.removeprefix("A.f ") for each in shown(files)} == expected


def test_java_imports_a_class_of_kotlin_beside_functions():
    kotlin = "package x\nclass Box { fun open() {} }\nfun String.shut() {}\n"
    java = "package y;\nimport x.Box;\nclass A { void f(Box b) { b.open(); x.BoxKt.shut(b); } }\n"
    assert shown({"app/x/Box.kt": kotlin, "app/y/A.java": java}) == {"A.f -> Box.open"}


def test_java_calls_an_object_of_kotlin():
    java = "class A { void f() { Tool.INSTANCE.run(); } }\n"
    assert shown({"Tool.kt": "object Tool { fun run() {} }\n", "A.java": java}) == {"A.f -> Tool.run"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("set(3)", {"-> Act.set:6"}),
        ("set(R.layout.main)", {"-> Act.set:6"}),
        ("set(b)", {"-> Act.set:7"}),
        ("set(x.y() as View)", {"-> Act.set:7"}),
        ("set { }", {"-> Act.set:8"}),
        ("set(this::go)", {"-> Act.set:8", "~> Act.go"}),
        ('set("a" + n, b)', {"-> Act.set:9"}),
        ('set("a", Other())', {"-> Act.set:10", "-> Other"}),  # which goes by another name
        ('set(view = b, text = "a")', {"-> Act.set:9"}),
        ("set(unknown())", {"~> Act.set:6", "~> Act.set:7", "~> Act.set:8"}),
        ("set(Intent())", {"~> Act.set:7", "~> Act.set:8"}),
    ],
)
def test_arguments_choose_in_kotlin(body: str, expected: set[str]):
    found = {
        each.removeprefix("Act.go ")
        for each in shown({"a.kt": KOTLIN_OVERLOADS.format(body)})
        if each.startswith("Act.go ")
    }
    assert found == expected


@pytest.mark.parametrize(
    ("body", "is_known"),
    [
        ("CardBinding.bind(view).fill()", True),
        ("val card = CardBinding.inflate(view); card.fill()", True),
        ("cardOf(view).fill()", False),
        ("Other.at(view).fill()", False),
    ],
)
def test_a_class_of_others_that_makes_what_is_extended(body: str, is_known: bool):
    names = ("CardBinding", "RowBinding", "GridBinding", "Other")
    kinds = "".join(f"fun {each}.fill() {{}}\n" for each in names[:3])
    found = shown({"a.kt": f"class Other\n{kinds}fun f(view: View) {{ {body} }}\n"})
    assert found == ({"f ~> CardBinding.fill"} if is_known else set())


@pytest.mark.parametrize(
    ("number", "line"), [("3", 3), ("3L", 4), ("0xFL", 4), ("3f", 5), ("3.5F", 5), ("3.5", 6)]
)
def test_a_number_says_of_what_kind_it_is(number: str, line: int):
    assert shown({"N.java": JAVA_NUMBERS.format(number)}) == {f"N.go -> N.put:{line}"}


RAILS = """
class Post < ApplicationRecord
  has_many :comments
  has_many :entries, class_name: "Note"
  belongs_to :author, class_name: "User"
  scope :recent, -> { order(page_size) }
  scope(:by, lambda { |u| where(u: u) })
  delegate :email, to: :author
  define_method(:shout) { upcase_it }
  def self.page_size; end
  def upcase_it; end
  def all_of_it
    BODY
  end
end
class User
  def email; end
end
class Note
  def self.old; end
  def flag; end
end
class Comment
  include Hideable
  scope :visible, -> { }
end
module Hideable
  included do
    scope :hidden, -> { }
  end
end
Post.class_eval do
  def patched; end
end
class << Post
  def single; end
end
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Post.recent", {"-> Post.recent"}),
        ("Post.by(3).recent", {"-> Post.by", "-> Post.recent"}),
        ("Post.where(a: 1).recent", {"~> Post.recent"}),
        ("Post.find(1).upcase_it", {"~> Post.upcase_it"}),
        ("shout", {"-> Post.shout"}),
        ("Post.shout", {"~> Post.shout"}),  # not of the class itself
        ("patched; Post.single", {"-> Post.patched", "-> Post.single"}),
        ("author.email", {"-> User.email"}),
        ("entries.old", {"-> Note.old"}),
        ("entries.first.flag", {"~> Note.flag"}),
        ("comments.visible.hidden", {"~> Comment.visible", "~> Hideable.hidden"}),
        ("comment.visible; Comment.new.visible", {"-> Comment"}),  # a scope is of the class only
    ],
)
def test_what_macros_of_ruby_define(body: str, expected: set[str]):
    found = shown({"a.rb": RAILS.replace("BODY", body)})
    assert {each.removeprefix("Post.all_of_it ") for each in found if each.startswith("Post.all")} == expected
    assert found >= {"Post.recent -> Post.page_size", "Post.shout -> Post.upcase_it", "Post:2 ~> User.email"}


GO_ITEMS = "type item struct{}\nfunc (i *item) Go() {}\n"
GO_GENERIC = """
package a
type Saver interface { Save() }
type Item struct{}
func (i *Item) Save() {}
type Set[T comparable] struct { items []T }
func NewSet[T comparable](x ...T) *Set[T] { return nil }
func (s *Set[T]) Add(x T) {}
type Box[S Saver] struct { inner S }
func Get[T any](k string) T { return *new(T) }
func Both[A, B any](k A, v B) {}
func conv(i Item) int { return 1 }
%s
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("func f[S Saver](x S) { x.Save() }", {"-> Saver.Save", "~> Item.Save"}),
        ("func f[S Saver](xs []S) { for _, x := range xs { x.Save() } }", {"-> Saver.Save", "~> Item.Save"}),
        ("func f(b Box[*Item]) { b.inner.Save() }", {"-> Saver.Save", "~> Item.Save"}),
        ("func f() { NewSet[Item]().Add(x) }", {"-> NewSet", "-> Set.Add"}),
        ("func f() { NewSet[map[string]int](1).Add(x) }", {"-> NewSet", "-> Set.Add"}),
        ('func f() { i := Get[*Item]("a"); i.Save() }', {"-> Get", "-> Item.Save"}),
        ('func f() { var i = Get[Item]("a"); i.Save() }', {"-> Get", "-> Item.Save"}),
        ('func f() { i := Get[int]("a"); i.Save() }', {"-> Get"}),
        ("func f() { Both[int, string](1, x) }", {"-> Both"}),
        (
            f"{GO_ITEMS}func f(a []*item) {{ for _, t:= range a{{ item := Item{{}}; t.Go(); item.Save() }}}}",
            {"-> item.Go", "-> Item.Save"},
        ),
    ],
)
def test_type_parameters_of_go(body: str, expected: set[str]):
    found = shown({"a.go": GO_GENERIC % body})
    assert {each.removeprefix("f ") for each in found if each.startswith("f ")} - {"-> Item"} == expected


@pytest.mark.parametrize(
    ("body", "is_sure"),
    [
        ("let self; self = this; run(function () { self.save(); });", True),
        ("var n = 1, me = this; run(() => me.save());", True),
        ("const root = this || {}; root.save();", True),
        ("const root = other || this; root.save();", False),
        ("let self = other; if (n) { self = this; } self.save();", False),
    ],
)
def test_other_names_of_this_in_javascript(body: str, is_sure: bool):
    found = shown({"a.js": f"class A {{ save() {{}} go(n) {{ {body} }} }}\nclass B {{ save() {{}} }}\n"})
    assert ("A.go -> A.save" in found) == is_sure


def test_a_line_that_is_too_long_is_said_not_to_be_read():
    chain = "function go(list) { return list" + ".filter(keep)" * 1_000 + "; }\n"
    data = f"const shape = '{'M10,10 ' * 1_000}';\n"
    known = "function keep(x) { return x; }\nfunction all(x) { keep(x); }\n"
    read = {
        name: unpack(pack(extract((known + text).encode(), "javascript")))
        for name, text in (("chain", chain), ("data", data))
    }
    assert {name: facts.partly for name, facts in read.items() if facts} == {
        "chain": "1 line of over 5,000 characters",
        "data": "",
    }
    assert shown({"a.js": known + chain}) == {"all -> keep"}


RAZOR = """@using Shop.Models
@model Order
@inject IPrices Prices;
@{
    ViewData["x"] = Model.Title();
    <b>@Model.Inner(1)</b>
}
@* @Model.No() *@
<a class="@(Model.IsOpen() ? "a" : "b")" href="@Model.Link("(")">me@Model.No() @@Model.No() (see</a>
<script> Model.No(); const a = @Html.Raw2(Model); </script>
@if (Model.Has())
{
    var item = Model.First();
    <i>@item.Show() don't</i>
    @foreach (var line in Model.Lines)
    {
        <td>@line.Text()</td>
    }
}
else if (Prices.Total(Model) > 1)
{
}
<vc:cart-icon symbol="a" />
<button @onclick="Save">x</button>
@functions {
    string Helper(int a) { return Model.Title(); }
    void Save() { Helper(1); }
}
"""
SHOP = """
namespace Shop.Models;
public class Order {
  public string Title() => ""; public void Inner(int a) {} public void No() {} public bool IsOpen() => true;
  public string Link(string a) => ""; public bool Has() => true; public Item First() => null;
  public List<Line> Lines;
}
public class Item { public void Show() {} }
public class Line { public void Text() {} }
public class IPrices { public int Total(Order m) => 1; }
public static class Ext { public static void Raw2(this IHtmlHelper h, object a) {} }
public class CartIcon : ViewComponent { public void Invoke() {} }
"""


def test_a_page_of_razor_calls():
    calls = calls_of({"Views/Order.cshtml": RAZOR, "Models.cs": SHOP})
    found = calls.callees([own for own, node in calls.nodes() if node.path.endswith(".cshtml")])
    shown = {f"{e.caller.name} {e.callee.name} {'->' if e.confidence == 1 else '~>'} {e.line}" for e in found}
    assert shown == {
        "<module> Order.Title -> 5",
        "<module> Order.Inner -> 6",
        "<module> Order.IsOpen -> 9",
        "<module> Order.Link -> 9",
        "<module> Ext.Raw2 ~> 10",
        "<module> Order.Has -> 11",
        "<module> Order.First -> 13",
        "<module> Item.Show -> 14",
        "<module> Line.Text -> 17",
        "<module> IPrices.Total -> 20",
        "<module> CartIcon.Invoke ~> 23",
        "<module> Save ~> 24",
        "Helper Order.Title -> 26",
        "Save Helper -> 27",
    }


ROUTED = """<p>a > b</p>
<a asp-action="Edit" class="x"
   asp-controller='Users'>Edit</a>
<a asp-action="Edit">of another page's controller</a> <i asp-controller="Users">x</i>
<a asp-action="@Model.Edit" asp-controller="Users">computed</a>
<form ASP-Controller="Posts" asp-action="Save" method="post">
<a asp-controller="Users" title="asp-action" data-asp-action="Save">x</a>
@* <a asp-action="Save" asp-controller="Users"> *@
"""
CONTROLLERS = """
public class UsersController : Controller {
  public IActionResult Edit(int id) => View(); public IActionResult Save() => View();
}
public class PostsController : Controller {
  public IActionResult Edit(int id) => View(); public async Task<IActionResult> SaveAsync() => View();
}
"""


def test_a_tag_of_razor_that_names_controller_and_action_likely_calls_it():
    calls = calls_of({"Views/Users.cshtml": ROUTED, "Controllers.cs": CONTROLLERS})
    found = calls.callees([own for own, node in calls.nodes() if node.path.endswith(".cshtml")])
    assert {(e.callee.name, e.line, e.rule, e.confidence < 1) for e in found} == {
        ("UsersController.Edit", 2, "asp", True),
        ("PostsController.SaveAsync", 6, "asp", True),
    }


@pytest.mark.parametrize(
    "text",
    [
        "<a x",
        "<a '",
        '<a asp-action="',
        "@a(",
        "@{",
        "@if (",
        "}",
        "@*",
        "<script>@(",
        "@foreach (var x in y) {",
        "@model A\n",
        " ",
        "a(",
    ],
)
def test_a_page_of_razor_that_goes_on_and_on(text: str):
    read = csharp_of(text * 20_000)
    assert read.count("\n") == text.count("\n") * 20_000


@pytest.mark.parametrize("text", ["@(", "@a(", "if (\n", "@foreach (var x in "])
def test_what_lies_in_other_code_of_a_page_of_razor_does_not_multiply(text: str):
    page = text * 2_000 + ")" * 2_000
    assert len(csharp_of(page)) < 10 * len(page)


@pytest.mark.parametrize("path", ["A.java", "a.kt"])
def test_a_sum_of_thousands_is_a_text(path: str):
    total = "n" + " +\n n" * 3_000 + ' + "a"'
    java = f"class A {{ void put(String a) {{}} void put(int n) {{}} void go(int n) {{ put({total}); }} }}\n"
    kotlin = (
        f"class A {{ fun put(a: String) {{}}\n fun put(n: Int) {{}}\n fun go(n: Int) {{ put({total}) }} }}\n"
    )
    found = shown({path: {"A.java": java, "a.kt": kotlin}[path]})
    assert {each.partition(":")[0] for each in found} <= {"A.go -> A.put"}
    assert found


def test_an_object_of_javascript_is_no_type_of_the_repository():
    files = {
        "a.ts": "export interface Object { a: number }\n",
        "b.ts": "export const held = { entries() { return 1; } };\n",
        "c.ts": "function f(x) { for (const y of Object.entries(x)) { console.log(y); } }\n",
    }
    assert shown(files) == set()


def test_a_variable_of_which_nothing_is_read():
    assert shown(
        {"a.ts": "const a = (await x``)`b`();\nfunction f() { a.go(); }\nclass G { go() {} }\n"}
    ) <= {"f ~> G.go"}


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("chain(x).focus();", set()),
        ("chain(x).focusTree();", {"f ~> Tree.focusTree"}),
        ("import { Other } from './tree'; chain(x).focus();", {"f ~> Tree.focus"}),
    ],
)
def test_a_name_of_one_word_is_no_reason_for_a_call_in_typescript(use: str, expected: set[str]):
    *imports, body = use.split("; ") if use.startswith("import") else (use,)
    files = {
        "tree.ts": "export class Tree { focus() {} focusTree() {} }\nexport class Other {}\n",
        "a.ts": "".join(f"{each};\n" for each in imports) + f"function f(x) {{ {body} }}\n",
    }
    assert shown(files) == expected
