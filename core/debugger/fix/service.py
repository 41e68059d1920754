"""Fix: the causes of a failed run with changes that may mend it, proved before a file is written, or tried by hand.

Files that were saved or kept here can be reverted: the old texts are held here.
"""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from core.agent.presets import ATTACHED
from core.debugger.causes.finding import causes_of
from core.debugger.causes.report import report_of
from core.debugger.commands import command
from core.debugger.editing.files import AgentFiles
from core.debugger.evaluations.proof_records import Candidate
from core.debugger.fix.deciding import clue_of, clues_of, in_order, is_in_use, with_news
from core.debugger.fix.proofs import ChangeProofs
from core.debugger.fix.rerun import ActionInPlace, Reruns, outcome_words
from core.debugger.fix.saved import SavedFiles
from core.debugger.fix.step_texts import StepTexts
from core.debugger.fix.views import CausesView, Clue, FixPlace, FixView, Rerun
from core.debugger.jobs import Job
from core.debugger.repair.candidates import change_of, keep
from core.debugger.repair.proposing import propose
from core.debugger.service import Service
from core.debugger.session_view import SessionView
from core.schema.action_text import parse_action
from core.schema.changes import Changes
from core.schema.errors import BackstepError, TraceError, UsageError
from core.schema.signal import Signal
from core.trace.records import RunRow
from core.trace.store import TraceStore

if TYPE_CHECKING:
    from core.debugger.session import Session

_ATTACHED = (
    "An attached agent made this run, and Backstep does not have its files. Edit the reply that it "
    "gets at this step, or fix its files and start it again."
)
_PROVING = "A change is already being proved or proposed. Wait for its end, or cancel it."
_NO_PROOF = {
    "exemplar": "Whether an exemplar helps is measured in the library (Worth), not here.",
    "action": "An action of one step changes no file, so there is nothing to prove.",
}
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
        self._saved = SavedFiles()
        self._proposed: dict[int, tuple[Candidate, ...]] = {}
        """What LLMs proposed, by the number of the run."""
        self._reruns = Reruns(session)
        self._told = ""
        """Of what the view tells that is not undone, what the steps have sent."""
        self._asking = ""
        """What an LLM is asked, while it is."""
        self._proofs = ChangeProofs(self, self._show_proof)
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
    async def open(self, run: int, step: int = 0, clue: Clue | None = None) -> None:
        """Show where a run can be put right: at this clue, or this step, or else at what is likeliest."""
        same = run == self.view.run
        self.view = self.view.replace(problem="", notice="") if same else FixView(run=run)
        self.view = self.view.replace(saved=self._saved.names, unkept=self._saved.unkept(run))
        await self._show_run(run, step, clue)

    @command
    async def look(self, run: int) -> None:
        """Send what may have made a run fail, by `looked`."""
        services, files = self.services, self.files

        def failed(problem: str) -> CausesView:
            return CausesView(run=run, words=problem)

        try:
            resources = services.resources_for(services.store.changes(run))
        except BackstepError as error:
            self.looked.send(failed(str(error)))
            return

        def read(store: TraceStore) -> CausesView:
            row = store.run(run)
            if row.outcome == "running":
                return CausesView(run=run, words=_GOES_ON.format(run))
            if row.verdict.success:
                return CausesView(run=run, words=f"Run {run} succeeded, so there is nothing to look for.")
            clues = clues_of(store, row, resources, files)
            return CausesView(run=run, clues=clues, words="" if clues else f"Run {run} has no steps.")

        def send(view: CausesView) -> None:
            if view.clues:
                whole = FixView(run=run, clues=self._with_proposals(run, view.clues))
                view = view.replace(clues=self._with_proof(whole).clues)
            self.looked.send(view)

        await self.answer("causes", read, send, failed)

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

    async def _show_run(self, run: int, step: int, wanted: Clue | None = None) -> None:
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
        view = self.view.replace(
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
            clues=self._as_files_are(self._with_proposals(run, clues)),
            chosen=-1,
        )
        self.view = self._with_proof(view)
        clues = self.view.clues
        if not steps and (view.going_on or not clues):
            why = f"Run {run} has read no page yet to which it could go back. Let it take a step first (F10)."
            self.send(self.view.replace(why_not=why, places=(), place=None, text=None))
            return
        likely = sorted(enumerate(clues), key=lambda one: not one[1].proving)
        at = next((at for at, clue in likely if step in (0, clue.step)), -1)
        if wanted is not None:
            at = next((at for at, clue in enumerate(clues) if clue.is_like(wanted)), at)
        elif at >= 0 and self.view.step in (0, clues[at].step) and self.view.unkept:
            self.view = self.view.replace(chosen=at)  # What was being changed continues being changed.
            await self._show_step(clues[at].step)
            return
        if at >= 0:
            await self._show_clue(at)
        else:
            await self._show_step(step or steps[-1][0])

    async def _show_clue(self, at: int) -> None:
        self.view = self.view.replace(chosen=at, place=None)
        await self._show_step(self.view.clues[at].step)

    async def _show_step(self, step: int) -> None:
        view, services = self.view, self.services
        why_not = irreversible = ""
        if step not in [number for number, _ in view.steps]:
            why_not = f"Run {view.run} has no step {step} to go back to."
            if view.clue is None or view.clue.step != step:  # A cause may be of such a step.
                raise UsageError(why_not)
        if view.clue is not None and view.clue.step != step:
            at = next((at for at, clue in enumerate(view.clues) if clue.step == step), -1)
            view = self.view = view.replace(chosen=at)
        try:
            services.store.agent(view.run, step)
            irreversible = self.session.branches.not_taken_back(view.run, step)
            self._told = self.session.branches.not_taken_back(view.run, step, late=False)
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
        now = view.place.name if view.place is not None and view.unkept else ""
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
        # More may have been sent since it was shown, by the run before.
        irreversible = self.session.branches.not_taken_back(view.run, view.step)
        told, self._told = self._told, self.session.branches.not_taken_back(view.run, view.step, late=False)
        if irreversible and not (confirmed and view.irreversible and told == self._told):
            self.show(irreversible=irreversible)
            raise UsageError(f"{irreversible}. Tick the box to accept this, then run again.")
        place = self._place(name)
        checked, recognised = self._texts.checked(place, text)
        if checked.problem:
            self.show(text=checked, recognised=recognised)
            return
        changes = Changes(llm=view.llm)
        writes = place.kind not in ("exemplar", "action")
        unchanged = writes and not view.unkept and text == self._texts.text_of(place)
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
        self._reruns.forget()

        def show(**known: Any) -> None:
            if self.view.run == view.run:  # Another run may be in view by now.
                self.show(**known)

        try:
            made = await self.session.branches.fork(view.run, view.step, changes)
        finally:
            show(busy=False, doing="")
        if made is None:
            show(problem=_GIVEN_UP)
            return
        restored = self.services.store.pages.restored(made)
        if restored is not None and restored.grade == "lost":
            show(rerun=Rerun(run=made, step=view.step, state="lost", words=restored.sentence))
            return
        words = "" if restored is None or restored.verified else restored.sentence
        if view.out_of_budget and (run := self.session.agent_run) is not None:
            limit = run.state.totals.page_actions + self.session.session.max_steps
            self.session.run_commands.set_max_steps(limit)
            show(notice=f"The step limit is {limit} now: run {view.run} was out of its budget.")
        show(rerun=Rerun(run=made, step=view.step, unchanged=unchanged, words=words))
        in_place = None
        if place.kind == "action":
            in_place = ActionInPlace(self.session, made, view.run, view.step, parse_action(text))
        self._reruns.go_on(in_place)

    @command
    async def rerun_fresh(self) -> None:
        """Do the task again from its start, at the same seed, with the files as they are now."""
        row = self.services.store.run(self.view.run)
        self.show(rerun=None, problem="", notice="")
        self._reruns.afresh(row, self.view.llm)

    def _on_session(self, session: SessionView) -> None:
        """Follow the run that was made, and the run in view to its end."""
        view = self.view
        if view.going_on and (session.run != view.run or session.mode == "ended"):
            row = self.services.store.run(view.run)
            if row.outcome != "running":
                view = view.replace(going_on=False, success=row.verdict.success, before=outcome_words(row))
        try:
            now, problem = self._reruns.followed(view.rerun, session)
        except TraceError as error:
            self.failed(str(error))
            return
        view = view.replace(rerun=now, problem=problem or view.problem)
        if view != self.view:
            self.send(view)

    # Saved, kept and put back

    def _save(self, name: str, text: str) -> None:
        """Write the file where it is another text, and hold what there was."""
        files = self.files
        if text == files.read(name):
            return
        with self._saved.writing([name], self.view.run, files):
            files.write(name, text)
        self._show_saved()

    def _show_saved(self) -> None:
        self.view = self.view.replace(
            saved=self._saved.names,
            unkept=self._saved.unkept(self.view.run),
            clues=self._as_files_are(self.view.clues),
        )
        self.session.offer()

    def _as_files_are(self, clues: Iterable[Clue]) -> tuple[Clue, ...]:
        """Return clues with whether their changes are in use now: files may be written while clues are read."""
        files = self.files
        return tuple(
            clue.replace(in_use=clue.candidate is not None and is_in_use(clue.candidate.files, files))
            for clue in clues
        )

    @command
    async def keep(self) -> None:
        """Write the change of the clue in view if it was proved, or keep what was saved by hand."""
        clue, files = self.view.clue, self.files
        names: Iterable[str] = self.view.unkept
        if clue is not None and clue.candidate is not None and clue.can_be_kept:
            names = tuple(clue.candidate.files)
            with self._saved.writing(names, self.view.run, files):
                keep(clue.candidate, files)
        if not names:
            raise UsageError("Nothing to keep. Prove a change, or change something and run again first.")
        self._saved.keep(names)
        kept = ", ".join(str(files.target(name)) for name in names)
        self._show_saved()
        self.session.tell(f"Kept {kept}.")
        self.show(notice=f"Kept: {kept}. It applies to every run from now on.")
        if self.view.place is not None:
            await self._offer(self.view.place)

    @command
    async def revert(self) -> None:
        """Restore all files to before you saved or kept them here; the runs stay."""
        if not self._saved.names:
            raise UsageError("Nothing to revert.")
        changed = self._saved.revert(self.files)
        self._show_saved()
        if self.view.place is not None:
            await self._offer(self.view.place)
        notice = "The files were restored; the runs stay."
        if changed:
            notice = f"Not restored, because changed elsewhere since: {', '.join(changed)}. The runs stay."
        self.show(notice=notice)

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
        self.start(partial(self._propose, self.view.run, self.view.proposer), _PROVING)

    async def _propose(self, run: int, llm: str) -> None:
        self._asking = f"{llm} is asked for a change that mends run {run}…"
        self.show(proposing=True, proof_says=self._asking, problem="", notice="")
        try:
            told = await self._proposed_by(run, llm)
        except BackstepError as error:
            told = str(error)
            if self.view.run == run:
                self.show(problem=told)
        finally:
            self._asking = ""
            self.show(proposing=False, proof_says="")
        if self.view.run != run:
            self.session.tell(f"Run {run}: {told}")

    async def _proposed_by(self, run: int, llm: str) -> str:
        """Ask an LLM for a change, show it, and return what came of it; raises UsageError if it proposed none."""
        services, store = self.services, self.services.store
        resources = services.resources_for(store.changes(run))
        causes = await self.read(lambda store: causes_of(store, run, resources, self.files))
        made = await propose(store, store.run(run), causes, services.llms.routed(llm), self.files, resources)
        cost = "" if made.cost is None else f" for ${made.cost:.4g}"
        asked = f"in {'1 call' if made.calls == 1 else f'{made.calls} calls'}{cost}"
        if made.candidate is None:
            raise UsageError(f"{llm} proposed no change that can be applied, {asked}: {made.problem}")
        self._proposed[run] = (made.candidate, *self._proposed.get(run, ()))
        told = f"{llm} proposed a change {asked}."
        if self.view.run == run:
            self._add(made.candidate)
            await self._show_clue(self.view.chosen)
            self.show(notice=f"{told} Nothing is written; prove it first.")
        return told

    def _with_proposals(self, run: int, clues: Iterable[Clue]) -> tuple[Clue, ...]:
        """Return clues with those that LLMs proposed, and that of the change that is being proved."""
        known = tuple(clues)
        running = self._proofs.running
        asked = (running.candidate,) if running is not None and running.run == run else ()
        for one in (*asked, *reversed(self._proposed.get(run, ()))):
            if not any(clue.has(one) for clue in known):
                clue = clue_of(one, self.view.step or 1).replace(in_use=is_in_use(one.files, self.files))
                known = (clue, *known)
        return in_order(known)

    @command
    async def prove(self, name: str, text: str, pairs: int) -> None:
        """Run with and without a change in the background: that of the clue in view, or this text if it is another.

        At most `pairs` pairs are made to choose it by. Without a name, it is that of the clue. Nothing is written.
        """
        if self.is_busy:
            raise UsageError(_PROVING)
        candidate = self._candidate(name, text)
        if candidate is not None:
            self.start(partial(self._prove, self.view.run, candidate, pairs), _PROVING)

    def _candidate(self, name: str, text: str) -> Candidate | None:
        """Return what is to be proved; None if the text is wrong, which is shown."""
        view, files = self.view, self.files
        proposed = view.clue.candidate if view.clue is not None else None
        if proposed is not None and not name:
            return self._as_now(proposed)
        place, saved = self._place(name), view.unkept
        if proposed is not None and name not in saved and text in (self._texts.text_of(place), view.patched):
            return self._as_now(proposed)
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
        texts = {one: files.read(one) for one in saved} | {name: text}
        base = {one: self._saved.before(one) if one in saved else files.read(one) for one in texts}
        texts = {one: new for one, new in texts.items() if new != base[one]}
        if not texts:
            raise UsageError(
                "Nothing is changed yet. Apply the patch of a cause, or edit the text; then prove it."
            )
        change = change_of(texts, files, what=f"Your change of {', '.join(texts)}.", step=view.step)
        return change.replace(base={one: base[one] for one in texts})

    def _as_now(self, candidate: Candidate) -> Candidate:
        """Return a change with what the files are now; raises UsageError if it does not fit them any more."""
        files = self.files
        now = change_of(candidate.files, files, what=candidate.what)
        if now.base != candidate.base and not is_in_use(candidate.files, files):
            raise UsageError(
                f"{', '.join(candidate.files)} was changed since this change was made, so it does not fit any more. "
                "Edit the text, and prove that."
            )
        return candidate.replace(rest=now.rest)

    def _add(self, candidate: Candidate) -> None:
        """Look at the clue that has this change, a new one if there is none."""
        clues = self.view.clues
        at = next((at for at, one in enumerate(clues) if one.has(candidate)), None)
        if at is None:
            new = clue_of(candidate, self.view.step)
            in_use = is_in_use(candidate.files, self.files)
            clues, at = (new.replace(in_use=in_use), *clues), 0
        self.send(self.view.replace(clues=clues, chosen=at))

    async def _prove(self, run: int, candidate: Candidate, pairs: int) -> None:
        self.show(problem="", notice="")
        self._add(candidate)
        earlier = self.view.clue.proof if self.view.clue is not None else None
        proof, why = None, ""
        try:
            proof, why = await self._proofs.prove(run, candidate, pairs)
        except BackstepError as error:
            why = str(error)
        finally:
            view = self.view.replace(proving=0, done=0, of=0, proof_says="")
            known = {"proof": proof or earlier} | ({"stale": False} if proof else {})
            self.send(with_news(view, candidate, proving=False, **known) if view.run == run else view)
        if why and self.view.run == run:
            self.show(problem=why)
        elif why:
            self.session.tell(f"The proof for run {run} ended: {why}")
        self.session.send_runs()

    def _show_proof(self) -> None:
        self.send(self._with_proof(self.view))

    def _with_proof(self, view: FixView) -> FixView:
        """Return a view with how far the proof is, whatever run it is for."""
        running = self._proofs.running
        if running is None:
            return view.replace(proposing=bool(self._asking), proof_says=self._asking)
        view = view.replace(proving=running.run, done=running.done, of=running.of, proof_says=running.says)
        if running.run != view.run:
            return view
        # Why it is not decided is told at its end.
        proof = running.proof and running.proof.replace(why="")
        return with_news(view, running.candidate, proving=True, proof=proof)

    @command
    async def cancel_proof(self) -> None:
        """End the runs of the proof, of which those that are done are kept, or the question to the LLM."""
        if self._proofs.running is None:
            await self.stop()
        self._proofs.cancel()

    @property
    def jobs(self) -> tuple[Job, ...]:
        running = self._proofs.running
        if running is None:
            return ()
        title = f"Proof for run {running.run}"
        return (Job(title=title, done=running.done, of=running.of, opens="fix", run=running.run),)

    async def end_job(self, key: str) -> None:
        self._proofs.cancel()

    async def close(self) -> None:
        self.session.session_changed.disconnect(self._on_session)
        await super().close()
        await self._proofs.close()


make_service = FixService
