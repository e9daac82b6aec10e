"""Search the repositories of a hub, as one question to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gitrag.actions.answer import Answer
from gitrag.actions.search import EVERYTHING, SearchOptions, rank, read_question, scope_of, vector_of
from gitrag.errors import ModelError, NetworkError, NotSetUpError
from gitrag.hub.connection import ServerLostError
from gitrag.hub.hub import Hub, opened, unchanging
from gitrag.hub.source import HubSource, HubView
from gitrag.hub.upkeep import Placed, searchable
from gitrag.indexing.recipe import recipe
from gitrag.store.memo import Memo
from gitrag.store.views import ViewOverlay
from gitrag.words.spelling import did_you_mean

if TYPE_CHECKING:
    from gitrag.config.keys import Config
    from gitrag.embedding.encoder import Encoder
    from gitrag.search.engine import Hit
    from gitrag.search.question import Question

_EXAMPLE = 'gitrag hub search "where are retries implemented"'


class HubAnswer(Answer, frozen=True):
    """What a hub answers: each hit has the name of its repository, and its path is of that.

    Attributes:
        query: The query as given.
        searched: The branches that were searched, by the repository's name.
        files: How many files they have.
        absent: The repositories that were not searched, because their servers do not answer.
    """

    searched: tuple[HubView, ...] = ()
    files: int = 0
    absent: tuple[Placed, ...] = ()


def search(
    address: str,
    query: str,
    config: Config,
    *,
    repositories: Sequence[str] = (),
    options: SearchOptions = EVERYTHING,
    encoder: Encoder | None = None,
) -> HubAnswer:
    """Search a hub.

    Args:
        repositories: Names of the repositories to search; none means all that may be read.

    Raises:
        UsageError: The query has no words.
    """
    question = read_question(query, example=_EXAMPLE)
    encoder = encoder or load_encoder(config)
    vector_of(encoder, question.meaning)  # before a connection is held
    asked = (question, config, repositories, options, encoder)
    try:
        return _ask(address, *asked)
    except ServerLostError:  # one of several, since it was asked what it has: now the others answer
        return _ask(address, *asked)


def _ask(
    address: str,
    question: Question,
    config: Config,
    repositories: Sequence[str],
    options: SearchOptions,
    encoder: Encoder | None,
) -> HubAnswer:
    from gitrag.search.sections import Wanted

    with opened(address, recipe()) as hub, unchanging(hub):
        views, absent = _chosen(hub, repositories)
        source = HubSource(hub, views)
        # Of one branch also its commits count; of several, each has its own.
        commit = views[0].commit if len(views) == 1 else None
        scoped, wanted = (
            scope_of(options, config, None, ViewOverlay(commit=commit)),
            options.wanted or Wanted(),
        )
        found = rank(source, question, scoped, wanted, encoder, Memo(lasting=True), reword=True)
        files = source.count_files()

    def placed(hit: Hit) -> Hit:
        repository, path = source.split(hit.path)
        return replace(hit, repository=repository, path=path, variants=())

    return HubAnswer(
        query=question.text,
        sections=tuple(replace(each, hits=tuple(map(placed, each.hits))) for each in found.sections),
        commit=commit,
        dirty=0,
        drafts=0,
        waiting=0,
        model=encoder is not None,
        searched=tuple(views),
        files=files,
        absent=tuple(absent),
    )


def load_encoder(config: Config) -> Encoder | None:
    from gitrag.embedding import local_model
    from gitrag.embedding.encoder import Encoder

    try:
        return Encoder.load(local_model.model_directory(config.model_dir), threads=config.threads)
    except ModelError:
        return None


def _chosen(hub: Hub, repositories: Sequence[str]) -> tuple[list[HubView], list[Placed]]:
    """Return the branches to search, and what cannot be searched now."""
    there, absent = searchable(hub)
    if not there and not absent:
        raise NotSetUpError(
            f"There is no repository in the hub at {hub.place} that this role may read.",
            "gitrag hub push pushes one; who runs the hub lets others read it: gitrag hub grant",
        )
    names = [each.name for each in there] + [each.repository for each in absent]
    for name in repositories:
        if name not in names:
            raise NotSetUpError(
                f'There is no repository "{name}" in the hub at {hub.place} that this role may read.'
                f"{did_you_mean(name, names)}",
                f"There are: {', '.join(sorted(names))}",
            )
    there = [each for each in there if not repositories or each.name in repositories]
    absent = [each for each in absent if not repositories or each.repository in repositories]
    if not there:
        raise NetworkError(
            f"Nothing was searched: {' '.join(away(absent))}", "Try again when the server is back."
        )
    return there, absent


def away(absent: Sequence[Placed]) -> list[str]:
    """Say which servers do not answer, and what was not searched for that: a sentence for each."""
    of: dict[str, list[str]] = {}
    for each in absent:
        of.setdefault(each.server, []).append(each.repository)
    return [
        f"The hub's server {server} does not answer; not searched: {', '.join(names)}."
        for server, names in sorted(of.items())
    ]
