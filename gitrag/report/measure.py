"""How well files are found, as text or Markdown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitrag.actions.measure import FIGURES, ISSUES, SUBJECTS, Measured
from gitrag.report.commits import SHORT
from gitrag.report.parts import Style, cut, plain
from gitrag.words.control_characters import Text, joined
from gitrag.words.numbers import count

_ASKED = {SUBJECTS: "Subjects of commits", ISSUES: "Titles of issues that commits name"}
_COLUMNS = ("first", "among three", "among ten", "NDCG@10")
_LONGEST_QUESTION = 60


def as_text(found: Measured, style: Style = plain) -> Text:
    """Return it for a terminal: a table, what was left out, and the questions where they are listed."""
    lines = [_row("", _COLUMNS)] if found.found else []
    for row in found.found:
        if row.by == "gitrag":
            lines.append(style(f"{_ASKED[row.asked]}, {row.questions:,}", "title"))
        sign = "+" if row.by == "difference" else ""
        lines.append(_row(row.by, (_cell(*row.figures[name], sign) for name in FIGURES)))
    return joined([*lines, "", *(style(line, "dim") for line in _notes(found)), *_listed(found)])


def as_markdown(found: Measured) -> Text:
    """Return it as Markdown, for agents."""
    fenced = ["```", *as_text(found).split("\n"), "```"]
    return joined(["## Past commits, asked of the state before them", "", *fenced])


def _row(name: str, cells: Iterable[str]) -> str:
    return f"  {name:11}{''.join(f'{each:17}' for each in cells)}".rstrip()


def _cell(mean: float, low: float, high: float, sign: str) -> str:
    middle, first, last = (f"{each:{sign}.2f}".replace("0.", ".", 1) for each in (mean, low, high))
    return f"{middle} ({first}…{last})"  # 16 columns: four of them fit a terminal of 80


def _notes(found: Measured) -> Iterator[str]:
    looked_at = found.commits + sum(found.left_out.values())
    yield f"{count(found.commits, 'commit')} asked, of {looked_at:,} looked at."
    if found.left_out:
        yield f"Left out: {', '.join(f'{many:,} {reason}' for reason, many in found.left_out.items())}."
    if found.found:
        yield "In parentheses: where 95 % of means lie that are drawn anew from these questions."
    if found.own_model:
        yield f"By the model in {found.own_model}."
    if not (found.model or found.own_model):
        yield "The model is not ready: questions were drafted. `gitrag model fetch` gets it."
    yield from found.notes


def _listed(found: Measured) -> Iterator[str]:
    for each in found.replayed:
        gitrag, grep = (min(places, default="-") for places in (each.gitrag, each.grep))
        question = cut(each.question, _LONGEST_QUESTION)
        kind = "" if each.asked == SUBJECTS else " (issue)"
        yield f"{each.commit[:SHORT]}  gitrag {gitrag:>2}  git grep {grep:>2}  {question}{kind}"
