"""The command palette: its entries, and the effect of a choice."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot

from core.debugger.catalogue import Catalogue
from core.debugger.palette.views import MatchingExemplars, MatchingRuns, ResourcesView
from gui.palette.entries import (
    Kind,
    PaletteEntry,
    catalogue_entries,
    command_entries,
    exemplar_entries,
    found_in,
    page_entries,
    panel_entries,
    parted,
    resource_entries,
    run_entries,
    state_entries,
    step_entries,
)
from gui.palette.palette import HINT, Palette
from gui.shell.feature import FeatureController
from gui.shell.main_window import MainWindow
from gui.widgets.remembered import FoundBefore, OpenedTask

if TYPE_CHECKING:
    from core.debugger.palette.service import PaletteService

_RUNS = 40
_ONLY_RUNS = 200
"""Number of runs to request if there is no other search."""
_OF_LLMS = ("llm", "base_url", "llms", "purposes")
"""Settings in the dialog of the LLMs."""


class PaletteController(FeatureController):
    """Opens the palette, fills it, and carries out the choice."""

    def __init__(self, window: MainWindow, service: "PaletteService") -> None:
        super().__init__(window)
        self._service = service
        self._catalogue = Catalogue()
        self._resources = ResourcesView()
        self._entries: tuple[PaletteEntry, ...] = ()
        """The entries found without asking the session."""
        self._typed = ""
        self._runs: MatchingRuns | None = None
        self._exemplars: MatchingExemplars | None = None
        self._pages: tuple[PaletteEntry, ...] = ()
        self.shown = Palette(window.theme, window)
        self.shown.typed.connect(self._on_typed)
        self.shown.rested.connect(self._on_rested)
        self.shown.chosen.connect(self._on_chosen)
        self.follow(window.session.catalogue_changed, self._keep_catalogue)
        self.follow(service.changed, self._show_runs)
        self.follow(service.exemplars_found, self._show_exemplars)
        self.follow(service.resources_listed, self._show_resources)
        self._doing: dict[Kind, Callable[[str], object]] = {
            "command": lambda name: window.actions_by_name[name].trigger(),
            "panel": window.docks.go_to,
            "step": self._show_step,
            "state": self._show_state,
            "policy": window.file_requested.emit,
            "preset": window.tool_bar.preset_chosen.emit,
            "LLM": window.tool_bar.llm_chosen.emit,
            "task": self._open_task,
            "setting": self._open_setting,
            "documentation": window.docs_requested.emit,
            "run": lambda name: service.show_run(int(name)),
            "exemplar": window.exemplar_requested.emit,
        }

    def open(self) -> None:
        """Show the palette with all current entries."""
        before = self.window.remembered.found_before
        runs = (one.name for one in before if one.kind == "run" and one.name.isdecimal())
        self._service.list_resources(tuple(map(int, runs)))
        self._runs = self._exemplars = None
        self._pages = self._pages or page_entries()
        self._entries = self._read_entries()
        self.shown.open()

    def _read_entries(self) -> tuple[PaletteEntry, ...]:
        window = self.window
        step = window.step_in_view
        run = step.run if step is not None else window.view.run
        state = step.state if step is not None else None

        return (
            *command_entries(window.commands),
            *panel_entries(),
            *step_entries(window.runs.model.steps_of(run) if run is not None else ()),
            *(state_entries(state.space, state.states) if state is not None else ()),
            *catalogue_entries(self._catalogue),
            *resource_entries(self._resources),
            *self._pages,
        )

    @Slot(object)
    def _keep_catalogue(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    @Slot(str)
    def _on_typed(self, text: str) -> None:
        self._typed = text
        self._show()

    @Slot(str)
    def _on_rested(self, text: str) -> None:
        """Request runs and exemplars if they are searched for."""
        kinds, words = parted(text)
        if not self.shown.isVisible():
            return
        if "run" in kinds and (words or len(kinds) == 1):
            self._service.find_runs(words, _ONLY_RUNS if len(kinds) == 1 else _RUNS)
        if "exemplar" in kinds and (words or len(kinds) == 1):
            self._service.find_exemplars(words)

    @Slot(object)
    def _show_runs(self, found: MatchingRuns) -> None:
        self._runs = found
        self._show()

    @Slot(object)
    def _show_exemplars(self, found: MatchingExemplars) -> None:
        self._exemplars = found
        self._show()

    @Slot(object)
    def _show_resources(self, view: ResourcesView) -> None:
        changed = view != self._resources
        self._resources = view
        if changed and self.shown.isVisible():
            self._entries = self._read_entries()
            self._show()

    def _show(self) -> None:
        """Show the matches: first those known here, then runs and exemplars as they arrive."""
        kinds, words = parted(self._typed)
        before = self.window.remembered.found_before
        recent = [(one.kind, one.name) for one in before]
        known = {entry.id for entry in self._entries}
        kept = tuple(
            PaletteEntry(one.kind, one.name, one.text, one.detail)  # type: ignore[arg-type]
            for one in before
            if (one.kind, one.name) not in known and one.kind == "exemplar"
        )
        shown = list(found_in((*self._entries, *kept), kinds, words, recent))
        asked = bool(words) or len(kinds) == 1
        waiting: list[str] = []
        problems: list[str] = []
        for kind, found, entries in (
            ("run", self._runs, run_entries(self._runs, words) if self._runs is not None else ()),
            (
                "exemplar",
                self._exemplars,
                exemplar_entries(self._exemplars, words) if self._exemplars is not None else (),
            ),
        ):
            if kind not in kinds or not asked:
                continue
            if found is None or found.words != words:
                waiting.append(f"{kind}s")
            else:
                problems += filter(None, (found.problem,))
                fresh = {entry.id: entry for entry in entries}
                shown = [
                    replace(fresh.pop(one.id), recent=one.recent) if one.id in fresh else one for one in shown
                ]
                shown += fresh.values()
        self.shown.show_entries(shown, _note(shown, words, waiting, problems))

    @Slot(object)
    def _on_chosen(self, entry: PaletteEntry) -> None:
        kept = FoundBefore(kind=entry.kind, name=entry.name)
        if entry.kind == "exemplar":  # All others are read anew.
            kept = kept.replace(text=entry.text, detail=entry.detail)
        self.window.remembered.add_found(kept)
        self._doing[entry.kind](entry.name)

    def _show_step(self, name: str) -> None:
        run, _, number = name.partition(".")
        view = self.window.view
        if (int(run), int(number)) == (view.run, view.step):
            self.window.session.trace.show_now()
        else:
            self.window.session.trace.show_step(int(run), int(number))

    def _show_state(self, name: str) -> None:
        self.window.docks.go_to("State")
        self.window.state.large_wanted.emit()
        self.window.state.diagram.show_state(name)

    def _open_task(self, id: str) -> None:
        """Open the task as it was opened last, or else with the first seed."""
        recent = next((one for one in self.window.remembered.recent if one.task == id), None)
        self.window.tasks.open_task(recent or OpenedTask(task=id))

    def _open_setting(self, name: str) -> None:
        if name in _OF_LLMS:
            self.window.llm_settings_requested.emit()
        else:
            self.window.setting_requested.emit(name)


def _note(shown: list[PaletteEntry], words: str, waiting: list[str], problems: list[str]) -> str:
    if waiting:
        return f"Searching {' and '.join(waiting)}…"
    if problems:
        return problems[0]
    if not shown:
        return f"Nothing matches “{words}”. {HINT}" if words else f"Nothing to find here yet. {HINT}"
    return HINT


install = PaletteController
