"""Another LLM in the middle of a run: what is out is withdrawn, asked anew and named in the trace."""

import json
import sqlite3
import threading

import pytest
from werkzeug import Response

from core.schema.exemplar import RecallSettings
from core.settings.settings import LLMSettings
from tests.core.debugger.live import settings_in
from tests.core.stage import llms_for, on, settings_for
from tests.llm_server import Reply

pytestmark = pytest.mark.browser


def read(live, what):
    store = live.store()
    try:
        return what(store, live.view.run)
    finally:
        store.close()


def calls(live):
    return read(live, lambda store, run: [(one.llm, one.error) for one in store.calls.of(run)])


def changes(live):
    return read(
        live, lambda store, run: [(one.kind, one.before, one.after) for one in store.interventions(run)]
    )


def asked_person(live):
    """Open a task and let its first question be put to the person."""
    live.session.agent.set_llm("person")
    live.open()
    live.session.run_commands.step()
    live.wait(lambda: live.question is not None and live.view.mode == "answering")


def use_fresh_llms(live, server):
    """Do what the settings window does after a change: LLMs made anew, with the same person."""
    session = live.session

    async def work():
        fresh = llms_for(settings_in(live.database.parent, server))
        fresh.person = session.services().llms.person
        await session.agent.use_llms(fresh)

    session.queue(work())


def click_one(live):
    return next(f"click [{row.ref}]" for row in live.step.permissible.rows if row.label == 'button "ONE"')


def test_an_open_question_is_withdrawn_and_asked_of_the_llm_chosen_instead(live, server):
    asked_person(live)
    server.script(on('button "ONE"', thought="ONE."))
    live.session.agent.set_llm("test")
    live.wait_phase("review")
    assert live.question is None
    assert live.step.action.thought == "ONE."
    assert calls(live) == [("person", "cancelled: test was chosen instead of person"), ("test", "")]
    assert changes(live) == [("llm", "person", "test")]
    live.session.run_commands.step()
    assert live.wait_mode("ended").success is True


def test_a_question_stays_open_when_the_person_is_chosen_again(live, server):
    asked_person(live)
    asked = live.question
    live.session.agent.set_llm("person")
    live.settle()
    assert live.question is asked
    live.session.corrections.answer("ONE.", click_one(live))
    live.wait_phase("review")
    assert calls(live) == [("person", "")]


def test_a_call_of_a_server_ends_by_itself_when_another_llm_is_chosen(live, server):
    held = Reply(hold=True)
    server.script(held)
    live.open()
    live.session.run_commands.step()
    server.wait_for_requests(1)
    live.session.agent.set_llm("person")
    live.settle()
    assert (live.view.mode, live.question, live.view.llm) == ("asking", None, "person")
    assert calls(live) == [("test", "")]


def test_an_open_question_is_asked_again_when_the_llms_are_made_anew(live, server):
    asked_person(live)
    asked = live.question
    use_fresh_llms(live, server)
    live.wait(lambda: live.question is not None and live.question is not asked)
    live.wait(lambda: live.view.mode == "answering")
    live.session.corrections.answer("ONE.", click_one(live))
    live.wait_phase("review")
    assert calls(live) == [("person", "cancelled: the settings of the LLMs were changed"), ("person", "")]
    live.session.run_commands.step()
    assert live.wait_mode("ended").success is True


def test_a_call_that_is_out_is_asked_anew_when_its_llm_is_let_go_of(live, server):
    server.script(Reply(hold=True), on('button "ONE"'))
    live.open()
    live.session.run_commands.run()
    server.wait_for_requests(1)
    use_fresh_llms(live, server)
    assert live.wait_mode("ended").success is True
    assert calls(live) == [("test", "cancelled: the settings of the LLMs were changed"), ("test", "")]


def test_a_pause_asked_for_before_the_llm_changed_still_takes_hold(live, server):
    live.session.agent.set_llm("person")
    live.open()
    live.session.run_commands.run()
    live.wait(lambda: live.question is not None)
    live.session.run_commands.pause()
    server.script(on('button "ONE"'))
    live.session.agent.set_llm("test")
    live.wait_phase("anticipate")
    assert live.view.mode == "waiting"


def test_llms_made_anew_while_nothing_is_asked_disturb_nothing(live, server):
    live.open()
    use_fresh_llms(live, server)
    live.settle()
    assert live.view.mode == "waiting"
    server.script(on('button "ONE"'))
    live.session.run_commands.run()
    assert live.wait_mode("ended").success is True
    assert calls(live) == [("test", "")]


def test_the_built_in_rules_answer_where_the_llm_in_use_is_gone(live, server):
    live.session.agent.set_llm("other")
    live.open()
    session = live.session

    async def work():
        entry = LLMSettings(base_url=server.base_url, attempts=1)
        left = llms_for(settings_for(live.database, llms={"others": entry}))
        left.person = session.services().llms.person
        await session.agent.use_llms(left)

    session.queue(work())
    live.wait(lambda: live.view.llm == "rules")
    assert any('no LLM "other"' in line.text for line in live.lines)
    live.session.run_commands.run()
    assert live.wait_mode("ended").success is True
    assert [name for name, _ in calls(live)] == ["rules"]
    use_fresh_llms(live, server)
    live.settle()


def test_what_is_chosen_while_a_task_is_opened_holds_for_its_first_step(live, server):
    server.script(on('button "ONE"'))
    before = live.view.run
    live.session.tasks.open("miniwob/click-test-2", 0)
    live.session.agent.set_llm("other")
    live.session.run_commands.set_max_steps(7)
    live.wait(lambda: live.view.run not in (None, before) and live.view.phase == "decide")
    live.session.run_commands.run()
    view = live.wait_mode("ended")
    assert (view.llm, view.max_steps) == ("other", 7)
    assert [name for name, _ in calls(live)] == ["other"]


def test_a_proposal_thrown_away_is_reported_in_the_trace(live, server):
    server.script(on('button "TWO"'), on('button "ONE"'))
    live.open()
    proposed = live.to_review().action.action
    live.session.corrections.ask_again()
    live.wait(lambda: live.step.action.action not in ("", proposed) and live.view.mode == "waiting")
    assert changes(live) == [("ask again", proposed, "")]


def test_a_run_that_the_trace_cannot_end_rests_and_can_be_ended_later(live, server):
    server.script(Reply(hold=True))
    live.open()
    live.session.run_commands.run()
    server.wait_for_requests(1)
    database = sqlite3.connect(live.database)
    database.execute(
        "CREATE TRIGGER refused BEFORE UPDATE OF outcome ON runs BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    try:
        live.session.run_commands.stop()
        view = live.wait_mode("failed")
        assert "refused" in view.message
        assert not view.saved
    finally:
        database.execute("DROP TRIGGER refused")
        database.close()
    live.session.run_commands.stop()
    live.wait_mode("ended")
    assert read(live, lambda store, run: store.run(run).outcome) == "stopped"


def test_lookups_continue_by_the_embedding_of_a_server_after_the_llms_have_changed(live, httpserver):
    def vectors(request):
        texts = request.json["input"]
        return Response(
            json.dumps(
                {"data": [{"index": at, "embedding": [1.0, len(text)]} for at, text in enumerate(texts)]}
            ),
            content_type="application/json",
        )

    httpserver.expect_request("/v1/embeddings").respond_with_handler(vectors)
    services = live.session.services()
    before = services.settings
    server = LLMSettings(base_url=httpserver.url_for("/v1"), model="m", attempts=1)
    after = before.replace(embedding="vectors", llms={**before.llms, "vectors": server})
    found, done = [], threading.Event()

    async def work():
        try:
            for settings in (after, after, before):
                services.settings = settings
                fresh = llms_for(settings)
                fresh.person = services.llms.person
                await live.session.agent.use_llms(fresh)
                looked_up = services.resources.memory.recall("Click the button.", RecallSettings(threshold=2))
                found.append((await looked_up).retrieved[0].distance)
        finally:
            services.settings = before
            done.set()

    live.session.queue(work())
    assert done.wait(30)
    assert found[0] == found[1] != found[2]
