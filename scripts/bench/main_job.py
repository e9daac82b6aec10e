"""From `git commit` to a ranked answer, on real projects: the figures of the main job.

    .venv/bin/python scripts/bench/main_job.py [--only django] [--keep DIR]

Takes the source archives of flask and django from the package index and of effect (TypeScript) from the npm
registry, commits each into a temporary repository, and prints:

- the first index (text): files/s, chunks/s, peak memory, and where the time goes
- the vectors: texts/s, peak memory, store size a chunk
- work after a change: texts embedded and seconds from hook start to searchable with vectors
- what the hooks add to `git commit`: pairs of commits with and without
- latency: `gitrag search` as a new process, and in one process with everything loaded

Machines are noisy: compare ratios within a run, and medians.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from projects import GITRAG, PROJECTS, QUESTIONS, WARM_UP, git, make_repository, memory_mb

from gitrag.actions.search import search
from gitrag.actions.status import read_status
from gitrag.workspace import Workspace

BIG = "django"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", help="a project's name; may be repeated")
    parser.add_argument("--keep", type=Path, help="keep archives here between runs")
    parser.add_argument("--pairs", type=int, default=30, help="pairs of commits")
    arguments = parser.parse_args()
    chosen = [project for project in PROJECTS if not arguments.only or project.name in arguments.only]
    print(f"python {sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="gitrag-bench-") as folder:
        for project in chosen:
            print(f"\n== {project.name}")
            try:
                repository = make_repository(
                    project, arguments.keep or Path(folder) / "archives", Path(folder)
                )
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"not measured: its archive could not be had ({error})")
                continue
            measure_first_index(repository)
            measure_vectors(repository)
            measure_calls(repository)
            measure_changes(repository)
            measure_search(repository)
            measure_push(repository, arguments.pairs)
            if project.name == BIG or len(chosen) == 1:
                measure_commits(repository, arguments.pairs)


def measure_first_index(repository: Path) -> None:
    """Index the text from nothing, as a command; then the same in one process, stage by stage."""
    seconds, peak = timed_process(["index", "update", "--no-embed"], repository)
    view = status(repository)["view"]
    print(
        f"first index (text): {seconds:.1f} s, {view['files'] / seconds:.0f} files/s,"
        f" {view['chunks'] / seconds:.0f} chunks/s, peak {peak:.0f} MB"
        f"  [{view['files']} files, {view['chunks']} chunks]"
    )
    stages = stage_seconds(repository)
    whole = sum(stages.values())
    shares = ", ".join(f"{name} {spent:.1f} s ({spent / whole:.0%})" for name, spent in stages.items())
    print(f"  where the time goes (one process): {shares}")


def stage_seconds(repository: Path) -> dict[str, float]:
    """Do the first index's work once more in this process, and time each stage."""
    from gitrag.chunking import chunk, key_of, language_of
    from gitrag.embedding.draft import Drafter
    from gitrag.embedding.text import chunk_text, text_key
    from gitrag.git import content_skip
    from gitrag.indexing.records import WORDS_ONLY, prepare_all
    from gitrag.store import content, views
    from gitrag.store.connection import Store
    from gitrag.words import terms

    workspace = Workspace.open(repository, environ=os.environ)
    entries = [
        entry
        for entry in workspace.repo.entries(workspace.repo.head().tree)
        if entry.mode in {0o100644, 0o100755}
    ]
    spent: dict[str, float] = {}

    @contextlib.contextmanager
    def stage(name: str) -> Iterator[None]:
        begin = time.process_time()
        yield
        spent[name] = time.process_time() - begin

    with stage("read"):
        data = [(entry.path, workspace.repo.read_blob(entry.blob)) for entry in entries]
        data = [(path, text) for path, text in data if content_skip(text, path, 1 << 20) is None]
    with stage("cut"):
        cut = [chunk(text, language_of(path, text)) for path, text in data]
    with stage("terms"):
        for pieces in cut:
            terms.count([(piece.text, piece.qualified_name) for piece in pieces])
    with stage("texts"):
        texts = [
            [chunk_text(piece) for piece in pieces]
            for (path, text), pieces in zip(data, cut, strict=True)
            if language_of(path, text) not in WORDS_ONLY
        ]
        for own in texts:
            for text in own:
                text_key(text)
    with stage("drafts"):
        drafter = Drafter.load()
        for i in range(0, len(texts), 16):
            drafter.draft([text for own in texts[i : i + 16] for text in own])
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), recipe="bench")
        records = [views.EntryRecord(entry.path, entry.blob, key_of(entry.path)) for entry in entries]
        with store.write("bench") as db:
            ids = content.add(db, list(dict.fromkeys((entry.blob, entry.language) for entry in records)))
        blobs = {entry.path: (entry.blob, key_of(entry.path)) for entry in entries}
        prepared = prepare_all(
            [(ids[blobs[path]], text, blobs[path][1], 1 << 20, b"") for path, text in data]
        )
        with stage("write"):
            for i in range(0, len(prepared), 500):
                with store.write("bench") as db:
                    content.write(db, prepared[i : i + 500])
    return spent


def measure_vectors(repository: Path) -> None:
    """Embed everything, in the foreground."""
    waiting = unembedded(repository)
    seconds, peak = timed_process(["index", "embed", "--foreground"], repository)
    found = status(repository)
    print(
        f"vectors: {waiting} texts in {seconds:.0f} s, {waiting / seconds:.0f} texts/s, peak {peak:.0f} MB;"
        f" store {found['size_bytes'] / 1e6:.1f} MB,"
        f" {found['size_bytes'] / found['view']['chunks']:.0f} B a chunk, vector included"
    )


def measure_calls(repository: Path) -> None:
    """Time the whole call graph, for which all files' facts are made; later only those of what changes."""
    seconds, peak = timed_process(["graph", "--format", "json"], repository)
    print(f"the whole call graph, from nothing: {seconds:.1f} s, peak {peak:.0f} MB")


def measure_changes(repository: Path) -> None:
    """Commit changes of five kinds; count what is embedded, and time the hook's process to its end."""
    sources = [
        path
        for path in git(repository, "ls-files", "*.py", "*.ts").splitlines()
        if "test" not in path and (repository / path).stat().st_size > 3000
    ][:5]
    before = git(repository, "rev-parse", "HEAD")

    def edit() -> None:
        for path in sources:
            file = repository / path
            file.write_text(edited(file.read_text("utf-8")), "utf-8")

    print("after a change (texts embedded, seconds from hook start to searchable with vectors):")
    after_commit(repository, "edit one function in each of 5 files", edit)
    after_commit(repository, "revert it", lambda: git(repository, "revert", "--no-commit", "HEAD"))
    git(repository, "switch", "--quiet", "--detach", before)
    after_hook(repository, "switch to the old commit")
    git(repository, "switch", "--quiet", "main")
    after_hook(repository, "switch back")
    after_commit(
        repository, "rename a file", lambda: git(repository, "mv", sources[0], sources[0] + ".moved.py")
    )
    after_commit(
        repository, "copy a file", lambda: shutil.copy(repository / sources[1], repository / "copied.py")
    )
    git(repository, "reset", "--quiet", "--hard", before)
    after_hook(repository, "reset")


def edited(text: str) -> str:
    """Change the head of one function: the first with a body."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line.lstrip().startswith(("def ", "export const ")) and line.rstrip().endswith((":", "{", "=> {")):
            indent = " " * (len(line) - len(line.lstrip()) + 4)
            mark = "#" if line.lstrip().startswith("def ") else "//"
            return "\n".join([*lines[: i + 1], f"{indent}{mark} changed by the benchmark", *lines[i + 1 :]])
    return text + "\n# changed by the benchmark\n"


def after_commit(repository: Path, what: str, change: Callable[[], object]) -> None:
    """Make a change, commit it without hooks, and run the hook's process."""
    change()
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", what, "--no-verify")
    after_hook(repository, what)


def after_hook(repository: Path, what: str) -> None:
    """Run what the post-commit hook starts, to its end."""
    before = counts(repository)
    seconds, _peak = timed_process(["hook", "run", "post-commit"], repository)
    now = counts(repository)
    if unembedded(repository):
        raise SystemExit("the hook left texts without vectors")
    chunks, paths = now["chunk"] - before["chunk"], now["path"] - before["path"]
    print(f"  {what:<40} {chunks:>4} chunks, {paths:>3} paths  {seconds:.2f} s")


def counts(repository: Path) -> dict[str, int]:
    """Count the vectors of chunks and of paths in the whole store."""
    workspace = Workspace.open(repository, environ=os.environ)
    with workspace.store.read() as db:
        [(paths,)] = db.execute(
            "SELECT count(*) FROM vectors WHERE text_id IN (SELECT text_id FROM paths)"
        ).fetchall()
        [(every,)] = db.execute("SELECT count(*) FROM vectors").fetchall()
    return {"path": paths, "chunk": every - paths}


def measure_search(repository: Path) -> None:
    """Time searches as new processes, and in one process with everything loaded."""
    for drawn in ("--no-graph", "--graph"):
        asked = [["search", "--output", "json", drawn, question] for question in QUESTIONS]
        fresh = [timed_process(arguments, repository, may_fail=True)[0] for arguments in asked]
        print(f"search {drawn}: new process p50 {statistics.median(fresh):.2f} s (worst {max(fresh):.2f} s)")
    for resident in (False, True):
        workspace = Workspace.open(repository, environ=os.environ, resident=resident)
        for question in QUESTIONS[:WARM_UP]:
            search(workspace, question)
        warm = []
        for question in QUESTIONS * 3:
            begin = time.perf_counter()
            search(workspace, question)
            warm.append(1000 * (time.perf_counter() - begin))
        print(
            f"search, one process, index {'kept in memory' if resident else 'opened each time'}:"
            f" p50 {statistics.median(warm):.0f} ms, p95 {sorted(warm)[int(len(warm) * 0.95)]:.0f} ms"
        )
    print(f"memory of that process {memory_mb():.0f} MB")


def measure_push(repository: Path, times: int) -> None:
    """Time what the pre-push hook asks while all is fresh: as noted, and with the index to be opened."""
    tip = git(repository, "rev-parse", "HEAD").strip()
    asked = f"refs/heads/main {tip} refs/heads/main {'0' * len(tip)}\n"
    note = repository / ".git" / "gitrag" / "fresh.json"
    took: dict[bool, list[float]] = {True: [], False: []}
    for noted in [False, True] * times:
        if not noted:
            note.unlink(missing_ok=True)
        begin = time.perf_counter()
        done = subprocess.run(
            [GITRAG, "check", "--push"],
            cwd=repository,
            input=asked,
            capture_output=True,
            text=True,
            check=True,
        )
        took[noted].append(1000 * (time.perf_counter() - begin))
        if done.stderr:
            raise SystemExit(f"gitrag check --push: {done.stderr}")
    print(
        f"pre-push check when fresh, median of {times}: {statistics.median(took[True]):.0f} ms as noted,"
        f" {statistics.median(took[False]):.0f} ms with the index opened"
    )


def measure_commits(repository: Path, pairs: int) -> None:
    """Time commits with and without hooks, turn about, output captured; the worker is let finish between."""
    subprocess.run([GITRAG, "hooks", "install"], cwd=repository, check=True, capture_output=True)
    file = repository / "bench.py"
    times: dict[str, list[float]] = {"1": [], "0": []}
    for i in range(pairs * 2):
        switch = "01"[(i + i // 2) % 2]  # 0 1 1 0 0 1 1 0: neither always follows the other
        file.write_text(f"def bench_{i}():\n    return {i}\n", "utf-8")
        git(repository, "add", "bench.py")
        wait_for_worker(repository)
        begin = time.perf_counter()
        git(repository, "commit", "--quiet", "--message", "bench", env={**os.environ, "GITRAG": switch})
        times[switch].append(time.perf_counter() - begin)
    uninstalled = []
    subprocess.run([GITRAG, "hooks", "uninstall"], cwd=repository, check=True, capture_output=True)
    wait_for_worker(repository)
    for i in range(pairs):
        file.write_text(f"def bench_{i}():\n    return -{i}\n", "utf-8")
        git(repository, "add", "bench.py")
        begin = time.perf_counter()
        git(repository, "commit", "--quiet", "--message", "bench")
        uninstalled.append(time.perf_counter() - begin)
    hooked, skipped, bare = (statistics.median(t) * 1000 for t in (times["1"], times["0"], uninstalled))
    print(
        f"git commit, median of {pairs}: {hooked:.1f} ms with hooks, {skipped:.1f} ms with GITRAG=0,"
        f" {bare:.1f} ms without: {hooked - bare:+.1f} ms"
    )


def wait_for_worker(repository: Path) -> None:
    """Wait until nobody works in the background."""
    time.sleep(0.3)  # a hook that has just been started has to get to its lock
    workspace = Workspace.open(repository, environ=os.environ)
    while read_status(workspace).worker is not None:
        time.sleep(0.2)


def timed_process(arguments: list[str], repository: Path, *, may_fail: bool = False) -> tuple[float, float]:
    """Run a gitrag command; give its seconds and the peak memory in MB of it and its children together."""
    begin = time.perf_counter()
    with subprocess.Popen(
        [GITRAG, *arguments],
        cwd=repository,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, session_memory(process.pid))
            time.sleep(0.02)
        seconds = time.perf_counter() - begin
        if process.returncode and not may_fail:
            raise SystemExit(
                f"gitrag {' '.join(arguments)}: {process.stderr.read() if process.stderr else ''}"
            )
    return seconds, peak


def session_memory(session: int) -> float:
    """Sum the resident memory in MB of the processes of a session; 0 where there is no /proc."""
    pages = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                pages += int((folder / "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def status(repository: Path) -> dict[str, Any]:
    """Ask gitrag how the index stands."""
    done = subprocess.run([GITRAG, "status", "--json"], cwd=repository, check=True, capture_output=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def unembedded(repository: Path) -> int:
    """Count the texts without a vector."""
    view = status(repository)["view"]
    return view["texts"] - view["embedded"]


if __name__ == "__main__":
    main()
