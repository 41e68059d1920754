"""An attached agent's run is gone back to, asked again, answered otherwise, compared, bisected and kept."""

import json
import subprocess
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
from core.schema.restore import Parted
from core.trace.records import RunRow, StepRow
from tests.core.browser.site import Site
from tests.core.cli.conftest import CommandLine
from tests.core.stage import need_chromium, page_file
from tests.gui.live.attached import AGENT, AttachedWindow, desk
from tests.gui.live.test_attached_agent import BUTTONS
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = pytest.mark.browser


class Asking:
    """Ask again, as the window has it."""

    def __init__(self, desk: AttachedWindow) -> None:
        self.desk = desk
        self.service = AskAgainService(desk.session)
        self.view = AskView(run=0, step=0)
        self.service.changed.connect(self._keep)

    def _keep(self, view: AskView) -> None:
        self.view = view

    def opened(self, run: int, step: int) -> AskView:
        self.service.open(run, step)
        self.desk.wait_until(lambda: (self.view.run, self.view.step) == (run, step))
        return self.view


@pytest.fixture
def asking(desk: AttachedWindow) -> Asking:
    return Asking(desk)


def pressed(
    desk: AttachedWindow, llm_server: LLMServer, folder: Path, agent: str = AGENT, url: str = ""
) -> int:
    """Have the agent press two buttons, each by an answer of its own, and return the run."""
    for reply in ("One", "Two", "done"):
        llm_server.say(reply)
    desk.attach(agent, url=url or page_file(folder, BUTTONS), instruction="Press.")
    desk.trigger("run")
    desk.wait_for("ended")
    assert desk.window.view.run is not None
    return desk.window.view.run


def on_branch(desk: AttachedWindow, run: int) -> None:
    desk.wait_until(lambda: desk.window.view.run not in (None, run))
    desk.wait_for("waiting")


def stored_run(desk: AttachedWindow) -> tuple[RunRow, tuple[StepRow, ...]]:
    """Return the run in view and its own steps, as they are stored."""
    store = desk.stored()
    try:
        assert desk.window.view.run is not None
        return store.run(desk.window.view.run), store.own_steps(desk.window.view.run)
    finally:
        store.close()


def test_its_question_is_asked_again_and_the_answers_counted(
    desk: AttachedWindow, asking: Asking, llm_server: LLMServer, tmp_path
) -> None:
    run = pressed(desk, llm_server, tmp_path)
    view = asking.opened(run, 2)
    assert (view.recorded, view.reply, view.problem) == ("Two", "Two", "")
    assert view.parts_known
    for reply in ("Two", "Three", "Two"):
        llm_server.say(reply)
    asking.service.ask(Question(run=run, step=2, count=3))
    desk.wait_until(lambda: bool(asking.view.asked) and not asking.view.busy)
    (asked,) = asking.view.asked
    assert asked.distribution == (("Two", 2), ("Three", 1))
    assert {one.reply for one in asked.answers} == {"Two", "Three"}
    assert "One was pressed" in llm_server.requests[-1].texts[-1]


def test_with_another_reply_at_a_step_it_goes_on_from_there_on_a_branch(
    desk: AttachedWindow, asking: Asking, llm_server: LLMServer, tmp_path
) -> None:
    run = pressed(desk, llm_server, tmp_path)
    asked = len(llm_server.requests)
    asking.service.go_on_with(run, 2, "Three")
    on_branch(desk, run)
    desk.step_to_review()
    assert len(llm_server.requests) == asked
    llm_server.say("done")
    desk.trigger("run")
    desk.wait_for("ended")
    said = llm_server.requests[-1].texts[-1]
    assert "One was pressed" in said
    assert "Three was pressed" in said
    assert "Two was pressed" not in said
    row, steps = stored_run(desk)
    assert (row.parent_run, row.parent_step) == (run, 2)
    assert [step.target for step in steps] == ['button "Three"', ""]
    store = desk.stored()
    first = store.step(row.run, 2).calls[0]
    store.close()
    assert first.llm == "person"


def test_a_branch_begins_where_the_agent_asks_something_else_than_it_did(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    asks = AGENT.replace('os.environ["BACKSTEP_TASK"]', 'open("task.txt").read()')
    (tmp_path / "task.txt").write_text("Press one.")
    run = pressed(desk, llm_server, tmp_path, asks)
    (tmp_path / "task.txt").write_text("Press two.")
    desk.session.branches.go_back(run, 3)
    on_branch(desk, run)
    parted: Parted | None = desk.view.parted
    assert parted is not None
    assert (parted.step, parted.recorded.count("Press one."), parted.asked.count("Press two.")) == (1, 1, 1)
    assert "It is at step 1 and continues live from there." in desk.window.view.message
    assert desk.window.view.step == 1
    llm_server.say("done")
    desk.trigger("run")
    desk.wait_for("ended")
    row, steps = stored_run(desk)
    assert (row.parent_run, row.parent_step) == (run, 1)
    assert [step.number for step in steps] == [1]


def test_it_goes_on_offline_by_the_recorded_answers_of_servers_where_asked(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    with Site() as site:
        run = pressed(desk, llm_server, tmp_path, url=site.page(BUTTONS))

    async def fork() -> None:
        await desk.session.branches.fork(run, 2, Changes(offline=True))

    desk.session.queue(fork())
    on_branch(desk, run)
    row, _ = stored_run(desk)
    assert (row.preset, row.offline, row.parent_run) == ("attached", True, run)
    llm_server.say("done")
    desk.trigger("run")
    desk.wait_for("ended")
    assert "One was pressed" in llm_server.requests[-1].texts[-1]


def started(desk: AttachedWindow, llm_server: LLMServer, *words: object) -> "subprocess.Popen[str]":
    return CommandLine(desk.folder, llm_server.base_url).start(*words)


def judged(desk: AttachedWindow, llm_server: LLMServer, button: str, *, success: bool) -> int:
    """Have the agent press a button of a task with a judge, and return the run that has ended with it."""
    llm_server.say(button)
    desk.attach(task="miniwob/click-test-2")
    desk.trigger("run")
    desk.wait_for("ended")
    assert desk.window.view.run is not None
    assert desk.window.view.success is success
    return desk.window.view.run


def test_it_is_forked_and_bisected_without_a_window(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    run = judged(desk, llm_server, "TWO", success=False)
    llm_server.say("ONE")
    forking = started(desk, llm_server, "fork", run, "--step", 1, "--llm", "test-model", "--json")
    desk.wait_until(lambda: forking.poll() is not None)
    out, err = forking.communicate()
    assert forking.returncode == 0, err
    report = json.loads(out)
    assert (report["success"], report["steps"]) == (True, 1)
    for reply in ("ONE", "TWO", "done"):
        llm_server.say(reply)
    words = ("bisect", run, "--at", 1, "--times", 3, "--llm", "test-model", "--browser", need_chromium())
    bisecting = started(desk, llm_server, *words)
    desk.wait_until(lambda: bisecting.poll() is not None)
    out, err = bisecting.communicate()
    assert bisecting.returncode == 0, err
    assert "1 of 3" in out


def test_two_of_its_runs_are_compared_to_where_they_part(
    desk: AttachedWindow, asking: Asking, llm_server: LLMServer, tmp_path
) -> None:
    run = pressed(desk, llm_server, tmp_path)
    asking.service.go_on_with(run, 2, "Three")
    on_branch(desk, run)
    llm_server.say("done")
    desk.trigger("run")
    desk.wait_for("ended")
    branch = desk.window.view.run
    service = CompareService(desk.session)
    views: list[ComparedView] = []
    service.changed.connect(views.append)
    service.compare(run, branch)
    desk.wait_until(lambda: bool(views) and views[-1].compared is not None)
    compared = views[-1].compared
    assert compared.first_difference == 1
    assert compared.pairs[0].shared
    pairs: list[PairView] = []
    service.paired.connect(pairs.append)
    service.pair((run, 2), (branch, 2))
    desk.wait_until(lambda: bool(pairs))
    parts = {part.name: (part.left, part.right) for part in pairs[-1].parts if not part.same}
    assert parts["reply"] == ("Two", "Three")
    assert "prompt" not in parts


def test_its_run_is_kept_as_an_exemplar_that_replays(
    desk: AttachedWindow, llm_server: LLMServer, tmp_path
) -> None:
    run = judged(desk, llm_server, "ONE", success=True)
    service = SavingService(desk.session, ExemplarChanges(desk.session))
    views: list[SavingView] = []
    service.changed.connect(views.append)
    service.open(run)
    desk.wait_until(lambda: bool(views) and not views[-1].busy)
    view = views[-1]
    assert (view.problem, view.exemplar is not None) == ("", True)
    service.save(SavingChoice())
    desk.wait_until(lambda: views[-1].saved is not None and not views[-1].busy)
    assert views[-1].problem == ""
    replaying = started(desk, llm_server, "exemplars", "replay", "--json", views[-1].saved.id)
    desk.wait_until(lambda: replaying.poll() is not None)
    out, err = replaying.communicate()
    assert replaying.returncode == 0, err
    assert [one["success"] for one in json.loads(out)] == [True]
