"""A file or a folder as candidates: of which kind each file is, and what is in it, once."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from core.memory.exchange.imports.browsergym import (
    STEPS,
    SUMMARY,
    is_browsergym,
    is_experiment,
    open_experiments,
    read_browsergym,
    read_experiment,
)
from core.memory.exchange.imports.mind2web import is_mind2web, read_mind2web
from core.memory.exchange.imports.own import is_own, read_own
from core.memory.exchange.imports.runs import is_browser_use, is_recording, read_browser_use, read_recording
from core.memory.exchange.imports.step import is_step, read_step
from core.memory.exchange.imports.synapse import is_specifiers, is_synapse, read_synapse
from core.memory.exchange.imports.webshop import is_webshop, read_webshop
from core.memory.exchange.records import (
    Candidate,
    Document,
    Reading,
    ReadOptions,
    content_of,
    free_id,
    half_character,
    is_pickle,
    read_document,
)
from core.schema.errors import DataError, UsageError
from core.schema.record import Record
from core.settings.file_kinds import PICKLE, kind_of_folder, kind_of_value
from core.settings.user_file import near
from core.trace.imports.records import FileEntry


class ExemplarImportFormat(NamedTuple):
    """One kind of file."""

    name: str
    title: str
    is_one: Callable[[Document], bool]
    """Whether a document is of this kind, by its outermost fields."""
    read: Callable[[Document, Document | None, ReadOptions], Reading]
    """Takes the document, and the one that belongs to it if there is one."""


IMPORTS: tuple[ExemplarImportFormat, ...] = (
    ExemplarImportFormat("jsonl", "exemplars of this program", is_own, read_own),
    ExemplarImportFormat("synapse", "a memory of Synapse", is_synapse, read_synapse),
    ExemplarImportFormat("step", "policies of SteP", is_step, read_step),
    ExemplarImportFormat("mind2web", "records of Mind2Web", is_mind2web, read_mind2web),
    ExemplarImportFormat("webshop", "WebShop sessions", is_webshop, read_webshop),
    ExemplarImportFormat("chrome-recorder", "a Chrome DevTools recording", is_recording, read_recording),
    ExemplarImportFormat("browser-use", "a browser-use history", is_browser_use, read_browser_use),
    ExemplarImportFormat("browsergym", "a BrowserGym trace", is_browsergym, read_browsergym),
)


def import_format(name: str) -> ExemplarImportFormat:
    """Return the format of that name; raises UsageError that names the nearest one."""
    known = {one.name: one for one in IMPORTS}
    if name not in known:
        raise UsageError(f'There is no import form "{name}"; {near(name, tuple(known))}')
    return known[name]


_READ = (".json", ".jsonl", ".ndjson", ".py")
_MOST_FILES = 20_000


class FoundExemplars(Record):
    """What a file or folder holds."""

    formats: tuple[str, ...]
    """The names of the formats that were met, in the order of the list."""
    reading: Reading


def read_exemplars_of(path: Path, form: str, options: ReadOptions) -> FoundExemplars:
    """Read a file or every file of a folder, of the format `form` or of the one recognised by what is in it.

    Raises UsageError for an unknown format, and DataError for a file that is
    of none and for a folder that holds no file of one; inside a folder, a file
    that cannot be read is a faulty entry.
    """
    wanted = import_format(form) if form else None
    if path.is_dir():
        found = _folder(path, wanted, options)
    else:
        document = read_document(path)
        chosen = _chosen(document, wanted)
        if chosen is None:
            titles = ", ".join(one.title for one in IMPORTS)
            value = document.value if not document.lines else document.lines[0].value
            if wanted is None and (kind := kind_of_value(value)):
                raise DataError(kind.sentence(path, f"give one of these: {titles}"))
            what = wanted.title if wanted else f"of a known kind ({titles})"
            hint = (
                " These are specifiers: import the exemplars.json next to them."
                if is_specifiers(document)
                else ""
            )
            raise DataError(f"{path} is not {what}; export it again, or give its format with --format.{hint}")
        found = FoundExemplars(
            formats=(chosen.name,), reading=chosen.read(document, _beside(document), options)
        )
    return found.replace(reading=_once(found.reading))


def read_several(paths: Sequence[Path], form: str, options: ReadOptions) -> FoundExemplars:
    """Read files and folders as one: an exemplar that several of them have is read once.

    A file of several that cannot be read is a faulty entry; one that is alone
    raises as `read_exemplars_of` does.
    """
    if len(paths) == 1:
        return read_exemplars_of(paths[0], form, options)
    formats: set[str] = set()
    readings: list[Reading] = []
    for path in paths:
        try:
            found = read_exemplars_of(path, form, options)
        except DataError as error:
            why = str(error).removeprefix(str(path)).lstrip(":, ").rstrip(".")
            readings.append(Reading(faulty=(FileEntry(position=path.name, why=why),)))
            continue
        formats |= set(found.formats)
        readings.append(_under(path.name, found.reading))
    return FoundExemplars(
        formats=tuple(one.name for one in IMPORTS if one.name in formats),
        reading=_once(_joined(readings)),
    )


def _joined(readings: Sequence[Reading]) -> Reading:
    return Reading(
        candidates=tuple(one for reading in readings for one in reading.candidates),
        left_out=tuple(one for reading in readings for one in reading.left_out),
        faulty=tuple(one for reading in readings for one in reading.faulty),
    )


def _chosen(document: Document, wanted: ExemplarImportFormat | None) -> ExemplarImportFormat | None:
    among = (wanted,) if wanted else IMPORTS
    return next((one for one in among if one.is_one(document)), None)


def _beside(document: Document) -> Document | None:
    """Return the file that belongs to a document: Synapse's specifiers, BrowserGym's summary."""
    name = document.path.name
    other = SUMMARY if name == STEPS else name.replace("exemplars", "specifiers")
    place = document.path.with_name(other)
    return read_document(place) if other != name and place.is_file() else None


def _folder(path: Path, wanted: ExemplarImportFormat | None, options: ReadOptions) -> FoundExemplars:
    readings: list[Reading] = []
    formats: set[str] = set()
    experiments = open_experiments(path) if wanted is None or wanted.name == "browsergym" else ()
    for folder in experiments:
        label = str(folder.relative_to(path)) if folder != path else ""
        try:
            readings.append(_under(label, read_experiment(folder, options)))
            formats.add("browsergym")
        except DataError as error:
            readings.append(
                Reading(faulty=(FileEntry(position=label or path.name, why=str(error).rstrip(".")),))
            )
    if not is_experiment(path):
        for file in _files(path):
            reading, name = _file(file, wanted, options)
            readings.append(_under(file.name, reading))
            formats |= {name} if name else set()
    if not formats and (kind := kind_of_folder(path)):
        raise DataError(kind.sentence(path, ""))
    if not formats and not any(one.faulty for one in readings):
        raise DataError(f"{path} contains no file that is {wanted.title if wanted else 'of a known kind'}.")
    return FoundExemplars(
        formats=tuple(one.name for one in IMPORTS if one.name in formats),
        reading=_joined(readings),
    )


def _files(path: Path) -> list[Path]:
    try:
        found = sorted(one for one in path.iterdir() if one.is_file())
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); check its permissions.") from error
    if len(found) > _MOST_FILES:
        raise DataError(f"{path} contains {len(found)} files, but at most {_MOST_FILES} are read; split it.")
    return found


def _file(file: Path, wanted: ExemplarImportFormat | None, options: ReadOptions) -> tuple[Reading, str]:
    """Return what is in a file of a folder, and the name of its format, or nothing."""
    if is_pickle(file):
        return Reading(left_out=(FileEntry(position="", why=f"it is {PICKLE.reason()}"),)), ""
    if file.suffix not in _READ:
        return Reading(left_out=(FileEntry(position="", why="it is not JSON"),)), ""
    try:
        document = read_document(file)
        chosen = _chosen(document, wanted)
        if chosen is not None:
            return chosen.read(document, _beside(document), options), chosen.name
    except DataError as error:
        why = str(error).removeprefix(str(file)).lstrip(":, ").rstrip(".")
        return Reading(faulty=(FileEntry(position="", why=why),)), ""
    why = "it is read with the exemplars next to it" if is_specifiers(document) else "its format is not known"
    return Reading(left_out=(FileEntry(position="", why=why),)), ""


def _under(label: str, reading: Reading) -> Reading:
    """Return the reading with the file's name before each place."""

    def place(position: str) -> str:
        return ": ".join(dict.fromkeys(part for part in (label, position) if part))

    def entries(some: Iterable[FileEntry]) -> tuple[FileEntry, ...]:
        return tuple(FileEntry(position=place(one.position), why=one.why) for one in some)

    return Reading(
        candidates=tuple(one.replace(position=place(one.position)) for one in reading.candidates),
        left_out=entries(reading.left_out),
        faulty=entries(reading.faulty),
    )


def _once(reading: Reading) -> Reading:
    """Return the reading with each exemplar once.

    The same again is left out. An id that the file gives to two is a fault of
    the second; one that was made up here gets a number.
    """
    kept: list[Candidate] = []
    left_out, faulty = list(reading.left_out), list(reading.faulty)
    contents: dict[str, Candidate] = {}
    ids: dict[str, Candidate] = {}
    for one in reading.candidates:
        if half := half_character(one.exemplar):
            why = f"{half} contains half a character (a surrogate)"
            faulty.append(FileEntry(position=one.position, why=why))
            continue
        same = contents.get(content_of(one.exemplar))
        if same is not None and not (one.has_own_id and one.exemplar.id not in ids):
            left_out.append(FileEntry(position=one.position, why=f"it is the same as {same.position}"))
            continue
        if one.exemplar.id in ids:
            if one.has_own_id:
                first = ids[one.exemplar.id].position
                faulty.append(
                    FileEntry(position=one.position, why=f"the id {one.exemplar.id} is also at {first}")
                )
                continue
            new = free_id(one.exemplar.id, set(ids))
            one = one.replace(exemplar=one.exemplar.replace(id=new))
        kept.append(one)
        ids[one.exemplar.id] = one
        contents.setdefault(content_of(one.exemplar), one)
    return Reading(candidates=tuple(kept), left_out=tuple(left_out), faulty=tuple(faulty))
