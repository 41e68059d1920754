"""The main window: panels in docks around the live page, wired to a session's commands."""

import time
from collections.abc import Callable

from PySide6.QtCore import QSettings, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMainWindow, QWidget

from core.debugger.commands import SessionCommands
from core.debugger.snapshots import Catalogue, LogLine, PersonQuestion, Picked, SessionView, StepView
from core.permissible import PermissibleRow
from gui.enabling import Scene, can_pause, enabled
from gui.heartbeat import Heartbeat
from gui.keys_dialog import KeysDialog
from gui.page_stack import PageStack
from gui.panels.log_panel import LogPanel
from gui.panels.observation_panel import ObservationPanel
from gui.panels.permissible_panel import PermissiblePanel
from gui.panels.prompt_panel import PromptPanel
from gui.relay import Relay
from gui.remembered import OpenedTask, Remembered
from gui.status_line import StatusLine
from gui.task_opening import TaskOpening
from gui.theme import Theme
from gui.tool_bar import ToolBar
from gui.widgets.dock import PanelDock
from gui.window_actions import make_actions
from gui.window_docks import PLACES, Docks
from gui.window_menus import Menus
from gui.window_panels import Panels

_LAYOUT_VERSION = 1
_FIRST_SIZE = (1280, 800)
_FIRST_PAINT_MS = 300
"""Stalls are measured from the first picture of the window on."""


class MainWindow(QMainWindow):
    """Shows what `commands` announces and asks it for what the person wants.

    `page_area` is the live page: see `PageStack`. Preset, LLM and pace of the
    last time are asked for by `restore_choices`, and the first-start welcome
    shown by `welcome_at_first_start`; whoever starts the program decides
    whether to.
    """

    llm_settings_requested = Signal()
    closed = Signal()
    """The window has closed; nothing is relayed to it any more."""

    def __init__(
        self,
        commands: SessionCommands,
        page_area: QWidget,
        settings: QSettings,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.commands = commands
        self.theme = Theme(settings, self)
        self.remembered = Remembered(settings)
        self._session = SessionView()
        self._step: StepView | None = None
        self.theme.dress(self)
        self.setWindowTitle("Backstep")
        self.setMinimumSize(760, 480)
        self.resize(*_FIRST_SIZE)
        self.tasks = TaskOpening(commands, self.remembered, self.theme, self)
        self._build(page_area)
        self._connect_panels()
        self._connect_actions()
        self._relays = self._connect_commands()
        self.heartbeat = Heartbeat(self)
        self.heartbeat.stalled.connect(self._on_stalled)
        self._show_session(SessionView())
        layout = self.remembered.layout(_LAYOUT_VERSION)
        if layout is not None:
            self.restoreGeometry(layout[0])
            self.restoreState(layout[1], _LAYOUT_VERSION)
        self._fresh_layout = layout is None

    def restore_choices(self, *, preset: str = "", llm: str = "") -> None:
        """Ask for the preset, LLM and pace of the last time; a name given here wins."""
        if chosen := preset or self.remembered.preset:
            self.commands.set_preset(chosen)
        if chosen := llm or self.remembered.llm:
            self.commands.set_llm(chosen)
        self.commands.set_pace(self.remembered.pace)

    def welcome_at_first_start(self) -> None:
        """Show the welcome unless it was seen and not asked for again."""
        self.tasks.welcome_at_first_start()

    def open_task(self, opened: OpenedTask) -> None:
        """Open a task and remember it as the last one."""
        self.tasks.open_task(opened)

    def panel_fact(self, name: str, fact: str) -> None:
        """Put a panel's fact in its dock's title and, for tabs, in the tab."""
        dock = self.docks.by_name[name]
        dock.show_fact(fact)
        if name in ("Prompt", "Calls"):
            dock.setWindowTitle(f"{name} {fact}".rstrip())

    def _build(self, page_area: QWidget) -> None:
        theme = self.theme
        self.actions_by_name = make_actions(theme, self)
        for action in self.actions_by_name.values():
            self.addAction(action)
        panels = Panels(theme)
        self.runs, self.state, self.permissible = panels.runs, panels.state, panels.permissible
        self.action, self.stack = panels.action, panels.stack
        self.observation, self.prompt, self.calls, self.log = (
            panels.observation,
            panels.prompt,
            panels.calls,
            panels.log,
        )
        self.page = PageStack(theme, page_area, self)
        self.setCentralWidget(self.page)
        self.docks = Docks(theme, self, panels.by_name)
        self.menus = Menus(self.actions_by_name, self.docks, theme, self)
        self.setMenuBar(self.menus.bar)
        self.tool_bar = ToolBar(theme, self.actions_by_name, self.menus.pace, self)
        self.addToolBar(self.tool_bar)
        self.tool_bar.show_recent(self.remembered.recent)
        self.status = StatusLine(theme, self)
        self.setStatusBar(self.status)
        for place in PLACES:
            QShortcut(place.key, self, lambda name=place.name: self.docks.reach(name))
            panel = panels.by_name[place.name]
            if hasattr(panel, "fact_changed"):
                panel.fact_changed.connect(lambda fact, name=place.name: self.panel_fact(name, fact))

    def _connect_panels(self) -> None:
        commands = self.commands
        self.runs.step_requested.connect(commands.show_step)
        self.runs.run_requested.connect(commands.open_run)
        self.permissible.highlight_requested.connect(self.page.highlight)
        self.permissible.replace_requested.connect(self._on_replace)
        self.action.edit_requested.connect(commands.edit_action)
        self.action.accept_requested.connect(commands.accept)
        self.action.skip_requested.connect(commands.skip)
        self.action.ask_again_requested.connect(commands.ask_again)
        self.action.answer_requested.connect(commands.answer)
        self.action.pointing_requested.connect(self.page.set_pointing)
        self.page.pointing_changed.connect(self.action.show_pointing)
        self.page.pointing_changed.connect(self.actions_by_name["point"].setChecked)
        self.page.pointing_changed.connect(self._refresh_actions)
        self.page.point_requested.connect(self._on_point)
        self.page.handover_requested.connect(commands.set_handover)
        self.page.back_requested.connect(commands.show_now)
        self.page.messages.end_requested.connect(commands.end)
        self.tool_bar.preset_chosen.connect(self._on_preset)
        self.tool_bar.llm_chosen.connect(self._on_llm)
        self.tool_bar.task_reopened.connect(self.tasks.open_task)
        self.tasks.recent_changed.connect(self.tool_bar.show_recent)
        self.tasks.hinted.connect(self._on_hinted)
        self.tasks.settings_wanted.connect(self.llm_settings_requested)
        self.tool_bar.search_wanted.connect(commands.search_runs)
        self.menus.pace_chosen.connect(self._on_pace)

    def _connect_actions(self) -> None:
        slots = {
            "new_task": self.tasks.choose_task,
            "again": self.tasks.open_again,
            "next_seed": self.tasks.open_next_seed,
            "export": self._on_export,
            "quit": self.close,
            "run": self._on_run,
            "step": self._on_step,
            "phase": self._on_phase,
            "stop": self.commands.stop,
            "previous": self._on_previous,
            "next_recorded": self._on_next_recorded,
            "now": self._on_escape,
            "accept": self.action.accept,
            "ask_again": self.commands.ask_again,
            "skip": self.commands.skip,
            "handover": self._on_handover,
            "success": self._on_success,
            "failure": self._on_failure,
            "faster": self.menus.faster,
            "slower": self.menus.slower,
            "max_steps": self._on_max_steps,
            "llm_settings": self.llm_settings_requested,
            "search_runs": self.tool_bar.focus_search,
            "find": self._on_find,
            "reset_layout": self.docks.arrange,
            "keys": self._on_keys,
            "welcome": self.tasks.show_welcome,
        }
        for name, slot in slots.items():
            self.actions_by_name[name].triggered.connect(slot)
        point = self.actions_by_name["point"]
        point.setCheckable(True)
        point.triggered.connect(self.page.set_pointing)

    def _connect_commands(self) -> list[Relay]:
        commands = self.commands
        wired = (
            (commands.catalogue_changed, "latest", self._show_catalogue),
            (commands.session_changed, "latest", self._show_session),
            (commands.live_page_changed, "latest", self.page.show_live_page),
            (commands.runs_changed, "latest", self.runs.show_runs),
            (commands.step_changed, "latest", self._show_step),
            (commands.question_asked, "latest", self._show_question),
            (commands.picked, "every", self._show_picked),
            (commands.logged, "every", self.log.show_lines),
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
        now = time.time()
        self.log.show_lines(
            tuple(
                LogLine(time=now, level="warning", source="files", text=problem)
                for problem in catalogue.problems
            )
        )
        if catalogue.problems:
            count = len(catalogue.problems)
            title = "A file could not be read" if count == 1 else f"{count} files could not be read"
            self.page.messages.say(title, f"{catalogue.problems[0]} The Log (Alt+-) has it all.")

    @Slot(object)
    def _show_session(self, view: SessionView) -> None:
        self._session = view
        self.tasks.show_session(view)
        title = f"{view.task} · seed {view.seed} – Backstep" if view.task else "Backstep"
        self.setWindowTitle(title)
        self.tool_bar.show_session(view)
        self.status.show_session(view)
        self.menus.show_pace(view.pace)
        self.page.show_session(view)
        self.action.show_session(view)
        self.runs.show_session(view)
        self._refresh_actions()

    @Slot(object)
    def _show_step(self, step: StepView) -> None:
        self._step = step
        self.page.show_step(step)
        self.state.show_state(step.state)
        self.permissible.show_permissible(step.permissible)
        self.action.show_action(step.action)
        self.action.show_remarks(step.interventions, step.events)
        self.stack.show_stack(step.stack)
        self.observation.show_observation(step.observation)
        self.prompt.show_calls(step.calls)
        self.calls.show_calls(step.calls)
        self.runs.show_step(step)
        self._refresh_actions()

    @Slot(object)
    def _show_question(self, question: PersonQuestion | None) -> None:
        self.action.show_question(question)
        self.prompt.show_question(question)
        self._refresh_actions()

    @Slot(object)
    def _show_picked(self, picked: tuple[Picked, ...]) -> None:
        for one in picked:
            pointing = self.page.pointing
            self.page.show_picked(one)
            if pointing:
                self.action.show_picked(one)

    def _refresh_actions(self) -> None:
        recorded = self._step is not None and not self._step.live
        scene = Scene(
            session=self._session,
            recorded=recorded,
            editable=self.action.editable and not recorded,
            answering=self.action.answering,
            pointing=self.page.pointing,
            message=self.page.messages.shown,
            run_in_view=self._run_in_view() is not None,
            step_before=self._neighbour(-1) is not None,
            step_after=self._neighbour(1) is not None,
        )
        for name, on in enabled(scene).items():
            self.actions_by_name[name].setEnabled(on)

    def _run_in_view(self) -> int | None:
        return self._step.run if self._step is not None else self._session.run

    def _neighbour(self, offset: int) -> tuple[int, int] | None:
        if self._step is None:
            return None
        return self.runs.neighbour(self._step.run, self._step.number, offset)

    def _on_run(self) -> None:
        if can_pause(self._session):
            self.commands.pause()
        else:
            self._from_now(self.commands.run)

    def _on_step(self) -> None:
        self._from_now(self.commands.step)

    def _on_phase(self) -> None:
        self._from_now(self.commands.phase)

    def _from_now(self, ask: Callable[[], None]) -> None:
        """Go on from the step under way, with the action as it was edited."""
        if self._step is not None and not self._step.live:
            self.commands.show_now()
            ask()
        else:
            self.action.settle(ask)

    def _on_replace(self, row: PermissibleRow) -> None:
        self.docks.by_name["Next action"].show()
        self.docks.by_name["Next action"].raise_()
        self.action.show_row(row)

    def _on_point(self, x: float, y: float, final: bool) -> None:
        self.commands.point(x, y, final=final)

    def _on_handover(self) -> None:
        self.commands.set_handover(not self._session.handed_over)

    def _on_success(self) -> None:
        self.commands.end(True)

    def _on_failure(self) -> None:
        self.commands.end(False)

    def _on_previous(self) -> None:
        if step := self._neighbour(-1):
            self.commands.show_step(*step)

    def _on_next_recorded(self) -> None:
        if step := self._neighbour(1):
            if step == (self._session.run, self._session.step):
                self.commands.show_now()
            else:
                self.commands.show_step(*step)

    def _on_escape(self) -> None:
        if self.page.pointing:
            self.page.set_pointing(False)
        elif self._step is not None and not self._step.live:
            self.commands.show_now()
        else:
            self.page.messages.dismiss()
            self._refresh_actions()

    def _on_preset(self, name: str) -> None:
        self.remembered.preset = name
        self.commands.set_preset(name)

    def _on_llm(self, name: str) -> None:
        self.remembered.llm = name
        self.commands.set_llm(name)

    def _on_pace(self, seconds: float) -> None:
        self.remembered.pace = seconds
        self.commands.set_pace(seconds)

    def _on_max_steps(self) -> None:
        count, chosen = QInputDialog.getInt(
            self, "Step limit", "Page actions after which a run ends:", self._session.max_steps, 1, 10_000
        )
        if chosen:
            self.commands.set_max_steps(count)

    def _on_export(self) -> None:
        run = self._run_in_view()
        if run is None:
            return
        path, form = QFileDialog.getSaveFileName(
            self, f"Export run {run}", f"run-{run}.html", "One HTML file (*.html);;JSON (*.json)"
        )
        if path:
            as_json = path.endswith(".json") or ("json" in form and not path.endswith(".html"))
            suffix = ".json" if as_json else ".html"
            self.commands.export_run(run, suffix[1:], path if path.endswith(suffix) else path + suffix)

    def _on_find(self) -> None:
        widget: QWidget | None = self.focusWidget()
        while widget is not None and not hasattr(widget, "focus_search"):
            widget = widget.parentWidget()
        if widget is None or widget is self.tool_bar:
            names = ("Observation", "Prompt", "Log", "Permissible actions")
            widget = next((self.dock(name).widget() for name in names if self.docks.is_in_front(name)), None)
        if isinstance(widget, ObservationPanel | PromptPanel | LogPanel | PermissiblePanel):
            widget.focus_search()

    def _on_keys(self) -> None:
        KeysDialog(self.theme, list(self.actions_by_name.values()), self).open()

    def _on_hinted(self, title: str, hint: str) -> None:
        self.page.messages.say(title, hint)
        self._refresh_actions()

    def _on_stalled(self, milliseconds: float) -> None:
        text = f"The window stood still for {milliseconds:.0f} ms."
        self.log.show_lines((LogLine(time=time.time(), level="warning", source="window", text=text),))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._fresh_layout:
            self._fresh_layout = False
            self.docks.size_at_first()
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        QTimer.singleShot(_FIRST_PAINT_MS, self, self.heartbeat.start)

    def closeEvent(self, event: QCloseEvent) -> None:
        for relay in self._relays:
            relay.close()
        self.heartbeat.stop()
        self.remembered.keep_layout(self.saveGeometry(), self.saveState(_LAYOUT_VERSION), _LAYOUT_VERSION)
        super().closeEvent(event)
        self.closed.emit()

    def dock(self, name: str) -> PanelDock:
        """Return the dock of that name, as the View menu has it."""
        return self.docks.by_name[name]
