"""What the desktop is asked to show, by a notify-send that writes down what it was started with."""

from pathlib import Path

import pytest
from PySide6.QtCore import QProcess
from pytestqt.qtbot import QtBot

from gui.background_work.notifying import Notifier
from gui.shell.main_window import MainWindow

TITLE, TEXT = "The run has stopped", "Watch run.cost < 3 & steps"


@pytest.fixture
def program(tmp_path: Path, monkeypatch) -> Path:
    """The file of the program; another line may be added to it."""
    file = tmp_path / "notify-send"
    file.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/asked\n')
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return file


def asked(program: Path) -> list[str]:
    file = program.with_name("asked")
    return file.read_text().splitlines() if file.exists() else []


def test_the_text_is_shown_as_it_is_and_a_click_brings_the_window_back(program, window: MainWindow, qtbot):
    program.write_text(f"{program.read_text()}echo default\n")
    window.showMinimized()
    Notifier(window).notify(TITLE, TEXT)
    qtbot.waitUntil(lambda: not window.isMinimized())
    assert asked(program)[-3:] == ["--", TITLE, "Watch run.cost &lt; 3 &amp; steps"]


def test_a_notification_that_nobody_clicks_leaves_the_window_where_it_is(program, window, qtbot):
    window.showMinimized()
    notifier = Notifier(window)
    notifier.notify(TITLE, TEXT)
    qtbot.waitUntil(lambda: not notifier.findChildren(QProcess))
    assert asked(program)
    assert window.isMinimized()


def test_a_program_that_knows_no_actions_is_asked_without_one(program, window, qtbot):
    program.write_text(f'{program.read_text()}case "$2" in --action*) exit 1;; esac\n')
    notifier = Notifier(window)
    notifier.notify(TITLE, TEXT)
    qtbot.waitUntil(lambda: asked(program).count(TITLE) == 2)
    assert [line for line in asked(program) if line.startswith("--action")] == [
        "--action=default=Show Backstep"
    ]


def test_closing_the_window_ends_a_notification_that_waits_for_a_click(
    program, window, qtbot: QtBot, tmp_path
):
    program.write_text(f"{program.read_text()}exec sleep 600\n")
    notifier = Notifier(window)
    notifier.notify(TITLE, TEXT)
    qtbot.waitUntil(lambda: bool(asked(program)))
    window.close()
    assert [one.state() for one in notifier.findChildren(QProcess)] == [QProcess.ProcessState.NotRunning]
