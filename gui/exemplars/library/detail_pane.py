"""One exemplar next to the table: its facts, trajectory, prompt, versions, and where it was retrieved."""

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QFormLayout,
    QLabel,
    QTabWidget,
    QWidget,
)

from core.debugger.exemplars.library.views import DetailView, ProofLine
from core.exemplars.library.records import Entry, Retrieval
from core.schema.exemplar import Exemplar, Status
from core.schema.formats import count, cut
from gui.exemplars.library.row_model import moment
from gui.exemplars.versions import VersionPane
from gui.theme.theme import Theme
from gui.widgets.buttons import ICON_BESIDE_TEXT, key_button
from gui.widgets.layouts import holding, in_column, in_row, on_panel, scrolled
from gui.widgets.plain_table import Column, PlainTable, TableLine
from gui.widgets.search import Finder
from gui.widgets.text_view import Piece, TextView
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, dim_label, set_flag

_NONE = (
    "No versions are kept of an exemplar in a file, and bundled ones do not change. Put your files under git."
)
_ONE = "This is the only version. When you save a new one, you can compare both here."
_NOTHING = "Choose an exemplar in the table to read it here."
_READING = "The exemplar is being read…"
_NEVER = (
    "No run in this database has retrieved this exemplar yet. It is looked up at the start of a "
    "run whose preset has Memory on (Ctrl+Shift+H)."
)
_UNPROVEN = (
    "Nothing was found out about it yet. Replay (Ctrl+R) repeats it on its task. Worth… (Ctrl+Shift+W) runs tasks "
    "with and without it."
)
_PATIENCE_MS = 200


class DetailPane(QWidget):
    """Shows `DetailView`; requests go out only as signals."""

    run_opened = Signal(int, int)
    evaluation_opened = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = DetailView()
        self.title = QLabel(self)
        self.title.setWordWrap(True)
        self.title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.title.setFont(theme.text_font(bold=True))
        self.title.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.title.setMaximumHeight(theme.scaled(82))  # Five lines; the tool tip has all of a long task.
        self.id = ElidedLabel("", self, mode=Qt.TextElideMode.ElideMiddle, tone="dim")
        self.id.setFont(theme.small_font())
        self.run_button = key_button(
            "Run", "Show the run it came from in the main window", "Ctrl+G", self._on_run, self
        )
        set_flag(self.run_button, "flat", True)
        self.run_button.setIcon(theme.icon("link-external"))
        self.run_button.setIconSize(ICON_BESIDE_TEXT)
        self.overview = QWidget()
        self.form = QFormLayout(self.overview)
        self.form.setContentsMargins(12, 10, 12, 8)
        self.form.setHorizontalSpacing(14)
        self.form.setVerticalSpacing(6)
        self.form.setLabelAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.trajectory = TextView(theme, "Trajectory")
        self.prompt = TextView(theme, "The exemplar in a prompt")
        self.prompt_words = NoteLabel("dim", margins=(10, 6, 10, 4))
        self.versions = VersionPane(
            theme, "Make current", "Make the selected version current. No version is lost"
        )
        self.standing = NoteLabel("dim", margins=(10, 6, 10, 4))
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
        self.proofs = PlainTable(
            theme,
            "What was found out about it, the latest first",
            (Column("When"), Column("What"), Column("Result"), Column("How")),
        )
        self.proofs.opened.connect(self._on_proof)
        self._lay_out(theme)
        self._patience = QTimer(self, singleShot=True, interval=_PATIENCE_MS)
        self._patience.timeout.connect(lambda: self.or_words.say(_READING))
        self.show_detail(DetailView())

    def wait(self, id: str) -> None:
        """Another exemplar is being read; show a message if it takes long."""
        if not id:
            self.show_detail(DetailView())
        elif id != self._view.id:
            self._patience.start()

    @Slot(object)
    def show_detail(self, view: DetailView) -> None:
        """Replace what is shown; the part in view stays."""
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
            f"As in the preset “{view.preset}”, about {entry.tokens} tokens." if view.preset else ""
        )
        self.prompt.show_text(view.prompt)
        none = _NONE if not view.versions else _ONE if len(view.versions) == 1 else ""
        self.versions.show_versions(view.id, view.versions, none)
        self._show_retrievals(view)
        self.finder.refresh()

    def focus_search(self) -> None:
        """Search in the trajectory, or in the prompt if that is in view."""
        if self.tabs.currentWidget() not in (self.texts, self.prompt_page):
            self.tabs.setCurrentWidget(self.texts)
        self.finder.focus_search()

    def _lay_out(self, theme: Theme) -> None:
        names = in_row(None, (self.id, 1), self.run_button, spacing=6)
        self.finder = Finder(theme, "Search in it (Ctrl+Shift+F)", (self.trajectory, self.prompt), self)
        self.texts = _page(self.trajectory)
        self.prompt_page = _page(self.prompt_words, self.prompt)
        self.retrieved_words = OrWords(_page(self.standing, self.retrievals))
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(scrolled("What it is", self.overview), "About")
        self.tabs.addTab(self.texts, "Trajectory")
        self.tabs.addTab(self.prompt_page, "Prompt")
        self.tabs.addTab(self.versions, "Versions")
        self.tabs.addTab(self.retrieved_words, "Retrieved")
        self.proofs_words = OrWords(_page(self.proofs))
        self.tabs.addTab(self.proofs_words, "Proofs")
        head = in_column(None, self.title, names, self.finder, margins=(12, 8, 12, 4), spacing=2)
        self.or_words = OrWords(holding(in_column(None, head, (self.tabs, 1), spacing=0)), self)
        in_column(self, self.or_words)
        on_panel(self)

    def _show_facts(self, view: DetailView) -> None:
        while self.form.rowCount():
            self.form.removeRow(0)
        for name, value in facts(view):
            words = QLabel(cut(value, 2000), self.overview)
            words.setWordWrap(True)
            words.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
            words.setMinimumWidth(60)
            words.setAccessibleName(f"{name}: {value[:200]}")
            self.form.addRow(dim_label(name), words)

    def _show_retrievals(self, view: DetailView) -> None:
        self.standing.show_text(standing_words(view))
        self.retrieved_words.say("" if view.retrievals else _NEVER)
        self.retrievals.show_lines(_retrieval_line(retrieval, view.trace) for retrieval in view.retrievals)
        self.proofs_words.say("" if view.proofs else _UNPROVEN)
        self.proofs.show_lines(_proof_line(proof) for proof in view.proofs)

    def _on_proof(self, key: object) -> None:
        if isinstance(key, tuple):
            self.run_opened.emit(*key)
        else:
            self.evaluation_opened.emit(key)

    def _on_run(self) -> None:
        entry = self._view.entry
        if entry is not None and entry.provenance.run is not None:
            self.run_opened.emit(entry.provenance.run, entry.provenance.step or 1)


def _page(*contents: QWidget) -> QWidget:
    return holding(in_column(None, *contents[:-1], (contents[-1], 1), spacing=0))


def _retrieval_line(one: Retrieval, trace: str) -> TableLine:
    here = one.trace == trace
    judged = {True: "success", False: "no success", None: one.outcome or "not judged"}
    return TableLine.of(
        (moment(one.when), one.when),
        (str(one.run), one.run),
        (str(one.step), one.step),
        (f"{one.distance:.3f}" if one.distance or one.voted else "", one.distance),
        "used" if one.used else "voted" if one.voted else "not used",
        judged[one.success],
        key=(one.run, one.step) if here else None,
        tone="" if here else "dim",
        tooltip="Show it in the main window (Enter)" if here else f"A run of {one.trace}",
    )


def _proof_line(one: ProofLine) -> TableLine:
    key = one.evaluation if one.run is None else (one.run, one.step)
    opens = "" if key is None else f"Show {'its runs' if one.run is None else 'the step'} (Enter)"
    return TableLine.of(
        (moment(one.when), one.when),
        one.what,
        one.result,
        one.why,
        key=key,
        tone={True: "good", False: "bad", None: ""}[one.good],
        tooltip="\n".join(filter(None, (one.why, opens))),
    )


_STATUS: dict[Status, str] = {
    "new": "new, not recalled until it is reviewed",
    "reviewed": "reviewed",
    "retired": "retired, not recalled",
}


def trajectory_pieces(exemplar: Exemplar) -> tuple[Piece, ...]:
    """Return looks, contrasts, abstraction and parser, each under its heading."""
    pieces: list[Piece] = []

    def add(title: str, text: str) -> None:
        pieces.append(Piece(title, heading=len(pieces)))
        pieces.append(Piece(text))

    for number, step in enumerate(exemplar.steps, start=1):
        parts = [step.observation or "(no observation is kept)"]
        if step.thought:
            parts.append(f"Thought: {step.thought}")
        parts += [f"Action: {action}" for action in step.actions]
        add(f"Step {number} of {len(exemplar.steps)}", "\n".join(parts) + "\n")
    for number, contrast in enumerate(exemplar.contrasts, start=1):
        parts = [contrast.observation] if contrast.observation else []
        parts += [f"Tried: {contrast.tried}", f"Right: {contrast.right}"]
        parts += [f"Why: {contrast.why}"] if contrast.why else []
        add(f"Contrast {number}: what was tried, and what is right", "\n".join(parts) + "\n")
    for number, pair in enumerate(exemplar.abstraction, start=1):
        add(f"Abstraction {number}: the page", pair.state + "\n")
        add(f"Abstraction {number}: the clean observation", pair.observation + "\n")
    if exemplar.parser:
        add("Parser: Python that makes the clean observation", exemplar.parser + "\n")
    for prompt in exemplar.prompts:
        add(f"Prompt of the program it was imported from: {prompt.name}", "\n".join(prompt.texts) + "\n")
    return tuple(pieces)


def facts(view: DetailView) -> tuple[tuple[str, str], ...]:
    """Return the facts of an exemplar other than its trajectory, by name; empty ones are left out."""
    entry = view.entry
    if entry is None:
        return ()
    exemplar, provenance = entry.exemplar, entry.provenance
    state, review = "read only" if entry.read_only else "", exemplar.review
    although = "used although it has faults" if review.although else ""
    decided = (f"by {review.by}" if review.by else "", moment(review.at), although)
    found = (
        ("Family", exemplar.family),
        ("Environment", exemplar.environment),
        ("Site", provenance.site),
        ("Origin", ", ".join(part for part in (provenance.origin, state) if part)),
        ("Status", ", ".join(part for part in (_STATUS[review.status], *decided) if part)),
        ("Fault", view.fault),
        ("File", provenance.file),
        ("Decided by", provenance.llm),
        ("Source", exemplar.source),
        ("Tags", ", ".join(exemplar.tags)),
        ("Weight", f"{exemplar.weight:g}" if exemplar.weight != 1 else ""),
        ("Pinned", "used before nearer ones of its family" if exemplar.pinned else ""),
        ("Never for", "\n".join(exemplar.never)),
        ("Note", exemplar.note),
        ("Size", _size(entry)),
        ("Made", moment(entry.made)),
        ("Changed", moment(entry.changed) if entry.changed != entry.made else ""),
        ("Version", f"{entry.version} of {len(view.versions)}" if view.versions else ""),
        ("Looked up by", exemplar.metadata or "its task and first observation"),
    )
    return tuple((name, value) for name, value in found if value)


def _size(entry: Entry) -> str:
    exemplar = entry.exemplar
    parts = [
        f"about {count(entry.tokens, 'token')}",
        count(len(exemplar.steps), "step"),
        count(sum(len(step.actions) for step in exemplar.steps), "action"),
    ]
    if exemplar.contrasts:
        parts.append(count(len(exemplar.contrasts), "contrast"))
    if exemplar.abstraction:
        parts.append(count(len(exemplar.abstraction), "abstraction pair"))
    if exemplar.parser:
        parts.append("a parser")
    return ", ".join(parts)


def standing_words(view: DetailView) -> str:
    """Return a summary of where an exemplar was retrieved."""
    one = view.standing
    if not one.retrieved and not one.measured:
        return ""
    judged = one.successes + one.failures
    words = f"Retrieved in {count(one.retrieved, 'run')}, used in {one.used}."
    if judged:
        words += f" Of {count(judged, 'judged run')} that used it, {one.successes} succeeded."
    if one.measured:
        words += f" {count(one.measured, 'run')} of evaluations used it, too."
    return words
