"""The trackers that gitrag supports, a line each."""

from __future__ import annotations

from collections.abc import Mapping

from gitrag.trackers import beads, gitea, github, gitlab, jira, linear, tasks_md
from gitrag.trackers.base import Registration

TRACKERS: Mapping[str, Registration] = {
    each.name: each
    for each in (
        github.TRACKER,
        gitea.TRACKER,
        gitlab.TRACKER,
        jira.TRACKER,
        linear.TRACKER,
        beads.TRACKER,
        tasks_md.TRACKER,
    )
}
"""All trackers by name, in the order in which they are tried."""
