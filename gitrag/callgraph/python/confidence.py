"""How sure a call is that is not certain, and from when on one of several callees is not likely."""

from __future__ import annotations

OVERRIDDEN = 0.6
"""A method of a subclass, where the class is known but not whether it is a subclass."""
ABSTRACT = 0.4
"""A method that only raises NotImplementedError: who calls it calls what overrides it."""
ONE_OF_SEVERAL = 0.7
"""One of several callees that an expression may have."""
WRAPPED_ONE = 0.7
"""A function that is called by way of what a decorator made of it."""
FALLBACK = 0.7
"""``__getattr__`` for an attribute that nothing is seen to assign."""
UNNEEDED = 0.6
"""A comparison of what a container holds with what is looked for, which may be the same object; a property
that is called once and then kept."""
HANDED_ON = 0.5
"""A function handed by name to something outside the view, which most often calls it; a method whose name a
string in its class says."""
AS_VALUE = 0.51
"""A function that is put somewhere by its name, or handed to a function of the view: told, and known by this
figure, only where nothing is seen to call it."""
IN_CONTAINER = "a container"
"""Where it is put, in the place of what is expected to call it."""
ONE_OF_MANY = 0.5
"""One of more callees than an expression is likely to have; as many are right as of what is likely."""
UNLIKELY = 0.3
"""One of so many functions that are handed on, or of so many overriding methods, that none is likely."""
NAMESAKE = 0.5
"""A method of something unknown, by a name that hardly any other class has a method of."""
PICKED = 0.6
"""A method that is looked up by the beginning of its name: ``getattr(self, f"visit_{name}")``."""

MANY = 4
"""Classes, or functions handed on, of which more make each unlikely."""
MAX_OVERRIDES = 40
"""Overriding methods that are looked at; more make each unlikely. jinja2 has 25 of one method."""
MAX_NAMESAKES = 24
"""Methods of a name, of which more make each unlikely where nothing but the name is known."""
MAX_NAMED_FAMILIES = 3
"""Families of classes that have a method of the name, for the same reason."""

COMMON = frozenset(
    """
    all filter exclude annotate aggregate order_by distinct values values_list only defer using exists
    create get_or_create update_or_create bulk_create bulk_update in_bulk latest earliest first last one
    scalar scalars save delete refresh refresh_from_db full_clean is_valid is_authenticated save_m2m
    get_object get_queryset get_context_data get_serializer get_form render_to_response form_valid
    form_invalid execute fetchone fetchall commit rollback flush merge add_all session connect begin
    setup teardown run start stop join close open read write send recv load loads dump dumps parse_args
    add_argument submit cancel done shutdown set wait acquire release put debug info warning warn error
    critical exception get_data mkdir unlink name now date time today timestamp total_seconds isoformat
    weekday request post patch head options json text status_code raise_for_status get_json next prev
    render_template on bind match search find findall sub start_span
    """.split()
)
"""Names of methods of Django, SQLAlchemy, the standard library, test and web frameworks: of what is unknown
they do not say whose it is."""
