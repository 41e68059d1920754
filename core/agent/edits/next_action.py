"""Edits of the next action, and of the actions that wait for the steps after it."""

from core.agent.action_queue import fill_queue
from core.agent.edits.edit import Changed, EditContext, RunEdit, permissible_action, written_action
from core.agent.state import RunState
from core.schema.errors import UsageError
from core.schema.step import Phase

_REVIEW: Phase = "review"


class EditAction(RunEdit):
    """Replace the next action; the queued actions after it are dropped."""

    kind = "edit"
    action: str

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        _need_review(state)
        action, pending = permissible_action(self.action, state.permissible), state.pending
        before, proposed = pending.action, pending.proposed
        pending.action, pending.problem = action, ""
        pending.origin = "agent" if action == proposed else "person"
        state.queue.clear()
        same_kind = proposed is not None and proposed.name == action.name
        return Changed(
            kind="edit" if same_kind else "replace",
            before="" if before is None else str(before),
            after=str(action),
            message=f"{action} is the next action.",
        )


class EditQueue(RunEdit):
    """Replace the queued actions for the steps after this one.

    Whether an action is permissible is checked when its turn comes, because the page may have changed by then.
    """

    kind = "queue"
    actions: tuple[str, ...]

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        _need_review(state)
        queue = []
        for text in self.actions:
            try:
                queue.append(written_action(text, state.permissible))
            except UsageError as error:
                raise UsageError(f"{text}: {error}") from error
        before = "; ".join(map(str, state.queue))
        fill_queue(state, queue)
        return Changed(
            before=before, after="; ".join(map(str, queue)), message="The following actions are yours."
        )


def _need_review(state: RunState) -> None:
    if state.next_phase != _REVIEW:
        raise UsageError("There is no action to change. Step to the next one (F10).")
