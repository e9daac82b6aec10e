"""The index on disk: one DuckDB file for all worktrees of a repository.

A module holds the SQL of one thing: ``views`` (which path has which content), ``content`` (chunks, their
postings and texts), ``vectors``, ``candidates`` (what a question may be about), ``inspection`` (what status
and doctor report). Their functions take an open connection, which ``Store.read`` and ``Store.write`` give.
"""
