"""What the window's commands do: each action of a menu or key, based on what the window shows."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QInputDialog, QLineEdit, QWidget

from core.debugger.session_view import SessionView
from core.debugger.steps.views import StepView
from core.schema.step import JudgementPart
from core.trace.exports.registry import all_formats, chosen_format
from core.trace.records import RunRow
from gui.shell.actions import explain, words_of
from gui.shell.element_links import ElementLinks
from gui.shell.help import Help, KeysDialog
from gui.shell.parts import WindowParts
from gui.widgets.enabled_commands import (
    BUSY,
    RESTING,
    can_hand_over,
    can_pause,
    can_say_how_it_ended,
    can_step,
    why_no_edit,
)
from gui.widgets.provenance_menu import selected_in

IMPORTED = "Runs (*.backstep *.json);;All files (*)"
_SEARCHED = ("Observation", "Prompt", "Diff", "Page log", "Log", "Permissible actions", "Exemplars")
"""Docks with a search field, in the order that Ctrl+F tries if none of them has the focus."""
_TEXTS = {
    "edit_prompt": "prompt",
    "edit_observation": "observation",
    "edit_parser": "parser",
    "edit_memory": "memory",
    "edit_frame": "frame",
    "edit_return": "return",
    "edit_lessons": "experience",
}
"""For each command that opens a text of the run in the editor: the text."""
_JUDGED: dict[str, tuple[JudgementPart, bool]] = {
    "judge_right": ("aligned", True),
    "judge_wrong": ("aligned", False),
    "judge_subtask": ("subtask", True),
    "judge_task": ("task", True),
}
_ZOOMS = ("zoom_in", "zoom_out", "zoom_reset")
_BROWSING = ("page_back", "page_forward", "page_reload", "page_address", *_ZOOMS)
_AGAIN = ("plan", "recall", "abstraction", "remedies", "judgement")


class WindowCommands(QObject):
    """Passes the person's commands to the session and enables those that are available."""

    def __init__(self, window: WindowParts, elements: ElementLinks) -> None:
        super().__init__(window)
        self._window = window
        self._elements = elements
        self._view = SessionView()
        self._step: StepView | None = None
        self._help = Help(window)
        self._opening = False
        """Whether a reopen of the task was requested that the session has not reported yet."""

    def connect_session(self) -> None:
        """Connect the commands to the window's session."""
        window, session, run = self._window, self._window.session, self._window.session.run_commands
        slots: dict[str, Callable[..., object]] = {
            "new_task": window.tasks.choose_task,
            "add_tasks": window.tasks.add_tasks,
            "again": partial(self._reopen, window.tasks.open_again),
            "next_seed": partial(self._reopen, window.tasks.open_next_seed),
            "export": self._on_export,
            "import": self._on_import,
            "quit": window.close,
            "run": self._on_run,
            "step": lambda: self._from_now(run.step),
            "over": lambda: self._from_now(run.over),
            "into": lambda: self._from_now(run.step),
            "out": lambda: self._from_now(run.out),
            "phase": lambda: self._from_now(run.phase),
            "run_to_step": self._on_run_to_step,
            "run_to_subtask": window.plan.run_to_subtask,
            "back": self._on_back,
            "fork": self._on_fork,
            "fix": self._on_fix,
            "bisect": self._on_bisect,
            "keep": self._on_keep,
            "back_to_hit": window.breakpoints.go_to_hit,
            "back_to_change": window.breakpoints.go_to_change,
            "add_breakpoint": window.breakpoints.add_requested.emit,
            "add_watch": self._on_add_watch,
            "stop": run.stop,
            "previous": self._on_previous,
            "next_recorded": self._on_next_recorded,
            "play_back": window.time.toggle_playing,
            "before_after": window.page.cover.next_mode,
            "now": self._on_escape,
            "accept": window.action.accept,
            "ask_again": session.corrections.ask_again,
            "skip": session.corrections.skip,
            "fire_remedy": window.plan.fire,
            "edit_plan": self._on_edit_plan,
            "undo_edit": window.history.undo,
            "redo_edit": window.history.redo,
            "to_call": lambda: self._from_now(run.to_call),
            **{name: partial(session.edits.begin_text, text) for name, text in _TEXTS.items()},
            **{name: partial(window.plan.overrule, part, so) for name, (part, so) in _JUDGED.items()},
            **{
                f"again_{what}": partial(session.edits.ask_for, "AskQuestionAgain", {"what": what})
                for what in _AGAIN
            },
            "add_remedy": window.plan.add_remedy,
            "new_trial": partial(session.edits.ask_for, "StartNewTrial", {}),
            "pop_policy": window.stack.pop,
            "restart_policy": window.stack.restart,
            "push_policy": window.stack.push,
            "force_state": window.state.force,
            "recognise": window.state.recognise,
            "permit": window.permissible.permit,
            "pin_exemplar": window.exemplars.pin,
            "page_back": lambda: window.page_area.browse("back"),
            "page_forward": lambda: window.page_area.browse("forward"),
            "page_reload": lambda: window.page_area.browse("reload"),
            "page_address": window.page_area.reach_address,
            **{zoom: partial(window.page_area.browse, zoom) for zoom in _ZOOMS},
            "downloads": window.page_area.show_downloads,
            "show_target": session.live_page.show_target,
            "handover": lambda: session.live_page.set_handover(not self._view.handed_over),
            "success": lambda: run.end(True),
            "failure": lambda: run.end(False),
            "faster": window.menus.faster,
            "slower": window.menus.slower,
            "max_steps": self._on_max_steps,
            "attach": window.attach_requested.emit,
            "llm_settings": window.llm_settings_requested.emit,
            "search_runs": window.tool_bar.focus_search,
            "find": self._on_find,
            "text_larger": lambda: window.theme.step_text(1),
            "text_smaller": lambda: window.theme.step_text(-1),
            "text_normal": lambda: window.theme.resize_text(100),
            "fold_panel": window.docks.fold_focused,
            "why": self._on_why,
            "pin_element": lambda: self._elements.toggle(),
            "time_bar": window.time.reach,
            "help": self._help.show_here,
            "docs": partial(self._help.show_page, "README.md"),
            "keys": self._on_keys,
            "welcome": window.tasks.show_welcome,
        }
        actions = window.actions_by_name
        for name, slot in slots.items():
            actions[name].triggered.connect(lambda _checked=False, slot=slot: slot())
        window.docs_requested.connect(self._help.show_page)
        actions["point"].setCheckable(True)
        actions["point"].triggered.connect(window.page.set_pointing)

    def refresh(self, view: SessionView, step: StepView | None) -> None:
        """Enable only the commands that make sense now."""
        self._opening = self._opening and view.mode != "opening" and view.run == self._view.run
        self._view, self._step = view, step
        window = self._window
        goes_on = can_step(view) or view.mode == "opening" or self._opening
        recorded = step is not None and not step.live
        pointing = window.page.pointing
        acceptable = window.action.editable and not recorded and not view.handed_over
        reviewing = acceptable and not window.action.answering
        has_run = self._run_in_view() is not None
        goes_back = self._back_to() is not None and view.mode != "opening"
        states = {
            **dict.fromkeys(("step", "over", "into", "out", "phase", "run_to_step", "to_call"), goes_on),
            "run_to_subtask": can_step(view) and window.plan.subtask is not None,
            "run": goes_on or can_pause(view),
            "stop": view.run is not None and view.mode in ("answering", *RESTING, *BUSY),
            **dict.fromkeys(("back", "fork"), goes_back),
            **dict.fromkeys(("bisect", "keep", "export"), has_run),
            "fix": has_run or window.runs.chosen_run is not None,
            "back_to_hit": window.breakpoints.can_go_to_hit,
            "back_to_change": window.breakpoints.can_go_to_change,
            "accept": acceptable,
            "ask_again": reviewing,
            "skip": reviewing or bool(view.held_request),
            "point": pointing or acceptable,
            "show_target": acceptable,
            "edit_plan": window.plan.can_edit,
            "fire_remedy": window.plan.remedy is not None,
            "handover": can_hand_over(view),
            **dict.fromkeys(_BROWSING, view.handed_over),
            **dict.fromkeys(("success", "failure"), can_say_how_it_ended(view)),
            **dict.fromkeys(("again", "next_seed"), bool(view.task)),
            "previous": self._neighbour(-1) is not None,
            "next_recorded": recorded and self._neighbour(1) is not None,
            "play_back": has_run and step is not None and step.number > 0,
            "before_after": recorded,
            "now": recorded
            or pointing
            or window.run_card.row is not None
            or window.page.messages.shown
            or self._elements.pinned is not None,
        }
        for name, on in states.items():
            window.actions_by_name[name].setEnabled(on)
        for name, why in self._why_no_edits().items():
            window.actions_by_name[name].setEnabled(not why)
            explain(window.actions_by_name[name], why or words_of(name))
        history = window.history
        for name, text, words in (
            ("undo_edit", "&Undo", history.undo_words),
            ("redo_edit", "Red&o", history.redo_words),
        ):
            shown = words.replace("&", "&&")
            window.actions_by_name[name].setText(f"{text}: {shown}" if words else text)

    def _why_no_edits(self) -> dict[str, str]:
        """For each command that edits the run, undoes or redoes: return why it is unavailable, or an empty string."""
        window, view = self._window, self._view
        live = self._step is None or self._step.live

        def why(edit: str = "") -> str:
            return why_no_edit(view, live=live, name=edit)

        held = (
            ""
            if view.held_call or view.held_reply
            else "No LLM call is held: stop before the next one first (Ctrl+Shift+F10)"
        )
        return {
            "undo_edit": window.history.why_no_undo(live=live),
            "redo_edit": window.history.why_no_redo(live=live),
            **{name: why(text) for name, text in _TEXTS.items()},
            "edit_prompt": held,
            **dict.fromkeys(_JUDGED, why("OverruleJudgement")),
            **{f"again_{what}": why(f"AskQuestionAgain {what}") for what in _AGAIN},
            "add_remedy": why("ForceState"),
            "new_trial": why("StartNewTrial"),
            "pop_policy": why("PopFrame"),
            **dict.fromkeys(("restart_policy", "push_policy"), why("RestartFrame")),
            "force_state": window.state.why_no_force,
            "recognise": why("ForceState"),
            "permit": window.permissible.why_no_permit,
            "pin_exemplar": why("AskQuestionAgain recall"),
        }

    def _run_in_view(self) -> int | None:
        return self._step.run if self._step is not None else self._view.run

    def _neighbour(self, offset: int) -> tuple[int, int] | None:
        if self._step is None:
            return None
        return self._window.runs.model.neighbour(self._step.run, self._step.number, offset)

    def _back_to(self) -> tuple[int, int] | None:
        """Return run and number of the step that Back goes to: the state before that step.

        That is the focused row of the tree, the recorded step in view, or the last finished step.
        """
        step = self._step
        chosen = self._window.runs.chosen_step
        if chosen is not None and (step is None or chosen != (step.run, step.number)):
            return chosen
        if step is None or not step.number:
            return None
        if not step.live:
            return step.run, step.number
        over = step.row is not None and step.row.sealed
        last = step.number if over else step.number - 1
        return (step.run, last) if last else None

    def _on_back(self) -> None:
        if (place := self._back_to()) is not None:
            self._window.session.branches.go_back(*place)

    def _on_fork(self) -> None:
        if (place := self._back_to()) is not None:
            self._window.runs.fork_requested.emit(*place)

    def _on_fix(self) -> None:
        """Open Fix for the focused row of the tree, or else for the run in view."""
        runs = self._window.runs
        if (chosen := runs.chosen_step) is not None:
            runs.fix_requested.emit(*chosen)
        elif (run := runs.chosen_run or self._run_in_view()) is not None:
            runs.fix_requested.emit(run, 0)

    def _on_bisect(self) -> None:
        if (run := self._run_in_view()) is not None:
            self._window.runs.bisect_requested.emit(run)

    def _on_keep(self) -> None:
        if (run := self._run_in_view()) is not None:
            self._window.runs.keep_requested.emit(run, ())

    def _reopen(self, open_anew: Callable[[], None]) -> None:
        """Reopen the task. A way to continue can be given at once; it is applied when the page is open."""
        open_anew()
        self._opening = True
        self.refresh(self._view, self._step)

    def _on_run(self) -> None:
        if can_pause(self._view) and not self._opening:
            self._window.session.run_commands.pause()
        else:
            self._from_now(self._window.session.run_commands.run)

    def _on_run_to_step(self) -> None:
        number, chosen = QInputDialog.getInt(
            self._window,
            "Run to a step",
            "The step at whose review it stops:",
            self._view.step + 1,
            self._view.step + 1,
            1_000_000,
        )
        if chosen:
            self._from_now(lambda: self._window.session.run_commands.run_to_step(number))

    def _on_add_watch(self) -> None:
        self._window.dock("Breakpoints").bring()
        self._window.breakpoints.begin_watch()

    def _from_now(self, ask: Callable[[], None]) -> None:
        """Continue from the current step with the edited action."""
        if self._opening or self._view.mode == "opening":
            ask()
        elif self._step is not None and not self._step.live:
            self._window.session.trace.show_now()
            ask()
        else:
            self._window.action.settle(ask)

    def _on_edit_plan(self) -> None:
        self._window.dock("Plan & remedies").bring()
        self._window.plan.edit()

    def _on_previous(self) -> None:
        if step := self._neighbour(-1):
            self._window.session.trace.show_step(*step)

    def _on_next_recorded(self) -> None:
        if step := self._neighbour(1):
            if step == (self._view.run, self._view.step):
                self._window.session.trace.show_now()
            else:
                self._window.session.trace.show_step(*step)

    def _on_escape(self) -> None:
        window = self._window
        if window.page.pointing:
            window.page.set_pointing(False)
        elif self._elements.pinned is not None:
            self._elements.pin(None)
        elif window.time.is_playing:
            window.time.stop_playing()
        elif window.time.film.is_scrubbing:
            window.time.film.end_scrubbing()
        elif window.run_card.row is not None:
            window.run_card.close_card()
        elif self._step is not None and not self._step.live:
            window.session.trace.show_now()
        else:
            window.page.messages.dismiss()
            self.refresh(self._view, self._step)

    def _on_max_steps(self) -> None:
        count, chosen = QInputDialog.getInt(
            self._window,
            "Step limit",
            "Page actions after which a run ends:",
            self._view.max_steps,
            1,
            10_000,
        )
        if chosen:
            self._window.chosen.limit_steps(count)

    def _on_export(self) -> None:
        if (run := self._run_in_view()) is not None:
            self.export(run)

    def export(self, run: int) -> None:
        """Ask for a file and a format, and export a run."""
        formats = all_formats()
        filters = {f"{one.title} (*{one.suffix})": one.title for one in formats}
        path, chosen = QFileDialog.getSaveFileName(
            self._window, f"Export run {run}", f"run-{run}{formats[0].suffix}", ";;".join(filters)
        )
        if path:
            form, path = chosen_format(path, filters.get(chosen, formats[0].title))
            self._window.session.trace.export_run(run, form.name, path)

    def _on_import(self) -> None:
        """Ask for a file and import its run."""
        path, _ = QFileDialog.getOpenFileName(self._window, "Import a run", "", IMPORTED)
        if path:
            self._window.session.trace.import_run(path)

    def name_run(self, row: RunRow) -> None:
        """Ask for a name for a run."""
        name, chosen = QInputDialog.getText(
            self._window,
            f"Name run {row.run}",
            "What it is called in Runs & steps; empty takes the name away:",
            QLineEdit.EchoMode.Normal,
            row.name,
        )
        if chosen:
            self._window.session.trace.name_run(row.run, name.strip())

    def _on_find(self) -> None:
        window = self._window
        widget: QWidget | None = window.focusWidget()
        if self._view.handed_over and widget is not None and window.page_area.isAncestorOf(widget):
            window.page_area.search()
            return
        while widget is not None and not hasattr(widget, "focus_search"):
            widget = widget.parentWidget()
        if widget is None or widget is window.tool_bar:
            front = (name for name in _SEARCHED if window.docks.is_in_front(name))
            widget = next((window.dock(name).widget() for name in front), None)
        if widget is not None:
            widget.focus_search()

    def _on_why(self) -> None:
        """Search for the text that is selected in the focused widget."""
        window = self._window
        text = selected_in(window.focusWidget())
        chosen = window.runs.chosen_step
        if chosen is not None and not text:
            window.why_requested.emit(*chosen, "")
        else:
            run, number = (self._step.run, self._step.number) if self._step is not None else (0, 0)
            window.why_requested.emit(run, number, text)

    def _on_keys(self) -> None:
        KeysDialog(self._window.theme, list(self._window.actions_by_name.values()), self._window).open()
