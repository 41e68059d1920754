"""An attached agent whose page has sent something is gone back with, as often as a person likes."""

from collections.abc import Iterator

import pytest
from werkzeug import Response

from tests.core.browser.site import Site
from tests.gui.live.attached import AttachedWindow, desk
from tests.gui.live.test_attached_back import on_branch
from tests.llm_server import LLMServer

__all__ = ["desk"]
pytestmark = pytest.mark.browser


LOOK = "<button onclick=\"this.after(' Look was pressed')\">Look</button>"


class Orders:
    """A shop whose button *Buy* posts a form; the number of orders is kept."""

    def __init__(self, site: Site) -> None:
        self.number = 0
        self.post = site.serve(self._order)
        form = f'<form method=post action="{self.post}"><button>Buy</button></form>'
        self.url = site.page(form + LOOK)

    def _order(self, request: object) -> Response:
        self.number += 1
        return Response(f"<!doctype html><title>thanks</title>{LOOK}", content_type="text/html")


Ordered = tuple[AttachedWindow, Orders]


@pytest.fixture
def ordered(desk: AttachedWindow, llm_server: LLMServer) -> Iterator[Ordered]:
    """A run whose second step has posted an order, and that waits at its fourth."""
    with Site() as site:
        orders = Orders(site)
        for reply in ("Look", "Buy", "Look"):
            llm_server.say(reply)
        desk.attach(url=orders.url, instruction="Buy.")
        for step in (1, 2, 3):
            desk.trigger("step")
            desk.at_review_of(step)
        yield desk, orders


def asked_first(desk: AttachedWindow, words: str) -> None:
    """Wait for the question in the window, and for the run that can still be stepped."""
    messages = desk.window.page.messages
    desk.wait_until(lambda: words in messages.text.text())
    assert not messages.back_button.isHidden()
    assert desk.window.actions_by_name["step"].isEnabled()


def anyway(desk: AttachedWindow) -> None:
    desk.window.page.messages.back_button.click()


def test_it_is_asked_first_what_its_program_sends_again_each_time(
    ordered: Ordered, llm_server: LLMServer
) -> None:
    desk, orders = ordered
    run = desk.window.view.run
    desk.session.branches.go_back(run, 3)
    asked_first(desk, f"Repeating it would send POST {orders.post} (step 2).")
    assert (desk.window.view.run, orders.number) == (run, 1)
    anyway(desk)
    on_branch(desk, run)
    branch = desk.window.view.run
    assert (desk.window.view.step, orders.number) == (3, 2)
    desk.session.branches.go_back(branch, 3)
    asked_first(desk, f"Repeating it would send POST {orders.post} (step 2).")
    assert desk.window.view.run == branch
    llm_server.say("Look")
    desk.trigger("step")  # Another choice: it continues where it is.
    desk.at_review_of(3)


def test_what_is_not_undone_is_asked_about_and_pressing_again_agrees(ordered: Ordered) -> None:
    desk, orders = ordered
    run = desk.window.view.run
    desk.trigger("back")  # To before the step that was done last.
    asked_first(desk, f"Going back to step 2 does not undo POST {orders.post} (step 2)")
    desk.trigger("back")
    on_branch(desk, run)
    assert (desk.window.view.step, orders.number) == (2, 1)


def test_one_that_is_being_gone_back_with_is_gone_back_with_to_another_step(
    ordered: Ordered, llm_server: LLMServer
) -> None:
    desk, _ = ordered
    run = desk.window.view.run
    desk.session.branches.go_back(run, 3)
    asked_first(desk, "Repeating it")
    anyway(desk)
    desk.wait_until(lambda: desk.window.view.mode == "opening")
    desk.session.branches.go_back(run, 1)
    desk.wait_until(lambda: "does not undo" in desk.window.page.messages.text.text())
    anyway(desk)
    desk.wait_until(lambda: (desk.window.view.step, desk.window.view.mode) == (1, "waiting"))
    llm_server.say("Look")
    desk.trigger("step")
    desk.at_review_of(1)


def test_a_program_that_can_no_longer_run_is_told_and_gone_back_with_once_it_can(ordered: Ordered) -> None:
    desk, _ = ordered
    run = desk.window.view.run
    program = desk.folder / "agent.py"
    program.rename(desk.folder / "moved.py")
    desk.session.branches.go_back(run, 3)
    asked_first(desk, "Repeating it")
    anyway(desk)
    desk.wait_until(lambda: desk.window.view.mode == "failed")
    said = desk.window.page.messages.text.text()
    assert "The agent did not get past step 1. The agent's program has ended with exit code 2." in said
    (desk.folder / "moved.py").rename(program)
    desk.session.branches.go_back(run, 3)
    desk.wait_until(lambda: "Repeating it" in desk.window.page.messages.text.text())
    anyway(desk)
    on_branch(desk, run)
    assert desk.window.view.step == 3


def test_a_run_that_its_program_has_ended_is_gone_back_in(ordered: Ordered, llm_server: LLMServer) -> None:
    desk, orders = ordered
    run = desk.window.view.run
    llm_server.say("done")
    desk.trigger("run")
    desk.wait_for("ended")
    desk.session.branches.go_back(run, 3)
    desk.wait_until(lambda: "Repeating it" in desk.window.page.messages.text.text())
    anyway(desk)
    on_branch(desk, run)
    llm_server.say("done")
    desk.trigger("run")
    desk.wait_for("ended")
    assert orders.number == 2
