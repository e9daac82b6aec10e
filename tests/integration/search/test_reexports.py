"""Names that files hand on."""

from __future__ import annotations

import pytest

from gitrag.search.question import read
from gitrag.search.verbatim import reexports
from gitrag.store.memo import Memo
from gitrag.store.source import IndexFile
from gitrag.words.declarations import handed_on
from tests.support.indexes import of_texts, scoped

FILES = {
    "src/lib.rs": "pub mod door;\n\npub use hinges::{\n    pins::Pin,\n    Hinge as Pivot,\n};\n",
    "src/door.rs": "use hinges::Hinge;\n\npub fn hang(hinge: Hinge) {}\n",
    "web/index.ts": "export { Latch, type Bolt } from 'latches';\nimport { Chain } from 'chains';\n",
    "py/door/__init__.py": "from .knob import Knob as Knob\nfrom rods import Rod\n\n__all__ = ['Rod']\n",
    "go/door.go": 'package door\n\nimport "Hinge"\n',
}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("pub use a::b::Name;", {"Name"}),
        ("pub use a::{\n    One,\n    b::Two as Three,\n};\nuse c::Other;", {"One", "Two", "Three"}),
        ("pub(crate) use a::Name;\nuse b::Other;", set()),
        ("export { One, Two as Three } from './a'", {"One", "Two", "Three"}),
        ("export type { One } from './a'", {"One"}),
        ("export { own }\nimport { Other } from './a'", set()),
        ("from .a import One as One, two as Other", {"One"}),
        ("__all__ = [\n    'One',\n    'Two',\n]", {"One", "Two"}),
        ("__all__: tuple[str, ...] = ('One',)", {"One"}),
        ("from .a import One\nprint('all')", set()),
    ],
)
def test_statements_hand_names_on(text, names):
    """Names begin with a capital here."""
    assert {name for name in handed_on(text) if name[0].isupper()} == names


def test_files_that_hand_a_name_on_are_found(tmp_path):
    with scoped(of_texts(tmp_path, FILES)) as (db, scope, paths):
        memo = Memo(lasting=True)

        def found(name: str) -> list[str]:
            rows = reexports(IndexFile(db), scope, read(name).names)
            assert rows == reexports(IndexFile(db), scope, read(name).names, memo)
            assert all(row.exact for row in rows)
            return [paths[row.file] for row in rows]

        assert [found(name) for name in ("Hinge", "Pin", "Latch", "Knob", "Rod")] == [
            *(["src/lib.rs"], ["src/lib.rs"], ["web/index.ts"]),
            *(["py/door/__init__.py"], ["py/door/__init__.py"]),
        ]
        for name in ("hinges", "hinge", "Chain", "hang", "missing"):
            assert found(name) == [], name
        assert found("where is Hinge defined") == ["src/lib.rs"]
