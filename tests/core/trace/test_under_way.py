"""A step under way is the same from memory as from the file."""

import pytest

from core.schema.messages import LLMReply
from core.schema.step import Acted, CallRecord, Decided, Proposal
from core.trace.calls import stored_prompt, stored_reply
from core.trace.encoding import encode_prompt, encode_reply
from core.trace.records import Intervention
from tests.core.trace.making import HTML, PICTURE, a_request, records, start, write_step


class Unreadable:
    """A file that nothing may be asked of."""

    def __getattr__(self, name):
        raise AssertionError(f"{name} was asked of the file")


def assert_same(store, run, number):
    """Compare what is shown of a run's last step, from memory and from the file."""
    step = store.under_way(run).over(Unreadable())
    assert step.detail == store.step(run, number)
    assert step.steps(run) == store.steps(run)
    assert step.judged(run, number) == store.judged(run, number)
    for call in step.detail.calls:
        assert (stored_prompt(step, call), stored_reply(step, call)) == (
            stored_prompt(store, call),
            stored_reply(store, call),
        )


def phases(store, run, number, *, but=()):
    """Do the phases of a step, and stop after each."""
    store.put_blob(HTML, "text/html")
    store.put_blob(PICTURE, "image/webp")
    for record in records():
        if record.phase not in but:
            store.save_phase(run, number, record)
            yield record


def test_each_phase_of_each_step_is_the_same_from_memory(store):
    run = store.begin_run(start())
    for number in range(1, 4):
        store.begin_step(run, number)
        assert_same(store, run, number)
        for _ in phases(store, run, number):
            assert_same(store, run, number)
    names = {HTML, PICTURE}
    observed = store.under_way(run).detail.records[0]
    assert {
        store.under_way(run).over(Unreadable()).blob(one) for one in (observed.html, observed.screenshot)
    } == names


def test_a_page_that_stays_for_many_steps_is_kept(store):
    run = store.begin_run(start())
    html = store.put_blob(HTML, "text/html")
    store.put_blob(PICTURE, "image/webp")
    for number in range(1, 6):
        store.begin_step(run, number)
        store.save_phase(run, number, next(records()))
        assert store.under_way(run).over(Unreadable()).blob(html) == HTML


def test_a_phase_done_again_takes_the_place_of_the_first(store):
    run = store.begin_run(start())
    store.begin_step(run, 1)
    list(phases(store, run, 1, but=("commit",)))
    store.save_phase(run, 1, Decided(proposal=Proposal(thought="Rather not.")))
    store.save_phase(run, 1, Acted(effect="none", outcome="failed", message="It is gone."))
    assert_same(store, run, 1)


def test_calls_and_changes_of_the_person_are_those_of_their_step(store):
    run = store.begin_run(start())
    for number in (1, 2):
        store.begin_step(run, number)
        prompt, (name, blob) = (
            encode_prompt(a_request(f"Step {number}?")),
            encode_reply(LLMReply(text="Yes.")),
        )
        # The second is asked ahead of the step after this one.
        for call, step in ((2 * number - 1, number), (2 * number, number + 1)):
            asked = CallRecord(
                number=call, step=step, purpose="decide", llm="rules", messages=prompt.hash, started=1.0
            )
            store.calls.save(run, asked, blobs=prompt.blobs)
            assert_same(store, run, number)
            store.calls.save(run, asked.replace(reply=name, seconds=0.5), blobs=(blob,))
        store.save_intervention(
            Intervention(run=run, step=number, kind="edit", who="me", when=2.0, before="a", after="b")
        )
        assert_same(store, run, number)


def test_a_branch_has_the_steps_before_it_from_the_file(store):
    run = store.begin_run(start())
    for number in (1, 2, 3):
        write_step(store, run, number)
    branch = store.begin_run(start().replace(parent_run=run, parent_step=3))
    store.begin_step(branch, 3)
    step = store.under_way(branch).over(store)
    assert (step.steps(branch), step.judged(branch, 3)) == (store.steps(branch), store.judged(branch, 3))
    assert [row.number for row in step.steps(branch)] == [1, 2, 3]


@pytest.mark.parametrize("over", [True, False])
def test_a_run_that_is_over_is_kept_until_another_begins(store, over):
    run = store.begin_run(start())
    store.begin_step(run, 1)
    if over:
        store.leave_run(run)
    assert store.under_way(run) is not None
    store.begin_run(start())
    assert (store.under_way(run) is None) is over


def test_a_run_that_is_taken_up_is_read_from_the_file_until_its_next_step(store):
    run = store.begin_run(start())
    write_step(store, run, 1)
    store.leave_run(run)
    store.take_up_run(run)
    assert store.under_way(run) is None
    store.begin_step(run, 2)
    step = store.under_way(run).over(store)
    assert (step.detail, step.steps(run)) == (store.step(run, 2), store.steps(run))


def test_a_step_that_was_not_stored_is_not_under_way(store):
    run = store.begin_run(start())
    store.begin_step(run, 1)
    with pytest.raises(Exception, match="already has a step 1"):
        store.begin_step(run, 1)
    assert_same(store, run, 1)
