"""An attached agent whose page has sent something is gone back with, as often as a person likes."""

from collections.abc import Iterator

import pytest
from werkzeug import Response

from tests.core.browser.site import Site
from tests.gui.live.attached import AttachedWindow, desk
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
    """A run whose second step has posted an order, and that waits at its third."""
    with Site() as site:
        orders = Orders(site)
        for reply in ("Look", "Buy", "Look"):
            llm_server.say(reply)
        desk.attach(url=orders.url, instruction="Buy.")
        for step in (1, 2, 3):
            desk.trigger("step")
            desk.at_review_of(step)
        yield desk, orders


def asked(desk: AttachedWindow, words: str) -> None:
    """Wait for the question in the window."""
    desk.wait_until(lambda: words in desk.window.page.messages.text.text())


def asked_first(desk: AttachedWindow, words: str) -> None:
    """Wait for the question in the window, and for the run that can still be stepped."""
    asked(desk, words)
    assert not desk.window.page.messages.back_button.isHidden()
    assert desk.window.actions_by_name["step"].isEnabled()


def anyway(desk: AttachedWindow) -> None:
    desk.window.page.messages.back_button.click()


def test_it_is_asked_each_time_what_is_sent_again_or_not_undone(
    ordered: Ordered, llm_server: LLMServer
) -> None:
    desk, orders = ordered
    run = desk.window.view.run
    again = f"Repeating it would send POST {orders.post} (step 2)."
    desk.session.branches.go_back(run, 3)
    asked_first(desk, again)
    assert (desk.window.view.run, orders.number) == (run, 1)
    anyway(desk)
    branch = desk.branched(run)
    assert (desk.window.view.step, orders.number) == (3, 2)
    desk.session.branches.go_back(branch, 3)
    asked_first(desk, again)
    assert desk.window.view.run == branch
    llm_server.say("Look")
    desk.trigger("step")  # Another choice: it continues where it is.
    desk.at_review_of(3)

    desk.trigger("back")  # To before the step that was done last.
    asked_first(desk, f"Going back to step 2 does not undo POST {orders.post} (step 2)")
    desk.trigger("back")  # Pressing again agrees.
    other = desk.branched(run, branch)
    assert (desk.window.view.step, orders.number) == (2, 2)

    llm_server.say("done")
    desk.ran()  # Its program has ended.
    desk.session.branches.go_back(run, 3)
    asked(desk, again)
    anyway(desk)
    last = desk.branched(run, branch, other)
    llm_server.say("done")
    assert desk.ran() == last
    assert orders.number == 3


def test_one_that_is_on_its_way_back_is_gone_back_with_and_one_whose_program_is_gone_once_it_is_there(
    ordered: Ordered, llm_server: LLMServer
) -> None:
    desk, _ = ordered
    run = desk.window.view.run
    desk.session.branches.go_back(run, 3)
    asked_first(desk, "Repeating it")
    anyway(desk)
    desk.wait_until(lambda: desk.window.view.mode == "opening")
    desk.session.branches.go_back(run, 1)
    asked(desk, "does not undo")
    anyway(desk)
    desk.wait_until(lambda: (desk.window.view.step, desk.window.view.mode) == (1, "waiting"))
    llm_server.say("Look")
    desk.trigger("step")
    desk.at_review_of(1)

    branch = desk.window.view.run
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
    asked(desk, "Repeating it")
    anyway(desk)
    desk.branched(run, branch)
    assert desk.window.view.step == 3
