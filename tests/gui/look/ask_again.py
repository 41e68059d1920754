"""Draws Ask again and Compare."""

from PySide6.QtWidgets import QWidget

from core.debugger.ask_again.views import AskView, ReplyAgain
from core.debugger.compare.views import AlignedPair, Compared, ComparedView, PairView
from core.schema.messages import Message
from gui.ask_again.items import ExemplarChooser
from gui.ask_again.window import AskAgain
from gui.compare.window import CompareWindow
from gui.panels.diff import PICTURE
from tests.gui import samples
from tests.gui.ask_again import test_items
from tests.gui.ask_again import test_window as test_ask_again
from tests.gui.compare import test_window as test_compare_window
from tests.gui.look.studio import Studio


def _dialog(studio: Studio, view: AskView) -> AskAgain:
    dialog = AskAgain(studio.window.theme, studio.window)
    dialog.show_llms(test_ask_again.LLMS)
    dialog.show_view(view)
    dialog.show()
    studio.settle()
    return dialog


def ask_again(studio: Studio) -> QWidget:
    second = test_ask_again.SECOND
    dialog = _dialog(studio, test_ask_again.VIEW.replace(asked=(second, test_ask_again.FIRST)))
    dialog.set_adoptable(True)
    return dialog


def exemplar_chooser(studio: Studio) -> QWidget:
    shown = ExemplarChooser(test_items.MEMORY, "Switch the exemplar", studio.window)
    shown.show()
    return shown


def ask_again_changed(studio: Studio) -> QWidget:
    asked = (test_ask_again.FIRST, test_ask_again.SECOND)
    dialog = _dialog(studio, test_ask_again.VIEW.replace(asked=asked))
    dialog.messages.sections[0].editor.appendPlainText("Think first.")
    dialog.messages.sections[2].set_folded(True)
    dialog.temperature.setValue(0.9)
    dialog.answers.bars.select_key("click [5]")
    return dialog


def ask_again_agents(studio: Studio) -> QWidget:
    return _dialog(studio, test_ask_again.AGENTS)


def ask_again_reply(studio: Studio) -> QWidget:
    dialog = _dialog(studio, test_ask_again.AGENTS)
    dialog.go_on_button.click()
    studio.settle()
    return dialog.reply


def ask_again_empty(studio: Studio) -> QWidget:
    return _dialog(studio, test_ask_again.VIEW.replace(asked=()))


def ask_again_nobody(studio: Studio) -> QWidget:
    problem = "Step 9 of run 18 asked no LLM for its action; choose another step."
    return _dialog(studio, AskView(run=18, step=9, problem=problem))


def ask_again_waiting(studio: Studio) -> QWidget:
    coming = test_ask_again.asked(0, test_ask_again.GREEN, test_ask_again.BLUE, count=5)
    view = test_ask_again.VIEW.replace(asked=(coming,), busy=True)
    return _dialog(studio, view)


def ask_again_failed(studio: Studio) -> QWidget:
    problem = "There is no LLM llama: choose another one, or add it in the settings (Ctrl+,)."
    return _dialog(studio, test_ask_again.VIEW.replace(problem=problem))


def ask_again_long(studio: Studio) -> QWidget:
    turns = tuple(
        Message(role=role, text=f"{words} {at}\n" + "[1] link 'Something on a page' " * 40)
        for at in range(15)
        for role, words in (("user", "Observation"), ("assistant", "Action"))
    )
    huge = Message(role="user", text="word " * 80_000)
    answers = tuple(
        ReplyAgain(action=f"type [{at % 9}] [{'a long text ' * 9}]", thought="I think this and that. " * 30)
        for at in range(100)
    )
    asked = tuple(
        test_ask_again.asked(
            number,
            *answers,
            llm="a-provider/with-a-very-long-model-name-instruct-2507",
            changed=tuple(f"{'+-'[at % 2]}line {at} " + "word " * (at % 40) for at in range(600)),
        )
        for number in range(1, 12)
    )
    view = test_ask_again.VIEW.replace(messages=(*test_ask_again.MESSAGES[:1], *turns, huge), asked=asked)
    return _dialog(studio, view)


def _compare(studio: Studio, view: ComparedView, pair: PairView | None) -> CompareWindow:
    compare = CompareWindow(studio.window.theme, studio.window)
    compare.show_compared(view)
    if pair is not None:
        compare.show_pair(pair)
    compare.show()
    studio.settle()
    return compare


def compare(studio: Studio) -> QWidget:
    return _compare(studio, test_compare_window.VIEW, test_compare_window.with_pictures())


def compare_page(studio: Studio) -> QWidget:
    shown = _compare(studio, test_compare_window.VIEW, test_compare_window.with_pictures())
    shown.beside.names.select_key("page")
    studio.settle()
    return shown


def compare_only(studio: Studio) -> QWidget:
    shown = _compare(studio, test_compare_window.VIEW, test_compare_window.with_pictures())
    shown.beside.names.select_key("page")
    shown.beside.only_changes.setChecked(True)
    return shown


def compare_pictures(studio: Studio) -> QWidget:
    shown = _compare(studio, test_compare_window.VIEW, test_compare_window.with_pictures())
    shown.beside.names.select_key(PICTURE)
    return shown


def compare_waiting(studio: Studio) -> QWidget:
    return _compare(studio, ComparedView(left=18, right=21), None)


def compare_failed(studio: Studio) -> QWidget:
    problem = "There is no run 99 in the trace database traces.db; the nearest are 18 and 21."
    return _compare(studio, ComparedView(left=18, right=99, problem=problem), None)


def compare_steps(studio: Studio) -> QWidget:
    shown = _compare(studio, ComparedView(left=18, right=21), None)
    shown.show_steps((18, 2), (18, 4))
    shown.show_pair(test_compare_window.with_pictures().replace(right=(18, 4)))
    return shown


def compare_long(studio: Studio) -> QWidget:
    pairs = tuple(
        AlignedPair(
            left=samples.step_row(18, at, action=f"type [{at}] [{'long ' * 30}]"),
            right=samples.step_row(21, at) if at % 7 else None,
            differs=("page", "action", "outcome") if at % 3 == 0 and at % 7 else (),
        )
        for at in range(1, 800)
    )
    left, right = (
        run.replace(task="webarena/a-rather-long-task-name-of-a-file-612", name="")
        for run in (test_compare_window.LEFT, test_compare_window.RIGHT)
    )
    parts = tuple(
        part.replace(left=part.left * 40 + " and more" * 400, right=part.right * 30)
        for part in test_compare_window.PARTS
    )
    view = test_compare_window.VIEW.replace(compared=Compared(left=left, right=right, pairs=pairs))
    return _compare(studio, view, PairView(left=(18, 3), right=(21, 3), parts=parts))
