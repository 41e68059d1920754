"""Stepping, breakpoints and watches at the window, on real pages."""

import time

import pytest
from werkzeug import Response

from core.debugger.breakpoints.kinds.actions import ActionChosen, RequestBegins
from core.debugger.breakpoints.kinds.problems import Condition, Failure, LLMCall
from core.debugger.breakpoints.service import BreakpointsService
from core.debugger.breakpoints.views import Watch
from core.schema.events import BrowserEvent
from tests.core.browser.site import Site
from tests.core.stage import page_file, ref_in
from tests.llm_server import Reply

pytestmark = pytest.mark.browser


def says(action):
    return Reply(text=f"REASON: So.\nACTION: {action}")


def clicks(words):
    return lambda request: says(f"click [{ref_in(request, words)}]")


def types(text):
    return lambda request: says(f"type [{ref_in(request, 'textbox')}] [{text}]")


class Breaks:
    """The service, with what it sent."""

    def __init__(self, session):
        self.service = BreakpointsService(session)
        self.answers = []
        self.views = []
        self.service.answered.connect(lambda answer: self.answers.append(answer.problem))
        self.service.changed.connect(self.views.append)

    @property
    def values(self):
        return {one.watch.text: one.error or one.text for one in self.views[-1].watches}


@pytest.fixture
def breaks(live):
    live.settle()
    breaks = Breaks(live.session)
    yield breaks
    for one in breaks.views[-1].breakpoints if breaks.views else ():
        breaks.service.remove(one.breakpoint.number)
    for one in breaks.views[-1].watches if breaks.views else ():
        breaks.service.remove_watch(one.watch.number)
    live.settle()


@pytest.fixture
def page(tmp_path):
    page_file(tmp_path, "<h1>Orders</h1><a href='start.html'>Start</a>", "orders.html")
    body = """<h1 id=n>0</h1><input aria-label="Note"><a href="orders.html">Orders</a>
        <button onclick="n.textContent = +n.textContent + 1">Add</button>
        <button onclick="fetch('http://127.0.0.1:9/save', {method: 'POST'}).catch(() => 0)">Save</button>"""
    return page_file(tmp_path, body, "start.html")


def begin(live, page, preset="step"):
    live.session.agent.set_preset(preset)
    live.open("web/open", url=page, instruction="Find the order.")


def stopped(live, words):
    live.wait(lambda: live.view.mode == "waiting" and words in live.view.message, words)
    return live.view


def test_a_run_stops_before_the_action_that_a_breakpoint_names_and_says_why(live, server, page, breaks):
    server.script(types("a"), clicks('button "Add"'), says("stop []"))
    begin(live, page)
    breaks.service.add(ActionChosen(target="Add"))
    live.session.run_commands.run()
    view = stopped(live, "Add")
    assert (view.step, view.phase) == (2, "review")
    assert "Add" in view.stopped_at  # Apart from the message, which another command may take away.
    assert breaks.views[-1].breakpoints[0].hits == 1
    live.session.run_commands.run()
    assert live.wait_mode("ended").stopped_at == ""


def test_the_run_is_held_before_an_llm_call_and_goes_on_when_told_or_the_call_is_cancelled(
    live, server, page, breaks
):
    server.script(types("a"))
    begin(live, page)
    breaks.service.add(LLMCall(purpose="decide", when="before"))
    live.session.run_commands.step()
    stopped(live, "decide")
    assert server.requests == []
    live.session.run_commands.step()
    live.wait_phase("review")
    assert len(server.requests) == 1
    live.session.run_commands.step()
    live.wait(lambda: live.view.step == 2 and live.view.mode == "waiting" and "decide" in live.view.message)
    live.session.run_commands.pause()
    live.session.run_commands.pause()
    live.wait(lambda: "cancelled" in live.view.message)
    assert len(server.requests) == 1


def test_a_call_that_is_held_after_its_reply_is_told_until_it_goes_on(live, server, page, breaks):
    server.script(types("a"), says("stop []"))
    begin(live, page)
    breaks.service.add(LLMCall(purpose="decide", when="after"))
    live.session.run_commands.step()
    stopped(live, "decide")
    assert (live.view.held_call, live.view.held_reply) == (0, 1)
    live.session.run_commands.step()
    live.wait_phase("review")
    assert live.view.held_reply == 0


def test_a_call_without_a_reply_and_a_crash_between_actions_hit_as_they_happen(live, server, page, breaks):
    broken = Reply(status=500, body='{"error": {"message": "out of order"}}')
    server.script(broken, types("a"), says("stop []"))
    begin(live, page)
    breaks.service.add(Failure(of="call"))
    breaks.service.add(Failure(of="crash"))
    live.session.run_commands.run()
    live.wait_mode("failed")
    live.settle()
    assert [one.hits for one in breaks.views[-1].breakpoints] == [1, 0]
    live.to_review()
    browser, crash = live.session.services().tabs.browser, BrowserEvent(kind="crash", text="No memory.")
    live.session._worker.loop.call_soon_threadsafe(browser.tell, crash)
    live.session.run_commands.step()
    assert stopped(live, "The page crashed: No memory.").phase == "align"
    assert [one.hits for one in breaks.views[-1].breakpoints] == [1, 1]


def test_time_in_which_a_call_or_a_request_is_held_is_no_work_of_the_step(live, server, saving, breaks):
    server.script(clicks('button "Save"'), says("stop []"))
    began = time.monotonic()
    begin(live, saving.url)
    breaks.service.add(LLMCall(purpose="decide", when="before"))
    breaks.service.add(RequestBegins())
    live.session.run_commands.run()
    stopped(live, "decide")
    live.session.run_commands.run()
    stopped(live, "POST")
    live.session.run_commands.run()
    live.wait(lambda: live.view.step == 2, "the next step")
    store = live.store()
    *_, acted, _, committed = store.step(live.view.run, 1).records
    (asked, *_), (call, request) = store.calls.of(live.view.run), committed.held
    store.close()
    assert call[0] < call[1] <= asked.started < request[0] < request[1]
    elapsed = time.monotonic() - began - sum(until - since for since, until in committed.held)
    assert committed.seconds_in_llm <= committed.seconds < elapsed
    assert sum(acted.milliseconds.values()) / 1000 < committed.seconds


class Saving:
    """A page that sends in several ways, and a server that notes what has come."""

    def __init__(self, site):
        self.came = []
        save = site.serve(self._save)
        self.url = site.page(
            f"<p id=p>-</p><script>const save = () => fetch('{save}', {{method: 'POST'}})</script>"
            "<button onclick=\"save().then(() => p.textContent = 'saved', () => p.textContent = 'refused')\">Save"
            "</button>"
            "<button onclick=\"Promise.all([save(), save()]).then(() => p.textContent = 'both')\">Both</button>"
            f"<button onclick=\"const r = new XMLHttpRequest(); r.open('POST', '{save}', false); r.send();"
            "p.textContent = 'waited'\">Wait</button>"
            f"<form method=post action='{save}'><button>Form</button></form>"
        )

    def _save(self, request):
        self.came.append(request.method)
        return Response("<p>Saved.</p>", content_type="text/html")


@pytest.fixture
def saving():
    with Site() as site:
        yield Saving(site)


def held(live, server, saving, breaks, button):
    server.script(clicks(f'button "{button}"'), says("stop []"))
    begin(live, saving.url)
    breaks.service.add(RequestBegins(url="*"))
    live.session.run_commands.run()
    view = stopped(live, "POST")
    assert (view.step, view.phase, saving.came) == (1, "act", [])
    assert view.held_request.startswith("POST http://127.0.0.1:")
    return view


@pytest.mark.parametrize(
    ("button", "came", "shown"), [("Save", 1, "saved"), ("Wait", 1, "waited"), ("Form", 1, "Saved.")]
)
def test_what_a_page_sends_is_held_before_it_leaves_and_goes_when_told(
    live, server, saving, breaks, button, came, shown
):
    held(live, server, saving, breaks, button)
    live.session.run_commands.step()
    live.wait(lambda: live.view.step == 2 and live.view.phase == "review" and live.view.mode == "waiting")
    assert len(saving.came) == came
    live.wait(lambda: shown in live.step.observation.raw)
    assert live.view.held_request == ""
    assert breaks.views[-1].breakpoints[0].hits == 1


def test_a_request_that_is_refused_never_leaves_and_the_refusal_is_kept(live, server, saving, breaks):
    held(live, server, saving, breaks, "Save")
    live.session.corrections.skip()
    live.wait_mode("ended")
    assert saving.came == []
    store = live.store()
    try:
        (intervention,) = store.interventions(live.view.run)
        assert store.run(live.view.run).touched
    finally:
        store.close()
    assert intervention.kind == "refuse request"
    assert intervention.before.startswith("POST")
    assert "refused" in live.step.observation.raw


def test_requests_that_begin_at_once_are_asked_about_one_by_one(live, server, saving, breaks):
    held(live, server, saving, breaks, "Both")
    asked = len(live.views)
    live.session.run_commands.run()
    live.wait(lambda: any(view.held_request for view in live.views[asked + 2 :]), "the second request")
    live.session.run_commands.run()
    live.wait_mode("ended")
    assert len(saving.came) == 2


def test_what_is_held_when_the_run_is_stopped_does_not_leave(live, server, saving, breaks):
    held(live, server, saving, breaks, "Save")
    live.session.run_commands.stop()
    live.wait_mode("ended")
    assert saving.came == []


def test_breakpoints_that_only_log_let_the_run_and_its_requests_go_on(live, server, saving, breaks):
    server.script(clicks('button "Save"'), says("stop []"))
    begin(live, saving.url)
    breaks.service.add(ActionChosen(target="Save", then="log"))
    breaks.service.add(RequestBegins(url="*", then="log"))
    live.session.run_commands.run()
    live.wait_mode("ended")
    assert len(saving.came) == 1
    logged = [line.text for line in live.lines if line.source == "breakpoint"]
    assert any("POST" in text for text in logged)
    assert any('button "Save"' in text for text in logged)


def test_watches_show_what_the_run_and_the_page_come_to_and_stop_on_change(live, server, page, breaks):
    server.script(types("a"), clicks('button "Add"'), says("stop []"))
    begin(live, page)
    breaks.service.add_watch(Watch(text="step.number"))
    breaks.service.add_watch(Watch(kind="css", text="#n", on_change=True))
    breaks.service.add_watch(Watch(kind="xpath", text="//input/@aria-label"))
    breaks.service.add_watch(Watch(kind="script", text="n.textContent = 7"))
    breaks.service.add_watch(Watch(kind="script", text="({a: document.links.length})"))
    breaks.service.add_watch(Watch(kind="css", text="#none"))
    live.settle()
    live.session.run_commands.run()
    stopped(live, "#n changed: 0 → 1")
    assert breaks.values == {
        "step.number": "2",
        "#n": "1",
        "//input/@aria-label": "Note",
        "n.textContent = 7": "It would change the page. A watch can only read it.",
        "({a: document.links.length})": '{"a": 1}',
        "#none": "Nothing in the page matches.",
    }


def test_a_stopping_watch_of_the_page_does_not_stop_the_next_run_where_it_begins(live, server, page, breaks):
    server.script(clicks('button "Add"'), says("stop []"))
    begin(live, page)
    breaks.service.add_watch(Watch(kind="css", text="#n", on_change=True))
    live.session.run_commands.run()
    stopped(live, "#n changed: 0 → 1")
    live.session.run_commands.run()
    live.wait_mode("ended")
    server.script(says("stop []"))
    begin(live, page)
    live.session.run_commands.run()
    live.wait_mode("ended")


def test_a_wrong_expression_is_refused_with_what_is_wrong(live, breaks):
    breaks.service.add(Condition(expression="stap.number > 3"))
    live.settle()
    assert "step" in breaks.answers[-1]
    breaks.service.add_watch(Watch(text="step.number"))
    live.settle()
    assert breaks.answers[-1] == ""


def test_going_backwards_shows_the_last_hit_and_the_last_change(live, server, page, breaks):
    server.script(types("a"), clicks('button "Add"'), types("b"), says("stop []"))
    begin(live, page)
    live.session.run_commands.run()
    live.wait_mode("ended")
    run = live.view.run
    breaks.service.add(ActionChosen(target="Add"))
    breaks.service.back_to_hit(run, 4)
    live.wait(lambda: live.step.number == 2 and not live.step.live)
    live.wait(lambda: "Step 2" in live.told)
    breaks.service.back_to_hit(run, 2)
    live.wait(lambda: f"No breakpoint stops before step 2 of run {run}" in live.told)
    breaks.service.add_watch(Watch(text="action.text"))
    live.settle()
    breaks.service.back_to_change(breaks.views[-1].watches[0].watch.number, run, 4)
    live.wait(lambda: live.step.number == 3)


def calling(server):
    """A policy that is called at step 1, acts at step 2, returns at step 3; its caller stops at step 4."""
    server.script(
        says("search_shop [steel bottle]"),
        lambda request: says(f"type [{ref_in(request, 'searchbox')}] [steel bottle] [enter=1]"),
        says("stop [205 results]"),
        says("stop []"),
    )


def policies(live):
    return [one.policy for one in live.step.stack.frames]


def at_call(live, server):
    calling(server)
    live.session.agent.set_preset("step")
    live.open("shop/goal-000")
    live.to_review()
    assert live.step.action.action == "search_shop [steel bottle]"


def wait_step(live, number):
    live.wait(
        lambda: live.step.number == number and live.view.phase == "review" and live.view.mode == "waiting"
    )
    live.settle()


def test_step_goes_into_the_policy_that_is_called_and_out_of_it(live, server):
    at_call(live, server)
    live.session.run_commands.step()
    wait_step(live, 2)
    assert policies(live) == ["search_shop", "shop"]
    live.session.run_commands.out()
    wait_step(live, 4)
    assert policies(live) == ["shop"]


def test_over_passes_the_called_policy_and_stops_in_its_caller(live, server):
    at_call(live, server)
    live.session.run_commands.over()
    wait_step(live, 4)
    assert policies(live) == ["shop"]
    live.session.run_commands.out()  # Out of the first policy is the end.
    live.wait_mode("ended")


def test_a_run_goes_on_to_a_step_or_to_a_subtask(live, server, page):
    server.script(types("a"), types("b"), types("c"))
    begin(live, page)
    live.session.run_commands.run_to_step(3)
    wait_step(live, 3)
    plan = Reply(text="1. Write\n2. Count\n3. Order")
    aligned = [Reply(text="It is written.\nYES"), Reply(text="DONE"), Reply(text="NO")]
    server.script(plan, types("a"), types("b"), *aligned, clicks('button "Add"'), types("d"))
    begin(live, page, preset="reflect")
    live.session.run_commands.run_to_subtask(1)
    wait_step(live, 2)
    assert [one.status for one in live.step.plan.subtasks] == ["done", "current", "waiting"]


def test_stopping_at_a_breakpoint_goes_before_where_the_run_was_to_go(live, server, breaks):
    at_call(live, server)
    breaks.service.add(ActionChosen(action="type"))
    live.session.run_commands.over()
    wait_step(live, 2)
    assert "type" in live.view.message
