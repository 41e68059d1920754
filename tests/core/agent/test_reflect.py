"""The preset ``reflect`` on real pages: the exact sequence of what the LLM is asked, and what each question holds."""

import re

import pytest

from core.agent.branching import RunSetup, open_branch, reopen_task
from core.agent.llm_calls import HeldCall
from core.agent.presets import PRESETS
from core.browser.checkpoints.strategies import AsItIs, HistoryEntry
from tests.core.agent.traced import purposes, records, steps
from tests.core.stage import page_file, ref_in
from tests.llm_server import Reply

pytestmark = pytest.mark.browser

INSTRUCTION = "Find the order number."


def says(action, reason="So."):
    return Reply(text=f"REASON: {reason}\nACTION: {action}")


def clicks(words, *others):
    """Click what the page shows as `words`; with `others`, those are proposed too."""

    def answer(request):
        actions = "\n".join(f"ACTION: click [{ref_in(request, one)}]" for one in (words, *others))
        return Reply(text=f"REASON: It seems right.\n{actions}")

    return answer


def text(words):
    return Reply(text=words)


PLAN = text("1. Open the orders\n2. Read the number")
ALIGNED = text("The list of orders came up.\nYES")
NOT_ALIGNED = text("The archive came up, which holds no orders.\nNO")


@pytest.fixture
def site(tmp_path):
    """A start page with three links, of which one leads to the orders."""
    page_file(tmp_path, "<h1>Archive</h1><p>Nothing is kept here.</p>", "archive.html")
    page_file(tmp_path, "<h1>Help</h1><p>Ask somebody.</p>", "help.html")
    page_file(tmp_path, "<h1>Orders</h1><p>Order number 4711</p>", "orders.html")
    links = "".join(
        f'<p><a href="{name.lower()}.html">{name}</a></p>' for name in ("Archive", "Help", "Orders")
    )
    return page_file(tmp_path, f"<h1>Start</h1>{links}", "start.html")


def open_run(stage, server, site, **more):
    return stage.open(server, url=site, instruction=INSTRUCTION, preset="reflect", **more)


def test_a_success_asks_the_papers_questions_one_after_the_other(stage, llm_server, site):
    llm_server.script(
        PLAN,
        clicks('link "Orders"'),
        clicks('link "Help"', 'link "Archive"'),
        ALIGNED,
        text("DONE"),
        text("YES, the number is in view."),
        text("4711"),
    )
    run = open_run(stage, llm_server, site)
    stage.to_the_end(run)
    assert (run.outcome, run.state.answer) == ("done", "4711")
    assert purposes(run) == ["plan", "decide", "remedies", "aligned", "subtask", "task", "answer"]
    assert [(step.effect, step.outcome) for step in steps(run)] == [("page action", "done"), ("stop", "done")]

    plan, decide, remedies, aligned, subtask, task, answer = (
        "\n".join(one.texts) for one in llm_server.requests
    )
    assert INSTRUCTION in plan
    assert 'link "Orders"' in plan
    assert "Open the orders (current)" in decide
    assert remedies.startswith(decide)
    assert "Suppose that the action you have just chosen turns out wrong" in remedies
    assert "up to 2 other actions" in remedies
    assert 'heading "Start"' in aligned
    assert 'heading "Orders"' in aligned
    assert "Subtask worked on: Open the orders" in subtask
    assert "Order number 4711" in task
    assert "Order number 4711" in answer
    assert {one.body["temperature"] for one in llm_server.requests} == {1.0}
    limits = [one.body["max_tokens"] for one in llm_server.requests]
    assert limits == [4096, 4096, 512, 512, 512, 512, 4096]

    reflection = records(run, 1)["align"].reflection
    assert [one.status for one in reflection.plan.subtasks] == ["done", "current"]
    assert [(one.state, one.step) for one in reflection.remedies] == [
        ("waiting", 1),
        ("waiting", 1),
        ("tried", 1),
    ]


def test_a_wrong_first_action_is_taken_back_and_mended_by_a_remedy(stage, llm_server, site):
    llm_server.script(
        PLAN,
        clicks('link "Archive"'),
        clicks('link "Orders"', 'link "Help"'),
        NOT_ALIGNED,
        ALIGNED,
        text("DONE"),
        text("YES"),
        text("4711"),
    )
    run = open_run(stage, llm_server, site)
    stage.to_the_end(run)
    assert (run.outcome, run.state.answer) == ("done", "4711")
    assert purposes(run) == ["plan", "decide", "remedies", "aligned", "aligned", "subtask", "task", "answer"]
    assert [(step.effect, step.origin) for step in steps(run)] == [
        ("page action", "agent"),
        ("go back", "remedy"),
        ("page action", "remedy"),
        ("stop", "agent"),
    ]
    restored = records(run, 2)["act"].restored
    assert (restored.step, restored.grade, restored.strategy) == (1, "equivalent", HistoryEntry.name)
    assert records(run, 2)["decide"].scheduled.kind == "go back"
    assert str(records(run, 2)["review"].action) == "backtrack [1]"
    # The remedy's step asks for no action and no remedies.
    assert records(run, 3)["decide"].calls == ()
    assert records(run, 3)["anticipate"].remedies == ()
    assert steps(run)[2].target == 'link "Orders"'
    reflection = records(run, 3)["align"].reflection
    assert [one.state for one in reflection.remedies] == ["waiting", "tried", "tried"]
    # Later prompts know what was tried, and what came of it.
    assert "The archive came up, which holds no orders. It did not serve" in "\n".join(
        llm_server.requests[-1].texts
    )


def test_a_plan_that_was_cut_off_is_asked_for_again(stage, llm_server, site):
    llm_server.script(
        Reply(text="First I have to think about what the shop", finish_reason="length"),
        Reply(text="1. Open the orders"),
        clicks('link "Orders"'),
    )
    run = open_run(stage, llm_server, site)
    stage.until(run, "decide")
    stage.phase(run)
    assert purposes(run)[:2] == ["plan", "plan"]
    assert llm_server.requests[1].texts[-1].startswith("The reply was cut off: it reached the limit")
    assert [one.text for one in run.state.reflection.plan.subtasks] == ["Open the orders"]


def test_an_empty_stack_ends_the_trial_and_the_new_plan_knows_what_the_old_one_taught(
    stage, llm_server, site
):
    llm_server.script(
        PLAN,
        clicks('link "Archive"'),
        clicks('link "Help"'),
        NOT_ALIGNED,
        text("The help came up.\nNO"),
        text("The archive and the help hold nothing; the orders are the third link."),
        text("1. Click the third link"),
        clicks('link "Orders"'),
        clicks('link "Help"'),
        ALIGNED,
        text("DONE"),
        text("YES"),
        text("4711"),
    )
    run = open_run(stage, llm_server, site)
    stage.to_the_end(run)
    assert (run.outcome, run.state.answer, run.state.trial) == ("done", "4711", 2)
    first = ["plan", "decide", "remedies", "aligned", "aligned", "review"]
    second = ["plan", "decide", "remedies", "aligned", "subtask", "task", "answer"]
    assert purposes(run) == [*first, *second]
    assert [(step.effect, step.trial) for step in steps(run)] == [
        ("page action", 1),
        ("go back", 1),
        ("page action", 1),
        ("go back", 1),
        ("page action", 2),
        ("stop", 2),
    ]
    plan = llm_server.requests[6].texts[-1]
    assert "The archive and the help hold nothing" in plan
    # The plan that failed, and what was done by it, are shown as well.
    assert "1. Open the orders (not finished)\n2. Read the number (not reached)" in plan
    assert "The archive came up, which holds no orders. It did not serve the subtask." in plan
    assert 'heading "Start"' in plan
    reflection = records(run, 5)["decide"].reflection
    assert (reflection.plan.revision, reflection.trial, reflection.trials) == (1, 2, 3)
    # What the first trial did is in its lesson alone.
    assert "The help came up" not in llm_server.requests[7].texts[-1]


def own_preset(stage, *changes, name="own"):
    """Write the preset reflect with these replacements, and return its name."""
    text = (PRESETS / "reflect.toml").read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    (stage.config / "presets" / f"{name}.toml").write_text(text)
    return name


ONE_TRIAL = [PLAN, clicks('link "Help"'), ALIGNED, text("OPEN"), text("NO")]
ASKED = ["plan", "decide", "aligned", "subtask", "task"]


def test_a_trial_at_its_limit_is_followed_by_the_next_and_the_last_one_by_the_answer(stage, llm_server, site):
    preset = own_preset(
        stage, ("trials = 3", "trials = 2"), ("count = 2", "count = 0"), ("actions = 30", "actions = 1")
    )
    llm_server.script(*ONE_TRIAL, text("One action was too few."), *ONE_TRIAL, text("4711"))
    run = stage.open(llm_server, url=site, instruction=INSTRUCTION, preset=preset)
    stage.to_the_end(run)
    assert (run.outcome, run.state.answer) == ("budget", "4711")
    assert purposes(run) == [*ASKED, "review", *ASKED, "answer"]
    assert [step.trial for step in steps(run)] == [1, 1, 2, 2]


def test_the_actions_of_all_trials_together_have_a_limit_at_which_the_answer_is_due(stage, llm_server, site):
    preset = own_preset(stage, ("count = 2", "count = 0"), ("actions = 30", "actions = 2"))
    back = [says("go_back"), text("The start page came up.\nYES"), text("OPEN"), text("NO")]
    llm_server.script(*ONE_TRIAL, *back, text("Help is of no use."), *ONE_TRIAL, text("4711"))
    run = stage.open(llm_server, url=site, instruction=INSTRUCTION, preset=preset, steps=3)
    stage.to_the_end(run)
    assert (run.outcome, run.state.answer, run.state.totals.page_actions) == ("budget", "4711", 3)
    assert "The task has used its 3 actions" in records(run, 5)["decide"].scheduled.why


def test_remedies_equal_to_the_chosen_action_are_dropped_and_asked_for_again_once(stage, llm_server, site):
    llm_server.script(
        PLAN,
        clicks('link "Archive"'),
        clicks('link "Archive"', 'link "Help"'),
        clicks('link "Archive"'),
        NOT_ALIGNED,
    )
    run = open_run(stage, llm_server, site)
    stage.step(run)
    assert purposes(run) == ["plan", "decide", "remedies", "remedies", "aligned"]
    anticipated = records(run, 1)["anticipate"]
    assert [why for _, why in anticipated.dropped] == ["It is the chosen action itself."] * 2
    assert len(anticipated.remedies) == 1
    assert "These are no remedies" in llm_server.requests[3].texts[-1]


def test_a_failed_action_is_judged_without_the_llm_and_an_untouched_page_is_not_loaded_anew(
    stage, llm_server, tmp_path
):
    covered = (
        '<button style="position:absolute;left:10px;top:10px;width:90px;height:30px">Go</button>'
        '<div style="position:absolute;left:0;top:0;width:300px;height:60px;background:#ddd">in the way</div>'
        '<button style="position:absolute;left:10px;top:100px">Other</button>'
    )
    llm_server.script(
        PLAN, clicks('button "Go"'), clicks('button "Other"'), ALIGNED, text("OPEN"), text("NO")
    )
    run = open_run(stage, llm_server, page_file(tmp_path, covered))
    for _ in range(3):
        stage.step(run)
    judged = records(run, 1)["align"]
    assert (judged.aligned, judged.by_rule) == (False, "The action failed.")
    restored = records(run, 2)["act"].restored
    assert (restored.strategy, restored.grade) == (AsItIs.name, "equivalent")
    assert steps(run)[2].target == 'button "Other"'
    assert purposes(run) == ["plan", "decide", "remedies", "aligned", "subtask", "task"]


def rows_page(folder, count):
    """Write a page with so many equal buttons beside a link, and return its URL."""
    buttons = "".join(
        f'<button onclick="document.title = here.textContent = `Opened {number}`">Open</button>'
        for number in range(count)
    )
    page_file(folder, "<h1>Archive</h1>", "archive.html")
    return page_file(
        folder, f"<a href=archive.html>Archive</a><p>Rows</p>{buttons}<h1 id=here>None</h1>", "rows.html"
    )


@pytest.fixture
def growing(tmp_path):
    """The page with three of them; when the LLM has judged, a fourth has been added to it."""

    def judge(request):
        rows_page(tmp_path, 4)
        return NOT_ALIGNED

    return rows_page(tmp_path, 3), judge


def second_button(request):
    refs = re.findall(r'\[(\d+)\] button "Open"', request.texts[-3])
    return says(f"click [{refs[1]}]")


def test_an_element_that_is_not_found_for_certain_is_asked_for_and_the_step_says_so(
    stage, llm_server, growing
):
    llm_server.script(
        PLAN,
        clicks('link "Archive"'),
        second_button,
        growing[1],
        text("2"),
        ALIGNED,
        text("OPEN"),
        text("NO"),
    )
    run = open_run(stage, llm_server, growing[0])
    for _ in range(3):
        stage.step(run)
    assert purposes(run) == ["plan", "decide", "remedies", "aligned", "choose", "aligned", "subtask", "task"]
    asked = llm_server.requests[4].texts[-1]
    assert "The element was: [" in asked
    assert "3. [" in asked
    decided = records(run, 3)["decide"]
    assert 'button "Open" is the best match of 4, but not certain.' in decided.proposal.thought
    assert decided.calls == (5,)
    assert records(run, 2)["act"].restored.grade == "same page"
    assert run.state.observation.title == "Opened 2"  # The likeliest are listed first.


def test_an_element_that_is_none_of_the_candidates_leaves_the_remedy_untried(stage, llm_server, growing):
    llm_server.script(
        PLAN,
        clicks('link "Archive"'),
        second_button,
        growing[1],
        text("0"),
        text("Nothing was there to press."),
    )
    run = open_run(stage, llm_server, growing[0])
    for _ in range(4):
        stage.step(run)
    third = records(run, 3)
    assert "cannot be tried" in third["act"].message
    assert third["align"].by_rule == "The action failed."
    assert [step.effect for step in steps(run)] == ["page action", "go back", "none", "go back"]
    assert run.state.trial == 2


def ordering(tmp_path):
    """A page whose wrong button sends something that stays done."""
    send = "fetch('http://127.0.0.1:9/order', {method: 'POST'}).catch(() => 0)"
    body = f'<h1>Shop</h1><button onclick="{send}">Order</button><button>Look</button>'
    return page_file(tmp_path, body, "ordering.html")


def wrong_order(llm_server):
    llm_server.script(PLAN, clicks('button "Order"'), clicks('button "Look"'), NOT_ALIGNED)


def test_going_back_for_a_remedy_stops_where_something_stays_done(stage, llm_server, tmp_path):
    wrong_order(llm_server)
    run = open_run(stage, llm_server, ordering(tmp_path))
    stage.step(run)
    stage.until(run, "review")
    gate = run.gate()
    sent = "POST http://127.0.0.1:9/order (step 1)"
    assert (gate.kind, gate.reason) == ("effects", f"Going back to step 1 does not undo {sent}")


def test_a_preset_may_let_going_back_pass_what_stays_done(stage, llm_server, tmp_path):
    wrong_order(llm_server)
    text = (PRESETS / "reflect.toml").read_text()
    assert "[remedies]" in text
    own = text.replace("[remedies]", '[remedies]\neffects = "allow"')
    (stage.config / "presets" / "reflect.toml").write_text(own)
    run = open_run(stage, llm_server, ordering(tmp_path))
    stage.step(run)
    stage.until(run, "review")
    assert (str(run.state.pending.action), run.gate()) == ("backtrack [1]", None)


def test_a_judgement_that_cannot_be_read_is_asked_for_once_more(stage, llm_server, site):
    llm_server.script(
        PLAN,
        clicks('link "Orders"'),
        text("REASON: None."),
        text("No further action is needed; the list of orders came up."),
        ALIGNED,
        text("The subtask is not done"),
        text("OPEN"),
        text("I cannot tell."),
        text("NO"),
    )
    run = open_run(stage, llm_server, site)
    stage.step(run)
    assert purposes(run)[3:] == ["aligned", "aligned", "subtask", "subtask", "task", "task"]
    aligned = records(run, 1)["align"]
    assert (aligned.aligned, aligned.subtask_done, aligned.task_done) == (True, False, False)
    assert aligned.unclear == ()
    asked = llm_server.requests[4].texts[-1]
    assert asked.startswith("This does not say whether the action was right.")
    assert "YES or NO" in asked


def test_a_judgement_that_stays_unclear_is_marked_so_and_counts_as_no(stage, llm_server, site):
    unreadable = text("It could be either.")
    llm_server.script(
        PLAN, clicks('link "Archive"'), clicks('link "Orders"'), unreadable, unreadable, ALIGNED
    )
    run = open_run(stage, llm_server, site)
    stage.step(run)
    aligned = records(run, 1)["align"]
    assert (aligned.judged, aligned.aligned, aligned.unclear) == (True, None, ("aligned",))
    stage.until(run, "review")
    assert str(run.state.pending.action) == "backtrack [1]"
    assert "did not say" in records(run, 2)["decide"].scheduled.why


def test_a_stop_of_the_agent_holds_only_where_the_task_is_judged_done(stage, llm_server, site):
    llm_server.script(
        PLAN,
        says("stop [none]", "There is nothing here."),
        text("NO, the orders were never opened."),
        clicks('link "Orders"'),
        text("REASON: None."),
        ALIGNED,
        text("DONE"),
        text("NO"),
        says("stop [4711]", "The number is in view."),
        text("YES"),
    )
    run = open_run(stage, llm_server, site)
    stage.step(run)
    assert (run.ended, run.state.answer, run.state.totals.page_actions) == (False, "", 1)
    assert records(run, 1)["align"].stop_refused
    stage.to_the_end(run)
    assert (run.outcome, run.state.answer) == ("done", "4711")
    decide = llm_server.requests[3].texts[-1]
    assert "refused: the task was judged not done. NO, the orders were never opened." in decide


def test_a_stop_is_not_checked_where_the_preset_does_not_ask_for_it(stage, llm_server, site):
    preset = own_preset(stage, ("check_stop = true", "check_stop = false"))
    llm_server.script(PLAN, says("stop [none]", "There is nothing here."))
    run = stage.open(llm_server, url=site, instruction=INSTRUCTION, preset=preset)
    stage.to_the_end(run)
    assert (run.outcome, run.state.answer) == ("done", "none")


def test_a_remedy_that_cannot_be_used_leaves_the_good_ones_and_is_told(stage, llm_server, site):
    def remedies(request):
        good = clicks('link "Help"', 'link "Orders"')(request).text
        return Reply(text=good.replace("\n", "\nACTION: click [9999]\n", 1))

    llm_server.script(PLAN, clicks('link "Archive"'), remedies, NOT_ALIGNED)
    run = open_run(stage, llm_server, site)
    stage.step(run)
    anticipated = records(run, 1)["anticipate"]
    assert len(anticipated.remedies) == 2
    ((written, why),) = anticipated.dropped
    assert written == "click [9999]"
    assert "9999" in why
    assert purposes(run) == ["plan", "decide", "remedies", "aligned"]


def test_a_stop_that_was_refused_in_one_trial_is_checked_anew_in_the_next(stage, llm_server, site):
    preset = own_preset(stage, ("count = 2", "count = 0"))
    gives_up, no = says("stop [none]"), text("NO, the orders were never opened.")
    llm_server.script(
        PLAN,
        gives_up,
        no,
        clicks('link "Archive"'),
        NOT_ALIGNED,
        text("The archive is of no use."),
        PLAN,
        gives_up,
        no,
    )
    run = stage.open(llm_server, url=site, instruction=INSTRUCTION, preset=preset)
    for _ in range(4):
        stage.step(run)
    assert [(step.trial, step.effect) for step in steps(run)] == [
        (1, "stop"),
        (1, "page action"),
        (1, "go back"),
        (2, "stop"),
    ]
    assert records(run, 4)["align"].stop_refused
    assert not run.ended


def test_a_second_stop_on_the_same_page_ends_the_trial_without_asking_again(stage, llm_server, site):
    llm_server.script(
        PLAN, says("stop [none]"), text("NO, the orders were never opened."), says("stop [nothing here]")
    )
    run = open_run(stage, llm_server, site)
    for _ in range(2):
        stage.step(run)
    assert purposes(run) == ["plan", "decide", "task", "decide"]
    assert (run.ended, run.state.answer) == (False, "")
    scheduled = run.state.reflection.scheduled
    assert scheduled.kind == "new trial"
    assert scheduled.why == "The agent stopped again on a page on which the task had been judged not done."


def test_a_second_stop_in_the_last_trial_ends_the_run_as_stuck(stage, llm_server, site):
    preset = own_preset(stage, ("trials = 3", "trials = 1"))
    llm_server.script(PLAN, says("stop [none]"), text("NO, never opened."), says("stop [nothing here]"))
    run = stage.open(llm_server, url=site, instruction=INSTRUCTION, preset=preset)
    stage.to_the_end(run)
    assert (run.outcome, run.state.answer) == ("stuck", "nothing here")
    assert run.error == "The agent stopped again on a page on which the task had been judged not done."


def test_a_branch_asks_for_an_element_that_is_not_found_for_certain_before_it_has_read_a_page(
    stage, llm_server, tmp_path
):
    def second(request):
        refs = re.findall(r'\[(\d+)\] button "Open"', request.texts[-1])
        return says(f"click [{refs[1]}]")

    llm_server.script(second, clicks('link "Archive"'))
    run = stage.open(llm_server, url=rows_page(tmp_path, 3), instruction=INSTRUCTION, preset="step")
    for _ in range(2):
        stage.step(run)
    rows_page(tmp_path, 5)
    llm_server.otherwise = text("1")
    store, world, number = stage.services.store, run.world, run.state.run
    episode = stage.thread.run(
        reopen_task(store, world, run.state.episode.task, store.run(number), offline=False)
    )
    setup = RunSetup(
        preset=run.state.preset,
        llm=run._asker.llm,
        resources=stage.services.resources,
        browser="chromium",
        fresh=True,
    )
    branch, restored = stage.thread.run(open_branch(store, world, episode, run=number, step=2, setup=setup))
    assert "The element was: [" in llm_server.requests[-1].texts[-1]
    assert restored.grade == "same page"
    assert branch.state.observation.title == "Opened 1"


def test_a_repair_turn_goes_on_from_the_messages_that_a_person_had_sent(stage, llm_server, site):
    async def edited(held):
        if isinstance(held, HeldCall) and not any("(mine)" in one.text for one in held.request.messages):
            *earlier, last = held.request.messages
            held.rewrite((*earlier, last.replace(text=f"{last.text} (mine)")))

    llm_server.script(
        text(""),
        PLAN,
        text("hm"),
        clicks('link "Archive"'),
        clicks('link "Archive"', 'link "Help"'),
        clicks('link "Help"'),
        text("Hm."),
        NOT_ALIGNED,
    )
    run = open_run(stage, llm_server, site)
    run.hold_calls(edited)
    stage.step(run)
    kinds = ["plan", "plan", "decide", "repair", "remedies", "remedies", "aligned", "aligned"]
    assert purposes(run) == kinds
    for first, again in zip(llm_server.requests[::2], llm_server.requests[1::2], strict=True):
        assert first.texts[-1].endswith(" (mine)")
        assert again.texts[: len(first.texts)] == first.texts
        assert len(again.texts) == len(first.texts) + 2
