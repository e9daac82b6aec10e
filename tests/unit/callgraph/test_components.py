"""Calls as applications of JavaScript write them: components, stores, objects as classes, prototypes."""

from __future__ import annotations

import time

import pytest

from gitrag.callgraph.extraction import extract
from gitrag.callgraph.general.records import unpacked_body
from tests.support.callgraphs import calls_of
from tests.support.steps import counted
from tests.unit.callgraph.test_applications import shown

OTHER = "<script>\nexport default { methods: { open() {}, fold() {}, own() {} } }\n</script>\n"
KID = "<script>\nexport default { methods: { open() {}, fold() {} } }\n</script>\n"
CART = """
import { defineStore } from 'pinia'
export const useCart = defineStore('cart', {
  state: () => ({ n: 0 }),
  getters: { count: (s) => s.n, total() { return this.count } },
  actions: { put(x) { this.check(x) }, check(x) {} },
})
"""
VUEX = {
    "store/cart.js": "export default {\n namespaced: true,\n getters: { total(s, getters) {} },\n"
    " mutations: { put(s, v) {} },\n"
    " actions: { load({ commit, dispatch }) { commit('put', 1); dispatch('other/fetch') } },\n}\n",
    "store/other.js": "const actions = { fetch() {}, load() {} }\nconst mutations = { put(s) {} }\n"
    "const getters = { total(s) {} }\nexport default { actions, mutations, getters }\n",
}
COMPOSED = """
import { shut } from './more'
export function useDoor() {
  const open = () => {}
  function knock() {}
  return { open, knock, close: shut, ring() {}, shut }
}
export default function () { function look() {} ; return { look } }
"""
MORE = "export function shut() {}\n"
CHARGE = "export const nothing = { open() {}, look() {}, ring() {} }\n"

CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    # Components of Vue.
    "what is computed, in each form": (
        {
            "a.vue": "<template><p>{{ half }}</p></template>\n<script>\nexport default {\n computed: {\n"
            "  total: function () { return this.half },\n  half: {\n   get() { return this.ask() },\n"
            "   set: function (v) { this.keep(v) },\n  },\n },\n"
            " methods: { ask() {}, keep(v) {}, go() { return this.total } },\n}\n</script>\n"
        },
        {
            "<module> ~> default.half:7",
            "default.go -> default.total",
            "default.total -> default.half:7",
            "default.half:7 -> default.ask",
            "default.half:8 -> default.keep",
        },
    ),
    "what is computed in setup": (
        {
            "a.vue": "<template><p v-if='!done'/></template>\n<script setup>\n"
            "const done = computed(() => 1)\nfunction go() { return done.value }\n"
            "function by(done) { return done.value }\n</script>\n"
        },
        {"<module> ~> done", "go ~> done"},
    ),
    "mixins, and what calls back": (
        {
            "m.js": "export default { methods: { shared() { this.own() } } }\n",
            "n.js": "export const named = { methods: { other() {} } }\n",
            "a.vue": "<template><b @click='shared'/></template>\n<script>\nimport m from './m'\n"
            "import { named } from './n'\nexport default { mixins: [m, named],\n"
            " methods: { own() {}, go() { this.shared(); this.other() } } }\n</script>\n",
            "z.vue": OTHER,
        },
        {
            "<module> ~> default.shared",
            "default.go -> default.shared",
            "default.go -> named.other",
            "default.shared ~> default.own",
        },
    ),
    "the last of several mixins, before what is extended": (
        {
            "a.js": "const x = { methods: { go() {}, run() {}, end() {} } }\n"
            "const y = { methods: { go() {}, run() {} } }\nconst z = { methods: { go() {} } }\n"
            "export default { extends: x, mixins: [y, z], methods: {\n"
            " f() { this.go(); this.run(); this.end() } } }\n",
        },
        {"default.f -> x.end", "default.f -> y.run", "default.f -> z.go"},
    ),
    "what a mixin computes": (
        {
            "m.js": "export default { computed: { full() {} } }\n",
            "a.vue": "<script>\nimport m from './m'\n"
            "export default { mixins: [m], methods: { go() { return this.full } } }\n</script>\n",
        },
        {"default.go -> default.full"},
    ),
    "a component that another extends": (
        {
            "base.vue": "<script>\nexport default { methods: { draw() { this.hook() }, hook() {} } "
            "}\n</script>\n",
            "a.vue": "<script>\nimport Base from './base.vue'\n"
            "export default { extends: Base, methods: { go() { this.draw() } } }\n</script>\n",
        },
        {"default.draw -> default.hook", "default.go -> default.draw"},
    ),
    "a component in a call": (
        {
            "a.js": "export default Vue.extend({ methods: { a() { this.b() }, b() {} } })\n",
            "b.js": "new Vue({ methods: { a() { this.b() }, b() {} } })\n"
            "const app = new Vue({ methods: { a() { this.b() }, b() {} } })\n"
            "Vue.component('x-y', { methods: { a() { this.b() }, b() {} } })\n",
        },
        {"default.a -> default.b", "a ~> b", "app.a -> app.b", "x-y.a -> x-y.b"},
    ),
    "refs": (
        {
            "Kid.vue": KID,
            "OtherKid.vue": OTHER,
            "a.vue": "<template><div>\n<Kid :x='a > b' ref='kid' /><other-kid "
            'ref="other"/></div></template>\n'
            "<script>\nimport Kid from './Kid.vue'\nimport OtherKid from './OtherKid.vue'\n"
            "export default { methods: { go() { this.$refs.kid.open() }, in() { this.$refs.other.own() },"
            " no() { this.$refs.none.open() } } }\n</script>\n",
        },
        {"default.go ~> default.open", "default.in ~> default.own"},
    ),
    "refs of setup, and what is exposed": (
        {
            "Kid.vue": "<script setup>\nfunction open() {}\nfunction shut() {}\n"
            "defineExpose({ open, close: shut })\n</script>\n",
            "z.vue": "<script setup>\nfunction open() {}\n</script>\n",
            "a.vue": "<template><Kid ref='kid' /></template>\n<script setup>\nimport Kid from './Kid.vue'\n"
            "const kid = ref(null)\nconst same = useTemplateRef('kid')\n"
            "function go() { kid.value.open(); kid.value?.close() }\n"
            "function too() { same.value.open() }\n</script>\n",
        },
        {"<module> ~> open", "<module> ~> shut", "go ~> open", "go ~> shut", "too ~> open"},
    ),
    "refs of components that nothing imports": (
        {
            "components/ui/TextInput.vue": KID,
            "a.vue": "<template><ui-text-input ref='it' /></template>\n<script>\n"
            "export default { methods: { go() { this.$refs.it.fold() } } }\n</script>\n",
            "z.vue": OTHER,
        },
        {"default.go ~> default.fold"},
    ),
    "what all components have": (
        {
            "plugin.js": "Vue.prototype.$clean = function () {}\n",
            "a.vue": "<template><b :x='$clean(1)'/></template>\n<script>\n"
            "export default { methods: { go() { this.$clean(1) } } }\n</script>\n",
            "z.js": "class Z { clean() {} }\n",
        },
        {"default.go ~> Vue.$clean"},
    ),
    "this of an arrow function in an object": (
        {
            "a.vue": "<script>\nexport default { methods: {\n ask() {\n"
            "  const box = { text: 1, done: (yes) => { this.drop() }, own() { this.drop() } }\n },\n"
            "  drop() {},\n} }\n</script>\n",
            "b.js": "class B { run() { const box = { done: () => { this.drop() }, drop() {} } }\n"
            " held = () => this.drop()\n drop() {} }\n",
        },
        {
            "default.ask.box.done -> default.drop",
            "B.run.box.done -> B.drop",
            "B.held -> B.drop",
        },
    ),
    "a component in two files": (
        {
            "Kid.vue": KID,
            "a.vue": "<template>\n<b @click='go'/>\n<kid ref='kid'/>\n</template>\n<script src='./a.js' />\n",
            "a.js": "import Kid from './Kid.vue'\nexport default defineComponent({ components: { Kid },\n"
            " methods: { go() { this.$refs.kid.fold() } } })\n",
            "z.vue": OTHER,
        },
        {"<module> ~> default.go", "default.go ~> default.fold"},
    ),
    "components that use each other's script": (
        {
            "a.vue": "<template><b @click='go'/></template>\n<script src='./b.vue'></script>\n",
            "b.vue": "<template><b @click='go'/></template>\n<script src='./a.vue'></script>\n",
        },
        set(),
    ),
    "the parent of a component": (
        {
            "a.vue": "<script>\nimport Kid from './Kid.vue'\n"
            "export default { components: { Kid }, methods: { open() {} } }\n</script>\n",
            "Kid.vue": "<script>\nexport default { methods: { go() { this.$parent.open() } } }\n</script>\n",
            "z.vue": OTHER,
        },
        {"default.go ~> default.open"},
    ),
    "what is provided": (
        {
            "a.vue": "<script>\nexport default { provide() { return { reload: this.reload } },"
            " methods: { reload() {} } }\n</script>\n",
            "b.vue": "<script>\nexport default { inject: ['reload'], methods: { go() { this.reload() } "
            "} }\n</script>\n",
        },
        {"default.provide ~> default.reload", "default ~> default.reload", "default.go ~> default.reload"},
    ),
    # Stores.
    "a store of pinia": (
        {
            "s.js": CART,
            "a.js": "import { useCart } from './s'\n"
            "export function go() { const cartStore = useCart(); cartStore.put(1); return cartStore.total }\n"
            "export function now() { useCart().check(1) }\n"
            "export function part() { const { put, check: c } = useCart(); c(1); on(put) }\n",
            "z.js": "class O { put() {} check() {} }\n",
        },
        {
            *(f"{name} -> useCart" for name in ("go", "now", "part")),
            "useCart.put -> useCart.check",
            "useCart.total -> useCart.count",
            "go -> useCart.put",
            "go -> useCart.total",
            "now -> useCart.check",
            "part -> useCart.check",
            "part ~> useCart.put",
        },
    ),
    "modules of vuex, mapped": (
        {
            **VUEX,
            "a.vue": "<template><b @click='load'>{{ total }}</b></template>\n<script>\nexport default {\n"
            " computed: { ...mapGetters('cart', ['total']) },\n"
            " methods: { ...mapActions('cart', ['load']), ...mapMutations({ keep: 'other/put' }),\n"
            "  ...mapActions(['other/fetch']), go() { this.load(); this.keep(1); return this.total } },\n}\n"
            "</script>\n",
        },
        {
            "<module> ~> default.load",
            "<module> ~> default.total",
            "default ~> default.load",
            "default ~> default.total",
            "default ~> mutations.put",
            "default ~> actions.fetch",
            "default.go ~> default.load",
            "default.go ~> default.total",
            "default.go ~> mutations.put",
            "default.load ~> default.put",
            "default.load ~> actions.fetch",
        },
    ),
    "getters of vuex": (
        {
            **VUEX,
            "a.js": "export function f(store) { return store.getters['cart/total'] }\n"
            "export function g() { return this.$store.getters.rows }\n",
            "b.js": "const getters = { rows: (s) => 1 }\nexport default { getters }\n",
        },
        {
            "f ~> default.total",
            "g ~> getters.rows",
            "default.load ~> default.put",
            "default.load ~> actions.fetch",
        },
    ),
    "an action that only a component is named like": (
        {"a.vue": "<script setup>\nfunction save() { store.dispatch('save') }\n</script>\n"},
        set(),
    ),
    "mapped of a store of pinia": (
        {
            "s.js": "export const useCart = defineStore('cart', { actions: { put() {} } })\n",
            "a.vue": "<script>\nimport { useCart } from './s'\n"
            "export default { methods: { ...mapActions(useCart, ['put']), go() { this.put() } } "
            "}\n</script>\n",
        },
        {"default ~> useCart.put", "default.go ~> useCart.put"},
    ),
    "getters of pinia, and state of vuex": (
        {
            "s.js": "export const useCart = defineStore('cart', { getters: { sum() {} } })\n",
            "a.vue": "<script>\nimport { useCart } from './s'\nexport default {\n"
            " computed: { ...mapState(useCart, ['sum']), ...mapState(['other']) },\n"
            " methods: { go() { return this.sum + this.other } },\n}\n</script>\n",
            "z.js": "class Z { other() {} }\n",
        },
        {"default ~> useCart.sum", "default.go ~> useCart.sum"},
    ),
    # What functions give.
    "composables": (
        {
            "use.js": COMPOSED,
            "more.js": MORE,
            "a.js": "import useEye, { useDoor } from './use'\n"
            "export function go() { const { open, close, ring: r } = useDoor(); open(); close(); r() }\n"
            "export function more() { const { knock, shut } = useDoor(); knock(); on(shut) }\n"
            "export function all() { const { look } = useEye(); look() }\n",
            "z.js": CHARGE,
        },
        {
            *(f"{name} -> useDoor" for name in ("go", "more")),
            "all -> default",
            "default ~> default.look",
            *(f"useDoor ~> {name}" for name in ("useDoor.open", "useDoor.knock", "shut")),
            *(f"go ~> {name}" for name in ("useDoor.open", "useDoor.ring", "shut")),
            *(f"more ~> {name}" for name in ("useDoor.knock", "shut")),
            "all ~> default.look",
        },
    ),
    "composables in markup": (
        {
            "use.js": COMPOSED,
            "more.js": MORE,
            "a.vue": "<template><b @click='open'/><i @click='ring()'/></template>\n<script setup>\n"
            "import { useDoor } from './use'\nconst { open, ring } = useDoor()\n</script>\n",
            "z.js": CHARGE,
        },
        {
            "<module> -> useDoor",
            "<module> ~> useDoor.open",
            "<module> ~> useDoor.ring",
            "default ~> default.look",
            *(f"useDoor ~> {name}" for name in ("useDoor.open", "useDoor.knock", "shut")),
        },
    ),
    # Objects as classes.
    "what extends a base of a library": (
        {
            "v.js": "const V = Backbone.View.extend({\n events: { 'click .x': 'onX' },\n"
            " initialize() { this.help() },\n onX() {}, help: function () {},\n})\nexport default V\n",
            "w.js": "import V from './v'\nconst W = V.extend({ own() { this.help() } })\n"
            "function f() { const w = new W(); w.own(); w.help() }\n",
            "m.js": "var M = module.exports = Model.extend({ keep: function () { this.check() }, "
            "check() {} })\n",
            "n.js": "module.exports = Model.extend({ keep: function () { this.check() }, check() {} })\n",
            "z.js": "class Z { help() {} check() {} own() {} }\n",
        },
        {
            "V ~> V.onX",
            "V.initialize -> V.help",
            "W.own -> V.help",
            "f -> W",
            "f -> W.own",
            "f -> V.help",
            "M.keep -> M.check",
            "exports.keep -> exports.check",
        },
    ),
    "events of a class": (
        {
            "a.js": "class A extends View { events = { 'click .x': 'onX' }\n onX() {} }\n"
            "class B extends View { events() { return { 'click .y': 'onX' } }\n onX() {} }\n"
        },
        {"A ~> A.onX", "B.events ~> B.onX"},
    ),
    "methods that strings name": (
        {
            "a.vue": "<script>\nexport default {\n watch: { one: 'first', two: { handler: 'second' } },\n"
            " methods: { first() {}, second() {}, third() {}, save() {},\n"
            "  menu() { return [{ func: 'third', text: 'save' }] } },\n}\n</script>\n"
        },
        {"default ~> default.first", "default ~> default.second", "default.menu ~> default.third"},
    ),
    "members in a list": (
        {
            "a.js": "const tasks = { one() {}, two() {} }\n"
            "function f() { return run([tasks.one, tasks.two, tasks.three]) }\n"
        },
        {"f ~> tasks.one", "f ~> tasks.two"},
    ),
    "what a prototype is given": (
        {
            "a.js": "function Foo() { this.a() }\nObject.assign(Foo.prototype, { a() { this.b() }, b: "
            "function () {} })\n"
            "function Bar() {}\nBar.prototype = { a() { this.b() }, b() {} }\n"
            "class E {}\n_.extend(E.prototype, { a() {} })\n"
            "function f() { const x = new Foo(); x.a() }\nfunction g() { const x = new Bar(); x.a() }\n"
            "function h() { const x = new E(); x.a() }\n"
        },
        {
            "Foo -> Foo.a",
            "Foo.a -> Foo.b",
            "Bar.a -> Bar.b",
            *(f"{name} -> {cls}" for name, cls in zip("fgh", ("Foo", "Bar", "E"), strict=True)),
            *(f"{name} -> {cls}.a" for name, cls in zip("fgh", ("Foo", "Bar", "E"), strict=True)),
        },
    ),
    "a prototype that a function is given": (
        {
            "store.js": "import keep from './keep'\nclass Store { go() { this.keep() } last() {} "
            "}\nkeep(Store)\n",
            "keep.js": "const keep = (Store) => {\n Store.prototype.keep = function () { this.last() }\n}\n"
            "export default keep\n",
            "a.js": "class View { f() { this.store.keep() } }\n",
            "z.js": "class Z { keep() {} last() {} }\n",
        },
        {
            "<module> -> keep",
            "Store.go -> keep.Store.keep",
            "keep.Store.keep ~> Store.last",
            "View.f ~> keep.Store.keep",
        },
    ),
    "an object that is put together": (
        {
            "a.js": "const A = Object.assign({}, Base, { run() { this.stop() }, stop() {} })\n"
            "function E() {}\nObject.assign(E.prototype, Base.prototype, { go() {} })\n"
            "let later\nif (x) later = { open() {} }\nfunction f() { A.run(); later.open(); new E().go() }\n"
        },
        {"A.run -> A.stop", "f ~> A.run", "f -> later.open", "f -> E", "f -> E.go"},
    ),
    "prototypes within a method": (
        {
            "a.js": "class Tar { run() {\n const Ball = function () {};\n Ball.prototype.add = function "
            "() {};\n"
            " Ball.prototype.go = function () { this.add() };\n} add() {} }\n"
        },
        {"Tar.run.Ball.go ~> Tar.run.Ball.add"},
    ),
    "a class without a name": (
        {
            "a.js": "class Outer {\n make() { return class { run() { this.help() }\n  help() {} } }\n "
            "help() {} }\n"
            "const mix = (Base) => class extends Base { a() { this.b() }\n b() {} }\n"
        },
        {"Outer.make.class.run -> Outer.make.class.help", "mix.class2.a -> mix.class2.b"},
    ),
    "what a file exports as its main object": (
        {
            "a.js": "export default { one: () => 1, two, three: four }\nfunction two() {}\nfunction "
            "four() {}\n",
            "b.js": "import api from './a'\nfunction f() { api.one(); api.two(); api.three() }\n",
            "z.js": "class Z { one() {} two() {} }\n",
        },
        {"f -> default.one", "f ~> two", "f ~> four"},
    ),
    "one of two things that a member is given": (
        {
            "a.js": "class A { go() {} }\nclass B { go() {} }\nfunction make() { return new A() }\n"
            "class C { constructor(x) { this.x = make(); if (x) this.x = new B() } f() { this.x.go() } }\n"
            "class D { constructor(y) { this.x = make(); this.x = y } f() { this.x.go() } }\n"
        },
        {
            "make -> A",
            "C.constructor -> make",
            "C.constructor -> B",
            "C.f ~> A.go",
            "C.f ~> B.go",
            "D.constructor -> make",
            "D.f ~> A.go",
        },
    ),
    "members that are each other": (
        {"a.js": "class A { constructor() { this.a = this.b; this.b = this.a } go() { this.a() } }\n"},
        set(),
    ),
    "a type parameter beside a class": (
        {
            "a.ts": "class T { go() {} }\nclass U { go() {} }\nfunction m<T>(x: T): T { return x }\n"
            "function f() { m(1).go() }\nfunction g<T>(x: T) { x.go() }\nfunction h(x: T) { x.go() }\n"
        },
        {"f -> m", "h -> T.go"},
    ),
    "what the class has that a member is named after": (
        {
            "a.js": "class Part { del() {} }\nclass CacheStore { constructor() { this.role = new Part() "
            "} del() {} }\n",
            "b.js": "function f(config) { config.cacheStore.role.del(); const c = config.cacheStore; "
            "c.role.del() }\n",
        },
        {"CacheStore.constructor -> Part", "f ~> Part.del"},
    ),
    "what an interface lists that several have": (
        {
            "a.ts": "export interface Store { dropAll(): void }\n",
            "b.ts": "import { Store } from './a'\nclass One implements Store { dropAll() {} }\n",
            "c/d.ts": "import { Store } from '../a'\nclass Two implements Store { dropAll() {} }\n",
            "e.js": "function f(x) { x.store.dropAll() }\n",
        },
        {"f ~> One.dropAll", "f ~> Two.dropAll"},
    ),
    "functions of one name in files of one kind": (
        {
            "plugins/one.js": "exports.rollUp = function () {}\n",
            "plugins/two.js": "exports.rollUp = function () {}\nexports.getAll = function () {}\n",
            "plugins/three.js": "exports.getAll = function () {}\n",
            "a.js": "function f(all) { all.each((it) => { it.rollUp(); it.getAll() }) }\n",
            "lib/a/b.js": "exports.rollDown = function () {}\n",
            "c.js": "exports.rollDown = function () {}\nfunction g(it) { it.rollDown() }\n",
        },
        {"f ~> rollUp"},
    ),
    "a member by its name in a string": (
        {"a.js": "class A { go() { this['run'](); } run() {} }\n"},
        {"A.go -> A.run"},
    ),
    # Which file is meant.
    "what an object has of others": (
        {
            "api/one.js": "function save() {}\nexport default { save }\n",
            "api/two.js": "const load = () => 1\nmodule.exports = { load }\n",
            "api/index.js": "import one from './one'\nexport default { ...one }\n",
            "lib.js": "const two = require('./api/two')\nmodule.exports = { ...two }\n",
            "a.js": "import api from './api'\nimport lib from './lib'\n"
            "function f() { api.save(); on(api.save); lib.load() }\n",
            "z.js": "class Z { save() {} load() {} }\n",
        },
        {"f -> save", "f ~> save", "f -> load"},
    ),
    "an object that is named after a directory": (
        {
            "hooks/s3/index.js": "module.exports = { bucket() {} }\n",
            "hooks/oidc/index.js": "module.exports = { bucket() {} }\n",
            "a.js": "function f() { app.hooks.oidc.bucket(); app.other.bucket() }\n",
        },
        {"f ~> exports.bucket"},
    ),
    "names from where the sources are": (
        {
            "app/scripts/comp/door.js": "export const Door = { open() {} }\n",
            "plugins/comp/door.js": "export const Door = { open() {} }\n",
            "app/scripts/views/a.js": "import { Door } from 'comp/door'\nfunction f() { Door.open() }\n",
        },
        {"f -> Door.open"},
    ),
    "any file of a directory": (
        {
            "x/one.js": "exports.run = function () {}\n",
            "x/two.js": "exports.run = function () {}\n",
            "z.js": "exports.run = function () {}\n",
            "a.js": "function f(name) { const m = require(`./x/${name}`); m.run() }\n"
            "function g(n) { const m = require('./x/' + n); m.run() }\n"
            "async function h(n) { const m = await import(`./x/${n}.js`); m.run() }\n",
        },
        {"f ~> run", "g ~> run", "h ~> run"},
    ),
    "what is imported when it is needed": (
        {
            "x.js": "export function run() {}\n",
            "z.js": "export function run() {}\n",
            "a.js": "function f() { import('./x').then(({ run }) => run()) }\n"
            "async function g() { (await import('./x')).run() }\n",
        },
        {"f -> run", "g -> run"},
    ),
    "names of files in a manifest": (
        {
            "package.json": '{"imports": {"#tools": "./js/tools.js", "#lib/*": "./js/lib/*.js"}}',
            "js/tools.js": "exports.cut = function () {}\n",
            "js/lib/saw.js": "exports.saw = function () {}\n",
            "a.js": "const { cut } = require('#tools')\nconst { saw } = require('#lib/saw')\n"
            "function f() { cut(); saw() }\n",
        },
        {"f -> cut", "f -> saw"},
    ),
    "what a function in brackets gives": (
        {
            "a.js": "const MM = (function () { const n = 1; return { start() {}, stop: () => 1 } }())\n",
            "b.js": "function f() { MM.start() }\n",
            "z.js": "class Z { start() {} }\n",
        },
        {"f -> MM.start"},
    ),
    "where all sources are": (
        {
            "client/util/a.js": "export function f() {}\n",
            "server/src/util/a.js": "export function f() {}\n",
            "client/b.js": "import { f } from '@/util/a'\nfunction x() { f() }\n",
            "server/src/b.js": "import { f } from '~/util/a'\nfunction y() { f() }\n",
            "spec/b.js": "const { f } = require('../server/lib/util/a')\nfunction z() { f() }\n",
        },
        {"x -> f", "y -> f", "z -> f"},
    ),
    "types of flow": (
        {
            "a.js": "// @flow\nimport type { Row } from './row'\nclass Db {\n  uri: string;\n  on: "
            "?Promise<any>;\n"
            "  constructor({ uri = '' }: any) { this.uri = uri }\n  drop(fast: boolean): Promise<void> "
            "{ this.all() }\n"
            "  all(): Row[] { return [] }\n}\nfunction f(db: Db) { db.drop(true) }\n"
        },
        {"Db.drop -> Db.all", "f -> Db.drop"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_these_are_all_calls_and_only_what_is_proved_is_certain(name):
    files, expected = CASES[name]
    assert shown(files) == expected


@pytest.mark.parametrize(
    "text",
    [
        "<template>" + "<Kid a='1' " * 4_000 + "</template>\n<script setup>\nlet a\n</script>\n",
        "<template>" + "<Kid\n" + " x" * 40_000 + "</template>\n<script setup>\nlet a\n</script>\n",
        "<template/>\n" + "<script " * 20_000,
    ],
)
def test_markup_without_an_end_takes_time_by_its_length(text: str):
    began = time.process_time()
    shown({"a.vue": text})
    assert time.process_time() - began < 5  # by its square it would be minutes


@pytest.mark.parametrize(
    ("files", "called"),
    [
        (
            {"a.js": "class A {\n constructor() { this.go = this.run }\n run() {}\n f() { this.go() }\n}\n"},
            "A.run",
        ),
        (
            {
                "a.vue": "<script>\nexport default { methods: { ...mapActions('cart', { put: 'add' }),\n"
                " f() { this.put() } } }\n</script>\n",
                "store/cart.js": "export default { actions: { add() {} } }\n",
            },
            "default.add",
        ),
    ],
)
def test_who_calls_a_member_by_another_name_is_its_caller(files, called):
    calls = calls_of(files)
    own = [own for own, node in calls.nodes() if node.name == called]
    assert {edge.caller.name.rpartition(".")[2] for edge in calls.callers(own)} >= {"f"}


def test_scripts_of_components_that_name_each_other_end():
    assert (
        shown(
            {
                "a.vue": "<template>{{ go() }}</template>\n<script src='./b.js'></script>\n",
                "b.js": "import $script from './c.js'\nexport default { methods: { x() {} } }\n",
                "c.js": "import $script from './b.js'\nexport default { methods: { go() {} } }\n",
            }
        )
        == set()
    )


def _chain(count: int, classes: int = 1) -> str:
    held = "".join(f"this.a{at} = this.a{at + 1}\n" for at in range(count))
    each = (
        f"class C{at + 1} extends C{at} {{ constructor() {{ {held} }} f() {{ this.a0() }} }}\n"
        for at in range(classes)
    )
    return "class C0 {}\n" + "".join(each)


@pytest.mark.parametrize(
    "many",
    [
        lambda count: {"a.js": _chain(count)},
        lambda count: {"a.js": _chain(count // 20, 10)},
        lambda count: {
            "a.js": "function A() {}\n" * count
            + "".join(f"A.prototype.x{at} = () => 1\n" for at in range(count))
        },
        lambda count: {
            "a.js": "".join(
                f"const o{at} = {{ openIt() {{ x.y.openIt(); shop.openIt() }} }}\n" for at in range(count)
            )
        },
    ],
    ids=["members", "members of bases", "prototypes", "objects"],
)
def test_twice_as_many_members_take_twice_the_steps(many):
    def steps(count: int) -> int:
        with counted("line") as taken:
            shown(many(count))
        return taken["line"]

    steps(8)
    assert steps(120) < 2.6 * steps(60)


def test_a_member_is_known_to_be_a_few_things():
    many = "".join(f"this.x = new B{at}()\n" for at in range(50))
    facts = extract(f"class A {{ constructor() {{ {many} }} }}\n".encode(), "javascript")
    assert sorted({each.name for each in unpacked_body(facts.read_rows()[0]).fields}) == [
        "x",
        "x+",
        "x++",
        "x+++",
    ]
