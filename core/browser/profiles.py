"""Named browser profiles: folders that keep logins between runs."""

import re
from pathlib import Path

from core.errors import UsageError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def profile_folder(profiles: str, name: str) -> Path:
    """Return the folder of a named profile, made where it is missing; raises UsageError for an unusable name."""
    if not _NAME.fullmatch(name):
        raise UsageError(f'"{name}" cannot name a profile: use letters, digits, dot, dash and underscore.')
    if not profiles:
        raise UsageError(f"There is no folder to keep the profile {name} in; use a clean profile.")
    folder = Path(profiles) / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"The profile {name} cannot be kept in {folder}: {error.strerror}.") from error
    return folder
