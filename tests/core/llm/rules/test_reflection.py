"""The built-in LLM answers whatever it is asked with words: plans, judgements, lessons, shortened pages."""

import json
from typing import Any

import pytest

from core.agent.abstraction import clean_of
from core.agent.reflection.judgement_replies import (
    SCHEMA,
    read_aligned,
    read_judgement,
    read_subtask,
    read_yes_no,
)
from core.agent.reflection.plan import read_plan
from core.llm.rules import RulesLLM
from core.sandbox.running import code_in, confinement, run_parser
from core.schema.messages import LLMRequest, Message, PromptView, Purpose, Turn
from tests.core.llm.rules.pages import page_of

LOGIN = 'textbox "Username"\ntextbox "Password"\nbutton "Login"'
TASK = 'Enter "bob" into the username field and click the "Login" button.'


def asked(purpose: Purpose, objective: str = TASK, page: str = LOGIN, **view: Any) -> LLMRequest:
    if isinstance(view.get("before"), str):
        view["before"] = clean_of(page_of(view["before"]))
    url = view.pop("url", None)
    observation = clean_of(page_of(page))
    if url:
        observation = observation.replace(url=url)
    return LLMRequest(
        purpose=purpose,
        messages=(Message(role="user", text=objective),),
        reply_schema=SCHEMA if purpose == "judgement" else None,
        view=PromptView(objective=objective, observation=observation, **view),
    )


async def said(purpose: Purpose, *args: Any, **view: Any) -> str:
    return (await RulesLLM().reply(asked(purpose, *args, **view))).text


# Plans and lessons


async def test_a_plan_has_the_parts_of_the_objective_in_their_order() -> None:
    plan = read_plan(await said("plan"))
    assert plan is not None
    assert [one.text for one in plan.subtasks][:2] == [
        'Enter "bob" into the username field',
        'Click the "Login" button',
    ]


@pytest.mark.parametrize("objective", ["Hm.", "Cancel the booking K7XW2P.", "I want a red kettle.", "Why?"])
async def test_every_objective_gets_a_plan_of_at_least_one_subtask(objective: str) -> None:
    plan = read_plan(await said("plan", objective))
    assert plan is not None
    assert plan.subtasks


async def test_each_trial_that_failed_makes_another_plan() -> None:
    lessons = tuple(f"Lesson {number}." for number in range(6))
    plans = [await said("plan", experience=lessons[:count]) for count in range(len(lessons))]
    assert len(set(plans)) == len(plans)


async def test_a_lesson_names_what_failed_and_what_was_not_tried() -> None:
    turns = (
        Turn(
            number=1, action="click [3]", target='button "Login"', result="It is covered by something else."
        ),
        Turn(number=2, action="type [1] [bob]", target='textbox "Username"', result="done"),
    )
    lesson = await said("review", 'Enter "bob" and the password.', history=turns)
    assert 'click on button "Login"' in lesson
    assert "covered by something else" in lesson
    assert 'textbox "Password"' in lesson
    assert 2 <= lesson.count(". ") + 1 <= 4


# Judgements


def step(action: str, target: str, before: str, after: str, **more: Any) -> dict[str, Any]:
    return {"page": after, "before": before, "action": action, "target": target, "result": "done", **more}


UNCHANGED = step("click [3]", 'button "Login"', LOGIN, LOGIN)
TYPED = step(
    "type [1] [bob]", 'textbox "Username"', LOGIN, LOGIN.replace('"Username"', '"Username" value="bob"', 1)
)
REFUSED = step("click [3]", 'button "Login"', LOGIN, f'{LOGIN}\nalert "Unknown user, try again"')
WELCOME = step("click [3]", 'button "Login"', LOGIN, 'heading "Welcome, bob"', url="http://localhost/home")
AWAY = step(
    "click [1]", 'link "News"', 'link "News"\nbutton "Login"', 'text "Rain"', url="http://localhost/n"
)
FAILED = step("click [3]", 'button "Login"', LOGIN, 'heading "Other"') | {"result": "failed. It is covered."}


@pytest.mark.parametrize(
    ("judged", "serves", "words"),
    [
        (UNCHANGED, False, "changed nothing"),
        (TYPED, True, 'hold "bob"'),
        (REFUSED, False, "Unknown user, try again"),
        (WELCOME, True, 'heading "Welcome, bob"'),
        (AWAY, False, "Nothing that the task names"),
        (FAILED, False, "It is covered"),
        (
            step("click [3]", 'button "Login"', LOGIN, LOGIN.replace('"Login"', '"Login" focused')),
            False,
            "changed nothing",
        ),
        (
            step("check [1]", 'checkbox "A" unchecked', 'checkbox "A"', 'checkbox "A" checked'),
            True,
            "made checkbox",
        ),
        (
            step("type [1] [x]", 'textbox "Code"', 'textbox "Code"', 'textbox "Code" value="x" invalid'),
            False,
            "invalid",
        ),
    ],
)
async def test_an_action_served_only_where_the_page_changed_for_the_better(
    judged: dict[str, Any], serves: bool, words: str
) -> None:
    found = read_aligned(await said("aligned", **judged))
    assert found.aligned is serves
    assert words in found.sentence


@pytest.mark.parametrize(
    ("subtask", "judged", "over"),
    [
        ('Enter "bob" into the username field', TYPED, "done"),
        ('Enter "ann" into the username field', TYPED, "open"),
        ('Click the "Login" button', TYPED, "open"),
        ('Click the "Login" button', WELCOME, "done"),
        ('Click the "Login" button', UNCHANGED, "open"),
        ('Click the "Login" button', REFUSED, "open"),
    ],
)
async def test_a_subtask_is_done_only_where_the_action_accounts_for_it(
    subtask: str, judged: dict[str, Any], over: str
) -> None:
    assert read_subtask(await said("subtask", subtask=subtask, **judged)) == over


async def test_a_subtask_is_needless_where_the_page_had_it_before() -> None:
    filled = LOGIN.replace('"Username"', '"Username" value="bob"', 1)
    with_password = filled.replace('"Password"', '"Password" value="x"', 1)
    judged = step("type [2] [x]", 'textbox "Password"', filled, with_password)
    subtask = 'Enter "bob" into the username field'
    assert read_subtask(await said("subtask", subtask=subtask, **judged)) == "needless"


async def test_a_task_is_done_once_no_part_of_it_is_left() -> None:
    typed = Turn(number=1, thought="Towards part 1 of 2: So.", action="type [1] [bob]", result="done")
    held = LOGIN.replace('"Username"', '"Username" value="bob"', 1)
    clicked = step("click [3]", 'button "Login"', held, held + '\ntext "Hello"', thought="Part 2 of 2: So.")
    assert read_yes_no(await said("task", **TYPED, thought="Towards part 1 of 2: So.")) is False
    assert read_yes_no(await said("task", history=(typed,), **clicked)) is True


async def test_a_task_is_done_where_the_page_newly_says_so() -> None:
    before = 'heading "Booking K7XW2P"\nbutton "Cancel booking"'
    judged = step("click [2]", 'button "Cancel booking"', before, 'text "Booking K7XW2P is cancelled."')
    assert read_yes_no(await said("task", "Cancel the booking K7XW2P.", **judged)) is True
    asks = step("click [2]", 'button "Cancel booking"', before, 'heading "What is cancelled"\n' + before)
    assert read_yes_no(await said("task", "Cancel the booking K7XW2P.", **asks)) is False


@pytest.mark.parametrize("judged", [UNCHANGED, TYPED, REFUSED, WELCOME, AWAY, FAILED])
async def test_one_judgement_says_what_the_three_questions_say(judged: dict[str, Any]) -> None:
    judged = {**judged, "subtask": 'Click the "Login" button'}
    at_once = await said("judgement", **judged)
    assert set(json.loads(at_once)) == set(SCHEMA["required"])
    found = read_judgement(at_once)
    aligned = read_aligned(await said("aligned", **judged))
    assert (found.sentence, found.aligned) == (aligned.sentence, aligned.aligned)
    assert found.subtask_done is (read_subtask(await said("subtask", **judged)) != "open")
    assert found.task_done is read_yes_no(await said("task", **judged))


# Shortened pages

LONG = "\n".join(
    [
        'heading "Kitchen"',
        *(f'text "Filler number {n} about weather"' for n in range(120)),
        'link "Enamel kettle"',
        'text "It whistles"',
        'button "Buy"',
    ]
)
KETTLE = "Find out what the enamel kettle costs."


@pytest.mark.parametrize("purpose", ["summarise", "abstract"])
async def test_a_shortened_page_has_lines_of_the_page_and_those_that_matter(purpose: Purpose) -> None:
    raw = clean_of(page_of(LONG)).text
    kept = (await said(purpose, KETTLE, raw=raw)).splitlines()
    assert any('link "Enamel kettle"' in line for line in kept)
    assert any('heading "Kitchen"' in line for line in kept)
    assert len(kept) <= 40
    lines = raw.splitlines()
    assert kept == [line for line in lines if line in kept], "in page order, each as it stands"


async def test_a_short_page_is_left_whole() -> None:
    raw = clean_of(page_of(LOGIN)).text
    assert await said("abstract", raw=raw) == raw


HTML = """<html><body><h1 data-ref="1">Kitchen</h1><p data-ref="2">Rain tomorrow</p>
<a data-ref="3" href="#">Enamel "best" kettle</a><p data-ref="4">The kettle costs $40</p>
<p>No number kettle</p><input data-ref="5" type="checkbox" checked aria-label="Gift">
<button data-ref="6" disabled>Buy</button></body></html>"""


async def test_the_program_runs_confined_and_keeps_what_can_be_used_and_what_the_task_names() -> None:
    if not confinement().is_confined:
        pytest.skip("parsers cannot be confined here")
    parsed = await run_parser(code_in(await said("parser", KETTLE, raw=HTML)), HTML, task=KETTLE)
    assert parsed.error == ""
    lines = parsed.text.splitlines()
    assert [line.partition("]")[0] for line in lines] == ["[3", "[4", "[5", "[6"]
    assert lines[0] == '[3] a "Enamel "best" kettle"'
    assert lines[2].endswith("checked")
    assert lines[3].endswith("disabled")


# Choices and answers


@pytest.mark.parametrize(
    ("wanted", "number"),
    [
        ('[4] button "Save"', 2),
        ('[4] link "Save as draft"', 3),
        ('[4] button "Delete everything"', 0),
    ],
)
async def test_the_candidate_most_like_the_element_is_chosen_or_none(wanted: str, number: int) -> None:
    lines = ('[7] button "Cancel"', '[8] button "Save"', '[9] link "Save as draft"')
    assert (await said("choose", wanted=wanted, candidates=lines)).split()[0] == str(number)


async def test_an_answer_is_what_the_notes_or_the_page_give_and_nothing_for_a_deed() -> None:
    question = "What is the price of the kettle?"
    page = 'text "Price"\ntext "$40"'
    assert await said("answer", question, page) == "$40"
    notes = ("The lamp is $7", "The price of the kettle is $41")
    assert await said("answer", question, page, notes=notes) == notes[1]
    assert await said("answer", 'Click the "Login" button.') == ""


# All of them

PURPOSES: tuple[Purpose, ...] = (
    "plan",
    "aligned",
    "subtask",
    "task",
    "judgement",
    "review",
    "summarise",
    "abstract",
    "parser",
    "choose",
)


@pytest.mark.parametrize("purpose", PURPOSES)
async def test_the_same_question_gets_the_same_answer_and_never_none(purpose: Purpose) -> None:
    more = {
        **WELCOME,
        "raw": clean_of(page_of(LOGIN)).text,
        "wanted": "button",
        "candidates": ('[1] button "Login"',),
    }
    first, second = await said(purpose, **more), await said(purpose, **more)
    assert first == second
    assert first.strip()
