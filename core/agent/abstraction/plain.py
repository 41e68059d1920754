"""State abstraction without an LLM: the observation's lines, cut to what a prompt can hold."""

from core.agent.general_space import CAP, usable_elements
from core.llm.tokens import count_tokens
from core.schema.observation import CleanObservation, Element, Observation

TEXT_LINES = 400
"""Lines of plain text and structure shown at the most."""
NAME_LENGTH = 300


def clean_of(observation: Observation, *, cap: int = CAP) -> CleanObservation:
    """Return the observation as the prompt shows it.

    Keeps every usable element up to the cap (the same ones that are
    permissible) and, around them, text and structure; long names are cut.
    What is left out is counted and said in the text.
    """
    usable, _ = usable_elements(observation, cap)
    wanted = {element.ref for element in usable}
    kept: list[Element] = []
    texts = 0
    for element in observation.elements:
        if element.ref not in wanted:
            if element.usable and "disabled" not in element.states:
                continue
            texts += 1
            if texts > TEXT_LINES:
                continue
        kept.append(_cut(element))
    left_out = len(observation.elements) - len(kept) + observation.omitted
    lines = ["  " * min(element.depth, 8) + _marked(element) for element in kept]
    if left_out:
        lines.append(
            f"({left_out} more elements of the page are not shown; scroll to bring others into view.)"
        )
    return CleanObservation(
        url=observation.url,
        title=observation.title,
        elements=tuple(kept),
        text="\n".join(lines),
        left_out=left_out,
    )


def _cut(element: Element) -> Element:
    if len(element.name) <= NAME_LENGTH:
        return element
    return element.replace(name=element.name[: NAME_LENGTH - 1] + "…")


def _marked(element: Element) -> str:
    return element.line() if element.in_viewport else element.line() + " (out of view)"


def tokens_of(clean: CleanObservation) -> int:
    """Return the estimated tokens of the prompt's view of the page."""
    return count_tokens(clean.text)
