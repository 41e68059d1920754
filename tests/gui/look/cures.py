"""Mends five faulty agents in the window, by keys: ``python -m tests.gui.look.cures OUTDIR``.

Each agent is the bundled one with a fault in a file of its own. It does a task and fails, Fix is opened (Ctrl+.), and
Enter proves the change of the first cause, then Enter keeps it. What Fix shows is drawn; the program ends with 1 if a
cure was not kept, or does not hold when the task is done again.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from core.settings.settings import config_folder
from core.storage.resources import RESOURCES
from gui.shell.main_window import MainWindow
from tests.gui.look.program import PASSING, PATIENCE, run_program

CONTROL = Qt.KeyboardModifier.ControlModifier
_PATIENCE = 600_000
"""Milliseconds that a proof may take."""


_NO_CLICK = 'space = "none"\nactions = ["type", "select", "scroll", "goto", "go_back", "stop"]\n'


class Fault(NamedTuple):
    preset: str
    task: str
    file: str
    right: str
    wrong: str


FAULTS = (
    Fault(
        "laser",
        "airline/change-passenger",
        "state_spaces/airline.toml",
        'click [link "Modify booking"]',
        'click [link "Modify"]',
    ),
    Fault(
        "laser",
        "airline/cancel-booking",
        "state_spaces/airline.toml",
        'click [link "Cancel booking"]',
        'click [link "Cancel"]',
    ),
    Fault("step", "airline/find-booking", "presets/step.toml", 'space = "none"\n', _NO_CLICK),
    Fault("reflect", "airline/find-booking", "presets/reflect.toml", 'space = "none"\n', _NO_CLICK),
    Fault("synapse", "miniwob/click-button", "presets/synapse.toml", 'space = "none"\n', _NO_CLICK),
)


def main(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    first = FAULTS[0]
    return run_program(first.task, first.preset, lambda window: _mend_all(window, folder))


def _mend_all(window: MainWindow, folder: Path) -> None:
    _wait(lambda: window.view.mode == "waiting", "the first task")
    for number, fault in enumerate(FAULTS, 1):
        began = time.monotonic()
        kept, told = _mend(window, fault, folder, number)
        print(f"{number}. {fault.preset}, {fault.task}: {told}; {time.monotonic() - began:.0f} s", flush=True)
        if not kept:
            raise RuntimeError(f"The agent {fault.preset} was not mended.")


def _mend(window: MainWindow, fault: Fault, folder: Path, number: int) -> tuple[bool, str]:
    session = window.session
    own = config_folder() / fault.file
    own.parent.mkdir(parents=True, exist_ok=True)
    text = (RESOURCES / fault.file).read_text("utf-8")
    own.unlink(missing_ok=True)
    passed = _done(window, fault)
    own.write_text(text.replace(fault.right, fault.wrong), "utf-8")
    if not passed or _done(window, fault):
        return False, "the fault changes nothing"
    session.trace.show_now()
    window.activateWindow()
    _wait(lambda: QApplication.activeWindow() is window, "the window in front")
    _wait(window.actions_by_name["fix"].isEnabled, "Fix")
    QTest.keyClick(window, Qt.Key.Key_Period, CONTROL)
    fix = window.controllers["fix"]
    run = window.view.run

    def shown() -> bool:
        return fix.fix_window is not None and fix.fix_window.view.run == run and fix.fix_window.view.ready  # type: ignore[attr-defined]

    _wait(shown, "the causes")
    opened = fix.fix_window  # type: ignore[attr-defined]
    _wait(lambda: opened.clues.rows.hasFocus() and opened.prove_button.isEnabled(), "a change")
    _draw(opened, folder / f"{number}-causes.png")
    QTest.keyClick(opened.clues.rows, Qt.Key.Key_Return)
    _wait(lambda: opened.view.proving, "a proof")
    _wait(lambda: not opened.view.proving, "the end of the proof", _PATIENCE)
    _draw(opened, folder / f"{number}-proof.png")
    clue = opened.view.clue
    proof = clue.proof
    told = f"{clue.place}, " + ("no proof" if proof is None else f"{proof.outcome}: {proof.sentence}")
    QTest.keyClick(opened.clues.rows, Qt.Key.Key_Return)
    _wait(lambda: "Kept" in opened.view.notice or bool(opened.view.problem), "the cure to be kept")
    _draw(opened, folder / f"{number}-kept.png")
    if opened.view.problem:
        return False, f"{told} {opened.view.problem}"
    opened.close()
    return _done(window, fault), told


def _done(window: MainWindow, fault: Fault) -> bool:
    """Do the task to its end; return whether that was a success."""
    before = window.view.run
    window.session.agent.set_preset(fault.preset)
    window.session.tasks.open(fault.task, 0)
    _wait(lambda: window.view.run not in (None, before) and window.view.mode == "waiting", "the task")
    window.session.run_commands.run()
    _wait(lambda: window.view.mode == "ended" and window.view.judged, "the end of the run")
    return window.view.success is True


def _wait(condition: Callable[[], bool], what: str, patience: int = PATIENCE) -> None:
    for _ in range(patience // PASSING):
        if condition():
            return
        QTest.qWait(PASSING)
    raise RuntimeError(f"Waited in vain for {what}.")


def _draw(window: QWidget, path: Path) -> None:
    QTest.qWait(PASSING)
    window.grab().save(str(path))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
