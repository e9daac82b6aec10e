"""Calls as applications of the web and Swift's write them: each in the smallest input that went wrong."""

from __future__ import annotations

import pytest

from tests.unit.callgraph.test_applications import shown

VUE = """<template>
  <b @click="save" :title="full" v-if="isOk(1)">{{ total() }}</b>
</template>
<script>
export default {
  methods: { save() {}, isOk(n) {}, total() {} },
  computed: { full() {} },
}
</script>
"""
SWIFT_SHEET = {
    "Sheet.swift": "class Sheet { var coord: Coord? }\nclass Coord { func go() {} }\n",
    "a/Sheet+A.swift": "extension Sheet { func a() {} }\n",
    "b/Sheet+B.swift": "extension Sheet { func b() { self.coord?.go() } }\n",
}
PHP_RESULT = "<?php\nclass Result { function all() {} }\nclass Svc { function find($a): Result {} }\n"
RUBY_MAPPINGS = """
module Import
  class Mapping
  end
  class One < Mapping
    def requires_it?
      1
    end
  end
  class Two < Mapping
    def requires_it?
      2
    end
  end
end
"""

CASES: dict[str, tuple[dict[str, str], set[str]]] = {
    # What the markup of a component names.
    "vue, an object of options": (
        {"a.vue": VUE},
        {
            "<module> ~> default.save",
            "<module> ~> default.full",
            "<module> -> default.isOk",
            "<module> -> default.total",
        },
    ),
    "vue, pug and setup": (
        {
            "a.vue": "<template lang='pug'>\nb(@click='open', :c='x')\n</template>\n"
            "<script lang='ts'>\nexport default defineComponent({ setup() {\n"
            "  const open = () => 1;\n  return { open };\n} })\n</script>\n"
        },
        {"<module> ~> default.setup.open"},
    ),
    "vue, a loop's own name": (
        {
            "a.vue": "<template><i v-for='(each, at) in many' :key='each' :v='{ each: f(at) }'/></template>\n"
            "<script setup>\nfunction each() {}\nfunction many() {}\nfunction f(x) {}\n</script>\n"
        },
        {"<module> ~> many", "<module> -> f"},
    ),
    "svelte": (
        {
            "a.svelte": "<script>\nfunction save() {}\nfunction show(x) {}\nfunction off() {}\n</script>\n"
            "<b on:click={save} title='off'>{show({ a: 1 })}</b>\n{#each show(1) as off}{off}{/each}\n"
        },
        {"<module> ~> save", "<module> -> show"},
    ),
    "vue, a watcher": (
        {
            "a.vue": "<template><b v-model='open' @click='open = full'/></template>\n<script>\n"
            "export default { watch: { open(now) {} }, computed: { full() {} } }\n</script>\n"
        },
        {"<module> ~> default.full"},
    ),
    # Stores, by names in strings.
    "vuex": (
        {
            "store.js": "const mutations = { addItem(s, v) {} };\nexport default create({ mutations });\n",
            "a.js": "export function f(store) { store.commit('cart/addItem', 1); }\n",
        },
        {"f ~> mutations.addItem"},
    ),
    "javascript, this of another function": (
        {
            "a.js": "class M { go() {} stop() {} run() {} end() {}\n"
            "f(x) { x.on(function () { this.go(); }); x.on(function () { this.stop(); }.bind(this)); }\n"
            "g(x) { x.on(function () { this.run(); }, this); x.on(() => this.end()); }\n"
            "h(x) { const it = { go() {}, i() { this.go(); } }; } }\n"
        },
        {"M.f ~> M.go", "M.f -> M.stop", "M.g -> M.run", "M.g -> M.end", "M.h.it.i -> M.h.it.go"},
    ),
    "vuex, the one of the store": (
        {
            "store/index.js": "export const actions = { save() {}, load() {} };\n",
            "store/carts.js": "export const actions = { load() {} };\n",
            "a.vue": "<script>export default { methods: { save() { this.$store.dispatch('save'); }, "
            "g() { this.$store.dispatch('carts/load'); this.$store.dispatch('load'); } } }</script>\n",
        },
        {"default.save ~> actions.save", "default.g ~> actions.load"},
    ),
    "vue, what it computes": (
        {
            "a.vue": '<template><p v-if="rows.length">{{ user.name() }} {{ row.name }}</p></template>\n'
            "<script>export default { computed: { rows() {}, user() {}, label() {} } }</script>\n"
        },
        {"<module> ~> default.rows", "<module> ~> default.user"},
    ),
    "vuex, one of two": (
        {
            "a.js": "const a = { addItem() {} };\nconst b = { addItem() {} };\n",
            "b.js": "function f(store) { store.dispatch('addItem'); store.other('addItem'); }\n",
        },
        set(),
    ),
    # A receiver of JavaScript that is named after a file or a class.
    "javascript, named after its file": (
        {
            "models/users.js": "module.exports = class User extends Model { static refresh() {} }\n",
            "models/tags.js": "module.exports = class Tag extends Model { static refresh() {} }\n",
            "a.js": "function f() { APP.models.tags.refresh(); APP.models.other.refresh(); }\n",
        },
        {"f ~> exports.refresh"},
    ),
    "javascript, loaded by its path": (
        {
            "api/helpers/boards/get-one.js": "module.exports = { inputs: {}, async fn(it) {} };\n",
            "api/helpers/cards/get-one.js": "module.exports = function (it) { return it; };\n",
            "api/helpers/tags/get-all.js": "module.exports = { a() {}, b() {} };\n",
            "lib/helpers/lists/get-one.js": "module.exports = { run() {} };\n",
            "api/helpers/lists/get-one.js": "module.exports = { run() {} };\n",
            "a.js": "function f(it) { it.helpers.boards.getOne(1); sails.helpers.cards.getOne.with({}); }\n"
            "function g(it) { it.boards.getOne(); it.helpers.tags.getAll(); it.helpers.lists.getOne(); }\n",
        },
        {"f ~> exports.fn", "f ~> exports"},
    ),
    "javascript, named after its class": (
        {
            "a.ts": "class UserService { load() {} }\nclass TagService { load() {} }\n",
            "b.ts": "function f(it) { it.userService.load(); it.thing.load(); }\n",
        },
        {"f ~> UserService.load"},
    ),
    "javascript, of another project": (
        {
            "a.js": "class Users { load() {} }\n",
            "b.js": "import users from 'users';\nfunction f() { users.load(); }\n",
        },
        set(),
    ),
    "javascript, an object of another file": (
        {
            "a.js": "const network = { on() {} };\n",
            "b.js": "class Network { setNick() {} }\n",
            "c.js": "function f(network) { network.setNick(1); }\n",
        },
        {"f ~> Network.setNick"},
    ),
    "javascript, what wraps another": (
        {"a.js": "class Store { countUp(n) { return db(n).countUp(1); } }\n"},
        set(),
    ),
    "javascript, the result or a default": (
        {
            "a.ts": "class A { run() {} }\nclass B { run() {} }\nfunction make(): A { return new A(); }\n"
            "async function f() { const a = make() ?? null; a.run(); }\n"
            "async function g() { const a = (await make()) || other; a.run(); }\n"
        },
        {"make -> A", "f -> make", "g -> make", "f -> A.run", "g -> A.run"},
    ),
    # Swift: members of a class that many files extend.
    "swift, a class that several files extend": (SWIFT_SHEET, {"Sheet.b -> Coord.go"}),
    "swift, used where none of them is": (
        {**SWIFT_SHEET, "c/C.swift": "class C { let sheet: Sheet\n func f() { sheet.coord?.go() } }\n"},
        {"Sheet.b -> Coord.go", "C.f -> Coord.go"},
    ),
    "swift, bound by a condition": (
        {
            **SWIFT_SHEET,
            "c/C.swift": "class C { let sheet: Sheet?\n"
            " func f() { if let sheet, let c = sheet.coord { c.go() } } }\n",
        },
        {"Sheet.b -> Coord.go", "C.f -> Coord.go"},
    ),
    "swift, selectors": (
        {
            "a.swift": "class A { func f() { add(#selector(go)); let stop = add(#selector(self.stop)) }\n"
            " @objc func go() {}\n @objc func stop() {} }\n"
        },
        {"A.f ~> A.go", "A.f ~> A.stop"},
    ),
    "swift, a property by its name alone": (
        {
            "a.swift": "class A { var ready: Bool { true }\n var n: Int { 1 }\n func f() { if ready { } }\n"
            " func g() { let ready = 1\n if ready == n { } }\n func h(ready: Int) { use(n: ready) }\n"
            " func i() { let k = n; ready = 2 } }\nenum E { case n }\n"
        },
        {"A.f -> A.ready", "A.g -> A.n", "A.i -> A.n"},
    ),
    "swift, a property after a dot alone, and of another's class": (
        {
            "a.swift": "extension Font { static var captionThree: Font { f() } }\n"
            "extension Window { var isSettings: Bool { true }\n var count: Int { 1 } }\n",
            "b.swift": "class B { func f() { it.font(.captionThree) }\n"
            " func g() { if app.window?.isSettings { } }\n"
            " func h() { use(app.count, !all) } }\n",
        },
        {"B.f ~> Font.captionThree", "B.g ~> Window.isSettings"},
    ),
    # PHP.
    "php, an interface's method that another base has": (
        {
            "a.php": "<?php\ninterface Finds { function find(); }\nclass Store { function find() {} }\n"
            "class Carts extends Store implements Finds {}\nfunction f(Finds $x) { $x->find(); }\n"
            "class Tags extends Store {}\nfunction g(Tags $x) { $x->find(); }\n"
        },
        {"f -> Finds.find", "f ~> Store.find", "g -> Store.find"},
    ),
    "php, controllers in routes": (
        {
            "a.php": "<?php\nnamespace Shop;\nclass Ctl { function show() {}\n function edit() {} }\n",
            "b.php": "<?php\nfunction f($app) { $app->get('/x', '\\Shop\\Ctl:show');\n"
            " $app->put('/y', 'Shop\\Ctl@edit'); $app->mail('ctl@show'); }\n",
        },
        {"f ~> Ctl.show", "f ~> Ctl.edit"},
    ),
    "php, made of a class that is written in full": (
        {
            "a.php": "<?php\nnamespace Shop;\nclass Url { function clean() {} }\n"
            "class Other { function clean() {} }\n",
            "b.php": "<?php\nfunction f() { $u = new \\Shop\\Url(1); return $u->clean(); }\n",
        },
        {"f -> Url", "f -> Url.clean"},
    ),
    "php, the result of a call of many lines": (
        {
            "a.php": PHP_RESULT
            + "class C { private Svc $s;\n function f() { $r = $this->s->find(["
            + ", ".join(f"'key {n} (it\\'s)' => {n}" for n in range(40))
            + "]);\n $r->all(); }\n function g() { $r = $this->s->find(1) ?? []; $r->all(); } }\n"
        },
        {"C.f -> Svc.find", "C.g -> Svc.find", "C.f -> Result.all", "C.g -> Result.all"},
    ),
    "php, a parameter that the base declares": (
        {
            "a.php": "<?php\nclass Mark { function url() {} }\nabstract class Base {\n"
            " /** @param Mark $m */\n function show($m) {} }\n"
            "class Html extends Base { function show($m) { $m->url(); } function other($m) { $m->url(); } }\n"
        },
        {"Html.show ~> Mark.url"},
    ),
    "php, functions named by strings": (
        {
            "a.php": "<?php\nfunction by_name($a) {}\nfunction init() {}\n"
            "function f($x) { usort($x, 'by_name'); add_action('init', 'init'); put('init'); }\n"
        },
        {"f ~> by_name", "f ~> init"},
    ),
    # PHP: the namespace that a file says it has decides whose class is meant, not where the file is.
    "php, a class of a library that nobody knows": (
        {
            "app/Http/Request.php": "<?php\nnamespace App\\Http;\nclass Request { static function f() {} }\n",
            "a.php": "<?php\nnamespace App;\nuse Acme\\Web\\Request;\nuse Acme\\Http as Web;\n"
            "function f() { Request::f(); Web\\Request::f(); \\Acme\\Http\\Request::f(); }\n"
            "function g() { Http\\Request::f(); }\nfunction h() { \\App\\Http\\Request::f(); }\n"
            "function i() { return new \\App\\Http\\Request(); }\nfunction j() { new \\Acme\\Request(); }\n",
        },
        {"g -> Request.f", "h -> Request.f", "i -> Request"},
    ),
    "php, classes in files of other names": (
        {
            "lib/one.php": "<?php\nnamespace Shop\\One;\nclass User { static function one() {} }\n",
            "lib/two.php": "<?php\nnamespace Shop\\Two;\nclass User { static function two() {} }\n",
            "a.php": "<?php\nuse Shop\\Two\\User;\nfunction f() { User::one(); User::two(); }\n",
            "b.php": "<?php\nuse Shop\\{One\\User as It};\nfunction g() { It::one(); It::two(); }\n",
            "c.php": "<?php\nnamespace Shop\\One;\nfunction h() { User::one(); User::two(); }\n",
        },
        {"f -> User.two", "g -> User.one", "h -> User.one"},
    ),
    "php, a type that a comment names without an import": (
        {
            "Mark.php": "<?php\nnamespace Shop;\nclass Mark { function url() {} }\n",
            "a.php": "<?php\nnamespace Other;\n/** @param Mark $m */\nfunction f($m) { $m->url(); }\n",
        },
        {"f ~> Mark.url"},
    ),
    # Ruby.
    "ruby, a base and its overrides": (
        {
            "a.rb": "module Concept\n  def fetch_rates\n    raise NotImplementedError\n  end\nend\n"
            "class Synth\n  include Concept\n  def fetch_rates\n    1\n  end\nend\n"
            "class Other\n  def f(provider)\n    provider.fetch_rates\n  end\nend\n"
        },
        {"Other.f ~> Concept.fetch_rates", "Other.f ~> Synth.fetch_rates"},
    ),
    "ruby, a class of which only subclasses have it": (
        {"a.rb": RUBY_MAPPINGS + "class C\n  def f(mapping)\n    mapping.requires_it?\n  end\nend\n"},
        {"C.f ~> Import.One.requires_it?", "C.f ~> Import.Two.requires_it?"},
    ),
    "ruby, what is skipped": (
        {
            "a.rb": "class Base\n  before_action :log\n  def log\n    1\n  end\nend\n"
            "class Quiet < Base\n  skip_before_action :log\nend\n"
        },
        {"Base ~> Base.log"},
    ),
    "ruby, two that have nothing in common": (
        {"a.rb": RUBY_MAPPINGS + "class C\n  def f(it)\n    it.requires_it?\n  end\nend\n"},
        set(),
    ),
    "javascript, private members": (
        {
            "a.js": "class A { #go() {} #fn = () => this.#go(); static #make() {}\n"
            "  run() { this.#go(); this.#fn(); A.#make(); setTimeout(this.#go) } }\n"
            "class B { #go() {} }\n"
        },
        {"A.#fn -> A.#go", "A.run -> A.#go", "A.run ~> A.#go", "A.run -> A.#fn", "A.run -> A.#make"},
    ),
    "typescript, private fields of a type": (
        {
            "a.ts": "class Db { find() {} }\nclass Log { find() {} }\n"
            "class Repo {\n  #db: Db;\n  #log = new Log();\n"
            "  get #one() { return this.#db.find() }\n  all() { this.#log.find(); return this.#one } }\n"
        },
        {"Repo -> Log", "Repo.#one -> Db.find", "Repo.all -> Log.find", "Repo.all -> Repo.#one"},
    ),
    "javascript, one of two functions": (
        {
            "a.js": "function one() {}\nfunction two() {}\nfunction three() {}\n"
            "function run(x, given, four) {\n  ask({ done: x ? one : two });\n"
            "  const way = given ?? three;\n  return x ? four : 1;\n}\n"
            "function four() {}\n"
        },
        {"run ~> one", "run ~> two", "run ~> three"},
    ),
    "ruby, templates that are Ruby": (
        {
            "app/helpers/a_helper.rb": "module AHelper\n  def summary(x)\n  end\nend\n",
            "app/views/a.atom.builder": "feed.title(summary(1))\n",
            "app/views/a.json.jbuilder": "json.text summary(2)\n",
        },
        {"<module> -> AHelper.summary"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_these_are_all_calls_and_only_what_is_proved_is_certain(name):
    files, expected = CASES[name]
    assert shown(files) == expected
