"""Save as exemplar: which steps of a run are kept, how the LLM would see them, and the result of saving."""

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from core.debugger.exemplars.saving.views import Saved, SavingChoice, SavingStep, SavingView
from core.schema.formats import count, cut
from gui.exemplars.saving.form import ContrastChoices, SavingForm
from gui.shell.undo import UndoHistory
from gui.shell.undo_button import UndoButton, add_undo_keys
from gui.theme.theme import Theme
from gui.widgets.buttons import key_button
from gui.widgets.layouts import Section, holding, in_column, in_row, on_panel, scrolled, splitter
from gui.widgets.rows import Row, Rows
from gui.widgets.text_view import Piece, TextView
from gui.widgets.words import ElidedLabel, NoteLabel, OrWords, set_tone

_READING = "The run is being read…"
_REPLAY = "Carry its actions out from the start, or end that. You can save without waiting for it"
_IDLE_MS = 250
_ORIGINS = {"person": "by hand", "rule": "by rule"}
_HEIGHT = 118


class SavingWindow(QDialog):
    """Shows `SavingView`; requests go out only as signals. The choices are kept here until they are saved."""

    chosen = Signal(object)
    """A `SavingChoice` to show."""
    save_requested = Signal(object, bool)
    """The `SavingChoice`, and whether the person knows that the run was not a success."""
    edit_requested = Signal(object, object)
    """The current `Exemplar`, and its `Provenance`."""
    replay_requested = Signal(bool)
    """Replay it from the start, or cancel that."""
    memory_requested = Signal()
    """Let the preset in use look exemplars up."""

    def __init__(self, theme: Theme, history: UndoHistory, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._history = history
        self._view = SavingView(run=0)
        self._idle = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._idle.timeout.connect(self._on_idle)
        self._build(theme)
        theme.size_window(self, 1080, 740)
        add_undo_keys(self, history)
        history.said.connect(lambda title, why: self.problem.show_text(f"{title}. {why}"))
        self.wait(0)

    def wait(self, run: int) -> None:
        """Show that this run is being read; choices for another run are discarded."""
        self._idle.stop()
        self.form.begin(run)
        self.contrasts.begin()
        self._view = SavingView(run=run)
        self._draw()

    @Slot(object)
    def show_view(self, view: SavingView) -> None:
        """Replace what is shown; text that the person is writing stays."""
        if view.saved is not None and self._view.saved is None:
            self.form.hold_id(view.saved.id)
        self._view = view
        self._draw()

    @property
    def choice(self) -> SavingChoice:
        """The current choices."""
        view = self._view
        shown = {contrast.step for contrast in view.contrasts}
        return SavingChoice.model_validate(
            {
                "steps": frozenset(step.row.number for step in view.steps if step.chosen)
                if view.ready
                else None,
                # The choice for steps that were just added is left to the survey.
                "contrasts": self.contrasts.chosen if shown else None,
                "reasons": self.contrasts.reasons,
                **self.form.values,
            }
        )

    # Building

    def _build(self, theme: Theme) -> None:
        self.head = ElidedLabel("", self, tone="dim")
        self.head.setContentsMargins(12, 8, 12, 6)
        self.steps = Rows(theme, "Steps of the run")
        self.steps.toggled.connect(self._on_toggled)
        self.steps_section = Section(theme, "Steps", self.steps)
        self.contrasts = ContrastChoices(theme)
        self.contrasts.edited.connect(self._idle.start)
        self.contrasts_section = Section(theme, "Corrections", self.contrasts)
        choices = scrolled("Steps and corrections", self.steps_section, self.contrasts_section)
        left = holding(in_column(None, choices))
        on_panel(left)
        self.problems = Rows(theme, "What is wrong with it")
        self.text = TextView(theme, "The trajectory as the LLM would see it")
        self.preview = Section(theme, "As the LLM would see it", self.problems)
        inside = self.preview.layout()
        assert isinstance(inside, QVBoxLayout)
        self.text_or_words = OrWords(self.text)
        inside.addWidget(self.text_or_words, 1)
        on_panel(self.preview)
        split = splitter(
            Qt.Orientation.Horizontal, left, self.preview, sizes=(theme.scaled(430), 650), stretch=(0, 1)
        )
        self.or_words = OrWords(split, self)
        self.form = SavingForm(self)
        self.form.edited.connect(self._on_edited)
        self.form.submitted.connect(self._on_save)
        self.plays = NoteLabel("dim", "", self)
        self.replay_button = key_button("Replay", _REPLAY, "Ctrl+R", self._on_replay, self)
        self.replay_row = holding(
            in_row(None, (self.plays, 1), self.replay_button, margins=(12, 2, 12, 2), spacing=8)
        )
        self.saved = SavedNote(theme, self)
        self.saved.memory_button.clicked.connect(self.memory_requested)
        self.question = NoteLabel("remedy", "", self, margins=(12, 2, 12, 2))
        self.problem = NoteLabel("bad", "", self, margins=(12, 2, 12, 2))
        notes = (self.saved, self.question, self.problem)
        in_column(
            self, self.head, (self.or_words, 1), self.form, self.replay_row, *notes, self._foot(), spacing=0
        )

    def _foot(self) -> QHBoxLayout:
        self.state = ElidedLabel("", self, tone="dim")
        self.undo_button = UndoButton(self._history)
        self.edit_button = key_button(
            "Edit…", "Open it in the editor, where you can change every word", "Alt+E", self._on_edit
        )
        self.cancel_button = key_button("Cancel", "Close without saving", "Esc", self.reject)
        self.save_button = key_button(
            "Save", "Save it in your library", "Ctrl+Return", self._on_save, accent=True
        )
        buttons = (self.undo_button, self.edit_button, self.cancel_button, self.save_button)
        return in_row(None, (self.state, 1), *buttons, margins=(12, 6, 12, 10), spacing=8)

    # Display

    def _draw(self) -> None:
        view = self._view
        self.setWindowTitle(f"Save run {view.run} as exemplar" if view.run else "Save as exemplar")
        self.head.setText(f"{view.task}. {view.instruction}" if view.ready else "")
        unread = "" if view.ready else view.problem or _READING
        self.or_words.say(unread)
        self.steps.show_rows(_step_row(step) for step in view.steps)
        kept = sum(step.chosen for step in view.steps)
        left_out = len(view.steps) - kept
        self.steps_section.show_fact(
            f"{kept} kept" + (f", {left_out} left out" if left_out else "") if view.steps else ""
        )
        chosen = {step.row.number for step in view.steps if step.chosen}
        contrasts = tuple(contrast for contrast in view.contrasts if contrast.step in chosen)
        self.contrasts.show_contrasts(contrasts)
        self.contrasts_section.setVisible(bool(contrasts))
        self.contrasts_section.show_fact(count(len(self.contrasts.chosen), "contrast"))
        self._draw_preview()
        self.form.show_view(view)
        self._draw_replay()
        self.saved.show_saved(view.saved, busy=view.busy, played=view.played is not None)
        self.question.show_text(view.question)
        self.problem.show_text(view.problem if view.ready else "")
        self._refresh()

    def _draw_replay(self) -> None:
        view, played = self._view, self._view.played
        self.plays.show_text(
            f"It is being replayed from the start: {view.playing}…"
            if view.playing
            else played.plays
            if played is not None
            else "It was not replayed."
        )
        set_tone(self.plays, {True: "good", False: "bad", None: "dim"}[played.success if played else None])
        self.replay_button.setText("Cancel replay" if view.playing else "Replay")
        self.replay_row.setVisible(view.exemplar is not None)

    def _draw_preview(self) -> None:
        view = self._view
        pieces: list[Piece] = []
        for at, message in enumerate(view.prompt.messages):
            pieces += [Piece(message.role, heading=at), Piece(message.text)]
        self.text.show_pieces(pieces)
        nothing = view.prompt.note or (
            "Select a step on the left. Without one, nothing would be saved." if view.ready else ""
        )
        self.text_or_words.say("" if view.prompt.messages else nothing)
        self.preview.show_fact(f"about {count(view.prompt.tokens, 'token')}" if view.prompt.messages else "")
        looks = {"fault": ("error", "bad")}
        rows = []
        for at, one in enumerate(view.problems):
            icon, tone = looks.get(one.level, ("info", "remedy"))
            rows.append(Row(one.text, icon=icon, tone=tone, word=one.where, key=at))
        nothing_wrong = [Row("No problems.", icon="check", tone="good", quiet=True)]
        self.problems.show_rows(rows or (nothing_wrong if view.exemplar is not None else []))

    def _refresh(self) -> None:
        view = self._view
        saved = view.saved
        able = view.exemplar is not None and not view.problem and not view.busy
        self.save_button.setText("Save anyway" if view.question else "Save")
        self.save_button.setEnabled(able and (saved is None or saved.undone or self._idle.isActive()))
        self.edit_button.setEnabled(able)
        self.undo_button.offer(
            saved.change if saved is not None and saved.changed and not saved.undone else ""
        )
        self.cancel_button.setText("Close" if saved is not None else "Cancel")
        self.state.setText(f"A new version of {view.version_of}" if view.version_of and saved is None else "")

    # Input of the person

    def _on_toggled(self, number: object, on: bool) -> None:
        view = self._view
        if view.busy:
            return
        steps = tuple(step.replace(chosen=on) if step.row.number == number else step for step in view.steps)
        # Shown at once; the rest of the view follows when the core has computed it.
        self._view = view.replace(steps=steps, question="")
        self.steps.show_rows(_step_row(step) for step in steps)
        self._idle.stop()
        self.chosen.emit(self.choice)

    def _on_edited(self) -> None:
        self._idle.start()
        self._view = self._view.replace(problem="" if self._view.ready else self._view.problem)
        self._refresh()

    def _on_idle(self) -> None:
        if self._view.ready and not self._view.busy:
            self.chosen.emit(self.choice)

    def _on_save(self) -> None:
        if self.save_button.isEnabled():
            self._idle.stop()
            self.save_requested.emit(self.choice, bool(self._view.question))

    def _on_replay(self) -> None:
        self.replay_requested.emit(not self._view.playing)

    def _on_edit(self) -> None:
        if self._view.exemplar is not None:
            self.edit_requested.emit(self._view.exemplar, self._view.provenance)


def _step_row(one: SavingStep) -> Row:
    row = one.row
    if one.why:
        state = f"included, although {one.why}" if one.chosen else f"left out: {one.why}"
    else:
        state = "" if one.chosen else "left out: not selected"
    word = _ORIGINS.get(row.origin, "")
    return Row(
        f"{row.number}. {row.in_words}",
        icon="warning" if one.why and one.chosen else "circle-slash" if not one.chosen else "",
        tone="remedy" if one.why and one.chosen else "dim",
        word=word,
        detail="\n".join(part for part in (state, cut(one.thought, 200)) if part),
        quiet=not one.chosen,
        key=row.number,
        checked=one.chosen if one.possible else None,
        tooltip="Press Space or click the box to keep or leave out the step" if one.possible else state,
    )


class SavedNote(QWidget):
    """Shows `Saved`; hidden if nothing was saved."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = QLabel(self)
        self.words.setWordWrap(True)
        self.words.setContentsMargins(12, 4, 12, 2)
        use = "Let the preset look exemplars up: [memory] is added to your copy of its file"
        self.memory_button = key_button("Use exemplars", use, "Alt+M", lambda: None, self)
        words = in_row(None, (self.words, 1), self.memory_button, margins=(0, 0, 12, 0), spacing=8)
        self.problem = NoteLabel("bad", "", self, margins=(12, 0, 12, 2))
        self.rows = Rows(theme, "What would be retrieved for this task")
        self._area = scrolled("What would be retrieved for this task", self.rows)
        self._area.setMaximumHeight(_HEIGHT)
        self._area.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        in_column(self, words, self.problem, self._area, margins=(0, 4, 0, 0), spacing=2)
        self.hide()

    def show_saved(self, saved: Saved | None, *, busy: bool, played: bool) -> None:
        self.setVisible(saved is not None)
        if saved is None:
            return
        self.words.setText(
            saved_words(saved, busy=busy) + (" It was saved without a replay." if not played else "")
        )
        self.memory_button.setVisible(bool(saved.preset) and not (saved.recalls or saved.undone or busy))
        self.problem.show_text(saved.problem)
        rows = [
            Row(
                one.id,
                icon="check" if one.used else "",
                tone="good" if one.used else "dim",
                word=f"{one.distance:.3f}",
                detail=("this one · " if one.id == saved.id else "")
                + f"family {one.family} · {'goes into the prompt' if one.used else 'not used'}",
                strong=one.id == saved.id,
                key=one.id,
                tooltip=one.task,
            )
            for one in saved.found
        ]
        self._area.setVisible(bool(rows) and not saved.undone)
        self.rows.show_rows(rows)


def saved_words(saved: Saved, *, busy: bool) -> str:
    """Return the result of saving as text."""
    if saved.undone:
        if saved.version > 1:
            return f"Undone: {saved.id} is as before. The version that you saved is kept as well."
        return f"Undone: {saved.id} is retired, so runs do not find it."
    name = f"{saved.id}, version {saved.version}" if saved.version > 1 else saved.id
    if not saved.changed:
        result = f"{name} is already in the library, exactly like this."
    else:
        result = f"Saved: {name}. {saved.unused}".rstrip()
    if not saved.recalls:
        who = f"The preset {saved.preset} uses" if saved.preset else "An attached agent is given"
        result += f" {who} no exemplars, so its runs do not find it."
    elif saved.changed and not saved.unused:
        result += f" Runs with the preset {saved.preset} look it up from now on."
    if busy:
        return f"{result} Looking it up…"
    if saved.distance is None:
        return result if saved.problem else f"{result} For this task, it is not among the nearest 50."
    before = {1: "no other exemplar is", 2: "1 other exemplar is"}.get(
        saved.rank, f"{saved.rank - 1} other exemplars are"
    )
    return f"{result} For this task {before} as near (distance {saved.distance:.3f}). {_use(saved)}".rstrip()


def _use(saved: Saved) -> str:
    """Return whether it would be in the prompt, and if not, what to do."""
    if saved.used or saved.unused or not saved.recalls:
        return "" if saved.unused or not saved.recalls else "Retrieved now:"
    return (
        f"But it is not used: {saved.why} Save it with that family, or let the preset use exemplars "
        "instead of families."
    )
