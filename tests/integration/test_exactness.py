"""Whatever git did, an index brought up to date equals one built from nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from gitrag.indexing.refresh import refresh
from gitrag.indexing.snapshot import look
from tests.support.indexes import logical, open_app
from tests.support.repository import Content, GitRepository, Link

PYTHON = '''"""Retries."""

import time

LIMIT = 3


def retry(action, limit=LIMIT):
    """Try an action again until it succeeds."""
    for attempt in range(limit):
        try:
            return action()
        except OSError:
            time.sleep(2**attempt)
    raise TimeoutError


class Session:
    """A session."""

    def send(self, request):
        return retry(lambda: request)
'''
FILES = {
    "README.md": "# Project\n\nWhat it is.\n\n## Use\n\nRun it.\n",
    "src/retry.py": PYTHON,
    "src/empty.py": "",
    "src/shape.ts": "export class Shape {\n  area(): number {\n    return 1;\n  }\n}\n",
    "src/main.go": "package main\n\nfunc main() {\n\tprintln(1)\n}\n",
    "bin/run": "#!/usr/bin/env python3\ndef run():\n    pass\n",
    "data/table.csv": "a,b\n1,2\n",
    "data/picture.bin": b"\x00\x01\x02",
    "poetry.lock": "[[package]]\n",
    "notes.txt": "one\ntwo\n",
}
MINIFIED = "var a=1;" * 300

Script = Callable[[GitRepository, Path], Iterator[GitRepository]]


def edits(repo: GitRepository, _tmp: Path) -> Iterator[GitRepository]:
    yield repo
    repo.write({"src/retry.py": PYTHON.replace("LIMIT = 3", "LIMIT = 5")})
    yield repo
    repo.git("add", "src/retry.py")
    yield repo
    repo.write({"src/retry.py": PYTHON.replace("LIMIT = 3", "LIMIT = 7"), "src/new.py": "def new(): pass\n"})
    yield repo
    repo.git("add", "src/new.py")
    repo.write({"src/new.py": None})  # staged, and gone from the working tree
    yield repo
    repo.commit(message="Edit")
    yield repo
    repo.write({"src/main.go": None})
    repo.git("add", "--all")
    repo.git("commit", "--quiet", "--amend", "--no-edit")
    yield repo


def branches(repo: GitRepository, _tmp: Path) -> Iterator[GitRepository]:
    yield repo
    repo.git("switch", "--quiet", "--create", "topic")
    repo.commit({"src/retry.py": PYTHON.replace("OSError", "ValueError"), "src/topic.py": "TOPIC = 1\n"})
    yield repo
    repo.git("switch", "--quiet", "main")
    yield repo
    repo.commit({"notes.txt": "one\ntwo\nthree\n"})
    repo.git("merge", "--quiet", "--no-edit", "topic")
    yield repo
    repo.git("switch", "--quiet", "--create", "other", "HEAD~1")
    repo.commit({"src/retry.py": PYTHON.replace("OSError", "KeyError")})
    repo.git("merge", "--quiet", "main", check=False)
    assert "<<<<<<<" in repo.file("src/retry.py").read_text()
    yield repo
    repo.git("merge", "--abort")
    yield repo


def resets_and_stashes(repo: GitRepository, _tmp: Path) -> Iterator[GitRepository]:
    repo.commit({"src/retry.py": PYTHON + "\n\nSECOND = 2\n"})
    repo.commit({"src/third.py": "def third(): pass\n", "src/main.go": None})
    yield repo
    repo.git("reset", "--quiet", "--soft", "HEAD~1")
    yield repo
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    yield repo
    repo.git("reset", "--quiet", "--hard", "ORIG_HEAD")
    repo.write({"src/retry.py": "def dirty(): pass\n", "src/untracked.py": "def untracked(): pass\n"})
    yield repo
    repo.git("stash", "--quiet", "--include-untracked")
    yield repo
    repo.git("stash", "pop", "--quiet")
    yield repo
    repo.commit()
    repo.git("revert", "--no-edit", "HEAD")
    yield repo


def moves(repo: GitRepository, _tmp: Path) -> Iterator[GitRepository]:
    yield repo
    repo.git("mv", "src/retry.py", "src/again.py")
    yield repo
    repo.commit({"lib/copy.py": PYTHON, "lib/run": "#!/bin/sh\nrun() {\n  :\n}\n"})
    yield repo
    repo.commit({"src/main.go": None, "src/again.py": None})
    yield repo
    repo.file("lib/copy.py").chmod(0o755)
    yield repo
    repo.commit()
    yield repo
    # the same bytes in another language, and the language changed by the content alone
    repo.git("mv", "lib/copy.py", "lib/copy.rb")
    repo.write({"bin/run": "#!/bin/sh\ndef run():\n    pass\n"})
    yield repo
    repo.commit()
    yield repo


def kinds_of_file(repo: GitRepository, _tmp: Path) -> Iterator[GitRepository]:
    repo.write({"src/retry.py": Link("main.go"), "link": Link("nowhere")})
    yield repo
    repo.commit()
    yield repo
    repo.write({"src/retry.py": PYTHON, "notes.txt/inner.txt": "inner\n", "src/main.go": b"\x00binary"})
    yield repo
    repo.commit()
    yield repo
    repo.write({"notes.txt": None})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{repo.git('rev-parse', 'HEAD')},module")
    repo.git("rm", "--quiet", "--cached", "notes.txt/inner.txt")
    yield repo
    repo.commit({"notes.txt": "a file again\n", ".gitattributes": Link("notes.txt")})
    yield repo


def ignore_rules(repo: GitRepository, _tmp: Path) -> Iterator[GitRepository]:
    yield repo
    repo.write({".gitragignore": "*.py\n"})
    yield repo
    repo.commit()
    yield repo
    repo.write({".gitragignore": "*.py\n!retry.py\n", "src/.gitragignore": "*.ts\n"})
    yield repo
    repo.git("add", "--all")
    yield repo
    repo.commit()
    yield repo
    repo.write({"src/.gitragignore": None})
    yield repo
    repo.commit({".gitragignore": None})
    yield repo


def attribute_rules(repo: GitRepository, _tmp: Path) -> Iterator[GitRepository]:
    yield repo
    repo.write({".gitattributes": "*.go -gitrag\n*.ts linguist-generated\npoetry.lock gitrag\n"})
    yield repo
    repo.commit()
    yield repo
    repo.commit({".gitattributes": "*.go linguist-vendored\n*.py text eol=crlf\n"})
    yield repo
    repo.write({"src/retry.py": PYTHON.replace("\n", "\r\n") + "LAST = 1\r\n"})
    yield repo
    repo.commit()
    repo.git("rm", "--quiet", ".gitattributes")
    yield repo


def settings(repo: GitRepository, _tmp: Path) -> Iterator[GitRepository]:
    yield repo
    repo.git("config", "gitrag.maxFileBytes", "100")
    yield repo
    repo.write({"src/retry.py": PYTHON + "\n", "src/staged.py": PYTHON, "src/main.go": "package main\n"})
    repo.git("add", "src/staged.py")
    yield repo
    repo.commit()
    yield repo
    repo.git("config", "gitrag.maxFileBytes", "10000")
    yield repo
    repo.git("config", "gitrag.exclude", "src/")
    yield repo
    repo.git("config", "--unset", "gitrag.exclude")
    repo.commit({".gitrag.yaml": "exclude: ['*.md']\n"})
    yield repo


def contents_that_only_a_name_tells(repo: GitRepository, _tmp: Path) -> Iterator[GitRepository]:
    repo.commit({"a.jsx": MINIFIED})
    yield repo
    repo.commit({"b.js": MINIFIED, "c.css": MINIFIED, "d.ts": MINIFIED})
    yield repo
    repo.commit({"a.jsx": None})
    yield repo


def odd_paths(repo: GitRepository, _tmp: Path) -> Iterator[GitRepository]:
    names = (b"caf\xe9.py", b"new\nline.py", b'quo"te.py', b"back\\slash.py", "文.py".encode(), b" lead.py")
    repo.commit({name: f"def f{number}(): pass\n" for number, name in enumerate(names)})
    yield repo
    repo.write({name: f"def changed{number}(): pass\n" for number, name in enumerate(names)})
    yield repo
    repo.commit()
    repo.write(dict.fromkeys(names))
    repo.write({b"caf\xe8/\xff.py": "def g(): pass\n"})
    yield repo
    repo.commit()
    yield repo


def worktrees(repo: GitRepository, tmp: Path) -> Iterator[GitRepository]:
    yield repo
    linked = repo.worktree(tmp / "linked", "-b", "topic")
    yield linked
    linked.commit({"src/retry.py": PYTHON + "\nLINKED = 1\n"})
    repo.write({"src/retry.py": PYTHON + "\nDIRTY = 1\n"})
    yield linked
    yield repo
    linked.write({"src/retry.py": PYTHON + "\nDIRTY = 1\n", ".gitragignore": "*.go\n"})
    yield linked
    yield repo
    linked.git("reset", "--quiet", "--hard", "main")
    yield linked
    repo.git("worktree", "remove", "--force", linked.path)
    yield repo


def heads(repo: GitRepository, _tmp: Path) -> Iterator[GitRepository]:
    repo.commit({"src/second.py": "SECOND = 2\n"})
    repo.git("checkout", "--quiet", "--detach", "HEAD~1")
    yield repo
    repo.write({"src/retry.py": "def detached(): pass\n"})
    yield repo
    repo.git("checkout", "--quiet", "--orphan", "fresh")
    yield repo
    repo.git("rm", "--quiet", "-rf", "--cached", ".")
    yield repo
    repo.git("clean", "--quiet", "-dfx")
    yield repo
    repo.commit({"only.py": "ONLY = 1\n"})
    yield repo


def unborn(repo: GitRepository, tmp: Path) -> Iterator[GitRepository]:
    born = GitRepository(tmp / "unborn", repo.environment)
    repo.git("init", "--quiet", "--initial-branch=main", "--template=", born.path)
    yield born
    born.write({"a.py": "A = 1\n"})
    yield born
    born.git("add", "a.py")
    yield born
    born.commit()
    yield born


def bare(repo: GitRepository, tmp: Path) -> Iterator[GitRepository]:
    copy = repo.clone(tmp / "copy.git", "--bare")
    yield copy
    repo.commit({"src/retry.py": "PUSHED = 1\n"})
    repo.git("push", "--quiet", copy.path, "main")
    yield copy
    linked = copy.worktree(tmp / "of-bare", "HEAD~1")
    linked.write({"src/main.go": "package other\n"})
    yield linked
    yield copy


def clones(repo: GitRepository, tmp: Path) -> Iterator[GitRepository]:
    for number in range(3):
        repo.commit({"src/retry.py": f"def version{number}(): pass\n"})
    shallow = repo.clone(tmp / "shallow", "--depth=1")
    yield shallow
    repo.commit({"src/retry.py": "def later(): pass\n", "src/main.go": None})
    shallow.git("-c", "protocol.file.allow=always", "fetch", "--quiet", "--depth=1")
    shallow.git("reset", "--quiet", "--hard", "origin/main")
    yield shallow
    shallow.git("reflog", "expire", "--expire=now", "--all")
    shallow.git("gc", "--quiet", "--prune=now")
    yield shallow
    sparse = repo.clone(tmp / "sparse", "--sparse")
    yield sparse
    sparse.git("sparse-checkout", "add", "src")
    yield sparse


def partial_clones(repo: GitRepository, tmp: Path) -> Iterator[GitRepository]:
    repo.commit({".gitragignore": "*.ts\n", "lib/copy.py": PYTHON + "\nCOPY = 1\n"})
    repo.git("config", "uploadpack.allowFilter", "true")
    partial = repo.clone(tmp / "partial", "--filter=blob:none", "--no-checkout")
    fetching = ("-c", "protocol.file.allow=always")
    yield partial  # nothing of it can be read
    partial.git(*fetching, "sparse-checkout", "set", "src")
    partial.git(*fetching, "checkout", "--quiet")
    yield partial
    partial.git(*fetching, "cat-file", "blob", "HEAD:lib/copy.py")
    yield partial
    partial.git(*fetching, "sparse-checkout", "disable")
    yield partial


def damaged_clones(repo: GitRepository, tmp: Path) -> Iterator[GitRepository]:
    blob = repo.blob("src/retry.py")
    lost = repo.path / ".git/objects" / blob[:2] / blob[2:]
    lost.rename(tmp / "lost")
    yield repo
    (tmp / "lost").rename(lost)
    repo.commit({"notes.txt": "mended\n"})
    yield repo


SCRIPTS: list[Script] = [
    attribute_rules,
    bare,
    branches,
    clones,
    contents_that_only_a_name_tells,
    damaged_clones,
    edits,
    heads,
    ignore_rules,
    kinds_of_file,
    moves,
    odd_paths,
    partial_clones,
    resets_and_stashes,
    settings,
    unborn,
    worktrees,
]


def assert_exact(repo: GitRepository, directory: Path) -> None:
    """Compare the repository's index, brought up to date, with a new one in a directory."""
    expected = logical(open_app(repo, directory))
    assert logical(open_app(repo)) == expected


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_an_index_kept_up_to_date_equals_one_built_from_nothing(make_repository, tmp_path, script, some):
    """After every step where rules change, else after the last and one of the others.

    It is brought up to date after every one; new rules hide what older ones left wrong.
    """
    compared = range(9) if script in {attribute_rules, ignore_rules, settings} else some(range(1, 9), keep=1)
    for number, repo in enumerate(script(make_repository(FILES), tmp_path)):
        if number in compared:
            assert_exact(repo, tmp_path / f"fresh{number}")
        else:
            opened = open_app(repo)
            refresh(opened.store, look(opened.repo, opened.options))
    if number not in compared:
        assert_exact(repo, tmp_path / f"fresh{number}")


def test_what_is_indexed_is_what_lies_in_the_working_tree(make_repository, tmp_path):
    """A walk over git's commands, seeded; after each step the files themselves are the judge."""
    walk = _Walk(make_repository(_Walk.FILES), random.Random(20))
    for step in range(18):
        walk.step()
        found = logical(open_app(walk.repo))
        assert found.names == walk.expected_paths(), f"step {step}: {walk.done}"
        for path in found.names:
            assert found.lines(path) == walk.expected_lines(path), f"step {step}, {path}: {walk.done}"
    assert_exact(walk.repo, tmp_path / "fresh")


class _Walk:
    """Random edits and git commands on small files."""

    FILES: Mapping[str | bytes, Content] = {f"d{n}/f{n}.py": f"def f{n}(): pass\n" for n in range(6)}

    def __init__(self, repo: GitRepository, chance: random.Random) -> None:
        self.repo = repo
        self.chance = chance
        self.done: list[str] = []

    def step(self) -> None:
        act = self.chance.choice([self._edit] * 4 + [self._remove, self._move, self._commit, self._commit]
            + [self._stage, self._branch, self._reset, self._stash, self._amend, self._revert])  # fmt: skip
        self.done.append(act.__name__)
        act()

    def expected_paths(self) -> set[str]:
        listed = self.repo.git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
        return {path for path in listed if path and self.repo.file(path).is_file()}

    def expected_lines(self, path: str) -> set[tuple[int, str]]:
        lines = self.repo.file(path).read_text().split("\n")
        return {(number, line) for number, line in enumerate(lines, 1) if line}

    def _edit(self) -> None:
        number = self.chance.randrange(9)
        content = f"def f{number}():\n    return {self.chance.randrange(6)}\n"
        self.repo.write({f"d{number}/f{number}.py": content})

    def _remove(self) -> None:
        self.repo.write({self._any(): None})

    def _move(self) -> None:
        path = self._any()
        target = self.repo.file(f"moved/{path.replace('/', '_')}")
        target.parent.mkdir(exist_ok=True)
        self.repo.file(path).replace(target)

    def _any(self) -> str:
        paths = sorted(self.expected_paths())
        return self.chance.choice(paths) if len(paths) > 3 else "d9/nothing.py"

    def _commit(self) -> None:
        self.repo.commit()

    def _amend(self) -> None:
        self.repo.git("add", "--all")
        self.repo.git("commit", "--quiet", "--amend", "--allow-empty", "--no-edit")

    def _stage(self) -> None:
        self.repo.git("add", "--", self._any(), check=False)

    def _branch(self) -> None:
        name = self.chance.choice(["main", "one", "two"])
        self.repo.git("switch", "--quiet", name, check=False) or self.repo.git("branch", name, check=False)

    def _reset(self) -> None:
        mode = self.chance.choice(["--hard", "--soft", "--mixed"])
        self.repo.git("reset", "--quiet", mode, "HEAD~1", check=False)

    def _stash(self) -> None:
        if self.chance.random() < 0.5:
            self.repo.git("stash", "push", "--quiet", "--include-untracked", check=False)
        else:
            self.repo.git("stash", "pop", "--quiet", check=False)

    def _revert(self) -> None:
        self.repo.git("revert", "--no-edit", "HEAD", check=False)
        self.repo.git("revert", "--abort", check=False)
