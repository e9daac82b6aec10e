"""Explorations (what was found out before a change): their parts, rendered and read back. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from hashlib import blake2b

from gitrag.errors import ConfigError, UsageError
from gitrag.memory.observations import Identity, Observation
from gitrag.memory.projects import is_repository, name_of
from gitrag.words.bounded_yaml import is_readable, parse_mapping
from gitrag.words.control_characters import sanitise_line

NO_SIGNAL = "Based on limited context — adjust as needed"

TYPES: Mapping[str, tuple[str, ...]] = {
    "fix": ("fix", "bug", "crash", "error", "broken"),
    "refactor": ("refactor", "restructure", "reorganize", "clean up", "cleanup"),
    "enhancement": ("improve", "enhance", "optimize", "better", "upgrade"),
    "feature": ("new", "add", "create", "build", "implement"),
}
"""The first type, in this order, with a matching word is suggested."""

SIZES: Mapping[str, tuple[str, ...]] = {
    "small": ("quick", "small", "simple", "trivial", "one-liner", "minor"),
    "large": ("complex", "large", "major", "big", "rewrite", "overhaul"),
}

DEFAULT_TYPE = "feature"
DEFAULT_SIZE = "medium"


_Guess = tuple[str, str]
"""A guess, and the word in the text that matched; empty if none did."""


def suggest(goals: str, constraints: str, context: str) -> tuple[_Guess, _Guess]:
    """Guess the type and the size of a change from the text of an exploration."""
    text = f"{goals}\n{constraints}\n{context}"
    return _first(TYPES, text, DEFAULT_TYPE), _first(SIZES, text, DEFAULT_SIZE)


def _first(table: Mapping[str, tuple[str, ...]], text: str, default: str) -> _Guess:
    for value, words in table.items():
        if found := _pattern(words).search(text):
            return value, found.group().lower()
    return default, ""


def _said(guess: _Guess) -> str:
    value, word = guess
    return f'{value} — because of "{word}"' if word else f"{value} — {NO_SIGNAL}"


def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Match the words at the start of any word: ``bug`` in ``bugs``, not in ``debug``.

    A final e may be dropped before an ending: ``improving``, ``optimization``.
    """
    starts = (re.escape(word).replace(r"\ ", r"\s+") for word in words)
    flexible = (f"{start[:-1]}(?:e|ing|ion|ation)" if start[-1] == "e" else start for start in starts)
    return re.compile(rf"\b(?:{'|'.join(flexible)})\w*", re.IGNORECASE)


SECTIONS = ("goals", "constraints", "preferences", "unknowns", "decisions", "context")
"""The sections of an exploration, in the order they are rendered."""

KIND = "explore"
FAMILY = frozenset({"explore", "exploration", "context", "discuss"})
"""Names by which a caller may ask for this kind."""

DEFAULT_SCOPE = "project"
DEFAULT_SESSION = "manual-save"

NEXT_STEPS = (
    "When ready to change existing code: find it with `search_code` (`gitrag search`), then plan the change",
    "To see which decisions and specifications bear on it: use `related` or `prime` with the title",
    "To add more context: call `explore` again with the same title",
)

_LONGEST_SLUG = 80
_SEPARATING_MARKS = frozenset(".,:;!?'\"/\\、。·・")
_SEPARATING_CATEGORIES = frozenset({"Zs", "Zl", "Zp", "Cc", "Pd", "Pc", "Ps", "Pe", "Pi", "Pf"})


def given_sections(title: str, sections: Mapping[str, str | None]) -> dict[str, str]:
    """Check what is to be saved; return the non-empty sections, unchanged, in the order of `SECTIONS`."""
    if not title.strip():
        raise UsageError("title is required", "Say in a few words what is being explored.")
    found = {name: text for name in SECTIONS if (text := sections.get(name)) and text.strip()}
    if not found:
        raise UsageError(
            f"At least one context field ({', '.join(SECTIONS)}) is required",
            "Give what is known so far; more can be added under the same title.",
        )
    for name, text in {"title": title, **found}.items():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"{name} is not valid Unicode text.", "Give it in UTF-8.") from error
    return found


def is_exploration(kind: str | None) -> bool:
    """Return whether a requested kind includes explorations; None requests all kinds."""
    return kind is None or kind.strip().lower() in FAMILY


def topic_key(title: str) -> str:
    """Return the topic key of a title, ``explore/{slug}``.

    Letters, marks and digits of any script are kept; case, width, spaces and punctuation are ignored. If any
    other symbol is left out (``C#``, ``C++``, an emoji), or the slug is truncated, a hash is added, so that
    different titles have different keys.
    """
    text = unicodedata.normalize("NFKC", title).casefold()
    text = unicodedata.normalize("NFKC", text)
    words: list[str] = [""]
    lost = False
    for character in text:
        category = unicodedata.category(character)
        if category[0] in "LMN":
            words[-1] += character
            continue
        lost |= category not in _SEPARATING_CATEGORIES and character not in _SEPARATING_MARKS
        if words[-1]:
            words.append("")
    slug = "-".join(word for word in words if word)
    if lost or not slug or len(slug) > _LONGEST_SLUG:
        digest = blake2b(" ".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
        slug = f"{slug[:_LONGEST_SLUG]}-{digest}".lstrip("-")
    return f"{KIND}/{slug}"


def sections_text(sections: Mapping[str, str]) -> str:
    """Return the sections as Markdown, each under its heading, in their order; empty ones are left out."""
    return "\n\n".join(f"## {name.title()}\n{sections[name]}" for name in SECTIONS if sections.get(name))


def saved_text(saved: Observation, *, created: bool) -> str:
    """Return the reply to a save: everything that is stored on the topic, and suggested next steps."""
    action = "Created" if created else f"Updated (revision #{saved.revision})"
    said = saved.sections
    kind, size = suggest(*(said.get(name, "") for name in ("goals", "constraints", "context")))
    return "\n".join(
        (
            "## Exploration Context Saved",
            "",
            f"**Title:** {sanitise_line(saved.title)}",
            f"**Topic Key:** {saved.identity.topic_key}",
            f"**Action:** {action}",
            f"**ID:** {saved.observation_id}",
            "",
            "### Captured Context",
            "",
            sections_text(said),
            "",
            "### Suggested Next Steps",
            "",
            *(f"- {step}" for step in NEXT_STEPS),
            "",
            "### Type/Size Suggestion",
            "",
            f"- **Suggested type:** {_said(kind)}",
            f"- **Suggested size:** {_said(size)}",
        )
    )


def namesake_text(found: Observation) -> str:
    """Return that an observation is kept under a name alone, and how to take it over."""
    return (
        f"Number {found.observation_id} has the same title. It is kept under the name"
        f' "{found.identity.project}" alone, which another repository may have. If it is this one\'s:'
        f" gitrag explore adopt {found.observation_id}"
    )


def observation_text(observation: Observation) -> str:
    identity = observation.identity
    project = sanitise_line(name_of(identity.project)) or "—"
    return "\n".join(
        (
            f"# {sanitise_line(observation.title)}",
            "",
            f"**Topic Key:** {identity.topic_key}",
            f"**Project:** {project} (scope {sanitise_line(identity.scope)})",
            f"**Revision:** {observation.revision}, {observation.updated}",
            f"**ID:** {observation.observation_id}",
            "",
            sections_text(observation.sections),
        )
    )


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
    mark, tried = _MARK, 0
    while any(f"{mark}:" in text for text in sections.values()):
        tried += 1
        mark = f"{_MARK}-{tried}"
    return mark


def _begin(mark: str, name: str) -> str:
    return f"<!-- {mark}:{name} -->"


def _end(mark: str, name: str) -> str:
    return f"<!-- /{mark}:{name} -->"
