"""Prompts that are longer than the LLM takes: exemplars are left out first, then earlier steps, then elements."""

from core.agent.abstraction import ranked_page
from core.agent.state import RunState

FEWEST = 10
"""Elements of the page that are shown at least."""


def leave_out(state: RunState, *, exemplars: int = 0, steps: int = 0, elements: int = 0) -> bool:
    """Leave half of a part out of all prompts to come; return False if there is no part left.

    The numbers are how many of each the prompt that was too long has.
    """
    left = state.shortened.replace(llm=state.llm)
    elements = min(elements, left.elements or elements)
    if exemplars:
        left = left.replace(exemplars=exemplars // 2)
    elif steps:
        left = left.replace(steps=steps // 2)
    elif elements // 2 >= FEWEST:
        left = left.replace(elements=elements // 2)
    else:
        return False
    state.shortened = left
    return True


def show_less(state: RunState) -> bool:
    """Show no more elements of the page than prompts may have; return whether more were shown.

    What a person wrote in place of the page stays.
    """
    keep = state.shortened.elements
    if keep is None or state.own_observation is not None:
        return False
    made = ranked_page(state.observation, state.ranked_by, keep=keep)
    if state.clean == made.clean:
        return False
    calls = state.abstracted.calls if state.abstracted is not None else ()
    problem = "The prompt was longer than the LLM takes with more of the page."
    state.abstracted = made.replace(problem=problem, calls=calls)
    state.clean = made.clean
    return True


def told(state: RunState) -> str:
    """Return in a sentence what prompts are asked with from now on, if that was not told yet."""
    left = state.shortened
    if left == state.shortened_told:
        return ""
    state.shortened_told = left
    parts = []
    if left.exemplars is not None:
        parts.append(f"{left.exemplars or 'no'} exemplar{'s' if left.exemplars != 1 else ''}")
    if left.steps is not None:
        parts.append(f"{left.steps or 'no'} earlier step{'s' if left.steps != 1 else ''}")
    if left.elements is not None:
        parts.append(f"{left.elements} elements of the page")
    if not parts:  # Another LLM is asked.
        return ""
    return f"The prompt was longer than the LLM takes: from now on it has at most {', '.join(parts)}."
