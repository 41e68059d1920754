"""What is wrong with a draft: where, and whether it keeps it from being stored."""

from core.memory.editing.draft import EMPTY
from core.memory.editing.faults import faults, place_of, stopping
from core.schema.exemplar import AbstractionPair, Draft, DraftContrast, DraftStep
from tests.core.memory.making import ALL


def test_an_exemplar_comes_back_from_its_draft_as_it_was():
    one = ALL[0].replace(abstraction=(AbstractionPair(state="a", observation="b"),))
    assert Draft.of(one).exemplar() == one
    assert faults(Draft.of(one)) == ()


def test_of_one_from_nothing_it_is_told_what_is_missing_and_where():
    found = stopping(EMPTY)
    assert [one.where for one in found] == ["id", "family", "task", "look 1, actions"]
    assert "no action" in found[-1].text
    assert [one.where for one in stopping(EMPTY.replace(steps=()))][-1] == "steps"


def test_faults_are_reported_beside_what_keeps_it_from_being_stored():
    draft = Draft(
        id="a",
        family="f",
        steps=(
            DraftStep(observation='[1] button "Go"', actions=("click [7]", "jump")),
            DraftStep(),
        ),
        contrasts=(DraftContrast(tried="click [1]"),),
    )
    found = [(one.where, one.level) for one in faults(draft)]
    assert found == [
        ("task", "stops"),
        ("look 2, actions", "stops"),
        ("contrast 1, right", "stops"),
        ("look 1, action 1", "fault"),
        ("look 1, action 2", "fault"),
    ]


def test_a_place_is_taken_apart():
    found = place_of("look 3, action 2")
    assert (found.kind, found.number, found.part, found.nth) == ("look", 2, "action", 1)
    found = place_of("contrast 1, tried")
    assert (found.kind, found.number, found.part) == ("contrast", 0, "tried")
    assert place_of("task").kind == "task"
    assert (place_of("look 2").kind, place_of("look 2").number) == ("look", 1)
