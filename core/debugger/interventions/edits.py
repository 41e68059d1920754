"""Edits of the run under way: each is carried out between two phases, kept in the trace, and undoable until the next.

What is written as a text is offered first, checked as it is typed, and applied.
"""

from core.agent.edits.ask_again import AskAgain
from core.agent.edits.edit import RunEdit, TextEdit
from core.agent.edits.run_edits import apply_edit, problem_of, undo_edit
from core.agent.edits.texts import TEXTS
from core.agent.loop import AgentRun
from core.debugger.commands import SessionCommands, SessionParts, command
from core.debugger.runner import GoalKind
from core.debugger.snapshots import EditText
from core.schema.errors import UsageError
from core.schema.signal import Signal
from core.schema.step import Phase
from core.settings.user_file import near

_ON_FROM: dict[Phase, GoalKind] = {"recognise": "decide", "recall": "decide", "abstract": "decide"}
"""How far the step goes on by itself, so that what follows from an edit is seen; the LLM is not asked."""
_ON_TO_ASK: dict[Phase, GoalKind] = {**_ON_FROM, "decide": "review", "anticipate": "review", "align": "phase"}


class Edits(SessionCommands):
    """Carries out what a person changes in a run while it rests."""

    def __init__(self, parts: SessionParts) -> None:
        super().__init__(parts)
        self.offered: Signal[EditText] = Signal()
        """A text to be edited, and again with its problem each time it was checked."""

    @command
    def edit(self, edit: RunEdit) -> None:
        """Carry out an edit."""
        self._carry_out(edit)

    @command
    def undo(self) -> None:
        """Take back the last edit."""
        run = self._current.need_run("An edit is of the run under way.")
        undone = undo_edit(run)
        self._current.store_intervention("undo", undone.before, undone.after)
        self._show(run, "The edit was undone.")

    @command
    def begin_text(self, name: str) -> None:
        """Offer a text of the run to be edited, by its name in `TEXTS`."""
        run = self._current.need_run("A text is of the run under way.")
        kind = _text(name)
        text = kind.offered(run.edit_context)
        self.offered.send(
            EditText(name=name, title=kind.title, hint=kind.hint, language=kind.language, text=text)
        )

    @command
    def check_text(self, name: str, text: str) -> None:
        """Send the text with why it could not be applied, or nothing."""
        run, kind = self._current.need_run("A text is of the run under way."), _text(name)
        problem = problem_of(run, kind(text=text))
        self.offered.send(
            EditText(
                name=name,
                title=kind.title,
                hint=kind.hint,
                language=kind.language,
                text=text,
                problem=problem,
            )
        )

    @command
    def apply_text(self, name: str, text: str) -> None:
        """Put a text in place of the one there is."""
        self._carry_out(_text(name)(text=text))

    def _carry_out(self, edit: RunEdit) -> None:
        run = self._current.need_run("An edit is of the run under way.")
        if self._publisher.session.handed_over:
            raise UsageError("You have the page: give it back first (F6).")
        changed = apply_edit(run, edit)
        self._current.store_intervention(edit.kind, changed.before, changed.after)
        message = f"{changed.message} Ctrl+Z undoes it."
        goes_on = _ON_TO_ASK if isinstance(edit, AskAgain) else _ON_FROM
        if run.next_phase not in goes_on:
            self._show(run, message)
            return
        self._runner.notice = message
        self._runner.go(goes_on[run.next_phase])

    def _show(self, run: AgentRun, message: str) -> None:
        self._publisher.change(message=message, **self._publisher.figures())
        self._publisher.publish_step(run)


def _text(name: str) -> type[TextEdit]:
    if name not in TEXTS:
        raise UsageError(f'There is no text "{name}" to edit; {near(name, TEXTS)}')
    return TEXTS[name]
