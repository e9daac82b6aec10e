"""Extract a blob's facts, with the same parser and limits as its chunks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import TypeAlias

from msgspec.structs import replace

from gitrag.callgraph.facts import EMPTY, Facts, failed, pack
from gitrag.callgraph.general.syntax import QUERIES, parsed
from gitrag.machine.isolation import reason_of
from gitrag.words.numbers import count

_SPOKEN = frozenset({"python", *QUERIES})

_COMPONENTS = frozenset({"vue", "svelte", "astro", "html"})

_TEMPLATES = {
    "erb": ("ruby", "templates.ruby_of"),
    "jsp": ("java", "templates.java_of"),
    "html": ("python", "templates.python_of"),
    "razor": ("csharp", "templates.csharp_of"),
    "twig": ("php", "php_templates.php_of_twig"),
    "blade": ("php", "php_templates.php_of_blade"),
}
"""What templates have of other languages, and what reads it.
HTML, if it calls nothing of Python, is read for its scripts."""

LANGUAGES = _SPOKEN | _COMPONENTS | {*_TEMPLATES, "notebook", "rmarkdown"}
"""Languages with call extraction.
Of a file of parts in several languages, the language is read that has most rows."""

_SCRIPT = re.compile(r"<script\s[^<>]{0,200}?\bsrc=[\"'](\.[^\"'\s<>]{1,200})[\"']")
"""The script of a component that is in another file."""
_CALL = re.compile(r"\w\(")
_MAX_BYTES = 1 << 20
"""Larger sources are generated; nobody asks about their calls."""


def extract(data: bytes, language: str) -> Facts:
    """Return the facts of a blob; if it cannot be read, only the reason.

    Args:
        language: One of ``LANGUAGES``.
    """
    from gitrag.chunking.parsing import GrammarError

    try:
        return _read(data, language)
    except GrammarError as error:
        return failed(str(error))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - one bad file must not stop the others
        return failed(reason_of(error))


def _code_of_template(text: str, language: str) -> tuple[str, str] | None:
    """Return the language and the code of a template; None if it is none."""
    spoken, reader = _TEMPLATES.get(language, ("", ""))
    module, _, name = reader.partition(".")
    code = getattr(import_module(f"gitrag.callgraph.{module}"), name)(text) if spoken else ""
    return (spoken, code) if spoken and (code.strip() or language != "html") else None


def _script_of(text: str, language: str) -> tuple[str, str]:
    """Return the language and the code by which a component imports its script; empty if it has none."""
    found = _SCRIPT.search(text) if language == "vue" else None
    return ("javascript", f"import $script from '{found[1]}'") if found else ("", "")


def _read(data: bytes, language: str) -> Facts:
    from gitrag.chunking import decode
    from gitrag.chunking.chunker import (
        MAX_PARSED_LINE_CHARS,
        for_parser,
        is_hopelessly_nested,
        is_plausible,
    )
    from gitrag.chunking.containers import main_language, markup_of, spoken
    from gitrag.chunking.languages import BY_NAME

    text, given = decode(data, language), language
    whole = text
    if len(text) > _MAX_BYTES:
        return failed("it is larger than 1 MiB")
    language, text = _code_of_template(text, given) or main_language(text, given, _SPOKEN)
    language, text = _script_of(whole, given) if not text.strip() else (language, text)
    if not language or not text.strip():
        return replace(EMPTY, language="" if given == "html" else _TEMPLATES.get(given, ("",))[0])
    row = BY_NAME[language]
    source = for_parser(text.encode(), text.split("\n"), row)
    if row.name in {"c", "cpp"}:
        from gitrag.callgraph.general.annotations import without_annotations

        source = without_annotations(source)
    if is_hopelessly_nested(source):
        return failed("its brackets nest too deep")
    if not is_plausible(source, row):
        if given in {"html", "razor"}:  # a template of another language
            return EMPTY
        return failed(f"it is not in {row.name}")
    row, tree = parsed(source, row)
    if row.grammar == "python":
        from gitrag.callgraph.python.module_reader import ModuleReader
        from gitrag.callgraph.python.modules import python_facts

        facts = python_facts(ModuleReader(source).read(tree.root_node))
    else:
        from gitrag.callgraph.general.markup import named_in
        from gitrag.callgraph.general.syntax import QueryReader

        if language == "rust":
            from gitrag.callgraph.general.macros import opened

            source, tree = opened(source, tree, row)
        named = named_in(markup_of(whole, given), given) if given in _COMPONENTS else []
        facts = QueryReader(source, row, named).read(tree)
    blank = [line for line in text.split("\n") if len(line) > MAX_PARSED_LINE_CHARS and _CALL.search(line)]
    if blank:  # else it is data
        facts = replace(
            facts, partly=f"{count(len(blank), 'line')} of over {MAX_PARSED_LINE_CHARS:,} characters"
        )
    return facts if given in _SPOKEN or given == "erb" else replace(facts, language=spoken(row.name))


Job: TypeAlias = tuple[int, bytes, str]


def failed_facts(job: Job, reason: str) -> tuple[int, bytes]:
    """Return the packed facts of a content that could not be read."""
    return job[0], pack(failed(reason))


def extract_all(jobs: Sequence[Job]) -> list[tuple[int, bytes]]:
    """Return the packed facts of contents, by the ids given with them."""
    return [(content_id, pack(extract(data, language))) for content_id, data, language in jobs]


def unsupported(files: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the paths of programs in a language without call extraction.

    Args:
        files: Path and language; if the language is empty, it is derived from the path.
    """
    from gitrag.chunking.languages import is_code, language_of

    for path, known in dict.fromkeys(files):
        language = known or language_of(path) or ""
        if is_code(language) and language not in LANGUAGES:
            yield path
