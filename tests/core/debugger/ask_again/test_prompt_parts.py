"""The exemplars of a prompt found again in edited messages, and rearranged."""

import pytest

from core.agent.prompt_builder import exemplar_parts
from core.debugger.ask_again.prompt_parts import dropped, found_again, moved, rewritten, switched
from core.schema.exemplar import Exemplar, ExemplarStep
from core.schema.messages import Message, PromptPart


def message(text, role="user"):
    return Message(role=role, text=text)


MESSAGES = (
    message("system Find it. end", "system"),
    message("a1"),
    message("a2", "assistant"),
    message("b1"),
    message("b2", "assistant"),
    message("now"),
)
PARTS = (
    PromptPart(kind="exemplar", id="a", title="A", family="f", message=1, messages=2),
    PromptPart(kind="exemplar", id="b", title="B", family="f", message=3, messages=2),
    PromptPart(kind="policy", id="web/find", title="find", message=0, start=7, end=15),
)


def traced(messages):
    return tuple(enumerate(messages))


def items(messages=MESSAGES, parts=PARTS):
    return found_again(messages, parts, traced(messages))


def texts(arranged):
    return [one.text for one in arranged.messages]


def ids(arranged):
    found = items(arranged.messages, arranged.parts)
    assert all(one.state == "as sent" for one in found)
    return [one.part.id for one in found if one.part.kind == "exemplar"]


def at(found, id):
    return next(at for at, one in enumerate(found) if one.part.id == id)


def test_an_exemplar_is_left_out_with_its_messages_and_the_others_stay_known():
    found = items()
    less = dropped(MESSAGES, found, at(found, "a"))
    assert texts(less) == ["system Find it. end", "b1", "b2", "now"]
    assert ids(less) == ["b"]
    found = items(less.messages, less.parts)
    assert texts(dropped(less.messages, found, at(found, "b"))) == ["system Find it. end", "now"]


def test_exemplars_change_places():
    found = items()
    other = moved(MESSAGES, found, at(found, "a"), 1)
    assert texts(other) == ["system Find it. end", "b1", "b2", "a1", "a2", "now"]
    assert ids(other) == ["b", "a"]


def test_another_exemplar_comes_in_with_as_many_messages_as_it_has():
    coming = PromptPart(kind="exemplar", id="c", title="C", family="g", message=0, messages=2)
    found = items()
    other = switched(MESSAGES, found, at(found, "a"), coming, tuple(map(message, ("c1", "c2", "c3", "c4"))))
    assert texts(other) == ["system Find it. end", "c1", "c2", "c3", "c4", "b1", "b2", "now"]
    assert ids(other) == ["c", "b"]


def test_a_policy_is_rewritten_and_found_again():
    found = items()
    other = rewritten(MESSAGES, found, at(found, "web/find"), "Look for it well.")
    assert texts(other)[0] == "system Look for it well. end"
    again = items(other.messages, other.parts)
    assert again[at(again, "web/find")].state == "as sent"
    assert ids(other) == ["a", "b"]


def test_a_message_edited_by_hand_still_belongs_to_its_exemplar():
    now = [*traced(MESSAGES)]
    now[1] = (1, message("a1 changed"))
    found = found_again(MESSAGES, PARTS, now)
    assert found[at(found, "a")].state == "edited"
    less = dropped([one for _, one in now], found, at(found, "a"))
    assert "a1 changed" not in texts(less)


@pytest.mark.parametrize("change", ["deleted", "parted", "doubled"])
def test_an_exemplar_whose_messages_are_not_all_there_in_a_row_is_lost(change):
    now = [*traced(MESSAGES)]
    if change == "deleted":
        now.pop(2)
    elif change == "parted":
        now.insert(2, (None, message("mine")))
    else:
        now.insert(2, now[1])
    found = found_again(MESSAGES, PARTS, now)
    assert found[at(found, "a")].state == "lost"
    assert found[at(found, "b")].state == "as sent"
    assert "b1" not in texts(dropped([one for _, one in now], found, at(found, "b")))


def test_words_of_a_policy_that_were_edited_are_lost_and_others_around_them_are_not():
    around = [(0, message("My own system. Find it. And more.", "system")), *traced(MESSAGES)[1:]]
    found = found_again(MESSAGES, PARTS, around)
    assert found[at(found, "web/find")].part.start == 15
    inside = [(0, message("system Find that. end", "system")), *traced(MESSAGES)[1:]]
    found = found_again(MESSAGES, PARTS, inside)
    assert found[at(found, "web/find")].state == "lost"


def exemplar(number):
    step = ExemplarStep(observation=f"page {number}", actions=(f"click [{number}]",))
    return Exemplar(id=f"e-{number}", family="f", task=f"Task {number}.", steps=(step,))


def written(some):
    return (
        "Such tasks.\n" + "".join(f"--- {one.task}\n{one.steps[0].observation}.\n" for one in some) + "End."
    )


EXEMPLARS = tuple(map(exemplar, (1, 2, 3)))
SYSTEM = f"Be good.\n\n{written(EXEMPLARS)}"
IN_TEXT = exemplar_parts(SYSTEM, [written(EXEMPLARS[:some]) for some in range(4)], EXEMPLARS)


def in_text(id, change):
    messages = (message(SYSTEM, "system"), message("now"))
    found = items(messages, IN_TEXT)
    return change(messages, found, at(found, id))


def test_exemplars_in_one_text_are_told_apart_without_a_remainder():
    less = in_text("e-2", dropped)
    assert texts(less)[0] == f"Be good.\n\n{written((EXEMPLARS[0], EXEMPLARS[2]))}"
    assert ids(less) == ["e-1", "e-3"]
    other = in_text("e-1", lambda *words: moved(*words, 1))
    assert texts(other)[0] == f"Be good.\n\n{written((EXEMPLARS[1], EXEMPLARS[0], EXEMPLARS[2]))}"
    assert ids(other) == ["e-2", "e-1", "e-3"]


def test_with_the_last_of_them_the_text_around_them_goes():
    messages, parts = (message(SYSTEM, "system"), message("now")), IN_TEXT
    for id in ("e-3", "e-1", "e-2"):
        found = items(messages, parts)
        less = dropped(messages, found, at(found, id))
        messages, parts = less.messages, less.parts
    assert messages[0].text == "Be good."


def test_a_template_that_tells_them_otherwise_gives_no_parts():
    def counted(some):
        return f"{len(some)} tasks.\n" + "".join(one.task for one in some)

    texts_of = [counted(EXEMPLARS[:some]) for some in range(4)]
    assert exemplar_parts(texts_of[-1], texts_of, EXEMPLARS) == ()
