"""A git repository: its location, HEAD, trees and blobs.

git itself (2 to 4 ms per process) is used for discovery, HEAD, configuration and the working tree's state,
so that a search on a fresh index never has to import pygit2 (60 to 80 ms); libgit2 reads objects with SHA-1
ids, and git all others.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from gitrag.errors import GitragError, RepositoryError, UsageError
from gitrag.git import discovery, identity
from gitrag.git.configuration import Configuration
from gitrag.git.discovery import (
    INDEX_NAME,
    INDEX_SETTING,
    INDEX_VARIABLE,
    Location,
    index_place,
    locate,
    of_model,
    refuse_pipes,
    refuse_pipes_below,
)
from gitrag.git.environment import message_of, run_git, time_limit_s, unconfigured
from gitrag.machine.programs import Limits
from gitrag.model import Head, Skip, TreeEntry

if TYPE_CHECKING:
    import subprocess
    import tempfile

    from gitrag.git.libgit2 import Libgit2Objects
    from gitrag.git.plumbing import GitObjects

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""Stands for no files, whatever ids the repository has; git is never asked for it."""

SUBMODULE_MODE = 0o160000
SYMLINK_MODE = 0o120000
EXECUTABLE_MODE = 0o100755
FILE_MODE = 0o100644
_TREE_MODE = 0o040000

_ONLY_SAY = frozenset({"config", "rev-parse", "version"})
"""Commands that run no other program; used to read the configuration itself."""

_MOST_TREES = 64
"""Commits whose trees are kept."""

_IN_TABLES = "refs/heads/.invalid"
"""What HEAD's file contains if references are stored in reftables (git 2.45)."""

# What each operation leaves in the git directory while it waits for the user.
_OPERATIONS = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",  # also `git am`
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}


class BlobError(GitragError):
    """A blob's content is unavailable.

    Its object is missing (partial or damaged clone), or its file cannot be read or has changed. This concerns
    one blob, not the repository: callers leave the path out as ``Skip.UNREADABLE`` and go on.
    """


class Change(Struct, frozen=True):
    """The difference of one path between two trees, or between a tree and the working tree.

    Attributes:
        entry: The path's new state, or None if deleted.
        skip: For a file in the working tree: why it was not hashed; then its blob is "".
    """

    path: str
    entry: TreeEntry | None
    skip: Skip | None = None


class Repository:
    """A repository as seen from one of its worktrees. Do not share it between threads.

    Attributes:
        root: Top level of the working tree; None for a bare repository.
        common_dir: The git directory shared by all worktrees.
        object_format: What object ids are: ``sha1`` or ``sha256``.
        unconverted: Why files are used as they are on disk, not as git would store them; "" normally.
        trees: The trees of the commits that HEAD was seen at last.
    """

    def __init__(self, location: Location) -> None:
        self.root = location.root
        self.git_dir = location.git_dir
        self.common_dir = location.common_dir
        self.object_format = location.object_format
        self._plain = location.environment
        place = self.root or self.git_dir
        self.configuration = Configuration(place, self.git_dir, self.common_dir, location.environment)
        self.unconverted = ""
        self.trees: dict[str, str] = {}

    @classmethod
    def discover(cls, start: Path, environ: Mapping[str, str] | None = None) -> Repository:
        """Find the repository that ``start`` is in; ``environ`` as in `gitrag.git.discovery.locate`.

        Raises:
            RepositoryError: There is none, git or libgit2 cannot or will not read it, or would block.
        """
        found = locate(start, environ)
        refuse_pipes(found)
        return cls(found)

    def __repr__(self) -> str:
        return f"Repository({str(self.root or self.git_dir)!r})"

    @property
    def worktree(self) -> str:
        """Stable id of this worktree: its administrative name, or "" for the main one or a bare repository.

        A linked worktree may be called ``main`` or ``bare``, but never "".
        """
        return self.git_dir.name if self.git_dir.parent == self.common_dir / "worktrees" else ""

    def worktrees(self) -> list[str]:
        """List the ids of the worktrees known to git: see ``worktree``; always including ""."""
        try:
            linked = [entry.name for entry in (self.common_dir / "worktrees").iterdir()]
        except OSError:
            linked = []
        return ["", *sorted(linked)]

    def worktree_roots(self) -> list[Path]:
        """List the top levels of the worktrees that still exist where git last saw them."""
        found = [self.common_dir.parent] if self.common_dir.name == ".git" else []
        for name in self.worktrees()[1:]:
            with suppress(OSError):
                inside = os.fsdecode((self.common_dir / "worktrees" / name / "gitdir").read_bytes())
                found.append((self.common_dir / "worktrees" / name / inside.removesuffix("\n")).parent)
        return [root for root in found if root.is_dir()]

    @cached_property
    def index_directory(self) -> Path:
        """Directory of the index with our model, in which those with others are: see `index_place`."""
        setting = INDEX_SETTING
        wanted = self._plain.get(INDEX_VARIABLE) or self.config(setting).get(setting, "")
        return index_place(self.common_dir, wanted)

    @cached_property
    def store_directory(self) -> Path:
        """Directory of the index with the user's model, its log and its locks, shared by all worktrees."""
        return self.index_directory / self._of_model

    @property
    def own_store_directory(self) -> Path:
        """Where the index would be, if this user can and wants to write it there."""
        return self.common_dir / INDEX_NAME / self._of_model

    @cached_property
    def _of_model(self) -> str:
        return of_model(self._plain, self.configuration.entries())

    def temporary_directory(self) -> tempfile.TemporaryDirectory[str]:
        """Make a directory for a while: where the system has those, else beside the index."""
        import tempfile

        for place in (None, self.store_directory):
            with suppress(OSError):
                return tempfile.TemporaryDirectory(prefix="gitrag-", dir=place)
        raise RepositoryError(
            f"Neither the system's temporary directory nor {self.store_directory} can be written to.",
            "Set TMPDIR to a directory with room.",
        )

    @property
    def default_directory_name(self) -> str:
        """The main worktree's directory name, or the bare repository's without ``.git``."""
        if self.worktree and self.common_dir.name == ".git":
            return self.common_dir.parent.name
        if self.worktree or self.root is None:
            # `git clone --bare URL project/.bare` and the like: the parent is the better name
            name = self.common_dir.name.removesuffix(".git")
            return self.common_dir.parent.name if not name or name.startswith(".") else name
        return self.root.name

    def git(
        self,
        *args: str | bytes | Path,
        stdin: bytes | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
        most_bytes: int | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git on this repository, at its top level; ``environment`` is added to the guarded one.

        Raises:
            RepositoryError: git is missing, cannot read its configuration, or is blocked by a named pipe.
            GitTimeoutError: It took longer than ``timeout_s``, or the timeout of all git processes.
            PrintedTooMuchError: It printed more than ``most_bytes``.
        """
        own = self._plain if args[0] in _ONLY_SAY else self.environment
        return run_git(
            args,
            cwd=self.root or self.git_dir,
            environment={**own, **(environment or {})},
            stdin=stdin,
            limits=Limits(timeout_s or time_limit_s(own), most_bytes),
            look=lambda: refuse_pipes_below(self.root or self.git_dir),
        )

    @property
    def environment(self) -> dict[str, str]:
        """The environment for git: cleaned, this repository set, and none of its own programs run."""
        return self.configuration.guarded()

    @contextmanager
    def unconfigured(self) -> Iterator[dict[str, str]]:
        """Provide an environment in which git has this repository's objects, and nobody's configuration."""
        with self.temporary_directory() as name:
            yield unconfigured(Path(name), self._plain, self.common_dir, self.object_format)

    def refresh_index(self) -> None:
        """Let git record which files are unchanged, as the user's own `git status` does.

        In a fresh clone or a copy, it would have to read them all in every snapshot: 38 ms instead of 4 with
        1,100 files. Not for background work: it takes git's lock on the index for a moment.
        """
        if self.root is not None:
            self.git("update-index", "-q", "--refresh")  # status 1 only means that something is modified

    # references

    def head(self) -> Head:
        """Return HEAD."""
        ref = self._ref()
        if ref == _IN_TABLES or (ref and discovery.is_alias(self.common_dir / ref)):
            ref = os.fsdecode(self.git("symbolic-ref", "--quiet", "HEAD").stdout).strip() or None
        branch = ref.removeprefix("refs/heads/") if ref else None
        # Read the branch once: a second read may find another commit.
        done = self.git("rev-list", "--no-walk", "--format=%T", "HEAD", "--")
        if done.returncode == 0:
            _, commit, tree = done.stdout.decode().split()
            if len(self.trees) >= _MOST_TREES:
                self.trees.clear()
            self.trees[commit] = tree
            return Head(commit, tree, branch)
        if ref and not (self.common_dir / ref).exists():
            # packed, or in a reftable; show-ref ignores one whose commit is missing
            found = self.git("for-each-ref", "--format=%(refname)", ref).stdout
            if os.fsdecode(found).strip() != ref:
                return Head(None, EMPTY_TREE, branch)
        raise RepositoryError(
            f"HEAD of {self.git_dir} is damaged: {message_of(done)}.", "Look at: git fsck; git log -1"
        )

    def is_on_branch(self) -> bool:
        """Tell whether HEAD is a reference, not a commit."""
        return self._ref() is not None

    def _ref(self) -> str | None:
        """Return the reference that HEAD is, or None; in a reftable that is another one."""
        file = self.git_dir / "HEAD"
        try:
            # a symbolic link: git's first format, still used with core.preferSymlinkRefs
            content = f"ref: {file.readlink()}" if file.is_symlink() else os.fsdecode(file.read_bytes())
        except OSError as error:
            raise RepositoryError(f"Cannot read HEAD of {self.git_dir}: {error.strerror}.") from error
        return content.removeprefix("ref:").strip() if content.startswith("ref:") else None

    def resolve(self, rev: str) -> Head:
        """Return the commit and tree that a revision names (the branch is None).

        Raises:
            UsageError: The repository has no such revision.
        """
        if rev and "\0" not in rev:
            is_id = identity.is_commit(rev) and len(rev) == len(self.blob_id(b""))
            found = None if is_id else self.git("rev-parse", "--verify", "--quiet", "--end-of-options", rev)
            oid = rev.encode() if found is None else b"" if found.returncode else found.stdout.strip()
            if oid:
                peel = b"%b^{tree}\n%b^{commit}\n" % (oid, oid)
                done = self.git("cat-file", "--batch-check=%(objectname)", stdin=peel)
                tree, commit = ("missing", "") if done.returncode else done.stdout.decode().splitlines()
                if tree.endswith("missing") and not commit.endswith("missing"):
                    why = message_of(done) if done.returncode else tree  # from git 2.44 on
                    raise RepositoryError(
                        f"The clone lacks objects of {rev!r}: {why}.",
                        f"git fetches them for: git log -1 --stat {shlex.quote(rev)}",
                    )
                if not tree.endswith("missing"):
                    return Head(None if commit.endswith("missing") else commit, tree, None)
        raise UsageError(
            f"The repository has no revision {rev!r}.",
            self.hint_of_shallow or "Give a branch, a tag, a commit, or something like HEAD~3.",
        )

    @property
    def hint_of_shallow(self) -> str:
        """What fetches the history and tags that a shallow clone lacks; empty for any other."""
        is_shallow = (self.common_dir / "shallow").exists()
        return "The clone is shallow: git fetch --unshallow --tags" if is_shallow else ""

    def operation_in_progress(self) -> str | None:
        """Return the operation in progress: rebase, merge, cherry-pick, revert, bisect; or None.

        With reftables, the marks of a cherry-pick and a revert are stored there too, and are not seen.
        """
        return next((name for file, name in _OPERATIONS.items() if (self.git_dir / file).exists()), None)

    # objects

    def blob_id(self, data: bytes) -> str:
        """Return the id that git gives this content."""
        digest = hashlib.new(self.object_format, b"blob %d\0" % len(data), usedforsecurity=False)
        digest.update(data)
        return digest.hexdigest()

    def has_object(self, oid: str) -> bool:
        """Tell whether an object is in this clone; a rewritten commit's tree is eventually pruned."""
        return oid in self._objects

    def promised_packs(self) -> tuple[str, ...]:
        """Name the packs of a partial clone; each fetch of missing objects adds one. Empty for a full one."""
        try:
            packs = [entry.name for entry in (self.common_dir / "objects" / "pack").iterdir()]
        except OSError:
            packs = []
        # What is fetched without a filter lies in a pack without that mark.
        is_partial = any(name.endswith(".promisor") for name in packs)
        return tuple(sorted(name for name in packs if name.endswith(".pack"))) if is_partial else ()

    def entries(self, tree: str) -> Iterator[TreeEntry]:
        """Yield every leaf of a tree, in git's order: files, symbolic links, submodules."""
        if tree == EMPTY_TREE:  # may not exist as an object
            return
        with self._trees_wrapped() as objects:
            for path, oid, mode in objects.leaves(tree):
                yield TreeEntry(os.fsdecode(path), oid, normal_mode(mode))

    def top_names(self, tree: str) -> frozenset[str]:
        """Name what is at the top of a tree; git says it sooner than libgit2 is loaded."""
        if tree == EMPTY_TREE:
            return frozenset()
        done = self.git("ls-tree", "-z", "--name-only", "--full-tree", tree)
        if done.returncode:
            raise self._unreadable_tree(message_of(done))
        return frozenset(map(os.fsdecode, done.stdout.split(b"\0")[:-1]))

    def diff(self, old_tree: str, new_tree: str) -> list[Change]:
        """Return the differences between two trees, one per path, a rename as a removal and an addition.

        Reads only subtrees that differ: 0.3 ms for five files of 20,000. libgit2's own diff also reads equal
        subtrees (1.3 ms), and so fails if one of them is missing; `git diff-tree` takes 8 ms.
        """
        if old_tree == new_tree:
            return []
        with self._trees_wrapped() as objects:
            old, new = (None if tree == EMPTY_TREE else objects.tree(tree) for tree in (old_tree, new_tree))
            return list(_differences(old, new))

    def blob_size(self, blob: str) -> int:
        """Return a blob's size in bytes, reading only its header.

        Raises:
            BlobError: The object is missing or damaged.
        """
        with self._blob_wrapped(blob) as objects:
            return objects.size(blob)

    def read_blob(self, blob: str) -> bytes:
        """Return a blob's content."""
        with self._blob_wrapped(blob) as objects:
            return objects.read(blob)

    @cached_property
    def _objects(self) -> Libgit2Objects | GitObjects:
        if self.object_format == "sha1":
            from gitrag.git.libgit2 import Libgit2Objects

            return Libgit2Objects(self.git_dir)
        from gitrag.git.plumbing import GitObjects

        own = weakref.proxy(self)  # a bound method would make a circle, and git outlive the last use
        return GitObjects(self.common_dir, self.object_format, lambda: own.unconfigured())  # noqa: PLW0108

    @contextmanager
    def _trees_wrapped(self) -> Iterator[Libgit2Objects | GitObjects]:
        objects = self._objects
        try:
            yield objects
        except objects.errors as error:
            raise self._unreadable_tree(str(error)) from error

    def _unreadable_tree(self, why: str) -> RepositoryError:
        hint = "The clone is damaged or lacks objects; look at: git fsck"
        return RepositoryError(f"A tree of {self.git_dir} cannot be read: {why}.", hint)

    @contextmanager
    def _blob_wrapped(self, blob: str) -> Iterator[Libgit2Objects | GitObjects]:
        objects = self._objects
        try:
            yield objects
        except objects.errors as error:
            raise BlobError(f"Cannot read blob {blob}: {error}") from error

    # configuration

    def config(self, prefix: str) -> dict[str, str]:
        """Return git's configuration values whose key is ``prefix`` or begins with ``prefix.``.

        Section and variable are lower case, as git prints them; of several values the last counts; a key
        without a value is ``true``.
        """
        return self.configuration.values(prefix)

    def remote_url(self) -> str:
        """Return the URL of origin, else of the only remote; empty if there is neither.

        As git reads it: see `gitrag.git.identity.meant_url`.
        """
        urls = {key: url for key, url in self.config("remote").items() if key.endswith(".url")}
        url = urls.get("remote.origin.url") or (next(iter(urls.values())) if len(urls) == 1 else "")
        return identity.meant_url(url, self.configuration.entries())

    def remote_name(self) -> str | None:
        """Return the base name of the remote's URL without ``.git``; None if there is no remote."""
        return identity.name_of_url(self.remote_url())

    def remote_identity(self) -> str:
        """Return what tells the remote from others (`gitrag.git.identity.of_url`); empty if there is none."""
        directory = self.common_dir
        base = directory.parent if directory.name == ".git" else directory
        return identity.of_url(self.remote_url(), base)  # the same in all worktrees

    def first_commit(self, revision: str = "HEAD") -> str:
        """Return the commit that a revision's first parents begin with; empty if there is none."""
        done = self.git("rev-list", "--first-parent", "--max-parents=0", revision, "--")
        return os.fsdecode(done.stdout).strip()

    def has_commit(self, commit: str) -> bool:
        """Return whether a commit, given by its whole id, is in this clone."""
        return (
            identity.is_commit(commit) and not self.git("cat-file", "-e", f"{commit}^{{commit}}").returncode
        )

    def hooks_dir(self) -> Path:
        """Return the directory of this repository's hooks, respecting core.hooksPath."""
        done = self.git("rev-parse", "--path-format=absolute", "--git-path", "hooks")
        if done.returncode:
            raise RepositoryError(f"git does not say where hooks are: {message_of(done)}.")
        return Path(os.fsdecode(done.stdout).removesuffix("\n"))


def _differences(old_tree: Iterable[Any] | None, new_tree: Iterable[Any] | None) -> Iterator[Change]:
    """Compare two trees level by level, with a stack, as a hostile tree can be deeper than Python's."""
    pending: list[tuple[Any, Any, bytes]] = [(old_tree, new_tree, b"")]
    while pending:
        old, new, prefix = pending.pop()
        before = {entry.raw_name: entry for entry in old} if old is not None else {}
        pairs = [(before.pop(entry.raw_name, None), entry) for entry in new] if new is not None else []
        pairs += [(entry, None) for entry in before.values()]
        for was, now in pairs:  # never test their truth value: that would read them to count their entries
            if was is not None and now is not None and was.id == now.id and was.filemode == now.filemode:
                continue
            path = prefix + (was if now is None else now).raw_name
            was_tree, now_tree = _if_tree(was), _if_tree(now)
            if was_tree is not None or now_tree is not None:
                pending.append((was_tree, now_tree, path + b"/"))
            if now is not None and now_tree is None:
                name = os.fsdecode(path)
                yield Change(name, TreeEntry(name, str(now.id), normal_mode(int(now.filemode))))
            elif was is not None and was_tree is None:
                yield Change(os.fsdecode(path), None)


def _if_tree(entry: Any) -> Any:
    return entry if entry is not None and entry.filemode == _TREE_MODE else None


def normal_mode(mode: int) -> int:
    """Return one of the four modes of model.TreeEntry; old trees also have 0o100664."""
    if mode in (SUBMODULE_MODE, SYMLINK_MODE):
        return mode
    return EXECUTABLE_MODE if mode & 0o100 else FILE_MODE
