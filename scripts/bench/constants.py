"""Does a search for a constant find where it gets its value? Against the file that has it most often.

    .venv/bin/python scripts/bench/constants.py QUESTIONS [--work DIR] [--only NAME]

QUESTIONS and --work are as in `scripts/bench/quality.py`, on whole repositories. Of each one's names in
capitals that a single file of the product's code gives a value, at the top of the file or of a class, fifteen
are drawn with a fixed seed and asked for by name alone. Prints how often that file comes first, how often the
line itself is shown, and how often the answer is that there is nothing.
"""

from __future__ import annotations

import random
import re
import statistics
import time
from collections import Counter, defaultdict

from questions import PAGE, chosen_projects, open_files, parser_of

from gitrag.actions.search import SearchOptions, search
from gitrag.chunking.languages import is_code
from gitrag.words.path_traits import OUTSIDE_THE_PRODUCT, traits

DRAWN = 15
MODIFIER = (
    r"(?:export|pub|public|private|internal|protected|static|final|const|readonly|val|var|let|[A-Z]\w*)"
)
NAME = r"([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b"
VALUE = re.compile(
    rf"^[ \t]*(?:{MODIFIER}(?:\(crate\))?[ \t*&]+)*{NAME}[ \t]*(?::[^=\n]+)?=(?![=>])"
    rf"|^[ \t]*#[ \t]*define[ \t]+{NAME}",
    re.MULTILINE,
)


def main() -> None:
    """Run the benchmark."""
    arguments = parser_of(__doc__).parse_args()
    totals: Counter[str] = Counter()
    times: list[float] = []
    print(f"{'':20} {'names':>6} {'most':>6} {'first':>6} {'shown':>6} {'silent':>6}")
    for project in chosen_projects(arguments):
        counts: Counter[str] = Counter()
        with open_files(project, "whole", arguments.work) as (workspace, db, scope, own):
            files = defaultdict(set)
            for chunk_id, file in zip(scope.chunk_id.tolist(), scope.file.tolist(), strict=True):
                files[chunk_id].add(file)
            texts: defaultdict[str, str] = defaultdict(str)
            givers = defaultdict(set)
            for chunk_id, kind, text in db.execute("SELECT chunk_id, kind, text FROM chunks").fetchall():
                for file in files[chunk_id]:
                    if (
                        is_code(str(scope.files.language[file]))
                        and not traits(own[file]) & OUTSIDE_THE_PRODUCT
                    ):
                        texts[own[file]] += text
                        for found in VALUE.finditer(text):
                            givers[found[1] or found[2]].add((own[file], kind in ("module", "class")))
            names = sorted(name for name, where in givers.items() if len(where) == 1 and next(iter(where))[1])
            for name in random.Random(1).sample(names, min(DRAWN, len(names))):
                wanted = next(iter(givers[name]))[0]
                word = re.compile(rf"\b{name}\b")
                most = max(sorted(texts), key=lambda path: len(word.findall(texts[path])))
                began = time.perf_counter()
                hits = search(workspace, name, SearchOptions(limit=PAGE)).hits
                times.append(1000 * (time.perf_counter() - began))
                is_first = bool(hits) and hits[0].path == wanted
                shown = is_first and any(VALUE.search(line.text) for line in hits[0].snippet)
                counts.update(names=1, most=most == wanted, first=is_first, shown=shown, silent=not hits)
        totals.update(counts)
        print(line(project.name, counts), flush=True)
    print(line("all", totals))
    print(f"median {statistics.median(times):.0f} ms")


def line(label: str, counts: Counter[str]) -> str:
    return f"{label:20} " + " ".join(
        f"{counts[key]:>6}" for key in ("names", "most", "first", "shown", "silent")
    )


if __name__ == "__main__":
    main()
