"""What is found in a draft: faults, its length, how a prompt shows it, and what stands in the way of saving it."""

from functools import lru_cache

from core.agent.resources import AgentResources
from core.debugger.exemplars.editor.views import Checked, Conflict, OpenedExemplar
from core.debugger.exemplars.prompt import prompt_of
from core.llm.costs import count_tokens
from core.memory.editing.draft import Draft
from core.memory.editing.faults import faults
from core.memory.library.records import Entry
from core.memory.library.version_diff import differences

_tokens = lru_cache(maxsize=512)(count_tokens)
"""Most steps are as they were at the edit before."""
_MOST_PARTS = 4
"""Parts that differ which a conflict names."""


def checked(
    knowledge: AgentResources, draft: Draft, edit: int, preset: str, run: int | None, is_success: bool | None
) -> Checked:
    """Return what is found in a draft; `is_success` is the verdict of the run that it came from."""
    prompt = prompt_of(draft.as_far_as_it_goes(), knowledge, preset)
    looks = tuple(sum(map(_tokens, (one.observation, one.thought, *one.actions))) for one in draft.steps)
    contrasts = sum(
        _tokens(text) for one in draft.contrasts for text in (one.observation, one.tried, one.right, one.why)
    )
    return Checked(
        edit=edit,
        faults=faults(draft, run=run, is_success=lambda _run: is_success),
        tokens=sum(looks) + contrasts + _tokens(draft.task),
        look_tokens=looks,
        preset=preset,
        messages=prompt.messages,
        prompt_tokens=prompt.tokens,
        prompt_note=prompt.note,
    )


def conflict_with(opened: OpenedExemplar, there: Entry, draft: Draft, *, is_own: bool) -> Conflict:
    """Return why a draft is not saved over what is `there`."""
    id = there.exemplar.id
    if not is_own:
        return Conflict(id=id, text=f"The library has an exemplar {id} already: “{there.exemplar.task}”")
    ours = draft.exemplar()
    parts = [one.part for one in differences(there.exemplar, ours)]
    named = ", ".join(parts[:_MOST_PARTS]) + (" and more" if len(parts) > _MOST_PARTS else "")
    differs = f"It differs from yours in {named}." if parts else "It is the same as yours."
    return Conflict(
        id=id,
        text=f"{id} was saved by somebody else since it was opened: it is at version {there.version}, "
        f"yours was made of {opened.version}. {differs}",
    )
