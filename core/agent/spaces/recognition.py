"""Recognises the state of a page, with the reasons, and its permissible actions."""

import re
from collections.abc import Iterable

from core.agent.spaces.file import FromPage, OptionGroups, ParameterFile, SpaceAction, SpaceState, StateSpace
from core.schema.action_space import Choice, Parameter, PermissibleAction
from core.schema.expression import compiled
from core.schema.observation import Element, Observation
from core.schema.pattern import matching, parse_pattern
from core.schema.progress import SpaceMemory
from core.schema.record import Record
from core.schema.step import Fit
from core.settings.toml_layout import Location


class Recognition(Record):
    """The outcome: one state, none, or the first of several."""

    state: str | None
    why: str
    also: tuple[str, ...] = ()
    """Other states that fit as well."""
    fits: tuple[Fit, ...] = ()


def recognise_state(space: StateSpace, observation: Observation) -> Recognition:
    """Try the states in the order of the file; the first that fits is taken, others that fit are listed."""
    fits = tuple(_fit(state, observation) for state in space.state)
    fitting = [fit for fit in fits if fit.fits]
    if not fitting:
        nearest = max(fits, key=lambda fit: len(fit.matched))
        reason = f"The nearest is {nearest.state}: {nearest.missed}"
        if nearest.matched:
            reason = f"The nearest is {nearest.state}: it has {_and(nearest.matched)}, but {nearest.missed}"
        return Recognition(
            state=None, why=f"This page matches no state of {space.title}. {reason}.", fits=fits
        )
    first = fitting[0]
    also = tuple(fit.state for fit in fitting[1:])
    why = f"It has {_and(first.matched)}."
    if also:
        others = "; ".join(f"{fit.state} by {_and(fit.matched)}" for fit in fitting[1:])
        why += f" It matches several states, and the first in the file is used. It also matches {others}."
    return Recognition(state=first.state, why=why, also=also, fits=fits)


def _fit(state: SpaceState, observation: Observation) -> Fit:
    matched: list[str] = []

    def missed(sentence: str) -> Fit:
        return Fit(state=state.name, fits=False, matched=tuple(matched), missed=sentence)

    if state.url:
        if not compiled(state.url).search(observation.url):
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
                return missed(f"{text} does not come after the element before it in must")
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
        return "".join(parts) or "none of its must_not elements"
    return ", ".join(parts[:-1]) + " and " + parts[-1]


# What may be done

CAP = 250
"""Values of one argument offered at most."""


class OptionGroup(Record):
    """One group of choices on the page, as an argument."""

    parameter: str
    """Its name as an argument, such as ``shoe_size``."""
    label: str
    """Its name on the page, such as ``Shoe size``."""
    group: Element
    choices: tuple[tuple[str, Element | None], ...]
    """Each value with the element to choose it by; None if the group is a select."""


def offered_actions(
    state: SpaceState, observation: Observation, html: str = "", memory: SpaceMemory | None = None
) -> tuple[PermissibleAction, ...]:
    """Return the state's actions that this page allows, in the order of the file.

    An action whose needed elements, or a required argument's values, are not
    there is left out: it cannot be chosen at all. So is one that shows what was
    read of this candidate already.
    """
    memory = memory or SpaceMemory()
    candidate = memory.remembered.get(state.candidate, "") if state.candidate else ""
    read = {one.name for one in memory.kept_of(candidate)}
    offered = (
        _offered(action, observation, html, memory) for action in state.action if action.reads not in read
    )
    return tuple(action for action in offered if action is not None)


def missing_for(action: SpaceAction, observation: Observation, html: str = "") -> Location:
    """Return the key of an action for which the page has nothing, so that it is not offered; empty if there is none.

    What is read of the HTML is left out where there is none.
    """
    if not _there(action.needs, observation):
        return ("needs",)
    for at, given in enumerate(action.parameter):
        source = given.from_page
        if given.required and not _there(given.needs, observation):
            return ("parameter", at, "needs")
        if not given.required or source is None or (source.css and not html):
            continue
        if not values_of(source, observation, html):
            is_outside = source.within and not matching(parse_pattern(source.within), observation)
            return (
                "parameter",
                at,
                "from_page",
                "within" if is_outside else "css" if source.css else "element",
            )
    return ()


def option_groups(groups: OptionGroups, observation: Observation) -> tuple[OptionGroup, ...]:
    """Return the groups of choices on the page; groups of one name are numbered."""
    found: list[OptionGroup] = []
    taken: set[str] = set()
    for element in matching(parse_pattern(groups.group), observation):
        choices = _choices(groups, element, observation)
        if not choices:
            continue
        slug = re.sub(r"\W+", "_", element.name.lower()).strip("_") or "option"
        name, number = slug, 2
        while name in taken:
            name, number = f"{slug}_{number}", number + 1
        taken.add(name)
        found.append(OptionGroup(parameter=name, label=element.name, group=element, choices=choices))
    return tuple(found)


def _choices(
    groups: OptionGroups, group: Element, observation: Observation
) -> tuple[tuple[str, Element | None], ...]:
    """Return what a group offers; of equal names the first."""
    found: dict[str, Element | None] = {}
    if groups.choice:
        for element in matching(parse_pattern(groups.choice), observation, within=(group,)):
            if element.name and "disabled" not in element.states:
                found.setdefault(element.name, element)
    else:
        found = {option.label: None for option in group.options if option.label and not option.disabled}
    return tuple(found.items())


def _offered(
    action: SpaceAction, observation: Observation, html: str, memory: SpaceMemory
) -> PermissibleAction | None:
    if not _there(action.needs, observation):
        return None
    parameters: list[Parameter] = []
    for given in action.parameter:
        parameter = _parameter(given, observation, html, memory if given.name == action.marks else None)
        if parameter is None:
            if given.required:
                return None
            continue
        parameters.append(parameter)
    if action.option_groups is not None:
        parameters += [
            Parameter(
                name=group.parameter,
                description=f"{group.label}, one of those on offer.",
                choices=tuple(Choice(value=value) for value, _ in group.choices[:CAP]),
                required=action.option_groups.required,
            )
            for group in option_groups(action.option_groups, observation)
        ]
    return PermissibleAction(
        name=action.name,
        description=action.description,
        parameters=tuple(parameters),
        cannot_be_undone=action.cannot_be_undone,
        origin="state",
    )


def _there(needs: Iterable[str], observation: Observation) -> bool:
    """Return whether the page has each of these: neither disabled, nor a link that leads if one is."""
    return all(
        any(
            not {"disabled", "current"} & set(element.states)
            for element in matching(parse_pattern(text), observation)
        )
        for text in needs
    )


def _parameter(
    given: ParameterFile, observation: Observation, html: str, memory: SpaceMemory | None
) -> Parameter | None:
    if not _there(given.needs, observation):
        return None
    choices: tuple[Choice, ...] | None = None
    if given.choices:
        choices = tuple(Choice(value=value) for value in given.choices)
    if given.from_page is not None:
        choices = tuple(
            Choice(value=value, label="" if label == value else label)
            for value, label in values_of(given.from_page, observation, html).items()
        )[:CAP]
        if not choices:
            return None
    if choices is not None and memory is not None:
        choices = tuple(_marked(choice, memory) for choice in choices)
    return Parameter(
        name=given.name,
        type=given.type,
        description=given.description,
        choices=choices,
        required=given.required,
    )


def _marked(choice: Choice, memory: SpaceMemory) -> Choice:
    if choice.value not in memory.looked_at:
        return choice
    return choice.replace(label=f"{choice.label} (looked at already)".strip())


def values_of(source: FromPage, observation: Observation, html: str) -> dict[str, str]:
    """Return the values that the page has, each with its words; of equal ones the first."""
    pairs = _from_html(source, html) if source.css else _from_elements(source, observation)
    seen: dict[str, str] = {}
    for value, label in pairs:
        value = " ".join(value.split())
        if value and value not in seen:
            seen[value] = " ".join(label.split())
    return seen


def _from_elements(source: FromPage, observation: Observation) -> Iterable[tuple[str, str]]:
    within = matching(parse_pattern(source.within), observation) if source.within else None
    pattern = parse_pattern(source.element)
    for element in matching(pattern, observation, within):
        if source.options:
            yield from ((option.label, "") for option in element.options if not option.disabled)
            continue
        if "disabled" in element.states:
            continue
        fit = pattern.fits(element)
        groups = {} if isinstance(fit, bool) else fit.named
        yield groups.get("value") or element.name, groups.get("label") or element.name


def _from_html(source: FromPage, html: str) -> Iterable[tuple[str, str]]:
    from bs4 import BeautifulSoup  # It takes long to load, and few spaces read the HTML.

    for node in BeautifulSoup(html, "lxml").select(source.css):
        value = node.get(source.attribute)
        if isinstance(value, str) and value:
            yield value, node.get_text(" ", strip=True)[:200]
