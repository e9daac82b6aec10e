"""gitrag for agents: a Model Context Protocol server. It calls the actions and formats replies; no logic.

``workbench`` holds what the tools work on, ``replies`` what they return; ``tools``, ``question_tools`` and
``memory_tools`` are the tools, ``binding`` registers them with the protocol, ``server`` serves them.
"""
