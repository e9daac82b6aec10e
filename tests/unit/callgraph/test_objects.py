"""Calls of what scripts keep in objects, and of what Rust reaches by modules, traits and containers."""

from __future__ import annotations

import pytest

from gitrag.callgraph.answering import Direction, GraphQuestion, answer
from gitrag.callgraph.extraction import LANGUAGES, extract
from gitrag.callgraph.subjects import subjects
from gitrag.report.call_tree import CallTree
from tests.support.callgraphs import calls_of, edges_of
from tests.support.steps import counted
from tests.unit.callgraph.test_applications import shown

SESSIONS = "module.exports = { init: function (x) {}, show: function (q, r) {} };\n"
VIEW = """
RED.view = (function () {
    function drop(k) {}
    return { getGroup: function () {}, remove: drop };
})();
"""
FACTORY = "function make() { return { run: function () {}, stop: halt }; }\nfunction halt() {}\n"

SERVICE = (
    "class B { save() {} load() {} }\nclass Service { save() {} }\nexport const service = new Service();\n"
)
TWO = "class A { go() {} }\nclass B { go() {} }\n"
PICKED = "import {service} from './s';\n"

CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    "a constant that holds a member": (
        {
            "a.js": "class B { save() {} load() {} }\n"
            "class A { save() {} run() { const {save, load: l} = this; save(); l(); } }\n"
        },
        {"A.run -> A.save"},
    ),
    "a constant that is a member, whose member is called": (
        {
            "a.js": TWO + "class M {\n constructor() { this.a = new A(); }\n"
            " f() { const {a} = this; a.go(); }\n g() { const {a: b} = this; b.go(); }\n"
            " h() { const {go} = this.a; go(); }\n}\n"
        },
        {"M.constructor -> A", "M.f -> A.go", "M.g -> A.go", "M.h -> A.go"},
    ),
    "what an exported name is called outside, as the main one": (
        {
            "a.js": "function go() {}\nexport { go as default };\n",
            "b.js": "export { stop as default } from './c';\n",
            "c.js": "export function stop() {}\n",
            "d.js": "import a from './a';\nimport b from './b';\nfunction f() { a(); b(); }\n",
        },
        {"f -> go", "f -> stop"},
    ),
    "what a generator of a class returns": (
        {"a.js": TWO + "class M { *m() { return new A(); }\n run() { this.m().go(); } }\n"},
        {"M.m -> A", "M.run -> M.m", "M.run ~> A.go"},
    ),
    "what is made by a parameter that is called like a function, or a class": (
        {
            "a.js": TWO + "function m() { return new A(); }\n"
            "function f(m) { m().go(); }\nfunction g(m) { const x = m(); x.go(); }\n"
            "function h(B) { const b = new B(); b.go(); }\nfunction k(B) { return new B(); }\n"
            "function l() { k().go(); }\n"
        },
        {"m -> A", "f ~> A.go", "l -> k", "h ~> B.go", "l ~> B.go"},
    ),
    "a member that is also given what is not known": (
        {
            "a.js": TWO + "class M {\n constructor() { this.a = new A(); this.b = new B(); }\n"
            " run() { this.a.go(); this.b.go(); }\n set(a) { this.a = a; this.b = null; }\n}\n"
        },
        {"M.constructor -> A", "M.constructor -> B", "M.run ~> A.go", "M.run -> B.go"},
    ),
    "a variable that is not known where something is returned": (
        {
            "a.js": TWO + "let a;\nfunction m(x) { if (x) { const a = new A(); } return a; }\n"
            "function n(x) { if (x) { const b = new B(); return b; } }\n"
            "function f() { m().go(); }\nfunction g() { n().go(); }\n"
        },
        {"m -> A", "n -> B", "f -> m", "g -> n", "f ~> A.go", "g -> B.go"},
    ),
    "a constant that holds a member by another name": (
        {"s.js": SERVICE, "a.js": PICKED + "function f() { const {save: keep} = service; keep(); }\n"},
        {"<module> -> Service", "f -> Service.save"},
    ),
    "a constant of the file that holds a member": (
        {"s.js": SERVICE, "a.js": PICKED + "const {save} = service;\nfunction f() { save(); }\n"},
        {"<module> -> Service", "f ~> Service.save"},
    ),
    "a name that means no constant, or one of several": (
        {
            "s.js": SERVICE,
            "a.js": PICKED + "function f() { { const {save} = service; } save(); }\n"
            "function g() { if (o) { const {save} = service; save(); } else { const {save} = o; save(); } }\n"
            "function h() { let {save} = service; save = 1; save(); }\n",
            "b.js": PICKED + "const {save} = service;\nfunction i(save) { save(); }\n"
            "function j() { function save() {}\n save(); }\n",
        },
        {"<module> -> Service", "j -> j.save"},
    ),
    "members of what a file exports, called and handed on": (
        {
            "s.js": SESSIONS,
            "a.js": "var s = require('./s');\nfunction f(app) { s.init(1); app.get('/', s.show); }\n",
        },
        {"f -> exports.init", "f ~> exports.show"},
    ),
    "members of what a file exports, from itself": (
        {
            "a.js": "var api = module.exports = { go: function () { api.stop(); }, stop: function () {} };\n"
            "function f() { module.exports.go(); exports.go(); }\n"
        },
        {"exports.go -> exports.stop", "f -> exports.go"},
    ),
    "a module that is called where it is required": (
        {
            "f.js": "function create(c) {}\nmodule.exports = create;\n",
            "a.js": "exports.boot = c => { c.y = require('./f')(c); };\n",
        },
        {"<module> ~> create", "boot -> create"},
    ),
    "a member of a module that is called where it is required": (
        {"s.js": SESSIONS, "a.js": "function f() { require('./s').init(2); require('./gone')(1); }\n"},
        {"f -> exports.init"},
    ),
    "a member of another module is exported again": (
        {
            "reg.js": "function info(m) {}\nmodule.exports = { info: info };\n",
            "all.js": "var reg = require('./reg');\nmodule.exports = { info: reg.info };\n",
            "one.js": "var all = require('./all');\nexports.tell = all.info;\n",
            "use.js": "var a = require('./all'), o = require('./one');\n"
            "function f() { a.info(1); }\nfunction g() { o.tell(1); }\n",
        },
        {"f -> info", "g -> info"},
    ),
    "a namespace that a function makes at once": (
        {
            "view.js": VIEW,
            "other.js": "RED.tray = (function () { return { getGroup: () => 1, remove: () => 2 }; })();\n",
            "use.js": "function f() { RED.view.getGroup(); RED.view.remove(1); RED.list.remove(1); }\n",
        },
        {"f ~> RED.view.getGroup", "f ~> drop", "RED.view ~> drop"},
    ),
    "a namespace of several parts": (
        {
            "a.js": "App.nodes.icons = (function () { return { code: function () {} }; })();\n",
            "b.js": "App.faces.icons = (function () { return { code: function () {} }; })();\n",
            "use.js": "function f() { window.App.nodes.icons.code(); }\nfunction g(i) { i.code(); }\n",
        },
        {"f ~> App.nodes.icons.code"},
    ),
    "an object that is handed on asks itself": (
        {
            "a.js": "$.widget('x.y', { _show: function () {}, open: function () { this._show(); } });\n",
            "b.js": "$.widget('x.z', { _show: function () {} });\n",
        },
        {"open ~> _show", "<module> ~> _show", "<module> ~> open"},
    ),
    "what a constructor is given under another name for itself": (
        {
            "a.js": "function B(n) { var node = this; node.reg = function () { node.link(); };"
            " node.link = function () {}; }\n",
            "b.js": "function C(n) { var node = this; node.link = function () {}; }\n",
        },
        {"B.node.reg ~> B.node.link"},
    ),
    "a function with members, one of them handed on": (
        dict.fromkeys(
            ("a.js", "b.js"),
            "function init($) { function plugins() {} plugins.each = function () {};"
            " plugins.show = function () { plugins.each(); }; $('a').change(plugins.show); }\n",
        ),
        {"init.plugins.show ~> init.plugins.each", "init ~> init.plugins.show"},
    ),
    "what a factory gives": (
        {
            "a.js": f"{FACTORY}module.exports = make;\n",
            "b.js": "const m = require('./a')(1);\nfunction f() { m.run(); m.stop(); }\n",
            "c.js": "function other() { return { run: function () {} }; }\n",
        },
        {"f ~> make.run", "f ~> halt", "make ~> halt", "<module> ~> make", "<module> -> make"},
    ),
    "what a factory gives members and returns": (
        {
            "a.js": "function boot(x) { var app = x(); app.setAll = function () {}; return app; }\n"
            "module.exports = boot;\n",
            "b.js": "const boot = require('./a');\nfunction f() { const it = boot(1); it.setAll(); }\n",
            "c.js": "function low(app) { app.setAll = function () {}; }\n",
        },
        {"f -> boot", "f ~> boot.app.setAll", "<module> ~> boot"},
    ),
    "scripts of a page, and its handlers": (
        {
            "a.html": "<script src='x.js'></script>\n<script type=\"text/javascript\">\n"
            "function up() {}\nfunction down() { up(); }\n</script>\n"
            "<script type='text/html'><b>up()</b></script>\n"
            "<script type='module'>\n  down();\n</script>\n<a onclick=\"up(); return false\">up</a>\n"
        },
        {"down -> up", "<module> -> up", "<module> -> down"},
    ),
    "a page's script asks by another name for itself": (
        {
            "a.html": "<p>up()</p><script>\nfunction Box() {\n  var that = this;\n"
            "  this.take = function (t) {};\n  this.open = function () { that.take(1); };\n}\n</script>\n"
        },
        {"Box.open ~> Box.take"},
    ),
    "rust, the only implementation of a trait that is imported": (
        {
            "src/lib.rs": "mod u;\nmod a;\nmod b;\n",
            "src/u.rs": "pub trait ToUrl { fn to_url(&self) -> String; }\n"
            "impl ToUrl for Path { fn to_url(&self) -> String { String::new() } }\n",
            "src/a.rs": "use crate::u::ToUrl;\nfn f(p: &str) { Path::new(p).join(p).to_url(); }\n",
            "src/b.rs": "fn g(p: &PathBuf) { p.to_url(); }\n",
        },
        {"f ~> Path.to_url"},
    ),
    "rust, a trait with several implementations says nothing of a foreign type": (
        {
            "src/lib.rs": "trait T { fn tidy(&self); }\nimpl T for A { fn tidy(&self) {} }\n"
            "impl T for B { fn tidy(&self) {} }\nfn f(p: &PathBuf) { p.tidy(); }\n",
        },
        set(),
    ),
    "rust, a module that another passes on": (
        {
            "src/lib.rs": "mod w;\nmod app;\n",
            "src/w.rs": "pub mod p;\npub use p::*;\n",
            "src/w/p.rs": "pub mod q;\n",
            "src/w/p/q.rs": "mod and;\nmod or;\npub use and::And;\n",
            "src/w/p/q/and.rs": "pub struct And;\nimpl And { pub fn check(&self) {} pub fn new() {} }\n",
            "src/w/p/q/or.rs": "use crate::w::q::And;\npub struct Or { lhs: And, rhs: Option<Box<And>> }\n"
            "impl Or { fn f(&self) { self.lhs.check(); if let Some(rhs) = &self.rhs { rhs.check() } } }\n",
            "src/app.rs": "use crate::w::q;\nuse crate::w::q::And as Both;\nfn g() { Both::new(); }\n",
            "src/other.rs": "pub struct And;\nimpl And { pub fn check(&self) {} pub fn new() {} }\n",
        },
        {"Or.f -> And.check", "g -> And.new"},
    ),
    "rust, a program calls its own library": (
        {
            "g/Cargo.toml": '[package]\nname = "guide-helper"\n',
            "g/src/lib.rs": "pub fn handle() {}\npub mod deep;\n",
            "g/src/deep.rs": "pub fn go() {}\n",
            "g/src/main.rs": "use guide_helper::deep;\nfn main() { guide_helper::handle(); deep::go(); }\n",
        },
        {"main -> handle", "main -> go"},
    ),
    "rust, what loops and closures are given": (
        {
            "src/lib.rs": "struct Num;\nimpl Num { fn check(&self) {} fn own(&mut self) {} }\n"
            "struct Two;\nimpl Two { fn check(&self) {} fn own(&mut self) {} }\n"
            "struct W { col: Vec<Num>, m: HashMap<u64, Num>, q: Option<Num> }\nimpl W {\n"
            " fn each(&mut self) { for n in self.m.values_mut() { n.own(); } }\n"
            " fn both(&self) { for (_, n) in self.col.iter().enumerate() { n.check(); } }\n"
            " fn all(&self) { self.col.iter().filter(|c| c.check()); }\n"
            " fn at(&mut self) { self.col.get_mut(1).map(|c| c.own()); }\n"
            " fn some(&mut self) { if let Some(c) = self.col.get_mut(1) { c.own(); } }\n"
            " fn held(&self) { self.q.as_ref().map(|q| q.check()); }\n"
            " fn other(&self) { self.col.iter().map(tidy).filter(|c| c.check()); }\n}\n"
        },
        {
            *("W.each -> Num.own", "W.both -> Num.check", "W.all -> Num.check", "W.at ~> Num.own"),
            *("W.some -> Num.own", "W.held ~> Num.check"),
        },
    ),
    "rust, what slices and lists that a function gives hold": (
        {
            "src/lib.rs": "struct Num;\nimpl Num { fn check(&self) {} }\nstruct Two;\n"
            "impl Two { fn check(&self) {} }\nfn list() -> Vec<Two> { vec![] }\n"
            "fn f(all: &[Num]) { for n in all { n.check(); } }\n"
            "fn g() { for t in &list() { t.check(); } }\nfn h(all: &mut Vec<Num>) { all[0].check(); }\n"
        },
        {"f -> Num.check", "g -> Two.check", "g -> list", "h -> Num.check"},
    ),
    "what a member holds is what the function gives that it is given, if only that": (
        {
            "trans.js": "class Mail { add() {} end() {} }\nclass Other { add() {} }\n"
            "exports.made = (u) => { if (!u) return null; return new Mail(u) }\n"
            "exports.short = () => new Mail()\n"
            "exports.held = (all) => { const t = new Mail(); all.map((a) => { return a }); return t }\n"
            "exports.either = (u) => { if (u) return new Other(); return new Mail() }\n"
            "exports.maybe = (u) => { if (u) return cache[u]; return new Mail(u) }\n"
            "exports.each = (all) => { all.map((a) => { return new Mail(a) }) }\n"
            "exports.lazy = function* () { return new Mail() }\n",
            "conn.js": "const trans = require('./trans')\n"
            "class Conn {\n  constructor() { this.one = null; this.two = trans.made() }\n"
            "  init() { this.one = trans.short(); this.two = trans.either() }\n"
            "  go() { this.one.end() }\n  two() { this.two.end() }\n"
            "  local(trans) { this.own = trans.short() }\n  use() { this.own.end() }\n}\n"
            "class Pair { a() { this.it = new Conn() }  b() { this.it = new Pair() }\n"
            "  c() { this.it.use() } }\n"
            "function held() { trans.held().end() }\nfunction maybe() { trans.maybe().end() }\n"
            "function each() { trans.each().end() }\nfunction lazy() { trans.lazy().end() }\n",
        },
        {
            *(f"{name} -> Mail" for name in "made short held either maybe each lazy".split()),
            "either -> Other",
            *(f"{name} -> {name}" for name in "held maybe each lazy".split()),
            "Conn.constructor -> made",
            "Conn.init -> short",
            "Conn.init -> either",
            "Conn.local ~> short",
            "Conn.go -> Mail.end",
            "Conn.two ~> Mail.end",
            "held -> Mail.end",
            "maybe ~> Mail.end",
            "each ~> Mail.end",
            "lazy ~> Mail.end",
            "Pair.a -> Conn.constructor",
            "Pair.b -> Pair",
            "Pair.c ~> Conn.use",
        },
    ),
    "a variable of a written type is of it whatever it is given": (
        {
            "a.ts": "class Names { add() {} }\nclass Bob { add() {} }\nlet names: Names;\nlet any: any;\n"
            "setUp(() => { names = module.get(Names); any = new Bob(); });\n"
            "function f() { names.add(); }\nfunction g() { any.add(); }\n"
            "function h(n: Names | undefined) { n.add(); }\nfunction i(n: Names | Bob) { n.add(); }\n"
            "class S { one(): Promise<Names | null> {} }\n"
            "async function j(s: S) { const n = await s.one(); n?.add(); }\n",
        },
        {
            "<module> -> Bob",
            "f -> Names.add",
            "g ~> Bob.add",
            "h -> Names.add",
            "j -> S.one",
            "j -> Names.add",
        },
    ),
    "what is made is of its own class, also where a base has the constructor": (
        {
            "a.ts": "abstract class Base { constructor(u) {}\n"
            "  body() { this.on(() => { return 5; }); return this; }\n"
            "  abstract send(): Promise<Reply>; }\nclass Get extends Base { send(): Promise<Reply> {} }\n"
            "class Post extends Base { send(): Promise<Reply> {} }\nclass Reply { parsed() {} }\n"
            "const f = async () => { const r = await new Get('a').send(); return r.parsed(); };\n"
            "const g = () => new Post('a').body().send();\n",
        },
        {
            "f -> Base.constructor",
            "f -> Get.send",
            "f -> Reply.parsed",
            "g -> Base.constructor",
            "g -> Base.body",
            "g -> Post.send",
        },
    ),
    "the written result of a function that a variable or a member holds": (
        {
            "a.ts": "class Names { add() {} }\nexport const use = (): Names => { return from(X); };\n"
            "const far = () => { const near = (): Names => null; return 5; };\n"
            "class S { make = (): Names => null; }\n"
            "function f() { const n = use(); n.add(); }\nfunction g() { far().add(); }\n"
            "function h(s: S) { s.make().add(); }\n",
        },
        {"f -> use", "f -> Names.add", "g -> far", "h -> S.make", "h -> Names.add"},
    ),
    "what is done with each of a list of a written type": (
        {
            "a.ts": "class Conn { go(n) {} }\nclass Rt { all: Conn[]; by: Map<string, Conn>;\n"
            " listed(): Conn[] { return this.all; }\n a() { this.all.forEach((c) => c.go(1)); }\n"
            " b() { this.listed().filter(c => c.go(2)); }\n c() { this.by.forEach((c: any) => c.go(3)); }\n"
            " d() { this.all.some((c: string) => c.go(4)); } }\n",
        },
        {"Rt.a -> Conn.go", "Rt.b -> Rt.listed", "Rt.b -> Conn.go", "Rt.c ~> Conn.go", "Rt.d ~> Conn.go"},
    ),
    "what is taken out of a module": (
        {
            "queue.js": "class Queue { push() {} }\nconst one = (exports.one = new Queue())\n"
            "exports.two = new Queue()\nfunction here() { one.push() }\n",
            "use.js": "const lib = require('./queue')\nconst { one, two } = lib\n"
            "function f() { one.push(1) }\nfunction g() { two.push(1) }\n",
        },
        {
            "<module> -> Queue",
            "here -> Queue.push",
            "f -> Queue.push",
            "g -> Queue.push",
        },
    ),
    "what is a file's main one, by its own name or as that, also of a directory": (
        {
            "hooks/index.js": "export { default as useAreas } from './useAreas';\n",
            "hooks/useAreas.js": "export default function useAreas() {}\n",
            "Area.jsx": "import { useAreas } from './hooks';\nfunction area() { useAreas(); }\n",
            "two.js": "import { default as areas } from './hooks/useAreas';\nfunction two() { areas(); }\n",
            "Modal.jsx": "import Open from './Open';\nfunction modal() { return <Open x={1} />; }\n",
            "Open/index.jsx": "export default function Open({ x }) { return null; }\n",
        },
        {"area -> useAreas", "two -> useAreas", "modal -> Open"},
    ),
    "what a component of Vue computes, where it is read": (
        {
            "c.vue": "<script>\nexport default {\n"
            "  computed: { media() { return 1 }, other() { return this.media.x } },\n"
            "  methods: { go() { if (this.other) return this.stop }, stop() {} }\n}\n</script>\n",
        },
        {"default.other -> default.media", "default.go -> default.other"},
    ),
    "dart, a constructor with a name, called and handed on": (
        {
            "a.dart": "class Reply {\n  const factory Reply({required int id}) = _Reply;\n"
            "  factory Reply.parsed(Map json) {\n    return make(json);\n  }\n"
            "  factory Reply.short(Map json) => make(json);\n  static int get max => 1;\n}\n"
            "Reply make(Map j) { return Reply(id: 1); }\n",
            "b.dart": "import 'a.dart';\nvoid f(Map j) { Reply.short(j); }\n"
            "void g(Map j) { read(Reply.max, mapper: Reply.parsed); }\n",
        },
        {
            "Reply.parsed -> make",
            "Reply.short -> make",
            "make -> Reply",
            "f -> Reply.short",
            "g -> Reply.max",
            "g ~> Reply.parsed",
        },
    ),
    "what is of a type of another project has no method of this one": (
        {
            "a.ts": "import { Bridge, Box } from 'hap';\nimport { Own } from './own';\n"
            "class Plat { getAll(n: string) {} }\nclass Svc { bridge: Bridge; own: Own;\n"
            " go() { this.bridge.getAll('a'); }\n made() { const a = new Box('x'); a.getAll('b'); }\n"
            " other(x) { x.getAll('c'); } mine() { this.own.getAll('d'); } }\n",
            "own.ts": "export class Own { getAll() {} }\n",
        },
        {"Svc.mine -> Own.getAll"},
    ),
    "what is of a type of another project, as a parameter": (
        {
            "a.ts": "import type { Decimal } from 'decimal';\nclass Point { equalsTo(o) {} }\n"
            "function f(d: Decimal) { d.equalsTo(1); }\nfunction g(d) { d.equalsTo(1); }\n",
        },
        {"g ~> Point.equalsTo"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_these_are_all_calls_and_only_what_is_proved_is_certain(name):
    files, expected = CASES[name]
    assert shown(files) == expected


def test_a_script_of_a_page_keeps_its_lines_and_a_template_says_nothing():
    calls = calls_of({"a.html": CASES["scripts of a page, and its handlers"][0]["a.html"]})
    edges = calls.callees([own for own, _ in calls.nodes()])
    assert {(edge.callee.name, edge.callee.line_start, edge.lines) for edge in edges} == {
        ("up", 3, (4,)),
        ("up", 3, (10,)),
        ("down", 4, (8,)),
    }
    assert "html" in LANGUAGES
    assert not extract(b"<script>\n{% if a %} %} {{ {% ]] )) {{{ b }}\n</script>", "html").failure


def test_modules_of_rust_that_pass_on_what_is_not_there_are_not_followed_without_end():
    found = edges_of(
        {
            "Cargo.toml": '[package]\nname = "app"\n',
            "src/lib.rs": "pub mod a;\npub mod b;\npub use a::*;\npub use gone::*;\npub use crate::*;\n",
            "src/a.rs": "pub use super::lost::*;\npub use self::inner::*;\npub fn real() {}\n",
            "src/b.rs": "use crate::missing::deep::thing;\nuse crate::real;\nfn go() { thing(); real(); }\n",
        }
    )
    assert found == {"src/b.rs:go -> src/a.rs:real"}


def test_what_is_returned_deep_inside_takes_work_in_proportion():
    def work(depth):
        inner = "return new A();\n" * 300
        source = "function m(x) {\n" + "a(function () {\n" * depth + inner + "})" * depth + "\n}\n"
        with counted("call") as steps:
            extract(source.encode(), "javascript")
        return steps["call"]

    assert work(150) < work(10) * 5


def test_an_overload_that_nothing_calls_is_told_beside_one_that_is_called():
    source = "class A {\n void f() { g(1); }\n void g(int x) {}\n void g(String x) {}\n}\n"
    graph = answer(calls_of({"A.java": source}), GraphQuestion("g", direction=Direction.CALLERS))
    assert sorted(node.line_start for node in graph.matches) == [3, 4]


def test_calls_in_tests_are_told_from_calls_by_tests():
    source = "function f() { g(); }\nfunction g() {}\n"
    graph = answer(calls_of({"a.js": source}), GraphQuestion("f"))
    tests = [node for node in graph.nodes if node.name == "g"]
    (shown, *_) = CallTree(graph, tests=tests)._overview(subjects(graph.matches, "f"))
    assert shown == "f  a.js:1  its callers were not looked for; calls 1 in tests"
