"""What Python code calls: each rule of the resolution by a source that needs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from gitrag.callgraph.extraction import extract_all
from gitrag.callgraph.facts import unpack
from gitrag.callgraph.python import view as python_view
from gitrag.callgraph.python.classes import linearised
from gitrag.callgraph.python.modules import PythonModule
from gitrag.callgraph.python.values import CERTAIN, MOST
from tests.support.callgraphs import calls_of, edges_of


def test_a_name_leads_through_aliases_and_re_exports():
    files = {
        "src/shop/__init__.py": "from .cart import add as put\nfrom . import tax\n",
        "src/shop/cart.py": "def add(): helper()\ndef helper(): pass\n",
        "src/shop/tax.py": "def rate(): pass\n",
        "app.py": "import shop\nimport shop.tax as t\nfrom shop import put\n\ndef run():\n    put()\n"
        "    shop.tax.rate()\n    t.rate()\n",
    }
    assert edges_of(files) == {
        "src/shop/cart.py:add -> src/shop/cart.py:helper",
        "app.py:run -> src/shop/cart.py:add",
        "app.py:run -> src/shop/tax.py:rate",
    }


def test_star_imports_and_relative_imports_upwards_are_followed():
    files = {
        "p/__init__.py": "",
        "p/base.py": "def tool(): pass\n",
        "p/sub/__init__.py": "from ..base import *\n",
        "p/sub/deep.py": "from . import tool\nfrom ..base import tool as t\ndef f():\n    tool()\n    t()\n",
    }
    assert edges_of(files) == {"p/sub/deep.py:f -> p/base.py:tool"}


RULES = {
    "methods of a constructed instance": (
        """
        class A:
            def __init__(self): self.load()
            def load(self): pass
        def f():
            a = A()
            a.load()
        """,
        {"A.__init__ -> A.load", "f -> A.__init__", "f -> A.load"},
    ),
    "inherited methods, by the method resolution order": (
        """
        class Base:
            def go(self): pass
        class Left(Base): pass
        class Right(Base):
            def go(self): pass
        class Both(Left, Right): pass
        def f(): Both().go()
        """,
        {"f -> Both", "f -> Right.go"},
    ),
    "super, and overrides of what is annotated": (
        """
        class A:
            def go(self): pass
        class B(A):
            def go(self): super().go()
        def f(a: A): a.go()
        """,
        {"B.go -> A.go", "f -> A.go", "f -> B.go"},
    ),
    "annotations of parameters, returns and attributes": (
        """
        from typing import Optional
        from dataclasses import dataclass
        class Engine:
            def start(self): pass
        @dataclass
        class Car:
            engine: "Engine"
            spare: Optional[Engine] = None
        def build() -> Car: ...
        def f(cars: list[Car]):
            build().engine.start()
            for car in cars:
                car.spare.start()
        """,
        {"f -> build", "f -> Engine.start"},
    ),
    "attributes assigned in methods, and what functions return": (
        """
        class Log:
            def write(self): pass
        def make():
            return Log()
        class App:
            def __init__(self): self.log = make()
            def run(self): self.log.write()
        """,
        {"App.__init__ -> make", "App.run -> Log.write", "make -> Log"},
    ),
    "with, properties, iteration and operators": (
        """
        class R:
            def __enter__(self): return self
            def __exit__(self, *args): pass
            def __iter__(self): return iter(())
            def __getitem__(self, key): pass
            def __eq__(self, other): pass
            def __len__(self): pass
            @property
            def name(self): pass
        def f():
            with R() as r:
                r.name
                for _ in r: pass
                r[0]
                r == 1
                len(r)
        """,
        {
            "f -> R",
            "f -> R.__enter__",
            "f -> R.__exit__",
            "f -> R.__iter__",
            "f -> R.__getitem__",
            "f -> R.__eq__",
            "f -> R.__len__",
            "f -> R.name",
        },
    ),
    "closures, and functions that are handed on": (
        """
        def outer():
            def inner(): pass
            apply(inner)
            return sorted([], key=inner)
        def apply(function): function()
        """,
        {"outer -> apply", "apply -> outer.inner", "outer -> outer.inner"},
    ),
    "decorators: applied where they stand, and the wrapper in between": (
        """
        import functools
        def logged(f):
            @functools.wraps(f)
            def wrapper(*args): return f(*args)
            return wrapper
        @logged
        def work(): pass
        def run(): work()
        """,
        {"<module> -> logged", "run -> logged.wrapper", "logged.wrapper -> work", "run -> work"},
    ),
    "methods picked by the beginning of their name": (
        """
        class Visitor:
            def visit(self, node):
                method = getattr(self, f"visit_{node}", self.fallback)
                return method(node)
            def visit_a(self, node): pass
            def visit_b(self, node): pass
            def fallback(self, node): pass
        """,
        {
            "Visitor.visit -> Visitor.visit_a",
            "Visitor.visit -> Visitor.visit_b",
            "Visitor.visit -> Visitor.fallback",
        },
    ),
    "comprehensions and lambdas count as the function they stand in": (
        """
        def f(): return [g(x) for x in map(lambda y: h(y), ())]
        def g(x): pass
        def h(y): pass
        """,
        {"f -> g", "f -> h"},
    ),
    "class methods, static methods and Self": (
        """
        from typing import Self
        class A:
            @classmethod
            def make(cls) -> Self: return cls()
            @staticmethod
            def check(): pass
            def go(self): pass
            def __init__(self): pass
        def f():
            A.make().go()
            A.check()
        """,
        {"A.make -> A.__init__", "f -> A.make", "f -> A.go", "f -> A.check"},
    ),
    "a mixin's self is what it is mixed into": (
        """
        class Named:
            def label(self): return self.read()
        class Store:
            def read(self): pass
        class File(Named, Store): pass
        """,
        {"Named.label -> Store.read"},
    ),
    "a protocol is whatever is given, and what a function really gives back": (
        """
        from typing import Protocol
        class Visit(Protocol):
            def __call__(self, node): ...
        class Closing(Protocol):
            def close(self): ...
        class Visitor:
            def method(self, node) -> Visit: return getattr(self, f"visit_{node}")
            def visit(self, node): self.method(node)(node)
            def visit_a(self, node): pass
        class File:
            def close(self): pass
        def end(thing: Closing): thing.close()
        def f(): end(File())
        """,
        {
            "Visitor.visit -> Visitor.method",
            "Visitor.visit -> Visitor.visit_a",
            "f -> end",
            "f -> File",
            "end -> File.close",
            "end -> Closing.close",
        },
    ),
    "generic functions give back what they are given": (
        """
        def same(x): return x
        class A:
            def go(self): pass
        class B:
            def go(self): pass
        def f(): same(A()).go()
        def g(): same(B()).go()
        """,
        {"f -> A", "f -> same", "f -> A.go", "g -> B", "g -> same", "g -> B.go"},
    ),
    "property as a function, and who deletes": (
        """
        def pair():
            def get(self): pass
            def put(self, value): pass
            return property(get, put)
        class A:
            def _read(self): pass
            def _drop(self): pass
            name = property(_read, fdel=_drop)
            other = pair()
        def f(a: A):
            a.name
            del a.name
        def g(a: A):
            a.other
            a.other = 1
        """,
        {"<module> -> pair", "f -> A._read", "f -> A._drop", "g -> pair.get", "g -> pair.put"},
    ),
    "descriptors that are set, and classes that watch it": (
        """
        class Field:
            def __set__(self, owner, value): value.go()
        class Value:
            def go(self): pass
        class A:
            field = Field()
        class Watched:
            def __setattr__(self, name, value): pass
            def __delattr__(self, name): pass
        def f(a: A): a.field = Value()
        def g(w: Watched):
            w.field = 1
            del w.field
        """,
        {
            "<module> -> Field",
            "f -> Field.__set__",
            "f -> Value",
            "Field.__set__ -> Value.go",
            "g -> Watched.__setattr__",
            "g -> Watched.__delattr__",
        },
    ),
    "__getattr__ of what is only declared": (
        """
        class Options:
            size: int
            def __getattr__(self, name): pass
        def f(options: Options): options.size
        """,
        {"f -> Options.__getattr__"},
    ),
    "keys of dictionaries, and what containers are asked for": (
        """
        class Key:
            def __hash__(self): pass
            def __eq__(self, other): pass
        def put(key: Key):
            found = {}
            found[key] = 1
        def get(key: Key, found: dict[Key, int]): return found.get(key)
        def ask(key: Key, keys: list[Key]): return key in keys
        def drop(key: Key, keys: dict[Key, int]): del keys[key]
        """,
        {
            "put -> Key.__hash__",
            "put -> Key.__eq__",
            "get -> Key.__hash__",
            "get -> Key.__eq__",
            "ask -> Key.__eq__",
            "drop -> Key.__hash__",
            "drop -> Key.__eq__",
        },
    ),
    "what an index of a target calls, and containers in containers": (
        """
        class A:
            def go(self): pass
        def place(): pass
        def f():
            found = {}
            found[place()] = []
            found[place()].append(A())
            for each in found["a"]:
                each.go()
        """,
        {"f -> place", "f -> A", "f -> A.go"},
    ),
    "text made with %": (
        """
        class A:
            def __str__(self): pass
        def f(a: A): return "%s of %s" % (a, 1)
        """,
        {"f -> A.__str__"},
    ),
    "one of a table": (
        """
        def a(): pass
        def b(): pass
        def c(): pass
        def d(): pass
        def e(): pass
        STEPS = {"a": a, "b": b, "c": c, "d": d, "e": e}
        def f(name): STEPS[name]()
        """,
        {"f -> a", "f -> b", "f -> c", "f -> d", "f -> e"},
    ),
    "what a method is called on is what it returns": (
        """
        class Base:
            @classmethod
            def make(cls): return cls()
            def same(self): return self
        class Own(Base):
            def go(self): pass
        def f(): Own.make().same().go()
        """,
        {"Base.make -> Base", "f -> Base.make", "f -> Base.same", "f -> Own.go"},
    ),
    "what is set on a class or a module from outside, or by its name": (
        """
        import a
        class Settings: pass
        class Own:
            def use(self): self.step()
        def first(): pass
        def second(): pass
        def third(self): pass
        def change(own: Own):
            Settings.step = first
            setattr(a, "hook", second)
            setattr(Own, "step", third)
        def f(own: Own):
            Settings.step()
            a.hook()
        """,
        {"f -> first", "f -> second", "Own.use -> third"},
    ),
    "isinstance says what else a name may be": (
        """
        class Node: pass
        class Leaf(Node):
            def text(self): pass
        class Other:
            def text(self): pass
        def f(x):
            if isinstance(x, Leaf): return x.text()
            if isinstance(x, (Other, str)): return x.text()
        def g(x: Node):
            if isinstance(x, Leaf): x.text()
        """,
        {"f -> Leaf.text", "f -> Other.text", "g -> Leaf.text"},
    ),
    "the functions of a property": (
        """
        def read(self): pass
        def write(self, value): pass
        def wrapped(prop):
            def fget(self): return prop.fget(self)
            def fset(self, value): prop.fset(self, value)
            return property(fget, fset)
        class A:
            name = wrapped(property(read, write))
        def f(a: A): return a.name
        """,
        {"<module> -> wrapped", "f -> wrapped.fget", "wrapped.fget -> read", "wrapped.fset -> write"},
    ),
    "what goes into sets and is looked for there": (
        """
        class Key:
            def __hash__(self): pass
        def made(key: Key): return set([key])
        def added(key: Key, keys: set): keys = set(); keys.add(key)
        def joined(keys: list[Key]): return keys | set()
        def of_pair(key: Key): return {(key, 1): 2}
        def asked(key: Key): return hash((key, 1))
        """,
        {
            "made -> Key.__hash__",
            "added -> Key.__hash__",
            "joined -> Key.__hash__",
            "of_pair -> Key.__hash__",
            "asked -> Key.__hash__",
        },
    ),
    "names made with % and format": (
        """
        class Walk:
            def by_percent(self, kind): getattr(self, "see_%s" % kind)()
            def by_format(self, kind): getattr(self, "go_{}".format(kind))()
            def see_a(self): pass
            def go_b(self): pass
        """,
        {"Walk.by_percent -> Walk.see_a", "Walk.by_format -> Walk.go_b"},
    ),
    "what creating a class calls": (
        """
        class Meta(type):
            def __new__(mcs, name, bases, body): pass
            def __init__(cls, name, bases, body): pass
        class Named:
            def __set_name__(self, owner, name): pass
        class Base(metaclass=Meta):
            def __init_subclass__(cls): pass
        class Own(Base):
            field = Named()
        """,
        {
            "<module> -> Meta.__new__",
            "<module> -> Meta.__init__",
            "<module> -> Base.__init_subclass__",
            "<module> -> Named",
            "<module> -> Named.__set_name__",
        },
    ),
    "a class that subclasses name": (
        """
        class Reader:
            def __init__(self): pass
        class Base:
            reader = None
            def open(self): return self.reader()
        class Own(Base):
            reader = Reader
        """,
        {"Base.open -> Reader.__init__"},
    ),
    "a subclass of what is asked for": (
        """
        class Failure(Exception):
            def __init__(self): pass
        class Worse(Failure):
            def __init__(self): pass
        def fail(kind: type[Failure]): raise kind()
        """,
        {"fail -> Failure.__init__", "fail -> Worse.__init__"},
    ),
    "what is handed to something unknown": (
        """
        def replaced(match): pass
        def f(pattern): return pattern.sub(replaced, "")
        """,
        {"f -> replaced"},
    ),
    "of several functions those that take the arguments": (
        """
        def none(): pass
        def one(a): pass
        def two(a, b): pass
        def named(a, *, deep): pass
        def any_of(*given, **more): pass
        def late(a, b=1): pass
        def f():
            for step in [none, one, two, named, any_of, late]: step(1)
            for step in [one, named, any_of]: step(1, deep=2)
        def g(given):
            for step in [two, none]: step(*given)
        """,
        {"f -> one", "f -> named", "f -> any_of", "f -> late", "g -> two", "g -> none"},
    ),
    "comparisons that the right operand answers, and what stands in for an operator": (
        """
        class Word:
            def __eq__(self, other): pass
            def __gt__(self, other): pass
            def __iter__(self): pass
        def equal(word: Word): return "a" == word
        def unequal(word: Word): return word != "a"
        def less(word: Word): return 1 < word
        def held(word: Word): return "a" in word
        """,
        {"equal -> Word.__eq__", "unequal -> Word.__eq__", "less -> Word.__gt__", "held -> Word.__iter__"},
    ),
    "text made with format, and attributes that are asked for by name": (
        """
        class A:
            def __str__(self): pass
            @property
            def size(self): pass
        class Proxy:
            def __getattr__(self, name): pass
        def shown(a: A): return "{}: {b}".format(a, b=1)
        def asked(a: A): return hasattr(a, "size")
        def any_of(proxy: Proxy, name): return getattr(proxy, name)
        """,
        {"shown -> A.__str__", "asked -> A.size", "any_of -> Proxy.__getattr__"},
    ),
    "versions of a function for several platforms": (
        """
        import sys
        if sys.platform == "win32":
            def open_it(): first()
        else:
            def open_it(): second()
        def first(): pass
        def second(): pass
        def f(): open_it()
        """,
        {"f -> open_it", "open_it -> first", "open_it -> second"},
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_calls_are_resolved(rule):
    source, expected = RULES[rule]
    assert edges_of({"a.py": source}) == expected


UNSURE = {
    "one of several": (
        """
        class A:
            def go(self): pass
        class B:
            def go(self): pass
        def f(kind):
            one = A() if kind else B()
            one.go()
        """,
        {"f -> A.go", "f -> B.go"},
    ),
    "a method that a subclass overrides": (
        """
        class A:
            def go(self): pass
        class B(A):
            def go(self): pass
        def f(a: A): a.go()
        """,
        {"f -> A.go", "f -> B.go"},
    ),
    "an attribute that is not seen to be assigned": (
        """
        class A:
            def __getattr__(self, name): pass
        def f(a: A): a.thing
        """,
        {"f -> A.__getattr__"},
    ),
    "a special method that only a subclass has, and what it is in the way of": (
        """
        class Base:
            @property
            def name(self): pass
            @name.setter
            def name(self, value): pass
            def f(self): self.name = 1
        class Watching(Base):
            def __setattr__(self, name, value): pass
        """,
        {"Base.f -> Base.name", "Base.f -> Watching.__setattr__"},
    ),
    "a method that calls itself of another object": (
        """
        class Wrapper:
            def __init__(self, inner): self.inner = inner
            def read(self): return self.inner.read()
        Wrapper(Wrapper(None))
        """,
        {"Wrapper.read -> Wrapper.read"},
    ),
    "a property that is read and kept": (
        """
        from functools import cached_property
        class A:
            @cached_property
            def size(self): pass
        def f(a: A): return a.size
        """,
        {"f -> A.size"},
    ),
    "what iterates over one of several": (
        """
        class A:
            def __iter__(self): pass
        def f(kind):
            for each in A() if kind else []: pass
        """,
        {"f -> A.__iter__"},
    ),
    "an operator of what is given to a parameter": (
        """
        class A:
            def __str__(self): pass
        def shown(thing): return str(thing)
        shown(A())
        """,
        {"shown -> A.__str__"},
    ),
    "what a handler follows from the middle of": (
        """
        class A:
            def go(self): pass
        class B:
            def go(self): pass
        def f(step):
            x = A()
            try:
                if step:
                    x = B()
                    return step()
            except Exception: x.go()
        """,
        {"f -> A.go", "f -> B.go"},
    ),
    "what follows where an error may have been suppressed": (
        """
        class A:
            def go(self): pass
        class B:
            def go(self): pass
        def f(step):
            with contextlib.suppress(Exception):
                x = B()
                step()
                x = A()
            x.go()
        """,
        {"f -> A.go", "f -> B.go"},
    ),
    "a name that a function within binds": (
        """
        class A:
            def go(self): pass
        class B:
            def go(self): pass
        def f():
            x = A()
            def other():
                nonlocal x
                x = B()
            other()
            x.go()
        """,
        {"f -> A.go", "f -> B.go"},
    ),
}


@pytest.mark.parametrize("rule", UNSURE)
def test_calls_of_which_others_may_happen_instead_are_only_likely(rule):
    source, unsure = UNSURE[rule]
    assert unsure <= edges_of({"a.py": source})
    assert unsure.isdisjoint(edges_of({"a.py": source}, least=CERTAIN))


def test_a_long_list_of_functions_is_called_whole():
    names = [f"step_{number}" for number in range(50)]
    source = "".join(f"def {name}(): pass\n" for name in names)
    source += f"def run():\n    for step in [{', '.join(names)}]: step()\n"
    assert edges_of({"a.py": source}) == {f"run -> {name}" for name in names}


@pytest.mark.timeout(120)
def test_a_name_that_is_bound_thousands_of_times_is_soon_resolved():
    """Where each of so many statements was read for each other, this took minutes."""
    lines = "".join(f"x = [f{number}() for f{number} in x]\n" for number in range(20_000))
    files = {"a.py": lines, "b.py": "def f(): g()\ndef g(): pass\n"}
    assert edges_of(files) == {"b.py:f -> b.py:g"}


def test_of_many_functions_handed_on_none_is_likely_to_be_called():
    names = [f"step_{number}" for number in range(5)]
    defined = "".join(f"def {name}(): pass\n" for name in names)
    source = defined + f"def run(step):\n    register(step)\nfor s in [{', '.join(names)}]: run(s)\n"
    found = edges_of({"a.py": f"from other import register\n{source}"})
    assert {each for each in found if not each.startswith("<module>")} == set()
    assert edges_of({"a.py": "from other import register\ndef s(): pass\nregister(s)\n"}) == {"<module> -> s"}


def test_of_a_dozen_overriding_methods_or_possible_classes_each_is_likely():
    names = [f"C{number}" for number in range(20)]
    overriding = "".join(f"class {name}(Base):\n    def go(self): pass\n" for name in names)
    source = f"class Base:\n    def go(self): pass\n{overriding}def run(one: Base): one.go()\n"
    assert edges_of({"a.py": source}) == {f"run -> {name}.go" for name in ["Base", *names]}
    apart = "".join(f"class {name}:\n    def go(self): pass\n" for name in names)
    source = f"{apart}KINDS = {{{', '.join(f'{name!r}: {name}' for name in names)}}}\n"
    source += "def run(kind): KINDS[kind]().go()\n"
    assert {f"run -> {name}.go" for name in names} <= edges_of({"a.py": source})


def test_what_a_registry_is_given_in_files_that_come_later_is_known():
    made = "".join(f"class C{number}:\n    def go(self): pass\n" for number in range(4))
    given = "".join(f"    run.steps.add(C{number}(), 'c{number}')\n" for number in range(4))
    files = {
        "a_run.py": "from c_steps import Steps\nclass Run:\n    def __init__(self): self.steps = Steps()\n"
        "    def run(self):\n        for step in self.steps: step.go()\n",
        "b_build.py": f"from a_run import Run\n{made}def build():\n    run = Run()\n{given}",
        "c_steps.py": """
            class Steps:
                def __init__(self):
                    self.held = {}
                    self.order = []
                def __iter__(self): return iter([self.held[name] for name in self.order])
                def add(self, step, name):
                    self.order.append(name)
                    self.held[name] = step
        """,
    }
    found = {edge for edge in edges_of(files) if edge.startswith("a_run.py:Run.run") and "go" in edge}
    assert found == {f"a_run.py:Run.run -> b_build.py:C{number}.go" for number in range(4)}


def test_decorators_are_applied_however_deep_their_function_is_first_met():
    files = {
        "a.py": """
        import b
        def first(): second()
        def second(): b.group()
        """,
        "b.py": """
        def group():
            for each in [work]: each()
        def twice(count):
            def decorate(function):
                def wrapper(): function()
                return wrapper
            return decorate
        @twice(2)
        def work(): pass
        """,
    }
    assert {edge for edge in edges_of(files) if edge.startswith("b.py:group")} == {
        "b.py:group -> b.py:twice.decorate.wrapper",
        "b.py:group -> b.py:work",
    }


def test_what_hands_its_parameter_back_gives_each_caller_its_own_however_many_there_are():
    count = MOST + 20
    source = "def keep(f):\n    kept = f\n    return kept\n" + "".join(
        f"@keep\ndef work_{n}(): pass\ndef use_{n}(): work_{n}()\n" for n in range(count)
    )
    expected = {"<module> -> keep", *(f"use_{n} -> work_{n}" for n in range(count))}
    assert edges_of({"a.py": source}) == expected
    calls = calls_of({"a.py": source})
    last = [own for own, node in calls.nodes() if node.name == f"work_{count - 1}"]
    assert [edge.caller.name for edge in calls.callers(last)] == [f"use_{count - 1}"]


def test_one_function_asked_about_alone_knows_what_others_give_it():
    files = {
        "shop/run.py": "from .cart import Cart\nfrom .work import fill\ndef run(): fill(Cart())\n",
        "shop/work.py": "def fill(cart): cart.add()\n",
        "shop/cart.py": "class Cart:\n    def add(self): pass\n",
    }
    calls = calls_of(files)
    fill = [own for own, node in calls.nodes() if node.name == "fill"]
    add = [own for own, node in calls_of(files).nodes() if node.name == "Cart.add"]
    assert [edge.callee.name for edge in calls.callees(fill)] == ["Cart.add"]
    assert [edge.caller.name for edge in calls_of(files).callers(add)] == ["fill"]


CONSTRUCTED = {
    "base.py": "class Base:\n    def __init__(self): pass\n",
    "own.py": "from base import Base as Root\nclass Own(Root):\n    def __init__(self): super().__init__()\n",
}


def test_callers_through_super_are_found_whatever_the_import_calls_the_class():
    assert {edge.caller.name for edge in callers_of("Base.__init__", CONSTRUCTED)[0]} == {"Own.__init__"}


def test_super_in_files_that_do_not_name_the_class_is_not_read_for_its_callers(monkeypatch):
    monkeypatch.setattr(python_view, "NEAR", 0)
    other = "class Other(Strange):\n    def __init__(self): super().__init__()\n"
    expected = callers_of("Base.__init__", CONSTRUCTED)
    assert callers_of("Base.__init__", {**CONSTRUCTED, "other.py": other}) == expected


def callers_of(name, files):
    """The calls of what has a name, and how many bodies were read for it."""
    read = []
    calls = calls_of(files, lambda: read.append(None))
    own = [own for own, node in calls.nodes() if node.name == name]
    return calls.callers(own), len(read)


def test_a_method_by_its_name_alone_is_likely_where_hardly_any_other_has_that_name():
    caller = {"b.py": "def f(x): x.settle()\n"}

    def classes(count: int, name: str) -> dict[str, str]:
        return {f"a{n}.py": f"class A{n}:\n    def {name}(self): pass\n" for n in range(count)}

    assert edges_of(classes(1, "settle") | caller) == {"b.py:f -> a0.py:A0.settle"}
    assert edges_of(classes(1, "settle") | caller, least=CERTAIN) == set()
    assert edges_of(classes(4, "settle") | caller) == set()
    assert edges_of(classes(1, "append") | {"b.py": "def f(x): x.append(1)\n"}) == set()
    assert edges_of(classes(1, "settle") | {"b.py": "def settle(): pass\ndef f(x): settle()\n"}) == {
        "b.py:f -> b.py:settle"
    }


def test_a_method_by_its_name_alone_may_be_one_of_many_of_a_family_that_take_the_arguments():
    source = """
    class Base:
        def settle(self, at): pass
    class A(Base):
        def settle(self, at): pass
    class B(Base):
        def settle(self, at, of=1): pass
    class C(Base):
        def settle(self, at): pass
    class D(Base):
        def settle(self): pass
    def f(x): x.settle(1)
    """
    assert edges_of({"a.py": source}) == {f"f -> {name}.settle" for name in ("Base", "A", "B", "C")}


def test_what_a_known_class_does_not_have_is_something_elses():
    source = """
    class Known:
        def other(self): pass
    class Dynamic:
        def __getattr__(self, name): pass
    class Thread(threading.Thread): pass
    class Unknown:
        def settle(self): pass
    def use(x): x.settle()
    use(Known())
    def ask(x): x.settle()
    ask(Dynamic())
    def start(x): x.settle()
    start(Thread())
    """
    found = {edge for edge in edges_of({"a.py": source}) if edge.endswith("settle")}
    assert found == {"use -> Unknown.settle"}


def test_an_attribute_of_something_unknown_is_called_by_its_name_alone():
    source = """
    class Box:
        def __call__(self, field): pass
    class Field:
        shown_by = Box()
    def render(field): return field.shown_by(field)
    """
    assert edges_of({"a.py": source}) == {"<module> -> Box", "render -> Box.__call__"}


def test_a_property_of_something_unknown_is_read_by_its_name_where_nothing_assigns_it():
    read = """
    class A:
        @property
        def extent(self): pass
    def f(x): return x.extent
    """
    assigned = """
    class B:
        def __init__(self, extent): self.extent = extent
    """
    assert edges_of({"a.py": read}) == {"f -> A.extent"}
    assert edges_of({"a.py": read, "b.py": assigned}) == set()


def test_a_name_alone_says_nothing_once_it_is_known_what_has_it():
    source = """
    class Known:
        def settle(self): pass
    class Other:
        def settle(self): pass
    def use(x): x.settle()
    use(Known())
    """
    assert edges_of({"a.py": source}) == {"<module> -> Known", "<module> -> use", "use -> Known.settle"}


def test_a_method_that_only_raises_gives_way_to_its_overrides():
    source = """
    class A:
        def go(self): raise NotImplementedError
        def run(self): self.go()
    class B(A):
        def go(self): pass
    """
    assert edges_of({"a.py": source}) == {"A.run -> B.go"}


def test_code_that_does_not_parse_or_runs_in_circles_ends():
    files = {
        "a.py": "from b import *\nclass A(B): pass\ndef f(: g()\ndef g(): return g()\n",
        "b.py": "from a import *\nfrom a import A\nclass B(A): pass\nx = y\ny = x\n",
    }
    assert "a.py:g -> a.py:g" in edges_of(files)


MANY = 1_500
"""More than Python's own limit on recursion."""

DEEP = 900
"""Blocks in blocks that the grammar still reads, and a reader that recurses does not."""

ENDLESS = {
    "modules that import all names of each other": {
        "a.py": "from b import *\nprint()\nf()\n",
        "b.py": "from a import *\ndef f(): print()\n",
    },
    "a chain of modules that import all names": {
        "a.py": "from m0 import *\ndef f(): pass\nf()\nnowhere()\n",
        **{f"m{i}.py": f"from m{i + 1} import *\n" for i in range(MANY)},
    },
    "instances whose __call__ is one": {
        "a.py": "def f() -> A: pass\nclass A:\n    __call__ = f()\nf()()\n",
    },
    "a chain of classes": {
        "a.py": "def f(): pass\nf()\nclass A0:\n    def f(self): self.f()\n"
        + "".join(f"class A{i + 1}(A{i}): pass\n" for i in range(MANY))
        + f"A{MANY}().f()\n",
    },
    "functions in functions": {
        "a.py": "def f(): pass\nf()\n"
        + "".join(f"{' ' * i}def f{i}():\n" for i in range(DEEP))
        + f"{' ' * DEEP}f()\n",
    },
    "branches in branches": {
        "a.py": "def f(): pass\nf()\n"
        + "".join(f"{' ' * i}if f():\n" for i in range(DEEP))
        + f"{' ' * DEEP}f()\n",
    },
    "tests in tests": {
        "a.py": "def f(): pass\nf()\ndef g(x):\n    return "
        + "x if isinstance(x, " * 40
        + "int"
        + ") else f()" * 40
        + "\n",
    },
    "types of nothing": {
        "a.py": "def f(x: Callable[()], y: List[()]): x()\nf()\n",
    },
}


def all_calls_of(files):
    calls = calls_of(files)
    return calls.callees([own for own, _ in calls.nodes()])


@pytest.mark.parametrize("files", ENDLESS.values(), ids=ENDLESS)
def test_what_nests_or_circles_beyond_measure_costs_no_other_call(files):
    found = {(edge.caller.path, edge.caller.name, edge.callee.name) for edge in all_calls_of(files)}
    assert ("a.py", "<module>", "f") in found


_PRINT_CALLS = """
from tests.support.callgraphs import calls_of

source = '''
class Visitor:
    def visit(self, node):
        return getattr(self, f"visit_{node}", self.fallback)(node)
    def visit_a(self, node): pass
    def fallback(self, node): pass
'''
calls = calls_of({"a.py": source})
for edge in calls.callees([own for own, _ in calls.nodes()]):
    print(edge.caller.name, edge.callee.name, edge.confidence)
"""


def test_calls_are_as_sure_in_every_process():
    """String hashes, and so the order of sets, differ between processes; the answer must not."""
    said = {
        subprocess.run(
            [sys.executable, "-c", _PRINT_CALLS],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(6)
    }
    assert said == {"Visitor.visit Visitor.fallback 1.0\nVisitor.visit Visitor.visit_a 0.6\n"}


@pytest.mark.slow
def test_a_row_of_classes_may_be_longer_than_pythons_stack():
    row = "".join(f"class A{number}(A{number - 1}): pass\n" for number in range(1, 2_001))
    source = (
        f"class A0:\n    def near(self): helper()\n{row}def helper(): pass\ndef run():\n    A150().near()\n"
    )
    source += "    A2000().far()\n"
    assert edges_of({"a.py": source}) == {
        "A0.near -> helper",
        *(f"run -> {callee}" for callee in ("A150", "A2000", "A0.near")),
    }


@pytest.mark.slow
def test_all_of_a_row_of_classes_may_override_a_method():
    row = "".join(f"class A{number}(A{number - 1}):\n    def go(self): pass\n" for number in range(1, 1_501))
    source = f"class A0:\n    def go(self): pass\n{row}def run(a: A0): a.go()\n"
    assert edges_of({"a.py": source}) == {"run -> A0.go"}


def test_a_body_may_lie_deeper_than_pythons_stack():
    levels = 400
    lines = [" " * level + f"def f{level}():" for level in range(levels)]
    source = "\n".join([*lines, " " * levels + "outermost()", "def outermost(): pass", ""])
    innermost = ".".join(f"f{level}" for level in range(levels))
    assert edges_of({"a.py": source}) == {f"{innermost} -> outermost"}


def test_many_names_are_found_like_few():
    """One scan stands in for a search of each name: rows times names took minutes for a large file."""
    source = (
        'def naïve(größe):\n    return größe(say("a \\"quoted\\" name, \\\\"), x.y)\n' * 3
        + "def x(): x.z()\n"
    )
    ((_, packed),) = extract_all([(1, source.encode(), "python")])
    module = PythonModule("a.py", unpack(packed))
    names = ["größe", "naïve", "y", "z", "quoted", "absent"]
    few = {place for name in names for place in module.mentioning([name])}
    assert few == set(module.mentioning([*names, *(f"padding{i}" for i in range(100))]))
    assert len(few) == 4


def test_orders_of_resolution_are_pythons_own():
    """Random hierarchies of classes, as Python itself linearises them."""
    random = Random(7)
    for _ in range(300):
        made: dict[tuple[str, int], type] = {}
        for number in range(random.randint(1, 12)):
            bases = random.sample(sorted(made), min(len(made), random.randint(0, 3)))
            try:
                cls = type(f"C{number}", tuple(made[base] for base in bases), {})
            except TypeError:  # there is no consistent order
                continue
            made["c.py", number] = cls
            ids = {each: own for own, each in made.items()}
            expected = [ids[each] for each in cls.__mro__[:-1]]
            lines = [[ids[each] for each in made[base].__mro__[:-1]] for base in bases]
            assert linearised(("c.py", number), [*lines, bases]) == expected


def test_a_class_that_inherits_from_itself_has_an_order():
    own, base, other = (("c.py", number) for number in range(3))
    assert linearised(own, [[base, own, other], [other, base], [base, other]]) == [own, base, other]


def test_a_directory_without_an_init_is_a_package():
    """PEP 420: wherever its root lies; what begins with a name of Python's own is Python's."""
    files = {
        "services/api/shop/cart/total.py": "def add():\n    pass\n",
        "services/api/main.py": """
            import shop.cart.total
            import shop.cart.total as total
            from shop.cart import total as again
            from shop.cart.total import add

            def dotted():
                shop.cart.total.add()

            def renamed():
                total.add()

            def imported():
                again.add()

            def named():
                add()
        """,
        "tools/json/decoder.py": "def scan():\n    pass\n",
        "other/use.py": "import json.decoder\n\ndef f():\n    json.decoder.scan()\n",
    }
    total, main = "services/api/shop/cart/total.py", "services/api/main.py"
    assert edges_of(files) == {
        f"{main}:{name} -> {total}:add" for name in ("dotted", "renamed", "imported", "named")
    }
