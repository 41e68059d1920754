"""Named browser profiles: folders that keep logins between runs."""

import re
from pathlib import Path

from core.schema.errors import UsageError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def name_problem(name: str) -> str:
    """Return why this cannot name a profile, in a sentence, or nothing."""
    if _NAME.fullmatch(name):
        return ""
    return f'"{name}" cannot name a profile: use letters, digits, dot, dash and underscore.'


def profile_names(profiles: str) -> tuple[str, ...]:
    """Return the names of the profiles kept in a folder, sorted; none where it cannot be read."""
    try:
        found = [entry.name for entry in Path(profiles).iterdir() if entry.is_dir()] if profiles else []
    except OSError:
        return ()
    return tuple(sorted(name for name in found if not name_problem(name)))


def profile_folder(profiles: str, name: str) -> Path:
    """Return the folder of a named profile, made where it is missing; raises UsageError for an unusable name."""
    if problem := name_problem(name):
        raise UsageError(problem)
    if not profiles:
        raise UsageError(f"There is no folder to keep the profile {name} in; use a clean profile.")
    folder = Path(profiles) / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"The profile {name} cannot be kept in {folder}: {error.strerror}.") from error
    return folder
