"""Read YAML from untrusted sources, within limits, into strings, lists and mappings.

Scalars stay text: ``off`` stays ``off`` and ``1.10`` stays ``1.10``. Aliases, tags, duplicate keys, and
documents that are too large or too deep are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitrag.errors import ConfigError

if TYPE_CHECKING:
    import yaml

MOST_LEVELS = 16
"""Deeper than any setting; far from Python's recursion limit."""

_PLAIN_TAGS = frozenset({"str", "int", "float", "bool", "null", "timestamp", "seq", "map", "merge", "value"})

_QUOTE_STAR = "aliases are not allowed; a value that begins with * needs quotes ('*.min.js')"

YamlValue = str | None | list["YamlValue"] | dict[str, "YamlValue"]
"""A scalar's text (None if empty), a list or a mapping."""


def is_readable(value: object) -> bool:
    """Tell whether texts can be written unescaped and read back unchanged.

    PyYAML writes U+0085 unescaped, but reads it as the end of a line.
    """
    return "\\x85" not in repr(value)


def parse_mapping(content: bytes, name: str, max_bytes: int) -> dict[str, YamlValue]:
    """Parse a text that contains a mapping; an empty text is an empty mapping.

    Args:
        content: The text, UTF-8.
        max_bytes: Size limit; PyYAML reads some 0.1 MB/s.

    Raises:
        ConfigError: It is too large or too deep, uses aliases or tags, repeats a key, or is not YAML; the
            message names the line.
    """
    if len(content) > max_bytes:
        raise ConfigError(f"{name} is larger than {max_bytes} bytes.", f"Shorten {name}.")
    if not content.strip():
        return {}
    return _YamlReading(name).mapping_of(content)


def compose_mapping(content: bytes, name: str, max_bytes: int) -> yaml.MappingNode | None:
    """Parse the same mapping as nodes with their positions; None for a text without one.

    Arguments and errors as in `parse_mapping`.
    """
    parse_mapping(content, name, max_bytes)
    return _YamlReading(name).node_of(content) if content.strip() else None


class _YamlReading:
    """Parses one text, whose name is in every error."""

    def __init__(self, name: str) -> None:
        self._name = name

    def mapping_of(self, content: bytes) -> dict[str, YamlValue]:
        node = self.node_of(content)
        return {} if node is None else self._mapping(node)

    def node_of(self, content: bytes) -> yaml.MappingNode | None:
        import yaml

        node = self._compose(content)
        if node is None or node.tag == "tag:yaml.org,2002:null":  # only comments, or `---`
            return None
        if not isinstance(node, yaml.MappingNode):
            raise self._wrong("it must hold lines of the form `key: value`", node.start_mark)
        return node

    def _compose(self, content: bytes) -> yaml.Node | None:
        import yaml

        wrong = self._wrong

        class Bounded(yaml.SafeLoader):
            """The safe loader, with a depth limit and no aliases: a few lines of them expand to gigabytes."""

            depth = 0

            def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
                event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it out
                if isinstance(event, yaml.AliasEvent):
                    raise wrong(_QUOTE_STAR, event.start_mark)
                self.depth += 1
                if self.depth > MOST_LEVELS:
                    raise wrong(f"more than {MOST_LEVELS} levels deep", event.start_mark)
                node = super().compose_node(parent, index)
                self.depth -= 1
                return node

        try:
            return Bounded(content).get_single_node()
        except yaml.MarkedYAMLError as error:
            star = error.context == "while scanning an alias"
            problem = _QUOTE_STAR if star else str(error.problem or error.context)
            raise wrong(problem, error.problem_mark or error.context_mark) from error
        except (yaml.YAMLError, UnicodeError) as error:
            raise ConfigError(f"{self._name} is not UTF-8 text.", f"Edit {self._name}.") from error

    def _mapping(self, node: yaml.MappingNode) -> dict[str, YamlValue]:
        import yaml

        self._check_tag(node)
        found: dict[str, YamlValue] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._wrong("a key must be a word", key.start_mark)
            if key.value in found:
                raise self._wrong(f"{key.value[:60]!r} is set twice", key.start_mark)
            self._check_tag(key)
            found[key.value] = self._value(value)
        return found

    def _value(self, node: yaml.Node) -> YamlValue:
        import yaml

        self._check_tag(node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item) for item in node.value]
        empty = node.tag == "tag:yaml.org,2002:null"
        return None if empty else str(node.value)

    def _check_tag(self, node: yaml.Node) -> None:
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        if kind not in _PLAIN_TAGS:
            raise self._wrong(
                f"tags are not allowed; a value that begins with ! needs quotes ('{kind[:60]}')",
                node.start_mark,
            )

    def _wrong(self, problem: str, mark: Any) -> ConfigError:
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        return ConfigError(f"{self._name}{where}: {problem}.", f"Edit {self._name}.")
