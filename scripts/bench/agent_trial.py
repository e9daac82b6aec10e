"""What does an agent spend until it sees the lines that answer: with gitrag's tools, and with grep?

    .venv/bin/python scripts/bench/agent_trial.py CLONES [--only NAME] [--questions 8] [--list]
        [--code-index PROGRAM]

CLONES has clones of repositories of `scripts/bench/features/` at their revisions, by name, indexed. The first
present features of each that have labelled lines are asked. No model takes part: each way is a fixed policy,
and the same rule ends all. An agent stops at the reply that shows a labelled line, as a reader does who
recognises the answer, or when its policy is done, or after 12 calls, or 10,000 tokens.

gitrag, through the SDK's client of `gitrag mcp`:
1. `search_code` with the question
2. if that is not said to be sufficient: `search_code` with the question's words alone, ten snippets
3. `get` of the lines around each file's best snippet, 40 on each side, of the first four files

grep, by a shell, more clever than most agents are:
1. for each word of the question `grep -rliI`, as one pipeline: the twenty files with most of the words
2. of each of the first five files in turn: `grep -niE` for any of the words, twenty lines at most, then 60
   lines around the place with most different words

grep in source: the same, of files of code alone, without tests, examples and documents, as `features.py`
tells them; a reader who knows the repository does so.

code-index (with --code-index, the program `code-index-mcp` of a Python package of that name, 2.17.1), through
the SDK's client: `search_code_advanced` for any of the words, 100 results; of the files named, five with most
of the words, 60 lines of each as above.

Words are those that are no stop words, of three letters or more, without a final s, ed or ing.

Printed are, of each: the share of questions answered, in all and within some budgets of tokens; the median
and mean tokens, calls and files read, answered or not. A token is four characters of what is sent and
received; the list of tools, which a session reads once, is not counted (`scripts/bench/agent_tokens.py`).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from features import Present, is_source, read_sets
from mcp import Client, StdioServerParameters

from gitrag.search.question import STOP_WORDS

GITRAG = Path(sys.executable).with_name("gitrag")
CHARACTERS_PER_TOKEN = 4
MOST_CALLS = 12
MOST_TOKENS = 10_000
BUDGETS = (500, 1_000, 2_000, 4_000, 8_000)

AROUND = 40
FILES = 4
"""Of gitrag: lines read on each side of a snippet, and files read so."""

LISTED = 20
GREPPED_FILES = 5
WINDOW = 60
"""Of grep: lines of an answer, files looked into, lines read of each."""

_ENDINGS = re.compile(r"(?:ing|ed|s)$")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a call cost and showed.

    Attributes:
        characters: Of the call and of its answer.
        shown: Path, first and last line of what it shows of files.
    """

    characters: int
    shown: tuple[tuple[str, int, int], ...] = ()


@dataclass(slots=True)
class Trial:
    """What was spent on a question, and whether it was answered."""

    question: str
    tokens: int = 0
    calls: int = 0
    answered: bool = False
    files: set[str] = field(default_factory=set)

    def take(self, reply: Reply, question: Present) -> bool:
        """Add a reply; tell whether the agent goes on."""
        self.calls += 1
        self.tokens += -(-reply.characters // CHARACTERS_PER_TOKEN)
        self.files |= {path for path, *_ in reply.shown}
        self.answered = any(
            path == each.path and first <= each.last and each.first <= last
            for path, first, last in reply.shown
            for each in question.lines
        )
        return not self.answered and self.calls < MOST_CALLS and self.tokens < MOST_TOKENS


def main() -> None:
    """Run the trial."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clones", type=Path)
    parser.add_argument("--only", action="append", help="a repository's name; may be repeated")
    parser.add_argument("--questions", type=int, default=8, metavar="N", help="of each repository")
    parser.add_argument("--code-index", type=Path, metavar="PROGRAM", help="ask code-index-mcp too")
    parser.add_argument("--list", action="store_true", help="list what each question took")
    arguments = parser.parse_args()
    trials: dict[str, list[Trial]] = {"gitrag": [], "grep": [], "grep in source": []}
    if arguments.code_index:
        trials["code-index"] = []
    for features in read_sets():
        place = arguments.clones / features.name
        if (arguments.only and features.name not in arguments.only) or not place.exists():
            continue
        asked = [question for question in features.present if question.lines][: arguments.questions]
        own = StdioServerParameters(command=str(GITRAG), args=["mcp"], cwd=str(place))
        trials["gitrag"] += anyio.run(ask_server, own, asked, searching)
        for way, source in (("grep", False), ("grep in source", True)):
            trials[way] += [
                tried(question, grepping(place, question.text, source=source)) for question in asked
            ]
        if arguments.code_index:
            peer = StdioServerParameters(
                command=str(arguments.code_index), args=["--project-path", str(place)], cwd=str(place)
            )
            trials["code-index"] += anyio.run(ask_server, peer, asked, partial(code_index, place))
        print(f"{features.name:16} {len(asked)} questions", flush=True)
    report(trials)
    for way, own in trials.items() if arguments.list else ():
        for each in own:
            said = "answered" if each.answered else "-"
            print(f"{way:14} {said:9} {each.tokens:6,} tokens {each.calls:2} calls  {each.question}")


def tried(question: Present, replies: Iterator[Reply]) -> Trial:
    """Follow a policy until it is done or the agent stops."""
    trial = Trial(question.text)
    for reply in replies:
        if not trial.take(reply, question):
            break
    return trial


Policy = Callable[[Client, str], AsyncIterator[Reply]]


async def ask_server(server: StdioServerParameters, asked: list[Present], policy: Policy) -> list[Trial]:
    """Answer a repository's questions through one server."""
    trials = []
    async with Client(server) as client:
        for question in asked:
            trial = Trial(question.text)
            async for reply in policy(client, question.text):
                if not trial.take(reply, question):
                    break
            trials.append(trial)
    return trials


async def searching(client: Client, text: str) -> AsyncIterator[Reply]:
    """Follow the policy of gitrag."""

    async def call(tool: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], int]:
        result = await client.call_tool(tool, arguments)
        content = result.content[0]
        if result.is_error or content.type != "text":
            raise SystemExit(f"{tool} {arguments}: {result.content}")
        return result.structured_content or {}, len(str(arguments)) + len(tool) + len(content.text)

    best: dict[str, tuple[int, int]] = {}
    for asked in ({"query": text}, {"query": " ".join(words_of(text, whole=True)), "limit": 10}):
        found, size = await call("search_code", asked)
        places = [(row["path"], row["line_start"], row["line_end"]) for row in found["results"]]
        for path, first, last in places:
            best.setdefault(path, (first, last))
        yield Reply(size, tuple(places))
        if found["sufficient"]:
            break
    for path, (first, last) in list(best.items())[:FILES]:
        what = f"{path}:{max(1, first - AROUND)}-{last + AROUND}"
        got, size = await call("get", {"what": what})
        yield Reply(size, ((path, got["line_start"], got["line_end"]),))


async def code_index(place: Path, client: Client, text: str) -> AsyncIterator[Reply]:
    """Follow the policy of code-index."""
    words = words_of(text)
    arguments = {"pattern": "|".join(words), "regex": True, "case_sensitive": False, "max_results": 100}
    content = (await client.call_tool("search_code_advanced", arguments)).content[0]
    if content.type != "text":
        raise SystemExit(f"search_code_advanced {arguments}: {content}")
    found = json.loads(content.text)["results"]
    yield Reply(
        len(str(arguments)) + len(content.text),
        tuple((row["file"], row["line"], row["line"]) for row in found),
    )
    rows: dict[str, list[tuple[int, str]]] = {}
    for row in found:
        rows.setdefault(row["file"], []).append((row["line"], row["text"]))
    said = {path: " ".join(text for _, text in own).lower() for path, own in rows.items()}
    ranked = sorted(rows, key=lambda path: (-sum(word.lower() in said[path] for word in words), path))
    for path in ranked[:GREPPED_FILES]:
        yield read_around(place, path, rows[path], words)


def grepping(place: Path, text: str, *, source: bool) -> Iterator[Reply]:
    """Follow the policy of grep."""
    words = words_of(text)
    loop = f"for w in {' '.join(words)}; do grep -rliI --exclude-dir=.git -e $w .; done"
    pipeline = f"({loop}) | sort | uniq -c | sort -k1,1nr -k2"
    every = run(place, ["bash", "-c", pipeline]).splitlines()
    paths = [row.split(None, 1)[1].removeprefix("./") for row in every]
    listed = [path for path in paths if is_source(path) or not source][:LISTED]
    yield Reply(len(pipeline) + sum(len(path) + 11 for path in listed))
    pattern = "|".join(words)
    for path in listed[:GREPPED_FILES]:
        command = ["grep", "-niE", pattern, path]
        lines = run(place, command).splitlines()[:LISTED]
        rows = [(int(line.partition(":")[0]), line.partition(":")[2]) for line in lines]
        size = len(" ".join(command)) + sum(len(line) + 1 for line in lines)
        yield Reply(size, tuple((path, at, at) for at, _ in rows))
        yield read_around(place, path, rows, words)


def read_around(place: Path, path: str, rows: list[tuple[int, str]], words: list[str]) -> Reply:
    """Read the lines around the place of a file that has most different words."""
    first = densest(rows, words)
    lines = (place / path).read_text("utf-8", errors="replace").splitlines()[first - 1 : first - 1 + WINDOW]
    size = len(path) + 20 + sum(len(line) + 1 for line in lines)
    return Reply(size, ((path, first, first + len(lines) - 1),))


def densest(rows: list[tuple[int, str]], words: list[str]) -> int:
    """Return the first line of the window that has most different words."""

    def distinct(start: int) -> int:
        near = " ".join(text for at, text in rows if start <= at < start + WINDOW // 2).lower()
        return sum(word.lower() in near for word in words)

    best = max((at for at, _ in rows), key=lambda at: (distinct(at), -at), default=1)
    return max(1, best - WINDOW // 4)


def words_of(text: str, *, whole: bool = False) -> list[str]:
    """Return the words that somebody would look for; cut to what their forms share, unless whole."""
    words = [word for word in re.findall(r"\w+", text) if word.lower() not in STOP_WORDS and len(word) > 2]
    cut = words if whole else [_ENDINGS.sub("", word) if len(word) > 5 else word for word in words]
    return list(dict.fromkeys(cut)) or re.findall(r"\w+", text)


def run(place: Path, command: list[str]) -> str:
    """Run a command, and return what it prints."""
    done = subprocess.run(command, cwd=place, capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")


def report(trials: dict[str, list[Trial]]) -> None:
    """Print the figures of each way."""
    budgets = "".join(f"{budget:>8,}" for budget in BUDGETS)
    print(f"\n{'':15}{'answered':>9}{budgets}  tokens: median   mean  calls  files")
    for way, own in trials.items():
        within = "".join(
            f"{statistics.fmean(each.answered and each.tokens <= budget for each in own):8.2f}"
            for budget in BUDGETS
        )
        tokens = [each.tokens for each in own]
        print(
            f"{way:15}{statistics.fmean(each.answered for each in own):9.2f}{within}"
            f"{statistics.median(tokens):16,.0f}{statistics.fmean(tokens):7,.0f}"
            f"{statistics.fmean(each.calls for each in own):7.1f}"
            f"{statistics.fmean(len(each.files) for each in own):7.1f}"
        )
    for way in list(trials)[1:]:
        both = Counter((a.answered, b.answered) for a, b in zip(trials["gitrag"], trials[way], strict=True))
        alone = f"by gitrag alone {both[True, False]}, by {way} alone {both[False, True]}"
        print(f"answered by both {both[True, True]}, {alone}, by neither {both[False, False]}")


if __name__ == "__main__":
    main()
