"""What happens to a repository: git's commands and its users' edits, on odd paths, drawn by chance."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.repository import Content, GitRepository, Link

NAMES: tuple[bytes, ...] = (
    b"a.py", b"A.py", b"b.js", b"c.md", b"run", b"sp ace.py", b"new\nline.py", b"q\"uo'te.py",
    b"back\\slash.py", b"caf\xe9.py", "\u00e9.py".encode(), "e\u0301.py".encode(), b"-dash.py", b"star*.py",
    b"[x].py", b" lead.py", b"tab\t.md", b"\xff.py", b":(top).py", b"#hash.md", b"!b.js", "文.txt".encode(),
    b"0001-x.md", b"spec.md",
)  # fmt: skip
PLACES: tuple[bytes, ...] = (
    b"",
    b"src/",
    b"SRC/",
    b"src/de ep/",
    b"caf\xe8/",
    b"d\nd/",
    b"src/x/y/",
    b"docs/adr/",
    b"specs/one/",
)
BRANCHES = ("main", "one", "two", "three")
RULES = (".gitignore", ".gitragignore", ".gitattributes", "src/.gitignore", ".git/info/exclude")
RULE_LINES = (
    "*.js",
    "src/",
    "!a.py",
    "*.md -gitrag",
    "src/x/",
    "*.py linguist-vendored",
    "[x].py",
    "/run",
    "",
)
FILES: dict[str | bytes, Content] = {
    "a.py": "def alpha():\n    return 0\n",
    "src/b.js": "function beta() {\n  return 1;\n}\n",
    b"src/de ep/caf\xe9.py": "def value():\n    return 2\n",
    "c.md": "# Alpha\n\nOne beta.\n\n## Value\n\nTwo.\n",
    "run": "#!/bin/sh\nalpha() {\n  :\n}\n",
}


@dataclass
class Actor:
    """Does things to the worktrees of a repository.

    Each public method is one of those things; git may refuse it.

    Attributes:
        repo: The main worktree.
        chance: What decides.
        space: A directory of its own, for worktrees and whatever else is needed.
        trees: The worktrees there are.
    """

    repo: GitRepository
    chance: random.Random
    space: Path
    trees: list[GitRepository] = field(default_factory=list)
    _made: int = 0

    def __post_init__(self) -> None:
        self.trees.append(self.repo)

    # choices

    def _name(self) -> bytes:
        return self.chance.choice(PLACES) + self.chance.choice(NAMES)

    def _content(self) -> str:
        name, number = self.chance.choice(["alpha", "beta", "value"]), self.chance.randrange(4)
        return self.chance.choice(
            [
                f"def {name}():\n    return {number}\n",
                f"# {name}\n\nAll of {number}.\n\n## Other\n\nvalue {name}\n",
                f"#!/usr/bin/env python3\n{name} = {number}\n",
                f"function {name}() {{\n  return {number};\n}}\n",
                "",
            ]
        )

    def _paths(self, tree: GitRepository) -> list[str]:
        listed = tree.git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
        return sorted({path for path in listed if path and os.path.lexists(tree.file(path))})

    def _any(self, tree: GitRepository) -> str:
        paths = self._paths(tree)
        return self.chance.choice(paths) if paths else "nothing.py"

    def _some(self, tree: GitRepository) -> list[str]:
        paths = self._paths(tree)
        return self.chance.sample(paths, min(len(paths), self.chance.randrange(1, 4)))

    def _revision(self) -> str:
        return self.chance.choice([*BRANCHES, "HEAD~1", "HEAD", "ORIG_HEAD", "HEAD~2", "main~1"])

    def _new(self, kind: str) -> Path:
        self._made += 1
        return self.space / f"{kind}{self._made}"

    # edits, none of which git is told of

    def edit(self, tree: GitRepository) -> None:
        paths = self._paths(tree)
        old = len(paths) > 14 or (paths and self.chance.random() < 0.6)
        tree.write({self.chance.choice(paths) if old else self._name(): self._content()})

    def edit_in_place(self, tree: GitRepository) -> None:
        """Of the same size, and as old as it was."""
        path = tree.file(self._any(tree))
        if path.is_file() and not path.is_symlink():
            status = path.stat()
            data = path.read_bytes()
            path.write_bytes(data.replace(b"alpha", b"omega") if b"alpha" in data else data[::-1])
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def touch(self, tree: GitRepository) -> None:
        path = tree.file(self._any(tree))
        if path.is_file():
            path.touch()

    def replace_by_rename(self, tree: GitRepository) -> None:
        path = tree.file(self._any(tree))
        if path.is_file():
            aside = self.space / "aside"
            aside.write_text(self._content())
            aside.replace(path)

    def remove(self, tree: GitRepository) -> None:
        tree.write(dict.fromkeys(self._some(tree)))

    def move(self, tree: GitRepository) -> None:
        source, target = tree.file(self._any(tree)), tree.file(self._name())
        if source.exists() and not target.exists() and source not in target.parents:  # it may be a repository
            self._make_way(tree, target)
            source.rename(target)

    def _make_way(self, tree: GitRepository, target: Path) -> None:
        for parent in reversed(target.relative_to(tree.path).parents):
            if (tree.path / parent).is_symlink() or (tree.path / parent).is_file():
                (tree.path / parent).unlink()
        target.parent.mkdir(parents=True, exist_ok=True)

    def move_directory(self, tree: GitRepository) -> None:
        source = tree.file(self.chance.choice(PLACES[1:]).rstrip(b"/"))
        target = tree.file(self.chance.choice([b"moved", b"src/moved", b"SRC", b"caf\xe8", b"src"]))
        if source.is_dir() and not os.path.lexists(target) and not target.is_relative_to(source):
            self._make_way(tree, target)
            source.rename(target)

    def change_case(self, tree: GitRepository) -> None:
        path = self._any(tree)
        swapped = path.rpartition("/")[0] + "/" * ("/" in path) + path.rpartition("/")[2].swapcase()
        if tree.file(path).exists() and not tree.file(swapped).exists():
            tree.file(path).rename(tree.file(swapped))

    def change_mode(self, tree: GitRepository) -> None:
        path = tree.file(self._any(tree))
        if path.is_file():
            path.chmod(0o755 if self.chance.random() < 0.5 else 0o644)

    def link(self, tree: GitRepository) -> None:
        tree.write({self._any(tree): Link(self.chance.choice(["a.py", "src", "nowhere", "/etc/hosts"]))})

    def directory_for_file(self, tree: GitRepository) -> None:
        tree.write({f"{self._any(tree)}/in.py": self._content()})

    def file_for_directory(self, tree: GitRepository) -> None:
        tree.write({self.chance.choice(PLACES[1:]).rstrip(b"/"): self._content()})

    def write_rules(self, tree: GitRepository) -> None:
        name = self.chance.choice(RULES)
        lines = "".join(f"{line}\n" for line in self.chance.sample(RULE_LINES, 2))
        content = None if self.chance.random() < 0.4 else lines
        if name.startswith(".git/"):
            exclude = Path(tree.git("rev-parse", "--path-format=absolute", "--git-path", "info/exclude"))
            exclude.parent.mkdir(exist_ok=True)
            exclude.write_text(content or "")
        else:
            tree.write({name: content})

    def write_manifest(self, tree: GitRepository) -> None:
        """Modules come and go: each has collections of its own."""
        members = self.chance.choice(['["src"]', '["src/*"]', '["src", "docs"]', "[]"])
        inner = self.chance.choice(["src", "docs", "src/x"])
        content = None if self.chance.random() < 0.3 else f'{{"workspaces": {members}}}'
        tree.write({"package.json": content, f"{inner}/package.json": f'{{"name": "{inner[-1]}"}}'})

    def write_issue(self, tree: GitRepository) -> None:
        """Git ignores issues, unless somebody has it otherwise."""
        if self.chance.random() < 0.5:
            tree.write({".gitignore": ".sdd/\n"})
        content = None if self.chance.random() < 0.3 else self._content()
        tree.write({f".sdd/issues/{self.chance.randrange(3)}.md": content})

    def set_excludes(self, tree: GitRepository) -> None:
        if self.chance.random() < 0.5:
            tree.git("config", "--unset-all", "core.excludesFile", check=False)
        else:
            (self.space / "excludes").write_text(self.chance.choice(RULE_LINES[:2]) + "\n")
            tree.git("config", "core.excludesFile", self.space / "excludes")

    def nest_repository(self, tree: GitRepository) -> None:
        """A repository inside: git does not look into it, unless it is none."""
        inner = tree.file("nested")
        if inner.is_dir() and not inner.is_symlink():
            shutil.rmtree(inner if self.chance.random() < 0.5 else inner / ".git", ignore_errors=True)
        elif not os.path.lexists(inner):
            tree.write({"nested/deep/in.py": self._content()})
            if self.chance.random() < 0.7:
                tree.git("init", "--quiet", "--template=", inner)
            else:
                (inner / ".git").mkdir()  # no repository

    def edit_nested(self, tree: GitRepository) -> None:
        if tree.file("nested").is_dir():
            tree.write({f"nested/deep/f{self.chance.randrange(3)}.py": self._content()})

    # the index

    def stage(self, tree: GitRepository) -> None:
        tree.git("--literal-pathspecs", "add", "--", *self._some(tree), check=False)

    def stage_all(self, tree: GitRepository) -> None:
        tree.git("add", "--all", check=False)

    def intend_to_add(self, tree: GitRepository) -> None:
        tree.git("--literal-pathspecs", "add", "-N", "--", *self._some(tree), check=False)

    def unstage(self, tree: GitRepository) -> None:
        tree.git("--literal-pathspecs", "restore", "--staged", "--", self._any(tree), check=False)

    def git_remove(self, tree: GitRepository) -> None:
        options = self.chance.choice([["--force"], ["--cached"], []])
        tree.git("--literal-pathspecs", "rm", "--quiet", *options, "--", self._any(tree), check=False)

    def git_move(self, tree: GitRepository) -> None:
        target = self._name()
        self._make_way(tree, tree.file(target))
        tree.git("mv", "--", self._any(tree), target, check=False)

    def hide(self, tree: GitRepository) -> None:
        option = self.chance.choice(["--assume-unchanged", "--no-assume-unchanged", "--really-refresh"])
        tree.git("update-index", option, "--", self._any(tree), check=False)

    def rewrite_index(self, tree: GitRepository) -> None:
        act = self.chance.choice(
            [["read-tree", "HEAD"], ["read-tree", "--empty"], ["update-index", "--refresh"]]
        )
        tree.git(*act, check=False)

    # commits

    def commit(self, tree: GitRepository) -> None:
        tree.ticks[0] += 1
        tree.git("add", "--all", check=False)
        tree.git("commit", "--quiet", "--allow-empty", "-m", "all", check=False)

    def commit_staged(self, tree: GitRepository) -> None:
        options = self.chance.choice([[], ["--no-verify"], ["--all"], ["--amend"], ["--amend", "--all"]])
        tree.ticks[0] += 1
        tree.git("commit", "--quiet", "--allow-empty", "-m", "staged", *options, check=False)

    def commit_only(self, tree: GitRepository) -> None:
        tree.git("--literal-pathspecs", "commit", "-qm", "only", "--only", "--", self._any(tree), check=False)

    def burst(self, tree: GitRepository) -> None:
        for _ in range(3):
            tree.write({self._name(): self._content()})
            self.commit(tree)

    # history

    def switch(self, tree: GitRepository) -> None:
        name = self.chance.choice(BRANCHES)
        act = self.chance.choice([[name], ["-f", name], ["-C", name], ["--detach", name], ["-m", name]])
        tree.git("switch", "--quiet", *act, check=False)

    def orphan(self, tree: GitRepository) -> None:
        tree.git("checkout", "--quiet", "--orphan", f"orphan{self._new('').name}", check=False)

    def merge(self, tree: GitRepository) -> None:
        options = self.chance.choice(
            [[], ["--no-ff"], ["--ff-only"], ["--squash"], ["-X", "theirs"], ["-s", "ours"]]
        )
        tree.git("merge", "--quiet", "--no-edit", *options, self._revision(), check=False)

    def octopus(self, tree: GitRepository) -> None:
        tree.git("merge", "--quiet", "--no-edit", *BRANCHES, check=False)

    def rebase(self, tree: GitRepository) -> None:
        tree.git("rebase", "--quiet", self._revision(), check=False)

    def rebase_interactively(self, tree: GitRepository) -> None:
        script = self.chance.choice(
            ["2s/^pick/squash/", "1d", "$s/^pick/edit/", "1!G;h;$!d", "2s/^pick/fixup/"]
        )
        editor = {"GIT_SEQUENCE_EDITOR": f"sed -i -e '{script}'"}
        tree.git("rebase", "--quiet", "-i", "HEAD~2", check=False, env=editor)

    def pick(self, tree: GitRepository) -> None:
        tree.git(self.chance.choice(["cherry-pick", "revert"]), "--no-edit", self._revision(), check=False)

    def end(self, tree: GitRepository) -> None:
        """End what is under way, one way or the other."""
        how = self.chance.choice(["--abort", "--continue", "--skip", "--quit"])
        for what in ("rebase", "merge", "cherry-pick", "revert"):
            tree.git(what, how, check=False)

    def bisect(self, tree: GitRepository) -> None:
        act = self.chance.choice([["start", "HEAD", "HEAD~2"], ["good"], ["bad"], ["reset"]])
        tree.git("bisect", *act, check=False)

    def stash(self, tree: GitRepository) -> None:
        how = ["push -u", "push", "push --keep-index", "pop", "pop --index", "apply", "drop"]
        tree.git("stash", *self.chance.choice(how).split(), check=False)

    def reset(self, tree: GitRepository) -> None:
        mode = self.chance.choice(["--hard", "--soft", "--mixed", "--merge", "--keep"])
        tree.git("reset", "--quiet", mode, self._revision(), check=False)

    def checkout_file(self, tree: GitRepository) -> None:
        where = self.chance.choice([[], [self._revision()]])
        tree.git("--literal-pathspecs", "checkout", "--quiet", *where, "--", self._any(tree), check=False)

    def move_reference(self, tree: GitRepository) -> None:
        act = self.chance.choice([["branch", "-f", self.chance.choice(BRANCHES)], ["update-ref", "HEAD"],
            ["update-ref", f"refs/heads/{self.chance.choice(BRANCHES)}"]])  # fmt: skip
        commit = tree.git("rev-parse", "--verify", "-q", self._revision(), check=False)
        if commit:
            tree.git(*act, commit, check=False)

    def clean(self, tree: GitRepository) -> None:
        tree.git("clean", "--quiet", self.chance.choice(["-fd", "-ffdx", "-fdX"]), check=False)

    def collect(self, tree: GitRepository) -> None:
        tree.git("reflog", "expire", "--expire=now", "--all", check=False)
        tree.git("gc", "--quiet", "--prune=now", check=False)

    def sparse(self, tree: GitRepository) -> None:
        act = self.chance.choice([["set", "src"], ["disable"], ["set", "--no-cone", "*.py"], ["reapply"]])
        tree.git("sparse-checkout", *act, check=False)

    def submodule(self, tree: GitRepository) -> None:
        if self.chance.random() < 0.5:
            tree.git("rm", "--quiet", "--force", "module", check=False)
            return
        source = self.space / "source"
        if not source.exists():
            shutil.copytree(self.repo.path, source, symlinks=True)
        shutil.rmtree(Path(tree.git("rev-parse", "--path-format=absolute", "--git-path", "modules")), True)
        add = ["submodule", "--quiet", "add", "--force", source, "module"]
        tree.git("-c", "protocol.file.allow=always", *add, check=False)

    # worktrees

    def add_worktree(self, tree: GitRepository) -> None:
        if len(self.trees) < 3:
            path = self._new("tree")
            tree.git("worktree", "add", "--quiet", "--force", "--detach", path, self._revision(), check=False)
            if path.exists():
                self.trees.append(GitRepository(path, tree.environment, tree.ticks))

    def move_worktree(self, tree: GitRepository) -> None:
        target = self._new("tree")
        if tree is not self.repo:
            tree.git("worktree", "move", tree.path, target, check=False, cwd=self.repo.path)
            if target.exists():
                self._residents.pop(tree.path, None)
                tree.path = target

    def remove_worktree(self, tree: GitRepository) -> None:
        if tree is not self.repo:
            if self.chance.random() < 0.5:
                self.repo.git("worktree", "remove", "--force", "--force", tree.path)
            else:
                shutil.rmtree(tree.path)
                self.repo.git("worktree", "prune", check=False)
            self._residents.pop(tree.path, None)
            self.trees.remove(tree)


_OFTEN = {"edit", "commit", "switch", "reset"}
_SELDOM = {"orphan", "collect", "submodule", "file_for_directory", "rewrite_index"}

ACTS: Mapping[Callable[[Actor, GitRepository], None], int] = {
    act: 5 if name in _OFTEN else 1 if name in _SELDOM else 2
    for name, act in vars(Actor).items()
    if not name.startswith("_") and callable(act)
}
"""What can be done, and how often it is next to the others."""
