"""Writes changes to the settings file and keeps everything else that a person wrote in it."""

import codecs
import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.schema.errors import DataError
from core.settings.settings import FileSettings, read_settings_file, settings_path
from core.settings.user_file import UserFile, read_bytes, read_text

KeyPath = str | tuple[str, ...]
"""A key of the file: ``theme``, ``llms.fast.model``, or a tuple where a part has a dot in it."""


def save_settings(changes: Mapping[KeyPath, object], *, environ: Mapping[str, str] = os.environ) -> Path:
    """Write `changes` into the settings file and return its path.

    None takes a key out, so that its default holds. Comments, order and
    everything else in the file stay as they are. The file is replaced whole
    or not at all. Raises DataError if the file or a change is not valid,
    or the folder cannot be written; the file is then as it was.
    """
    path = settings_path(environ)
    file = UserFile(path, read_text(path, line_ends=True) if path.exists() else "")
    wanted = file.content()
    _set_all(wanted, changes)
    changed = next((text for text in _ways_to_write(file, changes) if _says(text, wanted)), None)
    if changed is None:
        raise DataError(
            f"{path} cannot be changed without changing other settings in it; write its tables with headers such as "
            "[llms.NAME] at its end, or change it by hand."
        )
    changed.validated(FileSettings)
    if changed != file:
        marked = path.exists() and read_bytes(path).startswith(codecs.BOM_UTF8)
        write_whole(path, f"\ufeff{changed.text}" if marked else changed.text)
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


def _ways_to_write(file: UserFile, changes: Mapping[KeyPath, object]) -> Iterator[UserFile]:
    """Yield the file with the changes: new tables have headers, and then they are inline.

    Below a dotted key a header would take in the keys that follow it.
    """
    import tomlkit  # Loading it takes a while, which starting the program need not wait for.

    for inline in (False, True):
        document = tomlkit.parse(file.text)
        _set_all(document, changes, inline=inline)
        yield UserFile(file.path, tomlkit.dumps(document))


def _says(file: UserFile, wanted: Mapping[str, Any]) -> bool:
    try:
        return _filled(file.content()) == _filled(wanted)
    except DataError:
        return False


def _filled(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table without those in it that are empty: a dotted key cannot say that there is one."""
    inner = {key: _filled(value) if isinstance(value, dict) else value for key, value in table.items()}
    return {key: value for key, value in inner.items() if value != {}}


def _set_all(document: dict[str, Any], changes: Mapping[KeyPath, object], *, inline: bool = False) -> None:
    for key, value in changes.items():
        _set(document, key.split(".") if isinstance(key, str) else list(key), value, inline)


def _set(document: dict[str, Any], parts: list[str], value: object, inline: bool) -> None:
    import tomlkit
    from tomlkit.items import InlineTable

    table: Any = document
    for part in parts[:-1]:
        if not isinstance(table.get(part), dict):
            if value is None:
                return
            is_inline = inline or isinstance(table, InlineTable)  # It holds no other tables.
            is_super_table = part in ("llms", "purposes")
            table[part] = tomlkit.inline_table() if is_inline else tomlkit.table(is_super_table)
        table = table[part]
    if value is None:
        table.pop(parts[-1], None)
    elif isinstance(value, list | tuple):
        _set_list(table, parts[-1], [str(one) if isinstance(one, Path) else one for one in value])
    elif isinstance(value, dict) and inline:
        table[parts[-1]] = tomlkit.inline_table()
        table[parts[-1]].update(value)
    else:
        table[parts[-1]] = str(value) if isinstance(value, Path) else value


def _set_list(table: Any, key: str, values: list[object]) -> None:
    """Put `values` into a list, in whose lines comments stay; what is new comes last."""
    import tomlkit

    held = table.get(key)
    if not isinstance(held, list):
        held = tomlkit.array()
        held.multiline(True)
        table[key] = held
        held = table[key]
    for gone in [one for one in held if one not in values]:
        held.remove(gone)
    for value in values:
        if value not in held:
            held.append(value)
