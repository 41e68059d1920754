"""From a failed run to one that succeeds by a changed file: what the person has to do for it at the window, counted."""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.agent.presets import PRESETS
from core.debugger.fix.service import make_service
from gui.fix.controller import install
from tests.core.stage import ref_in
from tests.gui.live.test_six_gestures import CONTROL, SHIFT, Gestures
from tests.gui.live.test_window import WAIT, LiveWindow
from tests.llm_server import LLMServer, Reply, Request, call

pytestmark = pytest.mark.browser

MOST = 6
ALT = Qt.KeyboardModifier.AltModifier
POLICY = """+++
{top}description = "Does what it says."
[applies]
environments = ["miniwob"]
urls = ["{url}"]
+++
# Instruction

{words}
"""
SPACE = """title = "Two buttons"
environments = ["miniwob"]
may_stop = false

[[state]]
name = "buttons"
must = ['button "{name}"']

[[state.action]]
name = "press_first"
description = "Press the first button."
does = ['click [button "ONE"]']
"""


def says(action: str) -> Reply:
    return Reply(text=f"REASON: So it is written.\nACTION: {action}")


def press(request: Request, name: str) -> Reply:
    button = f'button "{name}"'
    return says(f"click [{ref_in(request, button)}]")


def presses_one(request: Request) -> Reply:
    """Press the button that the policy names."""
    words = re.search(r"Press (ONE|TWO)\.", request.texts[0])
    assert words is not None
    return press(request, words[1])


def done_so_far(request: Request) -> str:
    """Return what the prompt tells of earlier steps."""
    return request.texts[-1].partition("So far:")[2].partition("Page:")[0]


def word_of(request: Request) -> str:
    """Return the word that the task asks for."""
    found = re.search(r'Enter "(\w+)"', request.texts[-1])
    assert found is not None
    return found[1]


def types_it(request: Request) -> Reply:
    """Type the word of the task, and once it is typed do what the policy says of the rest."""
    policy, typed = request.texts[0], "type [" in done_so_far(request)
    if typed and "then stop" in policy:
        return says("stop []")
    if typed and "then submit" in policy:
        return press(request, "Submit")
    return says(f"type [{ref_in(request, 'textbox')}] [{word_of(request)}]")


def acts_by_state(request: Request) -> Reply:
    """Take the state's action where there is one, else the wrong button."""
    if "press_first" in request.tool_names:
        return Reply(calls=(call("press_first"),))
    return Reply(calls=(call("click", target=ref_in(request, 'button "TWO"')),))


def asks_for_the_word(request: Request) -> Reply:
    """Call the policy that reads the word; type and submit what it came back with, or give up."""
    policy, done = request.texts[0], done_so_far(request)
    word = word_of(request)
    if "submit it" not in policy:  # The policy that was called is at work.
        return says(f"stop [{word}]" if "Tell the word" in policy else "stop []")
    if "type [" in done:
        return press(request, "Submit")
    if f"came back with: {word}" in done:
        return says(f"type [{ref_in(request, 'textbox')}] [{word}]")
    return (
        says("stop []") if "came back" in done else says(f'read_word [the word of: Enter "{word}" into it]')
    )


@dataclass(frozen=True)
class Fault:
    """An agent that is at fault in one line of one file, and what the line has to be."""

    name: str
    task: str
    preset: str
    files: dict[str, str]
    at_fault: str
    right: str
    reason: str
    """What is said of the step that is proposed."""
    llm: Callable[[Request], Reply]


def policy(url: str, words: str, *, top: bool = True) -> str:
    return POLICY.format(top="top = true\n" if top else "", url=url, words=words)


FAULTS = (
    Fault(
        "wrong instruction",
        "miniwob/click-test-2",
        "step",
        {"policies/miniwob/press_named.md": policy("click-test-2", "Press TWO.")},
        "Press TWO.",
        "Press ONE.",
        "The run ended with click",
        presses_one,
    ),
    Fault(
        "wrong recognition rule",
        "miniwob/click-test-2",
        "spaced",
        {"state_spaces/buttons.toml": SPACE.format(name="FIRST")},
        "must = ['button \"FIRST\"']",
        "must = ['button \"ONE\"']",
        "No state fits the page; buttons misses it",
        acts_by_state,
    ),
    Fault(
        "loop",
        "miniwob/enter-text",
        "step",
        {"policies/miniwob/press_named.md": policy("enter-text", "Type the word.")},
        "Type the word.",
        "Type the word, then submit.",
        "The run did the same from step 1 to",
        types_it,
    ),
    Fault(
        "stops too early",
        "miniwob/enter-text",
        "step",
        {"policies/miniwob/press_named.md": policy("enter-text", "Type the word, then stop.")},
        "Type the word, then stop.",
        "Type the word, then submit.",
        "The run ended with stop",
        types_it,
    ),
    Fault(
        "called policy returns nothing",
        "miniwob/enter-text",
        "step",
        {
            "policies/miniwob/submit_word.md": policy(
                "enter-text", "Call read_word, type the word, submit it."
            ),
            "policies/miniwob/read_word.md": policy("enter-text", "Say nothing.", top=False),
        },
        "Say nothing.",
        "Tell the word of the task.",
        "returned nothing.",
        asks_for_the_word,
    ),
)


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path, llm_server: LLMServer) -> Iterator[LiveWindow]:
    desk = LiveWindow(qtbot, tmp_path, llm_server)
    desk.fix = install(desk.window, make_service(desk.session))  # type: ignore[attr-defined]
    plain = (PRESETS / "plain.toml").read_text()
    spaced = re.sub(r'^space = ".*"$', 'space = "buttons"', plain, flags=re.MULTILINE)
    (tmp_path / "config/presets/spaced.toml").write_text(spaced)
    yield desk
    desk.close()


def put_right(desk: LiveWindow, qtbot: QtBot, folder: Path, fault: Fault) -> Gestures:
    """Let the faulty agent fail, and put it right as a person does; everything before the first gesture is given."""
    window, session = desk.window, desk.session
    for name, text in fault.files.items():
        path = folder / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    session.agent.set_preset(fault.preset)
    session.run_commands.set_max_steps(5)
    before = window.view.run
    session.tasks.open(fault.task, 0)
    session.run_commands.run()
    qtbot.waitUntil(lambda: window.view.run not in (None, before), timeout=WAIT)
    desk.wait_for("ended")
    assert window.view.success is False, fault.name
    failed = window.view.run
    window.activateWindow()
    qtbot.waitUntil(
        lambda: window.isActiveWindow() and window.actions_by_name["fix"].isEnabled(), timeout=WAIT
    )

    person = Gestures(desk)
    began = time.perf_counter()
    person.key("Fix", Qt.Key.Key_Period, CONTROL)
    controller = desk.fix  # type: ignore[attr-defined]

    def proposed() -> bool:
        shown = controller.fix_window
        view = None if shown is None else shown.view
        return view is not None and view.run == failed and bool(view.text or view.problem)

    qtbot.waitUntil(proposed, timeout=WAIT)
    assert not controller.fix_window.view.problem, (fault.name, controller.fix_window.view.problem)
    shown = controller.fix_window
    field = shown.field
    assert fault.reason in f"{shown.view.clue.what} {shown.view.clue.why}", fault.name
    assert shown.view.clue.what in shown.clues.rows.rows[shown.view.chosen].text
    assert field.textCursor().block().text() == fault.at_fault, fault.name
    qtbot.waitUntil(field.hasFocus, timeout=WAIT)
    person.key("select the line", Qt.Key.Key_End, SHIFT, on=field)
    person.done.append("type the right one")
    QTest.keyClicks(field, fault.right)
    person.key("Save and run again", Qt.Key.Key_Return, CONTROL, on=shown)
    qtbot.waitUntil(
        lambda: shown.view.rerun is not None and shown.view.rerun.state not in ("going on", "waiting"),
        timeout=WAIT,
    )
    assert shown.view.rerun.success is True, (fault.name, shown.view.rerun, shown.view.problem)
    qtbot.waitUntil(shown.keep_button.isEnabled, timeout=WAIT)
    person.key("Keep", Qt.Key.Key_K, ALT, on=shown)
    qtbot.waitUntil(lambda: "Kept" in shown.view.notice, timeout=WAIT)
    seconds = time.perf_counter() - began
    print(f"{fault.name}: {len(person.done)} gestures ({', '.join(person.done)}), {seconds:.1f} s")
    assert fault.right in (folder / "config" / shown.view.place.name).read_text()
    shown.close()
    QApplication.processEvents()
    return person


def test_each_kind_of_faulty_agent_is_put_right_with_six_gestures_at_the_most(
    desk: LiveWindow, llm_server: LLMServer, qtbot: QtBot, tmp_path: Path
) -> None:
    desk.wait_until(lambda: desk.window.view.message.startswith("Choose a task"))
    for fault in FAULTS:
        llm_server.otherwise = fault.llm
        person = put_right(desk, qtbot, tmp_path, fault)
        assert len(person.done) <= MOST, person.done
        for name in fault.files:
            (tmp_path / "config" / name).unlink()
