"""Plan and remedies at the window: shown, edited and fired by hand, with who did it in the trace."""

import pytest

from core.schema.exemplar import Exemplar, ExemplarStep
from tests.core.stage import page_file, ref_in
from tests.llm_server import Reply

pytestmark = pytest.mark.browser


def clicks(words):
    def answer(request):
        return Reply(text=f"REASON: So.\nACTION: click [{ref_in(request, words)}]")

    return answer


@pytest.fixture
def page(tmp_path):
    page_file(tmp_path, "<h1>Orders</h1><p>Order number 4711</p>", "orders.html")
    page_file(tmp_path, "<h1>Archive</h1>", "archive.html")
    links = '<a href="archive.html">Archive</a> <a href="orders.html">Orders</a>'
    return page_file(tmp_path, links, "start.html")


@pytest.fixture
def at_review(live, server, page):
    """The first step of a run with reflection, before its action."""
    server.script(
        Reply(text="1. Open the orders\n2. Read the number"),
        clicks('link "Archive"'),
        clicks('link "Orders"'),
    )
    live.session.agent.set_preset("reflect")
    live.open("web/open", url=page, instruction="Find the order number.")
    live.to_review()
    return live


def interventions(live):
    store = live.store()
    try:
        return [(one.kind, one.before, one.after) for one in store.interventions(live.view.run)]
    finally:
        store.close()


def test_plan_and_remedies_are_shown_before_the_action_and_the_judgement_after_it(at_review, server):
    live = at_review
    plan = live.step.plan
    assert [(one.text, one.status) for one in plan.subtasks] == [
        ("Open the orders", "current"),
        ("Read the number", "waiting"),
    ]
    assert [(one.target, one.state) for one in plan.remedies] == [
        ('link "Orders"', "waiting"),
        ('link "Archive"', "chosen"),
    ]
    assert plan.editable
    assert (plan.trial, plan.trials) == (1, 3)
    for command, values, said in (
        ("EditPlan", {"subtasks": ("  ",), "current": 0}, "at least one subtask"),
        ("FireRemedy", {"number": 77}, "Remedy 77 is not waiting"),
        ("OverruleJudgement", {"part": "aligned", "is_so": False}, "no judgement to overrule yet"),
    ):
        live.session.edits.ask_for(command, values)
        live.wait(lambda said=said: said in live.view.message, said)
    server.script(Reply(text="The archive came up.\nNO"))
    live.session.corrections.accept()
    live.wait(lambda: "going back for a remedy" in live.step.plan.remark)
    (judged,) = live.step.plan.judgements
    assert (judged.sentence, judged.aligned) == ("The archive came up.", False)


def test_a_rewritten_plan_is_in_the_next_prompt_and_in_the_trace(at_review, server):
    live = at_review
    live.session.edits.ask_for(
        "EditPlan", {"subtasks": ("Look at the list", "Open the orders"), "current": 1}
    )
    live.wait(lambda: live.step.plan.author == "person")
    assert [(one.text, one.status) for one in live.step.plan.subtasks] == [
        ("Look at the list", "needless"),
        ("Open the orders", "current"),
    ]
    server.script(clicks('link "Orders"'), clicks('link "Archive"'))
    live.session.corrections.ask_again()
    live.wait(lambda: len(server.requests) == 5)
    live.wait_phase("review")
    live.settle()
    assert "Open the orders (current)" in server.requests[3].texts[-1]
    kinds = [kind for kind, _, _ in interventions(live)]
    assert kinds == ["plan", "ask again"]
    assert interventions(live)[0][1:] == (
        "1. Open the orders; 2. Read the number",
        "1. Look at the list; 2. Open the orders",
    )


def test_a_remedy_fired_before_the_action_takes_its_place(at_review, server):
    live = at_review
    number = next(one.number for one in live.step.plan.remedies if one.state == "waiting")
    live.session.edits.ask_for("FireRemedy", {"number": number})
    live.wait(lambda: live.step.action.origin == "remedy" and live.step.action.outcome == "pending")
    assert len(server.requests) == 3  # Nothing more was asked.
    chosen = live.step.action.action
    server.script(Reply(text="The orders came up.\nYES"), Reply(text="DONE"), Reply(text="NO"))
    live.session.corrections.accept()
    live.wait(lambda: live.step.number == 1 and live.step.plan.judgements != ())
    assert live.step.row.action == chosen
    assert live.step.row.target == 'link "Orders"'
    assert [kind for kind, _, _ in interventions(live)] == ["remedy"]


def test_a_remedy_of_an_earlier_step_is_gone_back_for(at_review, server):
    live = at_review
    number = next(one.number for one in live.step.plan.remedies if one.state == "waiting")
    server.script(Reply(text="The archive came up.\nYES"), Reply(text="OPEN"), Reply(text="NO"))
    live.session.corrections.accept()
    live.wait(lambda: live.view.step == 2 and live.view.mode == "waiting")
    live.session.edits.ask_for("FireRemedy", {"number": number})
    live.wait(lambda: live.step.number == 2 and live.step.action.action == "backtrack [1]")
    live.session.corrections.accept()
    live.wait(lambda: live.step.number == 2 and live.step.plan.grades != ())
    (grade,) = live.step.plan.grades
    assert (grade.step, grade.to, grade.grade) == (2, 1, "equivalent")
    assert live.page.url.endswith("start.html")


def test_the_making_of_the_index_is_reported_and_the_exemplars_are_shown(live, server):
    live.session.agent.set_preset("synapse")
    server.script(Reply(text="[3] textbox"), Reply(text="REASON: So.\nACTION: stop []"))
    # Whatever other tests have had indexed, this one is new.
    new = Exemplar(
        id="new",
        family="notes",
        environment="own",
        task="Write a note.",
        steps=(ExemplarStep(actions=("stop []",)),),
    )
    live.session.services().resources.memory.library().save(new)
    known = len(live.views)
    live.open("miniwob/login-user")
    assert any("Embedding exemplars" in view.message for view in live.views[known:])
    live.to_review()
    shown = live.step.exemplars
    assert (shown.family, shown.recalled_at) == ("login-user", 1)
    assert shown.rows[0].used
    assert shown.rows[0].trajectory.startswith("Task: Enter the username")
    assert live.step.observation.abstraction.startswith("the LLM")


def test_the_number_of_remedies_and_of_trials_is_set_while_a_run_goes_on(live, server, page):
    server.script(Reply(text="1. Open the orders"), clicks('link "Archive"'))
    live.session.agent.set_preset("reflect")
    live.open("web/open", url=page, instruction="Find the order number.")
    amounts = {one.name: one.amount for one in live.view.mechanisms}
    assert (amounts["remedies"].value, amounts["remedies"].least, amounts["remedies"].most) == (2, 0, 5)
    live.session.agent.set_amount("remedies", 0)
    live.session.agent.set_amount("plan", 100_000)
    live.session.agent.set_amount("states", 1)
    view = live.to_review()
    assert (view.plan.trials, [one.state for one in view.plan.remedies]) == (100, [])
    assert len(server.requests) == 2  # The plan and the action: no remedies were asked for.
    assert interventions(live) == [("switch", "remedies 2", "remedies 0"), ("switch", "plan 3", "plan 100")]
    assert any('"states" is not a number that can be set' in line.text for line in live.lines)


def judged_unclear(server):
    unsure = Reply(text="Hard to say.")
    server.script(unsure, unsure)


def test_the_run_stops_for_a_judgement_that_stays_unclear_and_the_persons_word_holds(at_review, server):
    live = at_review
    judged_unclear(server)
    live.session.corrections.accept()
    live.wait_phase("commit")
    assert "The LLM did not give a complete judgement" in live.view.message
    (judged,) = live.step.plan.judgements
    assert (judged.aligned, judged.unclear) == (None, ("aligned",))
    assert "going back for a remedy" in live.step.plan.remark
    live.session.edits.ask_for("OverruleJudgement", {"part": "aligned", "is_so": True})
    live.wait(lambda: live.step.plan.judgements[0].overruled)
    live.session.edits.ask_for("OverruleJudgement", {"part": "subtask", "is_so": True})
    live.wait(lambda: live.step.plan.subtasks[0].status == "done")
    assert "going back" not in live.step.plan.remark
    server.script(Reply(text="REASON: So.\nACTION: go_back"), Reply(text="REASON: None."))
    live.session.run_commands.step()
    live.wait(lambda: live.step.number == 2 and live.step.action.action == "go_back")
    live.wait_phase("review")
    assert "Read the number (current)" in server.requests[-2].texts[-1]
    assert interventions(live)[:2] == [
        ("judgement", "aligned: unclear", "aligned: True"),
        ("judgement", "subtask: unclear", "subtask: True"),
    ]


def test_going_on_counts_an_unclear_judgement_as_no(at_review, server):
    live = at_review
    judged_unclear(server)
    live.session.corrections.accept()
    live.wait_phase("commit")
    live.session.run_commands.step()
    live.wait(lambda: live.step.number == 2 and live.step.action.action == "backtrack [1]")


def test_a_yes_can_be_overruled_by_a_no(at_review, server):
    live = at_review
    server.script(Reply(text="The archive came up.\nYES"), Reply(text="OPEN"), Reply(text="NO"))
    live.session.run_commands.phase()
    live.wait_phase("act")
    live.session.run_commands.phase()
    live.wait_phase("align")
    live.session.run_commands.phase()
    live.wait_phase("commit")
    live.session.edits.ask_for("OverruleJudgement", {"part": "aligned", "is_so": False})
    live.wait(lambda: live.step.plan.judgements and live.step.plan.judgements[0].overruled)
    assert "going back for a remedy" in live.step.plan.remark
