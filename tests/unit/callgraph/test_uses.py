"""Which lines may use a definition, and what a framework calls it by."""

from __future__ import annotations

import pytest

from gitrag.callgraph.uses import (
    calls_by_computed_names,
    implemented,
    is_called_by_its_name,
    is_of_an_object,
    may_be_called_by,
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
        ("s[name](1)", "go", False),
    ],
)
def test_a_name_that_is_computed(line, language, expected):
    assert calls_by_computed_names([line], language) == expected
