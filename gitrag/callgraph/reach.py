"""What an answer about calls rests on, in words: which files were read, and which were not. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from gitrag.callgraph.extraction import LANGUAGES
from gitrag.callgraph.general.traits import family_of
from gitrag.chunking.languages import is_code, language_of
from gitrag.model import Skip
from gitrag.store.content import INDEXED, PENDING
from gitrag.words.numbers import count

_MOST_PLACES = 5
_MOST_LANGUAGES = 3


class Reach(Struct, frozen=True):
    """The programs among the files asked about.

    Attributes:
        files: Files whose calls were read and may lead to the definition: in languages that can call its own.
        elsewhere: Files whose calls were read but which are in other languages.
        languages: The languages of ``files``.
        unread: Files that could not be read.
        unsupported: Language and number of the files in languages without a call graph, most files first.
        left_out: Files that the index leaves out: generated, vendored, minified, too large, ignored.
        waiting: Files that are not indexed yet.
    """

    files: int
    elsewhere: int = 0
    languages: tuple[str, ...] = ()
    unread: int = 0
    unsupported: tuple[tuple[str, int], ...] = ()
    left_out: int = 0
    waiting: int = 0

    @property
    def looked_at(self) -> str:
        """The files, counted; with their languages where there are others: ``12 files in python``."""
        said = count(self.files, "file")
        return f"{said} in {' and '.join(self.languages)}" if self.elsewhere and self.languages else said

    @property
    def gaps(self) -> tuple[str, ...]:
        """What was not read, a phrase each; empty where every program was."""
        said = []
        if self.unread:
            said.append(f"{count(self.unread, 'file')} could not be read")
        if self.unsupported:
            number = sum(files for _, files in self.unsupported)
            named = ", ".join(name for name, _ in self.unsupported[:_MOST_LANGUAGES])
            more = ", …" if len(self.unsupported) > _MOST_LANGUAGES else ""
            said.append(f"{count(number, 'file')} in languages without a call graph ({named}{more})")
        if self.left_out:
            said.append(f"{count(self.left_out, 'file')} left out of the index")
        if self.waiting:
            said.append(f"{count(self.waiting, 'file')} not indexed yet")
        return tuple(said)


def reach(
    language: str,
    files: Mapping[str, str],
    failed: Iterable[str],
    others: Iterable[tuple[str, str, str]],
) -> Reach:
    """Count the programs that an answer about calls has looked at, and those that it has not.

    Args:
        language: That of the definition asked about: calls from other families of languages are not seen.
        files: Languages of the files whose calls were read, or could not be, by path.
        failed: Paths of those that could not be read in full.
        others: Path, language and state of the other files; what is no program is not counted.
    """
    family = family_of(language)
    own = {path for path, name in files.items() if family_of(name) == family}
    bad = own.intersection(failed)
    languages = tuple(sorted({files[path] for path in own}))
    unsupported: Counter[str] = Counter()
    unread, left_out, waiting = len(bad), 0, 0
    for path, known, state in others:
        language = known or language_of(path) or ""
        if not is_code(language):
            continue
        if state == INDEXED:
            unsupported[language] += language not in LANGUAGES
        elif family_of(language) != family:
            continue
        elif state == PENDING:
            waiting += 1
        elif ": " in state or state in {Skip.UNREADABLE, Skip.ABSENT}:  # cutting it has failed
            unread += 1
        else:
            left_out += 1
    return Reach(
        len(own - bad),
        len(files) - len(own),
        languages,
        unread,
        tuple((+unsupported).most_common()),
        left_out,
        waiting,
    )


class Uncalled(Struct, frozen=True):
    """A definition that no call was resolved to, and what else has its name.

    Attributes:
        unresolved: Places, ``path:line``, that may call it or hand it on, but were not resolved.
        mentioned: Places that only have its name.
        registered: Decorators, annotations, modifiers and traits by which a framework calls it; ``its name``
            where the language, or what runs tests, calls it by that.
        base_outside: The last name of a base of its class that is outside of the repository: it may call it;
            of Go the package, an interface of which may list it.
        is_searched: Whether all places were looked for.
    """

    unresolved: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    registered: tuple[str, ...] = ()
    base_outside: str = ""
    is_searched: bool = True

    @property
    def is_without_caller(self) -> bool:
        """Whether nothing was found that may call it: only of such a definition it is said."""
        return self.is_searched and not (self.unresolved or self.registered or self.base_outside)

    @property
    def verdict(self) -> str:
        """The same in few words."""
        return "no caller" if self.is_without_caller else "no call resolved"


def no_caller(looked_at: str, found: Uncalled, where: str = "") -> str:
    """Return what is known of who calls a definition: ``no caller in 412 files``, only if nothing may.

    Args:
        found: What else has its name.
        where: Of what this is said, if not of all: `` outside of tests``.
    """
    said = []
    if found.registered:
        said.append(f"registered by {_listed(found.registered)}")
    if found.base_outside:
        is_package = "/" in found.base_outside
        said.append(
            f"an interface of {found.base_outside} may call it"
            if is_package
            else f"{found.base_outside}, a base outside of the repository, may call it"
        )
    if found.unresolved:
        said.append(unresolved_in(found.unresolved))
    said.append(f"{found.verdict}{where} in {looked_at}")
    if not found.is_searched:
        said.append("not all of the text was searched")
    if found.mentioned:
        said.append(f"{count(len(found.mentioned), 'textual mention')} in {_listed(found.mentioned)}")
    return "; ".join(said)


def unresolved_in(places: Sequence[str]) -> str:
    """Return where something may be called, by lines that were not resolved."""
    return f"unresolved in {count(len(places), 'place')}: {_listed(places)}"


def _listed(places: Sequence[str]) -> str:
    return ", ".join(places[:_MOST_PLACES]) + (", …" if len(places) > _MOST_PLACES else "")


def no_callee(looked_at: str) -> str:
    """Return that a definition calls nothing of the repository, and what was looked at."""
    return f"no call found in it to a definition in {looked_at}"
