"""Snapshots as a session would send them, for the window's tests and pictures."""

import time
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRect
from PySide6.QtGui import QImage, QPainter

from core.debugger.snapshots import (
    ActionView,
    CallView,
    Catalogue,
    GradeView,
    JudgementView,
    LivePageView,
    LLMChoice,
    LogLine,
    MessageView,
    ObservationView,
    OutlineView,
    PermissibleView,
    PlanView,
    Preset,
    RemedyView,
    RunsView,
    ScreenshotView,
    SessionView,
    StateView,
    StepView,
    SubtaskView,
)
from core.observation import Box, Element
from core.permissible import Choice, Parameter, Permissible, PermissibleAction
from core.task import Task, Verdict
from core.task_source import TaskSource
from core.trace.records import RunRow, StepRow
from tests.gui.stand_ins import paint_page

_BOXES = {
    1: ("link", "Back to search", Box(x=20, y=24, width=104, height=20)),
    2: ("link", "‹ Previous", Box(x=140, y=24, width=74, height=20)),
    6: ("button", "Buy now", Box(x=20, y=120, width=104, height=36)),
    7: ("button", "Description", Box(x=140, y=120, width=104, height=36)),
    8: ("button", "Features", Box(x=260, y=120, width=104, height=36)),
    9: ("textbox", "Gift note", Box(x=20, y=190, width=220, height=26)),
    10: ("combobox", "Size", Box(x=20, y=236, width=120, height=26)),
}
ELEMENTS = tuple(
    Element(ref=ref, role=role, name=name, uses=("click",), box=box)
    for ref, (role, name, box) in _BOXES.items()
)


def _choices(*refs: int) -> tuple[Choice, ...]:
    return tuple(Choice(value=str(ref), label=f'{_BOXES[ref][0]} "{_BOXES[ref][1]}"') for ref in refs)


PERMISSIBLE = Permissible(
    actions=(
        PermissibleAction(
            name="click",
            description="Click an element",
            parameters=(Parameter(name="target", type="integer", choices=_choices(1, 2, 6, 7, 8)),),
        ),
        PermissibleAction(
            name="type",
            description="Type text into a field",
            parameters=(
                Parameter(name="target", type="integer", choices=_choices(9)),
                Parameter(name="text", description="The text"),
                Parameter(name="enter", type="boolean", description="Press Enter after it", required=False),
            ),
        ),
        PermissibleAction(
            name="select",
            description="Choose an option",
            parameters=(
                Parameter(name="target", type="integer", choices=_choices(10)),
                Parameter(name="option", choices_by_ref={10: ("14-inch", "20-inch")}),
            ),
        ),
        PermissibleAction(name="press", description="Press a key", parameters=(Parameter(name="keys"),)),
        PermissibleAction(
            name="stop",
            description="End the task",
            parameters=(Parameter(name="answer", required=False),),
            cannot_be_undone=True,
        ),
    ),
    left_out=0,
)


def task(number: int) -> Task:
    names = ("book-flight", "click-test-2", "email-inbox", "login-user", "social-media", "use-slider")
    name = names[number % len(names)] if number < len(names) else f"page-{number}"
    return Task(
        id=f"miniwob/{name}",
        environment="miniwob",
        instruction=f"Do what {name} asks, such as pressing the button ONE or booking the cheapest flight.",
        tags=("click",) if number % 2 else ("form", "text"),
        seeded=True,
    )


CATALOGUE = Catalogue(
    tasks=(*(task(number) for number in range(104)), Task(id="web/open", environment="web", judged=False)),
    presets=(
        Preset(name="plain", title="plain", description="One call a step, all actions of the page"),
        Preset(name="laser", title="laser", description="A state space decides what is permissible"),
    ),
    llms=(
        LLMChoice(name="rules", title="rules (built in)", description="Matches words; no network"),
        LLMChoice(name="person", title="person", description="You answer"),
        LLMChoice(name="gpt-4o", title="gpt-4o", description="OpenAI"),
    ),
)

_LONG = "/home/someone/research/web-agents/2026/evaluation/with a rather long name/second round"
SHOP_TASKS = tuple(
    Task(
        id=f"shop/{name}",
        environment="shop",
        instruction=instruction,
        tags=("search", "answer"),
    )
    for name, instruction in (
        ("lamp-price", "How much is the small lamp?"),
        ("opening-hours-of-the-branch-in-the-old-town-on-the-last-sunday", "Find the opening hours."),
    )
)
FILES_CATALOGUE = CATALOGUE.model_copy(
    update={
        "tasks": (*CATALOGUE.tasks, *SHOP_TASKS),
        "sources": (
            TaskSource(
                path=Path(f"{_LONG}/tasks-of-my-shop.toml"),
                kind="tasks",
                tasks=tuple(task.id for task in SHOP_TASKS),
                remembered=True,
            ),
            TaskSource(
                path=Path("/data/webarena/config_files"),
                kind="webarena",
                tasks=tuple(f"webarena/{number}" for number in range(812)),
                given=True,
            ),
            TaskSource(
                path=Path(f"{_LONG}/old.json"),
                kind="tasks",
                remembered=True,
                problem=f"{_LONG}/old.json cannot be read: there is no such file or folder. Put it back, or "
                "take it out of the list of task files.",
            ),
            TaskSource(
                path=Path("/home/someone/drafts/drafts.toml"),
                kind="tasks",
                tasks=("drafts/one",),
                remembered=True,
                problem="/home/someone/drafts/drafts.toml has 2 problems:\n"
                "  line 9: tasks[0].judge.awnser: is no key of this form; did you mean answer?\n"
                "  line 12: tasks[1].instruction: is missing",
            ),
        ),
    }
)

SESSION = SessionView(
    mode="waiting",
    run=18,
    task="miniwob/book-flight",
    seed=3,
    instruction="Buy a green table lamp, 20 inches high, for at most 60 dollars.",
    preset="laser",
    llm="gpt-4o",
    step=5,
    phase="review",
    calls=3,
    tokens=5120,
    cost=0.02,
    beside_llm_ms=84,
    judged=True,
)


def step_row(run: int, number: int, **changes: object) -> StepRow:
    row = StepRow(
        run=run,
        number=number,
        phase="commit",
        sealed=True,
        effect="page action",
        action=f"click [{number}]",
        target='button "Next"',
        outcome="done",
        state="item",
        url="http://127.0.0.1:41873/item",
    )
    return row.model_copy(update=changes)


def run_row(run: int, **changes: object) -> RunRow:
    row = RunRow(
        run=run,
        task="miniwob/book-flight",
        environment="miniwob",
        seed=3,
        instruction="Buy a green table lamp.",
        start_url="http://127.0.0.1:41873/",
        preset="laser",
        llm="gpt-4o",
        browser="embedded",
        started=1_700_000_000.0 + run,
        outcome="done",
        verdict=Verdict(success=run % 2 == 0, judge="page"),
        steps=4,
    )
    return row.model_copy(update=changes)


STEPS = (
    step_row(
        18, 1, action="type [3] [green table lamp] [enter=1]", target='searchbox "Search"', state="search"
    ),
    step_row(18, 2, action="click [12]", target='link "Minton ceramic table lamp"', state="results"),
    step_row(
        18, 3, action="click [5]", target='radio "blue"', outcome="failed", message="The element is covered."
    ),
    step_row(18, 4, action="click [6]", target='radio "green"', origin="person", edited=True),
    step_row(
        18,
        5,
        action="click [6]",
        target='button "Buy now"',
        outcome="pending",
        sealed=False,
        phase="anticipate",
    ),
)
RUNS = RunsView(
    runs=(
        run_row(
            19, outcome="stopped", verdict=Verdict(), parent_run=18, parent_step=3, steps=2, touched=True
        ),
        run_row(18, outcome="running", verdict=Verdict(), steps=5, touched=True),
        run_row(17, task="miniwob/email-inbox-forward-nl", seed=1204),
        run_row(16, task="miniwob/click-test-2", seed=0),
        run_row(15, task="web/open", seed=0, outcome="interrupted", verdict=Verdict()),
    ),
    total=5,
    current=18,
    steps={18: STEPS},
)

RAW = "\n".join(element.line() for element in ELEMENTS)
OBSERVATION = ObservationView(
    url="http://127.0.0.1:41873/item/B09-LAMP-GRN",
    title="Lamp, green, 20 in – Shop",
    raw=RAW,
    raw_elements=214,
    raw_tokens=6120,
    clean="Item: table lamp, light green, $58.00\nOptions: size 14-inch | *20-inch*\n"
    '[6] button "Buy now"\n[7] button "Description"',
    clean_elements=9,
    clean_tokens=148,
    html="<!doctype html>\n<html><body>\n" + "<p>Minton ceramic table lamp</p>\n" * 40 + "</body></html>",
    reused=True,
)
CALLS = (
    CallView(
        number=3,
        purpose="decide",
        llm="gpt-4o",
        model="gpt-4o-2024-08-06",
        messages=(
            MessageView(role="system", text="You act in a web page to reach an objective.", tokens=212),
            MessageView(
                role="user",
                text="OBJECTIVE: Buy a green table lamp.\nPAGE:\n" + OBSERVATION.clean,
                tokens=840,
                images=1,
            ),
        ),
        tools='[\n  {"name": "click", "parameters": {"target": "integer"}}\n]',
        sampling="temperature 0",
        reply='Green, 20 inches, under 60 dollars: it fits. Buy it.\nclick({"target": 6})',
        prompt_tokens=1052,
        completion_tokens=31,
        cost=0.0031,
        seconds=1.84,
        retries=("429 Too Many Requests, waited 1.0 s",),
    ),
)
ACTION = ActionView(
    thought="Green, 20 inches, under 60 dollars: it fits. Buy it.",
    action="click [6]",
    outcome="pending",
    editable=True,
    form=PERMISSIBLE.actions,
    elements=ELEMENTS,
    queue=("click [7]",),
)
PLAN = PlanView(
    subtasks=(
        SubtaskView(text="Search for a green table lamp", status="done", steps=(1, 2)),
        SubtaskView(text="Leave out lamps that are too high", status="needless"),
        SubtaskView(text="Check the item and its options", status="current", steps=(3, 4, 5)),
        SubtaskView(text="Buy it"),
    ),
    revision=2,
    remark="The first plan forgot the options of the item.",
    editable=True,
    trial=2,
    trials=3,
    remedies=(
        RemedyView(
            number=4,
            step=5,
            action="click [7]",
            target='button "Description"',
            reason="The size may be told there.",
            state="waiting",
            subtask=2,
        ),
        RemedyView(number=2, step=3, action="click [2]", target='link "‹ Previous"', subtask=2),
        RemedyView(number=5, step=5, action="click [6]", target='button "Buy now"', state="chosen"),
        RemedyView(
            number=3,
            step=3,
            action="click [5]",
            target='radio "blue"',
            state="tried",
            why="It was not aligned either: the colour was wrong.",
        ),
        RemedyView(
            number=1,
            step=3,
            action="click [1]",
            state="dropped",
            why="It equals an action already tried here.",
        ),
    ),
    judgements=(
        JudgementView(
            step=4, sentence="Green was chosen.", aligned=True, subtask_done=False, task_done=False
        ),
        JudgementView(
            step=3,
            sentence="Nothing on the page changed.",
            aligned=False,
            subtask_done=False,
            by_rule="the page is as it was before the action",
        ),
        JudgementView(step=2, sentence="The item's page was opened.", aligned=True, summarised=True),
        JudgementView(step=1, sentence="Results may or may not have been listed."),
    ),
    grades=(
        GradeView(
            step=4,
            to=3,
            grade="same page",
            strategy="URL with fields set back",
            seconds=0.84,
            differences=('radio "blue" is checked and was not', "an advertisement is gone"),
            remarks=("The page asks the server anew on every visit.",),
        ),
        GradeView(step=3, to=2, grade="exact", strategy="replay from the start", seconds=3.1),
    ),
    experience="Trial 1 bought a blue lamp: the colour was not chosen before buying.",
)
STEP = StepView(
    run=18,
    number=5,
    row=STEPS[4],
    state=StateView(
        space="general",
        state="form",
        why='URL has "/item" and there is a button "Buy now"',
        also=("results",),
        url=OBSERVATION.url,
        title=OBSERVATION.title,
    ),
    permissible=PermissibleView(rows=PERMISSIBLE.rows(), left_out=12, chosen="click [6]", chosen_ref=6),
    action=ACTION,
    plan=PLAN,
    observation=OBSERVATION,
    calls=CALLS,
)
LIVE = LivePageView(
    url=OBSERVATION.url,
    outlines=tuple(
        OutlineView(ref=ref, box=box, chosen=ref == 6) for ref, (_role, _name, box) in _BOXES.items()
    ),
    viewport=(680, 400),
)


def screenshot(width: int = 680, height: int = 400) -> bytes:
    """Return a PNG of the drawn page."""
    image = QImage(width, height, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    paint_page(painter, QRect(0, 0, width, height))
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    return data.data()


def recorded_step() -> StepView:
    return STEP.model_copy(
        update={
            "number": 3,
            "row": STEPS[2],
            "live": False,
            "action": ActionView(
                thought="Blue is shown first; I try it.",
                action="click [5]",
                outcome="failed",
                message="The element [5] is covered by another: close what lies over it first.",
            ),
            "permissible": PermissibleView(rows=PERMISSIBLE.rows(), chosen="click [7]", chosen_ref=7),
            "screenshot": ScreenshotView(
                data=screenshot(),
                viewport=(680, 400),
                box=Box(x=140, y=120, width=104, height=36),
                caption='click [7] button "Description": failed, the element is covered',
            ),
        }
    )


def log_lines(count: int) -> tuple[LogLine, ...]:
    levels = ("info", "info", "warning", "info", "error")
    texts = (
        "observed 214 elements in 9 ms",
        "asked gpt-4o: 1 052 tokens",
        "429 Too Many Requests; waiting 1.0 s",
        "clicked [6]; the page was quiet after 31 ms",
        "The element [5] is covered.",
    )
    start = time.time() - count
    return tuple(
        LogLine(time=start + at, level=levels[at % 5], source=("browser", "llm")[at % 2], text=texts[at % 5])
        for at in range(count)
    )
