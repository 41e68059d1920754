"""What the editor asks before something would be lost."""

from collections.abc import Callable

from PySide6.QtWidgets import QMessageBox, QWidget

from core.debugger.exemplars.editor.views import Conflict, SaveWay

_Role = QMessageBox.ButtonRole


def ask_to_leave(
    title: str,
    *,
    can_save: bool,
    save: Callable[[], None],
    keep: Callable[[], None],
    discard: Callable[[], None],
    parent: QWidget,
) -> QMessageBox:
    """Ask what becomes of changes that are not saved; Cancel does nothing."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle("Changes are not saved")
    box.setText("Your changes are not saved.")
    box.setInformativeText(
        f"“{title[:200]}”\n\nA draft can be taken up again when the exemplar is opened."
        + ("" if can_save else "\nIt cannot be saved yet: the Problems tab says what is missing.")
    )
    saving = box.addButton("&Save", _Role.AcceptRole)
    saving.setEnabled(can_save)
    saving.clicked.connect(save)
    keeping = box.addButton("&Keep as a draft", _Role.ActionRole)
    keeping.clicked.connect(keep)
    box.addButton("&Discard", _Role.DestructiveRole).clicked.connect(discard)
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(saving if can_save else keeping)
    box.setEscapeButton(cancel)
    box.open()
    return box


def ask_conflict(conflict: Conflict, save: Callable[[SaveWay], None], parent: QWidget) -> QMessageBox:
    """Ask how to save where something else stands in the exemplar's place."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Warning)
    box.setWindowTitle("Not saved yet")
    box.setText(conflict.text)
    box.setInformativeText("A new version is put on top of it: what is there stays among its versions.")
    box.addButton("Save as its &new version", _Role.ActionRole).clicked.connect(lambda: save("over"))
    copy = box.addButton("Save as a &copy", _Role.AcceptRole)
    copy.clicked.connect(lambda: save("copy"))
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    box.setDefaultButton(copy)
    box.setEscapeButton(cancel)
    box.open()
    return box
