"""Permissions of a shared repository: core.sharedRepository, interpreted as git does. Pure.

git_config_perm (setup.c) and calc_shared_perm (path.c): ``group`` and ``all`` add to a file's mode, a mode
such as 0640 replaces it, without execute bits; 0, 1 and 2 are older names.
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
    """Return the mode for files with the same readers as the repository's; for directories, see `files`.

    Where git leaves it to the umask, only the user may read: the index also contains untracked files.

    Args:
        config: git's configuration values, by lower-case key.
    """
    value = config.get(KEY, "umask")
    if not re.fullmatch("[0-7]{1,6}", value):
        return _WORDS.get(value.lower(), _PRIVATE)
    mode = int(value, 8)
    if mode in _OLD:
        return _OLD[mode]
    return mode & 0o666 if mode & _PRIVATE == _PRIVATE else _PRIVATE  # otherwise git refuses to work there
