"""From a failing run to a passing one by way of an exemplar: the built-in LLM in the bundled shop, nothing scripted."""

import re
from contextlib import closing

import pytest

from core.debugger.evaluations.records import Subject
from core.debugger.evaluations.worth import used_in
from core.debugger.exemplars.saving.selection import exemplar_of_run
from core.exemplars.library.records import LIBRARY_NAME
from core.exemplars.library.store import Library

pytestmark = pytest.mark.browser

TASK = "shop/goal-013"
WRONG = "Bexholm Meadow Gluten Free Trail Mix"
RIGHT = "Brellow Kite Vegan Trail Mix with Resealable Bag"


def to_the_link(live):
    """Step to the review of the first link that is clicked and return the page's elements and the one chosen."""
    while True:
        action = live.to_review().action
        found = re.match(r"click \[(\d+)\]", action.action)
        elements = {one.ref: one for one in action.elements}
        if found is not None and elements[int(found[1])].role == "link":
            return elements, elements[int(found[1])]


def to_the_end(live):
    live.session.run_commands.run()
    live.wait_mode("ended")
    with closing(live.store()) as store:
        return store.run(live.view.run)


def test_a_correction_that_is_kept_brings_the_same_task_to_success(live):
    live.session.agent.set_preset("synapse")
    live.session.agent.set_llm("rules")
    live.open(TASK)
    _, chosen = to_the_link(live)
    assert chosen.name == WRONG
    assert to_the_end(live).verdict.success is False

    live.open(TASK)
    elements, _ = to_the_link(live)
    right = next(one.ref for one in elements.values() if one.role == "link" and one.name == RIGHT)
    live.session.edits.edit_action(f"click [{right}]")
    live.settle()
    corrected = to_the_end(live)
    assert corrected.verdict.success is True

    with closing(live.store()) as store:
        kept = exemplar_of_run(store, corrected.run)
    [contrast] = kept.exemplar.contrasts
    assert contrast.right == f"click [{right}]"
    # The preset shortens pages: the whole one is kept beside what the LLM was shown.
    assert all(len(look.raw) > len(look.observation) for look in kept.exemplar.steps)
    library = Library.open(live.database.parent / LIBRARY_NAME)
    library.save(kept.exemplar, kept.provenance)
    library.close()

    live.open(TASK)
    _, chosen = to_the_link(live)
    assert chosen.name == RIGHT
    passing = to_the_end(live)
    assert passing.verdict.success is True
    assert not passing.touched
    with closing(live.store()) as store:
        assert used_in(store, passing.run, Subject(name=kept.exemplar.id))
