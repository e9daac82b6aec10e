"""From changed blobs to chunks, postings and vectors in the store.

``snapshot`` asks git; ``difference`` works out what a view loses and gains, by the rule files and modules of
the tree; ``known`` asks the index what it has of that. ``records`` makes of a content or a path what the
index keeps (pure). ``refresh`` calls these in order, for many contents in several processes, and writes.
``embed_texts`` computes vectors; ``worker`` is the one background process of a store.
"""

RECORDS_VERSION = 5  # raise when anything in `records` changes: every index is then rebuilt
