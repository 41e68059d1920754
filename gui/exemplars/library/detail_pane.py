"""One exemplar beside the table: what it is, its trajectory, its prompt, its versions and where it was retrieved."""

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QFormLayout,
    QLabel,
    QPushButton,
    QTabWidget,
    QWidget,
)

from core.debugger.exemplars.library.views import ComparedVersions, DetailView
from gui.exemplars.library.detail_texts import facts, standing_words, trajectory_pieces
from gui.exemplars.library.row_model import moment
from gui.exemplars.library.version_pane import VersionPane
from gui.theme.theme import Theme
from gui.widgets.layouts import in_column, in_row, on_panel, scrolled
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.search import Finder
from gui.widgets.text_view import TextView
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, set_flag, set_tone

_NOTHING = "Choose an exemplar in the table to read it here."
_READING = "The exemplar is being read…"
_NEVER = (
    "No run has retrieved this exemplar yet, as far as the traces here know. It is looked up at the start of a "
    "run whose preset has Memory on (Ctrl+Shift+H)."
)
_UNCHECKED = "Nobody has looked for problems yet: press Check (Ctrl+K)."
_SOUND = "Nothing is wrong with it: its actions can be read, and what they name is in its observations."
_PATIENCE_MS = 200
_OUTCOMES = {True: "success", False: "no success", None: "not judged"}


class DetailPane(QWidget):
    """Shows `DetailView`; asks for things only by emitting."""

    run_opened = Signal(int, int)
    check_wanted = Signal(str)
    compare_wanted = Signal(str, int, int)
    current_wanted = Signal(str, int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._view = DetailView()
        self._patience = QTimer(self)
        self._patience.setSingleShot(True)
        self._patience.setInterval(_PATIENCE_MS)
        self._patience.timeout.connect(self._say_reading)
        self.title = QLabel(self)
        self.title.setWordWrap(True)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.title.setFont(theme.text_font(bold=True))
        self.title.setMaximumHeight(76)
        self.id = ElidedLabel("", self, mode=Qt.TextElideMode.ElideMiddle)
        self.id.setFont(theme.small_font())
        set_tone(self.id, "dim")
        self.run_button = QPushButton(self)
        self.run_button.setAutoDefault(False)
        set_flag(self.run_button, "flat", True)
        self.run_button.setIcon(theme.icon("link-external"))
        self.run_button.setToolTip("Show the run that it came from in the main window (Ctrl+G)")
        self.run_button.setShortcut("Ctrl+G")
        self.run_button.clicked.connect(self._on_run)
        self.overview = QWidget()
        self.form = QFormLayout(self.overview)
        self.form.setContentsMargins(12, 10, 12, 8)
        self.form.setHorizontalSpacing(14)
        self.form.setVerticalSpacing(6)
        self.form.setLabelAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.trajectory = TextView(theme, "Trajectory")
        self.prompt = TextView(theme, "The exemplar as a prompt tells it")
        self.prompt_words = NoteLabel("dim")
        self.prompt_words.setContentsMargins(10, 6, 10, 4)
        self.versions = VersionPane(theme)
        self.versions.compare_wanted.connect(self.compare_wanted)
        self.versions.current_wanted.connect(self.current_wanted)
        self.standing = NoteLabel("dim")
        self.standing.setContentsMargins(10, 6, 10, 4)
        self.retrievals = PlainTable(
            theme,
            "Where it was retrieved, the latest first",
            (
                Column("When"),
                Column("Run", number=True),
                Column("Step", number=True),
                Column("Distance", number=True),
                Column("Taken"),
                Column("Outcome"),
            ),
        )
        self.retrievals.opened.connect(lambda key: self.run_opened.emit(*key))
        self.problems = PlainTable(
            theme, "Problems of this exemplar", (Column("Level"), Column("Where"), Column("What"))
        )
        self.check_button = QPushButton("Check", self)
        self.check_button.setAutoDefault(False)
        self.check_button.setToolTip("Look for what is wrong with this exemplar (Ctrl+K)")
        self.check_button.clicked.connect(lambda: self.check_wanted.emit(self._view.id))
        self._lay_out(theme)
        self.show_detail(DetailView())

    def wait(self, id: str) -> None:
        """Another exemplar is being read; say so where it takes long."""
        if not id:
            self.show_detail(DetailView())
        elif id != self._view.id:
            self._patience.start()

    @Slot(object)
    def show_detail(self, view: DetailView) -> None:
        """Replace what is on screen; the part in view stays."""
        self._patience.stop()
        self._view = view
        entry = view.entry
        if entry is None:
            self.or_words.say(view.problem or _NOTHING)
            return
        self.or_words.say("")
        self.title.setText(entry.exemplar.task)
        self.title.setToolTip(entry.exemplar.task)
        self.id.setText(view.id)
        run, step = entry.provenance.run, entry.provenance.step
        self.run_button.setVisible(run is not None)
        self.run_button.setText(f"Run {run}, step {step}" if step else f"Run {run}")
        self._show_facts(view)
        self.trajectory.show_pieces(trajectory_pieces(entry.exemplar))
        self.prompt_words.show_text(
            f"As the preset “{view.preset}” tells it, about {entry.tokens} tokens." if view.preset else ""
        )
        self.prompt.show_text(view.prompt)
        self.versions.show_detail(view)
        self._show_retrievals(view)
        self._show_problems(view)
        self.finder.refresh()

    @Slot(object)
    def show_compared(self, view: ComparedVersions) -> None:
        self.versions.show_compared(view)

    def show_problems(self) -> None:
        """Bring what is wrong with it to the front."""
        self.tabs.setCurrentIndex(self.tabs.count() - 1)

    def focus_search(self) -> None:
        """Search in the trajectory, or in the prompt where that is in view."""
        if self.tabs.currentWidget() not in (self.texts, self.prompt_page):
            self.tabs.setCurrentWidget(self.texts)
        self.finder.focus_search()

    def _lay_out(self, theme: Theme) -> None:
        names = in_row(None, (self.id, 1), self.run_button, spacing=6)
        self.finder = Finder(theme, "Search in it (Ctrl+Shift+F)", (self.trajectory, self.prompt), self)
        self.texts = _page(self.trajectory)
        self.prompt_page = _page(self.prompt_words, self.prompt)
        self.retrieved_words = OrWords(_page(self.standing, self.retrievals))
        self.problem_words = OrWords(self.problems)
        check = in_row(None, 1, self.check_button, margins=(10, 6, 10, 4))
        checks = QWidget()
        in_column(checks, check, (self.problem_words, 1), spacing=0)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(scrolled("What it is", self.overview), "About")
        self.tabs.addTab(self.texts, "Trajectory")
        self.tabs.addTab(self.prompt_page, "Prompt")
        self.tabs.addTab(self.versions, "Versions")
        self.tabs.addTab(self.retrieved_words, "Retrieved")
        self.tabs.addTab(checks, "Problems")
        inside = QWidget(self)
        head = in_column(None, self.title, names, self.finder, margins=(12, 8, 12, 4), spacing=2)
        in_column(inside, head, (self.tabs, 1), spacing=0)
        self.or_words = OrWords(inside, self)
        in_column(self, self.or_words)
        on_panel(self)

    def _show_facts(self, view: DetailView) -> None:
        while self.form.rowCount():
            self.form.removeRow(0)
        for name, value in facts(view):
            label = QLabel(name, self.overview)
            set_tone(label, "dim")
            words = QLabel(value if len(value) < 2000 else f"{value[:2000]}…", self.overview)
            words.setWordWrap(True)
            words.setTextFormat(Qt.TextFormat.PlainText)
            words.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
            words.setMinimumWidth(60)
            words.setAccessibleName(f"{name}: {value[:200]}")
            self.form.addRow(label, words)

    def _show_retrievals(self, view: DetailView) -> None:
        self.standing.show_text(standing_words(view))
        self.retrieved_words.say("" if view.retrievals else _NEVER)
        lines = []
        for one in view.retrievals:
            here = one.trace == view.trace
            lines.append(
                TableLine(
                    (
                        moment(one.when),
                        str(one.run),
                        str(one.step),
                        f"{one.distance:.3f}",
                        "used" if one.used else "voted" if one.voted else "not used",
                        _OUTCOMES[one.success] if one.success is not None else one.outcome or "not judged",
                    ),
                    values=(one.when, one.run, one.step, one.distance, one.used, str(one.success)),
                    key=(one.run, one.step) if here else None,
                    tone="" if here else "dim",
                    tooltip="Show it in the main window (Enter)" if here else f"A run of {one.trace}",
                )
            )
        self.retrievals.show_lines(lines)

    def _show_problems(self, view: DetailView) -> None:
        problems = view.problems
        self.problem_words.say(_UNCHECKED if problems is None else "" if problems else _SOUND)
        self.problems.show_lines(
            TableLine(
                (one.level, one.where or "the whole", one.text), tone="bad" if one.level == "fault" else ""
            )
            for one in problems or ()
        )
        number = "" if problems is None else f" {len(problems)}"
        self.tabs.setTabText(self.tabs.count() - 1, f"Problems{number}")

    def _say_reading(self) -> None:
        self.or_words.say(_READING)

    def _on_run(self) -> None:
        entry = self._view.entry
        if entry is not None and entry.provenance.run is not None:
            self.run_opened.emit(entry.provenance.run, entry.provenance.step or 1)


def _page(*contents: QWidget) -> QWidget:
    page = QWidget()
    in_column(page, *contents[:-1], (contents[-1], 1), spacing=0)
    return page
