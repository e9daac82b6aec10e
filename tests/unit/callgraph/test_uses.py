"""Which lines may use a definition, and what a framework calls it by."""

from __future__ import annotations

import pytest

from gitrag.callgraph.uses import may_use, registrations


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
        ("a.zig", "Put();", "python"),
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
        (["def show():", "    @app.route('/x')", "    def inner():"], ()),
    ],
)
def test_what_a_framework_calls_a_definition_by(lines, expected):
    assert registrations(lines, "show") == expected
