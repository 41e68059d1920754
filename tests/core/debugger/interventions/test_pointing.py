"""Where actions are in the page: pointed at while a state's action is under review, and marked in its picture."""

import pytest

from tests.core.debugger.breakpoints.runs import SCENES
from tests.core.stage import on, page_file, stop

pytestmark = pytest.mark.browser

GO = "<button onclick=\"document.title='touched'\">Go</button><input aria-label=Name>"


@pytest.fixture
def at_results(live, server, tmp_path):
    """The shop's list of results, with an item of it under review."""
    played = SCENES["shopping"](tmp_path)
    server.script(*played.replies)
    live.session.agent.set_preset(played.preset)
    live.open(played.task)
    live.to_review()
    live.session.run_commands.step()
    live.wait(lambda: live.view.step == 2 and live.view.phase == "review" and live.view.mode == "waiting")
    live.settle()
    return live


def point_at(live, role, name):
    elements = live.session.agent_run.state.observation.elements
    box = next(one.box for one in elements if one.role == role and name in one.name)
    live.picked = None
    live.session.live_page.point(*box.centre, final=True)
    live.wait(lambda: live.picked is not None)
    return live.picked


def test_an_item_pointed_at_is_the_action_that_selects_it_and_the_chosen_one_is_marked(at_results):
    live = at_results
    assert live.step.action.action.startswith("select_item [B")
    live.wait(lambda: [one for one in live.page.outlines if one.chosen], "a chosen outline")
    (chosen,) = [one for one in live.page.outlines if one.chosen]
    element = live.session.agent_run.state.observation.element(chosen.ref)
    assert element.role == "link"
    assert point_at(live, "link", element.name).action == live.step.action.action
    assert point_at(live, "heading", "Results for").action == ""
    elements = live.session.agent_run.state.observation.elements
    links = [one for one in elements if one.role == "link" and one.in_viewport]
    links = [one for one in links if one.name.count(" ") > 2]
    picked = [point_at(live, "link", one.name).action for one in links[:2]]
    assert all(action.startswith("select_item [B") for action in picked)
    assert len(set(picked)) == len(picked) == 2


def test_pointing_names_an_element_and_no_outline_lies_over_the_page_during_an_action(live, server, tmp_path):
    server.script(on('button "Go"'), stop())
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Press it.")
    box = next(one.box for one in live.page.outlines)
    live.session.live_page.point(*box.centre, final=True)
    live.wait(lambda: live.picked is not None and live.picked.final)
    assert live.picked.label == 'button "Go"'
    live.session.live_page.point(5, 700, final=False)
    live.wait(lambda: live.picked.ref is None)
    live.to_review()
    live.settle()
    assert live.page.outlines
    sent = []
    live.session.step_changed.connect(lambda _: sent.append("step"))
    live.session.live_page_changed.connect(lambda page: sent.append("outlines" if page.outlines else "none"))
    live.session.run_commands.step()
    live.wait(lambda: live.view.step == 2)
    assert sent[0] == "none"


def test_what_was_scrolled_to_is_marked_where_the_picture_has_it(live, server, tmp_path):
    body = '<div style="height:3000px">Far</div><button>Below</button>'
    server.script(on('button "Below"'), stop())
    live.open("web/open", url=page_file(tmp_path, body), instruction="Press it.")
    before = live.to_review().observation
    assert "Below" in before.raw
    box = next(one.box for one in live.session.agent_run.state.observation.elements if one.name == "Below")
    live.session.run_commands.step()
    live.wait(lambda: live.view.step == 2 and live.view.phase == "review")
    store = live.store()
    try:
        acted = next(one for one in store.step(live.view.run, 1).records if one.phase == "act")
    finally:
        store.close()
    assert box.y > 2000
    assert acted.box == box


FAR = """<body style="margin:0"><div style="height:3000px">Far</div>
<div id=box style="height:100px;overflow:auto"><div style="height:900px">deep</div><button>Below</button></div>"""


def test_a_target_out_of_view_is_shown_and_the_page_put_back_before_the_agent_acts(live, server, tmp_path):
    server.script(on('button "Below"'), stop())
    live.open("web/open", url=page_file(tmp_path, FAR), instruction="Press it.")
    live.to_review()
    live.wait(lambda: live.page.next is not None, "a target")
    assert live.page.next.hidden
    observed = live.session.agent_run.state.observation
    live.session.live_page.show_target()
    live.wait(lambda: live.page.scrolled)
    shown = live.page.next
    assert not shown.hidden
    assert 0 <= shown.box.y <= live.page.viewport[1]
    live.session.live_page.show_target()
    live.wait(lambda: not live.page.scrolled)
    assert live.page.next.hidden
    live.session.live_page.scroll(100, 100, 0, 250)
    live.wait(lambda: live.page.scrolled)
    assert live.page.next.box.y == observed.element(live.page.next.ref).box.y - 250
    live.session.run_commands.step()
    live.wait(lambda: live.view.step == 2 and live.view.phase == "review")
    store = live.store()
    try:
        acted = next(one for one in store.step(live.view.run, 1).records if one.phase == "act")
    finally:
        store.close()
    assert acted.box == observed.element(shown.ref).box
    assert not live.page.scrolled
