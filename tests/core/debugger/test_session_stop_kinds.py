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

STOPS = [
    ("shopping", StateEntered(state="item"), 3, "recall", "State item was entered from results."),
    ("shopping", StateLeft(state="search"), 2, "recall", "State search was left for results."),
    ("policies", PolicyPushed(policy="search_*"), 1, "align", "Policy search_shop was pushed"),
    ("policies", PolicyPopped(policy="search_shop"), 3, "align", "came back with: 205 results"),
    ("clumsy", ActionChosen(action="click", target="Delete*"), 1, "review", "Delete all"),
    ("shopping", PermissibleChanged(action="buy_now"), 3, "recall", "buy_now"),
    ("mended", NotAligned(), 1, "commit", "which holds no orders"),
    ("mended", RemedyFired(), 2, "anticipate", 'link "Help"'),
    ("mended", PlanRevised(), 5, "anticipate", "1. Click the third link"),
    ("trajectories", RetrievalFar(above=0.01), 1, "abstract", "above 0.01"),
    ("clumsy", Loop(), 2, "review", "it was done at step 1"),
    ("clumsy", FigureAbove(figure="steps", above=2), 3, "observe", "above 2"),
    ("clumsy", Failure(of="action"), 1, "align", "in the way"),
    ("clumsy", Failure(of="reply"), 3, "anticipate", "The LLM's reply could not be used"),
    ("mended", LLMCall(purpose="remedies"), 1, "anticipate", "(remedies) is about to be made"),
    ("mended", LLMCall(purpose="remedies", when="after"), 1, "anticipate", "LLM call 3 (remedies)"),
    ("shopping", Condition(expression='state.name == "results"'), 2, "recall", "has become true"),
]


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
    tried = {stop[1].kind for stop in STOPS} | {RequestBegins().kind}
    assert tried == set(KINDS)


@pytest.mark.parametrize(("scene", "breakpoint", "step", "phase", "why"), STOPS)
def test_it_stops_there_and_says_why(live, server, breaks, tmp_path, scene, breakpoint, step, phase, why):
    played = SCENES[scene](tmp_path)
    server.script(*played.replies)
    live.session.agent.set_preset(played.preset)
    breaks.add(breakpoint)  # What an opened task does by itself is looked at, too.
    live.settle()
    if played.url:
        live.open("web/open", url=played.url, instruction=played.instruction)
    else:
        live.open(played.task)
    if not live.view.stopped_at:
        live.session.run_commands.run()
    live.wait(lambda: live.view.stopped_at, f"a stop at {breakpoint}")
    assert why in live.view.stopped_at
    assert (live.view.step, live.view.phase, live.view.mode) == (step, phase, "waiting")
