"""Draws Attach an agent."""

import time

from PySide6.QtWidgets import QWidget

from core.debugger.attach.views import AttachRequest, AttachView, Hold
from gui.attach.controller import AttachController, PartedDialog
from gui.attach.dialog import AttachDialog
from tests.gui import samples
from tests.gui.attach import test_controller, test_dialog
from tests.gui.look.studio import Studio
from tests.gui.stand_ins import AskedService


def _dialog(studio: Studio, view: AttachView) -> AttachDialog:
    dialog = AttachDialog(studio.window.theme, studio.window)
    dialog.offer(view.request or AttachRequest())
    dialog.show_view(view)
    dialog.show()
    studio.settle()
    return dialog


def attach_empty(studio: Studio) -> QWidget:
    return _dialog(studio, AttachView())


def attach_running(studio: Studio) -> QWidget:
    return _dialog(studio, test_dialog.ATTACHED)


def attach_problem(studio: Studio) -> QWidget:
    problem = "There is no program pyton; give its path, or a name that is on the PATH."
    return _dialog(studio, AttachView(request=test_dialog.REQUEST, problem=problem))


def attach_parted(studio: Studio) -> QWidget:
    dialog = PartedDialog(studio.window.theme, studio.window)
    lines = [f"[{number}] button 'Press {number}'" for number in range(1, 60)]
    other = [*lines[:20], "[21] button 'Sold out'", *lines[21:]]
    dialog.show_parted(test_controller.PARTED.replace(recorded="\n".join(lines), asked="\n".join(other)))
    dialog.show()
    studio.settle()
    return dialog


def attach_held(studio: Studio) -> None:
    controller = AttachController(studio.window, AskedService())
    studio.review()
    studio.session.session_changed.send(samples.SESSION.replace(attached=True))
    controller.patience.show_hold(Hold(since=time.monotonic() - 12, what="action"))
    studio.settle()
