"""Commands that continue, correct or change the run."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from PySide6.QtWidgets import QInputDialog

from core.debugger.session_view import SessionView
from gui.shell.command_group import CommandGroup
from gui.widgets.commands import (
    ACTION,
    AGAIN,
    CHANGE,
    EDIT,
    FILE,
    PACE,
    RUN,
    BarPlace,
    Command,
    Do,
    Face,
    WhyNot,
)
from gui.widgets.enabled_commands import (
    BUSY,
    GOING_ON,
    NO_TASK,
    RESTING,
    can_hand_over,
    can_pause,
    can_say_how_it_ended,
    why_no_edit,
    why_no_other_seed,
    why_no_step,
)

if TYPE_CHECKING:
    from core.debugger.interventions.edits import RunEditing
    from gui.shell.parts import WindowParts

_PAUSE = Face(
    "&Pause",
    "Stop at the next phase boundary; a second press cancels a waiting LLM call",
    "debug-pause",
    "Pause",
)
_NO_ACTION = "No action is under review: step to the next one (F10)"
_STEPS = "debugging.md#step-by-policy-subtask-and-step"
_BACK = "debugging.md#go-back-on-a-branch"


def _go(name: Literal["step", "over", "out", "phase", "to_call"]) -> Do:
    """Return how a command continues the run."""
    return lambda self: self._from_now(getattr(self.session.run_commands, name))


class SteppingCommands(CommandGroup):
    """Commands that continue the run, and those that open its task again."""

    help = "getting-started.md#step-through-a-task"

    def __init__(self, window: "WindowParts") -> None:
        super().__init__(window)
        self._view = SessionView()
        self._opening = False
        """Whether a reopen of the task was requested that the session has not reported yet."""

    def show_session(self, view: SessionView) -> None:
        self._opening = self._opening and view.mode != "opening" and view.run == self._view.run
        self._view = view

    def _why_not(self) -> str:
        is_opening = self._opening or self._view.mode == "opening"
        return "" if is_opening else why_no_step(self._view)

    def _why_no_stop(self) -> str:
        can_stop = self._view.run is not None and self._view.mode in ("answering", *RESTING, *BUSY)
        return "" if can_stop else "No run is under way"

    def _why_no_end(self) -> str:
        if can_say_how_it_ended(self._view):
            return ""
        if self._view.mode == "opening" or self._view.run is None:
            return why_no_step(self._view)
        judged = "The task's own judge says how it ended"
        return judged if self._view.judged else "Only once the agent rests, and once"

    def run(self) -> None:
        if can_pause(self._view) and not self._opening:
            self.session.run_commands.pause()
        else:
            self._from_now(self.session.run_commands.run)

    def run_to_step(self) -> None:
        label, least = "The step at whose review it stops:", self._view.step + 1
        number, chosen = QInputDialog.getInt(self.window, "Run to a step", label, least, least, 1_000_000)
        if chosen:
            self._from_now(lambda: self.session.run_commands.run_to_step(number))

    def back(self) -> None:
        if (place := self.back_to()) is not None:
            self.session.branches.go_back(*place)

    def max_steps(self) -> None:
        label = "Page actions after which a run ends:"
        now = self._view.max_steps
        count, chosen = QInputDialog.getInt(self.window, "Step limit", label, now, 1, 10_000)
        if chosen:
            self.window.chosen.limit_steps(count)

    def _reopen(self, open_anew: Callable[[], None]) -> None:
        """Reopen the task. A way to continue can be given at once; it is applied when the page is open."""
        open_anew()
        self._opening = True
        self.window.commands.refresh()

    def _from_now(self, ask: Callable[[], None]) -> None:
        """Continue from the current step with the edited action."""
        if self._opening or self._view.mode == "opening":
            ask()
        elif not self.is_live:
            self.session.trace.show_now()
            ask()
        else:
            self.window.action.settle(ask)

    COMMANDS = (
        Command("again", "Open the task &again", "Ctrl+R", "debug-restart", FILE, 1.3,
            "The same task and seed from the start", lambda self: self._reopen(self.window.tasks.open_again),
            lambda self: "" if self._view.task else NO_TASK),
        Command("next_seed", "Open with the next &seed", "Ctrl+Shift+N", "arrow-right", FILE, 1.4,
            "The same task with the next seed", lambda self: self._reopen(self.window.tasks.open_next_seed),
            lambda self: why_no_other_seed(self._view)),
        Command("run", "&Run", "F5", "debug-start", RUN, 1.0, "Run until the end or a pause", run,
            lambda self: "" if can_pause(self._view) else self._why_not(), bar=BarPlace(2),
            face=lambda self: _PAUSE if can_pause(self._view) else None),
        Command("step", "&Step", "F10", "debug-continue", RUN, 1.1,
            "Carry out the next action and stop at the next review", _go("step"), _why_not,
            bar=BarPlace(3, accent=True)),
        Command("over", "&Over", "F8", "debug-step-over", RUN, 1.2,
            "Stop at the next review in this policy, and step over policies that it calls", _go("over"), _why_not,
            bar=BarPlace(4, 5), help=_STEPS),
        Command("into", "&Into", "F11", "debug-step-into", RUN, 1.3,
            "Carry out the next action and stop at the next review, also inside a policy that it calls", _go("step"),
            _why_not, bar=BarPlace(5, 4), help=_STEPS),
        Command("out", "O&ut", "Shift+F11", "debug-step-out", RUN, 1.4, "Run until this policy returns", _go("out"),
            _why_not, bar=BarPlace(6, 3), help=_STEPS),
        Command("phase", "&Phase", "F9", "debug-line-by-line", RUN, 1.5, "Do one phase of the step", _go("phase"),
            _why_not, bar=BarPlace(7, 2)),
        Command("run_to_step", "Run to a st&ep…", "Shift+F8", "debug-continue", RUN, 1.6,
            "Run until the review of a step number", run_to_step, _why_not, help=_STEPS),
        Command("to_call", "Stop before the next &LLM call", "Ctrl+Shift+F10", "debug-pause", RUN, 1.8,
            "Go on until an LLM call is about to be sent, so that its prompt can be edited", _go("to_call"), _why_not),
        Command("stop", "S&top", "Shift+F5", "debug-stop", RUN, 1.9, "End the run",
            lambda self: self.session.run_commands.stop(), _why_no_stop, bar=BarPlace(8)),
        Command("back", "&Back", "Ctrl+B", "debug-step-back", RUN, 2.2,
            "Go back on a branch to before the step in view, or to before the last step", back,
            CommandGroup.why_no_back, help=_BACK),
        Command("success", "It succee&ded", "Ctrl+Shift+Y", "pass", RUN, 4.1, "Record that the run did what was asked",
            lambda self: self.session.run_commands.end(True), _why_no_end, help="tasks.md"),
        Command("failure", "It did &not succeed", "Ctrl+Shift+X", "error", RUN, 4.2,
            "Record that the run did not do what was asked", lambda self: self.session.run_commands.end(False),
            _why_no_end, help="tasks.md"),
        Command("max_steps", "Step limit…", "Ctrl+Shift+L", "dashboard", RUN, 5.1,
            "Set the number of page actions after which a run ends", max_steps, help="llms.md#settingstoml"),
        Command("faster", "&Faster", "Ctrl+]", "chevron-right", PACE, 2.1, "Wait less between the steps of a run",
            lambda self: self.window.menus.faster()),
        Command("slower", "S&lower", "Ctrl+[", "chevron-left", PACE, 2.2, "Wait longer between the steps of a run",
            lambda self: self.window.menus.slower()),
    )  # fmt: skip


class ActionCommands(CommandGroup):
    """Commands for the next action."""

    help = "window.md#action"

    def _why_not(self) -> str:
        """Return why the next action cannot be changed or accepted."""
        view = self.window.view
        if self.window.action.acceptable and self.is_live:
            return ""
        why = why_no_step(view)
        if view.mode == "opening" or view.run is None or view.mode == "ended":
            return why
        if not self.is_live:
            return "A recorded step is in view: go back to now first (Esc)"
        return why or _NO_ACTION

    def _why_no_review(self) -> str:
        answering = "You answer in the LLM's place: give the answer first (Ctrl+Enter)"
        return self._why_not() or (answering if self.window.action.answering else "")

    def _why_no_handover(self) -> str:
        view = self.window.view
        return "" if can_hand_over(view) else why_no_step(view) or GOING_ON

    COMMANDS = (
        Command("accept", "&Accept the action", "Ctrl+Return or Ctrl+Enter", "check", ACTION, 1.1,
            "Carry out the next action as it is", lambda self: self.window.action.accept(), _why_not),
        Command("skip", "S&kip the action", "Ctrl+J", "circle-slash", ACTION, 1.2, "Do nothing in this step",
            lambda self: self.session.corrections.skip(),
            lambda self: "" if self.window.view.held_request else self._why_no_review()),
        Command("ask_again", "Ask a&gain", "Ctrl+Shift+R", "refresh", AGAIN, 1.1,
            "Discard the proposal and ask the LLM again", lambda self: self.session.corrections.ask_again(),
            _why_no_review),
        Command("point", "P&oint at an element", "F7", "inspect", ACTION, 2.1,
            "Choose an element in the page for the action",
            lambda self: self.window.page.set_pointing(not self.window.page.pointing),
            lambda self: "" if self.window.page.pointing else self._why_not(),
            checked=lambda self: self.window.page.pointing),
        Command("show_target", "Show the tar&get", "Shift+F7", "eye", ACTION, 2.2,
            "Scroll the page to what the next action acts on, or back to where the agent saw it",
            lambda self: self.session.live_page.show_target(), _why_not, help="window.md#scroll-to-the-target"),
        Command("handover", "&Hand the page over", "F6", "person", ACTION, 2.3,
            "Let your mouse and keys reach the page, or take it back",
            lambda self: self.session.live_page.set_handover(not self.window.view.handed_over), _why_no_handover,
            help="getting-started.md#take-over-the-page"),
    )  # fmt: skip


def _edit(name: str, ask: Callable[["RunEditing"], object]) -> tuple[Do, WhyNot]:
    """Return how a command asks for an edit of the run, and why it cannot; `name` as in `SessionView.refusals`."""
    return (
        lambda self: ask(self.session.edits),
        lambda self: why_no_edit(self.window.view, live=self.is_live, name=name),
    )


def _text(name: str) -> tuple[Do, WhyNot]:
    return _edit(name, lambda edits: edits.begin_text(name))


def _again(what: str) -> tuple[Do, WhyNot]:
    return _edit(f"AskQuestionAgain {what}", lambda edits: edits.ask_for("AskQuestionAgain", {"what": what}))


def _undone(title: str, words: str) -> Face | None:
    return Face(f"{title}: {words.replace('&', '&&')}") if words else None


class EditCommands(CommandGroup):
    """Commands that change what the agent goes by, and undo and redo."""

    help = "debugging.md#change-what-the-agent-knows"

    def _why_no_prompt(self) -> str:
        view = self.window.view
        none = "No LLM call is held: stop before the next one first (Ctrl+Shift+F10)"
        return "" if view.held_call or view.held_reply else none

    def _why_no_plan(self) -> str:
        none = "There is no plan to edit now: it needs a run that rests, with a preset that plans"
        return "" if self.window.plan.can_edit else none

    def edit_plan(self) -> None:
        self.window.place("Plan & remedies").bring()
        self.window.plan.edit()

    COMMANDS = (
        Command("undo_edit", "&Undo", "Ctrl+Z", "discard", EDIT, 1.1, "Take back what you changed last",
            lambda self: self.window.history.undo(), lambda self: self.window.history.why_no_undo(live=self.is_live),
            face=lambda self: _undone("&Undo", self.window.history.undo_words)),
        Command("redo_edit", "Red&o", "Ctrl+Shift+Z", "redo", EDIT, 1.2, "Make the change again that you undid last",
            lambda self: self.window.history.redo(), lambda self: self.window.history.why_no_redo(live=self.is_live),
            face=lambda self: _undone("Red&o", self.window.history.redo_words)),
        Command("edit_prompt", "Edit the held &prompt or reply…", "Ctrl+P, P", "comment-discussion", CHANGE, 3.1,
            "Edit what a held LLM call is about to send, or the reply before the agent reads it",
            lambda self: self.session.edits.begin_text("prompt"), _why_no_prompt,
            help="debugging.md#edit-a-prompt-or-a-reply"),
        Command("edit_observation", "Edit the clean obser&vation…", "Ctrl+P, O", "edit", CHANGE, 3.2,
            "Edit what the prompt shows of the page, and ask for the action with it", *_text("observation")),
        Command("edit_parser", "Edit the pro&gram that shortens pages…", "Ctrl+P, G", "code", CHANGE, 3.3,
            "Edit the program that makes the clean observation", *_text("parser")),
        Command("edit_memory", "Edit buffer and &memory…", "Ctrl+P, M", "edit", CHANGE, 3.4,
            "Edit the buffer, remembered values, visited items and transitions", *_text("memory")),
        Command("edit_frame", "Edit the policy &frame…", "Ctrl+P, F", "edit", CHANGE, 3.5,
            "Edit argument, notes and history of the policy at work", *_text("frame")),
        Command("edit_return", "Edit what the policy came &back with…", "Ctrl+P, B", "edit", CHANGE, 3.6,
            "Edit the answer of the policy that returned last", *_text("return")),
        Command("edit_lessons", "Edit the &lessons of earlier trials…", "Ctrl+P, L", "edit", CHANGE, 3.7,
            "Edit the lessons of earlier trials", *_text("experience")),
        Command("edit_plan", "&Edit the plan", "Ctrl+Shift+E", "edit", CHANGE, 5.1, "Edit the plan in its place",
            edit_plan, _why_no_plan, help="window.md#plan--remedies"),
        Command("new_trial", "Start a new &trial", "Ctrl+P, T", "debug-restart", CHANGE, 5.3,
            "Review this trial and start the task again",
            *_edit("StartNewTrial", lambda edits: edits.ask_for("StartNewTrial", {}))),
        Command("again_plan", "The plan", "Ctrl+P, 1", "refresh", AGAIN, 1.2,
            "Ask for the plan again, and then for the action", *_again("plan")),
        Command("again_recall", "The exemplars", "Ctrl+P, 2", "refresh", AGAIN, 1.3, "Ask the memory again",
            *_again("recall")),
        Command("again_abstraction", "The clean observation", "Ctrl+P, 3", "refresh", AGAIN, 1.4,
            "Make the clean observation again", *_again("abstraction")),
        Command("again_remedies", "The remedies", "Ctrl+P, 4", "refresh", AGAIN, 1.5,
            "Ask for the remedies of this step again", *_again("remedies")),
        Command("again_judgement", "The judgement", "Ctrl+P, 5", "refresh", AGAIN, 1.6,
            "Ask for the judgement of the step again", *_again("judgement")),
    )  # fmt: skip
