"""Edits of the current run: each is carried out between two phases, stored in the trace, and can be undone
until the next phase.

Texts are offered first, checked while typing, and then applied.
"""

from collections.abc import Callable
from typing import Any

from core.agent.edits.ask_again import AskQuestionAgain
from core.agent.edits.edit import Changed, RunEdit, TextEdit
from core.agent.edits.next_action import EditAction, EditQueue
from core.agent.edits.reflection import FireRemedy
from core.agent.edits.registry import TEXTS, edit_of
from core.agent.edits.run_edits import apply_edit, redo_edit, try_edit, undo_edit
from core.agent.llm_calls import HeldCall, HeldReply
from core.agent.loop import AgentRun
from core.debugger.commands import SessionCommands, SessionParts, command
from core.debugger.editing.views import EditText, RefusedEdit
from core.debugger.editing.words import keys_of
from core.debugger.interventions import held_texts
from core.debugger.runner import GoalKind
from core.schema.errors import BackstepError, UsageError
from core.schema.signal import Signal
from core.schema.step import Phase
from core.settings.user_file import near
from core.trace.records import InterventionKind

PROMPT = "prompt"
"""The name of the text that a held call is about to send, or of the reply that is held."""
_DEAF = (
    "The built-in LLM uses the recorded page and task, not the text, so edits here do not change its reply."
)
_TO_SEE: tuple[Phase, ...] = ("recognise", "recall", "abstract")
_TO_ASK: dict[Phase, GoalKind] = {
    "recall": "decide",
    "abstract": "decide",
    "decide": "review",
    "anticipate": "review",
    "align": "phase",
}
"""How far the step continues for the answer to a question that is asked again, by the phase that asks it."""


class RunEditing(SessionCommands):
    """Carries out a person's edits of a run while it is stopped."""

    def __init__(self, parts: SessionParts) -> None:
        super().__init__(parts)
        self.offered: Signal[EditText] = Signal()
        """A text to be edited, and again with its problem each time it was checked."""
        self.refused: Signal[RefusedEdit] = Signal()
        """An edit that was asked for and could not be carried out."""

    @command
    def edit_action(self, text: str) -> None:
        """Put this action in place of the next one; an impermissible one is answered by `ActionView.problem`."""
        run = self._current.under_way
        if run is not None and run.resting and text.strip() == str(run.state.pending.action or ""):
            self._publisher.publish_step(run)
            return
        self._show_problem_of(EditAction(action=text))

    @command
    def edit_queue(self, actions: tuple[str, ...]) -> None:
        """Put these in place of the actions that follow the next one, or show why one cannot be."""
        run = self._current.under_way
        if run is not None and run.resting and list(actions) == [str(one) for one in run.state.queue]:
            self._publisher.publish_step(run)
            return
        self._show_problem_of(EditQueue(actions=actions))

    @command
    def ask_for(self, name: str, values: dict[str, Any]) -> None:
        """Carry out the edit of this name in `EDITS`, with these values, or send it as refused."""
        try:
            self._carry_out(edit_of(name, values))
        except BackstepError as error:
            self.refused.send(RefusedEdit(name=name, values=values, problem=str(error)))
            raise

    @command
    def undo(self, key: str = "") -> None:
        """Take back the last edit; while a call is held, that of its prompt or reply.

        With the key of an edit, refuse if that is not the last one.
        """
        run = self._current.need_run("Only the current run can be edited.")
        session = self._publisher.session
        if key and [one.key for one in (*session.edits, *session.held_edits)][-1:] != [key]:
            raise UsageError("The run was edited or has continued meanwhile; check it and try again.")
        if self._runner.held and self._runner.held[-1].rewritten:
            self._take_back(self._runner.held[-1])
            return
        undone = undo_edit(run)
        self._current.store_intervention("undo", undone.before, undone.after)
        self._show(run, "The edit was undone.")

    @command
    def redo(self, key: str = "") -> None:
        """Make the edit again that was undone last; while a call is held, that of its prompt or reply.

        With the key of an edit, refuse where that is not the next one.
        """
        self._current.need_run("An edit is of the run under way.")
        session = self._publisher.session
        if key and [one.key for one in (*session.undone, *session.held_undone)][-1:] != [key]:
            raise UsageError("The run was edited or has continued meanwhile; look at it and try again.")
        held = self._runner.held[-1] if self._runner.held else None
        if held is None or not held.undone:
            self._change(redo_edit)
            return
        before = _text_of(held)
        held.put_again()
        kind: InterventionKind = "reply" if isinstance(held, HeldReply) else "prompt"
        self._current.store_intervention(kind, before, _text_of(held))
        self._tell(held, "this {}. Ctrl+Z undoes it;")

    @command
    def begin_text(self, name: str) -> None:
        """Offer a text of the run to be edited, by its name in `TEXTS`, or `PROMPT` for what is held."""
        run = self._current.need_run("Only texts of the current run can be edited.")
        text = _text_of(self._held()) if name == PROMPT else _text(name).offered(run.edit_context)
        self.offered.send(self._described(name, text).replace(asked=True))

    @command
    def check_text(self, name: str, text: str) -> None:
        """Send the text with why it could not be applied, or nothing."""
        view = self._described(name, text)
        try:
            run = self._current.need_run("Only texts of the current run can be edited.")
            if name == PROMPT:
                _read(self._held(), text)
            else:
                try_edit(run, _text(name)(text=text))
        except BackstepError as error:
            view = view.wrong(error)
        self.offered.send(view)

    @command
    def apply_text(self, name: str, text: str) -> None:
        """Put a text in place of the one there is, and send it as applied, or with why it cannot be."""
        try:
            if name == PROMPT:
                self._rewrite(text)
            else:
                self._carry_out(_text(name)(text=text))
        except BackstepError as error:
            self.offered.send(self._described(name, text).wrong(error))
            raise
        self.offered.send(self._described(name, text).replace(applied=True))

    def _described(self, name: str, text: str) -> EditText:
        if name != PROMPT:
            kind = _text(name)
            words = keys_of(kind.model) if kind.model is not None else ()
            return EditText(
                name=name, title=kind.title, hint=kind.hint, language=kind.language, text=text, words=words
            )
        held = self._runner.held[-1] if self._runner.held else None
        if held is None:
            return EditText(name=name, title="What is held", text=text)
        reply = isinstance(held, HeldReply)
        title = (held_texts.REPLY_TITLE if reply else held_texts.TITLE).format(
            number=held.record.number, purpose=held.record.purpose
        )
        hint = held_texts.REPLY_HINT if reply else held_texts.HINT
        deaf = not reply and held.record.llm == "rules"
        return EditText(name=name, title=title, hint=hint, text=text, note=_DEAF if deaf else "")

    def _held(self) -> HeldCall | HeldReply:
        if not self._runner.held:
            raise UsageError(
                "No LLM call is held. Stop before the next one (Ctrl+Shift+F10), or with a breakpoint."
            )
        return self._runner.held[-1]

    def _rewrite(self, text: str) -> None:
        held = self._held()
        before = _text_of(held)
        if isinstance(held, HeldReply):
            held.rewrite(held_texts.reply_with_text(held.reply, text))
            self._current.store_intervention("reply", before, text)
        else:
            held.rewrite(held_texts.with_text(held.request.messages, text))
            self._current.store_intervention("prompt", before, text)
        self._tell(held, "this {}. Ctrl+Z undoes it;")

    def _take_back(self, held: HeldCall | HeldReply) -> None:
        before = _text_of(held)
        held.take_back()
        self._current.store_intervention("undo", before, _text_of(held))
        self._tell(held, "the {} as it was before.")

    def _tell(self, held: HeldCall | HeldReply, which: str) -> None:
        self._runner.tell_held()
        what, done = ("reply", "read") if isinstance(held, HeldReply) else ("prompt", "sent")
        run = self._current.need_run("Only prompts of the current run can be edited.")
        self._show(run, f"Call {held.record.number} is {done} with {which.format(what)} F5 or F10 goes on.")

    def _carry_out(self, edit: RunEdit) -> None:
        self._change(lambda run: apply_edit(run, edit))

    def _change(self, make: Callable[[AgentRun], Changed]) -> None:
        """Make an edit, store it with the run, and continue as far as it asks for."""
        run = self._current.need_run("Only the current run can be edited.")
        if self._publisher.session.handed_over:
            raise UsageError("You have the page: give it back first (F6).")
        phase = run.next_phase
        changed = make(run)
        edit = run.undoable[-1].edit
        self._current.store_intervention(changed.kind or edit.kind, changed.before, changed.after)
        goes_on = _goes_on(run, edit, phase)
        asks = goes_on not in (None, "decide")
        message = changed.message if asks else f"{changed.message} Ctrl+Z undoes it."
        if goes_on is None:
            self._show(run, message)
            return
        self._runner.notice = message
        self._runner.go(goes_on)

    def _show_problem_of(self, edit: RunEdit) -> None:
        """Carry an edit of the next actions out, or show what is wrong with it next to them."""
        try:
            self._carry_out(edit)
        except UsageError as error:
            run = self._current.under_way
            if run is None or not run.resting or run.next_phase != "review":
                raise
            self._publisher.steps.show_problem(str(error))

    def _show(self, run: AgentRun, message: str) -> None:
        self._publisher.change(message=message, **self._publisher.figures())
        self._publisher.publish_step(run)


def _goes_on(run: AgentRun, edit: RunEdit, before: Phase) -> GoalKind | None:
    """Return how far the step continues by itself after an edit that was made in this phase; None if it rests."""
    if isinstance(edit, AskQuestionAgain):
        return _TO_ASK[run.next_phase]
    if isinstance(edit, FireRemedy):
        return "review" if run.state.undecided else None
    # What follows is to be seen, but the LLM is not asked.
    return (
        "decide" if run.next_phase in _TO_SEE and run.next_phase != before and not run.next_asks_llm else None
    )


def _text_of(held: HeldCall | HeldReply) -> str:
    """Return what is held as the text that is edited."""
    if isinstance(held, HeldReply):
        return held_texts.reply_as_text(held.reply)
    return held_texts.as_text(held.request.messages)


def _read(held: HeldCall | HeldReply, text: str) -> None:
    """Raise UsageError if the text cannot be what is held."""
    if isinstance(held, HeldReply):
        held_texts.reply_with_text(held.reply, text)
    else:
        held_texts.with_text(held.request.messages, text)


def _text(name: str) -> type[TextEdit]:
    if name not in TEXTS:
        raise UsageError(f'There is no text "{name}" to edit; {near(name, TEXTS)}')
    return TEXTS[name]
