"""Every kind of breakpoint stops a session that drives a real page, where it should, and says why."""

import pytest

from core.debugger.breakpoints.kinds.actions import (
    ActionChosen,
    Loop,
    PermissibleChanged,
    PolicyPopped,
    PolicyPushed,
    RequestBegins,
    StateEntered,
    StateLeft,
)
from core.debugger.breakpoints.kinds.breakpoint import Breakpoint
from core.debugger.breakpoints.kinds.problems import (
    Condition,
    Failure,
    FigureAbove,
    LLMCall,
    NotAligned,
    PlanRevised,
    RemedyFired,
    RetrievalFar,
)
from core.debugger.breakpoints.kinds.registry import KINDS
from core.debugger.breakpoints.service import BreakpointsService
from tests.core.debugger.breakpoints.runs import SCENES

pytestmark = pytest.mark.browser

Stop = tuple[int, str, tuple[str, ...]]
"""The step and the phase that is next, and what is said."""
STOPS: dict[str, tuple[tuple[Breakpoint, ...], tuple[Stop, ...]]] = {
    "shopping": (
        (
            StateEntered(state="item"),
            StateLeft(state="search"),
            PermissibleChanged(action="buy_now"),
            Condition(expression='state.name == "results"'),
        ),
        (
            (2, "recall", ("State search was left for results.", "has become true")),
            (3, "recall", ("State item was entered from results.", "buy_now")),
        ),
    ),
    "policies": (
        (PolicyPushed(policy="search_*"), PolicyPopped(policy="search_shop")),
        ((1, "align", ("Policy search_shop was pushed",)), (3, "align", ("came back with: 205 results",))),
    ),
    "clumsy": (
        (
            ActionChosen(action="click", target="Delete*"),
            Loop(),
            FigureAbove(figure="steps", above=2),
            Failure(of="action"),
            Failure(of="reply"),
        ),
        (
            (1, "review", ("Delete all",)),
            (1, "align", ("in the way",)),
            (2, "review", ("Delete all", "it was done at step 1")),
            (2, "align", ("in the way",)),
            (3, "observe", ("above 2",)),
            (3, "anticipate", ("The LLM's reply could not be used",)),
        ),
    ),
    "mended": (
        (
            NotAligned(),
            RemedyFired(),
            PlanRevised(),
            LLMCall(purpose="remedies"),
            LLMCall(purpose="remedies", when="after"),
        ),
        (
            (1, "anticipate", ("(remedies) is about to be made",)),
            (1, "anticipate", ("LLM call 3 (remedies)",)),
            (1, "commit", ("which holds no orders",)),
            (2, "anticipate", ('link "Help"',)),
            (3, "commit", ("The help came up",)),
            (5, "anticipate", ("1. Click the third link",)),
        ),
    ),
    "trajectories": ((RetrievalFar(above=0.01),), ((1, "abstract", ("above 0.01",)),)),
}


@pytest.fixture
def breaks(live):
    service, views = BreakpointsService(live.session), []
    service.changed.connect(views.append)
    yield service
    for one in views[-1].breakpoints if views else ():
        service.remove(one.breakpoint.number)
    live.settle()


def test_no_kind_is_left_out():
    # What a page sends is held before it leaves: test_session_stops has that.
    tried = {one.kind for breakpoints, _ in STOPS.values() for one in breakpoints} | {RequestBegins().kind}
    assert tried == set(KINDS)


@pytest.mark.parametrize("scene", STOPS)
def test_a_run_stops_where_each_breakpoint_says_and_tells_why(live, server, breaks, tmp_path, scene):
    played, (breakpoints, stops) = SCENES[scene](tmp_path), STOPS[scene]
    server.script(*played.replies)
    live.session.agent.set_preset(played.preset)
    for one in breakpoints:
        breaks.add(one)  # What an opened task does by itself is looked at, too.
    live.settle()
    if played.url:
        live.open("web/open", url=played.url, instruction=played.instruction)
    else:
        live.open(played.task)
    for at, (step, phase, why) in enumerate(stops):
        if at or not live.view.stopped_at:
            live.session.run_commands.run()
            live.settle()
        live.wait(lambda: live.view.stopped_at, f"a stop at step {step}")
        assert (live.view.step, live.view.phase, live.view.mode) == (step, phase, "waiting")
        for words in why:
            assert words in live.view.stopped_at
