"""What the benchmark of causes plants, the LLM that it asks, and the labels that it compares causes with."""

import asyncio
from contextlib import closing

import pytest

from core.schema.action_space import Choice, Parameter, Permissible, PermissibleAction
from core.schema.messages import LLMRequest, Message, PromptView
from core.schema.observation import Box, CleanObservation, Element
from core.storage.resources import RESOURCES
from core.trace.store import TraceStore
from tests.benchmarks.causes.cells import CELLS, without_successes
from tests.benchmarks.causes.mutants import OPERATORS, mutants, two_at_once
from tests.benchmarks.causes.natural import _place, labels, suite
from tests.benchmarks.causes.obedient import ObedientLLM
from tests.core.debugger.evaluations.test_report import Written, store

__all__ = ["store"]

BOX = Box(x=0, y=0, width=9, height=9)
SAVE = Element(ref=3, role="button", name="Save", uses=("click",), box=BOX)
CANCEL = Element(ref=2, role="button", name="Cancel", uses=("click",), box=BOX)
PAGE = CleanObservation(
    url="http://localhost/", elements=(CANCEL, SAVE), text=f"{CANCEL.line()}\n{SAVE.line()}"
)
CLICK = PermissibleAction(
    name="click",
    parameters=(Parameter(name="target", type="integer", choices=(Choice(value="2"), Choice(value="3"))),),
)
STOP = PermissibleAction(name="stop", parameters=(Parameter(name="answer", required=False),))
FORM = "REASON: why\nACTION: click [..], stop []"


def test_every_operator_changes_the_line_that_it_names() -> None:
    planted = set()
    for file in dict.fromkeys(file for cell in CELLS for file in cell.files):
        text = (RESOURCES / file).read_text("utf-8")
        for mutant in mutants(file, text):
            planted.add(mutant.operator)
            ((name, line),) = mutant.places
            changed = mutant.texts[name].splitlines()
            assert name == file
            same = min(max(line - 2, 0), len(text.splitlines()))
            assert changed[:same] == text.splitlines()[:same], mutant.words
            assert changed != text.splitlines(), mutant.words
    assert planted == set(OPERATORS)
    assert len(planted) >= 20


def test_two_faults_at_once_are_in_two_files() -> None:
    files = ("presets/step.toml", "policies/airline/book_flight.md")
    singles = [one for file in files for one in mutants(file, (RESOURCES / file).read_text("utf-8"))]
    for pair in two_at_once(singles, 5):
        assert len(pair.texts) == len(pair.places) == 2


def test_each_label_is_of_a_run_of_the_suite_and_its_place_is_there() -> None:
    ran = {(preset, *case) for preset, case in suite()}
    found = [(one["preset"], one["task"], one["seed"]) for one in labels()]
    assert len(found) == len(set(found)) >= 50
    assert set(found) <= ran
    for label in labels():
        _place(label)


def test_the_copy_that_knows_no_success_leaves_the_runs_that_are_kept_as_they_are(store, tmp_path) -> None:
    written = Written(store, "a")
    failed, passed = written.run("a", success=False), written.run("a", success=True)
    with closing(TraceStore.open(without_successes(store.path, tmp_path / "copy.db"))) as copy:
        assert [copy.run(run).verdict.success for run in (failed, passed)] == [False, None]
    assert [store.run(run).verdict.success for run in (failed, passed)] == [False, True]


def asked(text: str, **view: str) -> str:
    request = LLMRequest(
        purpose="decide",
        messages=(Message(role="user", text=text),),
        permissible=Permissible(actions=(CLICK, STOP)),
        view=PromptView(objective='Click "Save"', observation=PAGE, **view),  # type: ignore[arg-type]
    )
    return asyncio.run(ObedientLLM().reply(request)).text


def test_the_obedient_llm_does_what_its_prompt_shows() -> None:
    assert "ACTION: click [3]" in asked(f'Task: Click "Save"\n{PAGE.text}\n{FORM}')


@pytest.mark.parametrize(
    "text",
    [
        f"{PAGE.text}\n{FORM}",  # without the task
        f'Task: Click "Save"\n{FORM}',  # without the page
        f'Task: Click "Save"\n{PAGE.text}\nACTION: stop []',  # without the action
        f'Task: Click "Save"\n{PAGE.text}\nclick, stop',  # without the form of a reply
    ],
)
def test_the_obedient_llm_does_not_do_what_its_prompt_does_not_show(text: str) -> None:
    assert "ACTION: click [3]" not in asked(text)
