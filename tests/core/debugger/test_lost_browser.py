"""A browser that is replaced under a run: the run rests at its step, says so, and goes on from its checkpoint."""

import os
import signal
from contextlib import closing

import pytest

from core.schema.step import Acted, record_of
from tests.core.browser.browsing import impatient
from tests.core.stage import on, page_file

__all__ = ["impatient"]
pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("impatient")]


@pytest.fixture(autouse=True)
def patient_tests(monkeypatch):
    """Each rung is waited for in turn, and a loaded machine takes several times as long."""
    monkeypatch.setattr("tests.core.debugger.live.SECONDS", 180.0)


@pytest.fixture
def under_review(live, server, tmp_path):
    """A run whose first step is about to click."""
    server.script(on("button"))
    live.open("web/open", url=page_file(tmp_path, "<button>b</button>"), instruction="Click b.")
    live.to_review()
    return live


def disturb_driver(live, how):
    os.kill(live.session.services().tabs.browser.connection._process.pid, how)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_run_says_what_to_do_and_goes_on_from_its_step_in_a_new_browser(under_review, server, how):
    live, first = under_review, under_review.view.run
    disturb_driver(live, how)
    live.session.run_commands.run()
    live.wait_mode("failed")
    assert (
        "connected again, with an empty tab. Go back to step 1 (Ctrl+B) to continue from there"
        in live.view.message
    )
    assert any("connected again" in line.text and line.level == "error" for line in live.lines)
    message = live.view.message
    live.session.run_commands.step()
    live.wait_mode("failed")
    live.settle()
    assert live.view.message == message
    live.session.branches.go_back(first, 1)
    live.wait(lambda: live.view.run not in (None, first) and live.view.mode == "waiting", "a branch")
    assert "Back at step 1" in live.view.message
    server.script(on("button"))
    live.to_review()
    for phase in ("act", "align"):
        live.session.run_commands.phase()
        live.wait_phase(phase)
    with closing(live.store()) as store:
        acted = record_of(Acted, store.step(live.view.run, 1).records)
    assert acted is not None
    assert acted.outcome == "done"


def test_another_task_opens_in_the_new_browser(under_review):
    disturb_driver(under_review, signal.SIGSTOP)
    under_review.open("miniwob/click-test-2", 0)
    assert under_review.view.mode == "waiting"
