"""From a question to ranked hits.

``question`` reads the question (pure), ``engine`` gathers candidates from the store, ``ranking`` fuses and
orders them (pure), ``passages`` and ``snippet`` pick the lines to show (pure).
"""
