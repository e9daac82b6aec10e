"""What annotations of Python files say that something is."""

from __future__ import annotations

from typing import Any

from gitrag.callgraph.python.frame import Frame
from gitrag.callgraph.python.scopes import Scopes
from gitrag.callgraph.python.values import NOTHING, Value, Values, limited, listed

_TRANSPARENT = frozenset(
    "Optional Union Annotated Final ClassVar Awaitable Required NotRequired InitVar".split()
)


class Annotations(Scopes):
    """Reads annotations."""

    def annotated(self, annotation: Any, frame: Frame) -> Values:
        """Give what an annotation says that something is."""
        if not annotation:
            return NOTHING
        kind = annotation[0]
        if kind == "U":
            return limited(value for each in annotation[1:] for value in self.annotated(each, frame))
        if kind == "I":
            return self._generic(annotation, frame)
        if kind in "NA":
            values = self.value(annotation, frame)
            if kind == "A" and annotation[2] == "Self":
                return self.classes.own_instances(frame)
            return self.instances(values, frame)
        return NOTHING

    def _generic(self, annotation: Any, frame: Frame) -> Values:
        base = annotation[1]
        name = base[-1] if base and base[0] in "NA" else ""
        inner = annotation[2]
        parts = inner[1:] if inner and inner[0] == "T" else [inner]
        if name in {
            "Optional",
            "Union",
            "Annotated",
            "Final",
            "ClassVar",
            "Awaitable",
            "Required",
            "InitVar",
        }:
            chosen = parts[:1] if name == "Annotated" else parts
            return limited(value for each in chosen for value in self.annotated(each, frame))
        if name in {"Type", "type"}:
            values = self.annotated(inner, frame)
            return frozenset(("c", value[1]) for value in values if value[0] == "i")
        if name == "Callable":
            return frozenset([("R", self.annotated(parts[-1], frame))])
        if name in {"Tuple", "tuple"}:
            if len(parts) == 2 and parts[1] and parts[1][0] == "K":
                return listed(self.annotated(parts[0], frame))
            return frozenset([("T", tuple(self.annotated(each, frame) for each in parts))])
        if name in {"Coroutine", "AsyncGenerator", "Generator"}:
            place = -1 if name == "Coroutine" else 0
            values = self.annotated(parts[place], frame)
            return values if name == "Coroutine" else listed(values)
        if name.endswith(("Dict", "dict", "Mapping")):
            return listed(self.annotated(parts[-1], frame), "D")
        own = self.annotated(base, frame)
        if any(value[0] == "i" for value in own):
            return own
        if name == "Literal":
            return NOTHING
        return listed(self.annotated(parts[0], frame))

    def instances(self, values: Values, frame: Frame | None = None) -> Values:
        """Give instances of classes."""
        found: set[Value] = set()
        for value in values:
            if value[0] == "c":
                found.add(("i", value[1], False))
            elif value[0] == "A":
                found |= value[1]
            elif value[0] == "T":
                found |= {v for part in value[1] for v in self.instances(part)}
            elif value[0] == "x" and value[1].endswith(".Self") and frame is not None:
                found |= self.classes.own_instances(frame)
            elif value[0] == "x" and value[1].startswith("builtins."):
                found.add(("b", value[1][9:]))
        return frozenset(found)
