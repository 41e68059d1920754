"""What a person puts right between two phases: shown at once, kept with the run, undone while nothing was done."""

import pytest

from core.agent.edits.ask_again import AskQuestionAgain
from core.agent.edits.page import DropExemplar, PinExemplar
from core.agent.edits.reflection import (
    AddRemedy,
    DropRemedy,
    EditPlan,
    EditRemedy,
    MoveRemedy,
    OverruleJudgement,
    StartNewTrial,
)
from core.agent.edits.stack import PopFrame, PushPolicy, RestartFrame
from core.agent.edits.state_space import ForceState, PermitAction
from tests.core.stage import on, page_file, ref_in
from tests.llm_server import Reply

pytestmark = pytest.mark.browser

NEWS = 'link "News"'
NONE = Reply(text="REASON: None.")


def says(*actions):
    return Reply(text="\n".join(["REASON: So.", *(f"ACTION: {action}" for action in actions)]))


def clicks(*words):
    def answer(request):
        return says(*(f"click [{ref_in(request, one)}]" for one in words))

    return answer


def ask_for(live, edit):
    """Ask for an edit as the window does: by its name, with plain values."""
    live.session.edits.ask_for(type(edit).__name__, edit.model_dump())


def edit(live, edit, said):
    """Carry out an edit, and wait until the session says so."""
    ask_for(live, edit)
    live.wait(lambda: said in live.view.message and live.view.mode == "waiting", said)


def refused(live, edit, said):
    before = live.interventions(live.view.run)
    ask_for(live, edit)
    live.wait(lambda: said in live.view.message, said)
    assert live.interventions(live.view.run) == before


def kinds(live):
    return [kind for kind, _, _, _ in live.interventions(live.view.run)]


def waiting(live):
    return [one.target or one.action for one in live.step.plan.remedies if one.state == "waiting"]


# Anticipatory reflection


@pytest.fixture
def links(live, server, tmp_path):
    """A page of four links; the first is chosen, the second and third are its remedies."""
    for name in ("Archive", "Help", "Orders", "News"):
        page_file(tmp_path, f"<h1>{name}</h1>", f"{name.lower()}.html")
    body = "".join(
        f'<p><a href="{name.lower()}.html">{name}</a></p>' for name in ("Archive", "Help", "Orders", "News")
    )
    server.script(
        Reply(text="1. Open the orders"), clicks('link "Archive"'), clicks('link "Help"', 'link "Orders"')
    )
    live.session.agent.set_preset("reflect")
    live.open("web/open", url=page_file(tmp_path, body), instruction="Open the orders.")
    live.to_review()
    return live


def ref_of(live, label):
    return next(row.ref for row in live.step.permissible.rows if row.label == label)


def news(live):
    return f"click [{ref_of(live, NEWS)}]"


def test_remedies_are_added_rewritten_moved_and_dropped(links):
    live = links
    assert waiting(live) == ['link "Help"', 'link "Orders"']
    edit(live, AddRemedy(action=news(live)), "is the next remedy")
    assert waiting(live) == ['link "News"', 'link "Help"', 'link "Orders"']
    number = {one.target: one.number for one in live.step.plan.remedies}
    edit(live, MoveRemedy(number=number['link "Orders"'], sooner=2), "is number 1 of the remedies")
    assert waiting(live) == ['link "Orders"', 'link "News"', 'link "Help"']
    edit(live, DropRemedy(number=number['link "News"']), "will not be tried")
    edit(live, EditRemedy(number=number['link "Help"'], action="scroll [down]"), "is now scroll [down]")
    assert waiting(live) == ['link "Orders"', "scroll [down]"]
    assert kinds(live) == ["remedies"] * 4
    sent = []
    live.session.edit_refused.connect(sent.append)
    refused(live, AddRemedy(action="click [4711]"), "4711")
    (told,) = sent
    assert (told.name, told.values) == ("AddRemedy", {"action": "click [4711]"})
    assert told.problem == live.view.message
    refused(live, DropRemedy(number=99), "is no longer waiting")
    refused(live, MoveRemedy(number=number['link "Orders"'], sooner=1), "is already the first remedy")


def test_an_edit_is_undone_until_the_run_goes_on(links, server):
    live = links
    edit(live, AddRemedy(action=news(live)), "is the next remedy")
    (made,) = live.view.edits
    assert made.kind == "remedies"
    live.session.edits.undo("edit 0")
    live.wait(lambda: "edited or has continued meanwhile" in live.view.message)
    assert live.view.edits == (made,)
    live.session.edits.undo(made.key)
    live.wait(lambda: "was undone" in live.view.message)
    assert waiting(live) == ['link "Help"', 'link "Orders"']
    assert (kinds(live), live.view.edits) == (["remedies", "undo"], ())
    edit(live, AddRemedy(action=news(live)), "is the next remedy")
    server.script(Reply(text="The archive came up.\nYES"), Reply(text="OPEN"), Reply(text="NO"))
    live.session.corrections.accept()
    live.wait_phase("observe")
    assert not live.view.edits
    live.session.edits.undo()
    live.wait(lambda: "There is no edit to undo" in live.view.message)


def test_remedies_and_judgement_are_asked_for_again(links, server):
    live = links
    server.script(clicks('link "News"'))
    edit(live, AskQuestionAgain(what="remedies"), "The remedies of this step will be requested again.")
    live.wait(lambda: waiting(live) == ['link "News"'])
    assert live.step.action.action.startswith("click [")
    server.script(Reply(text="The archive came up.\nYES"), Reply(text="OPEN"), Reply(text="NO"))
    for phase in ("act", "align", "commit"):
        live.session.run_commands.phase()
        live.wait_phase(phase)
    assert live.step.plan.judgements[0].aligned is True
    server.script(Reply(text="The archive came up, which is wrong.\nNO"))
    ask_for(live, AskQuestionAgain(what="judgement"))
    live.wait(lambda: live.step.plan.judgements and live.step.plan.judgements[0].aligned is False)
    assert "going back for a remedy" in live.step.plan.remark
    assert kinds(live) == ["ask again", "ask again"]


def test_a_plan_is_asked_for_again_and_the_action_with_it(links, server):
    live = links
    server.script(Reply(text="1. Look at the news"), clicks('link "News"'), NONE)
    ask_for(live, AskQuestionAgain(what="plan"))
    live.wait(lambda: [one.text for one in live.step.plan.subtasks] == ["Look at the news"])
    live.wait_phase("review")
    assert "Look at the news (current)" in "\n".join(server.requests[4].texts)


def test_a_new_trial_is_begun_by_hand_above_the_limit_and_its_lessons_are_rewritten(links, server):
    live = links
    live.session.agent.set_amount("plan", 1)
    server.script(Reply(text="The archive is of no use."))
    edit(live, StartNewTrial(), "starts the task again, in trial 2, one above the limit of 1.")
    live.session.run_commands.step()
    live.wait(lambda: live.step.action.action == "new_trial")
    server.script(Reply(text="1. Open the news"), clicks('link "News"'), NONE)
    live.session.corrections.accept()
    live.wait_phase("observe")
    live.session.edits.begin_text("experience")
    live.wait(lambda: live.text is not None)
    assert live.text.text == "The archive is of no use."
    live.session.edits.apply_text("experience", "The news has it.\n\nBe quick.")
    live.wait(lambda: "contains these lessons" in live.view.message)
    live.to_review()
    plan = "\n".join(server.requests[-3].texts)
    assert "- The news has it.\n- Be quick." in plan
    assert live.view.trial == 2
    assert (live.step.plan.trial, live.step.plan.trials) == (2, 2)


def judge(live, server, *said):
    """Carry the action out, and rest after it was judged."""
    server.script(*(Reply(text=one) for one in said))
    for phase in ("act", "align", "commit"):
        live.session.run_commands.phase()
        live.wait_phase(phase)


def undo(live):
    live.session.edits.undo()
    live.wait(lambda: "was undone" in live.view.message)


def test_edits_are_undone_one_by_one_whatever_they_changed(links):
    live = links
    first = live.step.action.action
    edit(live, AddRemedy(action=news(live)), "is the next remedy")
    edit(live, EditPlan(subtasks=("Look at the news",), current=0), "The plan was changed")
    live.session.edits.edit_action(news(live))
    live.wait(lambda: "is the next action" in live.view.message)
    undo(live)
    assert (live.step.action.action, live.step.action.origin) == (first, "agent")
    assert [one.text for one in live.step.plan.subtasks] == ["Look at the news"]
    live.session.edits.undo()
    live.wait(lambda: [one.text for one in live.step.plan.subtasks] == ["Open the orders"])
    assert waiting(live)[0] == NEWS
    live.session.edits.undo()
    live.wait(lambda: waiting(live) == ['link "Help"', 'link "Orders"'])
    assert [one.kind for one in live.view.undone] == ["edit", "plan", "remedies"]
    live.session.edits.redo(live.view.undone[0].key)
    live.wait(lambda: "edited or has continued meanwhile" in live.view.message)
    keys = [one.key for one in reversed(live.view.undone)]
    for at, key in enumerate(keys, start=1):
        live.session.edits.redo(key)
        live.wait(lambda at=at: len(live.view.edits) == at)
    assert [one.key for one in live.view.edits] == keys
    assert (live.step.action.action, live.step.action.origin) == (news(live), "person")
    assert [one.text for one in live.step.plan.subtasks] == ["Look at the news"]
    assert waiting(live)[0] == NEWS
    assert kinds(live) == ["remedies", "plan", "edit", *["undo"] * 3, "remedies", "plan", "edit"]
    undo(live)
    edit(live, DropRemedy(number=live.step.plan.remedies[0].number), "will not be tried")
    assert not live.view.undone
    live.session.edits.redo()
    live.wait(lambda: "There is no edit to redo" in live.view.message)
    # What was switched after an edit stays switched.
    live.session.agent.set_amount("remedies", 4)
    live.wait(lambda: not live.view.edits)
    live.session.edits.undo()
    live.wait(lambda: "There is no edit to undo" in live.view.message)


def test_a_judgement_is_overruled_and_that_is_undone(links, server):
    live = links
    judge(live, server, "The archive came up.\nYES", "OPEN", "NO")
    assert "OverruleJudgement" not in live.view.refusals
    edit(live, OverruleJudgement(part="aligned", is_so=False), "The judgement was changed")
    live.wait(lambda: live.step.plan.judgements[0].aligned is False)
    assert "going back for a remedy" in live.step.plan.remark
    undo(live)
    live.wait(lambda: live.step.plan.judgements[0].aligned is True)
    assert not live.step.plan.judgements[0].overruled
    assert "going back" not in live.step.plan.remark
    live.session.edits.redo()
    live.wait(lambda: live.step.plan.judgements[0].aligned is False)
    assert "going back for a remedy" in live.step.plan.remark
    calls = live.view.calls
    edit(live, OverruleJudgement(part="subtask", is_so=True), "The judgement was changed")
    assert live.view.calls == calls


def test_what_was_edited_after_the_judgement_holds_when_it_is_overruled(links, server):
    live = links
    judge(live, server, "The archive came up.\nYES", "OPEN", "NO")
    help_ = next(one.number for one in live.step.plan.remedies if one.target == 'link "Help"')
    edit(live, DropRemedy(number=help_), "will not be tried")
    live.session.edits.apply_text("experience", "Be quick.")
    live.wait(lambda: "contains these lessons" in live.view.message)
    refused(live, AskQuestionAgain(what="judgement"), "would be lost")
    refused(live, DropRemedy(number=99), "is no longer waiting")
    edit(live, OverruleJudgement(part="aligned", is_so=False), "The judgement was changed")
    live.session.edits.begin_text("experience")
    live.wait(lambda: live.text is not None)
    assert live.text.text == "Be quick."
    states = {one.target: one.state for one in live.step.plan.remedies}
    assert (states['link "Help"'], states['link "Orders"']) == ("dropped", "chosen")


def test_an_edit_of_what_a_step_goes_by_drops_the_actions_that_would_have_followed(live, server, tmp_path):
    def all_at_once(request):
        name, city = (ref_in(request, f'textbox "{one}"') for one in ("Name", "City"))
        return says(f"type [{name}] [Ada]", f"type [{city}] [Oslo]")

    form = "<label>Name <input></label><label>City <input></label>"
    live.session.agent.set_preset("synapse")
    server.script(all_at_once, all_at_once)
    live.open("web/open", url=page_file(tmp_path, form), instruction="Enter Ada of Oslo.")
    live.session.agent.set_mechanism("abstraction", False)
    live.wait_phase("recognise")
    live.to_review()
    proposed = live.step.action.action
    edit(live, ForceState(), "recognised again")
    live.to_review()
    assert (live.step.action.action, len(server.requests)) == (proposed, 2)


def test_an_exemplar_that_was_left_out_at_a_later_step_is_shown_again_when_that_is_undone(live, server):
    live.session.agent.set_preset("synapse")
    live.open("miniwob/enter-text")
    live.session.agent.set_mechanism("abstraction", False)
    live.wait_phase("recognise")
    server.script(says("wait [0]"), says("wait [0]"))
    live.to_review()
    live.session.corrections.accept()
    live.wait_phase("observe")
    live.to_review()
    used = [row.id for row in live.step.exemplars.rows if row.used]
    edit(live, DropExemplar(id=used[0]), "is no longer in the prompts")
    live.wait(lambda: used[0] not in [row.id for row in live.step.exemplars.rows if row.used])
    live.session.edits.undo()
    live.wait(lambda: used == [row.id for row in live.step.exemplars.rows if row.used])


def test_what_was_edited_in_a_step_holds_when_the_run_is_taken_up_again(links, server):
    live = links
    live.session.edits.apply_text("experience", "Be quick.")
    live.wait(lambda: "contains these lessons" in live.view.message)
    run = live.view.run
    live.session.branches.go_back(run, 1)
    live.wait(lambda: live.view.run != run and live.view.mode == "waiting")
    store = live.store()
    try:
        kept = store.agent(run, 1)
    finally:
        store.close()
    assert b"Be quick." in kept


# Policies and state spaces


@pytest.fixture
def shop(live, server):
    """The shop with states and policies, in a policy that the first one has called."""
    live.session.agent.set_preset("combined")
    for name in ("plan", "remedies", "judgement", "memory"):
        live.session.agent.set_mechanism(name, False)
    live.open("shop/goal-000")
    for name in ("plan", "remedies", "judgement", "memory"):
        live.session.agent.set_mechanism(name, False)
    server.script(says("search_shop [steel bottle]"), says("search [steel bottle] []"))
    live.to_review()
    live.session.corrections.accept()
    live.wait_phase("observe")
    live.to_review()
    assert frames(live) == ["search_shop", "shop"]
    return live


def frames(live):
    return [one.policy for one in live.step.stack.frames]


def test_a_frame_is_popped_with_an_answer_pushed_again_and_restarted(shop, server):
    live = shop
    assert live.view.refusals["AskQuestionAgain plan"].startswith("Plan is switched off")
    assert live.view.refusals["return"] == "No policy has returned to the policy at work yet."
    assert not {"frame", "memory", "observation", "PopFrame", "ForceState"} & live.view.refusals.keys()
    edit(live, PopFrame(answer="there is a list"), "has ended; its caller is told")
    live.wait_phase("decide")
    assert frames(live) == ["shop"]
    assert "No policy called this one" in live.view.refusals["PopFrame"]
    assert "return" not in live.view.refusals
    assert live.step.stack.finished[0].result.endswith("there is a list")
    edit(live, PushPolicy(call="check_item [properties: steel]"), "check_item is now at work")
    assert live.interventions(live.view.run)[-1][2] == "check_item [steel]"
    assert frames(live) == ["check_item", "shop"]
    refused(live, PushPolicy(call="no_such [x]"), "no_such")
    refused(live, PushPolicy(call="scroll [down]"), "does not call a policy")
    edit(live, RestartFrame(), "starts again")
    edit(live, PopFrame(lacked="a page of an item"), "lacked")
    refused(live, PopFrame(), "No policy called this one")
    assert kinds(live)[-4:] == ["stack"] * 4
    server.script(says("search [bottle] []"))
    live.to_review()
    prompt = "\n".join(server.requests[-1].texts)
    assert "there is a list" in prompt
    assert "a page of an item" in prompt


def test_argument_notes_and_return_value_are_rewritten_as_text(shop, server):
    live = shop
    live.session.edits.begin_text("frame")
    live.wait(lambda: live.text is not None)
    assert 'arguments = ["steel bottle"]' in live.text.text
    live.session.edits.check_text("frame", 'argument = ["x"]')
    live.wait(lambda: live.text.problem)
    assert "line 1" in live.text.problem
    assert "arguments" in live.text.problem
    live.session.edits.apply_text("frame", 'arguments = ["glass bottle"]\nnotes = ["Blue."]\nhistory = []')
    live.wait(lambda: live.step.stack.frames[0].argument == "glass bottle")
    assert live.step.stack.frames[0].notes == ("Blue.",)
    edit(live, PopFrame(answer="nothing"), "has ended")
    live.session.edits.check_text("return", 'notes = ["Blue."]')
    live.wait(lambda: live.text.name == "return" and live.text.problem)
    assert "notes" in live.text.problem
    live.session.edits.apply_text("return", 'answer = "three of them"\nlacked = ""')
    live.wait(lambda: live.step.stack.finished[0].result.endswith("three of them"))
    server.script(says("search [bottle] []"))
    live.to_review()
    assert "three of them" in "\n".join(server.requests[-1].texts)


def test_an_action_is_permitted_and_a_state_forced_for_one_step_and_what_is_remembered_rewritten(shop):
    live = shop
    assert "scroll" not in [row.text.split(" ")[0] for row in live.step.permissible.rows]
    assert "scroll" in live.step.permissible.beside
    edit(live, PermitAction(action="scroll"), "scroll is permissible")
    live.wait_phase("decide")
    assert "scroll" in [row.text.split(" ")[0] for row in live.step.permissible.rows]
    assert "scroll" not in live.step.permissible.beside
    assert live.step.permissible.beside
    refused(live, PermitAction(action="scroll"), "is already permissible")
    refused(live, PermitAction(action="got"), "did you mean goto?")

    edit(live, ForceState(state="results"), "counts as results")
    live.wait_phase("decide")
    assert live.step.state.state == "results"
    assert "You set this state; by the page it is search" in live.step.state.why
    edit(live, ForceState(), "recognised again")
    live.wait_phase("decide")
    assert live.step.state.state == "search"
    refused(live, ForceState(state="resuls"), "did you mean results?")
    assert kinds(live)[-2:] == ["state", "state"]

    live.session.edits.begin_text("memory")
    live.wait(lambda: live.text is not None)
    assert live.text.language == "toml"
    text = (
        'looked_at = ["B1"]\n[remembered]\nkeywords = "steel bottle"\n'
        '[[buffer]]\ncandidate = "B1"\nurl = "http://x"\ntitle = "A bottle"\n'
    )
    live.session.edits.apply_text("memory", text)
    live.wait(lambda: live.step.state.remembered == (("keywords", "steel bottle"),))
    assert [one.candidate for one in live.step.state.buffer] == ["B1"]
    live.session.edits.undo()
    live.wait(lambda: live.step.state.remembered == ())


# What the prompt shows


def test_the_clean_observation_is_rewritten_for_the_step_and_the_action_asked_for_with_it(
    live, server, tmp_path
):
    server.script(on('button "Go"'), on('button "Go"'))
    live.open("web/open", url=page_file(tmp_path, "<p>Noise</p><button>Go</button>"), instruction="Go.")
    live.to_review()
    live.session.edits.begin_text("observation")
    live.wait(lambda: live.text is not None)
    assert "Noise" in live.text.text
    live.session.edits.check_text("observation", "[4711] button")
    live.wait(lambda: live.text.problem)
    assert live.text.problem == "The page has no [4711]; remove it, or name another element."
    go = ref_of(live, 'button "Go"')
    live.session.edits.apply_text("observation", f'[{go}] button "Go" only')
    live.wait_phase("decide")
    assert live.step.observation.clean == f'[{go}] button "Go" only'
    live.to_review()
    prompt = "\n".join(server.requests[-1].texts)
    assert "only" in prompt
    assert "Noise" not in prompt
    assert kinds(live) == ["observation"]
    changed = live.step.interventions[-1].splitlines()[1:]
    assert len(changed) > 2
    assert all(line[0] in "+-" for line in changed)
    edit(live, ForceState(), "recognised again")
    live.wait_phase("decide")
    assert live.step.observation.clean == f'[{go}] button "Go" only'
    edit(live, AskQuestionAgain(what="abstraction"), "clean observation of this step will be requested again")
    live.wait_phase("decide")
    assert "Noise" in live.step.observation.clean


def test_an_exemplar_is_left_out_of_the_live_run_and_another_one_added(live, server):
    live.session.agent.set_preset("synapse")
    live.open("miniwob/enter-text")
    live.session.agent.set_mechanism("abstraction", False)
    live.wait_phase("recognise")
    server.script(says("wait [1]"), says("wait [1]"))
    live.to_review()
    used = [row.id for row in live.step.exemplars.rows if row.used]
    assert used
    edit(live, DropExemplar(id=used[0]), "is no longer in the prompts")
    live.wait_phase("decide")
    assert used[0] not in [row.id for row in live.step.exemplars.rows if row.used]
    refused(live, DropExemplar(id=used[0]), "is not among the exemplars")
    edit(live, PinExemplar(id=used[0]), "is among the exemplars for the prompts now")
    live.wait_phase("decide")
    pinned = next(row for row in live.step.exemplars.rows if row.id == used[0])
    # The LLM was asked without it, and is not yet asked again.
    assert (pinned.used, pinned.problem) == (True, "")
    refused(live, PinExemplar(id="no-such"), "There is no exemplar")
    assert kinds(live)[-2:] == ["exemplars", "exemplars"]
    memory = live.session.services().resources.memory
    city = memory.exemplar(used[0]).replace(id="pinned/city", task="Fly to {city}.", metadata="")
    memory.library().save(city)
    edit(live, PinExemplar(id=city.id), "is among the exemplars for the prompts now")
    live.wait_phase("decide")
    [added] = [row for row in live.step.exemplars.rows if row.id == city.id]
    assert "{city} stands for a value that the task gives" in added.trajectory
    edit(live, DropExemplar(id=city.id), "is no longer in the prompts")
    live.wait_phase("decide")
    live.to_review()
    assert used[0] in [row.id for row in live.step.exemplars.rows if row.used]
