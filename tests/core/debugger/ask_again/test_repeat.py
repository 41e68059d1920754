"""Asking a recorded question again: what is sent, how often, and what comes of it."""

import asyncio

import pytest

from core.debugger.ask_again.repeat import ask_again, deciding_call, what_ifs_of
from core.debugger.ask_again.views import Question, changed_lines
from core.schema.errors import UsageError
from core.schema.messages import LLMReply, Message
from core.settings.settings import LLMSettings
from core.trace.calls import stored_prompt
from tests.core.stage import llms_for, on, page_file, settings_for, stop
from tests.llm_server import Reply

pytestmark = pytest.mark.browser

BUTTONS = "<button>Save</button><button>Delete</button>"
SAVE, DELETE = on('button "Save"', thought="Keep it."), on('button "Delete"', thought="Away with it.")


@pytest.fixture
def run(stage, llm_server, tmp_path):
    llm_server.script(DELETE, stop())
    run = stage.open(llm_server, url=page_file(tmp_path, BUTTONS), instruction="Keep the draft.")
    stage.to_the_end(run)
    return run


@pytest.fixture
def ask(stage, llm_server, run):
    entry = LLMSettings(base_url=llm_server.base_url, model="test-model", attempts=1)
    llms = llms_for(settings_for(stage.settings.database, llms={"test": entry}))

    def asking(step=1, **more):
        question = Question(run=run.state.run, step=step, **more)
        return stage.thread.run(ask_again(stage.services.store, llms.routed("test"), question))

    yield asking
    stage.thread.run(llms.close())


def test_the_same_question_k_times_gives_a_distribution_beside_what_was_done(stage, llm_server, run, ask):
    store, number = stage.services.store, run.state.run
    before = (store.run(number), store.steps(number), store.calls.of(number))
    llm_server.script(SAVE, SAVE, DELETE, SAVE)
    found = ask(count=4)
    delete = store.steps(number)[0].action
    (most, times), (other, once) = found.distribution
    assert (times, once, other) == (3, 1, delete)
    assert found.recorded == delete != most
    assert {answer.thought for answer in found.answers} == {"Keep it.", "Away with it."}
    first, *again = (
        request.body["messages"] for request in (llm_server.requests[0], *llm_server.requests[2:])
    )
    assert again == [first] * 4
    # It is stored with the step, and changes nothing in the run.
    assert what_ifs_of(store, number, 1) == (found,)
    assert found.number > 0
    assert (store.run(number), store.steps(number), store.calls.of(number)) == before
    with pytest.raises(UsageError, match="asked no LLM"):
        deciding_call(store.step(number, 1).replace(calls=()))


def test_what_was_changed_in_the_prompt_is_sent_and_reported(stage, llm_server, run, ask):
    call = stage.services.store.step(run.state.run, 1).calls[0]
    messages = list(stored_prompt(stage.services.store, call).messages)
    text = f"{messages[0].text}\nNever delete."
    llm_server.script(SAVE)
    found = ask(count=1, messages=(messages[0].replace(text=text), *messages[1:]), temperature=0.9)
    assert found.changed == ("+Never delete.",)
    assert llm_server.requests[-1].body["temperature"] == 0.9
    assert llm_server.requests[-1].texts[0].endswith("Never delete.")


def test_an_answer_that_fails_or_cannot_be_used_is_one_among_the_others(llm_server, ask):
    llm_server.script(SAVE, Reply(status=500, body="{}"), Reply(text="Hm."))
    found = ask(count=3)
    problems = [answer.problem for answer in found.answers if answer.problem]
    assert len(problems) == 2
    assert any("500" in problem for problem in problems), problems
    assert sorted(count for _, count in found.distribution) == [1, 2]


def test_cancelled_what_has_come_in_is_kept(stage, llm_server, run):
    class Slow:
        name, takes_images = "slow", False

        def __init__(self):
            self.asked = 0

        async def reply(self, request, *, on_text=None, on_retry=None):
            self.asked += 1
            if self.asked > 1:
                await asyncio.sleep(3600)
            return LLMReply(text="Hm.")

    came = asyncio.Event()

    async def cancelled():
        question = Question(run=run.state.run, step=1, count=3)
        asking = asyncio.ensure_future(
            ask_again(stage.services.store, Slow(), question, on_answer=lambda _: came.set())
        )
        await came.wait()
        asking.cancel()
        await asyncio.wait([asking])
        return asking.cancelled()

    assert stage.thread.run(cancelled())
    (kept,) = what_ifs_of(stage.services.store, run.state.run, 1)
    assert (len(kept.answers), kept.count) == (1, 3)


def test_changed_lines_name_what_was_taken_out_and_put_in():
    before = (Message(role="system", text="a\nb"), Message(role="user", text="c"))
    after = (Message(role="system", text="a\nB"), Message(role="user", text="c"))
    assert changed_lines(before, after) == ("-b", "+B")
    assert changed_lines(before, before) == ()


def test_changed_lines_that_look_like_headings_of_a_diff_are_among_them():
    def prompt(text):
        return (Message(role="user", text=text),)

    before, after = prompt("a\n-- Never buy twice.\n@@ 1"), prompt("a\n++i is fine\n@@ 2")
    assert changed_lines(before, after) == ("--- Never buy twice.", "-@@ 1", "+++i is fine", "+@@ 2")
