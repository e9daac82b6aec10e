"""What gitrag answers, recorded word for word: a key that moves, goes or changes its form fails a test."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from gitrag import api_types

MANUAL = Path(__file__).parents[2] / "docs" / "python.md"
RECORDED = Path(__file__).parents[1] / "golden" / "recorded"

_MASKS = [
    (re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b"), "<id>"),
    (re.compile(r'(\bcommit |"commit": ")[0-9a-f]{7,10}\b'), r"\g<1><id>"),
    (re.compile(r"(?<= )[0-9a-f]{10}(?=  )"), "<id>"),
    (re.compile(r"\b20\d\d-\d\d-\d\d(?:T[\d:.]+(?:Z|[+]00:00)?)?"), "<date>"),
    (re.compile(r"(?<![\w.-])-?\d+[.]\d{5,}(?:e-?\d+)?"), "0.00000"),
    (re.compile(r"(?<![\w.-])-?\d+[.]\d{1,4}(?![\w.]\S)"), "0.0"),
    (re.compile(r"\b\d+[.]\d+[.]\d[\w.]*"), "<version>"),
    (re.compile(r"\b[\d.]+ ([GM]B)\b"), r"0 \1"),
    (re.compile(r'("(?:\w*_bytes|size)": )\d+'), r"\g<1>0"),
    (re.compile(r"//\w+@"), "//<user>@"),
    (re.compile(r'("recipe": ")[^"]*'), r"\g<1><the steps' versions>"),
    (re.compile(r'("message": ")[^\n]*man page[^\n]*"'), r'\g<1><where the man page is>"'),
    (re.compile(r'("working": )\w+'), r"\g<1><whether a worker runs>"),
]
"""What is another on another day or machine: ids, scores (but not whether they are rounded), sizes, dates."""

_RECORDING = bool(os.environ.get("GITRAG_TEST_RECORD"))  # before a test takes the environment away


def assert_recorded(name: str, answers: Iterable[tuple[str, str]], *places: Path) -> None:
    """Compare answers with a file's; with GITRAG_TEST_RECORD=1 write it anew, to be read in a diff.

    Args:
        name: The file's.
        answers: What was asked, and the answer.
        places: Directories that are others in each run.
    """
    text = "".join(f"=== {asked}\n{_masked(answer, places).rstrip()}\n" for asked, answer in answers)
    file = RECORDED / f"{name}.txt"
    if _RECORDING:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    before = file.read_text("utf-8")
    said = "\n".join(difflib.unified_diff(before.splitlines(), text.splitlines(), lineterm="", n=1))
    assert text == before, f"GITRAG_TEST_RECORD=1 records what is meant to change:\n{said}"


def _masked(text: str, places: Iterable[Path]) -> str:
    for place in places:
        text = text.replace(str(place), "<place>")
    for pattern, mask in _MASKS:
        text = pattern.sub(mask, text)
    return text


def promised() -> dict[type, list[str]]:
    """Return the attributes that the manual promises of the API's types, sorted."""
    rows = re.findall(r"^\| (`[A-Z].*?) \| (`.*?) \|$", MANUAL.read_text("utf-8"), re.MULTILINE)
    return {
        getattr(api_types, name): sorted(re.findall(r"\w+", attributes))
        for names, attributes in rows
        for name in re.findall(r"\w+", names)
    }


def public(value: object) -> Any:
    """Return a value of the API as JSON would have it: what is promised of it, else its public names."""
    if isinstance(value, tuple | list) and not hasattr(value, "_fields"):
        return [public(each) for each in value]
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    names = promised().get(type(value)) or [name for name in dir(value) if not name.startswith("_")]
    return {name: public(own) for name in names if not callable(own := getattr(value, name))}


def keys_of(schema: Mapping[str, Any]) -> Iterator[str]:
    """List the keys of a JSON Schema in their order, a line each: where, of what type, and whether always."""
    return _keys(schema, schema.get("$defs", {}), "")


def _keys(schema: Mapping[str, Any], definitions: Mapping[str, Any], at: str) -> Iterator[str]:
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    for each in schema.get("anyOf", []):
        yield from _keys(each, definitions, at)
    if "anyOf" in schema:
        return
    told = {key: value for key, value in schema.items() if key in ("type", "enum", "const")}
    yield f"{at or '.'} {json.dumps(told)}"
    for name, own in schema.get("properties", {}).items():
        sure = "" if name in schema.get("required", []) else "?"
        yield from _keys(own, definitions, f"{at}.{name}{sure}")
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(schema.get(key), Mapping):
            yield from _keys(schema[key], definitions, at + mark)
