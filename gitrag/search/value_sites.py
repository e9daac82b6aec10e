"""Places that give a name a value or a type where no chunk has that name: constants, variables, fields."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from gitrag.late import np
from gitrag.store.candidates import DefinitionSite, SearchScope

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.store.source import Source

_MOST = 20
"""Maximum number of places; a name with more is a common word such as ``name`` or ``id``."""

# RE2's syntax, for the database; linear in the text. NAME is replaced by the names.
_BEFORE = r"^[ \t]*(?:[@\w][\w.]*(?:::\w+)*(?:<[^=;\n]*>|[\[(][^=;\n]*[\])])?[*&?!]*[ \t]+[*&]*){0,6}"
"""Nothing, or modifiers and types: ``pub(crate) const``, ``static final Map<K, V>``, ``const char *``."""
_GIVEN_A_VALUE = (
    _BEFORE + r"(?:[\w.]+\.)?[@$]*NAME\b[?!]?(?:\[[^\]\n]*\])*[ \t]*"
    r"(?::[^=\n]*|[\w.*\[\]<>]+[ \t]*)?:?=(?:[^=>~]|$)",  # NAME: T = 1, NAME T = 1, NAME := 1
    r"^[ \t]*#[ \t]*define[ \t]+NAME\b",  # C
    r"""^[ \t]*define\(['"]NAME['"]""",  # PHP
    r"^[ \t]*@NAME[ \t]+[^ \t(=]",  # Elixir
)
_MEMBER = (
    _BEFORE + r"\$?NAME\b[?!]?[ \t]*[:;]",  # timeout?: number; private int timeout;
    r"^[ \t]*NAME[ \t]+[*\[\]\w.]+[ \t]*(?:`|//|$)",  # Timeout time.Duration
    r"^[ \t]*(?:case[ \t]+)?NAME[ \t]*(?:\([^\n]*\))?[ \t]*(?:[,;{=]|//|$)",  # enumeration members
)


def value_sites(
    source: Source,
    scope: SearchScope,
    name: str,
    chunk_ids: NDArray[np.int32],
    is_code: Callable[[str], bool],
) -> list[DefinitionSite]:
    """Find the scope's code outside functions that gives a name a value or a type.

    Args:
        chunk_ids: int32, the chunks that contain it.
        is_code: Tells whether a language is a programming language.
    """
    given, member = (
        "(?m)" + "|".join(forms).replace("NAME", re.escape(name)) for forms in (_GIVEN_A_VALUE, _MEMBER)
    )
    found = source.giving_a_value(np.unique(chunk_ids), given, member)
    sure = {chunk_id: given for chunk_id, given, _member in found}
    places = scope.places_of(sure)
    code = [(file, chunk) for file, chunk in places if is_code(str(scope.files.language[file]))]
    return [DefinitionSite(chunk, file, sure[chunk]) for file, chunk in code] if len(code) <= _MOST else []
