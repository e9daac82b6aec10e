"""The user's own data: explorations, and the list of core files.

It is stored under GITRAG_HOME, outside all repositories: rebuilding, cleaning or upgrading an index never
touches it.
"""
