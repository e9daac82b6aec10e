"""Push what HEAD has to a hub, or what the branches have that the user configured."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from gitrag.actions.current_view import CurrentView
from gitrag.corpus.layout import slug
from gitrag.errors import BusyError, ModelError, NotSetUpError, UsageError
from gitrag.git.commits import is_ancestor, shallow_ends
from gitrag.git.identity import is_commit
from gitrag.git.repository import Repository
from gitrag.hub.hub import opened
from gitrag.hub.rights import add_repository, owns
from gitrag.hub.sending import Branch, Pushed, push, take_name
from gitrag.hub.servers import holding
from gitrag.indexing.recipe import recipe
from gitrag.late import np
from gitrag.workspace import Workspace

if TYPE_CHECKING:
    from gitrag.store.connection import Connection, Store
    from gitrag.store.export import ExportedChunk, ViewFile
    from gitrag.store.memo import Memo
    from gitrag.store.views import ViewOverlay

_SHORT = 12

_LOCAL, _REMOTE = "refs/heads/", "refs/remotes/origin/"

OFF = "off"
SET_IT = "git config --global gitrag.hub postgresql://host/database"


def address_of(hub: str) -> str:
    """Return the address that the setting ``hub`` has."""
    if hub == OFF:
        raise NotSetUpError("No hub is set: the setting hub is off.", SET_IT)
    return hub


class Pushes(Struct, frozen=True):
    """What was pushed.

    Attributes:
        branches: A branch each.
        missing: What the setting ``hub_branches`` names and this clone does not have.
    """

    branches: tuple[Pushed, ...]
    missing: tuple[str, ...] = ()


def push_head(
    workspace: Workspace,
    *,
    repository: str | None = None,
    branch: str | None = None,
    force: bool = False,
    moved: bool = False,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
    embedding: Callable[[int], None] = lambda _done: None,
) -> Pushed:
    """Push what HEAD has, embedded by the model: uncommitted changes are not sent.

    Args:
        repository: Its name in the hub; None for the remote's, or else the directory's.
        branch: The branch's name there; None for the one that is checked out.
        force: Push also where the branch has a later commit there.
        moved: It is the repository that has the name there, whatever its remote was.
        embedding: Called with how many texts were embedded first.
    """
    address_of(workspace.config.hub)
    own = branch or workspace.repo.head().branch
    if own is None:
        raise UsageError("HEAD is on no branch.", "Name the branch to push as: gitrag hub push --branch main")
    return _push(workspace, own, None, repository, force, moved, advance, embedding)


def push_configured(
    workspace: Workspace,
    *,
    repository: str | None = None,
    force: bool = False,
    moved: bool = False,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
    embedding: Callable[[int], None] = lambda _done: None,
) -> Iterator[Pushed | str]:
    """Push the branches that the setting ``hub_branches`` names, in its order, each whole or not at all.

    A branch is the local one of that name, else origin's.

    Yields:
        What was pushed of each branch; then the names and globs that match none.
    """
    address_of(workspace.config.hub)
    wanted = workspace.config.hub_branches
    here = _branches(workspace.repo)
    chosen = {each: [name for name in here if fnmatchcase(name, each)] for each in wanted}
    if not any(chosen.values()):
        raise UsageError(
            f"This clone has no branch that hub_branches names: {', '.join(wanted)}.",
            "To push HEAD under a name: gitrag hub push --branch main",
        )
    for name in dict.fromkeys(chain.from_iterable(chosen.values())):
        yield _push(workspace, name, here[name], repository, force, moved, advance, embedding)
    yield from (each for each, found in chosen.items() if not found)


def _branches(repo: Repository) -> dict[str, str]:
    """Return the full reference of each branch by its name: the local one, else origin's."""
    done = repo.git("for-each-ref", "--format=%(refname)", _LOCAL, _REMOTE)
    refs = os.fsdecode(done.stdout).split("\n")  # a name may have what Python takes for a line end
    found = {each.removeprefix(_REMOTE): each for each in refs if each.startswith(_REMOTE)}
    found.pop("HEAD", None)
    return found | {each.removeprefix(_LOCAL): each for each in refs if each.startswith(_LOCAL)}


def _push(
    workspace: Workspace,
    own: str,
    revision: str | None,
    repository: str | None,
    force: bool,
    moved: bool,
    advance: Callable[[int, int], None],
    embedding: Callable[[int], None],
) -> Pushed:
    """Push HEAD or a branch, embedded by the model; arguments and errors are those of ``push_head``."""
    address = address_of(workspace.config.hub)
    workspace.require_index()
    repo = workspace.repo
    name = repository or slug(repo.remote_name() or repo.default_directory_name)
    require_name(name)
    origin = _origin(repo, revision)
    with opened(address, recipe(workspace.model)) as front, holding(front, name) as hub:
        view = CurrentView(workspace, revision=revision, committed_only=True, says_staleness=False)
        view_id = view.read(lambda _db, view_id, _overlay: view_id).found
        if not workspace.model_is_there():
            raise ModelError(
                "The hub takes the model's vectors, and the model is not here.", "gitrag model fetch"
            )
        workspace.embed(view_id=view_id, advance=embedding)
        head = workspace.repo.resolve(revision) if revision else workspace.repo.head()
        commit = head.commit
        if commit is not None:
            workspace.read_history(commit)

        def gathered(db: Connection, view_id: int, overlay: ViewOverlay) -> Branch:
            from gitrag.store import vectors

            # Also the read may have caught up with a commit that nothing was embedded of.
            if overlay.commit != commit or vectors.count_pending(db, view_id=view_id):
                raise BusyError(
                    f"{'HEAD' if revision is None else own} has moved meanwhile, or the index has:"
                    " nothing of it was pushed.",
                    "Try again.",
                )
            return _branch(db, workspace.store.memo, view_id, overlay.commit, name, own)

        def compare(there: str | None) -> bool:
            later = _is_later(workspace.repo, there, commit)
            if later and not force:
                raise UsageError(
                    f"The hub has a later commit of {name} {own}, {(there or '')[:_SHORT]}:"
                    " nothing of it was pushed.",
                    "To go back to what is here all the same: gitrag hub push --force",
                )
            return later is not None

        branch = view.read(gathered).found
        with hub.db.transaction():  # a push that is refused leaves no repository behind
            if owns(hub):
                add_repository(hub, name)
            take_name(hub, name, origin, lambda there: moved or repo.has_commit(there))
            return push(hub, branch, partial(_chunks, workspace.store), advance, compare=compare)


def _origin(repo: Repository, revision: str | None) -> str:
    """Return what tells a repository from others on all machines: its remote, or else its first commit."""
    remote = repo.remote_identity()
    if remote and not remote.startswith("/"):
        return remote
    first = repo.first_commit(revision or "HEAD")
    if first in shallow_ends(repo):
        raise NotSetUpError(
            "Nothing tells this repository from others: the clone is shallow, and no remote names a host.",
            "git fetch --unshallow, or name the host: git remote set-url origin URL",
        )
    return first


def _chunks(store: Store, files: Sequence[ViewFile]) -> Iterator[Sequence[ExportedChunk]]:
    """Read the chunks of files, by ascending content id; the index is closed while they are sent."""
    from gitrag.store import export

    for some in export.batches(files):
        with store.read() as db:
            if not export.holds(db, some):
                raise BusyError("The index has changed meanwhile: nothing of it was pushed.", "Try again.")
            chunks = export.chunks(db, [each.content_id for each in some])
        yield chunks


def _is_later(repo: Repository, there: str | None, commit: str | None) -> bool | None:
    """Tell whether a commit in the hub descends from the one to push; None where this clone cannot tell."""
    if there is None or there == commit:
        return False
    if commit is None or not is_commit(there):  # whoever pushed it may have written anything
        return None
    return is_ancestor(repo, commit, there)


def _branch(
    db: Connection, memo: Memo, view_id: int, commit: str | None, repository: str, branch: str
) -> Branch:
    from gitrag.store import commit_evidence, export, scopes
    from gitrag.store.views import ViewOverlay

    scope = scopes.open_scope(db, view_id)
    files = export.files(db, view_id)
    told = None
    if commit is not None:
        told = commit_evidence.branch_history(db, memo, scope, commit, np.arange(len(scope.files)))
    return Branch(
        repository=repository,
        branch=branch,
        commit=commit,
        tree=export.tree_of(db, view_id),
        left_out=scopes.unsearched(db, view_id, ViewOverlay(), None)[1],
        files=files,
        history=told,
    )


def require_name(name: str) -> None:
    """Refuse what cannot be a repository's name in a hub."""
    if not name or "/" in name or not name.isprintable() or len(name) > 100:
        raise UsageError(
            f'"{name[:60]}" cannot be the name of a repository in a hub.',
            "Letters without a slash, at most 100.",
        )
