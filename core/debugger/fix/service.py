"""Fix: proposes the step and the file at fault in a failed run, changes them, and runs again from there.

Saved changes can be reverted until they are kept: the old texts are stored here.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from core.agent.presets import ATTACHED
from core.debugger.commands import command
from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.figures import done_of
from core.debugger.evaluations.processes import EvaluationProcesses
from core.debugger.evaluations.records import EvaluationPlan, FamilyRequest
from core.debugger.evaluations.request import named
from core.debugger.fix.deciding import clues_of
from core.debugger.fix.rerun import ActionInPlace, outcome_words, rerun_of, stored_rerun
from core.debugger.fix.step_texts import StepTexts
from core.debugger.fix.views import FamilyResult, FixPlace, FixView, Rerun
from core.debugger.jobs import Job
from core.debugger.service import Service
from core.debugger.session_view import SessionView
from core.schema.action_text import parse_action
from core.schema.changes import Changes
from core.schema.errors import BackstepError, TraceError, UsageError
from core.trace.evaluated import evaluated_runs
from core.trace.evaluations import all_evaluations
from core.trace.records import EvaluatedRun, RunRow
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session

_ATTACHED = (
    "An attached agent made this run, and Backstep does not have its files. Edit the reply that it "
    "gets at this step, or fix its files and start it again."
)
_FAMILY_SECONDS = 1.0
"""So often the runs of a family are counted while they are made."""
_FAMILY_BUSY = "The family is already running. Wait for it to end, or cancel it."
_GIVEN_UP = "Going back was cancelled. What you saved is kept. Run again to continue."


class FixService(Service[FixView]):
    """Shows where a run can be fixed; saves changes, runs again from there, and measures the family."""

    view = FixView()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self._originals: dict[str, str | None] = {}
        """By the name of a file that was saved, the user's own text before; None if there was none."""
        self._before: dict[str, str] = {}
        """By the same name, the text that held before."""
        self._in_place: ActionInPlace | None = None
        """The action that waits to be put in place of the next one of the run made last."""
        self._left: int | None = None
        """The run that was current when the task was asked for afresh; None if that is not awaited."""
        self._begun = False
        """Whether the run made last was told to continue."""
        self._processes = EvaluationProcesses(self)
        session.session_changed.connect(self._on_session)

    @property
    def files(self) -> AgentFiles:
        return AgentFiles(self.services.config)

    @property
    def _texts(self) -> StepTexts:
        """What can be changed at the step in view."""
        view = self.view
        return StepTexts(self.services, view.run, view.step, view.llm)

    def failed(self, problem: str) -> None:
        self.show(problem=problem, busy=False, doing="")

    # The run, the step and what is changed

    @command
    async def open(self, run: int, step: int = 0) -> None:
        """Show where a run can be put right; without a step, at the likeliest one."""
        same = run == self.view.run
        kept = self.view.replace(problem="", notice="") if same else FixView(run=run)
        self.view = kept.replace(saved=tuple(self._originals))
        await self._show_run(run, step)

    @command
    async def choose_step(self, step: int) -> None:
        """Put this step right instead."""
        await self._show_step(step)

    @command
    async def choose_place(self, name: str) -> None:
        """Change this instead."""
        await self._offer(self._place(name))

    @command
    async def check(self, name: str, text: str) -> None:
        """Show what is wrong in a text, or the prompt that would result."""
        checked, recognised = self._texts.checked(self._place(name), text)
        self.show(text=checked, recognised=recognised)

    async def _show_run(self, run: int, step: int) -> None:
        resources = self.services.resources_for(self.services.store.changes(run))
        row, clues, rows, (family, fixed) = await self.read(
            lambda store: (
                store.run(run),
                clues_of(store, store.run(run), resources, self.files),
                store.steps(run),
                _measured(store, run),
            )
        )
        if family is not None and fixed is not None:
            self._show_measured(family, fixed)
        # A step can be gone back to once its page has been read.
        steps = tuple(
            (one.number, one.in_words if one.action else "no action")
            for one in rows
            if one.phase != "observe"
        )
        self.view = self.view.replace(
            ready=True,
            about=f"{row.task}, seed {row.seed}",
            success=row.verdict.success,
            before=outcome_words(row),
            going_on=row.outcome == "running",
            attached=row.preset == ATTACHED.name,
            out_of_budget=row.outcome == "budget",
            llm=self._llm_of(row),
            steps=steps,
            clues=clues,
        )
        if not steps:
            why = f"Run {run} has read no page yet to which it could go back. Let it take a step first (F10)."
            self.send(self.view.replace(why_not=why, places=(), place=None, text=None))
            return
        await self._show_step(step or clues[0].step if clues else steps[-1][0])

    def _show_measured(self, family: FamilyResult, fixed: RunRow) -> None:
        """Show the family and what it was run for, unless something newer is in view."""
        view = self.view
        shows_other = view.rerun is not None and view.rerun.run != fixed.run
        if view.family is None and not view.family_busy and not shows_other:
            self.view = view.replace(family=family, rerun=view.rerun or stored_rerun(fixed))

    async def _show_step(self, step: int) -> None:
        view, services = self.view, self.services
        if step not in [number for number, _ in view.steps]:
            raise UsageError(f"Run {view.run} has no step {step} to go back to.")
        why_not = irreversible = ""
        try:
            services.store.agent(view.run, step)
            irreversible = self.session.branches.not_taken_back(view.run, step)
        except BackstepError as error:
            why_not = str(error)
        self.view = view.replace(
            step=step, irreversible=irreversible, why_not=_ATTACHED if view.attached else why_not, problem=""
        )
        if view.attached:
            self.send(self.view.replace(places=(), place=None, text=None))
            return
        places = self._texts.places(view.clues)
        # What was being changed continues being changed at another step, if possible.
        now = view.place.name if view.place is not None and self._originals else ""
        place = next((one for one in places if one.name == now), places[0])
        self.view = self.view.replace(places=places)
        await self._offer(place)

    def _place(self, name: str) -> FixPlace:
        found = next((place for place in self.view.places if place.name == name), None)
        if found is None:
            raise UsageError(
                f"{name} cannot be changed at step {self.view.step}; choose something else to change."
            )
        return found

    async def _offer(self, place: FixPlace) -> None:
        """Show what there is to change, with the prompt as it is."""
        self.view = self.view.replace(place=place, problem="")
        checked, recognised = self._texts.checked(place, self._texts.text_of(place))
        self.send(self.view.replace(text=checked.replace(asked=True), recognised=recognised))

    def _llm_of(self, row: RunRow) -> str:
        """Return the LLM that answers in the new run: that of the window where the run's own is gone."""
        try:
            self.services.llms.routed(row.llm)
        except UsageError:
            return self.session.session.llm
        return row.llm

    # Run again

    @command
    async def rerun(self, name: str, text: str, *, confirmed: bool) -> None:
        """Save what was changed and continue from the step to the end; what is wrong in it is shown instead.

        `confirmed` says that the person knows what going back does not undo.
        """
        view = self.view
        if view.why_not:
            raise UsageError(view.why_not)
        if view.irreversible and not confirmed:
            raise UsageError(f"{view.irreversible}. Tick the box to accept this, then run again.")
        place = self._place(name)
        checked, recognised = self._texts.checked(place, text)
        if checked.problem:
            self.show(text=checked, recognised=recognised)
            return
        changes = Changes(llm=view.llm)
        writes = place.kind not in ("exemplar", "action")
        unchanged = writes and not self._originals and text == self._texts.text_of(place)
        match place.kind:
            case "exemplar":
                changes = changes.replace(without=(place.name,))
            case _ if place.policy:
                changes = changes.replace(policy_texts={place.policy: text})
            case "action":
                pass
            case _:
                self._save(place.name, text)
        doing = f"Going back to step {view.step} of run {view.run}…"
        checked = checked.replace(applied=True)
        self.show(
            busy=True,
            doing=doing,
            rerun=None,
            family=None,
            text=checked,
            recognised=recognised,
            problem="",
            notice="",
        )
        self._in_place, self._begun = None, False
        try:
            made = await self.session.branches.fork(view.run, view.step, changes)
        finally:
            self.show(busy=False, doing="")
        if made is None:
            raise UsageError(_GIVEN_UP)
        restored = self.services.store.pages.restored(made)
        if restored is not None and restored.grade == "lost":
            self.show(rerun=Rerun(run=made, step=view.step, state="lost", words=restored.sentence))
            return
        words = "" if restored is None or restored.verified else restored.sentence
        if view.out_of_budget and (run := self.session.agent_run) is not None:
            limit = run.state.totals.page_actions + self.session.session.max_steps
            self.session.run_commands.set_max_steps(limit)
            self.show(notice=f"The step limit is {limit} now: run {view.run} was out of its budget.")
        self.show(rerun=Rerun(run=made, step=view.step, unchanged=unchanged, words=words))
        if place.kind == "action":
            self._in_place = ActionInPlace(self.session, made, view.run, view.step, parse_action(text))
            self._go_on(self.session.run_commands.step)
        else:
            self._go_on(self.session.run_commands.run)

    def _go_on(self, command: Callable[[], None]) -> None:
        """Have the run continue; where it rests before that is not told."""
        self._begun = False
        command()

        async def mark() -> None:
            self._begun = True

        self.session.queue(mark())

    @command
    async def rerun_fresh(self) -> None:
        """Do the task again from its start, at the same seed, with the files as they are now."""
        row = self.services.store.run(self.view.run)
        session = self.session
        url, instruction = (row.start_url, row.instruction) if row.environment == "web" else ("", "")
        self._left = session.session.run or 0
        self.show(rerun=None, family=None, problem="", notice="")
        session.agent.set_preset(row.preset)
        session.agent.set_llm(self.view.llm)
        session.tasks.open(row.task, row.seed, url=url, instruction=instruction, profile=row.profile or "")
        self._go_on(session.run_commands.run)

    def _on_session(self, session: SessionView) -> None:
        """Follow the run that was made."""
        view = self.view
        if self._left is not None and session.run not in (None, self._left) and session.mode != "opening":
            self._left = None
            view = view.replace(rerun=Rerun(run=session.run, fresh=True))
        rerun = view.rerun
        if view.going_on and (session.run != view.run or session.mode == "ended"):
            row = self.services.store.run(view.run)
            if row.outcome != "running":
                view = view.replace(going_on=False, success=row.verdict.success, before=outcome_words(row))
                self.send(view)
        if rerun is None or rerun.state == "lost" or not self._begun:
            return
        if session.run != rerun.run:
            if session.run is not None and rerun.state in ("going on", "waiting"):
                self.send(
                    view.replace(rerun=rerun.replace(state="left", words="It was replaced by another run."))
                )
            return
        if self._in_place is not None and session.mode not in ("failed", "ended"):
            if not self._in_place.is_due(session):
                return
            in_place, self._in_place = self._in_place, None
            view = view.replace(problem=in_place.problem())
            if not view.problem:
                self._go_on(in_place.put)
                return
        try:
            now = rerun_of(rerun, session, self.services.store)
        except TraceError as error:
            self.failed(str(error))
            return
        if (now, view.problem) != (self.view.rerun, self.view.problem):
            self.send(view.replace(rerun=now))

    # Saved, kept and put back

    def _save(self, name: str, text: str) -> None:
        """Write the file where it is another text, and hold what there was."""
        files = self.files
        held = files.read(name)
        if text == held:
            return
        own = files.own_text(name)
        files.write(name, text)
        self._originals.setdefault(name, own)
        self._before.setdefault(name, held)
        self.view = self.view.replace(saved=tuple(self._originals))
        self.session.offer()

    @command
    async def keep(self) -> None:
        """Keep the saved changes; they can no longer be reverted."""
        if not self._originals:
            raise UsageError("Nothing to keep. Change something and run again first.")
        kept = ", ".join(str(self.files.target(name)) for name in self._originals)
        self._originals.clear()
        self._before.clear()
        self.session.tell(f"Kept {kept}.")
        self.show(saved=(), notice=f"Kept: {kept}. It applies to every run from now on.")

    @command
    async def revert(self) -> None:
        """Restore all files to before you saved them here; the runs stay."""
        if not self._originals:
            raise UsageError("Nothing to revert.")
        files = self.files
        for name, text in tuple(self._originals.items()):
            if text is None:
                files.delete(name)
            else:
                files.write(name, text)
            del self._originals[name]
            del self._before[name]
        self.session.offer()
        self.view = self.view.replace(saved=(), family=None)
        if self.view.place is not None:
            await self._offer(self.view.place)
        self.show(notice="The files were restored; the runs stay.")

    # The family

    @command
    async def run_family(self, count: int) -> None:
        """Do the task at `count` other seeds in the background, with the files as they were and as they are."""
        view = self.view
        if self.is_busy:
            raise UsageError(_FAMILY_BUSY)
        if view.rerun is None:
            raise UsageError(
                "Run again from the step first. The family then shows what the change does elsewhere."
            )
        if not self._before and not self._differs(view.rerun.run):
            raise UsageError(
                "Nothing would be different before and after: the change was kept or put back, or it was of this "
                "step alone. Change a file and run again first."
            )
        request = named(
            FamilyRequest(run=view.run, fixed=view.rerun.run, before=self._before, count=count, llm=view.llm)
        )
        await self._processes.create(request)
        self.show(family=None, family_busy=True, problem="", notice="")
        self.start(self._follow_family(request), _FAMILY_BUSY)

    def _differs(self, fixed: int) -> bool:
        """Return whether something other than files and LLM was asked of the run that was made."""
        store = self.services.store
        before, after = (store.changes(run).replace(llm="") for run in (self.view.run, fixed))
        return before != after

    @command
    async def cancel_family(self) -> None:
        """End the runs of the family; those that are done are kept."""
        self._end_family()

    def _end_family(self) -> None:
        for name in self._processes:
            self._processes.cancel(name)

    @property
    def jobs(self) -> tuple[Job, ...]:
        view, family = self.view, self.view.family
        if not view.family_busy:
            return ()
        done, of = (family.done, family.total) if family is not None else (0, 0)
        return (Job(title=f"Family of run {view.run}", done=done, of=of, opens="fix", run=view.run),)

    async def end_job(self, key: str) -> None:
        self._end_family()

    async def _follow_family(self, request: FamilyRequest) -> None:
        problem = ""

        async def ended(why: str) -> None:
            nonlocal problem
            problem = why

        self._processes.start(request, on_said=lambda _line: None, on_end=ended)
        try:
            while request.name in self._processes:
                await asyncio.sleep(_FAMILY_SECONDS)
                family = await self.read(lambda store: measured_family(store, request.run))
                if family is not None and family.name == request.name and family != self.view.family:
                    self.show(family=family)
        finally:
            self.show(family_busy=False, problem=problem)
        self.session.send_runs(self.session.query)

    async def close(self) -> None:
        self.session.session_changed.disconnect(self._on_session)
        await super().close()
        await self._processes.close()


def _measured(store: TraceStore, run: int) -> tuple[FamilyResult | None, RunRow | None]:
    """Return the latest family of a run, and the run that was made with what was changed."""
    family = measured_family(store, run)
    fixed = next(iter(store.rows([family.fixed])), None) if family is not None else None
    return family, fixed


make_service = FixService


def measured_family(store: TraceStore, run: int) -> FamilyResult | None:
    """Return how far the latest family of a run is, or None if there is none."""
    for row in store.ask(all_evaluations):
        try:
            plan = planned(row)
        except TraceError:
            continue  # Another version of the program has written it.
        if (plan.kind, plan.run) == ("family", run):
            return _result(row.name, plan, done_of(evaluated_runs(store, row.number)))
    return None


def _result(name: str, plan: EvaluationPlan, runs: tuple[EvaluatedRun, ...]) -> FamilyResult:
    def counted(side: str) -> tuple[int, int]:
        judged = [bool(run.success) for run in runs if run.variant == side and run.success is not None]
        return sum(judged), len(judged)

    return FamilyResult(
        name=name,
        fixed=plan.fixed,
        before=counted("before"),
        after=counted("after"),
        seeds=len(plan.seeds) * plan.times,
        done=len(runs),
        total=plan.total,
    )
