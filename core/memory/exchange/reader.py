"""Files and folders as candidates: of which kind each file is, and what is in it, once."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from core.memory.exchange.documents import READ, Document, is_pickle, read_document
from core.memory.exchange.imports import browsergym, mind2web, own, runs, step, synapse, webshop
from core.memory.exchange.plan import ReadOptions
from core.memory.exchange.reading import Candidate, Reading, content_of, free_id
from core.schema.errors import DataError, UsageError
from core.schema.record import Record
from core.settings.file_kinds import PICKLE, kind_of_folder, kind_of_value
from core.settings.user_file import near
from core.trace.imports.records import FileEntry


class ExemplarImportFormat(NamedTuple):
    """One kind of file."""

    name: str
    title: str
    recognises: Callable[[Document], bool]
    """Whether a document is of this kind, by its outermost fields."""
    read: Callable[[Reading], None]


IMPORTS: tuple[ExemplarImportFormat, ...] = (
    ExemplarImportFormat("jsonl", "exemplars of this program", own.is_own, own.read_own),
    ExemplarImportFormat("synapse", "a memory of Synapse", synapse.is_synapse, synapse.read_synapse),
    ExemplarImportFormat("step", "policies of SteP", step.is_step, step.read_step),
    ExemplarImportFormat("mind2web", "records of Mind2Web", mind2web.is_mind2web, mind2web.read_mind2web),
    ExemplarImportFormat("webshop", "WebShop sessions", webshop.is_webshop, webshop.read_webshop),
    ExemplarImportFormat(
        "chrome-recorder", "a Chrome DevTools recording", runs.is_recording, runs.read_recording
    ),
    ExemplarImportFormat("browser-use", "a browser-use history", runs.is_browser_use, runs.read_browser_use),
    ExemplarImportFormat(
        "browsergym", "a BrowserGym trace", browsergym.is_browsergym, browsergym.read_browsergym
    ),
)
_MOST_FILES = 20_000


def titles_of(formats: Collection[str]) -> str:
    """Return what files of these formats are, in words; empty if there are none."""
    return " and ".join(one.title for one in IMPORTS if one.name in formats)


class FoundExemplars(Record):
    """All that was read of files and folders."""

    formats: tuple[str, ...] = ()
    """The names of those that were met, in the order of the list."""
    candidates: tuple[Candidate, ...] = ()
    left_out: tuple[FileEntry, ...] = ()
    """Entries that are no exemplars, and are not meant to be."""
    faulty: tuple[FileEntry, ...] = ()
    """Entries that cannot be read; the others do not suffer."""


def read_exemplars_of(paths: Sequence[Path], options: ReadOptions) -> FoundExemplars:
    """Read files and folders, of the format that is asked for or of the one that each file shows.

    An exemplar that several of them have is read once. A file of a folder, or
    one of several, that cannot be read is a faulty entry. Raises UsageError for
    an unknown format, and DataError for the only file if it is of no known
    format, and for the only folder if it holds no file of one.
    """
    files = _Files(options)
    for path in paths:
        label = path.name if len(paths) > 1 else ""
        try:
            files.read_folder(path, label) if path.is_dir() else files.read_file(path, label)
        except DataError as error:
            if not label:
                raise
            files.fault(path, label, error)
    return files.found()


class _Files:
    """Reads one file after another; a label is what stands before the places in it."""

    def __init__(self, options: ReadOptions) -> None:
        known = {one.name: one for one in IMPORTS}
        if options.form and options.form not in known:
            raise UsageError(f'There is no import form "{options.form}"; {near(options.form, tuple(known))}')
        self._options = options
        self._among = (known[options.form],) if options.form else IMPORTS
        self._formats: set[str] = set()
        self._candidates: list[Candidate] = []
        self._left_out: list[FileEntry] = []
        self._faulty: list[FileEntry] = []

    def read_file(self, path: Path, label: str) -> None:
        """Raises DataError for a file that cannot be read, or is of no known format."""
        document = read_document(path)
        if self._read(document, label):
            return
        titles = ", ".join(one.title for one in IMPORTS)
        what = self._among[0].title if self._options.form else f"of a known kind ({titles})"
        value = document.lines[0].value if document.lines else document.value
        if not self._options.form and (kind := kind_of_value(value)):
            raise DataError(kind.sentence(path, f"give one of these: {titles}"))
        hint = " These are specifiers: import the exemplars.json next to them."
        raise DataError(
            f"{path} is not {what}; export it again, or give its format with --format."
            f"{hint if synapse.is_specifiers(document) else ''}"
        )

    def read_folder(self, folder: Path, label: str) -> None:
        """Read every file of a folder, and the experiments of BrowserGym anywhere in it; raises DataError."""
        try:
            wanted = any(one.name == "browsergym" for one in self._among)
            experiments = browsergym.experiments(folder) if wanted else ()
            files = sorted(one for one in folder.iterdir() if one.is_file() and folder not in experiments)
        except OSError as error:
            raise DataError(f"{folder} cannot be read ({error.strerror}); check its permissions.") from error
        if len(files) > _MOST_FILES:
            raise DataError(
                f"{folder} contains {len(files)} files, but at most {_MOST_FILES} are read; split it."
            )
        for experiment in experiments:
            inside = str(experiment.relative_to(folder)) if experiment != folder else ""
            steps, place = experiment / browsergym.STEPS, _place(label, inside)
            if steps.is_file():
                self._read_inside(steps, place)
            else:
                position, why = browsergym.without_steps(experiment)
                self._left_out.append(FileEntry(position=_place(place, position), why=why))
        for file in files:
            self._read_inside(file, _place(label, file.name))
        if not self._formats and not experiments and not self._faulty:
            if kind := kind_of_folder(folder):
                raise DataError(kind.sentence(folder, ""))
            what = self._among[0].title if self._options.form else "of a known kind"
            raise DataError(f"{folder} contains no file that is {what}.")

    def _read_inside(self, file: Path, label: str) -> None:
        """Read a file of a folder; one of another kind is left out."""
        why = ""
        if is_pickle(file):
            why = f"it is {PICKLE.reason()}"
        elif file.suffix not in READ:
            why = "it is not JSON"
        else:
            try:
                document = read_document(file)
                if not self._read(document, label):
                    is_beside = synapse.is_specifiers(document)
                    why = (
                        "it is read with the exemplars next to it" if is_beside else "its format is not known"
                    )
            except DataError as error:
                self.fault(file, label, error)
        if why:
            self._left_out.append(FileEntry(position=label, why=why))

    def fault(self, path: Path, label: str, error: DataError) -> None:
        why = str(error).removeprefix(str(path)).lstrip(":, ").rstrip(".")
        self._faulty.append(FileEntry(position=label, why=why))

    def _read(self, document: Document, label: str) -> bool:
        """Read a document; returns False for one of no known format."""
        chosen = next((one for one in self._among if one.recognises(document)), None)
        if chosen is None:
            return False
        beside = _beside(document.path)
        if beside is not None and beside.is_file():
            document = document.replace(beside=read_document(beside).value)
        reading = Reading(document, self._options)
        chosen.read(reading)
        self._formats.add(chosen.name)
        self._candidates += [one.replace(position=_place(label, one.position)) for one in reading.candidates]
        self._left_out += [one.replace(position=_place(label, one.position)) for one in reading.left_out]
        self._faulty += [one.replace(position=_place(label, one.position)) for one in reading.faulty]
        return True

    def found(self) -> FoundExemplars:
        """Return all of it, each exemplar once.

        The same again is left out. An id that the file gives to two is a fault
        of the second; one that was made up here gets a number.
        """
        kept: list[Candidate] = []
        contents: dict[str, str] = {}
        ids: dict[str, str] = {}
        for candidate in self._candidates:
            exemplar, position = candidate.exemplar, candidate.position
            content, is_new = content_of(exemplar), exemplar.id not in ids
            if content in contents and not (candidate.has_own_id and is_new):
                why = f"it is the same as {contents[content]}"
                self._left_out.append(FileEntry(position=position, why=why))
            elif candidate.has_own_id and not is_new:
                why = f"the id {exemplar.id} is also at {ids[exemplar.id]}"
                self._faulty.append(FileEntry(position=position, why=why))
            else:
                exemplar = exemplar.replace(id=free_id(exemplar.id, ids))
                ids[exemplar.id] = position
                contents.setdefault(content, position)
                kept.append(candidate.replace(exemplar=exemplar))
        return FoundExemplars(
            formats=tuple(one.name for one in IMPORTS if one.name in self._formats),
            candidates=tuple(kept),
            left_out=tuple(self._left_out),
            faulty=tuple(self._faulty),
        )


def _place(*parts: str) -> str:
    return ": ".join(dict.fromkeys(part for part in parts if part))


def _beside(path: Path) -> Path | None:
    """Return where the file that belongs to a file would be: Synapse's specifiers, BrowserGym's summary."""
    if path.name == browsergym.STEPS:
        return path.with_name(browsergym.SUMMARY)
    name = path.name.replace("exemplars", "specifiers")
    return path.with_name(name) if name != path.name else None
