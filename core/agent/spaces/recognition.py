"""Which state of a space a page is in, and what spoke for it."""

import re

from core.agent.spaces.file import SpaceState, StateSpace
from core.schema.observation import Observation
from core.schema.pattern import matching, parse_pattern
from core.schema.record import Record
from core.schema.step import Fit


class Recognition(Record):
    """The outcome: one state, none, or the first of several."""

    state: str | None
    why: str
    also: tuple[str, ...] = ()
    """Other states that fit as well."""
    fits: tuple[Fit, ...] = ()


def recognise_state(space: StateSpace, observation: Observation) -> Recognition:
    """Try the states in the order of the file; the first that fits is taken, and others that fit are told."""
    fits = tuple(_fit(state, observation) for state in space.state)
    fitting = [fit for fit in fits if fit.fits]
    if not fitting:
        nearest = max(fits, key=lambda fit: len(fit.matched))
        reason = f"The nearest is {nearest.state}: {nearest.missed}"
        if nearest.matched:
            reason = f"The nearest is {nearest.state}: it has {_and(nearest.matched)}, but {nearest.missed}"
        return Recognition(state=None, why=f"This page fits no state of {space.title}. {reason}.", fits=fits)
    first = fitting[0]
    also = tuple(fit.state for fit in fitting[1:])
    why = f"It has {_and(first.matched)}."
    if also:
        others = "; ".join(f"{fit.state} by {_and(fit.matched)}" for fit in fitting[1:])
        why += f" It fits more than one state, and the first in the file is taken; also {others}."
    return Recognition(state=first.state, why=why, also=also, fits=fits)


def _fit(state: SpaceState, observation: Observation) -> Fit:
    matched: list[str] = []

    def missed(sentence: str) -> Fit:
        return Fit(state=state.name, fits=False, matched=tuple(matched), missed=sentence)

    if state.url:
        if not re.search(state.url, observation.url):
            return missed(f"its URL does not match {state.url}")
        matched.append(f"a URL like {state.url}")
    place = -1
    order = {element.ref: index for index, element in enumerate(observation.elements)}
    for text in state.must:
        found = matching(parse_pattern(text), observation)
        if not found:
            return missed(f"there is no {text}")
        if state.in_order:
            after = [order[element.ref] for element in found if order[element.ref] > place]
            if not after:
                return missed(f"{text} does not come after what is named before it")
            place = after[0]
        matched.append(text)
    for text in state.must_not:
        if matching(parse_pattern(text), observation):
            return missed(f"there is {text}")
    if state.must_not:
        matched.append("none of " + ", ".join(state.must_not))
    return Fit(state=state.name, fits=True, matched=tuple(matched))


def _and(parts: tuple[str, ...]) -> str:
    if len(parts) < 2:
        return "".join(parts) or "nothing that speaks against it"
    return ", ".join(parts[:-1]) + " and " + parts[-1]
