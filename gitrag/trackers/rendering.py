"""An issue as Markdown with YAML front matter, and back. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gitrag.trackers.issue import Issue, IssueState, References
from gitrag.words.bounded_yaml import is_readable

if TYPE_CHECKING:
    import yaml

_FENCE = "---\n"
_HEAD = re.compile(rb"---\n(.*?\n)---\n", re.DOTALL)
"""YAML's own dumper never puts ``---`` at the start of a line inside a document."""

_NO_WRAP = 1 << 30
_SURROGATES = re.compile("[\ud800-\udfff]")


def render(issue: Issue) -> bytes:
    """Return the content of an issue's file: front matter, an empty line, the body verbatim."""
    import yaml

    head = {
        "id": issue.id,
        "title": issue.title,
        "status": issue.status.value,
        "labels": list(issue.labels),
        "assignees": list(issue.assignees),
        "author": issue.author,
        "created": issue.created,
        "updated": issue.updated,
        "closed": issue.closed or None,
        "url": issue.url,
        "tracker": issue.tracker,
        "references": {
            "specs": list(issue.references.specs),
            "adrs": list(issue.references.adrs),
            "blocks": list(issue.references.blocks),
            "blocked_by": list(issue.references.blocked_by),
        },
    }
    front = yaml.dump(
        _whole(head),
        Dumper=_dumper(),
        sort_keys=False,
        allow_unicode=is_readable(head),
        default_flow_style=False,
        width=_NO_WRAP,
    )
    text = f"{_FENCE}{front}{_FENCE}" + (f"\n{issue.body}" if issue.body else "")
    return text.encode("utf-8", "replace")  # JSON may hold a lone surrogate, which UTF-8 cannot encode


def parse(content: bytes) -> Issue:
    """Parse what `render` returned.

    Raises:
        ValueError: The content is not that of an issue's file.
    """
    found = _HEAD.match(content)
    if not found:
        raise ValueError("no front matter")
    import yaml

    try:
        head = yaml.load(found[1], Loader=_loader())  # noqa: S506  # a subclass of the safe loader
        references = head["references"]
        return Issue(
            id=_text(head["id"]),
            title=_text(head["title"]),
            status=IssueState(head["status"]),
            labels=_texts(head["labels"]),
            assignees=_texts(head["assignees"]),
            author=_text(head["author"]),
            created=_text(head["created"]),
            updated=_text(head["updated"]),
            closed=_text(head["closed"] or ""),
            url=_text(head["url"]),
            tracker=_text(head["tracker"]),
            references=References(
                _texts(references["specs"]),
                _texts(references["adrs"]),
                _texts(references["blocks"]),
                _texts(references["blocked_by"]),
            ),
            body=content[found.end() :].removeprefix(b"\n").decode("utf-8", "replace"),
        )
    except (yaml.YAMLError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("the front matter is no issue's") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return value


def _texts(values: object) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise TypeError(type(values).__name__)
    return tuple(_text(value) for value in values)


def _whole(value: Any) -> Any:
    """Replace lone surrogates, which the dumper cannot write."""
    if isinstance(value, str):
        return _SURROGATES.sub("?", value)
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    return value


def _dumper() -> type[yaml.SafeDumper]:
    """Return the safe dumper, the C one where PyYAML has it: ten times as fast."""
    import yaml

    return getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def _loader() -> type[yaml.SafeLoader]:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)
