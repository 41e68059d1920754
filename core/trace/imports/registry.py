"""The import formats of runs, one line each, and how a file is read."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from core.schema.errors import DataError, UsageError
from core.settings.file_kinds import kind_of_value
from core.settings.user_file import MOST_LINES_BYTES, beyond_bounds, near, not_json, read_text
from core.setup.plugins import Plugins, expect, guarded, load_plugins
from core.trace.imports.browser_use import is_browser_use_history, read_browser_use_history
from core.trace.imports.chrome_recorder import is_chrome_recording, read_chrome_recording
from core.trace.imports.records import ImportedRun, check_steps


class ImportFormat(NamedTuple):
    """One kind of file."""

    name: str
    title: str
    is_one: Callable[[object], bool]
    """Whether a JSON document is of this kind, by its outermost fields."""
    read: Callable[[dict[str, Any]], ImportedRun]


FORMATS: tuple[ImportFormat, ...] = (
    ImportFormat(
        "chrome-recorder", "a Chrome DevTools recording", is_chrome_recording, read_chrome_recording
    ),
    ImportFormat("browser-use", "a browser-use history", is_browser_use_history, read_browser_use_history),
)


@cache
def import_plugins() -> Plugins[ImportFormat]:
    """Return the formats that packages add."""
    return load_plugins("importers", [form.name for form in FORMATS], _guarded_format)


def _guarded_format(name: str, thing: Any) -> ImportFormat:
    form = expect(ImportFormat, name, thing, "name")

    def is_one(document: object) -> bool:
        try:
            return bool(form.is_one(document))
        except Exception:  # A document of any other kind must not keep that from being read.
            return False

    def read(document: dict[str, Any]) -> ImportedRun:
        with guarded(name):
            return form.read(document)

    return form._replace(is_one=is_one, read=read)


def read_file(path: Path, form: str = "") -> tuple[ImportFormat, ImportedRun]:
    """Return the kind of the file, recognised by what is in it unless `form` says it, and its run.

    Raises UsageError for an unknown kind, and DataError for a file that is
    not of it or contains no action; single entries that are faulty are listed
    in the run.
    """
    plugins = import_plugins()
    formats = (*FORMATS, *plugins.things.values())
    names = tuple(one.name for one in formats)
    if form and form not in names:
        raise UsageError(
            plugins.problems.get(form) or f'There is no import form "{form}"; {near(form, names)}'
        )
    titles = " or ".join(one.title for one in formats)
    wanted = f"give {titles}, or a repro file"
    document = _document(path, wanted)
    chosen = next((one for one in formats if one.name == form or (not form and one.is_one(document))), None)
    if chosen is None or not chosen.is_one(document):
        if chosen is None and (kind := kind_of_value(document)):
            raise DataError(kind.sentence(path, wanted))
        raise DataError(
            f"{path} is not {chosen.title if chosen else titles}: a recording has a list of steps, a history "
            "a list named history; export it again as JSON."
        )
    assert isinstance(document, dict)
    imported = chosen.read(document)
    if not imported.faulty:
        check_steps(path, imported)
    return chosen, imported


def _document(path: Path, otherwise: str) -> object:
    text = read_text(path, most=MOST_LINES_BYTES, otherwise=otherwise)
    try:
        document: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise not_json(path, text, error, "export it again", otherwise) from error
    except RecursionError as error:
        raise DataError(f"{path} is nested too deeply; export it again.") from error
    except ValueError as error:
        raise DataError(f"{path} contains a number that is too long; export it again.") from error
    if too_much := beyond_bounds(document):
        raise DataError(f"{path} cannot be read: {too_much}; export it again.")
    return document
