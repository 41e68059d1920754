"""Files and folders as candidates: of which kind each file is, and what is in it, once."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from core.exemplars.exchange.documents import READ, Document, is_pickle, read_document
from core.exemplars.exchange.imports import browsergym, mind2web, own, runs, step, synapse, webshop
from core.exemplars.exchange.plan import Fate, ImportPlan, PlannedEntry, ReadOptions
from core.exemplars.exchange.reading import Reading, content_of, place_of
from core.exemplars.files import free_id
from core.schema.errors import DataError, UsageError
from core.settings.file_kinds import PICKLE, kind_of_folder, kind_of_value
from core.settings.user_file import near


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
    return " and ".join(form.title for form in IMPORTS if form.name in formats)


def read_exemplars_of(paths: Sequence[Path], options: ReadOptions) -> ImportPlan:
    """Read files and folders, of the format that is asked for or of the one that each file shows.

    Returns what an import into an empty library would do: an exemplar that
    several of them have is read once. A file of a folder, or one of several,
    that cannot be read is a faulty entry. Raises UsageError for an unknown
    format, and DataError for the only file if it is of no known format, and for
    the only folder if it holds no file of one.
    """
    files = _Files(options)
    for path in paths:
        label = path.name if len(paths) > 1 else ""
        try:
            files.read_folder(path, label) if path.is_dir() else files.read_file(path, label)
        except DataError as error:
            if not label:
                raise
            files.report(label, "faulty", _why(error, path))
    formats = tuple(form.name for form in IMPORTS if form.name in files.formats)
    return ImportPlan(formats=formats, entries=tuple(_once(files.entries)))


class _Files:
    """Reads one file after another; a label is what stands before the places in it."""

    def __init__(self, options: ReadOptions) -> None:
        known = {form.name: form for form in IMPORTS}
        if options.form and options.form not in known:
            raise UsageError(f'There is no import form "{options.form}"; {near(options.form, tuple(known))}')
        self.formats: set[str] = set()
        self.entries: list[PlannedEntry] = []
        self._documents = 0
        self._options = options
        self._among = (known[options.form],) if options.form else IMPORTS
        self._what = known[options.form].title if options.form else "of a known kind"

    def read_file(self, path: Path, label: str) -> None:
        """Raises DataError for a file that cannot be read, or is of no known format."""
        document = read_document(path)
        if self._read(document, label):
            return
        titles = ", ".join(form.title for form in IMPORTS)
        if self._options.form:
            raise DataError(f"{path} is not {self._what}; export it again, or give its format with --format.")
        if kind := kind_of_value(document.lines[0].value if document.lines else document.value):
            raise DataError(kind.sentence(path, f"give one of these: {titles}"))
        hint = "export it again, or give its format with --format"
        if synapse.is_specifiers(document):
            hint = "these are specifiers: import the exemplars.json next to them"
        raise DataError(f"{path} is not {self._what} ({titles}); {hint}.")

    def read_folder(self, folder: Path, label: str) -> None:
        """Read every file of a folder, and the experiments of BrowserGym anywhere in it; raises DataError."""
        try:
            wanted = any(form.name == "browsergym" for form in self._among)
            experiments = browsergym.experiments(folder) if wanted else ()
            files = sorted(
                {file for file in folder.iterdir() if file.is_file() and folder not in experiments}
                | set(folder.rglob("*.toml"))
            )
        except OSError as error:
            raise DataError(f"{folder} cannot be read ({error.strerror}); check its permissions.") from error
        if len(files) > _MOST_FILES:
            raise DataError(
                f"{folder} contains {len(files)} files, but at most {_MOST_FILES} are read; split it."
            )
        start, documents = len(self.entries), self._documents
        for experiment in experiments:
            steps, inside = experiment / browsergym.STEPS, str(experiment.relative_to(folder))
            place = place_of(label, "" if experiment == folder else inside)
            if steps.is_file():
                self._read_inside(steps, place)
            else:
                position, why = browsergym.without_steps(experiment)
                self.report(place_of(place, position), "left out", why)
        for file in files:
            self._read_inside(file, place_of(label, str(file.relative_to(folder))))
        is_faulty = any(entry.fate == "faulty" for entry in self.entries[start:])
        if documents == self._documents and not experiments and not is_faulty:
            if kind := kind_of_folder(folder):
                raise DataError(kind.sentence(folder, ""))
            raise DataError(f"{folder} contains no file that is {self._what}.")

    def report(self, position: str, fate: Fate, why: str) -> None:
        self.entries.append(PlannedEntry(position=position, fate=fate, why=why))

    def _read_inside(self, file: Path, label: str) -> None:
        """Read a file of a folder; one of another kind is left out."""
        if is_pickle(file):
            self.report(label, "left out", f"it is {PICKLE.reason()}")
        elif file.suffix not in READ:
            self.report(label, "left out", "it is not JSON or TOML")
        else:
            try:
                document = read_document(file)
                if not self._read(document, label):
                    is_beside = synapse.is_specifiers(document)
                    why = (
                        "it is read with the exemplars next to it" if is_beside else "its format is not known"
                    )
                    self.report(label, "left out", why)
            except DataError as error:
                self.report(label, "faulty", _why(error, file))

    def _read(self, document: Document, label: str) -> bool:
        """Read a document; returns False for one of no known format."""
        chosen = next((form for form in self._among if form.recognises(document)), None)
        if chosen is None:
            return False
        beside = _beside(document.path)
        if beside is not None and beside.is_file():
            document = document.replace(beside=read_document(beside).value)
        reading = Reading(document, self._options, label)
        chosen.read(reading)
        self.formats.add(chosen.name)
        self._documents += 1
        file = str(document.path.absolute())
        self.entries += [entry.replace(file=file) for entry in reading.entries]
        return True


def _beside(path: Path) -> Path | None:
    """Return where the file that belongs to a file would be: Synapse's specifiers, BrowserGym's summary."""
    if path.name == browsergym.STEPS:
        return path.with_name(browsergym.SUMMARY)
    name = path.name.replace("exemplars", "specifiers")
    return path.with_name(name) if name != path.name else None


def _why(error: DataError, path: Path) -> str:
    return str(error).removeprefix(str(path)).lstrip(":, ").rstrip(".")


def _once(entries: Iterable[PlannedEntry]) -> Iterator[PlannedEntry]:
    """Give the entries, each exemplar once.

    The same again is left out. An id that the file gives to two is a fault
    of the second; one that was made up here gets a number.
    """
    contents: dict[str, str] = {}
    ids: dict[str, str] = {}
    for entry in entries:
        if entry.exemplar is None:
            yield entry
            continue
        id, content, position = entry.exemplar.id, content_of(entry.exemplar), entry.position
        if content in contents and (id in ids or not entry.has_own_id):
            yield PlannedEntry(
                position=position, fate="left out", why=f"it is the same as {contents[content]}"
            )
        elif entry.has_own_id and id in ids:
            yield PlannedEntry(position=position, fate="faulty", why=f"the id {id} is also at {ids[id]}")
        else:
            exemplar = entry.exemplar.replace(id=free_id(id, ids.__contains__))
            ids[exemplar.id] = position
            contents.setdefault(content, position)
            yield entry.replace(exemplar=exemplar)
