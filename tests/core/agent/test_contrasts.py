"""Mistakes kept with an exemplar, as prompts tell them."""

import pytest

from core.agent.prompt_builder import EXEMPLARS, exemplar_messages, exemplar_parts
from core.agent.resources import agent_resources_of
from core.schema.exemplar import Contrast, Exemplar, ExemplarStep

FORM = '[1] button "Book"\n[2] button "Cancel"'
DONE = '[3] text "Booked."'


def exemplar(*contrasts):
    return Exemplar(
        id="book/1",
        family="book",
        task="Book it.",
        steps=(
            ExemplarStep(observation=FORM, actions=("click [1]",)),
            ExemplarStep(observation=DONE, thought="It is booked.", actions=("stop []",)),
            ExemplarStep(observation=FORM, actions=("click [1]",)),
        ),
        contrasts=contrasts,
    )


WRONG = Contrast(observation=FORM, tried="click [2]", right="click [1]", why="The other one gives up.")
ELSEWHERE = Contrast(observation="[9] link", tried="click [9]", right="stop []")
TOLD = "Wrong here: click [2]. Right: click [1]. The other one gives up."


@pytest.fixture(scope="module")
def prompts():
    return agent_resources_of().prompts


def messages(prompts, one):
    return exemplar_messages(one, "lines", lambda **more: prompts.render("turn.j2", **more))


def test_a_mistake_is_shown_once_with_the_look_it_was_made_on(prompts):
    texts = [one.text for one in messages(prompts, exemplar(WRONG)) if one.role == "user"]
    assert [TOLD in text for text in texts] == [True, False, False]
    assert texts[0].endswith(f"{FORM}\n{TOLD}")


def test_a_text_of_exemplars_tells_it_before_what_was_right(prompts):
    text = prompts.render(EXEMPLARS, exemplars=(exemplar(WRONG),))
    assert f"{FORM}\n{TOLD}\nActions: click [1]" in text
    assert text.count("Wrong here") == 1


def test_a_mistake_on_a_page_that_is_no_look_is_shown_nowhere(prompts):
    assert messages(prompts, exemplar(ELSEWHERE)) == messages(prompts, exemplar())
    texts = [prompts.render(EXEMPLARS, exemplars=(one,)) for one in (exemplar(ELSEWHERE), exemplar())]
    assert texts[0] == texts[1]


def test_exemplars_with_mistakes_are_still_told_apart_in_the_text(prompts):
    some = (exemplar(WRONG), exemplar())
    texts = [prompts.render(EXEMPLARS, exemplars=some[:many]) for many in range(len(some) + 1)]
    assert [one.kind for one in exemplar_parts(texts[-1], texts, some)].count("exemplar") == 2
