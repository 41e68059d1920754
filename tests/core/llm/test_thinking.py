"""Thinking in replies: what is taken for it, and which marks are only words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.replies import as_lines, part_thinking, read_json, read_lines, read_tools, split_thinking
from core.llm.thinking import THINKING_FILE, _ThinkingFile, load_marks
from core.schema.action import Click, RefTarget
from core.schema.errors import DataError
from core.schema.messages import LLMReply
from core.settings.user_file import read_model

ENTRIES = read_model(THINKING_FILE, _ThinkingFile).thinking
PAIRS = [
    (opening, closing)
    for entry in ENTRIES
    for opening, closing in zip(
        entry.opening or ("",) * len(entry.closing),
        (*entry.closing, *entry.closing[:1] * len(entry.opening)),
        strict=False,
    )
]
IN_THINKING = (
    'Perhaps\nACTION: click [2]\n{"actions": [{"name": "click", "target": 2}]}\n```\nACTION: click [2]\n```\n'
)
LINES = "REASON: Keep it.\nACTION: click [1]"
AS_JSON = json.dumps({"thought": "keep", "actions": [{"name": "click", "target": 1}]})

words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<>[]|◁▷{}\"'`“"), max_size=30)
pair = st.sampled_from(PAIRS)


class TestEveryFamilyOfMarks:
    @pytest.mark.parametrize(("opening", "closing"), PAIRS)
    @pytest.mark.parametrize(
        "before", ["", "Let me see.\n", "{opening}one{closing}\n", "ACTION: click [3]\n"]
    )
    @pytest.mark.parametrize("opens", [True, False])
    def test_all_up_to_the_last_closing_mark_is_thinking(self, opening, closing, before, opens):
        begin = before.format(opening=opening, closing=closing) + (opening if opens else "")
        thinking, text = split_thinking(f"{begin}\n{IN_THINKING}{closing}\n{LINES}")
        assert text == LINES
        assert IN_THINKING.strip() in thinking
        assert read_lines(LLMReply(text=f"{begin}{IN_THINKING}{closing}{LINES}")).actions == ("click [1]",)
        for read in (read_json, read_tools):
            written = read(LLMReply(text=f"{begin}{IN_THINKING}{closing}{AS_JSON}"))
            assert [one.arguments for one in written.actions] == [{"target": 1}]

    @pytest.mark.parametrize("opening", [one for one, _ in PAIRS if one])
    def test_all_after_an_opening_mark_that_is_not_closed_is_thinking(self, opening):
        parted = part_thinking(f"Let me see. {opening}{IN_THINKING}")
        assert (parted.text, parted.is_open) == ("Let me see.", True)
        assert parted.thinking == IN_THINKING.strip()
        for read in (read_lines, read_json, read_tools):
            assert read(LLMReply(text=f"Let me see. {opening}{IN_THINKING}")).actions == ()

    @pytest.mark.parametrize("opening", [one for one, _ in PAIRS if one])
    def test_what_stands_before_an_opening_mark_that_is_not_closed_is_the_reply(self, opening):
        written = read_lines(LLMReply(text=f"{LINES}\n{opening}\nNow I wait. ACTION: click [2]"))
        assert written.actions == ("click [1]",)

    @given(pair, words, words, words)
    def test_any_words_between_any_marks_are_thinking_and_the_rest_is_kept(
        self, marks, before, inside, after
    ):
        opening, closing = marks
        thinking, text = split_thinking(f"{before}{opening}{inside}{closing} {after}")
        assert text == after.strip()
        assert thinking == "\n\n".join(
            filter(None, (before.strip(), inside.strip()) if opening else (thinking,))
        )

    @given(
        st.lists(
            pair.map(lambda one: one[0])
            | pair.map(lambda one: one[1])
            | words
            | st.sampled_from([LINES, AS_JSON]),
            max_size=8,
        )
    )
    def test_a_reply_without_its_thinking_has_no_more_of_it(self, pieces):
        rest = split_thinking("\n".join(pieces))[1]
        assert split_thinking(rest) == ("", rest)


@pytest.mark.parametrize(
    "text",
    [
        "<THINK>a</Think>",
        "< think >a</ think >",
        "<think>a</thinking>",
        "[think]a[/Think]",
        "<|channel|> analysis <|message|>a<|end|>\n<|start|>assistant<|channel|>final <|message|>",
        "a<|end|><|start|>assistant<|channel|>final<|message|>",
        "analysisaassistantfinal",
    ],
)
def test_case_and_blanks_in_a_mark_make_no_difference(text):
    assert read_lines(LLMReply(text=f"{text}{LINES}")).actions == ("click [1]",)


@pytest.mark.parametrize(
    "text",
    [
        f"{LINES}<|im_end|>",
        f"<|channel|>final<|message|>{LINES}<|return|>",
        f"<response>\n{LINES}\n</response>\n",
        f"<think>a</think>\n<answer>\n{LINES}</answer>",
        f"<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>{LINES}<|END_RESPONSE|>",
    ],
)
def test_what_is_put_around_a_reply_is_no_part_of_it(text):
    assert split_thinking(text)[1] == LINES


MARKS = [mark for entry in ENTRIES for mark in (*entry.opening, *entry.closing)]


class TestMarksThatAreWords:
    @pytest.mark.parametrize("mark", MARKS)
    @pytest.mark.parametrize("around", ["{}", "<think>Hm.</think>{}", "Hm.</think>\n{}"])
    def test_in_the_arguments_of_an_action(self, mark, around):
        action = f"type [5] [the mark {mark} is one]"
        for text in (f"REASON: so.\nACTION: {action}", action, f"ACTION: {action}\nACTION: click [1]"):
            assert read_lines(LLMReply(text=around.format(text))).actions[0] == action

    @pytest.mark.parametrize("mark", MARKS)
    def test_in_a_json_text(self, mark):
        reply = json.dumps(
            {"thought": mark, "actions": [{"name": "type", "target": 5, "text": f"a {mark} b"}]}
        )
        for text in (reply, f"<think>Hm.</think>{reply}", f"```json\n{reply}\n```"):
            (written,) = read_json(LLMReply(text=text)).actions
            assert written.arguments["text"] == f"a {mark} b"

    @pytest.mark.parametrize("mark", MARKS)
    @pytest.mark.parametrize("quotes", ["``", '""', "''", "“”"])
    def test_between_quotes(self, mark, quotes):
        text = f"REASON: The page explains {quotes[0]}{mark}{quotes[1]}.\nACTION: click [1]"
        assert split_thinking(text) == ("", text)

    @pytest.mark.parametrize("mark", MARKS)
    def test_in_a_thought_that_we_write_ourselves(self, mark):
        text = as_lines(f"The task says {mark} here.", [Click(target=RefTarget(ref=1))])
        assert read_lines(LLMReply(text=text)).actions == ("click [1]",)

    def test_an_action_in_the_thinking_whose_brackets_are_open_hides_no_mark(self):
        text = f"<think>The form is ACTION: type [2] [\n</think>\n{LINES}"
        assert split_thinking(text)[1] == LINES


@pytest.mark.parametrize(
    "text",
    [
        "[" * 50_000,
        ">" * 100_000,
        "ACTION:" + " " * 100_000,
        "</think>" * 10_000,
        "ACTION: a [" * 5_000,
        '{"a":' * 20_000,
    ],
)
def test_what_is_made_to_break_a_reader_is_read(text):
    for whole in (f"{text}</think>{LINES}", f"<think>{text}"):
        assert read_lines(LLMReply(text=whole)).actions in ((), ("click [1]",))


class TestMarksOfOnesOwn:
    def test_an_entry_of_the_users_file_is_added_or_replaces_that_of_its_name(self, tmp_path):
        own = tmp_path / "thinking.toml"
        own.write_text('[[thinking]]\nname = "mine"\nopening = ["<hm>"]\nclosing = ["</hm>"]\n')
        assert load_marks(own=own).mark.search("a </hm>")[0] == "</hm>"
        assert load_marks(own=own).mark.search("a </think>")
        own.write_text('[[thinking]]\nname = "tags"\nclosing = ["</hm>"]\n')
        assert load_marks(own=own).mark.search("a </think>") is None

    def test_a_mistake_in_it_is_told_with_its_line(self, tmp_path):
        own = tmp_path / "thinking.toml"
        own.write_text('[[thinking]]\nname = "mine"\nclosing = ["<"]\n')
        with pytest.raises(DataError, match="line 3"):
            load_marks(own=own)
