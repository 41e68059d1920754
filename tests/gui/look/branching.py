"""Draws Fork and Ask again."""

from PySide6.QtWidgets import QWidget

from core.debugger.branching.views import ForkView
from gui.ask_again.window import AskAgain
from gui.branching.dialog import ForkDialog
from tests.gui.ask_again import test_items as test_ask_items
from tests.gui.branching import test_dialog as test_fork_dialog
from tests.gui.look.studio import Studio


def _fork(studio: Studio, view: ForkView) -> ForkDialog:
    dialog = ForkDialog(studio.window.theme, studio.window)
    dialog.form.show_catalogue(test_fork_dialog.CATALOGUE)
    dialog.wait(view.run, view.step)
    dialog.show_view(view)
    dialog.show()
    studio.settle()
    return dialog


def fork(studio: Studio) -> QWidget:
    return _fork(studio, test_fork_dialog.VIEW)


def fork_attached(studio: Studio) -> QWidget:
    view = test_fork_dialog.VIEW.replace(preset="attached", attached=True, recorded=True)
    return _fork(studio, view)


def fork_changed(studio: Studio) -> QWidget:
    irreversible = "Going back to step 3 does not undo POST http://shop.example/order (step 4) and 2 more"
    dialog = _fork(studio, test_fork_dialog.VIEW.replace(irreversible=irreversible))
    dialog.form.preset.setCurrentIndex(2)
    dialog.form.replay.setCurrentIndex(1)
    dialog.form.policy.setCurrentIndex(1)
    dialog.form.exemplars.choice.setCurrentIndex(3)
    dialog.form.exemplars.path.setText("/home/me/exemplars/orders.jsonl")
    dialog.form.exemplars.changed.emit()
    dialog.form.text.appendPlainText("Never click Delete.")
    dialog.show_view(
        test_fork_dialog.VIEW.replace(
            irreversible=irreversible, problem="/home/me/exemplars/orders.jsonl holds no exemplars."
        )
    )
    return dialog


def fork_unready(studio: Studio) -> QWidget:
    problem = "Step 9 of run 12 was recorded without the agent's state, so you cannot go back to it."
    return _fork(studio, ForkView(run=12, step=9, problem=problem))


def ask_items(studio: Studio) -> QWidget:
    dialog = AskAgain(studio.window.theme, studio.window)
    dialog.show_view(test_ask_items.VIEW)
    dialog.messages.sections[2].delete_button.click()
    dialog.items.follow()
    dialog.items.rows.select_key(2)
    dialog.show()
    studio.settle()
    return dialog


def ask_items_unknown(studio: Studio) -> QWidget:
    dialog = AskAgain(studio.window.theme, studio.window)
    dialog.show_view(test_ask_items.VIEW.replace(parts=(), parts_known=False))
    dialog.show()
    studio.settle()
    return dialog
