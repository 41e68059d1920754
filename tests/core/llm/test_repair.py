"""Reading replies: what is permissible comes back equal, and nonsense becomes a sentence."""

import json
import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.llm.repair import read_reply, repair_messages, sought_in_page
from core.llm.replies import as_json, as_lines, as_tool_call, plain
from core.schema.action import (
    ACTIONS,
    Action,
    Check,
    Click,
    Drag,
    GoBack,
    Goto,
    Note,
    Press,
    RefTarget,
    RoleTarget,
    Scroll,
    Select,
    Stop,
    TabFocus,
    Type,
    Upload,
    Wait,
    XPathTarget,
)
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.messages import LLMReply, LLMRequest, Message, Tool, ToolCall

unhurried = settings(suppress_health_check=[HealthCheck.too_slow])

REFS = (3, 4, 12)
OPTIONS = {7: ("Oslo", "New [York]"), 8: ("1", "2")}


def target(name: str = "target", refs=REFS, *, required: bool = True) -> Parameter:
    choices = tuple(Choice(value=str(ref), label=f'button "{ref}"') for ref in refs)
    return Parameter(name=name, type="integer", choices=choices, required=required)


def offered(kind: str, *parameters: Parameter) -> PermissibleAction:
    return PermissibleAction(name=kind, description=str(ACTIONS[kind].__doc__), parameters=parameters)


PERMISSIBLE = Permissible(
    actions=(
        offered("click", target()),
        offered(
            "type",
            target(),
            Parameter(name="text"),
            Parameter(name="enter", type="boolean", required=False),
            Parameter(name="append", type="boolean", required=False),
        ),
        offered("press", Parameter(name="keys")),
        offered(
            "scroll",
            Parameter(name="direction", choices=tuple(Choice(value=one) for one in ("up", "down"))),
            target(required=False),
        ),
        offered("select", target(refs=tuple(OPTIONS)), Parameter(name="option", choices_by_ref=OPTIONS)),
        offered("check", target(), Parameter(name="checked", type="boolean", required=False)),
        offered("drag", target(), target("to")),
        offered("upload", target(), Parameter(name="path")),
        offered("goto", Parameter(name="url")),
        offered("go_back"),
        offered("tab_focus", Parameter(name="index", type="integer")),
        offered("wait", Parameter(name="seconds", type="number", required=False)),
        offered("note", Parameter(name="text")),
        offered("stop", Parameter(name="answer", required=False)),
    )
)
TOOLS = tuple(
    Tool(name=one.name, description=one.description, parameters=one.json_schema())
    for one in PERMISSIBLE.actions
)
ANY_XPATH = Permissible(actions=(offered("click", Parameter(name="target")),))


def request(permissible: Permissible | None = PERMISSIBLE, *, tools: tuple[Tool, ...] = TOOLS) -> LLMRequest:
    return LLMRequest(
        purpose="decide",
        messages=(Message(role="user", text="Go on."),),
        tools=tools,
        permissible=permissible,
    )


def read(
    text: str = "", *calls: tuple[str, str], form: str = "tools", permissible=PERMISSIBLE, finish="stop"
):
    reply = LLMReply(
        text=text,
        tool_calls=tuple(
            ToolCall(id=f"c{n}", name=name, arguments=args) for n, (name, args) in enumerate(calls)
        ),
        finish_reason=finish,
    )
    return read_reply(reply, request(permissible), form)


# What text survives being printed in brackets depends on core.schema.action, which leaves text fields as they are
# and trims the others.
free = st.text(st.characters(exclude_categories=["Cs"]))
trimmed = st.text(string.ascii_letters + string.digits + "/:.?+[]\\-_äß ", min_size=1).filter(
    lambda t: t == t.strip()
)
refs = st.sampled_from(REFS).map(lambda ref: RefTarget(ref=ref))
permissible_actions: st.SearchStrategy[Action] = st.one_of(
    st.builds(Click, target=refs),
    st.builds(Type, target=refs, text=free, enter=st.booleans(), append=st.booleans()),
    st.builds(Type, target=refs, text=free),
    st.builds(Press, keys=trimmed),
    st.builds(Scroll, direction=st.sampled_from(["up", "down"]), target=st.none() | refs),
    st.sampled_from([(ref, option) for ref, some in OPTIONS.items() for option in some]).map(
        lambda pair: Select(target=RefTarget(ref=pair[0]), option=pair[1])
    ),
    st.builds(Check, target=refs, checked=st.booleans()),
    st.builds(Drag, target=refs, to=refs),
    st.builds(Upload, target=refs, path=free.filter(bool)),
    st.builds(Goto, url=trimmed),
    st.builds(GoBack),
    st.builds(TabFocus, index=st.integers(0, 99)),
    st.builds(Wait, seconds=st.floats(0, 30)),
    st.builds(Note, text=free),
    st.builds(Stop, answer=free),
)
several = st.lists(permissible_actions, min_size=1, max_size=4)


class TestWhatIsPermissibleComesBackEqual:
    @unhurried
    @given(several, free)
    def test_as_tool_calls(self, actions, thought):
        calls = tuple(as_tool_call(action, id=f"c{n}") for n, action in enumerate(actions))
        proposal, queue = read_reply(LLMReply(text=thought, tool_calls=calls), request(), "tools")
        assert proposal.problem == ""
        assert [proposal.action, *queue] == actions

    @unhurried
    @given(
        several,
        free,
        st.sampled_from(["{}", "```json\n{}\n```", "I think [so] {{maybe}}.\n{}\nDone.", "\n\n{} "]),
    )
    def test_as_json(self, actions, thought, wrapping):
        text = wrapping.replace("{}", as_json(thought, actions))
        proposal, queue = read_reply(LLMReply(text=text), request(), "json")
        assert proposal.problem == ""
        assert [proposal.action, *queue] == actions
        assert proposal.thought == plain(thought).strip()

    @unhurried
    @given(several, free.filter(lambda text: "action" not in text.lower()))
    def test_as_lines(self, actions, thought):
        proposal, queue = read_reply(LLMReply(text=as_lines(thought, actions)), request(), "lines")
        assert proposal.problem == ""
        assert [proposal.action, *queue] == actions

    @unhurried
    @given(permissible_actions)
    def test_without_a_list_of_what_is_permissible_too(self, action):
        proposal, _ = read_reply(LLMReply(tool_calls=(as_tool_call(action),)), request(None), "tools")
        assert proposal.action == action


class TestNonsenseBecomesAProblem:
    @pytest.mark.parametrize("form", ["tools", "json", "lines"])
    @unhurried
    @given(text=st.text() | st.text('{}[]":,\\aACTION: click12\n'))
    def test_any_text(self, form, text):
        proposal, queue = read(text, form=form)
        assert (proposal.action is None) == bool(proposal.problem)
        assert proposal.action is not None or queue == ()

    @unhurried
    @given(
        name=st.text() | st.sampled_from(list(ACTIONS)),
        arguments=st.text()
        | st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: (
                st.lists(inner)
                | st.dictionaries(st.sampled_from(["target", "to", "text", "option", "seconds", "x"]), inner)
            ),
        ).map(json.dumps),
    )
    def test_any_tool_call(self, name, arguments):
        proposal, _ = read("", (name, arguments))
        assert (proposal.action is None) == bool(proposal.problem)
        if proposal.action is not None:
            assert PERMISSIBLE.problem(proposal.action) is None

    @pytest.mark.parametrize(
        "text",
        [
            "[" * 100_000,
            '{"actions":' * 50_000,
            '{"a": 1' + "0" * 5000 + "}",
            "\ud800",
            '{"name": "\\ud800"}',
            "ACTION:",
            "ACTION" + " " * 100_000,
            "```" * 30_000,
        ],
    )
    @pytest.mark.parametrize("form", ["tools", "json", "lines"])
    def test_what_is_made_to_break_a_reader(self, text, form):
        reply = LLMReply(text=text, finish_reason="stop")
        proposal, _ = read_reply(reply, request(), form)
        assert proposal.problem
        assert proposal.model_dump_json()

    @pytest.mark.parametrize(
        ("form", "text", "calls"),
        [
            ("json", r'{"thought": "\ud83d", "actions": [{"name": "note", "text": "a\ud83d b"}]}', ()),
            ("json", r'{"name": "note", "arguments": "{\"text\": \"a\\ud83d b\"}"}', ()),
            ("json", r'{"actions": ["note [a\ud83d b]"]}', ()),
            ("tools", "", [("note", r'{"thought": "\ud83d", "text": "a\ud83d b"}')]),
            ("tools", "", [("note", r'"{\"text\": \"a\\ud83d b\"}"')]),
        ],
    )
    def test_an_escape_of_half_a_character_becomes_a_sign_that_can_be_stored(self, form, text, calls):
        proposal, _ = read(text, *calls, form=form)
        assert proposal.action == Note(text="a\ufffd b")
        assert proposal.model_dump_json()

    def test_an_escape_of_half_a_character_in_the_name_of_an_element_is_taken_as_it_is_written(self):
        proposal, _ = read(r'ACTION: click [button "a\ud83d"]', form="lines", permissible=ANY_XPATH)
        assert proposal.action == Click(target=RoleTarget(role="button", name=r"a\ud83d"))


class TestProblems:
    @pytest.mark.parametrize(
        ("name", "arguments", "sentence"),
        [
            ("clik", "{}", '"clik" is not an action; did you mean click?'),
            ("hover", '{"target": 3}', '"hover" is not permissible here; '),
            (
                "click",
                '{"target": 99}',
                "click is not permissible on [99]; choose one of its listed targets.",
            ),
            (
                "click",
                '{"target": "button \\"Save\\""}',
                "click wants the number of an element as its target, not",
            ),
            ("click", '{"target": 3.5}', "click wants the number of an element as its target, not 3.5."),
            ("click", '{"target": true}', "click wants the number of an element as its target, not true."),
            ("click", "{}", "click lacks target; give it."),
            ("click", '{"targt": 3}', 'click has no argument "targt"; did you mean target?'),
            ("type", '{"target": 3, "text": ["a"]}', 'type wants a text as its text, not ["a"].'),
            ("type", '{"target": 3, "text": "a", "enter": "maybe"}', "type wants true or false as its enter"),
            ("tab_focus", '{"index": 1.5}', "tab_focus wants a whole number as its index, not 1.5."),
            ("tab_focus", '{"index": -1}', "tab_focus cannot use index"),
            ("wait", '{"seconds": "NaN"}', "wait wants a number as its seconds"),
            (
                "select",
                '{"target": 7, "option": "1"}',
                '"1" is not on offer for option; there are: Oslo | New [York].',
            ),
            ("click", '{"target": 3', "The arguments of click are not JSON: "),
            ("click", "[3]", "The arguments of click must be a JSON object."),
        ],
    )
    def test_the_sentence_names_what_is_wrong(self, name, arguments, sentence):
        proposal, queue = read("", (name, arguments))
        assert proposal.action is None
        assert queue == ()
        assert sentence in proposal.problem

    def test_an_argument_that_is_not_offered_here_is_refused_in_every_form(self):
        narrow = Permissible(actions=(offered("type", target(), Parameter(name="text")),))
        for form, text in (
            ("lines", "ACTION: type [3] [a] [enter=1]"),
            ("json", '{"actions": ["type [3] [a] [enter=1]"]}'),
        ):
            assert read(text, form=form, permissible=narrow)[0].problem == "type takes no enter here."

    def test_a_required_argument_with_a_default_must_be_given_all_the_same(self):
        strict = Permissible(actions=(offered("stop", Parameter(name="answer")),))
        assert (
            read("ACTION: stop", form="lines", permissible=strict)[0].problem == "stop lacks answer; give it."
        )
        assert read("ACTION: stop []", form="lines", permissible=strict)[0].action == Stop(answer="")

    def test_a_bad_later_action_spoils_the_whole_reply_and_is_numbered(self):
        proposal, queue = read("", ("click", '{"target": 3}'), ("click", '{"target": 99}'))
        assert proposal.action is None
        assert proposal.problem.startswith("Action 2 of 2: click is not permissible on [99]")
        assert queue == ()

    def test_a_reply_that_was_cut_off_says_so(self):
        proposal, _ = read("", ("type", '{"target": 3, "text": "a long'), finish="length")
        assert proposal.problem.endswith("The reply was cut off: it reached the limit of max_tokens.")

    @pytest.mark.parametrize(
        "text", ["ACTION: click [3]", "REASON: So.\nACTION: click [3]\n", "**ACTION:** `click [3]`\n"]
    )
    def test_a_reply_that_was_cut_off_right_after_its_action_is_taken(self, text):
        assert read(text, form="lines", finish="length")[0].action == Click(target=RefTarget(ref=3))

    @pytest.mark.parametrize(
        ("form", "text"),
        [
            ("lines", "I could write\nACTION: click [3]\nbut"),
            ("json", '{"actions": [{"name": "click", "target": 3}]} would'),
            ("tools", '{"name": "click", "target": 3} would'),
        ],
    )
    def test_an_action_after_which_a_reply_was_cut_off_may_be_a_thought(self, form, text):
        proposal, _ = read(text, form=form, finish="length")
        assert proposal.problem.startswith(
            "The reply was cut off: it reached the limit of max_tokens. It goes on"
        )
        assert read(text, form=form)[0].action == Click(target=RefTarget(ref=3))

    def test_a_reply_without_a_tool_call_keeps_its_thought(self):
        proposal, _ = read("I would rather not.")
        assert proposal.thought == "I would rather not."
        assert "calls no tool" in proposal.problem


class TestWhatIsForgiven:
    @pytest.mark.parametrize("written", ["12", "12.0", '"12"', '" 12 "', '"[12]"', '"#12"'])
    def test_a_number_of_an_element_in_other_clothes(self, written):
        assert read("", ("click", f'{{"target": {written}}}'))[0].action == Click(target=RefTarget(ref=12))

    @pytest.mark.parametrize(
        ("written", "meant"),
        [
            ('"true"', True),
            ("1", True),
            ('"yes"', True),
            ('"On"', True),
            ('"0"', False),
            ('"no"', False),
            ("null", False),
        ],
    )
    def test_a_yes_or_no_in_other_clothes(self, written, meant):
        proposal, _ = read("", ("type", f'{{"target": 3, "text": 42, "enter": {written}}}'))
        assert proposal.action == Type(target=RefTarget(ref=3), text="42", enter=meant)

    def test_arguments_that_were_encoded_twice(self):
        assert read("", ("click", json.dumps('{"target": 3}')))[0].action == Click(target=RefTarget(ref=3))

    def test_no_arguments_at_all(self):
        assert read("", ("go_back", ""))[0].action == GoBack()

    def test_a_thought_among_the_arguments(self):
        proposal, _ = read("", ("click", '{"thought": "It saves.", "target": 3}'))
        assert proposal.action == Click(target=RefTarget(ref=3))
        assert proposal.thought == "It saves."

    def test_a_tool_call_written_as_text(self):
        proposal, _ = read('Sure. {"name": "click", "arguments": {"target": 3}}')
        assert proposal.action == Click(target=RefTarget(ref=3))

    @pytest.mark.parametrize(
        "text",
        [
            '{"thought": "t", "action": {"name": "click", "target": 3}}',
            '{"reason": "t", "name": "click", "target": 3}',
            '{"thought": "t", "actions": ["click [3]"]}',
            '{"thought": "t", "action": "click [3]"}',
            '{"thought": "t", "action": "click", "target": 3}',
            '<think>t</think>[{"name": "click", "args": {"target": 3}}]',
            'First {"a": 1}, then {"thought": "t", "actions": [{"name": "click", "target": 3}]}.',
        ],
    )
    def test_json_of_other_shapes(self, text):
        proposal, queue = read(text, form="json")
        assert (proposal.action, proposal.thought, queue) == (Click(target=RefTarget(ref=3)), "t", ())

    def test_where_targets_are_texts_every_dialect_is_read(self):
        for written, meant in (
            ('button "Save"', RoleTarget(role="button", name="Save")),
            ("//a[2]", XPathTarget(xpath="//a[2]")),
        ):
            arguments = json.dumps({"target": written})
            assert read("", ("click", arguments), permissible=ANY_XPATH)[0].action == Click(target=meant)


LABELS = {
    3: 'button "Save"',
    4: 'checkbox "Undo" checked',
    5: 'link "Save"',
    6: 'button "Twice"',
    7: 'button "Twice"',
    8: 'button "say "so" [now]"',
    9: f'button "{"Save as a copy of it " * 6}'[:119] + "…",
}
LABELLED = Permissible(
    actions=(
        offered(
            "click",
            Parameter(
                name="target",
                type="integer",
                choices=tuple(Choice(value=str(ref), label=label) for ref, label in LABELS.items()),
            ),
        ),
        offered(
            "scroll",
            Parameter(name="direction"),
            Parameter(name="target", type="integer", required=False),
        ),
    )
)


class TestRoleAndName:
    @pytest.mark.parametrize(
        ("written", "ref"),
        [
            ('button "Save"', 3),
            ('link "Save"', 5),
            ('checkbox "Undo"', 4),
            ('Button "save"', 3),
            ('button " Save "', 3),
            ("button 'Save'", 3),
            ("button “Save”", 3),
            ('button "say \\"so\\" [now]"', 8),
            (f'button "{"Save as a copy of it " * 6}"', 9),
        ],
    )
    def test_it_is_the_one_element_that_has_both_in_every_form(self, written, ref):
        click = Click(target=RefTarget(ref=ref))
        as_json = json.dumps({"actions": [{"name": "click", "target": written}]})
        arguments = json.dumps({"target": written})
        assert read(f"ACTION: click [{written}]", form="lines", permissible=LABELLED)[0].action == click
        assert read(as_json, form="json", permissible=LABELLED)[0].action == click
        assert read("", ("click", arguments), permissible=LABELLED)[0].action == click

    def test_a_target_without_a_list_of_its_own_is_any_element_on_offer(self):
        proposal, _ = read('ACTION: scroll [down] [button "Save"]', form="lines", permissible=LABELLED)
        assert proposal.action == Scroll(direction="down", target=RefTarget(ref=3))

    @pytest.mark.parametrize(
        ("written", "sentence"),
        [
            ('button "Twice"', 'click needs the number of its target: 2 elements are button "Twice": 6 | 7.'),
            ('checkbox "Save"', 'not "checkbox "Save""; there is button "Save" [3], link "Save" [5].'),
            ('button "Open"', "no element that it can act on has this role and name."),
        ],
    )
    def test_where_none_or_several_have_both_the_numbers_that_fit_are_named(self, written, sentence):
        proposal, _ = read(f"ACTION: click [{written}]", form="lines", permissible=LABELLED)
        assert proposal.action is None
        assert proposal.problem.endswith(sentence)


TWO = [{"target": 3}, {"target": 4}]
A, B = ({"name": "click", "arguments": arguments} for arguments in TWO)


class TestSeveralCallsInText:
    @pytest.mark.parametrize("form", ["tools", "json"])
    @pytest.mark.parametrize(
        "text",
        [
            f"<tool_call>\n{json.dumps(A)}\n</tool_call>\n<tool_call>\n{json.dumps(B)}\n</tool_call>",
            f"{json.dumps(A)}\n{json.dumps(B)}",
            f"{json.dumps(A)}, {json.dumps(B)}",
            json.dumps([A, B]),
            f"```json\n{json.dumps(A)}\n```\nThen:\n```json\n{json.dumps(B)}\n```",
            f"```json\n{json.dumps([A, B])}\n```",
            f"[TOOL_CALLS]{json.dumps([A, B])}",
            '[TOOL_CALLS]click[ARGS]{"target": 3}[TOOL_CALLS]click[ARGS]{"target": 4}',
            f'<|python_tag|>{json.dumps(A)}; {{"name": "click", "parameters": {{"target": 4}}}}',
            '<function=click>{"target": 3}</function>\n<function=click>{"target": 4}</function>',
            json.dumps(
                {"tool_calls": [{"function": {"name": "click", "arguments": json.dumps(one)}} for one in TWO]}
            ),
            json.dumps(
                [{"type": "function", "function": {"name": "click", "arguments": one}} for one in TWO]
            ),
            f'{{"actions": [{json.dumps(A)}]}} {{"actions": [{json.dumps(B)}]}}',
            json.dumps({"actions": [A, B]}) + "\n\nSo:\n" + json.dumps({"actions": [A, B]}),
        ],
    )
    def test_all_are_taken_in_order(self, form, text):
        proposal, queue = read(text, form=form)
        assert proposal.problem == ""
        assert (proposal.action, *queue) == tuple(Click(target=RefTarget(ref=ref)) for ref in (3, 4))

    @pytest.mark.parametrize("form", ["tools", "json"])
    @pytest.mark.parametrize(
        "rest",
        ['{"name": "click", "argum', '{"name": "click", "arguments": {"target": 4}', '{"name": click}'],
    )
    def test_one_that_is_not_whole_spoils_the_reply(self, form, rest):
        proposal, _ = read(
            f"<tool_call>{json.dumps(A)}</tool_call><tool_call>{rest}", form=form, finish="length"
        )
        assert proposal.problem == (
            "One of the actions in the reply is not JSON, or is not complete. "
            "The reply was cut off: it reached the limit of max_tokens."
        )


class TestLines:
    def test_a_reason_of_many_lines_with_capitals_and_colons_is_kept_whole(self):
        reason = "The page has two forms.\nNote: The first is for guests.\nSo: use it.\n\nThen go."
        proposal, _ = read(f"REASON: {reason}\nACTION: click [3]", form="lines")
        assert proposal.action == Click(target=RefTarget(ref=3))
        assert proposal.thought == reason

    def test_line_ends_and_action_words_inside_brackets_belong_to_the_text(self):
        proposal, queue = read(
            "ACTION: type [3] [one\nACTION: click [4]\nREASON: no]\nACTION: click [12]", form="lines"
        )
        assert proposal.action == Type(target=RefTarget(ref=3), text="one\nACTION: click [4]\nREASON: no")
        assert queue == (Click(target=RefTarget(ref=12)),)

    def test_several_action_lines_are_several_actions_with_all_their_reasons(self):
        proposal, queue = read(
            "REASON: a\nACTION: click [3]\nREASON: b\nACTION: go_back\nACTION: stop [x]", form="lines"
        )
        assert (proposal.action, proposal.thought) == (Click(target=RefTarget(ref=3)), "a\nb")
        assert queue == (GoBack(), Stop(answer="x"))

    @pytest.mark.parametrize(
        "text",
        [
            "click [3]",
            "```\nclick [3]\n```",
            "Action: click [3]",
            "**ACTION:** `click [3]`",
            "Thought: yes\nAction:\nclick [3]",
            "<think>ACTION: click [4]</think>\nACTION: click\n[3]",
            "ACTION 1: click [3]\r\n",
        ],
    )
    def test_other_ways_of_writing_it_are_read(self, text):
        assert read(text, form="lines")[0].action == Click(target=RefTarget(ref=3))

    @pytest.mark.parametrize(
        "text", ["ACTION: click [3] to save", "ACTION: click [3", "ACTION: clik [3]", "click it"]
    )
    def test_what_is_not_an_action_is_not_guessed_at(self, text):
        assert read(text, form="lines")[0].problem


class TestTheRepairTurn:
    def test_it_answers_each_call_and_quotes_the_problem(self):
        reply = LLMReply(
            tool_calls=(ToolCall(name="click", arguments='{"target": 99}'), ToolCall(id="b", name="go_back"))
        )
        again = repair_messages(request(), reply, "No such target.")
        said, *answers = again.messages[1:]
        assert again.purpose == "repair"
        assert again.tools == TOOLS
        assert again.permissible == PERMISSIBLE
        assert said.role == "assistant"
        assert (
            [call.id for call in said.tool_calls] == ["call_1", "b"] == [one.tool_call_id for one in answers]
        )
        assert answers[0].text.startswith("No such target. Nothing has been done yet.")

    @pytest.mark.parametrize("bad", [ToolCall(name="click", arguments="{oops"), ToolCall(name="no name!")])
    def test_calls_that_a_server_could_not_read_back_are_shown_as_text(self, bad):
        again = repair_messages(request(), LLMReply(text="Hm.", tool_calls=(bad,)), "Not JSON.")
        said, problem = again.messages[1:]
        assert (said.text, said.tool_calls) == (f"Hm.\n{bad.name} {bad.arguments}", ())
        assert (problem.role, problem.text.split(".")[0]) == ("user", "Not JSON")

    def test_an_empty_reply_leaves_no_empty_message(self):
        again = repair_messages(request(tools=()), LLMReply(), "The reply has no action.")
        assert [message.text for message in again.messages[1:]] == [
            "(an empty reply)",
            "The reply has no action. Nothing has been done yet. "
            "Reply again, in the same form and nothing else.",
        ]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, 'click wants the number of an element as its target, not "xpath=//a".'),
        (
            {"xpath=//a": "2 elements match the XPath //a; give the number of one of them."},
            "click cannot use xpath=//a as its target. 2 elements match the XPath //a; give the number of one",
        ),
        ({"xpath=//a": 99}, "click is not permissible on [99]; choose one of its listed targets."),
    ],
)
def test_an_xpath_that_is_no_element_on_offer_is_refused_with_what_was_found(found, said):
    reply = LLMReply(text="ACTION: click [//a]")
    assert sought_in_page(reply, request(), "lines") == (XPathTarget(xpath="//a"),)
    proposal, queue = read_reply(reply, request(), "lines", found)
    assert (proposal.action, queue) == (None, ())
    assert proposal.problem.startswith(said)
