"""Search the files as they are now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from msgspec.structs import force_setattr, replace

from gitrag.actions import catch_up
from gitrag.actions.answer import Answer
from gitrag.actions.current_view import CurrentView, tell_absent
from gitrag.actions.requests import SearchRequest
from gitrag.actions.status import collection_names
from gitrag.chunking.languages import BY_NAME, named
from gitrag.corpus.layout import CollectionKind, kind_of, module_of
from gitrag.errors import ModelError, NotSetUpError, UsageError
from gitrag.git.meant import followed, globs_meant
from gitrag.indexing.worker import running
from gitrag.late import np
from gitrag.search import lookup, wording
from gitrag.search.wording import Wording
from gitrag.store.scopes import NO_FILTERS, Filters
from gitrag.words.spelling import did_you_mean
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gitrag.actions.current_view import ReadResult
    from gitrag.config.keys import Config
    from gitrag.embedding.encoder import Encoder
    from gitrag.search.engine import Scoped
    from gitrag.search.question import Question
    from gitrag.search.sections import Sections, Wanted
    from gitrag.store.connection import Connection
    from gitrag.store.memo import Memo
    from gitrag.store.scopes import LeftOutRow
    from gitrag.store.source import Source
    from gitrag.store.views import ViewOverlay


def language_named(given: str) -> str:
    """Return our name of a language, given by its name or by the suffix of its files."""
    found = named(given)
    if found is None:
        close = did_you_mean(given.lower(), list(BY_NAME)).strip()
        raise UsageError(
            f'There is no language "{given}".', close or "`gitrag status` lists those of this repository."
        )
    return found


SEEN_S = 2.0
"""How old a look at the files may be that answers an unfinished question, or is drawn from around hits."""


class SearchOptions(SearchRequest, frozen=True):
    """What is asked for, and what a face adds to it; ``limit`` applies to each section.

    Kinds, languages and paths are read into ``filters`` where those are not given; collections and module say
    what is ``wanted`` where that is not: issues too, of a question ``with_issues``. Relative paths in a
    question start in ``directory``, itself relative to the worktree's top; empty for the top. A text that no
    user asked is taken ``as_it_is``: it names nothing, and no word of it is corrected or called missing.
    ``grouped``, files of code that are nearly the same are one hit, which names the others. Drafts of what is
    found are embedded for ``refine_s`` seconds at most, and what has changed is indexed for ``catch_up_s``;
    None as the settings say. Who asks to hear ``soon`` waits a second at most for those of many changed files
    that hold too little of the question. One that is ``unfinished``, being typed, is answered of the
    files as they were up to `SEEN_S` seconds ago; no word is corrected, and files without it are not counted.
    """

    filters: Filters = NO_FILTERS
    wanted: Wanted | None = None
    with_issues: bool = False
    directory: str = ""
    as_it_is: bool = False
    grouped: bool = False
    refine_s: float | None = None
    catch_up_s: float | None = None
    soon: bool = False
    unfinished: bool = False

    def __post_init__(self) -> None:
        """Read kinds, languages and paths, collections and module."""
        if self.filters is NO_FILTERS and (self.kinds or self.languages or self.paths):
            languages = tuple(map(language_named, self.languages))
            force_setattr(self, "filters", Filters(tuple(self.kinds), languages, tuple(self.paths)))
        if self.wanted is None and (self.collections or self.module or self.with_issues):
            from gitrag.search.sections import Wanted

            with_issues = self.with_issues and not self.exact
            force_setattr(self, "wanted", Wanted.of(self.collections, self.module, with_issues=with_issues))

    @classmethod
    def of(cls, asked: SearchRequest, **more: Any) -> Self:
        """Return a request with what a face adds to it, or has instead."""
        return cls(**{name: getattr(asked, name) for name in SearchRequest.__struct_fields__} | more)

    @property
    def may_be_reworded(self) -> bool:
        """Whether words are corrected that may be misspelt: somebody has asked, to the end."""
        return not (self.as_it_is or self.unfinished)


EVERYTHING = SearchOptions()

Searcher = Callable[[str, SearchOptions], Answer]
"""Whom a question is asked: a repository, several, or a hub. Each answers with the same type, so that pages,
screens, commands and tools need not know which it is."""


def search(
    workspace: Workspace,
    query: str,
    options: SearchOptions = EVERYTHING,
    *,
    finish: Callable[[Workspace], None] | None = None,
) -> Answer:
    """Search the files as they are now.

    Args:
        finish: Called where work is left for the background; starts the worker by default.

    Raises:
        UsageError: The query has no words.
    """
    from gitrag.search.sections import Wanted
    from gitrag.store import scopes
    from gitrag.store.source import IndexFile

    led = "" if options.as_it_is else led_by_links(workspace, query, options.directory)
    question = read_question(led or query, may_be_report=not options.as_it_is)
    wanted = (options.wanted or Wanted()).within(workspace.name)
    options = replace(options, filters=with_meant_globs(workspace, options.filters))
    workspace.require_index()
    view = CurrentView(
        workspace,
        revision=options.ref,
        committed_only=options.committed_only,
        with_issues=wanted.issues,
        budget_s=options.catch_up_s,
        words=question.words if options.soon else (),
        seen_s=SEEN_S if options.unfinished else 0.0,
    )
    encoder = workspace.encoder_if_ready(question.meaning)  # while git is asked

    def ask(db: Connection, view_id: int, overlay: ViewOverlay) -> Sections:
        memo = workspace.store.memo  # which is that of ``db``
        scoped = scope_of(options, workspace.config, view_id, overlay)
        source, reword = IndexFile(db, workspace.model, memo), options.may_be_reworded
        found = rank(source, question, scoped, wanted, encoder, memo, reword=reword)
        shown = {hit.content_id for section in found.sections for hit in section.hits}
        rows: Sequence[LeftOutRow] | None = None
        if _may_be_left_out(question, options, found):
            key = "left out", view_id, overlay
            rows = memo.get(key, lambda: tuple(scopes.left_out(db, view_id, overlay)))
        return replace(found, outlined=scopes.outlined(db, shown, memo), left_out=rows)

    result = view.read(ask, encoder)
    refine_s = workspace.config.refine_s if options.refine_s is None else options.refine_s
    result = view.refine(ask, result, result.found.chunk_ids, encoder, refine_s)
    # A running worker embeds the drafts of all views, and reads commits; it may not know of files to index.
    unfinished = (result.unembedded and encoder is not None) or result.found.unread_history
    if result.refreshed.waiting or (unfinished and running(workspace.store.directory) is None):
        (finish or catch_up.start_worker)(workspace)
    found = result.found
    if options.ref is not None or all(hit.is_nearest for each in found.sections for hit in each.hits):
        tell_absent(workspace, options.ref)
    if not found.collections:
        raise no_collection(workspace, wanted)
    return _answered(workspace, view, result, question, options, led, with_model=encoder is not None)


def _answered(
    workspace: Workspace,
    view: CurrentView,
    result: ReadResult[Sections],
    question: Question,
    options: SearchOptions,
    led: str,
    *,
    with_model: bool,
) -> Answer:
    from gitrag.embedding.draft import has_table

    found, refreshed = result.found, result.refreshed
    absent = _absent_names(question, found)
    return Answer(
        query=question.text,
        sections=found.sections,
        commit=refreshed.head.commit,
        dirty=refreshed.dirty,
        drafts=result.unembedded,
        waiting=refreshed.waiting,
        model=with_model,
        drafted=has_table(workspace.model),
        wording=_with_left_out(workspace, result, question, options, absent, led),
        looked_at=None
        if options.unfinished or any(each.hits for each in found.sections)
        else _count_files(view, options, found),
        collections=tuple(f"{workspace.name}-{each}" for each in found.collections),
        least=workspace.config.min_score if options.min_score is None else options.min_score,
        absent_names=absent,
        outlined=_outlined(result),
    )


def _absent_names(question: Question, found: Sections) -> tuple[str, ...]:
    if found.wording.searched_for or found.wording.foreign:  # other words were asked
        return ()
    return wording.absent_names(question, found.occurrences)


def _may_be_left_out(question: Question, options: SearchOptions, found: Sections) -> bool:
    """Tell whether a question asks for something that was not found, and may be left out of the index."""
    best = max((hit.score for section in found.sections for hit in section.hits), default=0.0)
    if not options.may_be_reworded or best == 1.0:  # a place that is there
        return False
    is_path = lookup.names_a_path(question.text, options.directory)
    return is_path or bool(found.wording.missing or _absent_names(question, found))


def _with_left_out(
    workspace: Workspace,
    result: ReadResult[Sections],
    question: Question,
    options: SearchOptions,
    absent: Sequence[str],
    led: str,
) -> Wording:
    """Return what is to be said of a question's words, and what it asks for that exists, but is left out."""
    found = result.found
    said = replace(found.wording, searched_for=led) if led else found.wording
    if found.left_out is None:
        return said
    from gitrag.actions.left_out import LeftOut

    paths = [hit.path for section in found.sections for hit in section.hits]
    left_out = LeftOut(workspace, found.left_out, result)
    exists = left_out.named(question.text, options.directory, paths)
    words = [*dict.fromkeys([*(name.rpartition(".")[2] for name in absent), *said.missing])]
    if words and exists == ():
        exists = left_out.holding(words, options.filters)
    return replace(said, exists=exists) if exists else said


def _outlined(result: ReadResult[Sections]) -> tuple[str, ...]:
    """Say of which of the files found only the outline is indexed, a sentence each."""
    if not result.found.outlined:
        return ()
    from gitrag.actions.left_out import outline_lines

    hits = [hit for section in result.found.sections for hit in section.hits]
    return outline_lines(hits, result.found.outlined, result.now.reader)


def led_by_links(workspace: Workspace, query: str, directory: str) -> str:
    """Return a question for a path as one for what its links lead to; empty if there are none."""
    return lookup.led_by_links(query, directory, lambda path: followed(workspace.repo.root, path))


def with_meant_globs(workspace: Workspace, filters: Filters) -> Filters:
    """Return filters whose globs hold where links lead too, and in other forms of Unicode."""
    if not filters.globs:
        return filters
    return replace(filters, globs=globs_meant(workspace.repo.root, filters.globs))


def _count_files(view: CurrentView, options: SearchOptions, found: Sections) -> int:
    """Count the files that a search without any hit has looked at."""
    from gitrag.git import matcher
    from gitrag.store import scopes

    filters = replace(options.filters, collections=found.collections)
    allowed = matcher(filters.globs) if filters.globs else None

    def counted(db: Connection, view_id: int, overlay: ViewOverlay) -> int:
        path_ids = scopes.open_scope(db, view_id, overlay, filters).files.path_id.tolist()
        if allowed is None:
            return len(path_ids)
        return sum(map(allowed, scopes.read_paths(db, path_ids).values()))

    return view.read(counted).found


class NoCollectionError(NotSetUpError):
    """There is an index, but no collection that was asked for."""


_EMPTY: Mapping[CollectionKind, tuple[str, str]] = {
    CollectionKind.ADRS: ("is a decision", "The setting adrs says where decisions are: gitrag config"),
    CollectionKind.SPECS: ("is a specification", "The setting specs says where they are: gitrag config"),
    CollectionKind.ISSUES: ("is the copy of an issue", "gitrag issues sync"),
    CollectionKind.CODE: ("belongs to it", "gitrag index status"),
}
"""What no file is where a collection is empty, and what to do."""


def no_collection(workspace: Workspace, wanted: Wanted) -> NoCollectionError:
    """Return the error for collections that an indexed repository does not have: mistyped, or empty."""
    there = collection_names(workspace)
    name = workspace.name
    own = [each.removeprefix(f"{name}-") for each in there]
    modules = sorted({module_of(each) for each in own} - {""})
    listed = f"There are: {', '.join(there)}" if there else ""
    if wanted.module and wanted.module not in modules:
        near = did_you_mean(wanted.module, modules)
        said = f'There is no module "{wanted.module}" in {name}.{near}'
        return NoCollectionError(said, listed)
    kinds = [kind.value for kind in CollectionKind]
    empty = [name.removeprefix("-") for name in wanted.names] or [each.value for each in wanted.kinds]
    for each in empty:
        if each.rpartition("-")[2] not in kinds or (module_of(each) and module_of(each) not in modules):
            near = did_you_mean(each, [*own, *kinds])
            return NoCollectionError(f'There is no collection "{each}" in {name}.{near}', listed)
    parts = [name, *([wanted.module] if wanted.module else []), empty[0]]
    what, mend = _EMPTY[kind_of(empty[0])]
    more = f" and {len(empty) - 1} more of those asked for are" if len(empty) > 1 else " is"
    return NoCollectionError(f"{'-'.join(parts)}{more} empty: no indexed file {what}.", f"{mend}. {listed}")


_EXAMPLE = 'gitrag search "where are retries implemented"'


def read_question(query: str, *, may_be_report: bool = True, example: str = _EXAMPLE) -> Question:
    """Read a query."""
    from gitrag.search.question import read

    question = read(query, may_be_report=may_be_report)
    if not question.words:
        raise UsageError(
            f"There is no word to search for in {query[:60]!r}.",
            f"Ask in words, for example: {example}",
        )
    return question


def question_vector(workspace: Workspace, text: str) -> tuple[Encoder | None, NDArray[np.float32] | None]:
    """Embed a query with the model, else draft its vector; None when neither is possible."""
    encoder = workspace.encoder_if_ready(text)
    return encoder, vector_of(encoder, text, workspace.model)


def vector_of(encoder: Encoder | None, text: str, model: str = "") -> NDArray[np.float32] | None:
    """Embed a query with the model, else draft its vector; None when neither is possible."""
    from gitrag.embedding.draft import drafter, has_table

    if encoder is not None:
        return encoder.encode_query(text)
    return drafter(model).draft([text])[0] if has_table(model) else None


def rank(
    source: Source,
    question: Question,
    scoped: Scoped,
    wanted: Wanted,
    encoder: Encoder | None,
    memo: Memo,
    *,
    reword: bool,
) -> Sections:
    """Ask a source a question, and again in other words where that helps and it may be reworded.

    ``memo`` keeps what is read for the next question; it belongs to the source as it is now.
    """
    from gitrag.search import rewording, sections

    def embedded(text: str) -> NDArray[np.float32] | None:
        try:
            return vector_of(encoder, text, source.model)
        except ModelError:  # a server that fails meanwhile: of the question as asked the vector is kept
            return vector_of(encoder, question.meaning, source.model)

    def ask(asked: Question) -> Sections:
        return sections.ask(source, asked, scoped, embedded, wanted, memo)

    found = ask(question)
    is_named = any(hit.score == 1.0 for section in found.sections for hit in section.hits)
    if is_named or not reword:  # no URL is in another language
        return found
    other = rewording.reword(source, question, found.occurrences, _is_known, memo)
    if other is None:
        return found
    text, is_foreign = other
    if not is_foreign:
        again = ask(read_question(text))
        return replace(again, wording=replace(again.wording, searched_for=text))
    if text != question.text:
        asked = replace(read_question(text), is_name=False)
        found = sections.lowered(ask(asked), scoped.min_score)
    said = wording.of_foreign(text if text != question.text else "")
    return replace(found, wording=replace(said, added=found.wording.added))


def scope_of(options: SearchOptions, config: Config, view_id: int | None, overlay: ViewOverlay) -> Scoped:
    """Return what a question may find in a view, where the options say nothing as the settings do."""
    from gitrag.search.engine import Scoped

    return Scoped(
        view_id,
        overlay,
        options.filters,
        directory=None if options.as_it_is else options.directory,
        limit=config.limit if options.limit is None else options.limit,
        min_score=config.min_score if options.min_score is None else options.min_score,
        every_chunk=options.every_chunk,
        grouped=options.grouped and not options.every_chunk,
    )


def _is_known(word: str) -> bool:
    from gitrag.embedding.draft import drafter

    return drafter().knows(word)
