from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gui.widgets.buttons import key_button


def test_a_button_keeps_its_key_when_its_text_changes_and_one_without_has_the_key_of_its_text(
    qtbot: QtBot,
) -> None:
    pressed: list[str] = []
    button = key_button("Fold all", "Fold", "Alt+G", lambda: pressed.append("fold"))
    qtbot.addWidget(button)
    button.show()
    qtbot.waitUntil(button.isActiveWindow)
    for times, text in enumerate(("Unfold all", "Fold all", "&Fold all"), start=1):
        button.setText(text)
        qtbot.keyClick(button, Qt.Key.Key_G, Qt.KeyboardModifier.AltModifier)
        qtbot.waitUntil(lambda times=times: pressed == ["fold"] * times)
    plain = key_button("&Last step", "Show it", "", lambda: None)
    qtbot.addWidget(plain)
    plain.setText("&First step")
    assert plain.shortcut().toString() == "Alt+F"
    shown = key_button("Cancel", "Cancel it", "Esc", lambda: None)
    qtbot.addWidget(shown)
    shown.setText("Close")
    assert shown.shortcut().isEmpty()
