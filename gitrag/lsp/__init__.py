"""A language server: an editor asks what the commands answer.

``server`` speaks the protocol, ``answers`` has an answer for each request, ``projects`` the repositories, and
``lines`` tells where a line of an unsaved buffer is on the disk.
"""
