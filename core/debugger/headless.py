"""Runs without a window: the loop continues automatically, and follows a rule where a person would be asked."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack

from core.agent.branching import RunSetup, open_branch, reopen_task, stays_done_since
from core.agent.llm_calls import Answerer, Asked, answerer_of
from core.agent.loop import AgentRun, open_run
from core.agent.presets import ATTACHED
from core.agent.state import Budget
from core.browser.boundary import Ask as AskCrossing
from core.browser.boundary import Crossing
from core.browser.channel import PageGone
from core.debugger.services import Services
from core.llm.errors import mistake
from core.schema.changes import Changes
from core.schema.errors import BackstepError, BrowserError, LLMRefused, TraceError, UsageError
from core.schema.record import Record
from core.schema.restore import Restored, SentAt, not_taken_back
from core.schema.step import Acted, PhaseRecord
from core.schema.task import Task
from core.settings.settings import OnGate
from core.trace.records import CaseAttempt, RunOutcome, RunRow, StepRow

log = logging.getLogger(__name__)

ALLOW = "Allow that with --on-gate allow, or by on_gate in the settings."


class RunReport(Record):
    """The result of a run; the fields are a contract of the command line."""

    run: int | None
    task: str
    seed: int
    success: bool | None = None
    reward: float | None = None
    reason: str = ""
    """Why it was judged so."""
    answer: str = ""
    steps: int = 0
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    seconds_in_llm: float = 0.0
    outcome: RunOutcome
    error: str = ""

    @property
    def exit_code(self) -> int:
        """0 a success or no judge, 1 finished without success, 3 the world failed, 130 interrupted."""
        if self.outcome == "error":
            return 3
        if self.outcome == "interrupted":
            return 130
        if self.success is None and self.error and self.outcome == "done":
            return 3  # The judge failed.
        if self.success is None:
            return 0 if self.outcome == "done" else 1
        return 0 if self.success else 1


async def run_headless(
    services: Services,
    task: Task,
    seed: int,
    *,
    preset: str,
    llm: Answerer,
    budget: Budget,
    on_gate: OnGate,
    profile: str | None = None,
    changes: Changes = Changes(),  # noqa: B008 - it is frozen
    attempt: CaseAttempt | None = None,
    on_step: Callable[[StepRow], None] = lambda step: None,
    on_asked: Callable[[Asked], None] = lambda asked: None,
) -> RunReport:
    """Run the agent to the end and return the report; `changes` are the files that differ.

    `attempt` says which run of an evaluation it is. If the LLM refuses all calls, such a run ends with
    LLMRefused, because the next one would fail too. Otherwise, problems inside the run, including an
    interruption, are only reported, and the run stays readable. Raises UsageError, DataError, ActionError and
    BrowserError if the run cannot begin.
    """
    world = services.world(task)
    world.ask = answer_by(on_gate)
    run = await open_run(
        services.store,
        world,
        task,
        seed,
        preset=services.resources.presets.get(preset),
        llm=llm,
        resources=services.resources_for(changes),
        budget=budget,
        browser=services.host.name,
        profile=profile,
        changes=changes,
        attempt=attempt,
        on_asked=on_asked,
    )
    return await _report_of_whole(services, run, on_gate, on_step, counted=attempt is not None)


async def fork_headless(
    services: Services,
    row: RunRow,
    step: int,
    *,
    preset: str,
    llm: Answerer,
    budget: Budget,
    on_gate: OnGate,
    changes: Changes = Changes(),  # noqa: B008 - it is frozen
    attempt: CaseAttempt | None = None,
    on_asked: Callable[[Asked], None] = lambda asked: None,
    on_step: Callable[[StepRow], None] = lambda step: None,
    on_restored: Callable[[Restored], None] = lambda restored: None,
) -> RunReport:
    """Go back to a step of a stored run, on a branch, and run the agent from there to the end.

    The rule for gates decides whether it goes back if something that was sent since is not undone, and
    whether actions that cannot be undone may be repeated. If the page could not be restored as recorded, the
    branch ends there unless the rule is to allow it. Raises as `run_headless` does, UsageError if going back
    is refused, and TraceError if the stored step is not complete enough.
    """
    services.store.agent(row.run, step)
    task = services.task_of(row)
    offline = _offline(changes, row)
    if not offline:
        sent = stays_done_since(services.store, services.world(task), row.run, step)
        _check_effects(f"Going back to step {step} of run {row.run}", sent, on_gate)
    attached = preset == row.preset == ATTACHED.name
    resources = services.resources_for(changes.over(services.store.changes(row.run)))
    world = services.world(task)
    world.ask = answer_by(on_gate)
    setup = RunSetup(
        preset=ATTACHED if attached else resources.presets.get(preset),
        llm=llm,
        resources=resources,
        browser=services.host.name,
        budget=budget,
        changes=changes,
        fresh=True,
        may_repeat=on_gate == "allow",
        attempt=attempt,
        on_asked=on_asked,
    )
    async with AsyncExitStack() as stack:
        if attached:
            from core.debugger.attach.agent import (  # Servers and clients, for these runs only.
                agent_of,
                open_agent,
            )

            agent = await open_agent(
                agent_of(services.store, row), services.host, lambda: answerer_of(llm, "agent")
            )
            stack.push_async_callback(agent.end)
            setup = agent.leads_back(setup, services.store, row, services.tabs)
        episode = await reopen_task(services.store, world, task, row, offline=offline)
        run, restored = await open_branch(services.store, world, episode, run=row.run, step=step, setup=setup)
        on_restored(restored)
        if not restored.verified and on_gate != "allow":
            why = " ".join(filter(None, (restored.sentence, restored.not_repeated)))
            await _finish(
                run,
                "gate",
                f"{why} The run did not continue from there. To continue anyway, use --on-gate allow.",
            )
        return await _report_of_whole(services, run, on_gate, on_step, counted=attempt is not None)


def check_again(services: Services, task: Task, runs: Iterable[int], on_gate: OnGate) -> None:
    """Raise UsageError if a task is not to be started again by rule: `runs` of it have sent what stays done."""
    world = services.world(task)
    sent = [one for run in runs for one in stays_done_since(services.store, world, run, 1)]
    _check_effects(f"Starting {task.id} again", sent, on_gate)


def _check_effects(doing: str, sent: Sequence[SentAt], on_gate: OnGate) -> None:
    if on_gate != "allow" and (reason := not_taken_back(doing, sent)):
        raise UsageError(f"{reason}. {ALLOW}")


def _offline(changes: Changes, row: RunRow) -> bool:
    return row.offline if changes.offline is None else changes.offline


async def _report_of_whole(
    services: Services,
    run: AgentRun,
    on_gate: OnGate,
    on_step: Callable[[StepRow], None],
    *,
    counted: bool = False,
) -> RunReport:
    """Carry a run to its end and return its report.

    One that is `counted` is broken off where the LLM refuses all calls, and LLMRefused raised.
    """
    run.state.overlap = True
    run.keep_pictures(services.settings.pictures)
    try:
        await _go_to_the_end(run, on_gate, on_step)
    except asyncio.CancelledError:
        await _finish(run, "interrupted", "Interrupted.")
    except (BackstepError, PageGone) as error:
        if counted and isinstance(error, LLMRefused):
            await _finish(run, "interrupted", str(error))
            raise
        await _finish(run, "error", str(error) or "The page went away; run the task again.")
    except Exception as error:
        # Nobody is there to take the run up again: it must not be left open.
        log.exception("Internal error")
        await _finish(run, "error", mistake(error))
    if not run.ended:
        return _unstored(run)
    try:
        return report(services.store.run(run.state.run))
    except TraceError as error:
        run.error = run.error or str(error)
        return _unstored(run)


async def _finish(run: AgentRun, outcome: RunOutcome, error: str) -> None:
    try:
        await run.finish(outcome, error=error)
    except TraceError as failure:
        # The trace is locked or full: whoever opens it next stores the end.
        run.error = error if outcome == "error" else str(failure)
        run.store.note_end(run.state.run, run.error)


async def _go_to_the_end(run: AgentRun, on_gate: OnGate, on_step: Callable[[StepRow], None]) -> None:
    lost = 0
    while not run.ended:
        if run.next_phase == "review" and await _ended_by_gate(run, on_gate):
            return
        number = run.state.number
        try:
            record = await run.advance()
        except (BrowserError, PageGone):
            # A page that dies under a reading is brought back once before the run is given up.
            lost += 1
            if lost > 1:
                raise
            await run.world.tabs.revive()
            run.look_again()
            continue
        if await _ended_by_grade(run, record, on_gate) or await _ended_by_refusal(run, record, on_gate):
            return
        if record.phase == "commit":
            lost = 0
            on_step(run.store.step(run.state.run, number).row)


async def _ended_by_gate(run: AgentRun, rule: OnGate) -> bool:
    gate = run.gate()
    if gate is None:
        return False
    pending, reason = run.state.pending, gate.reason
    if gate.kind == "loop" and rule != "allow" and (rule == "end" or _was_told(run)):
        await run.finish("loop", error=reason)
        return True
    if gate.kind == "hint":
        pending.note = f"Hint: {reason}; there was nobody to ask."
        return False
    if gate.kind == "loop":
        reason = reason.removesuffix(".")
    if rule == "allow":
        pending.note = f"Gate: {reason}; allowed by rule."
    elif rule == "refuse":
        why = f"this action cannot be undone ({reason})" if gate.kind == "undo" else reason
        pending.skip, pending.refused = True, f"Refused by rule (--on-gate refuse): {why}."
        pending.note = f"Refused: {why}. Continue without it, or stop."
    else:
        await run.finish("gate", error=f"Ended at a gate before {pending.action}: {reason}.")
        return True
    return False


def _was_told(run: AgentRun) -> bool:
    """Return whether the LLM has had this very call refused as a loop before: it gets one chance."""
    written = str(run.state.pending.action)
    return any(turn.action == written and " is a loop: " in turn.result for turn in run.state.history)


async def _ended_by_grade(run: AgentRun, record: PhaseRecord, rule: OnGate) -> bool:
    """End the run by rule where going back for a remedy has not led to the page as it was.

    By the other rules the remedy is tried if its element is there: going back says what differs.
    """
    if not isinstance(record, Acted) or record.restored is None or record.restored.verified:
        return False
    if record.outcome == "failed" or rule != "end":
        return False
    await run.finish("gate", error=record.restored.sentence)
    return True


def answer_by(rule: OnGate) -> AskCrossing:
    """Return the answer of a rule to what leads out of a task's sites."""

    async def answer(crossing: Crossing) -> bool:
        return rule == "allow"

    return answer


async def _ended_by_refusal(run: AgentRun, record: PhaseRecord, rule: OnGate) -> bool:
    """End the run by rule where an action has led out of the task's sites, or to a file that it does not name."""
    if rule != "end" or not isinstance(record, Acted) or not run.world.tabs.border.refused:
        return False
    await run.finish("gate", error=f"Ended at a gate: {run.world.tabs.border.refused}")
    return True


def report(row: RunRow) -> RunReport:
    """Return the report of a stored run."""
    same = {name: value for name, value in row if name in RunReport.model_fields}
    seconds = {name: round(same[name], 3) for name in ("seconds", "seconds_in_llm")}
    verdict = row.verdict
    return RunReport(
        **{**same, **seconds}, success=verdict.success, reward=verdict.reward, reason=verdict.reason
    )


def _unstored(run: AgentRun) -> RunReport:
    """Return the report when the trace itself has failed, from what is known in memory."""
    state = run.state
    return RunReport(
        run=state.run,
        task=state.episode.task.id,
        seed=state.episode.seed,
        steps=run.begun,
        llm_calls=state.totals.llm_calls,
        prompt_tokens=state.totals.prompt_tokens,
        completion_tokens=state.totals.completion_tokens,
        cost=state.totals.cost,
        seconds=round(time.perf_counter() - state.started, 3),
        seconds_in_llm=round(state.totals.seconds_in_llm, 3),
        outcome="error",
        error=run.error,
    )
