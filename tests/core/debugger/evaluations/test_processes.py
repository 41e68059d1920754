"""The processes that make the runs of evaluations."""

from contextlib import closing
from types import SimpleNamespace
from typing import Any, cast

from core.debugger.attach.views import AttachRequest
from core.debugger.evaluations.processes import EvaluationProcesses
from core.debugger.evaluations.records import EvaluationPlan, Request, Variant
from core.debugger.job_process import JobProcess, ProcessEnd
from core.llm.endpoints import TAKEN
from core.settings.settings import load_settings
from core.trace.evaluations import create_evaluation
from core.trace.store import TraceStore
from tests.core.trace.making import start


async def test_an_attached_program_that_is_run_again_gets_the_keys_that_its_run_names(tmp_path, monkeypatch):
    monkeypatch.setitem(TAKEN, "GROQ_API_KEY", "gsk_1a2b3c")
    monkeypatch.setitem(TAKEN, "OTHER_KEY", "other")
    given = []

    async def run(self, arguments, on_line, on_error, *, keys):
        given.append(keys)
        return ProcessEnd(code=0)

    async def ended(why):
        given.append(why)

    async def guarded(work):
        await work()

    monkeypatch.setattr(JobProcess, "run", run)
    with closing(TraceStore.open(tmp_path / "traces.db")) as store:
        asked = AttachRequest(command=("python", "a.py"), env=("GROQ_API_KEY", "NOT_SET"))
        run_ = store.begin_run(start().replace(preset="attached", preset_text=asked.model_dump_json()))
        variant = Variant(preset="attached", llm="rules", run=run_, step=1)
        plan = EvaluationPlan(variants=(variant,), tasks=("t",), seeds=(0,))
        create_evaluation(store, "again", plan.model_dump_json())
        services = SimpleNamespace(
            store=store,
            settings=load_settings(),
            environments=SimpleNamespace(sources=()),
            llms=SimpleNamespace(keys_for=lambda names, embedding: {}),
        )
        session = SimpleNamespace(session=SimpleNamespace(max_steps=5))
        service = SimpleNamespace(services=services, session=session, guarded=guarded)
        processes = EvaluationProcesses(cast("Any", service))
        processes.start(Request(name="again"), on_said=lambda line: None, on_end=ended)
        await processes._jobs["again"]
    assert given == [{"GROQ_API_KEY": "gsk_1a2b3c"}, ""]
