"""Pointing at the page while a state's action is under review: the action of the state that acts there."""

import pytest

from tests.core.debugger.breakpoints.runs import SCENES

pytestmark = pytest.mark.browser


@pytest.fixture
def at_results(live, server, tmp_path):
    """The shop's list of results, with an item of it under review."""
    played = SCENES["shopping"](tmp_path)
    server.script(*played.replies)
    live.session.set_preset(played.preset)
    live.open(played.task)
    live.to_review()
    live.session.step()
    live.wait(lambda: live.view.step == 2 and live.view.phase == "review" and live.view.mode == "waiting")
    live.settle()
    return live


def point_at(live, role, name):
    elements = live.session.agent_run.state.observation.elements
    box = next(one.box for one in elements if one.role == role and name in one.name)
    live.picked = None
    live.session.point(*box.centre, final=True)
    live.wait(lambda: live.picked is not None)
    return live.picked


def test_an_item_pointed_at_is_the_action_that_selects_it(at_results):
    live = at_results
    elements = live.session.agent_run.state.observation.elements
    links = [one for one in elements if one.role == "link" and one.in_viewport]
    links = [one for one in links if one.name.count(" ") > 2]
    picked = [point_at(live, "link", one.name).action for one in links[:2]]
    assert all(action.startswith("select_item [B") for action in picked)
    assert len(set(picked)) == len(picked) == 2


def test_what_no_action_of_the_state_acts_on_has_none(at_results):
    assert point_at(at_results, "heading", "Results for").action == ""
