"""What libraries make of a class, mappers to tables most: Django, SQLAlchemy, peewee and others. Pure."""

from __future__ import annotations

from sys import stdlib_module_names

from gitrag.callgraph.python.records import Attribute, Expression, bare_name
from gitrag.callgraph.python.values import (
    HANDED,
    NOTHING,
    Arguments,
    ClassObject,
    Instance,
    ListOf,
    Outside,
    OutsideWith,
    TupleOf,
    Values,
    items,
    list_of,
)

RELATIONS = frozenset(
    "ForeignKey OneToOneField ForeignKeyField ParentalKey ReferenceField relationship Relationship".split()
)
"""What makes an attribute hold an instance of the class that it is given, or a list of them."""
RELATED = "models.related"
"""The name of what stands for such an attribute."""
CONTRIBUTED = frozenset("admin auth contenttypes flatpages redirects sessions sites".split())
"""Labels of Django's own applications."""
QUERIES = frozenset({"objects", "query", "_default_manager", "_base_manager"})
"""Attributes of a class that stand for all its instances."""
ONE_OR_404 = frozenset({"get_object_or_404", "aget_object_or_404", "get_one_or_404"})
FACTORIES = frozenset("Factory DjangoModelFactory SQLAlchemyModelFactory MongoEngineFactory".split())
"""Bases of what makes an instance of another class, which its ``Meta`` names."""
_NO_MAKERS = ("mock", "patch", "spec", "isinstance", "issubclass", "raises", "hasattr", "setattr", "register")
"""Parts of the names of what is handed classes and returns none of their instances, or an imitation."""
METHOD_OF_FIELD = {"SerializerMethodField": "get_{}"}
"""What in a class's body calls a method by the name that it is given itself."""
MANAGERS = ("Manager", "QuerySet", "Query")
"""How classes end whose methods mostly return another of themselves."""

NARROWING = frozenset(
    "all filter exclude order_by distinct select_related prefetch_related annotate alias defer only using"
    " reverse none union intersection difference select_for_update iterator raw extra filter_by where options"
    " join outerjoin limit offset group_by having with_entities execution_options select_from".split()
)
"""Methods of a query that return one."""
_ONE = frozenset(
    "get first last create earliest latest one one_or_none scalar get_or_404 first_or_404 one_or_404"
    " get_or_none aget afirst alast acreate get_by_natural_key".split()
)
_ONE_AND_WHETHER = frozenset({"get_or_create", "update_or_create", "aget_or_create", "aupdate_or_create"})


def related(classes: Values) -> Values:
    """Return what an attribute is that relates an instance to one, or many, of some classes."""
    instances = _instances(classes)
    return frozenset([OutsideWith(RELATED, instances | list_of(instances))]) if instances else NOTHING


def opened(members: Values) -> Values:
    """Put what relations lead to in the place of what stands for them."""
    found: Values = frozenset(
        each for each in members if type(each) is not OutsideWith or each.name != RELATED
    )
    if len(found) == len(members):
        return members
    return found.union(*(each.held for each in members - found if type(each) is OutsideWith))


def queried(classes: Values) -> Values:
    """Return a query of some classes' instances."""
    instances = _instances(classes)
    return list_of(instances) if instances else NOTHING


def one_of(given: Values) -> Values:
    """Return an instance of a class, or of what is queried."""
    return _instances(given) | items(frozenset(each for each in given if type(each) is ListOf))


def result(name: str, held: Values) -> Values | None:
    """Return what a query's method returns; None if it is none of them."""
    if name in NARROWING:
        return held
    if name in _ONE:
        return items(held)
    return frozenset([TupleOf((items(held), NOTHING))]) if name in _ONE_AND_WHETHER else None


def _instances(classes: Values) -> Values:
    return frozenset(Instance(each.cls, exact=False) for each in classes if type(each) is ClassObject)


def handed(function: Expression | None, called: Values, arguments: Arguments) -> Values:
    """Return what another library makes that is handed classes: one with their methods, it may be."""
    classes = [each for values in arguments.positional for each in values if type(each) is ClassObject]
    for _, values in arguments.keywords:
        classes += [each for each in values if type(each) is ClassObject]
    if not classes or not (called or type(function) is Attribute):
        return NOTHING
    for value in called:
        module, dot, _ = value.name.partition(".") if type(value) is Outside else ("", "", "")
        if not dot or module in stdlib_module_names:
            return NOTHING
    name = bare_name(function).lower()
    is_none = name.startswith("__") or any(each in name for each in _NO_MAKERS)
    return NOTHING if is_none else frozenset([OutsideWith(HANDED, frozenset(classes))])


def queried_by(function: Expression | None, arguments: Arguments) -> Values:
    """Return what ``session.query(Class)`` finds."""
    is_query = type(function) is Attribute and function.name == "query" and arguments.positional
    return queried(arguments.positional[0]) if is_query else NOTHING
