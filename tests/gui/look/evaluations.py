"""Draws the evaluations."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from core.debugger.evaluations.records import EvalRequest, EvaluationPlan, Subject
from core.debugger.evaluations.views import BisectChoices, EvaluationsView, RequestPreview
from gui.evaluations.controller import EvaluationsController
from tests.gui.evaluations import samples
from tests.gui.look.studio import Studio
from tests.gui.samples import CATALOGUE, run_row
from tests.gui.stand_ins import AskedService


def _open(studio: Studio, view: EvaluationsView) -> EvaluationsController:
    service = AskedService("previewed", "opened", "bisect_read")
    controller = EvaluationsController(studio.window, service)
    controller.open()
    assert controller.shown is not None
    controller.shown.resize(1280, 800)
    studio.session.catalogue_changed.send(CATALOGUE)
    service.changed.send(view)
    studio.kept = [controller, service]
    studio.settle()
    return controller


def _window(studio: Studio, view: EvaluationsView) -> QWidget:
    shown = _open(studio, view).shown
    assert shown is not None
    return shown


def evaluations(studio: Studio) -> QWidget:
    shown = _window(studio, samples.FINISHED)
    shown.matrix.setCurrentIndex(shown.matrix.cells.index(9, 2))
    return shown


def evaluations_suspicious(studio: Studio) -> QWidget:
    shown = _window(studio, samples.FINISHED)
    shown.tabs.setCurrentIndex(1)  # type: ignore[attr-defined]
    return shown


def evaluations_none(studio: Studio) -> QWidget:
    return _window(studio, EvaluationsView(ready=True))


def evaluations_live(studio: Studio) -> QWidget:
    tries = samples.tries_of(samples.TWO_PLAN, most=171)
    view = samples.view_of(
        samples.TWO_PLAN, tries, *samples.OTHERS, name="after the edit", state="under way", mine=True
    )
    return _window(
        studio,
        view.replace(
            started=("after the edit",),
            said={"after the edit": "170 of 280, 42.1 a minute, $0.31, 2.6 min left"},
        ),
    )


def evaluations_again(studio: Studio) -> QWidget:
    failed = [
        case for (_, case), one in zip(samples.TWO_PLAN.cases(), samples.TWO, strict=True) if not one.success
    ]
    plan = samples.TWO_PLAN.again("policies", failed)
    tries = samples.tries_of(plan, better=3)
    view = samples.view_of(
        plan, tries, *samples.OTHERS, name="policies, edited", before=samples.TWO, state="finished"
    )
    first, *rest = view.items
    return _window(studio, view.replace(items=(first.replace(failures_of="policies"), *rest)))


def evaluations_many(studio: Studio) -> QWidget:
    plan = EvaluationPlan(variants=samples.FOUR, tasks=samples.tasks(125), seeds=tuple(range(20)))
    shown = _window(studio, samples.view_of(plan, samples.tries_of(plan), *samples.OTHERS, state="finished"))
    shown.by_family.setChecked(True)
    shown.only_failures.setChecked(True)
    shown.matrix.setCurrentIndex(shown.matrix.cells.index(0, 0))
    return shown


def evaluations_long_names(studio: Studio) -> QWidget:
    variant = samples.PLAIN.replace(
        preset="a-preset-with-a-long-name", llm="organisation/a-large-language-model-70b-instruct"
    )
    plan = EvaluationPlan(
        variants=(variant, variant.replace(exemplars="none")),
        tasks=tuple(f"webarena/a-site-with-a-long-name/and-a-task-with-one-too-{at}" for at in range(6)),
        seeds=(0, 1, 2),
    )
    name = "all of the tasks of the first site, with the new policies and the prompt of Tuesday"
    view = samples.view_of(plan, samples.tries_of(plan), name=name, state="interrupted")
    return _window(
        studio, view.replace(problem=f"{name} failed: there is no LLM server at http://127.0.0.1:11434/v1.")
    )


def evaluations_new(studio: Studio) -> QWidget:
    controller = _open(studio, samples.FINISHED)
    controller.shown.new_wanted.emit()
    dialog = controller.asking
    dialog.tasks.setText("miniwob/click-*, tag:email")
    dialog.presets.item(0).setCheckState(Qt.CheckState.Checked)
    dialog.llms.item(0).setCheckState(Qt.CheckState.Checked)
    studio.settle()
    dialog.show_preview(
        RequestPreview(
            request=dialog.request,
            tasks=samples.tasks(23),
            variants=2,
            runs=230,
            command="python3 main.py eval --tasks 'miniwob/click-*,tag:email' --seeds 0-4 --llm gpt-4o",
            cost=1.26,
            priced=115,
        )
    )
    return dialog


def evaluations_bisect(studio: Studio) -> QWidget:
    """The steps of a run, each a row."""
    return _window(studio, samples.BISECTED)


def evaluations_ask_bisect(studio: Studio) -> QWidget:
    controller = _open(studio, samples.FINISHED)
    row = run_row(14, task="shop/buy-lamp", seed=4, preset="step", llm="rules")
    controller._ask_bisect(BisectChoices(row=row, steps=(1, 2, 3, 4)))
    dialog = controller.asking
    dialog.steps.setText("2-4")
    studio.settle()
    command = "python3 main.py bisect 14 --at 2 --at 3 --at 4"
    dialog.show_preview(
        RequestPreview(request=dialog.request, tasks=("shop/buy-lamp",), variants=3, runs=9, command=command)
    )
    return dialog


def evaluations_ask_worth(studio: Studio) -> QWidget:
    controller = _open(studio, samples.FINISHED)
    controller.ask_worth(Subject(kind="change", name="shop/goal-013/run-2", before=1, after=2))
    dialog = controller.asking
    studio.settle()
    problem = "Its source names no task; give tasks, such as miniwob/click-button."
    dialog.show_preview(RequestPreview(request=dialog.request, command="", problem=problem))
    return dialog


def evaluations_refused(studio: Studio) -> QWidget:
    controller = _open(studio, samples.FINISHED)
    controller.shown.new_wanted.emit()
    dialog = controller.asking
    dialog.tasks.setText("suite:minwob-step")
    studio.settle()
    problem = 'There is no suite "minwob-step"; did you mean miniwob-step?'
    dialog.show_preview(
        RequestPreview(request=dialog.request, command="python3 main.py eval", problem=problem)
    )
    return dialog


def evaluations_failures(studio: Studio) -> QWidget:
    controller = _open(studio, samples.FINISHED)
    controller.shown.failures_wanted.emit("policies")
    dialog = controller.asking
    studio.settle()
    request = EvalRequest(failures_of="policies")
    shown = RequestPreview(request=dialog.request, tasks=samples.tasks(7), variants=2, runs=31)
    dialog.show_preview(shown.replace(command=f"python3 main.py {' '.join(request.arguments())}"))
    return dialog


def evaluations_resume(studio: Studio) -> QWidget:
    controller = _open(studio, samples.FINISHED)
    controller.shown.resume_wanted.emit("policies, first try")
    return controller.asking
