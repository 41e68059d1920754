"""The common part of panels that edit the run: requests, and the reasons why an edit is unavailable."""

from collections.abc import Callable, Iterable, Mapping

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QAbstractButton, QBoxLayout, QInputDialog, QWidget

from core.debugger.editing.views import RefusedEdit
from core.debugger.session_view import SessionView
from core.debugger.steps.views import StepView
from gui.widgets.commands import WhyNot
from gui.widgets.enabled_commands import why_no_edit
from gui.widgets.item_views import MenuEntry
from gui.widgets.words import NoteLabel

_LINE_WIDTH = 460


class EditablePanel(QWidget):
    """A panel of the current step whose content a person may correct while the run is paused."""

    edit_wanted = Signal(str, dict)
    """The name of an edit in `core.agent.edits.registry`, and its values."""
    text_wanted = Signal(str)
    """The name of a text of the run to open in the editor."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = SessionView()
        self.live = True
        """Whether the step in view is the current one."""
        self._wanted: tuple[str, dict[str, object]] | None = None
        """The last requested edit."""
        self._ask_line_again: Callable[[str], None] | None = None
        """Asks again for the line of that edit, with the reason for its refusal; None if it has no line."""

    @Slot(object)
    def show_session(self, view: SessionView) -> None:
        """Follow the state of the session."""
        self.session = view
        self.show_rights()

    def show_liveness(self, step: StepView) -> None:
        """Follow whether the current step is in view."""
        self.live = step.live
        self.show_rights()

    def show_rights(self) -> None:
        """Enable only the buttons whose edits are available now."""

    def why_not(self, name: str = "") -> str:
        """Return why the run cannot be edited now, or an empty string; `name` is a key of `SessionView.refusals`."""
        return why_no_edit(self.session, live=self.live, name=name)

    def ask_edit(self, name: str, **values: object) -> None:
        """Request an edit if the run can be edited."""
        if not self.why_not():
            self._wanted, self._ask_line_again = (name, values), None
            self.edit_wanted.emit(name, values)

    def ask_line(
        self,
        title: str,
        label: str,
        then: Callable[[str], object],
        *,
        text: str = "",
        choices: Mapping[str, str] | Iterable[str] = (),
        only: bool = False,
        problem: str = "",
    ) -> None:
        """Ask for the line from which an edit is made, as `ask_line` does.

        `then` requests the edit. If it is refused, the same line is shown again with the problem.
        """

        def done(line: str) -> None:
            def again(problem: str) -> None:
                self.ask_line(title, label, then, text=line, choices=choices, only=only, problem=problem)

            if why := self.why_not():
                again(f"{why}.")
            else:
                then(line)
                self._ask_line_again = again

        ask_line(self, title, label, done, text=text, choices=choices, only=only, problem=problem)

    def show_refused(self, edit: RefusedEdit) -> None:
        """Ask again for the line of a refused edit, if it is the last edit of this panel."""
        if (edit.name, edit.values) == self._wanted and self._ask_line_again is not None:
            self._ask_line_again(edit.problem)

    def edit_entry(self, text: str, do: Callable[[], object], name: str = "", key: str = "") -> MenuEntry:
        """Return a menu entry, disabled with a reason if the edit `name` is unavailable."""
        why = self.why_not(name)
        return MenuEntry(text, do, key=key, enabled=not why, why=why)

    def text_entry(self, text: str, name: str, key: str = "") -> MenuEntry:
        """Return an entry that opens a text of the run in the editor."""
        return self.edit_entry(text, lambda: self.text_wanted.emit(name), name, key)


def why_no(edit: str) -> WhyNot:
    """Return the reason of a panel's command that needs this edit, a key of `SessionView.refusals`."""
    return lambda panel: panel.why_not(edit)


def show_right(button: QAbstractButton, words: str, why: str) -> None:
    """Enable a button unless there is a reason against it; the tooltip shows the reason."""
    button.setEnabled(not why)
    button.setToolTip(f"{words}: {why[:1].lower()}{why[1:]}" if why else words)


def ask_line(
    parent: QWidget,
    title: str,
    label: str,
    then: Callable[[str], object],
    *,
    text: str = "",
    choices: Mapping[str, str] | Iterable[str] = (),
    only: bool = False,
    problem: str = "",
) -> None:
    """Ask for a line of text, or for one of `choices`, and call `then` with it.

    For a mapping, the keys are shown and the values are returned. With `only`, no other text is allowed. A
    `problem` with the given line is shown below it.
    """
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    offered = dict(choices) if isinstance(choices, Mapping) else {choice: choice for choice in choices}
    if offered:
        dialog.setComboBoxItems(list(offered))
        dialog.setComboBoxEditable(not only)
    if text or not only:
        dialog.setTextValue(text)
    dialog.textValueSelected.connect(lambda chosen: then((offered.get(chosen) or chosen).strip()))
    dialog.finished.connect(dialog.deleteLater)
    dialog.resize(_LINE_WIDTH, dialog.height())
    dialog.open()
    layout = dialog.layout()
    if problem and isinstance(layout, QBoxLayout):
        note = NoteLabel("bad", problem, dialog)
        layout.insertWidget(layout.count() - 1, note)
        # The dialog's layout gives wrapped text the height of two lines.
        margins = layout.contentsMargins()
        note.setFixedHeight(note.heightForWidth(dialog.width() - margins.left() - margins.right()))
