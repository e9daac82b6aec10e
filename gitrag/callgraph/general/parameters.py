"""Read what functions take and what calls give, where that chooses among functions of one name."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from gitrag.callgraph.general.records import Signature

if TYPE_CHECKING:
    import tree_sitter

    from gitrag.chunking.parsing import Lineage

_LITERALS = {
    "string_literal": "String",
    "raw_string_literal": "String",
    "verbatim_string_literal": "String",
    "interpolated_string_expression": "String",
    "character_literal": "char",
    "char_literal": "char",
    "decimal_integer_literal": "int",
    "hex_integer_literal": "int",
    "integer_literal": "int",
    "long_literal": "long",
    "decimal_floating_point_literal": "double",
    "real_literal": "double",
    "true": "boolean",
    "false": "boolean",
    "boolean_literal": "boolean",
    "null_literal": "null",
    "null": "null",
    "comparison_expression": "boolean",
    "equality_expression": "boolean",
    "conjunction_expression": "boolean",
    "disjunction_expression": "boolean",
    "check_expression": "boolean",
    "nullptr": "null",
    "class_literal": "Class",
    "lambda_expression": "->",
    "method_reference": "->",
    "lambda_literal": "->",
    "anonymous_function": "->",
    "callable_reference": "->",
}
_SUFFIXED = {"l": "long", "f": "float", "m": "decimal"}
"""What a number's last letter says."""
_COMMENTS = frozenset({"line_comment", "block_comment", "multiline_comment", "comment"})
_MADE = frozenset({"object_creation_expression", "new_expression", "cast_expression"})
_NUMBERS = frozenset({"int", "double"})
_BINARY = frozenset({"binary_expression", "additive_expression"})
_AROUND = frozenset({"argument", "parenthesized_expression"})
_NAMES = frozenset({"identifier", "simple_identifier", "this"})
_COMPARED = re.compile(r"==|!=|<=?|>=?|&&|\|\||instanceof")
_GENERICS = re.compile(r"<[^<>]*>")
_CALLED = re.compile(r"\([^()]*\)")
_PATH = re.compile(r"[A-Za-z_$]\w*(?:\(\))?(?:\.[A-Za-z_$]\w*(?:\(\))?)*")
_LONGEST = 200
BLOCK = ":{"
"""What stands for a block that a call of Swift is given after its brackets."""
_Text = Callable[["tree_sitter.Node"], str]


def signature(function: int, node: tree_sitter.Node, text: _Text) -> Signature:
    """Return what a function takes, of the node of its parameters."""
    types: list[str] = []
    least = 0
    variadic = False
    for each in node.children:
        if each.type == "...":
            variadic = True
            types.append("")
        if each.type == "params":  # C#'s last, which is no node of its own
            type_ = node.child_by_field_name("type")
            return Signature(
                function, (*types, bare_type(text(type_)) if type_ else ""), least, variadic=True
            )
        if not each.is_named or each.type in {*_COMMENTS, "receiver_parameter"}:
            continue
        type_ = each.child_by_field_name("type")
        if each.type in {"spread_parameter", "variadic_parameter_declaration"}:
            variadic = True
            type_ = type_ or next((n for n in each.named_children if "type" in n.type), None)
        elif not (each.type.startswith("optional") or any(one.type == "=" for one in each.children)):
            least += 1
        name = bare_type(text(type_)) if type_ is not None else ""
        declarator = each.child_by_field_name("declarator")
        points = declarator is not None and declarator.type.startswith(
            ("pointer", "abstract_pointer", "array")
        )
        types.append("char*" if points and name == "char" else name)
    if types == ["void"]:
        return Signature(function, (), 0, variadic=False)
    return Signature(function, tuple(types), least, variadic)


def given_to(call: tree_sitter.Node, text: _Text) -> tuple[str, ...] | None:
    """Return what a call gives, as `WrittenCall.given` says; None if its arguments are not to be found."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None and call.type in {"field_initializer", "constructor_initializer"}:
        arguments = call.named_children[-1]
    if arguments is None:
        return () if call.type == "object_creation_expression" else None  # `new A { … }`
    return tuple([_given(each, text) for each in arguments.named_children if each.type not in _COMMENTS])


def taken_in_swift(function: int, node: tree_sitter.Node, text: _Text) -> Signature:
    """Return the labels of a function's parameters, with ``=`` where one may be left out."""
    labels, variadic = [], False
    for each, after in pairwise([*(each for each in node.children if each.type not in _COMMENTS), node]):
        if each.type == "parameter":
            name = each.child_by_field_name("external_name") or each.child_by_field_name("name")
            labels.append(f":{text(name) if name is not None else '_'}{'=' if after.type == '=' else ''}")
            variadic = variadic or each.children[-1].type == "..." or after.type == "..."
    return Signature(function, tuple(labels), 0, variadic)


def given_in_swift(called: tree_sitter.Node, text: _Text, lineage: Lineage) -> tuple[str, ...] | None:
    """Return the labels of what a call gives in its brackets, and `BLOCK` for each block after them."""
    suffix = lineage.after(called)
    every = suffix.named_children if suffix is not None else []
    blocks = [BLOCK for each in every if each.type == "lambda_literal"]
    call = lineage.parent(called)
    around = lineage.parent(call) if call is not None else None
    if around is not None and around.type == "call_expression" and around.start_byte == called.start_byte:
        outer = around.named_children[-1]
        blocks += [BLOCK for each in outer.named_children if each.type == "lambda_literal"]
    if not every or every[0].type != "value_arguments":
        return tuple(blocks) or None
    given = every[0]
    labels = [  # in `f(a:b:)`, which names a function, there are several
        [f":{text(part)}" for part in each.named_children if part.type == "value_argument_label"] or [":_"]
        for each in given.named_children
        if each.type == "value_argument"
    ]
    return (*chain.from_iterable(labels), *blocks)


def taken_in_kotlin(function: int, node: tree_sitter.Node, text: _Text) -> Signature:
    """Return what a function takes; the least number is -1 if it overrides: its base may have other names."""
    names, types, variadic = [], [], False
    for each, after in pairwise([*(each for each in node.children if each.type not in _COMMENTS), node]):
        if each.type == "parameter":
            type_ = each.named_children[-1]
            while type_.type in {"nullable_type", "parenthesized_type"} and type_.named_child_count == 1:
                type_ = type_.named_children[0]
            names.append(f"{text(each.named_children[0])}{'=' if after.type == '=' else ''}")
            types.append("->" if type_.type == "function_type" else bare_type(text(type_)))
        variadic = variadic or (each.type == "parameter_modifiers" and "vararg" in text(each).split())
    modifiers = node.parent.children[0] if node.parent is not None else node
    overrides = modifiers.type == "modifiers" and not {"override", "actual"}.isdisjoint(
        text(modifiers).split()
    )
    return Signature(function, tuple(types), -1 if overrides else 0, variadic, tuple(names))


def given_in_kotlin(called: tree_sitter.Node, text: _Text, lineage: Lineage) -> tuple[str, ...] | None:
    """Return what a call gives, as `WrittenCall.given` says; None if it has no brackets and no block."""
    suffix = lineage.after(called)
    if suffix is None or suffix.type != "call_suffix":
        return None
    given = []
    for each in suffix.named_children:
        if each.type == "annotated_lambda":
            given.append(BLOCK)
        for one in each.named_children if each.type == "value_arguments" else ():
            if one.type == "value_argument":
                parts = one.children
                name = f"{text(parts[0])}=" if len(parts) > 2 and parts[1].type == "=" else ""
                given.append(name + _given(parts[-1], text))
    return tuple(given)


def taken_in_elixir(function: int, node: tree_sitter.Node, _: object = None) -> Signature:
    """Return what a definition takes, by its arguments in brackets, or by its name alone."""
    each = _all_of(node) if node.type == "arguments" else []
    if each is None:
        return Signature(function, ("",), 0, variadic=True)
    needed = [one for one in each if all(child.type != "\\\\" for child in one.children)]
    return Signature(function, ("",) * len(each), len(needed), variadic=False)


def given_in_elixir(name: tree_sitter.Node, lineage: Lineage) -> tuple[str, ...] | None:
    """Return one text for each argument that a call gives: a block and what is piped are some, too."""
    call = lineage.parent(name)
    if call is not None and call.type == "dot":
        call = lineage.parent(call)
    if call is None:
        return None
    count = 0
    for child in call.children:
        if child.type == "arguments":
            each = _all_of(child)
            if each is None:
                return None
            count += len(each)
        count += child.type == "do_block"
    pipe = lineage.parent(call)
    parts = pipe.children if pipe is not None and pipe.type == "binary_operator" else []
    if any(each.type == "|>" for each in parts):  # there may be comments
        count += parts[-1] == call
    return ("",) * count


def _all_of(node: tree_sitter.Node) -> list[tree_sitter.Node] | None:
    """Return arguments; None if a macro makes more of one."""
    every = [each for each in node.named_children if each.type != "comment"]
    targets = [each.child_by_field_name("target") for each in every if each.type == "call"]
    return None if any(each is not None and each.text == b"unquote_splicing" for each in targets) else every


def _given(node: tree_sitter.Node, text: _Text) -> str:
    kind = node.type
    while kind in _AROUND and node.named_child_count == 1:
        node = node.named_children[0]
        kind = node.type
    if kind in _NAMES:
        return text(node)
    named = _LITERALS.get(kind, "")
    if named and named not in _NUMBERS:
        return f":{named}"
    written = text(node)
    if named or kind == "number_literal":
        return f":{_number(written, named)}"
    if kind == "navigation_expression" and "::" in written:
        return ":->"
    if kind == "as_expression" and node.named_children:
        return f":{bare_type(text(node.named_children[-1]))}"
    if kind in _MADE:
        made = node.child_by_field_name("type")
        return f":{bare_type(text(made))}" if made is not None else ""
    if kind in _BINARY:
        return _of_two(node, text)
    if kind == "unary_expression":
        return ":boolean" if written.startswith("!") else _given(node.named_children[-1], text)
    return _path(written)


def _number(written: str, named: str) -> str:
    named, last = named or ("double" if "." in written else "int"), written[-1].lower()
    is_digit = last != "l" and written.lower().startswith("0x")
    return named if is_digit else _SUFFIXED.get(last, named)


def _of_two(node: tree_sitter.Node, text: _Text) -> str:
    """Return the type of what an operator makes: of a sum not by recursion, since it may be of thousands."""
    operator = node.child_by_field_name("operator")
    if operator is not None and _COMPARED.fullmatch(text(operator)):
        return ":boolean"
    while node.type in _BINARY and node.named_child_count > 1:
        if _LITERALS.get(node.named_children[-1].type) == "String":
            return ":String"
        node = node.named_children[0]
    return ":String" if _LITERALS.get(node.type) == "String" else ""


def _path(expression: str) -> str:
    """Return an expression of names, dots and calls without what the calls are given; else nothing."""
    if len(expression) > _LONGEST:
        return ""
    if expression.isidentifier():
        return expression
    bare = "".join(expression.replace("->", ".").replace("?.", ".").replace("!!", "").split())
    for _ in range(4):
        shorter = _CALLED.sub("\0", _GENERICS.sub("", bare))
        if shorter == bare:
            break
        bare = shorter
    bare = bare.replace("\0", "()")
    return bare if _PATH.fullmatch(bare) else ""


def bare_type(text: str) -> str:
    """Return the last name of a type without what it is generic in, with ``[]`` if it is an array."""
    for _ in range(4 * ("<" in text)):
        text = _GENERICS.sub("", text)
    array = "[]" if text.rstrip().endswith("]") else ""
    words = text.partition("[")[0].replace("::", ".").strip("&*? ").split()
    name = words[-1].rpartition(".")[2].strip("&*?") if words else ""
    return f"{name}{array}" if name else ""
