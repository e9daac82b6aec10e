"""A name that is bound by any pattern means nothing that is so called around it."""

from __future__ import annotations

import pytest

from tests.support.callgraphs import calls_of, edges_of

RED = {
    "swift": "class Red { func paint() {} }\nfunc helper() {}\nclass C { var x: Red\n",
    "kotlin": "class Red { fun paint() {} }\nfun helper() {}\nfun mine(block: Red.() -> Unit) {}\n"
    "fun plain(block: () -> Unit) {}\nclass C(val x: Red) {\n",
    "rust": "struct Red; impl Red { fn paint(&self) {} }\nfn helper() {}\n",
    "java": "class Red { void paint() {} }\nclass C { Red x; void helper() {}\n",
    "cs": "class Red { public void paint() {} }\nclass C { Red x; void helper() {}\n",
    "go": "package a\ntype Red struct{}\nfunc (r Red) paint() {}\nvar x Red\nfunc helper() {}\n",
    "js": "class Red { paint() {} }\nfunction helper() {}\nconst x = new Red();\n",
    "ts": "class Red { paint() {} }\nfunction helper() {}\nconst x: Red = make();\n",
    "php": "<?php\nclass Red { function paint() {} }\nfunction helper() {}\n",
    "cpp": "struct Red { void paint() {} };\nvoid helper() {}\nRed x;\n",
}
FUNCTION = {
    "swift": "func f(o: Any) { %s } }\n",
    "kotlin": "fun f(o: Any) { %s } }\n",
    "rust": "fn f(x: Red, o: O) { %s }\n",
    "java": "void f(Object o) { %s } }\n",
    "cs": "void F(object o) { %s } }\n",
    "go": "func f(o O) { %s }\n",
    "js": "function f(o) { %s }\n",
    "ts": "function f(o: any) { %s }\n",
    "php": "function f(Red $x, $o) { %s }\n",
    "cpp": "void f(O o) { %s }\n",
}
SUFFIX = {"swift": "swift", "kotlin": "kt", "rust": "rs"}

HIDING_A_VARIABLE = {
    "swift": [
        "if let x = o as? Blue { x.paint() }",
        "guard let x = o.y else { return }; x.paint()",
        "while let x = next() { x.paint() }",
        "if case let .one(x) = o { x.paint() }",
        "if case .one(let x) = o { x.paint() }",
        "switch o { case .one(let x): x.paint() default: break }",
        "switch o { case let .two(x, _): x.paint() default: break }",
        "o.map { x in x.paint() }",
        "o.map { (x, y) in x.paint() }",
        "for x in o { x.paint() }",
        "let (x, y) = o; x.paint()",
        "do { try o() } catch let x { x.paint() }",
    ],
    "kotlin": [
        "o.map { x -> x.paint() }",
        "o.map { (x, y) -> x.paint() }",
        "for ((x, y) in o) { x.paint() }",
        "val (x, y) = o; x.paint()",
        "try { o() } catch (x: Bad) { x.paint() }",
        "when (val x = o.get()) { else -> x.paint() }",
        "val x = o; x.paint()",
    ],
    "rust": [
        "if let Some(x) = o { x.paint() }",
        "while let Ok(x) = o.next() { x.paint() }",
        "match o { A(x) => x.paint(), _ => {} }",
        "match o { A { x } => x.paint(), _ => {} }",
        "match o { A { y: x } => x.paint(), _ => {} }",
        "match o { x if x.paint() => {}, _ => {} }",
        "let Some(x) = o else { return }; x.paint();",
        "let (x, y) = o; x.paint();",
        "o.map(|(x, y)| x.paint());",
        "o.map(|&x| x.paint());",
        "for (x, y) in o { x.paint() }",
    ],
    "java": [
        "o.map(x -> x.paint());",
        "o.map((x, y) -> x.paint());",
        "for (var x : o) x.paint();",
        "if (o instanceof P(var x)) x.paint();",
        "if (o instanceof Blue x && x.ok()) x.paint();",
        "if (!(o instanceof Blue x) || x.bad()) return; x.paint();",
        "switch (o) { case P(var x, int y) -> x.paint(); }",
        "var x = o.y; x.paint();",
        "try { o.go(); } catch (Bad x) { x.paint(); }",
    ],
    "cs": [
        "o.Map(x => x.paint());",
        "o.Map((x, y) => x.paint());",
        "foreach (var x in o) x.paint();",
        "foreach (var (x, y) in o) x.paint();",
        "if (o is { P: var x }) x.paint();",
        "M(out var x); x.paint();",
        "if (!M(out var x)) return; x.paint();",
        "if (o is not Blue x) return; x.paint();",
        "if (o is Blue x) { } else { x.paint(); }",
        "var (x, y) = o; x.paint();",
        "switch (o) { case P(var x): x.paint(); break; }",
        "var x = o.y; x.paint();",
        "using (var x = o.Open()) { x.paint(); }",
    ],
    "go": [
        "for _, x := range o { x.paint() }",
        "x, err := o.get(); x.paint()",
        "err, x := o.get(); x.paint()",
        "switch x := o.(type) { case Blue: x.paint() }",
        "select { case x := <-o: x.paint() }",
        "x := o; x.paint()",
        "if x := o; o.ok { } else { x.paint() }",
    ],
    "js": [
        "o.map(x => x.paint());",
        "o.map(({ x }) => x.paint());",
        "o.map(([x]) => x.paint());",
        "o.map((x = 1) => x.paint());",
        "o.map((...x) => x.paint());",
        "const { x } = o; x.paint();",
        "const { y: x } = o; x.paint();",
        "const { x = 1 } = o; x.paint();",
        "const [x] = o; x.paint();",
        "for (const x of o) x.paint();",
        "for (const [x, y] of o) x.paint();",
        "try { o() } catch (x) { x.paint() }",
        "const x = o; x.paint();",
    ],
    "ts": ["o.map((x: any) => x.paint());", "o.map(({ x }: Y) => x.paint());", "const x = o; x.paint();"],
    "cpp": [
        "for (auto& x : o) x.paint();",
        "auto [x, y] = o; x.paint();",
        "auto x = o; x.paint();",
        "o.each([](auto x) { x.paint(); });",
    ],
}
HIDING_A_FUNCTION = {
    "swift": [
        "if let helper = o { helper() }",
        "guard let helper = o else { return }; helper()",
        "o.map { helper in helper() }",
        "switch o { case .one(let helper): helper() default: break }",
        "func g(helper: () -> Void) { helper() }",
    ],
    "kotlin": [
        "o.each { helper -> helper() }",
        "val helper = o; helper()",
        "buildString { helper() }",
        "o.table(1) { row { helper() } }",
        "o.apply { helper() }",
        "with(o) { helper() }",
        "o.run { y.let { helper() } }",
        "mine { helper() }",
        "mine(block = { helper() })",
        "o.plain(1).mine { helper() }",
    ],
    "rust": [
        "if let Some(helper) = o { helper(); }",
        "match o { A(helper) => helper(), _ => {} }",
        "match o { A { helper } => helper(), _ => {} }",
        "let helper = o.f; helper();",
        "o.map(|(helper, y)| helper());",
    ],
    "cs": ["foreach (var helper in o) helper();", "o.Each(helper => helper());"],
    "go": [
        "helper := o.f; helper()",
        "for _, helper := range o { helper() }",
        "helper := func() {}; helper()",
        "func(helper func()) { helper() }(o)",
    ],
    "js": [
        "const helper = o.f; helper();",
        "const { helper } = o; helper();",
        "o.map(([helper]) => helper());",
        "o.map(({ helper = 1 }) => helper());",
        "for (const helper of o) helper();",
        "o.map(function (helper) { helper(); });",
    ],
    "php": ["$helper = $o; $helper();"],
    "cpp": [
        "auto helper = o.f; helper();",
        "for (auto& helper : o) helper();",
        "void (*helper)(int) = o; helper(1);",
    ],
}
CASES = [
    (language, form, name)
    for name, every in (("Red.paint", HIDING_A_VARIABLE), ("helper", HIDING_A_FUNCTION))
    for language, forms in every.items()
    for form in forms
]


def _certain(language: str, form: str) -> set[str]:
    calls = calls_of({f"a.{SUFFIX.get(language, language)}": RED[language] + FUNCTION[language] % form})
    edges = calls.callees([own for own, _ in calls.nodes()])
    return {edge.callee.name for edge in edges if edge.confidence == 1}


@pytest.mark.parametrize(("language", "form", "name"), CASES)
def test_a_name_that_a_pattern_binds_is_certainly_nothing_around_it(language, form, name):
    assert not any(each.endswith(name) for each in _certain(language, form))


@pytest.mark.parametrize(
    ("language", "form", "name"),
    [
        ("swift", "if let x = x { x.paint() }", "Red.paint"),
        ("swift", "if let y = self.x { y.paint() }", "Red.paint"),
        ("swift", "guard let y = x else { return }; y.paint()", "Red.paint"),
        ("swift", "if let x = o as? Red { x.paint() }", "Red.paint"),
        ("swift", "o.map { x in x.go() }; x.paint()", "Red.paint"),
        ("swift", "if let x = o as? Blue { } else { x.paint() }", "Red.paint"),
        ("swift", "if case .one(let x) = o { } else if o.ok { x.paint() }", "Red.paint"),
        ("swift", "if let helper = o { } else { helper() }", "helper"),
        ("kotlin", "val y = this.x; y.paint()", "Red.paint"),
        ("kotlin", "val y = o as Red; y.paint()", "Red.paint"),
        ("kotlin", "o.map { helper() }; plain { helper() }", "helper"),
        ("kotlin", "plain { launch { helper() } }", "helper"),
        ("kotlin", "o.mine(1).plain { helper() }", "helper"),
        ("rust", "let y = &x; y.paint();", "Red.paint"),
        ("rust", "if let Some(x) = o { } else { x.paint(); }", "Red.paint"),
        ("rust", "if let Some(helper) = o { } else { helper(); }", "helper"),
        ("java", "var y = this.x; y.paint();", "Red.paint"),
        ("java", "var y = (Red) o; y.paint();", "Red.paint"),
        ("java", "if (o instanceof Blue x) { } else { x.paint(); }", "Red.paint"),
        ("java", "if (o instanceof Blue x) { } x.paint();", "Red.paint"),
        ("java", "int helper = o.n(); helper();", "helper"),
        ("cs", "var y = o as Red; y.paint();", "Red.paint"),
        ("cs", "var y = this.x; y.paint();", "Red.paint"),
        ("go", "y := x; y.paint()", "Red.paint"),
        ("go", "if true { helper := o; _ = helper }; helper()", "helper"),
        ("js", "if (o) { const helper = o.f; } helper();", "helper"),
        ("js", "const again = () => { again(); helper() }; again();", "helper"),
        ("js", "const again = () => again(); again();", "again"),
        ("php", "helper();", "helper"),
        ("cpp", "helper();", "helper"),
    ],
)
def test_what_a_pattern_binds_to_something_known_is_known(language, form, name):
    assert any(each.endswith(name) for each in _certain(language, form))


def test_what_is_imported_within_a_function_is_no_variable_of_it():
    files = {
        "a.js": "function f() { const { go } = require('./b'); go(); }\n",
        "b.js": "exports.go = function () {};\n",
    }
    assert edges_of(files) == {"a.js:f -> b.js:go"}
