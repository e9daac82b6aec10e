"""Calls in Python applications: of what decorators wrap, what mappers make of classes, and by names alone."""

from __future__ import annotations

from textwrap import dedent

import pytest

from gitrag.callgraph.python.values import CERTAIN
from tests.support.callgraphs import calls_of, edges_of

MODELS = """
from django.db import models
from django.shortcuts import get_object_or_404
class Shown(models.QuerySet):
    def live(self): return self.filter(hidden=False)
class Site(models.Model):
    def show(self): pass
class Page(models.Model):
    objects = Shown.as_manager()
    site = models.ForeignKey("app.Site", on_delete=models.CASCADE)
    above = models.ForeignKey("self", null=True, on_delete=models.CASCADE)
    def show(self): pass
class Menu:
    def show(self): pass
class Screen:
    def show(self): pass
class Film:
    def show(self): pass
"""
MAPPED = {
    "Page.objects.get(id=1).show()": "Page.show",
    "Page.objects.get(id=1).site.show()": "Site.show",
    "Page.objects.get(id=1).above.show()": "Page.show",
    "[each.show() for each in Page.objects.filter(site=1).order_by('x')]": "Page.show",
    "get_object_or_404(Page, pk=1).show()": "Page.show",
    "get_object_or_404(Page.objects.all(), pk=1).show()": "Page.show",
    "page, made = Site.objects.get_or_create(a=1); page.show()": "Site.show",
    "db.session.query(Site).filter(Site.id == 1).first().show()": "Site.show",
    "Site.query.filter_by(id=1).one().show()": "Site.show",
}


@pytest.mark.parametrize("call", MAPPED)
def test_what_a_mapper_makes_of_a_class_is_known(call):
    found = edges_of({"app/a.py": f"{MODELS}\ndef f(db): {call}\n"}, least=CERTAIN)
    assert {each for each in found if each.startswith("f -> ") and each.endswith("show")} == {
        f"f -> {MAPPED[call]}"
    }


def test_a_queries_own_methods_are_known_of_managers_made_of_it():
    source = """
    from django.db import models
    class Shown(models.QuerySet):
        def live(self): pass
    class Page(models.Model):
        objects = models.Manager.from_queryset(Shown)()
    class Site(models.Model):
        found = Shown.as_manager()
    def f(): Page.objects.live()
    def g(): Site.found.live()
    def h(): Page.objects.filter(a=1).live()
    """
    found = edges_of({"a.py": source})
    assert {"f -> Shown.live", "g -> Shown.live", "h -> Shown.live"} <= found


def test_a_relation_of_a_field_of_ones_own_leads_to_its_class():
    source = """
    from django.db import models
    class Key(models.ForeignKey): pass
    class User(models.Model):
        def seen(self): pass
    class Other:
        def seen(self): pass
    class Like(models.Model):
        user = Key(User, on_delete=1)
        def save(self): self.user.seen()
    """
    assert "Like.save -> User.seen" in edges_of({"a.py": source}, least=CERTAIN)


WRAPPED = {
    "a function, wrapped": (
        """
        def logged(f):
            def wrapper(*args): return f(*args)
            return wrapper
        @logged
        def work(): pass
        def run(): work()
        """,
        "run -> work",
    ),
    "a method, by a decorator with arguments of another class": (
        """
        class Client:
            @staticmethod
            def fresh(f):
                def inner(self, *args): return f(self, *args)
                return inner
        class Catalog(Client):
            @Client.fresh
            def pull(self): pass
        def run(): Catalog().pull()
        """,
        "run -> Catalog.pull",
    ),
    "a property whose function is remembered": (
        """
        from functools import wraps
        def memoize(f):
            @wraps(f)
            def inner(*args): return f(*args)
            return inner
        class Papers:
            def ask(self): pass
        class Event:
            @property
            @memoize
            def papers(self): return Papers()
        def run(event: Event): event.papers.ask()
        """,
        "run -> Event.papers",
    ),
}


@pytest.mark.parametrize("kind", WRAPPED)
def test_who_calls_what_a_decorator_made_likely_calls_what_it_wraps(kind):
    source, edge = WRAPPED[kind]
    assert edge in edges_of({"a.py": source})
    assert edge not in edges_of({"a.py": source}, least=CERTAIN)


def test_a_package_comes_before_a_module_of_its_name_and_one_further_in():
    files = {
        "shop.py": "",
        "shop/__init__.py": "",
        "shop/util.py": "def sell(): pass\n",
        "shop/web.py": "from . import util\ndef f(): util.sell()\n",
        "shop/page.py": "from shop import util\ndef g(): util.sell()\n",
        "shop/api/shop.py": "from shop import util\ndef h(): util.sell()\n",
        "shop/api/other.py": "from shop import util\ndef i(): util.sell()\n",
    }
    found = {each for each in edges_of(files, least=CERTAIN) if each.endswith("sell")}
    assert found == {
        "shop/web.py:f -> shop/util.py:sell",
        "shop/page.py:g -> shop/util.py:sell",
        "shop/api/shop.py:h -> shop/util.py:sell",
        "shop/api/other.py:i -> shop/util.py:sell",
    }


BY_NAME = {
    "of what something so named returns": (
        """
        class Admin:
            def owner(self): pass
        class Project:
            def nag(self): pass
        def run(flip): flip.owner.nag()
        """,
        "run -> Project.nag",
    ),
    "of a lambda's parameter": (
        """
        class Room:
            def full_name(self): pass
        class Schema:
            name = Function(lambda room: room.full_name())
        """,
        "<module> -> Room.full_name",
    ),
    "of one of several that others give": (
        """
        import other
        class One(other.Base): pass
        class Two(other.Base): pass
        class User(other.Base):
            def locale(self): pass
        def run(owner): owner.locale()
        run(One())
        run(Two())
        """,
        "run -> User.locale",
    ),
}


@pytest.mark.parametrize("kind", BY_NAME)
def test_a_method_by_its_name_alone_is_likely(kind):
    source, edge = BY_NAME[kind]
    assert edge in edges_of({"a.py": source})


def test_a_name_of_widely_used_libraries_says_nothing_by_itself():
    models = """
    from django.db import models
    class Prefs:
        def all(self): pass
        def spread(self): pass
        def of_theirs(self): pass
    class Note(models.Model): pass
    """
    use = """
    from models import {0}
    def f(user): return user.notes.{1}()
    def g(prefs): return prefs.{1}()
    """

    def callers(name: str, named: str = "Note", count: int = 1) -> set[str]:
        files = {f"u{number}.py": use.format(named, name) for number in range(count)}
        found = edges_of({"models.py": models, **files})
        return {each.split(" ")[0] for each in found if each.endswith(name)}

    assert callers("all") == {"u0.py:g"}  # it is called like the class
    assert callers("all", "Prefs") == {"u0.py:f", "u0.py:g"}  # the file names the class
    assert callers("spread") == {"u0.py:f", "u0.py:g"}  # hardly any file has the name
    assert callers("spread", count=9) == {f"u{number}.py:g" for number in range(9)}
    assert len(callers("of_theirs", count=9)) == 18


def test_a_template_need_not_load_a_library_of_tags_that_its_settings_name():
    files = {
        "app/templatetags/colors.py": """
        from django import template
        register = template.Library()
        @register.filter()
        def shade(value): pass
        @register.simple_tag
        def palette(value): pass
        def twice(value): pass
        """,
        "app/templatetags/more.py": "def twice(value): pass\n",
        "app/templates/a.html": "<p>{{ v.color|shade }}</p>\n{% palette v %}\n{{ v|twice }}\n",
    }
    found = {each for each in edges_of(files) if each.startswith("app/templates")}
    assert {each.rpartition(":")[2] for each in found} == {"shade", "palette"}


def test_a_template_asks_what_a_method_returns_for_its_number():
    files = {
        "a.py": "class Notes:\n    def unread(self): pass\n    def title(self): pass\n",
        "a.html": "{% with found=user.notes.unread.exists %}{{ user.note.title }}{% endwith %}\n",
    }
    assert {each.split(" ")[2] for each in edges_of(files)} == {"a.py:Notes.unread"}


LIBRARY = "def dumps(x): pass\n"
IMPORTER = "import json\nfrom json import dumps\ndef f(): json.dumps(1)\ndef g(): dumps(1)\n"


@pytest.mark.parametrize(
    ("library", "importer", "is_meant"),
    [
        ("shop/json.py", "shop/page.py", False),
        ("tools/json.py", "app/page.py", False),
        ("src/tools/json.py", "tests/page.py", False),
        ("tools/json.py", "tools/page.py", True),
        ("json.py", "shop/page.py", True),
        ("src/json.py", "app/page.py", True),
        ("lib/json/__init__.py", "lib/json/page.py", True),
    ],
)
def test_a_module_called_like_one_of_pythons_is_meant_only_where_it_comes_first(library, importer, is_meant):
    files = {"shop/__init__.py": "", library: LIBRARY, importer: IMPORTER}
    edges = {f"{importer}:{each} -> {library}:dumps" for each in "fg"}
    assert edges_of(files) & edges == (edges if is_meant else set())


OWN_TASKS = """
from functools import wraps
from outside import app, Decorator
class job(Decorator):
    def __call__(self, f): return super().__call__(f)
def queued(f):
    def delay(*args): put(f, args)
    @wraps(f)
    def inner(*args): return f(*args)
    inner.delay = delay
    return inner
def marked(f):
    f.delay = put
    return f
@queued
def work(): pass
@marked
def mend(): pass
@app.task
def send(): pass
@job("mails")
def mail(): pass
def run():
    mail.delay()
    work.delay(1)
    mend.delay(1)
    send.delay(1)
"""


def test_a_task_is_certainly_sent_only_where_its_decorator_is_not_ones_own():
    likely = edges_of({"a.py": OWN_TASKS})
    assert {"run -> work", "run -> mend", "run -> send"} <= likely
    sure = {each for each in edges_of({"a.py": OWN_TASKS}, least=CERTAIN) if each.startswith("run")}
    assert sure == {"run -> send", "run -> mail"}


OWN_QUERIES = """
from outside import Base, models
class Item:
    def show(self): pass
class Other:
    def show(self): pass
class Shelf:
    def first(self): return Item()
class Box(Base):
    objects = Shelf()
    def show(self): pass
def f(): Box.objects.first().show()
"""


def test_what_a_class_of_ones_own_gives_is_no_query_of_a_mapper():
    found = {each for each in edges_of({"a.py": OWN_QUERIES}) if each.endswith("show")}
    assert found == {"f -> Item.show"}


@pytest.mark.parametrize("model", ["auth.User", "sites.User"])
def test_a_model_of_djangos_own_is_no_class_of_its_name(model):
    source = f"""
    from django.db import models
    class User(models.Model):
        def seen(self): pass
    class Like(models.Model):
        user = models.ForeignKey("{model}", on_delete=1)
        def save(self): self.user.seen()
    """
    assert "app/models.py:Like.save -> app/models.py:User.seen" not in edges_of(
        {"app/models.py": source, "app/b.py": ""}, least=CERTAIN
    )


def test_a_relation_names_no_class_that_is_no_model():
    source = """
    from django.db import models
    class User:
        def seen(self): pass
    class Like(models.Model):
        user = models.ForeignKey("users.User", on_delete=1)
        def save(self): self.user.seen()
    """
    assert "Like.save -> User.seen" not in edges_of({"a.py": source}, least=CERTAIN)


CACHED = {
    "cache.py": """
    from functools import wraps
    def cached(size):
        def wrapper(f):
            @wraps(f)
            def inner(*args): return f(*args)
            return inner
        return wrapper
    """,
    "use.py": """
    from cache import cached
    class Password:
        @cached(3)
        def hashed(self): pass
        def check(self): return self.hashed()
    """,
    **{f"other{number}.py": "def f():\n    pass\n" * 100 for number in range(5)},
}


def test_what_a_decorator_hands_back_is_called_by_the_names_of_what_it_decorates():
    calls = calls_of(CACHED)
    inner = next(own for own, node in calls.nodes() if node.name.endswith("inner"))
    assert "Password.check" in {edge.caller.name for edge in calls.callers([inner])}


BY_EVIDENCE = {
    "of what something outside makes of a class that it is handed": (
        """
        from scopes import ScopedManager
        from tree import NodeManager
        class TreeManager(NodeManager):
            def get_or_create(self, **given): pass
        class Keyword(outside.Model):
            objects = ScopedManager(space="s", _manager_class=TreeManager)
        def run(): Keyword.objects.get_or_create(name=1)
        """,
        "run -> TreeManager.get_or_create",
    ),
    "an override of it": (
        """
        from injector import Injector
        class Store:
            def keep(self): pass
        class Files(Store):
            def keep(self): pass
        def run(): Injector().get(Store).keep()
        """,
        "run -> Files.keep",
    ),
    "handed by its name to a function of the view": (
        """
        class Skill:
            def add_event(self, name, handler): self.handlers[name] = handler
            def bind(self): self.add_event("run", self.answer)
            def answer(self): pass
        """,
        "Skill.bind -> Skill.answer",
    ),
    "handed by its name though it is wrapped": (
        """
        from functools import wraps
        def tracked(f):
            @wraps(f)
            def inner(*given): return f(*given)
            return inner
        class Skill:
            def add_event(self, name, handler): self.handlers[name] = handler
            def bind(self): self.add_event("run", self.answer)
            @tracked
            def answer(self): pass
        """,
        "Skill.bind -> Skill.answer",
    ),
    "put into a container": (
        """
        class Plugin:
            def line(self): return {"ports": self.ports}
            def ports(self): pass
        """,
        "Plugin.line -> Plugin.ports",
    ),
    "given to an attribute of something": (
        """
        def run(socket): socket.on_message = answer
        def answer(): pass
        """,
        "run -> answer",
    ),
    "by a name that a caller gives": (
        """
        class Importer:
            def food(self): pass
        def imported(importer, name): return getattr(importer, name)()
        def run(): imported(Importer(), "food")
        """,
        "imported -> Importer.food",
    ),
    "by a field's convention": (
        """
        from rest_framework import serializers
        class Invite(serializers.Serializer):
            sent = serializers.SerializerMethodField()
            def get_sent(self, it): pass
        """,
        "<module> -> Invite.get_sent",
    ),
    "by a string in its class": (
        """
        from marshmallow import fields
        class Invite(outside.Schema):
            sent = fields.Method("how_sent")
            shown = ["name", "shown_as"]
            def how_sent(self, it): pass
            def shown_as(self, it): pass
        """,
        "<module> -> Invite.how_sent",
    ),
}


@pytest.mark.parametrize("kind", BY_EVIDENCE)
def test_what_is_called_by_evidence_is_likely_and_no_more(kind):
    source, edge = BY_EVIDENCE[kind]
    others = "".join(
        f"class O{n}:\n    def get_or_create(self): pass\n    def keep(self): pass\n" for n in range(4)
    )
    source = dedent(source) + others  # so many that a name alone says nothing
    assert edge in edges_of({"a.py": source})
    if kind != "by a name that a caller gives":
        assert edge not in edges_of({"a.py": source}, least=CERTAIN)


def test_callers_by_a_convention_are_found_though_no_line_has_the_name():
    own, _ = BY_EVIDENCE["by a field's convention"]
    calls = calls_of({**CACHED, "a.py": own})
    method = next(each for each, node in calls.nodes() if node.name == "Invite.get_sent")
    assert [edge.lines for edge in calls.callers([method])] == [(4,)]


def test_what_is_called_is_not_told_to_be_put_into_a_container():
    source = "def a(): pass\ndef run():\n    for each in [a]: each()\n"
    calls = calls_of({"a.py": source})
    (edge,) = calls.callees([own for own, _ in calls.nodes()])
    assert (edge.rule, edge.lines) == ("", (3,))


def test_an_imitation_of_a_class_is_not_called_as_the_class_is():
    source = """
    from unittest import mock
    class Store:
        def keep_all(self, a): pass
        def keep(self): pass
    class Other:
        def keep(self): pass
    class Third:
        def keep(self): pass
    class Fourth:
        def keep(self): pass
    def run(): mock.create_autospec(Store).keep()
    """
    assert not {each for each in edges_of({"a.py": source}) if each.endswith("keep")}


PLUGINS = "class Plugin(outside.Base):\n    def update_views(self): pass\n" + "".join(
    f"class {name}Plugin(Plugin):\n    def update_views(self): pass\n" for name in ("Fs", "Cpu", "Gpu", "Mem")
)
VIEWED = """
def each(stats):
    for name in stats.names: stats.at(name).update_views()
def one(fs_plugin): fs_plugin.update_views()
"""


def test_of_many_methods_of_a_name_a_test_calls_that_of_the_class_its_object_is_called_like():
    files = {"shop/plugins.py": PLUGINS, "shop/stats.py": VIEWED, "tests/test_stats.py": VIEWED}
    found = [each.split(" -> ") for each in edges_of(files) if "update_views" in each]
    every = {f"shop/plugins.py:{name}Plugin.update_views" for name in ("", "Fs", "Cpu", "Gpu", "Mem")}
    alike = {"shop/plugins.py:FsPlugin.update_views", "shop/plugins.py:Plugin.update_views"}
    called = {
        caller: {callee for each, callee in found if each == caller}
        for caller in ("shop/stats.py:each", "shop/stats.py:one", "tests/test_stats.py:each")
    }
    assert called == {
        "shop/stats.py:each": every,
        "shop/stats.py:one": alike,
        "tests/test_stats.py:each": set(),
    }
    assert {callee for each, callee in found if each == "tests/test_stats.py:one"} == alike


def test_a_method_that_calls_its_own_name_of_something_unknown_does_not_call_itself():
    source = """
    class Service:
        def calc_intent(self, text): return self.container.calc_intent(text)
    """
    assert edges_of({"a.py": source}) == set()


def test_what_is_given_to_an_attribute_outside_is_had_from_it():
    source = """
    import cherrypy
    class History:
        def remove(self): pass
    def connection():
        if not cherrypy.thread_data.history: cherrypy.thread_data.history = History()
        return cherrypy.thread_data.history
    def run(): connection().remove()
    """
    assert "run -> History.remove" in edges_of({"a.py": source})


def test_a_relation_by_an_unknown_mapper_leads_to_its_class():
    source = """
    class Own(outside.Mapper): pass
    db = Own()
    class Source(db.Model):
        def close(self): pass
    class Query(db.Model):
        source = db.relationship("Source", lazy=True)
        def run(self): self.source.close()
    class Other:
        def close(self): pass
    """
    assert "Query.run -> Source.close" in edges_of({"a.py": source}, least=CERTAIN)
