"""Commands for files, for what the window shows, for the page as a browser, and for help."""

from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QApplication, QFileDialog, QInputDialog, QLineEdit

from core.trace.exports.registry import all_formats, chosen_format
from core.trace.records import RunRow
from gui.page.page_stack import SIZE_KEY
from gui.shell.command_group import CommandGroup
from gui.shell.element_links import ElementLinks
from gui.shell.help import Help, KeysDialog
from gui.shell.layouts import LayoutName
from gui.widgets.commands import FILE, HELP, LAYOUT, PAGE, TEXT_SIZE, VIEW, Command, Do
from gui.widgets.enabled_commands import NO_TASK

if TYPE_CHECKING:
    from gui.shell.parts import WindowParts

IMPORTED = "Runs (*.backstep *.json);;All files (*)"
_SEARCHED = ("Observation", "Prompt", "Diff", "Log", "Permissible actions", "Exemplars")
"""Docks with a search field, in the order that Ctrl+F tries if none of them has the focus."""


class FileCommands(CommandGroup):
    """Commands for tasks and stored runs."""

    help = "sharing.md"

    def export_in_view(self) -> None:
        if (run := self.run_in_view) is not None:
            self.export(run)

    def export(self, run: int) -> None:
        """Ask for a file and a format, and export a run."""
        formats = all_formats()
        filters = {f"{form.title} (*{form.suffix})": form.title for form in formats}
        first = f"run-{run}{formats[0].suffix}"
        path, chosen = QFileDialog.getSaveFileName(
            self.window, f"Export run {run}", first, ";;".join(filters)
        )
        if path:
            form, path = chosen_format(path, filters.get(chosen, formats[0].title))
            self.session.trace.export_run(run, form.name, path)

    def import_run(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self.window, "Import a run", "", IMPORTED)
        if path:
            self.session.trace.import_run(path)

    def name_run(self, row: RunRow) -> None:
        """Ask for a name for a run."""
        label = "What it is called in Runs & steps; empty takes the name away:"
        normal = QLineEdit.EchoMode.Normal
        name, chosen = QInputDialog.getText(self.window, f"Name run {row.run}", label, normal, row.name)
        if chosen:
            self.session.trace.name_run(row.run, name.strip())

    COMMANDS = (
        Command("new_task", "&New task…", "Ctrl+N", "new-file", FILE, 1.1, "Choose a task and open it",
            lambda self: self.window.tasks.choose_task(), help="tasks.md"),
        Command("export", "&Export run…", "Ctrl+E", "export", FILE, 2.1,
            "Write the run in view to a file, as a page, as data or as a script", export_in_view,
            CommandGroup.why_no_run, help="sharing.md#export-a-run"),
        Command("import", "&Import run…", "Ctrl+Alt+E", "cloud-download", FILE, 2.2,
            "Import a run from a repro file, a recording of Chrome DevTools or a history of browser-use", import_run,
            help="sharing.md#import-a-run"),
        Command("quit", "&Quit", "Ctrl+Q", "sign-out", FILE, 4.1, "Close the window and stop the current run",
            lambda self: self.window.close(), help="keys.md#file"),
    )  # fmt: skip


class ViewCommands(CommandGroup):
    """Commands that show another step, find something or arrange the window."""

    def __init__(self, window: "WindowParts", elements: ElementLinks) -> None:
        super().__init__(window)
        self.elements = elements

    def _neighbour(self, offset: int) -> tuple[int, int] | None:
        """Return the step before or after the one in view, also of a run that the tree does not list."""
        if (step := self.window.step_in_view) is None:
            return None
        sources = self.window.runs.model, self.window.time.film.view
        return next(filter(None, (one.neighbour(step.run, step.number, offset) for one in sources)), None)

    def _why_no_previous(self) -> str:
        none = "There is no recorded step before the one in view"
        return none if self._neighbour(-1) is None else ""

    def _why_no_next(self) -> str:
        none = "There is no recorded step after the one in view"
        return none if self.is_live or self._neighbour(1) is None else ""

    def _why_not_now(self) -> str:
        window = self.window
        page = window.page
        looking = page.pointing or window.time.film.is_scrubbing or window.run_card.row is not None
        is_now = self.is_live and not looking and not page.messages.shown and self.elements.pinned is None
        return "The step under way is in view already" if is_now else ""

    def _why_no_recorded(self) -> str:
        live = "The current step is in view: show a recorded one (Shift+F10)"
        return self.why_no_run() or (live if self.is_live else "")

    def find(self) -> None:
        window = self.window
        widget = QApplication.focusWidget()
        if window.view.handed_over and widget is not None and window.page_area.isAncestorOf(widget):
            window.page_area.search()
            return
        in_runs = widget is not None and window.runs.isAncestorOf(widget)
        while widget is not None and not hasattr(widget, "focus_search"):
            widget = widget.parentWidget()
        if widget is None or widget is window.tool_bar:
            front = (name for name in _SEARCHED if window.place(name).is_seen)
            widget = next((window.place(name).widget() for name in front), None)
        if in_runs or widget is None:
            widget = window.tool_bar
        widget.focus_search()

    def previous(self) -> None:
        if step := self._neighbour(-1):
            self.session.trace.show_step(*step)

    def next_recorded(self) -> None:
        if (step := self._neighbour(1)) == (self.window.view.run, self.window.view.step):
            self.session.trace.show_now()
        elif step is not None:
            self.session.trace.show_step(*step)

    def toggle_size(self) -> None:
        remembered = self.window.remembered
        remembered.page_fitted = not remembered.page_fitted
        self.window.page.set_fitted(remembered.page_fitted)

    def now(self) -> None:
        window = self.window
        if window.page.pointing:
            window.page.set_pointing(False)
        elif self.elements.pinned is not None:
            self.elements.pin(None)
        elif window.time.play.isChecked():
            window.time.play.setChecked(False)
        elif window.time.film.is_scrubbing:
            window.time.film.end_scrubbing()
        elif window.run_card.row is not None:
            window.run_card.close_card()
        elif not self.is_live:
            window.session.trace.show_now()
        else:
            window.page.messages.dismiss()
            window.commands.refresh()

    COMMANDS = (
        Command("search_runs", "Search r&uns", "Ctrl+K", "search", VIEW, 1.2,
            "Find runs by instruction, thought, action or answer", lambda self: self.window.tool_bar.focus_search(),
            help="window.md#runs--steps"),
        Command("find", "&Find in panel or page", "Ctrl+F", "search", VIEW, 1.3,
            "Go to the search field of the panel in use, or find words in the page while you have it", find),
        Command("previous", "&Previous step", "Shift+F10", "arrow-left", VIEW, 2.1,
            "Show the recorded step before the one in view", previous, _why_no_previous,
            help="getting-started.md#look-at-an-earlier-step"),
        Command("next_recorded", "Next rec&orded step", "Ctrl+F10", "arrow-right", VIEW, 2.2,
            "Show the recorded step after the one in view", next_recorded, _why_no_next,
            help="getting-started.md#look-at-an-earlier-step"),
        Command("flip", "Fl&ip before and after", "F4", "arrow-swap", VIEW, 2.4,
            "Show the other page of the step in view: the one before its action, or the one after it",
            lambda self: self.window.time.flip(), lambda self: self.window.time.why_no_flip,
            help="window.md#before-and-after-a-step"),
        Command("before_after", "Compare before and &after", "Ctrl+Alt+B", "split-horizontal", VIEW, 2.45,
            "Show the page before and after the recorded step: side by side, with a slider, or one alone",
            lambda self: self.window.page.cover.next_mode(), _why_no_recorded,
            help="window.md#before-and-after-a-step"),
        Command("now", "&Back to now", "Esc", "history", VIEW, 2.5, "Show the live page and the current step", now,
            _why_not_now),
        Command("pin_element", "Pin an &element", "Ctrl+Alt+M", "pin", VIEW, 2.7,
            "Keep the element under the mouse or text cursor highlighted in the page and panels, or unpin it",
            lambda self: self.elements.toggle(), help="window.md#the-live-page"),
        Command("actual_size", "Page at its o&wn size", SIZE_KEY, "screen-full", VIEW, 2.8,
            "Draw the page at its own size, with scrolling, or scaled to fit again", lambda self: self.toggle_size(),
            checked=lambda self: not self.window.remembered.page_fitted, help="window.md#the-live-page"),
        Command("text_larger", "&Larger", "Ctrl+Alt++ or Ctrl+Alt+=", "zoom-in", TEXT_SIZE, 1.1,
            "Make the text larger in all windows, up to 160 %", lambda self: self.window.theme.step_text(1)),
        Command("text_smaller", "&Smaller", "Ctrl+Alt+-", "zoom-out", TEXT_SIZE, 1.2,
            "Make the text smaller in all windows, down to 80 %", lambda self: self.window.theme.step_text(-1)),
        Command("text_normal", "&Normal", "Ctrl+Alt+0", "text-size", TEXT_SIZE, 1.3, "Reset the text size",
            lambda self: self.window.theme.resize_text(100)),
    )  # fmt: skip


def _layout(name: LayoutName) -> dict[str, Any]:
    return {
        "do": lambda self: self.window.layouts.choose(name),
        "checked": lambda self: self.window.layouts.current == name,
        "one_of": "layout",
    }


class LayoutCommands(CommandGroup):
    """Commands that choose a layout, and fold panels in it."""

    help = "window.md#layouts"
    needs_session = False

    COMMANDS = (
        Command("layout_watch", "&Watch", "Ctrl+Alt+1", "eye", LAYOUT, 1.1,
            "Show the page large, with runs and the action", **_layout("watch")),
        Command("layout_debug", "&Debug", "Ctrl+Alt+2", "debug-alt", LAYOUT, 1.2, "Show all panels around the page",
            **_layout("debug")),
        Command("layout_curate", "&Curate", "Ctrl+Alt+3", "library", LAYOUT, 1.3,
            "Show runs, exemplars, observation, prompt and diff large", **_layout("curate")),
        Command("fold_panel", "Fol&d the panel", "Ctrl+Alt+F", "fold", LAYOUT, 2.1,
            "Fold the focused panel to its title, or unfold it; below the page, hide the panels",
            lambda self: self.window.docks.fold_focused()),
        Command("reset_layout", "&Reset layout", "Ctrl+Shift+0", "layout", LAYOUT, 2.2,
            "Reset the current layout to its default", lambda self: self.window.layouts.reset()),
    )  # fmt: skip


def _browse(what: str) -> Do:
    return lambda self: self.window.page_area.browse(what)


class PageCommands(CommandGroup):
    """Commands of a browser, for the live page."""

    help = "window.md#use-the-page-as-a-browser"

    def _why_not(self) -> str:
        view = self.window.view
        none = NO_TASK if view.run is None else "Only while you have the page: take it over first (F6)"
        return "" if view.handed_over else none

    COMMANDS = (
        Command("page_back", "Go &back", "Alt+Left", "arrow-left", PAGE, 1.1,
            "Show the page before this one, while you have the page", _browse("back"), _why_not),
        Command("page_forward", "Go &forward", "Alt+Right", "arrow-right", PAGE, 1.2,
            "Show the page after this one, while you have the page", _browse("forward"), _why_not),
        Command("page_reload", "&Reload the page", "Ctrl+Alt+R", "refresh", PAGE, 1.3,
            "Load the page again, while you have the page", _browse("reload"), _why_not),
        Command("page_address", "&Address", "Alt+D", "globe", PAGE, 1.4,
            "Type an address to go to, while you have the page", lambda self: self.window.page_area.reach_address(),
            _why_not),
        Command("zoom_in", "Zoom &in", "Ctrl++ or Ctrl+=", "zoom-in", PAGE, 2.1,
            "Draw the page larger, while you have the page", _browse("zoom_in"), _why_not),
        Command("zoom_out", "Zoom &out", "Ctrl+-", "zoom-out", PAGE, 2.2,
            "Draw the page smaller, while you have the page", _browse("zoom_out"), _why_not),
        Command("zoom_reset", "&Zoom to 100 %", "Ctrl+0", "search", PAGE, 2.3,
            "Draw the page as large as the agent sees it", _browse("zoom_reset"), _why_not),
        Command("downloads", "&Downloads…", "Ctrl+Alt+J", "desktop-download", PAGE, 3.1,
            "List what you have downloaded, and where it is", lambda self: self.window.page_area.show_downloads()),
    )  # fmt: skip


class HelpCommands(CommandGroup):
    """Commands that open the documentation, the list of keys and the welcome."""

    needs_session = False

    def __init__(self, window: "WindowParts") -> None:
        super().__init__(window)
        self._help = Help(window)
        window.docs_requested.connect(self._help.show_page)

    COMMANDS = (
        Command("help", "&Help for this panel", "F1", "question", HELP, 1.1,
            "Open the documentation for what has the focus", lambda self: self._help.show_here()),
        Command("docs", "&Documentation", "Ctrl+F1", "book", HELP, 1.2, "Open the contents of the documentation",
            lambda self: self._help.show_page("README.md")),
        Command("keys", "&Keys…", "Shift+F1", "keyboard", HELP, 1.3, "List every key",
            lambda self: KeysDialog(self.window.theme, self.window.commands, self.window).open()),
        Command("welcome", "&Welcome", "Ctrl+Shift+F1", "home", HELP, 1.4, "Show three things to try",
            lambda self: self.window.tasks.show_welcome(), help="getting-started.md#step-through-a-task"),
    )  # fmt: skip
