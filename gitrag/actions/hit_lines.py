"""Show more of a hit than its best lines: the passage, what is around, the whole definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from msgspec.structs import replace

from gitrag.actions.answer import Answer
from gitrag.chunking import chunk as chunks_of
from gitrag.model import Chunk
from gitrag.search.engine import LEAST_ANSWER, Hit
from gitrag.search.snippet import Line, shown
from gitrag.words.terms import query_terms
from gitrag.workspace import Workspace

CODE_CHARACTERS = 1_400
"""Characters of whole passages in an answer for a reader that pays by length: with the other hits' lines, it
has some 2,400 in all, as many as one of `search_code` on average."""

LIKELY_SHARE = 0.25
"""Of the best hit's score, below which a hit is likely beside the question: its place is enough."""

CHARACTERS_PER_TOKEN = 4
"""As `scripts/bench/agent.py` counts them."""

PACKED_HITS = 20
"""Files whose passages are packed into a budget, where no limit is given."""

_HEADING = 40
"""Characters of a passage's heading beside its path."""

_LEAST_LINES = 3
"""Lines of a passage below which the rest of a budget stays empty."""

Passage = tuple[Hit, Chunk, float]
"""Lines of a hit, and how likely they answer if its file does."""


def passages_of(hit: Hit) -> list[Passage]:
    """Return the passages of a hit, the likeliest first."""
    best = hit.chunk, hit.share
    return [(hit, *each) for each in (best, *hit.also)]


def likelihood(passage: Passage) -> float:
    """Return how likely a passage answers."""
    hit, _, share = passage
    return hit.score * share


def tokens(path: str, text: str) -> int:
    """Return how many tokens a passage takes with its heading; line numbers are not counted."""
    return -(-(len(path) + _HEADING + len(text)) // CHARACTERS_PER_TOKEN)


def packed(hits: Sequence[Hit], max_tokens: int) -> list[Passage]:
    """Choose the passages that answer best within a budget, in the order of the hits.

    The likeliest for their length come first, as a knapsack is filled (Dantzig, 1957); what does not fit is
    cut. Of labelled lines more are shown than of five snippets (`scripts/bench/lines.py`, docs/figures.md).
    """
    every = [passage for hit in hits for passage in passages_of(hit)]
    worth = [likelihood(each) / tokens(each[0].path, each[1].text) for each in every]
    left = max_tokens
    chosen: list[tuple[int, Passage]] = []
    of_file: dict[tuple[str, str], list[Chunk]] = {}
    for at in sorted(range(len(every)), key=lambda at: -worth[at]):
        hit, whole, share = every[at]
        beside = of_file.setdefault((hit.repository, hit.path), [])
        if not any(_overlap(whole, other) for other in beside) and (
            chunk := _cut(hit.path, whole, left, is_first=not chosen)
        ):
            chosen.append((at, (hit, chunk, share)))
            beside.append(chunk)
            left -= tokens(hit.path, chunk.text)
    return [passage for _at, passage in sorted(chosen, key=lambda each: each[0])]


def _overlap(one: Chunk, other: Chunk) -> bool:
    return one.line_start <= other.line_end and other.line_start <= one.line_end


def _cut(path: str, chunk: Chunk, most: int, *, is_first: bool) -> Chunk | None:
    """Return the lines of a passage that fit; of the first one something always does."""
    if tokens(path, chunk.text) <= most:
        return chunk
    room = max(most * CHARACTERS_PER_TOKEN - _HEADING - len(path), 0)
    whole = f"{chunk.text}\n"[: room + 1].rpartition("\n")[0].rstrip()
    lines = (whole or chunk.text[:room]).split("\n")
    if len(lines) < _LEAST_LINES and not is_first:
        return None
    return replace(chunk, text="\n".join(lines), line_end=chunk.line_start + len(lines) - 1)


def within_budget(answer: Answer, max_tokens: int | None) -> Answer:
    """Show the passages that answer best within a budget, whole, and leave out hits without one."""
    if max_tokens is None:
        return answer
    words = frozenset(answer.words)
    chosen = packed(answer.hits, max_tokens)
    kept = {id(hit) for hit, *_ in chosen}

    def shown(hit: Hit) -> Hit:
        (first, share), *others = own = [(each, share) for other, each, share in chosen if other is hit]
        in_order = sorted((each for each, _ in own), key=lambda chunk: chunk.line_start)
        lines = chain.from_iterable(
            _numbered(each.text.split("\n"), each.line_start, words) for each in in_order
        )
        return replace(hit, chunk=first, share=share, snippet=tuple(lines), also=tuple(others))

    sections = tuple(
        replace(each, hits=tuple(shown(hit) for hit in each.hits if id(hit) in kept))
        for each in answer.sections
    )
    return replace(answer, sections=sections)


def with_passages(answer: Answer, characters: int = CODE_CHARACTERS, least: float = 0.0) -> Answer:
    """Show the likeliest passages of code whole, as many as there is room for, and the others' best lines.

    Of what is only nearest, one line.

    Args:
        least: Least score of a hit whose passage is shown whole.
    """
    left = characters
    chosen: set[int] = set()
    for hit in answer.hits:
        if hit.document is None and len(hit.chunk.text) <= left and hit.score >= max(least, LEAST_ANSWER):
            chosen.add(id(hit))
            left -= len(hit.chunk.text)
    words = frozenset(answer.words)

    def lines(hit: Hit) -> tuple[Line, ...]:
        if id(hit) not in chosen:
            best = tuple(line for line in hit.snippet if line.matches) or hit.snippet
            return best[:1] if hit.is_nearest else hit.snippet
        return _numbered(hit.chunk.text.split("\n"), hit.chunk.line_start, words)

    return answer.changed(lambda hit: replace(hit, snippet=lines(hit)))


def for_report(answer: Answer) -> Answer:
    """Show whole passages, for hits whose score is near the best one's."""
    best = max((hit.score for hit in answer.hits if hit.document is None), default=0.0)
    return with_passages(answer, CODE_CHARACTERS, best * LIKELY_SHARE)


def with_context(workspace: Workspace, answer: Answer, around: int) -> Answer:
    """Show each hit's best lines with so many lines of the file before and after each."""
    texts, words = _texts(workspace, answer), frozenset(answer.words)

    def lines(hit: Hit) -> tuple[Line, ...]:
        text = texts.get(hit.content_id, "").removesuffix("\n")  # what follows the last line end is no line
        file = text.split("\n") if hit.content_id in texts else []
        best = [line.number for line in [line for line in hit.snippet if line.matches] or hit.snippet[:1]]
        wanted = {number for each in best for number in range(each - around, each + around + 1)}
        there = sorted(number for number in wanted if 1 <= number <= len(file))
        chosen = (_numbered(file[number - 1 : number], number, words) for number in there)
        return tuple(chain.from_iterable(chosen)) or hit.snippet

    return answer.changed(lambda hit: replace(hit, snippet=lines(hit)))


def with_definitions(workspace: Workspace, answer: Answer) -> Answer:
    """Show the whole definition that each hit is in, or its passage where it is in none."""
    texts, words = _texts(workspace, answer), frozenset(answer.words)

    def shown(hit: Hit) -> Hit:
        text = texts.get(hit.content_id)
        if text is None:
            return hit
        first, last = _extent(hit.chunk, chunks_of(text.encode(), hit.language or None))
        lines = _numbered(text.split("\n")[first - 1 : last], first, words)
        return replace(hit, snippet=lines, chunk=replace(hit.chunk, line_start=first, line_end=last))

    return answer.changed(shown)


def _extent(wanted: Chunk, chunks: Sequence[Chunk]) -> tuple[int, int]:
    """Return the lines of the definition that a chunk, or a part of one, belongs to.

    A long definition is several chunks of its name without a gap; a class is its head and what it encloses.
    """
    name = wanted.qualified_name
    if not name:
        return wanted.line_start, wanted.line_end
    own = [
        each for each in chunks if each.qualified_name == name or each.qualified_name.startswith(f"{name}.")
    ]
    at = next(
        (i for i, each in enumerate(own) if each.line_start <= wanted.line_start <= each.line_end), None
    )
    if at is None:
        return wanted.line_start, wanted.line_end
    start = stop = at
    while start and own[start - 1].line_end + 1 >= own[start].line_start and not own[start].signature:
        start -= 1
    first, last = own[start].line_start, own[stop].line_end
    for each in own[stop + 1 :]:
        is_inner = each.qualified_name != name
        if not is_inner and (
            each.line_start > last + 1 or (each.signature and each.signature != own[at].signature)
        ):
            break
        last = max(last, each.line_end)
    return first, last


def _texts(workspace: Workspace, answer: Answer) -> Mapping[int, str]:
    from gitrag.store import content

    with workspace.store.read() as db:
        return content.read_texts(db, {hit.content_id for hit in answer.hits})


def _numbered(lines: Sequence[str], first: int, words: frozenset[str]) -> tuple[Line, ...]:
    return tuple(
        Line(number, shown(text), matches=bool(words.intersection(query_terms(text))))
        for number, text in enumerate(lines, first)
    )
