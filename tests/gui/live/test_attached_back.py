"""An attached agent's run is gone back to, asked again, answered otherwise, compared, bisected and kept."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from core.debugger.ask_again.service import AskAgainService
from core.debugger.ask_again.views import AskView, Question
from core.debugger.compare.service import CompareService
from core.debugger.compare.views import ComparedView, PairView
from core.debugger.exemplars.changes import ExemplarChanges
from core.debugger.exemplars.saving.service import SavingService
from core.debugger.exemplars.saving.views import SavingChoice, SavingView
from core.schema.changes import Changes
from core.trace.records import RunRow, StepRow
from tests.core.browser.site import Site
from tests.core.cli.conftest import CommandLine
from tests.core.stage import need_chromium
from tests.gui.live.attached import AGENT, AttachedWindow, desk
from tests.gui.live.test_attached_agent import BUTTONS
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = pytest.mark.browser

TASK = 'os.environ["BACKSTEP_TASK"]'


def pressed(desk: AttachedWindow, llm_server: LLMServer, url: str) -> int:
    """Have an agent with a task of its own press two buttons, each by an answer of its own, and return the run."""
    for reply in ("One", "Two", "done"):
        llm_server.say(reply)
    desk.attach(AGENT.replace(TASK, 'open("task.txt").read()'), url=url, instruction="Press.")
    return desk.ran()


def stored_run(desk: AttachedWindow, run: int) -> tuple[RunRow, tuple[StepRow, ...]]:
    """Return a run and its own steps, as they are stored."""
    store = desk.stored()
    try:
        return store.run(run), store.own_steps(run)
    finally:
        store.close()


def compared(desk: AttachedWindow, run: int, branch: int, step: int) -> tuple[ComparedView, PairView]:
    """Compare two runs, and a step of both."""
    service = CompareService(desk.session)
    views: list[ComparedView] = []
    pairs: list[PairView] = []
    service.changed.connect(views.append)
    service.paired.connect(pairs.append)
    service.compare(run, branch)
    desk.wait_until(lambda: bool(views) and views[-1].compared is not None)
    service.pair((run, step), (branch, step))
    desk.wait_until(lambda: bool(pairs))
    return views[-1], pairs[-1]


def test_it_is_asked_again_answered_otherwise_compared_and_gone_back_with_offline(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path: Path
) -> None:
    (tmp_path / "task.txt").write_text("Press one.")
    service = AskAgainService(desk.session)
    views: list[AskView] = []
    service.changed.connect(views.append)
    with Site() as site:
        run = pressed(desk, llm_server, site.page(BUTTONS))

        service.open(run, 2)
        desk.wait_until(lambda: bool(views) and (views[-1].run, views[-1].step) == (run, 2))
        view = views[-1]
        assert (view.recorded, view.reply, view.problem) == ("Two", "Two", "")
        assert view.parts_known
        for reply in ("Two", "Three", "Two"):
            llm_server.say(reply)
        service.ask(Question(run=run, step=2, count=3))
        desk.wait_until(lambda: bool(views[-1].asked) and not views[-1].busy)
        (answers,) = views[-1].asked
        assert answers.distribution == (("Two", 2), ("Three", 1))
        assert {one.reply for one in answers.answers} == {"Two", "Three"}
        assert "One was pressed" in llm_server.requests[-1].texts[-1]

        asked = len(llm_server.requests)
        service.go_on_with(run, 2, "Three")
        branch = desk.branched(run)
        desk.step_to_review()
        assert len(llm_server.requests) == asked
        llm_server.say("done")
        desk.ran()
        said = llm_server.requests[-1].texts[-1]
        assert [f"{name} was pressed" in said for name in ("One", "Two", "Three")] == [True, False, True]
        row, steps = stored_run(desk, branch)
        assert (row.parent_run, row.parent_step) == (run, 2)
        assert [step.target for step in steps] == ['button "Three"', ""]
        store = desk.stored()
        assert store.step(branch, 2).calls[0].llm == "person"
        store.close()

        both, pair = compared(desk, run, branch, 2)
        assert both.compared.first_difference == 1
        assert both.compared.pairs[0].shared
        parts = {part.name: (part.left, part.right) for part in pair.parts if not part.same}
        assert parts["reply"] == ("Two", "Three")
        assert "prompt" not in parts

        (tmp_path / "task.txt").write_text("Press two.")
        desk.session.branches.go_back(run, 3)
        other = desk.branched(run, branch)
        parted = desk.view.parted
        assert parted is not None
        assert (parted.step, parted.recorded.count("Press one."), parted.asked.count("Press two.")) == (
            1,
            1,
            1,
        )
        assert "It is at step 1 and continues live from there." in desk.window.view.message
        assert desk.window.view.step == 1
        llm_server.say("done")
        desk.ran()
        row, steps = stored_run(desk, other)
        assert (row.parent_run, row.parent_step) == (run, 1)
        assert [step.number for step in steps] == [1]

    async def fork() -> None:
        await desk.session.branches.fork(run, 2, Changes(offline=True))

    (tmp_path / "task.txt").write_text("Press one.")
    desk.session.queue(fork())
    last = desk.branched(run, branch, other)
    row, _ = stored_run(desk, last)
    assert (row.preset, row.offline, row.parent_run) == ("attached", True, run)
    llm_server.say("done")
    desk.ran()
    assert "One was pressed" in llm_server.requests[-1].texts[-1]


@pytest.fixture
def cli(desk: AttachedWindow, llm_server: LLMServer) -> Callable[..., str]:
    """Runs a command beside the window, and returns what it says."""

    def run(*words: object) -> str:
        process = CommandLine(desk.folder, llm_server.base_url).start(*words)
        desk.wait_until(lambda: process.poll() is not None)
        out, err = process.communicate()
        assert process.returncode == 0, err
        return str(out)

    return run


def test_it_is_forked_bisected_and_kept_as_an_exemplar_that_replays_without_a_window(
    desk: AttachedWindow, llm_server: LLMServer, cli: Callable[..., str]
) -> None:
    llm_server.say("TWO")
    desk.attach(task="miniwob/click-test-2")
    run = desk.ran()
    assert desk.window.view.success is False
    llm_server.say("ONE")
    report = json.loads(cli("fork", run, "--step", 1, "--llm", "test-model", "--json"))
    assert (report["success"], report["steps"]) == (True, 1)
    for reply in ("ONE", "TWO"):
        llm_server.say(reply)
    bisecting = ("bisect", run, "--at", 1, "--times", 2, "--llm", "test-model")
    assert "1 of 2" in cli(*bisecting, "--browser", need_chromium())

    service = SavingService(desk.session, ExemplarChanges(desk.session))
    views: list[SavingView] = []
    service.changed.connect(views.append)
    service.open(report["run"])
    desk.wait_until(lambda: bool(views) and not views[-1].busy)
    assert (views[-1].problem, views[-1].exemplar is not None) == ("", True)
    service.save(SavingChoice())
    desk.wait_until(lambda: views[-1].saved is not None and not views[-1].busy)
    assert views[-1].problem == ""
    replayed = json.loads(cli("exemplars", "replay", "--json", views[-1].saved.id))
    assert [one["success"] for one in replayed] == [True]
