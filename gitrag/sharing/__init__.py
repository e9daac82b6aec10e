"""Vectors that a team shares: the packs they are kept in, and the places where packs are."""
