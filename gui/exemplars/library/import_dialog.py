"""Importing exemplars: what the files hold is shown first, then all of it is kept or nothing."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QWidget,
)

from core.debugger.exemplars.library.views import ImportChoices, ImportView, LibraryJob
from core.memory.exchange.reader import IMPORTS
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.formats import count, thousands
from gui.widgets.layouts import in_column, in_row, on_panel
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, set_flag, set_tone

_CHOOSE = (
    "Choose files or a folder: exemplars of this program, a memory of Synapse, policies of SteP, records of "
    "Mind2Web, WebShop sessions, BrowserGym traces, browser-use histories or Chrome recordings. First what an "
    "import would do is shown here; nothing in the files is run."
)
_READING = "The files are being read…"
_TONES = {"faulty": "bad", "id taken": "remedy", "new": "good", "new version": "good"}
_TAKEN = (
    ("Leave it out", "leave"),
    ("Keep it under a new id", "new id"),
    ("Keep it as a new version of the one that is there", "new version"),
)


class ImportDialog(QDialog):
    """Shows `ImportView`; asks for things only by emitting."""

    read_requested = Signal(object)
    """What is `ImportChoices`."""
    plan_requested = Signal(object)
    """What is `ImportChoices`, for files that were read already."""
    import_requested = Signal(object)
    """What is `ImportChoices`."""
    cancel_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Import exemplars")
        self.resize(880, 620)
        self._paths: tuple[str, ...] = ()
        self._view = ImportView()
        self._job = LibraryJob()
        self.place = ElidedLabel("No file is chosen yet.", self, mode=Qt.TextElideMode.ElideMiddle)
        self.files_button = key_button(
            "Choose files…", "Choose one file or several", "Alt+B", self._on_files, self
        )
        self.folder_button = key_button(
            "Choose a folder…", "Take every file of a folder", "Alt+O", self._on_folder, self
        )
        self.form = QComboBox(self)
        self.form.addItem("As each file tells", "")
        for one in IMPORTS:
            self.form.addItem(one.title, one.name)
        self.form.setToolTip("Of which kind the files are")
        self.family = QLineEdit(self)
        self.family.setPlaceholderText("Their own")
        self.family.setToolTip("Given to all of them, in place of their own")
        self.reward = QDoubleSpinBox(self)
        self.reward.setRange(-1000, 1000)
        self.reward.setSingleStep(0.1)
        self.reward.setValue(1.0)
        self.reward.setToolTip("What a trajectory that was judged must have got; others are left out")
        self.form.currentIndexChanged.connect(self._on_reading_changed)
        self.family.editingFinished.connect(self._on_reading_changed)
        self.reward.editingFinished.connect(self._on_reading_changed)
        self.leave_faulty = QCheckBox("Leave out what is faulty, and import the rest", self)
        self.leave_faulty.setChecked(True)
        self.leave_faulty.setToolTip("Without it nothing is imported where an entry is faulty")
        self.taken = QComboBox(self)
        for title, name in _TAKEN:
            self.taken.addItem(title, name)
        self.taken.setToolTip("What becomes of an entry whose id another exemplar has already")
        self.leave_faulty.toggled.connect(self._on_choice)
        self.taken.currentIndexChanged.connect(self._on_choice)
        self.facts = ElidedLabel("", self)
        self.facts.setFont(theme.text_font(bold=True))
        self.table = PlainTable(
            theme,
            "Entries of the files",
            (Column("Entry"), Column("Fate"), Column("Family"), Column("Id"), Column("Why")),
        )
        self.or_words = OrWords(self.table, self)
        on_panel(self.or_words)
        self.problem = NoteLabel("bad", parent=self)
        self.progress = QProgressBar(self)
        self.progress.setAccessibleName("How far it is")
        self.progress.setTextVisible(False)
        self.progress.setMaximumWidth(180)
        self.doing = ElidedLabel("", self)
        set_tone(self.doing, "dim")
        self.cancel_button = key_button(
            "Cancel", "End what goes on; nothing is kept", "Alt+C", self.cancel_requested.emit, self
        )
        self.import_button = key_button(
            "Import", "Keep all that is new", "Ctrl+Return", self._on_import, self
        )
        set_flag(self.import_button, "accent", True)
        self.close_button = key_button("Close", "Close this window", "Esc", self.reject, self)
        self._lay_out()
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

    def choose(self, paths: tuple[str, ...]) -> None:
        """Read these files."""
        self._paths = paths
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        self.place.setText(f"{paths[0]}{more}")
        self.read_requested.emit(self.choices)

    @Slot(object)
    def show_view(self, view: ImportView) -> None:
        """Replace what is on screen."""
        if view.done:
            self.accept()
            return
        self._view = view
        if not self._paths:
            self.or_words.say(_CHOOSE)
        elif not view.ready:
            self.or_words.say(view.problem or _READING)
        else:
            self.or_words.say("" if view.entries else "The files hold no exemplar.")
        self.problem.show_text(view.problem if view.ready else "")
        self.table.show_lines(
            TableLine(
                (one.position, one.fate, one.family, one.id, one.why),
                tone=_TONES.get(one.fate, "dim"),
                tooltip=f"{one.position}: {one.fate}. {one.why}".strip(),
            )
            for one in view.entries
        )
        kinds = " and ".join(view.formats) or "Of no known kind"
        counts = ", ".join(f"{thousands(number)} {fate}" for fate, number in view.counts.items())
        cut = sum(view.counts.values()) - len(view.entries)
        more = f" ({count(cut, 'entry is', 'entries are')} not listed)" if cut > 0 else ""
        self.facts.setText(f"{kinds[:1].upper()}{kinds[1:]}: {counts}{more}" if view.ready else "")
        self._refresh()

    @Slot(object)
    def show_job(self, job: LibraryJob) -> None:
        self._job = job
        self._refresh()

    def reject(self) -> None:
        if self._busy:
            self.cancel_requested.emit()
        super().reject()

    @property
    def _busy(self) -> bool:
        return self._job.busy and self._job.importing

    def _refresh(self) -> None:
        view, busy = self._view, self._busy
        self.progress.setVisible(busy)
        self.cancel_button.setVisible(busy)
        self.doing.setText(self._job.doing if busy else "")
        if busy:
            self.progress.setRange(0, self._job.of)
            self.progress.setValue(self._job.done)
        self.import_button.setEnabled(view.ready and bool(view.coming) and not view.problem and not busy)
        self.import_button.setText(f"Import {thousands(view.coming)}" if view.coming else "Import")
        for widget in (self.files_button, self.folder_button, self.form, self.family, self.reward):
            widget.setEnabled(not busy)

    def _lay_out(self) -> None:
        files = in_row(None, self.files_button, self.folder_button, (self.place, 1))
        reading = QHBoxLayout()
        for name, widget, share in (
            ("Kind", self.form, 2),
            ("Family", self.family, 2),
            ("Least reward", self.reward, 1),
        ):
            form = QFormLayout()
            form.addRow(name, widget)
            widget.setAccessibleName(name)
            reading.addLayout(form, share)
        taken = in_row(None, self.leave_faulty, 1)
        form = QFormLayout()
        form.addRow("An id that is taken", self.taken)
        self.taken.setAccessibleName("An id that is taken")
        taken.addLayout(form)
        foot = in_row(
            None, self.progress, (self.doing, 1), self.cancel_button, self.close_button, self.import_button
        )
        in_column(
            self,
            files,
            reading,
            self.facts,
            (self.or_words, 1),
            taken,
            self.problem,
            foot,
            margins=(12, 12, 12, 12),
            spacing=8,
        )

    def _on_files(self) -> None:
        paths, _ = QFileDialog.getOpenFileNames(
            self, "Import exemplars", "", "Exemplars (*.json *.jsonl *.ndjson);;All files (*)"
        )
        if paths:
            self.choose(tuple(paths))

    def _on_folder(self) -> None:
        path = QFileDialog.getExistingDirectory(self, "Import exemplars of a folder")
        if path:
            self.choose((path,))

    def _on_reading_changed(self) -> None:
        """Read the files anew where they are to be read otherwise."""
        read = self._view.choices
        now = self.choices
        same = (read.form, read.family, read.least_reward) == (now.form, now.family, now.least_reward)
        if self._paths and not same:
            self.read_requested.emit(now)

    def _on_choice(self) -> None:
        """Ask what these choices would do; what was read is not read again."""
        if self._view.ready and not self._busy:
            self.plan_requested.emit(self.choices)

    def _on_import(self) -> None:
        if self.import_button.isEnabled():
            self.import_requested.emit(self.choices)
