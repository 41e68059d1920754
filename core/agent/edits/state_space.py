"""Edits of the state space: the state, its memory, and one more action for this step."""

from core.agent.edits.edit import (
    Changed,
    EditContext,
    RunEdit,
    TextEdit,
    as_toml,
    from_toml,
    need_before_action,
)
from core.schema.errors import UsageError
from core.schema.progress import SpaceMemory
from core.schema.step import Phase
from core.settings.user_file import near

_RECOGNISE: Phase = "recognise"


class ForceState(RunEdit):
    """Set the state of the page for this step; without a name, recognise it again."""

    state: str = ""
    kind = "state"
    again = _RECOGNISE

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        need_before_action(state, _RECOGNISE)
        recognised = state.recognised
        assert recognised is not None
        if self.state and (recognised.diagram is None or not recognised.diagram.states):
            raise UsageError("No state space applies here; choose a preset with one (Ctrl+Shift+S).")
        names = [name for name, _, _ in recognised.diagram.states] if recognised.diagram is not None else []
        if self.state and self.state not in names:
            raise UsageError(f'There is no state "{self.state}"; {near(self.state, names)}')
        state.forced_state = self.state
        said = (
            f"The page counts as {self.state} in this step."
            if self.state
            else "The state is recognised again."
        )
        return Changed(before=recognised.state, after=self.state or "recognised again", message=said)


class PermitAction(RunEdit):
    """Permit one more of the page's actions in this step, by its name."""

    action: str
    kind = "state"
    again = _RECOGNISE

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        need_before_action(state, _RECOGNISE)
        if state.permissible.action(self.action) is not None:
            raise UsageError(f"{self.action} is already permissible.")
        if self.action not in state.offered:
            others = tuple(name for name in state.offered if state.permissible.action(name) is None)
            raise UsageError(f'The page offers no "{self.action}"; {near(self.action, others)}')
        state.also_permitted = (*state.also_permitted, self.action)
        return Changed(before="", after=self.action, message=f"{self.action} is permissible in this step.")


class EditMemory(TextEdit):
    """Rewrite buffer and memory: what is remembered and was looked at, and the transitions."""

    name = "memory"
    title = "Buffer and memory"
    language = "toml"
    hint = (
        "remembered, looked_at, buffer, transitions and chosen; the next prompt and its permissible "
        "actions follow."
    )
    model = SpaceMemory
    kind = "state"
    again = _RECOGNISE

    @classmethod
    def offered(cls, context: EditContext) -> str:
        return as_toml(context.state.memory)

    def apply(self, context: EditContext) -> Changed:
        before = self.offered(context)
        context.state.memory = from_toml(self.text, "buffer and memory", SpaceMemory)
        return Changed(before=before, after=self.text, message="The next prompt contains it.")
