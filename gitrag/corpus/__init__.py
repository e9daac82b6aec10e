"""What a repository's files are: decisions, specifications, code, issues; and which module they belong to.

``adrs``, ``specs``, ``code`` and ``issues`` say which paths are their own and how a document is read;
``layout`` says for each path which collection it is in; ``workspaces`` finds the modules. Pure.
"""

LAYOUT_VERSION = 1  # raise when a path may come into another collection
