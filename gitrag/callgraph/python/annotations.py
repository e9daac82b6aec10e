"""What annotations of Python files say that something is."""

from __future__ import annotations

from gitrag.callgraph.python.evaluation import Evaluation
from gitrag.callgraph.python.methods import Methods
from gitrag.callgraph.python.program import Frame
from gitrag.callgraph.python.records import (
    Alternatives,
    Attribute,
    Constant,
    Expression,
    Name,
    Subscript,
    TupleDisplay,
    bare_name,
)
from gitrag.callgraph.python.values import (
    NOTHING,
    Annotation,
    BuiltinInstance,
    ClassObject,
    Instance,
    Outside,
    Returning,
    TupleOf,
    Value,
    Values,
    dict_of,
    limited,
    list_of,
)

_TRANSPARENT = frozenset("Optional Union Annotated Final ClassVar Awaitable Required InitVar".split())
_BUILTINS = "builtins."


class Annotations:
    """Reads annotations.

    Args:
        methods: Knows the class that a body lies in.
        whole: What evaluates the names in them.
    """

    def __init__(self, methods: Methods, whole: Evaluation) -> None:
        self._methods = methods
        self._whole = whole

    def described(self, annotation: Expression | None, frame: Frame) -> Values:
        """Return what an annotation says that something is."""
        if type(annotation) is Alternatives:
            return limited(value for each in annotation.parts for value in self.described(each, frame))
        if type(annotation) is Subscript:
            return self._generic(annotation, frame)
        if type(annotation) is Name or type(annotation) is Attribute:
            values = self._whole.value(annotation, frame, 0)
            if type(annotation) is Attribute and annotation.name == "Self":
                return self._methods.own_instances(frame)
            return self.instances(values, frame)
        return NOTHING

    def _generic(  # noqa: C901 - a branch a generic type
        self, annotation: Subscript, frame: Frame
    ) -> Values:
        base, inner = annotation.base, annotation.index
        name = bare_name(base)
        parts = inner.parts if type(inner) is TupleDisplay else (inner,)
        first, last = (parts[0], parts[-1]) if parts else (None, None)
        if name in _TRANSPARENT:
            chosen = parts[:1] if name == "Annotated" else parts
            return limited(value for each in chosen for value in self.described(each, frame))
        if name in {"Type", "type"}:
            values = self.described(inner, frame)
            return frozenset(
                ClassObject(value.cls, exact=False) for value in values if type(value) is Instance
            )
        if name == "Callable":
            return frozenset([Returning(self.described(last, frame))])
        if name in {"Tuple", "tuple"}:
            if len(parts) == 2 and type(parts[1]) is Constant:
                return list_of(self.described(first, frame))
            return frozenset([TupleOf(tuple(self.described(each, frame) for each in parts))])
        if name == "Coroutine":
            return self.described(last, frame)
        if name in {"AsyncGenerator", "Generator"}:
            return list_of(self.described(first, frame))
        if name.endswith(("Dict", "dict", "Mapping")):
            return dict_of(self.described(last, frame))
        own = self.described(base, frame)
        if any(type(value) is Instance for value in own):
            return own
        if name == "Literal":
            return NOTHING
        return list_of(self.described(first, frame))

    def instances(self, values: Values, frame: Frame | None = None) -> Values:
        """Return instances of classes.

        Args:
            values: The classes, or types of ``typing``.
            frame: What they are written in, for ``Self``.
        """
        found: set[Value] = set()
        for value in values:
            if type(value) is ClassObject:
                found.add(Instance(value.cls, exact=False))
            elif type(value) is Annotation:
                found |= value.held
            elif type(value) is TupleOf:
                found |= {each for part in value.parts for each in self.instances(part)}
            elif type(value) is Outside and value.name.endswith(".Self") and frame is not None:
                found |= self._methods.own_instances(frame)
            elif type(value) is Outside and value.name.startswith(_BUILTINS):
                found.add(BuiltinInstance(value.name.removeprefix(_BUILTINS)))
        return frozenset(found)
