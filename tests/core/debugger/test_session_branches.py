"""Going back at the window: to a step of this run or of an old one, on branches that can be gone between."""

import threading

import pytest
from werkzeug import Response

from core.debugger.breakpoints.kinds.problems import Condition
from core.debugger.breakpoints.service import BreakpointsService
from core.schema.step import Acted, record_of
from core.storage.resources import RESOURCES
from tests.core.browser.site import Site
from tests.core.stage import on, page_file, ref_in
from tests.llm_server import Reply, call

pytestmark = pytest.mark.browser


def does(action, words=""):
    def answer(request):
        ref = f"[{ref_in(request, words)}]" if words else ""
        return Reply(text=f"REASON: So.\nACTION: {action} {ref}".rstrip())

    return answer


@pytest.fixture
def page(tmp_path):
    page_file(tmp_path, "<h1>Orders</h1><a href='order.html'>Order 4711</a>", "orders.html")
    page_file(tmp_path, "<h1>Order 4711</h1>", "order.html")
    page_file(tmp_path, "<h1>Archive</h1>", "archive.html")
    body = '<input aria-label="Note"><a href="archive.html">Archive</a> <a href="orders.html">Orders</a>'
    return page_file(tmp_path, body, "start.html")


@pytest.fixture
def gone_wrong(live, server, page):
    """A run whose second step has opened the archive, where the orders were meant; its third is under review."""
    server.script(
        lambda request: Reply(text=f"REASON: So.\nACTION: type [{ref_in(request, 'textbox')}] [4711]"),
        does("click", 'link "Archive"'),
        Reply(text="REASON: Nothing here.\nACTION: stop []"),
    )
    live.session.agent.set_preset("step")
    live.open("web/open", url=page, instruction="Find the order.")
    for number in (1, 2, 3):
        live.session.run_commands.step()
        live.wait(lambda number=number: live.step.number == number and live.view.phase == "review")
    live.wait_mode("waiting")
    return live


def go_back(live, run, step):
    live.session.branches.go_back(run, step)
    live.wait(lambda: live.view.run not in (None, run) and live.view.mode == "waiting", "a branch")
    live.settle()


def sends_by_itself(live):
    """Let the page send what its button sends, as a timer of it does."""
    tabs, sent = live.session._current.need_services().tabs, threading.Event()

    async def send():
        before = tabs.mark()
        await tabs.current.evaluate("document.querySelector('button').click()")
        await tabs.settle(before)
        sent.set()

    live.session.queue(send())
    assert sent.wait(60)


def stored(live, question):
    store = live.store()
    try:
        return question(store)
    finally:
        store.close()


def test_going_back_is_a_branch_that_begins_with_the_page_and_the_agent_as_they_were(gone_wrong, server):
    live, first = gone_wrong, gone_wrong.view.run
    live.session.branches.go_back(first, 9)
    live.wait(lambda: "its steps are 1 to 3" in live.view.message)
    assert (live.view.run, live.view.phase) == (first, "review")
    go_back(live, first, 2)
    branch = live.view.run
    assert (live.view.step, live.view.phase) == (2, "decide")
    assert "Back at step 2 by history entry" in live.view.message
    assert live.page.url.endswith("start.html")
    row, left = stored(live, lambda store: (store.run(branch), store.run(first)))
    assert (row.parent_run, row.parent_step, row.grade) == (first, 2, "equivalent")
    assert left.outcome == "left"
    server.script(does("click", 'link "Orders"'))
    step = live.to_review()
    assert "Archive" not in "\n".join(server.requests[-1].texts[-1].splitlines()[-3:])
    assert 'value="4711"' in step.observation.raw
    assert "type" in "\n".join(server.requests[-1].texts)  # The first step is still known.
    numbers = stored(live, lambda store: [(one.run, one.number) for one in store.steps(branch)])
    assert numbers == [(first, 1), (branch, 2)]
    # The steps before a branch are shown as its own.
    live.session.trace.show_step(branch, 1)
    live.wait(lambda: live.step.number == 1 and not live.step.live)
    assert live.step.action.action.startswith("type")
    live.session.trace.name_run(first, "  the archive ")
    live.wait(lambda: {one.run: one.name for one in live.runs.runs}[first] == "the archive")


def test_what_going_back_has_come_to_is_told_too_where_a_breakpoint_stops_the_branch(gone_wrong):
    live, service = gone_wrong, BreakpointsService(gone_wrong.session)
    service.add(Condition(expression='step.phase == "recognise"'))
    live.settle()
    go_back(live, live.view.run, 2)
    assert live.view.message.startswith(
        'step.phase == "recognise" has become true. Back at step 2 by history'
    )
    service.remove(service.view.breakpoints[-1].breakpoint.number)
    live.settle()


def test_a_branch_that_was_left_is_taken_up_where_it_was_and_an_ended_one_is_not(gone_wrong, server):
    live, first = gone_wrong, gone_wrong.view.run
    go_back(live, first, 2)
    live.session.branches.make_current(first)
    live.wait(lambda: live.view.run == first and live.view.mode == "waiting", "the first run")
    assert (live.view.step, live.page.url.rsplit("/", 1)[1]) == (3, "archive.html")
    server.script(Reply(text="REASON: Give up.\nACTION: stop [not found]"))
    live.to_review()
    live.session.corrections.accept()
    live.wait_mode("ended")
    row, calls = stored(live, lambda store: (store.run(first), store.calls.of(first)))
    assert (row.outcome, row.answer) == ("done", "not found")
    assert [call.number for call in calls] == [1, 2, 3, 4]  # The call of the step that began again is kept.
    go_back(live, first, 2)
    live.session.branches.make_current(first)
    live.wait(lambda: "has ended (done). Go back to one of its steps" in live.view.message)


def test_a_run_of_yesterday_is_gone_back_to_with_its_task_opened_anew(live, server):
    server.script(on('button "TWO"'))
    live.open("miniwob/click-test-2")
    live.to_review()
    live.session.corrections.accept()
    live.wait_mode("ended")
    first = live.view.run
    live.open("miniwob/click-test", seed=1)
    live.session.branches.go_back(first, 1)
    live.wait(lambda: live.view.task == "miniwob/click-test-2" and live.view.mode == "waiting")
    assert stored(live, lambda store: store.run(live.view.run)).grade == "exact"
    server.script(on('button "ONE"'))
    live.to_review()
    live.session.corrections.accept()
    assert live.wait_mode("ended").success is True


def test_what_going_back_does_not_take_back_is_reported_before_it_does(live, server, tmp_path):
    body = "<button onclick=\"fetch('http://127.0.0.1:9/order', {method: 'POST'}).catch(() => 0)\">Order</button>"
    server.script(
        does("click", "button"), does("click", "button"), Reply(text="REASON: Done.\nACTION: stop []")
    )
    live.session.agent.set_preset("step")
    live.open("web/open", url=page_file(tmp_path, body), instruction="Order it.")
    live.to_review()
    run, first = live.view.run, "POST http://127.0.0.1:9/order (step 1)"
    for number, sent in ((2, f"{first}."), (3, f"{first}, POST http://127.0.0.1:9/order (step 2).")):
        live.session.run_commands.step()
        live.wait(lambda number=number: live.step.number == number and live.view.phase == "review")
        live.wait_mode("waiting")
        live.session.branches.go_back(run, 1)
        live.wait(lambda sent=sent: f"does not undo {sent}" in live.view.message, sent)
        assert live.view.run == run
    live.session.branches.go_back(run, 1)
    live.wait(lambda: live.view.run not in (None, run) and live.view.mode == "waiting")
    assert stored(live, lambda store: store.run(live.view.run)).parent_step == 1
    # It is reported of a run that is not under way as well.
    live.open("miniwob/click-test-2")
    other = live.view.run
    live.session.branches.go_back(run, 1)
    live.wait(lambda: f"does not undo {first}" in live.view.message)
    assert live.view.run == other


def test_what_a_page_sends_after_the_last_action_is_reported_and_stays_with_the_run_that_is_left(
    live, server
):
    with Site() as site:
        order = site.serve(lambda _: Response("taken"))
        button = f"<button onclick=\"fetch('{order}', {{method: 'POST'}})\">Order</button>"
        server.script(*[does("click", 'link "Look"')] * 4)
        live.session.agent.set_preset("step")
        live.open("web/open", url=site.page(f"{button}<a href='#'>Look</a>"), instruction="Order it.")
        for number in (1, 2):
            live.session.run_commands.step()
            live.wait(lambda number=number: live.step.number == number and live.view.phase == "review")
        live.wait_mode("waiting")
        run = live.view.run
        sends_by_itself(live)
        live.session.branches.go_back(run, 2)
        live.wait(lambda: f"Going back to step 2 does not undo POST {order} (step 2)." in live.view.message)
        sends_by_itself(live)  # What comes in the meantime is not asked about again.
        go_back(live, run, 2)
        twice = f"POST {order} (step 2), POST {order} (step 2)"
        assert f"Already sent, and not undone: {twice}." in live.view.message
        live.to_review()
        live.session.run_commands.step()
        live.wait(lambda: live.step.number == 3 and live.view.phase == "review")
        acted = stored(live, lambda store: record_of(Acted, store.step(live.view.run, 2).records))
        assert acted.sent == ()
        live.session.branches.go_back(run, 2)  # The branch has not sent it once more.
        live.wait(lambda: f"Going back to step 2 does not undo {twice}. To do it" in live.view.message)


def test_a_remedy_on_a_branch_shows_what_the_run_that_was_left_has_sent(live, server):
    items = []

    def page(_):
        body = (
            f"<h1>Cart</h1><p>{len(items)} items</p><form method=post action='{add}'><button>Add</button></form>"
            "<button onclick=\"this.textContent = 'Seen'\">Look</button>"
        )
        return Response(body, content_type="text/html", headers={"Cache-Control": "max-age=3600"})

    with Site() as site:
        added = site.page("<h1>Added</h1>")
        add = site.serve(lambda _: items.append(1) or Response(status=303, headers={"Location": added}))
        server.script(does("click", 'button "Add"'), Reply(text="REASON: Done.\nACTION: stop []"))
        live.session.agent.set_preset("step")
        live.open("web/open", url=site.serve(page), instruction="Look at it.")
        for number in (1, 2):
            live.session.run_commands.step()
            live.wait(lambda number=number: live.step.number == number and live.view.phase == "review")
        live.wait_mode("waiting")
        run = live.view.run
        live.session.agent.set_preset("reflect")
        live.session.branches.go_back(run, 1)
        live.wait(lambda: "does not undo" in live.view.message)
        go_back(live, run, 1)
        assert f"Already sent, and not undone: POST {add} (step 1)." in live.view.message
        server.script(
            Reply(text="1. Look"),
            does("click", 'button "Look"'),
            does("click", 'button "Add"'),
            Reply(text="Nothing came up.\nNO"),
        )
        live.session.run_commands.run()
        live.wait(lambda: "Step to try the remedy there" in live.view.message, "the page of the remedy")
        assert 'paragraph "0 items" gone; paragraph "1 items" added' in live.view.message
        assert f"Already sent, and not undone: POST {add} (step 1)." in live.view.message


def test_what_going_back_would_send_again_is_sent_only_when_it_is_asked_for_once_more(live, server):
    orders = []
    with Site() as site:
        order = site.serve(lambda _: Response(orders.append(1) or "taken"))
        count = "n.textContent = +n.textContent + 1"
        # What comes over a socket is not recorded: only doing it again brings the number back.
        url = site.page(
            f"<p id=n>0</p><button onclick=\"{count}; fetch('{order}', {{method: 'POST'}})\">Order</button>"
            f'<button onclick="{count}">Add</button><script>new WebSocket("ws://127.0.0.1:9/")</script>'
        )
        server.script(
            does("click", 'button "Order"'),
            does("click", 'button "Add"'),
            Reply(text="REASON: Done.\nACTION: stop []"),
        )
        live.session.agent.set_preset("step")
        live.open("web/open", url=url, instruction="Order it.")
        for number in (1, 2, 3):
            live.session.run_commands.step()
            live.wait(lambda number=number: live.step.number == number and live.view.phase == "review")
        live.wait_mode("waiting")
        run = live.view.run
        go_back(live, run, 2)
        assert len(orders) == 1
        assert "same page" in live.view.message
        assert f"Repeating it would send POST {order} (step 1)." in live.view.message
        assert f"To do that, go back to step 2 of run {run} once more." in live.view.message
        first = live.view.run
        sends_by_itself(live)
        live.session.branches.go_back(run, 2)
        live.wait(lambda: live.view.run not in (None, first) and live.view.mode == "waiting", "a branch")
        live.settle()
        assert "Back at step 2 by replay from the nearest checkpoint: equivalent" in live.view.message
        assert len(orders) == 3


def test_going_back_in_another_run_goes_on_with_the_preset_of_that_run(gone_wrong):
    live, first = gone_wrong, gone_wrong.view.run
    live.open("miniwob/click-test-2")
    live.session.agent.set_preset("plain")
    other = live.view.run
    live.session.branches.go_back(first, 2)
    live.wait(lambda: live.view.run not in (None, other) and live.view.mode == "waiting", "a branch")
    branch = live.view.run
    assert live.view.preset == "step"
    assert live.row(branch).preset == "step"
    live.session.agent.set_preset("plain")
    go_back(live, branch, 2)
    assert (live.view.preset, live.row(live.view.run).preset) == ("plain", "plain")


def test_going_back_in_a_run_whose_preset_is_gone_goes_on_with_the_one_that_is_chosen(live, server, page):
    own = live.config / "presets" / "mine.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text((RESOURCES / "presets" / "plain.toml").read_text(encoding="utf-8"), encoding="utf-8")
    server.script(*[Reply(text="", calls=(call("wait", seconds=0),)) for _ in range(2)])
    live.session.agent.set_preset("mine")
    live.open("web/open", url=page, instruction="Find the order.")
    live.to_review()
    live.session.run_commands.step()
    live.wait(lambda: live.view.step == 2 and live.view.phase == "review", "the second step")
    run = live.view.run
    live.session.agent.set_preset("step")
    live.open("miniwob/click-test-2")
    other = live.view.run
    own.unlink()
    live.session.branches.go_back(run, 1)
    live.wait(lambda: live.view.run not in (None, other) and live.view.mode == "waiting", "a branch")
    assert live.view.preset == "step"
    assert any(f"Run {run} continues with the preset step" in line.text for line in live.lines)
