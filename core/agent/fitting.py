"""Prompts that are longer than the LLM takes: exemplars are left out first, then earlier steps, then elements."""

from core.agent.abstraction import ranked_page
from core.agent.state import RunState, Shortened

FEWEST = 10
"""Elements of the page that are shown at least."""


def leave_out(state: RunState, *, exemplars: int = 0, steps: int, elements: int) -> bool:
    """Leave half of a part out of all prompts to come; return False if there is no part left.

    The numbers are how many of each the prompt that was too long has.
    """
    left = state.shortened
    elements = min(elements, left.elements or elements)
    if exemplars:
        state.shortened = left.replace(exemplars=exemplars // 2)
    elif steps:
        state.shortened = left.replace(steps=steps // 2)
    elif elements // 2 >= FEWEST:
        state.shortened = left.replace(elements=elements // 2)
    else:
        return False
    return True


def show_less(state: RunState) -> None:
    """Show only so many elements of the page as prompts may have, unless a person wrote what is shown."""
    keep = state.shortened.elements
    if keep is None or state.own_observation is not None:
        return
    calls = state.abstracted.calls if state.abstracted is not None else ()
    made = ranked_page(state.observation, state.ranked_by, keep=keep)
    problem = "The prompt was longer than the LLM takes with more of the page."
    state.abstracted = made.replace(problem=problem, calls=calls)
    state.clean = made.clean


def told(left: Shortened) -> str:
    """Return in a sentence what prompts are asked with from now on."""
    parts = []
    if left.exemplars is not None:
        parts.append(f"{left.exemplars or 'no'} exemplar{'s' if left.exemplars != 1 else ''}")
    if left.steps is not None:
        parts.append(f"{left.steps or 'no'} earlier step{'s' if left.steps != 1 else ''}")
    if left.elements is not None:
        parts.append(f"{left.elements} elements of the page")
    return f"The prompt was longer than the LLM takes: from now on it has at most {', '.join(parts)}."
