"""Calls in languages other than Python: small projects with lists of edges checked by hand."""

from __future__ import annotations

import pytest

from tests.support.callgraphs import calls_of, edges_of
from tests.support.steps import counted

GO = {
    "go.mod": "",
    "cmd/main.go": """
        package main

        import (
            "example.com/shop/cart"
            tax "example.com/shop/internal/taxes"
        )

        func main() {
            c := cart.New()
            c.Add(1)
            run(c)
            tax.Rate()
        }

        func run(c *cart.Cart) { c.Total() }
    """,
    "cart/cart.go": """
        package cart

        type Cart struct { log Logger }
        type Logger struct {}

        func New() *Cart { return &Cart{} }
        func (c *Cart) Add(n int) { c.log.Write(); check(n) }
        func (c *Cart) Total() int { return 1 }
    """,
    "cart/check.go": """
        package cart

        func check(n int) {}
        func (l Logger) Write() {}
    """,
    "internal/taxes/rate.go": "package taxes\n\nfunc Rate() int { return 2 }\n",
}
GO_EDGES = {
    "cmd/main.go:main -> cart/cart.go:New",
    "cmd/main.go:main -> cart/cart.go:Cart.Add",
    "cmd/main.go:main -> cmd/main.go:run",
    "cmd/main.go:main -> internal/taxes/rate.go:Rate",
    "cmd/main.go:run -> cart/cart.go:Cart.Total",
    "cart/cart.go:Cart.Add -> cart/check.go:Logger.Write",
    "cart/cart.go:Cart.Add -> cart/check.go:check",
    "cart/cart.go:New -> cart/cart.go:Cart",
}

TYPESCRIPT = {
    "src/index.ts": """
        import { Store, open as openStore } from "./store";
        import * as text from "./text.js";

        export function main(): void {
          const store = new Store(openStore());
          store.save(text.trim("a"));
          later(() => store.close());
        }
        const later = (f: () => void) => f();
    """,
    "src/store/index.ts": "export * from './store';\nexport { open } from './files';\n",
    "src/store/store.ts": """
        import { Base } from "./base";
        import { File } from "./files";

        export class Store extends Base {
          constructor(private file: File) { super(); }
          save(t: string) { this.file.write(t); this.touch(); }
        }
    """,
    "src/store/base.ts": "export class Base {\n  touch() {}\n  close() { this.touch(); }\n}\n",
    "src/store/files.ts": """
        export class File { write(t: string) {} }
        export function open(): File { return new File(); }
    """,
    "src/text.ts": "export function trim(t: string) { return t; }\n",
}
TYPESCRIPT_EDGES = {
    "src/index.ts:main -> src/store/store.ts:Store.constructor",
    "src/index.ts:main -> src/store/files.ts:open",
    "src/index.ts:main -> src/store/store.ts:Store.save",
    "src/index.ts:main -> src/text.ts:trim",
    "src/index.ts:main -> src/index.ts:later",
    "src/index.ts:main -> src/store/base.ts:Base.close",
    "src/store/store.ts:Store.save -> src/store/files.ts:File.write",
    "src/store/store.ts:Store.save -> src/store/base.ts:Base.touch",
    "src/store/base.ts:Base.close -> src/store/base.ts:Base.touch",
    "src/store/files.ts:open -> src/store/files.ts:File",
}

JAVA = {
    "app/src/main/java/shop/Main.java": """
        package shop;

        import shop.cart.Cart;

        public class Main {
            private final Cart cart = new Cart();
            public static void main(String[] args) { new Main().run(); }
            void run() { cart.add(1); Tax.rate(); helper(); }
            void helper() {}
        }
    """,
    "app/src/main/java/shop/Tax.java": "package shop;\nclass Tax { static int rate() { return 2; } }\n",
    "app/src/main/java/shop/cart/Cart.java": """
        package shop.cart;

        public class Cart extends Holder implements Counted {
            public Cart() { reset(); }
            public void add(int n) { count(); super.add(n); }
            public int count() { return 1; }
        }
        class Holder {
            void add(int n) {}
            void reset() {}
        }
        interface Counted { int count(); }
        class Report {
            int of(Counted c) { return c.count(); }
        }
    """,
}
_MAIN, _CART = "app/src/main/java/shop/Main.java", "app/src/main/java/shop/cart/Cart.java"
JAVA_EDGES = {
    f"{_MAIN}:Main.main -> {_MAIN}:Main",
    f"{_MAIN}:Main.main -> {_MAIN}:Main.run",
    f"{_MAIN}:Main -> {_CART}:Cart.Cart",
    f"{_MAIN}:Main.run -> {_CART}:Cart.add",
    f"{_MAIN}:Main.run -> app/src/main/java/shop/Tax.java:Tax.rate",
    f"{_MAIN}:Main.run -> {_MAIN}:Main.helper",
    f"{_CART}:Cart.Cart -> {_CART}:Holder.reset",
    f"{_CART}:Cart.add -> {_CART}:Cart.count",
    f"{_CART}:Cart.add -> {_CART}:Holder.add",
    f"{_CART}:Report.of -> {_CART}:Counted.count",
    f"{_CART}:Report.of -> {_CART}:Cart.count",
}

RUST = {
    "src/main.rs": """
        mod cart;
        mod tax;
        use crate::cart::{Cart, check as verify};

        fn main() {
            let mut c = Cart::new(tax::rate());
            c.add(1);
            verify(&c);
        }
    """,
    "src/cart.rs": """
        pub struct Log;
        impl Log { fn write(&self) {} }
        pub struct Cart { log: Log }
        impl Cart {
            pub fn new(rate: f64) -> Self { Cart { log: Log } }
            pub fn add(&mut self, n: i32) { self.log.write(); Self::count(n); }
            fn count(n: i32) {}
        }
        pub fn check(c: &Cart) { c.total() }
        trait Sum { fn total(&self); }
        impl Sum for Cart { fn total(&self) {} }
    """,
    "src/tax.rs": "pub fn rate() -> f64 { 1.2 }\n",
}
RUST_EDGES = {
    "src/main.rs:main -> src/cart.rs:Cart.new",
    "src/cart.rs:Cart.new -> src/cart.rs:Cart",
    "src/main.rs:main -> src/tax.rs:rate",
    "src/main.rs:main -> src/cart.rs:Cart.add",
    "src/main.rs:main -> src/cart.rs:check",
    "src/cart.rs:Cart.add -> src/cart.rs:Log.write",
    "src/cart.rs:Cart.add -> src/cart.rs:Cart.count",
    "src/cart.rs:check -> src/cart.rs:Cart.total",
}


@pytest.mark.parametrize(
    ("files", "expected"),
    [(GO, GO_EDGES), (TYPESCRIPT, TYPESCRIPT_EDGES), (JAVA, JAVA_EDGES), (RUST, RUST_EDGES)],
    ids=["go", "typescript", "java", "rust"],
)
def test_a_small_project_has_exactly_these_calls(files, expected):
    assert edges_of({path: text for path, text in files.items() if text}) == expected


SMALL = {
    "javascript": (
        "a.js",
        "class A { go() { this.end(); } end() {} }\nfunction f() { const a = new A(); a.go(); }",
    ),
    "c": ("a.c", "int end(void) { return 1; }\nint go(void) { return end(); }\nint f(void) { return go(); }"),
    "cpp": (
        "a.cpp",
        "class A { public: void go() { end(); } void end() {} };\nvoid f() { A a; a.go(); }",
    ),
    "csharp": (
        "a.cs",
        "class A { void go() { end(); } void end() {} }\nclass B { void f() { var a = new A(); a.go(); } }",
    ),
    "ruby": (
        "a.rb",
        "class A\n  def go\n    self.end_\n  end\n  def end_\n  end\nend\ndef f\n  a = A.new\n  a.go\nend",
    ),
    "php": (
        "a.php",
        """<?php
        class A { function go() { $this->end(); } function end() {} }
        function f() { $a = new A(); $a->go(); }""",
    ),
    "kotlin": ("a.kt", "class A { fun go() { end() }\n fun end() {} }\nfun f() { val a = A()\n a.go() }"),
    "swift": (
        "a.swift",
        "class A { func go() { end() }\n func end() {} }\nfunc f() { let a = A()\n a.go() }",
    ),
    "scala": (
        "a.scala",
        "class A { def go() = end()\n def end() = 1 }\nobject O { def f() = { val a = new A()\n a.go() } }",
    ),
    "solidity": (
        "a.sol",
        """contract A { function go() { end(); } function end() {} }
        contract B { A a; function f() { a.go(); } }""",
    ),
}


@pytest.mark.parametrize("language", SMALL)
def test_methods_are_found_by_class_and_by_what_a_variable_is(language):
    path, source = SMALL[language]
    found = {
        tuple(end.rpartition(".")[2].rstrip("_") for end in edge.split(" -> "))
        for edge in edges_of({path: source})
    }
    assert {("go", "end"), ("f", "go")} <= found


def test_a_variable_made_of_its_namesake_is_what_that_one_was():
    """Rust's `let app = app.layer()`: it hides a parameter, and says nothing new of what app is."""
    source = """
    struct Router {}
    impl Router {
        fn route(self) -> Self { self }
        fn layer(self) -> Self { self }
    }
    fn serve(app: Router) {
        let app = app.layer();
        app.route();
    }
    fn unknown(app: Outside) {
        let app = app.layer();
        let app = app.layer();
        app.route();
    }
    """
    assert {edge for edge in edges_of({"a.rs": source}) if edge.startswith("serve")} == {
        "serve -> Router.layer",
        "serve -> Router.route",
    }


MONOREPO = {
    "packages/client/src/index.ts": "export * from './links';\n",
    "packages/client/src/links.ts": """
        export * from './links/batch';
        export { ping as probe } from './ping';
    """,
    "packages/client/src/links/batch.ts": "export function batch() { return 1; }\n",
    "packages/client/src/ping.ts": "export function ping() { return 1; }\n",
    "packages/server/src/http/index.ts": "export function serve() { return 1; }\n",
    "libs/tools/index.js": "export function sharpen() { return 1; }\n",
    "web/src/components/button.ts": "export function button() { return 1; }\n",
    "examples/trpc/client.ts": "export function batch() { return 2; }\n",
    "other/express/index.js": "export function express() { return 1; }\n",
}


@pytest.mark.parametrize(
    ("imported", "call", "expected"),
    [
        ("{ batch } from '@acme/client'", "batch()", "packages/client/src/links/batch.ts:batch"),
        ("{ probe } from '@acme/client'", "probe()", "packages/client/src/ping.ts:ping"),
        ("* as client from '@acme/client'", "client.batch()", "packages/client/src/links/batch.ts:batch"),
        ("{ serve } from '@acme/server/http'", "serve()", "packages/server/src/http/index.ts:serve"),
        ("{ sharpen } from 'tools'", "sharpen()", "libs/tools/index.js:sharpen"),
        ("{ button } from '@/components/button'", "button()", "web/src/components/button.ts:button"),
        ("{ express } from 'express'", "express()", None),
        ("{ gone } from '@acme/client'", "gone()", None),
        ("{ batch } from '@acme/nowhere'", "batch()", None),
    ],
)
def test_an_import_from_a_package_of_the_same_repository_is_followed(imported, call, expected):
    workspace = {"web/app.ts": f"import {imported};\nexport function main() {{ {call}; }}\n"}
    edges = {edge for edge in edges_of(MONOREPO | workspace) if edge.startswith("web/app.ts")}
    assert edges == ({f"web/app.ts:main -> {expected}"} if expected else set())


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        (
            "a.test.js",
            "import { door } from './door';\ndescribe('door', () => { function open() { door(); } });\n",
            {"a.test.js:open -> door.js:door"},
        ),
        ("a_spec.rb", "describe 'door' do\n  def open\n    door\n  end\nend\ndef door\nend\n", None),
    ],
)
def test_a_block_of_tests_is_nothing_that_is_called(path, source, expected):
    files = {path: source, "door.js": "export function door() { return 1; }\n"}
    found = edges_of(files)
    assert found == expected if expected else not any(edge.endswith("'door'") for edge in found)


@pytest.mark.parametrize("result", ["(*Peer, error)", "(p *Peer, err error)", "*Peer", "Peer"])
def test_what_a_go_function_gives_first_is_what_it_gives(result):
    source = f"""
    package mesh

    type Peer struct {{}}

    func (p *Peer) Settle() {{}}
    func Create() {result} {{ return nil, nil }}
    func main() {{
        p, err := Create()
        p.Settle()
    }}
    """
    assert edges_of({"a.go": source}) == {"main -> Create", "main -> Peer.Settle"}


@pytest.mark.parametrize(
    "type_", ["Shape[]", "readonly Shape[]", "Shape[][]", "Array<Shape>", 'Shape["tags"]']
)
def test_an_array_or_a_member_is_none_of_its_elements(type_):
    """A type of data alone could be one of the few with that method: an array of them is not."""
    source = f"""
    type Shape = {{ id: string }};
    class Queue {{ push(shape: Shape) {{}} }}
    function collect(shape: Shape) {{
        const found: {type_} = [];
        found.push(shape);
    }}
    """
    assert edges_of({"a.ts": source}) == set()


RUBY = """
class Story
  def hotness
    1
  end

  def title
  end

  def assign(title)
    self.score = hotness
    flag = 1
    [1].each { |other| puts other }
    flag
    title
  end

  def flag
  end

  def other
    flag if title
  end
end
"""


def test_ruby_calls_without_arguments_are_calls_unless_they_are_variables():
    assert edges_of({"a.rb": RUBY}) == {
        "Story.assign -> Story.hotness",
        "Story.other -> Story.flag",
        "Story.other -> Story.title",
    }


@pytest.mark.parametrize("call", ["Code.new(1).make", "Code.new.make", "Code.new.make(2)"])
def test_ruby_calls_on_something_new_are_its_own(call):
    source = f"""
    class Code
      def make(n = 1)
      end
    end
    class Story
      def assign
        self.code = {call}
      end
    end
    """
    assert "Story.assign -> Code.make" in edges_of({"a.rb": source})


@pytest.mark.parametrize("receiver", ["@comment", "comment", "vote.comment", "@vote.comment"])
def test_ruby_receivers_are_likely_of_the_class_they_are_named_after(receiver):
    """Rails' own convention: nothing else says what is in them."""
    files = {
        "app/models/comment.rb": "class Comment\n  def fast?\n  end\nend\n",
        "app/models/vote.rb": "class Vote\n  def fast?\n  end\nend\n",
        "app/controllers/c.rb": (
            f"class CommentsController\n  def create\n    {receiver}.fast?\n    {receiver}.save\n  end\nend\n"
        ),
    }
    edges = edges_of(files)
    assert edges == {"app/controllers/c.rb:CommentsController.create -> app/models/comment.rb:Comment.fast?"}


def test_a_ruby_module_that_is_mixed_in_has_the_methods_of_its_class():
    source = """
    module Token
      def renew!
      end
    end
    class Story
      include Token
      def publish
        renew!
      end
    end
    """
    assert edges_of({"a.rb": source}) == {"Story.publish -> Token.renew!"}


def test_templates_call_helpers_and_models():
    files = {
        "app/helpers/stories_helper.rb": (
            "module StoriesHelper\n  def badge(story)\n  end\n  def plain\n  end\nend\n"
        ),
        "app/models/story.rb": "class Story\n  def title\n  end\n  def badge\n  end\nend\n",
        "app/views/stories/show.html.erb": (
            "<h1><%= @story.title %> <%= badge(@story) -%></h1>\n<%# plain %>\n<%% plain %>\n"
            "<% if plain %><p>it's %> here</p><% end %>\n"
        ),
    }
    show = "app/views/stories/show.html.erb:<module>"
    assert edges_of(files) == {
        f"{show} -> app/models/story.rb:Story.title",
        f"{show} -> app/helpers/stories_helper.rb:StoriesHelper.badge",
        f"{show} -> app/helpers/stories_helper.rb:StoriesHelper.plain",
    }


def test_files_that_pass_on_all_names_of_each_other_are_looked_through_once():
    """Ways through them are without number; of five files already 16,000 of at most eight steps."""
    count = 30
    files = {
        f"src/b{i}.ts": "".join(f"export * from './b{j}'\n" for j in range(count) if j != i)
        for i in range(count)
    }
    files["src/b29.ts"] += "export function f() {}\n"
    files["src/main.ts"] = "import { f, nowhere } from './b0'\nfunction go() { nowhere(); f() }\n"
    assert edges_of(files) == {"src/main.ts:go -> src/b29.ts:f"}


CRATES = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
    "crates/one/Cargo.toml": '[package]\nname = "shop-core"\n',
    "crates/one/src/lib.rs": """
        mod types;
        pub mod errors;
        pub use types::Order;
        use errors::private;
        pub fn open() -> Order { let order = Order::load()?; order.price(); order }
    """,
    "crates/one/src/types.rs": """
        pub struct Order { pub id: u32 }
        impl Order {
            pub fn load() -> Result<Order, Error> { Ok(Order { id: 1 }) }
            pub fn price(&self) {}
        }
    """,
    "crates/one/src/errors.rs": "pub fn private() {}\npub fn fail() { super::open(); }\n",
    "crates/two/Cargo.toml": '[package]\nname = "two"\n',
    "crates/two/src/lib.rs": "mod types;\n",
    "crates/two/src/types.rs": """
        pub struct Order;
        impl Order { pub fn price(&self) {} }
    """,
    "crates/two/src/bin/tool.rs": """
        use shop_core::{errors::fail, Order};
        fn main() { fail(); private(); shop_core::open().price(); check(Order { id: 2 }) }
        fn check(order: Order) { order.price() }
    """,
    "crates/two/src/inner.rs": """
        fn help() {}
        #[cfg(test)]
        mod tests {
            use super::*;
            #[test]
            fn it_helps() { assert_eq!(help(), crate::types::Order.price()); vec![1].map(help); }
        }
    """,
}


def test_rust_paths_lead_through_crates_and_modules():
    """Files of a module's name were taken from every crate, and what is private was passed on."""
    tool, core = "crates/two/src/bin/tool.rs", "crates/one/src"
    inner = "crates/two/src/inner.rs"
    assert edges_of(CRATES) == {
        f"{core}/lib.rs:open -> {core}/types.rs:Order.load",
        f"{core}/lib.rs:open -> {core}/types.rs:Order.price",
        f"{core}/types.rs:Order.load -> {core}/types.rs:Order",
        f"{core}/errors.rs:fail -> {core}/lib.rs:open",
        f"{tool}:main -> {core}/errors.rs:fail",
        f"{tool}:main -> {core}/lib.rs:open",
        f"{tool}:main -> {core}/types.rs:Order.price",
        f"{tool}:main -> {core}/types.rs:Order",
        f"{tool}:main -> {tool}:check",
        f"{tool}:check -> {core}/types.rs:Order.price",
        f"{inner}:it_helps -> {inner}:help",
        f"{inner}:it_helps -> crates/two/src/types.rs:Order.price",
    }


def test_rust_tests_have_modules_beside_them():
    files = {
        "src/lib.rs": "",
        "tests/first.rs": "mod tool;\nuse tool::run::go;\nfn one() { go(); local() }\nfn local() {}\n",
        "tests/second.rs": "mod tool;\nuse crate::tool::run::{self, Env};\nfn local() {}\n"
        "fn two() { Env::make().act(); run::go() }\n",
        "tests/tool/mod.rs": "pub mod run;\n",
        "tests/tool/run.rs": "pub fn go() {}\npub struct Env;\nimpl Env {\n"
        "    pub fn make() -> Env { Env }\n    pub fn act(&self) {}\n}\n",
    }
    assert edges_of(files) == {
        "tests/first.rs:one -> tests/tool/run.rs:go",
        "tests/first.rs:one -> tests/first.rs:local",
        "tests/second.rs:two -> tests/tool/run.rs:go",
        "tests/second.rs:two -> tests/tool/run.rs:Env.make",
        "tests/second.rs:two -> tests/tool/run.rs:Env.act",
    }


def test_rust_crates_pass_on_other_crates_and_long_trees_of_names():
    names = "".join(f"    module_{number}::{{function_{number}, other_{number}}},\n" for number in range(20))
    files = {
        "all/src/lib.rs": "pub extern crate all_search as search;\npub extern crate all_tools;\n",
        "all/Cargo.toml": '[package]\nname = "all"\n',
        "search/src/lib.rs": "mod walk;\npub use crate::walk::Entry;\npub fn open() {}\n",
        "search/src/walk.rs": "pub struct Entry;\nimpl Entry { pub fn path(&self) {} }\n",
        "search/Cargo.toml": '[package]\nname = "all-search"\n',
        "tools/src/lib.rs": "pub fn cut() {}\n",
        "tools/Cargo.toml": '[package]\nname = "all-tools"\n',
        "app/src/main.rs": "mod many;\nuse crate::many::last;\nstruct Own { entry: all_search::Entry }\n"
        "impl Own { fn go(&self) { self.entry.path() } }\n"
        "fn main() { all::search::open(); all::all_tools::cut(); last() }\n",
        "app/src/many.rs": f"pub use crate::{{\n{names}    end::last,\n}};\n",
        "app/src/end.rs": "pub fn last() {}\n",
        "app/Cargo.toml": '[package]\nname = "app"\n',
    }
    assert edges_of(files) == {
        "app/src/main.rs:main -> search/src/lib.rs:open",
        "app/src/main.rs:main -> tools/src/lib.rs:cut",
        "app/src/main.rs:main -> app/src/end.rs:last",
        "app/src/main.rs:Own.go -> search/src/walk.rs:Entry.path",
    }


def test_rust_types_are_read_through_lifetimes_aliases_and_variants():
    source = """
    pub struct Table;
    impl Table {
        pub fn new() -> &'static Table { todo!() }
        pub fn row(&self) -> &Self { self }
        pub fn end(&self) {}
    }
    type Alias = Table;
    struct Held<'a> { table: &'a Table }
    impl<'a> Held<'a> { fn go(&self) { self.table.row() } }
    enum Shape { Round(u8), Flat }
    impl Shape { fn draw(&self) {} }
    fn made() { let table = Table::new(); table.row(); }
    fn aliased() { Alias::new(); }
    fn varied() { let shape = Shape::Round(1); shape.draw() }
    fn chained(table: &Table) {
        table
            .row() // the first (of two)
            // and here is the second
            .row()
            .end()
    }
    trait Has { type Item; fn give(&self); }
    impl Has for Shape { type Item = Table; fn give(&self) {} }
    fn typed(shape: Shape) { shape.end() }
    """
    assert edges_of({"a.rs": source}) == {
        "Held.go -> Table.row",
        "made -> Table.new",
        "made -> Table.row",
        "aliased -> Table.new",
        "varied -> Shape.draw",
        "chained -> Table.row",
        "chained -> Table.end",
    }


def test_functions_inside_rust_macros_are_functions():
    source = """
    cfg_rt! {
        cfg_io! {
            pub fn spawn() { start() }
        }
        impl Pool { pub fn go(&self) { spawn() } }
    }
    pub struct Pool;
    fn start() {}
    bitflags! { struct Flags: u32 { const A = 1; } }
    fn main() { select! { _ = spawn() => { println!("{}", start()) } } }
    """
    assert edges_of({"a.rs": source}) == {
        "spawn -> start",
        "Pool.go -> spawn",
        "main -> spawn",
        "main -> start",
    }


ALIASES = {
    "web/tsconfig.json": """{
        // as the editor writes it
        "extends": "./tsconfig.base.json",
        "compilerOptions": {"strict": true,},
    }""",
    "web/tsconfig.base.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"~lib/*": ["src/library/*"]}}}',
    "web/src/library/text.ts": "export const trim = (t: string) => t;\n",
    "web/src/util.ts": "export function pad() {}\n",
    "other/library/text.ts": "export const trim = (t: string) => t;\n",
    "tools/knife/package.json": '{"name": "@acme/sharp", "main": "dist/main.js", "exports": '
    '{".": {"types": "./dist/main.d.ts"}, "./deep": "./dist/deep/index.js"}}',
    "tools/knife/src/main.ts": "export function cut() {}\nexport default class Knife { use() {} }\n",
    "tools/knife/src/deep/index.ts": "function hidden() {}\nexport { hidden as shown };\n",
}


@pytest.mark.parametrize(
    ("imported", "call", "expected"),
    [
        ("{ trim } from '~lib/text'", "trim()", "web/src/library/text.ts:trim"),
        ("{ pad } from 'src/util'", "pad()", "web/src/util.ts:pad"),
        ("{ cut } from '@acme/sharp'", "cut()", "tools/knife/src/main.ts:cut"),
        ("Sharp from '@acme/sharp'", "new Sharp().use()", "tools/knife/src/main.ts:Knife.use"),
        ("{ shown } from '@acme/sharp/deep'", "shown()", "tools/knife/src/deep/index.ts:hidden"),
        ("{ trim } from 'left-pad'", "trim()", None),
    ],
)
def test_an_import_is_followed_by_path_aliases_and_manifests(imported, call, expected):
    main = {"web/app.ts": f"import {imported};\nexport function main() {{ {call}; }}\n"}
    edges = {edge for edge in edges_of(ALIASES | main) if edge.startswith("web/app.ts")}
    assert {f"web/app.ts:main -> {expected}"} <= edges if expected else edges == set()


def test_variables_that_are_called_like_functions_are_definitions():
    files = {
        "core.ts": "export const _parse = (e: E) => (s: S) => s;\nexport const parse = _parse(Failure);\n",
        "index.ts": "export * as core from './core';\n",
        "use.ts": (
            "import { core } from './index';\nimport { parse } from './core';\n"
            "export const api = { get() { return core.parse('x') }, post: () => parse('y') };\n"
            "class Page { show = () => api.get(); }\n"
            "function main(parse: any) { [1].map(show); [2].map(parse) }\nfunction show() {}\n"
        ),
    }
    assert edges_of(files) == {
        "core.ts:parse -> core.ts:_parse",
        "use.ts:api.get -> core.ts:parse",
        "use.ts:api.post -> core.ts:parse",
        "use.ts:Page.show -> use.ts:api.get",
        "use.ts:main -> use.ts:show",
    }


def test_a_component_is_called_where_it_is_rendered():
    source = "const Row = () => <b/>;\nexport function Table() { return <div><Row/></div> }\n"
    assert edges_of({"a.tsx": source}) == {"Table -> Row"}


def test_what_a_component_is_given_is_handed_on():
    source = (
        "class Row extends Component {\n  save = () => 1;\n  stop = () => 2;\n  undo() { return 3; }\n"
        "  total() { return 4; }\n  size = 5;\n"
        "  render() { return <b onClick={this.save} onKey={this.props.busy ? this.stop : this.undo}"
        " a={this.size} c={this.props.total}/>; }\n}\n"
        "const asked = { go: () => 6 };\nconst Page = () => <Row onGo={asked.go} />;\n"
    )
    handed = {
        "Row.render -> Row.save",
        "Row.render -> Row.stop",
        "Row.render -> Row.undo",
        "Page -> asked.go",
    }
    assert edges_of({"a.jsx": source}) == handed | {"Page -> Row"}
    assert edges_of({"a.jsx": source}, least=1.0) == {"Page -> Row"}


GO_VALUES = """
package a

import "net/http"

type Doer interface { Do(n int) *Result; Other() }
type Result struct{}
type Right struct{}
type Set[T any] struct { items map[string]T; inner *Right }
type Command struct { Run func() }

func (r *Right) Do(n int) *Result { return &Result{} }
func (r *Right) Other()           {}
func (r *Result) Do(n int)        {}
func (r *Result) Show()           {}
func (s *Set[T]) Add(x T)         { s.inner.Other() }
func NewSet[T any]() *Set[T]      { return nil }
func Map[T, U any](f func(T) U)   {}
func handle()                     {}
func run()                        {}
func other()                      {}

func use(d Doer, handle2 func()) {
    s := NewSet[int]()
    s.Add(1)
    Map[int, string](nil)
    http.HandleFunc("/", handle)
    c := Command{Run: run}
    _ = c
    d.Do(1).Show()
    http.HandleFunc("/", handle2)
    for _, other := range list { call(other) }
}
"""


def test_go_functions_as_values_generics_and_interfaces():
    assert {edge for edge in edges_of({"a.go": GO_VALUES}) if edge.startswith("use ")} == {
        "use -> NewSet",
        "use -> Set.Add",
        "use -> Map",
        "use -> handle",
        "use -> run",
        "use -> Command",
        "use -> Doer.Do",
        "use -> Right.Do",
        "use -> Result.Show",
    }


def test_a_go_package_is_found_by_its_module():
    files = {
        "go.mod": "module example.com/shop\n",
        "sdk/go.mod": "module example.com/sdk/v2\n",
        "sdk/log/log.go": "package log\n\nfunc Write() {}\n",
        "log/log.go": "package log\n\nfunc Write() {}\n",
        "main.go": 'package main\n\nimport (\n"example.com/sdk/v2/log"\nother "github.com/x/log"\n)\n'
        "func main() { log.Write(); other.Write() }\n",
    }
    assert edges_of(files) == {"main.go:main -> sdk/log/log.go:Write"}


@pytest.mark.parametrize(
    "name", ["Base", "Base.constructor", "make", "Sub", "fn", "exports", "exports.run", "Row", "Row.new"]
)
def test_callers_are_those_whose_callees_they_are(name):
    """Callers are looked for by the names that may mean the callee: none may be missed."""
    files = {
        "a.ts": "export class Base { constructor() {} }\nexport class Sub extends Base { m() {} }\n"
        "export function make() { return new Sub() }\nexport { make as produce };\n",
        "b.ts": "export { produce as build } from './a';\nimport { Base as B } from './a';\nnew B();\n",
        "c.ts": "import { build } from './b';\nexport function go() { build() }\n",
        "d.js": "const fn = () => 1;\nexport default fn;\n",
        "e.js": "module.exports = function () {};\n",
        "f.js": "import other from './d';\nconst made = require('./e');\nfunction f() { other(); made() }\n",
        "g.rs": "pub struct Row { n: u8 }\nimpl Row { pub fn new() -> Self { Self { n: 1 } } }\n",
        "h.rs": "use crate::g::Row as Line;\nfn h() { Line::new(); Line { n: 2 } }\n",
        "main.rs": "mod g;\nmod h;\n",
        "app/jobs/send-mail.js": "module.exports = { run() {} };\n",
        "i.js": "let i = (it) => it.app.jobs.sendMail.with({});\nlet j = (it) => it.app.jobs.sendMail();\n",
    }
    calls = calls_of(files)
    every = {(edge.caller, edge.callee) for edge in calls.callees([own for own, _ in calls.nodes()])}
    wanted = [own for own, node in calls.nodes() if node.name == name]
    found = {(edge.caller, edge.callee) for edge in calls_of(files).callers(wanted)}
    assert found == {pair for pair in every if pair[1].name == name}
    assert found or name in {"Base", "Sub"}  # one of them has a constructor, which the other inherits


@pytest.mark.slow
def test_a_chain_of_thousands_of_modules_is_followed_so_far():
    """Without an end it took minutes for 8,000."""
    chain = "".join(f"module A{n + 1}; include A{n}; def m{n}; m0; end; end\n" for n in range(300))
    found = edges_of({"chain.rb": "module A0; end\n" + chain})
    assert "A10.m9 -> A1.m0" in found
    assert "A300.m299 -> A1.m0" not in found


def test_java_finds_what_others_hand_down():
    edges = edges_of(
        {
            "shop/Base.java": """
                package shop;
                abstract class Base {
                    protected Store store;
                    abstract int price();
                    static int half(int n) { return n; }
                    int twice() { return price(); }
                }
            """,
            "shop/Store.java": """
                package shop;
                public class Store {
                    static class Item { void sell() {} }
                    void save() {}
                    enum Size { BIG(1); Size(int n) {} }
                }
            """,
            "shop/Cart.java": """
                package shop;
                import static shop.Base.half;
                class Cart extends Base {
                    int price() { store.save(); new Store.Item(); return half(2); }
                    void walk(Object o, Cart parent) {
                        if (o instanceof Cart other) { other.price(); }
                        parent.price();
                        var item = parent.next().next();
                        item.sell();
                    }
                    Store.Item sold() { return null; }
                    Cart next() { return this; }
                }
            """,
        }
    )
    assert edges >= {
        "shop/Base.java:Base.twice -> shop/Cart.java:Cart.price",
        "shop/Cart.java:Cart.price -> shop/Store.java:Store.save",
        "shop/Cart.java:Cart.price -> shop/Store.java:Store.Item",
        "shop/Cart.java:Cart.price -> shop/Base.java:Base.half",
        "shop/Cart.java:Cart.walk -> shop/Cart.java:Cart.price",
        "shop/Store.java:Store.Size -> shop/Store.java:Store.Size.Size",
    }


def test_cpp_calls_by_namespaces_and_macros_around_functions():
    edges = edges_of(
        {
            "include/log/os.h": """
                namespace log { namespace os {
                LOG_INLINE int size(int n) LOG_NOEXCEPT {
                    return n;
                }
                int size(const char* text) { return 1; }
                } }
            """,
            "include/log/registry.h": """
                namespace log {
                class registry {
                 public:
                  static registry& instance();
                  void drop() { std::move(drop_all()); }
                  void drop_all() {}
                };
                }
            """,
            "src/registry.cpp": """
                #include "log/registry.h"
                LOG_INLINE log::registry& log::registry::instance() {
                    static registry one;
                    return one;
                }
                void shut() { log::registry::instance().drop(); log::os::size(2); ::log::os::size("a"); }
                int move(int n) { return n; }
            """,
        },
        1.0,
    )
    assert edges == {
        "include/log/registry.h:registry.drop -> include/log/registry.h:registry.drop_all",
        "src/registry.cpp:shut -> src/registry.cpp:registry.instance",
        "src/registry.cpp:shut -> include/log/registry.h:registry.drop",
        "src/registry.cpp:shut -> include/log/os.h:size",
    }


def test_commonjs_prototypes_and_methods_of_one_name():
    edges = edges_of(
        {
            "lib/store.js": """
                function Store(path) { this.load(path); }
                Store.prototype.load = function (path) { this.checkSum(); };
                Store.prototype.checkSum = function () {};
                Store.prototype.map = function () {};
                module.exports = Store;
            """,
            "lib/utils.cjs": """
                exports.clean = function (text) { return text; };
            """,
            "lib/main.js": """
                import utils from "./utils.cjs";
                export function run(store, list) { utils.clean("a"); store.checkSum(); list.map(); }
            """,
            "lib/old.js": """
                const { clean: tidy } = require("./utils.cjs");
                const again = require("./utils.cjs").clean;
                const Store = require("./store");
                function go() { tidy("a"); new Store("p").load(); }
                function twice() { again("a"); }
            """,
        }
    )
    assert edges - {"lib/store.js:<module> -> lib/store.js:Store"} == {  # it is handed on there
        "lib/store.js:Store -> lib/store.js:Store.load",
        "lib/store.js:Store.load -> lib/store.js:Store.checkSum",
        "lib/main.js:run -> lib/utils.cjs:clean",
        "lib/main.js:run -> lib/store.js:Store.checkSum",  # the only method of this name; not so `map`
        "lib/old.js:go -> lib/utils.cjs:clean",
        "lib/old.js:go -> lib/store.js:Store",
        "lib/old.js:go -> lib/store.js:Store.load",
        "lib/old.js:twice -> lib/utils.cjs:clean",
    }


def test_loops_over_many_of_a_type():
    go = edges_of(
        {
            "go.mod": "module example.org/shop\n\ngo 1.20\n",
            "shop.go": """
                package shop
                type Cart struct { items []*Item; named map[string]Item }
                type Item struct{}
                func (i *Item) Sell() {}
                func (i *Item) Name() {}
                func (c *Cart) Items() []*Item { return c.items }
                func (c *Cart) SellAll(more ...*Item) {
                    for _, each := range c.Items() { each.Sell() }
                    for _, other := range c.named { other.Name() }
                }
                func add(more ...*Item) { for _, one := range more { one.Name() } }
            """,
        },
        1.0,
    )
    assert {edge.replace("shop.go:", "") for edge in go} == {
        "Cart.SellAll -> Cart.Items",
        "Cart.SellAll -> Item.Sell",
        "Cart.SellAll -> Item.Name",
        "add -> Item.Name",
    }
    script = edges_of(
        {
            "a.ts": """
                class Item { sell() {} name() {} }
                class Cart { items: Item[] = []; all(): Set<Item> { return new Set(this.items); } }
                function run(cart: Cart) {
                    for (const each of cart.items) each.sell();
                    for (const other of cart.all()) other.name();
                }
            """
        },
        1.0,
    )
    assert script == {"run -> Cart.all", "run -> Item.sell", "run -> Item.name"}


def test_cpp_classes_of_one_name_and_annotated_members():
    edges = edges_of(
        {
            "include/iterator.h": """
                namespace shop {
                class Iterator {
                 public:
                  virtual bool Valid() const = 0;
                };
                }
            """,
            "db/list.h": """
                namespace shop {
                template <typename Key>
                class List {
                 public:
                  class Iterator {
                   public:
                    bool Valid() const;
                  };
                };
                template <typename Key>
                inline bool List<Key>::Iterator::Valid() const { return true; }
                }
            """,
            "db/main.cc": """
                class Log {
                 public:
                  explicit Log(int file) {}
                  void Add() {}
                };
                class Store {
                 public:
                  void Run(shop::Iterator* it, int file) {
                    if (it->Valid()) error_->Add();
                    Log log(file);
                    log.Add();
                  }
                  Log* const error_ GUARDED_BY(mutex_);
                };
            """,
        },
        1.0,
    )
    assert edges == {"db/main.cc:Store.Run -> db/main.cc:Log.Add"}


def test_cpp_loops_and_macros_in_lines_of_their_own():
    edges = edges_of(
        {
            "a.cpp": """
                class Item {
                  ITEM_DECLARE(Item)
                 public:
                  void Sell() {}
                };
                class Cart {
                 public:
                  std::vector<std::unique_ptr<Item>> items_;
                  void SellAll(const std::vector<Item*>& more) {
                    for (const auto& each : items_) each->Sell();
                  }
                };
                void all(const std::vector<Item*>& more) { for (auto* one : more) one->Sell(); }
            """
        },
        1.0,
    )
    assert edges == {"Cart.SellAll -> Item.Sell", "all -> Item.Sell"}


def test_a_destructor_that_is_defaulted_constructs_nothing():
    source = "class A { public: A(); ~A(); };\nA::A() { go(); }\nA::~A() = default;\nvoid go() {}\n"
    assert edges_of({"a.cc": source}) == {"A.A -> go"}


def test_what_a_package_of_go_has_for_each_platform_is_likely():
    files = {
        "p/run.go": "package p\n\nfunc Run() {\n\tstart()\n\tr := R{}\n\tr.Size()\n}\n\ntype R struct{}\n",
        "p/run_unix.go": "package p\n\nfunc start() {}\n\nfunc (r R) Size() {}\n",
        "p/run_windows.go": "package p\n\nfunc start() {}\n\nfunc (r R) Size() {}\n",
        "p/run_test.go": "package p_test\n\nfunc start() {}\n",
    }
    made = {"p/run.go:Run -> p/run.go:R"}
    assert edges_of(files, least=1.0) == made
    assert edges_of(files) == made | {
        f"p/run.go:Run -> p/run_{system}.go:{name}"
        for system in ("unix", "windows")
        for name in ("start", "R.Size")
    }


def test_ruby_begins_at_the_top_where_two_colons_do():
    source = """
        class Foo
          def self.go; end
          def run; end
        end
        module Bar
          class Foo
            def self.go; end
            def run; end
          end
          class Task
            def initialize; @held = ::Foo.new; end
            def top = ::Foo.go
            def near = Foo.go
            def whole = ::Bar::Foo.go
            def none = ::Task.go
            def held = @held.run
            def made
              it = ::Foo.new
              it.run
            end
          end
          class Late < ::Foo
            def late = run
          end
        end
    """
    assert {edge for edge in edges_of({"a.rb": source}) if not edge.endswith("-> Foo")} == {
        "Bar.Task.top -> Foo.go",
        "Bar.Task.near -> Bar.Foo.go",
        "Bar.Task.whole -> Bar.Foo.go",
        "Bar.Task.held -> Foo.run",
        "Bar.Task.made -> Foo.run",
        "Bar.Late.late -> Foo.run",
    }


def test_of_rusts_enumerations_of_one_name_in_a_file_none_is_chosen():
    module = """
        mod {0} {{
            pub enum Kind {{ Held({1}), Same(u8) }}
            pub struct {1};
            impl {1} {{ pub fn go(&self) {{}} }}
            pub fn take(k: Kind) {{ match k {{ Kind::Held(i) => i.go(), Kind::Same(_) => {{}} }} }}
        }}
    """
    assert edges_of({"a.rs": module.format("one", "First")}) == {"take -> First.go"}
    assert edges_of({"a.rs": module.format("one", "First") + module.format("two", "Second")}) == set()


@pytest.mark.parametrize("is_of_one_file", [True, False])
def test_a_class_of_ruby_that_is_often_opened_takes_work_in_proportion(is_of_one_file):
    def work(times):
        parts = [
            f"class Big\n  def m{i}\n    m{(i * 7) % times}\n    @x.go\n  end\nend\n" for i in range(times)
        ]
        files = (
            {"a.rb": "".join(parts)} if is_of_one_file else {f"{i}.rb": each for i, each in enumerate(parts)}
        )
        calls = calls_of(files)
        with counted("call") as steps:
            edges = calls.callees([own for own, _ in calls.nodes()])
        assert len(edges) == times
        return steps["call"]

    assert work(160) < work(40) * 6


def test_elixir_is_read_by_aliases_imports_pipes_and_captures():
    files = {
        "lib/cart.ex": """
            defmodule Shop.Cart do
              @limit 3
              alias Shop.{Item, Store}
              alias Shop.Tax.Rate, as: Tax
              import Shop.Help

              @spec add(number(), number()) :: total(1)
              def total(x), do: x |> Item.price() |> add(1)

              defp add(a, b) when is_integer(b) do
                Tax.of(a)
                help a
                Enum.map(a, &Store.all/1)
                Enum.map(a, &valid?/1)
                Inner.go()
                unknown.price(a)
                Other.price(a)
              end

              def valid?(a), do: __MODULE__.total(a)

              defmodule Inner do
                def go, do: Shop.Cart.total(1)
              end
            end
        """,
        "lib/shop.ex": """
            defmodule Shop.Item do
              def price(x), do: x
              def twice(1), do: 1
              def twice(x), do: twice(x - 1)
            end
            defmodule Shop.Store do
              def all(x), do: x
            end
            defmodule Shop.Tax.Rate do
              def of(x), do: x
            end
            defmodule Shop.Help do
              def help(x), do: x
            end
        """,
    }
    calls = calls_of(files)
    edges = calls.callees([own for own, _ in calls.nodes()])
    assert {f"{e.caller.name} {e.callee.name} {e.confidence} {e.rule}".strip() for e in edges} == {
        "Shop.Cart.total Shop.Item.price 1.0",
        "Shop.Cart.total Shop.Cart.add 1.0",
        "Shop.Cart.add Shop.Tax.Rate.of 1.0",
        "Shop.Cart.add Shop.Help.help 1.0",
        "Shop.Cart.add Shop.Store.all 0.5 Enum.map",
        "Shop.Cart.add Shop.Cart.valid? 0.5 Enum.map",
        "Shop.Cart.add Shop.Cart.Inner.go 1.0",
        "Shop.Cart.valid? Shop.Cart.total 1.0",
        "Shop.Cart.Inner.go Shop.Cart.total 1.0",
        "Shop.Item.twice Shop.Item.twice 0.6",
    }
    node = next(own for own, each in calls.nodes() if each.name == "Shop.Item.price")
    assert [edge.caller.name for edge in calls.callers([node])] == ["Shop.Cart.total"]
