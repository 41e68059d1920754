import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.agent.reflection.plan import LONGEST, _answer, _indented, read_plan
from core.schema.progress import Plan

THREE = "1. Open the orders\n2. Find the one of November\n3. Read its colour"


def texts(plan: Plan) -> list[str]:
    return [one.text for one in plan.subtasks]


def statuses(plan: Plan) -> list[str]:
    return [one.status for one in plan.subtasks]


@pytest.mark.parametrize(
    "reply",
    [
        THREE,
        f"Here is the plan:\n\n{THREE}\n\nThat should do.",
        "1) Open the orders\n2) Find the one\n   of November\n3) Read its colour",
        "- Open the orders\n- Find the one of November\n- Read its colour",
        "**1. Open the orders**\n**2. Find the one of November**\n**3. Read its colour**",
        "Step 1: Open the orders\nStep 2: Find the one of November\nStep 3: Read its colour",
    ],
)
def test_a_list_is_read_however_it_is_marked(reply):
    plan = read_plan(reply)
    assert texts(plan) == ["Open the orders", "Find the one of November", "Read its colour"]
    assert statuses(plan) == ["current", "waiting", "waiting"]


def test_one_line_is_a_plan_of_one_subtask_and_prose_is_none():
    assert texts(read_plan("Click the button.")) == ["Click the button."]
    assert read_plan("First this.\nAnd then that.") is None
    assert read_plan("  \n") is None


@pytest.mark.parametrize(
    "reply",
    [
        "1. Fill in the form:\n   - the name\n   - the city\n2. Save it",
        "- Fill in the form:\n\t* the name\n\t* the city\n- Save it",
        "  1. Fill in the form:\n     the name; the city\n  2. Save it",
    ],
)
def test_items_that_are_further_indented_are_part_of_their_subtask(reply):
    assert texts(read_plan(reply)) == ["Fill in the form: the name; the city", "Save it"]


@pytest.mark.parametrize(
    "reply",
    [
        " 1. Open\n 2. Find\n 3. Read",
        "<think>Hm.</think>\n  - Open\n  - Find\n  - Read",
        "- Plan\n  1. Open\n  2. Find\n  3. Read",
        "Sure:\n\n   * Open\n   * Find\n   * Read",
    ],
)
def test_a_list_that_is_indented_as_a_whole_keeps_its_subtasks(reply):
    assert texts(read_plan(_indented(reply))) == ["Open", "Find", "Read"]


def test_numbers_that_are_aligned_at_the_right_are_of_one_list():
    plan = read_plan(_indented("\n".join(f"{number:>2}. Step {number}" for number in range(1, 12))))
    assert texts(plan) == [f"Step {number}" for number in range(1, 12)]


def test_a_plan_that_is_too_long_is_cut_and_says_so():
    plan = read_plan("\n".join(f"{n}. do {n}" for n in range(1, LONGEST + 4)))
    assert len(plan.subtasks) == LONGEST
    assert plan.remark == "3 further subtasks were left out."


def test_subtasks_come_to_their_end_one_after_the_other():
    plan = read_plan(THREE).worked_on(1).worked_on(1).over("done").worked_on(2).over("needless")
    assert statuses(plan) == ["done", "needless", "current"]
    assert [one.steps for one in plan.subtasks] == [(1,), (2,), ()]
    ended = plan.over("done")
    assert (ended.index, ended.current) == (None, None)
    assert ended.over("done") == ended


def test_going_back_makes_what_comes_after_wait_again():
    plan = read_plan(THREE).over("done").over("done").with_current(1)
    assert statuses(plan) == ["done", "current", "waiting"]


def test_a_person_can_rewrite_the_plan_and_what_stayed_keeps_how_it_stands():
    plan = read_plan(THREE).worked_on(1).over("done")
    edited = plan.edited(("Open the orders", "Sort by date", "Find the one of November"), current=2)
    assert texts(edited) == ["Open the orders", "Sort by date", "Find the one of November"]
    assert statuses(edited) == ["done", "needless", "current"]
    assert edited.subtasks[0].steps == (1,)
    assert edited.author == "person"


@given(st.lists(st.sampled_from(["done", "needless", "back"]), max_size=12), st.integers(1, 6))
def test_at_most_one_subtask_is_current_whatever_happens(events, count):
    plan = read_plan("\n".join(f"{n}. do {n}" for n in range(1, count + 1)))
    for event in events:
        plan = plan.with_current(0) if event == "back" else plan.over(event)
        assert statuses(plan).count("current") <= 1
        index = plan.index
        if index is not None:
            assert "waiting" not in statuses(plan)[:index]
            assert set(statuses(plan)[index + 1 :]) <= {"waiting"}


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("###Answer\n42", "42"),
        ("###Answer: 42", "42"),
        ("**Answer:** 42", "42"),
        ('Final answer: "42"', "42"),
        ('Final answer: "Foo" and "Bar"', '"Foo" and "Bar"'),
        ("Answers vary: 42", "Answers vary: 42"),
        ("###Answer: N/A", "N/A"),
        ("NONE.", ""),
    ],
)
def test_an_answer_is_taken_without_its_label(reply, answer):
    assert _answer(reply) == answer
