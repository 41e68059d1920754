"""Fix, opened for a failed run with the cause that is likeliest, and the panel of causes."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from core.debugger.causes.records import Evidence, EvidencePart
from core.debugger.fix.views import CausesView, Clue, FixView
from core.debugger.session_view import RunsView, SessionView
from core.debugger.steps.views import StepView
from core.schema.observation import Ref
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow

if TYPE_CHECKING:
    from core.debugger.fix.service import FixService
    from gui.fix.window import FixWindow


_PANELS: dict[EvidencePart, str] = {
    "page": "Observation",
    "success": "Observation",
    "state": "State",
    "prompt": "Prompt",
    "reply": "Prompt",
    "action": "Action",
    "exemplar": "Exemplars",
    "policy": "Policy stack",
    "log": "Log",
}


class FixController(FeatureController):
    """Opens the window, passes on its requests, and shows the results."""

    def __init__(self, window: MainWindow, service: "FixService") -> None:
        super().__init__(window)
        self._service = service
        self._run = 0
        self._pinned: tuple[int, int, Ref | None] = (0, 0, None)
        """Run and step that evidence leads to, with the element to mark there."""
        self.fix_window: FixWindow | None = None
        """The window, after it was opened."""
        self.follow(service.changed, self._show_view)
        self.follow(service.reported, self._take_report)
        self.follow(service.looked, self._show_causes)
        self.follow(window.session.session_changed, self._on_session)
        self.follow(window.session.runs_changed, self._on_runs)
        window.runs.fix_requested.connect(self.open)
        window.step_shown.connect(self._on_step)
        self._in_view = 0
        """The run in view in the main window."""
        self._ended: tuple[int, bool | None] | None = None
        """The run that has ended, and whether it succeeded."""
        window.place("Causes").seen_changed.connect(lambda on: self._look() if on else None)
        window.causes.evidence_opened.connect(
            lambda evidence, run: self._show_evidence(evidence, run, stay=True)
        )
        window.causes.fix_requested.connect(lambda run, clue: self.open(run, 0, clue))

    @Slot(int, int)
    def open(self, run: int, step: int, clue: Clue | None = None) -> None:
        """Show where a run can be fixed: at this clue or step, or for 0 at the most likely one."""
        if self.fix_window is None:
            self.fix_window = self._make()
        self._run = run
        self.fix_window.wait(run)
        self._service.open(run, step, clue)
        self.window.frame.show_beside(self.fix_window, "fix/geometry")

    def _make(self) -> "FixWindow":
        from gui.fix.window import FixWindow

        main, service = self.window, self._service
        window = FixWindow(main.theme, main.remembered, main)
        window.step_chosen.connect(service.choose_step)
        window.place_chosen.connect(service.choose_place)
        window.check_requested.connect(service.check)
        window.rerun_requested.connect(
            lambda name, text, confirmed: service.rerun(name, text, confirmed=confirmed)
        )
        window.fresh_requested.connect(service.rerun_fresh)
        window.clue_chosen.connect(service.choose_clue)
        window.evidence_opened.connect(lambda evidence: self._show_evidence(evidence, self._run))
        window.propose_requested.connect(service.propose)
        window.report_requested.connect(service.report)
        window.prove_requested.connect(service.prove)
        window.proof_cancelled.connect(service.cancel_proof)
        window.keep_requested.connect(service.keep)
        window.revert_requested.connect(service.revert)
        window.exemplar_requested.connect(main.exemplar_requested)
        window.retire_requested.connect(main.retire_requested)
        window.reply_requested.connect(main.runs.ask_requested)
        window.save_requested.connect(lambda run: main.runs.keep_requested.emit(run, ()))
        window.bisect_requested.connect(main.runs.bisect_requested)
        window.run_opened.connect(main.show_run)
        return window

    @Slot(object)
    def _take_report(self, text: str) -> None:
        if self.fix_window is not None:
            self.fix_window.take_report(text)

    def _look(self) -> None:
        """Ask for the causes of the run in view, where they can be seen."""
        if self._in_view and self.window.place("Causes").is_seen:
            self._service.look(self._in_view)

    @Slot(object)
    def _show_causes(self, view: CausesView) -> None:
        if view.run == self._in_view:
            self.window.causes.show_view(view)

    @Slot(object)
    def _on_session(self, view: SessionView) -> None:
        if view.run == self._in_view:
            self._note_end((self._in_view, view.success) if view.mode == "ended" else None)

    @Slot(object)
    def _on_runs(self, view: RunsView) -> None:
        """Follow a run in view that another program continues."""
        for row in view.runs:
            if row.run == self._in_view:
                self._note_end((row.run, row.verdict.success) if row.outcome != "running" else None)

    def _note_end(self, ended: tuple[int, bool | None] | None) -> None:
        if ended is not None and ended != self._ended:
            self._look()
        self._ended = ended

    def _show_evidence(self, evidence: Evidence, run: int, *, stay: bool = False) -> None:
        """Show the step in the main window, with the panel that has it and the element marked.

        With `stay`, an element is only marked in the page, since the panel of pages would hide that of causes.
        """
        main = self.window
        run = run if evidence.run is None else evidence.run
        main.show_run(run, evidence.step)
        panel = _PANELS.get(evidence.part)
        if panel is not None and not (stay and panel == "Observation"):
            main.place(panel).bring()
        self._pinned = (run, evidence.step, evidence.ref)

    @Slot(object)
    def _on_step(self, step: StepView) -> None:
        """Mark the element of the evidence, once its step is shown; look for the causes of another run."""
        if step.run != self._in_view:
            self._in_view = step.run
            self._show_causes(CausesView(run=step.run))
            self._look()
        run, number, ref = self._pinned
        if (step.run, step.number) == (run, number):
            self._pinned = (0, 0, None)
            self.window.elements.pin(ref)

    @Slot(object)
    def _show_view(self, view: FixView) -> None:
        if self.fix_window is not None and view.run == self._run:
            shown = self.fix_window.view
            self.fix_window.show_view(view)
            if view.clues and view.success is not True and not view.going_on:
                self._show_causes(CausesView(run=view.run, clues=view.clues))
            place = (view.run, view.step)
            if view.ready and view.step and place != (shown.run, shown.step):
                self.window.session.trace.show_step(*place)


install = FixController
