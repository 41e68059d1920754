"""The main window: panels in docks around the live page, connected to a session's commands."""

import time
from collections.abc import Iterable
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from PySide6.QtCore import QSettings, Qt, QTimer, Slot
from PySide6.QtGui import QCloseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from core.debugger.catalogue import Catalogue
from core.debugger.editing.views import RefusedEdit
from core.debugger.features import FEATURES
from core.debugger.live_page import LivePageView, Picked
from core.debugger.session_view import RunsView, SessionView
from core.debugger.steps.views import PersonQuestion, Side, StepView
from core.schema.action_space import PermissibleRow
from core.schema.events import LogLine
from core.trace.records import RunRow
from gui.page.overlay import kept_boxes
from gui.shell.chosen_settings import ChosenSettings
from gui.shell.command_group import CommandGroup, FeatureCommands
from gui.shell.docks import PanelUpdates
from gui.shell.element_links import ElementLinks
from gui.shell.layouts import Layouts
from gui.shell.parts import WindowParts
from gui.shell.run_commands import ActionCommands, EditCommands, SteppingCommands
from gui.shell.view_commands import FileCommands, HelpCommands, LayoutCommands, PageCommands, ViewCommands
from gui.shell.window_frame import Heartbeat, present
from gui.widgets.editable import EditablePanel
from gui.widgets.enabled_commands import BUSY, why_no_devtools
from gui.widgets.relay import Relay
from gui.widgets.remembered import OpenedTask

if TYPE_CHECKING:
    from core.debugger.session import Session

_GEOMETRY = "layout/geometry"
_DEVTOOLS_HEIGHT = 340
_LOW = 480
"""Height in pixels of a window that has no room for the filmstrip, for the normal text size."""
_PAGE = 250
"""Height in pixels that the page gets if the docks below it can shrink; a message below the page gets its own."""
_FIRST_PAINT_MS = 300
"""Stalls are measured from the first paint of the window."""
_STALLS_MS = 60_000
"""Stalls within this time are combined into one line of the Log."""


class MainWindow(WindowParts):
    """Shows what the session announces and asks it for what the person wants.

    `page_area` is the live page: see `PageStack`. `restore_choices` applies the last used preset, LLM and pace;
    whoever starts the program decides whether to call it.
    """

    def __init__(self, page_area: QWidget, settings: QSettings) -> None:
        super().__init__(page_area, settings)
        self._problems: frozenset[str] = frozenset()
        """Problems with files that the Log already lists."""
        self._updates = PanelUpdates(self.docks, self)
        self._relays: list[Relay] = []
        self._connect_panels()
        self.heartbeat = Heartbeat(self)
        self.heartbeat.stalled.connect(self._on_stalled)
        self._stalls: list[float] = []
        """Stalls in milliseconds that are not logged yet."""
        self._stalls_gathered = QTimer(self, singleShot=True, interval=_STALLS_MS)
        self._stalls_gathered.timeout.connect(self._tell_stalls)
        self._room = QTimer(self, singleShot=True, interval=0)
        """Gives the page room once the window is laid out."""
        self._room.timeout.connect(self._give_page_room)
        self.frame.released.connect(self.docks.note_sizes)
        self.time.shown_changed.connect(self._room.start)
        self.page.messages.shown_changed.connect(self._room.start)
        if (geometry := self.remembered.part(_GEOMETRY)) is not None:
            self.restoreGeometry(geometry)
        self.layouts = Layouts(self.docks, self.remembered, self)
        self._show_session(SessionView(mode="opening", message="Starting…"))

    def command_owners(self) -> Iterable[tuple[object, str]]:
        self.stepping = SteppingCommands(self)
        self.file_commands = FileCommands(self)
        self.elements = ElementLinks(self)
        view = ViewCommands(self, self.elements)
        shell = (ActionCommands, EditCommands, LayoutCommands, PageCommands, HelpCommands)
        groups: list[CommandGroup] = [
            self.stepping,
            self.file_commands,
            view,
            *(kind(self) for kind in shell),
        ]
        declaring = (name for name in FEATURES if find_spec(f"gui.{name}.commands") is not None)
        groups += [FeatureCommands(self, name) for name in declaring]
        return [*super().command_owners(), *((group, group.help) for group in groups)]

    def begin(self, session: "Session") -> None:
        """Show what a session announces, and send it the person's commands, from now on."""
        self.session = session
        self.history.begin(session.edits.undo, session.edits.redo)
        self.chosen = ChosenSettings(session, self.history, self.remembered)
        self._connect_session()
        self._relays = self._follow_session()
        self._show_session(session.session)

    def show_at_first(self) -> None:
        """Show the window as it was left, or at its first size if the screen is large enough."""
        self.show()
        if self.remembered.part(_GEOMETRY) is None:
            self.frame.fit_screen(self.screen().availableSize())

    def restore_choices(self, *, preset: str = "", llm: str = "") -> None:
        """Apply the last used preset, LLM and pace; names given here take precedence."""
        if chosen := preset or self.remembered.preset:
            self.session.agent.set_preset(chosen)
        if chosen := llm or self.remembered.llm:
            self.session.agent.set_llm(chosen)
        self.session.run_commands.set_pace(self.remembered.pace)

    def _connect_panels(self) -> None:
        self.runs.folding.recall(self.remembered.folding)
        self.runs.folding.changed.connect(self._on_folded)
        self.runs.state_changed.connect(self.commands.refresh)
        self.breakpoints.state_changed.connect(self.commands.refresh)
        self.breakpoints.emptied.connect(partial(self.docks.folding.tell, "Breakpoints"))
        self.permissible.highlight_requested.connect(self.page.overlay.highlight)
        self.permissible.replace_requested.connect(self._on_replace)
        self.action.pointing_requested.connect(self.page.set_pointing)
        self.action.why_requested.connect(self._on_why_requested)
        self.runs.why_requested.connect(lambda run, step: self.why_requested.emit(run, step, ""))
        self.page.set_fitted(self.remembered.page_fitted)
        self.page.size_pressed.connect(self.actions_by_name["actual_size"].trigger)
        self.page.shown_changed.connect(self.time.show_page)
        self.page.pointing_changed.connect(self.action.show_pointing)
        self.page.pointing_changed.connect(self.commands.refresh)
        self.elements.pinned_changed.connect(self.commands.refresh)
        self.place("Observation").seen_changed.connect(self._mark_kept)
        self.place("DevTools").seen_changed.connect(self._show_devtools)
        self.place("DevTools").left.connect(self._show_devtools)
        self.docks.below.visibilityChanged.connect(self._show_devtools)
        self.page_area.inspected.connect(self._on_inspected)
        self.runs.run_chosen.connect(self._show_run_card)
        self.run_card.deciding_step_requested.connect(self.deciding_step_requested)
        self.run_card.compare_requested.connect(self.runs.compare_run_requested)
        self.run_card.again_requested.connect(self.tasks.open_task)
        self.run_card.closed.connect(self.commands.refresh)
        self.state.show_details(self.remembered.state_details)
        self.state.details_shown.connect(self._keep_details)
        self.state.large_wanted.connect(lambda: self.frame.show_beside(self.state.large, "windows/states"))
        self.stack.call_wanted.connect(self._on_call_wanted)
        self.log.call_wanted.connect(self._on_call_wanted)
        self.plan.state_changed.connect(self.commands.refresh)
        self.history.changed.connect(self.commands.refresh)
        self.history.said.connect(self.page.messages.say)
        self.tasks.recent_changed.connect(self.tool_bar.show_recent)
        self.tasks.hinted.connect(self._on_hinted)
        self.commands.early.connect(self._on_early)
        self.tasks.settings_wanted.connect(self.llm_settings_requested)

    def _connect_session(self) -> None:
        session, chosen = self.session, self.chosen
        self.runs.step_requested.connect(session.trace.show_step)
        self.run_card.step_requested.connect(session.trace.show_step)
        self.runs.run_requested.connect(session.trace.open_run)
        self.runs.more_requested.connect(session.trace.list_more_runs)
        self.runs.back_requested.connect(session.branches.go_back)
        self.runs.current_requested.connect(session.branches.make_current)
        self.runs.naming_requested.connect(self.file_commands.name_run)
        self.runs.export_requested.connect(self.file_commands.export)
        self.action.edit_requested.connect(session.edits.edit_action)
        self.action.accept_requested.connect(session.corrections.accept)
        self.action.skip_requested.connect(session.corrections.skip)
        self.action.queue_edited.connect(session.edits.edit_queue)
        self.action.ask_again_requested.connect(session.corrections.ask_again)
        self.action.answer_requested.connect(session.corrections.answer)
        self.time.film.step_requested.connect(session.trace.show_step)
        self.time.page_wanted.connect(self._on_page_wanted)
        self.page.point_requested.connect(lambda x, y, final: session.live_page.point(x, y, final=final))
        self.page.scroll_requested.connect(session.live_page.scroll)
        self.page_area.browsed.connect(session.live_page.browsed)
        self.page_area.record_before_leaving(session.live_page.before_leaving)
        self.page.target_requested.connect(session.live_page.show_target)
        self.plan.subtask_wanted.connect(session.run_commands.run_to_subtask)
        for panel in self.docks.panels:
            if isinstance(panel, EditablePanel):
                panel.edit_wanted.connect(session.edits.ask_for)
                panel.text_wanted.connect(session.edits.begin_text)
        self.page.handover_requested.connect(session.live_page.set_handover)
        self.page.back_requested.connect(session.trace.show_now)
        self.page.messages.again_requested.connect(self.tasks.open_again)
        self.page.messages.next_seed_requested.connect(self.tasks.open_next_seed)
        self.page.messages.fix_requested.connect(self.actions_by_name["fix"].trigger)
        self.page.messages.end_requested.connect(session.run_commands.end)
        self.page.messages.back_requested.connect(session.branches.go_back_anyway)
        self.page.messages.always_requested.connect(session.corrections.always_allow)
        self.page.messages.wait_requested.connect(session.run_commands.keep_waiting)
        self.page.messages.end_script_requested.connect(session.run_commands.end_script)
        self.tasks.open_requested.connect(self._on_open_requested)
        self.tasks.llm_requested.connect(chosen.try_llm)
        self.tool_bar.task_reopened.connect(self.tasks.open_task)
        self.tool_bar.preset_chosen.connect(chosen.use_preset)
        self.tool_bar.llm_chosen.connect(chosen.use_llm)
        self.tool_bar.search_wanted.connect(session.trace.search_runs)
        self.menus.pace_chosen.connect(self._on_pace)
        self.menus.mechanisms.switched.connect(chosen.switch_mechanism)
        self.menus.mechanisms.amount_set.connect(chosen.set_amount)

    def _follow_session(self) -> list[Relay]:
        session = self.session
        wired = (
            (session.catalogue_changed, "latest", self._show_catalogue),
            (session.session_changed, "latest", self._show_session),
            (session.live_page_changed, "latest", self.page.show_live_page),
            (session.runs_changed, "latest", self._show_runs),
            (session.step_changed, "latest", self._show_step),
            (session.question_asked, "latest", self._show_question),
            (session.edit_refused, "every", self._show_refused),
            (session.picked, "every", self._show_picked),
            (session.logged, "every", self.log.show_lines),
        )
        relays = []
        for source, keep, slot in wired:
            relay = Relay(source, keep=keep, parent=self)  # type: ignore[arg-type]
            relay.received.connect(slot)
            relays.append(relay)
        return relays

    @Slot(object)
    def _show_catalogue(self, catalogue: Catalogue) -> None:
        self.tool_bar.show_catalogue(catalogue)
        self.tasks.show_catalogue(catalogue)
        wrong = (*catalogue.problems, *(source.problem for source in catalogue.sources if source.problem))
        new = [problem for problem in dict.fromkeys(wrong) if problem not in self._problems]
        self._problems = frozenset(wrong)
        now = time.time()
        self.log.show_lines(
            tuple(LogLine(time=now, level="warning", source="files", text=problem) for problem in new)
        )
        if loud := [problem for problem in new if problem in catalogue.problems]:
            title = "A file could not be read" if len(loud) == 1 else f"{len(loud)} files could not be read"
            self.page.messages.say(title, f"{loud[0]} See the Log (Alt+-) for all of them.")

    @Slot(object)
    def _show_refused(self, edits: tuple[RefusedEdit, ...]) -> None:
        for panel in self.docks.panels:
            if isinstance(panel, EditablePanel):
                for edit in edits:
                    panel.show_refused(edit)

    @Slot(object)
    def _show_session(self, view: SessionView) -> None:
        gone = view.run is None and self.view.run is not None
        self.view = view
        self.history.show_session(view)
        if gone:
            self.run_card.close_card()
            self._show_no_step()
        title = f"{view.task} · seed {view.seed} – Backstep" if view.task else "Backstep"
        self.setWindowTitle(title)
        self.tool_bar.show_session(view)
        self.status.show_session(view)
        self.stepping.show_session(view)
        self.menus.show_pace(view.pace)
        self.menus.mechanisms.show_mechanisms(view.mechanisms)
        self.page.show_session(view)
        self.page_area.show_sites(view.sites)
        self.elements.show_session(view)
        self.docks.folding.show_session(view)
        for panel in self.docks.panels:
            if hasattr(panel, "show_session"):
                panel.show_session(view)
        self.tasks.show_session(view)
        self._show_devtools()
        self.commands.refresh()

    def _show_devtools(self) -> None:
        """Open DevTools once their page is shown, as soon as nobody acts in the live page; close them with it."""
        if not self.place("DevTools").is_offered or self.docks.below.isHidden():
            if self.devtools.inspector is not None:
                self.page_area.close_devtools()
        elif self.devtools.inspector is None:
            why = why_no_devtools(self.view) or self.page_area.inspect()
            if why:
                self.devtools.say(why)

    def _on_inspected(self, view: QWidget | None) -> None:
        if view is not self.devtools.inspector:
            self.session.live_page.inspected(view is not None)
        self.devtools.show_inspector(view)
        if view is None:
            self.place("DevTools").put_away()
        else:
            self.place("DevTools").bring()
            self.docks.make_room("DevTools", _DEVTOOLS_HEIGHT)

    @Slot(object)
    def _show_runs(self, view: RunsView) -> None:
        self.runs.show_runs(view)
        card = self.run_card.row
        row = next((row for row in view.runs if card is not None and row.run == card.run), None)
        if row is not None and row != card:
            self._show_run_card(row)
        elif card is not None and view.lacks(card.run):
            self.run_card.close_card()

    @Slot(object)
    def _show_run_card(self, row: RunRow) -> None:
        """Show the run card over the page until a step is shown or the card is closed."""
        viewed = self._step.run if self._step is not None else None
        self.run_card.show_run(row, current=row.run == self.view.run, viewed=viewed or None)
        self.commands.refresh()

    @Slot(object)
    def _show_step(self, step: StepView) -> None:
        before, self._step = self._step, step if step.run else None
        if not step.live or (before is not None and not before.live):
            self.run_card.close_card()
        self.time.show_step(step)
        if not self.time.film.is_scrubbing:
            self.page.show_step(step)
        self.docks.folding.show_step(step)
        self._updates.show_step(step, going_on=step.live and self.view.mode in BUSY)
        self._mark_kept()
        self.elements.show_step(step)
        self.commands.refresh()
        self.step_shown.emit(step)

    def _mark_kept(self) -> None:
        """Outline what the abstraction kept, while the observation of the current page is shown."""
        self.page.overlay.show_kept(kept_boxes(self._step) if self.place("Observation").is_seen else ())

    def _show_no_step(self) -> None:
        """Clear what belongs to a run that is no longer current."""
        self._show_step(StepView(run=0, number=0))
        self.page.show_live_page(LivePageView())

    @Slot(object)
    def _show_question(self, question: PersonQuestion | None) -> None:
        self.action.show_question(question)
        self.prompt.show_question(question)
        self.commands.refresh()

    @Slot(object)
    def _show_picked(self, picked: tuple[Picked, ...]) -> None:
        for one in picked:
            pointing = self.page.pointing
            self.page.show_picked(one)
            if pointing:
                self.action.show_picked(one)
            else:
                self.elements.show_picked(one)

    def _on_page_wanted(self, page: Side | Literal["live"]) -> None:
        if page == "live":
            self.session.trace.show_now()
        elif (step := self._step) is not None:
            self.session.trace.show_step(step.run, step.number, page)

    def _on_replace(self, row: PermissibleRow) -> None:
        self.place("Action").bring()
        self.action.show_row(row)

    def _keep_details(self, on: bool) -> None:
        self.remembered.state_details = on

    def _on_call_wanted(self, number: int) -> None:
        self.place("Prompt").bring()
        self.prompt.show_call(number)

    def _on_why_requested(self, text: str) -> None:
        step = self._step
        self.why_requested.emit(step.run if step else 0, step.number if step else 0, text)

    def show_run(self, run: int, step: int) -> None:
        """Show a step of a run, given by another window, and select the run in the tree."""
        self.session.trace.show_step(run, step)
        present(self)

    def _on_open_requested(self, opened: OpenedTask, allow_profile: bool) -> None:
        self.session.tasks.open(
            opened.task,
            opened.seed,
            url=opened.url,
            instruction=opened.instruction,
            profile=opened.profile,
            allow_profile=allow_profile,
        )

    def _on_folded(self) -> None:
        self.remembered.folding = self.runs.folding.words

    def _on_pace(self, seconds: float) -> None:
        self.remembered.pace = seconds
        self.session.run_commands.set_pace(seconds)

    def _on_early(self, title: str) -> None:
        self.page.messages.say(
            "Backstep is still starting", f"“{title}” is not ready yet. Try again in a moment."
        )

    def _on_hinted(self, title: str, hint: str) -> None:
        self.page.messages.say(title, hint)
        self.commands.refresh()

    def _on_stalled(self, milliseconds: float) -> None:
        """Log a stall at once, and combine those of the minute after it."""
        self._stalls.append(milliseconds)
        if not self._stalls_gathered.isActive():
            self._tell_stalls()
            self._stalls_gathered.start()

    def _tell_stalls(self) -> None:
        stalls, self._stalls = self._stalls, []
        if not stalls:
            return
        text = f"The window did not answer for {max(stalls):.0f} ms."
        if len(stalls) > 1:
            text = f"The window did not answer {len(stalls)} times, {max(stalls):.0f} ms at the longest."
        self.log.show_lines((LogLine(time=time.time(), level="warning", source="window", text=text),))

    def _give_page_room(self) -> None:
        messages = self.page.messages
        self.docks.give_page_room(_PAGE + (messages.height() if messages.shown else 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.isVisible():
            self.docks.follow_width(event.size().width())
        self.time.set_low(event.size().height() < self.theme.scaled(_LOW))
        self._room.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.layouts.size_at_first()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        QTimer.singleShot(_FIRST_PAINT_MS, self, self.heartbeat.start)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.closing.emit(event)
        if not event.isAccepted():
            return
        self.page_area.set_handed_over(
            False
        )  # A page that waits for an answer would keep the browser from closing.
        for relay in self._relays:
            relay.close()
        self.heartbeat.stop()
        self.remembered.keep_part(_GEOMETRY, self.saveGeometry())
        self.layouts.keep()
        self.remembered.settings.sync()
        super().closeEvent(event)
        self.closed.emit()
        self.frame.hide_beside()
