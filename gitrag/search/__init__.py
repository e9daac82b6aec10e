"""From a question to ranked hits.

``question`` reads the question (pure), ``engine`` gathers candidates from the store, ``ranking`` fuses and
orders them (pure), ``snippet`` picks the lines to show (pure).
"""
