"""The step that is proposed for a run, by its rows alone."""

import pytest

from core.agent.resources import agent_resources_of
from core.agent.state import Budget
from core.debugger.causes.finding import causes_of
from core.debugger.causes.kinds import limits
from core.debugger.causes.kinds.limits import loop_of
from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.proof_records import Candidate, CandidateProof, Proof
from core.debugger.fix.deciding import _bisected, clues_of, with_proofs
from core.debugger.fix.views import Clue
from core.schema.action_space import Permissible
from core.schema.step import Diagram, Recognised
from core.schema.task import Verdict
from core.storage.resources import RESOURCES
from core.trace.records import StepRow
from tests.core.debugger.evaluations.test_bisection import branches, store
from tests.core.trace.making import page, start, write_step

__all__ = ["store"]


def steps(*actions: str, url: str = "http://shop/", **more) -> list[StepRow]:
    return [
        StepRow(run=1, number=number, action=action, url=url, phase="commit", outcome="done", **more)
        for number, action in enumerate(actions, start=1)
    ]


def reasons(clues) -> list[tuple[int, str]]:
    return [(one.step, f"{one.what} {one.why}".strip()) for one in clues]


@pytest.mark.parametrize(
    ("actions", "looped"),
    [
        (("goto [a]", "click [1]", "click [1]", "click [1]"), (2, 4)),
        (("click [9]", "click [1]", "click [2]", "click [1]", "click [2]", "click [1]", "click [2]"), (2, 7)),
        (("click [1]", "click [1]", "click [2]"), None),
        (("click [1]", "click [2]", "click [3]"), None),
        (("scroll [down]",) * 4, None),
        (("scroll [down]",) * 7, (1, 7)),
        ((), None),
    ],
)
def test_a_loop_is_what_is_done_three_times_on_the_same_page(actions, looped) -> None:
    assert loop_of(steps(*actions)) == looped


def test_a_bisection_names_the_last_step_from_which_branches_succeeded(store) -> None:
    run = store.begin_run(start())
    assert reasons(_bisected(store, store.run(run))) == []
    branches(store, run, s1="+++-", s2="++--", s3="----")
    (clue,) = _bisected(store, store.run(run))
    said = "Bisect: from here 2 of 4 branches still succeeded; from later steps none did."
    assert (clue.step, clue.what) == (2, said)


def test_the_same_action_on_other_pages_is_no_loop() -> None:
    rows = [row.replace(url=f"http://shop/{row.number}") for row in steps(*["click [1]"] * 5)]
    assert loop_of(rows) is None


@pytest.mark.parametrize("until", ["observe", "abstract"])
@pytest.mark.parametrize("done", [0, 1])
def test_causes_at_a_step_that_came_to_no_action_are_told_as_well(store, tmp_path, until, done) -> None:
    name = "state_spaces/shop.toml"
    (tmp_path / "state_spaces").mkdir()
    (tmp_path / name).write_text("x")
    agent = agent_resources_of(tmp_path), AgentFiles(tmp_path)
    run = store.begin_run(start())
    for number in range(1, done + 1):
        write_step(store, run, number)
    write_step(store, run, done + 1, until=until)
    unended = clues_of(store, store.run(run), *agent)
    assert len(unended) == 1
    assert not unended[0].certainty
    error = f"{tmp_path / name}, line 7: The pattern is wrong."
    store.end_run(run, outcome="error", verdict=Verdict(), error=error, seconds=1.0, seconds_in_llm=0.0)
    clues = clues_of(store, store.run(run), *agent)
    assert (clues[0].step, clues[0].place) == (done + 1, f"{name}:7")
    causes = causes_of(store, run, *agent)
    assert [(one.step, one.what) for one in clues] == [(one.step, one.what) for one in causes]


def out_of_budget(store, diagram: Diagram | None = None) -> int:
    """Write a run that a limit ended, that of its state space if there is one."""
    run = store.begin_run(start(task="shop/goal-004"))
    for number in (1, 2):
        write_step(store, run, number, observation=page("Save", f"Row {number}"))
        if diagram is not None:
            over = "no candidate was set aside" if number == 2 else ""
            known = Recognised(
                space="shop", state="results", why="x", over=over, diagram=diagram, permissible=Permissible()
            )
            store.save_phase(run, number, known)
    verdict = Verdict(success=False)
    store.end_run(run, outcome="budget", verdict=verdict, seconds=1.0, seconds_in_llm=0.0)
    return run


def test_a_limit_of_the_state_space_is_told_with_the_change_that_raises_it(store, tmp_path) -> None:
    file = tmp_path / "state_spaces/shop.toml"
    file.parent.mkdir()
    file.write_text(
        (RESOURCES / "state_spaces/shop.toml").read_text().replace("choose_at = 13", "choose_at = 1")
    )
    run = out_of_budget(store, Diagram(title="Shop", file=str(file), transitions=15, choose_at=1))
    first, *others = clues_of(store, store.run(run), agent_resources_of(tmp_path), AgentFiles(tmp_path))
    assert first.file == "state_spaces/shop.toml"
    assert first.candidate is not None
    assert "no candidate was set aside" in first.what
    assert not any("page actions" in one.what for one in others)


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(2, 200), "(at most 2 page actions). If it was on the right way, nothing has to be changed"),
        (Budget(30, 0), "(at most 0 LLM calls). If it was on the right way, raise max_llm_calls"),
        (None, "(which limit was reached is not known)."),
    ],
)
def test_the_limit_that_ended_a_run_is_named(store, tmp_path, monkeypatch, budget, said) -> None:
    monkeypatch.setattr(limits, "budget_of", lambda store, run: budget)
    run = out_of_budget(store)
    first, *_ = clues_of(store, store.run(run), agent_resources_of(tmp_path), AgentFiles(tmp_path))
    assert first.what.startswith("This is the last step. The run was out of its budget after 2 steps")
    assert said in first.what


def test_a_proof_that_did_not_come_to_a_change_leaves_what_was_known_of_it(tmp_path) -> None:
    change = Candidate(what="a", files={"prompts/plain/system.j2": "a"})
    proven = CandidateProof(candidate=change, outcome="proven", runs=9, run=2)
    later = proven.replace(outcome="not tried", runs=1, run=None)
    proofs = [Proof(run=1, candidates=(each,)) for each in (later, proven)]
    (clue,) = with_proofs([Clue(step=1, what="x", candidate=change)], proofs, AgentFiles(tmp_path))
    assert clue.proof == proven
