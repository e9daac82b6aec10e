"""What outlives every index: explorations told to gitrag, and the files a user calls core.

It lies under GITRAG_HOME, beside no repository: no rebuild, clean-up or upgrade of an index touches it.
"""
