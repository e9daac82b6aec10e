"""Print what clang says about the calls of a project in C or C++, as rows that `truth.py` reads.

    python3 clang_truth.py ROOT [FLAG …] < FILES

ROOT is the project's directory, FILES the translation units below it, one a line. Needs libclang's bindings,
which are no dependency of gitrag: Debian's `python3-clang`. A header that is missing costs what it declares.
"""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from pathlib import Path

from clang.cindex import Config, Cursor, CursorKind, Index, TranslationUnit, conf

KEEP_GOING = 0x200
"""CXTranslationUnit_KeepGoing: a missing header does not stop the parser."""

FUNCTIONS = {
    CursorKind.FUNCTION_DECL,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.DESTRUCTOR,
    CursorKind.CONVERSION_FUNCTION,
    CursorKind.FUNCTION_TEMPLATE,
}
CLASSES = {
    CursorKind.CLASS_DECL,
    CursorKind.STRUCT_DECL,
    CursorKind.UNION_DECL,
    CursorKind.CLASS_TEMPLATE,
    CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION,
}
Place = tuple[str, int, str]


class Reader:
    """Reads translation units, and keeps what is defined in them and what they call."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root) + os.sep
        self.rows: set[tuple[object, ...]] = set()
        self.defined: dict[str, Place] = {}
        self.calls: set[tuple[str, Place, int, str]] = set()
        self.methods: dict[str, tuple[str, str, bool]] = {}  # by USR: class, name, pure
        self.bases: dict[str, set[str]] = defaultdict(set)
        self.paths: dict[str, str | None] = {}
        self.texts: dict[str, bytes] = {}

    def path(self, cursor: Cursor) -> str | None:
        file = cursor.location.file
        if file is None:
            return None
        if file.name not in self.paths:
            real = os.path.realpath(file.name)
            self.paths[file.name] = real[len(self.root) :] if real.startswith(self.root) else None
        return self.paths[file.name]

    def read(self, unit: TranslationUnit) -> None:
        for cursor in unit.cursor.get_children():
            if self.path(cursor) is not None:
                self.walk(cursor, None)

    def walk(  # noqa: C901 - a branch for each kind
        self, cursor: Cursor, caller: Place | None
    ) -> None:
        path = self.path(cursor)
        if path is None:
            return
        kind = cursor.kind
        if kind in FUNCTIONS:
            self.noted(cursor)
            if cursor.is_definition():
                caller = self.define(cursor, path, "function")
        elif kind in CLASSES and cursor.is_definition() and cursor.spelling and "(" not in cursor.spelling:
            self.define(cursor, path, "class")
        here = caller or (path, 0, "")
        if kind is CursorKind.CALL_EXPR:
            self.call(cursor, here)
        elif kind in {CursorKind.DECL_REF_EXPR, CursorKind.MEMBER_REF_EXPR}:
            self.point("reference", cursor, cursor.referenced, here)
        elif kind is CursorKind.OVERLOADED_DECL_REF:
            self.rows.add(("U", *here, cursor.spelling))
        for child in cursor.get_children():
            if child.kind is CursorKind.CXX_BASE_SPECIFIER:
                self.inherit(cursor, child)
            elif kind is CursorKind.CONSTRUCTOR and child.kind is CursorKind.TYPE_REF:
                self.base_constructors(child, here)
            self.walk(child, caller)

    def base_constructors(self, base: Cursor, caller: Place) -> None:
        """Note what `: Base(…)` may call: in templates the bindings do not say which constructor it is."""
        declared = base.referenced
        for each in declared.get_children() if declared is not None else ():
            if each.kind is CursorKind.CONSTRUCTOR:
                self.point("implicit", base, each, caller)

    def inherit(self, cls: Cursor, specifier: Cursor) -> None:
        found = [specifier.type.get_declaration(), specifier.referenced]
        found += [conf.lib.clang_getSpecializedCursorTemplate(each) for each in found if each]
        self.bases[cls.get_usr()] |= {each.get_usr() for each in found if each}

    def define(self, cursor: Cursor, path: str, kind: str) -> Place:
        name = (
            cursor.spelling.partition("<")[0]
            if not cursor.spelling.startswith("operator")
            else cursor.spelling
        )
        place = (path, cursor.location.line, name)
        self.defined[cursor.get_usr()] = place
        self.rows.add(("F", *place, cursor.extent.end.line, kind))
        self.rows.add(("P", path))
        return place

    def noted(self, cursor: Cursor) -> None:
        if cursor.kind is CursorKind.CXX_METHOD and cursor.is_virtual_method():
            owner = cursor.semantic_parent.get_usr()
            self.methods[cursor.get_usr()] = (owner, cursor.displayname, cursor.is_pure_virtual_method())

    def call(self, cursor: Cursor, caller: Place) -> None:
        called = cursor.referenced
        if called is None or called.kind not in FUNCTIONS:
            name = cursor.spelling or self.written(cursor)
            if name:
                self.rows.add(("U", *caller, name.partition("<")[0]))
            return
        written = self.is_written(cursor, called)
        self.point("call" if written else "implicit", cursor, called, caller)

    def written(self, cursor: Cursor) -> str:
        """Return the last name in what a call calls, in templates whose types are not known yet."""
        called = next(iter(cursor.get_children()), cursor).extent
        if called.start.file is None:
            return ""
        text = self.text(called.start.file.name, called.start.offset, called.end.offset)
        names = re.findall(r"[A-Za-z_]\w*", text.partition("(")[0])
        return str(names[-1]) if names else ""

    def is_written(self, cursor: Cursor, called: Cursor) -> bool:
        """Tell whether a call is a name and parentheses: no operator, no conversion, no `Foo x;`."""
        if called.kind is CursorKind.CONVERSION_FUNCTION or called.spelling.startswith("operator"):
            return False
        if called.kind is not CursorKind.CONSTRUCTOR:
            return True
        start = cursor.extent.start
        text = self.text(start.file.name if start.file else "", start.offset, cursor.extent.end.offset)
        name = called.spelling.partition("<")[0]
        head = text.removeprefix("new").lstrip().partition("(")[0].partition("{")[0].partition("<")[0]
        return head.strip().rpartition("::")[2] == name and text.rstrip().endswith((")", "}"))

    def text(self, file: str, start: int, end: int) -> str:
        if file not in self.texts:
            self.texts[file] = Path(file).read_bytes()
        return self.texts[file][start:end].decode("utf-8", "replace")

    def point(self, kind: str, cursor: Cursor, called: Cursor | None, caller: Place) -> None:
        if called is None or called.kind not in FUNCTIONS:
            return
        template = conf.lib.clang_getSpecializedCursorTemplate(called)
        if template:
            called = template
        self.calls.add((kind, caller, cursor.location.line, called.get_usr()))
        if called.kind is CursorKind.CONSTRUCTOR:
            self.calls.add(("implicit", caller, cursor.location.line, called.semantic_parent.get_usr()))

    def finish(self) -> list[str]:
        """Return all rows, calls resolved to the definitions that any unit has."""
        by_name: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for usr, (owner, name, _) in self.methods.items():
            by_name[name].append((usr, owner))
        above = {cls: self.ancestors(cls) for cls in self.bases}
        for kind, caller, line, usr in self.calls:
            place = self.defined.get(usr)
            if place is not None:
                self.rows.add(("E", kind, *caller, line, *place))
            if kind == "call" and usr in self.methods:
                owner, name, pure = self.methods[usr]
                for other, cls in by_name[name]:
                    if owner in above.get(cls, ()) and other in self.defined:
                        over = "override" if place is not None or not pure else "dispatch"
                        self.rows.add(("E", over, *caller, line, *self.defined[other]))
        return sorted("\t".join(map(str, row)) for row in self.rows)

    def ancestors(self, cls: str) -> set[str]:
        found: set[str] = set()
        waiting = [cls]
        while waiting:
            new = self.bases.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found


def main() -> None:
    """Read the files named on standard input."""
    root, *flags = sys.argv[1:]
    reader = Reader(root)
    index = Index.create()
    for name in filter(None, sys.stdin.read().split("\n")):
        unit = index.parse(
            Path(root, name), args=[f.replace("ROOT", root) for f in flags], options=KEEP_GOING
        )
        reader.read(unit)
        bad = [each for each in unit.diagnostics if each.severity >= 3]
        if bad:
            print(f"{name}: {len(bad)} errors, the first: {bad[0].spelling}", file=sys.stderr)
    sys.stdout.write("\n".join(reader.finish()) + "\n")


if __name__ == "__main__":
    Config.set_compatibility_check(False)
    main()
