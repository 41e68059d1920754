"""Edits of what the prompt shows: the clean observation, the program that makes it, and the exemplars."""

from core.agent.abstraction import tokens_of
from core.agent.abstraction_by_llm import read_clean, way_of
from core.agent.edits.edit import Changed, EditContext, RunEdit, TextEdit, need_before_action
from core.agent.state import RunState
from core.exemplars.placeholders import filled
from core.schema.errors import UsageError
from core.schema.exemplar import Recall
from core.schema.step import Abstracted, Recalled


class EditObservation(TextEdit):
    """Rewrite the clean observation that the prompt shows; the permissible actions stay."""

    name = "observation"
    kind = "observation"
    title = "The clean observation"
    hint = "One line per thing that the prompt shows; [12] is element 12 of the page."
    again = "decide"

    @classmethod
    def offered(cls, context: EditContext) -> str:
        need_before_action(context.state, "abstract")
        return context.state.clean.text if context.state.clean is not None else ""

    def apply(self, context: EditContext) -> Changed:
        state = context.state
        before = self.offered(context)
        clean, unknown = read_clean(self.text, state.observation)
        if unknown:
            raise UsageError(f"The page has no {unknown}; remove it, or name another element.")
        state.clean = clean
        state.abstracted = Abstracted(clean=clean, tokens=tokens_of(clean), how="Rewritten by the person.")
        state.own_observation = state.abstracted
        return Changed(
            before=before, after=self.text, message="The LLM is asked for the action with this observation."
        )


class EditParser(TextEdit):
    """Rewrite the program that makes the clean observation, for this page and the pages after it."""

    name = "parser"
    kind = "observation"
    title = "The program that shortens the page"
    language = "python"
    hint = "Define parse(html), which returns the clean observation as text. Elements have the attribute data-ref."
    again = "abstract"

    @classmethod
    def offered(cls, context: EditContext) -> str:
        if not context.state.is_on("abstraction") or way_of(context.state) != "implicit":
            raise UsageError(
                "No program makes the clean observation here: [abstraction] of the preset or the recalled exemplars "
                "make it otherwise."
            )
        return context.state.programs.get(context.state.frame, "")

    def apply(self, context: EditContext) -> Changed:
        before = self.offered(context)
        try:
            compile(self.text, "<parser>", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = getattr(error, "lineno", None)
            where = f"Line {line}: " if line else ""
            raise UsageError(f"{where}this is not Python ({getattr(error, 'msg', error)}).") from error
        context.state.programs[context.state.frame] = self.text
        context.state.own_observation = None
        return Changed(before=before, after=self.text, message="This program makes the clean observation.")


class DropExemplar(RunEdit):
    """Leave an exemplar out of the prompts of the policy at work, or of the run."""

    id: str
    kind = "exemplars"
    again = "decide"

    def apply(self, context: EditContext) -> Changed:
        recall = _recall(context.state)
        if all(one.id != self.id for one in recall.used):
            raise UsageError(f"{self.id} is not among the exemplars of this prompt.")
        kept = tuple(one for one in recall.used if one.id != self.id)
        _use(
            context.state,
            recall.replace(used=kept, why=f"The person left out {self.id}. {recall.why}".strip()),
        )
        return Changed(before=self.id, after="", message=f"{self.id} is no longer in the prompts.")


class PinExemplar(RunEdit):
    """Add an exemplar to the prompts of the policy at work, or of the run."""

    id: str
    kind = "exemplars"
    again = "decide"

    def apply(self, context: EditContext) -> Changed:
        recall = _recall(context.state)
        if any(one.id == self.id for one in recall.used):
            raise UsageError(f"{self.id} is already among the exemplars of this prompt.")
        exemplar = context.resources.memory.exemplar(self.id)
        if exemplar is None:
            raise UsageError(f'There is no exemplar "{self.id}"; choose one from the library (Ctrl+L).')
        used = (*recall.used, filled(exemplar, " ".join(context.state.objectives[-1:])))
        _use(
            context.state, recall.replace(used=used, why=f"The person added {self.id}. {recall.why}".strip())
        )
        return Changed(
            before="", after=self.id, message=f"{self.id} is among the exemplars for the prompts now."
        )


def _recall(state: RunState) -> Recall:
    need_before_action(state, "recall")
    if not state.is_on("memory"):
        raise UsageError("Memory is switched off; switch it on in Mechanisms first (Ctrl+Shift+H).")
    recalled = state.recalled
    return recalled.recall if recalled is not None and recalled.recall is not None else Recall()


def _use(state: RunState, recall: Recall) -> None:
    """Have these exemplars stand before the prompts of the frame at work, from this step on."""
    known = state.recalled or Recalled()
    state.recalled_by_frame[state.frame] = known.replace(
        exemplars=tuple(one.id for one in recall.used), recall=recall, recalled_at=state.number, problem=""
    )
    state.recalled_at[state.frame] = state.number
