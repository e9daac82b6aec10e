"""Find the repository that a directory belongs to; where its index is, and who may read it."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import stat
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from gitrag.errors import NoRepositoryError, RepositoryError
from gitrag.git.configuration import ConfigEntry
from gitrag.git.environment import PATIENCE_S, message_of, run_git, scrubbed_environment
from gitrag.machine.files import existing, is_own, is_read_only

_ABSOLUTE = "--path-format=absolute"  # git 2.31
_FIELDS = ("--git-dir", "--git-common-dir", "--is-bare-repository", "--show-object-format")

_MAKE_A_REPOSITORY = ("HEAD", "objects", "refs")
"""What git looks for in a directory; ``refs`` exists even with reftable storage."""

_LONGEST_LINK = 8192


class Location(Struct, frozen=True):
    """Where a repository is.

    Attributes:
        root: Top level of the working tree; None for a bare repository.
        git_dir: This worktree's git directory.
        common_dir: The git directory shared by all worktrees.
        object_format: What object ids are: ``sha1`` or ``sha256``.
        environment: For git subprocesses: cleaned, with this repository set.
    """

    root: Path | None
    git_dir: Path
    common_dir: Path
    object_format: str
    environment: dict[str, str]


def locate(start: Path, environ: Mapping[str, str] | None = None) -> Location:
    """Find the repository that ``start`` is in.

    git decides what is a repository and whether its owner is trusted. Which repository is found:

    * Without ``environ``: the one around ``start``, regardless of the process's environment. For explicit
      paths, and whenever ``start`` is not the current directory.
    * With ``environ``: its GIT_DIR and GIT_WORK_TREE are honoured as git honours them. They come from a user
      (a bare repository of dotfiles) or, in a hook, from git, to name the repository it works on. A
      GIT_DIR without GIT_WORK_TREE would make ``start`` the top level, which is wrong when a hook has changed
      the directory, so a git directory that knows its working tree is looked up from there. Everything else
      leaks from hooks is dropped in any case.
    """
    start = start.absolute()
    if not os.path.exists(start):  # noqa: PTH110 - Path.exists raises for a name that is too long
        raise RepositoryError(f"{start} does not exist.", "Give a path inside a git repository.")
    if not start.is_dir():
        start = start.parent
    scrubbed = scrubbed_environment(environ)
    named = {key: value for key in ("GIT_DIR", "GIT_WORK_TREE") if environ and (value := environ.get(key))}
    if set(named) == {"GIT_DIR"}:
        tree = _working_tree_of(start / named["GIT_DIR"])
        if tree is not None:
            start, named = tree, {}
    environment = scrubbed | named
    git_dir, common_dir, bare, object_format, top = _ask(start, environment)
    if not named:
        _refuse_embedded(start, Path(git_dir), Path(common_dir))
        _refuse_foreign_store(Path(git_dir), Path(common_dir))
    if not top and bare != "true":  # started inside the git directory
        tree = _working_tree_of(Path(git_dir))
        top = _ask(tree, environment)[-1] if tree else ""
    root = Path(top) if top else None
    if root is not None and not named:
        _refuse_elsewhere(root, Path(git_dir))
    environment |= {"GIT_DIR": git_dir} | ({"GIT_WORK_TREE": top} if top else {})
    return Location(root, Path(git_dir), Path(common_dir), object_format, environment)


def _refuse_embedded(start: Path, git_dir: Path, common_dir: Path) -> None:
    """Refuse a git directory that may be part of another repository's working tree.

    It can come with a clone, whose trees may contain anything except an entry called ``.git``. git is not
    asked: what lies around the directory may have come with the clone, and could mislead git.
    """
    git_dir, start = git_dir.resolve(), start.resolve()
    if _is_part_of_one(git_dir) or not start.is_relative_to(git_dir):
        return
    known = {git_dir, common_dir.resolve()}
    for above in git_dir.parents:
        if above not in known and _may_be_repository(above, known):
            raise RepositoryError(
                f"{git_dir} looks like a git repository, and lies in another: {above}.",
                f"Go to {above}; or, if you trust what it configures, set GIT_DIR to it.",
            )


def _refuse_foreign_store(git_dir: Path, common_dir: Path) -> None:
    """Refuse a git directory whose ``commondir`` names that of a repository it is no worktree of."""
    own, shared = git_dir.resolve(), common_dir.resolve()
    if own != shared and own.parent != shared / "worktrees":
        raise RepositoryError(
            f"{git_dir}/commondir names {common_dir}, of which it is no worktree.",
            f"If you trust {common_dir}, set GIT_DIR to {git_dir}.",
        )


def _is_part_of_one(git_dir: Path) -> bool:
    """Tell whether it is a ``.git``, or a submodule or worktree of one: no clone brings that."""
    for place in (git_dir, *git_dir.parents):
        if place.name == ".git":
            return place == git_dir or git_dir.relative_to(place).parts[0] in {"modules", "worktrees"}
    return False


def _refuse_elsewhere(top: Path, git_dir: Path) -> None:
    """Refuse a working tree that does not lead back: ``core.worktree`` may name any directory."""
    try:
        pointer = top / ".git"
        back = _working_tree_link(pointer) or pointer.resolve()
    except (OSError, RuntimeError):
        back = None
    if back != git_dir.resolve():
        raise RepositoryError(
            f"{git_dir} says that its working tree is {top}, which has no .git that leads back.",
            f"If that is what you want, set GIT_DIR={git_dir} and GIT_WORK_TREE={top}.",
        )


def _may_be_repository(place: Path, known: Collection[Path]) -> bool:
    """Tell whether a directory contains a repository, or is one, judging by its entries."""
    try:
        if _is_there(place / ".git"):
            return _working_tree_link(place / ".git") not in known
        return all(_is_there(place / name) for name in _MAKE_A_REPOSITORY)
    except OSError:
        return True


def _is_there(path: Path) -> bool:
    """Tell whether a directory has an entry, even a broken link."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _working_tree_link(path: Path) -> Path | None:
    """Return the git directory that a ``.git`` file names; None if it is not such a file."""
    if not path.is_file():
        return None
    content = os.fsdecode(path.read_bytes()[:_LONGEST_LINK])
    return (path.parent / content.removeprefix("gitdir:").strip()).resolve()


def is_alias(ref: Path) -> bool:
    """Tell whether a reference's file names another one, which is never packed."""
    try:
        return ref.is_file() and ref.read_bytes().startswith(b"ref:")
    except OSError:
        return False


def _ask(start: Path, environment: Mapping[str, str]) -> list[str]:
    """Return git's answers to ``_FIELDS``, and last the top level ("" if there is none)."""
    asked = (*_FIELDS, "--show-toplevel")
    done = run_git(["rev-parse", _ABSOLUTE, *asked], cwd=start, environment=environment)
    if not done.stdout:
        raise _reason(start, message_of(done), environment)
    answers = os.fsdecode(done.stdout).removesuffix("\n").split("\n")
    if answers[0] == _ABSOLUTE:  # old git versions echo options they do not know
        raise RepositoryError("This git is too old.", "Install git 2.31 or newer.")
    if done.returncode:  # no working tree here
        answers.append("")
    if len(answers) == len(asked):
        return answers
    # a path contains a line end: ask for each field separately
    single = [run_git(["rev-parse", _ABSOLUTE, field], cwd=start, environment=environment) for field in asked]
    return [os.fsdecode(answer.stdout).removesuffix("\n") for answer in single]


def _working_tree_of(git_dir: Path) -> Path | None:
    """Return the working tree that a git directory belongs to, if its own files or its name tell."""
    try:
        link = git_dir / "gitdir"  # of a linked worktree: the path of its .git file
        if link.is_file():
            tree = (git_dir / os.fsdecode(link.read_bytes()).strip()).parent
        elif git_dir.resolve().name == ".git":
            tree = git_dir.resolve().parent
        else:
            return None
        return tree if tree.is_dir() else None
    except OSError:
        return None


_MOUNT_POINT = re.compile(r"any parent up to mount point (.+?)\)")


def _reason(start: Path, said: str, environment: Mapping[str, str]) -> RepositoryError:
    if "dubious ownership" in said or "unsafe repository" in said:
        directory = said.partition("repository at '")[2].rpartition("' To add an exception")[0] or str(start)
        argument = said.partition("safe.directory ")[2] or shlex.quote(directory)  # quoted for a shell
        return RepositoryError(
            f"The repository {directory} belongs to another user, and git does not trust it.",
            f"If you do, run: git config --global --add safe.directory {argument}",
        )
    if "cannot use bare repository" in said:
        return RepositoryError(
            f"git refuses the bare repository around {start}: {said}.",
            "It is your setting safe.bareRepository=explicit; name the repository with GIT_DIR.",
        )
    if "unknown repository extension" in said or "Expected git repo version" in said:
        return RepositoryError(
            f"The repository around {start} was made by a newer git: {said}.", "Install a newer git."
        )
    if said.startswith("not a git repository"):
        named = environment.get("GIT_DIR")
        if named:
            return RepositoryError(
                f"GIT_DIR names {named}, which is not a git repository.", "Unset GIT_DIR, or correct it."
            )
        if said.startswith("not a git repository:"):  # a .git file with a missing target
            return RepositoryError(
                f"The .git file of {start} points to a repository that is not there: {said}.",
                "To repair a linked worktree that was moved: git worktree repair",
            )
        end = ""
        if mount := _MOUNT_POINT.search(said):
            end = f", up to {mount[1]}, which is on another file system"
        elif environment.get("GIT_CEILING_DIRECTORIES"):
            end = ", as far up as GIT_CEILING_DIRECTORIES lets git look"
        hint = "Go into a repository, or make one with: git init"
        if jj := next((each for each in (start, *start.parents) if existing(each / ".jj")), None):
            hint = f"Let jj keep {jj} in git's place, too: jj git colocation enable"
        return NoRepositoryError(f"There is no git repository at {start} or above it{end}.", hint)
    return RepositoryError(f"git cannot read the repository around {start}: {said}.", "Try: git status")


INDEX_SETTING = "gitrag.indexplace"
INDEX_VARIABLE = "GITRAG_INDEX_PLACE"
MODEL_SETTING = "gitrag.model"
MODEL_VARIABLE = "GITRAG_MODEL"

INDEX_NAME = "gitrag"
"""The directory in the git directory."""


def index_place(common_dir: Path, wanted: str) -> Path:
    """Return the directory of a repository's index.

    Args:
        wanted: The setting ``index_place``: ``auto``, ``repository`` or ``cache``.
    """
    own = common_dir / INDEX_NAME
    if wanted == "cache" or (wanted != "repository" and _is_out_of_reach(common_dir, own)):
        import platformdirs

        digest = hashlib.sha256(_identity(common_dir.resolve())).hexdigest()[:16]
        return platformdirs.user_cache_path("gitrag") / "indexes" / digest
    return own


def _identity(common_dir: Path) -> bytes:
    """Return what tells a repository from another one, of another disk, at the same path."""
    status = common_dir.stat()
    disk = os.statvfs(common_dir).f_fsid if hasattr(os, "statvfs") else status.st_dev
    found = b"%d %d" % (disk, status.st_ino)
    return os.fsencode(common_dir) + b"\0" + found


def _is_out_of_reach(common_dir: Path, own: Path) -> bool:
    if _is_writable(common_dir) or _is_writable(own):
        return False
    try:
        return is_read_only(common_dir) or not is_own(common_dir.stat())
    except OSError:
        return False


def _is_writable(directory: Path) -> bool:
    return os.access(directory, os.W_OK | os.X_OK)


SHARED_KEY = "core.sharedrepository"

_PRIVATE = 0o600
_GROUP = 0o660
_EVERYBODY = 0o664
_WORDS = {
    "umask": _PRIVATE,
    "group": _GROUP,
    "all": _EVERYBODY,
    "world": _EVERYBODY,
    "everybody": _EVERYBODY,
    **dict.fromkeys(("true", "yes", "on"), _GROUP),
    **dict.fromkeys(("false", "no", "off", ""), _PRIVATE),
}
_OLD = {0: _PRIVATE, 1: _GROUP, 2: _EVERYBODY}


def shared_mode(config: Mapping[str, str]) -> int:
    """Return the mode for files with the same readers as the repository's; for directories, see `files`.

    Where git leaves it to the umask, only the user may read: the index also contains untracked files.

    Args:
        config: git's configuration values, by lower-case key.
    """
    value = config.get(SHARED_KEY, "umask")
    if not re.fullmatch("[0-7]{1,6}", value):
        return _WORDS.get(value.lower(), _PRIVATE)
    mode = int(value, 8)
    if mode in _OLD:
        return _OLD[mode]
    return mode & 0o666 if mode & _PRIVATE == _PRIVATE else _PRIVATE  # otherwise git refuses to work there


_RULE_FILES = frozenset({".gitattributes", ".gitignore"})
"""Files that git reads in every directory of the working tree."""

_LOOKING_S = 10.0
"""Time to look for named pipes among them, while git does not answer."""


def refuse_pipes(found: Location) -> None:
    """Raise if a rule file is a named pipe, which git would open and block on.

    No clone creates one. Pipes in subdirectories are looked for when git does not answer.
    """
    info = found.common_dir / "info"
    rules = [found.root / name for name in sorted(_RULE_FILES)] if found.root is not None else []
    for path in [*rules, info / "exclude", info / "attributes"]:
        with suppress(OSError):
            if stat.S_ISFIFO(path.stat().st_mode):
                raise RepositoryError(
                    f"{path} is a named pipe, for which git would wait for ever.", "Remove it."
                )


def refuse_pipes_below(top: Path) -> None:
    """Raise if any rule file below a directory is a named pipe; called when git has not answered."""
    end = time.monotonic() + _LOOKING_S
    for folder, _, names in os.walk(top):
        for name in _RULE_FILES.intersection(names):
            path = Path(folder, name)
            with suppress(OSError):
                if stat.S_ISFIFO(path.lstat().st_mode):
                    raise RepositoryError(
                        f"git has not answered for {PATIENCE_S:.0f} s: {path} is a named pipe, for which"
                        " it can wait for ever.",
                        "Remove it.",
                    )
        if time.monotonic() > end:
            return


def of_model(environ: Mapping[str, str], entries: Iterable[ConfigEntry]) -> str:
    """Return what the directory of an index is called that is of another model than ours; else empty."""
    named = [each.value for each in entries if each.key == MODEL_SETTING and not each.is_the_repositorys]
    model = environ.get(MODEL_VARIABLE) or (named[-1] if named else "")
    return f"model-{hashlib.blake2b(os.fsencode(model), digest_size=4).hexdigest()}" if model else ""
