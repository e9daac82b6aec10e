"""Whom a repository is shared with: core.sharedRepository, read as git reads it. Pure.

git_config_perm (setup.c) and calc_shared_perm (path.c): ``group`` and ``all`` add to what a file has, a mode
such as 0640 is what it has, less any bit to execute; 0, 1 and 2 are older names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

KEY = "core.sharedrepository"

_PRIVATE = 0o600
_GROUP = 0o660
_EVERYBODY = 0o664
_WORDS = {
    "umask": _PRIVATE,
    "group": _GROUP,
    "all": _EVERYBODY,
    "world": _EVERYBODY,
    "everybody": _EVERYBODY,
    **dict.fromkeys(("true", "yes", "on"), _GROUP),
    **dict.fromkeys(("false", "no", "off", ""), _PRIVATE),
}
_OLD = {0: _PRIVATE, 1: _GROUP, 2: _EVERYBODY}


def file_mode(config: Mapping[str, str]) -> int:
    """Return the permissions of a file that is for whom the repository is for; of a directory, see `files`.

    Where git leaves it to the umask, that is the user alone: the index holds what is untracked too.

    Args:
        config: git's configuration values, by lower-case key.
    """
    value = config.get(KEY, "umask")
    if not re.fullmatch("[0-7]{1,6}", value):
        return _WORDS.get(value.lower(), _PRIVATE)
    mode = int(value, 8)
    if mode in _OLD:
        return _OLD[mode]
    return mode & 0o666 if mode & _PRIVATE == _PRIVATE else _PRIVATE  # else git refuses to work there
