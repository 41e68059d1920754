"""Pictures of single panels, floating at a readable size."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from core.debugger.breakpoints.views import BreaksView
from core.debugger.steps.views import DiagramEdgeView, DiagramState, StateView
from core.schema.progress import Subtask
from gui.panels.state.space_window import StateSpaceWindow
from tests.gui import samples
from tests.gui.look.studio import Studio, large


def plan(studio: Studio) -> QWidget:
    return large(studio, "Plan & remedies", 330, 860)


def plan_docked(studio: Studio) -> None:
    studio.review()
    studio.window.docks.places["Plan & remedies"].bring()


def plan_edited(studio: Studio) -> QWidget:
    shown = large(studio, "Plan & remedies", 330, 420)
    studio.settle()
    studio.window.plan.edit()
    return shown


def plan_long(studio: Studio) -> QWidget:
    studio.review()
    studio.settle()
    long = samples.PLAN.replace(
        subtasks=tuple(
            Subtask(text=f"Do the part numbered {at} " + "with care and patience " * (at % 5))
            for at in range(1, 25)
        ),
        remedies=tuple(
            one.replace(number=at, action=f"type [{at}] [{'x' * 40 * (at % 4)}]")
            for at, one in enumerate(samples.PLAN.remedies * 6)
        ),
        judgements=samples.PLAN.judgements * 8,
        experience="Trial 1 failed because of something. " * 40,
    )
    studio.session.step_changed.send(samples.STEP.replace(plan=long))
    studio.settle()
    return large(studio, "Plan & remedies", 330, 860)


def _state(studio: Studio, view: StateView, width: int, height: int) -> QWidget:
    dock = large(studio, "State", width, height)
    studio.session.step_changed.send(samples.STEP.replace(state=view))
    return dock


def state(studio: Studio) -> QWidget:
    return _state(studio, samples.SPACE, 320, 1100)


def state_large(studio: Studio) -> QWidget:
    shown = _state(studio, samples.SPACE, 900, 900)
    studio.settle()
    return shown


def state_space(studio: Studio) -> QWidget:
    state_docked(studio)
    large = studio.window.findChild(StateSpaceWindow)
    assert large is not None
    large.setWindowFlag(Qt.WindowType.Window)
    large.show()
    return large


def state_docked(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.session.step_changed.send(samples.STEP.replace(state=samples.SPACE))


def state_long(studio: Studio) -> QWidget:
    states = tuple(
        DiagramState(name=f"s{at}", title=f"Page of the kind {at}", visits=at % 3, current=at == 7)
        for at in range(14)
    )
    edges = tuple(
        DiagramEdgeView(
            source=f"s{at}",
            target=f"s{(at * step + step) % 14}",
            actions=(f"go_to_page_{at}", "again", "more"),
            taken=at % 3,
        )
        for at in range(14)
        for step in (1, 3)
    )
    view = samples.SPACE.replace(
        states=states,
        edges=edges,
        buffer=samples.SPACE.buffer * 8,
        instruction="Do this, then that. " * 80,
        transitions=13,
    )
    return _state(studio, view, 420, 1000)


def stack(studio: Studio) -> QWidget:
    return large(studio, "Policy stack", 330, 420)


def stack_opened(studio: Studio) -> QWidget:
    shown = large(studio, "Policy stack", 330, 560)
    studio.window.stack.frames.pressed_on.emit(("frame", 4))
    return shown


def stack_long(studio: Studio) -> QWidget:
    shown = large(studio, "Policy stack", 330, 860)
    frame = samples.STACK.frames[0]
    frames = tuple(
        frame.replace(
            number=number,
            current=number == 9,
            argument="a long argument " * number,
            history=tuple(f"{at}. click [{at}]: what came of it in words" for at in range(60)),
        )
        for number in range(9, 0, -1)
    )
    stack = samples.STACK.replace(frames=frames, finished=frames * 3)
    studio.session.step_changed.send(samples.STEP.replace(stack=stack))
    studio.settle()
    studio.window.stack.frames.pressed_on.emit(("frame", 8))
    return shown


def state_read(studio: Studio) -> QWidget:
    text = "A lamp for desk and shelf, glazed by hand, with a shade of linen and a cord of two metres. " * 6
    kept = (("B12-LAMP-GREEN, price", "$58.00"), ("B12-LAMP-GREEN, description", text))
    return _state(studio, samples.SPACE.replace(remembered=(*samples.SPACE.remembered, *kept)), 330, 900)


def exemplars(studio: Studio) -> QWidget:
    return large(studio, "Exemplars", 330, 560)


def exemplar_read(studio: Studio) -> QWidget:
    shown = large(studio, "Exemplars", 330, 420)
    studio.window.exemplars.used.pressed_on.emit("shop-lamp-01")
    return shown


def branches(studio: Studio) -> QWidget:
    shown = large(studio, "Runs & steps", 330, 520)
    studio.session.runs_changed.send(samples.BRANCHED)
    studio.settle()
    for run in (19, 20):
        studio.window.runs.tree.expand(studio.window.runs.model.run_index(run))
    return shown


def breakpoints(studio: Studio) -> QWidget:
    shown = large(studio, "Breakpoints", 300, 640)
    studio.breakpoints.changed.send(samples.BREAKS)
    return shown


def breakpoints_none(studio: Studio) -> QWidget:
    shown = large(studio, "Breakpoints", 300, 420)
    studio.breakpoints.changed.send(
        BreaksView(problems=("Breakpoint 7 (states) cannot be read; make it anew.",))
    )
    return shown


def watch_refused(studio: Studio) -> QWidget:
    shown = breakpoints(studio)
    studio.window.breakpoints.field.text.setText("run.cots")
    studio.window.breakpoints.field.show_answer("At character 4: run has no “cots”; did you mean cost?")
    return shown
