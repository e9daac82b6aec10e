"""In what languages other than Python differ, where their calls are resolved."""

from __future__ import annotations

from gitrag.callgraph.general.parameters import OVERLOADING
from gitrag.callgraph.general.tables import SCRIPTS

SELF = {
    "go": frozenset[str](),
    "rust": frozenset({"self", "Self"}),
    "swift": frozenset({"self", "Self"}),
    "zig": frozenset[str](),
    "ruby": frozenset({"self"}),
    "php": frozenset({"this", "self", "static"}),
}
"""What an object calls itself, or a class itself."""
THIS = frozenset({"this", "self"})
"""In all other languages; JavaScript's ``self`` is by custom a ``this``."""
SUPER = {"csharp": "base", "php": "parent"}
"""What a class calls its base class; elsewhere ``super``."""
IMPLICIT_SELF = frozenset("java csharp c cpp kotlin swift scala ruby solidity dart zig".split())
BY_NAME = frozenset({"c", "cpp", "csharp", "ruby", "php", "swift", "kotlin", "scala", "solidity"})
"""Languages whose names are visible across files without an import that names the file."""
BY_IMPORT = frozenset({"rust", "dart", "zig", *SCRIPTS})
"""Languages in which a file sees of others only what it imports, whatever directory they are in."""
INFERRING = frozenset({"dart", "kotlin", "scala", "zig"})
"""Languages in which types are mostly inferred, by more than is read here."""
C_FAMILY = frozenset({"c", "cpp"})
"""C++, whose headers are called C."""
CHOOSING = OVERLOADING | C_FAMILY
"""Languages of files in which a call's arguments choose."""
INHERITING = frozenset({"java", "csharp"})
"""Languages in which a class has, beside its own functions of a name, the overloads of its bases."""
WHOLE = frozenset({"java", "kotlin", "php", "dart", "zig", *SCRIPTS})
"""Languages in which a class is all in one file."""
SPARING = frozenset({"rust", "go"})
"""Languages in which a type has no method but those that are found."""
