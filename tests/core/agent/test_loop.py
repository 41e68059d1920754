import json
import re

import pytest

from core.llm.honoured import Honoured
from core.llm.json_schema import fits
from core.schema.errors import DataError, LLMError, TraceError
from core.schema.step import PHASES
from core.trace.store import TraceStore
from tests.core.agent.traced import records, steps, view
from tests.core.stage import on, page_file, ref_in, stop
from tests.llm_server import Reply, call

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
    stage.thread.run(tabs.make_current(first))
    stage.step(run)
    assert records(run, 2)["observe"].reused is False
    assert len(run.state.observation.tabs) == 2
    stage.step(run)
    assert records(run, 3)["observe"].reused is True


COVERED = "<button>Under</button><div style='position:fixed;inset:0;background:#fff'>The cover</div>"


def test_an_action_that_fails_is_a_failed_step_reported_to_the_llm(stage, llm_server, tmp_path):
    llm_server.script(on('button "Under"'), stop())
    run = stage.open(llm_server, url=page_file(tmp_path, COVERED))
    stage.to_the_end(run)
    first = steps(run)[0]
    assert (first.outcome, first.sealed) == ("failed", True)
    assert "cover" in first.message
    assert first.message in llm_server.requests[1].texts[-1]


def test_an_element_that_is_gone_is_a_failed_step(stage, llm_server, tmp_path):
    url = page_file(tmp_path, "<button id=x>Go</button><p>Here</p>")
    llm_server.script(on('button "Go"'), stop())
    run = stage.open(llm_server, url=url)
    stage.until(run, "act")
    stage.thread.run(run.world.tabs.current.evaluate("document.getElementById('x').remove()"))
    stage.to_the_end(run)
    assert steps(run)[0].outcome == "failed"
    assert "no longer" in steps(run)[0].message
    assert steps(run)[0].message in llm_server.requests[1].texts[-1]


def test_a_reply_that_cannot_be_used_gets_one_turn_that_quotes_the_problem(stage, llm_server):
    llm_server.script(Reply(text="hm", calls=(call("klick", target=1),)), on('button "ONE"'))
    run = stage.open(llm_server)
    stage.to_the_end(run)
    assert run.verdict.success is True
    assert "did you mean click?" in "\n".join(llm_server.requests[1].texts)
    calls = run.store.calls(run.state.run)
    assert [one.purpose for one in calls] == ["decide", "repair"]
    assert records(run, 1)["decide"].calls == (1, 2)


def test_a_reply_unusable_twice_is_a_failed_step_that_touches_no_page(stage, llm_server, tmp_path):
    url = page_file(tmp_path, "<button onclick=\"document.title='touched'\">Go</button>")
    bad = Reply(text="I would rather not.")
    llm_server.script(bad, bad, stop())
    run = stage.open(llm_server, url=url)
    stage.to_the_end(run)
    first = steps(run)[0]
    assert (first.outcome, first.effect, first.action) == ("failed", "none", "")
    assert first.message
    assert first.message in llm_server.requests[2].texts[-1]
    assert run.state.capture.observation.title == "page.html"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("click", {"target": 4711}),
        ("upload", {"target": 1, "path": "/etc/passwd"}),
        ("tab_focus", {"index": 3}),
    ],
)
def test_what_is_not_permissible_never_reaches_the_page(stage, llm_server, name, arguments):
    bad = Reply(calls=(call(name, **arguments),))
    llm_server.script(bad, bad)
    run = stage.open(llm_server)
    stage.step(run)
    assert steps(run)[0].effect == "none"
    assert steps(run)[0].outcome == "failed"


def test_replies_that_stay_unusable_end_the_run_by_its_budget(stage, llm_server):
    llm_server.otherwise = Reply(text="no")
    run = stage.open(llm_server, steps=3)
    stage.to_the_end(run)
    row = run.store.run(run.state.run)
    assert (row.outcome, row.steps, row.llm_calls) == ("budget", 3, 6)
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
    assert run.store.calls(run.state.run)[0].error
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
    first, second = run.store.calls(run.state.run)
    assert (first.error, second.error) == ("cancelled", "")
    assert run.verdict.success is True


def test_stopping_keeps_the_answer_and_asks_the_judge(stage, llm_server):
    llm_server.script(stop("42"))
    run = stage.open(llm_server)
    stage.to_the_end(run)
    row = run.store.run(run.state.run)
    assert (row.outcome, row.answer, row.verdict.success) == ("done", "42", False)
    assert row.verdict.judge == "page"


def test_a_task_without_a_judge_ends_without_a_verdict(stage, llm_server, tmp_path):
    llm_server.script(stop("yes"))
    run = stage.open(llm_server, url=page_file(tmp_path, "<p>Hello</p>"))
    stage.to_the_end(run)
    row = run.store.run(run.state.run)
    assert (row.outcome, row.verdict.success, row.verdict.judge, row.answer) == ("done", None, "none", "yes")


def test_laser_asks_for_a_rationale_and_then_for_the_action(stage, llm_server):
    llm_server.script(Reply(text="ONE is the button to press."), on('button "ONE"'))
    run = stage.open(llm_server, preset="laser")
    stage.to_the_end(run)
    first, second = llm_server.requests
    assert first.tool_names == []
    assert "click" in second.tool_names
    assert "ONE is the button to press." in second.texts
    assert [one.purpose for one in run.store.calls(run.state.run)] == ["rationale", "function"]
    assert steps(run)[0].thought == "ONE is the button to press."
    assert records(run, 1)["recognise"].space == "general"


def own_preset(stage, name, old, new, base="laser"):
    text = (stage.services.resources.presets._folders[0] / f"{base}.toml").read_text()
    assert old in text
    path = stage.config / "presets" / f"{name}.toml"
    path.write_text(text.replace(old, new))
    return path


def test_laser_can_decide_in_one_call(stage, llm_server):
    llm_server.script(on('button "ONE"', thought="ONE."))
    run = stage.open(llm_server, preset="laser-one-call")
    stage.to_the_end(run)
    assert [one.purpose for one in run.store.calls(run.state.run)] == ["decide"]
    assert "Think first" in llm_server.requests[0].texts[-1]
    assert steps(run)[0].thought == "ONE."


def test_a_thought_that_the_llm_marks_as_thinking_is_not_told_again(stage, llm_server):
    llm_server.script(Reply(text="<think>Hm, hm.</think>\nONE is it."), on('button "ONE"'))
    run = stage.open(llm_server, preset="laser")
    stage.to_the_end(run)
    assert steps(run)[0].thought == "ONE is it."
    assert "ONE is it." in llm_server.requests[1].texts


@pytest.mark.parametrize(
    ("found", "form"),
    [
        (Honoured(), "tools"),
        (Honoured(tested=1.0, tools="forced"), "tools"),
        (Honoured(tested=1.0, tools="no"), "json"),
        (Honoured(tested=1.0, tools="no", schema_level="object"), "lines"),
    ],
)
def test_a_preset_that_leaves_it_open_replies_as_a_test_of_the_llm_found_best(stage, llm_server, found, form):
    def answer(request):
        ref = ref_in(request, 'button "ONE"')
        if request.tool_names:
            return Reply(text="ONE.", calls=(call("click", target=ref),))
        if "response_format" in request.body:
            return Reply(text=json.dumps({"thought": "ONE.", "actions": [{"name": "click", "target": ref}]}))
        return Reply(text=f"REASON: ONE.\nACTION: click [{ref}]")

    llm_server.otherwise = answer
    run = stage.open(llm_server, preset="plain")
    stage._llms[-1].honoured.keep(llm_server.base_url, "test-model", found)
    run.use(llm=stage._llms[-1].routed("test"))
    stage.to_the_end(run)
    assert run.verdict.success is True
    body = llm_server.requests[0].body
    assert ("tools" in body, "response_format" in body) == (form == "tools", form == "json")
    assert stage._llms[-1].get(f"replay:{run.state.run}").reply_format == form


def test_no_header_of_ones_own_reaches_the_trace(stage, llm_server):
    llm_server.script(on('button "ONE"', thought="The header says team-secret-0123456789."))
    run = stage.open(llm_server, headers={"X-Team": "team-secret-0123456789"})
    stage.step(run)
    assert llm_server.requests[0].headers["x-team"] == "team-secret-0123456789"
    call = run.store.step(run.state.run, 1).calls[0]
    assert "[key]" in run.store.reply(call).text
    for path in stage.settings.database.parent.glob("traces.db*"):
        assert b"team-secret" not in path.read_bytes()


@pytest.mark.parametrize("reply_format", ["lines", "json"])
def test_a_preset_can_have_the_action_written_as_text(stage, llm_server, reply_format):
    own_preset(stage, "text", 'reply_format = "auto"', f'reply_format = "{reply_format}"', base="plain")

    def answer(request):
        ref = ref_in(request, 'button "ONE"')
        if reply_format == "lines":
            return Reply(text=f"REASON: ONE.\nACTION: click [{ref}]")
        return Reply(text=json.dumps({"thought": "ONE.", "actions": [{"name": "click", "target": ref}]}))

    llm_server.script(answer)
    run = stage.open(llm_server, preset="text")
    stage.to_the_end(run)
    assert run.verdict.success is True
    assert steps(run)[0].thought == "ONE."
    assert llm_server.requests[0].tool_names == []
    form = llm_server.requests[0].body.get("response_format")
    assert (form is None) is (reply_format == "lines")
    if form is not None:
        ref = ref_in(llm_server.requests[0], 'button "ONE"')
        assert form["json_schema"]["strict"] is True
        assert fits(
            {"thought": "", "actions": [{"name": "click", "target": ref}]}, form["json_schema"]["schema"]
        )
        assert not fits(
            {"thought": "", "actions": [{"name": "click", "target": 999}]}, form["json_schema"]["schema"]
        )


TWO_FIELDS = "<input aria-label=A><input aria-label=B><a href='{next}'>On</a>"


def test_further_actions_of_a_reply_are_taken_without_asking(stage, llm_server, tmp_path):
    own_preset(stage, "many", "several_actions = false", "several_actions = true", base="plain")

    def both(request):
        a, b = ref_in(request, 'textbox "A"'), ref_in(request, 'textbox "B"')
        return Reply(calls=(call("type", target=a, text="1"), call("type", target=b, text="2")))

    llm_server.script(both, stop())
    run = stage.open(llm_server, url=page_file(tmp_path, TWO_FIELDS.format(next="#")), preset="many")
    stage.to_the_end(run)
    assert len(llm_server.requests) == 2
    assert [step.action.split("]", 1)[1] for step in steps(run)[:2]] == [" [1]", " [2]"]
    assert len(records(run, 1)["decide"].queue) == 1
    assert records(run, 2)["decide"].from_queue is True


def test_the_queue_is_emptied_when_the_document_changes(stage, llm_server, tmp_path):
    own_preset(stage, "many", "several_actions = false", "several_actions = true", base="plain")
    other = page_file(tmp_path, "<input aria-label=C>", "other.html")

    def both(request):
        link, a = ref_in(request, 'link "On"'), ref_in(request, 'textbox "A"')
        return Reply(calls=(call("click", target=link), call("type", target=a, text="1")))

    llm_server.script(both, stop())
    run = stage.open(llm_server, url=page_file(tmp_path, TWO_FIELDS.format(next=other)), preset="many")
    stage.to_the_end(run)
    assert len(llm_server.requests) == 2
    assert [step.effect for step in steps(run)] == ["page action", "stop"]


def test_a_failed_action_empties_the_queue(stage, llm_server, tmp_path):
    own_preset(stage, "many", "several_actions = false", "several_actions = true", base="plain")

    def both(request):
        ref = ref_in(request, 'button "Under"')
        return Reply(calls=(call("click", target=ref), call("click", target=ref)))

    llm_server.script(both, stop())
    run = stage.open(llm_server, url=page_file(tmp_path, COVERED), preset="many")
    stage.to_the_end(run)
    assert [step.outcome for step in steps(run)] == ["failed", "done"]


def test_one_action_a_step_is_taken_where_the_preset_says_so(stage, llm_server, tmp_path):
    def both(request):
        ref = ref_in(request, 'button "Go"')
        return Reply(calls=(call("click", target=ref), call("click", target=ref)))

    llm_server.script(both, stop())
    run = stage.open(llm_server, url=page_file(tmp_path, "<button>Go</button>"))
    stage.to_the_end(run)
    assert records(run, 1)["decide"].queue == ()
    assert [step.effect for step in steps(run)] == ["page action", "stop"]


def test_further_actions_that_are_not_taken_are_told_to_the_person_and_the_llm(stage, llm_server, tmp_path):
    def three(request):
        ref = ref_in(request, 'button "Go"')
        return Reply(calls=(call("click", target=ref), call("scroll", direction="down"), call("stop")))

    llm_server.script(three, stop())
    run = stage.open(llm_server, url=page_file(tmp_path, "<button>Go</button><p style='height:3000px'>"))
    stage.until(run, "act")
    said = "the reply also asked for scroll [down], stop [], which was not done."
    assert said in steps(run)[0].message
    stage.step(run)
    assert said in records(run, 1)["decide"].proposal.remark
    assert said in view(run, 1).action.message
    stage.step(run)
    assert said in llm_server.requests[1].texts[-1]
    assert view(run, 2).action.message == ""


@pytest.mark.parametrize(("own", "sent"), [("[sampling.repair]\ntemperature = 0.7", 0.7), ("", 0.0)])
def test_a_repair_is_sampled_as_the_preset_says_and_else_as_what_it_repairs(stage, llm_server, own, sent):
    before = "[sampling.function]"
    own_preset(stage, "repairing", before, f"{own}\n\n{before}")
    llm_server.script(Reply(text="So."), Reply(text="No tool."), on('button "ONE"'))
    run = stage.open(llm_server, preset="repairing")
    stage.to_the_end(run)
    assert [one.purpose for one in run.store.calls(run.state.run)] == ["rationale", "function", "repair"]
    assert [one.body["temperature"] for one in llm_server.requests] == [0.0, 0.0, sent]


@pytest.mark.parametrize(("pictures", "mime"), [("plain", "image/webp"), ("outlines", "image/png")])
def test_the_screenshot_goes_along_where_the_llm_takes_pictures(stage, llm_server, pictures, mime):
    own_preset(stage, "seeing", 'pictures = "none"', f'pictures = "{pictures}"', base="plain")
    llm_server.script(on('button "ONE"'))
    run = stage.open(llm_server, preset="seeing", takes_images=True)
    stage.to_the_end(run)
    content = llm_server.requests[0].body["messages"][-1]["content"]
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    assert [url.split(";")[0] for url in urls] == [f"data:{mime}"]
    (stored,) = run.store.calls(run.state.run)
    assert len(run.store.prompt(stored).messages[-1].images) == 1


def test_no_picture_is_sent_to_an_llm_that_takes_none(stage, llm_server):
    own_preset(stage, "seeing", 'pictures = "none"', 'pictures = "plain"', base="plain")
    llm_server.script(on('button "ONE"'))
    run = stage.open(llm_server, preset="seeing")
    stage.to_the_end(run)
    assert isinstance(llm_server.requests[0].body["messages"][-1]["content"], str)


def test_an_edited_preset_holds_from_the_next_step_on(stage, llm_server, tmp_path):
    path = own_preset(stage, "mine", "temperature = 0.0", "temperature = 0.1", base="plain")
    note = Reply(calls=(call("note", text="x"),))
    llm_server.otherwise = note
    run = stage.open(llm_server, url=page_file(tmp_path, "<p>Hello</p>"), preset="mine")
    stage.until(run, "decide")
    path.write_text(path.read_text().replace("temperature = 0.1", "temperature = 0.7"))
    stage.step(run)
    stage.step(run)
    assert [request.body["temperature"] for request in llm_server.requests] == [0.1, 0.7]
    path.write_text("title = 3")
    with pytest.raises(DataError, match=re.escape(str(path))):
        stage.phase(run)
    own_preset(stage, "mine", "temperature = 0.0", "temperature = 0.9", base="plain")
    stage.step(run)
    assert llm_server.requests[-1].body["temperature"] == 0.9


def test_an_edited_prompt_holds_at_once_and_an_error_in_it_can_be_mended(stage, llm_server):
    path = stage.config / "prompts" / "plain" / "system.j2"
    try:
        llm_server.script(on('button "ONE"'))
        run = stage.open(llm_server)
        stage.until(run, "decide")
        path.write_text("Be {{ quick")
        with pytest.raises(DataError, match="line 1"):
            stage.phase(run)
        path.write_text("Be quick.")
        stage.to_the_end(run)
    finally:
        path.unlink()
    assert llm_server.requests[0].texts[0] == "Be quick."
    assert run.verdict.success is True


def test_totals_are_the_sums_of_the_calls(stage, llm_server, tmp_path):
    usage = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}
    llm_server.script(Reply(calls=(call("note", text="x"),), usage=usage), Reply(text="no"), stop())
    run = stage.open(llm_server, url=page_file(tmp_path, "<p>Hello</p>"))
    stage.to_the_end(run)
    row = run.store.run(run.state.run)
    calls = run.store.calls(run.state.run)
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
    assert run.store.run(run.state.run).answer == "a?b"
