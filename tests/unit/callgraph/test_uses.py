"""Which lines may use a definition, and what a framework calls it by."""

from __future__ import annotations

import pytest

from gitrag.callgraph.indirect import (
    bound_by,
    calls_by_computed_names,
    imports,
    is_called_by_its_name,
    is_exported,
    is_of_an_object,
    overrides,
    put_together,
    takes_any_of,
)
from gitrag.callgraph.uses import (
    implemented,
    may_be_called_by,
    may_reach,
    may_set,
    may_use,
    only_declares,
    registrations,
)


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("a.go", "s.driver.Put(1)", "go"),
        ("a.rs", "    return Put::<u8>(1)", "rust"),
        ("A.kt", "val f = vm::Put", "kotlin"),
        ("a.rb", "before_action :Put", "ruby"),
        ("a.swift", "if view.Put { }", "swift"),
        ("A.cs", "return Put(x);", "csharp"),
        ("a.php", "add([$this, 'Put']);", "php"),
        ("a.py", "Linker(callbacks=[Put])", "python"),
        ("a.py", "handler = Put", "python"),
        ("a.vue", '<button @click="Put">', "javascript"),
        ("page.html", "{{ x|Put }}", "python"),
        ("a.nim", "Put();", "python"),
        ("a.py", "    yield from Put(n)", "python"),
        ("a.py", "    if module and Put(n):", "python"),
        ("A.java", "return y > 2 && Put(y);", "java"),
        ("A.java", "run(x -> Put(x));", "java"),
        ("A.java", "if (a > Put(b)) {", "java"),
        ("A.java", "    assert Put(1);", "java"),
        ("a.c", "x = a * Put(b);", "c"),
        ("A.cs", "public int F() => Put(1);", "csharp"),
        ("A.cs", "var q = from x in xs where Put(x) select x;", "csharp"),
        ("a.cpp", "emit Put(1);", "cpp"),
        ("A.cs", "Each(xs, Put);", "csharp"),
        ("A.cs", "if (Put) return;", "csharp"),
        ("a.php", "add_action('init', 'Put');", "php"),
        ("a.jsx", '<Put kind="x" />', "javascript"),
        ("a.jsx", "<p onClick={Put} />", "javascript"),
        ("a.js", "module.exports = { x, Put }", "javascript"),
        ("a.py", "jobs = dict(a=Put, b=Other)", "python"),
        ("a.py", "jobs = {'a': Put, 'b': Other}", "python"),
        ("a.rs", '    #[serde(default = "Put")]', "rust"),
        ("a.rb", "return unless Put", "ruby"),
        ("a.rb", "  Put x, y", "ruby"),
        ("a.rb", '"a b #{Put}"', "ruby"),
        ("a.kt", "val c = a Put b", "kotlin"),
        ("a.py", "from a import Put as other", "python"),
        ("a.ts", "  Put as other,", "typescript"),
        ("a.ts", "export default Put;", "typescript"),
        ("a.py", "    return Put", "python"),
        ("a.swift", "if Put {", "swift"),
        ("show.html.erb", "<% if Put %>", "ruby"),
        ("a.tmpl", "{{ if Put .X }}", "go"),
        ("a.twig", "{% if a > b and Put %}", "php"),
        ("a.haml", "= Put", "ruby"),
        ("pyproject.toml", 'shop = "shop.cli:Put"', "python"),
        ("services.yaml", "  factory: App\\Made::Put", "php"),
    ],
)
def test_a_line_that_may_call_a_definition(path, text, language):
    assert may_use(path, text, "Put", language)


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("a.go", "// s.driver.Put(1)", "go"),
        ("CHANGELOG.md", "- `Put()` is faster.", "go"),
        ("a.proto", "rpc Put(Request) returns (Reply);", "go"),
        ("a.css", ".Put { }", "go"),
        ("a.go", "func (d *DB) Put(n int) error {", "go"),
        ("A.java", "    Item Put(int id);", "java"),
        ("a.py", "from a import Put", "python"),
        ("a.py", "x.Put = 1", "python"),
        ("a.ts", "Put()", "python"),
        ("a.go", "Putter(1)", "go"),
        ("page.html", "<p>Put it there</p>", "python"),
        ("A.java", "    List<Item> Put(int id);", "java"),
        ("A.java", "    Item[] Put(int id);", "java"),
        ("a.c", "char* Put(int);", "c"),
        ("a.cpp", "const std::map<int, std::vector<X>>& Put(int);", "cpp"),
        ("A.cs", "    int? Put(int a);", "csharp"),
        ("A.cs", "    public bool Put { get; set; }", "csharp"),
        ("a.kt", "fun <T> List<T>.Put(x: Int) = 1", "kotlin"),
        ("a.rb", "def self.Put(x)", "ruby"),
        ("a.rb", "x = 'we Put it'", "ruby"),
        ("a.js", "export default async function* Put(a) {", "javascript"),
        ("a.js", "function f(Put, b) {", "javascript"),
        ("a.ts", "import { type Put, x } from './a'", "typescript"),
        ("a.py", "from x import (a, Put)", "python"),
        ("a.py", "def f(a, Put):", "python"),
        ("a.py", "log('we, Put, it')", "python"),
        ("a.toml", "Put = 1", "python"),
        ("a.json", '{"Put": 1}', "javascript"),
        ("a.ex", "  @spec Put([integer]) :: integer", "elixir"),
    ],
)
def test_a_line_that_calls_none(path, text, language):
    assert not may_use(path, text, "Put", language)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["@app.route('/x')", "@login_required", "def show():"], ("@app.route",)),
        (['    @GetMapping("/x")', "    public Item show() {"], ("@GetMapping",)),
        (["    @Override", "    public void show() {"], ("@Override",)),
        (["    override fun show() {"], ("override",)),
        (["    [HttpGet]", "    public Item show() {"], ("[HttpGet]",)),
        (["#[tokio::main]", "async fn show() {"], ("#[tokio::main]",)),
        (["@lru_cache", "def show():"], ()),
        (["@timed(3)", "def show():"], ("@timed",)),  # who knows
        (["    @Watched", "    public void show() {"], ("@Watched",)),
        (["    @SuppressWarnings", "    public void show() {"], ()),
        (["#[magic]", "fn show() {"], ("#[magic]",)),
        (["#[inline]", "fn show() {"], ()),
        (["export default function show() {"], ("export default",)),
        (["@register.tag", "def show():"], ("@register.tag",)),
        (
            ['  @doc "Shows it."', "  @spec show(integer) :: integer", "  @impl true", "  def show(x) do"],
            ("@impl",),
        ),
        (["def show():", "    @app.route('/x')", "    def inner():"], ()),
        (["operator fun show(): Int"], ("operator",)),
        (["function show(operator)"], ()),
        (["fun Item.show() = 1", "", "override val other = 2"], ()),
    ],
)
def test_what_a_framework_calls_a_definition_by(lines, expected):
    assert registrations(lines, "show") == expected


@pytest.mark.parametrize(
    ("bases", "expected"),
    [
        (["Thread"], "Thread"),
        (["Mine"], "View"),
        (["Plain"], ""),
        (["object"], ""),
        (["ValueError"], ""),
        (["Circle"], ""),
    ],
)
def test_the_base_outside_that_may_call_a_method(bases, expected):
    above = {"Mine": ["Plain", "View"], "Plain": [], "Circle": ["Circle"]}
    assert may_be_called_by(bases, above) == expected


@pytest.mark.parametrize(
    ("name", "language", "expected"),
    [
        ("__repr__", "python", True),
        ("__toString", "php", True),
        ("main", "go", True),
        ("String", "go", True),
        ("String", "java", False),
        ("mains", "go", False),
        ("main", "zig", True),
        ("main", "dart", True),
        ("apply", "scala", True),
        ("__index", "lua", True),
    ],
)
def test_what_a_language_calls_by_its_name(name, language, expected):
    assert is_called_by_its_name(name, language) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("impl<T> fmt::Display for P<T>\nwhere\n    T: A,\n{\n    fn fmt(&self) {}", ("impl fmt::Display",)),
        ("impl Into<String> for P {\n    fn into(self) {}", ("impl Into",)),
        ("impl P {\n    fn fmt(&self) {}", ()),
        ("impl A for P {\n}\n\nfn free() {}", ()),
        ("impl A for P { fn go(&self) {} }", ("impl A",)),
    ],
)
def test_a_function_of_a_trait_may_be_called_by_it(source, expected):
    assert implemented(source.split("\n")) == expected


@pytest.mark.parametrize(
    ("path", "text", "declares"),
    [
        ("a.py", "    def invoke(self, a: int) -> int: ...", True),
        ("a.ts", "export function invoke(a: string): string;", True),
        ("a.h", "static int invoke(const char *a);", True),
        ("a.py", "    def invoke(self): return invoke(self)", False),
        ("a.py", "# invoke it", False),
        ("a.py", "from .core import invoke", False),
        ("a.ts", "import { invoke } from './b';", False),
        ("a.ts", "export import invoke = b.invoke;", False),
        ("a.rs", "pub(crate) use b::invoke;", False),
        ("a.cs", "global using static Shop.invoke;", False),
        ("a.h", "#define invoke(x) x", False),
        ("a.c", "typedef int invoke;", False),
        ("a.md", "def invoke(a)", False),
    ],
)
def test_a_stub_is_no_mention_of_what_implements_it(path, text, declares):
    assert only_declares(path, text, "invoke") == declares


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  PING: ({message}) => message.substring(5),", True),
        ("  async mounted() {", True),
        ('  "on-click": function (event) {', True),
        ("md.renderer.rules.emoji = (token) => {", True),
        ("    this.socket.onopen = () => {", True),
        ("module.exports.handlers.ping = () => {", True),
        ("this.mounted = () => {", False),
        ("module.exports.mounted = () => {", False),
        ("function mounted() {", False),
        ("export const mounted = () => {", False),
        ("exports.mounted = function () {", False),
        ("Store.prototype.mounted = function () {", False),
        ("  static get mounted() {", False),
        ("  mounted = () => {", False),
    ],
)
def test_how_a_member_of_an_object_begins(line, expected):
    assert is_of_an_object(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "    , tick: function (val) {",
        "  draw('#x', { axis: { tick: function (v) {} } })",
        "  , 'tick': (v) => v",
        "f({ tick(v) {} })",
    ],
)
def test_a_member_may_begin_within_its_line(line):
    assert is_of_an_object(line, "tick")
    assert not is_of_an_object("const tick = (a, b) => {", "tick")


def test_a_name_with_a_sign_of_ruby_is_looked_for():
    assert may_use("a.rb", "x if ready?", "ready?", "ruby")
    assert not may_use("a.rb", "x if already?", "ready?", "ruby")


@pytest.mark.parametrize(
    ("line", "language", "expected"),
    [
        ("$this->{'setup' . $name . 'Driver'}();", "php", True),
        ("return $this->$way($config);", "php", True),
        ("array_map([$this, $way], $x);", "php", True),
        ("array_map([$this, 'way'], $x); $this->way();", "php", False),
        ('public_send("#{kind}_path", 1)', "ruby", True),
        ("it.send(:way)", "ruby", False),
        ("this[`on${name}`](event);", "typescript", True),
        ('"$@"', "bash", True),
        ('x && cmd_$1 "$2"', "bash", True),
        ('x=$1; log "$2"', "bash", False),
        ("M[name](1)", "lua", True),
        ("M.name(a[1])", "lua", False),
        ("this[0](event); this.way(all[name]);", "javascript", False),
        ("const handler = this[name];", "javascript", True),
        ("typeof this[name] === 'function'", "typescript", True),
        ("this[name] = 1; this['way'](2);", "javascript", False),
        ("getattr(self, action)(request)", "python", True),
        ("getattr(self, 'action', None); getattr(self, f'do_{x}')", "python", False),
        ('local line = (type(c[1]) == "string" and self[c[1]] or c[1])(self)', "lua", True),
        ("s[name](1)", "go", False),
    ],
)
def test_a_name_that_is_computed(line, language, expected):
    assert calls_by_computed_names([line], language) == expected


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("a.js", "if (!Put && x) {", "javascript"),
        ("a.ts", "const f = given ?? Put;", "typescript"),
        ("a.ts", "  Put,", "typescript"),
        ("a.ts", "const s: z.infer<typeof Put> = x;", "typescript"),
        ("a.py", "    return run or Put", "python"),
        ("a.py", "    yield Put", "python"),
        ("a.rs", 'root.call_method("Put", event)?;', "lua"),
        ("settings.py", 'STRATEGY = "shop.images.Put"', "python"),
        ("a.yml", "    class: Put", "ruby"),
        ("a.yml", "    - Put", "ruby"),
        ("Dockerfile", 'CMD ["shop.cli:Put"]', "python"),
        ("run.sh", "rails runner Jobs.Put", "ruby"),
    ],
)
def test_a_line_that_may_name_a_definition_otherwise(path, text, language):
    assert may_reach(path, text, "Put", language, alone=True)


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("a.js", "// Put && x", "javascript"),
        ("a.js", "run(1); // like Put", "javascript"),
        ("a.js", "if (method === 'Put') {", "javascript"),
        ("a.js", "const all = { 'Put': 1 };", "javascript"),
        ("a.js", "case 'Put':", "javascript"),
        ("a.js", "import { Put } from './a'", "javascript"),
        ("a.js", "const all = { Put: 1 };", "javascript"),
        ("a.py", "def f(a, Put):", "python"),
        ("a.md", "`shop.Put`", "python"),
        ("a.css", ".Put { }", "javascript"),
        ("a.go", "if a && Put {", "javascript"),
    ],
)
def test_a_line_that_does_not_even_name_it(path, text, language):
    assert not may_reach(path, text, "Put", language, alone=True)


def test_a_name_alone_is_no_member():
    assert not may_reach("a.py", "    return Put or 1", "Put", "python")


@pytest.mark.parametrize(
    "line", ["it.size = 1", "it.size ||= 1", "Box.new(size: 1)", "permit(:size)", "x['size']"]
)
def test_a_line_that_gives_a_property_its_value(line):
    assert may_set(line, "size")
    assert may_use("a.rb", line, "size=", "ruby")


@pytest.mark.parametrize("line", ["it.size == 1", "it.size", "size = 1", "a ? size : 2"])
def test_a_line_that_gives_it_none(line):
    assert not may_set(line, "size")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("hook_data", "const found = method.match(/^hook_(\\w+)\\b/)"),
        ("hook_data", "plugin['hook_' + name](1)"),
        ("do_GET", 'getattr(self, "do_" + command)'),
        ("do_GET", "if name.startswith('do_'):"),
        ("do_GET", 'getattr(self, f"do_{command}")'),
        ("do_GET", "getattr(self, 'do_%s' % command)"),
        ("load_user", 'send("load_#{kind}")'),
        ("user_path", 'send("#{kind}_path")'),
        ("onData", "this.emitter[`on${name}`]"),
        ("onData", "self['on' + name]"),
        ("runSoon", "jobs[`${name}Soon`]()"),
        ("setMailDriver", "$this->{'set' . $name . 'Driver'}()"),
    ],
)
def test_a_line_that_puts_a_name_together(name, line):
    texts, way = put_together(name)
    assert any(text in line for text in texts)
    assert way.search(line)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("hook_data", "register('hook_data')"),
        ("hook_data", "x = 'hook_queue'"),
        ("getUser", "fetch({ method: 'get' })"),
        ("onData", "socket.on('Data', f)"),
        ("getUser", "'get', user"),
    ],
)
def test_a_line_that_puts_none_together(name, line):
    assert not put_together(name)[1].search(line)
    assert put_together("data") is None


@pytest.mark.parametrize(
    ("text", "place", "path", "language", "expected"),
    [
        ("const a = require('./plugins/status')", "main.js", "plugins/status.js", "javascript", True),
        ("const a = require('./status')", "main.js", "plugins/status.js", "javascript", False),
        ("import a from '@/shop/status'", "x/y.ts", "src/shop/status.ts", "typescript", True),
        ("} from '../shop'", "src/x/y.ts", "src/shop/index.ts", "typescript", True),
        ("import { A } from './a.component'", "src/b.ts", "src/a.component.ts", "typescript", True),
        ("say('./status')", "main.js", "status.js", "javascript", False),
        ("from shop import status", "main.py", "shop/status.py", "python", True),
        ("    status,", "main.py", "shop/status.py", "python", True),
        ("from shop.status import f", "main.py", "shop/status.py", "python", True),
        ("print(status)", "main.py", "shop/status.py", "python", False),
    ],
)
def test_a_line_that_imports_a_file(text, place, path, language, expected):
    assert imports(text, place, path, language) == expected


def test_what_takes_a_member_by_a_computed_name():
    assert bound_by("const jobs = require('./jobs')") == "jobs"
    assert bound_by("import * as jobs from './jobs'") == "jobs"
    assert bound_by("import { jobs } from './jobs'") == ""
    assert takes_any_of("jobs[name](1)", "jobs")
    assert takes_any_of("getattr(jobs, name)()", "jobs")
    assert not takes_any_of("jobs['name'](1); other.jobs[name]; jobs[0]", "jobs")
    assert not takes_any_of("getattr(jobs, 'name')()", "jobs")


def test_what_a_file_lets_others_have():
    assert is_exported("exports.go = function () {", "go", [])
    assert is_exported("function go() {", "go", ["module.exports = { go }"])
    assert is_exported("  go() {", "Box", ["export default Box"])
    assert not is_exported("function go() {", "go", ["export function gone() { go() }", "x.go()"])


def test_a_method_that_calls_what_it_overrides():
    assert overrides(["def go", "  super + 1", "end"], "go", "ruby")
    assert not overrides(["def go", "  'super' # super", "end"], "go", "ruby")
    assert overrides(["    return super().go(1)"], "go", "python")
    assert overrides(["parent::go();"], "go", "php")
    assert not overrides(["    super().__init__()"], "go", "python")
