"""Edits of the policy stack: frames popped, restarted, pushed and rewritten."""

from core.agent.edits.edit import Changed, EditContext, RunEdit, TextEdit, as_toml, from_toml
from core.agent.policies.prompt import call_action
from core.agent.policies.stack import Frame, Refusal, place_of_page
from core.agent.state import RunState
from core.schema.action import Named
from core.schema.action_text import parse_action
from core.schema.errors import ActionSyntaxError, UsageError
from core.schema.messages import Turn
from core.schema.record import Record
from core.schema.step import Phase

_RECOGNISE: Phase = "recognise"


class PopFrame(RunEdit):
    """End the policy at work by hand; its caller gets the answer, or what was lacking."""

    answer: str = ""
    lacked: str = ""
    kind = "stack"
    again = _RECOGNISE

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        frame = _at_work(state)
        if frame.caller is None:
            raise UsageError(
                "No policy called this one, so popping it would end the run. Write a stop instead."
            )
        state.stack = state.stack.stop(
            step=state.number,
            page=place_of_page(state.observation),
            answer=self.answer,
            lacked=self.lacked,
            thought="The person ended it.",
        )
        told = state.stack.finished[-1].outcome
        said = f"{frame.name} has ended; its caller is told that it {told}."
        return Changed(before=f"{frame.written} at work", after=told, message=said)


class RestartFrame(RunEdit):
    """Restart the policy at work with its arguments, and with empty history and notes."""

    kind = "stack"
    again = _RECOGNISE

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        frame = _at_work(state)
        state.stack = state.stack.edited(frame.replace(history=(), notes=()))
        return Changed(
            before=f"{frame.written}, {len(frame.history)} steps",
            after=frame.written,
            message=f"{frame.name} starts again with empty history and notes.",
        )


class PushPolicy(RunEdit):
    """Call a policy by hand, written as an action: ``search_shop [steel bottle]``."""

    call: str
    kind = "stack"
    again = _RECOGNISE

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        policies, environment, url = (
            context.resources.policies,
            state.episode.task.environment,
            state.observation.url,
        )
        caller = policies.get(_at_work(state).policy)
        here = policies.applying(environment, url)
        try:
            action = parse_action(self.call, [one.name for one in here])
        except ActionSyntaxError as error:
            raise UsageError(str(error)) from error
        if not isinstance(action, Named):
            raise UsageError(
                f"{self.call} does not call a policy; there are {', '.join(one.name for one in here)}."
            )
        # A person may call any policy that is meant for the page, whatever the file of the caller allows.
        called = policies.called(caller.replace(policies=None), action.name, environment, url)
        action = call_action(called).placed(action)
        if problem := called.call_problem(action.arguments):
            raise UsageError(problem)
        pushed = state.stack.push(
            called.id,
            called.name,
            action.arguments,
            step=state.number,
            page=place_of_page(state.observation),
            thought="The person called it.",
        )
        if isinstance(pushed, Refusal):
            raise UsageError(pushed.sentence)
        state.stack = pushed
        return Changed(before="", after=str(action), message=f"{called.name} is now at work.")


class FrameText(Record):
    """The parts of a frame at work that can be edited."""

    arguments: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    history: tuple[Turn, ...] = ()


class ReturnText(Record):
    """The parts of a frame that has returned that can be edited."""

    answer: str = ""
    lacked: str = ""


class EditFrame(TextEdit):
    """Rewrite arguments, notes and history of the policy at work."""

    name = "frame"
    title = "The policy at work"
    language = "toml"
    hint = "Arguments, notes and history of the policy at work, as its prompts contain them."
    model = FrameText
    kind = "stack"
    again = _RECOGNISE

    @classmethod
    def offered(cls, context: EditContext) -> str:
        return as_toml(_at_work(context.state), "arguments", "notes", "history")

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        frame = _at_work(state)
        written = from_toml(self.text, "the policy at work", FrameText)
        state.stack = state.stack.edited(frame.replace(**dict(written)))
        return Changed(
            before=as_toml(frame, "arguments", "notes", "history"),
            after=self.text,
            message=f"The next prompt of {frame.name} contains it.",
        )


class EditReturn(TextEdit):
    """Rewrite the result of the policy that returned last, in its caller's history."""

    name = "return"
    title = "The policy's result"
    language = "toml"
    hint = "answer: what it found. lacked: what it would have needed to continue."
    model = ReturnText
    kind = "stack"
    again = _RECOGNISE

    @classmethod
    def offered(cls, context: EditContext) -> str:
        return as_toml(_returned(context.state), "answer", "lacked")

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        ended = _returned(state)
        written = from_toml(self.text, "the policy's result", ReturnText)
        changed = ended.replace(
            answer=written.answer,
            lacked=written.lacked,
            state="lacked" if written.lacked else "returned",
        )
        state.stack = state.stack.edited(changed)
        return Changed(
            before=ended.outcome,
            after=changed.outcome,
            message=f"The caller of {ended.name} gets this result.",
        )


def _at_work(state: RunState) -> Frame:
    if state.stack.top is None or not state.is_on("policies"):
        raise UsageError(
            "No policy is at work; choose a preset with policies (Ctrl+Shift+S), then step (F10)."
        )
    return state.stack.top


def _returned(state: RunState) -> Frame:
    """Return the frame that came back last to the policy at work."""
    called = [frame for frame in state.stack.called_by(_at_work(state).number) if frame.state != "left"]
    if not called:
        raise UsageError("No policy has returned to the policy at work yet.")
    return called[-1]
