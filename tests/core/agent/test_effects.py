"""What a page has sent stays done: new trials, remedies and going back ask before they would do it again."""

import pytest
from werkzeug import Response

from core.agent.branching import RunSetup, open_branch
from core.agent.presets import PRESETS
from core.browser.checkpoints.strategies import ReplayFromStart, UrlWithStorage
from core.schema.errors import WorldError
from tests.core.agent.headless import headless
from tests.core.browser.site import Site
from tests.core.stage import page_file, ref_in
from tests.llm_server import Reply

pytestmark = pytest.mark.browser

INSTRUCTION = "Order a kettle."
PLAN = Reply(text="1. Order it")
NO = Reply(text="Nothing came up.\nNO")


@pytest.fixture
def site():
    with Site() as site:
        yield site


def clicks(words, *others):
    def answer(request):
        actions = "\n".join(f"ACTION: click [{ref_in(request, one)}]" for one in (words, *others))
        return Reply(text=f"REASON: It seems right.\n{actions}")

    return answer


class Shop:
    """A page that sends an order, and counts those that came in."""

    def __init__(self, site, label="Order"):
        self.orders = 0
        order = site.serve(self._order)
        self.url = site.page(
            f"<h1>Shop</h1><button onclick=\"fetch('{order}', {{method: 'POST'}})\">{label}</button>"
            "<button>Look</button>"
        )

    def _order(self, _):
        self.orders += 1
        return Response("taken", content_type="text/plain")


@pytest.fixture
def shop(site):
    return Shop(site)


@pytest.fixture
def preset(stage):
    """Reflection that prepares no remedies, or as `changed` says."""

    def preset(*changed):
        text = (PRESETS / "reflect.toml").read_text()
        for old, new in changed or (("count = 2", "count = 0"),):
            assert old in text
            text = text.replace(old, new)
        (stage.config / "presets" / "own.toml").write_text(text)
        return "own"

    return preset


def run_headless(stage, server, shop, preset, rule):
    report = headless(stage, server, "web/open", preset, on_gate=rule, url=shop.url, instruction=INSTRUCTION)
    return report, stage.services.store.steps(report.run)


def test_a_new_trial_stops_where_something_was_sent_that_stays_done(stage, llm_server, shop, preset):
    llm_server.script(PLAN, clicks('button "Order"'), NO, Reply(text="The order was not seen."))
    run = stage.open(llm_server, url=shop.url, instruction=INSTRUCTION, preset=preset())
    stage.step(run)
    stage.until(run, "review")
    gate = run.gate()
    assert str(run.state.pending.action) == "new_trial"
    assert gate.kind == "effects"
    assert gate.reason.startswith("A new trial does not undo POST http://")
    assert gate.reason.endswith("(step 1)")


def test_a_new_trial_whose_task_does_not_open_is_a_failed_step(stage, llm_server, shop, preset, monkeypatch):
    async def fails(task, seed, page):
        raise WorldError("The page did not start.")

    llm_server.script(PLAN, clicks('button "Look"'), NO, Reply(text="Looking is not enough."))
    run = stage.open(llm_server, url=shop.url, instruction=INSTRUCTION, preset=preset())
    stage.step(run)
    stage.until(run, "review")
    assert str(run.state.pending.action) == "new_trial"
    monkeypatch.setattr(run.world.environment, "open", fails)
    stage.step(run)
    step = stage.services.store.steps(stage.services.store.runs()[0].run)[-1]
    assert (step.action, step.outcome) == ("new_trial", "failed")
    assert step.message == "The task could not be started again: The page did not start."


def test_what_a_page_sends_by_itself_after_the_action_is_asked_about_too(stage, llm_server, shop, preset):
    def judged(_):
        # As a timer of the page would, while the judgement is being asked for.
        stage.thread.run(run.world.tabs.current.evaluate("document.querySelector('button').click()"))
        stage.thread.run(run.world.tabs.settle(run.world.tabs.mark()))
        return NO

    llm_server.script(PLAN, clicks('button "Look"'), judged, Reply(text="The order was not seen."))
    run = stage.open(llm_server, url=shop.url, instruction=INSTRUCTION, preset=preset())
    stage.step(run)
    stage.until(run, "review")
    assert (run.state.sent, run.gate().kind) == ([], "effects")
    assert run.gate().reason.startswith("A new trial does not undo POST")


def test_a_new_trial_is_asked_about_only_what_its_own_trial_has_sent(stage, llm_server, shop, preset):
    again = Reply(text="Look first."), PLAN, clicks('button "Look"'), NO, Reply(text="Looking is not enough.")
    llm_server.script(PLAN, clicks('button "Order"'), NO, *again)
    run = stage.open(llm_server, url=shop.url, instruction=INSTRUCTION, preset=preset())
    for _ in range(3):
        stage.step(run)
    stage.until(run, "review")
    assert (str(run.state.pending.action), run.state.trial, run.gate()) == ("new_trial", 2, None)


def test_a_refused_new_trial_sends_nothing_again_and_the_answer_is_due(stage, llm_server, shop, preset):
    llm_server.script(
        PLAN, clicks('button "Order"'), NO, Reply(text="The order was not seen."), Reply(text="Ordered once.")
    )
    report, done = run_headless(stage, llm_server, shop, preset(), "refuse")
    assert (report.outcome, report.answer, shop.orders) == ("done", "Ordered once.", 1)
    assert [(step.action.split(" ")[0], step.outcome) for step in done] == [
        ("click", "done"),
        ("", "skipped"),
        ("stop", "done"),
    ]
    assert "Refused: A new trial does not undo POST" in done[1].message
    assert llm_server.requests[-1].texts[-1].count("does not undo POST") == 1


@pytest.mark.parametrize("rule", ["end", "allow"])
def test_a_new_trial_follows_the_rule_where_nobody_is_asked(stage, llm_server, shop, preset, rule):
    trial = [PLAN, clicks('button "Order"'), NO]
    llm_server.script(*trial, Reply(text="The order was not seen."), *trial, Reply(text="Still not."), *trial)
    llm_server.otherwise = Reply(text="Ordered.")
    report, _ = run_headless(stage, llm_server, shop, preset(), rule)
    if rule == "end":
        assert (report.outcome, shop.orders) == ("gate", 1)
        assert "Ended at a gate before new_trial: A new trial does not undo POST" in report.error
    else:
        assert (report.outcome, shop.orders) == ("done", 3)


def test_a_preset_may_let_a_new_trial_pass_what_stays_done(stage, llm_server, shop, preset):
    own = preset(("count = 2", 'count = 0\neffects = "allow"'))
    llm_server.script(PLAN, clicks('button "Order"'), NO, Reply(text="The order was not seen."))
    run = stage.open(llm_server, url=shop.url, instruction=INSTRUCTION, preset=own)
    stage.step(run)
    stage.until(run, "review")
    assert (str(run.state.pending.action), run.gate()) == ("new_trial", None)


def test_a_remedy_that_cannot_be_undone_stops_at_the_gate_and_its_drop_says_the_rule(stage, llm_server, site):
    shop = Shop(site, "Buy now")
    llm_server.script(PLAN, clicks('button "Look"'), clicks('button "Buy now"'), NO)
    llm_server.otherwise = Reply(text="REASON: Enough.\nACTION: stop [none]")
    report, done = run_headless(stage, llm_server, shop, "reflect", "refuse")
    assert shop.orders == 0
    assert "Refused: this action cannot be undone (it buys or pays)" in done[2].message
    (bought,) = [
        one
        for one in stage.services.store.step(report.run, 3).records[-2].reflection.remedies
        if "Buy now" in one.target
    ]
    assert (bought.state, bought.why) == (
        "dropped",
        "Refused by rule (--on-gate refuse): this action cannot be undone (it buys or pays).",
    )


def test_a_refused_going_back_drops_the_remedy_by_the_rule(stage, llm_server, shop):
    llm_server.script(PLAN, clicks('button "Order"'), clicks('button "Look"'), NO)
    llm_server.otherwise = Reply(text="REASON: Enough.\nACTION: stop [none]")
    report, _ = run_headless(stage, llm_server, shop, "reflect", "refuse")
    remedies = stage.services.store.step(report.run, 2).records[-2].reflection.remedies
    why = next(one.why for one in remedies if "Look" in one.target)
    assert why.startswith("Refused by rule (--on-gate refuse): Going back to step 1 does not undo POST")


# A live page for a remedy


class Cart:
    """A page of a server that counts what is in the cart; what it says may be kept by the browser for an hour."""

    def __init__(self, site):
        self.count = 0
        self.home = ""
        added = site.page("<h1>Added</h1>")
        add = site.serve(lambda _: self._add(added))
        self.url = site.serve(lambda _: self._page(add))

    def _page(self, add):
        body = (
            f"<title>Cart</title><h1>Cart</h1><p>{self.count} items</p>"
            f'<form method=post action="{add}"><button>Add</button></form>'
            "<button onclick=\"this.textContent = 'Seen'\">Look</button>"
        )
        headers = {"Cache-Control": "max-age=3600"}
        return Response(body, content_type="text/html", headers=headers)

    def _add(self, added):
        self.count += 1
        return Response(status=303, headers={"Location": added})


def test_going_back_for_a_remedy_shows_what_the_server_holds_and_tells_the_difference(
    stage, llm_server, site, preset
):
    cart = Cart(site)
    llm_server.script(PLAN, clicks('button "Add"'), clicks('button "Look"'), NO)
    llm_server.script(Reply(text="It was looked at.\nYES"), Reply(text="OPEN"), Reply(text="NO"))
    llm_server.otherwise = Reply(text="REASON: Enough.\nACTION: stop [none]")
    run = stage.open(
        llm_server,
        url=cart.url,
        instruction=INSTRUCTION,
        preset=preset(("[remedies]", '[remedies]\neffects = "allow"')),
    )
    for _ in range(2):
        stage.step(run)
    assert cart.count == 1
    assert "1 items" in run.state.observation.lines()
    acted = stage.services.store.step(run.state.run, 2).records[-3]
    differs = 'paragraph "0 items" gone; paragraph "1 items" added'
    assert (acted.restored.grade, acted.restored.verified) == ("same page", False)
    assert differs in acted.message
    assert "Already sent, and not undone: POST http://" in acted.message
    # The remedy's element is there, so it is tried; the LLM is told what differs.
    stage.to_the_end(run)
    assert stage.services.store.steps(run.state.run)[2].target == 'button "Look"'
    told = [text for request in llm_server.requests for text in request.texts]
    assert any(differs in text and "Already sent, and not undone: POST" in text for text in told)


def test_what_a_page_sends_while_a_way_back_loads_it_is_not_sent_by_the_branch(stage, llm_server, site):
    beat = site.serve(lambda _: Response("taken"))
    url = site.page(
        "<p id=n>0</p><button onclick='n.textContent++'>Look</button>"
        f"<script>fetch('{beat}', {{method: 'POST'}})</script>"
    )
    llm_server.script(clicks('button "Look"'), clicks('button "Look"'))
    run = stage.open(llm_server, url=url, instruction=INSTRUCTION, preset="step")
    for _ in range(2):
        stage.step(run)
    setup = RunSetup(
        preset=run.state.preset,
        llm=run._asker.llm,
        resources=stage.services.resources,
        browser="chromium",
        may_repeat=True,
        strategies=(UrlWithStorage(), ReplayFromStart()),
    )
    back = open_branch(
        stage.services.store, run.world, run.state.episode, run=run.state.run, step=2, setup=setup
    )
    branch, restored = stage.thread.run(back)
    assert (restored.strategy, restored.verified) == ("replay from the start", True)
    assert [one.step for one in branch.state.sent] == [1]


# One element of several is gone


LINKS = (
    '<h1>Start</h1><p><a href="archive.html">Archive</a></p><p><a href="help.html">{}</a></p>'
    '<p><a href="orders.html">{}</a></p><p>One</p><p>Two</p><p>Three</p><p>Four</p>'
)


@pytest.fixture
def pages(tmp_path):
    """Writes a start page whose last links are called so, and returns its URL."""
    page_file(tmp_path, "<h1>Archive</h1>", "archive.html")
    page_file(tmp_path, "<h1>Orders</h1><p>Order number 4711</p>", "orders.html")
    page_file(tmp_path, "<h1>Help</h1>", "help.html")

    def write(help_name, orders_name):
        return page_file(tmp_path, LINKS.format(help_name, orders_name), "start.html")

    return write


def test_a_renamed_link_drops_its_own_remedy_alone_and_says_what_is_gone(stage, llm_server, pages):
    url = pages("Help", "Orders")

    def judged(_):
        pages("Help", "Purchases")
        return NO

    llm_server.script(PLAN, clicks('link "Archive"'), clicks('link "Orders"', 'link "Help"'), judged)
    llm_server.script(Reply(text="The help came up.\nYES"), Reply(text="OPEN"), Reply(text="YES"))
    llm_server.otherwise = Reply(text="4711")
    report = headless(
        stage, llm_server, "web/open", "reflect", on_gate="refuse", url=url, instruction=INSTRUCTION
    )
    done = stage.services.store.steps(report.run)
    assert [(one.effect, one.outcome) for one in done] == [
        ("page action", "done"),
        ("go back", "failed"),
        ("go back", "done"),
        ("page action", "done"),
        ("stop", "done"),
    ]
    assert done[3].target == 'link "Help"'
    assert "same page" in done[2].message
    remedies = stage.services.store.step(report.run, 4).records[-2].reflection.remedies
    assert {one.target: (one.state, one.why) for one in remedies} == {
        'link "Archive"': ("tried", "At step 1."),
        'link "Orders"': (
            "dropped",
            'link "Orders" was not found: The page no longer contains link "Orders".',
        ),
        'link "Help"': ("tried", "At step 4."),
    }


def test_where_going_back_must_be_exact_a_page_that_differs_ends_the_run(stage, llm_server, pages):
    url = pages("Help", "Orders")

    def judged(_):
        pages("Help", "Purchases")
        return NO

    llm_server.script(PLAN, clicks('link "Archive"'), clicks('link "Help"'), judged)
    report = headless(
        stage, llm_server, "web/open", "reflect", on_gate="end", url=url, instruction=INSTRUCTION
    )
    assert report.outcome == "gate"
    assert 'link "Orders" gone' in report.error
