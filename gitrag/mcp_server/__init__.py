"""gitrag for agents: a Model Context Protocol server. It passes questions on and shapes answers; no logic.

``workbench`` holds what the tools work on, ``replies`` what they answer, ``tools`` and ``memory_tools`` are
the tools, ``binding`` makes them the protocol's, ``server`` serves them.
"""
