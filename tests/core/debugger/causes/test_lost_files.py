"""Files that are gone or are no text any more keep no cause from being told."""

import pytest

from core.agent.resources import agent_resources_of
from core.debugger.causes.finding import causes_of
from core.debugger.editing.files import AgentFiles
from core.debugger.repair import candidates
from core.schema.errors import DataError
from core.schema.step import FrameRecord, Recognised, StackRecord
from core.schema.task import Verdict
from tests.core.debugger.evaluations.test_report import store
from tests.core.trace.making import BLOBS, page, records, start

__all__ = ["store"]

POLICY = "policies/mine/find.md"


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / POLICY
    path.parent.mkdir(parents=True)
    path.write_text("# Instruction\n\nPress it.\n")
    return path


def run(store, policy, *, steps: int = 2) -> int:
    """Write a failed run in which a policy is at work."""
    frame = FrameRecord(number=1, policy="mine/find", written="find []", file=str(policy))
    number = store.begin_run(start())
    for step in range(1, steps + 1):
        store.begin_step(number, step)
        for record in records(page("Save", f"Row {step}")):
            if isinstance(record, Recognised):
                record = record.replace(stack=StackRecord(frames=(frame,)))
            store.save_phase(number, step, record, blobs=BLOBS if record.phase == "observe" else ())
    verdict = Verdict(success=False)
    store.end_run(number, outcome="done", verdict=verdict, seconds=1.0, seconds_in_llm=0.0)
    return number


def test_a_policy_that_is_gone_is_no_place(store, policy, tmp_path):
    failed = run(store, policy)
    agent = agent_resources_of(tmp_path), AgentFiles(tmp_path)
    assert causes_of(store, failed, *agent)[0].place == f"{POLICY}:3"
    policy.rename(policy.parent / "find_it.md")
    assert [(one.file, one.line) for one in causes_of(store, failed, *agent)] == [("", 0)]


def test_a_preset_that_is_no_text_is_no_place(store, policy, tmp_path):
    failed = run(store, policy)
    agent = agent_resources_of(tmp_path), AgentFiles(tmp_path)
    wanted = causes_of(store, failed, *agent)
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets/plain.toml").write_text("title = 'Plain'", encoding="utf-16")
    assert causes_of(store, failed, *agent) == wanted


def test_runs_whose_causes_cannot_be_read_are_not_alike(store, policy, tmp_path, monkeypatch):
    alike, damaged, failed = (run(store, policy) for _ in range(3))

    def causes(store, number, *agent):
        if number == damaged:
            raise DataError("It is damaged.")
        return causes_of(store, number, *agent)

    monkeypatch.setattr(candidates, "causes_of", causes)
    agent = agent_resources_of(tmp_path), AgentFiles(tmp_path)
    assert candidates.alike_runs(store, store.run(failed), *agent) == (alike,)
