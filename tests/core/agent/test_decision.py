"""decide on real pages: one call or two, repair turns, forms of reply, further actions, pictures."""

import json
import re

import pytest

from core.llm.honoured import Honoured
from core.llm.json_schema import fits
from core.schema.errors import DataError
from core.trace.calls import stored_prompt, stored_reply
from tests.core.agent.traced import COVERED, records, steps, view
from tests.core.stage import on, page_file, ref_in, stop
from tests.llm_server import Reply, call

pytestmark = pytest.mark.browser


def test_a_reply_that_cannot_be_used_gets_one_turn_that_quotes_the_problem(stage, llm_server):
    llm_server.script(Reply(text="hm", calls=(call("klick", target=1),)), on('button "ONE"'))
    run = stage.open(llm_server)
    stage.to_the_end(run)
    assert run.verdict.success is True
    assert "did you mean click?" in "\n".join(llm_server.requests[1].texts)
    calls = run.store.calls.of(run.state.run)
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
    ],
)
def test_what_is_not_permissible_never_reaches_the_page(stage, llm_server, name, arguments):
    bad = Reply(calls=(call(name, **arguments),))
    llm_server.script(bad, bad)
    run = stage.open(llm_server)
    stage.step(run)
    assert steps(run)[0].effect == "none"
    assert steps(run)[0].outcome == "failed"


def test_laser_asks_for_a_rationale_and_then_for_the_action(stage, llm_server):
    llm_server.script(Reply(text="ONE is the button to press."), on('button "ONE"'))
    run = stage.open(llm_server, preset="laser")
    stage.to_the_end(run)
    first, second = llm_server.requests
    assert first.tool_names == []
    assert "click" in second.tool_names
    assert "ONE is the button to press." in second.texts
    assert [one.purpose for one in run.store.calls.of(run.state.run)] == ["rationale", "function"]
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
    assert [one.purpose for one in run.store.calls.of(run.state.run)] == ["decide"]
    assert "Think first" in llm_server.requests[0].texts[-1]
    assert steps(run)[0].thought == "ONE."


def test_a_thought_that_the_llm_marks_as_thinking_is_not_told_again(stage, llm_server):
    llm_server.script(Reply(text="<think>Hm, hm.</think>\nONE is it."), on('button "ONE"'))
    run = stage.open(llm_server, preset="laser")
    stage.to_the_end(run)
    assert steps(run)[0].thought == "ONE is it."
    assert "ONE is it." in llm_server.requests[1].texts


@pytest.mark.parametrize(
    ("found", "form", "preset"),
    [
        (Honoured(), "tools", "plain"),
        (Honoured(tested=1.0, tools="no"), "json", "plain"),
        (Honoured(tested=1.0, tools="forced"), "tools", "laser-one-call"),
        (Honoured(tested=1.0, tools="no", schema_level="object"), "lines", "laser-one-call"),
    ],
)
def test_a_preset_that_leaves_it_open_replies_as_a_test_of_the_llm_found_best(
    stage, llm_server, found, form, preset
):
    def answer(request):
        ref = ref_in(request, 'button "ONE"')
        if request.tool_names:
            return Reply(text="ONE.", calls=(call("click", target=ref),))
        if "response_format" in request.body:
            return Reply(text=json.dumps({"thought": "ONE.", "actions": [{"name": "click", "target": ref}]}))
        return Reply(text=f"REASON: ONE.\nACTION: click [{ref}]")

    llm_server.otherwise = answer
    run = stage.open(llm_server, preset=preset)
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
    assert "[key]" in stored_reply(run.store, call).text
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
    assert [one.purpose for one in run.store.calls.of(run.state.run)] == ["rationale", "function", "repair"]
    assert [one.body["temperature"] for one in llm_server.requests] == [0.0, 0.0, sent]


@pytest.mark.parametrize(("pictures", "mime"), [("plain", "image/jpeg"), ("outlines", "image/png")])
def test_the_screenshot_goes_along_where_the_llm_takes_pictures(stage, llm_server, pictures, mime):
    own_preset(stage, "seeing", 'pictures = "none"', f'pictures = "{pictures}"', base="plain")
    llm_server.script(on('button "ONE"'))
    run = stage.open(llm_server, preset="seeing", takes_images=True)
    stage.to_the_end(run)
    content = llm_server.requests[0].body["messages"][-1]["content"]
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    assert [url.split(";")[0] for url in urls] == [f"data:{mime}"]
    (stored,) = run.store.calls.of(run.state.run)
    assert len(stored_prompt(run.store, stored).messages[-1].images) == 1


def test_an_llm_that_sees_the_page_clicks_at_a_pixel_and_it_is_kept_as_a_place_of_the_element(
    stage, llm_server, tmp_path
):
    own_preset(stage, "seeing", 'pictures = "none"', 'pictures = "plain"', base="plain")
    body = (
        "<style>body { margin: 0 }</style><canvas width=200 height=100 tabindex=0 aria-label=board "
        "onclick=\"this.ariaLabel = event.offsetX + ' ' + event.offsetY\"></canvas>"
    )
    llm_server.script(Reply(text="There.", calls=(call("click_at", x=50, y=70),)), stop())
    run = stage.open(llm_server, url=page_file(tmp_path, body), preset="seeing", takes_images=True)
    stage.to_the_end(run)
    (first, _) = steps(run)
    assert (first.action, first.outcome, first.target) == ("click_at [50] [70]", "done", 'canvas "board"')
    (done,) = records(run, 1)["act"].inputs
    assert str(done.action).endswith("[at=0.25,0.7]")
    assert done.marks["target"].element.name == "board"
    assert 'canvas "50 70"' in llm_server.requests[1].texts[-1]


def test_a_pixel_is_not_offered_to_an_llm_that_sees_no_picture(stage, llm_server):
    own_preset(stage, "seeing", 'pictures = "none"', 'pictures = "plain"', base="plain")
    llm_server.script(on('button "ONE"'))
    stage.to_the_end(stage.open(llm_server, preset="seeing"))
    assert "click_at" not in {one["function"]["name"] for one in llm_server.requests[0].body["tools"]}


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
