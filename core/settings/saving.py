"""Writes changes to the settings file and keeps everything else that a person wrote in it."""

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.schema.errors import DataError
from core.settings.settings import FileSettings, read_settings_file, settings_path
from core.settings.user_file import UserFile

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

KeyPath = str | tuple[str, ...]
"""A key of the file: ``theme``, ``llms.fast.model``, or a tuple where a part has a dot in it."""


def save_settings(changes: Mapping[KeyPath, object], *, environ: Mapping[str, str] = os.environ) -> Path:
    """Write `changes` into the settings file and return its path.

    None takes a key out, so that its default holds. Comments, order and
    everything else in the file stay as they are. The file is replaced whole
    or not at all. Raises DataError if the file or a change is not valid,
    or the folder cannot be written; the file is then as it was.
    """
    import tomlkit  # Loading it takes a while, which starting the program need not wait for.

    path = settings_path(environ)
    file = UserFile.read(path) if path.exists() else UserFile(path, "")
    file.content()
    document = tomlkit.parse(file.text)
    for key, value in changes.items():
        _set(document, key.split(".") if isinstance(key, str) else list(key), value)
    changed = UserFile(path, tomlkit.dumps(document))
    changed.validated(FileSettings)
    if changed != file:
        write_whole(path, changed.text)
    return path


def remember_profile(name: str, *, environ: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Add a profile to those that the embedded browser may open, and return them all; raises DataError."""
    allowed = tuple(dict.fromkeys((*read_settings_file(environ).embedded_profiles, name)))
    save_settings({"embedded_profiles": allowed}, environ=environ)
    return allowed


def write_whole(path: Path, text: str) -> None:
    """Replace the file at `path`, or what a link there points to, in one move; raises DataError."""
    target = Path(os.path.realpath(path))
    temporary = ""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(temporary, target.stat().st_mode & 0o777)
        os.replace(temporary, target)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise DataError(
            f"{path} cannot be written ({error.strerror or error}); make its folder writable, "
            "or name another with BACKSTEP_CONFIG_DIR or BACKSTEP_DATA_DIR."
        ) from error


def _set(document: "TOMLDocument", parts: list[str], value: object) -> None:
    import tomlkit
    from tomlkit.items import AbstractTable, InlineTable

    table: Any = document
    for part in parts[:-1]:
        if not isinstance(table.get(part), (AbstractTable, dict)):
            if value is None:
                return
            is_inline = isinstance(table, InlineTable)  # It holds no other tables.
            is_super_table = part in ("llms", "purposes")
            table[part] = tomlkit.inline_table() if is_inline else tomlkit.table(is_super_table)
        table = table[part]
    if value is None:
        table.pop(parts[-1], None)
    elif isinstance(value, list | tuple):
        _set_list(table, parts[-1], [str(one) if isinstance(one, Path) else one for one in value])
    else:
        table[parts[-1]] = str(value) if isinstance(value, Path) else value


def _set_list(table: Any, key: str, values: list[object]) -> None:
    """Put `values` into a list, in whose lines comments stay; what is new comes last."""
    import tomlkit
    from tomlkit.items import Array

    held = table.get(key)
    if not isinstance(held, Array):
        held = tomlkit.array()
        held.multiline(True)
        table[key] = held
        held = table[key]
    for gone in [one for one in held if one not in values]:
        held.remove(gone)
    for value in values:
        if value not in held:
            held.append(value)
