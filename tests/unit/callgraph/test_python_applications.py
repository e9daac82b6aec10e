"""Calls in Python applications: of what decorators wrap, what mappers make of classes, and by names alone."""

from __future__ import annotations

import pytest

from gitrag.callgraph.python.values import CERTAIN
from tests.support.callgraphs import edges_of

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
