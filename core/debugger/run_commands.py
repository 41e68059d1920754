"""The commands of a session: open tasks; continue, end, show and store runs; change the agent."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from core.agent.loop import AgentRun, MakeRun, open_run
from core.agent.presets import AMOUNTS, Mechanism, Preset
from core.agent.state import Budget
from core.debugger.commands import SessionCommands, SessionParts, command
from core.debugger.runner import GoalKind, RunGoal, out, over
from core.debugger.steps.views import Side
from core.llm.registry import LLMs, RoutedLLM
from core.schema.errors import BackstepError, UsageError
from core.schema.task import Verdict
from core.settings.saving import remember_profile
from core.settings.user_file import near
from core.trace import run_files
from core.trace.exports.registry import format_named

_UNLIMITED = Budget(page_actions=sys.maxsize, llm_calls=sys.maxsize)
"""An agent of its own has limits of its own."""


@dataclass(frozen=True)
class Opening:
    """What a run is to be opened with."""

    task: str
    seed: int
    url: str = ""
    instruction: str = ""
    """Of a page of the open web, like `url`."""
    profile: str = ""
    """The named browser profile; none for a clean one."""
    browser: str = ""
    """Where it is to be another than the one at hand."""
    make: MakeRun | None = None
    """Makes the run of an attached agent."""
    preset: Preset | None = None
    """In place of the chosen one."""


class RunCommands(SessionCommands):
    """Continues the current run, and ends it."""

    @command
    def begin(self) -> None:
        """Continue to the first decision of a run that was opened just now, where no LLM is asked yet."""
        self._go(self._openings.then or "decide")

    @command
    def step(self) -> None:
        """Do one step; at review, take the action and continue to the next review: into a policy that it calls."""
        self._go("review")

    @command
    def over(self) -> None:
        """Continue to the next review in this frame of the policy stack, or in one that called it.

        A policy of an attached agent begins without a step of its own: its first step goes over all of it.
        """
        run = self._current.under_way
        self._go(over(run) if run is not None else "review")

    @command
    def out(self) -> None:
        """Continue until the policy at work has returned."""
        run = self._current.under_way
        self._go(out(run) if run is not None else "review")

    @command
    def phase(self) -> None:
        """Do one phase."""
        self._go("phase")

    @command
    def to_call(self) -> None:
        """Continue until an LLM call is about to be sent, at the latest to the next review."""
        self._go("call")

    @command
    def run(self) -> None:
        """Continue by itself until the end, a pause, or something that stops."""
        self._go("end")

    @command
    def run_to_step(self, number: int) -> None:
        """Continue to the review of that step."""
        self._go(RunGoal("to step", step=number))

    @command
    def run_to_subtask(self, subtask: int) -> None:
        """Continue until that subtask (from 0), or a later one, is current."""
        self._go(RunGoal("to subtask", subtask=subtask))

    @command
    def pause(self) -> None:
        """Stop at the next phase boundary; a second call cancels a waiting LLM call."""
        self._runner.pause_or_cancel()

    def _go(self, until: GoalKind | RunGoal) -> None:
        """Continue, or do so once the page that is being opened is there."""
        if self._openings.busy:
            self._openings.then = until
        else:
            self._runner.go(until)

    @command
    async def stop(self) -> None:
        """End the run, or give up the current opening."""
        if await self._openings.stop():
            self._publisher.set_mode("empty", "Opening the task was stopped; choose a task (Ctrl+N).")
            return
        async with self._openings.lock:
            await self._runner.halt()
            if self._current.under_way is not None:
                await self._runner.end(self._current.under_way)

    @command
    async def end(self, success: bool) -> None:
        """Say how a run without a judge ended."""
        async with self._openings.lock:
            await self._runner.halt()
            if self._current.run is None:
                self._publisher.tell("Open a task first (Ctrl+N).", done=False)
                return
            reason = "The person at the window said so."
            await self._runner.end(self._current.run, Verdict(success=success, judge="person", reason=reason))

    @command
    def keep_waiting(self) -> None:
        """Wait for the page that does not answer, however long its script takes."""
        self._current.need_services().tabs.browser.script_patience.keep_waiting()

    @command
    def end_script(self) -> None:
        """End the script that keeps the page from answering."""
        self._current.need_services().tabs.browser.script_patience.end_script()

    @command
    def set_pace(self, seconds: float) -> None:
        """Wait this long between the steps of a run."""
        self._publisher.change(pace=max(0.0, seconds))

    @command
    def set_max_steps(self, count: int) -> None:
        """End runs after this many page actions, the current one too; those of attached agents have no limit."""
        if self._current.run is not None and self._current.run.has_preset:
            self._current.run.state.budget.page_actions = max(1, count)
        self._publisher.change(max_steps=max(1, count), **self._publisher.figures())


class AgentSettings(SessionCommands):
    """The settings of the agent: its preset, its LLM, and the mechanisms that are switched in the current run."""

    @command
    def set_preset(self, name: str) -> None:
        """Use this preset from the next step on."""
        self._current.need_services().resources.presets.get(name)
        before = self._publisher.session.preset
        self._publisher.change(preset=name)
        self.use_preset(name, before=before)
        self._publisher.change(**self._publisher.figures())

    @command
    async def set_llm(self, name: str) -> None:
        """Use this LLM from the next call on; a question that is open for the person is asked of it."""
        llm = self._current.need_services().llms.routed(name)
        before = self._publisher.session.llm
        self._publisher.change(llm=name)
        await self.use_llm(llm, before=before)

    @command
    def set_mechanism(self, name: str, on: bool) -> None:
        """Switch a mechanism on or off from the next step on, whatever the preset says."""
        run = self._current.under_way
        if name not in get_args(Mechanism):
            raise UsageError(f'There is no mechanism "{name}"; {near(name, get_args(Mechanism))}')
        if run is None:
            self._publisher.tell(
                "Open a task first (Ctrl+N). A switch applies to the current run.", done=False
            )
            return
        if not run.has_preset:
            raise UsageError("Mechanisms of an attached agent cannot be switched here.")
        mechanism: Mechanism = name  # type: ignore[assignment]
        if run.state.is_on(mechanism) != on:
            self._current.store_intervention("switch", "" if on else name, name if on else "")
            run.switch(mechanism, on)
        self._publisher.change(**self._publisher.figures())

    @command
    def set_amount(self, name: str, value: int) -> None:
        """Set the number of a mechanism, such as of remedies at each action, whatever the preset says."""
        if name not in AMOUNTS:
            raise UsageError(f'"{name}" is not a number that can be set; {near(name, tuple(AMOUNTS))}')
        run = self._current.need_run("A number applies only to the current run.")
        mechanism: Mechanism = name
        before, after = run.set_amount(mechanism, value)
        if before != after:
            self._current.store_intervention("switch", f"{name} {before}", f"{name} {after}")
        self._publisher.change(**self._publisher.figures())

    def use_preset(self, name: str, *, before: str) -> None:
        """Continue with this preset, where a run is in progress; raises UsageError, DataError and TraceError."""
        run = self._current.under_way
        if run is None or not run.has_preset:
            return
        if name != before:
            self._current.store_intervention("preset", before, name)
        run.use(preset=self._current.need_services().resources.presets.get(name))

    async def use_llm(self, llm: RoutedLLM, *, before: str) -> None:
        """Continue with this LLM; a person's open question is withdrawn where it is not theirs any more."""
        run = self._current.under_way
        if run is None:
            return
        if llm.name != before:
            self._current.store_intervention("llm", before, llm.name)
        run.use(llm=llm)
        person, out = self._current.need_services().llms.person, run.asking
        if out is not None and out.llm == person.name and llm.llm_for(out.purpose) is not person:
            await self._runner.ask_anew(f"{llm.name} was chosen instead of {before}")

    async def use_llms(self, llms: LLMs) -> None:
        """Continue with these LLMs, which share the person of the old ones, and list them.

        A running call is cancelled and repeated. If the LLM in use no longer exists, the built-in LLM answers
        from then on.
        """
        services = self._current.need_services()
        before = self._publisher.session.llm
        try:
            llm = llms.routed(before)
        except UsageError as error:
            self._publisher.log("warning", "LLM", f"{error} The built-in LLM answers from now on.")
            llm = llms.routed("rules")
        old, services.llms = services.llms, llms
        services.resources.memory.renew()  # Its embedding may be one of the old ones.
        self._publisher.change(llm=llm.name)
        self._publisher.send_catalogue(services)
        try:
            await self.use_llm(llm, before=before)
            if self._current.run is not None and self._current.run.asking is not None:
                await self._runner.ask_anew("the settings of the LLMs were changed")
        finally:
            await old.close()


class TaskCommands(SessionCommands):
    """Opens tasks instead of the current run."""

    def __init__(
        self, parts: SessionParts, agent: AgentSettings, connect: Callable[[], Awaitable[None]]
    ) -> None:
        """`connect` opens the services, or tells why it cannot."""
        super().__init__(parts)
        self._agent = agent
        self._connect = connect

    @command
    async def open(
        self,
        task: str,
        seed: int,
        *,
        url: str = "",
        instruction: str = "",
        profile: str = "",
        allow_profile: bool = False,
    ) -> None:
        """Open a task in a clean profile, or in the named one; a run in progress is ended as stopped.

        `allow_profile` lets the embedded browser open the profile from now on, which the settings remember.
        """
        if allow_profile:
            await self._allow(profile)
        await self._open(Opening(task, seed, url, instruction, profile))

    async def _allow(self, profile: str) -> None:
        if self._current.services is None:
            await self._connect()
        services = self._current.services
        if services is None:
            return
        services.host.allow_profile(profile)
        try:
            allowed = await asyncio.to_thread(remember_profile, profile)
        except BackstepError as error:
            self._publisher.log(
                "warning", "session", f"The profile {profile} is allowed only this time: {error}"
            )
            allowed = (*services.settings.embedded_profiles, profile)
        services.settings = services.settings.replace(embedded_profiles=allowed)
        self._publisher.send_catalogue(services)

    @command
    async def stop_opening(self) -> None:
        """Give up an opening, or a move, that is in progress; a run that goes on continues."""
        if await self._openings.stop():
            self._publisher.set_mode(
                "empty", "It was cancelled. Choose a task (Ctrl+N), or a step to go back to."
            )

    async def open_anew(self) -> AgentRun | None:
        """Open the task of the current run from its start, and return the run once its page has been read.

        None if it could not be opened, or another was asked for meanwhile. Raises UsageError without a run.
        """
        if self._current.run is None:
            raise UsageError("Open a task first (Ctrl+N).")
        row = self._current.need_services().store.run(self._current.run.state.run)
        url, instruction = (row.start_url, row.instruction) if row.environment == "web" else ("", "")
        await self._open(Opening(row.task, row.seed, url, instruction, row.profile or ""))
        run = self._current.run
        await self._runner.rested()
        return run if run is self._current.run else None

    async def open_attached(self, opening: Opening) -> AgentRun | None:
        """Open a task for an attached agent, and return its run; None if it could not be opened."""
        return await self._openings.only(lambda: self._open_run(opening))

    async def _open(self, opening: Opening) -> None:
        run = await self._openings.only(lambda: self._open_run(opening))
        if run is not None and run is self._current.run:
            self._runner.go(self._openings.then or "decide")

    async def _open_run(self, opening: Opening) -> AgentRun | None:
        current, publisher = self._current, self._publisher
        if current.services is None:
            await self._connect()
        services = current.services
        if services is None:
            return None
        await self._runner.halt()
        await self._runner.finish_stopped()
        current.run = None
        asked = ("task", "seed", "url", "instruction", "profile")
        publisher.moving(f"Opening {opening.task}…", **{name: getattr(opening, name) for name in asked})
        chosen = publisher.session
        try:
            if await asyncio.to_thread(services.environments.refresh, opening.task):
                publisher.send_catalogue(services)
            task = services.environments.find(opening.task, url=opening.url, instruction=opening.instruction)
            if await services.use_browser(opening.browser):
                publisher.send_catalogue(services)  # It has other profiles.
            run = await open_run(
                services.store,
                services.world(task),
                task,
                opening.seed,
                preset=opening.preset or services.resources.presets.get(chosen.preset),
                llm=services.llms.routed(chosen.llm),
                resources=services.resources,
                budget=replace(_UNLIMITED)
                if opening.make
                else Budget(chosen.max_steps, services.settings.max_llm_calls),
                browser=services.host.name,
                profile=opening.profile or None,
                on_asked=publisher.on_asked,
                make=opening.make,
            )
        except BackstepError as error:
            publisher.fail(f"{opening.task} could not be opened: {error}")
            publisher.send_runs()  # The run before has ended, though no other has begun.
            return None
        self._runner.adopt(run)
        if opening.profile:
            publisher.send_catalogue(services)  # A new profile is offered from now on.
        # What was chosen while the task was being opened holds from its first step on.
        if opening.make is None:
            run.state.budget.page_actions = publisher.session.max_steps
        if opening.preset is None and publisher.session.preset != chosen.preset:
            self._agent.use_preset(publisher.session.preset, before=chosen.preset)
        await self._agent.use_llm(services.llms.routed(publisher.session.llm), before=chosen.llm)
        publisher.opened(run)
        return run


class TraceCommands(SessionCommands):
    """Shows, names, writes and reads runs."""

    @command
    def show_step(self, run: int, number: int, side: Side | None = None) -> None:
        """Show a recorded step before or after its action; of several asked for in a row the last.

        Without a `side` it is that of the recorded step in view, or the page before the action.
        """
        self._publisher.show_recorded(run, number, side)

    @command
    def show_now(self) -> None:
        """Show the current step again."""
        self._publisher.show_now()

    @command
    def open_run(self, run: int) -> None:
        """Load the steps of a run into the tree."""
        self._publisher.expand(run)

    @command
    def search_runs(self, query: str) -> None:
        """List the runs that match the words; all where it is empty."""
        self._publisher.send_runs(query)

    @command
    def list_more_runs(self, listed: int) -> None:
        """List a page of older runs, in addition to the `listed` ones."""
        self._publisher.send_more_runs(listed)

    @command
    def name_run(self, run: int, name: str) -> None:
        """Call a run by a name; an empty one takes it away."""
        self._current.need_services().store.name_run(run, name.strip())
        self._publisher.send_changed_run(run)

    @command
    async def export_run(self, run: int, form: str, path: str) -> None:
        """Write a run in one of the formats of `core.trace.exports.registry`."""
        database = self._current.need_services().store.path
        left_out = await asyncio.to_thread(run_files.export_run, database, run, form, path)
        self._publisher.log("info", "export", f"Run {run} was written to {path}. {left_out}".rstrip())
        note = format_named(form).note
        self._publisher.tell(f"Run {run} was written to {path}. {note}".rstrip())

    @command
    async def import_run(self, path: str) -> None:
        """Store the run of a repro file, or a recording of another program, and show it."""
        store = self._current.need_services().store
        run, outcome = await asyncio.to_thread(run_files.import_run, store, Path(path))
        self._publisher.log("info", "import", outcome)
        self._publisher.send_runs()
        if run is not None and (steps := store.steps(run)):
            self._publisher.show_recorded(run, steps[0].number)
        self._publisher.tell(outcome)
