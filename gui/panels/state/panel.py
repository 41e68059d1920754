"""State: the kind of page and why, its place in the state space, and what the run remembers."""

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QWidget

from core.debugger.breakpoints.kinds.actions import StateEntered, StateLeft
from core.debugger.steps.views import SetAsideView, StateView, StepView
from core.schema.formats import count
from core.schema.step import Fit
from gui.panels.state.space_window import NONE as NO_SPACE
from gui.panels.state.space_window import StateSpaceWindow
from gui.theme.theme import Theme
from gui.widgets.buttons import ElidedButton, icon_button, key_button
from gui.widgets.commands import AGAIN, CHANGE, VIEW, Command
from gui.widgets.editable import EditablePanel, show_right, why_no
from gui.widgets.item_views import ROW, MenuEntry, RowMenu, open_menu
from gui.widgets.layouts import Section, in_column, in_row, in_sections, indented
from gui.widgets.rows import Row, Rows
from gui.widgets.words import ElidedLabel, FittedText, NoteLabel, OrWords, set_tone

_LARGE_KEY = "Ctrl+Alt+S"
_NONE = "No state recognised yet. Step with F10 to observe the page and recognise its state."


class StatePanel(EditablePanel):
    """Shows `StateView`; the menus of the diagram and of the tried states force a state."""

    fact_changed = Signal(str)
    file_wanted = Signal(str)
    """The path of the state space to open in the editor."""
    breakpoint_wanted = Signal(object)
    """A `Breakpoint` at a state of the diagram."""
    details_shown = Signal(bool)
    large_wanted = Signal()
    """Show `large`, the window with the diagram."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._view = StateView()
        self.large = StateSpaceWindow(theme, self)
        self.diagram = self.large.diagram
        self.diagram.menu_wanted.connect(self._on_menu)
        head, notes = self._head(theme), self._notes()
        self.buffer = Rows(theme, "Looked at and set aside")
        self.buffer_section = Section(theme, "Looked at, set aside", self.buffer)
        self.remembered = Rows(theme, "Remembered for later states")
        self.remembered_section = Section(theme, "Remembered", self.remembered)
        self.memory_buttons = tuple(
            key_button("Edit", "", "", lambda: self.text_wanted.emit("memory")) for _ in range(2)
        )
        for section, button in zip(
            (self.buffer_section, self.remembered_section), self.memory_buttons, strict=True
        ):
            section.head.addWidget(button)
        self.instruction = FittedText("Instruction from the file of the state", lines=10)
        self.instruction_section = Section(theme, "Instruction", indented(self.instruction))
        self.fits = Rows(theme, "States that were tried")
        RowMenu(self.fits, self._fit_entries)
        self.fits_section = Section(theme, "States tried", self.fits)
        kept = (self.buffer_section, self.remembered_section)
        tried = (self.fits_section, self.instruction_section)
        self.details = in_sections(*kept, *tried)
        self.details.hide()
        self.details_button = ElidedButton(
            "", "Show or hide what is remembered, the states tried and the instruction"
        )
        self.details_button.setProperty("flat", True)
        self.details_button.setStyleSheet("text-align: left; padding-left: 2px")
        self.details_button.clicked.connect(lambda: self.show_details(self.details.isHidden()))
        area = in_sections(head, notes, indented(self.details_button), self.details)
        self.or_words = OrWords(area, self)
        in_column(self, self.or_words)
        self.show_state(StateView())

    @Slot(object)
    def show_step(self, step: StepView) -> None:
        self.show_state(step.state)
        self.show_liveness(step)

    def show_rights(self) -> None:
        for button in self.memory_buttons:
            show_right(button, "Edit buffer and memory (Ctrl+P, M)", self.why_not("memory"))

    def show_state(self, view: StateView) -> None:
        """Replace what is shown with `view`."""
        self._view = view
        self.or_words.say("" if view.state and not view.message else view.message or _NONE)
        self.space.setText(f"{view.space} ›" if view.space else "")
        self.space.setVisible(view.space not in ("", "none"))
        self.state.setText(view.state)
        self.state.setAccessibleName(f"State {view.state}")
        self.open_button.setVisible(bool(view.file))
        self.open_button.setToolTip(f"Open {view.file} in the editor (Alt+S)")
        self.why.show_text(f"Matched by {view.why}" if view.why and view.why[:1].islower() else view.why)
        also = f"⚠ Also matched: {', '.join(view.also)}. The first one was used."
        self.also.show_text(also if view.also else "")
        self.budget.show_text(_budget(view))
        late = view.choose_at is not None and view.transitions >= view.choose_at
        set_tone(self.budget, "remedy" if late else "dim")
        self.large.show_space(view)
        self.large_button.setVisible(bool(view.states))
        self.buffer.show_rows(_buffer_row(one) for one in view.buffer)
        self.buffer_section.show_where(view.buffer, str(len(view.buffer)))
        self.remembered.show_rows(Row(text=f"{name}: {value}") for name, value in view.remembered)
        self.remembered_section.show_where(view.remembered)
        self.instruction.show_text(view.instruction)
        self.instruction_section.show_where(view.instruction)
        self.fits.show_rows(_fit_row(one) for one in view.fits)
        fitting = sum(1 for one in view.fits if one.fits)
        self.fits_section.show_where(view.fits, f"{fitting} of {len(view.fits)} fit")
        self._tell_details()
        self.fact_changed.emit(view.state if not view.message else "")

    def show_details(self, on: bool) -> None:
        """Show or hide what is remembered, the states tried and the instruction."""
        if on == self.details.isHidden():
            self.details.setVisible(on)
            self._tell_details()
            self.details_shown.emit(on)

    def _tell_details(self) -> None:
        """Say in the button what the details are."""
        view = self._view
        fitting = sum(1 for fit in view.fits if fit.fits)
        parts = (
            f"{len(view.remembered)} remembered" if view.remembered else "",
            f"{len(view.buffer)} set aside" if view.buffer else "",
            f"{fitting} of {len(view.fits)} fit" if view.fits else "",
            "instruction" if view.instruction else "",
        )
        text = " · ".join(filter(None, parts))
        self.details_button.setVisible(bool(text))
        self.details_button.setText(text)
        self.details_button.setAccessibleName(f"Details of the state: {text}")
        folded = self.details.isHidden()
        self.details_button.setIcon(self._theme.icon("chevron-right" if folded else "chevron-down"))

    def _head(self, theme: Theme) -> QWidget:
        head = QWidget(self)
        self.space = QLabel(head)
        set_tone(self.space, "dim")
        self.state = ElidedLabel("", head)  # An attached agent may use whole sentences as names of states.
        self.state.setProperty("chipLabel", True)
        self.state.setFont(theme.text_font(bold=True))
        self.space.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        large = "Show the state space, with the way taken"
        self.large_button = icon_button(
            theme, "type-hierarchy", large, self.large_wanted.emit, key=_LARGE_KEY
        )
        file = "Open the state space's file in the editor (Alt+S)"
        self.open_button = icon_button(theme, "go-to-file", file, self._on_open)
        self.open_button.setShortcut("Alt+S")
        right = (self.large_button, self.open_button)
        for button in right:
            button.setFixedSize(22, 22)
        in_row(head, self.space, self.state, 1, *right, margins=(10, 6, 8, 2), spacing=6)
        return head

    def _notes(self) -> QWidget:
        notes = QWidget(self)
        self.why, self.also, self.budget = NoteLabel(), NoteLabel("remedy"), NoteLabel()
        in_column(notes, self.why, self.also, self.budget, margins=(10, 2, 10, 3), spacing=4)
        return notes

    def entries(self, state: str) -> tuple[MenuEntry, ...]:
        """Return the menu entries of a state of the diagram."""
        want = self.breakpoint_wanted.emit
        name = "ForceState"
        return (
            self.edit_entry(f"Treat the page as {state}", lambda: self._force(state), name, "Ctrl+P, X"),
            self.edit_entry("Recognise the page anew", self.recognise, name, "Ctrl+P, 6"),
            self.text_entry("Edit buffer and memory…", "memory", "Ctrl+P, M"),
            MenuEntry(f"Stop when {state} is entered", lambda: want(StateEntered(state=state))),
            MenuEntry(f"Stop when {state} is left", lambda: want(StateLeft(state=state))),
        )

    @property
    def why_no_space(self) -> str:
        """Why there is no state space to show, or an empty string."""
        return "" if self._view.states else NO_SPACE

    def _fit_entries(self, index: QModelIndex) -> tuple[MenuEntry, ...]:
        row: Row = index.data(ROW)
        return self.entries(row.key)

    @Slot()
    def force(self) -> None:
        """Ask which state to force in this step."""
        names = [state.name for state in self._view.states]
        if names and not self.why_not("ForceState"):
            label = "Treat the page in this step as:"
            self.ask_line("Force a state", label, self._force, choices=names, only=True)

    @property
    def why_no_force(self) -> str:
        """Why no state can be forced, or an empty string."""
        none = (
            ""
            if self._view.states
            else "No state space is in use. Choose a preset that has one (Ctrl+Shift+S)"
        )
        return self.why_not("ForceState") or none

    def _force(self, state: str) -> None:
        self.ask_edit("ForceState", state=state)

    @Slot()
    def recognise(self) -> None:
        """Recognise the state of the page again."""
        self.ask_edit("ForceState")

    def _on_menu(self, state: str, place: QPoint) -> None:
        open_menu(self.diagram, self.entries(state), place)

    def _on_open(self) -> None:
        if self._view.file:
            self.file_wanted.emit(self._view.file)

    COMMANDS = (
        Command("state_space", "State &graph…", _LARGE_KEY, "type-hierarchy", VIEW, 2.9,
            "Show the state space of the step in view, with the way that the run has taken",
            lambda self: self.large_wanted.emit(), lambda self: self.why_no_space),
        Command("force_state", "Force a state…", "Ctrl+P, X", "symbol-class", CHANGE, 6.4,
            "Treat the page as another state in this step", force, lambda self: self.why_no_force),
        Command("recognise", "The state", "Ctrl+P, 6", "refresh", AGAIN, 1.7, "Recognise the state of the page again",
            recognise, why_no("ForceState")),
    )  # fmt: skip


def _budget(view: StateView) -> str:
    """Return, for example, ``7 of 15 transitions; from 13 on one of what was looked at has to be chosen``."""
    if view.transitions_limit is None:
        return ""
    text = f"{view.transitions} of {count(view.transitions_limit, 'transition')}"
    if view.choose_at is None:
        return text
    if view.transitions >= view.choose_at:
        return f"{text}: now one of what was looked at has to be chosen"
    return f"{text}; from {view.choose_at} on one of what was looked at has to be chosen"


def _buffer_row(one: SetAsideView) -> Row:
    mark = ("check", "good", "chosen") if one.chosen else ("inbox", "dim", f"step {one.step}")
    chosen_at = f"set aside at step {one.step}" if one.chosen else ""
    return Row(
        f"{one.candidate}  {one.title}".rstrip(),
        *mark,
        detail="\n".join(
            filter(None, (one.reason, *(f"{name}: {text}" for name, text in one.kept), chosen_at))
        ),
        strong=one.chosen,
        key=one.candidate,
    )


def _fit_row(one: Fit) -> Row:
    lines = [f"matched: {'; '.join(one.matched)}"] if one.matched else []
    lines += [f"missing: {one.missed}"] if one.missed else []
    mark = ("check", "good", "fits") if one.fits else ("close", "dim", "does not fit")
    return Row(one.state, *mark, detail="\n".join(lines), quiet=not one.fits, key=one.state)
