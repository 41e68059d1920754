"""Asking again at the window: what is shown of a step, and the answers as they come."""

from types import SimpleNamespace

import pytest

from core.debugger.ask_again.service import AskDesk
from core.debugger.ask_again.views import AskView, Question
from core.settings.settings import LLMSettings
from tests.core.stage import llms_for, on, page_file, settings_for, stop

pytestmark = pytest.mark.browser

BUTTONS = "<button>Save</button><button>Delete</button>"
SAVE, DELETE = on('button "Save"', thought="Keep it."), on('button "Delete"', thought="Away with it.")


@pytest.fixture
def run(stage, llm_server, tmp_path):
    llm_server.script(DELETE, stop())
    run = stage.open(llm_server, url=page_file(tmp_path, BUTTONS), instruction="Keep the draft.")
    stage.to_the_end(run)
    return run.state.run


@pytest.fixture
def desk(stage, llm_server):
    """A desk whose work is done at once, with its views in a list."""
    entry = LLMSettings(base_url=llm_server.base_url, model="test-model", attempts=1)
    llms = llms_for(settings_for(stage.settings.database, llms={"test": entry}))
    desk = AskDesk(SimpleNamespace(store=stage.workshop.store), lambda: llms, stage.thread.run)
    yield desk
    stage.thread.run(llms.close())


@pytest.fixture
def views(desk) -> list[AskView]:
    found: list[AskView] = []
    desk.changed.connect(found.append)
    return found


def test_a_step_is_opened_with_its_prompt_and_its_action(desk, views, run):
    desk.open(run, 1)
    (view,) = views
    assert (view.run, view.step, view.busy, view.problem) == (run, 1, False, "")
    assert view.messages[-1].role == "user"
    assert view.recorded.startswith("click")


def test_answers_come_one_by_one_and_the_last_view_has_the_stored_question(desk, views, run, llm_server):
    llm_server.script(SAVE, SAVE, DELETE)
    desk.ask(Question(run=run, step=1, llm="test", count=3))
    came = [(view.busy, [len(one.answers) for one in view.asked]) for view in views]
    assert came == [(True, []), (True, [1]), (True, [2]), (True, [3]), (False, [3])]
    assert views[-1].asked[0].number > 0


def test_a_step_that_is_not_there_is_said(desk, views, run):
    desk.open(run, 99)
    assert "no step 99" in views[-1].problem
