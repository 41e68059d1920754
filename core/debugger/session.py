"""A debugging session: commands in, snapshots out; it decides when the loop goes on and when it stops.

Commands may come from any thread and only queue work on the worker's loop;
everything else here runs in that loop.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal, get_args

from core.agent.llm_calls import Asked
from core.agent.loop import AgentRun, open_run
from core.agent.presets import AMOUNTS, Mechanism
from core.agent.state import Budget
from core.debugger.branching.branches import Branches
from core.debugger.corrections import Corrections
from core.debugger.exporting import exporter as exporting
from core.debugger.exporting import importer as importing
from core.debugger.human_actions import Demonstrating
from core.debugger.lifetime import Lifetime
from core.debugger.run_goal import Goal, out, over
from core.debugger.services import Workshop
from core.environments.registry import Environments
from core.llm.registry import LLMs, RoutedLLM
from core.schema.browser_event import BrowserEvent
from core.schema.changes import Changes
from core.schema.errors import BackstepError, TraceError, UsageError
from core.schema.step import PHASES
from core.schema.task import Verdict
from core.settings.user_file import near
from core.trace.exports.registry import format_named


class Session(Lifetime):
    """The `SessionCommands` of the window."""

    def __init__(self, open_workshop: Callable[[], Awaitable[Workshop]], *, who: str = "person") -> None:
        super().__init__(open_workshop)
        self._corrections = Corrections(self, self._need_workshop, who)
        self._branches = Branches(self, self._need_workshop, self._on_asked)

    def _listen(self, workshop: Workshop) -> None:
        workshop.tabs.on_event(self._on_browser_event)
        workshop.llms.person.connect(self._corrections.on_question)
        workshop.knowledge.memory.on_progress = self._on_embedded

    # Commands: tasks

    def open_task(
        self, task: str, seed: int, *, url: str = "", instruction: str = "", profile: str = ""
    ) -> None:
        self._post(lambda: self._open(task, seed, url, instruction, profile))

    async def _open(self, task_id: str, seed: int, url: str, instruction: str, profile: str) -> None:
        run = await self._openings.only(lambda: self._open_run(task_id, seed, url, instruction, profile))
        if run is not None and run is self.agent_run:
            self.go("decide")

    async def _open_run(
        self, task_id: str, seed: int, url: str, instruction: str, profile: str
    ) -> AgentRun | None:
        if self._workshop is None:
            await self._connect()
        if self._workshop is None:
            return None
        workshop = self._workshop
        await self.halt()
        await self._finish_stopped()
        self.agent_run = None
        self.begin(task_id, seed)
        chosen = self.session
        try:
            if await asyncio.to_thread(workshop.environments.refresh, task_id):
                self.send_catalogue(workshop)
            task = workshop.environments.find(task_id, url=url, instruction=instruction)
            run = await open_run(
                workshop.store,
                workshop.world(task),
                task,
                seed,
                preset=workshop.knowledge.presets.get(chosen.preset),
                llm=workshop.llms.routed(chosen.llm),
                knowledge=workshop.knowledge,
                budget=Budget(chosen.max_steps, workshop.settings.max_llm_calls),
                browser=workshop.host.name,
                profile=profile or None,
                on_asked=self._on_asked,
            )
        except BackstepError as error:
            self.fail(f"{task_id} could not be opened: {error}")
            self.send_runs(self.query)  # The run before has ended, though no other has begun.
            return None
        self.adopt(run)
        if profile:
            self.send_catalogue(workshop)  # A new profile is offered from now on.
        # What was chosen while the task was being opened holds from its first step on.
        run.state.budget.page_actions = self.session.max_steps
        if self.session.preset != chosen.preset:
            self._use_preset(self.session.preset, before=chosen.preset)
        await self._use_llm(workshop.llms.routed(self.session.llm), before=chosen.llm)
        self.opened(run)
        return run

    def stop(self) -> None:
        async def work() -> None:
            if await self._openings.stop():
                self.set_mode("empty", "Opening the task was stopped; choose a task (Ctrl+N).")
                return
            async with self._lock:
                await self.halt()
                if self.agent_run is not None and not self.agent_run.ended:
                    await self._end(self.agent_run)

        self._post(work)

    def end(self, success: bool) -> None:
        async def work() -> None:
            async with self._lock:
                await self.halt()
                if self.agent_run is None:
                    self.change(message="Open a task first (Ctrl+N).")
                    return
                reason = "The person at the window said so."
                await self._end(self.agent_run, Verdict(success=success, judge="person", reason=reason))

        self._post(work)

    async def _end(self, run: AgentRun, verdict: Verdict | None = None) -> None:
        """End the run, or give an ended one its verdict; one that the trace cannot end rests as it is."""
        try:
            if verdict is not None:
                before = _verdict_words(run.verdict) if run.ended else ""
                self._corrections.store("end", before, _verdict_words(verdict))
            if run.ended and verdict is not None:
                run.store.set_verdict(run.state.run, verdict)
                run.verdict = verdict
            await run.finish("stopped", verdict=verdict)
        except TraceError as error:
            self.log("error", "trace", str(error))
            self.change(saved=False)
            self.rest(run, "failed", str(error))
            return
        self.ended(run)

    # Commands: what the agent is made of

    def set_mechanism(self, name: str, on: bool) -> None:
        def work() -> None:
            run = self.agent_run
            if name not in get_args(Mechanism):
                raise UsageError(f'There is no mechanism "{name}"; {near(name, get_args(Mechanism))}')
            if run is None or run.ended:
                self.change(message="Open a task first (Ctrl+N): a switch holds for the run under way.")
                return
            mechanism: Mechanism = name  # type: ignore[assignment]
            if run.state.is_on(mechanism) != on:
                self._corrections.store("switch", "" if on else name, name if on else "")
                run.switch(mechanism, on)
            self.change(**self.figures())

        self._now(work)

    def set_amount(self, name: str, value: int) -> None:
        def work() -> None:
            if name not in AMOUNTS:
                raise UsageError(f'"{name}" has no number to set; {near(name, tuple(AMOUNTS))}')
            run = self._need_run("A number holds for the run under way.")
            mechanism: Mechanism = name
            before, after = run.set_amount(mechanism, value)
            if before != after:
                self._corrections.store("switch", f"{name} {before}", f"{name} {after}")
            self.change(**self.figures())

        self._now(work)

    def edit_plan(self, subtasks: tuple[str, ...], current: int) -> None:
        def work() -> None:
            run = self._need_run("A plan is of the run under way.")
            before = run.state.reflection.plan
            run.set_plan(subtasks, current)
            after = run.state.reflection.plan
            assert after is not None
            self._corrections.store("plan", before.in_words() if before else "", after.in_words())
            self._shown_again(run, "The plan was changed; the next prompt has it.")

        self._now(work)

    def fire_remedy(self, number: int) -> None:
        def work() -> None:
            run = self._need_run("A remedy is of the run under way.")
            fired = run.fire_remedy(number)
            self._corrections.store("remedy", "", f"{fired.action} of step {fired.step}")
            self._shown_again(run, f"{fired.action} of step {fired.step} is tried next.")
            if not self.busy and PHASES.index(run.next_phase) <= PHASES.index("decide"):
                self.go("review")

        self._now(work)

    def _need_run(self, why: str) -> AgentRun:
        if self.agent_run is None or self.agent_run.ended:
            raise UsageError(f"{why} Open a task first (Ctrl+N).")
        return self.agent_run

    def _shown_again(self, run: AgentRun, message: str) -> None:
        run.store_reflection()
        self.change(message=message, **self.figures())
        self.publish_step(run)

    # Commands: choices

    def set_preset(self, name: str) -> None:
        def work() -> None:
            self._need_workshop().knowledge.presets.get(name)
            before = self.session.preset
            self.change(preset=name)
            self._use_preset(name, before=before)
            self.change(**self.figures())

        self._now(work)

    def _use_preset(self, name: str, *, before: str) -> None:
        run = self.agent_run
        if run is None or run.ended:
            return
        if name != before:
            self._corrections.store("preset", before, name)
        run.use(preset=self._need_workshop().knowledge.presets.get(name))

    def set_llm(self, name: str) -> None:
        async def work() -> None:
            llm = self._need_workshop().llms.routed(name)
            before = self.session.llm
            self.change(llm=name)
            await self._use_llm(llm, before=before)

        self._post(work)

    async def _use_llm(self, llm: RoutedLLM, *, before: str) -> None:
        """Go on with this LLM; a person's open question is withdrawn where it is not theirs any more."""
        run = self.agent_run
        if run is None or run.ended:
            return
        if llm.name != before:
            self._corrections.store("llm", before, llm.name)
        run.use(llm=llm)
        person, out = self._need_workshop().llms.person, run.asking
        if out is not None and out.llm == person.name and llm.llm_for(out.purpose) is not person:
            await self.ask_anew(f"{llm.name} was chosen in place of {before}")

    def llms(self) -> LLMs:
        """Return the LLMs in use; raises UsageError before the session has begun."""
        return self._need_workshop().llms

    async def use_llms(self, llms: LLMs) -> None:
        """Go on with these LLMs, which have the person of the old ones, and offer them.

        A call that is out is withdrawn and asked anew: whoever was to answer
        it is let go of. Where the LLM in use is gone, the built-in rules
        answer from then on.
        """
        workshop = self._need_workshop()
        before = self.session.llm
        try:
            llm = llms.routed(before)
        except UsageError as error:
            self.log("warning", "LLM", f"{error} The built-in rules answer from now on.")
            llm = llms.routed("rules")
        old, workshop.llms = workshop.llms, llms
        self.change(llm=llm.name)
        self.send_catalogue(workshop)
        try:
            await self._use_llm(llm, before=before)
            if self.agent_run is not None and self.agent_run.asking is not None:
                await self.ask_anew("the settings of the LLMs were changed")
        finally:
            await old.close()

    def environments(self) -> Environments:
        """Return where tasks come from; raises UsageError before the session has begun."""
        return self._need_workshop().environments

    def offer(self) -> None:
        """Announce once more what can be chosen, after a change of it."""
        self.send_catalogue(self._need_workshop())

    def set_pace(self, seconds: float) -> None:
        self._now(lambda: self.change(pace=max(0.0, seconds)))

    def set_max_steps(self, count: int) -> None:
        def work() -> None:
            if self.agent_run is not None:
                self.agent_run.state.budget.page_actions = max(1, count)
            self.change(max_steps=max(1, count))

        self._now(work)

    # Commands: going on

    def step(self) -> None:
        self._now(lambda: self.go("review"))

    def phase(self) -> None:
        self._now(lambda: self.go("phase"))

    def run(self) -> None:
        self._now(lambda: self.go("end"))

    def over(self) -> None:
        self._now(lambda: self._go_by(over))

    def out(self) -> None:
        self._now(lambda: self._go_by(out))

    def _go_by(self, goal: Callable[[AgentRun], Goal]) -> None:
        if self.agent_run is not None and not self.agent_run.ended:
            self.go(goal(self.agent_run))
        else:
            self.go("review")

    def run_to_step(self, number: int) -> None:
        self._now(lambda: self.go(Goal("to step", step=number)))

    def run_to_subtask(self, subtask: int) -> None:
        self._now(lambda: self.go(Goal("to subtask", subtask=subtask)))

    def accept(self) -> None:
        self._now(lambda: self.go("step"))

    def pause(self) -> None:
        self._now(self.pause_or_cancel)

    # Commands: correcting

    def edit_action(self, text: str) -> None:
        self._now(lambda: self._corrections.edit(text))

    def edit_queue(self, actions: tuple[str, ...]) -> None:
        self._now(lambda: self._corrections.edit_queue(actions))

    def skip(self) -> None:
        self._now(self._corrections.skip)

    def ask_again(self) -> None:
        self._now(self._corrections.ask_again)

    def answer(self, thought: str, action: str) -> None:
        self._now(lambda: self._corrections.answer(thought, action))

    def set_handover(self, on: bool) -> None:
        async def work() -> None:
            async with self._lock:
                await self._corrections.hand_over(on)

        self._post(work)

    async def hand_over(self, on: bool) -> Demonstrating | None:
        """Give the person the page, or take it back; return what records their doings, where something does."""
        async with self._lock:
            await self._corrections.hand_over(on)
            return self._corrections.demonstrating

    async def open_anew(self) -> AgentRun | None:
        """Open the task of the current run from its start, and return the run once its page has been read.

        None where it could not be opened, or another was asked for meanwhile. Raises UsageError without a run.
        """
        if self.agent_run is None:
            raise UsageError("Open a task first (Ctrl+N).")
        row = self._need_workshop().store.run(self.agent_run.state.run)
        url, instruction = (row.start_url, row.instruction) if row.environment == "web" else ("", "")
        await self._open(row.task, row.seed, url, instruction, row.profile or "")
        run = self.agent_run
        await self.rested()
        return run if run is self.agent_run else None

    def point(self, x: float, y: float, *, final: bool) -> None:
        self._post(lambda: self._corrections.point(x, y, final=final))

    # Commands: branches

    def go_back(self, run: int, step: int) -> None:
        self._move_soon(lambda: self._branches.go_back(run, step))

    def make_current(self, run: int) -> None:
        self._move_soon(lambda: self._branches.make_current(run))

    def _move_soon(self, move: Callable[[], Awaitable[AgentRun | None]]) -> None:
        async def work() -> None:
            await self._move(move)

        self._post(work)

    async def fork(self, run: int, step: int, changes: Changes) -> int | None:
        """Go back to a step of a run on a branch that is otherwise as `changes` say, and return its number.

        None where another move or task was asked for meanwhile. What is not
        taken back is the caller's to tell. Raises as going back does.
        """
        failed: list[BackstepError] = []
        made = await self._move(lambda: self._branches.go_back(run, step, changes, told=True), failed)
        if failed:
            raise failed[0]
        return made.state.run if made is not None else None

    def lasting(self, run: int, step: int) -> str:
        """Return what going back to a step does not take back, in words; raises UsageError and TraceError."""
        return self._branches.lasting(run, step)

    def workshop(self) -> Workshop:
        """Return what the session works with; raises UsageError before it has begun."""
        return self._need_workshop()

    def stop_opening(self) -> None:
        """Give up an opening, or a move, that is under way; a run that goes on goes on."""

        async def work() -> None:
            if await self._openings.stop():
                self.set_mode("empty", "It was given up; choose a task (Ctrl+N), or a step to go back to.")

        self._post(work)

    async def _move(
        self,
        move: Callable[[], Awaitable[AgentRun | None]],
        failed: list[BackstepError] | None = None,
    ) -> AgentRun | None:
        """Carry out a move to another branch, show where it has led to, and return the run where it has.

        `failed` is given what went wrong on the way.
        """

        async def whole() -> AgentRun | None:
            try:
                return await move()
            except BackstepError as error:
                if self.session.mode != "opening":
                    raise
                self.fail(f"The page was not brought back: {error}")
                if failed is not None:
                    failed.append(error)
                self.send_runs(self.query)
                return None

        run = await self._openings.only(whole)
        if run is None or run is not self.agent_run:
            return None
        self.go("decide")
        return run

    def name_run(self, run: int, name: str) -> None:
        def work() -> None:
            self._need_workshop().store.name_run(run, name.strip())
            self.send_runs(self.query)

        self._now(work)

    # Commands: what is stored

    def show_step(self, run: int, number: int) -> None:
        self._now(lambda: self.show_recorded(run, number))

    def show_now(self) -> None:
        def work() -> None:
            self.show_live()
            if self.agent_run is not None:
                self.publish_step(self.agent_run)

        self._now(work)

    def open_run(self, run: int) -> None:
        self._now(lambda: self.expand(run))

    def search_runs(self, query: str) -> None:
        self._now(lambda: self.send_runs(query))

    def export_run(self, run: int, form: str, path: str) -> None:
        async def work() -> None:
            database = self._need_workshop().store.path
            await asyncio.to_thread(exporting.export_run, database, run, form, path)
            self.log("info", "export", f"Run {run} was written to {path}.")
            note = format_named(form).note
            self.change(message=f"Run {run} was written to {path}. {note}".rstrip())

        self._post(work)

    def import_run(self, path: str) -> None:
        async def work() -> None:
            store = self._need_workshop().store
            run, told = await asyncio.to_thread(importing.import_run, store, Path(path))
            self.log("info", "import", told)
            self.send_runs()
            if run is not None and (steps := store.steps(run)):
                self.expand(run)
                self.show_recorded(run, steps[0].number)
            self.change(message=told)

        self._post(work)

    # What happens

    def _on_asked(self, asked: Asked) -> None:
        if asked.retry is not None:
            self.log("warning", "LLM", f"{asked.retry.reason}; asked again after {asked.retry.waited:.1f} s.")
        if asked.ended and asked.record.error:
            self.log("error", "LLM", f"Call {asked.record.number}: {asked.record.error}")
        self.streamed(asked)

    def _on_embedded(self, done: int, total: int) -> None:
        """Tell how far the index of exemplars is; the next phase takes the message away."""
        if done % 50 == 0 or done == total:
            self.change(message=f"Embedding exemplars, {done} of {total}…")

    def _on_browser_event(self, event: BrowserEvent) -> None:
        level: Literal["info", "warning", "error"] = (
            "error" if event.kind in ("crash", "hang") else "info" if event.kind == "popup" else "warning"
        )
        self.log(level, "browser", event.text)


def _verdict_words(verdict: Verdict) -> str:
    return {True: "success", False: "no success", None: "not judged"}[verdict.success]
