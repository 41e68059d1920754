import pytest

from core.debugger.experiments.bisect import Bisection, bisect, chosen_steps
from core.debugger.headless import RunReport
from core.schema.errors import BrowserError, UsageError
from core.trace.records import StepRow


def steps(count):
    return tuple(StepRow(run=1, number=number, action=f"click [{number}]") for number in range(1, count + 1))


async def bisected(steps, times, fork):
    began = Bisection(
        run=1, preset="p", llm="l", times=times, chosen=tuple(one.number for one in steps), when=0.0
    )
    return [one async for one in bisect(began, steps, fork)][-1].results


def test_steps_are_those_wanted_or_spread_from_the_first_to_the_last():
    assert chosen_steps(steps(3), ()) == (1, 2, 3)
    assert chosen_steps(steps(30), (), most=4) == (1, 11, 20, 30)
    assert chosen_steps(steps(30), (7, 2, 7)) == (2, 7)
    with pytest.raises(UsageError, match="no step 9; its steps are 1 to 3"):
        chosen_steps(steps(3), (9,))
    with pytest.raises(UsageError, match="no steps"):
        chosen_steps((), ())


async def test_every_chosen_prefix_is_tried_though_an_earlier_one_failed():
    ends = {1: [True, False], 2: [False, False], 3: [True, None]}
    asked = []

    async def fork(step):
        asked.append(step)
        success = ends[step].pop(0)
        error = "" if success is not None else "The judge failed."
        return RunReport(run=len(asked), task="t", seed=0, success=success, outcome="done", error=error)

    found = await bisected(steps(3), 2, fork)
    assert asked == [1, 1, 2, 2, 3, 3]
    assert [(one.step, one.successes, one.judged, one.share) for one in found] == [
        (1, 1, 2, 0.5),
        (2, 0, 2, 0.0),
        (3, 1, 1, 1.0),
    ]
    assert found[2].problems == ("The judge failed.",)
    assert [one.runs for one in found] == [(1, 2), (3, 4), (5, 6)]


async def test_a_branch_that_cannot_be_made_is_reported_and_the_others_go_on():
    async def fork(step):
        if step == 1:
            raise BrowserError("The browser has ended.")
        return RunReport(run=1, task="t", seed=0, success=True, outcome="done")

    first, second = await bisected(steps(2), 1, fork)
    assert (first.problems, first.judged, first.share) == (("The browser has ended.",), 0, None)
    assert second.successes == 1


async def test_nothing_is_begun_beyond_a_limit_nor_after_an_interruption():
    began = Bisection(run=1, preset="p", llm="l", times=2, chosen=(1, 2), when=0.0)

    async def fork(step):
        return RunReport(run=1, task="t", seed=0, success=True, outcome="done", llm_calls=5)

    found = [one async for one in bisect(began.replace(most_calls=10), steps(2), fork)]
    assert [one.done for one in found] == [1, 2]
    assert found[-1].ended().state == "limit"

    async def interrupted(step):
        return RunReport(run=1, task="t", seed=0, outcome="interrupted")

    found = [one async for one in bisect(began, steps(2), interrupted)]
    assert found[-1].done == 1
    assert found[-1].ended().state == "cancelled"
