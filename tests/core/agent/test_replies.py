"""Replies as models really write them, on real pages: what is carried out, and what is said where nothing can be."""

import itertools
import json

import pytest

from core.trace.calls import stored_reply
from tests.core.agent.test_decision import own_preset
from tests.core.agent.traced import purposes, records, steps, view
from tests.core.stage import page_file, stop
from tests.llm_server import Call, Reply, call

pytestmark = pytest.mark.browser

FOCUSED = "<label>Name <input autofocus oninput='document.title = value'></label>"
TWO_BUTTONS = (
    "<button onclick=\"document.title='kept'\">Keep</button>"
    "<button onclick=\"document.title='thrown away'\">Throw away</button>"
)
FORM = "<button onclick=\"document.title='saved ' + n.value\">Save</button><label>Name <input id=n></label>"
NOTES = "<label>Notes <textarea id=n oninput='document.title = JSON.stringify(n.value)'></textarea></label>"
ONE_LINE = "<label>Path <input id=n oninput='document.title = JSON.stringify(n.value)'></label>"

NO_OPENING = (
    "The person wants to keep it. I could write\nACTION: click [2]\nbut that throws it away.\n</think>\n\n"
)
AFTER_WORDS = "Let me see.\n<think>\nPerhaps\nACTION: click [2]\nNo, that is wrong.\n</think>\n"
TWICE = "<think>one</think>\n<think>two\nACTION: click [2]\n</think>\n"
MAGISTRAL = "[THINK]Perhaps\nACTION: click [2]\n[/THINK]"
HARMONY = (
    "<|channel|>analysis<|message|>ACTION: click [2]\n<|end|><|start|>assistant<|channel|>final<|message|>"
)
KEEP = "REASON: Keep it.\nACTION: click [1]"
JSON = (
    'I might answer {"actions": [{"name": "click", "target": 2}]}, but that throws it away.\n</think>\n'
    '{"thought": "keep it", "actions": [{"name": "click", "target": 1}]}'
)
TWO_CALLS = (
    '<tool_call>\n{"name": "type", "arguments": {"target": 2, "text": "Ann"}}\n</tool_call>\n'
    '<tool_call>\n{"name": "click", "arguments": {"target": 1}}\n</tool_call>'
)
SAME_ID = Reply(
    calls=(
        Call("type", json.dumps({"target": 2, "text": "Ann"}), "same"),
        Call("click", json.dumps({"target": 1}), "same"),
    ),
    whole=True,
)
ROLE_AND_NAME = {
    "lines": 'REASON: Keep it.\nACTION: click [button "Keep"]',
    "json": '{"actions": [{"name": "click", "target": "button \\"Keep\\""}]}',
}


@pytest.mark.parametrize(
    ("form", "page", "reply", "title", "action"),
    [
        pytest.param("lines", TWO_BUTTONS, NO_OPENING + KEEP, "kept", "click [1]", id="no opening mark"),
        pytest.param("lines", TWO_BUTTONS, AFTER_WORDS + KEEP, "kept", "click [1]", id="after words"),
        pytest.param("lines", TWO_BUTTONS, TWICE + KEEP, "kept", "click [1]", id="twice"),
        pytest.param("lines", TWO_BUTTONS, MAGISTRAL + KEEP, "kept", "click [1]", id="Magistral"),
        pytest.param("lines", TWO_BUTTONS, HARMONY + KEEP, "kept", "click [1]", id="gpt-oss"),
        pytest.param("json", TWO_BUTTONS, JSON, "kept", "click [1]", id="JSON in the thinking"),
        pytest.param("tools", TWO_BUTTONS, JSON, "kept", "click [1]", id="JSON in the thinking, for tools"),
        pytest.param("tools", FORM, TWO_CALLS, "saved Ann", "type [2] [Ann]", id="two calls in the text"),
        pytest.param("json", FORM, TWO_CALLS, "saved Ann", "type [2] [Ann]", id="two calls, for JSON"),
        pytest.param("tools", FORM, SAME_ID, "saved Ann", "type [2] [Ann]", id="two calls with one id"),
        pytest.param("lines", TWO_BUTTONS, ROLE_AND_NAME["lines"], "kept", "click [1]", id="role and name"),
        pytest.param(
            "json", TWO_BUTTONS, ROLE_AND_NAME["json"], "kept", "click [1]", id="role and name, JSON"
        ),
        pytest.param(
            "tools",
            TWO_BUTTONS,
            Reply(calls=(call("click", target='button "Keep"'),)),
            "kept",
            "click [1]",
            id="role and name, tools",
        ),
        pytest.param("lines", TWO_BUTTONS, "ACTION: click [//button[1]]", "kept", "click [1]", id="XPath"),
        pytest.param(
            "tools",
            TWO_BUTTONS,
            Reply(calls=(call("click", target="xpath=//button[1]"),)),
            "kept",
            "click [1]",
            id="XPath, tools",
        ),
        pytest.param(
            "json",
            FOCUSED,
            '{"thought": "", "actions": [{"name": "type", "target": "focus", "text": "Ann"}]}',
            "Ann",
            "type [1] [Ann]",
            id="what has the focus",
        ),
        pytest.param(
            "lines",
            TWO_BUTTONS,
            'ACTION: click [1] (button "Keep")',
            "kept",
            "click [1]",
            id="as the history has it",
        ),
        pytest.param("lines", TWO_BUTTONS, "ACTION: CLICK 1.", "kept", "click [1]", id="without brackets"),
        pytest.param(
            "lines",
            NOTES,
            "ACTION: type [1] [one\\ntwo]",
            '"one\\ntwo"',
            "type [1] [one\ntwo]",
            id="a line break",
        ),
        pytest.param(
            "lines",
            NOTES,
            "ACTION: type [1] [C:\\\\new]",
            '"C:\\\\new"',
            "type [1] [C:\\\\new]",
            id="a backslash",
        ),
        pytest.param(
            "lines",
            ONE_LINE,
            "ACTION: type [1] [C:\\new]",
            '"C:\\\\new"',
            "type [1] [C:\\\\new]",
            id="in one line",
        ),
    ],
)
def test_what_a_reply_means_is_what_is_done(stage, llm_server, tmp_path, form, page, reply, title, action):
    own_preset(stage, "own", 'reply_format = "auto"', f'reply_format = "{form}"', base="plain")
    preset = stage.config / "presets" / "own.toml"
    preset.write_text(preset.read_text().replace("several_actions = false", "several_actions = true"))
    llm_server.script(Reply(text=reply) if isinstance(reply, str) else reply)
    run = stage.open(llm_server, url=page_file(tmp_path, page), preset="own")
    stage.step(run)
    while run.state.queue:
        stage.step(run)
    stage.until(run, "recognise")
    first = steps(run)[0]
    assert (first.action, first.outcome) == (action, "done")
    assert run.state.capture.observation.title == title
    assert purposes(run)[:1] == ["decide"]
    assert len(llm_server.requests) == 1


def test_thinking_is_shown_as_reasoning_and_the_trace_keeps_the_reply_as_it_came(stage, llm_server, tmp_path):
    own_preset(stage, "own", 'reply_format = "auto"', 'reply_format = "lines"', base="plain")
    llm_server.script(Reply(text=AFTER_WORDS + KEEP, reasoning="First of all."))
    run = stage.open(llm_server, url=page_file(tmp_path, TWO_BUTTONS), preset="own")
    stage.step(run)
    (shown,) = view(run, 1).calls
    assert shown.reply == KEEP
    assert shown.reasoning.startswith("First of all.\n\nLet me see.\n\nPerhaps\nACTION: click [2]")
    (stored,) = run.store.calls.of(run.state.run)
    assert stored_reply(run.store, stored).text == AFTER_WORDS + KEEP
    assert steps(run)[0].thought == "Keep it."


CUT = "<think>\nA first idea:\nACTION: click [2]\nBut wait, would that"
UNREADABLE = '{"error": {"code": 500, "message": "Failed to parse input at pos 12", "type": "server_error"}}'
NOTHING = [
    pytest.param(
        Reply(text=NO_OPENING.partition("</think>")[0], finish_reason="length"),
        "The reply was cut off: it reached the limit of max_tokens. It ",
        id="cut in thinking without a mark",
    ),
    pytest.param(
        Reply(text=CUT, finish_reason="length"),
        "The reply was cut off while the model was still thinking: it reached the limit of max_tokens.",
        id="cut while thinking",
    ),
    pytest.param(
        Reply(text="Let me see. " + CUT, finish_reason="length"),
        "The reply was cut off while the model was still thinking: it reached the limit of max_tokens.",
        id="cut while thinking after words",
    ),
    pytest.param(
        Reply(text="The button", finish_reason="length"),
        "The reply was cut off: it reached the limit of max_tokens. It has no action so far.",
        id="cut before the action",
    ),
    pytest.param(
        Reply(text=CUT), "The reply is empty: it has only reasoning.", id="thinking that is not closed"
    ),
    pytest.param(
        Reply(reasoning="I should press Keep.", reasoning_name="reasoning"),
        "The reply is empty: it has only reasoning.",
        id="reasoning alone",
    ),
    pytest.param(Reply(whole=True), "The reply is empty.", id="empty"),
    pytest.param(
        Reply(status=500, body=UNREADABLE),
        "The server could not read what its model wrote: Failed to parse input at pos 12.",
        id="unreadable to the server",
    ),
    pytest.param(
        Reply(finish_reason="content_filter"),
        "A content filter of the server stopped the reply.",
        id="filtered",
    ),
    pytest.param(
        Reply(text="I am sorry", finish_reason="content_filter"),
        "A content filter of the server stopped the reply.",
        id="filtered half-way",
    ),
    pytest.param(
        Reply(text="I cannot help with that.", refuses=True),
        "The model refused to answer: I cannot help with that.",
        id="refused",
    ),
]


@pytest.mark.parametrize(
    ("form", "reply", "sentence"),
    [
        pytest.param(form, *param.values, id=f"{param.id}, {form}")
        for param, form in zip(NOTHING, itertools.cycle(("lines", "json", "tools")))
    ],
)
def test_a_reply_with_nothing_in_it_is_told_as_that_to_the_person_and_the_llm(
    stage, llm_server, tmp_path, form, reply, sentence
):
    own_preset(stage, "own", 'reply_format = "auto"', f'reply_format = "{form}"', base="plain")
    llm_server.otherwise = reply
    run = stage.open(llm_server, url=page_file(tmp_path, TWO_BUTTONS), preset="own")
    stage.step(run)
    (first,) = steps(run)[:1]
    assert (first.action, first.outcome, first.effect) == ("", "failed", "none")
    assert sentence in first.message
    assert "no ACTION line" not in first.message
    assert sentence in llm_server.requests[-1].texts[-1]
    assert purposes(run) == ["decide", "repair"]
    assert run.state.capture.observation.title == "page.html"


def test_a_question_that_is_put_again_says_that_its_reply_was_only_reasoning(stage, llm_server, tmp_path):
    llm_server.otherwise = Reply(text="<think>1. Find the button.\n2. Press it.", reasoning="Hm.")
    run = stage.open(llm_server, url=page_file(tmp_path, TWO_BUTTONS), preset="reflect")
    stage.step(run)
    assert purposes(run)[:2] == ["plan", "plan"]
    said, again = llm_server.requests[1].texts[-2:]
    assert said == "(an empty reply)"
    assert again.startswith("The reply is empty: it has only reasoning. Write the subtasks")
    assert run.state.reflection.plan is None


def test_a_repair_after_cut_thinking_may_be_as_long_as_a_model_that_reasons_needs(
    stage, llm_server, tmp_path
):
    own_preset(stage, "own", 'reply_format = "auto"', 'reply_format = "lines"', base="plain")
    llm_server.script(Reply(text=CUT, finish_reason="length"), Reply(text=f"<think>Keep.</think>{KEEP}"))
    run = stage.open(llm_server, url=page_file(tmp_path, TWO_BUTTONS), preset="own")
    stage.step(run)
    assert steps(run)[0].action == "click [1]"
    first, second = (one.body["max_tokens"] for one in llm_server.requests)
    assert second > first


def test_a_backslash_and_an_n_in_a_field_of_one_line_are_typed_and_it_is_said(stage, llm_server, tmp_path):
    own_preset(stage, "own", 'reply_format = "auto"', 'reply_format = "lines"', base="plain")
    llm_server.script(Reply(text="ACTION: type [1] [C:\\new]"), stop())
    run = stage.open(llm_server, url=page_file(tmp_path, ONE_LINE), preset="own")
    stage.until(run, "act")
    assert "only fields of several lines take a line break" in records(run, 1)["decide"].proposal.remark


@pytest.mark.parametrize("key", ["test", "x", "sk-0123456789abcdef"])
def test_what_is_typed_is_the_text_of_the_reply_though_a_key_stands_in_it(stage, llm_server, tmp_path, key):
    text = f"{key} user"
    llm_server.script(Reply(text=f"Type {key}.", calls=(call("type", target=1, text=text),)), stop())
    run = stage.open(
        llm_server, url=page_file(tmp_path, ONE_LINE), headers={"X-Key": "$OPENAI_API_KEY"}, key=key
    )
    stage.step(run)
    stage.until(run, "decide")
    assert run.state.capture.observation.title == json.dumps(text)
    stage.step(run)
    kept = b"".join(path.read_bytes() for path in stage.settings.database.parent.glob("traces.db*"))
    kept += run.store.ask(
        lambda file: b"".join(file.blobs.content(row["id"]) for row in file.rows("SELECT id FROM blobs"))
    )
    if len(key) > 8:
        assert steps(run)[0].action == r"type [1] [\[key\] user]"
        assert key.encode() not in kept
    else:
        assert steps(run)[0].action == f"type [1] [{text}]"
