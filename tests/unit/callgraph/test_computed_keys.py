"""What JavaScript calls by a computed key: members of an object, a list, a map, a module."""

from __future__ import annotations

import pytest

from gitrag.callgraph.resolution import LIKELY
from tests.support.callgraphs import calls_of
from tests.support.steps import counted
from tests.unit.callgraph.test_applications import shown

CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    "an object's functions, those that it names, and no other's": (
        {
            "a.js": """
                const table = { one() {}, two: () => {}, "the third": go, nested: { no() {} }, ...more };
                const more = { four: go4 };
                const other = { five() {} };
                function run(key) { table[key](1); table["one"]() }
                function go() {}
                function go4() {}
            """
        },
        {
            *(f"run ~> {each}" for each in ("table.one", "table.two", "go", "go4")),
            *("table ~> go", "<module> ~> go4"),
        },
    ),
    "an object by a variable, a member or another name, or one of its own": (
        {
            "a.js": """
                const table = { go };
                class R {
                  on = { one: stop };
                  constructor() { this.on.two = halt; this.all = table; }
                  run(key) { this.on[key]?.() }
                  other(key) { const go = table[key]; if (go) go(1) }
                  bound(key) { table[key].call(this) }
                  further(key) { this.all[key]() }
                  given(key, table) { table[key]() }
                }
                function go() {}
                function stop() {}
                function halt() {}
            """
        },
        {"R.run ~> stop", "R.run ~> halt", "R.other ~> go", "R.bound ~> go", "R.further ~> go"}
        | {"R.constructor ~> halt", "R ~> stop", "<module> ~> go"},
    ),
    "one of two names": (
        {
            "a.js": """
                const t = { one() {}, two() {}, no() {} };
                function f(last) { t[last ? 'one' : 'two']() }
            """
        },
        {"f -> t.one", "f -> t.two"},
    ),
    "what a map or a list has": (
        {
            "a.ts": """
                const map = new Map([["a", go]]);
                map.set("b", stop);
                const list = [go, () => {}] as const;
                function run(key) { map.get(key)() }
                function named(key) { const found = map.get(key); found() }
                function all() { for (const each of list) each(); list[0]() }
                function go() {}
                function stop() {}
            """
        },
        {
            *(f"{each} ~> {called}" for each in ("run", "named", "<module>") for called in ("go", "stop")),
            "all ~> go",
        },
    ),
    "classes, which are made, in an object within one that an index gathers": (
        {
            "run.js": """
                import modules from './modules';
                import * as Ops from './ops';
                import { table } from './modules';
                export function run(o) { new modules[o.module][o.name]() }
                export function whole(name) { new Ops[name](); Ops[name]() }
                export function one(name) { table[name].run() }
            """,
            "modules.js": """
                import Hex from './hex';
                import Base from './base';
                const All = {};
                All.Default = { "To Hex": Hex, Base, make };
                export const table = { hex: new Hex(), base: new Base() };
                function make() {}
                export default All;
            """,
            "hex.js": "export default class Hex { constructor() {} run() {} }\n",
            "base.js": "export default class Base { run() {} }\n",
            "ops.js": """
                export { default as H } from './hex';
                export function plain() {}
                function own() {}
            """,
        },
        {
            "run ~> Hex.constructor",
            "run ~> Base",
            "whole ~> Hex.constructor",
            "whole ~> plain",
            "one ~> Hex.run",
            "one ~> Base.run",
            *("<module> -> Hex.constructor", "<module> -> Base", "<module> ~> make"),
        },
    ),
    "what a file exports by CommonJS": (
        {
            "run.js": """
                const all = require('./all');
                const { deep } = require('./all');
                function run(key) { all[key](); deep[key]() }
            """,
            "all.js": """
                exports.one = function () {};
                module.exports.two = two;
                exports.deep = { three() {} };
                function two() {}
                function own() {}
            """,
        },
        {"run ~> one", "run ~> two", "run ~> deep.three"},
    ),
    "what an index exports that a build makes, of the files beside it": (
        {
            "run.js": "import * as Ops from './ops/index.js';\nfunction run(key) { new Ops[key]() }\n",
            "ops/hex.js": "export default class Hex { constructor() {} }\n",
            "ops/base.js": "export default class Base {}\nexport function no() {}\n",
        },
        {"run ~> Hex.constructor", "run ~> Base"},
    ),
    "an instance of a class, of which it is asked, in a list": (
        {
            "a.js": """
                class Operation { run() {} }
                class Hex extends Operation { run() {} }
                class Other { run() {} }
                class Recipe {
                  constructor() { this.list = [] }
                  add(o) { if (o instanceof Operation) { this.list.push(o) } else { this.list.push({}) } }
                  fill() { this.list = this.list.map((o) => new modules[o]()) }
                  execute() { let op; for (let i = 0; i < 1; i++) { op = this.list[i]; op.run() } }
                }
            """
        },
        {"Recipe.execute ~> Operation.run", "Recipe.execute ~> Hex.run"},
    ),
    "keys that read like marks of the graph, comments, an empty pair, a map of typed values": (
        {
            "a.ts": """
                const globs = { "**": function () {}, "[]": go, "{}": [[]] };
                const empty = new Map([[]]);
                const map = new Map<string, () => void>([["a", stop /* the last */]]);
                const list = [/* the first */ go, .../* more */ others];
                const others = [stop];
                function run(key) { globs[key]() }
                function got(key) { map.get(key)!(); empty.get(key)() }
                function listed(key) { list[key]() }
                function go() {}
                function stop() {}
            """
        },
        {"run ~> globs.**", "run ~> go", "got ~> stop", "listed ~> go", "listed ~> stop"}
        | {"<module> ~> go", "<module> ~> stop", "globs ~> go"},
    ),
    "objects that are spread in one another, whichever is asked first; what is in three": (
        {
            "a.js": """
                const a = { ...b, one() {} };
                const b = { ...a, two() {} };
                const deep = { x: { y: { z: go } } };
                function first(key) { a[key]() }
                function second(key) { b[key]() }
                function third(key) { deep[key][key][key](); deep[key].y.z() }
                function go() {}
            """
        },
        {f"{each} ~> {called}" for each in ("first", "second") for called in ("a.one", "b.two")}
        | {"third ~> go", "<module> ~> go"},
    ),
    "nothing of what is imported, where a variable has its name": (
        {
            "run.js": """
                import t from './t';
                function local(key) { const t = other(); t[key]() }
                function each(key) { for (const t of list) t[key]() }
                function given({ t }, key) { t[key]() }
                function rest(key, ...t) { t[key]() }
                function caught(key) { try {} catch (t) { t[key]() } }
                function imported(key) { t[key]() }
            """,
            "t.js": "export default { one() {} };\n",
        },
        {"imported ~> default.one"},
    ),
    "a module in an object; of TypeScript's types none": (
        {
            "run.ts": """
                import * as all from './all';
                const table = { one: require('./one') };
                function run(key) { table[key](); new all[key]() }
            """,
            "one.js": "module.exports = function () {};\n",
            "all.ts": "export interface I { a(): void }\nexport enum E { A }\nexport class K {}\n",
        },
        {"run ~> exports", "run ~> K"},
    ),
    "where something is of a class, and where it is not": (
        {
            "a.js": """
                class A { run() {} stop() {} go() {} }
                function f(o) { if (o instanceof A) { o.run() } else { o.stop() } o.go() }
            """
        },
        {"f -> A.run", "f ~> A.go"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_members_that_a_computed_key_may_mean_are_likely_called(name):
    files, expected = CASES[name]
    assert shown(files) == expected
    calls = calls_of(files)
    every = [own for own, _ in calls.nodes()]
    found = {(edge.caller, edge.callee) for edge in calls.callees(every)}
    asked = [edge for own in every for edge in calls_of(files).callers([own])]
    assert {(edge.caller, edge.callee) for edge in asked} == found


def test_of_a_large_object_each_function_counts_and_not_what_is_none():
    members = "".join(f"  a{each}: {each},\n" for each in range(1_200))
    calls = calls_of({"a.js": f"const t = {{\n{members}  last() {{}} }};\nfunction run(k) {{ t[k]() }}\n"})
    assert [edge.callee.name for edge in calls.callees([own for own, _ in calls.nodes()])] == ["t.last"]


def test_what_an_object_has_does_not_depend_on_what_was_asked_before():
    many = "".join(
        f"const t{each} = {{ ...t{each + 1}, m{each}() {{}} }};\nfunction f{each}(k) {{ t{each}[k]() }}\n"
        for each in range(12)
    )

    def called(calls, name):
        every = [own for own, node in calls.nodes() if node.name == name]
        return {edge.callee.name for edge in calls.callees(every)}

    calls = calls_of({"a.js": many})
    for each in range(12):
        assert called(calls, f"f{each}") == called(calls_of({"a.js": many}), f"f{each}")


def test_such_a_call_is_said_to_be_one_by_a_computed_key():
    calls = calls_of(
        {"a.js": "const t = { go() {}, C: class {} };\nfunction run(k) { t[k](); new t[k]() }\n"}
    )
    rules = {edge.callee.name: edge.rule for edge in calls.callees([own for own, _ in calls.nodes()], LIKELY)}
    assert rules["t.go"] == "[…]"


def test_a_place_that_makes_one_of_an_unknown_class_may_make_each_that_is_exported():
    files = {
        "run.js": "import all from './built';\nfunction run(o, Of) {\n  new all[o]();\n  new Of();\n}\n",
        "hex.js": "export default class Hex { constructor() {} go() {} }\nclass Own {}\n",
        "named.js": "export class Named {}\nexport function plain() {}\n",
    }
    calls = calls_of(files)
    places = {node.name: calls.may_make(own) for own, node in calls.nodes()}
    made = {name for name, found in places.items() if found == ["run.js:3", "run.js:4"]}
    assert made == {"Hex", "Hex.constructor", "Named"}
    assert not any(found for name, found in places.items() if name not in made)


TABLES = {
    "an object of many functions, and calls of it": lambda many: (
        "const table = {\n"
        + "".join(f"  m{each}() {{}},\n" for each in range(many))
        + "};\n"
        + "".join(f"function f{each}(key) {{ table[key]() }}\n" for each in range(many // 10))
    ),
    "objects that are spread in one another": lambda many: "".join(
        f"const t{each} = {{ ...t{each + 1}, ...t{each + 2}, m{each}() {{}} }};\n"
        f"function f{each}(k) {{ t{each}[k]() }}\n"
        for each in range(many // 10)
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_thousands_takes_no_time_and_gives_no_edges(name):
    taken = []
    for many in (1_100, 2_200):
        with counted("call") as steps:
            calls = calls_of({"a.js": TABLES[name](many)})
            edges = calls.callees([own for own, _ in calls.nodes()])
        taken.append(steps["call"])
        if "functions" in name:
            assert not edges
            assert calls.notes == ("Looked at: nothing of what a computed key gives of over 1,000 (table).",)
    assert taken[1] < 2.6 * taken[0]


FILES = {
    "files that import one another under one name": lambda many: {
        f"m{at}.js": "".join(f"import T from './m{(at + each) % many}';\n" for each in range(1, 4))
        + "export default T;\nfunction f(k) { T[k]() }\n"
        for at in range(many)
    },
    "objects of one name in many functions": lambda many: {
        "a.js": "".join(
            f"function f{each}(k) {{ const t = {{ go, x: {{ go }} }}; t[k](); t[k][k]() }}\n"
            for each in range(4 * many)
        )
        + "function go() {}\n"
    },
}


@pytest.mark.parametrize("name", FILES)
def test_calls_by_computed_keys_take_steps_by_their_number(name):
    taken = []
    for many in (20, 40):
        calls = calls_of(FILES[name](many))
        with counted("line") as steps:
            calls.callees([own for own, _ in calls.nodes()])
        taken.append(steps["line"])
    assert taken[1] < 2.6 * taken[0]
