"""What JavaScript calls by way of objects and lists: members of what is given, elements, stores, exports."""

from __future__ import annotations

import pytest

from gitrag.callgraph.resolution import LIKELY
from tests.support.callgraphs import calls_of
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
}


@pytest.mark.parametrize("name", CASES)
def test_these_are_all_calls_and_only_what_is_proved_is_certain(name):
    files, expected = CASES[name]
    assert shown(files) == expected


def test_a_function_in_an_object_is_said_to_be_handed_to_the_call_that_is_given_it():
    calls = calls_of({"a.js": "function load() { $.ajax({ success() {} }) }\nload();\n"})
    rules = {edge.callee.name: edge.rule for edge in calls.callees([own for own, _ in calls.nodes()], LIKELY)}
    assert rules == {"load": "", "load.success": "ajax"}
