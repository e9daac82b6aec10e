"""The index on disk: one DuckDB file for all worktrees of a repository.

Each module holds the SQL for one subject: ``views`` (which path has which content), ``content`` (chunks,
postings and texts), ``vectors``, ``candidates`` (what a question may find), ``inspection`` (what status
and doctor report). Their functions take an open connection, from ``Store.read`` or ``Store.write``.
"""
