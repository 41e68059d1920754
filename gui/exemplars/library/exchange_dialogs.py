"""The dialogs that import and export exemplars."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QWidget,
)

from core.debugger.exemplars.formats import EXPORTS, export_format
from core.debugger.exemplars.library.views import SHOWN, ImportView, LibraryJob
from core.exemplars.exchange.plan import FATES, ImportChoices, ImportPlan, PlannedEntry
from core.exemplars.exchange.reader import IMPORTS, titles_of
from core.schema.formats import count, thousands
from core.system.paths import expanded
from gui.exemplars.library.outcomes import JobRow
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import titled_box
from gui.widgets.layouts import in_column, in_row, on_panel
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, labelled

_CHOOSE = (
    "Choose files or a folder: Backstep's exemplars, a memory of Synapse, policies of SteP, records of "
    "Mind2Web, WebShop sessions, BrowserGym traces, browser-use histories or Chrome recordings. What an "
    "import would do is shown here first. Nothing in the files is run."
)
_READING = "Reading the files…"
_TONES = {"faulty": "bad", "id taken": "remedy", "new": "good", "new version": "good", "merged": "good"}
_TAKEN = (
    ("Leave it out", "leave"),
    ("Import it with a new id", "new id"),
    ("Import it as a new version of the existing one", "new version"),
)


class ImportDialog(QDialog):
    """Shows `ImportView`; requests go out only as signals, each with `ImportChoices`."""

    read_requested = Signal(object)
    plan_requested = Signal(object)
    """For files that were already read."""
    import_requested = Signal(object)
    cancel_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Import exemplars")
        theme.size_window(self, 880, 620)
        self._paths: tuple[str, ...] = ()
        self._view = ImportView()
        self._job = LibraryJob()
        self.place = ElidedLabel("No file is chosen yet.", self, mode=Qt.TextElideMode.ElideMiddle)
        self.files_button = key_button(
            "Choose files…", "Choose one or more files", "Alt+B", self._on_files, self
        )
        self.folder_button = key_button(
            "Choose a folder…", "Import every file in a folder", "Alt+O", self._on_folder, self
        )
        forms = [("Recognised by content", ""), *((one.title, one.name) for one in IMPORTS)]
        self.form = titled_box(forms, "Kind", "The format of the files", self)
        self.family = QLineEdit(self, placeholderText="Their own")
        labelled(self.family, "Family", "The family for all of them, instead of their own")
        self.reward = QDoubleSpinBox(self, minimum=-1000, maximum=1000, singleStep=0.1, value=1.0)
        labelled(self.reward, "Least reward", "The lowest reward of a judged trajectory to import")
        self.leave_faulty = QCheckBox("Skip entries with errors", self)
        self.leave_faulty.setChecked(True)
        self.leave_faulty.setToolTip("If this is off, nothing is imported if any entry has an error")
        fate = "What to do with an entry whose id is already taken"
        self.taken = titled_box(_TAKEN, "An id that is taken", fate, self)
        for changed in (
            self.form.currentIndexChanged,
            self.family.editingFinished,
            self.reward.editingFinished,
            self.leave_faulty.toggled,
            self.taken.currentIndexChanged,
        ):
            changed.connect(self._on_choice)
        self.facts = ElidedLabel("", self)
        self.facts.setFont(theme.text_font(bold=True))
        columns = tuple(map(Column, ("Entry", "Fate", "Family", "Id", "Why")))
        self.table = PlainTable(theme, "Entries of the files", columns)
        self.or_words = OrWords(self.table, self)
        on_panel(self.or_words)
        self.problem = NoteLabel("bad", parent=self)
        self.work = JobRow(self.cancel_requested.emit, self)
        self.import_button = key_button(
            "Import", "Import everything new", "Ctrl+Return", self._on_import, self, accent=True
        )
        close = key_button("Close", "Close this window", "Esc", self.reject, self)
        in_column(
            self,
            in_row(None, self.files_button, self.folder_button, (self.place, 1)),
            in_row(None, *((_with_name(field), 1) for field in (self.form, self.family, self.reward))),
            self.facts,
            (self.or_words, 1),
            in_row(None, self.leave_faulty, 1, _with_name(self.taken)),
            self.problem,
            in_row(None, (self.work, 1), 0, close, self.import_button),
            margins=(12, 12, 12, 12),
            spacing=8,
        )
        self.show_view(ImportView())

    @property
    def choices(self) -> ImportChoices:
        return ImportChoices(
            paths=self._paths,
            form=self.form.currentData(),
            family=self.family.text().strip(),
            least_reward=self.reward.value(),
            leave_faulty=self.leave_faulty.isChecked(),
            taken=self.taken.currentData(),
        )

    def choose(self, *paths: str) -> None:
        """Read these files."""
        if paths:
            self._paths = paths
            more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
            self.place.setText(f"{paths[0]}{more}")
            self.read_requested.emit(self.choices)

    @Slot(object)
    def show_view(self, view: ImportView) -> None:
        """Replace what is shown."""
        if view.done:
            self.accept()
            return
        self._view, plan = view, view.plan or ImportPlan()
        words = "" if plan.entries else "The files contain no exemplars."
        if view.plan is None:
            words = (view.problem or _READING) if self._paths else _CHOOSE
        self.or_words.say(words)
        hint = " Correct it, or tick the box to leave out faulty entries." if plan.exemplars else ""
        self.problem.show_text(f"{plan.problem}.{hint}" if plan.problem else "")
        listed = sorted(plan.entries, key=lambda entry: FATES.index(entry.fate))[:SHOWN]
        self.table.show_lines(map(_line, listed))
        kinds = titles_of(plan.formats) or "unknown format"
        counts = ", ".join(f"{thousands(number)} {fate}" for fate, number in plan.counts.items())
        cut = len(plan.entries) - len(listed)
        more = f" ({count(cut, 'entry is', 'entries are')} not listed)" if cut else ""
        self.facts.setText(f"{kinds[:1].upper()}{kinds[1:]}: {counts}{more}" if view.plan else "")
        coming = len(plan.coming)
        self.import_button.setText(f"Import {thousands(coming)}" if coming else "Import")
        self.show_job(self._job)

    @Slot(object)
    def show_job(self, job: LibraryJob) -> None:
        self._job = job
        self.work.show_job(job if job.importing else LibraryJob())
        plan = self._view.plan
        self.import_button.setEnabled(plan is not None and plan.is_possible and not self._busy)
        for widget in (self.files_button, self.folder_button, self.form, self.family, self.reward):
            widget.setEnabled(not self._busy)

    def reject(self) -> None:
        if self._busy:
            self.cancel_requested.emit()
        super().reject()

    @property
    def _busy(self) -> bool:
        return self._job.busy and self._job.importing

    def _on_files(self) -> None:
        paths, _ = QFileDialog.getOpenFileNames(
            self, "Import exemplars", "", "Exemplars (*.json *.jsonl *.ndjson *.py);;All files (*)"
        )
        self.choose(*paths)

    def _on_folder(self) -> None:
        self.choose(*filter(None, [QFileDialog.getExistingDirectory(self, "Import exemplars of a folder")]))

    def _on_choice(self) -> None:
        """Read the files again if they are to be read differently; without that, plan again."""
        if self._paths and self._view.choices.reading != self.choices.reading:
            self.read_requested.emit(self.choices)
        elif self._view.plan is not None and not self._busy:
            self.plan_requested.emit(self.choices)

    def _on_import(self) -> None:
        if self.import_button.isEnabled():
            self.import_requested.emit(self.choices)


def _line(entry: PlannedEntry) -> TableLine:
    why = entry.why or " ".join(entry.remarks)
    family, id = (entry.exemplar.family, entry.exemplar.id) if entry.exemplar else ("", "")
    return TableLine(
        (entry.position, entry.fate, family, id, why),
        tone=_TONES.get(entry.fate, "dim"),
        tooltip=f"{entry.position}: {entry.fate}. {why}".strip(),
    )


def _with_name(field: QWidget) -> QFormLayout:
    """Return a field with its name before it."""
    form = QFormLayout()
    form.addRow(field.accessibleName(), field)
    return form


class ExportDialog(QDialog):
    """Reports the choices; the file is written in the background."""

    chosen = Signal(bool, str, str, bool)
    """Whether to export everything found and not the selection, the format, the path, and whether new ones, too."""

    def __init__(self, *, selected: int, found: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export exemplars")
        self.setMinimumWidth(520)
        self.which = titled_box((), "Which exemplars", parent=self)
        if selected:
            self.which.addItem(f"The {count(selected, 'selected exemplar')}", False)
        self.which.addItem(f"All {count(found, 'exemplar')} that match the filters", True)
        if selected == 1 and found > 1:
            self.which.setCurrentIndex(1)
        self.with_new = QCheckBox("Also those that nobody has reviewed", self)
        self.form = titled_box(((one.title, one.name) for one in EXPORTS), "Form", parent=self)
        self.form.currentIndexChanged.connect(self._refresh)
        self.words = NoteLabel("dim", parent=self)
        self.path = labelled(QLineEdit(self), "Where to")
        self.path.textChanged.connect(self._refresh)
        browse = key_button("Choose…", "Choose where to write it", "Alt+B", self._on_browse, self)
        place = in_row(None, (self.path, 1), browse)
        form = QFormLayout()
        form.addRow("Which", self.which)
        form.addRow("", self.with_new)
        form.addRow("Form", self.form)
        form.addRow("", self.words)
        form.addRow("Where to", place)
        cancel = key_button("Cancel", "Close this window", "Esc", self.reject, self)
        self.export_button = key_button(
            "Export", "Write it in the background", "", self._on_export, self, accent=True
        )
        self.export_button.setDefault(True)
        foot = in_row(None, 1, cancel, self.export_button)
        in_column(self, form, 1, foot, margins=(12, 12, 12, 12), spacing=8)
        self.path.setFocus()
        self._refresh()

    def _refresh(self) -> None:
        form = export_format(self.form.currentData())
        self.words.show_text(form.told)
        suffix = form.suffix
        self.path.setPlaceholderText(f"A file, such as exemplars{suffix}" if suffix else "A folder")
        self.export_button.setEnabled(bool(self.path.text().strip()))

    def _on_browse(self) -> None:
        if suffix := export_format(self.form.currentData()).suffix:
            kind = f"{self.form.currentText()} (*{suffix})"
            name = f"exemplars{suffix}"
            path, _ = QFileDialog.getSaveFileName(self, "Export exemplars", name, kind)
        else:
            path = QFileDialog.getExistingDirectory(self, "Export exemplars into a folder")
        if path:
            self.path.setText(path)

    def _on_export(self) -> None:
        if self.export_button.isEnabled():
            path = str(expanded(self.path.text().strip()))
            self.chosen.emit(
                self.which.currentData(), self.form.currentData(), path, self.with_new.isChecked()
            )
            self.accept()
