"""Draws Save as exemplar and Record."""

from PySide6.QtWidgets import QWidget

from core.debugger.exemplars.library.views import ExemplarPrompt
from core.debugger.exemplars.saving.views import RecordingView, SavingView
from gui.exemplars.saving.controller import RecordingController
from gui.exemplars.saving.window import SavingWindow
from tests.gui import samples
from tests.gui.exemplars.saving import test_window
from tests.gui.exemplars.stand_ins import AskedService
from tests.gui.look.studio import Studio


def _saving(studio: Studio, *views: SavingView) -> SavingWindow:
    window = SavingWindow(studio.window.theme, studio.window.exemplar_history, studio.window)
    window.wait(12)
    for view in views:
        window.show_view(view)
    window.show()
    studio.settle()
    return window


def saving(studio: Studio) -> QWidget:
    return _saving(studio, test_window.VIEW)


def saving_reading(studio: Studio) -> QWidget:
    return _saving(studio)


def saving_nothing(studio: Studio) -> QWidget:
    steps = tuple(one.replace(chosen=False) for one in test_window.VIEW.steps)
    return _saving(
        studio,
        test_window.VIEW.replace(
            steps=steps,
            exemplar=None,
            prompt=ExemplarPrompt(),
            problem="Run 12 has no step to save: step 1: it was not chosen; step 2: a later step went "
            "back before it.",
        ),
    )


def saving_asking(studio: Studio) -> QWidget:
    window = _saving(studio, test_window.NO_SUCCESS)
    window.steps.toggled.emit(5, True)
    window.show_view(
        test_window.NO_SUCCESS.replace(steps=window._view.steps),
    )
    return window


def saving_saved(studio: Studio) -> QWidget:
    return _saving(studio, test_window.VIEW, test_window.SAVED)


def saving_saved_new(studio: Studio) -> QWidget:
    saved = test_window.SAVED.saved
    assert saved is not None
    why = "It is new: runs find it once it is reviewed in the library (Ctrl+L)."
    found = tuple(one.replace(used=False) for one in saved.found)
    new = test_window.SAVED.replace(saved=saved.replace(unused=why, found=found))
    return _saving(studio, test_window.VIEW, new)


def saving_replaying(studio: Studio) -> QWidget:
    return _saving(studio, test_window.VIEW.replace(playing="step 2 of 4"))


def saving_plays_no(studio: Studio) -> QWidget:
    played = test_window.PLAYED.replace(
        success=False,
        looks=1,
        stopped_at=2,
        problem='click [7]: no element of the page is link "Orders of this year".',
    )
    saved = test_window.SAVED.saved
    assert saved is not None
    preset = saved.replace(preset="plain", recalls=False, found=())
    return _saving(studio, test_window.VIEW, test_window.SAVED.replace(played=played, saved=preset))


def saving_undone(studio: Studio) -> QWidget:
    saved = test_window.SAVED.saved
    assert saved is not None
    undone = test_window.SAVED.replace(saved=saved.replace(undone=True))
    return _saving(studio, test_window.VIEW, undone)


def saving_long(studio: Studio) -> QWidget:
    view = test_window.VIEW
    steps = tuple(
        test_window.step(
            number, f"type [{number}] [{'word ' * 40}]", f'textbox "{"Name " * 12}"', thought="Because. " * 60
        )
        for number in range(1, 60)
    )
    contrasts = tuple(
        view.contrasts[0].replace(step=number, tried=f"type [{number}] [{'word ' * 60}]")
        for number in range(1, 6)
    )
    return _saving(
        studio,
        view.replace(
            steps=steps,
            contrasts=contrasts,
            prompt=ExemplarPrompt(messages=view.prompt.messages * 60, tokens=51840),
            instruction="Do this and that. " * 60,
        ),
    )


def recording(studio: Studio) -> None:
    studio.review()
    controller = RecordingController(studio.window, AskedService("recorded"))
    studio.session.session_changed.send(samples.SESSION.replace(handed_over=True))
    last = samples.step_row(
        18, 3, action="type [4] [happy birthday]", target='textbox "Search"', origin="person"
    )
    studio.settle()
    controller._show_view(RecordingView(recording=True, run=18, steps=3, last=last))


def recording_asks(studio: Studio) -> QWidget:
    studio.review()
    controller = RecordingController(studio.window, AskedService("recorded"))
    studio.settle()
    controller._ask()
    assert controller.asking is not None
    return controller.asking


def tools(studio: Studio) -> None:
    studio.review()
