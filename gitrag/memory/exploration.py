"""Explorations (what was found out before a change): their parts, and how they are rendered. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from hashlib import blake2b

from gitrag.errors import UsageError
from gitrag.memory.observations import Observation
from gitrag.memory.projects import name_of
from gitrag.memory.suggestion import suggest
from gitrag.words.control_characters import sanitise_line

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
    """Check what is to be saved; return the non-empty sections, unchanged, in the order of `SECTIONS`.

    Raises:
        UsageError: The title is blank, all sections are, or a text is not valid Unicode.
    """
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
    guess = suggest(*(said.get(name, "") for name in ("goals", "constraints", "context")))
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
            f"- **Suggested type:** {guess.kind.value} — {guess.kind.reason}",
            f"- **Suggested size:** {guess.size.value} — {guess.size.reason}",
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
    """Return an observation as Markdown."""
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
