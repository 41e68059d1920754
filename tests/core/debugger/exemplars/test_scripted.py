"""Recording an exemplar from written actions, in real pages."""

import pytest

from core.debugger.exemplars.scripted import Look, exemplar_of, perform, written
from core.schema.errors import UsageError

pytestmark = pytest.mark.browser


def recorded(stage, *looks: Look, task: str = "miniwob/enter-text", seed: int = 0, script=None):
    found = stage.services.environments.find(task)
    world = stage.services.world(found)
    return found, stage.thread.run(perform(world, found, seed, script or written(looks)))


def refused(stage, *looks: Look, **more) -> str:
    task, made = recorded(stage, *looks, **more)
    with pytest.raises(UsageError) as failed:
        exemplar_of(made, task, 0)
    return str(failed.value)


RIGHT = Look(thought="Fill in and send.", actions=("type [2] [Agustina]", 'click [button "Submit"]'))


def test_a_success_becomes_an_exemplar_with_the_page_at_each_look(stage):
    task, made = recorded(stage, RIGHT)
    exemplar = exemplar_of(made, task, 0, family="fields", parser="obs = html")
    assert (exemplar.id, exemplar.family, exemplar.environment) == (
        "miniwob/enter-text/0",
        "fields",
        "miniwob",
    )
    assert exemplar.source == "miniwob/enter-text seed 0"
    assert exemplar.task.startswith('Enter "Agustina"')
    (step,) = exemplar.steps
    assert "[2] textbox" in step.observation
    assert (step.thought, step.actions) == ("Fill in and send.", ("type [2] [Agustina]", "click [3]"))
    (pair,) = exemplar.abstraction
    assert (pair.state, pair.observation) == (step.observation, '[2] textbox (#tt)\n[3] button "Submit"')


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        (("type [2] [Bob]", "click [3]"), "It was not judged a success"),
        (("type [2] [Agustina]",), "The page has not ended the episode"),
        (("click [99]",), r"the page shows no element [99] at this step"),
        (('click [button "Send"]',), '0 elements of the page are button "Send"'),
        (("click [xpath=//button]",), "exemplars name elements by number, or by role and name"),
        (("check [3]", "click [3]"), "check [3] failed"),
        ((*RIGHT.actions, "press [Tab]"), "The task ended before press [Tab]"),
    ],
)
def test_what_is_no_success_is_refused_with_the_reason(stage, actions, expected):
    reason = refused(stage, Look(actions=actions))
    assert reason.startswith("miniwob/enter-text, seed 0, did not become an exemplar: ")
    assert expected in reason


def test_a_script_that_goes_on_after_the_end_is_refused(stage):
    assert "The task ended before the script" in refused(stage, RIGHT, RIGHT)


def test_a_script_without_an_end_is_given_up(stage):
    def endless(instruction, page):
        while True:
            yield Look(actions=("note [again]",))

    assert "The script does not end" in refused(stage, script=endless)


def test_a_script_sees_the_page_that_its_look_has_made(stage):
    seen = []

    def script(instruction, page):
        seen.append(page.element(2).value)
        page = yield Look(actions=("type [2] [Agustina]",))
        seen.append(page.element(2).value)
        yield Look(actions=("click [3]",))

    task, made = recorded(stage, script=script)
    assert seen == ["", "Agustina"]
    assert len(exemplar_of(made, task, 0).steps) == 2
