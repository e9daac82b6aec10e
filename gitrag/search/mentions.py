"""Files whose text contains a name as a whole word."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.late import np
from gitrag.store import candidates, content
from gitrag.store.candidates import SearchScope

if TYPE_CHECKING:
    from gitrag.store.connection import Connection


class NamingFile(Struct, frozen=True):
    """A file that contains a name: its path, language (empty if unknown) and text."""

    path: str
    language: str
    text: str


def files_naming(db: Connection, scope: SearchScope, name: str) -> list[NamingFile]:
    """Find the scope's files that contain a name as a whole word, its case as given; by path.

    It reads every text of the index: 0.1 s for 50 MB.
    """
    found = candidates.contents_with_word(db, name)
    files = np.flatnonzero(np.isin(scope.files.content_id, found))
    texts = content.read_texts(db, scope.files.content_id[files].tolist())
    paths = candidates.read_paths(db, scope.files.path_id[files].tolist())
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    naming = []
    for file in files.tolist():
        text = texts.get(int(scope.files.content_id[file]), "")
        if word.search(text):
            path, language = paths[int(scope.files.path_id[file])], str(scope.files.language[file])
            naming.append(NamingFile(path, language, text))
    return sorted(naming, key=lambda each: each.path)
