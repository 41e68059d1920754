"""The built-in LLM corrects what exemplars of the prompt tell to have been wrong."""

import pytest

from core.agent.abstraction import clean_of
from core.llm.repair import read_reply
from core.llm.rules import RulesLLM
from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.messages import LLMRequest, Mistake, PromptView, Turn
from tests.core.llm.rules.pages import page_of, request_for

PAGE = 'button "Save"\nbutton "Save as draft"\ntextbox "Name"'
KEPT = Mistake(
    task='Click on the "Save" button.',
    page='[7] button "Save"\n[8] button "Save as draft"',
    tried="click [7]",
    right="click [8]",
)


async def action(objective, page, *mistakes, turns=()):
    request = request_for(objective, page, *turns)
    assert request.view is not None
    request = request.replace(view=request.view.replace(mistakes=mistakes))
    proposal, _ = read_reply(await RulesLLM().reply(request), request, "tools" if request.tools else "lines")
    return str(proposal.action)


async def test_what_was_wrong_is_not_done_again_and_what_was_right_is():
    assert await action(KEPT.task, PAGE) == "click [1]"
    assert await action(KEPT.task, PAGE, KEPT) == "click [2]"


async def test_what_is_said_of_another_task_or_page_changes_nothing():
    other = KEPT.replace(task="Find the cheapest flight from Oslo to Rome on Monday.")
    assert await action(KEPT.task, PAGE, other) == "click [1]"
    elsewhere = KEPT.replace(tried="click [8]", right="click [7]")
    assert await action(KEPT.task, PAGE, elsewhere) == "click [1]"
    gone = KEPT.replace(page='[7] button "Save"\n[8] button "Keep"')
    assert await action(KEPT.task, PAGE, gone) == "click [1]"


async def test_what_was_right_is_done_once_and_then_the_rest():
    done = Turn(number=1, action="click [2]", result="done")
    assert await action(KEPT.task, PAGE, KEPT, turns=(done,)) == "click [1]"


async def test_words_in_which_the_tasks_differ_are_taken_over():
    kept = Mistake(
        task='Click on the "Ada" button.',
        page='[3] button "Ada"\n[4] link "About Ada"',
        tried="click [3]",
        right="click [4]",
    )
    page = 'button "Bob"\nlink "About Bob"\nlink "About Ada"'
    assert await action('Click on the "Bob" button.', page, kept) == "click [2]"


@pytest.mark.parametrize("nearest", ["click [8]", "click [9]"])
async def test_the_nearest_exemplar_decides(nearest):
    page = 'button "Save"\nbutton "Save as draft"\nbutton "Keep"'
    lines = '[7] button "Save"\n[8] button "Save as draft"\n[9] button "Keep"'
    far = KEPT.replace(page=lines, right="click [9]" if nearest == "click [8]" else "click [8]")
    near = KEPT.replace(page=lines, right=nearest)
    assert await action(KEPT.task, page, far, near) == f"click [{int(nearest[7]) - 6}]"


async def test_an_action_of_a_state_is_corrected_by_its_name_and_arguments():
    observation = page_of('link "Green tea"\nlink "Coffee"')
    choices = (Choice(value="A", label="Green tea"), Choice(value="B", label="Coffee"))
    item = PermissibleAction(
        name="select_item", origin="state", parameters=(Parameter(name="item", choices=choices),)
    )
    kept = Mistake(task="Buy green tea.", page="", tried="select_item [A]", right="select_item [B]")

    async def chosen(*mistakes):
        view = PromptView(objective=kept.task, observation=clean_of(observation), mistakes=mistakes)
        request = LLMRequest(
            purpose="decide", messages=(), permissible=Permissible(actions=(item,)), view=view
        )
        proposal, _ = read_reply(await RulesLLM().reply(request), request, "lines")
        return str(proposal.action)

    assert await chosen() == "select_item [A]"
    assert await chosen(kept) == "select_item [B]"
