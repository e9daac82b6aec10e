"""What JavaScript calls by way of objects and lists: members of what is given, elements, stores, exports."""

from __future__ import annotations

from time import process_time

import pytest

from gitrag.callgraph.extraction import extract
from gitrag.callgraph.resolution import LIKELY
from tests.support.callgraphs import calls_of
from tests.support.steps import counted
from tests.unit.callgraph.test_applications import shown

POST = """
import { post, Dialog } from './post';
export function load() {
  post({ url: 'x', success() { one() }, fail: function () {}, done: (all) => one(all) })
}
function open() { new Dialog({ onClose() {} }) }
function one() {}
"""
LOADED = {"load -> post", "load ~> load.success", "load ~> load.fail", "load ~> load.done"}
LOADED |= {"load.success -> one", "load.done -> one"}
LOADED |= {"open -> Dialog.constructor", "open ~> open.onClose"}

KINDS = "export class P { go() {} }\nexport class Q { go() {} }\nexport class R { go() {} }\n"

CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    "members of what a function is given, in closures and by names of their own": (
        {
            "load.js": POST,
            "post.js": """
                export function post(config) {
                  send(config.url, () => config.success());
                  const { done } = config;
                  done(2);
                }
                export class Dialog {
                  constructor(options) { this.options = options }
                  close() { this.options.onClose() }
                }
                function other(config) { config.success(); config.fail() }
            """,
        },
        {*LOADED, "post ~> load.success", "post ~> load.done", "Dialog.close ~> open.onClose"},
    ),
    "members of what a function is given, that it names as its parameters": (
        {
            "load.js": POST,
            "post.js": """
                export function post({ url, success, fail = one, done: ready }) { success(fail()); ready() }
                export class Dialog extends Base { constructor({ onClose } = {}) { onClose() } }
                export class Base {}
                function other({ success }) { success() }
            """,
        },
        {
            *LOADED,
            *(f"post ~> load.{each}" for each in ("success", "fail", "done")),
            "Dialog.constructor ~> open.onClose",
        },
    ),
    "TypeScript": (
        {
            "a.ts": """
                import { post } from './b';
                export function load() { post({ ok() {}, no: () => {} }) }
            """,
            "b.ts": "export function post({ ok }: Given, more?: Given) { ok() }\n",
        },
        {"load -> post", "load ~> load.ok", "load ~> load.no", "post ~> load.ok"},
    ),
    "what a library is given, and what makes a class, which has its methods": (
        {
            "a.js": """
                function load() { $.ajax({ success() {} }) }
                const Row = Model.extend({ go() { this.stop() }, stop() {} });
            """
        },
        {"load ~> load.success", "Row.go -> Row.stop"},
    ),
    "what is done with each of a list, whatever was put into it": (
        {
            "kinds.js": KINDS,
            "a.js": """
                import { P, Q } from './kinds';
                const all = [new P(), new Q()];
                const later = [];
                function add() { later.push(new Q()) }
                function one() { all.forEach(each => each.go()) }
                function two() { for (const each of later) { each.go() } }
                function own() { const later = other(); later.forEach((each) => each.go()) }
                class App {
                  constructor() { this.plugins = []; this.plugins.push(new P()) }
                  fields = [new Q()];
                  run() { for (const each of this.plugins) each.go() }
                  use(key) { this.byKey.set(key, new Q()); this.byKey.get(key).go() }
                  all() { this.fields.map(function (each) { each.go() }) }
                }
            """,
        },
        {
            *(
                "<module> -> P",
                "<module> -> Q",
                "add -> Q",
                "App.constructor -> P",
                "App -> Q",
                "App.use -> Q",
            ),
            *(
                "one ~> P.go",
                "one ~> Q.go",
                "two ~> Q.go",
                "App.run ~> P.go",
                "App.use ~> Q.go",
                "App.all ~> Q.go",
            ),
        },
    ),
    "each of a list in TypeScript, with the type that is declared": (
        {
            "kinds.ts": KINDS,
            "a.ts": """
                import { P, Q, R } from './kinds';
                class App {
                  private ps: R[] = [];
                  private qs = [new Q()];
                  run() { this.ps.push(new P()); this.ps.forEach((each) => each.go()) }
                  stop() { for (const each of this.qs) each.go() }
                }
            """,
        },
        {"App.run -> P", "App.run -> R.go", "App -> Q", "App.stop ~> Q.go"},
    ),
    "what a component has of a store's state, that its own functions pick": (
        {
            "a.vue": """<template><p>{{ small }}</p></template>
<script>
export default {
  computed: { ...mapState({ small: state => pick(state), large(state) { return pick(state) } }) },
  methods: { go() { return this.large } },
}
function pick() {}
</script>
"""
        },
        {
            *("default ~> default.small", "default ~> default.large"),
            *(
                "default.small -> pick",
                "default.large -> pick",
                "<module> ~> default.small",
                "default.go -> default.large",
            ),
        },
    ),
    "a class of a library beside an own one of its last name": (
        {
            "a.js": """
                class View { render() {} }
                const Page = Backbone.View.extend({ go() { this.render() } });
            """
        },
        {"Page.go ~> View.render"},
    ),
    "a class of ours in an object that is written": (
        {
            "a.js": """
                App.View = class { render() {} };
                const Page = App.View.extend({ go() { this.render() } });
            """
        },
        {"Page.go -> App.View.render"},
    ),
    "what is exported before, and after, what others are spread from": (
        {
            "a.js": "const b = require('./b');\nmodule.exports = { go() {}, ...b, stop() {} };\n",
            "b.js": "module.exports = { go() {}, stop() {} };\n",
            "c.js": "const a = require('./a');\nfunction f() { a.go(); a.stop() }\n",
        },
        {"f ~> exports.go", "f -> exports.stop"},
    ),
    "a method beside what setup gives by its name": (
        {
            "a.vue": """<script>
export default {
  setup() { function go() {} return { go } },
  methods: { go() {}, stop() {}, run() { this.go(); this.stop() } },
}
</script>
"""
        },
        {"default.run ~> default.go", "default.run -> default.stop"},
    ),
    "a function beside one in a function that is called setup": (
        {"a.js": "function setup() { function go() {} go() }\nfunction go() {}\nfunction f() { go() }\n"},
        {"setup -> setup.go", "f -> go"},
    ),
    "a prototype that is given another function": (
        {
            "a.js": """
                function A() {}
                Object.assign(A.prototype, { go() {}, stop() {} });
                function other() {}
                if (old) A.prototype.go = other;
                function f() { const a = new A(); a.go(); a.stop() }
            """
        },
        {"f -> A", "f ~> A.go", "f -> A.stop", "<module> ~> other"},
    ),
    "a module in whose place there may be another": (
        {
            "x.js": "exports.go = function () {};\n",
            "a.js": """
                let x = require('./x');
                let y = require('./x');
                if (test) x = fake;
                function f() { x.go() }
                function g() { y.go(); let z; z = 1 }
            """,
        },
        {"f ~> go", "g -> go"},
    ),
    "what a file exports of others whole": (
        {
            "mail/index.js": "module.exports = require('./mail');\n",
            "mail/mail.js": "function send() {}\nmodule.exports = { send };\n",
            "models/index.js": "module.exports = {\n  ...require('./a'),\n  ...require('./b'),\n};\n",
            "models/a.js": "function make() {}\nmodule.exports = { make };\n",
            "models/b.js": "exports.drop = function () {};\n",
            "app/index.js": "module.exports = require('./app');\n",
            "app/app.js": "class App { run() {} }\nmodule.exports = App;\n",
            "m.js": """
                const mail = require('./mail');
                const models = require('./models');
                const { make } = require('./models');
                const App = require('./app');
                function f() { mail.send(); models.make(); models.drop(); new App().run() }
                function g() { make() }
            """,
        },
        {"f -> send", "f -> make", "f -> drop", "f -> App", "f -> App.run", "g -> make"},
    ),
    "an export is no call, and nothing is handed over": (
        {
            "a.js": "function go() {}\nexports.go = go;\nmodule.exports.run = go;\nlistener.exports = go;\n",
            "b.js": "function stop() {}\nexports.stop = stop;\n",
        },
        {"<module> ~> go"},
    ),
    "another of two files, as the environment says, and the last of those that are spread": (
        {
            "a.js": "if (old) module.exports = require('./b');\nelse module.exports = require('./c');\n",
            "b.js": "exports.go = function () {};\nexports.stop = function () {};\n",
            "c.js": "exports.stop = function () {};\nexports.go = function () {};\n",
            "d.js": "module.exports = { go() {}, ...require('./b'), ...require('./e') };\n",
            "e.js": "const f = 1;\n\nexports.stop = function end() {};\n",
            "m.js": "const a = require('./a');\nconst d = require('./d');\nfunction f() { a.go() }\n"
            "function g() { d.stop(); d.go() }\n",
        },
        {"g -> stop", "g ~> exports.go"},
    ),
    "what is no list: its own class, a base's, or a function's result is known, or its methods' names tell": (
        {
            "scene.js": "export class Scene { add() {} renderAll() {} }\nexport class Mesh {}\n",
            "base.js": """
                import { Scene } from './scene';
                export class Base { constructor() { this.scene = new Scene() } }
            """,
            "a.js": """
                import { Base } from './base';
                import { Scene, Mesh } from './scene';
                function make() { return new Scene() }
                class Sub extends Base { f() { this.scene.add(new Mesh()); this.scene.renderAll() } }
                class Own {
                  constructor() { this.one = new Scene(); this.two = make() }
                  f() { this.one.add(new Mesh()); this.one.renderAll() }
                  g() { this.two.add(new Mesh()); this.two.renderAll() }
                }
                function h() { const s = make(); s.add(new Mesh()); s.renderAll() }
                function i(scene) { scene.add(new Mesh()); scene.renderAll() }
            """,
        },
        {
            *("Base.constructor -> Scene", "make -> Scene", "Own.constructor -> Scene"),
            *("Own.constructor -> make", "h -> make"),
            *(f"{each} -> Mesh" for each in ("Sub.f", "Own.f", "Own.g", "h", "i")),
            *(f"{each} -> Scene.add" for each in ("Sub.f", "Own.f", "Own.g", "h")),
            *(f"{each} -> Scene.renderAll" for each in ("Sub.f", "Own.f", "Own.g", "h")),
            *("i ~> Scene.add", "i ~> Scene.renderAll"),
        },
    ),
    "each of a map and a set that are made as such": (
        {
            "kinds.js": KINDS,
            "a.js": """
                import { P, Q } from './kinds';
                const byKey = new Map();
                byKey.set(1, new P());
                function one() { byKey.get(1).go() }
                class App {
                  constructor() { this.all = new Set() }
                  add() { this.all.add(new Q()) }
                  run() { this.all.forEach((each) => each.go()) }
                }
            """,
        },
        {"<module> -> P", "App.add -> Q", "one ~> P.go", "App.run ~> Q.go"},
    ),
    "a source in TypeScript beside what is built of it: each kind of file imports its own": (
        {
            "a.ts": """
                import { go } from './util.js';
                import { stop } from './util';
                function f() { go(); stop() }
            """,
            "b.js": "const { go, stop } = require('./util');\nfunction g() { go(); stop() }\n",
            "util.js": "function built() {}\nexport { built as go, built as stop };\n",
            "util.ts": "export function go() {}\nexport function stop() {}\n",
        },
        {"f -> go", "f -> stop", "g -> built"},
    ),
    "what an object is given in its constructor, through an index that passes it on": (
        {
            "thing.js": """
                class Thing {
                  constructor() { this.clear = function () {}; const inner = () => {}; }
                  init() { this.late = () => {} }
                }
                export const thing = new Thing();
            """,
            "index.js": "export { thing } from './thing';\n",
            "use.js": """
                import { thing } from './index';
                function f() { thing.clear(); thing.late(); thing.inner() }
            """,
        },
        {"<module> -> Thing.constructor", "f ~> Thing.constructor.clear", "f ~> Thing.init.late"},
    ),
    "what is mixed into the root of an application": (
        {
            "main.js": "import mix from './mix';\nconst app = createApp({ mixins: [mix] });\n",
            "mix.js": "export default { methods: { show() {} } };\n",
            "other.js": "export default { methods: { other() {}, show() {} } };\n",
            "c.vue": """
                <template><a @click="$root.show()" /></template>
                <script>
                export default { methods: { go() { this.$root.show() } } }
                </script>
            """,
        },
        {"<module> ~> default.show", "default.go ~> default.show"},
    ),
    "what is exported before a spread, which may have its name": (
        {
            "a.js": """
                function go() {}
                function stop() {}
                module.exports = { go, ...require('./b'), stop };
                go();
            """,
            "b.js": "exports.go = function () {};\nexports.stop = function () {};\n",
            "use.js": "const { go, stop } = require('./a');\nfunction f() { go(); stop() }\n",
        },
        {"<module> -> go", "f ~> go", "f -> stop"},
    ),
    "what only tests give is no more than theirs": (
        {
            "src/run.js": "export class Run { constructor(o) { this.o = o; } end() { this.o.done() } }\n",
            "src/a.js": """
                import { Run } from './run';
                function start() { new Run({ done() {} }) }
            """,
            "tests/a.test.js": """
                import { Run } from '../src/run';
                function tried() { new Run({ done() {} }) }
            """,
        },
        {
            *("start -> Run.constructor", "start ~> start.done", "Run.end ~> start.done"),
            *("tried -> Run.constructor", "tried ~> tried.done"),
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_these_are_all_calls_and_only_what_is_proved_is_certain(name):
    files, expected = CASES[name]
    assert shown(files) == expected


def test_a_function_in_an_object_is_said_to_be_handed_to_the_call_that_is_given_it():
    calls = calls_of({"a.js": "function load() { $.ajax({ success() {} }) }\nload();\n"})
    rules = {edge.callee.name: edge.rule for edge in calls.callees([own for own, _ in calls.nodes()], LIKELY)}
    assert rules == {"load": "", "load.success": "ajax"}


HUGE = {
    "classes in a list, and loops over it": lambda many: (
        "const all = [];\n"
        + "".join(f"class X{each} {{ go() {{}} }}\nall.push(new X{each}());\n" for each in range(many))
        + "".join(f"function f{each}() {{ for (const one of all) one.go() }}\n" for each in range(many))
    ),
    "objects that classes are given": lambda many: (
        "class P { constructor(o) { this.o = o } x() { this.o.done() } }\n"
        + "".join(
            f"class C{each} extends P {{ m() {{ new P({{ done() {{}} }}); this.o.done() }} }}\n"
            for each in range(many)
        )
    ),
}


@pytest.mark.parametrize("name", HUGE)
def test_work_grows_with_a_files_length_not_with_its_square(name):
    taken = []
    for many in (210, 420):
        with counted("call") as steps:
            calls = calls_of({"a.js": HUGE[name](many)})
            assert len(calls.callees([own for own, _ in calls.nodes()])) <= 5 * many
        taken.append(steps["call"])
    assert taken[1] < 2.6 * taken[0]


def test_a_file_of_many_functions_and_spreads_is_read_at_once():
    many = "".join(f"  m{each}() {{}},\n  ...a,\n" for each in range(2_000))
    begun = process_time()
    extract(f"module.exports = {{\n{many}}};\n".encode(), "javascript")
    assert process_time() - begun < 5


class Compared(str):
    """A path that counts how often it is compared."""

    __slots__ = ()

    times = 0

    def __eq__(self, other):
        Compared.times += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_calls_of_a_name_that_many_have_are_not_compared_with_each_of_them():
    taken = []
    for many in (200, 400):
        classes = (f"class C{each} {{ run() {{}} }}\n" for each in range(many))
        functions = (f"function f{each}(o) {{ o.run() }}\n" for each in range(many))
        calls = calls_of({Compared("a.js"): "".join((*classes, *functions))})
        Compared.times = 0
        assert calls.callees([own for own, _ in calls.nodes()]) == []
        taken.append(Compared.times)
    assert taken[1] < 2.2 * taken[0]
