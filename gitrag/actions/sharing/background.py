"""What the background worker shares: it pulls before it embeds, and pushes where the user lets it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from gitrag.actions.model import fetch_in_background
from gitrag.actions.sharing.pull import pull
from gitrag.actions.sharing.push import push
from gitrag.actions.sharing.shared import OFF, Shared
from gitrag.errors import GitragError
from gitrag.indexing.recipe import recipe
from gitrag.workspace import Workspace

_MANY_TEXTS = 256
"""For so many texts the place is asked at once; for fewer, ..."""

_EVERY_S = 300.0
"""... as after each commit, mostly new in the world, or after a failure, so often."""


def pull_first(workspace: Workspace, entries: Sequence[tuple[int, int]], asked: Callable[[], bool]) -> None:
    """Take what others have computed; a failure is told and recorded, and all is embedded here then.

    Args:
        entries: Path and content ids of its uncommitted changes.
        asked: Tells whether another request has come.
    """
    waiting = workspace.count_unembedded(entries) if workspace.config.share != OFF else 0
    if not waiting or asked():
        return

    def act(team: Shared) -> bool:
        address = team.place.address
        if _lately(team, address) and (waiting < _MANY_TEXTS or team.ledger.failure):
            return False
        if not fetch_in_background(workspace):
            return False
        team.ledger.asked[address] = time.time()
        _pull(team, entries, asked)
        return True

    _recorded(workspace, act)


def pull_before(workspace: Workspace, entries: Sequence[tuple[int, int]], stop: Callable[[], bool]) -> None:
    """Take what others have computed, before a user waits for the rest; failures as in `pull_first`.

    Args:
        workspace: The worktree; the model must be there.
        stop: Asked between packs whether to stop early.
    """
    if workspace.config.share == OFF:
        return

    def act(team: Shared) -> bool:
        team.ledger.asked[team.place.address] = time.time()
        _pull(team, entries, stop)
        return True

    _recorded(workspace, act)


def _pull(team: Shared, entries: Sequence[tuple[int, int]], stop: Callable[[], bool]) -> None:
    say = team.workspace.say
    found = pull(team, entries=entries, stop=stop)
    for each in found.refused:
        say(f"Pack {each.pack} from {each.origin} {each.why}: refused.")
    for missed in found.skipped:
        say(f"Pack {missed.pack} from {missed.origin} {missed.why}: left out this time.")
    if found.left_out:
        say(f"{found.left_out} packs at {team.place.address} left out: the keys of all would be too much.")
    if found.texts:
        say(f"Pulled {found.texts} vectors from {team.place.address}.")


def push_after(workspace: Workspace, asked: Callable[[], bool]) -> None:
    """Push the vectors of the newest commit of HEAD's that the remote has, where the user lets it.

    What is only here, commits that are not pushed included, stays here. Failures as in `pull_first`.
    """
    if workspace.config.share == OFF or workspace.config.share_push != "on" or asked():
        return

    def act(team: Shared) -> bool:
        if not team.place.is_writable or workspace.count_unembedded():
            return False
        tree = public_tree(workspace)
        if tree is None:
            return False
        pushed = f"{tree} {recipe(workspace.model)}"  # the same files, cut otherwise, have other texts
        if team.ledger.pushed.get(team.place.address) == pushed:
            return False
        tried = f"push to {team.place.address}"
        if team.ledger.failure and _lately(team, tried):
            return False
        team.ledger.asked[tried] = time.time()
        done = push(team, tree)
        team.ledger.pushed[team.place.address] = pushed
        if done.texts:
            workspace.say(f"Pushed {done.texts} vectors to {team.place.address}.")
        return True

    _recorded(workspace, act)


def public_tree(workspace: Workspace) -> str | None:
    """Return the tree of the newest commit in HEAD's history that a remote has, as far as is known here.

    With ``git`` or ``git:REMOTE`` that remote counts, else any; None if there is no such commit.
    """
    repo, address = workspace.repo, workspace.config.share
    remote = (address.partition(":")[2] or "origin") if address.split(":")[0] == "git" else ""
    pattern = f"refs/remotes/{remote}/" if remote else "refs/remotes/"
    if not repo.git("for-each-ref", "--count=1", pattern).stdout:
        return None
    remotes = f"--remotes={remote}" if remote else "--remotes"
    head = repo.head()  # read once: a commit made meanwhile is no remote's
    if head.commit is None:
        return None
    listed = repo.git("rev-list", "--boundary", head.commit, "--not", remotes, "--")
    if listed.returncode:
        return None
    lines = listed.stdout.decode("ascii").split()
    if not lines:
        return head.tree
    commit = next((line[1:] for line in lines if line.startswith("-")), None)
    return repo.resolve(commit).tree if commit else None


def _recorded(workspace: Workspace, act: Callable[[Shared], bool]) -> None:
    """Act on the place that is set, and record why that failed; ``act`` returns whether it asked there."""
    try:
        team = Shared.open(workspace)
    except GitragError:  # not every repository has such a remote
        return
    failure = ""
    try:
        if not act(team):
            return
    except GitragError as error:  # no network, no rights: the work here goes on
        failure = str(error)
        workspace.say(f"{error} {error.hint}".strip())
    team.ledger.failure = failure
    team.save()


def _lately(team: Shared, what: str) -> bool:
    """Tell whether something was tried lately; a clock that was set back counts as no."""
    return 0 <= time.time() - team.ledger.asked.get(what, 0.0) < _EVERY_S
