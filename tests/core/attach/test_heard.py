"""What an agent says of itself, as it comes into the state of its run."""

import pytest

from core.agent.presets import ATTACHED
from core.agent.state import Budget, RunState
from core.attach.heard import AgentReports, ToldAt
from core.attach.told import (
    ToldExemplars,
    ToldNote,
    ToldOutcome,
    ToldPlan,
    ToldPolicy,
    ToldPolicyEnd,
    ToldRemedy,
    ToldState,
    ToldStep,
)
from core.schema.action_space import Permissible
from core.schema.messages import Turn
from core.schema.step import AgentStep, Recognised
from core.schema.task import Episode, Task, Verdict

FOUND = Recognised(space="none", state="page", why="Any page.", permissible=Permissible())


@pytest.fixture
def state() -> RunState:
    task = Task(id="web/open", environment="web", instruction="Press.")
    episode = Episode(task=task, seed=0, instruction="Press.", start_url="about:blank")
    return RunState(run=1, episode=episode, preset=ATTACHED, llm="rules", budget=Budget())


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def heard(state: RunState, notes: list[str]) -> AgentReports:
    return AgentReports(state, notes.append)


def at_work(state: RunState) -> list[str]:
    return [one.name for one in state.stack.frames]


def test_policies_of_parallel_tasks_end_in_any_order(heard: AgentReports, state: RunState) -> None:
    heard.hear(
        [
            ToldPolicy(id="1", name="both"),
            ToldPolicy(id="2", name="left", parent="1"),
            ToldPolicy(id="3", name="right", parent="1"),
        ]
    )
    assert [one.caller for one in state.stack.frames] == [None, 1, 1]
    heard.hear([ToldPolicyEnd(id="2", error="LookupError: no hits")])
    assert at_work(state) == ["both", "right"]
    assert "LookupError" in state.stack.finished[0].outcome
    heard.hear([ToldPolicyEnd(id="1"), ToldPolicyEnd(id="1"), ToldPolicyEnd(id="unknown")])
    assert at_work(state) == ["right"]


def test_of_very_many_ended_policies_the_latest_are_kept_and_all_are_counted(
    heard: AgentReports, state: RunState
) -> None:
    for number in range(300):
        heard.hear([ToldPolicy(id=str(number), name=f"tool {number}"), ToldPolicyEnd(id=str(number))])
    assert len(state.stack.finished) < 100
    assert state.stack.finished[-1].name == "tool 299"
    assert state.stack.calls == 300


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (None, ["current", "waiting", "waiting"]),
        (1, ["done", "current", "waiting"]),
        (3, ["done", "done", "done"]),
        (99, ["done", "done", "done"]),
    ],
)
def test_a_plan_is_worked_on_where_the_agent_says(
    heard: AgentReports, state: RunState, at: int | None, expected: list[str]
) -> None:
    heard.hear([ToldPlan(steps=("a", "b", "c"), at=at)])
    assert state.reflection.plan is not None
    assert [one.status for one in state.reflection.plan.subtasks] == expected


def test_a_plan_with_equal_steps_that_is_said_again_stays_where_it_is(
    heard: AgentReports, state: RunState
) -> None:
    heard.hear([ToldPlan(steps=("a", "b", "a"), at=1)])
    before = state.reflection.plan
    heard.hear([ToldPlan(steps=("a", "b", "a"))])
    assert state.reflection.plan == before


def test_a_plan_that_is_said_again_keeps_what_is_done_and_another_one_is_a_revision(
    heard: AgentReports, state: RunState
) -> None:
    heard.hear([ToldPlan(steps=("a", "b"), at=1)])
    heard.work_on_plan(1)
    before = state.reflection.plan
    heard.hear([ToldPlan(steps=("a", "b"))])
    assert state.reflection.plan == before
    heard.hear([ToldPlan(steps=("a", "c", "b"))])
    plan = state.reflection.plan
    assert plan is not None
    assert [(one.text, one.status) for one in plan.subtasks] == [
        ("a", "done"),
        ("c", "current"),
        ("b", "waiting"),
    ]
    assert plan.revision == 1
    heard.hear([ToldPlan(steps=())])
    assert state.reflection.plan is not None
    assert state.reflection.plan.subtasks == ()


def test_the_same_remedy_of_a_step_is_kept_once(heard: AgentReports, state: RunState) -> None:
    heard.hear([ToldRemedy(text="Scroll"), ToldRemedy(text="Scroll"), ToldRemedy(text="Search")])
    assert [one.reason for one in state.reflection.remedies.waiting] == ["", ""]


def test_exemplars_are_whole_in_the_record_of_their_step_alone(heard: AgentReports, state: RunState) -> None:
    heard.hear([ToldExemplars(shown=("\nTask: buy tea\nAction: click", ("mine", "text")))])
    recalled = heard.recalled()
    assert recalled.recall is not None
    assert recalled.exemplars == ("1. Task: buy tea", "mine")
    state.number = 2
    assert heard.recalled() == recalled.replace(recall=None)


def test_what_was_said_on_the_way_back_is_as_it_was_and_notes_are_not_told_again(
    heard: AgentReports, state: RunState, notes: list[str]
) -> None:
    said = {
        1: [ToldPolicy(id="a", name="work"), ToldState(name="start"), ToldNote(text="one")],
        2: [ToldState(name="next"), ToldPlan(steps=("a",)), ToldPolicy(id="b", name="press")],
        3: [ToldPolicyEnd(id="b"), ToldState(name="last")],
    }
    for number, told in said.items():
        state.number = number
        heard.hear(told)
        heard.work_on_plan(number)
        turn = Turn(number=number, action=f"click [{number}]")
        state.history.append(turn)
        state.stack = state.stack.record(turn)
    state.number = 4
    stack, memory, reflection = state.stack, state.memory, heard.recognised(FOUND)
    assert [one.action for one in memory.transitions] == ["click [1]", "click [2]"]
    assert notes == ["one"]
    again = AgentReports(state, notes.append)
    # A program has other ids when it runs again.
    renamed = {"a": "x", "b": "y"}
    again.begin_again(
        ToldAt(
            number, one.replace(id=renamed[one.id]) if isinstance(one, ToldPolicy | ToldPolicyEnd) else one
        )
        for number, told in said.items()
        for one in told
    )
    assert (state.stack, state.memory) == (stack, memory)
    assert again.recognised(FOUND) == reflection
    assert notes == ["one"]


def test_a_step_that_is_said_again_is_the_same_one_with_what_more_is_known(heard: AgentReports) -> None:
    heard.hear([ToldStep(number=3, goal="Find the tea"), ToldStep(number=3, actions=("click(4)",))])
    assert heard.step == AgentStep(number=3, goal="Find the tea", actions=("click(4)",))
    heard.hear([ToldStep(number=4)])
    assert heard.step == AgentStep(number=4)


def test_a_step_ends_where_another_begins_or_the_episode_ends(heard: AgentReports) -> None:
    note = ToldNote(text="seen")
    assert heard.of_this_step([note, ToldStep(number=1), note]) == 1
    heard.hear([ToldStep(number=1)])
    own = [note, ToldStep(number=1, goal="tea"), ToldOutcome(reward=0.5, ended=False)]
    assert heard.of_this_step(own) == 3
    assert heard.of_this_step([*own, ToldStep(number=2), note]) == 3
    assert heard.of_this_step([note, ToldOutcome(success=True)]) == 1
    heard.hear([ToldOutcome(success=True)])
    assert heard.step is None


def test_the_agents_environment_judges_where_nobody_else_does(heard: AgentReports, notes: list[str]) -> None:
    assert heard.judged(Verdict()) == Verdict()
    heard.hear([ToldOutcome(reward=0.5, ended=False)])
    assert heard.judged(Verdict()) == Verdict()
    heard.hear([ToldOutcome(reward=1, success=True, reason="Bought.")])
    told = heard.judged(Verdict())
    assert (told.success, told.reward, told.judge) == (True, 1.0, "agent")
    assert told.reason.endswith("Bought.")
    by_page = Verdict(success=False, judge="page")
    assert heard.judged(by_page) == by_page
    assert notes == [
        "The agent's episode: reward 0.5.",
        "The agent's episode: ended with success, reward 1. Bought.",
    ]


def test_an_agent_that_only_says_that_it_has_ended_is_not_judged_by_that(heard: AgentReports) -> None:
    heard.hear([ToldOutcome(reason="It says that it has succeeded.")])
    told = heard.judged(Verdict())
    assert (told.success, told.reward, told.judge) == (None, None, "none")
    assert told.reason == "It says that it has succeeded."
