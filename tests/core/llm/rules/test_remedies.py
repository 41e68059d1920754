"""The built-in LLM's remedies: other actions than the chosen one, and real tasks that they mend."""

from typing import Any

import pytest

from core.agent.abstraction import clean_of
from core.agent.general_space import permissible_of
from core.agent.reflection.remedies import in_words
from core.agent.state import Budget
from core.debugger.headless import RunReport, run_headless
from core.llm.repair import read_reply
from core.llm.rules import RulesLLM
from core.schema.action_text import parse_action
from core.schema.messages import LLMRequest, Message, PromptView, Tool, Turn
from tests.core.llm.rules.pages import page_of
from tests.core.stage import Stage, llms_for

TWINS = 'heading "Document"\nbutton "Save"\ntext "Autosave is off"\nbutton "Save"\nlink "Help"'
SAVE = 'Click on the "Save" button.'
FORMS: dict[str, str] = {
    "tools": "Call the tools.",
    "json": 'Reply with one JSON object: {"thought": "…", "actions": [{"name": "…"}]}',
    "lines": "REASON: one sentence\nACTION: the action",
}


def remedies_for(
    objective: str, page: str, action: str = "", *, count: int = 2, form: str = "lines", **view: Any
) -> LLMRequest:
    """Return the request for remedies; without an action, the one for the first choice."""
    observation = page_of(page)
    permissible = permissible_of(observation)
    tools = tuple(
        Tool(name=one.name, parameters=one.json_schema()) for one in permissible.actions if form == "tools"
    )
    return LLMRequest(
        purpose="remedies" if action else "decide",
        messages=(Message(role="user", text=f"{objective}\n{FORMS[form]}"),),
        tools=tools,
        permissible=permissible,
        view=PromptView(
            objective=objective,
            observation=clean_of(observation),
            action=action,
            count=count if action else 0,
            **view,
        ),
    )


async def read(request: LLMRequest, form: Any = "lines") -> list[str]:
    """Return the actions of the reply as the agent reads them; none where it says that there are none."""
    reply = await RulesLLM().reply(request)
    proposal, more = read_reply(reply, request, form)
    if proposal.action is None:
        assert reply.text == "There is nothing else to try."
        return []
    return [str(one) for one in (proposal.action, *more)]


@pytest.mark.parametrize("form", ["tools", "json", "lines"])
async def test_remedies_come_in_the_form_that_is_asked_for(form: str) -> None:
    page = f'{TWINS}\nbutton "Save all"'
    assert await read(remedies_for(SAVE, page, "click [2]", form=form), form) == ["click [4]", "click [6]"]


async def test_there_are_at_most_as_many_as_asked_for() -> None:
    page = "\n".join('button "Save"' for _ in range(9))
    for count in (1, 3, 5):
        found = await read(remedies_for(SAVE, page, "click [1]", count=count))
        assert len(found) == len(set(found)) == count


async def test_neither_the_chosen_action_nor_an_unwanted_one_is_a_remedy() -> None:
    page = "\n".join('button "Save"' for _ in range(4))
    observation = page_of(page)
    elements = {element.ref: element for element in observation.elements}
    words = in_words(parse_action("click [2]"), observation)
    assert elements[2].name == "Save"
    found = await read(remedies_for(SAVE, page, "click [1]", count=4, unwanted=(words, "click [3]")))
    assert found == ["click [4]"]


async def test_where_the_page_has_nothing_else_there_is_none() -> None:
    assert await read(remedies_for(SAVE, 'button "Save"', "click [1]")) == []
    assert await read(remedies_for(SAVE, 'link "Skip to the content"\nlink "Log out"', "stop []")) == []


async def test_nothing_that_cannot_be_undone_is_a_remedy_where_the_task_does_not_name_it() -> None:
    page = 'button "Save"\nbutton "Delete"\nbutton "Save as"'
    assert await read(remedies_for(SAVE, page, "click [1]", count=5)) == ["click [3]"]


async def test_a_remedy_for_a_filled_field_is_another_field_and_not_the_next_step() -> None:
    page = 'textbox "Name"\ntextbox "Nickname"\nbutton "Send"'
    request = remedies_for('Enter "bob" into the name field and press Send.', page)
    first = await RulesLLM().reply(request)
    proposal, _ = read_reply(first, request, "lines")
    found = await read(
        remedies_for(
            'Enter "bob" into the name field and press Send.',
            page,
            str(proposal.action),
            count=5,
            thought=proposal.thought,
        )
    )
    assert found == ["type [2] [bob]"]
    form = 'textbox "From"\ntextbox "To"\nbutton "Search flights"'
    assert await read(remedies_for("Find flights from Oslo to Rome.", form, "type [1] [Oslo]")) == []


async def test_a_remedy_for_an_option_is_another_option_of_the_same_list() -> None:
    page = "combobox options: *Choose* | Red wine | Red"
    found = await read(remedies_for('Select "Red" from the list.', page, "select [1] [Red]"))
    assert "select [1] [Red]" not in found


async def test_a_lesson_keeps_a_new_trial_from_the_same_mistake() -> None:
    assert await read(remedies_for(SAVE, TWINS)) == ["click [2]"]
    turns = (Turn(number=1, action="click [2]", target='button "Save"', result="done"),)
    review = remedies_for(SAVE, TWINS, history=turns).replace(purpose="review")
    lesson = (await RulesLLM().reply(review)).text
    assert await read(remedies_for(SAVE, TWINS, experience=(lesson,))) == ["click [4]"]


# Real tasks


@pytest.fixture
def mended(stage: Stage) -> Any:
    """Play a task with the built-in LLM; return the report and the steps as action and origin."""

    def play(task: str, seed: int, preset: str) -> tuple[RunReport, list[tuple[str, str]]]:
        llms = llms_for(stage.settings)
        services = stage.services
        try:
            report = stage.thread.run(
                run_headless(
                    services,
                    services.environments.find(task),
                    seed,
                    preset=preset,
                    llm=llms.routed("rules"),
                    budget=Budget(),
                    on_gate="refuse",
                )
            )
        finally:
            stage.thread.run(llms.close())
        assert report.run is not None
        rows = services.store.steps(report.run)
        return report, [(row.action, row.origin) for row in rows]

    return play


@pytest.mark.browser
def test_a_list_that_a_library_draws_is_opened_and_its_option_clicked(mended: Any) -> None:
    report, steps = mended("miniwob/form-sequence-3", 3, "reflect")
    assert report.success
    assert [action.partition(" ")[0] for action, _ in steps] == ["click"] * 3
    assert {origin for _, origin in steps} == {"agent"}
