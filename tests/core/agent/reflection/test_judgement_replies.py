"""What replies to judgements say, and where they say nothing."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agent.reflection.judgement_replies import (
    read_aligned,
    read_judgement,
    read_place,
    read_subtask,
    read_yes_no,
)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("Yes. The list opened.", True),
        ("YES", True),
        ("YES, the number is in view.", True),
        ("yes - all of it", True),
        ("**No**, the page stayed as it was", False),
        ("Answer: yes", True),
        ("The menu opened. So the answer is no.", False),
        ("The orders came up. YES", True),
        ("The archive came up.\nNO", False),
        ("<think>Is it? No.</think>YES", True),
        ("The answer is no longer shown.\nYES", True),
        ("It opened the page with a button labelled Answer: No\nYES", True),
        ("The conclusion is: no", False),
        ("My verdict is **no**, as nothing changed", False),
        ("The form said: no", None),
        ("The form said: no\nYES", True),
        ("Yes, it opened.\nNO", None),
        ("The answer is no. 4711", None),
        ("The answer is yes and no", None),
        ("Nothing is known of it", None),
        ("No further action is needed; the task is done.", None),
        ("No. 4711 is the order", None),
        ("YES or NO", None),
        ("Yes.\nAnswer: no", None),
        ("", None),
    ],
)
def test_yes_and_no_are_read_where_they_stand_for_themselves_and_nowhere_else(reply, said):
    assert read_yes_no(reply) is said


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("DONE", "done"),
        ("Done: all of it is in view", "done"),
        ("Yes.", "done"),
        ("NEEDLESS\nThe order is shown already.", "needless"),
        ("Subtask: open", "open"),
        ("There is more on the page. OPEN", "open"),
        ("The subtask is not done", None),
        ("Not done.", None),
        ("DONE\nNEEDLESS", None),
    ],
)
def test_a_subtask_is_done_only_where_that_is_said(reply, said):
    assert read_subtask(reply) == said


def test_the_sentence_of_a_judgement_is_without_its_yes_or_no():
    found = read_aligned('The list "Orders" came up. YES')
    assert (found.sentence, found.aligned) == ('The list "Orders" came up.', True)
    found = read_aligned("NO\nThe archive came up.")
    assert (found.sentence, found.aligned) == ("The archive came up.", False)


@pytest.mark.parametrize("reply", ['"no"', '"false"', "false", "0", '"No"'])
def test_booleans_of_a_judgement_may_be_written_as_words(reply):
    found = read_judgement(
        f'{{"effect": "It stayed.", "aligned": {reply}, "subtask": "Open", "task_done": {reply}}}'
    )
    assert (found.aligned, found.subtask_done, found.task_done) == (False, False, False)


def test_a_judgement_is_found_in_a_fence_with_prose_after_it():
    found = read_judgement(
        'I looked at {both}.\n```json\n{"effect": "It went to {x}.", "aligned": true, "subtask": "done", '
        '"task_done": false}\n```\nNote: {nothing} else was checked.'
    )
    assert (found.sentence, found.aligned, found.subtask_done, found.task_done) == (
        "It went to {x}.",
        True,
        True,
        False,
    )


def test_what_a_judgement_does_not_say_is_not_known():
    found = read_judgement('{"effect": "So.", "aligned": "perhaps", "subtask": "half"}')
    assert (found.aligned, found.subtask_done, found.task_done) == (None, None, None)
    assert read_judgement("The orders came up. YES").aligned is None


@pytest.mark.parametrize(
    "sign", ["-", "*", "_", "*_", "_*", "# ", ". ", " ", '"', "yes ", "answer is ", "answer: "]
)
def test_a_line_of_nothing_but_signs_is_read_at_once(sign):
    text = sign * (50_000 // len(sign))
    began = time.thread_time()
    read_yes_no(text)
    read_subtask(text)
    assert time.thread_time() - began < 3


@pytest.mark.parametrize(
    ("effect", "sentence"),
    [("a\ud800b\0c", "a\ufffdb\ufffdc"), (10**30, str(10**30)), ([[1]], "[[1]]"), (None, "")],
)
def test_the_sentence_of_a_judgement_can_be_stored_whatever_it_is(effect, sentence):
    judgement = read_judgement(json.dumps({"effect": effect, "aligned": 10**30, "task_done": "\u00b2"}))
    assert (judgement.sentence, judgement.aligned, judgement.task_done) == (sentence, None, None)


@given(
    st.text()
    | st.lists(
        st.sampled_from(["yes", "NO", "**", "_", ".", "\n", " ", "answer", "is", ":", "{", '"aligned"', "1"])
    ).map("".join)
)
def test_any_reply_is_read_as_a_judgement(text):
    for read in (read_yes_no, read_subtask, read_aligned, read_judgement):
        read(text)


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("2", 2),
        ("**2**.", 2),
        ('2\n[4] button "Save" is most like it.', 2),
        ("Candidate 2", 2),
        ("The answer is 2.", 2),
        ("<think>1 or 2?</think>It is number 1", 1),
        ("0", 0),
        ("None of these 3", 0),
        ("It is 1 or 2", 0),
        ("The second", 0),
        ("", 0),
        ("9" * 5000, 999_999),
    ],
)
def test_the_number_of_a_candidate_is_read_where_a_reply_says_one(reply, place):
    assert read_place(reply) == place
