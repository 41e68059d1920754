"""What the window may ask of a session and its tasks: calls that only queue work and return at once."""

from typing import Protocol

from core.debugger.snapshots import (
    Catalogue,
    LivePageView,
    PersonQuestion,
    Picked,
    RunsView,
    SessionView,
    StepView,
)
from core.schema.log import LogLine
from core.schema.signal import Signal


class SessionCommands(Protocol):
    """A debugging session, seen from the window.

    Safe to call from any thread. Signals are sent from the worker's thread.
    """

    catalogue_changed: Signal[Catalogue]
    session_changed: Signal[SessionView]
    live_page_changed: Signal[LivePageView]
    runs_changed: Signal[RunsView]
    step_changed: Signal[StepView]
    """The step under way (`live`), or the recorded one that was asked for."""
    question_asked: Signal[PersonQuestion | None]
    """A question for the person; None when it is answered or withdrawn."""
    picked: Signal[Picked]
    logged: Signal[LogLine]

    def open_task(
        self, task: str, seed: int, *, url: str = "", instruction: str = "", profile: str = ""
    ) -> None:
        """Open a task in a clean profile, or in the named one; a run under way is ended as stopped."""

    def set_preset(self, name: str) -> None:
        """Use this preset from the next step on."""

    def set_llm(self, name: str) -> None:
        """Use this LLM from the next call on; a question that is open for the person is asked of it."""

    def set_mechanism(self, name: str, on: bool) -> None:
        """Switch a mechanism on or off from the next step on, whatever the preset says."""

    def set_amount(self, name: str, value: int) -> None:
        """Set the number of a mechanism, such as of remedies at each action, whatever the preset says."""

    def edit_plan(self, subtasks: tuple[str, ...], current: int) -> None:
        """Put these subtasks in place of the plan, and go on at the one at `current` (from 0)."""

    def fire_remedy(self, number: int) -> None:
        """Go back to the step that this remedy starts from, and try it."""

    def step(self) -> None:
        """Do one step; at review, take the action and go on to the next review: into a policy that it calls."""

    def over(self) -> None:
        """Go on to the next review in this frame of the policy stack, or in one that called it."""

    def out(self) -> None:
        """Go on until the policy at work has returned."""

    def run_to_step(self, number: int) -> None:
        """Go on to the review of that step."""

    def run_to_subtask(self, subtask: int) -> None:
        """Go on until that subtask (from 0), or a later one, is current."""

    def phase(self) -> None:
        """Do one phase."""

    def run(self) -> None:
        """Go on by itself until the end, a pause, or something that stops."""

    def pause(self) -> None:
        """Stop at the next phase boundary; a second call cancels a waiting LLM call."""

    def stop(self) -> None:
        """End the run."""

    def end(self, success: bool) -> None:
        """Say how a run without a judge ended."""

    def set_pace(self, seconds: float) -> None:
        """Wait this long between the steps of a run."""

    def set_max_steps(self, count: int) -> None: ...

    def edit_action(self, text: str) -> None:
        """Put this action in place of the next one; an impermissible one is answered by `ActionView.problem`."""

    def edit_queue(self, actions: tuple[str, ...]) -> None:
        """Put these in place of the actions that wait for the steps after this one."""

    def accept(self) -> None:
        """Take the next action as it stands and finish the step."""

    def skip(self) -> None:
        """Leave this step without an action."""

    def ask_again(self) -> None:
        """Throw the proposal away and ask the LLM again."""

    def answer(self, thought: str, action: str) -> None:
        """Answer the open question in the LLM's place."""

    def set_handover(self, on: bool) -> None:
        """Let the person's mouse and keys reach the live page, or take it back and read the page anew."""

    def point(self, x: float, y: float, *, final: bool) -> None:
        """Ask which element lies at this point of the viewport (CSS pixels); answered by `picked`."""

    def go_back(self, run: int, step: int) -> None:
        """Go back to a step of any run: the page is brought back, and a branch goes on from there."""

    def make_current(self, run: int) -> None:
        """Take up a run or branch that was left; the page follows."""

    def name_run(self, run: int, name: str) -> None:
        """Call a run by a name; an empty one takes it away."""

    def show_step(self, run: int, number: int) -> None:
        """Show a recorded step."""

    def show_now(self) -> None:
        """Show the step under way again."""

    def open_run(self, run: int) -> None:
        """Load the steps of a run into the tree."""

    def search_runs(self, query: str) -> None:
        """List the runs that match the words; all where it is empty."""

    def export_run(self, run: int, form: str, path: str) -> None:
        """Write a run in one of the formats of `core.trace.exports.registry`."""

    def import_run(self, path: str) -> None:
        """Store the run of a repro file, or a recording of another program, and show it."""
