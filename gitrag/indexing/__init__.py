"""From changed blobs to chunks, postings and vectors in the store.

``plan`` says which paths of a tree change and how (pure); ``preparation`` cuts one content into what the
store keeps (pure); ``cutting`` does that for many, with several processes; ``refresh`` brings a worktree's
view up to date; ``embed_texts`` computes vectors; ``worker`` is the one background process of a store.
"""

PREPARATION_VERSION = 4  # raise when anything in `preparation` changes: every index is then rebuilt
