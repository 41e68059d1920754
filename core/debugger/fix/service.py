"""Fix: the causes of a failed run with changes that may mend it, proved before a file is written, or tried by hand.

Files that were saved or kept here can be reverted: the old texts are held here.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from core.agent.presets import ATTACHED
from core.debugger.causes.finding import causes_of
from core.debugger.causes.report import report_of
from core.debugger.commands import command
from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.engine import planned
from core.debugger.evaluations.processes import EvaluationProcesses
from core.debugger.evaluations.proof import proof_of
from core.debugger.evaluations.records import Candidate, Proof, RepairRequest
from core.debugger.evaluations.request import named
from core.debugger.fix.deciding import clue_of, clues_of, in_order, is_in_use
from core.debugger.fix.rerun import ActionInPlace, outcome_words, rerun_of
from core.debugger.fix.step_texts import StepTexts
from core.debugger.fix.views import CausesView, Clue, FixPlace, FixView, Rerun
from core.debugger.jobs import Job
from core.debugger.repair.candidates import alike_runs, keep
from core.debugger.repair.proposing import propose
from core.debugger.service import Service
from core.debugger.session_view import SessionView
from core.schema.action_text import parse_action
from core.schema.changes import Changes
from core.schema.errors import BackstepError, TraceError, UsageError
from core.schema.signal import Signal
from core.trace.evaluations import evaluation_named
from core.trace.records import RunRow
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session

_ATTACHED = (
    "An attached agent made this run, and Backstep does not have its files. Edit the reply that it "
    "gets at this step, or fix its files and start it again."
)
_PROOF_SECONDS = 1.0
"""So often the runs of a proof are counted while they are made."""
_PROVING = "A change is already being proved or proposed. Wait for its end, or cancel it."
_NO_PROOF = {
    "exemplar": "Whether an exemplar helps is measured in the library (Worth), not here.",
    "action": "An action of one step changes no file, so there is nothing to prove.",
}
_LOOKING = "Looking for runs that failed alike, and for those that passed…"
_GOES_ON = "Run {} has not ended. If it fails, its causes show here at its end."
_NO_LLM = ("", "rules", "person")
"""What cannot be asked for a change."""
_GIVEN_UP = "Going back was cancelled. What you saved is kept. Run again to continue."


class FixService(Service[FixView]):
    """Shows where a run can be fixed; proves changes, and runs again from a step."""

    view = FixView()

    def __init__(self, session: "Session") -> None:
        super().__init__(session)
        self.reported: Signal[str] = Signal()
        self.looked: Signal[CausesView] = Signal()
        self._originals: dict[str, str | None] = {}
        """By the name of a file that was saved, the user's own text before; None if there was none."""
        self._before: dict[str, str] = {}
        """By the same name, the text that held before."""
        self._kept: set[str] = set()
        """Those of the names that were kept."""
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
        self.view = kept.replace(saved=tuple(self._originals), kept=tuple(self._kept))
        await self._show_run(run, step)

    @command
    async def look(self, run: int) -> None:
        """Send what may have made a run fail, by `looked`."""
        services, files = self.services, self.files

        def read(store: TraceStore) -> CausesView:
            row = store.run(run)
            if row.outcome == "running":
                return CausesView(run=run, words=_GOES_ON.format(run))
            if row.verdict.success:
                return CausesView(run=run, words=f"Run {run} succeeded, so there is nothing to look for.")
            clues = clues_of(store, row, services.resources_for(store.changes(run)), files)
            return CausesView(run=run, clues=clues, words="" if clues else f"Run {run} has no steps.")

        def failed(problem: str) -> CausesView:
            return CausesView(run=run, words=problem)

        await self.answer("causes", read, self.looked.send, failed)

    @command
    async def choose_clue(self, at: int) -> None:
        """Look at this clue: its step, and its file with the change that is proposed."""
        if 0 <= at < len(self.view.clues):
            await self._show_clue(at)

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
        row, clues, rows = await self.read(
            lambda store: (
                store.run(run),
                clues_of(store, store.run(run), resources, self.files),
                store.steps(run),
            )
        )
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
            proposer=next(
                (llm for llm in (self._llm_of(row), self.session.session.llm) if llm not in _NO_LLM), ""
            ),
            steps=steps,
            clues=clues,
            chosen=-1,
        )
        if not steps:
            why = f"Run {run} has read no page yet to which it could go back. Let it take a step first (F10)."
            self.send(self.view.replace(why_not=why, places=(), place=None, text=None))
            return
        at = next((at for at, clue in enumerate(clues) if step in (0, clue.step)), -1)
        if at >= 0 and self.view.step in (0, clues[at].step) and self._unkept:
            self.view = self.view.replace(chosen=at)  # What was being changed continues being changed.
            await self._show_step(clues[at].step)
        elif at >= 0:
            await self._show_clue(at)
        else:
            await self._show_step(step or steps[-1][0])

    async def _show_clue(self, at: int) -> None:
        self.view = self.view.replace(chosen=at, place=None)
        await self._show_step(self.view.clues[at].step)

    async def _show_step(self, step: int) -> None:
        view, services = self.view, self.services
        if step not in [number for number, _ in view.steps]:
            raise UsageError(f"Run {view.run} has no step {step} to go back to.")
        if view.clue is not None and view.clue.step != step:
            at = next((at for at, clue in enumerate(view.clues) if clue.step == step), -1)
            view = self.view = view.replace(chosen=at)
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
        places = self._texts.places(view.clue)
        # What was being changed continues being changed at another step, if possible.
        now = view.place.name if view.place is not None and self._unkept else ""
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
        unchanged = writes and not self._unkept and text == self._texts.text_of(place)
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
        self.show(rerun=None, problem="", notice="")
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

    @property
    def _unkept(self) -> list[str]:
        """The files that were saved and not kept."""
        return [name for name in self._originals if name not in self._kept]

    def _hold(self, name: str) -> None:
        """Hold the text of a file that is about to be written, so that it can be put back."""
        if name in self._originals and name not in self._kept:
            return
        files = self.files
        self._originals[name] = files.own_text(name)
        self._before[name] = files.read(name) if name in files.names() else ""
        self._kept.discard(name)

    def _save(self, name: str, text: str) -> None:
        """Write the file where it is another text, and hold what there was."""
        if text == self.files.read(name):
            return
        self._hold(name)
        self.files.write(name, text)
        self._show_saved()

    def _show_saved(self) -> None:
        files = self.files
        clues = tuple(
            clue.replace(in_use=clue.candidate is not None and is_in_use(clue.candidate.files, files))
            for clue in self.view.clues
        )
        self.view = self.view.replace(saved=tuple(self._originals), kept=tuple(self._kept), clues=clues)
        self.session.offer()

    @command
    async def keep(self) -> None:
        """Write the change of the clue in view if it was proved, or keep what was saved by hand."""
        clue = self.view.clue
        if clue is not None and clue.candidate is not None and clue.can_be_kept:
            names = list(clue.candidate.files)
            for name in names:
                self._hold(name)
            try:
                keep(clue.candidate, self.files)
            except BackstepError:
                self._forget_unwritten()
                raise
        else:
            names = self._unkept
        if not names:
            raise UsageError("Nothing to keep. Prove a change, or change something and run again first.")
        self._kept.update(names)
        kept = ", ".join(str(self.files.target(name)) for name in names)
        self._show_saved()
        self.session.tell(f"Kept {kept}.")
        self.show(notice=f"Kept: {kept}. It applies to every run from now on.")
        if self.view.place is not None:
            await self._offer(self.view.place)

    def _forget_unwritten(self) -> None:
        """Hold no longer what was not written after all."""
        for name, own in tuple(self._originals.items()):
            if self.files.own_text(name) == own:
                del self._originals[name], self._before[name]

    @command
    async def revert(self) -> None:
        """Restore all files to before you saved or kept them here; the runs stay."""
        if not self._originals:
            raise UsageError("Nothing to revert.")
        files = self.files
        for name, text in tuple(self._originals.items()):
            if text is None:
                files.delete(name)
            else:
                files.write(name, text)
            del self._originals[name], self._before[name]
            self._kept.discard(name)
        self._show_saved()
        if self.view.place is not None:
            await self._offer(self.view.place)
        self.show(notice="The files were restored; the runs stay.")

    @command
    async def report(self) -> None:
        """Send the run and its causes as Markdown, by `reported`."""
        run, resources = (
            self.view.run,
            self.services.resources_for(self.services.store.changes(self.view.run)),
        )

        def read(store: TraceStore) -> str:
            row = store.run(run)
            causes = () if row.outcome == "running" else causes_of(store, run, resources, self.files)
            return report_of(store, row, causes)

        self.reported.send(await self.read(read))

    # Proposed and proved

    @command
    async def propose(self) -> None:
        """Let the LLM propose a change, which comes as a clue of its own."""
        if not self.view.proposer:
            raise UsageError(
                "The built-in LLM cannot propose a change. Choose another LLM in the window first."
            )
        self.start(self._propose(self.view.run, self.view.proposer), _PROVING)

    async def _propose(self, run: int, llm: str) -> None:
        self.show(busy=True, doing=f"{llm} is asked for a change…", problem="", notice="")
        services = self.services
        try:
            resources = services.resources_for(services.store.changes(run))
            causes = await self.read(lambda store: causes_of(store, run, resources, self.files))
            store = services.store
            made = await propose(
                store, store.run(run), causes, services.llms.routed(llm), self.files, resources
            )
        finally:
            self.show(busy=False, doing="")
        cost = "" if made.cost is None else f" for ${made.cost:.4g}"
        asked = f"in {'1 call' if made.calls == 1 else f'{made.calls} calls'}{cost}"
        if made.candidate is None:
            raise UsageError(f"{llm} proposed no change that can be applied, {asked}: {made.problem}")
        if self.view.run == run:
            self._add(made.candidate)
            await self._show_clue(self.view.chosen)
            self.show(notice=f"{llm} proposed a change {asked}. Nothing is written; prove it first.")

    @command
    async def prove(self, name: str, text: str, pairs: int) -> None:
        """Run with and without a change in the background: that of the clue in view, or this text if it is another.

        At most `pairs` pairs are made to choose it by. Nothing is written.
        """
        if self.is_busy:
            raise UsageError(_PROVING)
        candidate = self._candidate(name, text)
        if candidate is not None:
            self.start(self._prove(self.view.run, candidate, pairs), _PROVING)

    def _candidate(self, name: str, text: str) -> Candidate | None:
        """Return what is to be proved; None if the text is wrong, which is shown."""
        view, files = self.view, self.files
        place = self._place(name)
        saved = {one: files.read(one) for one in self._unkept}
        proposed = view.clue.candidate if view.clue is not None else None
        if proposed is not None and not saved and text in (self._texts.text_of(place), view.patched):
            return proposed
        if why := _NO_PROOF.get(place.kind):
            raise UsageError(why)
        if place.policy:
            raise UsageError(
                "Only this run has this text of the policy. Change the policy's file to prove a change."
            )
        checked, recognised = self._texts.checked(place, text)
        if checked.problem:
            self.show(text=checked, recognised=recognised)
            return None
        texts = saved | {name: text}
        base = {one: self._before[one] if one in saved else files.read(one) for one in texts}
        if texts == base:
            raise UsageError(
                "Nothing is changed yet. Apply the patch of a cause, or edit the text; then prove it."
            )
        what = f"Your change of {', '.join(texts)}."
        return Candidate(what=what, files=texts, base=base, step=view.step)

    def _add(self, candidate: Candidate) -> None:
        """Look at the clue that has this change, a new one if there is none."""
        clues = self.view.clues
        at = next((at for at, one in enumerate(clues) if _is_of(one, candidate)), None)
        if at is None:
            clues, at = (clue_of(candidate, self.view.step), *clues), 0
        self.send(self.view.replace(clues=clues, chosen=at))

    async def _prove(self, run: int, candidate: Candidate, pairs: int) -> None:
        self.show(proving=True, done=0, of=0, problem="", notice="", doing=_LOOKING)
        self._add(candidate)
        self._note(run, candidate, proving=True)
        why = ""
        try:
            resources, files = self.services.resources_for(self.services.store.changes(run)), self.files
            alike = await self.read(lambda store: alike_runs(store, store.run(run), resources, files))
            request = named(RepairRequest(run=run, candidates=(candidate,), pairs=pairs, alike=alike))
            await self._processes.create(request)
            why = await self._made(request, candidate)
        finally:
            self._note(run, candidate, proving=False)
            self.show(proving=False, problem=why, doing="")
        self.session.send_runs(self.session.query)

    async def _made(self, request: RepairRequest, candidate: Candidate) -> str:
        """Make the runs of a proof and show them as they come; return why they failed, or nothing."""
        ended_with: list[str] = []

        async def ended(why: str) -> None:
            ended_with.append(why)

        def said(line: str) -> None:
            if self.view.run == request.run:
                self.show(doing=line)

        self._processes.start(request, on_said=said, on_end=ended)
        while True:
            is_over = bool(ended_with)
            proof, total = await self.read(partial(_proof, name=request.name, is_over=is_over))
            each = proof.candidates[0]
            self._note(request.run, candidate, proof=each, runs=proof.runs, cost=proof.cost)
            if self.view.run == request.run:
                self.show(done=proof.runs, of=total)
            if is_over:
                return ended_with[0]
            await asyncio.sleep(_PROOF_SECONDS)

    def _note(self, run: int, candidate: Candidate, **known: Any) -> None:
        """Show what is known of a change, if its run is still in view; what is proven goes first."""
        view = self.view
        if view.run != run:
            return
        looked_at = view.clue
        clues = [one.replace(**known) if _is_of(one, candidate) else one for one in view.clues]
        chosen = clues[view.chosen] if looked_at is not None else None
        ordered = in_order(clues)
        at = next((at for at, one in enumerate(ordered) if one is chosen), -1)
        self.send(view.replace(clues=ordered, chosen=at))

    @command
    async def cancel_proof(self) -> None:
        """End the runs of the proof; those that are done are kept."""
        self._end_proof()

    def _end_proof(self) -> None:
        for name in self._processes:
            self._processes.cancel(name)

    @property
    def jobs(self) -> tuple[Job, ...]:
        view = self.view
        if not view.proving:
            return ()
        return (
            Job(title=f"Proof for run {view.run}", done=view.done, of=view.of, opens="fix", run=view.run),
        )

    async def end_job(self, key: str) -> None:
        self._end_proof()

    async def close(self) -> None:
        self.session.session_changed.disconnect(self._on_session)
        await super().close()
        await self._processes.close()


make_service = FixService


def _is_of(clue: Clue, candidate: Candidate) -> bool:
    return clue.candidate is not None and clue.candidate.files == candidate.files


def _proof(store: TraceStore, name: str, *, is_over: bool) -> tuple[Proof, int]:
    """Return what is known of a change so far, and how many runs there are at most."""
    row = evaluation_named(store, name)
    if row is None:
        raise UsageError("That evaluation no longer exists.")
    plan = planned(row)
    why = "" if plan.only or not is_over else "It was ended before it was known."
    return proof_of(store, name, plan, why), plan.total
