"""Classify a repository's files: decisions, specifications, code or issues; and the module of each.

``adrs``, ``specs``, ``code`` and ``issues`` define which paths are theirs and how a document is read;
``layout`` assigns each path to a collection; ``manifests`` finds the modules. Pure.
"""

LAYOUT_VERSION = 1  # increment when a change can move a path to another collection
