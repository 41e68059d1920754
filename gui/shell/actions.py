"""The window's commands in one table: name, key, icon and tooltip text."""

from dataclasses import dataclass

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QKeySequence

from gui.theme.theme import Theme


@dataclass(frozen=True)
class Command:
    """A command of the window; `brief` is the text in a tool bar."""

    name: str
    text: str
    key: str
    icon: str
    words: str
    brief: str = ""


COMMANDS: tuple[Command, ...] = (
    Command("new_task", "&New task…", "Ctrl+N", "new-file", "Choose a task and open it"),
    Command(
        "add_tasks",
        "Add tasks &from a file…",
        "Ctrl+O",
        "file-add",
        "Add a task file or WebArena's configuration to the tasks",
    ),
    Command(
        "again", "Open the task &again", "Ctrl+R", "debug-restart", "The same task and seed from the start"
    ),
    Command(
        "next_seed",
        "Open with the next &seed",
        "Ctrl+Shift+N",
        "arrow-right",
        "The same task with the next seed",
    ),
    Command(
        "export",
        "&Export run…",
        "Ctrl+E",
        "export",
        "Write the run in view to a file, as a page, as data or as a script",
    ),
    Command(
        "import",
        "&Import run…",
        "Ctrl+Alt+E",
        "cloud-download",
        "Import a run from a repro file, a recording of Chrome DevTools or a history of browser-use",
    ),
    Command("quit", "&Quit", "Ctrl+Q", "sign-out", "Close the window and stop the current run"),
    Command("run", "&Run", "F5", "debug-start", "Run until the end or a pause", "Run"),
    Command(
        "step",
        "&Step",
        "F10",
        "debug-continue",
        "Carry out the next action and stop at the next review",
        "Step",
    ),
    Command(
        "back",
        "&Back",
        "Ctrl+B",
        "debug-step-back",
        "Go back on a branch to before the step in view, or to before the last step",
        "Back",
    ),
    Command(
        "fork",
        "&Fork…",
        "Ctrl+Shift+F",
        "repo-forked",
        "Go back to the step in view on a branch with another preset, LLM, policies or exemplars",
    ),
    Command(
        "fix",
        "Fix…",
        "Ctrl+.",
        "tools",
        "Fix the run in view: find the deciding step, change something there, and run again from it",
    ),
    Command(
        "bisect",
        "Bisect…",
        "Ctrl+Shift+I",
        "graph-line",
        "Find the step from which the run in view can still succeed",
    ),
    Command(
        "keep",
        "Save as e&xemplar…",
        "Ctrl+Shift+K",
        "save",
        "Save the run in view as an exemplar for runs of similar tasks",
    ),
    Command(
        "record",
        "Recor&d by hand",
        "Ctrl+Shift+D",
        "record",
        "Record how you do the task in the page, and save it as an exemplar",
        "Record",
    ),
    Command(
        "over",
        "&Over",
        "F8",
        "debug-step-over",
        "Stop at the next review in this policy, and step over policies that it calls",
        "Over",
    ),
    Command(
        "into",
        "&Into",
        "F11",
        "debug-step-into",
        "Carry out the next action and stop at the next review, also inside a policy that it calls",
        "Into",
    ),
    Command("out", "O&ut", "Shift+F11", "debug-step-out", "Run until this policy returns", "Out"),
    Command(
        "run_to_step",
        "Run to a st&ep…",
        "Shift+F8",
        "debug-continue",
        "Run until the review of a step number",
    ),
    Command(
        "run_to_subtask",
        "Run to the subt&ask",
        "Ctrl+F8",
        "debug-continue-small",
        "Run until the chosen subtask of the plan, or else the next one, is current",
    ),
    Command(
        "add_breakpoint",
        "Add a brea&kpoint…",
        "Ctrl+Shift+B",
        "debug-breakpoint",
        "Choose what stops the run",
    ),
    Command("add_watch", "Add a &watch", "Ctrl+Shift+W", "eye", "Show a value at every step"),
    Command(
        "back_to_hit",
        "Back to the last &hit",
        "Ctrl+F5",
        "debug-reverse-continue",
        "Show the last step before the one in view at which a breakpoint stops",
    ),
    Command(
        "back_to_change",
        "Back to the last chan&ge",
        "Ctrl+Shift+F5",
        "debug-reverse-continue",
        "Show the last step before the one in view at which the chosen watch changed",
    ),
    Command("phase", "&Phase", "F9", "debug-line-by-line", "Do one phase of the step", "Phase"),
    Command("stop", "S&top", "Shift+F5", "debug-stop", "End the run", "Stop"),
    Command(
        "previous",
        "&Previous step",
        "Shift+F10",
        "arrow-left",
        "Show the recorded step before the one in view",
        "Previous",
    ),
    Command(
        "next_recorded",
        "Next rec&orded step",
        "Ctrl+F10",
        "arrow-right",
        "Show the recorded step after the one in view",
    ),
    Command(
        "before_after",
        "Before and &after",
        "Ctrl+Alt+B",
        "split-horizontal",
        "Show the page before and after the recorded step: side by side, with a slider, or before alone",
    ),
    Command(
        "play_back",
        "Play the &run back",
        "Ctrl+Alt+P",
        "play",
        "Show the recorded steps of the run in view one after another. Press again, or Esc, to stop",
    ),
    Command("now", "&Back to now", "Esc", "history", "Show the live page and the current step"),
    Command("accept", "&Accept the action", "Ctrl+Return", "check", "Carry out the next action as it is"),
    Command(
        "ask_again", "Ask a&gain", "Ctrl+Shift+R", "refresh", "Discard the proposal and ask the LLM again"
    ),
    Command("skip", "S&kip the action", "Ctrl+J", "circle-slash", "Do nothing in this step"),
    Command(
        "fire_remedy",
        "&Try a remedy",
        "Ctrl+P, J",
        "discard",
        "Go back to where the chosen remedy starts, or else the topmost one, and try it",
    ),
    Command("edit_plan", "&Edit the plan", "Ctrl+Shift+E", "edit", "Edit the plan in its place"),
    Command("undo_edit", "&Undo", "Ctrl+Z", "discard", "Take back what you changed last"),
    Command("redo_edit", "Red&o", "Ctrl+Shift+Z", "redo", "Make the change again that you undid last"),
    Command(
        "to_call",
        "Stop before the next &LLM call",
        "Ctrl+Shift+F10",
        "debug-pause",
        "Go on until an LLM call is about to be sent, so that its prompt can be edited",
    ),
    Command(
        "edit_file",
        "Edit a file of t&he agent…",
        "Ctrl+Shift+O",
        "go-to-file",
        "Edit a policy, preset, state space or prompt, with the prompt that would result",
    ),
    Command(
        "edit_prompt",
        "Edit the held &prompt or reply…",
        "Ctrl+P, P",
        "comment-discussion",
        "Edit what a held LLM call is about to send, or the reply before the agent reads it",
    ),
    Command(
        "edit_observation",
        "Edit the clean obser&vation…",
        "Ctrl+P, O",
        "edit",
        "Edit what the prompt shows of the page, and ask for the action with it",
    ),
    Command(
        "edit_parser",
        "Edit the pro&gram that shortens pages…",
        "Ctrl+P, G",
        "code",
        "Edit the program that makes the clean observation",
    ),
    Command(
        "edit_memory",
        "Edit buffer and &memory…",
        "Ctrl+P, M",
        "edit",
        "Edit the buffer, remembered values, visited items and transitions",
    ),
    Command(
        "edit_frame",
        "Edit the policy &frame…",
        "Ctrl+P, F",
        "edit",
        "Edit argument, notes and history of the policy at work",
    ),
    Command(
        "edit_return",
        "Edit what the policy came &back with…",
        "Ctrl+P, B",
        "edit",
        "Edit the answer of the policy that returned last",
    ),
    Command(
        "edit_lessons",
        "Edit the &lessons of earlier trials…",
        "Ctrl+P, L",
        "edit",
        "Edit the lessons of earlier trials",
    ),
    Command(
        "judge_right",
        "The step was &right",
        "Ctrl+P, Y",
        "pass",
        "Overrule the judgement: the last step served its purpose",
    ),
    Command(
        "judge_wrong",
        "The step was &wrong",
        "Ctrl+P, N",
        "error",
        "Overrule the judgement: the last step did not serve its purpose",
    ),
    Command(
        "judge_subtask",
        "The &subtask is done",
        "Ctrl+P, S",
        "check",
        "Overrule the judgement: the subtask is done",
    ),
    Command(
        "judge_task",
        "The task is &done",
        "Ctrl+P, D",
        "check-all",
        "Overrule the judgement: the task is done",
    ),
    Command(
        "add_remedy",
        "Add a remed&y…",
        "Ctrl+P, R",
        "add",
        "Add an action to try if this step's action turns out wrong",
    ),
    Command(
        "new_trial",
        "Start a new &trial",
        "Ctrl+P, T",
        "debug-restart",
        "Review this trial and start the task again",
    ),
    Command(
        "pop_policy",
        "Pop the policy at wor&k…",
        "Ctrl+P, Q",
        "debug-step-out",
        "End the current policy with an answer, or with what it lacked",
    ),
    Command(
        "restart_policy",
        "Restart the policy &at work",
        "Ctrl+P, A",
        "debug-restart-frame",
        "Restart the current policy without its history and notes",
    ),
    Command(
        "push_policy",
        "Push a poli&cy…",
        "Ctrl+P, C",
        "debug-step-into",
        "Call a policy by hand, written as an action",
    ),
    Command(
        "force_state",
        "Force a state…",
        "Ctrl+P, X",
        "symbol-class",
        "Treat the page as another state in this step",
    ),
    Command(
        "permit",
        "Perm&it one more action…",
        "Ctrl+P, I",
        "add",
        "Permit another action of the page in this step",
    ),
    Command(
        "pin_exemplar", "Add an e&xemplar…", "Ctrl+P, E", "book", "Add an exemplar to the prompts of this run"
    ),
    Command(
        "again_plan", "The plan", "Ctrl+P, 1", "refresh", "Ask for the plan again, and then for the action"
    ),
    Command("again_recall", "The exemplars", "Ctrl+P, 2", "refresh", "Ask the memory again"),
    Command(
        "again_abstraction",
        "The clean observation",
        "Ctrl+P, 3",
        "refresh",
        "Make the clean observation again",
    ),
    Command(
        "again_remedies", "The remedies", "Ctrl+P, 4", "refresh", "Ask for the remedies of this step again"
    ),
    Command(
        "again_judgement", "The judgement", "Ctrl+P, 5", "refresh", "Ask for the judgement of the step again"
    ),
    Command("recognise", "The state", "Ctrl+P, 6", "refresh", "Recognise the state of the page again"),
    Command("point", "P&oint at an element", "F7", "inspect", "Choose an element in the page for the action"),
    Command(
        "show_target",
        "Show the tar&get",
        "Shift+F7",
        "eye",
        "Scroll the page to what the next action acts on, or back to where the agent saw it",
    ),
    Command(
        "handover",
        "&Hand the page over",
        "F6",
        "person",
        "Let your mouse and keys reach the page, or take it back",
    ),
    Command(
        "page_back",
        "Go &back",
        "Alt+Left",
        "arrow-left",
        "Show the page before this one, while you have the page",
    ),
    Command(
        "page_forward",
        "Go &forward",
        "Alt+Right",
        "arrow-right",
        "Show the page after this one, while you have the page",
    ),
    Command(
        "page_reload",
        "&Reload the page",
        "Ctrl+Alt+R",
        "refresh",
        "Load the page again, while you have the page",
    ),
    Command(
        "page_address", "&Address", "Alt+D", "globe", "Type an address to go to, while you have the page"
    ),
    Command("zoom_in", "Zoom &in", "Ctrl++", "zoom-in", "Draw the page larger, while you have the page"),
    Command("zoom_out", "Zoom &out", "Ctrl+-", "zoom-out", "Draw the page smaller, while you have the page"),
    Command(
        "zoom_reset", "&Zoom to 100 %", "Ctrl+0", "search", "Draw the page as large as the agent sees it"
    ),
    Command(
        "downloads",
        "&Downloads…",
        "Ctrl+Alt+J",
        "desktop-download",
        "List what you have downloaded, and where it is",
    ),
    Command("success", "It succee&ded", "Ctrl+Shift+Y", "pass", "Record that the run did what was asked"),
    Command(
        "failure",
        "It did &not succeed",
        "Ctrl+Shift+X",
        "error",
        "Record that the run did not do what was asked",
    ),
    Command("faster", "&Faster", "Ctrl+]", "chevron-right", "Wait less between the steps of a run"),
    Command("slower", "S&lower", "Ctrl+[", "chevron-left", "Wait longer between the steps of a run"),
    Command(
        "max_steps",
        "Step limit…",
        "Ctrl+Shift+L",
        "dashboard",
        "Set the number of page actions after which a run ends",
    ),
    Command(
        "attach",
        "Attach &your agent…",
        "Ctrl+Shift+A",
        "plug",
        "Run your own agent in this window's browser, and step through it",
    ),
    Command(
        "llm_settings", "&LLM settings…", "Ctrl+,", "settings-gear", "Add an LLM, or change base URL and key"
    ),
    Command(
        "palette",
        "&Command palette…",
        "Ctrl+Shift+P",
        "terminal",
        "Find a command, panel, task, run, step, exemplar, setting or page of the documentation",
    ),
    Command(
        "search_runs",
        "Search r&uns",
        "Ctrl+K",
        "search",
        "Find runs by instruction, thought, action or answer",
    ),
    Command(
        "find",
        "&Find in panel or page",
        "Ctrl+F",
        "search",
        "Go to the search field of the panel in use, or find words in the page while you have it",
    ),
    Command(
        "library",
        "E&xemplars…",
        "Ctrl+L",
        "library",
        "Open the library of exemplars to search, check, import and export",
    ),
    Command(
        "evaluations",
        "E&valuations…",
        "Ctrl+Shift+V",
        "graph",
        "Run many tasks with several agents or LLMs, and compare their success",
    ),
    Command(
        "background_work",
        "Bac&kground work…",
        "Ctrl+Shift+U",
        "server-process",
        "List background work with its progress, and cancel it",
    ),
    Command(
        "notify",
        "Notif&y when work ends",
        "Ctrl+Alt+N",
        "bell",
        "Show a desktop notification when work ends or stops while another program is in front",
    ),
    Command(
        "why",
        "Where it comes fro&m…",
        "Ctrl+I",
        "quote",
        "Find where the selected words, or those of the step's action, occur in prompt, page and elsewhere",
    ),
    Command(
        "pin_element",
        "Pin an &element",
        "Ctrl+Alt+M",
        "pin",
        "Keep the element under the mouse or text cursor highlighted in the page and panels, or unpin it",
    ),
    Command(
        "time_bar",
        "&Time bar",
        "Ctrl+T",
        "history",
        "Show the time bar and go to it. Press again to hide it",
    ),
    Command(
        "text_larger", "&Larger", "Ctrl+Alt++", "zoom-in", "Make the text larger in all windows, up to 160 %"
    ),
    Command(
        "text_smaller",
        "&Smaller",
        "Ctrl+Alt+-",
        "zoom-out",
        "Make the text smaller in all windows, down to 80 %",
    ),
    Command("text_normal", "&Normal", "Ctrl+Alt+0", "text-size", "Reset the text size"),
    Command(
        "fold_panel",
        "Fol&d the panel",
        "Ctrl+Alt+F",
        "fold",
        "Fold the focused panel to its title, or unfold it",
    ),
    Command(
        "layout_watch", "&Watch", "Ctrl+Alt+1", "eye", "Show the page large, with runs, next action and time"
    ),
    Command("layout_debug", "&Debug", "Ctrl+Alt+2", "debug-alt", "Show all panels around the page"),
    Command(
        "layout_curate",
        "&Curate",
        "Ctrl+Alt+3",
        "library",
        "Show runs, exemplars, observation, prompt and diff large",
    ),
    Command(
        "reset_layout",
        "&Reset layout",
        "Ctrl+Shift+0",
        "layout",
        "Reset the current layout to its default",
    ),
    Command(
        "help", "&Help for this panel", "F1", "question", "Open the documentation for what has the focus"
    ),
    Command("docs", "&Documentation", "Ctrl+F1", "book", "Open the contents of the documentation"),
    Command("keys", "&Keys…", "Shift+F1", "keyboard", "List every key"),
    Command("welcome", "&Welcome", "Ctrl+Shift+F1", "home", "Show three things to try"),
)


def make_actions(theme: Theme, parent: QObject) -> dict[str, QAction]:
    """Return an action for each command, by name; the tooltip names the key."""
    actions: dict[str, QAction] = {}
    for command in COMMANDS:
        action = QAction(theme.icon(command.icon, accent=command.name == "step"), command.text, parent)
        action.setObjectName(f"action.{command.name}")
        action.setShortcut(QKeySequence(command.key))
        action.setIconText(command.brief or plain(command.text))
        explain(action, command.words)
        actions[command.name] = action
    # The icon is drawn for the accent colour of its button and would be invisible in a menu.
    actions["step"].setIconVisibleInMenu(False)
    actions["zoom_in"].setShortcuts([QKeySequence("Ctrl++"), QKeySequence("Ctrl+=")])
    actions["text_larger"].setShortcuts([QKeySequence("Ctrl+Alt++"), QKeySequence("Ctrl+Alt+=")])
    actions["accept"].setShortcuts([QKeySequence("Ctrl+Return"), QKeySequence("Ctrl+Enter")])
    return actions


def explain(action: QAction, words: str) -> None:
    """Set an action's tooltip text and append its key."""
    key = native_key(action)
    action.setToolTip(f"{words} ({key})" if key else words)


def words_of(name: str) -> str:
    """Return the tooltip text of a command."""
    return next(command.words for command in COMMANDS if command.name == name)


def native_key(action: QAction) -> str:
    """Return an action's key in the notation of the operating system."""
    return action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)


def plain(text: str) -> str:
    """Return a menu text without its mnemonic and ellipsis."""
    return text.replace("&", "").rstrip("…")
