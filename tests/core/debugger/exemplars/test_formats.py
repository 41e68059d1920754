import json

import pytest

from core.debugger.exemplars.formats import EXPORTS, export_format
from core.memory.exchange.plan import LibraryStore, plan_of
from core.memory.exchange.reader import read_exemplars_of
from core.memory.exchange.records import Candidate, Reading, ReadOptions
from core.memory.files import EXEMPLARS, ExemplarFiles, read_exemplars, write_exemplars
from core.schema.errors import DataError, UsageError
from core.schema.exemplar import Exemplar, ExemplarStep
from tests.core.memory.making import ALL

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


def test_a_conversation_is_told_as_a_prompt_tells_it():
    (told,) = lines_of("chat", TWO)
    assert [one["role"] for one in told["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    system, first, reply, second, last = (one["content"] for one in told["messages"])
    assert "- click [target]" in system or "- click" in system
    assert "- drag" not in system
    assert first == 'Task: Do both\n\nObservation:\n[1] button "A"'
    assert reply == "REASON: First.\nACTION: click [1]\nACTION: fly away"
    assert second == 'Observation:\n[2] button "B"'
    assert last.endswith("ACTION: type [2] [x] [enter=1]")


def test_a_trajectory_in_atif_has_its_calls_and_what_came_of_them():
    (told,) = lines_of("atif", TWO)
    assert told["schema_version"] == "ATIF-v1.8"
    assert [one["step_id"] for one in told["steps"]] == [1, 2, 3, 4]
    assert [one["source"] for one in told["steps"]] == ["user", "system", "agent", "agent"]
    first = told["steps"][2]
    assert [one["function_name"] for one in first["tool_calls"]] == ["click", "text"]
    assert first["tool_calls"][0]["arguments"] == {"target": "1"}
    assert first["observation"]["results"][0]["content"] == '[2] button "B"'
    assert told["steps"][3]["tool_calls"][0]["arguments"] == {
        "target": "2",
        "text": "x",
        "enter": True,
        "append": False,
    }
    assert told["extra"]["exemplar"]["tags"] == ["mine"]


@pytest.mark.parametrize("form", ["jsonl", "synapse"])
def test_all_of_the_installations_exemplars_survive_going_out_and_in(tmp_path, form):
    exemplars = tuple(one for path in sorted(EXEMPLARS.glob("*.jsonl")) for one in read_exemplars(path))
    for name, text in export_format(form).write(exemplars).items():
        (tmp_path / (name or "own.jsonl")).write_text(text, encoding="utf-8")
    reading = read_exemplars_of(tmp_path, "", ReadOptions()).reading
    assert reading.faulty == ()
    assert {one.exemplar.id: one.exemplar for one in reading.candidates} == {one.id: one for one in exemplars}


def test_an_unknown_export_form_is_told_with_the_nearest():
    with pytest.raises(UsageError, match="did you mean chat"):
        export_format("chatt")
    assert len({one.name for one in EXPORTS}) == len(EXPORTS)


def test_a_plan_tells_what_is_new_what_is_there_and_whose_id_is_taken():
    same = ALL[0].replace(id="renamed", note="mine")
    other = ALL[1].replace(task="Something else")
    reading = Reading(
        candidates=tuple(
            Candidate(position=str(n), exemplar=one) for n, one in enumerate([ALL[0], same, other, ALL[2]])
        )
    )
    plan = plan_of(reading, ALL[:2])
    assert [one.fate for one in plan.planned] == ["there already", "there already", "id taken", "new"]
    assert plan.planned[1].why == f"the same content as {ALL[0].id}"
    assert plan.new == (ALL[2],)


def test_the_library_keeps_all_of_an_import_or_nothing_beside_what_files_hold(tmp_path):
    ours = tmp_path / "ours"
    write_exemplars(ours / "a.jsonl", ALL[:1])
    store = LibraryStore(tmp_path / "mine.db", ExemplarFiles((ours,)))
    assert set(store.held()) == set(ALL[:1])
    assert store.add(ALL[1:3], "My file") == str(tmp_path / "mine.db")
    with pytest.raises(DataError, match="was taken in the meantime"):
        store.add(ALL[2:4], "My file")
    assert {one.id for one in store.held()} == {one.id for one in ALL[:3]}
