"""The phases of a step, and what their records say of them."""

import json
from collections import Counter
from typing import get_args

from core.schema.action import GoBack
from core.schema.messages import Purpose
from core.schema.step import (
    PHASE_OF_PURPOSE,
    PHASES,
    RECORDS,
    Acted,
    Decided,
    Proposal,
    Reviewed,
    action_of,
    last_reflection,
)
from tests.core.trace.making import records


def test_every_phase_has_a_record_in_the_order_of_the_phases():
    assert tuple(RECORDS) == PHASES


def test_every_purpose_of_a_call_belongs_to_one_phase():
    assert Counter(purpose for record in RECORDS.values() for purpose in record.purposes) == Counter(
        get_args(Purpose)
    )
    assert (PHASE_OF_PURPOSE["parser"], PHASE_OF_PURPOSE["judge"]) == ("abstract", "commit")


def test_what_is_stored_apart_from_a_record_is_a_field_of_it():
    for record in RECORDS.values():
        assert {record.part, *record.blobs} - {""} <= set(record.model_fields)


def test_the_columns_of_a_step_come_from_the_last_phase_that_decides_them():
    last = {name: record.phase for record in records() for name in record.columns()}
    assert (last["url"], last["state"], last["origin"]) == ("observe", "recognise", "review")
    assert (last["message"], last["target"], last["sealed"]) == ("act", "act", "commit")


def test_a_review_that_changes_nothing_leaves_the_thought_of_the_proposal():
    assert "thought" not in Reviewed(origin="agent").columns()
    assert Reviewed(origin="person", edited=True).columns()["thought"] == ""


def test_the_action_of_a_step_is_the_reviewed_one_else_the_proposed_one():
    decided = Decided(proposal=Proposal(action=GoBack()))
    assert action_of(()) is None
    assert action_of((decided,)) == GoBack()
    assert action_of((decided, Reviewed(origin="person"))) is None
    assert last_reflection((decided,)) is None


def test_going_back_in_a_run_of_an_earlier_version_is_read():
    of_0_2_0 = {
        "what": "changed",
        "part": "value",
        "before": "a",
        "now": "b",
        "volatile": True,
        "by_reader": True,
    }
    restored = {
        "step": 1,
        "grade": "same page",
        "comparison": {"grade": "same page", "differences": [of_0_2_0]},
    }
    acted = Acted.model_validate_json(
        json.dumps({"effect": "go back", "outcome": "done", "restored": restored})
    )
    assert acted.restored is not None
    assert acted.restored.comparison.sentence.endswith("1 because an earlier version read pages differently")
