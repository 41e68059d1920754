import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

import core
from gui.shell.menus import AmountRow, MechanismsMenu, state_words, tooltip_words, value_words
from tests.gui import samples

MECHANISMS = samples.MECHANISMS


@pytest.fixture
def menu(qtbot: QtBot) -> MechanismsMenu:
    menu = MechanismsMenu()
    qtbot.addWidget(menu)
    menu.show_mechanisms(MECHANISMS)
    return menu


def action(menu: MechanismsMenu, title: str):
    return next(one for one in menu.actions() if one.text().split("\t")[0] == title)


def test_without_mechanisms_it_says_what_to_do(menu: MechanismsMenu):
    menu.show_mechanisms(())
    assert [one.isEnabled() for one in menu.actions()] == [False]
    assert "open a task" in menu.actions()[0].text()
    assert value_words(()) == "–"


def test_each_switch_tells_what_the_preset_says_and_what_was_switched(menu: MechanismsMenu):
    assert action(menu, "States").isChecked()
    assert action(menu, "States").text() == "States\ton, by the preset"
    assert action(menu, "Policies").text() == "Policies\toff, by the preset"
    assert action(menu, "Remedies").text() == "Remedies\toff, by you; preset: on"
    assert action(menu, "Abstraction").text() == "Abstraction\ton, by you; preset: off"
    assert "Prepare alternatives" in action(menu, "Remedies").toolTip()


def test_the_number_of_a_mechanism_is_set_below_its_switch(menu: MechanismsMenu, qtbot: QtBot):
    [row] = menu.findChildren(AmountRow)
    assert (row.label.text(), row.spin.value(), row.isEnabled()) == ("remedies per action", 2, False)
    on = [one.replace(on=True, amount=one.amount and one.amount.replace(value=4)) for one in MECHANISMS]
    menu.show_mechanisms(tuple(on))
    assert (row.label.text(), row.spin.value(), row.isEnabled()) == (
        "remedies per action (preset: 2)",
        4,
        True,
    )
    assert "Remedies 4" in tooltip_words(tuple(on))
    with qtbot.waitSignal(menu.amount_set) as asked:
        row.spin.setValue(1)
    assert asked.args == ["remedies", 1]


def test_what_the_session_says_of_a_number_is_not_asked_for_again(menu: MechanismsMenu):
    asked: list[object] = []
    menu.amount_set.connect(lambda *one: asked.append(one))
    menu.show_mechanisms(MECHANISMS)
    assert asked == []


def test_the_button_counts_what_is_on_and_what_is_yours():
    assert value_words(MECHANISMS) == "5/7 ◆2"
    assert "Remedies off, Abstraction on" in tooltip_words(MECHANISMS)
    assert value_words(MECHANISMS[:3]) == "2/3"


def test_a_switch_asks_for_the_other_way(menu: MechanismsMenu, qtbot: QtBot):
    with qtbot.waitSignal(menu.switched) as asked:
        action(menu, "States").trigger()
    assert asked.args == ["states", False]


def test_what_the_session_says_counts(menu: MechanismsMenu):
    action(menu, "States").trigger()
    menu.show_mechanisms(MECHANISMS)
    assert action(menu, "States").isChecked()


def test_all_are_switched_back_to_the_preset_at_once(menu: MechanismsMenu):
    asked = []
    menu.switched.connect(lambda name, on: asked.append((name, on)))
    menu.as_preset.trigger()
    assert asked == [("remedies", True), ("abstraction", False)]
    as_preset = tuple(view.replace(on=view.by_preset) for view in MECHANISMS)
    menu.show_mechanisms(as_preset)
    assert not menu.as_preset.isEnabled()
    assert {state_words(view).partition(", ")[2] for view in as_preset} == {"by the preset"}


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return])
def test_the_menu_stays_open_while_one_switches(menu: MechanismsMenu, qtbot: QtBot, key):
    menu.popup(menu.pos())
    qtbot.waitUntil(menu.isVisible)
    menu.setActiveAction(action(menu, "Memory"))
    with qtbot.waitSignal(menu.switched) as asked:
        qtbot.keyClick(menu, key)
    assert asked.args == ["memory", False]
    assert menu.isVisible()
    place = menu.actionGeometry(action(menu, "Plan")).center()
    with qtbot.waitSignal(menu.switched) as asked:
        qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=place)
    assert asked.args == ["plan", False]
    assert menu.isVisible()
    menu.close()


def test_each_menu_has_every_access_key_once_and_fits_a_laptop(window):
    for bar_item in window.menus.bar.actions():
        menu = bar_item.menu()
        keys = [
            found[1].lower() for one in menu.actions() if (found := re.search("(?<!&)&([^&])", one.text()))
        ]
        assert len(keys) == len(set(keys)), f"{bar_item.text()}: {sorted(keys)}"
        assert menu.sizeHint().height() < 760, bar_item.text()


def test_messages_of_core_name_the_key_of_what_they_advise(window):
    advice = {"pause first": "run", "Step to align": "phase", "Open a task first": "new_task"}
    found = []
    for path in Path(core.__file__).parent.rglob("*.py"):
        for words, key in re.findall(
            rf"({'|'.join(advice)})[^(\"]{{0,20}}\((F\d+|Ctrl\+\w+)\)", path.read_text("utf-8")
        ):
            found.append(words)
            named = window.actions_by_name[advice[words]].shortcut().toString()
            assert key == named, f"{path.name}: {words} ({key})"
    assert set(found) == set(advice)


def test_the_theme_that_holds_is_checked_also_where_the_settings_file_says_it(window):
    window.theme.prefer("dark")
    themes = next(menu for menu in window.findChildren(QMenu) if menu.title() == "T&heme")
    themes.aboutToShow.emit()
    assert [one.text() for one in themes.actions() if one.isChecked()] == ["&Dark"]
