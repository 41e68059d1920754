"""Several actions of one reply at the window: shown while they wait, rewritten, and asked for only when due."""

import pytest

from tests.core.stage import page_file, ref_in
from tests.llm_server import Reply

pytestmark = pytest.mark.browser

FORM = '<label>Name <input id="name"></label><label>City <input id="city"></label><button>Save</button>'


def fill_in(request):
    name, city = ref_in(request, 'textbox "Name"'), ref_in(request, 'textbox "City"')
    save = ref_in(request, 'button "Save"')
    return Reply(
        text=f"REASON: All at once.\nACTION: type [{name}] [Ada]\nACTION: type [{city}] [Oslo]\n"
        f"ACTION: click [{save}]"
    )


@pytest.fixture
def opened(live, server, tmp_path):
    server.script(fill_in)
    live.session.agent.set_preset("synapse")
    live.open("web/open", url=page_file(tmp_path, FORM), instruction="Enter Ada of Oslo and save.")
    return live


@pytest.fixture
def at_review(opened):
    opened.to_review()
    return opened


def test_opening_a_task_asks_no_llm(opened, server):
    assert (opened.view.phase, server.requests) == ("decide", [])


def test_actions_that_wait_are_rewritten_before_their_turn(at_review):
    live = at_review
    city, save = live.step.action.queue
    live.session.edits.edit_queue((save, city.replace("Oslo", "Bergen")))
    live.wait(lambda: live.step.action.queue == (save, city.replace("Oslo", "Bergen")))
    live.session.run_commands.step()
    live.wait(lambda: live.step.number == 2 and live.view.phase == "review")
    live.settle()
    assert (live.step.number, live.step.action.action, live.step.action.queue) == (
        2,
        save,
        (city.replace("Oslo", "Bergen"),),
    )
    store = live.store()
    try:
        (changed,) = store.interventions(live.view.run)
    finally:
        store.close()
    assert (changed.kind, changed.before) == ("queue", f"{city}; {save}")


def test_text_that_is_no_action_leaves_the_queue_as_it_was(at_review):
    live = at_review
    before = live.step.action.queue
    live.session.edits.edit_queue(("clack [1]",))
    live.wait(lambda: live.step.action.problem)
    assert "clack" in live.step.action.problem
    assert live.step.action.queue == before


def test_emptied_it_lets_the_llm_be_asked_at_the_next_step(at_review, server):
    live = at_review
    live.session.edits.edit_queue(())
    live.wait(lambda: live.step.action.queue == ())
    server.script(Reply(text="REASON: Done.\nACTION: stop []"))
    live.session.run_commands.step()
    live.wait(lambda: live.step.number == 2 and live.view.phase == "review")
    live.settle()
    assert (live.step.number, live.step.action.action) == (2, "stop []")
