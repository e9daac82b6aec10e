"""Open a line of a file in the user's editor."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from gitrag.errors import GitragError, NotSetUpError

_GOTO = frozenset({"code", "code-insiders", "codium", "cursor", "windsurf"})
"""Editors of the family of VS Code: ``code --goto FILE:LINE``."""

_COLON = frozenset({"hx", "helix", "subl", "zed", "zeditor"})
"""Editors that take ``FILE:LINE``."""

_LINE_OPTION = frozenset({"idea", "pycharm", "webstorm", "goland", "clion", "rubymine", "phpstorm", "kate"})
"""Editors that take ``--line LINE FILE``."""


class EditorError(GitragError):
    """The editor could not be run, or failed."""


def editor_command(environ: Mapping[str, str], path: Path, line: int) -> list[str]:
    """Return the command line that opens a file at a line, in VISUAL, else in EDITOR."""
    name = next((name for name in ("VISUAL", "EDITOR") if environ.get(name, "").strip()), None)
    if name is None:
        raise NotSetUpError(
            f"No editor to open {path}:{line} with: VISUAL and EDITOR are not set.",
            "Name one, for example: export EDITOR=vim",
        )
    try:
        command = shlex.split(environ[name])
    except ValueError as error:
        raise EditorError(
            f"{name} is {environ[name]!r}, which is no command line: {error}.", f"Set {name} anew."
        ) from error
    return [*command, *_arguments(Path(command[0]).stem.lower(), str(path), line)]


def _arguments(editor: str, path: str, line: int) -> list[str]:
    if editor in _GOTO:
        return ["--goto", f"{path}:{line}"]
    if editor in _COLON:
        return [f"{path}:{line}"]
    if editor in _LINE_OPTION:
        return ["--line", str(line), path]
    return [f"+{line}", path]  # vi, vim, nvim, emacs, emacsclient, nano, micro, kak, joe, less


def open_in_editor(command: Sequence[str], directory: Path, environ: Mapping[str, str]) -> None:
    """Run an editor to its end."""
    try:
        status = subprocess.run(command, cwd=directory, env=environ, check=False).returncode
    except OSError as error:
        raise EditorError(
            f'The editor "{command[0]}" cannot be run: {error.strerror}.', "Set VISUAL or EDITOR to another."
        ) from error
    if status:
        raise EditorError(f'The editor "{command[0]}" failed with exit status {status}.')
