"""What does an agent need for 24 tasks on applications, with gitrag and without?

    .venv/bin/python scripts/bench/agent_tasks.py prepare PLACE
    .venv/bin/python scripts/bench/agent_tasks.py list
    .venv/bin/python scripts/bench/agent_tasks.py sh PLACE WHO TASK 'COMMAND'
    .venv/bin/python scripts/bench/agent_tasks.py tool PLACE WHO TASK TOOL 'JSON'
    .venv/bin/python scripts/bench/agent_tasks.py score PLACE WHO …

`agent_tasks.toml` has the tasks, four kinds of each of six applications, and what a right answer names.
`prepare` clones and indexes them, reviews in worktrees of their own. An agent that has seen neither that file
nor another's answers is given `list` and does a task after the other, by 12 calls each at most: with grep by
`sh` alone, with gitrag by `tool` too, which prints the text that `gitrag mcp` gives to the SDK's client. It
writes PLACE/WHO.toml: a table TASK each, with `files` and `functions`. Calls are kept in PLACE/WHO.jsonl.
`score` prints per kind what was named, and the tokens of what was shown: four characters each, of a call at
most 30,000 characters.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters

KINDS = ("find", "change", "explain", "review")
MOST_CALLS = 12
MOST_CHARACTERS = 30_000
APPLICATIONS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
GITRAG = Path(sys.executable).with_name("gitrag")


def git(place: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", str(place), *args], check=True, capture_output=True, text=True)
    return done.stdout


def prepare(place: Path) -> None:
    """Clone and index each application; of a review check out the part of its commit that is under review."""
    place.mkdir(parents=True, exist_ok=True)
    for name, own in APPLICATIONS.items():
        there, review = place / name, place / f"{name}-review"
        git(place, "clone", "--quiet", own["url"], str(there))
        git(there, "checkout", "--quiet", "-B", "main", own["revision"])
        git(there, "worktree", "add", "--quiet", "-b", "review", str(review), "main")
        task = own["review"]
        git(review, "checkout", "--quiet", task["commit"], "--", *task["paths"])
        git(review, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "Under review")
        subprocess.run([GITRAG, "init"], cwd=there, check=True)


def directory(place: Path, task: str) -> Path:
    name, _, kind = task.rpartition("-")
    if name not in APPLICATIONS or kind not in KINDS:
        raise SystemExit(f"There is no task {task}.")
    return place / (f"{name}-review" if kind == "review" else name)


def show(place: Path, who: str, task: str, tool: str, asked: str, text: str) -> None:
    """Print what a call shows, and keep it; end where all calls of the task are made."""
    log = place / f"{who}.jsonl"
    made = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    if sum(each["task"] == task for each in made) >= MOST_CALLS:
        raise SystemExit(f"{MOST_CALLS} calls of {task} are made.")
    text = text[:MOST_CHARACTERS]
    with log.open("a") as file:
        file.write(json.dumps({"task": task, "tool": tool, "asked": asked, "characters": len(text)}) + "\n")
    print(text)


async def call(where: Path, tool: str, arguments: dict[str, Any]) -> str:
    """Ask a tool of gitrag in a directory."""
    server = StdioServerParameters(command=str(GITRAG), args=["mcp"], cwd=str(where))
    async with Client(server) as client:
        reply = await client.call_tool(tool, arguments)
        return "\n".join(part.text for part in reply.content if part.type == "text")


def last(name: str) -> str:
    return re.split(r"::|->|[.#/]", name.strip().split("(")[0])[-1].lower()


def scored(place: Path, who: str) -> dict[str, dict[str, float]]:
    """Return what an agent named and spent, by task."""
    answers = tomllib.loads((place / f"{who}.toml").read_text(encoding="utf-8"))
    calls = [json.loads(line) for line in (place / f"{who}.jsonl").read_text().splitlines()]
    rows: dict[str, dict[str, float]] = {}
    for name, own in APPLICATIONS.items():
        for kind in KINDS:
            right, answer = own[kind], answers.get(f"{name}-{kind}", {})
            files = set(answer.get("files", ()))
            wrong = files - set(right["files"])
            said = {last(each) for each in answer.get("functions", ())}
            wanted = [{last(one) for one in each.split("|")} for each in right["functions"]]
            mine = [each["characters"] for each in calls if each["task"] == f"{name}-{kind}"]
            rows[f"{name}-{kind}"] = {
                "files": len(files & set(right["files"])),
                "of files": len(right["files"]),
                "wrong files": sum(
                    not any(fnmatch(each, may) for may in right["files_may"]) for each in wrong
                ),
                "functions": sum(bool(each & said) for each in wanted),
                "of functions": len(wanted),
                "calls": len(mine),
                "tokens": sum(mine) / 4,
            }
    return rows


def score(place: Path, agents: Sequence[str]) -> None:
    """Print a table a kind, and one of all."""
    rows = {who: scored(place, who) for who in agents}
    for kind in (*KINDS, ""):
        print(f"\n| {kind or 'all'} | {' | '.join(agents)} |\n|---|{'---|' * len(agents)}")
        chosen = {who: [row for task, row in rows[who].items() if task.endswith(kind)] for who in agents}
        for key in ("files", "of files", "wrong files", "functions", "of functions", "calls", "tokens"):
            print(
                f"| {key} | {' | '.join(f'{sum(row[key] for row in chosen[who]):,.0f}' for who in agents)} |"
            )
        medians = (statistics.median(row["tokens"] for row in chosen[who]) for who in agents)
        print(f"| tokens, median | {' | '.join(f'{each:,.0f}' for each in medians)} |")


def main() -> int:
    match sys.argv[1:]:
        case ["prepare", place]:
            prepare(Path(place))
        case ["list"]:
            for name, own in APPLICATIONS.items():
                for kind in KINDS:
                    print(f"{name}-{kind}: {own[kind]['text']}\n")
        case ["sh", place, who, task, command]:
            where = directory(Path(place), task)
            done = subprocess.run(
                ["bash", "-c", command], cwd=where, capture_output=True, text=True, check=False
            )
            show(Path(place), who, task, "sh", command, done.stdout + done.stderr)
        case ["tool", place, who, task, tool, arguments]:
            text = anyio.run(call, directory(Path(place), task), tool, json.loads(arguments))
            show(Path(place), who, task, tool, arguments, text)
        case ["score", place, *agents]:
            score(Path(place), agents)
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
