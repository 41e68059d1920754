"""Going back with what servers answered then, and nothing sent to them again."""

from collections import Counter

import pytest
from werkzeug import Response

from core.debugger.branching.service import ForkService
from core.schema.changes import Changes
from tests.core.browser.site import Site
from tests.core.stage import ref_in
from tests.llm_server import Reply

pytestmark = pytest.mark.browser


@pytest.fixture
def site():
    with Site() as site:
        yield site


class Cart:
    """A page whose scripts ask a server that counts."""

    def __init__(self, site):
        self.count, self.asked = 0, Counter()
        self.add = add = site.serve(self._add)
        self.url = site.serve(self._page)
        self._script = (
            f"<button onclick=\"fetch('{add}', {{method: 'POST'}}).then(r => r.text()).then(say)\">add</button>"
            "<p id=p></p><script>let said = 0; const say = t => { said++; p.textContent = t + ' after ' + said }"
            "</script>"
        )

    def _page(self, request):
        self.asked["page"] += 1
        return Response(f"<title>{self.count}</title>{self._script}", content_type="text/html")

    def _add(self, request):
        self.asked["add"] += 1
        self.count += 1
        return Response(f"{self.count} in the cart", content_type="text/plain")


def click(request):
    return Reply(text=f"REASON: So.\nACTION: click [{ref_in(request, 'button')}]")


@pytest.fixture
def at_four(live, server, site):
    """A run that has added three times."""
    cart = Cart(site)
    server.script(click, click, click, Reply(text="REASON: Done.\nACTION: stop []"))
    live.session.agent.set_preset("step")
    live.open("web/open", url=cart.url, instruction="Add three.")
    for number in (1, 2, 3, 4):
        live.session.run_commands.step()
        live.wait(lambda number=number: live.step.number == number and live.view.phase == "review")
    live.wait_mode("waiting")
    return live, cart


def go_back(live, run, step):
    """Go back, asked a second time as something was sent since."""
    live.session.branches.go_back(run, step)
    live.wait(lambda: "does not undo" in live.view.message)
    live.session.branches.go_back(run, step)
    live.wait(lambda: live.view.run not in (None, run) and live.view.mode == "waiting", "a branch")
    live.settle()


def test_a_page_that_scripts_made_is_given_again_without_asking_its_server_and_then_reaches_it(
    at_four, server
):
    live, cart = at_four
    asked = cart.asked.copy()
    go_back(live, live.view.run, 3)
    assert "Back at step 3 by replay with recorded answers: recorded" in live.view.message
    assert "It is the recorded page: servers were not asked" in live.view.message
    assert f"Already sent, and not undone: POST {cart.add} (step 3)." in live.view.message
    # Opening it by its URL was tried before, and shows what the server has come to.
    assert cart.asked["add"] == asked["add"] == 3
    store = live.store()
    try:
        restored, row = store.pages.restored(live.view.run), store.run(live.view.run)
    finally:
        store.close()
    assert (row.grade, restored.verified) == ("recorded", True)
    last = restored.attempts[-1]
    assert last.remarks == ("The state of the server was not restored.",)
    # After it the page reaches its server again.
    server.script(click, Reply(text="REASON: Done.\nACTION: stop []"))
    live.session.run_commands.step()
    live.wait(lambda: live.step.number == 3 and live.view.phase == "review")
    assert "2 in the cart after 2" in live.step.observation.raw
    live.session.run_commands.step()
    live.wait(lambda: live.step.number == 4 and live.view.phase == "review")
    assert cart.asked["add"] == 4
    assert "4 in the cart after 3" in live.step.observation.raw
    # The branch is gone back in with the answers of both.
    go_back(live, live.view.run, 3)
    assert "Back at step 3 by replay with recorded answers" in live.view.message
    assert cart.asked["add"] == 4


def test_a_page_is_brought_back_whose_server_has_gone(at_four, site):
    live, _ = at_four
    site.stop()
    go_back(live, live.view.run, 2)
    assert "Back at step 2 by replay with recorded answers: recorded" in live.view.message


def test_a_fork_with_recorded_answers_alone_never_asks_the_server(at_four, server):
    live, cart = at_four
    run, asked = live.view.run, cart.asked.copy()
    ForkService(live.session).fork(run, 2, Changes(offline=True), confirmed=True)
    live.wait(lambda: live.view.run not in (None, run) and live.view.mode == "waiting", "a branch")
    server.script(click, click, Reply(text="REASON: Done.\nACTION: stop []"))
    live.session.run_commands.run()
    live.wait_mode("ended")
    assert cart.asked == asked
    assert "3 in the cart after 3" in live.step.observation.raw
    store = live.store()
    try:
        branch = store.run(live.view.run)
    finally:
        store.close()
    assert branch.offline
    assert [str(one) for one in branch.differences] == ["recorded answers (was live pages)"]
