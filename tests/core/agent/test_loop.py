import itertools
import time

import pytest

from core.llm.openai_compatible import OpenAICompatibleLLM
from core.schema.errors import LLMError, TraceError
from core.schema.step import PHASES
from core.schema.task import Verdict
from core.trace.store import TraceStore
from tests.core.agent.headless import headless
from tests.core.agent.traced import COVERED, records, steps
from tests.core.browser.browsing import impatient
from tests.core.stage import on, page_file, stop
from tests.llm_server import Reply, call

__all__ = ["impatient"]
pytestmark = pytest.mark.browser


def test_a_step_is_ten_phases_in_order_each_stored_as_it_ends(stage, llm_server):
    llm_server.script(on('button "ONE"'))
    run = stage.open(llm_server)
    for number, phase in enumerate(PHASES, start=1):
        assert run.next_phase == phase
        assert stage.phase(run).phase == phase
        stored = run.store.step(run.state.run, 1)
        assert [record.phase for record in stored.records] == list(PHASES[:number])
        assert stored.row.sealed is (phase == "commit")


def test_a_solved_task_ends_with_the_judges_verdict(stage, llm_server):
    llm_server.script(on('button "ONE"', thought="ONE is asked for."))
    run = stage.open(llm_server)
    stage.to_the_end(run)
    row = run.store.run(run.state.run)
    assert (row.outcome, row.verdict.success, row.verdict.reward, row.steps) == ("done", True, 1.0, 1)
    (step,) = steps(run)
    assert step.action.startswith("click [")
    assert (step.target, step.thought, step.outcome) == ('button "ONE"', "ONE is asked for.", "done")
    assert (step.effect, step.origin, step.sealed) == ("page action", "agent", True)


@pytest.mark.parametrize("jump", [3600, -3600])
def test_what_a_run_and_its_phases_took_does_not_depend_on_the_time_of_day(
    stage, llm_server, monkeypatch, jump
):
    llm_server.script(on('button "ONE"'))
    run = stage.open(llm_server)
    clock, asked = time.time, itertools.count()
    monkeypatch.setattr("time.time", lambda: clock() + jump * next(asked))
    stage.to_the_end(run)
    monkeypatch.undo()
    assert 0 < run.store.run(run.state.run).seconds < 600
    (times,) = run.store.times(run.state.run)
    assert [phase.phase for phase in times.phases] == list(PHASES)
    assert all(0 <= phase.saved - phase.begun < 600 for phase in times.phases)


def test_the_wrong_click_ends_the_episode_without_success(stage, llm_server):
    llm_server.script(on('button "TWO"'))
    run = stage.open(llm_server)
    stage.to_the_end(run)
    row = run.store.run(run.state.run)
    assert (row.outcome, row.verdict.success, row.verdict.reward) == ("done", False, -1.0)
    assert len(llm_server.requests) == 1


def test_the_reward_is_in_no_prompt_observation_or_html(stage, llm_server):
    def type_then_click(request):
        if len(llm_server.requests) % 2:
            return on("textbox", "type", text="wrong")(request)
        return on('button "Submit"')(request)

    llm_server.otherwise = type_then_click
    stored = b""
    for task in ("miniwob/enter-text", "miniwob/click-test-2"):
        run = stage.open(llm_server, task)
        if task.endswith("click-test-2"):
            llm_server.script(on('button "TWO"'))
        stage.to_the_end(run)
        assert run.store.run(run.state.run).verdict.success is False
        for step in steps(run):
            detail = run.store.step(run.state.run, step.number)
            for record in detail.records:
                stored += record.model_dump_json().encode()
                if record.phase == "observe":
                    stored += run.store.blob(record.html)
            stored += b"".join(run.store.blob(one.messages) for one in detail.calls)
        stored += run.state.capture.observation.model_dump_json().encode()
        stored += run.state.capture.html.encode()
    for word in (
        b"Last reward",
        b"reward-display",
        b"Episodes done",
        b"Time left",
        b"reward-last",
        b"sync-task",
    ):
        assert word not in stored, word


CHANGES = """<input aria-label=Name><label><input type=checkbox>Gift</label>
<select aria-label=Sort><option>Position<option>Price</select>
<button aria-expanded=false onclick="this.ariaExpanded='true'">More</button>
<button onclick="this.textContent='Unfollow'">Follow</button><button onclick="this.remove()">Hide</button>
<a href='{next}'>Other</a>"""


def test_the_history_names_an_element_as_it_was_after_the_action(stage, llm_server, tmp_path):
    other = page_file(tmp_path, "<a href='#'>Other</a>", "other.html")
    llm_server.script(
        on('textbox "Name"', "type", text="Ada"),
        on('checkbox "Gift"', "check"),
        on('combobox "Sort"', "select", option="Price"),
        on('button "More"'),
        on('button "Follow"'),
        on('button "Hide"'),
        on('link "Other"'),
        stop(),
    )
    run = stage.open(llm_server, url=page_file(tmp_path, CHANGES.format(next=other)))
    stage.to_the_end(run)
    told = llm_server.requests[-1].texts[-1]
    for words in (
        '[Ada] (textbox "Name" value="Ada"): done',
        '(checkbox "Gift" checked): done',
        '[Price] (combobox "Sort" value="Price"): done',
        '(button "More" expanded): done',
        '(button "Follow", now button "Unfollow"): done',
        '(button "Hide"): done',
        '(link "Other"): done',
    ):
        assert words in told
    # What it acted on stays what it was when it was chosen.
    assert steps(run)[1].target == 'checkbox "Gift" unchecked'
    assert records(run, 2)["act"].after == 'checkbox "Gift" checked'


def test_an_action_after_which_nothing_happened_says_so(stage, llm_server, tmp_path):
    url = page_file(tmp_path, "<button>Dead</button><button onclick='this.dataset.n += 1'>Counts</button>")
    llm_server.script(*[on('button "Dead"')] * 2, *[on('button "Counts"')] * 2, stop())
    run = stage.open(llm_server, url=url)
    stage.to_the_end(run)
    acted = [records(run, step)["act"] for step in range(1, 5)]
    # The first click gives the focus; what no element shows counts, too.
    assert [one.message for one in acted] == ["", "Nothing in the page changed.", "", ""]
    assert [one.outcome for one in acted] == ["done"] * 4
    assert '(button "Dead"): done. Nothing in the page changed.' in llm_server.requests[-1].texts[-1]


def test_where_a_drawing_or_a_long_text_may_have_changed_it_is_not_said_that_nothing_did(
    stage, llm_server, tmp_path
):
    drawn = "<canvas id=c></canvas><button onclick=\"c.getContext('2d').fillRect(0, 0, 9, 9)\">Draw</button>"
    words = "<textarea id=t></textarea><script>t.value = 'word '.repeat(1000)</script>"
    long = f"{words}<button onclick=\"t.value += '!'\">Add</button>"
    for page, name in ((drawn, "Draw"), (long, "Add")):
        llm_server.script(*[on(f'button "{name}"')] * 2, stop())
        run = stage.open(llm_server, url=page_file(tmp_path, page))
        stage.to_the_end(run)
        assert [records(run, step)["act"].message for step in (1, 2)] == ["", ""]


def test_a_field_that_holds_something_else_than_was_typed_is_told_to_the_llm(stage, llm_server, tmp_path):
    url = page_file(tmp_path, "<input aria-label=Code maxlength=4>")
    llm_server.script(on('textbox "Code"', "type", text="abcdefgh"), stop())
    run = stage.open(llm_server, url=url, instruction="Enter the code.")
    stage.to_the_end(run)
    step = steps(run)[0]
    assert (step.outcome, step.message) == ("done", 'The field now holds "abcd".')
    assert 'The field now holds "abcd".' in str(llm_server.requests[1].body["messages"])


def test_the_next_step_takes_the_page_as_the_action_left_it(stage, llm_server, tmp_path):
    url = page_file(tmp_path, "<button onclick=\"this.textContent='Pressed'\">Press</button>")
    llm_server.script(on('button "Press"'), on('button "Pressed"'))
    run = stage.open(llm_server, url=url)
    stage.step(run)
    after = run.state.capture
    stage.phase(run)
    assert run.state.capture.observation is after.observation
    assert records(run, 1)["observe"].reused is False
    assert records(run, 2)["observe"].reused is True


def test_a_page_that_changed_by_itself_after_a_note_is_read_anew(stage, llm_server, tmp_path):
    url = page_file(
        tmp_path,
        "<p id=p>before</p><script>let all = 0; addEventListener('message', () => {"
        " p.textContent = 'pushed ' + ++all })</script>",
    )
    note = Reply(calls=(call("note", text="x"),))
    llm_server.script(note, note, note, stop())
    run = stage.open(llm_server, url=url)
    page = run.world.tabs.current
    stage.step(run)
    stage.step(run)
    # Asked for its height, the page is laid out: where a reading has to do that, it says itself that it is unsure.
    stage.thread.run(
        page.evaluate(
            "new Promise(done => { addEventListener('message', () => setTimeout(() =>"
            " done(document.body.offsetHeight)), {once: true}); postMessage('push') })",
            main_world=True,
        )
    )
    stage.to_the_end(run)
    seen = [records(run, number)["observe"] for number in (1, 2, 3, 4)]
    assert [one.reused for one in seen] == [False, True, False, True]
    assert ["pushed 1" in one.observation.lines() for one in seen] == [False, False, True, True]


def test_a_tab_that_was_opened_or_left_by_itself_is_seen_after_a_note(stage, llm_server, tmp_path):
    llm_server.otherwise = Reply(calls=(call("note", text="x"),))
    run = stage.open(llm_server, url=page_file(tmp_path, "<p>Hello</p>"))
    tabs = run.world.tabs
    stage.step(run)
    first = tabs.current.tab
    stage.thread.run(tabs.open())
    stage.thread.run(tabs.browser.make_current(first))
    stage.step(run)
    assert records(run, 2)["observe"].reused is False
    assert len(run.state.observation.tabs) == 2
    stage.step(run)
    assert records(run, 3)["observe"].reused is True


def test_an_action_that_fails_is_a_failed_step_reported_to_the_llm(stage, llm_server, tmp_path):
    llm_server.script(on('button "Under"'), stop())
    run = stage.open(llm_server, url=page_file(tmp_path, COVERED))
    stage.to_the_end(run)
    first = steps(run)[0]
    assert (first.outcome, first.sealed) == ("failed", True)
    assert "cover" in first.message
    assert first.message in llm_server.requests[1].texts[-1]


@pytest.mark.usefixtures("impatient")
def test_a_click_that_arrived_is_done_though_the_script_it_began_had_to_be_ended(stage, llm_server, tmp_path):
    loops = "<button onclick=\"document.body.append('clicked'); while (true);\">Go</button>"
    llm_server.script(on('button "Go"'), stop())
    run = stage.open(llm_server, url=page_file(tmp_path, loops))
    stage.to_the_end(run)
    first = steps(run)[0]
    assert first.outcome == "done"
    assert "its script was stopped" in first.message
    assert first.message in llm_server.requests[1].texts[-1]
    assert "clicked" in llm_server.requests[1].texts[-1]


def clicked_after(stage, llm_server, tmp_path, body, change):
    """Return the first step of a run that clicks "Go" on a page which `change`, a script, changed since it was read."""
    llm_server.script(on('button "Go"'), stop())
    run = stage.open(llm_server, url=page_file(tmp_path, body))
    stage.until(run, "act")
    stage.thread.run(run.world.tabs.current.evaluate(f"(() => {{ {change} }})()"))
    stage.to_the_end(run)
    return steps(run)[0]


def test_an_element_that_is_gone_is_a_failed_step(stage, llm_server, tmp_path):
    body = "<button id=x>Go</button><p>Here</p>"
    first = clicked_after(stage, llm_server, tmp_path, body, "document.getElementById('x').remove()")
    assert first.outcome == "failed"
    assert "no longer" in first.message
    assert first.message in llm_server.requests[1].texts[-1]


def test_an_element_that_the_page_put_anew_since_it_was_read_is_acted_on(stage, llm_server, tmp_path):
    body = "<button id=x onclick=\"this.textContent = 'Gone'\">Go</button><p>Here</p>"
    anew = "const old = document.getElementById('x'); old.replaceWith(old.cloneNode(true))"
    first = clicked_after(stage, llm_server, tmp_path, body, anew)
    assert (first.outcome, first.target) == ("done", 'button "Go"')
    assert "was replaced after the page was read" in first.message
    assert 'button "Gone"' in llm_server.requests[1].texts[-1]


def test_an_element_that_could_be_one_of_two_is_not_guessed(stage, llm_server, tmp_path):
    two = "document.getElementById('x').innerHTML = '<button>Go</button><button>Go</button>'"
    first = clicked_after(stage, llm_server, tmp_path, "<p id=x><button>Go</button></p>", two)
    assert first.outcome == "failed"
    assert "no longer" in first.message


def test_replies_that_stay_unusable_end_the_run_before_its_budget(stage, llm_server):
    llm_server.otherwise = Reply(text="no")
    run = stage.open(llm_server, steps=3)
    stage.to_the_end(run)
    row = run.store.run(run.state.run)
    assert (row.outcome, row.steps, row.llm_calls) == ("stuck", 6, 12)
    assert all(step.sealed for step in steps(run))


def test_page_actions_have_a_budget_and_notes_do_not_count(stage, llm_server, tmp_path):
    url = page_file(tmp_path, "<button>Go</button>")
    note = Reply(calls=(call("note", text="the code is 7"),))
    llm_server.script(note, on('button "Go"'), note, on('button "Go"'))
    run = stage.open(llm_server, url=url, steps=2)
    stage.to_the_end(run)
    assert run.outcome == "budget"
    assert [step.effect for step in steps(run)] == ["note", "page action", "note", "page action"]
    assert "- the code is 7" in llm_server.requests[1].texts[-1]


@pytest.mark.parametrize(("preset", "limit", "steps_done"), [("plain", 2, 2), ("laser", 3, 1)])
def test_llm_calls_have_a_budget_that_ends_the_run_in_order(
    stage, llm_server, tmp_path, preset, limit, steps_done
):
    def answer(request):
        return on('button "Go"')(request) if request.tool_names else Reply(text="I press Go.")

    llm_server.otherwise = answer
    run = stage.open(llm_server, url=page_file(tmp_path, "<button>Go</button>"), preset=preset, calls=limit)
    stage.to_the_end(run)
    assert run.outcome == "budget"
    assert len(steps(run)) == steps_done
    assert len(llm_server.requests) <= limit
    assert all(step.sealed for step in steps(run))


def test_the_last_call_of_the_budget_gets_no_repair_turn(stage, llm_server):
    llm_server.otherwise = Reply(text="no")
    run = stage.open(llm_server, calls=1)
    stage.to_the_end(run)
    assert (run.outcome, len(llm_server.requests)) == ("budget", 1)


def test_an_llm_that_is_down_is_an_error_and_the_phase_can_be_tried_again(stage, llm_server):
    llm_server.fail(500, "overloaded")
    llm_server.script(on('button "ONE"'))
    run = stage.open(llm_server)
    stage.until(run, "decide")
    with pytest.raises(LLMError, match="overloaded"):
        stage.phase(run)
    assert run.next_phase == "decide"
    assert run.store.calls.of(run.state.run)[0].error
    stage.to_the_end(run)
    assert run.verdict.success is True


def test_a_cancelled_call_is_stored_as_such_and_leaves_the_phase_undone(stage, llm_server):
    llm_server.script(Reply(hold=True), on('button "ONE"'))
    run = stage.open(llm_server)
    stage.until(run, "decide")
    under_way = stage.thread.start(run.advance())
    llm_server.wait_for_requests(1)
    under_way.cancel()
    llm_server.wait_for_disconnects(1)
    assert run.next_phase == "decide"
    stage.to_the_end(run)
    first, second = run.store.calls.of(run.state.run)
    assert (first.error, second.error) == ("cancelled", "")
    assert run.verdict.success is True


def test_stopping_keeps_the_answer_and_asks_the_judge(stage, llm_server):
    llm_server.script(stop("42"))
    run = stage.open(llm_server)
    stage.to_the_end(run)
    row = run.store.run(run.state.run)
    assert (row.outcome, row.answer, row.verdict.success) == ("done", "42", False)
    assert row.verdict.judge == "page"


@pytest.mark.parametrize(("agent", "judge", "asked"), [("rules", "test", True), ("test", "rules", False)])
def test_a_judge_asks_the_llm_that_is_set_for_judging_whoever_acts(
    stage, llm_server, monkeypatch, agent, judge, asked
):
    run = stage.open(llm_server, llm=agent, purposes={"judge": {"llm": judge}})

    async def judged(episode, page, answer, ask):
        reason = await ask("Is it right?") if ask is not None else "nobody"
        return Verdict(judge="llm", reason=reason)

    monkeypatch.setattr(type(run.world.environment), "judge", staticmethod(judged))
    llm_server.say("yes")
    stage.thread.run(run.finish("done"))
    assert run.verdict.reason == ("yes" if asked else "nobody")


def test_a_task_without_a_judge_ends_without_a_verdict(stage, llm_server, tmp_path):
    llm_server.script(stop("yes"))
    run = stage.open(llm_server, url=page_file(tmp_path, "<p>Hello</p>"))
    stage.to_the_end(run)
    row = run.store.run(run.state.run)
    assert (row.outcome, row.verdict.success, row.verdict.judge, row.answer) == ("done", None, "none", "yes")


def test_totals_are_the_sums_of_the_calls(stage, llm_server, tmp_path):
    usage = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
    llm_server.script(Reply(calls=(call("note", text="x"),), usage=usage), Reply(text="no"), stop())
    run = stage.open(llm_server, url=page_file(tmp_path, "<p>Hello</p>"))
    stage.to_the_end(run)
    row = run.store.run(run.state.run)
    calls = run.store.calls.of(run.state.run)
    assert (row.llm_calls, row.prompt_tokens, row.completion_tokens) == (3, 1200, 70)
    assert (run.state.totals.llm_calls, run.state.totals.prompt_tokens) == (3, 1200)
    assert row.seconds_in_llm == pytest.approx(sum(one.seconds for one in calls), abs=0.01)
    assert 0 < row.seconds_in_llm < row.seconds
    assert sum(step.seconds_in_llm for step in steps(run)) == pytest.approx(row.seconds_in_llm, abs=0.01)
    assert all(step.seconds >= step.seconds_in_llm for step in steps(run))


def test_a_page_that_opens_another_tab_is_followed(stage, llm_server, tmp_path):
    other = page_file(tmp_path, "<h1>The other</h1>", "other.html")
    url = page_file(tmp_path, f"<a target=_blank href='{other}'>Open</a>")
    llm_server.script(on('link "Open"'), stop())
    run = stage.open(llm_server, url=url)
    stage.to_the_end(run)
    assert "other.html" in llm_server.requests[1].texts[-1]
    assert "tab_focus" in llm_server.requests[1].tool_names


def test_going_back_and_forward_are_offered_where_they_lead_somewhere(stage, llm_server, tmp_path):
    other = page_file(tmp_path, "<h1>The other</h1>", "other.html")
    llm_server.script(Reply(calls=(call("goto", url=other),)), Reply(calls=(call("go_back"),)), stop())
    run = stage.open(llm_server, url=page_file(tmp_path, "<h1>First</h1>"))
    stage.to_the_end(run)
    offered = [{"go_back", "go_forward"} & set(request.tool_names) for request in llm_server.requests]
    assert offered == [set(), {"go_back"}, {"go_forward"}]


def test_an_action_that_was_done_is_not_done_again_when_only_storing_failed(stage, llm_server, tmp_path):
    url = page_file(tmp_path, "<button onclick='document.title += \"!\"'>Go</button>")
    llm_server.script(on('button "Go"'), stop())
    run = stage.open(llm_server, url=url)
    stage.until(run, "act")
    store, other = run.store, TraceStore.open(run.store.path, busy_seconds=0.05)
    run.store = Stubborn(store, failures=2)
    for _ in range(2):
        with pytest.raises(TraceError):
            stage.phase(run)
        assert run.next_phase == "act"
    stage.to_the_end(run)
    other.close()
    assert run.state.capture.observation.title == "page.html!"
    assert [step.outcome for step in steps(run)] == ["done", "done"]
    assert len(run.state.history) == 2


class Stubborn:
    """A store whose disk is full for a while: everything else is the real one's."""

    def __init__(self, store, failures):
        self._store = store
        self._failures = failures

    def __getattr__(self, name):
        return getattr(self._store, name)

    def save_phase(self, *args, **more):
        if self._failures:
            self._failures -= 1
            raise TraceError("The disk is full.")
        self._store.save_phase(*args, **more)


def test_an_answer_with_half_a_surrogate_pair_is_stored_and_ends_the_run(stage, llm_server, tmp_path):
    llm_server.script(Reply(text="x", calls=(call("stop", answer="a\ud800b"),)))
    run = stage.open(llm_server, url=page_file(tmp_path, "<p>Hello</p>"))
    stage.to_the_end(run)
    assert run.store.run(run.state.run).answer == "a\ufffdb"


def test_a_run_without_a_window_ends_as_failed_where_something_unforeseen_is_raised(
    stage, llm_server, monkeypatch
):
    def broken(_, asked, *__) -> None:
        asked._api_request.close()  # Else Python complains that it was never awaited.
        raise RecursionError("too deep")

    monkeypatch.setattr(OpenAICompatibleLLM, "_read", broken)
    report = headless(stage, llm_server, "miniwob/click-test-2", "plain")
    assert (report.outcome, report.exit_code) == ("error", 3)
    assert report.error.startswith("RecursionError: too deep. This is an internal error")
    assert stage.services.store.run(report.run).outcome == "error"
