"""What does an agent read until it has the first relevant file: with grep, and with gitrag?

    .venv/bin/python scripts/bench/agent.py QUESTIONS [--work DIR] [--only NAME] [--mode source|whole]

QUESTIONS and --work are as in `scripts/bench/quality.py`. Of each question:

- grep: `git grep` for its words, any of them; the list of files is read, then the files, whole, in its order
- ranked: the same, but in the order of how many of the words a file has, then of how many lines: kinder than
  what agents do
- gitrag: what `search_code` gives, asked for forty snippets: path and range in a line and then the lines,
  best first
- pages: the same, but paid for by whole answers of five snippets, then of the next ten, and so on

Printed are the tokens until the end of the first relevant file, or of the first snippet of it, and the share
of questions that are answered within some budgets. What is not found is not answered, and its cost is all
that was read. A token is four characters, the usual rule for English and code; the ratio is what counts.

Below stands the share of all relevant files, the mean over questions, that the snippets show within a budget.

Published for the best (MinishLab/semble's README; its benchmark, of which these questions are a part): 98 %
fewer tokens than grep-and-read, 0.849 within 1k tokens, 0.938 within 2k. Our ranker was fitted with these
questions; `scripts/training/fit_ranker.py` prints what it scores on repositories that were left out.
"""

from __future__ import annotations

import os
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from questions import Question, chosen_projects, parser_of, prepare

from gitrag.actions.search import SearchOptions
from gitrag.actions.search_code import search_code
from gitrag.search.question import STOP_WORDS
from gitrag.workspace import Workspace

CHARACTERS_PER_TOKEN = 4
BUDGETS = (500, 1_000, 2_000, 4_000, 8_000)
PUBLISHED: Mapping[int, float] = {1_000: 0.849, 2_000: 0.938}
PUBLISHED_SAVING = 0.98

PAGES = (5, 10, 25)

Reading = Iterable[tuple[str, int]]
"""What is read, in order: a path, empty for a list of paths, and its tokens."""


def main() -> None:
    """Run the benchmark."""
    parser = parser_of(__doc__)
    parser.add_argument("--mode", choices=["source", "whole"], default="source")
    arguments = parser.parse_args()
    recalls: list[dict[int, float]] = []
    costs: dict[str, list[tuple[int, bool]]] = {way: [] for way in ("grep", "ranked", "gitrag", "pages")}
    for project in chosen_projects(arguments):
        place = prepare(project, arguments.mode, arguments.work)
        workspace = Workspace.open(place, environ=os.environ, resident=True)
        workspace.update()
        workspace.embed()
        for question in project.questions:
            found = grepped(workspace, question.text)
            hits = list(shown(workspace, question.text))
            ways: Mapping[str, Reading] = {
                "grep": whole_files(place, [path for path, *_ in found]),
                "ranked": whole_files(
                    place, [path for path, *_ in sorted(found, key=lambda row: (-row[1], -row[2], row[0]))]
                ),
                "gitrag": hits,
                "pages": paged(hits),
            }
            for way, reading in ways.items():
                costs[way].append(cost(reading, question))
            recalls.append({budget: recall(hits, question, budget) for budget in BUDGETS})
        print(f"{project.name:22} {len(project.questions):4} questions", flush=True)
    report(costs, recalls)


def cost(reading: Reading, question: Question) -> tuple[int, bool]:
    """Add up the tokens until a relevant file, and tell whether there was one."""
    tokens = 0
    for path, size in reading:
        tokens += size
        if any(target.is_at(path) for target in question.targets):
            return tokens, True
    return tokens, False


def recall(hits: Iterable[tuple[str, int]], question: Question, budget: int) -> float:
    """Give the share of a question's relevant files that snippets show within a budget."""
    wanted = {target.path for target in question.targets}
    found: set[str] = set()
    tokens = 0
    for path, size in hits:
        tokens += size
        if tokens > budget:
            break
        found |= {target.path for target in question.targets if target.is_at(path)}
    return len(found) / len(wanted)


def words_of(text: str) -> list[str]:
    """Give the words that somebody would grep for: those that name something."""
    words = re.findall(r"\w+", text)
    return [word for word in words if word.lower() not in STOP_WORDS and len(word) > 2] or words


def grepped(workspace: Workspace, text: str) -> list[tuple[str, int, int]]:
    """Grep for each word of a question, case aside: path, distinct words, matching lines, in grep's order."""
    found: dict[str, tuple[int, int]] = {}
    for word in words_of(text):
        done = workspace.repo.git("grep", "-I", "-i", "-F", "-z", "-c", "-e", word)
        for row in done.stdout.decode("utf-8", "surrogateescape").splitlines():
            path, _, lines = row.rpartition("\0")
            distinct, total = found.get(path, (0, 0))
            found[path] = distinct + 1, total + int(lines)
    return [(path, *counts) for path, counts in sorted(found.items())]


def whole_files(place: Path, paths: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Read the list of paths, then each file."""
    yield "", tokens_of("\n".join(paths))
    for path in paths:
        yield path, tokens_of((place / path).read_text("utf-8", errors="replace"))


def shown(workspace: Workspace, text: str) -> Iterator[tuple[str, int]]:
    """Give snippets as an agent gets them: where, and the lines."""
    for each in search_code(workspace, text, SearchOptions(limit=sum(PAGES))).snippets:
        head = f"{each.path}:{each.line_start}-{each.line_end}  {each.kind} {each.enclosing}.{each.name}"
        yield each.path, tokens_of(f"{head}  (0.90 {each.via.value})\n{each.text}\n\n")


def paged(hits: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Pay for an answer before its hits are looked at."""
    start = 0
    for size in PAGES:
        page = hits[start : start + size]
        start += size
        yield "", sum(tokens for _, tokens in page)
        for path, _ in page:
            yield path, 0


def tokens_of(text: str) -> int:
    """Count tokens by the usual rule, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def report(costs: Mapping[str, Sequence[tuple[int, bool]]], recalls: Sequence[Mapping[int, float]]) -> None:
    """Print what each way costs, ours beside the best published."""
    count = len(costs["grep"])
    print(
        f"\n{count} questions; tokens until the first relevant file, and the share answered within a budget"
    )
    print(f"{'':10}{'found':>7}{'median':>9}{'mean':>9}" + "".join(f"{budget:>8,}" for budget in BUDGETS))
    for way, rows in costs.items():
        tokens = [each for each, _ in rows]
        shares = [sum(found and each <= budget for each, found in rows) / count for budget in BUDGETS]
        print(
            f"{way:10}{sum(found for _, found in rows) / count:7.3f}{statistics.median(tokens):9,.0f}"
            f"{statistics.fmean(tokens):9,.0f}" + "".join(f"{share:8.3f}" for share in shares)
        )
    files = "".join(f"{statistics.fmean(each[budget] for each in recalls):8.3f}" for budget in BUDGETS)
    print(f"{'all files':10}{'':25}{files}")
    best = "".join(f"{PUBLISHED[budget]:8.3f}" if budget in PUBLISHED else f"{'':8}" for budget in BUDGETS)
    print(f"{'published':10}{'':25}{best}")
    for way in ("grep", "ranked"):
        before = statistics.fmean(each for each, _ in costs[way])
        savings = (
            1 - statistics.fmean(each for each, _ in costs[ours]) / before for ours in ("gitrag", "pages")
        )
        by_hit, by_page = (f"{saving:.1%}" for saving in savings)
        print(f"fewer tokens than {way}: {by_hit}; by pages {by_page} (published {PUBLISHED_SAVING:.0%})")


if __name__ == "__main__":
    main()
