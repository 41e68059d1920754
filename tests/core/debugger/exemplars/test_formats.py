"""Every form in which exemplars go out, and that what goes out comes in again as it was."""

import json

import pytest

from core.debugger.exemplars.formats import EXPORTS, export_format
from core.exemplars.exchange.plan import ReadOptions
from core.exemplars.exchange.reader import read_exemplars_of
from core.exemplars.files import EXEMPLARS, read_exemplars
from core.schema.errors import UsageError
from core.schema.exemplar import Exemplar, ExemplarStep

TWO = Exemplar(
    id="two",
    family="f",
    task="Do both",
    steps=(
        ExemplarStep(observation='[1] button "A"', thought="First.", actions=("click [1]", "fly away")),
        ExemplarStep(observation='[2] button "B"', actions=("type [2] [x] [enter=1]",)),
    ),
    tags=("mine",),
)


def lines_of(form, *exemplars):
    return [json.loads(line) for line in export_format(form).write(exemplars)[""].splitlines()]


def test_a_conversation_is_written_as_in_a_prompt():
    (conversation,) = lines_of("chat", TWO)
    assert [one["role"] for one in conversation["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    system, first, reply, second, last = (one["content"] for one in conversation["messages"])
    assert "- click [target]" in system or "- click" in system
    assert "- drag" not in system
    assert first == 'Task: Do both\n\nObservation:\n[1] button "A"'
    assert reply == "REASON: First.\nACTION: click [1]\nACTION: fly away"
    assert second == 'Observation:\n[2] button "B"'
    assert last.endswith("ACTION: type [2] [x] [enter=1]")


def test_a_trajectory_in_atif_has_its_calls_and_what_came_of_them():
    (trajectory,) = lines_of("atif", TWO)
    assert trajectory["schema_version"] == "ATIF-v1.8"
    assert [one["step_id"] for one in trajectory["steps"]] == [1, 2, 3, 4]
    assert [one["source"] for one in trajectory["steps"]] == ["user", "system", "agent", "agent"]
    first = trajectory["steps"][2]
    assert [one["function_name"] for one in first["tool_calls"]] == ["click", "text"]
    assert first["tool_calls"][0]["arguments"] == {"target": "1"}
    assert first["observation"]["results"][0]["content"] == '[2] button "B"'
    assert trajectory["steps"][3]["tool_calls"][0]["arguments"] == {
        "target": "2",
        "text": "x",
        "enter": True,
    }
    assert trajectory["extra"]["exemplar"]["tags"] == ["mine"]


@pytest.mark.parametrize("form", ["jsonl", "synapse"])
def test_all_of_the_installations_exemplars_survive_going_out_and_in(tmp_path, form):
    exemplars = tuple(one for path in sorted(EXEMPLARS.glob("*.jsonl")) for one in read_exemplars(path))
    for name, text in export_format(form).write(exemplars).items():
        (tmp_path / (name or "own.jsonl")).write_text(text, encoding="utf-8")
    plan = read_exemplars_of([tmp_path], ReadOptions())
    assert plan.those("faulty") == ()
    assert {one.id: one for _, one in plan.exemplars} == {one.id: one for one in exemplars}


def test_an_unknown_export_form_is_reported_with_the_nearest():
    with pytest.raises(UsageError, match="did you mean chat"):
        export_format("chatt")
    assert len({one.name for one in EXPORTS}) == len(EXPORTS)
