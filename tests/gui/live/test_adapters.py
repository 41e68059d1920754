"""The examples of attached agents, each with its real package, in the shop, answered by the built-in LLM.

The packages are large and want environments of their own: `python -m tests.campaigns.adapters` makes these and runs
the tests with their folder in BACKSTEP_ADAPTERS; without it they are skipped.
"""

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from core.debugger.breakpoints.kinds.actions import ActionChosen
from core.debugger.breakpoints.kinds.problems import LLMCall
from core.debugger.breakpoints.service import BreakpointsService
from core.debugger.editing.views import EditText
from core.trace.prompt_words import difference
from tests.benchmarks.memory import descendants
from tests.gui.live.attached import AttachedWindow, desk

__all__ = ["desk"]

EXAMPLES = Path(__file__).parents[3] / "resources" / "examples"
ENVIRONMENTS = os.environ.get("BACKSTEP_ADAPTERS", "")
ADAPTERS = tuple(sorted(one.stem.removesuffix("_agent") for one in EXAMPLES.glob("*_agent.*")))
TASK = "shop/goal-004"
CHOOSES = {"stagehand": "elementId"}
"""What is in the replies that an agent goes by, where it asks several."""
NUMBERS_NODES = ("stagehand",)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not ENVIRONMENTS, reason="python -m tests.campaigns.adapters installs the packages"),
    pytest.mark.parametrize("name", ADAPTERS),
]


def attach(desk: AttachedWindow, name: str) -> None:
    desk.session.agent.set_llm("rules")
    environment = Path(ENVIRONMENTS) / name
    program = next(EXAMPLES.glob(f"{name}_agent.*"))
    if program.suffix == ".py":
        command = (str(environment / "bin" / "python"), str(program))
    else:  # Node looks for packages where the program is.
        command = ("node", shutil.copy(program, environment))
    desk.attach(command=command, task=TASK)


def test_an_example_is_answered_to_success(desk: AttachedWindow, name: str) -> None:
    attach(desk, name)
    desk.ran()
    assert desk.window.view.success is True, "\n".join(desk.view.output[-40:])


def held_text(desk: AttachedWindow) -> str:
    """Return what the editor shows of the reply that is held."""
    offered: list[EditText] = []
    listening: Callable[[EditText], None] = offered.append
    desk.session.edits.offered.connect(listening)
    desk.session.edits.begin_text("prompt")
    desk.wait_until(lambda: bool(offered))
    return offered[-1].text


def _halted(desk: AttachedWindow) -> bool:
    view = desk.window.view
    return view.mode == "ended" or view.held_reply > 0 or "is about to be carried out" in view.stopped_at


def test_it_stops_at_an_action_has_its_reply_edited_and_goes_on_to_success(
    desk: AttachedWindow, name: str
) -> None:
    attach(desk, name)
    breakpoints = BreakpointsService(desk.session)
    breakpoints.add(ActionChosen(action="type", text="shampoo"))
    breakpoints.add(LLMCall(when="after"))
    text, stopped = "", False
    while "12.00" not in text or CHOOSES.get(name, "") not in text:
        before = desk.window.view
        desk.trigger("run")
        desk.wait_until(lambda before=before: _halted(desk) and desk.window.view != before)
        view = desk.window.view
        assert view.mode != "ended", "\n".join(desk.view.output[-40:])
        stopped = stopped or "is about to be carried out" in view.stopped_at
        text = held_text(desk) if view.held_reply else ""
    assert stopped
    for one in desk.service.session.breaking.breakpoints.all:
        breakpoints.remove(one.number)
    desk.session.edits.apply_text("prompt", text.replace("12.00", "9.50"))
    desk.wait_until(lambda: bool(desk.window.view.held_edits))
    desk.ran()
    assert desk.window.view.success is True, "\n".join(desk.view.output[-40:])
    store = desk.stored()
    actions = [step.action for step in store.steps(store.runs()[0].run)]
    store.close()
    # Afterwards the built-in LLM puts it right, perhaps.
    prices = [action for action in actions if action.endswith(("[9.50]", "[12.00]"))]
    assert prices[0].endswith("[9.50]")


def test_killed_while_it_is_held_nothing_is_lost_and_no_process_is_left(
    desk: AttachedWindow, name: str
) -> None:
    attach(desk, name)
    BreakpointsService(desk.session).add(ActionChosen(action="click"))
    desk.trigger("run")
    desk.wait_until(lambda: "is about to be carried out" in desk.window.view.stopped_at)
    started = [process for process, line in descendants().items() if f"{name}_agent." in line]
    assert started
    for process in started:
        os.kill(int(process), signal.SIGKILL)
    desk.wait_until(lambda: not desk.view.running)
    store = desk.stored()
    steps = store.steps(store.runs()[0].run)
    store.close()
    assert [step.action for step in steps if step.action.startswith("type")]
    desk.wait_until(lambda: not [line for line in descendants().values() if f"{name}_agent." in line])


def test_gone_back_to_a_step_it_comes_there_and_goes_on_to_success(desk: AttachedWindow, name: str) -> None:
    if name in NUMBERS_NODES:
        pytest.skip("Its names of elements are the engine's numbers of nodes, which our own reading moves.")
    attach(desk, name)
    run = desk.ran()
    store = desk.stored()
    step = [one.number for one in store.steps(run) if one.action.startswith("click")][1]
    store.close()
    desk.session.branches.go_back(run, step)
    branch = desk.branched(run)
    parted = desk.view.parted
    assert parted is None, difference(parted.recorded, parted.asked)
    assert desk.window.view.step == step
    store = desk.stored()
    restored = store.pages.restored(branch)
    store.close()
    assert restored is not None
    assert restored.verified, restored.sentence
    desk.ran()
    assert desk.window.view.success is True, "\n".join(desk.view.output[-40:])
