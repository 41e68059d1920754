"""What panels have in common that change the run: what they ask for, and what says why it cannot be changed now."""

from collections.abc import Callable, Iterable, Mapping

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QAbstractButton, QInputDialog, QWidget

from core.debugger.snapshots import SessionView, StepView
from gui.widgets.enabled_commands import why_no_edit
from gui.widgets.item_views import MenuEntry


class EditablePanel(QWidget):
    """A panel of the step under way whose content a person may put right while the run rests."""

    edit_wanted = Signal(str, dict)
    """The name of an edit as `core.agent.edits.registry` has it, and its values."""
    text_wanted = Signal(str)
    """The name of a text of the run, to be opened in the editor."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = SessionView()
        self.live = True
        """Whether the step in view is the one under way."""

    @Slot(object)
    def show_session(self, view: SessionView) -> None:
        """Follow what the session is doing."""
        self.session = view
        self.show_rights()

    def show_liveness(self, step: StepView) -> None:
        """Follow whether the step under way is in view."""
        self.live = step.live
        self.show_rights()

    def show_rights(self) -> None:
        """Let only those buttons be pressed whose edits can be had now."""

    def why_not(self, name: str = "") -> str:
        """Return why the run cannot be edited now, or nothing; `name` as `SessionView.refusals` has it."""
        return why_no_edit(self.session, live=self.live, name=name)

    def ask_edit(self, name: str, **values: object) -> None:
        """Ask for an edit, where the run can be edited."""
        if not self.why_not():
            self.edit_wanted.emit(name, values)

    def edit_entry(self, text: str, do: Callable[[], object], name: str = "", key: str = "") -> MenuEntry:
        """Return an entry of a menu that says why it cannot be chosen where the edit `name` cannot be had."""
        why = self.why_not(name)
        return MenuEntry(text, do, key=key, enabled=not why, why=why)

    def text_entry(self, text: str, name: str, key: str = "") -> MenuEntry:
        """Return an entry that opens a text of the run in the editor."""
        return self.edit_entry(text, lambda: self.text_wanted.emit(name), name, key)


def show_right(button: QAbstractButton, words: str, why: str) -> None:
    """Let a button be pressed unless there is a reason why not; the tooltip tells it."""
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
) -> None:
    """Ask for a line of text, or for one of `choices`, and call `then` with it.

    Of a mapping the keys are shown and the values are meant. With `only` nothing else can be written.
    """
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    offered = dict(choices) if isinstance(choices, Mapping) else {one: one for one in choices}
    if offered:
        dialog.setComboBoxItems(list(offered))
        dialog.setComboBoxEditable(not only)
    if text or not only:
        dialog.setTextValue(text)
    dialog.textValueSelected.connect(lambda chosen: then((offered.get(chosen) or chosen).strip()))
    dialog.finished.connect(dialog.deleteLater)
    dialog.resize(460, dialog.height())
    dialog.open()
