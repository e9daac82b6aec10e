"""The states in which git last reported files, by which a process guesses what it will report next."""

from __future__ import annotations

from gitrag.store.views import ViewOverlay


class LastSeen:
    """Remembers, for each worktree and for revisions, the view last read and the changes on top of it."""

    def __init__(self) -> None:
        self._states: dict[str, tuple[int, ViewOverlay]] = {}

    def remember(self, slot: str, view_id: int, overlay: ViewOverlay) -> None:
        """Remember a view and the changes on top of it.

        Args:
            slot: Whose view it is: a worktree's id, or ``REVISION``.
        """
        self._states[slot] = view_id, overlay

    def changes_on(self, slot: str, view_id: int) -> ViewOverlay:
        """Return the changes last seen on top of a view; none if that view was not the last one."""
        last_view, overlay = self._states.get(slot, (None, ViewOverlay()))
        return overlay if last_view == view_id else ViewOverlay()
