"""A page of the repository for its user's browser, on this machine only; no logic of its own.

Answers come from `gitrag.actions`. What others wrote is text in every place (`rendering`), even markup that
got through would be inert: the policy allows scripts and style sheets of this package alone (`guard`).
"""
