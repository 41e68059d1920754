"""Paths as people write them."""

import os
from pathlib import Path


def expanded(path: str | Path) -> Path:
    """Return a path with a folder in place of a leading ``~`` or ``~name``; it stays as it is if there is none.

    `Path.expanduser` raises RuntimeError then, also for a file that is named so, such as ``~$draft.docx``.
    """
    try:
        return Path(os.path.expanduser(path))
    except ValueError:  # No user has a name with a zero byte, or with half a character.
        return Path(path)
