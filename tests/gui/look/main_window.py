"""Draws the window at each stage of a run: ``python -m tests.gui.look.main_window OUTDIR [NAME …]``."""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication, QWidget

from core.debugger.breakpoints.views import BreaksView
from core.debugger.llms.views import KnownServer, LLMAnswer, LLMEntry
from core.debugger.snapshots import (
    ActionView,
    DiagramEdgeView,
    DiagramState,
    ExemplarsView,
    ObservationView,
    PersonQuestion,
    Picked,
    PlanView,
    RunsView,
    SessionView,
    StackView,
    StateView,
    StepView,
    TaskFilesAnswer,
)
from core.schema.messages import Message
from core.schema.observation import Box
from core.schema.progress import Subtask
from gui.breakpoints.controller import BreakpointsController
from gui.compare.controller import CompareController
from gui.llms.dialog import SettingsDialog
from gui.panels.breakpoints.editor import BreakpointEditor
from gui.panels.breakpoints.expression_field import ExpressionField
from gui.provenance.controller import ProvenanceController
from gui.shell.docks import LEFT
from gui.shell.main_window import MainWindow
from gui.task_chooser.chooser import TaskChooser
from gui.timeline.controller import TimelineController
from tests.gui import reading_samples, samples
from tests.gui.stand_ins import AskedService, AskedSession, DrawnPage


class Studio:
    """A window with a session that says what the picture needs."""

    def __init__(self, application: QApplication, choice: str) -> None:
        self.application = application
        self.session = AskedSession()
        self.breakpoints = AskedService("answered")
        self.provenance = AskedService()
        self.timeline = AskedService("logged")
        self.compare = AskedService("paired", "diffed")
        folder = tempfile.mkdtemp()
        settings = QSettings(f"{folder}/look.ini", QSettings.Format.IniFormat)
        settings.setValue("theme", choice)
        self.window = MainWindow(self.session, DrawnPage(), settings)
        self.breaks = BreakpointsController(self.window, self.breakpoints)
        self.origins = ProvenanceController(self.window, self.provenance)
        TimelineController(self.window, self.timeline)
        CompareController(self.window, self.compare)
        self.window.resize(1280, 800)
        self.window.show()
        self.session.catalogue_changed.send(samples.CATALOGUE)

    def settle(self) -> None:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            self.application.processEvents()

    def review(self) -> None:
        self.session.session_changed.send(samples.SESSION)
        self.session.runs_changed.send(samples.RUNS)
        self.session.live_page_changed.send(samples.LIVE)
        self.session.step_changed.send(samples.STEP)
        for line in samples.log_lines(12):
            self.session.logged.send(line)


def empty(studio: Studio) -> None:
    studio.session.session_changed.send(SessionView())


def welcome(studio: Studio) -> QWidget:
    studio.window.tasks.show_welcome()
    assert studio.window.tasks.welcome is not None
    return studio.window.tasks.welcome


def chooser(studio: Studio) -> QWidget:
    studio.settle()
    studio.window.tasks.choose_task()
    assert studio.window.tasks.chooser is not None
    return studio.window.tasks.chooser


def own_tasks(studio: Studio) -> QWidget:
    shown = chooser(studio)
    studio.session.catalogue_changed.send(samples.FILES_CATALOGUE)
    studio.settle()
    assert isinstance(shown, TaskChooser)
    text = "tasks-of-my-shop.toml: 2 tasks, remembered for next time."
    shown.show_answer(TaskFilesAnswer(ok=True, text=text, task="shop/lamp-price"))
    return shown


def bad_file(studio: Studio) -> QWidget:
    shown = own_tasks(studio)
    assert isinstance(shown, TaskChooser)
    lines = [f"  line {line}: tasks[{line}].instruction: is missing" for line in range(3, 15)]
    text = "\n".join(
        ["more.toml was not added: correct it, then add it again.", "more.toml has 12 problems:", *lines]
    )
    shown.show_answer(TaskFilesAnswer(ok=False, text=text))
    return shown


def task_files(studio: Studio) -> QWidget:
    shown = own_tasks(studio)
    assert isinstance(shown, TaskChooser)
    shown.show_answer(None)
    shown.tabs.setCurrentIndex(2)
    return shown


def settings(studio: Studio) -> QWidget:
    presets = (
        KnownServer(title="OpenAI", base_url="https://api.openai.com/v1", needs_key=True),
        KnownServer(
            title="Ollama", base_url="http://127.0.0.1:11434/v1", note="Start it with: ollama serve."
        ),
    )
    dialog = SettingsDialog(studio.window.theme, presets, studio.window)
    form = LLMEntry(name="llama", base_url="http://127.0.0.1:11434/v1", model="llama3.3", temperature=0.2)
    dialog.show_llms((form, LLMEntry(name="gpt", base_url=presets[0].base_url, model="gpt-4o")), "llama")
    dialog.show_answer(
        LLMAnswer(ok=True, text="llama: http://127.0.0.1:11434 answers in 12 ms and has llama3.3.")
    )
    dialog.show()
    return dialog


def review(studio: Studio) -> None:
    studio.review()


def edited(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.window.action.form.line.setText("type [9] [happy birthday] [enter=1]")
    studio.window.action.form._on_line()
    studio.window.docks.by_name["Prompt"].raise_()


def wrong(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.window.action.form.line.setText("click [44]")
    studio.window.action.form._on_line()
    studio.window.docks.by_name["Calls"].raise_()


def pointing(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.window.page.set_pointing(True)
    studio.session.picked.send(
        Picked(ref=8, label='button "Features"', box=Box(x=260, y=120, width=104, height=36))
    )


def handed_over(studio: Studio) -> None:
    studio.review()
    studio.session.session_changed.send(samples.SESSION.replace(handed_over=True))
    studio.window.docks.by_name["Log"].raise_()


def thinking(studio: Studio) -> None:
    studio.review()
    studio.session.session_changed.send(
        samples.SESSION.replace(mode="asking", phase="decide", message="Asking gpt-4o…")
    )
    streaming = "The lamp is green and 20 inches high. It costs $58.00, which is below"
    studio.session.step_changed.send(
        samples.STEP.replace(action=ActionView(outcome="thinking", streaming=streaming))
    )


def answering(studio: Studio) -> None:
    studio.review()
    studio.session.session_changed.send(samples.SESSION.replace(mode="answering", phase="decide"))
    studio.session.step_changed.send(
        samples.STEP.replace(action=ActionView(form=samples.PERMISSIBLE.actions, elements=samples.ELEMENTS))
    )
    studio.session.question_asked.send(
        PersonQuestion(purpose="decide", messages=(Message(role="user", text="What next?"),))
    )


def recorded(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.session.step_changed.send(samples.recorded_step())


def no_picture(studio: Studio) -> None:
    studio.review()
    studio.settle()
    step = samples.recorded_step()
    studio.session.step_changed.send(step.replace(screenshot=step.screenshot.replace(data=b"")))


def failed(studio: Studio) -> None:
    studio.review()
    message = (
        "The LLM server at http://localhost:11434/v1 does not answer (connection refused): start it, "
        "or choose another LLM (Ctrl+Shift+M), then go on (F10)."
    )
    studio.session.session_changed.send(samples.SESSION.replace(mode="failed", message=message))


def ended(studio: Studio) -> None:
    studio.review()
    studio.session.session_changed.send(
        samples.SESSION.replace(
            mode="ended",
            message="The page ended the episode after 5 steps.",
            success=True,
            reward=0.93,
            phase=None,
        )
    )


def unjudged(studio: Studio) -> None:
    studio.review()
    studio.session.session_changed.send(
        samples.SESSION.replace(mode="ended", message="The agent stopped.", judged=False, answer="$58.00")
    )


def long_content(studio: Studio) -> None:
    studio.review()
    studio.settle()
    rows = tuple(samples.step_row(18, number, thought="x" * 400) for number in range(1, 2500))
    runs = RunsView(
        runs=tuple(
            samples.run_row(run, task=f"miniwob/a-rather-long-task-name-{run}") for run in range(300, 0, -1)
        ),
        total=1000,
        current=18,
        steps={18: rows},
    )
    studio.session.runs_changed.send(runs)
    thought = "This is a long thought. " * 40
    studio.session.step_changed.send(
        StepView(
            run=18,
            number=2499,
            state=StateView(
                space="general",
                state="results",
                why="a reason that goes on " * 8,
                url="http://x/" + "a" * 300,
            ),
            action=samples.ACTION.replace(
                thought=thought,
                proposed="click [7]",
                origin="person",
                queue=("click [1]",) * 12,
            ),
            permissible=samples.STEP.permissible,
            observation=ObservationView(
                url="http://x",
                raw="[1] text " + "word " * 60_000 + "\n" + samples.RAW * 400,
                clean=samples.RAW,
                html="<p>" + "x" * 900_000,
                raw_elements=20_000,
                raw_tokens=612_000,
                clean_elements=40,
                clean_tokens=420,
            ),
            calls=samples.CALLS,
        )
    )


def _large(studio: Studio, name: str, width: int, height: int) -> QWidget:
    """Float a dock at this size, as a person would to read it."""
    studio.review()
    studio.settle()
    dock = studio.window.dock(name)
    dock.setFloating(True)
    dock.resize(width, height)
    dock.show()
    return dock


def plan(studio: Studio) -> QWidget:
    return _large(studio, "Plan & remedies", 330, 860)


def plan_docked(studio: Studio) -> None:
    studio.review()
    studio.window.docks.by_name["Plan & remedies"].raise_()


def plan_edited(studio: Studio) -> QWidget:
    shown = _large(studio, "Plan & remedies", 330, 420)
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
    dock = studio.window.dock("Plan & remedies")
    dock.setFloating(True)
    dock.resize(330, 860)
    return dock


def _state(studio: Studio, view: StateView, width: int, height: int) -> QWidget:
    dock = _large(studio, "State", width, height)
    studio.session.step_changed.send(samples.STEP.replace(state=view))
    return dock


def state(studio: Studio) -> QWidget:
    return _state(studio, samples.SPACE, 320, 1100)


def state_large(studio: Studio) -> QWidget:
    shown = _state(studio, samples.SPACE, 900, 900)
    studio.settle()
    return shown


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
    return _large(studio, "Policy stack", 330, 420)


def stack_opened(studio: Studio) -> QWidget:
    shown = _large(studio, "Policy stack", 330, 560)
    studio.window.stack.frames.pressed_on.emit(("frame", 4))
    return shown


def stack_long(studio: Studio) -> QWidget:
    shown = _large(studio, "Policy stack", 330, 860)
    frame = samples.STACK.frames[0]
    frames = tuple(
        frame.replace(
            number=number,
            current=number == 9,
            argument="a long argument " * number,
            history=tuple(f"{at}. click [{at}]: what came of it in words" for at in range(60)),
            instruction="Do this, then that. " * 200,
        )
        for number in range(9, 0, -1)
    )
    stack = samples.STACK.replace(frames=frames, finished=frames * 3)
    studio.session.step_changed.send(samples.STEP.replace(stack=stack))
    studio.settle()
    studio.window.stack.frames.pressed_on.emit(("frame", 8))
    return shown


def exemplars(studio: Studio) -> QWidget:
    return _large(studio, "Exemplars", 330, 560)


def exemplar_read(studio: Studio) -> QWidget:
    shown = _large(studio, "Exemplars", 330, 420)
    studio.window.exemplars.used.pressed_on.emit("shop-lamp-01")
    return shown


def exemplars_indexed(studio: Studio) -> None:
    studio.review()
    studio.window.docks.by_name["Exemplars"].raise_()
    view = samples.EXEMPLARS.replace(rows=(), family="", votes=(), why="")
    studio.session.step_changed.send(
        samples.STEP.replace(exemplars=view.replace(progress="embedding 40 of 200"))
    )


def abstracted(studio: Studio) -> None:
    studio.review()
    studio.session.step_changed.send(samples.STEP.replace(observation=samples.ABSTRACTED))


def parser(studio: Studio) -> None:
    abstracted(studio)
    studio.settle()
    studio.window.observation.parser.click()


def stopped(studio: Studio) -> None:
    studio.review()
    studio.session.runs_changed.send(samples.BRANCHED)
    studio.breakpoints.changed.send(samples.BREAKS)
    why = 'State item is entered (breakpoint 1): the URL has "/item" and there is a button "Buy now".'
    studio.session.session_changed.send(samples.SESSION.replace(run=21, message=why, stopped_at=why))


def branches(studio: Studio) -> QWidget:
    shown = _large(studio, "Runs & steps", 330, 520)
    studio.session.runs_changed.send(samples.BRANCHED)
    studio.settle()
    for run in (19, 20):
        studio.window.runs.tree.expand(studio.window.runs.model.run_index(run))
    return shown


def breakpoints(studio: Studio) -> QWidget:
    shown = _large(studio, "Breakpoints", 300, 640)
    studio.breakpoints.changed.send(samples.BREAKS)
    return shown


def breakpoints_none(studio: Studio) -> QWidget:
    shown = _large(studio, "Breakpoints", 300, 420)
    studio.breakpoints.changed.send(
        BreaksView(problems=("Breakpoint 7 (states) cannot be read; make it anew.",))
    )
    return shown


def watch_refused(studio: Studio) -> QWidget:
    shown = breakpoints(studio)
    studio.window.breakpoints.field.text.setText("run.cots")
    studio.window.breakpoints.field.show_answer("At character 4: run has no “cots”; did you mean cost?")
    return shown


def _editor(studio: Studio, number: int) -> BreakpointEditor:
    studio.review()
    studio.breakpoints.changed.send(samples.BREAKS)
    studio.settle()
    panel = studio.window.breakpoints
    panel.breakpoints.select_key(number)
    panel.edit_action.trigger()
    assert studio.breaks.editor is not None
    return studio.breaks.editor


def editor(studio: Studio) -> QWidget:
    return _editor(studio, 2)


def editor_refused(studio: Studio) -> QWidget:
    shown = _editor(studio, 5)
    shown.fields["expression"].widget.setText("state.nmae == 1")  # type: ignore[attr-defined]
    shown.show_answer("At character 7: state has no “nmae”; did you mean name?")
    return shown


def editor_completing(studio: Studio) -> QWidget:
    shown = _editor(studio, 5)
    field = shown.fields["expression"].widget
    assert isinstance(field, ExpressionField)
    field.setText("p")
    field.offer()
    return field.popup


def mechanisms(studio: Studio) -> QWidget:
    studio.review()
    studio.settle()
    menu = studio.window.menus.mechanisms
    menu.popup(studio.window.mapToGlobal(studio.window.tool_bar.mechanisms.geometry().bottomLeft()))
    return menu


def switched_off(studio: Studio) -> None:
    """Every panel of a mechanism that is off, beside each other as far as there is room."""
    studio.review()
    off = "{} is switched off. Switch it on in Mechanisms (Ctrl+Shift+H); it takes hold at the next step."
    studio.session.step_changed.send(
        samples.STEP.replace(
            state=StateView(message=off.format("The state space")),
            stack=StackView(message=off.format("The policy stack")),
            plan=PlanView(message=off.format("The plan")),
            exemplars=ExemplarsView(message=off.format("The memory")),
        )
    )
    for name in ("Plan & remedies", "Exemplars"):
        studio.window.addDockWidget(LEFT, studio.window.dock(name))


def timed(studio: Studio) -> None:
    """The time bar of a run, the page's log in front."""
    studio.review()
    studio.settle()
    studio.window.dock("Page log").raise_()
    studio.settle()
    studio.timeline.logged.send(reading_samples.LOG)
    studio.timeline.changed.send(reading_samples.times())


def timed_to_scale(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.timeline.changed.send(reading_samples.times(400, 0.5))
    studio.settle()
    studio.window.time.fold.setChecked(False)
    studio.window.time.bar.zoom_by(20, 100)


def log_not_kept(studio: Studio) -> None:
    timed(studio)
    message = (
        "This step was stored before the log of the page was kept: run the task again (Ctrl+R) to have it."
    )
    studio.timeline.logged.send(reading_samples.LOG.replace(parts=(), message=message))
    studio.timeline.changed.send(reading_samples.times(1))


def origin(studio: Studio) -> QWidget:
    studio.review()
    studio.settle()
    studio.window.why_requested.emit(18, 5, "Buy now")
    assert studio.origins.shown is not None
    studio.provenance.changed.send(reading_samples.WHY)
    return studio.origins.shown


def origin_nowhere(studio: Studio) -> QWidget:
    shown = origin(studio)
    studio.settle()
    studio.window.why_requested.emit(18, 5, "a zebra crossing")
    verdict = (
        "It is not in anything the LLM was shown, nor in anything else of the step: it is the LLM's own."
    )
    studio.provenance.changed.send(
        reading_samples.WHY.replace(text="a zebra crossing", places=(), verdict=verdict)
    )
    return shown


def led(studio: Studio) -> None:
    """The page and the prompt as an origin leads to them."""
    studio.review()
    studio.settle()
    studio.timeline.changed.send(reading_samples.times())
    for place in (reading_samples.WHY.places[1], reading_samples.WHY.places[0]):
        studio.origins.leads.follow(place)
        studio.settle()


def diff(studio: Studio) -> None:
    studio.review()
    studio.settle()
    studio.timeline.changed.send(reading_samples.times())
    studio.window.dock("Diff").raise_()
    studio.settle()
    studio.compare.diffed.send(reading_samples.PAIR)


STAGES: dict[str, Callable[[Studio], QWidget | None]] = {
    stage.__name__: stage
    for stage in (
        empty,
        welcome,
        chooser,
        own_tasks,
        bad_file,
        task_files,
        settings,
        review,
        edited,
        wrong,
        pointing,
        handed_over,
        thinking,
        answering,
        recorded,
        no_picture,
        failed,
        ended,
        unjudged,
        long_content,
        plan,
        plan_docked,
        plan_edited,
        plan_long,
        state,
        state_large,
        state_docked,
        state_long,
        stack,
        stack_opened,
        stack_long,
        exemplars,
        exemplar_read,
        exemplars_indexed,
        abstracted,
        parser,
        stopped,
        branches,
        breakpoints,
        breakpoints_none,
        watch_refused,
        editor,
        editor_refused,
        editor_completing,
        mechanisms,
        switched_off,
        timed,
        timed_to_scale,
        log_not_kept,
        origin,
        origin_nowhere,
        led,
        diff,
    )
}


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    for choice in ("light", "dark"):
        for name in sys.argv[2:] or STAGES:
            studio = Studio(application, choice)
            shown = STAGES[name](studio)
            studio.settle()
            (shown or studio.window).grab().save(str(folder / f"{name}-{choice}.png"))
            studio.window.close()
            studio.window.deleteLater()
            application.processEvents()
            print(f"{name}-{choice}.png")


if __name__ == "__main__":
    main()
