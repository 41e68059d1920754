"""The main window: panels in docks around the live page, wired to a session's commands."""

import time

from PySide6.QtCore import QSettings, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMainWindow, QWidget

from core.debugger.commands import SessionCommands
from core.debugger.snapshots import Catalogue, LogLine, Picked, SessionView, StepView
from core.permissible import PermissibleRow
from gui.enabling import can_hand_over, can_pause, can_say_how_it_ended, can_step, can_stop
from gui.heartbeat import Heartbeat
from gui.keys_dialog import KeysDialog
from gui.page_stack import PageStack
from gui.panels.action_panel import ActionPanel
from gui.panels.calls_panel import CallsPanel
from gui.panels.log_panel import LogPanel
from gui.panels.observation_panel import ObservationPanel
from gui.panels.permissible_panel import PermissiblePanel
from gui.panels.prompt_panel import PromptPanel
from gui.panels.runs_panel import RunsPanel
from gui.panels.stack_panel import StackPanel
from gui.panels.state_panel import StatePanel
from gui.panels.words_panel import EXEMPLARS, PLAN_AND_REMEDIES, WordsPanel
from gui.relay import Relay
from gui.remembered import OpenedTask, Remembered
from gui.status_line import StatusLine
from gui.task_chooser import TaskChooser
from gui.theme import Theme
from gui.tool_bar import ToolBar
from gui.welcome import Trial, Welcome
from gui.widgets.dock import PanelDock
from gui.window_actions import make_actions
from gui.window_docks import PLACES, Docks
from gui.window_menus import Menus

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
        self._catalogue = Catalogue()
        self._step: StepView | None = None
        self._chooser: TaskChooser | None = None
        self._welcome: Welcome | None = None
        self.theme.dress(self)
        self.setWindowTitle("Backstep")
        self.setMinimumSize(760, 480)
        self.resize(*_FIRST_SIZE)
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
        if not self.remembered.welcome_seen:
            self.show_welcome()

    def open_task(self, opened: OpenedTask) -> None:
        """Open a task and remember it as the last one."""
        self.remembered.add_recent(opened)
        self.tool_bar.show_recent(self.remembered.recent)
        self.commands.open_task(opened.task, opened.seed, url=opened.url, instruction=opened.instruction)

    @Slot()
    def show_welcome(self) -> None:
        if self._welcome is None:
            self._welcome = Welcome(self.theme, self)
            self._welcome.tried.connect(self._on_tried)
            self._welcome.seen.connect(self._on_welcome_seen)
        self._welcome.show()
        self._welcome.raise_()

    @Slot()
    def choose_task(self) -> None:
        """Open the task chooser."""
        if self._chooser is None:
            self._chooser = TaskChooser(self.theme, self)
            self._chooser.opened.connect(self.open_task)
        self._chooser.show_catalogue(self._catalogue)
        self._chooser.show_chosen(self.remembered.last_task)
        self._chooser.open()

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
        self.runs = RunsPanel(theme)
        self.state = StatePanel(theme)
        self.permissible = PermissiblePanel(theme)
        self.action = ActionPanel(theme)
        self.stack = StackPanel(theme)
        self.observation = ObservationPanel(theme)
        self.prompt = PromptPanel(theme)
        self.calls = CallsPanel(theme)
        self.log = LogPanel(theme)
        self.page = PageStack(theme, page_area, self)
        self.setCentralWidget(self.page)
        panels: dict[str, QWidget] = dict(
            zip(
                (place.name for place in PLACES),
                (
                    self.runs,
                    self.state,
                    self.permissible,
                    self.action,
                    self.stack,
                    WordsPanel(PLAN_AND_REMEDIES),
                    WordsPanel(EXEMPLARS),
                    self.observation,
                    self.prompt,
                    self.calls,
                    self.log,
                ),
                strict=True,
            )
        )
        self.docks = Docks(theme, self, panels)
        self.menus = Menus(self.actions_by_name, self.docks, theme, self)
        self.setMenuBar(self.menus.bar)
        self.tool_bar = ToolBar(theme, self.actions_by_name, self.menus.pace, self)
        self.addToolBar(self.tool_bar)
        self.tool_bar.show_recent(self.remembered.recent)
        self.status = StatusLine(theme, self)
        self.setStatusBar(self.status)
        for place in PLACES:
            QShortcut(place.key, self, lambda name=place.name: self.docks.reach(name))
            panel = panels[place.name]
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
        self.tool_bar.task_reopened.connect(self.open_task)
        self.tool_bar.search_wanted.connect(commands.search_runs)
        self.menus.pace_chosen.connect(self._on_pace)

    def _connect_actions(self) -> None:
        slots = {
            "new_task": self.choose_task,
            "again": self._on_again,
            "next_seed": self._on_next_seed,
            "export": self._on_export,
            "quit": self.close,
            "run": self._on_run,
            "step": self._on_step,
            "phase": self._on_phase,
            "stop": self.commands.stop,
            "previous": self._on_previous,
            "next_recorded": self._on_next_recorded,
            "now": self._on_escape,
            "accept": self._on_accept,
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
            "welcome": self.show_welcome,
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
            (commands.question_asked, "latest", self.action.show_question),
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
        self._catalogue = catalogue
        self.tool_bar.show_catalogue(catalogue)
        if self._chooser is not None:
            self._chooser.show_catalogue(catalogue)
        now = time.time()
        self.log.show_lines(
            tuple(LogLine(time=now, level="warning", source="files", text=problem) for problem in catalogue.problems)
        )
        if catalogue.problems:
            count = len(catalogue.problems)
            title = "A file could not be read" if count == 1 else f"{count} files could not be read"
            self.page.messages.say(title, f"{catalogue.problems[0]} The Log (Alt+-) has it all.")

    @Slot(object)
    def _show_session(self, view: SessionView) -> None:
        self._session = view
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
        self.stack.show_stack(step.stack)
        self.observation.show_observation(step.observation)
        self.prompt.show_calls(step.calls)
        self.calls.show_calls(step.calls)
        self.runs.show_viewed(step.run, step.number)
        self._refresh_actions()

    @Slot(object)
    def _show_picked(self, picked: tuple[Picked, ...]) -> None:
        for one in picked:
            pointing = self.page.pointing
            self.page.show_picked(one)
            if pointing:
                self.action.show_picked(one)

    def _refresh_actions(self) -> None:
        view, acts = self._session, self.actions_by_name
        recorded = self._step is not None and not self._step.live
        editable = self.action.editable and not recorded
        acts["step"].setEnabled(can_step(view))
        acts["phase"].setEnabled(can_step(view))
        acts["run"].setEnabled(can_step(view) or can_pause(view))
        acts["stop"].setEnabled(can_stop(view))
        acts["accept"].setEnabled(editable)
        acts["ask_again"].setEnabled(editable and not self.action.answering)
        acts["skip"].setEnabled(editable and not self.action.answering)
        acts["point"].setEnabled((editable and not view.handed_over) or self.page.pointing)
        acts["handover"].setEnabled(can_hand_over(view))
        acts["success"].setEnabled(can_say_how_it_ended(view))
        acts["failure"].setEnabled(can_say_how_it_ended(view))
        acts["export"].setEnabled(self._run_in_view() is not None)
        acts["again"].setEnabled(bool(view.task))
        acts["next_seed"].setEnabled(bool(view.task))
        acts["previous"].setEnabled(self._neighbour(-1) is not None)
        acts["next_recorded"].setEnabled(recorded and self._neighbour(1) is not None)
        acts["now"].setEnabled(recorded or self.page.pointing or self.page.messages.shown)

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

    def _from_now(self, ask) -> None:  # type: ignore[no-untyped-def]
        """Go on from the step under way, with the action as it was edited."""
        if self._step is not None and not self._step.live:
            self.commands.show_now()
            ask()
        else:
            self.action.settle(ask)

    def _on_accept(self) -> None:
        self.action.accept()

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

    def _on_again(self) -> None:
        self._reopen(self._session.seed)

    def _on_next_seed(self) -> None:
        self._reopen(self._session.seed + 1)

    def _reopen(self, seed: int) -> None:
        last = self.remembered.last_task
        if last is not None and last.task == self._session.task:
            self.open_task(last.model_copy(update={"seed": seed}))
        else:
            self.open_task(OpenedTask(task=self._session.task, seed=seed))

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
        widget = self.focusWidget()
        while widget is not None and not hasattr(widget, "focus_search"):
            widget = widget.parentWidget()
        if widget is None:
            names = ("Observation", "Prompt", "Log", "Permissible actions")
            shown = [name for name in names if self.docks.is_in_front(name)]
            widget = self.docks.by_name[shown[0]].widget() if shown else None
        if widget is not None and widget is not self.tool_bar:
            widget.focus_search()  # type: ignore[attr-defined]

    def _on_keys(self) -> None:
        KeysDialog(self.theme, list(self.actions_by_name.values()), self).open()

    def _on_welcome_seen(self, show_again: bool) -> None:
        self.remembered.welcome_seen = not show_again

    def _on_tried(self, trial: Trial) -> None:
        if trial.opens is not None:
            self.commands.set_llm("rules")
            self.open_task(trial.opens)
            self.page.messages.say(trial.title, trial.hint)
            self._refresh_actions()
        else:
            self.llm_settings_requested.emit()

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
