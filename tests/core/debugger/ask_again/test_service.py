"""Asking again at the window: what is shown of a step, and the answers as they come."""

import threading

import pytest

from core.debugger.ask_again.views import Question
from tests.core.stage import SECONDS, on, page_file, stop

pytestmark = pytest.mark.browser

BUTTONS = "<button>Save</button><button>Delete</button>"
SAVE, DELETE = on('button "Save"', thought="Keep it."), on('button "Delete"', thought="Away with it.")


@pytest.fixture
def run(stage, llm_server, tmp_path):
    llm_server.script(DELETE, stop())
    run = stage.open(llm_server, url=page_file(tmp_path, BUTTONS), instruction="Keep the draft.")
    stage.to_the_end(run)
    return run.state.run


def test_a_step_is_opened_with_its_prompt_and_its_action_and_asked_once_at_a_time(asking, run, llm_server):
    asking.open(run, 1)
    (view,) = asking.views
    assert (view.run, view.step, view.busy, view.problem) == (run, 1, False, "")
    assert view.messages[-1].role == "user"
    assert view.recorded.startswith("click")
    assert "no step 99" in asking.open(run, 99).problem

    # A second question is refused while one is out.
    llm_server.script(SAVE)
    question = Question(run=run, step=1, llm="test", count=1)
    with asking.session.at_once():
        asking.service.ask(question)
        asking.service.ask(question)
    asking.session.done()
    assert "still running" in "".join(view.problem for view in asking.views)
    assert [len(one.answers) for one in asking.views[-1].asked] == [1]


def test_answers_come_one_by_one_and_the_last_view_has_the_stored_question(asking, run, llm_server):
    llm_server.script(SAVE, SAVE, DELETE)
    asking.ask(Question(run=run, step=1, llm="test", count=3))
    came = [(view.busy, [len(one.answers) for one in view.asked]) for view in asking.views]
    assert came == [(True, []), (True, [1]), (True, [2]), (True, [3]), (False, [3])]
    assert asking.views[-1].asked[0].number > 0


def test_what_came_before_a_question_was_cancelled_is_kept(asking, run, llm_server):
    held = threading.Event()

    def hold(request):
        held.wait(SECONDS)
        return DELETE(request)

    llm_server.script(SAVE, hold)

    def cancel_after_the_first(view):
        if [len(one.answers) for one in view.asked] == [1] and view.busy:
            asking.service.cancel()

    asking.service.changed.connect(cancel_after_the_first)
    asking.ask(Question(run=run, step=1, llm="test", count=2))
    held.set()
    assert not asking.views[-1].busy
    assert [len(one.answers) for one in asking.views[-1].asked] == [1]
