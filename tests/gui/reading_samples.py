"""Sample views of what is read in addition to a step."""

from typing import Any

from core.browser.log.records import (
    ConsoleEntry,
    DialogEntry,
    ErrorEntry,
    LogGap,
    LogPart,
    PageLog,
    RequestEntry,
)
from core.debugger.compare.views import PairView, Part
from core.debugger.provenance.views import Lead, Offer, SourcePlace, WhyView
from core.debugger.timeline.views import (
    HeldSpan,
    PageLogView,
    PhaseSpan,
    StepSpan,
    TimeMark,
    TimeView,
)
from core.schema.messages import Usage
from core.schema.step import CallRecord
from tests.gui import samples

START = 1_700_000_000.0
URL = "http://127.0.0.1:41873"


LOG = PageLogView(
    run=18,
    step=5,
    parts=(
        LogPart(
            moment="before the action",
            log=PageLog(
                entries=(
                    RequestEntry(
                        time=START,
                        method="GET",
                        url=f"{URL}/item/B09?session=s3cret",
                        type="Document",
                        status=200,
                        milliseconds=41.2,
                        bytes=18_230,
                        ended=True,
                    ),
                    ConsoleEntry(time=START + 0.1, text="cart ready {items: 0}", place=f"{URL}/shop.js:14:9"),
                    RequestEntry(
                        time=START + 0.2, method="GET", url=f"{URL}/poll?since=0", type="Fetch", bytes=None
                    ),
                    RequestEntry(
                        time=START + 0.25,
                        method="GET",
                        url=f"{URL}/logo.png",
                        type="Image",
                        status=404,
                        milliseconds=3,
                        ended=True,
                    ),
                ),
            ),
        ),
        LogPart(
            moment="in the action",
            log=PageLog(
                entries=(
                    ConsoleEntry(time=START + 9, level="warning", text="price is stale", cut=1200),
                    ErrorEntry(
                        time=START + 9.2,
                        text="TypeError: Cannot read properties of null (reading 'price')\n    at buy (shop.js:90:3)",
                        place=f"{URL}/shop.js:90:3",
                    ),
                    DialogEntry(time=START + 9.3, dialog="confirm", text="Buy it now?", answer="accepted"),
                    RequestEntry(
                        time=START + 9.4,
                        method="SEND",
                        url="ws://127.0.0.1:41873/live",
                        type="WebSocket",
                        text='{"buy":"B09"}',
                        bytes=13,
                        ended=True,
                    ),
                    RequestEntry(
                        time=START + 9.5,
                        method="POST",
                        url=f"{URL}/count",
                        type="Ping",
                        failed=True,
                        text="net::ERR_CONNECTION_REFUSED",
                        ended=True,
                    ),
                ),
                left_out=(LogGap(kind="console", count=99_500, after=START + 9),),
            ),
        ),
    ),
)


def step_span(number: int, begun: float, *, run: int = 18, wait: float = 0.0, **more: Any) -> StepSpan:
    """Return a step of about three seconds, held for `wait` seconds before its action."""
    times = (("observe", 0.1), ("recognise", 0.05), ("decide", 1.6), ("anticipate", 0.6))
    after = (("review", 0.01), ("act", 0.5), ("align", 0.3), ("commit", 0.01))
    phases = []
    at = begun
    for part, held in ((times, wait), (after, 0.0)):
        for phase, seconds in part:
            phases.append(PhaseSpan(phase=phase, begun=at, ended=at + seconds))
            at += seconds
        at += held
    calls = (
        CallRecord(
            number=number * 2,
            step=number,
            purpose="decide",
            llm="gpt-4o",
            messages="prompt",
            started=begun + 0.2,
            seconds=1.5,
            usage=Usage(prompt_tokens=1052, completion_tokens=31),
            cost=0.0031,
        ),
        CallRecord(
            number=number * 2 + 1,
            step=number,
            purpose="remedies",
            llm="gpt-4o",
            messages="prompt",
            started=begun + 1.8,
            seconds=0.5,
            error="429 Too Many Requests" if number == 3 else "",
        ),
    )
    values: dict[str, Any] = {
        "action": f"click [{number}]",
        "target": 'button "Next"',
        "outcome": "done",
        "phases": tuple(phases),
        "calls": calls,
    }
    return StepSpan(run=run, number=number, begun=begun, ended=phases[-1].ended, **{**values, **more})


def times(count: int = 5, wait: float = 8.0) -> TimeView:
    """Return a run of this number of steps, each held at its review."""
    steps, held, costs = [], [], []
    at = START
    for number in range(1, count + 1):
        more: dict[str, Any] = {}
        if number == 3:
            more = {"outcome": "failed", "message": "The element is covered."}
        if number == 4:
            more = {"origin": "person", "edited": True}
        step = step_span(number, at, wait=wait, **more)
        steps.append(step)
        held.append(
            HeldSpan(
                begun=at + 2.35,
                ended=at + 2.35 + wait,
                step=number,
                why=f"Step {number} was held at the review, for the person",
            )
        )
        costs.append((at + 1.7, round(0.0031 * number, 6)))
        at = step.ended + 0.05
    marks = (
        TimeMark(time=START + 2.4, step=1, kind="breakpoint", text="Stopped at review: state entered: item"),
        TimeMark(time=steps[2 % count].ended, step=min(3, count), kind="error", text="Failed: click [3]"),
        TimeMark(time=steps[3 % count].ended, step=min(4, count), kind="person", text="Ada: edit"),
        TimeMark(
            time=steps[-1].ended, step=count, kind="went back", text="Went back to step 3, the page exact"
        ),
    )
    return TimeView(
        run=18,
        row=samples.run_row(18, outcome="running"),
        begun=START,
        ended=steps[-1].ended,
        steps=tuple(steps),
        held=tuple(held) if wait else (),
        marks=tuple(sorted(marks, key=lambda mark: mark.time)),
        costs=tuple(costs),
    )


HERE = Lead(run=18, step=5)
WHY = WhyView(
    run=18,
    step=5,
    text="Buy now",
    offers=(
        Offer(label='the element [6] button "Buy now"', text="Buy now", ref=6),
        Offer(label="the thought", text="Green, 20 inches, under 60 dollars: it fits. Buy it."),
    ),
    places=(
        SourcePlace(
            kind="prompt",
            title="Call 3 (decide), user message",
            how="exact",
            excerpt='…14-inch | *20-inch* [6] button "Buy now" [7] button "Description"',
            spans=((33, 40),),
            found="Buy now",
            lead=HERE.replace(call=3, part="3.1"),
        ),
        SourcePlace(
            kind="page",
            title="[6] button, name",
            how="exact",
            excerpt="Buy now",
            spans=((0, 7),),
            found="Buy now",
            lead=HERE.replace(ref=6),
        ),
        SourcePlace(
            kind="exemplar",
            title="shop-lamp-01, step 5, actions",
            how="loose",
            excerpt="… press buy  NOW when the item fits and then wait until the order is confirmed by the page …",
            spans=((8, 16),),
            found="buy  NOW",
            more=3,
            lead=HERE.replace(exemplar="shop-lamp-01"),
        ),
        SourcePlace(
            kind="earlier step",
            title="Step 2, thought",
            how="exact",
            excerpt="If it fits I Buy now.",
            spans=((13, 20),),
            found="Buy now",
            lead=Lead(run=18, step=2),
        ),
    ),
    verdict="The LLM was shown it, exactly.",
)
PAIR = PairView(
    left=(18, 4),
    right=(18, 5),
    parts=(
        Part(name="plan", left="Search (done)\nBuy (waiting)", right="Search (done)\nBuy (current)"),
        Part(name="page", left='[1] link "Back"', right='[1] link "Back"\n[6] button "Buy now"'),
        Part(name="clean observation", left="same", right="same"),
        Part(name="prompt", left="[user]\nstep 4", right="[user]\nstep 5"),
    ),
)
