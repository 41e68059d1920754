"""Snapshots as a session sends them, for the window's tests and pictures."""

import time
from pathlib import Path
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRect
from PySide6.QtGui import QImage, QPainter

from core.debugger.breakpoints.kinds.actions import ActionChosen, StateEntered
from core.debugger.breakpoints.kinds.problems import Condition, FigureAbove, NotAligned
from core.debugger.breakpoints.views import BreakpointView, BreaksView, Watch, WatchValue
from core.debugger.catalogue import Catalogue, PresetOption
from core.debugger.live_page import LivePageView, OutlineView
from core.debugger.session_view import AmountView, MechanismView, RunsView, SessionView
from core.debugger.steps.views import (
    ActionView,
    CallView,
    DiagramEdgeView,
    DiagramState,
    ExemplarRow,
    ExemplarsView,
    FrameView,
    GradeView,
    JudgementView,
    MessageView,
    ObservationView,
    PermissibleView,
    PlanView,
    ScreenshotView,
    SetAsideView,
    StackView,
    StateView,
    StepView,
)
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.events import LogLine
from core.schema.messages import LLMChoice, Retry, Usage
from core.schema.observation import Box, Element
from core.schema.progress import Subtask
from core.schema.step import CallRecord, Fit, RemedyRecord
from core.schema.task import Task, TaskSource, Verdict
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
        PresetOption(name="plain", title="plain", description="One call a step, all actions of the page"),
        PresetOption(name="laser", title="laser", description="A state space decides what is permissible"),
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
FILES_CATALOGUE = CATALOGUE.replace(
    tasks=(*CATALOGUE.tasks, *SHOP_TASKS),
    sources=(
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
            problem=f"{_LONG}/old.json cannot be read: there is no such file or folder. Restore it, or remove it "
            "from the list of task files.",
        ),
        TaskSource(
            path=Path("/home/someone/drafts/drafts.toml"),
            kind="tasks",
            tasks=("drafts/one",),
            remembered=True,
            problem="/home/someone/drafts/drafts.toml has 2 problems:\n"
            '  line 9: there is no key "awnser" in [tasks.judge]; did you mean answer?\n'
            '  line 12: the key "instruction" is missing in [tasks]; add it.',
        ),
    ),
)

MECHANISMS = (
    MechanismView(
        name="states", title="States", on=True, by_preset=True, description="Limit what may be done by state."
    ),
    MechanismView(name="policies", title="Policies", description="Call policies on a stack."),
    MechanismView(name="plan", title="Plan", on=True, by_preset=True, description="Make and revise a plan."),
    MechanismView(
        name="remedies",
        title="Remedies",
        by_preset=True,
        description="Prepare alternatives before acting.",
        amount=AmountView(
            mechanism="remedies", label="remedies per action", value=2, by_preset=2, least=0, most=5
        ),
    ),
    MechanismView(name="judgement", title="Judgement", on=True, by_preset=True),
    MechanismView(name="abstraction", title="Abstraction", on=True),
    MechanismView(name="memory", title="Memory", on=True, by_preset=True),
)
SESSION = SessionView(
    mode="waiting",
    run=18,
    task="miniwob/book-flight",
    seed=3,
    seeded=True,
    instruction="Buy a green table lamp, 20 inches high, for at most 60 dollars.",
    preset="laser",
    llm="gpt-4o",
    step=5,
    page_actions=4,
    phase="review",
    calls=3,
    tokens=5120,
    cost=0.02,
    beside_llm_ms=84,
    judged=True,
    mechanisms=MECHANISMS,
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
    return row.replace(**changes)


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
    return row.replace(**changes)


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
            19,
            outcome="left",
            verdict=Verdict(),
            parent_run=18,
            parent_step=3,
            steps=2,
            touched=True,
            grade="exact",
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
BRANCHED = RUNS.replace(
    runs=(
        run_row(
            21,
            outcome="running",
            verdict=Verdict(),
            parent_run=18,
            parent_step=3,
            steps=3,
            grade="equivalent",
            name="green first",
        ),
        run_row(
            20,
            outcome="left",
            verdict=Verdict(),
            parent_run=19,
            parent_step=4,
            steps=1,
            grade="same page",
        ),
        *RUNS.runs[:1],
        run_row(18, outcome="left", verdict=Verdict(), steps=5, touched=True, name="the long way round"),
        *RUNS.runs[2:],
    ),
    total=7,
    current=21,
    steps={
        18: STEPS,
        19: (step_row(19, 3, origin="remedy"), step_row(19, 4)),
        20: (step_row(20, 4),),
        21: (
            step_row(21, 3),
            step_row(21, 4),
            step_row(21, 5, outcome="pending", sealed=False, phase="decide"),
        ),
    },
)
BREAKS = BreaksView(
    breakpoints=tuple(
        BreakpointView(breakpoint=one, hits=hits)
        for one, hits in (
            (StateEntered(number=1, state="item"), 2),
            (ActionChosen(number=2, action="buy_*", target="Buy now", condition="step.number > 3"), 0),
            (NotAligned(number=3, then="log", ignore=2), 14),
            (FigureAbove(number=4, figure="cost", above=0.5, enabled=False), 1),
            (Condition(number=5, expression='state.name == "item" and policy.depth > 2'), 0),
        )
    ),
    watches=(
        WatchValue(watch=Watch(number=1, text="run.cost"), text="0.02"),
        WatchValue(
            watch=Watch(number=2, kind="css", text="#price", on_change=True), text="$58.00", changed=True
        ),
        WatchValue(
            watch=Watch(number=3, kind="script", text="document.querySelector('#cart').length"),
            error="The script failed: TypeError: Cannot read properties of null (reading 'length').",
        ),
    ),
)

RAW = "\n".join(element.line() for element in ELEMENTS)
OBSERVATION = ObservationView(
    elements=ELEMENTS,
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
ABSTRACTED = OBSERVATION.replace(
    abstraction="ranking the elements by the words of task and subtask; at most 9 are kept",
    problem="The parser that the LLM wrote ended with an error (line 3: NameError: name 'price' is not "
    "defined); the elements were ranked instead.",
    code="from bs4 import BeautifulSoup\n\nprint(BeautifulSoup(html).find(price))\n",
    kept=(6, 7),
)
CALLS = (
    CallView(
        record=CallRecord(
            number=3,
            step=5,
            purpose="decide",
            llm="gpt-4o",
            model="gpt-4o-2024-08-06",
            messages="",
            usage=Usage(prompt_tokens=1052, completion_tokens=31),
            cost=0.0031,
            started=0.0,
            seconds=1.84,
            retries=(Retry(reason="429 Too Many Requests", waited=1.0),),
        ),
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
    ),
)


def call_with(call: CallView = CALLS[0], **changed: Any) -> CallView:
    """Return a call with a changed record."""
    return call.replace(record=call.record.replace(**changed))


ACTION = ActionView(
    thought="Green, 20 inches, under 60 dollars: it fits. Buy it.",
    action="click [6]",
    outcome="pending",
    editable=True,
    form=PERMISSIBLE.actions,
    elements=ELEMENTS,
    queue=("click [7]",),
)
SPACE = StateView(
    space="shop",
    state="item",
    why='URL has "/item" and there is a button "Buy now"',
    also=("results",),
    url=OBSERVATION.url,
    title=OBSERVATION.title,
    instruction="You look at one item. Compare it with what is wanted: kind, features, options, price. "
    "Buy it only where all of them fit; else go back and say why it does not fit.",
    file="/home/someone/.local/share/backstep/state_spaces/shop.toml",
    states=(
        DiagramState(name="search", title="Search", visits=2),
        DiagramState(name="results", title="Results", visits=3),
        DiagramState(name="item", title="Item", visits=2, current=True),
        DiagramState(name="details", title="Details"),
        DiagramState(name="bought", title="Bought", stops=True),
    ),
    edges=(
        DiagramEdgeView(source="search", target="results", actions=("search",), taken=2),
        DiagramEdgeView(source="results", target="item", actions=("select_item",), taken=2, last=True),
        DiagramEdgeView(source="results", target="results", actions=("next_page", "previous_page"), taken=1),
        DiagramEdgeView(source="results", target="search", actions=("back_to_search",), taken=1),
        DiagramEdgeView(source="item", target="results", actions=("previous",), taken=1),
        DiagramEdgeView(source="item", target="details", actions=("description", "features", "reviews")),
        DiagramEdgeView(source="details", target="item", actions=("previous",)),
        DiagramEdgeView(source="item", target="bought", actions=("buy_now",)),
        DiagramEdgeView(source="item", target="search", actions=("back_to_search",)),
    ),
    fits=(
        Fit(state="search", fits=False, missed='no searchbox "Search"'),
        Fit(state="results", fits=True, matched=("a list of items",)),
        Fit(state="item", fits=True, matched=('URL has "/item"', 'a button "Buy now"')),
        Fit(state="bought", fits=False, matched=("a price",), missed='no heading "Thank you"'),
    ),
    buffer=(
        SetAsideView(
            candidate="B07-LAMP-BLUE",
            url="",
            title="Minton ceramic table lamp, blue",
            reason="The colour does not match.",
            kept=(
                ("price", "$58.00"),
                ("features", "Glazed by hand / Takes an E27 bulb … (cut here, about 40 more tokens)"),
            ),
            step=3,
        ),
        SetAsideView(
            candidate="B11-LAMP-OAK", url="", title="Oak floor lamp", reason="Too high.", step=2, chosen=True
        ),
    ),
    remembered=(("keywords", "green table lamp"), ("max_price", "60")),
    transitions=7,
    transitions_limit=15,
    choose_at=13,
)
STACK = StackView(
    frames=(
        FrameView(
            policy="verify_item",
            argument="green lamp, at most 60 dollars",
            steps=2,
            current=True,
            number=4,
            began=4,
            history=("4. click [6]: green was chosen", "5. click [6]: not done yet"),
            notes=("The lamp is 20 inches high.",),
            calls=(3,),
            file="/home/someone/.local/share/backstep/policies/shop/verify_item.md",
        ),
        FrameView(
            policy="shop_agent",
            argument="Buy a green table lamp, 20 inches high, for at most 60 dollars, and have it wrapped "
            "as a present with a note that says happy birthday",
            steps=3,
            number=1,
            state="waiting",
            began=1,
            file="/home/someone/.local/share/backstep/policies/shop/shop_agent.md",
        ),
    ),
    finished=(
        FrameView(policy="choose_colour", argument="red", steps=1, number=3, state="left", began=3),
        FrameView(
            policy="verify_item",
            argument="blue lamp",
            steps=1,
            number=2,
            state="lacked",
            began=3,
            result="There is no way to see the height of the lamp.",
        ),
        FrameView(
            policy="find_item", argument="lamp", steps=2, number=5, state="returned", began=1, result="B09"
        ),
    ),
    depth_limit=5,
    calls=5,
    calls_limit=40,
)
EXEMPLARS = ExemplarsView(
    query='Buy a green table lamp, 20 inches high, for at most 60 dollars.\n[1] link "Back to search"',
    embedding="hashed words and character n-grams",
    family="shop-lamp",
    votes=(("shop-lamp", 2), ("shop-cushion", 1)),
    threshold=0.7,
    rows=(
        ExemplarRow(
            id="shop-lamp-01",
            family="shop-lamp",
            task="buy a blue desk lamp under $40",
            distance=0.31,
            voted=True,
            used=True,
            trajectory="TASK: buy a blue desk lamp under $40\n\n"
            + "\n\n".join(
                f'OBSERVATION {at}:\n[1] searchbox "Search"\n[2] button "Go"\n\nACTION {at}: click [{at}]'
                for at in range(1, 6)
            ),
        ),
        ExemplarRow(
            id="shop-lamp-02",
            family="shop-lamp",
            task="find a floor lamp of oak, 60 inches",
            distance=0.42,
            voted=True,
            used=True,
            trajectory="TASK: find a floor lamp",
        ),
        ExemplarRow(
            id="shop-cushion-01",
            family="shop-cushion",
            task="green cushion cover, 18 inch",
            distance=0.45,
            voted=True,
        ),
        ExemplarRow(id="air-07", family="airline", task="change a flight to the day after", distance=0.94),
    ),
    why="The three nearest voted two to one for shop-lamp; all of that family are in the prompt.",
    recalled_at=1,
)
PLAN = PlanView(
    subtasks=(
        Subtask(text="Search for a green table lamp", status="done", steps=(1, 2)),
        Subtask(text="Leave out lamps that are too high", status="needless"),
        Subtask(text="Check the item and its options", status="current", steps=(3, 4, 5)),
        Subtask(text="Buy it"),
    ),
    revision=2,
    remark="The first plan forgot the options of the item.",
    editable=True,
    trial=2,
    trials=3,
    remedies=(
        RemedyRecord(
            number=4,
            step=5,
            action="click [7]",
            target='button "Description"',
            reason="The size may be told there.",
            state="waiting",
            subtask=2,
        ),
        RemedyRecord(number=2, step=3, action="click [2]", target='link "‹ Previous"', subtask=2),
        RemedyRecord(number=5, step=5, action="click [6]", target='button "Buy now"', state="chosen"),
        RemedyRecord(
            number=3,
            step=3,
            action="click [5]",
            target='radio "blue"',
            state="tried",
            why="It was not aligned either: the colour was wrong.",
        ),
        RemedyRecord(
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
    stack=STACK,
    plan=PLAN,
    exemplars=EXEMPLARS,
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
    return STEP.replace(
        number=3,
        row=STEPS[2],
        live=False,
        action=ActionView(
            thought="Blue is shown first; I try it.",
            action="click [5]",
            outcome="failed",
            message="The element [5] is covered by another: close what lies over it first.",
        ),
        permissible=PermissibleView(rows=PERMISSIBLE.rows(), chosen="click [7]", chosen_ref=7),
        screenshot=ScreenshotView(
            data=screenshot(),
            viewport=(680, 400),
            box=Box(x=140, y=120, width=104, height=36),
            caption='click [7] button "Description": failed, the element is covered',
        ),
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
