"""Calls of Python that definitions drawn by lot from applications showed to be missed or wrong."""

from __future__ import annotations

import pytest

from tests.support.callgraphs import calls_of, edges_of
from tests.unit.callgraph.test_applications import shown

MIXED = """
class Base:
    def get(self): return []
    def sync(self): return 0
class Gets(Base):
    def get(self): return [1]
class Syncs(Base):
    def sync(self): return self.get()
class Whole(Gets, Syncs): pass
"""
RESTORED = """
class Base:
    def sync(self): return 1
class Own(Base):
    def sync(self): return 2
class Restored(Own):
    sync = Base.sync
def run(one: Base): one.sync()
"""
OVERRIDDEN_CALLER = """
def locked(f):
    def inner(*given): return f(*given)
    return inner
class Field:
    @locked
    def read(self): return self.convert()
    def convert(self): return 1
class Slug(Field):
    def read(self): return 2
    def convert(self): return 3
class Named(Field):
    def read(self): return super().read()
    def convert(self): return 4
class Plain(Field):
    def convert(self): return 5
"""
REQUEST = """
class Request:
    @property
    def method(self): return 1
    def inner(self): return self._request.method
class Route:
    def __init__(self, method): self.method = method
"""
CASES = {
    "what a class gets from beside it": (
        {"a.py": MIXED},
        {"Syncs.sync ~> Gets.get", "Syncs.sync ~> Base.get"},
    ),
    "what one subclass puts in place proves nothing of the others": (
        {"a.py": RESTORED},
        {"run ~> Base.sync", "run ~> Own.sync"},
    ),
    "an override of a class that has the caller overridden, too": (
        {"a.py": OVERRIDDEN_CALLER},
        {
            "Field.read ~> Field.convert",
            "Field.read ~> Named.convert",
            "Field.read ~> Plain.convert",
            "Named.read ~> Field.read",
            "Named.read -> locked.inner",
            "locked.inner -> Field.read",
            "<module> -> locked",
        },
    ),
    "a property of an object that is called like its class": (
        {"a.py": REQUEST, "b.py": "def f(request): request.method\ndef g(route): route.method\n"},
        {"f ~> Request.method"},
    ),
    "an attribute read by a name that is written": (
        {
            "a.py": "class File:\n    @property\n    def loader_class(self): return 1\n",
            "b.py": "def f(file): getattr(file, 'loader_class', None)\n",
            "tests/test_a.py": "class TestA:\n    def test(self, mock): mock.loader_class = 1\n",
        },
        {"f ~> File.loader_class"},
    ),
    "of methods of a name that of the class that the object is called like": (
        {
            "a.py": "class Port:\n    def set_port(self): pass\n"
            "class PortMapper:\n    def set_port(self): pass\n"
            "class Wide(PortMapper):\n    def set_port(self): pass\n",
            "b.py": "def f(_port_mapper): _port_mapper.set_port()\n",
        },
        {"f ~> PortMapper.set_port", "f ~> Wide.set_port"},
    ),
    "who takes a function out again does not call it": (
        {"a.py": "import bus\ndef go(): pass\ndef f(): bus.on(go)\ndef g(): bus.off(go); bus.a.remove(go)\n"},
        {"f ~> go"},
    ),
    "a class method of a base makes instances of subclasses": (
        {
            "a.py": "class M:\n    @classmethod\n    def build(cls, state): return cls(**state)\n"
            "class R(M):\n    def __init__(self, host): pass\n"
            "def load(s): return R.build(s)\n"
        },
        {"M.build ~> M", "M.build ~> R.__init__", "load -> M.build"},
    ),
    "a filter that a template of Jinja is given": (
        {
            "app.py": "from words import plural, day, tag, site\n"
            "def start(app):\n"
            "    app.jinja_env.filters['plural'] = plural\n"
            "    app.jinja_env.globals.update(tag=tag)\n"
            "    app.jinja_env.globals['other'] = 1\n"
            "@app.template_filter('days')\n"
            "def in_days(x): return day(x)\n",
            "words.py": "def plural(x): pass\ndef day(x): pass\ndef tag(): pass\ndef site(): pass\n",
            "templates/a.html": "{{ n|plural }}\n{{ n|days }}\n{{ tag() }}\n{{ n|site }}\n",
        },
        {
            "<module> ~> in_days",  # who decorates it, and the template
            "<module> ~> plural",
            "<module> ~> tag",
            "in_days -> day",
            "start ~> plural",
            "start ~> tag",
        },
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_these_are_all_calls_and_only_what_is_proved_is_certain(name):
    files, expected = CASES[name]
    assert shown(files) == expected


def test_a_decorator_is_called_in_its_own_line():
    source = """
    def first(f): return f
    def second(a): return first
    @first
    @second(
        1)
    # between
    @first
    def f(): pass
    class C:
        @property
        @first
        def g(self): pass
    """
    calls = calls_of({"a.py": source})
    own = [each for each, node in calls.nodes()]
    assert {edge.callee.name: edge.lines for edge in calls.callees(own)} == {
        "first": (4, 5, 8, 12),
        "second": (5,),
    }


def test_who_reads_an_attribute_by_a_written_name_is_among_the_callers():
    files = {
        "a.py": "class File:\n    @property\n    def loader_class(self): return 1\n",
        **{f"other{number}.py": "def f():\n    pass\n" * 100 for number in range(5)},
        "x/b.py": "def f(file): getattr(file, 'loader_class', None)\n",
    }
    calls = calls_of(files)
    own = next(own for own, node in calls.nodes() if node.name == "File.loader_class")
    assert {edge.caller.path for edge in calls.callers([own])} == {"x/b.py"}


@pytest.mark.parametrize("put", ["self.pages[user] = Chat()", "self.pages[user].append(Chat())"])
def test_what_a_method_puts_into_an_attribute_is_known_to_others_wherever_it_is_read(put):
    taken = "self.pages.get(user)" if "append" not in put else "self.pages[user][0]"
    source = f"""
    class Chat:
        def destroy(self): pass
    class Notebook:
        def __init__(self): self.pages = {{}}
    class Chats(Notebook):
        def show(self, user): {put}
        def close(self, user): {taken}.destroy()
    """
    others = [f"class C{n}:\n    def destroy(self): pass\ndef f{n}(x): x.destroy()\n" for n in range(400)]
    calls = calls_of({"a.py": source, "b.py": "".join(others)})
    own = next(own for own, node in calls.nodes() if node.name == "Chat.destroy")
    assert {edge.caller.name for edge in calls.callers([own])} == {"Chats.close"}


def test_a_read_and_a_call_in_a_string_are_in_their_own_lines():
    source = '''
    class Event:
        @property
        def place(self): return 1
        def show(self): return 2
    def read(event: Event):
        return [
            event.place,
            event
            .place,
        ]
    def template(html):
        html(
            """
            {{ event.show() }}
            """)
    '''
    calls = calls_of({"a.py": source})
    own = [each for each, node in calls.nodes()]
    found = {(edge.caller.name, edge.callee.name): edge.lines for edge in calls.callees(own)}
    assert found == {("read", "Event.place"): (8, 10), ("template", "Event.show"): (15,)}


def test_what_goes_round_lists_ends():
    source = (
        "def keep(e): return [x for x in e if x]\n"
        "def narrow(e):\n" + "    e = keep(e)\n" * 5 + "    return e\n"
        "def load(o):\n    e = []\n    e += narrow(o)\n    e = narrow(e)\n    return e, 0\n"
    )
    assert shown({"m.py": source}) == {"load -> narrow", "narrow -> keep"}


TWO = """
class A:
    def run(self): return 1
class B:
    def run(self): return 2
"""
MIXED_PROPERTIES = """
class P:
    def go(self): return self.val
class Q(P):
    @property
    def val(self): return 1
class R(P):
    @property
    def val(self): return 2
"""
PROVED = {
    "before and behind the branch of a test": (
        "def f(x):\n    x.run()\n    if isinstance(x, A):\n        y = 1\n    x.run()\n",
        {"f ~> A.run", "f ~> B.run"},
    ),
    "in the branch of a test": ("def f(x):\n    if isinstance(x, A): x.run()\n", {"f -> A.run"}),
    "in the other branch": ("def f(x):\n    if isinstance(x, A): pass\n    else: x.run()\n", {"f ~> A.run"}),
    "behind what leaves unless it holds": (
        "def f(x, y):\n    if y or not isinstance(x, A):\n        raise ValueError\n    x.run()\n",
        {"f -> A.run"},
    ),
    "behind what goes on to the next unless it holds": (
        "def f(xs):\n  for x in xs:\n    if not isinstance(x, A): continue\n    x.run()\n",
        {"f -> A.run"},
    ),
    "behind `and`": ("def f(x): return isinstance(x, A) and x.run()\n", {"f -> A.run"}),
    "behind `or`": ("def f(x): return isinstance(x, A) or x.run()\n", {"f ~> A.run"}),
    "behind `or` of what does not hold": (
        "def f(x): return not isinstance(x, A) or x.run()\n",
        {"f -> A.run"},
    ),
    "in a conditional expression": (
        "def f(x): return x.run() if isinstance(x, A) else None\n",
        {"f -> A.run"},
    ),
    "in its other part": (
        "def f(x): return None if isinstance(x, A) else x.run()\n",
        {"f ~> A.run", "f ~> B.run"},
    ),
    "in a comprehension": ("def f(xs): return [x.run() for x in xs if isinstance(x, A)]\n", {"f -> A.run"}),
    "a comprehension's own names": (
        "def f(x):\n    a = [x for x in [A()]]\n    x.run()\n",
        {"f -> A", "f ~> A.run", "f ~> B.run"},
    ),
    "behind an assertion": ("def f(x):\n    assert isinstance(x, A)\n    x.run()\n", {"f -> A.run"}),
    "what is assigned in the branch": (
        "def f(x, o):\n    if isinstance(x, A):\n        x = o\n        x.run()\n",
        {"f ~> A.run", "f ~> B.run"},
    ),
    "what is assigned later": (
        "def f(x):\n    x.run()\n    x = A()\n",
        {"f -> A", "f ~> A.run", "f ~> B.run"},
    ),
    "what another branch assigns": (
        "def f(x, c):\n    if c: x = A()\n    else: x.run()\n",
        {"f -> A", "f ~> A.run", "f ~> B.run"},
    ),
    "a name that two loops have": (
        "def f():\n    for x in [A()]: x.run()\n    for x in [B()]: x.run()\n",
        {"f -> A", "f -> A.run", "f -> B", "f -> B.run"},
    ),
    "the class itself": ("def f(x):\n    if type(x) is A: x.run()\n", {"f -> A.run"}),
    "another class": ("def f(x):\n    if type(x) is not A: x.run()\n", {"f ~> A.run", "f ~> B.run"}),
    "a case": (
        "def f(x):\n    match x:\n        case A(): x.run()\n        case B() as b: b.run()\n",
        {"f -> A.run", "f -> B.run"},
    ),
    "a name that a case binds": (
        "def run(): pass\ndef f(x):\n    match x:\n        case {'k': run}: run()\n",
        set(),
    ),
    "a lambda's own names": (
        "x = A()\nf = lambda x: x.run()\n",
        {"<module> -> A", "<module> ~> A.run", "<module> ~> B.run"},
    ),
    "a lambda's own names in a function": (
        "def f():\n    x = A()\n    return lambda x: x.run()\n",
        {"f -> A", "f ~> A.run", "f ~> B.run"},
    ),
    "what a handler assigns": (
        "def f(x):\n  try:\n    x = A()\n    x.run()\n  except E:\n    x = B()\n    x.run()\n",
        {"f -> A", "f -> A.run", "f -> B", "f -> B.run"},
    ),
    "the condition of a loop": (
        "def f(x):\n    while isinstance(x, A):\n        x.run()\n        x = x.next\n    x.run()\n",
        {"f -> A.run", "f ~> B.run"},
    ),
    "one of a class and something unknown": (
        "from u import U\ndef f(x):\n    if isinstance(x, (A, U)): x.run()\n",
        {"f ~> A.run"},
    ),
    "what a function assigns outside of it": (
        "x = A()\ndef g():\n    global x\n    x = B()\ndef f(): x.run()\n",
        {"<module> -> A", "f ~> A.run", "f ~> B.run", "g -> B"},
    ),
    "a name that the test binds": (
        "def f(o):\n    if isinstance(x := o.get(), A): x.run()\n",
        {"f -> A.run"},
    ),
    "what stands in for a missing import": (
        "try:\n    from u import h\nexcept ImportError:\n    def h(): pass\ndef f(): h()\n",
        {"f ~> h"},
    ),
    "in a function within the branch": (
        "def f(x):\n    if isinstance(x, A):\n        def g(): return x.run()\n        return g\n",
        {"f.g ~> A.run"},
    ),
    "properties of several subclasses": (
        MIXED_PROPERTIES,
        {"P.go ~> Q.val", "P.go ~> R.val"},
    ),
}
"""What is certain where: by a test of a name's class, and by the order of assignments."""


@pytest.mark.parametrize(("source", "expected"), PROVED.values(), ids=PROVED)
def test_only_what_is_proved_at_a_place_is_certain(source: str, expected: set[str]):
    assert shown({"a.py": TWO + source}) == expected


def test_what_is_put_into_something_outside_stays_in_its_source_root():
    source = """
    from conf import state
    class {0}:
        def run(self): return 1
    def put(): state.it = {0}()
    def use(): state.it.run()
    """
    files = {f"{root}/app/a.py": source.format(name) for root, name in (("one", "A"), ("two", "B"))}
    files |= {"one/app/__init__.py": "x = 1", "two/app/__init__.py": "x = 1"}
    files["use.py"] = "from conf import state\ndef both(): state.it.run()\n"
    assert {each for each in edges_of(files) if each.endswith(".run")} == {
        "one/app/a.py:use -> one/app/a.py:A.run",
        "two/app/a.py:use -> two/app/a.py:B.run",
        "use.py:both -> one/app/a.py:A.run",
        "use.py:both -> two/app/a.py:B.run",
    }


def test_who_runs_a_decorator_is_the_scope_around_what_is_decorated():
    source = """
    def mark(f): return f
    def named(name): return mark
    @mark
    class C:
        @named("a")
        def m(self): return 1
    def around():
        @mark
        def inner(): return 1
        return inner
    """
    assert shown({"a.py": source}) == {"<module> -> mark", "<module> -> named", "around -> mark"}


def test_super_of_a_mixin_is_likely_what_it_stands_before():
    source = """
    class Mixin:
        def save(self): super().save()
    class Base:
        def save(self): return 1
    class Other:
        def save(self): return 2
    class Both(Mixin, Base): pass
    class Before(Other, Mixin): pass
    """
    assert shown({"a.py": source}) == {"Mixin.save ~> Base.save"}
