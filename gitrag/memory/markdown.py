"""Convert observations to Markdown files and back, without losing a byte of the sections. Pure.

A file is YAML front matter, a heading, and the sections, each between two comments. The comments mark the end
of a section, whatever headings it contains; if a text contains such a comment itself, a number is added that
makes them unique.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gitrag.errors import ConfigError, UsageError
from gitrag.memory.exploration import SECTIONS
from gitrag.memory.observations import Identity, Observation
from gitrag.memory.projects import is_repository, name_of
from gitrag.words.bounded_yaml import is_readable, parse_mapping

_MARK = "gitrag"
_FRONT = re.compile(r"\A---\n(.*?\n)---\n", re.DOTALL)
_FRONT_MATTER_BYTES = 1024 * 1024
_NAME_BYTES = 120
"""Most bytes of a file name's title part; file systems allow 255 in all, with the number and the suffix."""


def file_name(observation: Observation) -> str:
    """Return the name of an observation's file: ``12-user-auth.md``; the number makes it unique."""
    slug = observation.identity.topic_key.rpartition("/")[2]
    short = slug.encode()[:_NAME_BYTES].decode("utf-8", "ignore")
    return f"{observation.observation_id}-{short}.md"


def to_markdown(observation: Observation) -> str:
    """Return an observation as the text of a file."""
    import yaml

    mark = _free_mark(observation.sections)
    front = {
        "id": observation.observation_id,
        "type": observation.kind,
        "title": observation.title,
        "topic_key": observation.identity.topic_key,
        "project": name_of(observation.identity.project),
        **(
            {"repository": observation.identity.project}
            if is_repository(observation.identity.project)
            else {}
        ),
        "scope": observation.identity.scope,
        "session_id": observation.session_id,
        "revision": observation.revision,
        "created": observation.created,
        "updated": observation.updated,
        "mark": mark,
    }
    dumped = yaml.safe_dump(front, allow_unicode=is_readable(front), sort_keys=False, width=1 << 30)
    parts = [f"---\n{dumped}---\n\n# {' '.join(observation.title.split())}\n"]
    parts += [
        f"\n## {name.title()}\n\n{_begin(mark, name)}\n{text}\n{_end(mark, name)}\n"
        for name in SECTIONS
        if (text := observation.sections.get(name))
    ]
    return "".join(parts)


def from_markdown(text: str, source: str) -> Observation:
    """Parse what ``to_markdown`` wrote, possibly edited since.

    Args:
        text: The file's text, line ends unchanged.

    Raises:
        UsageError: The text is not an exported observation.
    """
    front = _FRONT.match(text)
    if front is None:
        raise UsageError(f"{source} does not begin with front matter.", "Import what `export` has written.")
    try:
        fields = parse_mapping(front.group(1).encode(), source, _FRONT_MATTER_BYTES)
    except ConfigError as error:
        raise UsageError(str(error), error.hint) from error

    def field(name: str, default: str | None = None) -> str:
        value = fields.get(name, default)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise UsageError(
                f"{source}: the front matter has no {name}.", "Import what `export` has written."
            )
        return value

    def number(name: str) -> int:
        value = field(name, "")
        return int(value) if value.isascii() and value.isdigit() and len(value) < 18 else 0

    sections = _sections(text[front.end() :], field("mark", _MARK), source)
    if not sections:
        raise UsageError(f"{source} holds no section.", f"Sections are {', '.join(SECTIONS)}.")
    return Observation(
        observation_id=number("id"),
        kind=field("type"),
        identity=Identity(
            field("topic_key"), field("repository", "") or field("project", ""), field("scope", "project")
        ),
        title=field("title"),
        session_id=field("session_id", ""),
        revision=max(number("revision"), 1),
        created=field("created", ""),
        updated=field("updated", ""),
        sections=sections,
    )


def _sections(body: str, mark: str, source: str) -> dict[str, str]:
    found: dict[str, str] = {}
    begin = re.compile(rf"^<!-- {re.escape(mark)}:(\w+) -->\n", re.MULTILINE)
    position = 0
    while opening := begin.search(body, position):
        name = opening.group(1)
        closing = f"\n{_end(mark, name)}"
        end = body.find(closing, opening.end() - 1)
        if end < 0:
            raise UsageError(f"{source}: section {name} has no end.", f"Add the line {closing.strip()}")
        found[name] = body[opening.end() : end] if end >= opening.end() else ""
        position = end + len(closing)
    return {name: text for name, text in found.items() if text}


def _free_mark(sections: Mapping[str, str]) -> str:
    """Return a mark that no section contains."""
    mark, tried = _MARK, 0
    while any(f"{mark}:" in text for text in sections.values()):
        tried += 1
        mark = f"{_MARK}-{tried}"
    return mark


def _begin(mark: str, name: str) -> str:
    return f"<!-- {mark}:{name} -->"


def _end(mark: str, name: str) -> str:
    return f"<!-- /{mark}:{name} -->"
