"""What a person changes of a proposal, and what they answer in the LLM's place."""

import pytest

from tests.core.stage import on, page_file, ref_in, stop
from tests.llm_server import Reply, call

pytestmark = pytest.mark.browser

GO = "<button onclick=\"document.title='touched'\">Go</button><input aria-label=Name>"


def refs(step, words):
    return next(row.ref for row in step.permissible.rows if row.label == words)


@pytest.mark.parametrize("written", ["click [{}]", 'click [button "ONE"]'])
def test_an_edited_action_is_carried_out_in_place_of_the_proposed(live, server, written):
    server.script(on('button "TWO"'))
    live.open()
    step = live.to_review()
    one = refs(step, 'button "ONE"')
    proposed = step.action.action
    live.session.edits.edit_action(written.format(one))
    live.wait(lambda: live.step.action.action == f"click [{one}]")
    assert (live.step.action.origin, live.step.action.proposed) == ("person", proposed)
    assert live.step.permissible.chosen_ref == one
    live.session.corrections.accept()
    view = live.wait_mode("ended")
    assert view.success is True
    (stored,) = live.steps(view.run)
    assert (stored.origin, stored.edited, stored.action) == ("person", True, f"click [{one}]")
    assert live.interventions(view.run) == [("edit", proposed, f"click [{one}]", "tester")]
    assert live.row(view.run).touched is True


def test_an_edit_that_cannot_be_taken_says_why_and_one_taken_back_leaves_the_agents_own_action(live, server):
    server.script(on('button "ONE"'))
    live.open()
    step = live.to_review()
    for text, said in (
        ("klick [1]", "did you mean click?"),
        ("click [4711]", "not permissible on [4711]"),
        ('click [button "THREE"]', "no element that it can act on has this role and name"),
        ("", "begin with"),
    ):
        live.session.edits.edit_action(text)
        live.wait(lambda said=said: said in live.step.action.problem, said)
        assert live.step.action.action == step.action.action
        assert live.view.mode == "waiting"
        assert live.interventions(live.view.run) == []
    live.session.edits.edit_action(step.action.action)
    live.wait(lambda: not live.step.action.problem)
    live.session.edits.edit_action("stop [x]")
    live.wait(lambda: live.step.action.action == "stop [x]")
    live.session.edits.edit_action(step.action.action)
    live.wait(lambda: live.step.action.action == step.action.action)
    assert live.step.action.origin == "agent"
    live.session.corrections.accept()
    view = live.wait_mode("ended")
    assert (live.steps(view.run)[0].origin, live.steps(view.run)[0].edited) == ("agent", False)
    assert [kind for kind, *_ in live.interventions(view.run)] == ["replace", "edit"] or [
        kind for kind, *_ in live.interventions(view.run)
    ] == ["replace", "replace"]


def test_what_a_reply_also_asked_for_is_not_told_of_the_persons_action(live, server, tmp_path):
    def two(request):
        ref = ref_in(request, 'button "Go"')
        return Reply(calls=(call("click", target=ref), call("click", target=ref)))

    server.script(two, stop())
    body = f"{GO}<p style='height:3000px'>"
    live.open("web/open", url=page_file(tmp_path, body), instruction="Go.")
    also = "the reply also asked for"
    assert also in live.to_review().action.message
    live.session.edits.edit_action("scroll [down]")
    live.wait(lambda: live.step.action.action == "scroll [down]")
    assert also not in live.step.action.message
    live.session.corrections.accept()
    live.wait(lambda: live.view.phase == "observe" and live.view.mode == "waiting")
    assert also not in live.step.action.message
    live.to_review()
    assert "scroll [down]" in server.requests[-1].texts[-1]
    assert also not in server.requests[-1].texts[-1]


def test_a_skipped_action_is_reported_to_the_llm_and_not_carried_out(live, server, tmp_path):
    server.script(on('button "Go"'), stop())
    live.open("web/open", url=page_file(tmp_path, GO), instruction="Go.")
    proposed = live.to_review().action.action
    live.session.corrections.skip()
    live.wait(lambda: live.view.phase == "observe" and live.view.mode == "waiting")
    run = live.view.run
    (stored,) = live.steps(run)
    assert (stored.outcome, stored.effect, stored.message) == ("skipped", "none", "Skipped by the person.")
    assert stored.title == "page.html"
    assert live.interventions(run) == [("skip", proposed, "", "tester")]
    live.session.run_commands.run()
    live.wait_mode("ended")
    assert f"{proposed}: skipped: Skipped by the person." in server.requests[1].texts[-1]


def test_the_llm_can_be_asked_again(live, server):
    server.script(on('button "TWO"', thought="Two?"), on('button "ONE"', thought="One!"))
    live.open()
    assert live.to_review().action.thought == "Two?"
    live.session.corrections.ask_again()
    live.wait(lambda: live.step.action.thought == "One!" and live.view.phase == "review")
    live.wait_mode("waiting")
    assert len(live.step.calls) == 2
    live.session.corrections.accept()
    assert live.wait_mode("ended").success is True


def test_the_person_answers_in_the_llms_place(live, server):
    live.session.agent.set_llm("person")
    live.open()
    live.session.run_commands.step()
    live.wait(lambda: live.question is not None and live.view.mode == "answering")
    assert live.question.needs_action
    assert "ONE" in live.question.messages[-1].text
    one = refs(live.step, 'button "ONE"')
    live.session.corrections.answer("hm", "click [4711]")
    live.wait(lambda: live.step.action.problem)
    assert live.question is not None
    live.session.corrections.answer("I see ONE.", f"click [{one}]")
    live.wait_phase("review")
    assert live.question is None
    assert live.step.action.thought == "I see ONE."
    live.session.run_commands.run()
    view = live.wait_mode("ended")
    assert view.success is True
    assert live.interventions(view.run) == [("answer", "", f"click [{one}]", "tester")]


@pytest.mark.parametrize("reply_format", ["json", "lines"])
def test_the_person_answers_in_any_reply_format(live, server, reply_format):
    text = (live.session.services().resources.presets._folders[0] / "laser.toml").read_text()
    path = live.config / "presets" / "written.toml"
    path.write_text(text.replace('reply_format = "auto"', f'reply_format = "{reply_format}"'))
    live.session.agent.set_preset("written")
    live.session.agent.set_llm("person")
    live.open()
    live.session.run_commands.run()
    live.wait(lambda: live.question is not None)
    assert not live.question.needs_action
    live.session.corrections.answer("ONE is asked for.", "")
    live.wait(lambda: live.question is not None and live.question.needs_action)
    one = refs(live.step, 'button "ONE"')
    live.session.corrections.answer("So I click it.", f"click [{one}]")
    assert live.wait_mode("ended").success is True
    path.unlink()  # The session is that of other tests too.


def test_a_question_is_withdrawn_when_the_run_is_stopped(live, server):
    live.session.agent.set_llm("person")
    live.open()
    live.session.run_commands.step()
    live.wait(lambda: live.question is not None)
    live.session.run_commands.stop()
    live.wait_mode("ended")
    assert live.question is None
    live.session.corrections.answer("late", "stop []")
    live.wait(lambda: "No question is open" in live.told)
