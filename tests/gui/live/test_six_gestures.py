"""From a failed step to an exemplar that is found: what the person has to do for it at the window, counted."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from core.agent.presets import PRESETS
from core.debugger.exemplars.service import make_service
from core.schema.step import Recalled
from gui.exemplars.controller import install
from tests.core.stage import on
from tests.gui.live.test_window import WAIT, LiveWindow
from tests.llm_server import LLMServer

pytestmark = pytest.mark.browser

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
NO = Qt.KeyboardModifier.NoModifier
MOST = 6


class Gestures:
    """What a person does, each thing once: a click, a key chord, or typing into one field."""

    def __init__(self, desk: LiveWindow) -> None:
        self._desk = desk
        self.done: list[str] = []

    def key(self, words: str, key: Qt.Key, held: Qt.KeyboardModifier = NO, on: QWidget | None = None) -> None:
        self.done.append(words)
        QTest.keyClick(on or self._desk.window, key, held)

    def type_into(self, words: str, field: QWidget, text: str) -> None:
        self.done.append(words)
        field.setFocus()
        field.selectAll()  # type: ignore[attr-defined]
        QTest.keyClicks(field, text)


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path, llm_server: LLMServer) -> Iterator[LiveWindow]:
    desk = LiveWindow(qtbot, tmp_path, llm_server)
    desk.exemplars = install(desk.window, make_service(desk.session))  # type: ignore[attr-defined]
    plain = (PRESETS / "plain.toml").read_text()
    (tmp_path / "config/presets/remembering.toml").write_text(f"{plain}\n[memory]\n")
    yield desk
    desk.close()


def test_a_failed_step_is_put_right_and_its_run_kept_and_found_with_six_gestures(
    desk: LiveWindow, llm_server: LLMServer, qtbot: QtBot
) -> None:
    window, saving = desk.window, desk.exemplars.saving  # type: ignore[attr-defined]
    llm_server.otherwise = on('button "TWO"', thought="Two it is.")
    desk.open("miniwob/click-test-2")
    desk.session.run_commands.run()
    desk.wait_for("ended")
    assert window.view.success is False
    failed = window.view.run
    window.activateWindow()

    person = Gestures(desk)
    qtbot.waitUntil(window.actions_by_name["back"].isEnabled, timeout=WAIT)
    person.key("Back", Qt.Key.Key_B, CONTROL)
    qtbot.waitUntil(lambda: window.view.run not in (None, failed), timeout=WAIT)
    desk.wait_for("waiting")
    qtbot.waitUntil(window.actions_by_name["step"].isEnabled, timeout=WAIT)
    person.key("Step", Qt.Key.Key_F10)
    qtbot.waitUntil(lambda: window.view.phase == "review" and window.action.editable, timeout=WAIT)
    elements = window.step_in_view.action.elements
    right = next(one.ref for one in elements if one.name == "ONE")
    person.type_into("the right action", window.action.form.line, f"click [{right}]")
    person.key("Run", Qt.Key.Key_F5)
    desk.wait_for("ended")
    assert window.view.success is True
    person.key("Save as exemplar", Qt.Key.Key_K, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: saving.shown is not None and saving.shown.save_button.isEnabled(), timeout=WAIT)
    shown = saving.shown
    shown.activateWindow()
    QApplication.processEvents()
    person.key("Save", Qt.Key.Key_Return, CONTROL, on=shown)
    qtbot.waitUntil(lambda: "(distance 0.0" in shown.saved.words.text(), timeout=WAIT)

    print(f"{len(person.done)} gestures: {', '.join(person.done)}")
    assert len(person.done) <= MOST
    saved = shown._view.saved
    assert (saved.rank, shown._view.exemplar.contrasts[0].right) == (1, f"click [{right}]")
    desk.session.agent.set_preset("remembering")
    branch = window.view.run
    desk.session.tasks.open("miniwob/click-test-2", 0)
    qtbot.waitUntil(lambda: window.view.run not in (None, branch), timeout=WAIT)
    desk.wait_for("waiting")
    desk.step_to_review()
    store = desk.stored()
    records = store.step(window.view.run, 1).records
    store.close()
    assert saved.id in next(one for one in records if isinstance(one, Recalled)).exemplars


def test_a_demonstration_is_recorded_in_the_live_page_and_opened_to_be_saved(
    desk: LiveWindow, qtbot: QtBot
) -> None:
    window = desk.window
    desk.open("miniwob/click-test")
    window.activateWindow()
    qtbot.waitUntil(lambda: window.view.step == 1 and window.view.mode == "waiting", timeout=WAIT)
    QTest.keyClick(window, Qt.Key.Key_D, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: window.page.state_words.text().startswith("● Recording"), timeout=WAIT)
    box = next(
        one.box for one in desk.session.agent_run.state.observation.elements if one.name == "Click Me!"
    )
    view = desk.area.current_view()
    middle = QPoint(round(box.x + box.width / 2), round(box.y + box.height / 2))
    place = window.mapFromGlobal(view.mapToGlobal(middle))
    target = window.childAt(place)
    QTest.mouseClick(target, Qt.MouseButton.LeftButton, pos=target.mapFrom(window, place))
    saving = desk.exemplars.saving  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: saving.shown is not None and saving.shown.save_button.isEnabled(), timeout=WAIT)
    exemplar = saving.shown._view.exemplar
    assert [look.actions[0].split(" ")[0] for look in exemplar.steps] == ["click"]
    assert saving.shown._view.provenance.origin == "demonstration"
    assert saving.shown._view.problems == ()
    assert window.view.success is True
