"""Fix: the causes of a failed run, each with a change to prove and keep, and the text that is changed by hand."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QShortcut
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QSpinBox, QWidget

from core.debugger.evaluations.records import LEAST_PAIRS, MOST_PAIRS, most_runs
from core.debugger.fix.views import FixView
from core.schema.formats import cut_middle
from gui.fix.outcome import OutcomeBox
from gui.panels.causes import CluePane
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.choices import choice_box
from gui.widgets.copying import to_clipboard
from gui.widgets.edit_pane import EditPane
from gui.widgets.layouts import holding, in_column, in_row, splitter
from gui.widgets.remembered import Remembered
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, dim_label, labelled, set_flag

_SIDES = (12, 2, 12, 2)
_ACTION_LETTERS = 60
_LLM_LETTERS = 16
_REST = "the failed run again, cases that passed before, and sealed ones"
_PREVIEW = "The prompt of this step, with this text"
_PREVIEW_WITHOUT = "The prompt of this step, without the exemplar"


class FixWindow(QDialog):
    """Draws one `FixView`, and emits the person's requests.

    Typed text stays until it is saved, even if another file is viewed or the window is closed.
    """

    step_chosen = Signal(int)
    place_chosen = Signal(str)
    check_requested = Signal(str, str)
    """Name and text, some time after an edit."""
    rerun_requested = Signal(str, str, bool)
    """Name, text, and whether the person knows what going back does not undo."""
    fresh_requested = Signal()
    clue_chosen = Signal(int)
    evidence_opened = Signal(object)
    """An `Evidence` of the run in view."""
    propose_requested = Signal()
    report_requested = Signal()
    prove_requested = Signal(str, str, int)
    """Name, text, and how many pairs of runs at most."""
    proof_cancelled = Signal()
    keep_requested = Signal()
    revert_requested = Signal()
    exemplar_requested = Signal(str)
    retire_requested = Signal(str)
    """The id of an exemplar that no run is to recall any more."""
    reply_requested = Signal(int, int)
    """Run and step of an attached agent whose reply to edit."""
    save_requested = Signal(int)
    """The run to save as an exemplar."""
    bisect_requested = Signal(int)
    run_opened = Signal(int, int)

    def __init__(self, theme: Theme, remembered: Remembered, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlag(Qt.WindowType.WindowMinMaxButtonsHint)
        self._theme = theme
        self._remembered = remembered
        self._view = FixView()
        self.title = ElidedLabel("", self)
        self.title.setFont(theme.text_font(bold=True))
        self.steps = self._box("Step", "The step to fix (Alt+S)", self._on_step)
        self.places = self._box("What to change", "What to change at this step (Alt+W)", self._on_place)
        find = "Find the step from which the run can still succeed, in another window"
        self.bisect_button = key_button("Bisect…", find, "Alt+B", self._on_bisect, self)
        self.clues = CluePane(theme, self)
        self.clues.chosen.connect(self.clue_chosen)
        self.clues.entered.connect(self._on_enter)
        self.clues.evidence_opened.connect(self.evidence_opened)
        self.clues.line_wanted.connect(self._on_line)
        self.hint, self.note = (NoteLabel("dim", parent=self, margins=_SIDES) for _ in range(2))
        self.problem = NoteLabel("bad", parent=self, margins=_SIDES)
        self.notice = NoteLabel("good", parent=self, margins=_SIDES)
        self.recognised = NoteLabel("dim", parent=self, margins=_SIDES)
        self.pane = EditPane(theme, self.recognised)
        self.pane.edited.connect(self._refresh)
        self.pane.check_wanted.connect(self.check)
        self.pane.reload_wanted.connect(self._on_place)
        self.field = self.pane.field
        self.or_words = OrWords(self.pane, self)
        self.stays = NoteLabel("remedy", parent=self, margins=_SIDES)
        self.known = QCheckBox("I know that this stays done", self)
        self.known.toggled.connect(self._refresh)
        self.known.hide()
        self.outcome = OutcomeBox(self)
        self.outcome.run_opened.connect(self.run_opened)
        self._make_buttons()
        of_text = (self.pane.place, self.patch_button, self.pane.diff_button, self.pane.reload_button)
        head = in_row(None, (self.title, 1), *of_text, margins=(12, 10, 12, 2), spacing=8)
        chosen = in_row(
            None,
            dim_label("Step"),
            (self.steps, 1),
            self.bisect_button,
            dim_label("Change"),
            (self.places, 1),
            margins=(12, 2, 12, 2),
            spacing=8,
        )
        known = in_row(None, self.known, 1, margins=(12, 2, 12, 2))
        causes = in_row(
            None,
            (dim_label("Causes"), 1),
            self.report_button,
            self.propose_button,
            margins=(12, 2, 8, 2),
            spacing=8,
        )
        left = holding(in_column(None, causes, (self.clues, 1), spacing=0))
        right = holding(in_column(None, chosen, self.hint, (self.or_words, 1), self.note, spacing=0))
        body = splitter(Qt.Orientation.Horizontal, left, right, sizes=(400, 760), stretch=(2, 3))
        by_hand = (
            self.revert_button,
            self.save_button,
            self.extra_button,
            self.fresh_button,
            self.close_button,
        )
        proves = (self.pairs, self.rerun_button, self.prove_button, self.keep_button)
        foot = in_row(None, *by_hand, 1, *proves, margins=(12, 8, 12, 10), spacing=8)
        notes = (self.problem, self.notice, self.stays)
        in_column(self, head, (body, 1), *notes, known, self.outcome, foot, spacing=0)
        theme.size_window(self, 1180, 760)

    def _box(self, name: str, tooltip: str, chosen: object) -> QComboBox:
        box = choice_box(name, tooltip, letters=8, parent=self)
        box.activated.connect(chosen)
        return box

    def _make_buttons(self) -> None:
        patch = "Put the change of this cause into the text; Ctrl+Z takes it back"
        self.patch_button = key_button("Apply the patch", patch, "Alt+P", self._on_patch, self)
        back = "Restore all files to before you saved or kept them here; the runs stay"
        self.revert_button = key_button("Revert", back, "Alt+V", self.revert_requested.emit, self)
        self.keep_button = key_button("Keep", "", "Alt+K", self._on_keep, self)
        save = "Save the new run as an exemplar"
        self.save_button = key_button("Save as exemplar…", save, "Alt+X", self._on_save, self)
        self.propose_button = key_button("", "", "Alt+L", self._on_propose, self)
        copy = "Copy the run and its causes as Markdown, for a person or a coding agent"
        self.report_button = key_button("Copy a report", copy, "Alt+C", self.report_requested.emit, self)
        self.prove_button = key_button("Prove", "", "Alt+F", self._on_prove, self)
        self.pairs = labelled(QSpinBox(self, minimum=LEAST_PAIRS, maximum=MOST_PAIRS), "Pairs of a proof")
        self.pairs.setSuffix(" pairs")
        self.pairs.setValue(self._remembered.fix_pairs)
        self.pairs.valueChanged.connect(self._on_pairs)
        self._tell_pairs()
        QShortcut("Alt+N", self, self.pairs.setFocus)
        self.extra_button = key_button("", "", "Alt+E", self._on_extra, self)
        fresh = "Run the task again from its start, at the same seed, with the saved files"
        self.fresh_button = key_button("Run afresh", fresh, "Alt+A", self.fresh_requested.emit, self)
        close = "Close the window; a draft is kept until it is saved"
        self.close_button = key_button("Close", close, "Esc", self.close, self)
        self.rerun_button = key_button("", "", "Ctrl+Return", self._on_rerun, self)

    @property
    def view(self) -> FixView:
        return self._view

    @property
    def text(self) -> str:
        return self.field.text

    def wait(self, run: int) -> None:
        """Show that the run is being read, if it is not the one in view; a draft is kept."""
        if run != self._view.run:
            self.show_view(FixView(run=run))

    def show_view(self, view: FixView) -> None:
        """Replace what is shown; typed text stays."""
        before, self._view = self._view, view
        self.setWindowTitle(f"Fix run {view.run}")
        self.title.setText(
            f"Run {view.run} · {view.about} · {view.before}" if view.ready else f"Run {view.run}"
        )
        self._fill(before)
        self.clues.show_clues(view.clues, view.chosen)
        self._show_text(before)
        self.outcome.show_view(view)
        self.notice.show_text(view.notice)
        if view.irreversible != before.irreversible or view.step != before.step:
            self.known.setChecked(False)
        asks = bool(view.irreversible) and not view.why_not
        left = (
            f"Run {view.run} still goes on: running again leaves it, and it can be taken up again (Ctrl+M)."
        )
        told = (f"{view.irreversible}." if asks else "", left if view.going_on else "")
        self.stays.show_text(" ".join(filter(None, told)))
        self.known.setVisible(asks)
        self._refresh()

    def check(self) -> None:
        """Request a check of the text, or of the resulting prompt."""
        self.pane.wait()
        if self._view.place is not None:
            self.check_requested.emit(self._view.place.name, self.text)

    def _fill(self, before: FixView) -> None:
        view = self._view
        if (view.steps, view.clues) != (before.steps, before.clues):
            marked = {clue.step for clue in view.clues}
            with QSignalBlocker(self.steps):
                self.steps.clear()
                for number, action in view.steps:
                    mark = "● " if number in marked else ""
                    self.steps.addItem(f"{mark}{number}. {cut_middle(action, _ACTION_LETTERS)}", number)
                    reason = next((clue.what for clue in view.clues if clue.step == number), "")
                    self.steps.setItemData(self.steps.count() - 1, reason, Qt.ItemDataRole.ToolTipRole)
        if view.places != before.places:
            with QSignalBlocker(self.places):
                self.places.clear()
                for place in view.places:
                    self.places.addItem(place.title, place.name)
        with QSignalBlocker(self.steps), QSignalBlocker(self.places):
            self.steps.setCurrentIndex(self.steps.findData(view.step))
            self.places.setCurrentIndex(
                self.places.findData(view.place.name) if view.place is not None else -1
            )

    def _show_text(self, before: FixView) -> None:
        view, text = self._view, self._view.text
        waits = "" if view.ready else "Reading the run…"
        exemplar = view.place is not None and view.place.kind == "exemplar"
        self.or_words.say(waits or ("" if text is not None else view.why_not))
        if text is None:
            for note in (self.hint, self.note):
                note.show_text("")
            self.problem.show_text(view.problem)
            return
        if text.asked and text is not before.text:
            self._begin()
        elif text.applied and text is not before.text:
            self.field.count_from(text.text)
        current = text.text == self.text
        for widget in (self.field, self.pane.place, self.pane.reload_button):
            widget.setVisible(not exemplar)
        self.hint.show_text(text.hint)
        self.note.show_text(text.note)
        self.problem.show_text(view.problem or view.why_not or (text.told if current else ""))
        self.pane.show_view(text, _PREVIEW_WITHOUT if exemplar else _PREVIEW)
        self.recognised.show_text(view.recognised)

    def _begin(self) -> None:
        """Start with a text that was just read, or with its draft if there is one."""
        view, text, place = self._view, self._view.text, self._view.place
        assert text is not None
        of_step = f"{view.run}.{view.step} " if place is not None and place.kind == "action" else ""
        of_run = f"{view.run} " if place is not None and place.policy else ""
        self.pane.begin(text, f"{of_step}{of_run}{text.name}")
        line = place.line if place is not None else 1
        self.field.go_to_line(line)
        self.field.mark_line(line if line > 1 else 0, self._theme.colour("selected"))
        self._focus()

    def _focus(self) -> None:
        """Go where the next key belongs: to the cause whose change can be proved, or else to the text."""
        clue = self._view.clue
        (self.field if clue is None or clue.candidate is None else self.clues.rows).setFocus()

    def _refresh(self) -> None:
        view = self._view
        place = view.place
        kind = place.kind if place is not None else ""
        wrong = view.text.problem if view.text is not None and view.text.text == self.text else ""
        untold = view.irreversible if view.irreversible and not self.known.isChecked() else ""
        why = view.why_not or wrong or (f"{untold}. Tick the box to accept this." if untold else "")
        busy = view.busy or view.proposing or (view.rerun is not None and view.rerun.state == "going on")
        saves = kind in ("policy", "state space", "prompt", "preset")
        words = {"exemplar": "Run again without it", "action": "Run again with this action"}.get(
            kind, "Save and run again"
        )
        self.rerun_button.setText(words)
        does = "Save the file, go" if saves else "Go"
        tip = f"{does} back to step {view.step} on a branch, and run from there to the end (Ctrl+Enter)"
        self.rerun_button.setToolTip(why or tip)
        self.rerun_button.setEnabled(place is not None and not why and not busy)
        self.revert_button.setEnabled(bool(view.saved) and not busy)
        clue, retires = view.clue, kind == "exemplar"
        keeps = clue is not None and clue.can_be_kept
        if retires:
            keep = "Retire it: no run recalls it any more"
        elif keeps:
            keep = "Write the change that was proved to your own files; Enter on the cause does it too"
        else:
            keep = "Keep what was saved as your own copy"
        self.keep_button.setText("Retire it" if retires else "Keep")
        self.keep_button.setToolTip(f"{keep} (Alt+K)")
        self.keep_button.setEnabled((retires or keeps or bool(view.unkept)) and not busy)
        succeeded = view.rerun is not None and view.rerun.success is True
        self.save_button.setVisible(succeeded)
        self._refresh_proof(busy)
        extra = {"exemplar": "Show it in the library…"}.get(kind, "Edit its reply…" if view.attached else "")
        self.extra_button.setVisible(bool(extra))
        self.extra_button.setText(extra)
        lost = view.rerun is not None and view.rerun.state == "lost"
        self.fresh_button.setVisible(bool(view.ready and not view.attached and (lost or view.why_not)))
        self.bisect_button.setEnabled(bool(view.steps))
        self.report_button.setEnabled(view.ready)
        self.patch_button.setVisible(view.patched is not None)
        self.patch_button.setEnabled(view.patched not in (None, self.text))

    def _refresh_proof(self, busy: bool) -> None:
        view, button = self._view, self.prove_button
        clue = view.clue
        proposed = clue is not None and clue.candidate is not None
        files = view.place is not None and view.place.kind not in ("exemplar", "action")
        button.setText("Cancel the proof" if view.proving else "Prove")
        button.setEnabled(bool(view.proving) or ((files or proposed) and not busy))
        is_own = view.place is not None and view.place.name in view.unkept
        what = "your text" if not proposed or self._edited or is_own else "the change of this cause"
        tells = (
            f"End the runs of the proof for run {view.proving}; those that are done are kept"
            if view.proving
            else f"Run the task, others like it, and what passed before, without and with {what}; nothing is written"
        )
        button.setToolTip(f"{tells} (Alt+F)")
        self.pairs.setEnabled(not view.proving)
        keeps = self.keep_button.isEnabled() and not view.proving
        untried = clue is not None and clue.candidate is not None and (clue.proof is None or clue.stale)
        for one, accent in (
            (self.keep_button, keeps),
            (button, not keeps and untried and not view.proving),
            (self.rerun_button, not keeps and not untried and not view.proving),
        ):
            set_flag(one, "accent", accent)
        llm = view.proposer
        self.propose_button.setVisible(not view.attached and view.success is not True)
        words = f"Propose with {cut_middle(llm, _LLM_LETTERS)}" if llm else "Propose with an LLM"
        self.propose_button.setText("Cancel the question" if view.proposing else words)
        can = bool(llm) and view.ready and not busy and not view.proving
        self.propose_button.setEnabled(view.proposing or can)
        asks = f"Ask {llm} for a change that may mend this run; nothing is written (Alt+L)"
        none = "The built-in LLM cannot propose a change. Choose another LLM in the main window, then open Fix again."
        self.propose_button.setToolTip(asks if llm else none)

    @property
    def _edited(self) -> bool:
        """Whether the text is another than that of the file, and than the change of the clue."""
        return self.field.edited and self.text != self._view.patched

    def _on_step(self) -> None:
        self.step_chosen.emit(self.steps.currentData())

    def _on_place(self) -> None:
        self.place_chosen.emit(self.places.currentData())

    def _on_rerun(self) -> None:
        if self._view.place is not None:
            self.pane.wait()
            self.rerun_requested.emit(self._view.place.name, self.text, self.known.isChecked())

    def _on_prove(self) -> None:
        view = self._view
        if view.proving:
            self.proof_cancelled.emit()
        elif view.place is None:
            self.prove_requested.emit("", "", self.pairs.value())
        else:
            self.pane.wait()
            self.prove_requested.emit(view.place.name, self.text, self.pairs.value())

    def _on_propose(self) -> None:
        (self.proof_cancelled if self._view.proposing else self.propose_requested).emit()

    def _on_enter(self) -> None:
        """Do what comes next for the cause that is open: prove its change, or keep what is proven."""
        clue = self._view.clue
        view = self._view
        if clue is None or clue.candidate is None or view.proving:
            return
        saved = clue.in_use and any(name in view.unkept for name in clue.candidate.files)
        if clue.is_good and not clue.stale and (clue.can_be_kept or saved) and not view.busy:
            self.keep_requested.emit()
        elif (clue.proof is None or clue.stale) and self.prove_button.isEnabled():
            self._on_prove()

    def _on_line(self) -> None:
        clue, place = self._view.clue, self._view.place
        if clue is None or place is None:
            return
        if place.name != clue.file:
            self.place_chosen.emit(clue.file)
        else:
            self.field.go_to_line(clue.line or 1)
        self.field.setFocus()

    def _on_pairs(self, pairs: int) -> None:
        self._remembered.fix_pairs = pairs
        self._tell_pairs()

    def _tell_pairs(self) -> None:
        tells = (
            f"A change is chosen by so many pairs of runs at most, without and with it (Alt+N). With {_REST}"
        )
        self.pairs.setToolTip(f"{tells}, a proof makes up to {most_runs(self.pairs.value())} runs.")

    def _on_keep(self) -> None:
        place = self._view.place
        if place is not None and place.kind == "exemplar":
            self.retire_requested.emit(place.name)
        else:
            self.keep_requested.emit()

    def _on_extra(self) -> None:
        view = self._view
        if view.attached:
            self.reply_requested.emit(view.run, view.step)
        elif view.place is not None:
            self.exemplar_requested.emit(view.place.name)

    def _on_patch(self) -> None:
        text = self._view.patched
        if text is not None and text != self.text:
            at = next(
                (at for at, pair in enumerate(zip(text, self.text, strict=False)) if pair[0] != pair[1]), 0
            )
            self.field.put(text, at)
            self.field.setFocus()

    def _on_save(self) -> None:
        if self._view.rerun is not None:
            self.save_requested.emit(self._view.rerun.run)

    def take_report(self, text: str) -> None:
        """Put a report into the clipboard, and say so."""
        to_clipboard([text])
        self.notice.show_text("The report is in the clipboard, as Markdown.")

    def _on_bisect(self) -> None:
        self.bisect_requested.emit(self._view.run)
